/* SPDX-License-Identifier: ISC */

/*
 * The sessions of workers that no daemon owns any more: a daemon that is killed
 * leaves them running. Ended like the daemon ends them: what is in their
 * worktrees stays, and the next daemon continues it.
 */
#ifndef SESSION_SWEEP_H
#define SESSION_SWEEP_H

struct loop;
struct tmux;
struct workspace;

struct session_sweep;

/* ended: agents that were still running. */
typedef void session_sweep_fn(int ended, void *arg);

/* End them all: SIGTERM, a grace period, SIGKILL, and no session is left in
 * tmux. Only while the caller holds the daemon's lock. fn is called once, from
 * the loop or from session_sweep_hurry(); the sweep is gone then. If tmux does
 * not answer there is nothing to end. */
struct session_sweep *session_sweep_new(struct loop *loop, struct tmux *tmux,
    const struct workspace *workspace, session_sweep_fn *fn, void *arg);
/* SIGKILL, now. */
void session_sweep_hurry(struct session_sweep *sweep);

#endif
