/* SPDX-License-Identifier: ISC */

/* What is seen of the daemon, turned into a verdict (model/health). */
#ifndef OBSERVE_H
#define OBSERVE_H

struct loop_timer;
struct overseer;
struct tail;

/* What was seen of it last. */
struct sight {
	struct tail *tail; /* autod.log */
	struct buf complaint;
	int64_t past; /* bytes of the log from before it was taken over */
	char since[CLOCK_STAMP_SIZE]; /* when it began: its lines there */
	uint64_t sequence;
	int64_t beat_ms; /* monotonic, of the last beat; 0 = none */
	int64_t sign_ms; /* monotonic, of the last sign of life in it */
	int64_t activity_unix; /* last assignment or completion told */
	int64_t moved_ms; /* monotonic, when that changed */
	bool assigned;
	bool failure; /* failure.json of this instance */
	bool identity;
	bool reread; /* the settings, since it seemed to stall */
	bool doubted; /* identity or heartbeat, at the last look */
	int64_t graced_ms; /* a starved verdict was put off then */
	struct loop_timer *look;
};

void observe_begin(struct overseer *o); /* a daemon has been started */
void observe_end(struct overseer *o);
/* Look now: the verdict is acted on. */
void observe_look(struct overseer *o);
/* Is there a failure of its own that it told of? Class and words are taken. */
bool observe_failure(struct overseer *o);

#endif
