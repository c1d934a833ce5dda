/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto.h"
#include "check-book.h"
#include "child.h"
#include "emit.h"
#include "fleet.h"
#include "iteration.h"
#include "life.h"
#include "loop.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "persist.h"
#include "settings.h"
#include "state.h"
#include "task.h"
#include "thresholds.h"
#include "turn.h"
#include "watched.h"

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
note(struct watched *w, const char *worker, bool tests, bool own, bool passed,
    const char *output)
{
	if (tests) {
		w->open->tests = passed;
		w->open->own_tests = own;
		w->open->coverage = coverage_find(output);
	}
	if (!passed)
		iteration_set_failure(w->open, output);
	watched_changed(w, worker);
}

/* --- test_command ---------------------------------------------------- */

static const char *
oversight_results_test(void *arg, struct agent *agent)
{
	struct oversight_floor *floor = arg;
	const struct watched *w = oversight_turn_watched(floor, agent);

	return w != NULL && w->open != NULL && has_own_tests(floor) ?
	    setting(floor, "oversight.test_command") :
	    NULL;
}

static void
oversight_results_tested(
    void *arg, struct agent *agent, const struct child_result *result)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);
	cleanup_buf struct buf output = BUF_INIT;

	if (w == NULL || w->open == NULL || result->start_error < 0 ||
	    result->cancelled ||
	    (result->exited && result->status == CHECK_EXIT_UNJUDGED))
		return;
	child_output_text(&result->out, &output);
	note(w, agent->worker->name, true, true, child_succeeded(result),
	    output.data);
}

/* --- check_command --------------------------------------------------- */

static void
oversight_results_checked(
    void *arg, struct agent *agent, bool passed, const char *output)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);

	if (w == NULL || w->open == NULL)
		return;
	note(w, agent->worker->name, !has_own_tests(floor), false, passed,
	    output);
	if (!passed)
		oversight_turn_judge(floor, w, agent);
}

static void
oversight_results_ejected(
    void *arg, const struct task *task, struct agent *agent, const char *words)
{
	struct oversight_floor *floor = arg;
	struct watched *w = floor->config.mode != OVERSIGHT_OFF ?
	    oversight_turn_find(floor, task->id) :
	    NULL;
	cleanup_buf struct buf output = BUF_INIT;

	if (w == NULL || w->open == NULL)
		return;
	turn_check_output(words, &output);
	note(w, task->worker, !has_own_tests(floor), false, false, output.data);
	/* Without a worker it is judged when another one begins. */
	if (agent != NULL)
		oversight_turn_judge(floor, w, agent);
}

/* --- watched tasks --------------------------------------------------- */

/* The task has ended. */
static void
oversight_floor_forget(struct watched *w)
{
	LIST_REMOVE(w, entry);
	watched_free(w);
}

static void
forget_all(struct oversight_floor *floor)
{
	struct watched *w;

	while ((w = LIST_FIRST(&floor->watched)) != NULL)
		oversight_floor_forget(w);
}

/* Does a worker have it? task: of struct watched. */
static bool
is_held_by_hand(const struct oversight_floor *floor, const char *task)
{
	const char *name = hand_task_worker(task);
	const struct agent *agent =
	    name != NULL ? fleet_find(floor->fleet, name) : NULL;

	return agent != NULL && agent->worker->task == NULL &&
	    agent->worker->prompt != NULL;
}

static bool
is_in_progress(const void *arg, const char *task)
{
	const struct oversight_floor *floor = arg;

	return state_task(&floor->core->state, task) != NULL ||
	    is_held_by_hand(floor, task);
}

/* When there are more than before. */
static void
prune(struct oversight_floor *floor)
{
	if (floor->config.mode == OVERSIGHT_OFF || !floor->unpruned)
		return;
	floor->unpruned = false;
	watched_prune(floor->core->book, is_in_progress, floor);
}

/* Has it no worker and no landing? Its records have everything. */
static bool
is_left(const struct oversight_floor *floor, const struct watched *w)
{
	const struct task *t = state_task(&floor->core->state, w->task);

	return !is_held_by_hand(floor, w->task) && !watched_waits(w) &&
	    (t == NULL ||
		(w->open == NULL &&
		    (t->step == TASK_WAITING || t->step == TASK_PARKED)));
}

/* --- what auto mode asks --------------------------------------------- */

static const char *
watch_before(void *arg, struct agent *agent)
{
	const struct watched *w = oversight_turn_watched(arg, agent);
	const struct task *t = auto_task(agent);

	if (w == NULL)
		return NULL;
	/* Another attempt begins without the files of the last one. */
	return t == NULL || w->mark.attempt == t->attempts ? w->tree : "";
}

static void
watch_seen(void *arg, struct agent *agent, const struct git_snapshot *snapshot,
    const char *last_words)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);
	bool by_hand = auto_task(agent) == NULL;

	if (w == NULL)
		return;
	if (by_hand) /* it is not checked */
		oversight_turn_judge(floor, w, agent);
	/* The same turn once more: its end was not judged, its check was
	 * cancelled, or the last daemon died before the next prompt. */
	if (w->open != NULL ||
	    (oversight_turn_clock(floor, agent->worker->name)->since_ms == 0 &&
		iteration_is_counted(&w->mark, agent)))
		return;
	oversight_turn_begin(floor, w, agent,
	    &(struct iteration_facts){
		.snapshot = snapshot, .last_words = last_words });
	if (by_hand) {
		oversight_turn_judge(floor, w, agent);
	} else {
		const char *command = setting(floor, "auto.check_command");
		const struct check_result *result;
		char key[CHECK_KEY_SIZE];

		/* What the task began with is not its work. */
		if (has_own_tests(floor) || command[0] == '\0' ||
		    w->open->tree == NULL ||
		    (strv_count(w->open->files) == 0 && w->touched.count == 0))
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
}

static void
watch_failed(void *arg, struct agent *agent, const char *text)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);

	if (w == NULL)
		return;
	oversight_turn_begin(
	    floor, w, agent, &(struct iteration_facts){ .error = text });
}

static bool
watch_idle(void *arg, const struct agent *agent)
{
	const struct oversight_floor *floor = arg;
	const struct watched *w = oversight_turn_watched(arg, agent);

	return w != NULL && floor->config.mode == OVERSIGHT_ACT &&
	    w->progress.tracks[DETECTION_STUCK].level == STEP_CHECK;
}

/* Whatever the end of a turn is refused for is a failure of it, but for mail,
 * and for what the service failed at. */
static void
take_refusal(struct watched *w, const struct agent *agent, const char *words)
{
	const struct task *t = auto_task(agent);

	if (w->open == NULL || w->open->failure != NULL || words == NULL ||
	    w->open->status != NULL || (t != NULL && t->attempt.by_mail))
		return;
	iteration_set_failure(w->open, words);
	watched_changed(w, agent->worker->name);
}

static bool
watch_held(void *arg, struct agent *agent, const char *words)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);

	if (w == NULL)
		return false;
	take_refusal(w, agent, words);
	oversight_turn_judge(floor, w, agent);
	return oversight_act_stop(floor, w, agent, words);
}

static void
watch_preface(void *arg, struct agent *agent, struct buf *out)
{
	struct oversight_floor *floor = arg;
	struct watched *w = oversight_turn_watched(floor, agent);

	if (w == NULL)
		return;
	if (agent->worker->session.step != PROMPT_NONE)
		oversight_act_replaced(w);
	oversight_act_add(floor, w, agent, false, out);
}

static void
watch_freed(void *arg)
{
	struct oversight_floor *floor = arg;

	loop_call_request(floor->settle);
}

static const struct auto_watch watch = {
	.before = watch_before,
	.seen = watch_seen,
	.preface = watch_preface,
	.test = oversight_results_test,
	.tested = oversight_results_tested,
	.checked = oversight_results_checked,
	.ejected = oversight_results_ejected,
	.idle = watch_idle,
	.held = watch_held,
	.freed = watch_freed,
	.progressed = oversight_slice_progressed,
	.tool_ended = oversight_slice_tool_ended,
	.failed = watch_failed,
};

/* --- events ---------------------------------------------------------- */

/* A worker was taken, or not in a turn, when something was due. */
static void
settle(void *arg)
{
	struct oversight_floor *floor = arg;

	if (floor->core->stopping)
		return;
	oversight_abort_settle(floor);
	oversight_act_parked(floor);
	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		struct watched *w = oversight_turn_watched(floor, agent);

		if (w != NULL)
			oversight_act_stop(floor, w, agent, NULL);
	}
}

/* parked: what is in a prompt that was not submitted yet is not recorded. */
static void
record_given(struct oversight_floor *floor, bool parked)
{
	for (size_t i = 0; i < floor->fleet->count; i++) {
		const struct agent *agent = floor->fleet->agents[i];
		const struct task *t = auto_task(agent);
		struct watched *w =
		    t != NULL ? oversight_turn_known(floor, t->id) : NULL;

		if (w != NULL)
			oversight_act_given(floor, w, agent->worker->name,
			    parked &&
				agent->worker->session.step != PROMPT_NONE);
	}
}

static void
given(void *arg)
{
	record_given(arg, true);
}

static void
ended(struct oversight_floor *floor, const struct event *event)
{
	struct watched *w = oversight_turn_known(floor, event->task);
	const struct task *t = state_task(&floor->core->state, event->task);
	bool landed = text_is(event->outcome, "landed");
	struct progress_policy policy = { .by_hand = true };

	if (landed && t != NULL)
		oversight_costs_add(&floor->costs, t);
	/* Its worker may have let it go. */
	if (w == NULL && floor->config.mode != OVERSIGHT_OFF && t != NULL &&
	    t->attempts > 0)
		w = oversight_turn_find(floor, event->task);
	if (w == NULL)
		return;
	if (w->open != NULL && t != NULL)
		iteration_add_spent(w->open, &w->mark, &t->spent);
	if (w->open != NULL && landed) {
		/* What lands has passed the check, if there is one, and is
		 * complete. */
		w->open->completion = 100;
		if (!has_own_tests(floor) &&
		    setting(floor, "auto.check_command")[0] != '\0')
			w->open->tests = 1;
	}
	if (w->open != NULL && event->worker != NULL)
		oversight_tell_fleet(floor, event->worker, w->open);
	oversight_act_given(floor, w, event->worker, false);
	watched_judge(w, event->worker, &policy);
	watched_end(w, landed);
	oversight_floor_forget(w);
}

/* A turn begins, unless one is being counted: nothing more comes for the turn
 * before. */
static void
began(struct oversight_floor *floor, const char *worker)
{
	struct turn_clock *clock = oversight_turn_clock(floor, worker);
	const struct agent *agent = fleet_find(floor->fleet, worker);
	struct watched *w =
	    agent != NULL ? oversight_turn_watched(floor, agent) : NULL;

	if (w != NULL)
		oversight_act_given(floor, w, worker, false);
	if (w != NULL)
		oversight_turn_judge(floor, w, agent);
	if (clock->tools > 0)
		return;
	clock->since_ms = clock_mono_ms();
	clock->partial = false;
}

static void
read_settings(struct oversight_floor *floor)
{
	settings_oversight(floor->core->settings, &floor->config);
}

/* The last daemon parked them, and perhaps died before that was recorded. */
static void
load_parked(struct oversight_floor *floor)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0;
	     floor->config.mode != OVERSIGHT_OFF && i < state->task_count; i++)
		if (state->tasks[i]->step == TASK_PARKED)
			oversight_turn_find(floor, state->tasks[i]->id);
}

static void
on_event(const struct event *event, void *arg)
{
	struct oversight_floor *floor = arg;

	switch (event->kind) {
	case EVENT_PROMPT_SUBMITTED: /* perhaps in the middle of a turn */
		began(floor, event->worker);
		break;
	case EVENT_WORKER_MOVED:
		loop_call_request(floor->settle);
		break;
	case EVENT_TASK_FINISHED:
		ended(floor, event);
		break;
	case EVENT_SETTINGS_READ: /* the files have everything */
		record_given(floor, false);
		forget_all(floor);
		read_settings(floor);
		if (floor->config.mode != OVERSIGHT_OFF)
			oversight_costs_load(&floor->costs, floor->core->book);
		load_parked(floor);
		break;
	default:
		if (!LIST_EMPTY(&floor->aborts))
			loop_call_request(floor->settle);
		break;
	}
}

/* --- the floor ------------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct oversight_floor *floor = self;

	oversight_slice_begin(floor);
	floor->unpruned = true;
	prune(floor);
	if (floor->config.mode != OVERSIGHT_OFF)
		oversight_costs_load(&floor->costs, floor->core->book);
	load_parked(floor);
	loop_call_request(floor->settle);
	life_floor_begun(floor->core);
}

static void
floor_patrol(void *self, bool all)
{
	struct oversight_floor *floor = self;
	struct watched *w, *next;
	size_t kept = 0;

	(void)all;
	/* Workers that are gone. */
	for (size_t i = 0; i < floor->clock_count; i++)
		if (fleet_find(floor->fleet, floor->clocks[i].worker) != NULL)
			floor->clocks[kept++] = floor->clocks[i];
		else
			free(floor->clocks[i].worker);
	floor->clock_count = kept;
	settle(floor);
	oversight_slice_patrol(floor);
	for (w = LIST_FIRST(&floor->watched); w != NULL; w = next) {
		next = LIST_NEXT(w, entry);
		if (is_left(floor, w))
			oversight_floor_forget(w);
	}
	prune(floor);
}

static void
floor_stop(void *self)
{
	oversight_abort_stop(self);
}

struct oversight_floor *
oversight_floor_new(struct auto_mode *mode)
{
	struct oversight_floor *floor = xcalloc(1, sizeof *floor);
	struct core *core = mode->core;

	floor->core = core;
	floor->fleet = mode->fleet;
	floor->mode = mode;
	LIST_INIT(&floor->watched);
	LIST_INIT(&floor->slices);
	LIST_INIT(&floor->aborts);
	read_settings(floor);
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
	};
	floor->settle = loop_call_new(core->loop, settle, floor);
	floor->given = loop_call_new(core->loop, given, floor);
	core_add_floor(core, &floor->floor);
	auto_set_watch(mode, &watch, floor);
	oversight_abort_register(floor);
	emit_subscribe(core, on_event, floor);
	return floor;
}

void
oversight_floor_free(struct oversight_floor *floor)
{
	if (floor == NULL)
		return;
	emit_unsubscribe(floor->core, on_event, floor);
	auto_set_watch(floor->mode, NULL, NULL);
	persist_forget(floor->core, floor);
	loop_call_free(floor->settle);
	loop_call_free(floor->given);
	oversight_slice_drop(floor);
	oversight_abort_stop(floor);
	forget_all(floor);
	oversight_costs_release(&floor->costs);
	for (size_t i = 0; i < floor->clock_count; i++)
		free(floor->clocks[i].worker);
	free(floor->clocks);
	free(floor);
}
