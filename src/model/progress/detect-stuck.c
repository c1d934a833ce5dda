/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "error-signature.h"
#include "progress-private.h"
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

/* Has anything changed for the better, or at all? */
static bool
moves_on(const struct step_history *history, size_t window, double rate)
{
	size_t kept = step_history_kept(history, window);
	uint64_t tree = 0;

	if (!isnan(rate) && rate >= PROGRESS_LEAST)
		return true;
	for (size_t back = 0; back < kept; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if ((isnan(rate) && step->tests > 0) ||
		    (tree != 0 && step->tree != 0 && step->tree != tree))
			return true;
		if (step->tree != 0)
			tree = step->tree;
	}
	return false;
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

	if (last != NULL) {
		for (unsigned i = 0; i < last->error_count; i++) {
			int count = 0;

			for (size_t back = 0; back < kept; back++)
				count +=
				    has_error(step_history_at(history, back),
					last->errors[i]);
			if (count > found.occurrences) {
				found.occurrences = count;
				found.error = last->errors[i];
			}
		}
	}
	return found;
}

/* --- checks ---------------------------------------------------------- */

void
stuck_checks_release(struct stuck_checks *checks)
{
	iteration_unref(checks->latest);
	*checks =
	    (struct stuck_checks){ .idle = checks->idle, .tree = checks->tree };
}

static struct failure_signature *
find_seen(struct stuck_checks *checks, uint64_t hash)
{
	for (size_t i = 0; i < checks->seen_count; i++)
		if (checks->seen[i].hash == hash)
			return &checks->seen[i];
	return NULL;
}

static void
add_seen(struct stuck_checks *checks, const struct failure_signature *f)
{
	if (checks->seen_count == STUCK_SEEN)
		memmove(&checks->seen[0], &checks->seen[1],
		    --checks->seen_count * sizeof checks->seen[0]);
	checks->seen[checks->seen_count++] = *f;
}

static void
count_check(struct stuck_checks *checks, const struct behaviour_step *step)
{
	const struct failure_signature *f = &step->failure;
	struct failure_signature *seen = find_seen(checks, f->hash);

	if (f->hash == 0) {
		if (step->tests > 0)
			stuck_checks_release(checks);
		return;
	}
	/* Fewer lines or a lower number: that is a better tree. */
	if (seen != NULL && f->lines >= seen->lines &&
	    f->stated >= seen->stated) {
		checks->count = checks->hash == f->hash ? checks->count + 1 : 1;
		checks->known++;
	} else {
		checks->count = 1;
		checks->known = 0;
	}
	if (seen == NULL)
		add_seen(checks, f);
	else if (f->lines < seen->lines)
		seen->lines = f->lines;
	if (seen != NULL && f->stated < seen->stated)
		seen->stated = f->stated;
	checks->hash = f->hash;
	iteration_unref(checks->latest);
	checks->latest = iteration_ref(step->source);
}

/* --- the finding ------------------------------------------------------ */

void
stuck_measure(const struct step_history *history,
    const struct stuck_checks *checks, const struct thresholds *t,
    struct stuck_finding *ret_finding)
{
	*ret_finding = find_errors(history, t);
	if (checks->count > ret_finding->occurrences)
		ret_finding->occurrences = checks->count;
	ret_finding->rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
}

enum severity
detect_stuck(const struct step_history *history, struct stuck_checks *checks,
    const struct thresholds *t, struct stuck_finding *ret_finding)
{
	struct stuck_finding found = find_errors(history, t);
	const struct behaviour_step *step;
	bool same;

	count_check(checks, step_history_at(history, 0));
	step = step_history_at(history, 0);
	same = step->tree != 0 && step->tree == checks->tree;
	if (step->tree != 0)
		checks->tree = step->tree;
	if (step->file_count > 0 || (step->tree != 0 && !same))
		checks->idle = 0;
	else if (same && !step->part && !step->waits)
		checks->idle++;
	found.rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
	if (found.occurrences < t->same_error_count ||
	    moves_on(history, error_window(t), found.rate))
		found.occurrences = 0;
	if (checks->count >= t->same_error_count &&
	    checks->count >= found.occurrences) {
		found.occurrences = checks->count;
		found.kind = STUCK_CHECK;
	}
	/* More of them than the last one since it was new. */
	if (checks->known >= t->same_error_count &&
	    checks->known >= checks->count && !(found.rate >= PROGRESS_LEAST)) {
		found.occurrences = checks->known;
		found.kind = STUCK_IN_TURN;
	}
	if (found.occurrences == 0 && checks->idle >= STUCK_IDLE_TURNS) {
		found.occurrences = checks->idle;
		found.kind = STUCK_IDLE;
	}
	if (found.occurrences == 0)
		return SEVERITY_NONE;
	*ret_finding = found;
	return found.kind != STUCK_IDLE && found.occurrences >= CRITICAL ?
	    SEVERITY_CRITICAL :
	    SEVERITY_HIGH;
}

int64_t
stuck_cause(
    const struct stuck_checks *checks, const struct stuck_finding *finding)
{
	switch (finding->kind) {
	case STUCK_CHECK:
		return (int64_t)(checks->hash >> 1);
	case STUCK_IN_TURN:
		return (int64_t)(checks->seen[0].hash >> 1);
	case STUCK_IDLE:
		return 1;
	case STUCK_ERROR:
		break;
	}
	return (int64_t)(finding->error >> 1);
}

/* The error with this signature, which the iteration has. */
static const char *
error_of(const struct iteration *it, uint64_t error)
{
	for (char **e = it->errors; e != NULL && *e != NULL; e++)
		if (error_signature_hash(*e, strlen(*e)) == error)
			return *e;
	return "";
}

static void
describe_error(const struct step_history *history,
    const struct stuck_finding *finding, struct detection *detection)
{
	const struct iteration *source =
	    step_history_at(history, finding->back)->source;

	detection->message = xasprintf(
	    "Stuck: Same error repeated %d times with minimal progress",
	    finding->occurrences);
	json_set_string(detection->evidence, "repeatedError",
	    error_of(source, finding->error));
}

static void
describe_check(const struct stuck_checks *checks,
    const struct stuck_finding *finding, struct detection *detection)
{
	cleanup_buf struct buf line = BUF_INIT;

	failure_first_line(checks->latest->failure, &line);
	detection->message = finding->kind == STUCK_CHECK ?
	    xasprintf(
		"Stuck: The check failed %d times in the same way: %.200s",
		finding->occurrences, line.data) :
	    xasprintf("Stuck: The last %d failures of the check were there "
		      "before, in turn; now: %.200s",
		finding->occurrences, line.data);
	json_set_string(detection->evidence, "repeatedError", line.data);
}

void
detect_stuck_describe(const struct step_history *history,
    const struct stuck_checks *checks, const struct stuck_finding *finding,
    struct detection *detection)
{
	struct json_object *blockers = json_object_new_array();
	size_t kept = step_history_kept(history, BLOCKERS_SHOWN);

	detection->recommendations = recommendations;
	if (finding->kind == STUCK_IDLE)
		detection->message =
		    xasprintf("Stuck: Nothing has changed in %d turns",
			finding->occurrences);
	else if (finding->kind != STUCK_ERROR)
		describe_check(checks, finding, detection);
	else
		describe_error(history, finding, detection);
	json_set_int(detection->evidence, "occurrences", finding->occurrences);
	json_set(detection->evidence, "avgProgressRate",
	    isnan(finding->rate) ? NULL :
				   json_object_new_double(finding->rate / 100));
	for (size_t back = kept; back-- > 0;) {
		const struct iteration *source =
		    step_history_at(history, back)->source;

		for (char **b = source->blockers; b != NULL && *b != NULL; b++)
			json_object_array_add(
			    blockers, json_object_new_string(*b));
	}
	json_set(detection->evidence, "recentBlockers", blockers);
}
