/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "hook-event.h"
#include "hooks.h"
#include "id.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "serve.h"
#include "session-hook.h"
#include "spool.h"
#include "watch.h"
#include "workspace.h"

/* Of the spool, in one pass of the loop. */
#define DRAIN_MAX 256
#define DRAIN_US  10000

/* An event from the spool that was processed. Its file is removed when the
 * changes are saved. */
struct taken {
	struct hooks *hooks;
	char id[ID_ULID_SIZE];
};

/* A call that arrived while older events are still in the spool. */
struct held {
	TAILQ_ENTRY(held) entry;
	struct server_call *call;
	struct json_object *params;
};

TAILQ_HEAD(held_calls, held);

struct hooks {
	struct fleet *fleet;
	struct core *core;
	char *spool; /* folder */
	struct watch *watch;
	void *taken; /* a tree of them: tsearch(3) */
	struct held_calls held;
	struct loop_call *more; /* goes on with the spool in the next pass */
	bool draining; /* more has been requested */
	int64_t until_us; /* of this pass */
	void (*drained)(void *arg); /* NULL = nobody waits */
	void *drained_arg;
};

static int
compare_taken(const void *a, const void *b)
{
	const struct taken *one = a, *other = b;

	return strcmp(one->id, other->id);
}

/* True if the call will be answered later. */
static bool
take(struct hooks *hooks, struct server_call *call, struct json_object *params)
{
	struct hook_event event;
	struct agent *agent;

	if (hook_event_read(params, &event, NULL) < 0)
		return false;
	agent = fleet_find(hooks->fleet, event.worker);
	if (agent == NULL) {
		log_debug(
		    "hook %s of %s is not for us", event.event, event.worker);
		return false;
	}
	if (event.generation == agent->worker->session.generation) {
		agent->stirred = true;
		agent->worker->activity_ms = clock_wall_ms();
	}
	return session_hook(agent->session, call, params);
}

static void
answer(
    struct hooks *hooks, struct server_call *call, struct json_object *params)
{
	if (!take(hooks, call, params))
		serve_reply(hooks->core, call, NULL);
}

static void
on_hook(void *arg, struct server_call *call, struct json_object *params)
{
	struct hooks *hooks = arg;
	struct held *held;

	/* Earlier events first. */
	hooks_drain(hooks);
	if (!hooks->draining) {
		answer(hooks, call, params);
		return;
	}
	held = xcalloc(1, sizeof *held);
	held->call = call;
	held->params = json_object_get(params);
	TAILQ_INSERT_TAIL(&hooks->held, held, entry);
}

static void
held_free(struct hooks *hooks, struct held *held)
{
	TAILQ_REMOVE(&hooks->held, held, entry);
	json_object_put(held->params);
	free(held);
}

/* --- the spool -------------------------------------------------------- */

static bool
is_taken(const char *id, void *arg)
{
	struct hooks *hooks = arg;
	struct taken key;

	strlcpy(key.id, id, sizeof key.id);
	return tfind(&key, &hooks->taken, compare_taken) != NULL;
}

static void
taken_free(struct taken *taken)
{
	tdelete(taken, &taken->hooks->taken, compare_taken);
	free(taken);
}

static void
on_written(void *arg)
{
	struct taken *taken = arg;

	if (spool_remove(taken->hooks->spool, taken->id) < 0)
		log_debug("spool: %s stays", taken->id);
	taken_free(taken);
}

static int
on_spooled(const char *id, struct json_object *event, void *arg)
{
	struct hooks *hooks = arg;
	int64_t now = clock_mono_us();
	struct taken *taken;

	if (hooks->until_us == 0)
		hooks->until_us = now + DRAIN_US;
	else if (now > hooks->until_us)
		return -EAGAIN;
	take(hooks, NULL, event);
	taken = xcalloc(1, sizeof *taken);
	taken->hooks = hooks;
	strlcpy(taken->id, id, sizeof taken->id);
	if (tsearch(taken, &hooks->taken, compare_taken) == NULL)
		fatalx("out of memory: an event of the spool");
	persist_then(hooks->core, hooks, on_written, taken);
	return SPOOL_KEEP;
}

/* What waited for the spool, in the order of arrival. */
static void
drained(struct hooks *hooks)
{
	void (*fn)(void *arg) = hooks->drained;
	struct held *held;

	hooks->draining = false;
	hooks->drained = NULL;
	if (fn != NULL)
		fn(hooks->drained_arg);
	while ((held = TAILQ_FIRST(&hooks->held)) != NULL) {
		answer(hooks, held->call, held->params);
		held_free(hooks, held);
	}
}

/* A part of it, so that the loop can serve others; at least one event, however
 * long it takes to list the folder. */
static void
drain(void *arg)
{
	struct hooks *hooks = arg;
	struct err err = { 0 };
	int r;

	hooks->until_us = 0;
	r = spool_drain(
	    hooks->spool, DRAIN_MAX, is_taken, on_spooled, hooks, &err);
	if (r < 0 && r != -EAGAIN)
		log_debug("spool: %s", err.msg);
	if (r == DRAIN_MAX || r == -EAGAIN) {
		hooks->draining = true;
		loop_call_request(hooks->more);
	} else
		drained(hooks);
}

void
hooks_drain(struct hooks *hooks)
{
	if (!hooks->draining)
		drain(hooks);
}

void
hooks_drain_then(struct hooks *hooks, void (*fn)(void *arg), void *arg)
{
	hooks->drained = fn;
	hooks->drained_arg = arg;
	hooks_drain(hooks);
}

static void
on_spool_changed(void *arg)
{
	hooks_drain(arg);
}

struct hooks *
hooks_new(struct fleet *fleet)
{
	struct hooks *hooks = xcalloc(1, sizeof *hooks);

	hooks->fleet = fleet;
	hooks->core = fleet->core;
	hooks->spool = workspace_path(fleet->core->workspace, "spool");
	TAILQ_INIT(&hooks->held);
	hooks->more = loop_call_new(fleet->core->loop, drain, hooks);
	serve_handle(fleet->core, "hook.event", on_hook, hooks);
	if (!fleet->core->options->oneshot &&
	    watch_new(fleet->core->loop, hooks->spool, on_spool_changed, hooks,
		&hooks->watch, NULL) < 0)
		log_debug("the spool is not watched");
	return hooks;
}

void
hooks_free(struct hooks *hooks)
{
	struct held *held;

	if (hooks == NULL)
		return;
	persist_forget(hooks->core, hooks);
	watch_free(hooks->watch);
	loop_call_free(hooks->more);
	tdestroy(hooks->taken, free);
	while ((held = TAILQ_FIRST(&hooks->held)) != NULL) {
		serve_refuse(held->call, API_BUSY, "the daemon is stopping");
		held_free(hooks, held);
	}
	free(hooks->spool);
	free(hooks);
}
