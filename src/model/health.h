/* SPDX-License-Identifier: ISC */

/*
 * Is the daemon well? What was observed goes in, one verdict comes out. Pure:
 * ages instead of times, measured by a clock that does not jump.
 */
#ifndef HEALTH_H
#define HEALTH_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

enum health_verdict {
	HEALTH_FINE,
	HEALTH_STARTING, /* not ready yet, and still within its time */
	HEALTH_STOPPED_BY_US, /* it ended because it was told to */
	HEALTH_EMPTY, /* it ended by itself with status 0 (--until-empty) */
	HEALTH_START_FAILED, /* never became ready */
	HEALTH_DIED, /* exit status, or a signal */
	HEALTH_FAILED, /* it raised a failure of a class of its own */
	HEALTH_IDENTITY, /* the registration is not that of our child */
	HEALTH_HUNG, /* the heartbeat is stale */
	HEALTH_FROZEN, /* stopped by a signal: continue it first */
	HEALTH_COMPLAINED, /* a line in its log */
	HEALTH_STALLED, /* work is assigned and nothing moves */
	HEALTH_VERDICT_COUNT
};

const char *health_verdict_name(enum health_verdict verdict);
/* Does it need a repair (else a restart is enough, or nothing)? */
bool health_needs_remedy(enum health_verdict verdict);

struct health_facts {
	bool ended; /* the process is gone */
	bool told_to_end; /* by us */
	int status; /* exit status, 128 + n for a signal, -1 = unknown */
	bool ready; /* registration, lock and first heartbeat have agreed */
	bool identity; /* the registration is that of our child now */
	bool failure; /* failure.json of this instance is there */
	bool frozen; /* state T in /proc */
	bool starved; /* we, or the machine, were short of time ourselves */
	const char *complaint; /* first line of its log at or above the level,
				* NULL = none */
	int64_t up_ms; /* since it was started */
	int64_t
	    beat_ms; /* since its heartbeat last changed; INT64_MAX = never */
	bool assigned; /* at least one task is with a worker */
	int64_t moved_ms; /* since the last assignment or completion;
			   * INT64_MAX = never in this run: then up_ms counts */
};

struct health_limits {
	int64_t start_ms, heartbeat_ms, stall_ms; /* 0 = never */
};

/* In this order: ended, failure, identity, complaint, frozen, starting, hung,
 * stalled. An age equal to its limit is fine, one above is not. A starved
 * watcher judges no late start, no hang and no stall. What was told to end is
 * fine until it has ended, and what ended before it was ready never started,
 * whatever its status; a failure of its own says more than either. */
enum health_verdict health_judge(
    const struct health_facts *facts, const struct health_limits *limits);

/* A line of a log (JSON): its message when it is of this process and at or
 * above the level ("warn", "error"; "never" and other words: no line is),
 * appended, at most HEALTH_MESSAGE_MAX bytes of it; false else. Lines that are
 * no JSON object are ignored. A line without a pid is anybody's, as is every
 * line for pid 0. */
#define HEALTH_MESSAGE_MAX 4096
bool health_read_line(
    const char *line, const char *level, int64_t pid, struct buf *message);

/* The same failure again? A signature for the history: verdict, class and the
 * words with numbers, hashes and paths taken out. Appended, at most
 * 200 bytes of the words. */
void health_signature(enum health_verdict verdict, const char *class,
    const char *words, struct buf *out);

#endif
