/* SPDX-License-Identifier: ISC */

/*
 * Hard failures: each is a record for the overseer, failure.json, and an event.
 * life.h stops the daemon then, with exit status 1.
 */
#ifndef FAILURE_H
#define FAILURE_H

struct core;

struct failure {
	const char *class; /* event-table.h */
	const char *worker, *task; /* NULL = none */
	int status; /* exit status of the failed command, -1 = none */
	const char *reason; /* what happened, with evidence */
};

/* Only the first one counts; ignored while the daemon stops. */
void failure_raise(struct core *core, const struct failure *failure);
/* RAISE(core, "git", .reason = words); no command has failed. */
#define RAISE(core, what, ...) \
	failure_raise(core,    \
	    &(struct failure){ .class = (what), .status = -1, __VA_ARGS__ })

/* --- root guard --------------------------------------------------------- */

/*
 * Notices that .llmc is not ours any more: it was removed, or replaced by the
 * lock file, or the folder, while we ran, and another daemon may own the root
 * by now. Then we end, with a failure of its own class and exit status, and
 * write nothing there.
 *
 * What loses nothing is to end the sessions: agents would work on unwatched,
 * and cost money. Their work stays in the worktrees and on their branches,
 * which are not part of .llmc. Only if another daemon holds the lock already
 * are the sessions left alone: they may be its own.
 */

/* The lock is ours now. */
void root_guard_watch(struct core *core);

/* Is the root ours? If not, the daemon stops soon. Ask before writing to
 * .llmc. */
bool root_guard_holds(struct core *core);

#endif
