/* SPDX-License-Identifier: ISC */

/*
 * The commands for a worker that there is: start, wait, reset, stop, pause,
 * message, reject.
 */

#include "base.h"
#include "agent.h"
#include "api.h"
#include "box-plan.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "prompt.h"
#include "review.h"
#include "rpc.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "worker-op.h"

#define AUTO_TASKS                                       \
	"auto workers get their tasks from the daemon; " \
	"add one with: llmc task add TEXT"

/* --- refusing --------------------------------------------------------- */

bool
worker_commands_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out)
{
	const char *text = json_string_or(params, key, "");

	if (prompt_clean(text, strlen(text), out))
		return true;
	serve_refuse(call, RPC_INVALID_PARAMS, "%s",
	    strlen(text) > PROMPT_MAX ? "the text is longer than 1 MiB" :
					"the text is empty");
	return false;
}

void
worker_commands_wrong_status(
    struct server_call *call, const struct worker *w, const char *wanted)
{
	cleanup_buf struct buf advice = BUF_INIT;

	worker_add_advice(w, &advice);
	serve_refuse(call, API_STATUS, "%s is %s%s%s; %s%s%s", w->name,
	    worker_status_name(w->status), w->reason != NULL ? ": " : "",
	    w->reason != NULL ? w->reason : "", wanted,
	    advice.len > 0 ? "; " : "", advice.data);
}

bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call)
{
	if (agent->worker->session.step == PROMPT_NONE)
		return false;
	serve_refuse(call, API_BUSY,
	    "another prompt is on its way to it; try again in a moment");
	return true;
}

/* --- start: the operation ----------------------------------------------- */

static struct task *
task_of(const struct agent *agent)
{
	return state_task(&agent->core->state, agent->worker->task);
}

/* The landing branch, or earlier work on the task that did not land. */
static const char *
start_point(const struct agent *agent)
{
	struct task *task = task_of(agent);

	if (task != NULL && task->from != NULL)
		return task->from;
	if (task != NULL && task->launch.contract != NULL) {
		struct core *core = agent->core;
		char tip[GIT_ID_SIZE];

		/* A new attempt at a task with a contract: what it makes is
		 * what differs from this commit of the landing branch. */
		if (git_refs_tip(core->git, core_branch(core), tip) < 0)
			return core_branch(core);
		xstrset(&task->attempt.base, tip);
		persist_changed(core);
		return task->attempt.base;
	}
	return core_branch(agent->core);
}

/* Does it go on in the conversation in which it asked a person? */
static bool
has_conversation(const struct task *task)
{
	return task != NULL && task->conversation != NULL &&
	    task->transcript != NULL;
}

/* A task begins on what others have pushed; earlier work goes on where it
 * was. */
static void
freshen(struct operation *op)
{
	struct agent *agent = ((struct worker_op *)op)->agent;
	const struct fleet_policy *policy = agent->fleet->policy;
	const struct task *task = task_of(agent);

	if (policy->fresh == NULL || (task != NULL && task->from != NULL) ||
	    policy->fresh(agent->fleet->policy_arg))
		operation_next(op);
	else
		operation_await(op);
}

static void
do_not_wait(struct operation *op)
{
	operation_on_over(op);
}

/* Another conversation needs another process. */
static void
start_leave(struct operation *op)
{
	if (has_conversation(task_of(((struct worker_op *)op)->agent)))
		worker_op_end_session(op);
	else
		operation_next(op);
}

static void
start_reset(struct operation *op)
{
	struct worker_op *start = (struct worker_op *)op;

	worker_op_salvage(start,
	    &(struct salvage_what){ .then = SALVAGE_RESET,
		.onto = start_point(start->agent),
		.find_base = true },
	    NULL);
}

/* What it starts with may need another setup. Without a session, its launch
 * does that. */
static void
start_set_up(struct operation *op)
{
	const struct agent *agent = ((struct worker_op *)op)->agent;

	if (session_phase(agent->session) != SESSION_NONE)
		worker_op_setup(op, NULL);
	else
		operation_next(op);
}

static struct json_object *
start_result_of(const struct worker *w)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(result, "status", "starting");
	json_set_bool(result, "self_review_enabled", w->self_review);
	json_set_string(result, "worktree_path", w->worktree);
	json_set_string(result, "branch", w->branch);
	return result;
}

/* The worktree is fresh: park the prompt, and answer when that is saved. */
static void
start_end(struct operation *op, const struct err *err)
{
	struct worker_op *start = (struct worker_op *)op;
	struct agent *agent = start->agent;
	cleanup_buf struct buf text = BUF_INIT;
	bool told = false;

	worker_op_release(start);
	if (err == NULL) {
		struct task *task = task_of(agent);
		bool goes_on = has_conversation(task);

		xstrset(&agent->worker->work_of, agent->worker->task);
		/* A worker that continues earlier work on the task starts from
		 * its base, too. */
		if (task != NULL && task->from != NULL)
			xstrset(&agent->worker->base, task->base);
		else if (task != NULL)
			xstrset(&task->base, agent->worker->base);
		agent_task_text(agent, &text);
		if (goes_on) {
			struct session_record *s = &agent->worker->session;

			xstrset(&s->id, task->conversation);
			xstrset(&s->transcript, task->transcript);
			s->history_ms = task->history_ms;
		} else if (agent_launch_is_stale(agent)) {
			xstrset(&agent->worker->session.transcript, NULL);
			agent_end_session(agent);
		}
		agent_prompt(agent, text.data, !goes_on, WORKER_WORKING);
	} else if (err->code != -ECANCELED) {
		told = agent_tree_failed(agent, err) && start->call == NULL;
	}
	if (!told)
		worker_op_answer(start, err,
		    err == NULL ? start_result_of(agent->worker) : NULL);
	free(start);
}

static const struct operation_step start_steps[] = {
	/* Save that this worker has this task before touching its worktree. */
	{ .name = "write", .run = worker_op_write },
	{ .name = "freshen", .run = freshen, .cancel = do_not_wait },
	{ .name = "leave", .run = start_leave },
	{ .name = "reset", .run = start_reset },
	{ .name = "submodules", .run = worker_op_submodules },
	{ .name = "setup",
	    .run = start_set_up,
	    .cancel = worker_op_setup_cancel },
};

OPERATION_KIND(start_kind, "start", start_steps, start_end);

void
op_start_fresh(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct worker_op *op = fleet->agents[i]->op;

		if (op != NULL && op->op.kind == &start_kind &&
		    op->op.awaited > 0 && start_steps[op->op.at].run == freshen)
			operation_on_over(&op->op);
	}
}

void
op_start(struct agent *agent, struct server_call *call)
{
	struct worker_op *start = xcalloc(1, sizeof *start);

	worker_op_begin(start, &start_kind, agent, call);
}

/* --- start: whom to give it to -------------------------------------------- */

/* One that waits: worker.start for its worker, worker.wait for a status. */
struct waiting_call {
	TAILQ_ENTRY(waiting_call) entry;
	struct fleet *fleet;
	bool starts;
	struct server_call *call;
	struct json_object *params;
	struct loop_timer *timer;
};

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

/* --- whose a worker is -------------------------------------------------- */

static enum api_kin
kin_of(const struct state *state, const struct worker *w, const char *caller)
{
	const struct worker *c = state_find(state, caller);
	const struct task *its = state_task(state, w->task);
	const struct task *task = c != NULL ? state_task(state, c->task) : NULL;

	if (strcmp(w->name, caller) == 0)
		return API_KIN_SELF;
	if (text_is(w->given_by, caller) ||
	    (its != NULL &&
		(task_is_made_by(its, caller) ||
		    (task != NULL && text_is(its->launch.parent, task->id)))))
		return API_KIN_CHILD;
	if ((c != NULL && text_is(c->given_by, w->name)) ||
	    (task != NULL &&
		(task_is_made_by(task, w->name) ||
		    (its != NULL && text_is(task->launch.parent, its->id)))))
		return API_KIN_PARENT;
	if (w->task == NULL && w->prompt == NULL)
		return API_KIN_FREE;
	return API_KIN_OTHER;
}

void
fleet_target(const struct agent *agent, const char *caller,
    struct api_target *ret_target)
{
	const struct worker *w = agent->worker;

	*ret_target = (struct api_target){ .name = w->name,
		.kin = kin_of(&agent->core->state, w, caller),
		.box = box_mode_of(agent->core->settings, w->name),
		/* What the caller has asked for by hand it may review. */
		.waits = (w->status == WORKER_NEEDS_REVIEW &&
			     !text_is(w->given_by, caller)) ||
		    (w->asks != NULL && w->asks_person) ||
		    w->status == WORKER_PAUSED };
}

/* For worker.start without a worker, choose() asks for each; what tells of
 * workers without naming one tells of all. */
static int
worker_target(void *arg, const char *worker, const struct api_method *method,
    struct json_object *params, struct api_target *ret_target)
{
	const struct fleet *fleet = arg;
	bool sees = method->reach == API_REACH_SIGHT;
	const char *name = json_string_or(params, "worker", NULL);
	const struct agent *agent = fleet_find(fleet, name);

	if (sees && name == NULL) {
		*ret_target = (struct api_target){ .name = "all workers",
			.box = BOX_STRICT };
		return 0;
	}
	if (agent == NULL && name != NULL &&
	    landing_record_held(&fleet->core->state.landings, name) != NULL) {
		*ret_target = (struct api_target){ .name = name,
			.kin = API_KIN_OTHER,
			.box = BOX_STRICT,
			.waits = true };
		return 0;
	}
	if (agent == NULL)
		return -ENOENT;
	fleet_target(agent, worker, ret_target);
	ret_target->waits &= !sees; /* who looks answers nothing */
	return 0;
}

size_t
fleet_given_count(const struct fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++)
		count += fleet->agents[i]->worker->given_by != NULL;
	return count;
}

/* --- start: whom it is given to, of several ------------------------------ */

typedef bool agent_test_fn(const struct agent *agent);

/* May the caller give it a task? */
static bool
may_be_given(
    const struct agent *agent, struct json_object *params, struct err *err)
{
	const char *sender = json_string_or(params, "sender", NULL);
	struct api_target target;

	if (sender == NULL)
		return true;
	fleet_target(agent, sender, &target);
	return serve_may_reach(
		   agent->core, "worker.start", sender, &target, err) == 0;
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
		    may_be_given(agent, params, NULL) &&
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
	if (worker_is_auto(w->name))
		buf_adds(&advice, "its tasks come from llmc task add");
	else
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
refuse_start(const struct fleet *fleet, struct server_call *call,
    const char *name, const char *prefix)
{
	const struct agent *agent = fleet_find(fleet, name);

	if (name == NULL)
		refuse_none_free(fleet, call, prefix);
	else if (agent == NULL)
		fleet_refuse_unknown(fleet, call, name);
	else if (worker_is_auto(name))
		worker_commands_wrong_status(call, agent->worker, AUTO_TASKS);
	else
		worker_commands_wrong_status(call, agent->worker,
		    "only an idle worker can be given a task");
}

/* --- one call --------------------------------------------------------- */

static void
start_task(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;
	cleanup_buf struct buf task = BUF_INIT;

	if (!worker_commands_text(call, params, "prompt", &task))
		return;
	xstrset(&w->reviewed, NULL);
	xstrset(&w->prompt, task.data);
	xstrset(
	    &w->prompt_command, json_string_or(params, "prompt_command", NULL));
	xstrset(&w->given_by, json_string_or(params, "sender", NULL));
	w->self_review = json_bool_or(
	    params, "self_review", agent_flag(agent, "self_review"));
	w->self_reviewed = false;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		worker_commands_wrong_status(call, w, "it cannot start now");
	else
		op_start(agent, call);
}

/* Has the daemon started as many as it may for agents? */
static bool
is_at_limit(const struct fleet *fleet)
{
	const struct state *state = &fleet->core->state;
	size_t count = fleet_given_count(fleet);

	for (size_t i = 0; i < fleet->count; i++) {
		const struct worker *w = fleet->agents[i]->worker;
		const struct task *task = state_task(state, w->task);

		count += task != NULL && task->launch.parent != NULL &&
		    w->status != WORKER_WAITING;
	}
	return count >=
	    (size_t)settings_int(fleet->core->settings, "team.max_concurrent");
}

/* Start it or refuse it; false: its worker is on its way. */
static bool
start_or_refuse(
    struct fleet *fleet, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "worker", NULL);
	const char *prefix = json_string_or(params, "prefix", "");
	struct agent *agent = name != NULL ? fleet_find(fleet, name) :
					     choose(fleet, params, can_start);
	struct err err = { 0 };

	if (json_string_or(params, "sender", NULL) != NULL &&
	    is_at_limit(fleet)) {
		serve_refuse(call, API_STATUS,
		    "as many workers as may be work for agents already "
		    "(team.max_concurrent is %lld); wait until one has ended, "
		    "or let a person start it",
		    (long long)settings_int(
			fleet->core->settings, "team.max_concurrent"));
		return true;
	}
	/* Settings may have changed while the call waited. */
	if (agent != NULL && !may_be_given(agent, params, &err)) {
		serve_refuse(call, API_REFUSED, "%s", err.msg);
		return true;
	}
	if (agent != NULL && can_start(agent)) {
		start_task(agent, call, params);
		return true;
	}
	if (name == NULL)
		agent = choose(fleet, params, is_coming);
	if (agent != NULL && is_coming(agent))
		return false;
	refuse_start(fleet, call, name, prefix);
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
	    !start_or_refuse(fleet, call, params))
		wait_new(fleet, call, params, wait_ms(fleet), on_start_timeout)
		    ->starts = true;
}

static void
look_at_calls(void *arg)
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
		else if (!start_or_refuse(fleet, wait->call, wait->params))
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
answer_wait(struct waiting_call *wait, const char *status, bool reached)
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

	answer_wait(
	    wait, w != NULL ? worker_status_name(w->status) : "gone", false);
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
			answer_wait(wait, "gone", false);
		else if (wants(wait, status))
			answer_wait(wait, status, true);
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
		answer_wait(wait, worker_status_name(w->status), true);
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

/* --- reset, stop, pause ------------------------------------------------- */

static void
on_reset(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const char *failed = json_string_or(params, "failed", NULL);

	(void)arg;
	if (failed != NULL)
		AGENT_EMIT(agent, EVENT_ATTEMPT_FAILED, .reason = failed);
	op_reset(agent, call);
}

struct stop {
	struct worker_op op;
	enum worker_status before;
};

/* A turn is interrupted. One that waits for a decision keeps its status: it
 * needs no session for that. */
static void
stop_hold(struct operation *op)
{
	hold_begin(((struct stop *)op)->op.agent, true);
	worker_op_write(op);
}

static struct json_object *
stop_result_of(const struct stop *s)
{
	const struct worker *w = s->op.agent->worker;
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(
	    result, "previous_status", worker_status_name(s->before));
	json_set_string(result, "new_status", worker_status_name(w->status));
	return result;
}

static void
stop_end(struct operation *op, const struct err *err)
{
	struct stop *s = (struct stop *)op;

	worker_op_release(&s->op);
	worker_op_answer(&s->op, err, err == NULL ? stop_result_of(s) : NULL);
	free(s);
}

static const struct operation_step stop_steps[] = {
	{ .name = "hold", .run = stop_hold },
	{ .name = "end-session", .run = worker_op_end_session },
};

OPERATION_KIND(stop_kind, "stop", stop_steps, stop_end);

static void
on_stop(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct stop *s;

	(void)arg;
	(void)params;
	s = xcalloc(1, sizeof *s);
	s->before = agent->worker->status;
	worker_op_begin(&s->op, &stop_kind, agent, call);
}

static void
on_pause(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const struct state *state = &fleet->core->state;
	const char *name = json_string_or(params, "worker", NULL);
	struct json_object *result, *list;
	cleanup_buf struct buf text = BUF_INIT;

	if (name != NULL && fleet_find(fleet, name) == NULL) {
		fleet_refuse_unknown(fleet, call, name);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < state->count; i++) {
		struct worker *w = state->workers[i];
		unsigned others;
		const char *what;

		if (name != NULL && strcmp(name, w->name) != 0)
			continue;
		hold_begin(fleet_find(fleet, w->name), false);
		json_object_array_add(list, json_object_new_string(w->name));
		others = worker_holds(w) & ~(unsigned)WORKER_HOLD_PERSON;
		what = "takes no new task";
		if (w->status == WORKER_PAUSED)
			what = "is paused";
		else if (hold_has_to_wait(w))
			what = "pauses at the end of its turn";
		buf_addf(
		    &text, "%s%s %s", text.len > 0 ? "\n" : "", w->name, what);
		if (others != 0)
			buf_adds(&text, ", and was already for: ");
		worker_add_holds(others, &text);
		buf_addc(&text, '.');
	}
	result = json_object_new_object();
	json_set(result, "paused", list);
	json_set_string(result, "message",
	    text.len > 0 ? text.data : "There are no workers.");
	serve_reply(fleet->core, call, result);
}

/* --- message, reject -------------------------------------------------- */

bool
worker_commands_words(
    struct server_call *call, struct json_object *params, struct buf *out)
{
	const char *sender = json_string_or(params, "sender", NULL);
	cleanup_json struct json_object *comments = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *list = NULL;
	struct err err = { 0 };

	json_object_object_get_ex(params, "comments", &list);
	if (list != NULL &&
	    comments_read(list, "comments", &comments, &err) < 0) {
		serve_refuse(call, RPC_INVALID_PARAMS, "%s", err.msg);
		return false;
	}
	/* The comments are enough. */
	if ((comments == NULL || json_object_array_length(comments) == 0 ||
		json_string_or(params, "text", NULL) != NULL) &&
	    !worker_commands_text(call, params, "text", &text))
		return false;
	if (comments != NULL && json_object_array_length(comments) > 0) {
		buf_adds(&text, text.len > 0 ? "\n\n" : "");
		comments_text(
		    comments, json_string_or(params, "commit", NULL), &text);
	}
	if (sender != NULL)
		prompt_from_worker(sender, text.data, out);
	else
		buf_adds(out, text.data);
	return true;
}

static void
answer_sent(struct agent *agent, struct server_call *call,
    enum worker_status before, struct json_object *result)
{

	json_set_string(result, "worker", agent->worker->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", worker_status_name(before));
	json_set_string(
	    result, "new_status", worker_status_name(agent->worker->status));
	serve_reply(agent->core, call, result);
}

static void
on_message(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const struct worker *w = agent->worker;
	enum worker_status before = w->status;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *wanted = NULL;

	(void)arg;
	if (!agent_message_fits(agent)) {
		wanted = worker_is_auto(w->name) ?
		    xstrdup(AUTO_TASKS) :
		    xasprintf(
			"give it a task with: llmc start --worker %s", w->name);
		worker_commands_wrong_status(call, w,
		    before == WORKER_IDLE || before == WORKER_OFFLINE ?
			wanted :
			"it cannot take a message now");
		return;
	}
	if (worker_commands_prompt_under_way(agent, call) ||
	    !worker_commands_words(call, params, &text))
		return;
	if (agent_message(agent, text.data) < 0) {
		worker_commands_wrong_status(
		    call, w, "it cannot take a message now");
		return;
	}
	answer_sent(agent, call, before, json_object_new_object());
}

static bool
may_reject(struct agent *agent, struct server_call *call)
{
	if (agent->worker->status == WORKER_NEEDS_REVIEW)
		return !worker_commands_prompt_under_way(agent, call);
	worker_commands_wrong_status(
	    call, agent->worker, "only finished work can be rejected");
	return false;
}

static void
reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	enum worker_status before = agent->worker->status;
	cleanup_buf struct buf feedback = BUF_INIT, text = BUF_INIT;
	struct json_object *result;

	(void)arg;
	if (!may_reject(agent, call) ||
	    !worker_commands_words(call, params, &feedback))
		return;
	prompt_rejection(feedback.data, &text);
	agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, text.data, false, WORKER_REJECTED);
	result = json_object_new_object();
	json_set_string(
	    result, "commit_sha", json_string_or(params, "commit", NULL));
	answer_sent(agent, call, before, result);
}

static void
on_reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	if (may_reject(agent, call))
		op_inspect(agent, call, params, 0, reject, arg);
}

void
worker_commands_register(struct fleet *fleet)
{
	struct loop *loop = fleet->core->loop;

	TAILQ_INIT(&fleet->calls);
	fleet->look = loop_call_new(loop, look_at_calls, fleet);
	fleet->settle = loop_call_new(loop, hold_settle, fleet);
	serve_set_target(fleet->core, API_REACH_FREE, worker_target, fleet);
	serve_set_target(fleet->core, API_REACH_WORKER, worker_target, fleet);
	serve_set_target(fleet->core, API_REACH_WORK, worker_target, fleet);
	serve_set_target(fleet->core, API_REACH_SIGHT, worker_target, fleet);
	serve_handle(fleet->core, "worker.wait", on_wait, fleet);
	serve_handle(fleet->core, "worker.start", on_start, fleet);
	serve_handle(fleet->core, "worker.pause", on_pause, fleet);
	fleet_handle(fleet, "worker.reset", on_reset, NULL);
	fleet_handle(fleet, "worker.stop", on_stop, NULL);
	fleet_handle(fleet, "worker.message", on_message, NULL);
	fleet_handle(fleet, "worker.reject", on_reject, NULL);
}
