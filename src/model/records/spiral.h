/* SPDX-License-Identifier: ISC */

/*
 * What to do about a failure, given the history of failures. After an abrupt
 * one (killed, out of memory, a hang) a new start is tried first, once in
 * SPIRAL_ABRUPT_MS; any other is repaired, the first time always. A failure
 * soon after a repair is a spiral; a long healthy run resets it. In addition:
 * the same failure again and again even with long runs in between (a slow
 * spiral), a limit of repairs per day, and growing pauses between restarts.
 */
#ifndef SPIRAL_H
#define SPIRAL_H

struct buf;
struct err;
struct json_object;
struct schema;

enum spiral_kind {
	SPIRAL_FAILURE, /* the daemon failed after run_ms */
	SPIRAL_STALL, /* restarted without a repair */
	SPIRAL_REMEDY, /* a repair ended with `outcome` */
	SPIRAL_STOP, /* stopped by a person after run_ms */
	SPIRAL_GAVE_UP, /* the overseer exited; a person must look */
	SPIRAL_CLEAR, /* a person resets the history (words = the reason) */
	SPIRAL_START, /* a person starts the overseer anew */
	SPIRAL_KIND_COUNT
};

const char *spiral_kind_name(enum spiral_kind kind);

/* A line of failures.jsonl. Strings are owned. */
struct spiral_event {
	enum spiral_kind kind;
	int64_t at_ms; /* wall clock */
	int64_t run_ms; /* how long the daemon had run */
	bool abrupt; /* health_is_abrupt() */
	char *signature; /* of the failure; NULL for others */
	char *class, *words; /* for people */
	char *outcome; /* of a repair: "completed", "gave up", ... */
	int64_t took_ms; /* duration of the repair */
	char *log; /* its file */
	int64_t cost; /* millionths of a dollar */
};

void spiral_event_release(struct spiral_event *event);
extern const struct schema spiral_event_schema;
struct json_object *spiral_event_to_json(const struct spiral_event *event);
/* -EINVAL (or -ENOENT for kind and at_ms) with a message that names the member;
 * unknown members are ignored. */
int spiral_event_from_json(
    struct json_object *json, struct spiral_event *ret_event, struct err *err);

struct spiral_rules {
	int64_t cooldown_ms; /* restart_cooldown */
	int same_max; /* failures of one signature ... */
	int64_t same_window_ms; /* ... in this time: a slow spiral; 0 = never */
	int day_max; /* repairs in 24 hours; 0 = no limit */
	int64_t delay_ms, delay_max_ms; /* before a second restart, then
					 * doubling; none before the first */
};

/* A second abrupt failure within this time is repaired: the first one was no
 * accident. */
#define SPIRAL_ABRUPT_MS (INT64_C(10) * 60 * 1000)

enum spiral_action {
	SPIRAL_RESTART, /* without repair */
	SPIRAL_REPAIR,
	SPIRAL_END, /* a person is needed */
	SPIRAL_ACTION_COUNT
};

struct spiral_decision {
	enum spiral_action action;
	int64_t delay_ms; /* before the next start */
	const char *why; /* "spiral", "slow_spiral", "day_budget", or NULL */
	int same; /* failures of this signature in the window */
};

/* The last FAILURE or STALL is the event to decide about; a repair of it that
 * was interrupted may follow. Only events after the last CLEAR count. The
 * same_max-th failure with one signature is a slow spiral, but never the first
 * one, and the one before it is repaired even if it is abrupt; stalls are
 * counted separately, and only those with a signature. A repair with the
 * outcome "interrupted" counts towards the day's limit, but not as an attempt.
 * A run of cooldown_ms or more is a long one; after it, and after a START, the
 * next failure is the first one again. */
struct spiral_decision spiral_decide(const struct spiral_event *history,
    size_t count, const struct spiral_rules *rules, int64_t now_ms);

/* Did the history end with a verdict that needs a person, and was not cleared
 * since? Then the overseer refuses to start, for the reason in words. */
bool spiral_is_over(
    const struct spiral_event *history, size_t count, struct buf *words);

/*
 * Is the daemon healthy? Takes the observed facts and returns one verdict.
 * Pure: it uses ages instead of times, measured with a monotonic clock.
 */

enum health_verdict {
	HEALTH_FINE,
	HEALTH_STARTING, /* not ready yet, but still in time */
	HEALTH_STOPPED_BY_US, /* exited because we asked it to */
	HEALTH_COMPLETE, /* exited, and declared that the run is over */
	HEALTH_START_FAILED, /* never became ready */
	HEALTH_DIED, /* exited for no reason that it declared, or killed */
	HEALTH_FAILED, /* it reported a failure with a class */
	HEALTH_IDENTITY, /* the registration does not belong to our child */
	HEALTH_HUNG, /* the heartbeat is stale */
	HEALTH_FROZEN, /* stopped by a signal: continue it first */
	HEALTH_COMPLAINED, /* a warning or error in its log */
	HEALTH_STALLED, /* tasks are assigned but nothing progresses */
	HEALTH_VERDICT_COUNT
};

const char *health_verdict_name(enum health_verdict verdict);

struct health_facts {
	bool ended; /* the process is gone */
	bool told_to_end; /* by us */
	bool declared; /* this instance has written ended.json */
	int status; /* exit status, 128 + n for a signal, -1 = unknown */
	bool ready; /* registration, lock and first heartbeat were all seen */
	bool identity; /* the registration belongs to our child */
	bool failure; /* this instance has written failure.json */
	bool frozen; /* state T in /proc */
	bool starved; /* the machine has too little CPU time */
	bool woken; /* we did not run until just now, and perhaps it did not */
	const char *complaint; /* first line of its log at or above the level,
				* NULL = none */
	int64_t up_ms; /* since it was started */
	int64_t
	    beat_ms; /* since its heartbeat last changed; INT64_MAX = never */
	bool assigned; /* at least one worker has a task */
	int64_t moved_ms; /* since the last assignment, completion or sign of
			   * life; INT64_MAX = never in this run: then up_ms
			   * counts */
};

struct health_limits {
	int64_t start_ms, heartbeat_ms, stall_ms; /* 0 = no limit */
};

/* Checked in this order: ended, failure, identity, complaint, frozen, starting,
 * hung, stalled. An age equal to its limit is still fine. While starved is set,
 * there is no verdict about a late start, a hang or a stall; while woken is
 * set, also none that it is frozen. A daemon that was asked to exit is fine
 * until it has exited. Exit status 0 alone proves nothing: only a declared end
 * is the end of the run, even before it was ready. Otherwise one that exited
 * before it was ready failed to start, and one that exited later died. A
 * failure that it reported itself takes precedence. */
enum health_verdict health_judge(
    const struct health_facts *facts, const struct health_limits *limits);

/* Did it end without a word: killed by a signal, out of memory, or hanging?
 * Then a new start may be all that it needs. ended and status as in the
 * facts. */
bool health_is_abrupt(enum health_verdict verdict, bool ended, int status);

/* If the log line (JSON) comes from this process and is at or above the level
 * ("warn", "error"; with "never" and other words no line is), append its
 * message, at most HEALTH_MESSAGE_MAX bytes, and return true. Lines that are
 * not JSON objects are ignored. A line without a pid counts as ours; so does
 * every line if pid is 0. since: when the process began, as a stamp of the log;
 * an earlier line is that of another one with the same pid; NULL: none is. */
#define HEALTH_MESSAGE_MAX 4096
bool health_read_line(const char *line, const char *level, int64_t pid,
    const char *since, struct buf *message);

/* A signature to recognise the same failure again: verdict, class and the
 * message without numbers, hashes and paths. Appended, with at most 200 bytes
 * of the message. */
void health_signature(enum health_verdict verdict, const char *class,
    const char *words, struct buf *out);

#endif
