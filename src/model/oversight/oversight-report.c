/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "oversight-report.h"

#include "behaviour.h"
#include "iteration.h"
#include "schema.h"

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
	buf_adds(out, "\nInterventions:");
	for (int i = STEP_LOG; i < STEP_COUNT; i++)
		buf_addf(out, "%s %d %s", i == STEP_LOG ? "" : ",",
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
