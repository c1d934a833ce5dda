/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent.h"
#include "emit.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "serve.h"
#include "waiters.h"

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct waiters *waiters;
	struct server_call *call;
	char *worker;
	char *until; /* names of statuses, separated by commas */
	struct loop_timer *timer;
};

TAILQ_HEAD(waiter_list, waiter);

struct waiters {
	struct fleet *fleet;
	struct core *core;
	struct waiter_list list;
};

static void
waiter_free(struct waiter *waiter)
{
	TAILQ_REMOVE(&waiter->waiters->list, waiter, entry);
	loop_timer_free(waiter->timer);
	free(waiter->worker);
	free(waiter->until);
	free(waiter);
}

static void
answer(struct waiter *waiter, const char *status, bool reached)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", waiter->worker);
	json_set_string(result, "status", status);
	json_set_bool(result, "reached", reached);
	serve_reply(waiter->waiters->core, waiter->call, result);
	waiter_free(waiter);
}

static bool
wants(const struct waiter *waiter, const char *status)
{
	cleanup_free char *copy = xstrdup(waiter->until);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (strcmp(word, status) == 0)
			return true;
	return false;
}

static void
on_timeout(void *arg)
{
	struct waiter *waiter = arg;
	const struct worker *w =
	    state_find(&waiter->waiters->core->state, waiter->worker);

	answer(
	    waiter, w != NULL ? worker_status_name(w->status) : "gone", false);
}

/* A worker has reached a status, or (NULL) is gone. */
static void
answer_reached(struct waiters *waiters, const char *worker, const char *status)
{
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&waiters->list); waiter != NULL;
	     waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->worker, worker) != 0)
			continue;
		if (status == NULL)
			answer(waiter, "gone", false);
		else if (wants(waiter, status))
			answer(waiter, status, true);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_WORKER_MOVED)
		answer_reached(arg, event->worker, event->to);
	else if (event->kind == EVENT_WORKER_GONE)
		answer_reached(arg, event->worker, NULL);
}

static void
on_wait(void *arg, struct server_call *call, struct json_object *params)
{
	struct waiters *waiters = arg;
	const char *name = json_string_or(params, "worker", "");
	const struct worker *w = state_find(&waiters->core->state, name);
	struct waiter *waiter;

	if (w == NULL) {
		fleet_refuse_unknown(waiters->fleet, call, name);
		return;
	}
	waiter = xcalloc(1, sizeof *waiter);
	waiter->waiters = waiters;
	waiter->call = call;
	waiter->worker = xstrdup(name);
	waiter->until = xstrdup(json_string_or(params, "until", ""));
	waiter->timer = loop_after(waiters->core->loop,
	    json_int_or(params, "timeout_ms", 0), on_timeout, waiter);
	TAILQ_INSERT_TAIL(&waiters->list, waiter, entry);
	if (wants(waiter, worker_status_name(w->status)))
		answer(waiter, worker_status_name(w->status), true);
}

struct waiters *
waiters_new(struct fleet *fleet)
{
	struct waiters *waiters = xcalloc(1, sizeof *waiters);

	waiters->fleet = fleet;
	waiters->core = fleet->core;
	TAILQ_INIT(&waiters->list);
	emit_subscribe(fleet->core, on_event, waiters);
	serve_handle(fleet->core, "worker.wait", on_wait, waiters);
	return waiters;
}

void
waiters_stop(struct waiters *waiters)
{
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&waiters->list)) != NULL) {
		serve_refuse(
		    waiter->call, API_FAILED, "the daemon is stopping");
		waiter_free(waiter);
	}
}

void
waiters_free(struct waiters *waiters)
{
	if (waiters == NULL)
		return;
	waiters_stop(waiters);
	emit_unsubscribe(waiters->core, on_event, waiters);
	free(waiters);
}
