/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "failure-class.h"

#define DAEMON  FAILURE_SCOPE_DAEMON
#define FLEET   FAILURE_SCOPE_FLEET
#define WORKER  FAILURE_SCOPE_WORKER
#define TASK    FAILURE_SCOPE_TASK
#define LANDING FAILURE_SCOPE_LANDING
#define REPAIR  FAILURE_HELP_REPAIR
#define PERSON  FAILURE_HELP_PERSON
#define NOBODY  FAILURE_HELP_NOBODY

#define POOL_FIX "see .llmc/logs/task_pool.log and fix the command"
#define GIT_FIX  "see what git said: llmc log daemon --level warn"

const struct failure_class failure_classes[] = {
	{ "bug", DAEMON, REPAIR, "llmc contradicts itself",
	    "report it, with .llmc/logs/autod.log" },
	{ "state_unwritten", DAEMON, REPAIR,
	    "a file of .llmc cannot be written",
	    "make room on the disk, or restore the permissions of .llmc" },
	{ "state_overwritten", DAEMON, REPAIR,
	    "another program removed or replaced llmc.db",
	    "see what is wrong with the state: llmc doctor" },
	{ "root_gone", DAEMON, PERSON,
	    "the folder .llmc was removed or replaced while the daemon ran",
	    "set it up again: llmc init, llmc doctor --rebuild" },
	{ "tmux", FLEET, REPAIR, "tmux does not answer",
	    "see what tmux said: llmc log daemon --level warn" },
	{ "task_pool_failed", FLEET, REPAIR, "the task pool command failed",
	    POOL_FIX },
	{ "task_pool_timeout", FLEET, REPAIR,
	    "the task pool command took too long", POOL_FIX },
	{ "task_pool_text", FLEET, REPAIR,
	    "the task pool command printed something that is no task",
	    POOL_FIX },
	{ "task_pool_claims", FLEET, REPAIR,
	    "the task pool command says that too many tasks are claimed",
	    POOL_FIX },
	{ "task_source", FLEET, REPAIR,
	    "the source of the tasks cannot be read",
	    "look at the folder of tasks: llmc doctor" },
	{ "outage", FLEET, NOBODY,
	    "the service did not answer for longer than 6 hours",
	    "wait until the service is available again" },
	{ "login", FLEET, PERSON, "an agent has lost its login or trust",
	    "type what the failure says; each kind of agent has a login of its "
	    "own" },
	{ "worker_error", WORKER, REPAIR,
	    "a worker of auto mode cannot continue", "see why: llmc status" },
	{ "worktree", WORKER, REPAIR, "a worktree cannot be made",
	    "see what is wrong with worktrees: llmc doctor" },
	{ "worker_git", WORKER, REPAIR, "git failed in a worktree", GIT_FIX },
	{ "cleanup", WORKER, REPAIR,
	    "a worktree cannot be reset after its work landed", GIT_FIX },
	{ "stall", TASK, REPAIR,
	    "a worker gave no sign of life, although it was restarted",
	    "see what it did: llmc task show" },
	{ "git", LANDING, REPAIR, "git failed", GIT_FIX },
	{ "git_lock", LANDING, REPAIR, "a git lock file stays", GIT_FIX },
	{ "landing_branch", LANDING, PERSON,
	    "the branch that work lands on is gone, or has another name",
	    "set repo.default_branch, or create the branch again" },
	{ "dirty_checkout", LANDING, REPAIR,
	    "uncommitted changes in the checkout stay",
	    "commit or stash the changes in your checkout" },
	{ "conflicts", LANDING, REPAIR,
	    "work conflicts with the branch again and again",
	    "see what happened: llmc log" },
	{ "check", LANDING, REPAIR, "auto.check_command gives no verdict",
	    "run the command by hand and fix it" },
	{ "red_branch", LANDING, REPAIR, "the branch fails its own check",
	    "fix the branch, or revert what broke it" },
	{ "post_accept", LANDING, REPAIR,
	    "post_accept_command fails on work that has landed",
	    "see .llmc/logs/post_accept.log and fix the default branch" },
	{ "revert", LANDING, REPAIR, "work that failed cannot be reverted",
	    GIT_FIX },
};

const size_t failure_class_count = nitems(failure_classes);

static const struct failure_class unknown = { "unknown", DAEMON, REPAIR,
	"an unknown failure", "see what happened: llmc log" };

const char *
failure_scope_name(enum failure_scope scope)
{
	static const char *const names[FAILURE_SCOPE_COUNT] = {
		[FAILURE_SCOPE_DAEMON] = "daemon",
		[FAILURE_SCOPE_FLEET] = "fleet",
		[FAILURE_SCOPE_WORKER] = "worker",
		[FAILURE_SCOPE_TASK] = "task",
		[FAILURE_SCOPE_LANDING] = "landing",
	};

	return names[scope];
}

const char *
failure_help_name(enum failure_help help)
{
	static const char *const names[FAILURE_HELP_COUNT] = {
		[FAILURE_HELP_REPAIR] = "repair",
		[FAILURE_HELP_PERSON] = "person",
		[FAILURE_HELP_NOBODY] = "nobody",
	};

	return names[help];
}

const struct failure_class *
failure_class_find(const char *name)
{
	for (size_t i = 0; name != NULL && i < failure_class_count; i++)
		if (strcmp(failure_classes[i].name, name) == 0)
			return &failure_classes[i];
	return &unknown;
}
