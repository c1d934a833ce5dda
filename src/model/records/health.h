/* SPDX-License-Identifier: ISC */

/*
 * Is the daemon healthy? Takes the observed facts and returns one verdict.
 * Pure: it uses ages instead of times, measured with a monotonic clock.
 */
#ifndef HEALTH_H
#define HEALTH_H

struct buf;

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
