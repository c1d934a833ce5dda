/* SPDX-License-Identifier: ISC */

/*
 * The launch of a worker's session: its worktree is set up, its sandbox is
 * tried, and what keeps it from working is told and watched.
 */

#include "base.h"
#include "agent-card.h"
#include "agent-kind.h"
#include "agent.h"
#include "box-probe.h"
#include "box-plan.h"
#include "box.h"
#include "machine.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-clone.h"
#include "git-private.h"
#include "git-worktree.h"
#include "id.h"
#include "loop.h"
#include "orphans.h"
#include "persist.h"
#include "workspace.h"
#include "serve.h"
#include "settings.h"
#include "setup.h"
#include "task.h"
#include "watch.h"
#include "worker-op.h"

#define HASH_LEN 8

static void
forget(struct worker_limits *limits)
{
	if (limits->cgroup != NULL)
		rmdir(limits->cgroup);
	free(take_ptr(&limits->cgroup));
	strv_clear(&limits->scope);
	limits->memory_max = 0;
}

/* Everybody who uses llmc on this machine may have a worker adam. */
static char *
name_for(const struct agent *agent)
{
	char hash[HASH_LEN + 1];

	id_hash(agent->core->workspace->root, hash, HASH_LEN);
	return xasprintf("llmc-%s-%s", hash, agent->worker->name);
}

static void
tell(struct agent *agent, const char *why)
{
	struct worker_limits *limits = &agent->limits;

	if (limits->reported != NULL && strcmp(limits->reported, why) == 0)
		return;
	xstrset(&limits->reported, why);
	AGENT_EMIT(agent, EVENT_LIMITS_MISSING, .reason = why);
}

static void
use_place(struct agent *agent, const struct cgroup_place *place,
    const struct box_limits *wanted)
{
	struct worker_limits *limits = &agent->limits;
	cleanup_free char *name = name_for(agent);
	struct err err = { 0 };

	if (place->way == CGROUP_FOLDER &&
	    cgroup_make(place, wanted, name, &limits->cgroup, &err) < 0) {
		tell(agent, err.msg);
	} else if (place->way == CGROUP_SCOPE) {
		/* The scope of the last session may not be gone yet. */
		cleanup_free char *unit = xasprintf("%s-%llu", name,
		    (unsigned long long)agent->worker->session.generation + 1);

		limits->scope = box_limits_scope(
		    wanted, place->systemd_run, unit, place->as_root);
	}
	limits->memory_max = wanted->values[BOX_LIMIT_MEMORY];
}

void
worker_limits_ended(struct agent *agent, struct buf *out)
{
	struct worker_limits *limits = &agent->limits;
	int64_t kills =
	    limits->cgroup != NULL ? cgroup_oom_kills(limits->cgroup) : 0;
	struct box_limits now;

	/* A scope is gone by now, and what an earlier daemon launched is not
	 * known here: the keeper has written it down. */
	if (kills <= 0)
		kills = orphans_oom_kills(
		    agent->core->workspace, agent->worker->name);
	box_limits_of(agent->core->settings, agent->worker->name, &now);
	if (limits->memory_max == 0)
		limits->memory_max = now.values[BOX_LIMIT_MEMORY];
	if (kills > 0 && limits->memory_max > 0)
		box_limits_describe_oom(limits->memory_max, out);
	forget(limits);
}

void
worker_limits_release(struct worker_limits *limits)
{
	forget(limits);
	free(take_ptr(&limits->reported));
}

static bool op_box(struct agent *agent);
static bool op_stand(struct agent *agent);

/* --- what keeps a launch from working ------------------------------------ */

static bool
is_over(const struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	return reason.len == 0;
}

void
launch_block_look(void *arg)
{
	struct fleet *fleet = arg;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		struct worker *w = agent->worker;

		if (!w->blocked || w->on_hold)
			continue;
		/* Nothing tells when its sandbox can be made: try. */
		if (agent->box_fault != NULL && agent->op == NULL)
			op_box(agent);
		if (!is_over(agent))
			continue;
		EMIT(fleet->core, EVENT_LAUNCH_UNBLOCKED, .worker = w->name);
		w->blocked = false;
		persist_changed(fleet->core);
		if (worker_holds(w) == 0)
			agent_move(agent, w->before, NULL);
		agent_tick_later(agent, 1);
	}
}

/* Its folder, the home directory, always exists. */
static void
watch_file(const struct agent *agent)
{
	struct fleet *fleet = agent->fleet;
	const struct agent_kind *kind =
	    agent_kind_of(agent->core->settings, agent->worker->name, NULL);
	cleanup_free char *file =
	    kind->state_file != NULL ? kind->state_file() : NULL;

	if (fleet->launch_watch == NULL && file != NULL)
		watch_new(fleet->core->loop, file, launch_block_look, fleet,
		    &fleet->launch_watch, NULL);
}

bool
launch_block_check(struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	if (reason.len == 0 || agent->worker->blocked)
		return reason.len > 0;
	watch_file(agent);
	agent_move(agent, WORKER_PAUSED, reason.data);
	agent->worker->blocked = true;
	persist_changed(agent->core);
	AGENT_EMIT(agent, EVENT_LOGIN_NEEDED, .reason = reason.data);
	return true;
}

void
launch_block_resume(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->worker->blocked)
			watch_file(fleet->agents[i]);
	launch_block_look(fleet);
}

/* --- its sandbox is tried ------------------------------------------------- */

struct op_box {
	struct worker_op op;
	struct box box;
	struct err refused; /* it could not even be prepared */
	struct box_probe *probe;
	struct loop_timer *cancelled;
};

static void
box_run(struct operation *op)
{
	struct op_box *b = (struct op_box *)op;
	struct err err = b->refused;

	if (err.code == 0 &&
	    box_probe_start(op->loop, strv_const(b->box.prefix),
		operation_on_done, op, &b->probe, &err) == 0)
		operation_await(op);
	else
		operation_fail(op, &err);
}

static void
box_on_cancelled(void *arg)
{
	struct op_box *b = arg;

	loop_timer_free(take_ptr(&b->cancelled));
	operation_arrived(&b->op.op, NULL);
}

/* Freeing a probe ends it, without a callback. */
static void
box_cancel(struct operation *op)
{
	struct op_box *b = (struct op_box *)op;

	box_probe_free(take_ptr(&b->probe));
	b->cancelled = loop_after(op->loop, 1, box_on_cancelled, b);
}

static char *
words_of(const struct box *box)
{
	struct buf words = BUF_INIT;

	for (size_t i = 0; box->prefix != NULL && box->prefix[i] != NULL; i++)
		buf_addf(
		    &words, "%zu:%s", strlen(box->prefix[i]), box->prefix[i]);
	return buf_take(&words);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_box *b = (struct op_box *)op;
	struct agent *agent = b->op.agent;

	worker_op_release(&b->op);
	box_probe_free(b->probe);
	loop_timer_free(b->cancelled);
	if (err == NULL) {
		free(agent->box_proved);
		agent->box_proved = words_of(&b->box);
		xstrset(&agent->box_fault, NULL);
		launch_block_look(agent->fleet);
	} else if (err->code != -ECANCELED) {
		xstrset(&agent->box_proved, NULL);
		xstrset(&agent->box_fault, err->msg);
		launch_block_check(agent);
	}
	box_release(&b->box);
	free(b);
}

static const struct operation_step steps[] = {
	{ .name = "try", .run = box_run, .cancel = box_cancel },
};

OPERATION_KIND(kind, "box", steps, end);

/* Begin it if the worker has a sandbox that was not tried as it is now; false:
 * nothing to do. */
static bool
op_box(struct agent *agent)
{
	cleanup_free char *tmpdir =
	    workplace_tmpdir(agent->core->workspace, agent->worker->index);
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = agent->core->workspace,
		.settings = agent->core->settings,
		.worker = agent->worker->name,
		.tree = agent->worker->worktree,
		.tmpdir = tmpdir,
		.trial = true };
	struct box box = { 0 };
	struct err refused = { 0 };
	cleanup_free char *words = NULL;
	struct op_box *b;

	if (box_mode_of(spec.settings, spec.worker) == BOX_OFF)
		return false;
	if (file_mkdirs(tmpdir, 0700, &refused) == 0)
		box_prepare(&spec, &box, &refused);
	words = words_of(&box);
	if (refused.code == 0 && agent->box_proved != NULL &&
	    strcmp(agent->box_proved, words) == 0) {
		box_release(&box);
		return false;
	}
	b = xcalloc(1, sizeof *b);
	b->box = box;
	b->refused = refused;
	worker_op_begin(&b->op, &kind, agent, NULL);
	return true;
}

/* --- its worktree is set up --------------------------------------------- */

struct tree_setup {
	char *stamp;
	struct workplace place;
	struct box box;
	struct setup *setup; /* NULL = it is cancelled */
	struct loop_timer *cancelled;
	setup_fn *fn; /* NULL = the next step follows */
};

static void
describe_setup(
    const struct agent *agent, const char *stamp, struct setup_spec *ret_spec)
{
	const struct settings *settings = agent->core->settings;

	*ret_spec = (struct setup_spec){
		.git = agent->core->git,
		.worktree = agent->worker->worktree,
		.stamp = stamp,
		/* A sandbox keeps out what another worker wrote. */
		.trusts_others = box_mode_strictest(settings) == BOX_OFF,
		.command = settings_string(settings, "repo.setup_command"),
		.timeout_ms = settings_duration(settings, "repo.setup_timeout"),
	};
	settings_list(settings, "repo.copy_files", &ret_spec->copy_files);
	settings_list(settings, "repo.setup_when", &ret_spec->when);
	settings_list(settings, "repo.seed_from", &ret_spec->seed);
}

static char *
stamp_of(const struct agent *agent)
{
	cleanup_free char *name = xasprintf("setup/%s", agent->worker->name);

	return workspace_path(agent->core->workspace, name);
}

static bool
setup_failed(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return w->status == WORKER_ERROR && w->reason != NULL &&
	    strncmp(w->reason, WORKER_SETUP_FAILED,
		strlen(WORKER_SETUP_FAILED)) == 0;
}

void
agent_setup_free(struct agent *agent)
{
	struct tree_setup *s = take_ptr(&agent->setup);

	if (s == NULL)
		return;
	setup_free(s->setup);
	workplace_release(&s->place);
	box_release(&s->box);
	loop_timer_free(s->cancelled);
	free(s->stamp);
	free(s);
}

void
agent_setup_retry(struct agent *agent)
{
	if (setup_failed(agent) && !agent_is_taken(agent)) {
		agent_move(agent, WORKER_OFFLINE, NULL);
		agent_tick_later(agent, 1);
	}
}

/* What has failed for one worker fails for all, mostly, and what works works:
 * people are told once, and the others try again. */
static void
on_set_up(const struct err *err, void *arg)
{
	struct worker_op *op = arg;
	struct agent *agent = op->agent;
	struct fleet *fleet = agent->fleet;
	setup_fn *fn = agent->setup->fn;
	bool known = false;

	agent_setup_free(agent);
	for (size_t i = 0; i < fleet->count; i++) {
		if (fleet->agents[i] == agent)
			continue;
		known = known || setup_failed(fleet->agents[i]);
		if (err == NULL)
			agent_setup_retry(fleet->agents[i]);
	}
	if (err != NULL)
		AGENT_EMIT(agent,
		    known || fn != NULL ? EVENT_SETUP_FAILED_TOO :
					  EVENT_SETUP_FAILED,
		    .reason = err->msg);
	if (fn != NULL)
		fn(err, arg);
	else
		operation_on_done(err, arg);
}

void
worker_op_setup(struct operation *op, setup_fn *fn)
{
	struct agent *agent = ((struct worker_op *)op)->agent;
	const struct core *core = agent->core;
	const struct worker *w = agent->worker;
	cleanup_free char *dir = workspace_path(core->workspace, "setup");
	struct tree_setup *s = xcalloc(1, sizeof *s);
	struct setup_spec spec;
	struct err err = { 0 };

	s->stamp = stamp_of(agent);
	s->fn = fn;
	agent->setup = s;
	describe_setup(agent, s->stamp, &spec);
	if (!setup_is_due(&spec)) {
		agent_setup_free(agent);
		operation_next(op);
		return;
	}
	if (file_mkdirs(dir, 0700, &err) < 0 ||
	    workplace_make(core->workspace, core->settings, w->name, w->index,
		&s->place, &err) < 0 ||
	    box_prepare(&(struct box_spec){ .kind = BOX_COMMAND,
			    .workspace = core->workspace,
			    .settings = core->settings,
			    .worker = w->name,
			    .tree = w->worktree,
			    .tmpdir = s->place.tmpdir,
			    .network = true },
		&s->box, &err) < 0) {
		err_prefix(&err, WORKER_SETUP_FAILED);
		on_set_up(&err, operation_await(op));
		return;
	}
	spec.box = strv_const(s->box.prefix);
	spec.env = strv_const(s->place.env);
	s->setup = setup_begin(&spec, on_set_up, operation_await(op));
}

static void
on_setup_cancelled(void *arg)
{
	struct worker_op *op = arg;

	agent_setup_free(op->agent);
	operation_arrived(&op->op, NULL);
}

/* Freeing a setup ends it, without a callback. */
void
worker_op_setup_cancel(struct operation *op)
{
	struct tree_setup *s = ((struct worker_op *)op)->agent->setup;

	setup_free(take_ptr(&s->setup));
	s->cancelled = loop_after(op->loop, 1, on_setup_cancelled, op);
}

const char *
agent_setup_progress(const struct agent *agent)
{
	return agent->setup != NULL && agent->setup->setup != NULL ?
	    setup_progress(agent->setup->setup) :
	    NULL;
}

static void
setup_run(struct operation *op)
{
	worker_op_setup(op, NULL);
}

static void
setup_end(struct operation *op, const struct err *err)
{
	struct worker_op *s = (struct worker_op *)op;

	worker_op_release(s);
	if (err != NULL && err->code != -ECANCELED)
		agent_tree_failed(s->agent, err);
	free(s);
}

static const struct operation_step setup_steps[] = {
	{ .name = "run", .run = setup_run, .cancel = worker_op_setup_cancel },
};

OPERATION_KIND(setup_kind, "setup", setup_steps, setup_end);

/* Begin it if it is due; false: the worktree is ready. */
static bool
op_setup(struct agent *agent)
{
	cleanup_free char *stamp = stamp_of(agent);
	struct setup_spec spec;

	describe_setup(agent, stamp, &spec);
	if (!setup_is_due(&spec))
		return false;
	worker_op_begin(
	    xcalloc(1, sizeof(struct worker_op)), &setup_kind, agent, NULL);
	return true;
}

#define LAUNCHES_MAX 4 /* at once: each start uses a CPU for seconds */
#define SLOT_MS      100 /* to wait for a free slot */
#define RETRY_MS     1000
#define FAILURES_MAX 3
#define STOP_BLOCKS  20 /* beyond auto.max_turns */

static size_t
count_launching(const struct fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++)
		count += session_phase(fleet->agents[i]->session) ==
		    SESSION_LAUNCHING;
	return count;
}

void
agent_launch_failed(struct agent *agent, const struct err *err)
{
	const char *name = agent->worker->name;

	agent->start_failures++;
	agent->retry_ms =
	    clock_mono_ms() + RETRY_MS * (int64_t)agent->start_failures;
	if (agent->start_failures < FAILURES_MAX) {
		EMIT(agent->core, EVENT_LAUNCH_RETRIED, .worker = name,
		    .reason = err->msg);
		agent_tick_later(agent, RETRY_MS);
		return;
	}
	agent->start_failures = 0;
	agent_move(agent, WORKER_ERROR, err->msg);
	EMIT(agent->core, EVENT_LAUNCH_FAILED, .worker = name,
	    .reason = err->msg);
}

/* --- settings ---------------------------------------------------------- */

/* What its task wants instead. */
static void
choice_of(const struct agent *agent, struct launch_choice *ret_choice)
{
	const struct core *core = agent->core;
	const struct task *task = state_task(&core->state, agent->worker->task);

	launch_choice_make(
	    core->settings, task != NULL ? &task->launch : NULL, ret_choice);
}

/* Those that an agent is started with; the others are read when needed. */
static void
add_launch_settings(const struct agent *agent, struct buf *out)
{
	static const char *const keys[] = { "agent", "agent_command",
		"codex_command", "opencode_command", "gemini_command", "model",
		"permission_mode", "allow_root", "allowed_tools",
		"disallowed_tools", "subagents", "append_system_prompt",
		"extra_args", "isolate", "sandbox", "sandbox_read",
		"sandbox_write", "env", "user_namespace", "memory_max",
		"tasks_max", "cpu_weight" };
	cleanup_launch_choice struct launch_choice choice = { 0 };
	const struct settings *settings = agent->core->settings;

	for (size_t i = 0; i < nitems(keys); i++) {
		cleanup_json struct json_object *value = NULL;
		cleanup_buf struct buf path = BUF_INIT;

		settings_worker_path(
		    settings, agent->worker->name, keys[i], &path);
		if (settings_value(settings, path.data, &value, NULL))
			json_print(value, false, out);
		buf_addc(out, '\n');
	}
	choice_of(agent, &choice);
	launch_choice_print(&choice, out);
}

bool
agent_launch_is_stale(const struct agent *agent)
{
	cleanup_buf struct buf now = BUF_INIT;

	/* A session of an earlier daemon may have been started for a task that
	 * wanted something else. */
	if (agent->launched_with == NULL)
		return worker_is_team(agent->worker->name);
	add_launch_settings(agent, &now);
	return strcmp(agent->launched_with, now.data) != 0;
}

/* --- launching --------------------------------------------------------- */

static const struct agent_kind *
kind_of(const struct agent *agent)
{
	cleanup_launch_choice struct launch_choice choice = { 0 };

	choice_of(agent, &choice);
	return agent_kind_of(
	    agent->core->settings, agent->worker->name, &choice);
}

char *
agent_account(const struct agent *agent)
{
	const struct agent_kind *of = kind_of(agent);

	return of->account != NULL ? of->account() : NULL;
}

/* Where its agent keeps transcripts; the caller frees; NULL = not known. */
static char *
agent_projects(const struct agent *agent)
{
	const struct core *core = agent->core;
	const char *name = agent->worker->name;

	return agent_transcripts(kind_of(agent), core->workspace, name,
	    box_mode_of(core->settings, name) != BOX_OFF);
}

/* Is there a conversation that the agent will find? One that began inside a
 * sandbox is not seen outside of it, and the other way round. */
static bool
can_resume(const struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_free char *dir =
	    box_agent_dir(agent->core->workspace, w->name, kind_of(agent));
	cleanup_free char *projects = agent_projects(agent);
	size_t len = strlen(dir),
	       below = projects != NULL ? strlen(projects) : 0;
	bool boxed = kind_of(agent)->homed ||
	    box_mode_of(agent->core->settings, w->name) != BOX_OFF;

	if (w->session.id == NULL || w->session.transcript == NULL ||
	    !file_exists(w->session.transcript))
		return false;
	/* It may be the one of another kind of agent. */
	if (projects == NULL ||
	    strncmp(w->session.transcript, projects, below) != 0)
		return false;
	return boxed ==
	    (strncmp(w->session.transcript, dir, len) == 0 &&
		w->session.transcript[len] == '/');
}

bool
agent_queues(const struct agent *agent)
{
	return kind_of(agent)->can & AGENT_QUEUES;
}

const char *
agent_log_in(const struct agent *agent)
{
	return kind_of(agent)->log_in;
}

int64_t
agent_start_timeout(const struct agent *agent)
{
	cleanup_launch_choice struct launch_choice choice = { 0 };

	choice_of(agent, &choice);
	return agent_start_ms(
	    agent->core->settings, agent->worker->name, &choice);
}

/* Resume the conversation if there is one; otherwise start a new one. */
static void
launch(struct agent *agent)
{
	struct core *core = agent->core;
	const struct worker *w = agent->worker;
	cleanup_free char *socket = run_dir_socket(core->workspace, w->name);
	cleanup_free char *projects = agent_projects(agent);
	struct session_launch how = {
		.settings = core->settings,
		.cwd = w->worktree,
		.index = w->index,
		.socket = socket,
		.projects = projects,
		.sandboxed = true,
		.guarded = true,
		.resume = can_resume(agent),
		.stop_blocks_max = STOP_BLOCKS +
		    (int)settings_int(core->settings, "auto.max_turns"),
		.start_timeout_ms = agent_start_timeout(agent),
	};
	cleanup_launch_choice struct launch_choice choice = { 0 };
	cleanup_buf struct buf with = BUF_INIT;
	struct err err = { 0 };
	struct worker_limits *limits;
	struct box_limits wanted;
	struct cgroup_place place;
	int busy;

	choice_of(agent, &choice);
	how.choice = &choice;
	if (run_dir_make(core->workspace, w->name, &err) < 0 ||
	    agent_guard_write(agent, &err) < 0 ||
	    serve_open_socket(core, w->name, &err) < 0) {
		agent_launch_failed(agent, &err);
		return;
	}
	/* For the session that is launched now; `how` refers to the agent's
	 * limits afterwards. A limit that cannot be held is reported, once. */
	limits = &agent->limits;
	forget(limits);
	box_limits_of(agent->core->settings, agent->worker->name, &wanted);
	cgroup_find(box_limits_wanted(&wanted), agent->fleet->cgroups, &place);
	if (place.why != NULL)
		tell(agent, place.why);
	use_place(agent, &place, &wanted);
	cgroup_place_release(&place);
	how.cgroup = limits->cgroup;
	how.scope = limits->scope;
	busy = workplace_busy_port(core->settings, w->index);
	if (busy != 0 && busy != agent->busy_port)
		EMIT(core, EVENT_PORT_BUSY, .worker = w->name, .count = busy);
	agent->busy_port = busy;
	agent->resuming = how.resume;
	add_launch_settings(agent, &with);
	xstrset(&agent->launched_with, with.data);
	session_launch(agent->session, &how);
	AGENT_EMIT(agent, EVENT_LAUNCHING, .session = w->session.id,
	    .resume = how.resume ? "yes" : "no");
}

/* What its last session has made of its tree: no sandbox can be made of it. */
static bool
is_spoilt(struct agent *agent)
{
	const struct worker *w = agent->worker;
	struct err err = { 0 };

	if (w->work_of == NULL ||
	    git_stand_look(agent->core->git, w->worktree, &err) == 0 ||
	    !agent_tree_is_broken(agent, &err))
		return false;
	agent_tree_failed(agent, &err);
	return true;
}

void
agent_launch(struct agent *agent)
{
	if (is_spoilt(agent))
		return;
	if (count_launching(agent->fleet) >= LAUNCHES_MAX)
		agent_tick_later(agent, SLOT_MS);
	else if (!launch_block_check(agent) && !op_box(agent) &&
	    !op_stand(agent) && !op_setup(agent))
		launch(agent);
}

struct op_stand {
	struct worker_op op; /* first */
	bool detached, clone; /* from now on */
	char stamp[SALVAGE_STAMP_SIZE];
};

/* A branch that does not follow would lose commits, so it is written down
 * before HEAD is detached, and forgotten after it is attached. The same for a
 * clone, which is one when its .git is a folder (core.h). */
static void
write_down(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (s->detached)
		s->op.agent->worker->detached = true;
	if (s->clone)
		s->op.agent->worker->clone = true;
	worker_op_write(op);
}

static void
turn(struct op_stand *s, bool clone)
{
	const struct worker *w = s->op.agent->worker;
	struct git *git = s->op.agent->core->git;
	cleanup_free char *keep = NULL;
	struct git_salvage place;
	struct git_turn what = { .branch = w->branch,
		.onto = core_branch(s->op.agent->core) };

	salvage_place(s->op.agent, false, s->stamp, &place);
	keep = xasprintf("refs/llmc/salvage/%s/%s-refs", w->name, place.stamp);
	what.keep = keep;
	operation_await(&s->op.op);
	if (clone)
		git_turn_to_clone(
		    git, w->worktree, &what, operation_on_done, &s->op.op);
	else
		git_turn_to_worktree(
		    git, w->worktree, &what, operation_on_done, &s->op.op);
}

/* Back to a worktree, before HEAD can be on a branch of the repository. */
static void
turn_back(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (!s->clone && worker_tree_is_clone(s->op.agent->worker))
		turn(s, false);
	else
		operation_next(op);
}

static void
turn_to_clone(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (s->clone && !worker_tree_is_clone(s->op.agent->worker))
		turn(s, true);
	else
		operation_next(op);
}

static void
set(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;
	const struct worker *w = s->op.agent->worker;

	if (worker_tree_is_clone(w)) {
		operation_next(op);
		return;
	}
	git_follow_set(s->op.agent->core->git, w->worktree, w->branch,
	    s->detached, operation_on_done, operation_await(op));
}

static void
stand_end(struct operation *op, const struct err *err)
{
	struct op_stand *s = (struct op_stand *)op;
	struct agent *agent = s->op.agent;

	/* Its worktree cannot become one: only strict insists. */
	if (err != NULL && err->code == -ENOTSUP && s->clone &&
	    box_mode_of(agent->core->settings, agent->worker->name) !=
		BOX_STRICT) {
		agent->no_clone = true;
		s->clone = false;
		err = NULL;
	}
	if (err == NULL) {
		agent->worker->detached = s->detached;
		agent->worker->clone = s->clone;
		persist_changed(agent->core);
	}
	worker_op_release(&s->op);
	if (err != NULL && err->code != -ECANCELED)
		agent_launch_failed(agent, err);
	free(s);
}

static const struct operation_step stand_steps[] = {
	{ .name = "write", .run = write_down },
	{ .name = "turn-back", .run = turn_back },
	{ .name = "set", .run = set },
	{ .name = "turn", .run = turn_to_clone },
};

OPERATION_KIND(stand_kind, "stand", stand_steps, stand_end);

/* Begin it if it stands in the other way; false: nothing to do. */
static bool
op_stand(struct agent *agent)
{
	const struct worker *w = agent->worker;
	enum box_mode mode = box_mode_of(agent->core->settings, w->name);
	/* Objects of the repository are read-only in a clone. */
	bool detached = mode != BOX_OFF,
	     clone = mode == BOX_STRICT ||
	    (mode == BOX_WORKTREE && !agent->no_clone &&
		git_clone_suits(agent->core->workspace->git_dir));
	struct op_stand *s;

	if (w->detached == detached && w->clone == clone &&
	    worker_tree_is_clone(w) == clone &&
	    (!detached || git_stand_is_detached(agent->core->git, w->worktree)))
		return false;
	s = xcalloc(1, sizeof *s);
	s->detached = detached;
	s->clone = clone;
	worker_op_begin(&s->op, &stand_kind, agent, NULL);
	return true;
}
