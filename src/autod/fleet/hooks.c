/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "hook-event.h"
#include "hooks.h"
#include "log.h"
#include "mem.h"
#include "persist.h"
#include "serve.h"
#include "session-hook.h"
#include "spool.h"
#include "watch.h"
#include "workspace.h"

#define DRAIN_MAX 16 /* events per pass */

/* An event from the spool that was processed. Its file is removed when the
 * changes are saved. */
struct taken {
	TAILQ_ENTRY(taken) entry;
	struct hooks *hooks;
	char *id;
};

TAILQ_HEAD(taken_list, taken);

struct hooks {
	struct fleet *fleet;
	struct core *core;
	char *spool; /* folder */
	struct watch *watch;
	struct taken_list taken;
};

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
on_hook(void *arg, struct server_call *call, struct json_object *params)
{
	struct hooks *hooks = arg;

	/* Earlier events first. */
	hooks_drain_all(hooks);
	if (!take(hooks, call, params))
		serve_reply(hooks->core, call, NULL);
}

/* --- the spool -------------------------------------------------------- */

static bool
is_taken(const struct hooks *hooks, const char *id)
{
	const struct taken *taken;

	TAILQ_FOREACH (taken, &hooks->taken, entry)
		if (strcmp(taken->id, id) == 0)
			return true;
	return false;
}

static void
taken_free(struct taken *taken)
{
	TAILQ_REMOVE(&taken->hooks->taken, taken, entry);
	free(taken->id);
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
	struct taken *taken;

	if (is_taken(hooks, id))
		return SPOOL_KEEP;
	take(hooks, NULL, event);
	taken = xcalloc(1, sizeof *taken);
	taken->hooks = hooks;
	taken->id = xstrdup(id);
	TAILQ_INSERT_TAIL(&hooks->taken, taken, entry);
	persist_then(hooks->core, hooks, on_written, taken);
	return SPOOL_KEEP;
}

static int
drain(struct hooks *hooks, int max)
{
	struct err err = { 0 };
	int r = spool_drain(hooks->spool, max, on_spooled, hooks, &err);

	if (r < 0)
		log_debug("spool: %s", err.msg);
	return r;
}

static void
on_more(void *arg)
{
	hooks_drain(arg);
}

/* A few at a time, so that the loop can serve others. */
void
hooks_drain(struct hooks *hooks)
{
	if (drain(hooks, DRAIN_MAX) == DRAIN_MAX)
		persist_then(hooks->core, hooks, on_more, hooks);
}

void
hooks_drain_all(struct hooks *hooks)
{
	drain(hooks, 0);
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
	TAILQ_INIT(&hooks->taken);
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
	struct taken *taken;

	if (hooks == NULL)
		return;
	persist_forget(hooks->core, hooks);
	watch_free(hooks->watch);
	while ((taken = TAILQ_FIRST(&hooks->taken)) != NULL)
		taken_free(taken);
	free(hooks->spool);
	free(hooks);
}
