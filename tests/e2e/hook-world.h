/* SPDX-License-Identifier: ISC */

/*
 * llmc hook, and a loop in which the test acts as the daemon. A helper that
 * finds an error fails the running test.
 */
#ifndef HOOK_WORLD_H
#define HOOK_WORLD_H

#include "unit.h"

struct json_object;
struct loop;
struct loop_timer;
struct server;
struct server_call;

enum manner {
	ANSWER, /* with world.answer, which is JSON */
	REFUSE,
	SAY_NOTHING,
	HANG_UP,
};

extern struct world {
	struct loop *loop;
	struct loop_timer *guard;
	struct server *server; /* NULL: no daemon */
	enum manner manner;
	const char *answer; /* NULL = null */
	struct server_call *waiting;
	const char *socket, *spool;
	const char *policy; /* NULL = none */

	/* The last event. */
	struct buf heard; /* "method params\n" of each call */
	size_t calls, expected; /* calls that must come, although nobody waits
				 * for them */
	bool ended;
	int status;
	int64_t took_ms;
	struct buf out, err;
} w;

void world_begin(const char *name);
void world_listen(enum manner manner, const char *answer);
void world_end(void);

/* Send one event, as configured in the settings file, or run a script with
 * $LLMC, $SOCKET and $SPOOL. The exit status must be 0 and standard error
 * empty; the output is in w->out. */
void fire_bytes(const char *event, const void *input, size_t len);
void fire(const char *event, const char *input);
void fire_shell(const char *script);

/* The events of the spool as an array, which the caller puts; the spool is
 * empty then. */
struct json_object *drain(void);
void expect_spooled(size_t count);

/* The only event in the spool has these data. */
void expect_data(const char *event, const char *data);

void expect_printed(const char *want);

#endif
