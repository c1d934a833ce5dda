/* SPDX-License-Identifier: ISC */

/* worker.wait: answer when a worker reaches a status, or time is up. */
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "server.h"

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct daemon *daemon;
	struct server_call *call;
	char *worker;
	char *until; /* names of statuses, with commas between */
	struct loop_timer *timer;
};

static void
waiter_free(struct waiter *waiter)
{
	TAILQ_REMOVE(&waiter->daemon->waiters, waiter, entry);
	loop_timer_free(waiter->timer);
	free(waiter->worker);
	free(waiter->until);
	free(waiter);
}

static struct json_object *
waiter_result(const struct waiter *waiter, const char *status, bool reached)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", waiter->worker);
	json_set_string(result, "status", status);
	json_set_bool(result, "reached", reached);
	return result;
}

static bool
waiter_wants(const struct waiter *waiter, const char *status)
{
	cleanup_free char *copy = xstrdup(waiter->until);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (strcmp(word, status) == 0)
			return true;
	return false;
}

static void
waiter_timeout(void *arg)
{
	struct waiter *waiter = arg;
	const struct worker *w =
	    state_find(&waiter->daemon->state, waiter->worker);

	daemon_reply(waiter->daemon, waiter->call,
	    waiter_result(waiter,
		w != NULL ? worker_status_name(w->status) : "gone", false));
	waiter_free(waiter);
}

void
waiters_tell(struct daemon *d, const struct worker *worker)
{
	const char *status = worker_status_name(worker->status);
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&d->waiters); waiter != NULL; waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->worker, worker->name) != 0 ||
		    !waiter_wants(waiter, status))
			continue;
		daemon_reply(
		    d, waiter->call, waiter_result(waiter, status, true));
		waiter_free(waiter);
	}
}

void
waiters_gone(struct daemon *d, const char *worker)
{
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&d->waiters); waiter != NULL; waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->worker, worker) != 0)
			continue;
		daemon_reply(
		    d, waiter->call, waiter_result(waiter, "gone", false));
		waiter_free(waiter);
	}
}

void
waiters_add(struct daemon *d, struct server_call *call, const char *worker,
    const char *until, int64_t timeout_ms)
{
	struct waiter *waiter = xcalloc(1, sizeof *waiter);
	const struct worker *w = state_find(&d->state, worker);

	waiter->daemon = d;
	waiter->call = call;
	waiter->worker = xstrdup(worker);
	waiter->until = xstrdup(until);
	waiter->timer = loop_after(d->loop, timeout_ms, waiter_timeout, waiter);
	TAILQ_INSERT_TAIL(&d->waiters, waiter, entry);
	if (w != NULL)
		waiters_tell(d, w);
}

void
waiters_release(struct daemon *d)
{
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&d->waiters); waiter != NULL; waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		server_fail(
		    waiter->call, -32000, "the daemon is stopping", NULL);
		waiter_free(waiter);
	}
}
