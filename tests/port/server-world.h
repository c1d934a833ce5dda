/* SPDX-License-Identifier: ISC */

/*
 * A server and its clients in one loop, for tests. Everything runs in virtual
 * time, so that waiting for something that never happens fails at once.
 */
#ifndef SERVER_WORLD_H
#define SERVER_WORLD_H

#include "unit.h"

struct err;
struct json_object;
struct loop;
struct loop_timer;
struct server;
struct server_call;

#define PARKED_MAX 300

/* Methods: echo returns its params, long a text of n bytes, park does not
 * answer, quit frees the server; others fail. */
extern struct world {
	struct loop *loop;
	struct loop_timer *guard;
	struct server *server;
	const char *path;
	struct buf trace; /* methods called */
	struct server_call *parked[PARKED_MAX];
	int count;
} w;

void world_begin(const char *name);
void world_end(void); /* answers parked calls */

/* server_new() with the world's methods, freed at once. */
int world_try(const char *path, struct err *err);

/* How often the method was called. */
int world_calls(const char *method);

/* Let that much virtual time pass. */
void pass(int64_t ms);

/* The client's end of a connection. Non-blocking; the caller closes it. */
int dial(const char *path);
void say(int fd, const char *text);

/* Send more than the kernel buffers. */
void say_long(int fd, const struct buf *text);

/* Read that many lines; EOF ends it and is included. The caller frees it. */
char *hear(int fd, int lines);
void expect(int fd, const char *want);

/* A JSON string of that length, owned by the caller. */
struct json_object *long_text(int64_t len);

#define REQUEST(id, method) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}\n"
#define NOTICE(method) "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\"}\n"
#define RESULT(id, result) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}\n"

#endif
