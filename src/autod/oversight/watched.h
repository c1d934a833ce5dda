/* SPDX-License-Identifier: ISC */

/*
 * A task that is watched: its iterations, what the detectors think of them, and
 * what is to be done about it. It is kept in the book (its turns), and read
 * again by the next daemon:
 *
 *   {"at_ms", "worker", "open": an iteration whose check is not over,
 *    "mark"}; removed with the next iteration
 *   {"at_ms", "worker", "carry": those before as one, "iteration", "mark",
 *    "check": {"status", "metrics", "detections"}, "due": {type: level},
 *    "intervene"}
 *   {"at_ms", "worker", "intervention": {"type", "level", "severity",
 *    "iteration", "message", "by": "context" (in the middle of a turn) or
 *    "observe" (it was only recorded)},
 *    "intervene"}
 *   {"at_ms", "outcome": {"type", "level", "iteration", "outcome"}}
 *
 * What is read again is bounded: of what came earlier only its sums are known.
 */
#ifndef WATCHED_H
#define WATCHED_H

#include <sys/queue.h>

#include "ladder.h"
#include "iteration.h"
#include "buf.h"

struct behaviour;
struct book;
struct detection;
struct thresholds;

/* What had been counted at the last iteration. */
struct watched_mark {
	int64_t cost; /* millionths of a dollar */
	int64_t tokens[ITERATION_TOKEN_KINDS];
	int64_t errors, tools; /* of that conversation */
	char *transcript; /* path, NULL = none */
	int attempt; /* of the task */
};

/* All iterations so far; NAN = not known. */
struct watched_carry {
	int64_t number, duration_ms;
	double cost, completion, coverage; /* the latter two: the best */
	bool passed; /* its tests, at least once */
};

/* An intervention whose effect is not known yet. */
struct watched_trial {
	enum detection_type type;
	enum progress_step level;
	enum severity prior; /* an iteration before that */
	enum severity before, after[PROGRESS_PATIENCE];
	int count;
	int64_t iteration;
	bool context; /* it was read in the middle of a turn */
};

/* It is being delivered: recorded when it has been sent. */
struct watched_giving {
	enum progress_step level; /* NONE = it is not */
	bool context;
};

struct watched {
	LIST_ENTRY(watched) entry;
	char *task;
	struct book *book;
	int64_t seq; /* of its last record */
	int64_t open_seq; /* of the one about `open`, 0 = none */
	struct behaviour *behaviour;
	struct progress progress;
	enum progress_step due[DETECTION_TYPES]; /* not delivered yet */
	struct watched_giving giving[DETECTION_TYPES];
	int64_t count; /* iterations */
	enum severity prior[DETECTION_TYPES]; /* at the one before the last */
	bool observed; /* nothing is done about what is found */
	enum oversight_status status; /* after the last one that was judged */
	char *tree; /* of the last snapshot, "" = none */
	char *objective; /* of the last iteration, NULL = none */
	char *failure; /* what its check printed last, NULL = nothing */
	struct watched_mark mark;
	struct watched_carry carry;
	struct strmap touched; /* files that the task has changed: their names,
				* which it owns */
	struct iteration *open; /* NULL = none */
	int64_t open_errors, open_tools; /* of its part of the conversation */
	struct watched_trial *trials;
	size_t trial_count;
};

LIST_HEAD(watched_list, watched);

/* With what is recorded; the caller frees it. */
struct watched *watched_new(
    struct book *book, const char *task, const struct thresholds *thresholds);
void watched_free(struct watched *watched);
/* Another task under the same name: forget all but what had been counted. */
void
watched_restart(struct watched *watched, const struct thresholds *thresholds);

bool watched_touched(const struct watched *watched, const char *path);

/* The next iteration, taken over. It is not judged yet. */
void watched_begin(
    struct watched *watched, const char *worker, struct iteration *iteration);
/* More is known of the iteration that is open. */
void watched_changed(struct watched *watched, const char *worker);
/* Judge the iteration that was begun, if any; `due` changes. */
void watched_judge(struct watched *watched, const char *worker,
    const struct progress_policy *policy);

/* Is it to be paused, and that is not recorded? */
bool watched_waits(const struct watched *watched);

/* What is due of this type has reached the session, or was done. After a pause
 * it goes on only if a person lets it, who has seen what was found then.
 * observed: nothing was done but to record it. What is only noted or observed
 * is no intervention, so nobody asks whether it has helped. */
void watched_delivered(struct watched *watched, const char *worker,
    const struct detection *detection, bool observed);

/* The task has ended: what is still open has helped if it landed. */
void watched_end(struct watched *watched, bool landed);

/* The turn was warned of it in the middle, and that did not help by the next
 * iteration, which was the last one. */
bool watched_is_vain(const struct watched *watched, enum detection_type type);

/* The worst that the last iteration showed, in words; release it. False: it
 * showed nothing. */
bool
watched_worst(const struct watched *watched, struct detection *ret_detection);

/* The highest that is due and not being delivered; its type if it is not NONE.
 */
enum progress_step
watched_due(const struct watched *watched, enum detection_type *ret_type);

/* Remove the turns of all but the newest tasks, and of those that keeps()
 * wants. */
typedef bool watched_keeps_fn(const void *arg, const char *task);
void watched_prune(struct book *book, watched_keeps_fn *keeps, const void *arg);

#endif
