/* SPDX-License-Identifier: ISC */

/*
 * The RPC server: listens, checks each call against the table of methods
 * (model/api/api), and passes it to the handler registered for the method.
 * Every call is answered exactly once.
 */
#ifndef SERVE_H
#define SERVE_H

#include "api.h"
#include "server.h"

struct api_method;
struct core;
struct err;
struct json_object;
struct serve;
struct server_call;

/* params have been checked; they are valid until this returns. */
typedef void
serve_fn(void *arg, struct server_call *call, struct json_object *params);

struct serve *serve_new(struct core *core);
void serve_free(struct serve *serve);

/* The people's socket, and one for each worker in the state. */
int serve_listen(struct core *core, struct err *err);

/* The socket of one worker (workspace.h), if the daemon listens and it is not
 * open already. Only that worker's hooks and tools are served there. */
int serve_open_socket(struct core *core, const char *worker, struct err *err);
void serve_close_socket(struct core *core, const char *worker);

/* Register the handler of a method; it must be in the table, and only once. */
void
serve_handle(struct core *core, const char *method, serve_fn *fn, void *arg);

/* May this worker's own session call the method, which its rank allows? -EPERM:
 * no, and err says why. Asked before each such call; fn NULL = it may. */
typedef int serve_gate_fn(void *arg, const char *worker,
    const struct api_method *method, struct err *err);

void serve_set_gate(struct core *core, serve_gate_fn *fn, void *arg);

/* What does this call of a worker reach (caller_reaches())? ret_target->name is
 * valid as long as the call's parameters and the state are. -ENOENT: there is
 * nothing like that, which the handler says. */
typedef int
serve_target_fn(void *arg, const char *worker, const struct api_method *method,
    struct json_object *params, struct api_target *ret_target);

/* Who answers that for all methods of this reach. A worker's call of a method
 * whose target nobody tells is refused. fn NULL = nobody any more. */
void serve_set_target(
    struct core *core, enum api_reach reach, serve_target_fn *fn, void *arg);

/* The same question for a target that the handler chooses. -EPERM: no. */
int serve_may_reach(const struct core *core, const char *method,
    const char *worker, const struct api_target *target, struct err *err);

/* A call that a person makes by another way than the socket: the page. It is
 * checked, held and handed out as at the people's socket. The answer, exactly
 * one, goes to fn (server_call_new()). */
void serve_person(struct core *core, const char *method,
    struct json_object *params, server_answer_fn *fn, void *arg);

/* A method of the table without a handler; NULL = none. */
const char *serve_missing(const struct core *core);

/* Hold calls while the floors begin: the objects they ask about are not known
 * yet, and a hook event would find no session. serve_release() serves them in
 * order; if the daemon stops before, they are refused. */
void serve_hold(struct core *core);
void serve_release(struct core *core);

/* Answer a call (NULL: no caller) once its effects are saved, so that the
 * caller finds them in the state. Takes ownership of result. */
void serve_reply(
    struct core *core, struct server_call *call, struct json_object *result);

/* At once: nothing has been changed, or it is saved. So people can look while
 * nothing can be saved. */
void serve_show(struct server_call *call, struct json_object *result);
void serve_fail(
    struct core *core, struct server_call *call, int code, const char *message);

/* The same with an output (NULL = none), which may be long and have lines. */
void serve_fail_output(struct core *core, struct server_call *call, int code,
    const char *message, const char *output);

/* Refuse a call immediately: nothing has been changed. */
void serve_refuse(struct server_call *call, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
