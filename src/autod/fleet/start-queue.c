/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "box-plan.h"
#include "emit.h"
#include "fleet-private.h"
#include "loop.h"
#include "op-start.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "worker-op.h"

/* A call that waits for a worker. */
struct start_wait {
	TAILQ_ENTRY(start_wait) entry;
	struct start_queue *queue;
	struct server_call *call;
	struct json_object *params;
	struct loop_timer *timer;
};

TAILQ_HEAD(start_wait_list, start_wait);

struct start_queue {
	struct fleet *fleet;
	struct start_wait_list list;
	struct loop_call *look;
};

/* --- whom to give it to ----------------------------------------------- */

/* Is it driven by hand, and can it get a task? Its session may still have to be
 * started. */
static bool
can_start(const struct agent *agent)
{
	return !agent_is_taken(agent) && worker_is_free(agent->worker) &&
	    !worker_is_auto(agent->worker->name);
}

/* Will it be free by itself? */
static bool
is_coming(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return !worker_is_auto(w->name) &&
	    (worker_is_coming(w) ||
		(worker_is_free(w) && agent_is_taken(agent)));
}

typedef bool agent_test_fn(const struct agent *agent);

/* May the caller give it a task? An agent leaves its own sandbox by no other
 * worker. */
static bool
is_as_strict(const struct agent *agent, struct json_object *params)
{
	const struct settings *settings = agent->core->settings;
	const char *sender = json_string_or(params, "sender", NULL);

	return sender == NULL ||
	    box_mode_of(settings, agent->worker->name) >=
	    box_mode_of(settings, sender);
}

/* The first worker of the pool, by name, that passes the test. */
static struct agent *
choose(
    const struct fleet *fleet, struct json_object *params, agent_test_fn *test)
{
	const char *prefix = json_string_or(params, "prefix", "");
	const struct state *state = &fleet->core->state;

	for (size_t i = 0; i < state->count; i++) {
		struct agent *agent =
		    fleet_find(fleet, state->workers[i]->name);

		if (agent != NULL && test(agent) &&
		    is_as_strict(agent, params) &&
		    text_begins(agent->worker->name, prefix) &&
		    !agent_flag(agent, "excluded_from_pool"))
			return agent;
	}
	return NULL;
}

/* --- refusing --------------------------------------------------------- */

/* Why this one was not chosen. */
static void
add_why_not(const struct agent *agent, struct buf *out)
{
	const struct worker *w = agent->worker;
	cleanup_buf struct buf advice = BUF_INIT;

	if (can_start(agent) || is_coming(agent)) {
		buf_addf(out,
		    "%s is excluded from the pool (name it: llmc start "
		    "--worker %s)",
		    w->name, w->name);
		return;
	}
	if (!worker_is_auto(w->name))
		worker_add_advice(w, &advice);
	buf_addf(out, "%s is %s", w->name, worker_status_name(w->status));
	if (w->reason != NULL)
		buf_addf(out, ": %s", w->reason);
	else if (advice.len > 0)
		buf_addf(out, " (%s)", advice.data);
}

static void
refuse_none_free(
    const struct fleet *fleet, struct server_call *call, const char *prefix)
{
	const struct state *state = &fleet->core->state;
	cleanup_buf struct buf reason = BUF_INIT;
	size_t count = 0;

	buf_adds(&reason, "no worker is free: ");
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		if (!text_begins(w->name, prefix))
			continue;
		buf_adds(&reason, count++ > 0 ? ", " : "");
		add_why_not(fleet_find(fleet, w->name), &reason);
	}
	if (state->count == 0)
		buf_adds(&reason,
		    "there are no workers yet; add one with: llmc add NAME");
	else if (count == 0)
		buf_addf(&reason, "no name of a worker begins with %s", prefix);
	serve_refuse(call, API_STATUS, "%s", reason.data);
}

static void
refuse(const struct fleet *fleet, struct server_call *call, const char *name,
    const char *prefix)
{
	const struct agent *agent =
	    name != NULL ? fleet_find(fleet, name) : NULL;

	if (name == NULL)
		refuse_none_free(fleet, call, prefix);
	else if (agent == NULL)
		fleet_refuse_unknown(fleet, call, name);
	else if (worker_is_auto(name))
		worker_commands_wrong_status(call, agent->worker,
		    "auto workers get their tasks from the daemon");
	else
		worker_commands_wrong_status(call, agent->worker,
		    "only an idle worker can be given a task");
}

/* --- one call --------------------------------------------------------- */

static void
start(struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;
	cleanup_buf struct buf task = BUF_INIT;

	if (!worker_commands_text(call, params, "prompt", &task))
		return;
	xstrset(&w->reviewed, NULL);
	xstrset(&w->prompt, task.data);
	xstrset(
	    &w->prompt_command, json_string_or(params, "prompt_command", NULL));
	w->self_review = json_bool_or(
	    params, "self_review", agent_flag(agent, "self_review"));
	w->self_reviewed = false;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		worker_commands_wrong_status(call, w, "it cannot start now");
	else
		op_start(agent, call);
}

/* Start it or refuse it; false: its worker is on its way. */
static bool
settle(
    struct fleet *fleet, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "worker", NULL);
	const char *prefix = json_string_or(params, "prefix", "");
	struct agent *agent = name != NULL ? fleet_find(fleet, name) :
					     choose(fleet, params, can_start);

	if (agent != NULL && !is_as_strict(agent, params)) {
		serve_refuse(call, API_REFUSED,
		    "the sandbox of %s is less strict than that of this "
		    "session; a person can give it a task",
		    agent->worker->name);
		return true;
	}
	if (agent != NULL && can_start(agent)) {
		start(agent, call, params);
		return true;
	}
	if (name == NULL)
		agent = choose(fleet, params, is_coming);
	if (agent != NULL && is_coming(agent))
		return false;
	refuse(fleet, call, name, prefix);
	return true;
}

/* --- calls that wait -------------------------------------------------- */

static void
wait_free(struct start_wait *wait)
{
	TAILQ_REMOVE(&wait->queue->list, wait, entry);
	loop_timer_free(wait->timer);
	json_object_put(wait->params);
	free(wait);
}

/* As long as a worker may take: its setup, and its session. */
static int64_t
wait_ms(const struct fleet *fleet)
{
	const struct settings *settings = fleet->core->settings;

	return settings_duration(settings, "repo.setup_timeout") +
	    2 * settings_duration(settings, "defaults.start_timeout");
}

static void
on_timeout(void *arg)
{
	struct start_wait *wait = arg;
	const char *name = json_string_or(wait->params, "worker", NULL);
	cleanup_buf struct buf took = BUF_INIT;

	text_add_duration(&took, wait_ms(wait->queue->fleet));
	serve_refuse(wait->call, API_STATUS,
	    "%s did not become ready within %s; see: llmc status",
	    name != NULL ? name : "the worker", took.data);
	wait_free(wait);
}

static void
on_start(void *arg, struct server_call *call, struct json_object *params)
{
	struct start_queue *queue = arg;
	struct fleet *fleet = queue->fleet;
	struct start_wait *wait;
	cleanup_buf struct buf text = BUF_INIT;

	/* Do not wait for a worker with a text that will be refused. */
	if (!worker_commands_text(call, params, "prompt", &text) ||
	    settle(fleet, call, params))
		return;
	wait = xcalloc(1, sizeof *wait);
	wait->queue = queue;
	wait->call = call;
	wait->params = json_object_get(params);
	wait->timer =
	    loop_after(fleet->core->loop, wait_ms(fleet), on_timeout, wait);
	TAILQ_INSERT_TAIL(&queue->list, wait, entry);
}

static void
look(void *arg)
{
	struct start_queue *queue = arg;
	struct start_wait *wait, *next;

	for (wait = TAILQ_FIRST(&queue->list); wait != NULL; wait = next) {
		next = TAILQ_NEXT(wait, entry);
		/* A task must not begin after its caller has given up. */
		if (server_call_gone(wait->call))
			serve_refuse(wait->call, API_FAILED, "gone");
		else if (!settle(queue->fleet, wait->call, wait->params))
			continue;
		wait_free(wait);
	}
}

void
start_queue_look(struct start_queue *queue)
{
	if (!TAILQ_EMPTY(&queue->list))
		loop_call_request(queue->look);
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_WORKER_MOVED ||
	    event->kind == EVENT_WORKER_GONE)
		start_queue_look(arg);
}

void
start_queue_stop(struct start_queue *queue)
{
	struct start_wait *wait;

	while ((wait = TAILQ_FIRST(&queue->list)) != NULL) {
		serve_refuse(wait->call, API_FAILED, "the daemon is stopping");
		wait_free(wait);
	}
}

struct start_queue *
start_queue_new(struct fleet *fleet)
{
	struct start_queue *queue = xcalloc(1, sizeof *queue);

	queue->fleet = fleet;
	TAILQ_INIT(&queue->list);
	queue->look = loop_call_new(fleet->core->loop, look, queue);
	emit_subscribe(fleet->core, on_event, queue);
	serve_handle(fleet->core, "worker.start", on_start, queue);
	return queue;
}

void
start_queue_free(struct start_queue *queue)
{
	if (queue == NULL)
		return;
	start_queue_stop(queue);
	emit_unsubscribe(queue->fleet->core, on_event, queue);
	loop_call_free(queue->look);
	free(queue);
}
