/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "box-plan.h"
#include "child.h"
#include "emit.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "inspection.h"
#include "life.h"
#include "persist.h"
#include "rpc.h"
#include "serve.h"
#include "session.h"
#include "settings.h"
#include "worker-op.h"
#include "workplace.h"
#include "workspace.h"

/* Every command has its own deadline, up to a day in the settings; this one is
 * a last resort. */
#define DEADLINE_MS (25 * 60 * 60 * 1000)

void
worker_op_begin(struct worker_op *op, const struct operation_kind *kind,
    struct agent *agent, struct server_call *call)
{
	if (agent->op != NULL)
		fatalx("%s begins on %s, but %s is running", kind->name,
		    agent->worker->name, agent->op->op.kind->name);
	op->agent = agent;
	op->call = call;
	agent->op = op;
	operation_begin(&op->op, kind, agent->core->loop, DEADLINE_MS);
}

void
worker_op_release(struct worker_op *op)
{
	persist_forget(op->agent->core, op);
	op->agent->op = NULL;
	fleet_freed(op->agent->fleet);
	agent_tick_later(op->agent, 1);
}

void
worker_op_answer(
    struct worker_op *op, const struct err *err, struct json_object *result)
{
	struct core *core = op->agent->core;

	if (err == NULL)
		serve_reply(core, op->call, result);
	else if (op->call != NULL)
		serve_fail(core, op->call, API_FAILED, err->msg);
	else if (err->code != -ECANCELED)
		EMIT(core, EVENT_GIT_FAILED, .worker = op->agent->worker->name,
		    .reason = err->msg);
}

void
worker_op_write(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	persist_changed(w->agent->core);
	persist_then(w->agent->core, w, operation_on_over, operation_await(op));
}

/* Not while a process of the session may still write into the worktree. */
static void
on_session_ended(void *arg)
{
	struct worker_op *w = arg;

	operation_on_done(session_left(w->agent->session), arg);
}

void
worker_op_end_session(struct operation *op)
{
	struct worker_op *w = (struct worker_op *)op;

	session_end(w->agent->session, on_session_ended, operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct worker_op *w = arg;

	if (saved != NULL)
		snprintf(w->salvage, sizeof w->salvage, "%s", saved->ref);
	w->on_salvaged(err, arg);
}

void
worker_op_salvage(
    struct worker_op *op, const struct salvage_what *what, git_work_fn *fn)
{
	op->on_salvaged = fn != NULL ? fn : operation_on_done;
	operation_await(&op->op);
	salvage_begin(op->agent, what, on_salvaged, op);
}

static void
on_submodules(const struct err *err, void *arg)
{
	const struct worker_op *w = arg;

	if (err != NULL && err->code != -ECANCELED) {
		AGENT_EMIT(
		    w->agent, EVENT_SUBMODULE_MISSING, .reason = err->msg);
		err = NULL;
	}
	operation_on_done(err, arg);
}

void
worker_op_submodules(struct operation *op)
{
	const struct agent *agent = ((struct worker_op *)op)->agent;
	const struct worker *w = agent->worker;
	cleanup_free char *file = file_join(w->worktree, ".gitmodules");

	if (!file_exists(file) || worker_tree_is_clone(w) ||
	    box_mode_of(agent->core->settings, w->name) != BOX_OFF)
		operation_next(op);
	else
		git_submodules(agent->core->git, w->worktree, on_submodules,
		    operation_await(op));
}

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

void
op_add(struct fleet *fleet, const char *name, struct server_call *call)
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
	worker_op_begin(add, &add_kind, agent_new(fleet, w), call);
}

/* --- reset -------------------------------------------------------------- */

enum {
	STEP_END_SESSION,
	STEP_FORGET,
	STEP_RESET,
	STEP_UNLOCK,
	STEP_RESET_AGAIN
};

struct reset {
	struct worker_op op;
	enum worker_status before;
};

static void
reset_forget(struct operation *op)
{
	struct agent *agent = ((struct reset *)op)->op.agent;

	agent_move(agent, WORKER_OFFLINE, NULL);
	agent_forget(agent);
	agent->retry_ms = 0;
	operation_next(op);
}

/* Its session has ended, so nothing will release a lock any more. A git process
 * that survived had the time that git.h allows. */
static void
on_reset(const struct err *err, void *arg)
{
	struct reset *r = arg;
	struct agent *agent = r->op.agent;

	if (err == NULL || err->code != -EBUSY) {
		if (operation_arrived(&r->op.op, err))
			operation_done(&r->op.op);
		return;
	}
	if (!operation_arrived(&r->op.op, NULL))
		return;
	AGENT_EMIT(agent, EVENT_LOCKS_REMOVED, .reason = err->msg);
	operation_next(&r->op.op);
}

static void
reset_with(struct operation *op, git_work_fn *fn)
{
	struct reset *r = (struct reset *)op;

	worker_op_salvage(
	    &r->op, &(struct salvage_what){ .then = SALVAGE_RESET }, fn);
}

static void
reset_tree(struct operation *op)
{
	reset_with(op, on_reset);
}

static void
reset_unlock(struct operation *op)
{
	struct reset *r = (struct reset *)op;
	const struct worker *w = r->op.agent->worker;

	git_worktree_unlock(r->op.agent->core->git, w->worktree, w->branch,
	    operation_on_done, operation_await(op));
}

static void
reset_again(struct operation *op)
{
	reset_with(op, NULL);
}

static struct json_object *
reset_result_of(const struct reset *r)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", r->op.agent->worker->name);
	json_set_string(
	    result, "previous_status", worker_status_name(r->before));
	json_set_string(result, "new_status", "offline");
	json_set_string(result, "salvage", r->op.salvage);
	return result;
}

static void
reset_end(struct operation *op, const struct err *err)
{
	struct reset *r = (struct reset *)op;

	worker_op_release(&r->op);
	if (err == NULL)
		xstrset(&r->op.agent->worker->work_of, NULL);
	if (err != NULL && err->code != -ECANCELED)
		agent_move(r->op.agent, WORKER_ERROR, err->msg);
	worker_op_answer(&r->op, err, err == NULL ? reset_result_of(r) : NULL);
	free(r);
}

static const struct operation_step reset_steps[] = {
	[STEP_END_SESSION] = { .name = "end-session",
	    .run = worker_op_end_session },
	[STEP_FORGET] = { .name = "forget", .run = reset_forget },
	[STEP_RESET] = { .name = "reset", .run = reset_tree },
	[STEP_UNLOCK] = { .name = "unlock", .run = reset_unlock },
	[STEP_RESET_AGAIN] = { .name = "reset-again", .run = reset_again },
};

OPERATION_KIND(reset_kind, "reset", reset_steps, reset_end);

void
op_reset(struct agent *agent, struct server_call *call)
{
	struct reset *r = xcalloc(1, sizeof *r);

	r->before = agent->worker->status;
	AGENT_EMIT(agent, EVENT_WORKER_LOST, .reason = "its worker was reset");
	worker_op_begin(&r->op, &reset_kind, agent, call);
}

/* --- nuke --------------------------------------------------------------- */

#define BOX_DEADLINE_MS (10 * 60 * 1000)

struct nuke {
	struct worker_op op; /* first */
	struct child *child; /* that runs now; NULL = none */
	struct buf warning; /* teardown_command has failed */
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

void
op_nuke(struct agent *agent, struct server_call *call)
{
	struct nuke *n = xcalloc(1, sizeof *n);

	buf_init(&n->warning);
	AGENT_EMIT(
	    agent, EVENT_WORKER_LOST, .reason = "its worker was removed");
	worker_op_begin(&n->op, &nuke_kind, agent, call);
}

/* --- inspect ------------------------------------------------------------ */

struct inspect {
	struct worker_op op; /* first */
	struct json_object *params; /* holds `seen` */
	const char *seen;
	unsigned flags;
	struct git_facts facts;
	struct buf sentence; /* about the difference; empty = none */
	fleet_worker_fn *fn;
	void *arg;
};

static struct inspection
inspection_of(const struct inspect *inspect)
{
	const struct worker *w = inspect->op.agent->worker;
	const struct git_facts *facts = &inspect->facts;

	return (struct inspection){
		.worker = w->name,
		.worktree = w->worktree,
		.seen = inspect->seen,
		.reviewed = w->reviewed != NULL &&
		    text_begins(w->reviewed, inspect->seen),
		.branch = inspect->flags & OP_INSPECT_BRANCH ? w->branch : NULL,
		.clean = inspect->flags & OP_INSPECT_CLEAN,
		.head = facts->head,
		.checked_out = facts->branch,
		.rebasing = facts->rebasing,
		.dirty = facts->changed + facts->untracked,
	};
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	inspect->facts = *facts;
	found = inspection_of(inspect);
	if (inspection_holds(&found))
		operation_done(&inspect->op.op);
	else
		operation_next(&inspect->op.op);
}

static void
step_facts(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_facts_read(core->git, inspect->op.agent->worker->worktree, NULL,
	    on_facts, operation_await(op));
}

static void
on_since(const struct git_since *since, const struct err *err, void *arg)
{
	struct inspect *inspect = arg;
	struct inspection found;

	if (!operation_arrived(&inspect->op.op, err))
		return;
	found = inspection_of(inspect);
	found.known = since->known;
	found.commits = since->commits;
	found.files = since->files;
	found.file_count = since->file_count;
	found.uncommitted = since->uncommitted;
	found.uncommitted_count = since->uncommitted_count;
	inspection_sentence(&found, &inspect->sentence);
	operation_done(&inspect->op.op);
}

/* It is not what the caller has seen: what is different? */
static void
step_since(struct operation *op)
{
	struct inspect *inspect = (struct inspect *)op;
	const struct core *core = inspect->op.agent->core;

	git_since_read(core->git, inspect->op.agent->worker->worktree,
	    inspect->seen, core_branch(core), on_since, operation_await(op));
}

static void
inspect_end(struct operation *op, const struct err *err)
{
	struct inspect *inspect = (struct inspect *)op;
	struct agent *agent = inspect->op.agent;

	worker_op_release(&inspect->op);
	if (err != NULL) {
		worker_op_answer(&inspect->op, err, NULL);
	} else if (inspect->sentence.len > 0) {
		serve_fail(agent->core, inspect->op.call, API_CHANGED,
		    inspect->sentence.data);
	} else {
		json_set_string(inspect->params, "commit", inspect->facts.head);
		inspect->fn(
		    inspect->arg, agent, inspect->op.call, inspect->params);
	}
	json_object_put(inspect->params);
	buf_release(&inspect->sentence);
	free(inspect);
}

static const struct operation_step inspect_steps[] = {
	{ .name = "inspect", .run = step_facts },
	{ .name = "compare", .run = step_since },
};

OPERATION_KIND(inspect_kind, "inspection", inspect_steps, inspect_end);

void
op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg)
{
	const char *seen = json_string_or(params, "commit", NULL);
	struct inspect *inspect;

	if (seen == NULL) {
		fn(arg, agent, call, params);
		return;
	}
	if (!inspection_is_id(seen)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "commit: expected 7 to 64 hexadecimal digits");
		return;
	}
	inspect = xcalloc(1, sizeof *inspect);
	inspect->params = json_object_get(params);
	inspect->seen = seen;
	inspect->flags = flags;
	buf_init(&inspect->sentence);
	inspect->fn = fn;
	inspect->arg = arg;
	worker_op_begin(&inspect->op, &inspect_kind, agent, call);
}
