/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "failure.h"
#include "lock.h"
#include "loop.h"
#include "root-guard.h"
#include "watch.h"
#include "workspace.h"

/* Whoever removes the folder may not be done yet, and what our sessions write
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
	failure_raise(core,
	    &(struct failure){
		.class = "root_gone", .status = -1, .reason = reason });
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
