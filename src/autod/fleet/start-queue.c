/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "agent.h"
#include "box-plan.h"
#include "emit.h"
#include "fleet-private.h"
#include "loop.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "worker-op.h"

/* One that waits: worker.start for its worker, worker.wait for a status. */
struct waiting_call {
	TAILQ_ENTRY(waiting_call) entry;
	struct fleet *fleet;
	bool starts;
	struct server_call *call;
	struct json_object *params;
	struct loop_timer *timer;
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
	const struct agent *agent = fleet_find(fleet, name);

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
wait_free(struct waiting_call *wait)
{
	TAILQ_REMOVE(&wait->fleet->calls, wait, entry);
	loop_timer_free(wait->timer);
	json_object_put(wait->params);
	free(wait);
}

static struct waiting_call *
wait_new(struct fleet *fleet, struct server_call *call,
    struct json_object *params, int64_t ms, void (*on_timeout)(void *arg))
{
	struct waiting_call *wait = xcalloc(1, sizeof *wait);

	wait->fleet = fleet;
	wait->call = call;
	wait->params = json_object_get(params);
	wait->timer = loop_after(fleet->core->loop, ms, on_timeout, wait);
	TAILQ_INSERT_TAIL(&fleet->calls, wait, entry);
	return wait;
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
on_start_timeout(void *arg)
{
	struct waiting_call *wait = arg;
	const char *name = json_string_or(wait->params, "worker", NULL);
	cleanup_buf struct buf took = BUF_INIT;

	text_add_duration(&took, wait_ms(wait->fleet));
	serve_refuse(wait->call, API_STATUS,
	    "%s did not become ready within %s; see: llmc status",
	    name != NULL ? name : "the worker", took.data);
	wait_free(wait);
}

static void
on_start(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	cleanup_buf struct buf text = BUF_INIT;

	/* Do not wait for a worker with a text that will be refused. */
	if (worker_commands_text(call, params, "prompt", &text) &&
	    !settle(fleet, call, params))
		wait_new(fleet, call, params, wait_ms(fleet), on_start_timeout)
		    ->starts = true;
}

static void
look(void *arg)
{
	struct fleet *fleet = arg;
	struct waiting_call *wait, *next;

	for (wait = TAILQ_FIRST(&fleet->calls); wait != NULL; wait = next) {
		next = TAILQ_NEXT(wait, entry);
		if (!wait->starts)
			continue;
		/* A task must not begin after its caller has given up. */
		if (server_call_gone(wait->call))
			serve_refuse(wait->call, API_FAILED, "gone");
		else if (!settle(fleet, wait->call, wait->params))
			continue;
		wait_free(wait);
	}
}

void
calls_look(struct fleet *fleet)
{
	if (!TAILQ_EMPTY(&fleet->calls))
		loop_call_request(fleet->look);
}

/* --- worker.wait ------------------------------------------------------- */

static void
answer(struct waiting_call *wait, const char *status, bool reached)
{
	struct json_object *result = json_object_new_object();

	json_set_string(
	    result, "worker", json_string_or(wait->params, "worker", ""));
	json_set_string(result, "status", status);
	json_set_bool(result, "reached", reached);
	serve_reply(wait->fleet->core, wait->call, result);
	wait_free(wait);
}

static bool
wants(const struct waiting_call *wait, const char *status)
{
	cleanup_free char *copy =
	    xstrdup(json_string_or(wait->params, "until", ""));
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (strcmp(word, status) == 0)
			return true;
	return false;
}

static void
on_wait_timeout(void *arg)
{
	struct waiting_call *wait = arg;
	const struct worker *w = state_find(&wait->fleet->core->state,
	    json_string_or(wait->params, "worker", ""));

	answer(wait, w != NULL ? worker_status_name(w->status) : "gone", false);
}

void
calls_moved(struct fleet *fleet, const char *worker, const char *status)
{
	struct waiting_call *wait, *next;

	for (wait = TAILQ_FIRST(&fleet->calls); wait != NULL; wait = next) {
		next = TAILQ_NEXT(wait, entry);
		if (wait->starts ||
		    strcmp(json_string_or(wait->params, "worker", ""),
			worker) != 0)
			continue;
		if (status == NULL)
			answer(wait, "gone", false);
		else if (wants(wait, status))
			answer(wait, status, true);
	}
	calls_look(fleet);
}

static void
on_wait(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const char *name = json_string_or(params, "worker", "");
	const struct worker *w = state_find(&fleet->core->state, name);
	struct waiting_call *wait;

	if (w == NULL) {
		fleet_refuse_unknown(fleet, call, name);
		return;
	}
	wait = wait_new(fleet, call, params,
	    json_int_or(params, "timeout_ms", 0), on_wait_timeout);
	if (wants(wait, worker_status_name(w->status)))
		answer(wait, worker_status_name(w->status), true);
}

void
calls_stop(struct fleet *fleet)
{
	struct waiting_call *wait;

	while ((wait = TAILQ_FIRST(&fleet->calls)) != NULL) {
		serve_refuse(wait->call, API_FAILED, "the daemon is stopping");
		wait_free(wait);
	}
}

void
calls_register(struct fleet *fleet)
{
	TAILQ_INIT(&fleet->calls);
	fleet->look = loop_call_new(fleet->core->loop, look, fleet);
	serve_handle(fleet->core, "worker.wait", on_wait, fleet);
	serve_handle(fleet->core, "worker.start", on_start, fleet);
}
