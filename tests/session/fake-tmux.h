/* SPDX-License-Identifier: ISC */

/*
 * A tmux for tests: the functions of tmux.h that a session uses, without any
 * program. What is asked for is written down; answers come from the loop, or
 * when the test says so.
 */
#ifndef FAKE_TMUX_H
#define FAKE_TMUX_H

#include <stdbool.h>
#include <sys/types.h>

#include "buf.h"
#include "errtext.h"
#include "tmux.h"

/* "start", "kill", "paste TEXT", "keys KEY" and "capture", with blanks between;
 * to be compared and cleared. */
struct fake_tmux {
	struct buf trace;
	bool held; /* no answers until fake_tmux_answer() */
	struct err err; /* the next answer, code 0 = success; then cleared */
	pid_t pid; /* of the pane that is started next */
	const char *screen;
	/* What was started last. */
	uint64_t generation;
	struct buf launcher, role;
};

struct fake_tmux *fake_tmux_new(struct loop *loop);
void fake_tmux_free(struct fake_tmux *fake);
struct tmux *fake_tmux_port(struct fake_tmux *fake);

/* Answer what was held back, from the oldest on. */
void fake_tmux_answer(struct fake_tmux *fake);
/* Commands that wait for their answer, those that were forgotten too. */
size_t fake_tmux_waiting(const struct fake_tmux *fake);

#endif
