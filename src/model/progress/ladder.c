/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ladder.h"

#include "schema.h"

const char *const progress_step_words[] = {
	[STEP_NONE] = "none",
	[STEP_LOG] = "log",
	[STEP_WARN] = "warn",
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

/* Words, counts and costs say nothing more by being there for longer. */
static const struct {
	enum progress_step first[SEVERITY_COUNT]; /* none, low, medium, ... */
	bool goes_up;
} table[DETECTION_TYPES] = {
	[DETECTION_STUCK] = { { STEP_NONE, STEP_LOG, STEP_WARN, STEP_REDIRECT,
				  STEP_REDIRECT },
	    true },
	[DETECTION_OSCILLATION] = { { STEP_NONE, STEP_LOG, STEP_WARN,
					STEP_REDIRECT, STEP_REDIRECT },
	    true },
	[DETECTION_DEVIATION] = { { STEP_NONE, STEP_LOG, STEP_LOG, STEP_LOG,
				      STEP_LOG },
	    false },
	[DETECTION_RESOURCE_BURN] = { { STEP_NONE, STEP_LOG, STEP_WARN,
					  STEP_WARN, STEP_PAUSE },
	    false },
	[DETECTION_REGRESSION] = { { STEP_NONE, STEP_LOG, STEP_WARN, STEP_WARN,
				       STEP_REDIRECT },
	    true },
};

enum progress_step
progress_level(enum detection_type type, enum severity severity)
{
	return table[type].first[severity];
}

static enum progress_step
lift(enum progress_step level, int by)
{
	int raised = (int)level + by;

	return raised > STEP_PAUSE ? STEP_PAUSE : (enum progress_step)raised;
}

/* The finding is not there. */
static void
calm(struct progress_track *track)
{
	if (++track->clean % PROGRESS_PATIENCE != 0)
		return; /* a fresh session may need a turn to meet it again */
	track->level = STEP_NONE;
	track->delivered = false;
	track->waited = 0;
	if (track->raised > 0)
		track->raised--;
}

static enum progress_step
climb(struct progress_track *track, enum progress_step base, bool up,
    bool last_attempt)
{
	enum progress_step level;

	track->clean = 0;
	if (up && track->delivered && ++track->waited >= PROGRESS_PATIENCE) {
		if (lift(base, track->raised) < STEP_PAUSE)
			track->raised++;
		track->delivered = false;
	}
	level = lift(base, track->raised);
	/* It does not get milder while it is there. */
	if (level < track->level)
		level = track->level;
	if (level == STEP_RETRY && last_attempt)
		level = STEP_PAUSE;
	if (level > track->level)
		track->delivered = false;
	track->level = level;
	return track->delivered ? STEP_NONE : level;
}

void
progress_next(struct progress *state,
    const enum severity severity[DETECTION_TYPES],
    const struct progress_policy *policy,
    enum progress_step ret_due[DETECTION_TYPES])
{
	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct progress_track *track = &state->tracks[type];
		enum progress_step base =
		    progress_level((enum detection_type)type, severity[type]);

		ret_due[type] = STEP_NONE;
		if (base == STEP_NONE) {
			calm(track);
			continue;
		}
		if (policy->by_hand || (policy->noted & 1u << type) != 0) {
			ret_due[type] = STEP_LOG;
			continue;
		}
		if ((policy->old & 1u << type) != 0 &&
		    track->level != STEP_NONE) {
			ret_due[type] =
			    track->delivered ? STEP_NONE : track->level;
			continue;
		}
		if (policy->cause[type] != track->cause) {
			if (track->cause != 0)
				*track = (struct progress_track){
					.silenced = track->silenced
				};
			track->cause = policy->cause[type];
		}
		if (track->silenced) {
			track->raised = 0;
			if (track->level > STEP_LOG)
				track->level = STEP_NONE;
			base = STEP_LOG;
		}
		ret_due[type] =
		    climb(track, base, !track->silenced && table[type].goes_up,
			policy->last_attempt);
	}
}

void
progress_delivered(struct progress *state, enum detection_type type)
{
	state->tracks[type].delivered = true;
	state->tracks[type].waited = 0;
}

void
progress_silence(struct progress *state, enum detection_type type)
{
	state->tracks[type].silenced = true;
}

enum severity
progress_worst(
    const struct progress *state, const enum severity severity[DETECTION_TYPES])
{
	enum severity worst = SEVERITY_NONE;

	for (int i = 0; i < DETECTION_TYPES; i++)
		if (severity[i] > worst && !state->tracks[i].silenced &&
		    progress_level((enum detection_type)i, severity[i]) >
			STEP_LOG)
			worst = severity[i];
	return worst;
}

/* --- as JSON --------------------------------------------------------- */

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct progress_track, "level", level,
	    .words = progress_step_words),
	SCHEMA_FIELD(
	    struct progress_track, "cause", cause, .flags = SCHEMA_OPTIONAL),
	SCHEMA_FIELD(
	    struct progress_track, "raised", raised, .max = STEP_PAUSE),
	SCHEMA_FIELD(struct progress_track, "delivered", delivered),
	SCHEMA_FIELD(struct progress_track, "waited", waited),
	SCHEMA_FIELD(struct progress_track, "clean", clean),
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

	if (due <= STEP_LOG)
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
progress_judge(enum severity before, const enum severity *after, int count)
{
	enum severity last;

	if (count < PROGRESS_PATIENCE)
		return OUTCOME_PENDING;
	last = after[PROGRESS_PATIENCE - 1];
	if (last < before)
		return OUTCOME_IMPROVED;
	return last > before ? OUTCOME_WORSE : OUTCOME_UNCHANGED;
}
