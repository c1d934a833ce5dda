/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "check-book.h"
#include "child.h"
#include "coverage-pattern.h"
#include "iteration.h"
#include "oversight-floor.h"
#include "oversight-results.h"
#include "settings.h"
#include "state.h"
#include "strv.h"

static const char *
setting(const struct oversight_floor *floor, const char *path)
{
	return settings_string(floor->core->settings, path);
}

static bool
has_own_tests(const struct oversight_floor *floor)
{
	return setting(floor, "oversight.test_command")[0] != '\0';
}

/* What a check or the tests said. Of the check, only what it printed counts
 * where the work has tests of its own. */
static void
note(const struct oversight_floor *floor, struct watched *w, const char *worker,
    bool tests, bool passed, const char *output)
{
	if (tests) {
		w->open->tests = passed;
		w->open->coverage = coverage_pattern_find(
		    setting(floor, "oversight.coverage_pattern"), output);
	}
	if (!passed)
		iteration_set_failure(w->open, output);
	watched_changed(w, worker);
}

/* --- test_command ---------------------------------------------------- */

const char *
oversight_results_test(void *arg, struct agent *agent)
{
	struct oversight_floor *floor = arg;
	const struct watched *w = oversight_floor_watched(floor, agent);

	return w != NULL && w->open != NULL && has_own_tests(floor) ?
	    setting(floor, "oversight.test_command") :
	    NULL;
}

void
oversight_results_tested(
    void *arg, struct agent *agent, const struct child_result *result)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_floor_watched(floor, agent);
	cleanup_buf struct buf output = BUF_INIT;

	if (w == NULL || w->open == NULL || result->start_error < 0 ||
	    result->cancelled ||
	    (result->exited && result->status == CHECK_EXIT_UNJUDGED))
		return;
	child_output_text(&result->out, &output);
	note(floor, w, agent->worker->name, true, child_succeeded(result),
	    output.data);
}

/* --- check_command --------------------------------------------------- */

void
oversight_results_checked(
    void *arg, struct agent *agent, bool passed, const char *output)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_floor_watched(floor, agent);

	if (w == NULL || w->open == NULL)
		return;
	note(floor, w, agent->worker->name, !has_own_tests(floor), passed,
	    output);
	if (!passed)
		oversight_floor_judge(floor, w, agent);
}

void
oversight_results_ejected(
    void *arg, const struct task *task, struct agent *agent, const char *output)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_floor_task(floor, task);

	if (w == NULL || w->open == NULL)
		return;
	note(floor, w, task->worker, !has_own_tests(floor), false, output);
	/* Without a worker it is judged when another one begins. */
	if (agent != NULL)
		oversight_floor_judge(floor, w, agent);
}

/* What the task began with is not its work. */
void
oversight_results_known(const struct oversight_floor *floor, struct watched *w)
{
	const char *command = setting(floor, "auto.check_command");
	const struct check_result *result;
	char key[CHECK_KEY_SIZE];

	if (has_own_tests(floor) || command[0] == '\0' ||
	    w->open->tree == NULL ||
	    (strv_count(w->open->files) == 0 &&
		strv_count(w->touched_names) == 0))
		return;
	check_book_key(command, key);
	result = check_book_find(
	    &floor->core->state.landings.checks, w->open->tree, key);
	if (result == NULL)
		return;
	if (result->fails_row >= CHECK_BOOK_BLAME)
		w->open->tests = 0;
	else if (result->passes > 0 && result->fails_row == 0)
		w->open->tests = 1;
}

void
oversight_results_landed(const struct oversight_floor *floor, struct watched *w)
{
	w->open->completion = 100;
	if (!has_own_tests(floor) &&
	    setting(floor, "auto.check_command")[0] != '\0')
		w->open->tests = 1;
}
