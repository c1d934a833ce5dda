/* SPDX-License-Identifier: ISC */

/*
 * Text for people on an inherited descriptor, which never blocks: a terminal
 * that is stopped (Ctrl-S) or a pipe that nobody reads must not stop who
 * writes. What cannot be written waits, up to a bound; then the rest is left
 * out, and a line says so.
 *
 * A terminal or pipe is opened again, since others share its flags. A regular
 * file always takes what is written, but may be on a disk that hangs: a program
 * that must not wait for that either holds the text (outlet_hold), and has
 * another process write it (outlet_write_held, outlet_drop).
 */
#ifndef OUTLET_H
#define OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "buf.h"

struct loop;
struct loop_timer;

struct outlet {
	int fd; /* as given */
	int own; /* the same, opened again; -1 = not */
	dev_t dev; /* of what was opened again */
	ino_t ino;
	struct buf queue;
	bool cut; /* lines were left out at its end */
	bool hold;
	struct loop *loop;
	struct loop_timer *retry;
};

#define OUTLET_MAX (64 * 1024) /* bytes that wait */
#define OUTLET_INIT(number)                                  \
	{                                                    \
		.fd = (number), .own = -1, .queue = BUF_INIT \
	}

/* On a loop, what waits is tried again until it is written. NULL = no more. */
void outlet_attach(struct outlet *outlet, struct loop *loop);
void outlet_write(struct outlet *outlet, const char *text, size_t len);
/* Try again now; true = nothing waits. */
bool outlet_flush(struct outlet *outlet);
/* Before the end: give who reads slowly a moment. */
void outlet_finish(struct outlet *outlet);

void outlet_hold(struct outlet *outlet, bool hold);
/* Text for a regular file that is held. In another process: write that many
 * bytes of it. Here: they have been written. */
size_t outlet_held(const struct outlet *outlet);
int outlet_write_held(struct outlet *outlet, size_t len);
void outlet_drop(struct outlet *outlet, size_t len);

#endif
