/* SPDX-License-Identifier: ISC */

/*
 * The fleet: which workers there are (add, nuke), what is next for each, and
 * the beginning and the end of the daemon.
 */

#include "base.h"

#include <sys/queue.h>

#include "agent-kind.h"
#include "agent.h"
#include "box.h"
#include "core-settings.h"
#include "emit.h"
#include "failure.h"
#include "fleet-private.h"
#include "fleet.h"
#include "life.h"
#include "loop.h"
#include "machine.h"
#include "persist.h"
#include "rpc.h"
#include "workspace.h"
#include "settings.h"
#include "preflight.h"
#include "serve.h"
#include "session.h"
#include "tmux.h"
#include "watch.h"
#include "worker-op.h"
#include "worker.h"
#include "setup.h"

/* How long all workers wait for what one of them has left. A single request may
 * be about that one: orphans.h gives up earlier. */
#define PATIENCE_MS 1000
#define ONESHOT_MS  60000

static void tick(void *agent);

/* --- a worker comes, or goes --------------------------------------------- */

struct agent *
agent_new(struct fleet *fleet, struct worker *worker)
{
	struct agent *agent = xcalloc(1, sizeof *agent);
	struct err err = { 0 };

	agent->fleet = fleet;
	agent->core = fleet->core;
	agent->worker = worker;
	agent->stirred = true;
	agent->session = session_new(&fleet->host, worker->name, "worker",
	    &worker->session, &agent_session_events, agent);
	fleet->agents = xreallocarray(
	    fleet->agents, fleet->count + 1, sizeof(struct agent *));
	fleet->agents[fleet->count++] = agent;
	hooks_add(fleet->hooks, worker->name);
	/* A launch tries again, and reports it. */
	if (serve_open_socket(fleet->core, worker->name, &err) < 0)
		log_debug("%s", err.msg);
	return agent;
}

void
agent_free(struct agent *agent)
{
	struct fleet *fleet = agent->fleet;

	salvage_drop(agent->salvage);
	if (agent->op != NULL)
		operation_drop(&agent->op->op);
	agent_setup_free(agent);
	persist_forget(agent->core, agent);
	session_free(agent->session);
	loop_timer_free(agent->timer);
	hooks_remove(fleet->hooks, agent->worker->name);
	worker_limits_release(&agent->limits);
	free(agent->launched_with);
	free(agent->tool);
	free(agent->last_check);
	free(agent->box_proved);
	free(agent->box_fault);
	for (size_t i = 0; i < fleet->count; i++) {
		if (fleet->agents[i] != agent)
			continue;
		fleet->agents[i] = fleet->agents[--fleet->count];
		break;
	}
	free(agent);
}

void
agent_remove(struct agent *agent)
{
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);

	agent_free(agent);
	serve_close_socket(core, name);
	run_dir_remove(core->workspace, name);
	state_remove(&core->state, name);
	strv_remove(core->state.auto_workers, name);
	persist_changed(core);
}

#define FIRST "auto-1" /* worker of auto mode */

static void
nuke_begin(struct agent *agent, struct server_call *call, const char *failed);

/* --- add ---------------------------------------------------------------- */

static void
add_worktree(struct operation *op)
{
	struct worker_op *add = (struct worker_op *)op;
	struct core *core = add->agent->core;
	const struct worker *w = add->agent->worker;

	git_worktree_add(core->git, w->worktree, w->branch, core_branch(core),
	    operation_on_done, operation_await(op));
}

/* Remove the worker again. */
static void
add_undo(struct worker_op *add, const struct err *err)
{
	struct agent *agent = add->agent;
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);

	if (add->call == NULL)
		failure_raise(core,
		    &(struct failure){ .class = "worktree",
			.worker = name,
			.status = -1,
			.reason = err->msg });
	serve_fail(core, add->call, API_FAILED, err->msg);
	agent_remove(agent);
}

static void
add_end(struct operation *op, const struct err *err)
{
	struct worker_op *add = (struct worker_op *)op;
	const struct worker *w = add->agent->worker;
	struct json_object *result;

	worker_op_release(add);
	if (err != NULL && err->code == -ECANCELED) {
		/* The next daemon creates its worktree. */
		serve_fail(add->agent->core, add->call, API_FAILED, err->msg);
	} else if (err != NULL) {
		add_undo(add, err);
	} else {
		result = json_object_new_object();
		json_set_string(result, "worker", w->name);
		json_set_string(result, "branch", w->branch);
		json_set_string(result, "worktree_path", w->worktree);
		serve_reply(add->agent->core, add->call, result);
	}
	free(add);
}

static const struct operation_step add_steps[] = {
	/* Save the worker before its worktree exists: after a crash the
	 * worktree is created again. */
	{ .name = "write", .run = worker_op_write },
	{ .name = "worktree", .run = add_worktree },
	{ .name = "submodules", .run = worker_op_submodules },
};

OPERATION_KIND(add_kind, "add", add_steps, add_end);

static void
add_begin(struct fleet *fleet, const char *name,
    const struct operation_kind *kind, struct server_call *call)
{
	struct core *core = fleet->core;
	struct worker_op *add = xcalloc(1, sizeof *add);
	struct worker *w = worker_new(name, clock_wall_ms());
	cleanup_free char *dir = workspace_resolve(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));

	w->worktree = file_join(dir, name);
	w->branch = xasprintf("%s%s",
	    settings_string(core->settings, "repo.branch_prefix"), name);
	state_add(&core->state, w);
	state_give_indexes(&core->state);
	worker_op_begin(add, kind, agent_new(fleet, w), call);
}

void
op_add(struct fleet *fleet, const char *name, struct server_call *call)
{
	add_begin(fleet, name, &add_kind, call);
}

/* --- try ---------------------------------------------------------------- */

/* People are told by who asked. */
static void
on_tried(const struct err *err, void *arg)
{
	operation_on_done(err, arg);
}

static void
try_set_up(struct operation *op)
{
	worker_op_setup(op, on_tried);
}

/* What was copied may have made another repository of it. */
static void
try_stand(struct operation *op)
{
	const struct agent *agent = ((struct worker_op *)op)->agent;
	struct err err = { 0 };

	if (git_stand_look(agent->core->git, agent->worker->worktree, &err) < 0)
		operation_fail(op, &err);
	else
		operation_next(op);
}

/* However it ended, it is removed. */
static void
try_end(struct operation *op, const struct err *err)
{
	struct worker_op *t = (struct worker_op *)op;
	struct agent *agent = t->agent;

	worker_op_release(t);
	if (err != NULL && err->code == -ECANCELED)
		serve_fail(agent->core, t->call, API_FAILED, err->msg);
	else
		nuke_begin(agent, t->call, err != NULL ? err->msg : NULL);
	free(t);
}

static const struct operation_step try_steps[] = {
	{ .name = "write", .run = worker_op_write },
	{ .name = "worktree", .run = add_worktree },
	{ .name = "submodules", .run = worker_op_submodules },
	{ .name = "setup",
	    .run = try_set_up,
	    .cancel = worker_op_setup_cancel },
	{ .name = "stand", .run = try_stand },
};

OPERATION_KIND(try_kind, "try", try_steps, try_end);

/* The place of the first worker of auto mode, as its first start would make it.
 */
static void
on_try(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;

	(void)params;
	if (fleet->count > 0)
		serve_refuse(call, API_STATUS,
		    "there is a worker already: its place shows whether one "
		    "can be made");
	else
		add_begin(fleet, FIRST, &try_kind, call);
}

struct add_call {
	struct fleet *fleet;
	char *name;
	struct server_call *call;
};

/* Not before: it may have its own settings, and another caller may have added
 * it. */
static void
on_settings(const struct err *err, void *arg)
{
	cleanup_free struct add_call *add = arg;
	cleanup_free char *name = add->name;

	if (err != NULL && err->code == -ECANCELED)
		serve_refuse(add->call, API_FAILED, "%s", err->msg);
	else if (state_find(&add->fleet->core->state, name) != NULL)
		serve_refuse(add->call, API_FAILED,
		    "there is a worker %s already", name);
	else
		op_add(add->fleet, name, add->call);
}

static void
on_add(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const char *name = json_string_or(params, "worker", "");
	struct add_call *add;

	if (!text_is_name(name)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "a worker's name begins with a letter or digit, followed "
		    "by letters, digits, - and _, all lower case, at most 32 "
		    "characters");
	} else if (strncmp(name, "console", 7) == 0 ||
	    strcmp(name, "overseer") == 0) {
		/* Sessions with these names do not belong to workers. */
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "names that begin with \"console\", and \"overseer\", are "
		    "reserved");
	} else if (state_find(&fleet->core->state, name) == NULL &&
	    worker_is_auto(name)) {
		/* It would get a task neither from a person nor from auto
		 * mode, which makes those that it needs. */
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "names that begin with \"auto-\" or \"team-\" are "
		    "reserved: llmc up "
		    "--auto --concurrency N makes auto-1 to auto-N");
	} else {
		add = xcalloc(1, sizeof *add);
		*add = (struct add_call){ fleet, xstrdup(name), call };
		reload_begin(fleet->core, on_settings, add);
	}
}

/* --- nuke --------------------------------------------------------------- */

#define BOX_DEADLINE_MS (10 * 60 * 1000)

struct nuke {
	struct worker_op op; /* first */
	struct child *child; /* that runs now; NULL = none */
	struct buf warning; /* teardown_command has failed */
	char *failed; /* why it could not be made; NULL = it could */
};

/* It is removed all the same. */
static void
on_torn_down(const struct child_result *result, void *arg)
{
	struct nuke *n = arg;
	struct agent *agent = n->op.agent;

	n->child = NULL;
	if (!child_succeeded(result) && !result->cancelled) {
		buf_adds(&n->warning, "repo.teardown_command ");
		child_result_describe(result, &n->warning);
		AGENT_EMIT(
		    agent, EVENT_TEARDOWN_FAILED, .reason = n->warning.data);
	}
	operation_on_over(&n->op.op);
}

static void
tear_down(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;
	struct agent *agent = n->op.agent;
	const char *command =
	    settings_string(agent->core->settings, "repo.teardown_command");
	struct err err = { 0 };
	bool boxed;

	if (command[0] == '\0' || !file_is_dir(agent->worker->worktree)) {
		operation_next(op);
	} else if (tree_command_spawn(agent, command, "repo.setup_timeout",
		       on_torn_down, n, &n->child, &boxed, &err) < 0) {
		buf_addf(&n->warning, "repo.teardown_command: %s", err.msg);
		operation_next(op);
	} else {
		operation_await(op);
	}
}

static void
cancel_tear_down(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;

	if (n->child != NULL)
		child_cancel(n->child);
}

static void
remove_worktree(struct operation *op)
{
	worker_op_salvage((struct worker_op *)op,
	    &(struct salvage_what){ .then = SALVAGE_REMOVE }, NULL);
}

static void
on_box_removed(const struct child_result *result, void *arg)
{
	struct nuke *n = arg;

	(void)result; /* what is left does no harm */
	n->child = NULL;
	operation_on_over(&n->op.op);
}

/* Its temporary files, and what its sandbox kept: Claude Code's folder, and a
 * cache that may be too large to be removed by ourselves. */
static void
remove_box(struct operation *op)
{
	struct nuke *n = (struct nuke *)op;
	const struct agent *agent = n->op.agent;
	cleanup_free char *name = xasprintf("box/%s", agent->worker->name);
	cleanup_free char *dir = workspace_path(agent->core->workspace, name);
	cleanup_free char *tmpdir =
	    workplace_tmpdir(agent->core->workspace, agent->worker->index);
	const char *const argv[] = { "rm", "-rf", "--", dir, tmpdir, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = BOX_DEADLINE_MS };

	if ((!file_exists(dir) && !file_exists(tmpdir)) ||
	    child_spawn(agent->core->loop, &spec, on_box_removed, n, &n->child,
		NULL) < 0)
		operation_next(op);
	else
		operation_await(op);
}

static void
forget_worker(struct nuke *nuke)
{
	struct worker_op *n = &nuke->op;
	struct agent *agent = n->agent;
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", name);
	json_set_string(result, "salvage", n->salvage);
	if (nuke->warning.len > 0)
		json_set_string(result, "warning", nuke->warning.data);
	if (nuke->failed != NULL)
		json_set_string(result, "failed", nuke->failed);
	agent_remove(agent);
	EMIT(core, EVENT_WORKER_GONE, .worker = name);
	serve_reply(core, n->call, result);
}

static void
nuke_end(struct operation *op, const struct err *err)
{
	struct worker_op *n = (struct worker_op *)op;
	struct nuke *nuke = (struct nuke *)op;

	if (nuke->child != NULL)
		child_release(nuke->child);
	worker_op_release(n);
	if (err != NULL && err->code != -ECANCELED)
		agent_move(n->agent, WORKER_ERROR, err->msg);
	if (err != NULL)
		worker_op_answer(n, err, NULL);
	else
		forget_worker(nuke);
	buf_release(&nuke->warning);
	free(nuke->failed);
	free(nuke);
}

/* A removal cannot be undone, so it is finished once begun. */
static const struct operation_step nuke_steps[] = {
	{ .name = "end-session", .run = worker_op_end_session },
	{ .name = "teardown", .run = tear_down, .cancel = cancel_tear_down },
	{ .name = "remove", .run = remove_worktree, .firm = true },
	{ .name = "remove-box", .run = remove_box, .firm = true },
};

OPERATION_KIND(nuke_kind, "nuke", nuke_steps, nuke_end);

static void
nuke_begin(struct agent *agent, struct server_call *call, const char *failed)
{
	struct nuke *n = xcalloc(1, sizeof *n);

	buf_init(&n->warning);
	xstrset(&n->failed, failed);
	AGENT_EMIT(
	    agent, EVENT_WORKER_LOST, .reason = "its worker was removed");
	worker_op_begin(&n->op, &nuke_kind, agent, call);
}

void
op_nuke(struct agent *agent, struct server_call *call)
{
	nuke_begin(agent, call, NULL);
}

static void
on_nuke(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)arg;
	(void)params;
	op_nuke(agent, call);
}

/* --- what to do next -------------------------------------------------- */

static bool
wants_session(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	/* One that a person stopped waits for a decision without a session. */
	if (w->on_hold &&
	    (w->status == WORKER_NEEDS_REVIEW ||
		w->status == WORKER_NO_CHANGES || w->status == WORKER_IDLE))
		return false;
	return w->status != WORKER_PAUSED && w->status != WORKER_ERROR &&
	    w->status != WORKER_LIMITED && w->status != WORKER_ACCEPTING &&
	    w->worktree != NULL && file_is_dir(w->worktree);
}

static void
tick(void *arg)
{
	struct agent *agent = arg;
	const struct worker *w = agent->worker;
	int64_t wait;

	if (agent->core->options->oneshot || agent->core->stopping ||
	    agent_is_taken(agent))
		return;
	calls_look(agent->fleet);
	if (w->status == WORKER_LIMITED) {
		wait = w->until_ms - clock_wall_ms();
		if (wait > 0) {
			agent_tick_later(agent, wait);
			return;
		}
		turn_failure_over(agent);
	}
	wait = turn_failure_login_ms(agent);
	if (wait > 0)
		agent_tick_later(agent, wait);
	else if (wait == 0)
		turn_failure_try_login(agent);
	if (session_phase(agent->session) != SESSION_NONE) {
		session_poke(agent->session);
		return;
	}
	wait = agent->retry_ms - clock_mono_ms();
	if (!wants_session(agent))
		return;
	if (wait > 0)
		agent_tick_later(agent, wait);
	else
		agent_launch(agent);
}

/* --- when the daemon begins --------------------------------------------- */

static void on_drained(void *arg);

/* Those whose session is known, and nothing is left of, go on: after the hooks
 * that fired while no daemon was running. */
static void
go_on(void *arg)
{
	struct fleet *fleet = arg;

	loop_timer_free(take_ptr(&fleet->patience));
	if (!fleet->core->stopping)
		hooks_drain_then(fleet->hooks, on_drained, fleet);
}

static void
on_cleared(void *arg)
{
	struct agent *agent = arg;
	struct fleet *fleet = agent->fleet;

	agent->clearing = false;
	/* Otherwise the others are waited for, a little. */
	if (--fleet->clearing == 0 || fleet->patience == NULL)
		go_on(fleet);
}

/* What it started may have survived it, and would go on in the worktree. */
static void
lose(struct agent *agent)
{
	struct worker *w = agent->worker;

	/* Its session is gone: what to do next depends on what it was doing. */
	json_object_put(take_ptr(&w->session.pane));
	w->session.ready = false;
	w->session.open_tools = 0;
	if (worker_in_turn(w->status)) {
		w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, NULL);
		/* So that the next session is asked to continue. */
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (w->status == WORKER_IDLE ||
	    (w->status == WORKER_STARTING && w->session.step != PROMPT_NONE)) {
		agent_move(agent, WORKER_OFFLINE, NULL);
	}
	persist_changed(agent->core);
	agent->clearing = true;
	agent->fleet->clearing++;
	session_clear(agent->session, on_cleared, agent);
}

/* Was its task taken from it, and the daemon ended before its worktree was set
 * back? */
static bool
is_unsaved(const struct worker *w)
{
	return w->status == WORKER_OFFLINE && w->task == NULL &&
	    w->prompt == NULL && w->work_of != NULL && worker_is_quiet(w);
}

/* Continue what was in progress when the last daemon ended; landings are
 * continued by the floor above. */
static void
recover(struct agent *agent)
{
	struct worker *w = agent->worker;

	agent->adopting = false;
	if (agent->op != NULL)
		return; /* it began meanwhile, and says what comes next */
	if (session_left(agent->session) != NULL) {
		agent_give_up(agent, session_left(agent->session)->msg);
		return;
	}
	if (agent->unsaved) {
		agent->unsaved = false;
		op_reset(agent, NULL);
		return;
	}
	if (w->status == WORKER_STARTING && w->session.step == PROMPT_NONE &&
	    w->prompt != NULL)
		op_start(agent, NULL);
	delivery_recovered(&w->session, clock_wall_ms());
	agent_tick_later(agent, 1);
}

static const struct tmux_info *
find(const struct tmux_info *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static void
on_drained(void *arg)
{
	struct fleet *fleet = arg;

	if (fleet->core->stopping)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (!agent->adopting || agent->clearing)
			continue;
		recover(agent);
		if (fleet->begun)
			EMIT(fleet->core, EVENT_CLEARED,
			    .worker = agent->worker->name);
	}
	if (fleet->begun)
		return;
	fleet->begun = true;
	launch_block_resume(fleet);
	life_floor_begun(fleet->core);
}

static void
on_sessions(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct fleet *fleet = arg;
	struct core *core = fleet->core;

	if (core->stopping)
		return; /* its sessions are being ended already */
	if (err != NULL) {
		fleet->sessions_unknown = true;
		failure_raise(core,
		    &(struct failure){
			.class = "tmux", .status = -1, .reason = err->msg });
		return;
	}
	fleet->patience = loop_after(core->loop,
	    core->options->oneshot ? ONESHOT_MS : PATIENCE_MS, go_on, fleet);
	fleet->clearing = 1;
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent;
		const struct tmux_info *found;

		fleet->agents[i]->adopting = true;
		fleet->agents[i]->unsaved =
		    is_unsaved(fleet->agents[i]->worker);
		agent = fleet->agents[i];
		found =
		    find(list, count, session_name(fleet->agents[i]->session));
		if (found != NULL && !found->dead &&
		    found->generation == agent->worker->session.generation &&
		    session_adopt(agent->session, found->pane_pid,
			agent_start_timeout(agent)) == 0)
			AGENT_EMIT(agent, EVENT_ADOPTED);
		else
			lose(agent);
	}
	if (--fleet->clearing == 0)
		go_on(fleet);
}

/* --- the floor -------------------------------------------------------- */

/* Calls life_floor_begun() when all sessions are known. If tmux fails, that is
 * a hard failure (life.h), and the sessions are left as they are. */
static void
floor_begin(void *self)
{
	struct fleet *fleet = self;

	tmux_list(fleet->core->tmux, on_sessions, fleet);
}

static void
floor_patrol(void *self, bool all)
{
	patrol_run(self, all);
}

/* End the sessions, keep the worktrees. Dead sessions too: tmux keeps their
 * last screen. */
static void
floor_stop(void *self)
{
	struct fleet *fleet = self;

	calls_stop(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (agent->op != NULL)
			operation_cancel(
			    &agent->op->op, "the daemon is stopping");
	}
	if (fleet->sessions_unknown || fleet->core->replaced)
		return; /* they may be another's */
	for (size_t i = 0; i < fleet->count; i++)
		session_end(fleet->agents[i]->session, NULL, NULL);
}

static bool
floor_is_quiet(const void *self)
{
	const struct fleet *fleet = self;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->op != NULL ||
		    session_phase(fleet->agents[i]->session) != SESSION_NONE)
			return false;
	return true;
}

/* Keep what a worker was doing, but without a session it is not ready. */
static void
floor_close(void *self, bool now)
{
	struct fleet *fleet = self;

	for (size_t i = 0; i < fleet->count && !fleet->sessions_unknown; i++) {
		struct agent *agent = fleet->agents[i];

		if (now)
			session_kill(agent->session);
		if (session_phase(agent->session) == SESSION_NONE &&
		    agent->worker->status == WORKER_IDLE)
			agent_move(agent, WORKER_OFFLINE, NULL);
	}
}

/* The worker is the one whose socket it came in at. */
static void
on_refused(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	cleanup_free char *text =
	    xasprintf("%s:%d", json_string_or(params, "host", ""),
		(int)json_int_or(params, "port", 0));

	EMIT(fleet->core, EVENT_HOST_REFUSED,
	    .worker = json_string_or(params, "worker", ""), .text = text);
	serve_reply(fleet->core, call, NULL);
}

static void
on_event(const struct event *event, void *arg)
{
	struct fleet *fleet = arg;
	struct agent *agent = fleet_find(fleet, event->worker);

	switch (event->kind) {
	case EVENT_SETTINGS_READ:
		launch_block_look(fleet);
		for (size_t i = 0; i < fleet->count; i++)
			box_refresh(fleet->core->workspace,
			    fleet->core->settings,
			    fleet->agents[i]->worker->name);
		break;
	case EVENT_SOCKET_GONE:
		/* With its folder its policy is gone, too. */
		if (agent != NULL)
			agent_guard_refresh(agent);
		break;
	case EVENT_WORKER_MOVED:
		calls_moved(fleet, event->worker, event->to);
		loop_call_request(fleet->settle);
		break;
	case EVENT_WORKER_GONE:
		calls_moved(fleet, event->worker, NULL);
		break;
	default:
		break;
	}
}

/* --- the object ------------------------------------------------------- */

static void
then(void *arg, void *owner, void (*fn)(void *), void *fn_arg)
{
	persist_then(arg, owner, fn, fn_arg);
}

static void
forget(void *arg, const void *owner)
{
	persist_forget(arg, owner);
}

struct fleet *
fleet_new(struct core *core)
{
	struct fleet *fleet = xcalloc(1, sizeof *fleet);

	fleet->core = core;
	fleet->tick = tick;
	fleet_set_policy(fleet, NULL, NULL);
	fleet->host = (struct session_host){
		.loop = core->loop,
		.tmux = core->tmux,
		.workspace = core->workspace,
		.llmc = core->llmc,
		.then = then,
		.forget = forget,
		.arg = core,
	};
	fleet->floor = (struct core_floor){
		.self = fleet,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
		.close = floor_close,
	};
	fleet->hooks = hooks_new(fleet);
	for (size_t i = 0; i < core->state.count; i++)
		agent_new(fleet, core->state.workers[i]);
	emit_subscribe(core, on_event, fleet);
	serve_handle(core, "sandbox.refused", on_refused, fleet);
	serve_handle(core, "worker.add", on_add, fleet);
	serve_handle(core, "worker.try", on_try, fleet);
	fleet_handle(fleet, "worker.nuke", on_nuke, NULL);
	worker_commands_register(fleet);
	core_add_floor(core, &fleet->floor);
	return fleet;
}

void
fleet_free(struct fleet *fleet)
{
	if (fleet == NULL)
		return;
	while (fleet->count > 0)
		agent_free(fleet->agents[0]);
	free(fleet->agents);
	loop_timer_free(fleet->patience);
	calls_stop(fleet);
	emit_unsubscribe(fleet->core, on_event, fleet);
	loop_call_free(fleet->settle);
	loop_call_free(fleet->look);
	while (!LIST_EMPTY(&fleet->looks))
		look_free(LIST_FIRST(&fleet->looks));
	watch_free(fleet->launch_watch);
	hooks_free(fleet->hooks);
	fleet_methods_free(fleet);
	free(fleet);
}
