/* SPDX-License-Identifier: ISC */

/* What Claude Code reports: hook.event and the spools. */

#include "base.h"

#include <search.h>
#include <sys/queue.h>

#include "agent.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "hook-event.h"
#include "id.h"
#include "loop.h"
#include "persist.h"
#include "serve.h"
#include "server.h"
#include "session-hook.h"
#include "spool.h"
#include "watch.h"
#include "workspace.h"

/* In one pass of the loop. */
#define DRAIN_MAX 256
#define DRAIN_US  10000

/* An event that was processed. Its file is removed when the changes are
 * saved. */
struct taken {
	struct box *box;
	char id[ID_ULID_SIZE];
};

/* A call that arrived while older events are still in the spool. */
struct held {
	TAILQ_ENTRY(held) entry;
	struct server_call *call;
	struct json_object *params;
};

TAILQ_HEAD(held_calls, held);

/* A spool. */
struct box {
	TAILQ_ENTRY(box) entry;
	struct hooks *hooks;
	char *dir;
	char *worker;
	struct watch *watch;
	void *taken; /* a tree of them: tsearch(3) */
	struct spool_rest rest; /* that waits for the next pass */
	int64_t until_us; /* of this pass */
	bool full; /* a part of it waits for the next pass */
	struct held_calls held; /* of its worker */
};

TAILQ_HEAD(boxes, box);

struct hooks {
	struct fleet *fleet;
	struct core *core;
	struct boxes boxes;
	struct loop_call *more; /* goes on with the spools in the next pass */
	bool open; /* the sessions are adopted, and hear what is spooled */
	void (*drained)(void *arg); /* NULL = no callback */
	void *drained_arg;
};

/* --- events ----------------------------------------------------------- */

/* What is said to a tool of a subagent does not reach the conversation. */
static bool
answers_tool(struct agent *agent, struct server_call *call,
    const struct hook_event *event)
{
	return call != NULL && event->kind == HOOK_TOOL_ENDS &&
	    event->generation == agent->worker->session.generation &&
	    json_string_or(event->data, "agent_id", NULL) == NULL &&
	    server_call_waits(call) &&
	    POLICY_ASK(
		agent->fleet, policy, tool_ended, agent, call, event->event);
}

static void
note_denied(struct agent *agent, const struct hook_event *event)
{
	struct json_object *denied = NULL;

	if (event->kind == HOOK_TOOL_BEGINS &&
	    json_get_object(event->data, "", "denied", &denied, NULL) == 0)
		POLICY_TELL(agent->fleet, policy, denied, agent, denied);
}

/* Recorded once in a run, and said when it is another one than before. */
static void
note_version(struct agent *agent, const char *version)
{
	struct core *core = agent->core;
	struct state *state = &core->state;
	const char *before = state->agent_version, *run = state->run_id;

	if (text_is(before, version) &&
	    text_is(state->agent_version_run, run != NULL ? run : ""))
		return;
	EMIT(core, EVENT_AGENT_VERSION, .worker = agent->worker->name,
	    .text = version,
	    .reason = text_is(before, version) ? NULL : before);
	xstrset(&state->agent_version, version);
	xstrset(&state->agent_version_run, run != NULL ? run : "");
	persist_changed(core);
}

void
agent_status(struct agent *agent, struct json_object *data)
{
	struct core *core = agent->core;
	const char *version = json_string_or(data, "version", "");
	const char *id = agent->worker->session.id;
	int used = context_read(json_member(data, "context_window"));

	if (*version != '\0')
		note_version(agent, version);
	/* One of the conversation before may be late. */
	if (used >= 0 && text_is(id, json_string_or(data, "session_id", id)))
		agent->context = used;
	if (windows_read(json_member(data, "rate_limits"), clock_wall_ms(),
		core->state.windows)) {
		turn_failure_sharpen(agent->fleet);
		persist_changed(core);
	}
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
	if (event.kind == HOOK_STATUS) {
		if (event.generation == agent->worker->session.generation)
			agent_status(agent, event.data);
		return false;
	}
	if (event.generation == agent->worker->session.generation) {
		const struct fleet *fleet;
		const char *tool;

		agent->stirred = true;
		agent->worker->activity_ms = clock_wall_ms();
		/* A tool of the conversation itself, not of a subagent. */
		fleet = agent->fleet;
		tool = json_string_or(event.data, "tool_name", NULL);
		if (event.kind == HOOK_TOOL_BEGINS && tool != NULL &&
		    json_string_or(event.data, "agent_id", NULL) == NULL) {
			xstrset(&agent->tool, tool);
			agent->tool_ms = clock_wall_ms();
		}
		if ((event.kind == HOOK_TOOL_BEGINS ||
			event.kind == HOOK_TOOL_ENDS) &&
		    tool != NULL && fleet->policy->tool_used != NULL &&
		    json_string_or(event.data, "agent_id", NULL) == NULL)
			fleet->policy->tool_used(
			    fleet->policy_arg, agent, tool);
		note_denied(agent, &event);
	}
	return session_hook(agent->session, call, &event) ||
	    answers_tool(agent, call, &event);
}

static void
answer(
    struct hooks *hooks, struct server_call *call, struct json_object *params)
{
	if (!take(hooks, call, params))
		serve_reply(hooks->core, call, NULL);
}

/* --- the spools ------------------------------------------------------- */

static int
compare_taken(const void *a, const void *b)
{
	const struct taken *one = a, *other = b;

	return strcmp(one->id, other->id);
}

static bool
is_taken(const char *id, void *arg)
{
	struct box *box = arg;
	struct taken key;

	strlcpy(key.id, id, sizeof key.id);
	return tfind(&key, &box->taken, compare_taken) != NULL;
}

static void
on_written(void *arg)
{
	struct taken *taken = arg;

	if (spool_remove(taken->box->dir, taken->id) < 0)
		log_debug("spool: %s stays", taken->id);
	tdelete(taken, &taken->box->taken, compare_taken);
	free(taken);
}

static int
on_spooled(const char *id, struct json_object *event, void *arg)
{
	struct box *box = arg;
	const char *worker = json_string_or(event, "worker", "");
	int64_t now = clock_mono_us();
	struct taken *taken;

	if (box->until_us == 0)
		box->until_us = now + DRAIN_US;
	else if (now > box->until_us)
		return -EAGAIN;
	if (strcmp(box->worker, worker) == 0)
		take(box->hooks, NULL, event);
	else
		log_debug("a hook of %s in the spool of %s is ignored", worker,
		    box->worker);
	taken = xcalloc(1, sizeof *taken);
	taken->box = box;
	strlcpy(taken->id, id, sizeof taken->id);
	if (tsearch(taken, &box->taken, compare_taken) == NULL)
		fatalx("out of memory: an event of the spool");
	persist_then(box->hooks->core, box, on_written, taken);
	return SPOOL_KEEP;
}

/* At least one event, however long it takes to list the folder. */
static bool
drain(struct box *box)
{
	struct err err = { 0 };
	int r;

	box->until_us = 0;
	r = spool_drain(
	    box->dir, &box->rest, DRAIN_MAX, is_taken, on_spooled, box, &err);
	if (r == DRAIN_MAX || r == -EAGAIN)
		return true;
	if (r < 0)
		log_debug("spool: %s", err.msg);
	spool_rest_release(&box->rest);
	return false;
}

static struct box *
find_box(struct hooks *hooks, const char *worker)
{
	struct box *box;

	TAILQ_FOREACH (box, &hooks->boxes, entry)
		if (text_is(box->worker, worker))
			return box;
	return NULL;
}

static void
held_free(struct box *box, struct held *held)
{
	TAILQ_REMOVE(&box->held, held, entry);
	json_object_put(held->params);
	free(held);
}

/* What waited for the spool, in the order of arrival. */
static void
answer_held(struct box *box)
{
	struct held *held;

	while ((held = TAILQ_FIRST(&box->held)) != NULL) {
		answer(box->hooks, held->call, held->params);
		held_free(box, held);
	}
}

/* A turn that ended is not judged while something may still change its tree. */
static bool
is_closed(const struct box *box)
{
	const struct agent *agent = fleet_find(box->hooks->fleet, box->worker);

	return agent != NULL && agent->clearing;
}

static void
drain_box(struct box *box)
{
	box->full = box->hooks->open && !is_closed(box) && drain(box);
	if (box->full)
		loop_call_request(box->hooks->more);
}

/* Nothing waits in a spool any more, or some do. */
static void
settle(struct hooks *hooks)
{
	void (*fn)(void *arg) = hooks->drained;
	struct box *box;
	bool full = false;

	TAILQ_FOREACH (box, &hooks->boxes, entry)
		full = full || box->full;
	if (!full && fn != NULL) {
		hooks->drained = NULL;
		fn(hooks->drained_arg);
	}
	TAILQ_FOREACH (box, &hooks->boxes, entry)
		if (!box->full && !is_closed(box))
			answer_held(box);
}

/* Another part of each, so that the loop can serve others meanwhile. */
static void
drain_more(void *arg)
{
	struct hooks *hooks = arg;
	struct box *box;

	TAILQ_FOREACH (box, &hooks->boxes, entry)
		if (box->full)
			drain_box(box);
	settle(hooks);
}

void
hooks_drain(struct hooks *hooks)
{
	struct box *box;

	TAILQ_FOREACH (box, &hooks->boxes, entry)
		if (!box->full)
			drain_box(box);
	settle(hooks);
}

void
hooks_drain_then(struct hooks *hooks, void (*fn)(void *arg), void *arg)
{
	hooks->open = true;
	hooks->drained = fn;
	hooks->drained_arg = arg;
	hooks_drain(hooks);
}

static void
on_spool_changed(void *arg)
{
	struct box *box = arg;

	if (!box->full)
		drain_box(box);
}

/* Earlier events first. */
static void
on_hook(void *arg, struct server_call *call, struct json_object *params)
{
	struct hooks *hooks = arg;
	struct box *box = find_box(hooks, json_string_or(params, "worker", ""));
	struct held *held;

	if (box != NULL && !box->full)
		drain_box(box);
	if (box == NULL || (!box->full && !is_closed(box))) {
		answer(hooks, call, params);
		return;
	}
	held = xcalloc(1, sizeof *held);
	held->call = call;
	held->params = json_object_get(params);
	TAILQ_INSERT_TAIL(&box->held, held, entry);
}

/* --- the object ------------------------------------------------------- */

static void
box_free(struct hooks *hooks, struct box *box)
{
	struct held *held;

	TAILQ_REMOVE(&hooks->boxes, box, entry);
	while ((held = TAILQ_FIRST(&box->held)) != NULL) {
		serve_refuse(held->call, API_BUSY, "the daemon is stopping");
		held_free(box, held);
	}
	persist_forget(hooks->core, box);
	watch_free(box->watch);
	tdestroy(box->taken, free);
	spool_rest_release(&box->rest);
	free(box->dir);
	free(box->worker);
	free(box);
}

void
hooks_add(struct hooks *hooks, const char *worker)
{
	const struct workspace *workspace = hooks->core->workspace;
	cleanup_free char *dir = run_dir_spool(workspace, worker);
	struct box *box = xcalloc(1, sizeof *box);
	struct err err = { 0 };

	/* A launch tries again, and reports it. */
	if (run_dir_make(workspace, worker, &err) < 0)
		log_debug("%s", err.msg);
	box->hooks = hooks;
	TAILQ_INIT(&box->held);
	box->dir = xstrdup(dir);
	box->worker = xstrdup(worker);
	if (!hooks->core->options->oneshot &&
	    watch_new(hooks->core->loop, dir, on_spool_changed, box,
		&box->watch, NULL) < 0)
		log_debug("%s is not watched", dir);
	TAILQ_INSERT_TAIL(&hooks->boxes, box, entry);
}

void
hooks_remove(struct hooks *hooks, const char *worker)
{
	struct box *box = find_box(hooks, worker);

	if (box != NULL)
		box_free(hooks, box);
}

struct hooks *
hooks_new(struct fleet *fleet)
{
	struct hooks *hooks = xcalloc(1, sizeof *hooks);

	hooks->fleet = fleet;
	hooks->core = fleet->core;
	TAILQ_INIT(&hooks->boxes);
	hooks->more = loop_call_new(fleet->core->loop, drain_more, hooks);
	serve_handle(fleet->core, "hook.event", on_hook, hooks);
	return hooks;
}

void
hooks_free(struct hooks *hooks)
{
	struct box *box;

	if (hooks == NULL)
		return;
	loop_call_free(hooks->more);
	while ((box = TAILQ_FIRST(&hooks->boxes)) != NULL)
		box_free(hooks, box);
	free(hooks);
}
