/* SPDX-License-Identifier: ISC */

/*
 * The one ladder: what is done about findings (behaviour.h) on the work of a
 * task. The rules say which step their findings call for, and count anew in
 * each attempt; the ladder sees that each step is taken once. A step that is
 * not called for any more can be taken again. Silence inside a turn has its own
 * findings and takes the same steps, see below. Pure.
 *
 * What a person has let go on is only logged from then on, for that task. Only
 * people abort.
 *
 * One struct progress for each worker's task; zeroes are its beginning.
 */
#ifndef LADDER_H
#define LADDER_H

#include "behaviour.h"
#include "limit.h"
#include "work-record.h"

struct buf;
struct detection;
struct json_object;
struct task;
struct schema;

#define PROGRESS_PATIENCE 3 /* iterations */

struct progress_track {
	enum progress_step level; /* the highest that was taken; NONE = it is
				   * not there */
	bool silenced; /* it was paused for it: the person who resumes it has
			* seen it */
};

struct progress {
	struct progress_track tracks[DETECTION_TYPES];
};

struct progress_policy {
	bool by_hand; /* a person drives the worker: only log */
};

/* One iteration: what its findings call for, by type. Returns what is to be
 * delivered now; NONE = nothing, or it was delivered already. What is not
 * delivered is returned again. */
void progress_next(struct progress *state,
    const enum progress_step called_for[DETECTION_TYPES],
    const struct progress_policy *policy,
    enum progress_step ret_due[DETECTION_TYPES]);

/* It has reached the session, or was done. */
void progress_delivered(
    struct progress *state, enum detection_type type, enum progress_step step);

/* It is paused for this, and goes on only if a person lets it. */
void progress_silence(struct progress *state, enum detection_type type);

/* The worst of what was found at the last step, but for what is only logged. */
enum severity progress_worst(const struct progress *state,
    const enum severity severity[DETECTION_TYPES],
    const enum progress_step called_for[DETECTION_TYPES]);

struct json_object *progress_to_json(const struct progress *state);
/* What cannot be read is as at the beginning. */
void progress_from_json(struct progress *state, struct json_object *json);

/* --- in a running turn ----------------------------------------------- */

enum progress_telling {
	TELLING_NOTHING,
	TELLING_CONTEXT, /* with the next tool that ends */
	TELLING_INTERRUPT
};

/* How a running turn gets the highest step that is due, for waited_ms: as
 * context after its next tool; if no tool ends, it is interrupted, for another
 * approach after a slice, for a warning after three. Further steps interrupt it
 * at once. */
enum progress_telling
progress_telling(enum progress_step due, int64_t waited_ms, int64_t slice_ms);

/* Another approach was given as context, and there was a slice since then: is
 * it to be said again, with an interruption? */
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
enum progress_outcome progress_judge(enum severity prior, enum severity before,
    const enum severity *after, int count);

/* --- silence ------------------------------------------------------------ */

/*
 * An agent in a turn shows no sign of life: when that is too long, and what to
 * try next. Ages are in milliseconds; INT64_MAX = never happened, a negative
 * age counts as 0.
 *
 * Two programs judge silence. The daemon tries to revive a worker in steps; the
 * overseer restarts the whole daemon when nothing moved for
 * overseer.stall_timeout. Each step counts as a move, and silence_limits()
 * keeps the wait for each step below the overseer's timeout, so that the daemon
 * always acts first.
 */

/* How long an agent may be silent; 0 or less = for ever. */
struct silence_limits {
	int64_t turn_ms;
	int64_t tool_ms; /* while a tool is running: four times that */
};

/* The limits for a timeout, none longer than silence_longest_ms(). overseer_ms:
 * overseer.stall_timeout; 0 = the overseer does not judge this agent. */
struct silence_limits silence_limits(int64_t timeout_ms, int64_t overseer_ms);

/* How often, at least, the daemon must look at its workers and tell the
 * overseer: the two may take half of the quarter that remains. */
int64_t silence_look_ms(int64_t overseer_ms);

/* Has it been silent for too long? Silence as long as the limit is not. */
bool silence_is_long(
    int64_t quiet_ms, bool tool_open, const struct silence_limits *limits);

struct silence_facts {
	int64_t quiet_ms; /* age of the last hook or growth of the transcript.
			   * CPU time does not count: an endless loop uses
			   * plenty */
	int64_t step_ms; /* since the last step; INT64_MAX = none */
	bool tool_open; /* a tool is running */
	int stage; /* number of steps since a turn ended */
};

/* The next step, or NONE; each one gets the whole time again: REDIRECT presses
 * Escape and tells it to continue, RESTART resumes the conversation in a new
 * session, RETRY fails the attempt. */
enum progress_step silence_next(
    const struct silence_facts *facts, const struct silence_limits *limits);

/* The same for delegated work whose worker a person drives, so that no session
 * is interrupted or restarted: WARN asks it for its status, RETRY has others
 * try it, PAUSE asks a person. vain: it was asked as often as may be. */
enum progress_step silence_by_hand(
    enum stall_class sample, bool vain, enum recovery_policy policy);

/* --- fleet pattern ------------------------------------------------------ */

/*
 * The same error on several workers at about the same time is one event of the
 * whole fleet, not one of each. Signatures are those of error-signature.h.
 * Pure; zeroes are the beginning.
 */

#define FLEET_PATTERN_WORKERS 3
#define FLEET_PATTERN_MS      (INT64_C(15) * 60 * 1000)
#define FLEET_PATTERN_KEPT    256 /* older sightings are forgotten */

struct fleet_sighting {
	uint64_t signature, worker; /* 0 = none */
	int64_t at_ms;
	bool reported; /* it was part of an event */
};

struct fleet_pattern {
	struct fleet_sighting seen[FLEET_PATTERN_KEPT];
	size_t next;
};

/* Is it the environment's: the disk, the network, a login, a program that is
 * missing? Errors of other kinds are those of the code that all work on. */
bool fleet_pattern_is_shared(const char *error);

/* A worker has had this error. Returns how many workers it is on if this is a
 * new event, else 0: further sightings belong to the event while none is more
 * than FLEET_PATTERN_MS after the one before. */
size_t fleet_pattern_see(struct fleet_pattern *fleet, uint64_t signature,
    const char *worker, int64_t now_ms);

/* --- failures alike ------------------------------------------------------ */

/*
 * The same failure of one task after another, on one worker after another,
 * comes from outside of them: a git hook that refuses every commit, say. What
 * is only about one task, or about the tree of one worker, is not. Reasons are
 * the same if they differ only in names in quotes and in what
 * error-signature.h leaves out. Pure; zeroes are the beginning.
 */

#define ALIKE_TASKS 3 /* that fail alike, until no more are given out */

struct alike {
	char *reason; /* of the last failure; NULL = none */
	uint64_t signature; /* of that */
	char **tasks; /* that it happened to */
	char **keys; /* what their sources call them: a node of a goal that is
		      * tried again is another task, and the same work */
	char **workers; /* that it happened on */
};

/* An attempt at the task failed on its worker. team: how many workers there
 * are. True: ALIKE_TASKS in a row have failed so, on as many workers, or on all
 * that there are. */
bool alike_add(struct alike *alike, const struct task *task, size_t team,
    const char *reason);
/* A task has succeeded, or a person has looked: count anew. */
void alike_clear(struct alike *alike);

/* --- progress text ------------------------------------------------------ */

/* The text about an intervention, for a session and for people. Foreign text in
 * it (errors, the objective) is cut, and shown without control characters. */

/* For the next prompt, in front of it. */
void progress_warning(const struct detection *detection, struct buf *out);

/* The next prompt: another strategy, by type. objective may be NULL. */
void progress_redirection(
    const struct detection *detection, const char *objective, struct buf *out);

/* What the next session or worker must know: the finding, what the last one
 * said, and how it failed; the latter two may be NULL. */
void progress_learned(const struct detection *detection, const char *last_words,
    const char *failure, struct buf *out);

/* Why the worker is held or its task ended, in one line. */
void progress_reason(const struct detection *detection, struct buf *out);

/* --- whether it helped -------------------------------------------------- */

/*
 * What oversight has done, and whether it helped: counts, and what they say
 * about the thresholds. Pure; zeroes are the beginning.
 */

/* What is recorded of a task: an array of {"at_ms", "worker", and one of
 * "iteration" with its "check", "intervention", "outcome"}: its elements. */
extern const struct schema oversight_record_list;

struct oversight_tally {
	int iterations;
	int detections[DETECTION_TYPES][SEVERITY_COUNT];
	int interventions[STEP_COUNT];
	int helped[DETECTION_TYPES]; /* true positives */
	int useless[DETECTION_TYPES]; /* false positives */
	int burns_late; /* first seen when they were critical already */
	int regressions_brief; /* gone by themselves at the next result */
	int tasks_stopped; /* paused or aborted ... */
	int tasks_stopped_landed; /* ... whose work landed after all */
};

void oversight_tally_outcome(struct oversight_tally *tally,
    enum detection_type type, enum progress_outcome outcome);

/* {"iterations", "detections", "interventions", "positives",
 * "truePositiveRate", "falsePositiveRate", "indicators"}; a rate of nothing is
 * null. */
struct json_object *oversight_report_json(const struct oversight_tally *tally);
extern const struct schema oversight_report_shape;

/* The same for people, in Markdown. */
void
oversight_report_text(const struct oversight_tally *tally, struct buf *out);

#endif
