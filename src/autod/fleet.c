/* SPDX-License-Identifier: ISC */

/* Workers made, set back and removed. What would be lost is salvaged first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "git-work.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "rpc.h"
#include "server.h"
#include "settings.h"
#include "text.h"
#include "workspace.h"

/* An operation on one worker, and who asked for it (call may be NULL). */
struct fleet_op {
	struct agent *agent;
	struct server_call *call;
	enum worker_status before;
	char salvage[256]; /* ref, "" = nothing was to be saved */
};

static struct fleet_op *
op_begin(struct agent *agent, struct server_call *call)
{
	struct fleet_op *op = xcalloc(1, sizeof *op);

	op->agent = agent;
	op->call = call;
	op->before = agent->worker->status;
	agent->operating = true;
	return op;
}

static void
op_end(struct fleet_op *op)
{
	op->agent->operating = false;
	agent_tick_later(op->agent, 1);
	free(op);
}

static void
op_failed(struct fleet_op *op, const struct err *err)
{
	if (op->call != NULL)
		daemon_fail(
		    op->agent->daemon, op->call, METHOD_FAILED, err->msg);
	else
		log_warnx("%s: %s", op->agent->worker->name, err->msg);
	op_end(op);
}

static void
salvage(struct agent *agent, git_ref_fn *fn, void *arg)
{
	const struct worker *w = agent->worker;
	char stamp[CLOCK_STAMP_SIZE];
	struct git_salvage what = {
		.worker = w->name,
		.branch = w->branch,
		.onto = daemon_branch(agent->daemon),
		.stamp = stamp,
	};

	clock_format_compact(clock_wall_ms(), stamp);
	git_work_salvage(agent->daemon->git, w->worktree, &what, fn, arg);
}

/* A salvage that may have to wait for its worktree. */
struct rescue {
	struct agent *agent;
	git_ref_fn *fn;
	void *arg;
};

static void
rescue_added(const struct err *err, void *arg)
{
	struct rescue rescue = *(struct rescue *)arg;

	free(arg);
	if (err != NULL)
		rescue.fn("", err, rescue.arg);
	else
		salvage(rescue.agent, rescue.fn, rescue.arg);
}

/* The branch has the commits, whatever became of the worktree. */
static void
rescue_add(struct rescue *rescue)
{
	const struct worker *w = rescue->agent->worker;
	struct daemon *d = rescue->agent->daemon;

	git_work_add(d->git, w->worktree, w->branch, daemon_branch(d),
	    rescue_added, rescue);
}

/* What git does not take for a worktree any more is kept for people. */
static int
put_aside(const struct worker *w)
{
	cleanup_free char *aside = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	aside = xasprintf("%s.broken-%s", w->worktree, stamp);
	if (rename(w->worktree, aside) == -1)
		return -errno;
	log_fields(LOG_LEVEL_INFO, "its worktree is broken and is put aside",
	    "worker", w->name, "path", aside, NULL);
	return 0;
}

static void
rescue_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct rescue *rescue = arg;

	if (err != NULL && err->code == -EUCLEAN &&
	    put_aside(rescue->agent->worker) == 0) {
		rescue_add(rescue);
		return;
	}
	rescue->fn(ref, err, rescue->arg);
	free(rescue);
}

void
agent_salvage(struct agent *agent, git_ref_fn *fn, void *arg)
{
	struct rescue *rescue = xcalloc(1, sizeof *rescue);

	rescue->agent = agent;
	rescue->fn = fn;
	rescue->arg = arg;
	if (file_is_dir(agent->worker->worktree))
		salvage(agent, rescue_salvaged, rescue);
	else
		rescue_add(rescue);
}

/* --- add ------------------------------------------------------------- */

static void
add_made(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct agent *agent = op->agent;
	struct daemon *d = agent->daemon;
	const struct worker *w = agent->worker;
	struct json_object *result;

	if (err != NULL) {
		cleanup_free char *name = xstrdup(w->name);

		if (op->call == NULL)
			failure_raise(d,
			    &(struct failure){ .class = "worktree",
				.worker = name,
				.status = -1,
				.words = err->msg });
		daemon_fail(d, op->call, METHOD_FAILED, err->msg);
		free(op);
		agent_free(agent);
		state_remove(&d->state, name);
		state_unlist_auto_worker(&d->state, name);
		daemon_changed(d);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "worker", w->name);
	json_set_string(result, "branch", w->branch);
	json_set_string(result, "worktree_path", w->worktree);
	daemon_reply(d, op->call, result);
	op_end(op);
}

static void
add_make(void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	const struct worker *w = op->agent->worker;

	git_work_add(
	    d->git, w->worktree, w->branch, daemon_branch(d), add_made, op);
}

void
fleet_make(struct daemon *d, const char *name, struct server_call *call)
{
	struct worker *w = worker_new(name, clock_wall_ms());
	cleanup_free char *dir = workspace_resolve(
	    d->workspace, settings_string(d->settings, "repo.worktree_dir"));

	w->worktree = file_join(dir, name);
	w->branch = xasprintf(
	    "%s%s", settings_string(d->settings, "repo.branch_prefix"), name);
	state_add(&d->state, w);
	daemon_changed(d);
	daemon_then(d, NULL, add_make, op_begin(agent_new(d, w), call));
}

void
fleet_add(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "worker", "");
	struct err err = { 0 };

	if (!text_is_name(name)) {
		server_fail(call, RPC_INVALID_PARAMS,
		    "a worker's name begins with a letter or digit and goes "
		    "on with letters, digits, - and _, all lower case, 32 at "
		    "most",
		    NULL);
		return;
	}
	/* Sessions of these names are not workers'. */
	if (strncmp(name, "console", 7) == 0 || strcmp(name, "overseer") == 0) {
		server_fail(call, RPC_INVALID_PARAMS,
		    "names that begin with \"console\", and \"overseer\", are "
		    "taken",
		    NULL);
		return;
	}
	if (state_find(&d->state, name) != NULL) {
		err_set(&err, -EEXIST, "there is a worker %s already", name);
		server_fail(call, METHOD_FAILED, err.msg, NULL);
		return;
	}
	daemon_reload(d, NULL); /* it may have settings of its own now */
	fleet_make(d, name, call);
}

/* --- nuke ------------------------------------------------------------ */

static void
nuke_removed(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	cleanup_free char *name = xstrdup(op->agent->worker->name);
	struct json_object *result;

	if (err != NULL) {
		op_failed(op, err);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "worker", name);
	json_set_string(result, "salvage", op->salvage);
	agent_free(op->agent);
	state_remove(&d->state, name);
	state_unlist_auto_worker(&d->state, name);
	daemon_changed(d);
	waiters_gone(d, name);
	daemon_reply(d, op->call, result);
	free(op);
}

static void
nuke_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	const struct worker *w = op->agent->worker;

	if (err != NULL) {
		op_failed(op, err);
		return;
	}
	snprintf(op->salvage, sizeof op->salvage, "%s", ref);
	git_work_remove(d->git, w->worktree, w->branch, nuke_removed, op);
}

static void
nuke_ended(void *arg)
{
	struct fleet_op *op = arg;

	agent_salvage(op->agent, nuke_salvaged, op);
}

void
fleet_nuke(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	(void)params;
	pilot_worker_lost(agent, "its worker was removed");
	agent_end(agent, nuke_ended, op_begin(agent, call));
}

/* --- reset ----------------------------------------------------------- */

static void
reset_done(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	struct json_object *result;

	if (err != NULL) {
		agent_move(op->agent, WORKER_ERROR, err->msg);
		op_failed(op, err);
		return;
	}
	if (op->call != NULL) {
		result = json_object_new_object();
		json_set_string(result, "worker", op->agent->worker->name);
		json_set_string(
		    result, "previous_status", worker_status_name(op->before));
		json_set_string(result, "new_status", "offline");
		json_set_string(result, "salvage", op->salvage);
		daemon_reply(d, op->call, result);
	}
	op_end(op);
}

static void
reset_unlocked(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	const struct worker *w = op->agent->worker;

	if (err != NULL)
		reset_done(err, op);
	else
		git_work_reset(d->git, w->worktree, w->branch, daemon_branch(d),
		    reset_done, op);
}

/* Its session has ended, so nobody will let go of a lock any more: a git that
 * lived on had the time that git.h gives it. */
static void
reset_tried(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	const struct worker *w = op->agent->worker;

	if (err == NULL || err->code != -EBUSY) {
		reset_done(err, op);
		return;
	}
	log_fields(LOG_LEVEL_INFO, "locks that its git left are removed",
	    "worker", w->name, "reason", err->msg, NULL);
	git_work_unlock(d->git, w->worktree, w->branch, reset_unlocked, op);
}

static void
reset_repaired(const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	const struct worker *w = op->agent->worker;

	if (err != NULL)
		reset_done(err, op);
	else
		git_work_reset(d->git, w->worktree, w->branch, daemon_branch(d),
		    reset_tried, op);
}

/* Forget the task, the conversation and the trouble. */
void
fleet_forget(struct agent *agent)
{
	struct worker *w = agent->worker;

	xstrset(&w->prompt, NULL);
	xstrset(&w->prompt_command, NULL);
	xstrset(&w->commit, NULL);
	xstrset(&w->session.pending, NULL);
	xstrset(&w->session.id, NULL);
	xstrset(&w->session.transcript, NULL);
	xstrset(&w->reason, NULL);
	xstrset(&w->accept_onto, NULL);
	xstrset(&w->accept_commit, NULL);
	xstrset(&w->accept_message, NULL);
	w->session.step = PROMPT_NONE;
	w->accept = ACCEPT_NONE;
	w->session.busy = false;
	w->crashes = w->conflicts = w->limit_tries = w->stalls = 0;
	w->until_ms = 0;
	xstrset(&w->task, NULL);
	daemon_changed(agent->daemon);
}

static void
reset_salvaged(const char *ref, const struct err *err, void *arg)
{
	struct fleet_op *op = arg;
	struct daemon *d = op->agent->daemon;
	struct worker *w = op->agent->worker;

	if (err != NULL) {
		reset_done(err, op);
		return;
	}
	snprintf(op->salvage, sizeof op->salvage, "%s", ref);
	if (ref[0] != '\0')
		log_fields(LOG_LEVEL_INFO, "work salvaged", "worker", w->name,
		    "ref", ref, NULL);
	landing_forget(op->agent);
	agent_move(op->agent, WORKER_OFFLINE, NULL);
	fleet_forget(op->agent);
	op->agent->retry_ms = 0;
	daemon_changed(d);
	git_work_add(d->git, w->worktree, w->branch, daemon_branch(d),
	    reset_repaired, op);
}

static void
reset_ended(void *arg)
{
	struct fleet_op *op = arg;

	agent_salvage(op->agent, reset_salvaged, op);
}

void
fleet_reset(
    struct agent *agent, struct server_call *call, struct json_object *params)
{
	(void)params;
	pilot_worker_lost(agent, "its worker was reset");
	agent_end(agent, reset_ended, op_begin(agent, call));
}
