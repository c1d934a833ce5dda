/* SPDX-License-Identifier: ISC */

/* The table of RPC methods: what each wants, and who carries it out. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "rpc.h"
#include "server.h"
#include "shape.h"
#include "text.h"

#define WAIT_MAX_MS (7 * 24 * 3600 * (int64_t)1000)

void
methods_unknown_worker(
    const struct daemon *d, struct server_call *call, const char *name)
{
	cleanup_buf struct buf words = BUF_INIT;

	buf_addf(&words, "there is no worker %s; there ", name);
	buf_adds(&words, d->state.count == 0 ? "is none" : "are:");
	for (size_t i = 0; i < d->state.count; i++)
		buf_addf(&words, " %s", d->state.workers[i]->name);
	server_fail(call, METHOD_UNKNOWN, words.data, NULL);
}

static void
method_hook(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	hooks_event(d, call, params);
}

static void
method_wait(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *worker = json_string_or(params, "worker", "");

	if (state_find(&d->state, worker) == NULL)
		methods_unknown_worker(d, call, worker);
	else
		waiters_add(d, call, worker,
		    json_string_or(params, "until", ""),
		    json_int_or(params, "timeout_ms", 0));
}

static void
method_info(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	struct json_object *result = json_object_new_object();

	(void)params;
	json_set_string(result, "version", LLMC_VERSION);
	json_set_int(result, "pid", getpid());
	json_set_string(result, "instance_id", d->instance);
	json_set_int(result, "lag_ms", loop_lag_ms(d->loop));
	json_set_int(result, "turns", (int64_t)loop_turns(d->loop));
	json_set_int(result, "workers", (int64_t)d->state.count);
	json_set_bool(result, "auto", d->options->auto_mode);
	server_reply(call, result);
}

static void
method_reload(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	struct err err = { 0 };

	(void)params;
	if (daemon_reload(d, &err) < 0)
		server_fail(call, METHOD_FAILED, err.msg, NULL);
	else
		server_reply(call, NULL);
}

static void
method_patrol(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	(void)params;
	patrol_run(d);
	server_reply(call, NULL);
}

static void
method_stop(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	server_reply(call, json_object_new_int64(getpid()));
	daemon_stop(d, json_bool_or(params, "now", false));
}

#define WORKER_FIELD                                   \
	{                                              \
		.name = "worker", .type = SHAPE_STRING \
	}
#define END_FIELD            \
	{                    \
		.name = NULL \
	}

static const struct shape none_shape = {
	.fields = (const struct shape_field[]){ END_FIELD },
};
static const struct shape worker_shape = {
	.fields = (const struct shape_field[]){ WORKER_FIELD, END_FIELD },
};
static const struct shape force_shape = {
	.fields = (const struct shape_field[]){ WORKER_FIELD,
	    { .name = "force", .type = SHAPE_BOOL, .flags = SHAPE_OPTIONAL },
	    END_FIELD },
};
static const struct shape text_shape = {
	.fields = (const struct shape_field[]){ WORKER_FIELD,
	    { .name = "text", .type = SHAPE_STRING }, END_FIELD },
};
static const struct shape start_shape = {
	.fields = (const struct shape_field[]){ { .name = "worker",
						    .type = SHAPE_STRING,
						    .flags = SHAPE_OPTIONAL },
	    { .name = "prefix", .type = SHAPE_STRING, .flags = SHAPE_OPTIONAL },
	    { .name = "prompt", .type = SHAPE_STRING },
	    { .name = "prompt_command",
		.type = SHAPE_STRING,
		.flags = SHAPE_OPTIONAL },
	    { .name = "self_review",
		.type = SHAPE_BOOL,
		.flags = SHAPE_OPTIONAL },
	    END_FIELD },
};
static const struct shape wait_shape = {
	.fields = (const struct shape_field[]){ WORKER_FIELD,
	    { .name = "until", .type = SHAPE_STRING },
	    { .name = "timeout_ms",
		.type = SHAPE_INT,
		.min = 1,
		.max = WAIT_MAX_MS },
	    END_FIELD },
};
static const struct shape add_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "text", .type = SHAPE_STRING }, END_FIELD },
};
static const struct shape task_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "task", .type = SHAPE_STRING }, END_FIELD },
};
static const struct shape resume_shape = {
	.fields = (const struct shape_field[]){ { .name = "worker",
						    .type = SHAPE_STRING,
						    .flags = SHAPE_OPTIONAL },
	    END_FIELD },
};
static const struct shape stop_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "now", .type = SHAPE_BOOL, .flags = SHAPE_OPTIONAL },
		END_FIELD },
};

static const struct method {
	const char *name;
	const struct shape *params; /* NULL = the method looks itself */
	bool oneshot; /* works without a running daemon */
	void (*daemon_fn)(struct daemon *d, struct server_call *call,
	    struct json_object *params);
	void (*worker_fn)(struct agent *agent, struct server_call *call,
	    struct json_object *params); /* the worker exists and is free */
} methods[] = {
	{ "hook.event", NULL, false, method_hook, NULL },
	{ "worker.add", &worker_shape, true, fleet_add, NULL },
	{ "worker.nuke", &worker_shape, true, NULL, fleet_nuke },
	{ "worker.reset", &worker_shape, true, NULL, fleet_reset },
	{ "worker.start", &start_shape, false, tasks_start, NULL },
	{ "worker.message", &text_shape, false, NULL, tasks_message },
	{ "worker.reject", &text_shape, false, NULL, tasks_reject },
	{ "worker.accept", &force_shape, true, NULL, tasks_accept },
	{ "worker.rebase", &worker_shape, false, NULL, tasks_rebase },
	{ "worker.review", &force_shape, false, NULL, tasks_review },
	{ "worker.pick", &worker_shape, true, NULL, pick_begin },
	{ "worker.wait", &wait_shape, false, method_wait, NULL },
	{ "task.add", &add_shape, true, jobs_add, NULL },
	{ "task.retry", &task_shape, true, jobs_retry, NULL },
	{ "task.drop", &task_shape, true, jobs_drop, NULL },
	{ "auto.resume", &resume_shape, false, spend_resume, NULL },
	{ "daemon.info", &none_shape, false, method_info, NULL },
	{ "daemon.reload", &none_shape, false, method_reload, NULL },
	{ "daemon.patrol", &none_shape, false, method_patrol, NULL },
	{ "daemon.stop", &stop_shape, false, method_stop, NULL },
};

static const struct method *
find_method(const char *name)
{
	for (size_t i = 0; i < nitems(methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static void
call_worker(struct daemon *d, const struct method *m, struct server_call *call,
    struct json_object *params)
{
	const char *name = json_string_or(params, "worker", "");
	struct agent *agent = agent_find(d, name);

	if (agent == NULL) {
		methods_unknown_worker(d, call, name);
		return;
	}
	if (agent->operating || agent->phase == AGENT_ENDING) {
		server_fail(call, METHOD_BUSY,
		    "something else is being done to it; try again in a "
		    "moment",
		    NULL);
		return;
	}
	m->worker_fn(agent, call, params);
}

void
methods_call(struct server_call *call, const char *name,
    struct json_object *params, void *arg)
{
	struct daemon *d = arg;
	const struct method *m = find_method(name);
	struct shape_field whole = { .type = SHAPE_OBJECT };
	cleanup_json struct json_object *empty = json_object_new_object();
	struct err err = { 0 };

	if (m == NULL) {
		err_set(&err, 0, "%s: no such method", name);
		server_fail(call, RPC_METHOD_NOT_FOUND, err.msg, NULL);
		return;
	}
	if (params == NULL)
		params = empty;
	whole.of = m->params;
	if (m->params != NULL &&
	    shape_check(&whole, params, "params", &err) < 0) {
		server_fail(call, RPC_INVALID_PARAMS, err.msg, NULL);
		return;
	}
	if (d->oneshot && !m->oneshot) {
		server_fail(call, METHOD_FAILED,
		    "no daemon runs; start it with: llmc up --detach", NULL);
		return;
	}
	if (d->stopping && strcmp(name, "hook.event") != 0 &&
	    strcmp(name, "daemon.stop") != 0) {
		server_fail(call, METHOD_BUSY, "the daemon is stopping", NULL);
		return;
	}
	if (m->daemon_fn != NULL)
		m->daemon_fn(d, call, params);
	else
		call_worker(d, m, call, params);
}
