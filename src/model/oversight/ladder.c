/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "behaviour.h"
#include "error-signature.h"
#include "excerpt.h"
#include "iteration.h"
#include "ladder.h"
#include "behaviour-private.h"
#include "schema.h"
#include "task.h"

const char *const progress_step_words[] = {
	[STEP_NONE] = "none",
	[STEP_LOG] = "log",
	[STEP_WARN] = "warn",
	[STEP_CHECK] = "check",
	[STEP_REDIRECT] = "redirect",
	[STEP_RESTART] = "restart",
	[STEP_RETRY] = "retry",
	[STEP_PAUSE] = "pause",
	[STEP_COUNT] = NULL,
};

const char *const oversight_status_words[] = {
	[OVERSIGHT_HEALTHY] = "healthy",
	[OVERSIGHT_WARNING] = "warning",
	[OVERSIGHT_CRITICAL] = "critical",
	[OVERSIGHT_PAUSED] = "paused",
	NULL,
};

const char *const progress_outcome_words[] = {
	[OUTCOME_PENDING] = "pending",
	[OUTCOME_IMPROVED] = "improved",
	[OUTCOME_UNCHANGED] = "unchanged",
	[OUTCOME_WORSE] = "worse",
	NULL,
};

void
progress_next(struct progress *state,
    const enum progress_step called_for[DETECTION_TYPES],
    const struct progress_policy *policy,
    enum progress_step ret_due[DETECTION_TYPES])
{
	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct progress_track *track = &state->tracks[type];
		enum progress_step step = called_for[type];

		if (step > STEP_LOG && (policy->by_hand || track->silenced))
			step = STEP_LOG;
		if (track->level > step)
			track->level = step;
		ret_due[type] = track->level < step ? step : STEP_NONE;
	}
}

void
progress_delivered(
    struct progress *state, enum detection_type type, enum progress_step step)
{
	state->tracks[type].level = step;
}

void
progress_silence(struct progress *state, enum detection_type type)
{
	state->tracks[type].silenced = true;
}

enum severity
progress_worst(const struct progress *state,
    const enum severity severity[DETECTION_TYPES],
    const enum progress_step called_for[DETECTION_TYPES])
{
	enum severity worst = SEVERITY_NONE;

	for (int i = 0; i < DETECTION_TYPES; i++)
		if (severity[i] > worst && !state->tracks[i].silenced &&
		    called_for[i] > STEP_LOG)
			worst = severity[i];
	return worst;
}

/* --- as JSON --------------------------------------------------------- */

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct progress_track, "level", level,
	    .words = progress_step_words),
	SCHEMA_FIELD(struct progress_track, "silenced", silenced),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

struct json_object *
progress_to_json(const struct progress *state)
{
	struct json_object *json = json_object_new_object();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *track = json_object_new_object();

		schema_add(&schema, &state->tracks[type], track);
		json_set(json, detection_type_words[type], track);
	}
	return json;
}

void
progress_from_json(struct progress *state, struct json_object *json)
{
	*state = (struct progress){ 0 };
	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *member = NULL;
		struct progress_track track = { 0 };

		if (json_object_object_get_ex(
			json, detection_type_words[type], &member) &&
		    member != NULL &&
		    schema_read(&schema, member, "", &track, NULL) == 0)
			state->tracks[type] = track;
	}
}

/* --- in a running turn ----------------------------------------------- */

enum progress_telling
progress_telling(enum progress_step due, int64_t waited_ms, int64_t slice_ms)
{
	int64_t patience = slice_ms;

	if (due <= STEP_LOG || due == STEP_CHECK)
		return TELLING_NOTHING;
	if (due > STEP_REDIRECT)
		return TELLING_INTERRUPT;
	if (due == STEP_WARN)
		patience *= PROGRESS_PATIENCE;
	return waited_ms >= patience ? TELLING_INTERRUPT : TELLING_CONTEXT;
}

bool
progress_tell_again(
    enum progress_step level, enum severity before, enum severity after)
{
	return level == STEP_REDIRECT && after != SEVERITY_NONE &&
	    after >= before;
}

/* --- judgements ------------------------------------------------------ */

enum oversight_status
oversight_status(enum severity worst, bool paused)
{
	if (paused)
		return OVERSIGHT_PAUSED;
	if (worst == SEVERITY_CRITICAL)
		return OVERSIGHT_CRITICAL;
	return worst != SEVERITY_NONE ? OVERSIGHT_WARNING : OVERSIGHT_HEALTHY;
}

enum progress_outcome
progress_judge(enum severity prior, enum severity before,
    const enum severity *after, int count)
{
	enum severity last;

	if (count < PROGRESS_PATIENCE)
		return OUTCOME_PENDING;
	last = after[PROGRESS_PATIENCE - 1];
	/* What was getting better already needed no help. */
	if (last < before)
		return prior > before ? OUTCOME_UNCHANGED : OUTCOME_IMPROVED;
	return last > before ? OUTCOME_WORSE : OUTCOME_UNCHANGED;
}

/* --- silence ------------------------------------------------------------ */

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */
#define LOOKS         16 /* in the overseer's timeout */
#define LOOK_LEAST_MS 100

/* Mildest first; the last one repeats. */
static const enum progress_step stages[] = {
	STEP_REDIRECT,
	STEP_RESTART,
	STEP_RETRY,
};

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
silence_look_ms(int64_t overseer_ms)
{
	int64_t ms = overseer_ms / LOOKS;

	return ms > LOOK_LEAST_MS ? ms : LOOK_LEAST_MS;
}

struct silence_limits
silence_limits(int64_t timeout_ms, int64_t overseer_ms)
{
	int64_t longest =
	    overseer_ms > 0 ? silence_longest_ms(overseer_ms) : INT64_MAX;
	int64_t tool;

	if (timeout_ms <= 0)
		return (struct silence_limits){ 0 };
	tool = timeout_ms > INT64_MAX / TOOL_PATIENCE ?
	    INT64_MAX :
	    timeout_ms * TOOL_PATIENCE;
	return (struct silence_limits){
		.turn_ms = smaller(timeout_ms, longest),
		.tool_ms = smaller(tool, longest),
	};
}

bool
silence_is_long(
    int64_t quiet_ms, bool tool_open, const struct silence_limits *limits)
{
	int64_t limit = tool_open ? limits->tool_ms : limits->turn_ms;

	return limit > 0 && quiet_ms > limit;
}

enum progress_step
silence_next(
    const struct silence_facts *facts, const struct silence_limits *limits)
{
	size_t stage = facts->stage > 0 ? (size_t)facts->stage : 0;

	if (!silence_is_long(smaller(facts->quiet_ms, facts->step_ms),
		facts->tool_open, limits))
		return STEP_NONE;
	return stages[smaller((int64_t)stage, (int64_t)nitems(stages) - 1)];
}

enum progress_step
silence_by_hand(enum stall_class sample, bool vain, enum recovery_policy policy)
{
	if (sample != STALL_WAITING && sample != STALL_FAILED && !vain)
		return STEP_WARN;
	return sample != STALL_WAITING &&
		(policy == RECOVERY_REPLAN || policy == RECOVERY_REASSIGN) ?
	    STEP_RETRY :
	    STEP_PAUSE;
}

/* --- fleet pattern ------------------------------------------------------ */

/* In any case of letters. */
static const char *const shared[] = { "no space left", "enospc", "disk quota",
	"read-only file system", "input/output error", "too many open files",
	"cannot allocate memory", "could not resolve host", "enotfound",
	"eai_again", "temporary failure in name resolution",
	"name or service not known", "no such host", "network is unreachable",
	"no route to host", "connection refused", "econnrefused",
	"connection reset", "econnreset", "connection timed out", "etimedout",
	"certificate", "unauthorized", "authentication", "not logged in",
	"invalid api key", "credential", "permission denied (publickey",
	"command not found", "executable file not found", "no such program" };

bool
fleet_pattern_is_shared(const char *error)
{
	for (size_t i = 0; i < nitems(shared); i++)
		if (strcasestr(error, shared[i]) != NULL)
			return true;
	return false;
}

size_t
fleet_pattern_see(struct fleet_pattern *fleet, uint64_t signature,
    const char *worker, int64_t now_ms)
{
	uint64_t who = behaviour_hash(worker, strlen(worker));
	struct fleet_sighting *own = NULL;
	size_t workers = 1;
	bool reported = false;

	for (size_t i = 0; i < FLEET_PATTERN_KEPT; i++) {
		struct fleet_sighting *s = &fleet->seen[i];

		if (s->worker == 0 || s->signature != signature ||
		    now_ms - s->at_ms > FLEET_PATTERN_MS)
			continue;
		reported = reported || s->reported;
		if (s->worker == who)
			own = s;
		else
			workers++;
	}
	if (own == NULL)
		own = &fleet->seen[fleet->next++ % FLEET_PATTERN_KEPT];
	*own = (struct fleet_sighting){ signature, who, now_ms,
		reported || workers >= FLEET_PATTERN_WORKERS };
	return !reported && workers >= FLEET_PATTERN_WORKERS ? workers : 0;
}

/* --- failures alike ------------------------------------------------------ */

void
alike_clear(struct alike *alike)
{
	free(alike->reason);
	strv_free(alike->tasks);
	strv_free(alike->keys);
	strv_free(alike->workers);
	*alike = (struct alike){ 0 };
}

/* The end of the name in quotes that begins at s[i], NULL = there is none: "the
 * worker's" has an apostrophe. */
static const char *
alike_name_end(const char *text, const char *s)
{
	const char *end;

	if (strchr("\"'`", *s) == NULL ||
	    (s > text && isalnum((unsigned char)s[-1])))
		return NULL;
	end = s + 1 + strcspn(s + 1, "\"'`\n");
	return *end == *s && end > s + 1 && !isalnum((unsigned char)end[1]) ?
	    end + 1 :
	    NULL;
}

/* All lines count: the first ones may be what every failure of a kind begins
 * with. 0 = it says nothing. */
static uint64_t
alike_signature(const char *reason)
{
	cleanup_buf struct buf plain = BUF_INIT;
	uint64_t sum = 0;
	const char *end;

	for (const char *s = reason; *s != '\0'; s = end) {
		end = alike_name_end(reason, s);
		if (end != NULL)
			buf_adds(&plain, "<name>");
		else
			buf_add(&plain, s, (size_t)((end = s + 1) - s));
	}
	for (const char *line = plain.data; *line != '\0';
	     line = end + (*end == '\n')) {
		size_t len = strcspn(line, "\n");

		end = line + len;
		sum = sum * 31 + error_signature_hash(line, len);
	}
	return sum;
}

bool
alike_add(struct alike *alike, const struct task *task, size_t team,
    const char *reason)
{
	const char *key = task->key != NULL ? task->key : task->id;
	const char *worker = task->worker != NULL ? task->worker : "";
	uint64_t signature = alike_signature(reason);

	if (signature == 0)
		return false;
	if (alike->reason == NULL || alike->signature != signature) {
		alike_clear(alike);
		alike->reason = xstrdup(reason);
		alike->signature = signature;
	}
	if (!strv_has(strv_const(alike->keys), key)) {
		strv_add(&alike->keys, key);
		strv_add(&alike->tasks, task->id);
	}
	if (!strv_has(strv_const(alike->workers), worker))
		strv_add(&alike->workers, worker);
	return strv_count(alike->tasks) >= ALIKE_TASKS &&
	    (strv_count(alike->workers) >= ALIKE_TASKS ||
		strv_count(alike->workers) >= team);
}

/* --- words --------------------------------------------------------------- */

#define QUOTE_MAX 300 /* bytes */

static const char *const guidance[DETECTION_TYPES] = {
	[DETECTION_STUCK] =
	    "Doing the same once more will not help: find out first why it "
	    "does not, then change the approach.",
	[DETECTION_OSCILLATION] =
	    "Files return to contents that they had before. Compare the two "
	    "versions, choose one, and keep it.",
	[DETECTION_DEVIATION] =
	    "The latest work is not what the task asks for. Read the task "
	    "again, and leave out what it does not need.",
	[DETECTION_RESOURCE_BURN] =
	    "That may be right: if the task needs it, go on. If something is in "
	    "the way, say what it is.",
	[DETECTION_REGRESSION] =
	    "Something that worked does not work any more. Repair it before "
	    "anything else, and leave the tests as they are.",
};

static const char *const strategies[DETECTION_TYPES] = {
	[DETECTION_STUCK] =
	    "Stop what you are doing now: repeating it does not help.\n"
	    "1. Write down in two sentences what is in the way. If you do "
	    "not know, find out by reading and by small experiments, not by "
	    "another attempt.\n"
	    "2. Name one approach that does not run into it.\n"
	    "3. Take that approach, in a step that you can check at once.\n",
	[DETECTION_OSCILLATION] =
	    "Stop changing these files back and forth.\n"
	    "1. List what speaks for each of the versions, and which check "
	    "each one fails.\n"
	    "2. Choose one, and say why.\n"
	    "3. Solve what it fails in another way than by going back to the "
	    "other version.\n",
	[DETECTION_DEVIATION] = "Return to the task.\n"
				"1. Name the part of it that is not done yet.\n"
				"2. Undo or leave what does not belong to it.\n"
				"3. Do that part next, and nothing else.\n",
	[DETECTION_RESOURCE_BURN] =
	    "The budget of this task is used up.\n"
	    "1. Save what works: a state that passes its checks.\n"
	    "2. List what is missing, each with what it would take.\n"
	    "3. Do only what can be finished in this turn, and report the "
	    "rest as open.\n",
	[DETECTION_REGRESSION] =
	    "Restore what worked before you go on.\n"
	    "1. Find the change that broke it: compare with the last state "
	    "that passed.\n"
	    "2. Repair or undo that change. Do not weaken, skip or delete "
	    "tests.\n"
	    "3. Run the tests, and continue only when they pass.\n",
};

static void
quote(struct buf *out, const char *before, const char *text, const char *after)
{
	size_t len = text_cut(text, strlen(text), QUOTE_MAX);

	buf_adds(out, before);
	text_add_words(out, text, len);
	buf_addf(out, "%s%s", text[len] != '\0' ? " ..." : "", after);
}

static void
add_error(const struct detection *detection, struct buf *out)
{
	const char *error =
	    json_string_or(detection->evidence, "repeatedError", "");

	if (error[0] != '\0')
		quote(out, "The error: ", error, "\n");
}

void
progress_reason(const struct detection *detection, struct buf *out)
{
	quote(
	    out, "", detection->message != NULL ? detection->message : "", "");
}

void
progress_warning(const struct detection *detection, struct buf *out)
{
	int number = 0;

	buf_adds(out, "OVERSIGHT WARNING: ");
	progress_reason(detection, out);
	buf_adds(out, "\n\n");
	/* Those about costs are for people. */
	if (detection->type != DETECTION_RESOURCE_BURN)
		buf_adds(out, "Recommended actions:\n");
	for (const char *const *r = detection->recommendations;
	     *r != NULL && detection->type != DETECTION_RESOURCE_BURN; r++)
		buf_addf(out, "%d. %s\n", ++number, *r);
	if (number > 0)
		buf_adds(out, "\n");
	add_error(detection, out);
	buf_addf(out, "%s\n", guidance[detection->type]);
}

void
progress_redirection(
    const struct detection *detection, const char *objective, struct buf *out)
{
	buf_adds(out, "OVERSIGHT: CHANGE THE APPROACH. ");
	progress_reason(detection, out);
	buf_adds(out, "\n");
	add_error(detection, out);
	if (objective != NULL && objective[0] != '\0')
		quote(out, "The task: ", objective, "\n");
	buf_addf(out, "\n%s", strategies[detection->type]);
}

static void
add_block(const char *title, const char *text, struct buf *out)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(out, "\n%s\n", title);
	excerpt_plain(text, out);
	buf_adds(out, "\n");
}

void
progress_learned(const struct detection *detection, const char *last_words,
    const char *failure, struct buf *out)
{
	buf_adds(out,
	    "Another session has worked on this task before, and did not get "
	    "further. ");
	progress_reason(detection, out);
	buf_adds(out, "\n");
	add_error(detection, out);
	add_block("What it said last:", last_words, out);
	add_block("How its work failed:", failure, out);
	buf_addf(out, "\n%s", strategies[detection->type]);
}

#define MANY 10 /* records */
#define SOME 3

void
oversight_tally_outcome(struct oversight_tally *tally, enum detection_type type,
    enum progress_outcome outcome)
{
	if (outcome == OUTCOME_IMPROVED)
		tally->helped[type]++;
	else if (outcome != OUTCOME_PENDING)
		tally->useless[type]++;
}

static int
found(const struct oversight_tally *tally, enum detection_type type)
{
	int sum = 0;

	for (int s = SEVERITY_LOW; s < SEVERITY_COUNT; s++)
		sum += tally->detections[type][s];
	return sum;
}

static int
sum(const int counts[DETECTION_TYPES])
{
	int all = 0;

	for (int type = 0; type < DETECTION_TYPES; type++)
		all += counts[type];
	return all;
}

/* --- what the counts say --------------------------------------------- */

static bool
only_logs(const struct oversight_tally *t)
{
	int higher = 0;

	for (int i = STEP_WARN; i < STEP_COUNT; i++)
		higher += t->interventions[i];
	return t->interventions[STEP_LOG] >= MANY && higher == 0;
}

static bool
stops_good_work(const struct oversight_tally *t)
{
	return t->tasks_stopped >= SOME &&
	    2 * t->tasks_stopped_landed >= t->tasks_stopped;
}

static bool
misses_oscillation(const struct oversight_tally *t)
{
	return found(t, DETECTION_STUCK) >= MANY && /* one task is few */
	    found(t, DETECTION_OSCILLATION) == 0;
}

static bool
burns_late(const struct oversight_tally *t)
{
	return t->burns_late > 0;
}

static bool
regressions_brief(const struct oversight_tally *t)
{
	return t->regressions_brief >= SOME &&
	    2 * t->regressions_brief >= found(t, DETECTION_REGRESSION);
}

static const struct {
	const char *name;
	bool (*holds)(const struct oversight_tally *tally);
	const char *observation, *adjustment;
} indicators[] = {
	{ "only_logs", only_logs, "Many records, and nothing above a record",
	    "The thresholds are too loose: tighten them a little" },
	{ "stops_good_work", stops_good_work,
	    "Workers are often paused or aborted whose work lands after all",
	    "The thresholds are too tight: loosen them a little" },
	{ "misses_oscillation", misses_oscillation,
	    "Workers get stuck, and no oscillation is ever seen",
	    "Lower oscillation.fileChurnThreshold" },
	{ "burns_late", burns_late,
	    "A burnt budget is noticed when it is critical already",
	    "Lower resource.iterationMultiplier and resource.costMultiplier" },
	{ "regressions_brief", regressions_brief,
	    "Quality is often better again at the next result",
	    "Raise regression.coverageDropPercent, or test less often" },
};

/* --- the report ------------------------------------------------------ */

static struct json_object *
detections_json(const struct oversight_tally *tally)
{
	struct json_object *json = json_object_new_object();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *row = json_object_new_object();

		for (int s = SEVERITY_LOW; s < SEVERITY_COUNT; s++)
			json_set_int(
			    row, severity_words[s], tally->detections[type][s]);
		json_set(json, detection_type_words[type], row);
	}
	return json;
}

static struct json_object *
positives_json(const struct oversight_tally *tally)
{
	struct json_object *json = json_object_new_object();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *row = json_object_new_object();

		json_set_int(row, "true", tally->helped[type]);
		json_set_int(row, "false", tally->useless[type]);
		json_set(json, detection_type_words[type], row);
	}
	return json;
}

static struct json_object *
rate_json(int part, int whole)
{
	return whole > 0 ? json_object_new_double((double)part / whole) : NULL;
}

static struct json_object *
indicators_json(const struct oversight_tally *tally)
{
	struct json_object *list = json_object_new_array(), *row;

	for (size_t i = 0; i < nitems(indicators); i++) {
		if (!indicators[i].holds(tally))
			continue;
		row = json_object_new_object();
		json_set_string(row, "name", indicators[i].name);
		json_set_string(row, "observation", indicators[i].observation);
		json_set_string(row, "adjustment", indicators[i].adjustment);
		json_object_array_add(list, row);
	}
	return list;
}

struct json_object *
oversight_report_json(const struct oversight_tally *tally)
{
	struct json_object *json = json_object_new_object();
	struct json_object *levels = json_object_new_object();
	int helped = sum(tally->helped), useless = sum(tally->useless);

	for (int i = STEP_LOG; i < STEP_COUNT; i++)
		json_set_int(
		    levels, progress_step_words[i], tally->interventions[i]);
	json_set_int(json, "iterations", tally->iterations);
	json_set(json, "detections", detections_json(tally));
	json_set(json, "interventions", levels);
	json_set(json, "positives", positives_json(tally));
	json_set(json, "truePositiveRate", rate_json(helped, helped + useless));
	json_set(
	    json, "falsePositiveRate", rate_json(useless, helped + useless));
	json_set(json, "indicators", indicators_json(tally));
	return json;
}

void
oversight_report_text(const struct oversight_tally *tally, struct buf *out)
{
	int helped = sum(tally->helped), useless = sum(tally->useless);
	bool any = false;

	buf_addf(out,
	    "# Oversight\n\n%d iterations\n\n"
	    "| Pattern | Low | Medium | High | Critical | Helped | Did not "
	    "help |\n|---|---|---|---|---|---|---|\n",
	    tally->iterations);
	for (int type = 0; type < DETECTION_TYPES; type++) {
		buf_addf(out, "| %s |", detection_type_words[type]);
		for (int s = SEVERITY_LOW; s < SEVERITY_COUNT; s++)
			buf_addf(out, " %d |", tally->detections[type][s]);
		buf_addf(out, " %d | %d |\n", tally->helped[type],
		    tally->useless[type]);
	}
	buf_addf(
	    out, "\nNoted: %d\nInterventions:", tally->interventions[STEP_LOG]);
	for (int i = STEP_WARN; i < STEP_COUNT; i++)
		buf_addf(out, "%s %d %s", i == STEP_WARN ? "" : ",",
		    tally->interventions[i], progress_step_words[i]);
	if (helped + useless > 0)
		buf_addf(out, "\nHelped: %d of %d (%.0f%%)", helped,
		    helped + useless, 100.0 * helped / (helped + useless));
	buf_adds(out, "\n\n## Tuning\n\n");
	for (size_t i = 0; i < nitems(indicators); i++)
		if (indicators[i].holds(tally)) {
			buf_addf(out, "- %s. %s.\n", indicators[i].observation,
			    indicators[i].adjustment);
			any = true;
		}
	if (!any)
		buf_adds(out, "Nothing to adjust.\n");
}

/* --- as JSON for programs -------------------------------------------- */

static const struct schema check = {
	SCHEMA_FIELDS{
	    SCHEMA_IS(
		"status", STRING, NULL, .choices = oversight_status_words),
	    SCHEMA_IS("metrics", OBJECT, NULL, .of = &behaviour_metrics_schema),
	    SCHEMA_IS("detections", ROWS, NULL, .of = &detection_schema),
	    SCHEMA_END,
	},
};

static const struct schema act = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("type", STRING, NULL, .choices = detection_type_words),
	    SCHEMA_IS("level", STRING, NULL, .choices = progress_step_words),
	    SCHEMA_IS("severity", STRING, NULL, .choices = severity_words),
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("message", STRING, NULL),
	    SCHEMA_MAY("by", STRING, NULL),
	    SCHEMA_END,
	},
};

static const struct schema outcome = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("type", STRING, NULL, .choices = detection_type_words),
	    SCHEMA_IS("level", STRING, NULL, .choices = progress_step_words),
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS(
		"outcome", STRING, NULL, .choices = progress_outcome_words),
	    SCHEMA_END,
	},
};

static const struct schema record = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("at_ms", INT, NULL),
	    SCHEMA_MAY("worker", STRING, NULL),
	    SCHEMA_MAY("iteration", OBJECT, NULL, .of = &iteration_schema),
	    SCHEMA_MAY("check", OBJECT, NULL, .of = &check),
	    SCHEMA_MAY("intervention", OBJECT, NULL, .of = &act),
	    SCHEMA_MAY("outcome", OBJECT, NULL, .of = &outcome),
	    SCHEMA_END,
	},
};

const struct schema oversight_record_list = {
	SCHEMA_FIELDS{ { .type = SCHEMA_OBJECT, .of = &record } },
};

static const struct schema counts = { SCHEMA_FIELDS{ { .type = SCHEMA_INT } } };

static const struct schema counts_by_type = {
	SCHEMA_FIELDS{ { .type = SCHEMA_MAP, .of = &counts } },
};

static const struct schema indicator = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("observation", STRING, NULL),
	    SCHEMA_IS("adjustment", STRING, NULL),
	    SCHEMA_END,
	},
};

const struct schema oversight_report_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iterations", INT, NULL),
	    SCHEMA_IS("detections", MAP, NULL, .of = &counts_by_type),
	    SCHEMA_IS("interventions", MAP, NULL, .of = &counts),
	    SCHEMA_IS("positives", MAP, NULL, .of = &counts_by_type),
	    SCHEMA_OR_NULL("truePositiveRate", NUMBER, NULL),
	    SCHEMA_OR_NULL("falsePositiveRate", NUMBER, NULL),
	    SCHEMA_IS("indicators", ROWS, NULL, .of = &indicator),
	    SCHEMA_END,
	},
};
