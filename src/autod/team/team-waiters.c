/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "api.h"
#include "core.h"
#include "errtext.h"
#include "mem.h"
#include "request.h"
#include "serve.h"
#include "server.h"
#include "team-waiters.h"

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct team_waiters *all;
	struct server_call *call;
	char *id; /* of the question */
};

TAILQ_HEAD(waiter_list, waiter);

struct team_waiters {
	struct core *core;
	struct waiter_list list;
};

struct team_waiters *
team_waiters_new(struct core *core)
{
	struct team_waiters *waiters = xcalloc(1, sizeof *waiters);

	waiters->core = core;
	TAILQ_INIT(&waiters->list);
	return waiters;
}

void
team_waiters_free(struct team_waiters *waiters)
{
	free(waiters);
}

static void
waiter_free(struct waiter *waiter)
{
	TAILQ_REMOVE(&waiter->all->list, waiter, entry);
	free(waiter->id);
	free(waiter);
}

static void
on_gone(void *arg)
{
	struct waiter *waiter = arg;

	serve_refuse(waiter->call, API_BUSY, "nobody waits for the answer");
	waiter_free(waiter);
}

void
team_waiters_add(struct team_waiters *waiters, struct server_call *call,
    const struct request *request)
{
	struct waiter *waiter = xcalloc(1, sizeof *waiter);

	waiter->all = waiters;
	waiter->call = call;
	waiter->id = xstrdup(request->id);
	TAILQ_INSERT_TAIL(&waiters->list, waiter, entry);
	server_on_gone(call, on_gone, waiter);
}

bool
team_waiters_has(const struct team_waiters *waiters, const char *id)
{
	const struct waiter *waiter;

	TAILQ_FOREACH (waiter, &waiters->list, entry)
		if (strcmp(waiter->id, id) == 0)
			return true;
	return false;
}

void
team_waiters_answer(struct team_waiters *waiters, const char *id,
    const struct request *request, const struct err *err)
{
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&waiters->list); waiter != NULL;
	     waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->id, id) != 0)
			continue;
		if (err != NULL)
			serve_refuse(waiter->call, API_FAILED, "%s", err->msg);
		else if (request != NULL)
			serve_reply(waiters->core, waiter->call,
			    request_to_answer(request));
		else
			serve_refuse(waiter->call, API_BUSY,
			    "the question is being read");
		waiter_free(waiter);
	}
}

void
team_waiters_refuse(struct team_waiters *waiters)
{
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&waiters->list)) != NULL) {
		serve_refuse(waiter->call, API_BUSY,
		    "the daemon is stopping; the question stays");
		waiter_free(waiter);
	}
}
