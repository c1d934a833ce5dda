/* SPDX-License-Identifier: ISC */

/*
 * The one ladder: what is done about findings (detection.h) on the work of a
 * task. One table gives the first step for a kind and its severity. A finding
 * that is still there three iterations after its step was taken goes one step
 * up: warn, redirect, a fresh session, a new attempt by another worker, a
 * person. So the same failure is met at most twelve times before a person is
 * asked; another one begins anew. With every three iterations without it, a
 * finding goes one step down. Silence inside a turn has its own findings and
 * takes the same steps (silence.h). Pure.
 *
 * Good work is left alone: what is judged from words (deviation) is only
 * logged; what is judged from counts and costs (resource burn) warns once,
 * pauses at most, and does not go up by repetition; an iteration that says
 * nothing new about a finding leaves it as it is; and what a person has let go
 * on is only logged from then on, for that task. Only people abort.
 *
 * One struct progress for each worker's task; zeroes are its beginning.
 */
#ifndef LADDER_H
#define LADDER_H

#include "detection.h"

struct json_object;

enum progress_step {
	STEP_NONE,
	STEP_LOG, /* record it */
	STEP_WARN, /* add a warning to the next prompt */
	STEP_REDIRECT, /* have another approach taken */
	STEP_RESTART, /* a fresh session that is told what was learned */
	STEP_RETRY, /* a new attempt by another worker, told the same */
	STEP_PAUSE, /* park the task for a person; its worker is free */
	STEP_COUNT
};

extern const char *const progress_step_words[];

#define PROGRESS_PATIENCE 3 /* iterations */

struct progress_track {
	enum progress_step level; /* now; NONE = it is not there */
	int64_t cause; /* of the finding, see struct progress_policy */
	int raised; /* steps above the table */
	bool delivered;
	int waited; /* iterations with the finding since its delivery */
	int clean; /* iterations without the finding */
	bool silenced; /* it was paused for it: whoever lets it go on has seen
			* it */
};

struct progress {
	struct progress_track tracks[DETECTION_TYPES];
};

struct progress_policy {
	bool by_hand; /* a person drives the worker: only log */
	bool last_attempt; /* no other one is left: ask a person instead */
	/* See behaviour_news(). */
	unsigned old; /* a bit for each type of which this iteration says
		       * nothing new */
	unsigned noted; /* for each of which it is too early to do more */
	int64_t cause[DETECTION_TYPES]; /* which failure it is; 0 = any */
};

/* The first step, by the table alone. */
enum progress_step
progress_level(enum detection_type type, enum severity severity);

/* One iteration: what was found of each type. Returns what is to be delivered
 * now, by type; NONE = nothing, or it was delivered already. What is not
 * delivered is returned again. */
void progress_next(struct progress *state,
    const enum severity severity[DETECTION_TYPES],
    const struct progress_policy *policy,
    enum progress_step ret_due[DETECTION_TYPES]);

/* It has reached the session, or was done. */
void progress_delivered(struct progress *state, enum detection_type type);

/* It is paused for this, and goes on only if a person lets it. */
void progress_silence(struct progress *state, enum detection_type type);

/* The worst of what was found at the last step, but for what is only logged. */
enum severity progress_worst(const struct progress *state,
    const enum severity severity[DETECTION_TYPES]);

struct json_object *progress_to_json(const struct progress *state);
/* What cannot be read is as at the beginning. */
void progress_from_json(struct progress *state, struct json_object *json);

/* --- in a running turn ----------------------------------------------- */

enum progress_telling {
	TELLING_NOTHING,
	TELLING_CONTEXT, /* with the next tool that ends */
	TELLING_INTERRUPT
};

/* How a running turn is told of the highest that is due, for waited_ms: what it
 * reads after its next tool; if no tool ends, it is interrupted, for another
 * approach after a slice, for a warning after three. Further steps interrupt it
 * at once. */
enum progress_telling
progress_telling(enum progress_step due, int64_t waited_ms, int64_t slice_ms);

/* Another approach was told as context, and there was a slice since then: is it
 * to be said again, with an interruption? */
bool progress_tell_again(
    enum progress_step level, enum severity before, enum severity after);

/* --- status ---------------------------------------------------------- */

enum oversight_status {
	OVERSIGHT_HEALTHY,
	OVERSIGHT_WARNING, /* something was found */
	OVERSIGHT_CRITICAL,
	OVERSIGHT_PAUSED
};

extern const char *const oversight_status_words[];

enum oversight_status oversight_status(enum severity worst, bool paused);

/* --- outcome --------------------------------------------------------- */

enum progress_outcome {
	OUTCOME_PENDING, /* fewer than three iterations have passed */
	OUTCOME_IMPROVED, /* the finding is gone, or less severe */
	OUTCOME_UNCHANGED,
	OUTCOME_WORSE
};

extern const char *const progress_outcome_words[];

/* Did it help? `before` is the severity at delivery, `after` those of the next
 * iterations, as many as there are. */
enum progress_outcome
progress_judge(enum severity before, const enum severity *after, int count);

#endif
