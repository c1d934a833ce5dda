/* SPDX-License-Identifier: ISC */

#include "detect-stuck.h"

#include <math.h>
#include <stdbool.h>

#include "behaviour-step.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"

#define WINDOW         5 /* at least */
#define CRITICAL       5 /* occurrences */
#define BLOCKERS_SHOWN 5

static const char *const recommendations[] = {
	"Change approach or strategy",
	"Break task into smaller sub-tasks",
	"Request human intervention",
	"Review and address root cause",
	NULL,
};

static bool
has_error(const struct behaviour_step *step, uint64_t error)
{
	for (unsigned i = 0; i < step->error_count; i++)
		if (step->errors[i] == error)
			return true;
	return false;
}

/* Is there other evidence that nothing moves? */
static bool
stands_still(const struct step_history *history, size_t window, int least)
{
	size_t kept = step_history_kept(history, window);
	int trees = 0, failing = 0;
	bool same = true, passed = false;
	uint64_t tree = 0;

	for (size_t back = 0; back < kept; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (step->tree != 0) {
			same = same && (trees == 0 || step->tree == tree);
			tree = step->tree;
			trees++;
		}
		failing += step->tests == 0;
		passed = passed || step->tests > 0;
	}
	return (same && trees >= least) || (!passed && failing >= least);
}

/* The step whose errors are the latest that are known. */
static const struct behaviour_step *
latest(const struct step_history *history, size_t kept, unsigned *ret_back)
{
	for (size_t back = 0; back < kept; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (!step->errors_known)
			continue;
		*ret_back = (unsigned)back;
		return step;
	}
	return NULL;
}

static void
count_errors(const struct step_history *history, size_t kept,
    const struct behaviour_step *last, struct stuck_finding *found)
{
	for (unsigned i = 0; i < last->error_count; i++) {
		int count = 0;

		for (size_t back = 0; back < kept; back++)
			count += has_error(
			    step_history_at(history, back), last->errors[i]);
		if (count > found->occurrences) {
			found->occurrences = count;
			found->error = i;
		}
	}
}

/* How far back errors are counted. */
static size_t
error_window(const struct thresholds *t)
{
	int window = WINDOW;

	if (window < t->no_progress_iterations)
		window = t->no_progress_iterations;
	if (window < t->same_error_count)
		window = t->same_error_count;
	return (size_t)window;
}

static struct stuck_finding
find_errors(const struct step_history *history, const struct thresholds *t)
{
	struct stuck_finding found = { .rate = NAN };
	size_t kept = step_history_kept(history, error_window(t));
	const struct behaviour_step *last = latest(history, kept, &found.back);

	if (last != NULL)
		count_errors(history, kept, last, &found);
	return found;
}

void
stuck_measure(const struct step_history *history, const struct thresholds *t,
    struct stuck_finding *ret_finding)
{
	*ret_finding = find_errors(history, t);
	ret_finding->rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
}

enum severity
detect_stuck(const struct step_history *history, const struct thresholds *t,
    struct stuck_finding *ret_finding)
{
	struct stuck_finding found = find_errors(history, t);

	if (found.occurrences < t->same_error_count)
		return SEVERITY_NONE;
	found.rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
	if (isnan(found.rate) ?
		!stands_still(history, error_window(t), t->same_error_count) :
		found.rate >= PROGRESS_LEAST)
		return SEVERITY_NONE;
	*ret_finding = found;
	return found.occurrences >= CRITICAL ? SEVERITY_CRITICAL :
					       SEVERITY_HIGH;
}

void
detect_stuck_describe(const struct step_history *history,
    const struct stuck_finding *finding, struct detection *detection)
{
	const struct iteration *source =
	    step_history_at(history, finding->back)->source;
	struct json_object *blockers = json_object_new_array();
	size_t kept = step_history_kept(history, BLOCKERS_SHOWN);

	detection->recommendations = recommendations;
	detection->message = xasprintf(
	    "Stuck: Same error repeated %d times with minimal progress",
	    finding->occurrences);
	json_set_string(detection->evidence, "repeatedError",
	    source->errors[finding->error]);
	json_set_int(detection->evidence, "occurrences", finding->occurrences);
	json_set(detection->evidence, "avgProgressRate",
	    isnan(finding->rate) ? NULL :
				   json_object_new_double(finding->rate / 100));
	for (size_t back = kept; back-- > 0;) {
		source = step_history_at(history, back)->source;
		for (char **b = source->blockers; b != NULL && *b != NULL; b++)
			json_object_array_add(
			    blockers, json_object_new_string(*b));
	}
	json_set(detection->evidence, "recentBlockers", blockers);
}
