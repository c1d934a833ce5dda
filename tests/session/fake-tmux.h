/* SPDX-License-Identifier: ISC */

/*
 * A fake tmux for tests: the functions of tmux.h that a session and the daemon
 * use, without a program. Requests are recorded; answers come from the loop, or
 * when the test says so. Sessions outlive the port, as they do with tmux's own
 * server.
 */
#ifndef FAKE_TMUX_H
#define FAKE_TMUX_H

#include "base.h"

#include <sys/types.h>

#include "tmux.h"

/* "start", "kill", "paste TEXT", "keys KEY" and "capture", separated by blanks;
 * compare and clear. */
struct fake_tmux {
	struct buf trace;
	bool held; /* no answers until fake_tmux_answer() */
	struct err err; /* the next answer, code 0 = success; then cleared */
	pid_t pid; /* of the pane that is started next */
	/* Makes the process of a pane instead; it is told of the end of its
	 * session. */
	pid_t (*spawn)(void);
	const char *screen;
	/* The last start. */
	uint64_t generation;
	struct buf launcher, role;
};

struct fake_tmux *fake_tmux_new(struct loop *loop);
void fake_tmux_free(struct fake_tmux *fake);
struct tmux *fake_tmux_port(struct fake_tmux *fake);

/* Give the answers that were held, oldest first. */
void fake_tmux_answer(struct fake_tmux *fake);
/* Number of commands that wait for an answer, including forgotten ones. */
size_t fake_tmux_waiting(const struct fake_tmux *fake);

/* Is there a session of that name? The pid of its pane, 0 = none. */
pid_t fake_tmux_pane(const char *name);
/* Forget all sessions, as if the server had died. */
void fake_tmux_forget_sessions(void);

#endif
