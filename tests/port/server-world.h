/* SPDX-License-Identifier: ISC */

/*
 * A server and its clients in one loop, for tests. All of it runs in virtual
 * time, so that what never happens fails at once.
 */
#ifndef SERVER_WORLD_H
#define SERVER_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct err;
struct json_object;
struct loop;
struct loop_timer;
struct server;
struct server_call;

#define PARKED_MAX 300

/* Methods: echo answers its params, long a text of n bytes, park nothing, quit
 * frees the server; others fail. */
struct world {
	struct loop *loop;
	struct loop_timer *guard;
	struct server *server;
	const char *path;
	struct buf trace; /* methods called */
	struct server_call *parked[PARKED_MAX];
	int count;
};

void world_begin(struct world *w, const char *name);
void world_end(struct world *w); /* answers what is parked */

/* server_new() with the world's methods, freed at once. */
int world_try(struct world *w, const char *path, struct err *err);

/* How often the method was called. */
int world_calls(const struct world *w, const char *method);

/* Let that much virtual time go by. */
void pass(struct world *w, int64_t ms);

/* A client's end. Not blocking, closed by the caller. */
int dial(const char *path);
void say(int fd, const char *text);

/* Say more than the kernel keeps. */
void say_long(struct world *w, int fd, const struct buf *text);

/* What comes within that many lines; EOF ends it and is written as such. The
 * caller frees. */
char *hear(struct world *w, int fd, int lines);
void expect(struct world *w, int fd, const char *want);

/* A JSON string of that length, owned by the caller. */
struct json_object *long_text(int64_t len);

#define REQUEST(id, method) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}\n"
#define NOTICE(method) "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\"}\n"
#define RESULT(id, result) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}\n"

#endif
