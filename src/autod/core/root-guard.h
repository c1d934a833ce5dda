/* SPDX-License-Identifier: ISC */

/*
 * Notices that .llmc is not ours any more: somebody removed or replaced the
 * lock file, or the folder, while we ran, and another daemon may own the root
 * by now. Then we end, with a failure of its own class and exit status, and
 * write nothing there.
 *
 * What loses nothing is to end the sessions: agents would work on, and cost
 * money, with nobody to see what they do. Their work stays in the worktrees and
 * on their branches, which are not part of .llmc. Only if another daemon holds
 * the lock already are the sessions left alone: they may be its own.
 */
#ifndef ROOT_GUARD_H
#define ROOT_GUARD_H

struct core;

/* Watch the lock; not for a oneshot. Ends with core->root_watch and
 * core->root_pause. */
void root_guard_watch(struct core *core);

/* Is the root ours? If not, the daemon stops soon. Ask before writing to
 * .llmc. */
bool root_guard_holds(struct core *core);

#endif
