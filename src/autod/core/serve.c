/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "api.h"
#include "core.h"
#include "emit.h"
#include "hook-event.h"
#include "identity.h"
#include "failure.h"
#include "heartbeat.h"
#include "loop.h"
#include "persist.h"
#include "rpc.h"
#include "schema.h"
#include "serve.h"
#include "server.h"
#include "watch.h"
#include "worker.h"
#include "workspace.h"

#define RETRY_MS    1000
#define METHODS_MAX 128

struct listener {
	struct core *core;
	char *worker; /* NULL = the people's */
	char *path;
	struct server *server;
	struct watch *watch; /* of its file */
	struct loop_timer *retry;
};

struct handler {
	const struct api_method *method;
	serve_fn *fn;
	void *arg;
};

/* A call that arrived while the floors begin. */
struct held {
	TAILQ_ENTRY(held) entry;
	const struct handler *handler;
	struct server_call *call;
	struct json_object *params;
	char *worker; /* whose own session it is; NULL = none */
};

TAILQ_HEAD(held_calls, held);

struct serve {
	struct core *core;
	struct listener *people; /* NULL = it does not listen */
	struct listener **listeners; /* one for each worker */
	size_t listener_count;
	struct identity_files files; /* read to know who calls the people's */
	bool holding;
	struct held_calls held;
	struct handler handlers[METHODS_MAX];
	size_t count;
	serve_gate_fn *gate;
	void *gate_arg;
	struct {
		serve_target_fn *fn;
		void *arg;
	} targets[API_REACH_COUNT];
};

static void listener_free(struct listener *listener);

/* --- a socket --------------------------------------------------------- */

static int
make_place(const struct listener *listener, struct err *err)
{
	return listener->worker == NULL ?
	    0 :
	    run_dir_make(listener->core->workspace, listener->worker, err);
}

static void
on_listen_due(void *arg)
{
	struct listener *listener = arg;
	struct core *core = listener->core;
	struct err err = { 0 };
	int r;

	loop_timer_free(take_ptr(&listener->retry));
	if (!root_guard_holds(core))
		return;
	r = make_place(listener, &err);
	if (r == 0)
		r = server_reopen(listener->server, &err);
	if (r != 0)
		EMIT(core, EVENT_SOCKET_GONE, .worker = listener->worker,
		    .path = listener->path,
		    .reason = r < 0 ? err.msg : "it listens again");
}

/* Wait a moment: if all of .llmc is being removed, a new file would disturb
 * that. */
static void
on_changed(void *arg)
{
	struct listener *listener = arg;

	if (listener->retry == NULL)
		listener->retry = loop_after(
		    listener->core->loop, RETRY_MS, on_listen_due, listener);
}

/* worker: NULL = the people's; path is then core->socket. fn is called with
 * arg = the listener. */
static int
listener_new(struct core *core, const char *worker, server_fn *fn,
    struct listener **ret_listener, struct err *err)
{
	struct listener *listener = xcalloc(1, sizeof *listener);
	int r;

	listener->core = core;
	listener->worker = worker != NULL ? xstrdup(worker) : NULL;
	listener->path = worker != NULL ?
	    run_dir_socket(core->workspace, worker) :
	    xstrdup(core->socket);
	r = make_place(listener, err);
	if (r == 0)
		r = server_new(core->loop, listener->path, fn, listener,
		    &listener->server, err);
	if (r < 0) {
		listener_free(listener);
		return r;
	}
	if (worker != NULL)
		server_limit(listener->server, SERVER_SESSION_MAX);
	if (watch_new(core->loop, listener->path, on_changed, listener,
		&listener->watch, NULL) < 0)
		log_debug("%s is not watched", listener->path);
	*ret_listener = listener;
	return 0;
}

/* The folder of a worker's socket stays, with its spool. */
static void
listener_free(struct listener *listener)
{
	if (listener == NULL)
		return;
	watch_free(listener->watch);
	loop_timer_free(listener->retry);
	server_free(listener->server);
	free(listener->worker);
	free(listener->path);
	free(listener);
}

/* At a worker's socket it does not matter which other session it is. */
static int
find(const struct listener *listener, const struct server_peer *peer,
    char **ret_session)
{
	const struct core *core = listener->core;
	struct identity_panes panes = { 0 };
	int r;

	if (peer->gone)
		return -ESRCH;
	for (size_t i = 0; i < core->state.count; i++)
		identity_add(&panes, core->state.workers[i]->name,
		    core->state.workers[i]->session.pane);
	if (listener->worker == NULL)
		identity_add_repair(
		    &panes, core->workspace, &core->serve->files);
	r = identity_find(ANCESTRY_PROC, core->workspace, &panes, peer->pid,
	    peer->pidfd, ret_session);
	identity_release(&panes);
	return r;
}

/* Whatever the call says. */
static void
name_caller(const char *worker, const char *key, struct json_object *params)
{
	if (!json_object_is_type(params, json_type_object))
		return;
	json_object_object_del(params, key);
	if (worker != NULL)
		json_set_string(params, key, worker);
}

/* May the caller do that? -EPERM: no, and err says why. ret_worker: the worker
 * whose own session it is; NULL if it is none, or if it does not matter. The
 * caller frees it. */
static int
caller_find_check(const struct listener *listener, struct server_call *call,
    const struct api_method *method, struct json_object *params,
    char **ret_worker, struct err *err)
{
	cleanup_free char *session = NULL;
	const char *worker;
	const struct core *core = listener->core;
	struct caller caller = { .socket_of = listener->worker };
	struct server_peer peer;

	/* Whose socket it is says what may be seen there. */
	if (caller_is_anybody(method)) {
		*ret_worker =
		    listener->worker != NULL ? xstrdup(listener->worker) : NULL;
		return 0;
	}
	*ret_worker = NULL;
	server_call_peer(call, &peer);
	caller.unknown = find(listener, &peer, &session) < 0;
	caller.outside = caller.unknown && !peer.gone && peer.pid == 0;
	caller.session = session;
	/* While no daemon runs there is no other way. */
	if (core->options->oneshot && session != NULL &&
	    caller_rank(&caller) == API_READER)
		caller.socket_of = session;
	worker = caller_rank(&caller) == API_WORKER ? caller.socket_of : NULL;
	if (method->flags & API_NAMED)
		name_caller(worker, "worker", params);
	if (method->flags & API_SENT)
		name_caller(worker, "sender", params);
	if (worker != NULL)
		*ret_worker = xstrdup(worker);
	return caller_check(&caller, method,
	    json_string_or(params, "worker", NULL),
	    (method->flags & API_OWN) && hook_event_is_life(params), err);
}

struct serve *
serve_new(struct core *core)
{
	struct serve *serve = xcalloc(1, sizeof *serve);

	serve->core = core;
	TAILQ_INIT(&serve->held);
	return serve;
}

static void
held_free(struct serve *serve, struct held *held)
{
	TAILQ_REMOVE(&serve->held, held, entry);
	json_object_put(held->params);
	free(held->worker);
	free(held);
}

void
serve_free(struct serve *serve)
{
	struct held *held;

	if (serve == NULL)
		return;
	while ((held = TAILQ_FIRST(&serve->held)) != NULL) {
		serve_refuse(held->call, API_BUSY, "the daemon is stopping");
		held_free(serve, held);
	}
	while (serve->listener_count > 0)
		listener_free(serve->listeners[--serve->listener_count]);
	free(serve->listeners);
	listener_free(serve->people);
	identity_files_release(&serve->files);
	free(serve);
}

static const struct handler *
find_handler(const struct serve *serve, const char *name)
{
	for (size_t i = 0; i < serve->count; i++)
		if (strcmp(serve->handlers[i].method->name, name) == 0)
			return &serve->handlers[i];
	return NULL;
}

void
serve_handle(struct core *core, const char *method, serve_fn *fn, void *arg)
{
	struct serve *serve = core->serve;

	if (api_find(method) == NULL || find_handler(serve, method) != NULL ||
	    serve->count == METHODS_MAX)
		fatalx("%s cannot be registered", method);
	serve->handlers[serve->count++] =
	    (struct handler){ api_find(method), fn, arg };
}

void
serve_set_gate(struct core *core, serve_gate_fn *fn, void *arg)
{
	core->serve->gate = fn;
	core->serve->gate_arg = arg;
}

void
serve_set_target(
    struct core *core, enum api_reach reach, serve_target_fn *fn, void *arg)
{
	core->serve->targets[reach].fn = fn;
	core->serve->targets[reach].arg = arg;
}

int
serve_may_reach(const struct core *core, const char *method, const char *worker,
    const struct api_target *target, struct err *err)
{
	return caller_reaches(api_find(method), worker,
	    box_mode_of(core->settings, worker), target, err);
}

/* May this worker reach what the call names? -EPERM: no, and err says why. */
static int
reach_check(const struct core *core, const struct api_method *method,
    const char *worker, struct json_object *params, struct err *err)
{
	const struct serve *serve = core->serve;
	struct api_target target = { .name = method->name };

	if (method->reach == API_REACH_NOTHING ||
	    method->reach == API_REACH_SHARED)
		return 0;
	if (serve->targets[method->reach].fn == NULL)
		return err_set(err, -EPERM,
		    "%s is refused: what it reaches is not known now",
		    method->name);
	if (serve->targets[method->reach].fn(serve->targets[method->reach].arg,
		worker, method, params, &target) < 0)
		return 0;
	return serve_may_reach(core, method->name, worker, &target, err);
}

const char *
serve_missing(const struct core *core)
{
	for (size_t i = 0; api_methods[i].name != NULL; i++)
		if (find_handler(core->serve, api_methods[i].name) == NULL)
			return api_methods[i].name;
	return NULL;
}

/* May it run now? If not, it is answered. worker may be NULL. */
static bool
is_served(const struct core *core, const struct api_method *method,
    const char *worker, struct server_call *call, struct json_object *params)
{
	const struct serve *serve = core->serve;
	struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = method->params };
	struct err err = { 0 };

	if (schema_check(&whole, params, "params", &err) < 0)
		serve_refuse(call, RPC_INVALID_PARAMS, "%s", err.msg);
	else if (core->options->oneshot && !(method->flags & API_ONESHOT))
		serve_refuse(call, API_FAILED,
		    "no daemon is running; start it with: llmc up --detach");
	else if (core->stopping && !(method->flags & API_STOPPING))
		serve_refuse(call, API_BUSY, "the daemon is stopping");
	else if (worker != NULL &&
	    ((serve->gate != NULL && !caller_is_anybody(method) &&
		 serve->gate(serve->gate_arg, worker, method, &err) < 0) ||
		reach_check(core, method, worker, params, &err) < 0))
		serve_refuse(call,
		    method->flags & (API_TOOL | API_NAMED) ?
			API_E_UNAUTHORIZED :
			API_REFUSED,
		    "%s", err.msg);
	else
		return true;
	return false;
}

static void
hold(struct serve *serve, const struct handler *handler, char *worker,
    struct server_call *call, struct json_object *params)
{
	struct held *held = xcalloc(1, sizeof *held);

	held->handler = handler;
	held->worker = worker;
	held->call = call;
	held->params = json_object_get(params);
	TAILQ_INSERT_TAIL(&serve->held, held, entry);
}

/* A tool acts for the session at whose socket it is called, whatever the call
 * says. The id of a call is one of that session's: what is kept by it cannot be
 * found by another. */
static void
name_speaker(const struct listener *listener, struct json_object *params)
{
	cleanup_free char *call = NULL;
	const char *given;

	if (!json_object_is_type(params, json_type_object))
		return;
	json_object_object_del(params, "worker");
	if (listener->worker == NULL)
		return;
	json_set_string(params, "worker", listener->worker);
	given = json_string_or(params, "call", NULL);
	if (given != NULL) {
		call = xasprintf("%s/%s", listener->worker, given);
		json_set_string(params, "call", call);
	}
}

static void
on_call(struct server_call *call, const char *name, struct json_object *params,
    void *arg)
{
	const struct listener *listener = arg;
	struct serve *serve = listener->core->serve;
	const struct handler *handler = find_handler(serve, name);
	cleanup_json struct json_object *empty = json_object_new_object();
	cleanup_free char *worker = NULL;
	struct err err = { 0 };

	/* Now: the handler may close the listener. */
	if (listener->worker == NULL)
		rest_soon(serve->core);
	if (params == NULL)
		params = empty;
	if (handler != NULL && (handler->method->flags & API_TOOL))
		name_speaker(listener, params);
	if (handler == NULL)
		serve_refuse(
		    call, RPC_METHOD_NOT_FOUND, "%s: no such method", name);
	else if (caller_find_check(listener, call, handler->method, params,
		     &worker, &err) < 0) {
		log_debug("%s", err.msg);
		serve_refuse(call,
		    handler->method->flags & API_NAMED ? API_E_UNAUTHORIZED :
							 API_REFUSED,
		    "%s", err.msg);
	} else if (serve->holding && !(handler->method->flags & API_EARLY))
		hold(serve, handler, take_ptr(&worker), call, params);
	else if (is_served(serve->core, handler->method, worker, call, params))
		handler->fn(handler->arg, call, params);
}

void
serve_person(struct core *core, const char *name, struct json_object *params,
    server_answer_fn *fn, void *arg)
{
	static const struct caller person = { 0 };
	struct serve *serve = core->serve;
	const struct handler *handler = find_handler(serve, name);
	struct server_call *call = server_call_new(core->loop, fn, arg);
	struct err err = { 0 };

	rest_soon(core);
	if (handler == NULL) {
		serve_refuse(
		    call, RPC_METHOD_NOT_FOUND, "%s: no such method", name);
		return;
	}
	/* Who it is for is what a session says, and this is none. */
	if (handler->method->flags & (API_TOOL | API_NAMED))
		name_caller(NULL, "worker", params);
	if (handler->method->flags & API_SENT)
		name_caller(NULL, "sender", params);
	if (caller_check(&person, handler->method, NULL, false, &err) < 0)
		serve_refuse(call, API_REFUSED, "%s", err.msg);
	else if (serve->holding && !(handler->method->flags & API_EARLY))
		hold(serve, handler, NULL, call, params);
	else if (is_served(core, handler->method, NULL, call, params))
		handler->fn(handler->arg, call, params);
}

void
serve_hold(struct core *core)
{
	core->serve->holding = true;
}

void
serve_release(struct core *core)
{
	struct serve *serve = core->serve;
	struct held *held;

	serve->holding = false;
	while ((held = TAILQ_FIRST(&serve->held)) != NULL) {
		if (core->stopping)
			serve_refuse(
			    held->call, API_BUSY, "the daemon is stopping");
		else if (is_served(core, held->handler->method, held->worker,
			     held->call, held->params))
			held->handler->fn(
			    held->handler->arg, held->call, held->params);
		held_free(serve, held);
	}
}

/* --- the sockets ------------------------------------------------------ */

static struct listener **
find_listener(struct serve *serve, const char *worker)
{
	for (size_t i = 0; i < serve->listener_count; i++)
		if (strcmp(serve->listeners[i]->worker, worker) == 0)
			return &serve->listeners[i];
	return NULL;
}

int
serve_open_socket(struct core *core, const char *worker, struct err *err)
{
	struct serve *serve = core->serve;
	struct listener *listener;
	int r;

	if (serve->people == NULL || core->options->oneshot ||
	    find_listener(serve, worker) != NULL)
		return 0;
	r = listener_new(core, worker, on_call, &listener, err);
	if (r < 0)
		return r;
	serve->listeners = xreallocarray(serve->listeners,
	    serve->listener_count + 1, sizeof(struct listener *));
	serve->listeners[serve->listener_count++] = listener;
	return 0;
}

void
serve_close_socket(struct core *core, const char *worker)
{
	struct serve *serve = core->serve;
	struct listener **at = find_listener(serve, worker);

	if (at == NULL)
		return;
	listener_free(*at);
	*at = serve->listeners[--serve->listener_count];
}

int
serve_listen(struct core *core, struct err *err)
{
	struct serve *serve = core->serve;
	struct err why = { 0 };
	int r = listener_new(core, NULL, on_call, &serve->people, err);

	/* A worker whose socket cannot be made is not launched. */
	for (size_t i = 0; r == 0 && i < core->state.count; i++)
		if (serve_open_socket(
			core, core->state.workers[i]->name, &why) < 0)
			log_debug("no socket: %s", why.msg);
	return r;
}

/* --- answers ---------------------------------------------------------- */

struct reply {
	struct server_call *call;
	struct json_object *result;
	int code;
	char *message; /* of an error, then result is its data */
};

static void
reply_now(void *arg)
{
	struct reply *reply = arg;

	if (reply->message != NULL)
		server_fail(
		    reply->call, reply->code, reply->message, reply->result);
	else
		server_reply(reply->call, reply->result);
	free(reply->message);
	free(reply);
}

void
serve_reply(
    struct core *core, struct server_call *call, struct json_object *result)
{
	struct reply *reply;

	if (call == NULL) {
		json_object_put(result);
		return;
	}
	reply = xcalloc(1, sizeof *reply);
	reply->call = call;
	reply->result = result;
	persist_then(core, NULL, reply_now, reply);
}

void
serve_show(struct server_call *call, struct json_object *result)
{
	server_reply(call, result);
}

void
serve_fail_output(struct core *core, struct server_call *call, int code,
    const char *message, const char *output)
{
	struct reply *reply;

	if (call == NULL)
		return;
	reply = xcalloc(1, sizeof *reply);
	reply->call = call;
	reply->code = code;
	reply->message = xstrdup(message);
	if (output != NULL) {
		reply->result = json_object_new_object();
		json_set_string(reply->result, "output", output);
	}
	persist_then(core, NULL, reply_now, reply);
}

void
serve_fail(
    struct core *core, struct server_call *call, int code, const char *message)
{
	serve_fail_output(core, call, code, message, NULL);
}

void
serve_refuse(struct server_call *call, int code, const char *fmt, ...)
{
	cleanup_buf struct buf words = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&words, fmt, ap);
	va_end(ap);
	server_fail(call, code, words.data, NULL);
}
