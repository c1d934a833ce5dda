/* SPDX-License-Identifier: ISC */

#include "intervene.h"

#include "json.h"
#include "mem.h"
#include "schema.h"

const char *const intervention_words[] = {
	[INTERVENTION_NONE] = "none",
	[INTERVENTION_LOG] = "log",
	[INTERVENTION_WARN] = "warn",
	[INTERVENTION_REDIRECT] = "redirect",
	[INTERVENTION_PAUSE] = "pause",
	[INTERVENTION_ABORT] = "abort",
	[INTERVENTION_COUNT] = NULL,
};

const char *const oversight_status_words[] = {
	[OVERSIGHT_HEALTHY] = "healthy",
	[OVERSIGHT_WARNING] = "warning",
	[OVERSIGHT_CRITICAL] = "critical",
	[OVERSIGHT_PAUSED] = "paused",
	[OVERSIGHT_ABORTED] = "aborted",
	NULL,
};

const char *const intervene_outcome_words[] = {
	[OUTCOME_PENDING] = "pending",
	[OUTCOME_IMPROVED] = "improved",
	[OUTCOME_UNCHANGED] = "unchanged",
	[OUTCOME_WORSE] = "worse",
	NULL,
};

/* clang-format off */
static const enum intervention table[SEVERITY_COUNT][DETECTION_TYPES] = {
	[SEVERITY_LOW] = {
		[DETECTION_STUCK] = INTERVENTION_LOG,
		[DETECTION_OSCILLATION] = INTERVENTION_LOG,
		[DETECTION_DEVIATION] = INTERVENTION_LOG,
		[DETECTION_RESOURCE_BURN] = INTERVENTION_LOG,
		[DETECTION_REGRESSION] = INTERVENTION_LOG,
	},
	[SEVERITY_MEDIUM] = {
		[DETECTION_STUCK] = INTERVENTION_WARN,
		[DETECTION_OSCILLATION] = INTERVENTION_WARN,
		[DETECTION_DEVIATION] = INTERVENTION_LOG,
		[DETECTION_RESOURCE_BURN] = INTERVENTION_WARN,
		[DETECTION_REGRESSION] = INTERVENTION_WARN,
	},
	[SEVERITY_HIGH] = {
		[DETECTION_STUCK] = INTERVENTION_REDIRECT,
		[DETECTION_OSCILLATION] = INTERVENTION_REDIRECT,
		[DETECTION_DEVIATION] = INTERVENTION_LOG,
		[DETECTION_RESOURCE_BURN] = INTERVENTION_WARN,
		[DETECTION_REGRESSION] = INTERVENTION_WARN,
	},
	[SEVERITY_CRITICAL] = {
		[DETECTION_STUCK] = INTERVENTION_PAUSE,
		[DETECTION_OSCILLATION] = INTERVENTION_PAUSE,
		[DETECTION_DEVIATION] = INTERVENTION_LOG,
		[DETECTION_RESOURCE_BURN] = INTERVENTION_PAUSE,
		[DETECTION_REGRESSION] = INTERVENTION_ABORT,
	},
};
/* clang-format on */

enum intervention
intervene_level(enum detection_type type, enum severity severity)
{
	return table[severity][type];
}

/* Words, counts and costs say nothing more by being there for longer. */
static bool
goes_up(enum detection_type type)
{
	return type != DETECTION_DEVIATION && type != DETECTION_RESOURCE_BURN;
}

static bool
is_only_logged(const struct intervene_track *track, enum detection_type type,
    const struct intervene_policy *policy)
{
	return track->silenced ||
	    (policy->uncounted && type == DETECTION_RESOURCE_BURN);
}

static enum intervention
lift(enum intervention level, int by)
{
	int raised = (int)level + by;

	if (level >= INTERVENTION_PAUSE)
		return level;
	return raised > INTERVENTION_PAUSE ? INTERVENTION_PAUSE :
					     (enum intervention)raised;
}

/* The pattern is not there. */
static void
calm(struct intervene_track *track)
{
	bool was = track->level != INTERVENTION_NONE;

	track->level = INTERVENTION_NONE;
	track->delivered = false;
	track->waited = 0;
	track->clean = was ? 0 : track->clean + 1;
	if (track->raised > 0 &&
	    (was || track->clean % INTERVENE_PATIENCE == 0))
		track->raised--;
}

static enum intervention
step(struct intervene_track *track, enum intervention base, bool up)
{
	enum intervention level;

	track->clean = 0;
	if (up && track->delivered && ++track->waited >= INTERVENE_PATIENCE) {
		if (lift(base, track->raised) < INTERVENTION_PAUSE)
			track->raised++;
		track->delivered = false;
	}
	level = lift(base, track->raised);
	/* It does not get milder while it is there. */
	if (level < track->level && track->level != INTERVENTION_ABORT)
		level = track->level;
	if (level > track->level)
		track->delivered = false;
	track->level = level;
	return track->delivered ? INTERVENTION_NONE : level;
}

void
intervene_step(struct intervene *state,
    const enum severity severity[DETECTION_TYPES],
    const struct intervene_policy *policy,
    enum intervention ret_due[DETECTION_TYPES])
{
	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct intervene_track *track = &state->tracks[type];
		enum intervention base =
		    intervene_level((enum detection_type)type, severity[type]);
		bool only;

		ret_due[type] = INTERVENTION_NONE;
		if (base == INTERVENTION_NONE) {
			calm(track);
			continue;
		}
		if (policy->by_hand) {
			ret_due[type] = INTERVENTION_LOG;
			continue;
		}
		if (policy->abort_on_regression && type == DETECTION_REGRESSION)
			base = INTERVENTION_ABORT;
		only = is_only_logged(track, (enum detection_type)type, policy);
		if (only) {
			track->raised = 0;
			if (track->level > INTERVENTION_LOG)
				track->level = INTERVENTION_NONE;
		}
		ret_due[type] = step(track, only ? INTERVENTION_LOG : base,
		    !only && goes_up((enum detection_type)type));
	}
}

void
intervene_delivered(struct intervene *state, enum detection_type type)
{
	state->tracks[type].delivered = true;
	state->tracks[type].waited = 0;
}

void
intervene_silence(struct intervene *state, enum detection_type type)
{
	state->tracks[type].silenced = true;
}

enum severity
intervene_worst(const struct intervene *state,
    const enum severity severity[DETECTION_TYPES],
    const struct intervene_policy *policy)
{
	enum severity worst = SEVERITY_NONE;

	for (int i = 0; i < DETECTION_TYPES; i++) {
		enum detection_type type = (enum detection_type)i;

		if (severity[i] > worst &&
		    intervene_level(type, severity[i]) > INTERVENTION_LOG &&
		    !is_only_logged(&state->tracks[i], type, policy))
			worst = severity[i];
	}
	return worst;
}

/* --- as JSON --------------------------------------------------------- */

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct intervene_track, "level", level,
	    .words = intervention_words),
	SCHEMA_FIELD(struct intervene_track, "raised", raised,
	    .max = INTERVENTION_PAUSE),
	SCHEMA_FIELD(struct intervene_track, "delivered", delivered),
	SCHEMA_FIELD(struct intervene_track, "waited", waited),
	SCHEMA_FIELD(struct intervene_track, "clean", clean),
	SCHEMA_FIELD(struct intervene_track, "silenced", silenced),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

struct json_object *
intervene_to_json(const struct intervene *state)
{
	struct json_object *json = json_object_new_object();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *track = json_object_new_object();

		schema_add(&schema, &state->tracks[type], track);
		json_set(json, detection_type_words[type], track);
	}
	return json;
}

int
intervene_from_json(struct intervene *state, struct json_object *json,
    const char *at, struct err *err)
{
	struct intervene next = { 0 };

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct json_object *track = NULL;
		int r = 0;

		if (json_object_object_get_ex(
			json, detection_type_words[type], &track) &&
		    track != NULL)
			r = schema_read(
			    &schema, track, at, &next.tracks[type], err);
		if (r < 0)
			return r;
	}
	*state = next;
	return 0;
}

/* --- judgements ------------------------------------------------------ */

enum oversight_status
oversight_status(enum severity worst, bool paused, bool aborted)
{
	if (aborted)
		return OVERSIGHT_ABORTED;
	if (paused)
		return OVERSIGHT_PAUSED;
	if (worst == SEVERITY_CRITICAL)
		return OVERSIGHT_CRITICAL;
	return worst != SEVERITY_NONE ? OVERSIGHT_WARNING : OVERSIGHT_HEALTHY;
}

enum intervene_outcome
intervene_judge(enum severity before, const enum severity *after, int count)
{
	enum severity last;

	if (count < INTERVENE_PATIENCE)
		return OUTCOME_PENDING;
	last = after[INTERVENE_PATIENCE - 1];
	if (last < before)
		return OUTCOME_IMPROVED;
	return last > before ? OUTCOME_WORSE : OUTCOME_UNCHANGED;
}
