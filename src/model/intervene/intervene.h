/* SPDX-License-Identifier: ISC */

/*
 * What is done about a detection: a table of severity and type, and escalation
 * by repetition. A pattern that is still there three iterations after its
 * intervention was delivered goes one level up, at most to a pause; one that is
 * resolved goes one level down, and one further with every three iterations
 * without it. Only the table aborts. Pure.
 *
 * Good work is left alone: what is judged from words (deviation) is only
 * logged; what is judged from counts and costs (resource burn) warns once,
 * pauses at most, and does not go up by repetition; and what a person has let
 * go on is only logged from then on, for that task.
 *
 * One struct intervene for each worker's task; zeroes are its beginning.
 */
#ifndef INTERVENE_H
#define INTERVENE_H

#include <stdbool.h>
#include <stdint.h>

#include "detection.h"

struct err;
struct json_object;

enum intervention {
	INTERVENTION_NONE,
	INTERVENTION_LOG, /* record it */
	INTERVENTION_WARN, /* add a warning to the next prompt */
	INTERVENTION_REDIRECT, /* have another approach taken */
	INTERVENTION_PAUSE, /* park the task for a person; its worker is free */
	INTERVENTION_ABORT, /* end the task */
	INTERVENTION_COUNT
};

extern const char *const intervention_words[];

#define INTERVENE_PATIENCE 3 /* iterations */

struct intervene_track {
	enum intervention level; /* now; NONE = the pattern is not there */
	int raised; /* levels above the table */
	bool delivered;
	int waited; /* iterations with the pattern since its delivery */
	int clean; /* iterations without the pattern */
	bool silenced; /* it was paused for it: whoever lets it go on has seen
			* it */
};

struct intervene {
	struct intervene_track tracks[DETECTION_TYPES];
};

struct intervene_policy {
	bool by_hand; /* a person drives the worker: only log */
	bool uncounted; /* it waits for others, or mail began its turns: what
			 * it uses is not compared */
	bool abort_on_regression;
};

/* By the table alone. */
enum intervention
intervene_level(enum detection_type type, enum severity severity);

/* One iteration: what was found of each type. Returns what is to be delivered
 * now, by type; NONE = nothing, or it was delivered already. What is not
 * delivered is returned again. */
void intervene_step(struct intervene *state,
    const enum severity severity[DETECTION_TYPES],
    const struct intervene_policy *policy,
    enum intervention ret_due[DETECTION_TYPES]);

/* It has reached the session, or was done. */
void intervene_delivered(struct intervene *state, enum detection_type type);

/* It is paused for this, and goes on only if a person lets it. */
void intervene_silence(struct intervene *state, enum detection_type type);

/* The worst of what was found at the last step, but for what is only logged. */
enum severity intervene_worst(const struct intervene *state,
    const enum severity severity[DETECTION_TYPES],
    const struct intervene_policy *policy);

struct json_object *intervene_to_json(const struct intervene *state);
int intervene_from_json(struct intervene *state, struct json_object *json,
    const char *at, struct err *err);

/* --- status ---------------------------------------------------------- */

enum oversight_status {
	OVERSIGHT_HEALTHY,
	OVERSIGHT_WARNING, /* something was found */
	OVERSIGHT_CRITICAL,
	OVERSIGHT_PAUSED,
	OVERSIGHT_ABORTED
};

extern const char *const oversight_status_words[];

enum oversight_status
oversight_status(enum severity worst, bool paused, bool aborted);

/* --- outcome --------------------------------------------------------- */

enum intervene_outcome {
	OUTCOME_PENDING, /* fewer than three iterations have passed */
	OUTCOME_IMPROVED, /* the pattern is gone, or less severe */
	OUTCOME_UNCHANGED,
	OUTCOME_WORSE
};

extern const char *const intervene_outcome_words[];

/* Did it help? `before` is the severity at delivery, `after` those of the next
 * iterations, as many as there are. */
enum intervene_outcome
intervene_judge(enum severity before, const enum severity *after, int count);

#endif
