/* SPDX-License-Identifier: ISC */

/*
 * The frame of the RPC: listens, checks each call against the table of methods
 * (model/api), and hands it to whoever registered for the method. Every call is
 * answered exactly once.
 */
#ifndef SERVE_H
#define SERVE_H

#include "api.h"

struct core;
struct err;
struct json_object;
struct serve;
struct server_call;

/* params are checked; they live until this returns. */
typedef void
serve_fn(void *arg, struct server_call *call, struct json_object *params);

struct serve *serve_new(struct core *core);
void serve_free(struct serve *serve);
int serve_listen(struct core *core, struct err *err);

/* Who carries a method out; one of the table, once. */
void
serve_handle(struct core *core, const char *method, serve_fn *fn, void *arg);
/* A row of the table that nobody carries out; NULL = none. */
const char *serve_missing(const struct core *core);

/* While the floors begin, calls are kept: what they ask about is not known yet,
 * and a hook's event would find no session. They are served, in order, by
 * serve_release(); where the daemon stops meanwhile, they are refused. */
void serve_hold(struct core *core);
void serve_release(struct core *core);

/* Answer a call (NULL: nobody asked) once what it tells is written: who has an
 * answer finds it in the state too. result is taken over. */
void serve_reply(
    struct core *core, struct server_call *call, struct json_object *result);
void serve_fail(
    struct core *core, struct server_call *call, int code, const char *message);
/* Refuse it now: nothing has been changed. */
void serve_refuse(struct server_call *call, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
