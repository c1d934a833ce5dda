/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "core.h"
#include "core-settings.h"
#include "emit.h"
#include "event-table.h"
#include "failure.h"
#include "heartbeat.h"
#include "loop.h"
#include "watch.h"
#include "workspace.h"

static const char *
scope_of(const struct failure *f)
{
	return failure_scope_name(failure_class_find(f->class)->scope);
}

/* Without its landing branch, git fails in many places. */
static bool
is_of_branch(const struct failure *f)
{
	enum failure_scope scope = failure_class_find(f->class)->scope;

	return scope == FAILURE_SCOPE_WORKER || scope == FAILURE_SCOPE_LANDING;
}

void
failure_raise(struct core *core, const struct failure *f)
{
	cleanup_free char *lost =
	    is_of_branch(f) ? landing_branch_lost(core) : NULL;
	struct failure of_branch = {
		.class = "landing_branch", .status = -1, .reason = lost
	};

	if (core->stopping)
		return;
	if (lost != NULL)
		f = &of_branch;
	core->failing = true;
	core->state.errors++;
	heartbeat_failed(core->heartbeat); /* before anybody is told */
	if (!core->evicted) {
		cleanup_free char *file =
		    workspace_path(core->workspace, "failure.json");
		cleanup_json struct json_object *json =
		    json_object_new_object();
		struct err err = { 0 };

		json_set_string(json, "class", f->class);
		json_set_string(json, "scope", scope_of(f));
		json_set_string(json, "worker", f->worker);
		json_set_string(json, "task", f->task);
		json_set(json, "exit_status",
		    f->status >= 0 ? json_object_new_int(f->status) : NULL);
		json_set_string(json, "words", f->reason);
		json_set_int(json, "at_unix", clock_wall_ms() / 1000);
		json_set_string(json, "instance_id", core->instance);
		if (json_save(file, json, 0600, &err) < 0)
			EMIT(core, EVENT_STATE_UNWRITTEN, .reason = err.msg);
	}
	EMIT(core, EVENT_FAILURE, .class = f->class, .scope = scope_of(f),
	    .worker = f->worker, .task = f->task, .reason = f->reason);
	core->on_failure(core);
}

/* --- the root ----------------------------------------------------------- */

/* The folder may still be being removed, and what our sessions write
 * when they end would be in the way; or another daemon is about to start. */
#define PAUSE_MS 1000

static void
give_up(void *arg)
{
	struct core *core = arg;
	cleanup_free char *lock = workspace_path(core->workspace, "state.lock"),
			  *reason = NULL;

	loop_timer_free(take_ptr(&core->root_pause));
	core->replaced = lock_is_held(lock) == 1;
	reason = xasprintf("%s was removed or replaced while this daemon ran: "
			   "it ends and writes nothing there. %s; the work "
			   "stays in the worktrees. Start again with: llmc "
			   "init, llmc doctor --rebuild, llmc up",
	    lock,
	    core->replaced ?
		"Another daemon owns the repository, and its sessions" :
		"The sessions are ended");
	RAISE(core, "root_gone", .reason = reason);
}

bool
root_guard_holds(struct core *core)
{
	cleanup_free char *lock = NULL;

	if (core->lock < 0 || core->evicted || core->options->oneshot)
		return !core->evicted;
	lock = workspace_path(core->workspace, "state.lock");
	if (lock_is_at(core->lock, lock))
		return true;
	core->evicted = true;
	core->root_pause = loop_after(core->loop, PAUSE_MS, give_up, core);
	return false;
}

static void
on_lock_changed(void *arg)
{
	root_guard_holds(arg);
}

void
root_guard_watch(struct core *core)
{
	cleanup_free char *lock = workspace_path(core->workspace, "state.lock");

	if (!core->options->oneshot &&
	    watch_new(core->loop, lock, on_lock_changed, core,
		&core->root_watch, NULL) < 0)
		log_debug("state.lock is not watched");
}
