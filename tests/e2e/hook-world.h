/* SPDX-License-Identifier: ISC */

/*
 * llmc hook, and a loop in which the test acts as the daemon. A helper that
 * finds an error fails the running test.
 */
#ifndef HOOK_WORLD_H
#define HOOK_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

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

struct world {
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
};

void world_begin(struct world *w, const char *name);
void world_listen(struct world *w, enum manner manner, const char *answer);
void world_end(struct world *w);
#define cleanup_world __attribute__((cleanup(world_end)))

/* Send one event, as configured in the settings file, or run a script with
 * $LLMC, $SOCKET and $SPOOL. The exit status must be 0 and standard error
 * empty; the output is in w->out. */
void
fire_bytes(struct world *w, const char *event, const void *input, size_t len);
void fire(struct world *w, const char *event, const char *input);
void fire_shell(struct world *w, const char *script);

/* The events of the spool as an array, which the caller puts; the spool is
 * empty then. */
struct json_object *drain(const struct world *w);
void expect_spooled(const struct world *w, size_t count);

/* The only event in the spool has these data. */
void expect_data(const struct world *w, const char *event, const char *data);

void expect_printed(const struct world *w, const char *want);

#endif
