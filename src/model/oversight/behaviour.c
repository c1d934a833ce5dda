/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "behaviour.h"
#include "iteration.h"
#include "ladder.h"
#include "progress-private.h"
#include "schema.h"
#include "thresholds.h"

#define RED_TURNS 3 /* in a row, after tests passed */

struct oscillation_finding {
	int cycles;
	bool one_way; /* no file returned to two contents */
};

static const char *const detect_regression_recommendations[] = {
	"Stop making changes that break tests",
	"Fix tests instead of deleting or disabling them",
	"Review anti-laziness rules: weaken nothing to make it pass",
	"Restore previous working state if needed",
	NULL,
};

static void
note(struct regression *regression, const struct behaviour_step *step)
{
	const struct failure_signature *f = &step->failure;
	int64_t much = f->stated > 0 ? f->stated : f->lines;

	if (step->tests > 0) {
		regression->passed = true;
		regression->failing = 0;
	} else if (step->tests == 0 && regression->passed) {
		if (regression->failing++ == 0)
			regression->failed_at = step->number;
		regression->more =
		    regression->failing > 1 && much > regression->much;
		regression->much = much;
	}
	if (isnan(step->coverage))
		return;
	regression->coverage = step->coverage;
	regression->sank_at = step->number;
	if (!(regression->best >= step->coverage))
		regression->best = step->coverage;
}

static enum severity
detect_regression(struct regression *regression,
    const struct behaviour_step *step, const struct thresholds *t)
{
	note(regression, step);
	regression->tests_fell =
	    t->test_pass_to_fail && regression->failing > 0;
	regression->coverage_fell = regression->best - regression->coverage >
	    t->coverage_drop + THRESHOLDS_ROUNDING;
	if (!regression->tests_fell && !regression->coverage_fell)
		return SEVERITY_NONE;
	if (regression->tests_fell &&
	    (regression->coverage_fell || regression->failing > 1))
		return SEVERITY_CRITICAL;
	return SEVERITY_HIGH;
}

static void
add_entry(struct json_object *list, int64_t iteration, const char *message,
    double from, double to)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "iteration", iteration);
	json_set_string(json, "message", message);
	if (!isnan(from)) {
		json_set(json, "from", json_object_new_double(from));
		json_set(json, "to", json_object_new_double(to));
	}
	json_object_array_add(list, json);
}

static void
detect_regression_describe(
    const struct regression *regression, struct detection *detection)
{
	static const char *const fell = "Tests went from passing to failing";
	struct json_object *list = json_object_new_array();
	cleanup_free char *dropped = xasprintf(
	    "Coverage dropped %.1f%%", regression->best - regression->coverage);
	bool tests = regression->tests_fell;
	bool coverage = regression->coverage_fell;

	if (tests)
		add_entry(list, regression->failed_at, fell, NAN, NAN);
	if (coverage)
		add_entry(list, regression->sank_at, dropped, regression->best,
		    regression->coverage);
	json_set(detection->evidence, "regressions", list);
	detection->recommendations = detect_regression_recommendations;
	detection->message = xasprintf("Regression: %s%s%s", tests ? fell : "",
	    tests && coverage ? "; " : "", coverage ? dropped : "");
}

#define CRITICAL    2.5 /* times the estimate */
#define NEARLY_DONE 90.0 /* percent */
#define HALF_DONE   50.0

#define SHARED                                         \
	"Analyze why estimates were incorrect",        \
	    "Break remaining work into smaller tasks", \
	    "Request human decision on continuation"

static const char *const stop_rather[] = {
	"Consider aborting if little progress made",
	SHARED,
	NULL,
};

static const char *const go_on_rather[] = {
	"Increase iteration budget if task is viable",
	SHARED,
	NULL,
};

double
cost_estimate(double own, const double *landed, size_t count)
{
	double most = NAN;

	if (own > 0)
		return own;
	if (count < COST_ESTIMATE_LEAST)
		return NAN;
	for (size_t i = 0; i < count; i++)
		if (!(most >= landed[i]))
			most = landed[i];
	return most;
}

static double
ratio(double actual, double estimate)
{
	return estimate > 0 ? actual / estimate : 0;
}

static enum severity
judge(double times, double multiplier)
{
	if (times <= multiplier + THRESHOLDS_ROUNDING)
		return SEVERITY_NONE;
	return times >= CRITICAL - THRESHOLDS_ROUNDING ? SEVERITY_CRITICAL :
							 SEVERITY_HIGH;
}

static enum severity
detect_burn(struct burn *burn, const struct behaviour_step *step,
    const struct thresholds *t)
{
	enum severity by_count, by_cost, severity;

	burn->iterations++;
	if (step->number > burn->iterations)
		burn->iterations = step->number;
	if (step->max_iterations > 0)
		burn->expected = step->max_iterations;
	if (!isnan(step->cost))
		burn->cost += step->cost;
	if (step->estimated_cost > 0)
		burn->estimate = step->estimated_cost;
	if (!isnan(step->completion))
		burn->completion = step->completion;

	if (step->waits)
		return SEVERITY_NONE;
	by_count =
	    judge(ratio((double)burn->iterations, (double)burn->expected),
		t->iteration_multiplier);
	by_cost = judge(ratio(burn->cost, burn->estimate), t->cost_multiplier);
	if (by_cost > SEVERITY_HIGH)
		by_cost = SEVERITY_HIGH; /* what others cost is no budget */
	severity = by_count > by_cost ? by_count : by_cost;
	if (burn->completion >= 100)
		return SEVERITY_NONE;
	if (severity == SEVERITY_CRITICAL && burn->completion >= NEARLY_DONE)
		return SEVERITY_HIGH;
	return severity;
}

static void
detect_burn_describe(const struct burn *burn, struct detection *detection)
{
	struct json_object *evidence = detection->evidence;
	cleanup_buf struct buf message = BUF_INIT;

	buf_addf(
	    &message, "Resource burn: Used %lld", (long long)burn->iterations);
	if (burn->expected > 0) {
		double times =
		    ratio((double)burn->iterations, (double)burn->expected);

		buf_addf(&message, "/%lld iterations (%.0f%% of budget)",
		    (long long)burn->expected, times * 100);
		json_set_int(evidence, "estimatedIterations", burn->expected);
		json_set_int(evidence, "actualIterations", burn->iterations);
		json_set(
		    evidence, "iterationRatio", json_object_new_double(times));
	} else {
		buf_adds(&message, " iterations");
	}
	if (burn->estimate > 0) {
		buf_addf(&message, "; %.2f of %.2f US dollars", burn->cost,
		    burn->estimate);
		json_set(evidence, "estimatedCost",
		    json_object_new_double(burn->estimate));
		json_set(
		    evidence, "actualCost", json_object_new_double(burn->cost));
		json_set(evidence, "costRatio",
		    json_object_new_double(ratio(burn->cost, burn->estimate)));
	}
	if (!isnan(burn->completion)) {
		buf_addf(&message, "; %g%% done", burn->completion);
		json_set(evidence, "completionPercent",
		    json_object_new_double(burn->completion));
		json_set(evidence, "efficiency",
		    json_object_new_double(
			burn->completion / 100 / (double)burn->iterations));
	}
	detection->recommendations =
	    burn->completion > HALF_DONE ? go_on_rather : stop_rather;
	detection->message = buf_take(&message);
}

#define CHANGES_SHOWN 6
#define FILES_SHOWN   10
#define RETURNS_SHOWN 10

static const char *const detect_oscillation_recommendations[] = {
	"Commit to one approach instead of alternating",
	"Review feedback quality - may be conflicting",
	"Pause and assess which approach is better",
	"Request human decision on direction",
	NULL,
};

/* More than the threshold, or all of them. */
static bool
nearly_all(unsigned part, unsigned whole, double threshold)
{
	return part == whole ||
	    (double)part > threshold * (double)whole + THRESHOLDS_ROUNDING;
}

/* Has the file had this content before, and another one since? */
static bool
returns(const struct step_history *history, size_t kept,
    const struct behaviour_file *file)
{
	bool changed = false;

	for (size_t back = 1; back < kept; back++) {
		const struct behaviour_file *then = behaviour_step_file(
		    step_history_at(history, back), file->path);

		if (then == NULL || then->content == 0)
			continue;
		if (then->content != file->content)
			changed = true;
		else
			return changed;
	}
	return false;
}

/* How many files of `a` are in `b`. */
static unsigned
common(const struct behaviour_step *a, const struct behaviour_step *b)
{
	unsigned count = 0;

	for (size_t i = 0, j = 0; i < a->file_count && j < b->file_count;) {
		if (a->files[i].path == b->files[j].path) {
			count++;
			i++;
			j++;
		} else if (a->files[i].path < b->files[j].path) {
			i++;
		} else {
			j++;
		}
	}
	return count;
}

static bool
names_return(const struct step_history *history, size_t kept, double threshold)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	const struct behaviour_step *before[2] = { NULL, NULL };
	size_t found = 0;

	for (size_t back = 1; back < kept && found < 2; back++)
		if (step_history_at(history, back)->file_count > 0)
			before[found++] = step_history_at(history, back);
	return found == 2 &&
	    nearly_all(
		common(before[1], now), before[1]->file_count, threshold) &&
	    !nearly_all(
		common(before[0], now), before[0]->file_count, threshold);
}

static bool
is_cycle(
    const struct step_history *history, size_t kept, const struct thresholds *t)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	unsigned known = 0, back = 0;

	for (size_t i = 0; i < now->file_count; i++) {
		if (now->files[i].content == 0)
			continue;
		known++;
		back += returns(history, kept, &now->files[i]);
	}
	return known > 0 ? nearly_all(back, known, t->file_churn) :
			   names_return(history, kept, t->file_churn) &&
		!step_history_moves_on(history, t);
}

/* Is the latest change the first return to these contents, or has it undone one
 * attempt after another? Not where contents are not known. */
static bool
is_one_way(const struct step_history *history, size_t kept)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	bool known = false;

	for (size_t i = 0; i < now->file_count; i++) {
		const struct behaviour_file *file = &now->files[i];

		known = known || file->content != 0;
		for (size_t back = 1; back < kept && file->content != 0;
		     back++) {
			const struct behaviour_step *step =
			    step_history_at(history, back);
			const struct behaviour_file *then = step->cycle ?
			    behaviour_step_file(step, file->path) :
			    NULL;

			if (then != NULL && then->content != file->content)
				return false;
		}
	}
	return known;
}

/* Sets step->cycle of the last step. */
static enum severity
detect_oscillation(struct step_history *history, const struct thresholds *t,
    struct oscillation_finding *ret_finding)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);
	size_t window = 2 * (size_t)t->undo_redo_cycles + 2, changes = 0;
	struct behaviour_step *now =
	    &history->steps[(history->count - 1) % THRESHOLDS_WINDOW_MAX];
	int cycles = 0;

	if (now->file_count > 0)
		now->cycle = is_cycle(history, kept, t);
	for (size_t back = 0; back < kept && changes < window; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (step->file_count == 0)
			continue;
		if (changes++ == 0 && !step->cycle)
			return SEVERITY_NONE;
		cycles += step->cycle;
	}
	if (cycles < t->undo_redo_cycles)
		return SEVERITY_NONE;
	ret_finding->cycles = cycles;
	ret_finding->one_way = is_one_way(history, kept);
	return SEVERITY_HIGH;
}

static struct json_object *
files_json(const struct iteration *it)
{
	struct json_object *list = json_object_new_array();
	size_t shown = 0;

	for (char **f = it->files; f != NULL && *f != NULL; f++)
		if (shown++ < FILES_SHOWN)
			json_object_array_add(list, json_object_new_string(*f));
	for (size_t i = 0; !it->files_known && i < it->blob_count; i++)
		if (shown++ < FILES_SHOWN)
			json_object_array_add(
			    list, json_object_new_string(it->blobs[i].path));
	return list;
}

/* The files of the latest change that returned, with their blobs. */
static struct json_object *
returned_json(const struct step_history *history, size_t kept)
{
	struct json_object *json = json_object_new_object();
	const struct iteration *it = step_history_at(history, 0)->source;
	int shown = 0;

	for (size_t i = 0; i < it->blob_count; i++) {
		const char *path = it->blobs[i].path;
		const struct behaviour_file *file =
		    behaviour_step_file(step_history_at(history, 0),
			behaviour_hash(path, strlen(path)));

		if (file != NULL && file->content != 0 &&
		    returns(history, kept, file) && shown++ < RETURNS_SHOWN)
			json_set_string(json, path, it->blobs[i].hash);
	}
	return json;
}

static void
detect_oscillation_describe(const struct step_history *history,
    const struct oscillation_finding *finding, struct detection *detection)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);
	struct json_object *changes = json_object_new_array(), *returned;
	size_t first = kept, shown = 0;

	for (size_t back = 0; back < kept && shown < CHANGES_SHOWN; back++)
		if (step_history_at(history, back)->file_count > 0) {
			first = back + 1;
			shown++;
		}
	for (size_t back = first; back-- > 0;)
		if (step_history_at(history, back)->file_count > 0)
			json_object_array_add(changes,
			    files_json(step_history_at(history, back)->source));
	detection->recommendations = detect_oscillation_recommendations;
	detection->message =
	    xasprintf("Oscillation: %d undo/redo cycles in recent iterations",
		finding->cycles);
	json_set_int(detection->evidence, "undoRedoCycles", finding->cycles);
	json_set(detection->evidence, "recentFileChanges", changes);
	returned = returned_json(history, kept);
	if (json_object_object_length(returned) > 0)
		json_set(detection->evidence, "returnedBlobs", returned);
	else
		json_object_put(returned);
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct behaviour_metrics, key, member, ##__VA_ARGS__)

static const struct schema_field usage_fields[] = {
	FIELD("iterations", iteration_ratio),
	FIELD("cost", cost_ratio),
};

static const struct schema usage =
    SCHEMA_OF(struct behaviour_metrics, usage_fields);

static const struct schema_field quality_fields[] = {
	SCHEMA_AS(struct behaviour_metrics, "testsPassing", TRUTH, tests),
	FIELD("coveragePercent", coverage),
	FIELD("coverageChange", coverage_change),
};

static const struct schema quality =
    SCHEMA_OF(struct behaviour_metrics, quality_fields);

static const struct schema_field fields[] = {
	FIELD("progressRate", progress_rate),
	FIELD("errorPatterns", repeated_errors),
	SCHEMA_GROUP("resourceUsage", usage),
	FIELD("timeElapsedMs", elapsed_ms, .flags = SCHEMA_UNKNOWN),
	SCHEMA_GROUP("qualityTrajectory", quality),
};

const struct schema behaviour_metrics_schema =
    SCHEMA_OF(struct behaviour_metrics, fields);

struct json_object *
behaviour_metrics_to_json(const struct behaviour_metrics *metrics)
{
	struct behaviour_metrics shown = *metrics;

	shown.progress_rate /= 100;
	return schema_json(&behaviour_metrics_schema, &shown);
}

struct behaviour {
	struct thresholds thresholds;
	double best; /* completion; NAN = not known */
	int64_t elapsed_ms; /* -1 = not known */
	int tests; /* the last that is known; -1 = none */
	enum severity severity[DETECTION_TYPES];
	struct stuck_checks checks;
	struct stuck_finding stuck;
	struct oscillation_finding oscillation;
	struct deviation deviation;
	struct burn burn;
	struct regression regression;
	struct step_history history;
};

struct behaviour *
behaviour_new(const struct thresholds *thresholds)
{
	struct behaviour *b = xcalloc(1, sizeof *b);

	b->thresholds = *thresholds;
	b->best = b->burn.completion = NAN;
	b->regression.best = b->regression.coverage = NAN;
	b->elapsed_ms = b->tests = -1;
	return b;
}

void
behaviour_free(struct behaviour *b)
{
	if (b == NULL)
		return;
	stuck_checks_release(&b->checks);
	deviation_release(&b->deviation);
	step_history_release(&b->history);
	free(b);
}

void
behaviour_cleanup(struct behaviour **behaviour)
{
	behaviour_free(*behaviour);
}

void
behaviour_prepare(struct behaviour *b, const struct iteration *iteration,
    struct behaviour_step *ret_step)
{
	deviation_learn(&b->deviation, iteration);
	behaviour_step_prepare(ret_step, iteration,
	    b->deviation.objective != NULL ? &b->deviation.words : NULL);
}

void
behaviour_judge(struct behaviour *b, const struct behaviour_step *prepared)
{
	struct behaviour_step *step = step_history_next(&b->history);
	const struct thresholds *t = &b->thresholds;

	/* The files beyond the count are not set. */
	memcpy(step, prepared,
	    offsetof(struct behaviour_step, files) +
		prepared->file_count * sizeof prepared->files[0]);
	iteration_ref(step->source);
	if (!(b->best >= step->completion) && !isnan(step->completion))
		b->best = step->completion;
	step->best = b->best;
	if (step->tests >= 0)
		b->tests = step->tests;
	if (step->duration_ms >= 0)
		b->elapsed_ms =
		    (b->elapsed_ms < 0 ? 0 : b->elapsed_ms) + step->duration_ms;
	b->severity[DETECTION_STUCK] =
	    detect_stuck(&b->history, &b->checks, t, &b->stuck);
	b->severity[DETECTION_OSCILLATION] =
	    detect_oscillation(&b->history, t, &b->oscillation);
	b->severity[DETECTION_DEVIATION] =
	    detect_deviation(&b->deviation, &b->history, t);
	b->severity[DETECTION_RESOURCE_BURN] = detect_burn(&b->burn, step, t);
	b->severity[DETECTION_REGRESSION] =
	    detect_regression(&b->regression, step, t);
}

void
behaviour_add(struct behaviour *b, const struct iteration *iteration)
{
	struct behaviour_step step;

	behaviour_prepare(b, iteration, &step);
	behaviour_judge(b, &step);
}

enum severity
behaviour_severity(const struct behaviour *b, enum detection_type type)
{
	return b->severity[type];
}

void
behaviour_news(const struct behaviour *b, struct progress_policy *policy)
{
	const struct behaviour_step *step = step_history_at(&b->history, 0);
	bool tested = step->tests >= 0 || !isnan(step->coverage);
	bool by_turn = b->stuck.kind == STUCK_IDLE && step->part;
	bool by_check =
	    (b->stuck.kind == STUCK_CHECK || b->stuck.kind == STUCK_IN_TURN) &&
	    step->failure.hash == 0;
	bool gets_on = step->failure.hash != 0 && b->checks.known == 0 &&
	    !b->regression.more;

	policy->old = (by_check || by_turn ? 1u << DETECTION_STUCK : 0) |
	    (tested ? 0 : 1u << DETECTION_REGRESSION);
	/* Who works test by test ends turns with a test that fails, and tests
	 * that fail cover less. Who repairs one after another gets on. */
	policy->noted = (b->regression.failing <= RED_TURNS || gets_on) &&
		(b->regression.failing > 0 || !b->regression.coverage_fell) ?
	    1u << DETECTION_REGRESSION :
	    0;
	/* A second attempt that is undone, too, is none of these. */
	if (b->oscillation.one_way &&
	    b->oscillation.cycles <= b->thresholds.undo_redo_cycles)
		policy->noted |= 1u << DETECTION_OSCILLATION;
	policy->cause[DETECTION_STUCK] = stuck_cause(&b->checks, &b->stuck);
}

void
behaviour_describe(const struct behaviour *b, enum detection_type type,
    struct detection *ret_detection)
{
	detection_init(ret_detection, type, b->severity[type]);
	switch (type) {
	case DETECTION_STUCK:
		detect_stuck_describe(
		    &b->history, &b->checks, &b->stuck, ret_detection);
		break;
	case DETECTION_OSCILLATION:
		detect_oscillation_describe(
		    &b->history, &b->oscillation, ret_detection);
		break;
	case DETECTION_DEVIATION:
		detect_deviation_describe(
		    &b->deviation, &b->thresholds, ret_detection);
		break;
	case DETECTION_RESOURCE_BURN:
		detect_burn_describe(&b->burn, ret_detection);
		break;
	case DETECTION_REGRESSION:
		detect_regression_describe(&b->regression, ret_detection);
		break;
	case DETECTION_TYPES:
		break;
	}
}

void
behaviour_measure(
    const struct behaviour *b, struct behaviour_metrics *ret_metrics)
{
	const struct regression *r = &b->regression;
	struct stuck_finding stuck = { .rate = NAN };

	if (b->history.count > 0)
		stuck_measure(&b->history, &b->checks, &b->thresholds, &stuck);
	*ret_metrics = (struct behaviour_metrics){
		.progress_rate = stuck.rate,
		.repeated_errors = stuck.occurrences,
		.iteration_ratio = b->burn.expected > 0 ?
		    (double)b->burn.iterations / (double)b->burn.expected :
		    NAN,
		.cost_ratio = b->burn.estimate > 0 ?
		    b->burn.cost / b->burn.estimate :
		    NAN,
		.elapsed_ms = b->elapsed_ms,
		.tests = b->tests,
		.coverage = r->coverage,
		.coverage_change = r->coverage - r->best,
	};
}

struct json_object *
behaviour_to_json(const struct behaviour *b)
{
	struct json_object *list = json_object_new_array();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct detection detection;

		if (b->severity[type] == SEVERITY_NONE)
			continue;
		behaviour_describe(b, (enum detection_type)type, &detection);
		json_object_array_add(list, detection_to_json(&detection));
		detection_release(&detection);
	}
	return list;
}

/* --- a document ------------------------------------------------------ */

/* The parts of a document; a bare array is a history. */
static int
take_parts(struct json_object *document, struct json_object **ret_history,
    struct json_object **ret_thresholds, struct err *err)
{
	static const char *const keys[] = { "history", "thresholds", NULL };
	int r;

	*ret_thresholds = NULL;
	if (json_object_is_type(document, json_type_array)) {
		*ret_history = document;
		return 0;
	}
	if (!json_object_is_type(document, json_type_object))
		return err_set(err, -EINVAL,
		    "expected an array of iterations, or an object with "
		    "\"history\"");
	r = schema_known(&(const struct schema){ 0 }, keys, document, "", err);
	if (r == 0)
		r = json_get_array(document, "", "history", ret_history, err);
	if (r == -ENOENT)
		return err_set(err, -EINVAL,
		    "\"history\", the array of iterations, is missing");
	if (r < 0)
		return r;
	r = json_get_object(document, "", "thresholds", ret_thresholds, err);
	return r == -ENOENT ? 0 : r;
}

int
behaviour_check(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_detections,
    struct err *err)
{
	struct thresholds merged = *thresholds;
	struct json_object *history = NULL, *given = NULL;
	cleanup_behaviour struct behaviour *b = NULL;
	bool bare = json_object_is_type(document, json_type_array);
	int r = take_parts(document, &history, &given, err);

	if (r == 0)
		r = thresholds_merge(&merged, given, "thresholds", err);
	if (r < 0)
		return r;
	b = behaviour_new(&merged);
	for (size_t i = 0; i < json_object_array_length(history); i++) {
		cleanup_iteration struct iteration *it = NULL;
		cleanup_buf struct buf at = BUF_INIT;
		struct json_object *json;

		json_path_index(&at, bare ? "" : "history", i);
		json = json_object_array_get_idx(history, i);
		if (json == NULL)
			it = iteration_new((int64_t)i + 1);
		else
			r = iteration_from_json(
			    json, at.data, (int64_t)i + 1, &it, err);
		if (r < 0)
			return r;
		behaviour_add(b, it);
	}
	*ret_detections = behaviour_to_json(b);
	return 0;
}

/* --- detection ---------------------------------------------------------- */

const char *const detection_type_words[] = {
	[DETECTION_STUCK] = "stuck",
	[DETECTION_OSCILLATION] = "oscillation",
	[DETECTION_DEVIATION] = "deviation",
	[DETECTION_RESOURCE_BURN] = "resource_burn",
	[DETECTION_REGRESSION] = "regression",
	[DETECTION_TYPES] = NULL,
};

const char *const severity_words[] = {
	[SEVERITY_NONE] = "none",
	[SEVERITY_LOW] = "low",
	[SEVERITY_MEDIUM] = "medium",
	[SEVERITY_HIGH] = "high",
	[SEVERITY_CRITICAL] = "critical",
	[SEVERITY_COUNT] = NULL,
};

static const struct schema texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};
static const struct schema lists_of_texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_LIST },
};

static const struct schema example = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("similarity", NUMBER, NULL),
	    SCHEMA_IS("artifacts", LIST, NULL),
	    SCHEMA_END,
	},
};

static const struct schema regression = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("message", STRING, NULL),
	    SCHEMA_MAY("from", NUMBER, NULL),
	    SCHEMA_MAY("to", NUMBER, NULL),
	    SCHEMA_END,
	},
};

/* Each type has its own. */
static const struct schema evidence = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("repeatedError", STRING, NULL),
	    SCHEMA_MAY("occurrences", INT, NULL),
	    SCHEMA_MAY_OR_NULL("avgProgressRate", NUMBER, NULL),
	    SCHEMA_MAY("recentBlockers", LIST, NULL),
	    SCHEMA_MAY("undoRedoCycles", INT, NULL),
	    SCHEMA_MAY("recentFileChanges", ARRAY, NULL, .of = &lists_of_texts),
	    SCHEMA_MAY("returnedBlobs", MAP, NULL, .of = &texts),
	    SCHEMA_MAY("originalObjective", STRING, NULL),
	    SCHEMA_MAY("deviationExamples", ROWS, NULL, .of = &example),
	    SCHEMA_MAY("averageSimilarity", NUMBER, NULL),
	    SCHEMA_MAY("filesOutside", INT, NULL),
	    SCHEMA_MAY("filesInside", INT, NULL),
	    SCHEMA_MAY("estimatedIterations", INT, NULL),
	    SCHEMA_MAY("actualIterations", INT, NULL),
	    SCHEMA_MAY("iterationRatio", NUMBER, NULL),
	    SCHEMA_MAY("estimatedCost", NUMBER, NULL),
	    SCHEMA_MAY("actualCost", NUMBER, NULL),
	    SCHEMA_MAY("costRatio", NUMBER, NULL),
	    SCHEMA_MAY("completionPercent", NUMBER, NULL),
	    SCHEMA_MAY("efficiency", NUMBER, NULL),
	    SCHEMA_MAY("regressions", ROWS, NULL, .of = &regression),
	    SCHEMA_END,
	},
};

#define DETECTION_FIELD(key, member, ...)                                     \
	SCHEMA_FIELD(struct detection, key, member, .flags = SCHEMA_REQUIRED, \
	    ##__VA_ARGS__)

static const struct schema_field detection_fields[] = {
	DETECTION_FIELD("type", type, .words = detection_type_words),
	DETECTION_FIELD("severity", severity, .words = severity_words),
	DETECTION_FIELD("message", message),
	DETECTION_FIELD("evidence", evidence, .of = &evidence),
	SCHEMA_AS(struct detection, "recommendations", LIST, recommendations),
};

const struct schema detection_schema =
    SCHEMA_OF(struct detection, detection_fields);

const struct schema_field detections_shape = { .type = SCHEMA_ROWS,
	.of = &detection_schema };

static const char *const no_recommendations[] = { NULL };

void
detection_init(struct detection *detection, enum detection_type type,
    enum severity severity)
{
	detection->type = type;
	detection->severity = severity;
	detection->message = NULL;
	detection->evidence = json_object_new_object();
	detection->recommendations = no_recommendations;
}

void
detection_release(struct detection *detection)
{
	free(detection->message);
	json_object_put(detection->evidence);
	detection->message = NULL;
	detection->evidence = NULL;
}

struct json_object *
detection_to_json(const struct detection *detection)
{
	struct json_object *json = schema_json(&detection_schema, detection);

	if (detection->message == NULL)
		json_set_string(json, "message", "");
	return json;
}
