/* SPDX-License-Identifier: ISC */

/*
 * The whole terminal, for a command that draws on it: raw keys, the alternate
 * screen, its size. It is given back whatever ends the program, except for
 * SIGKILL. Nothing here waits for the terminal: while it does not read, only
 * the newest frame is kept. No terminfo: the sequences are those of ECMA-48 and
 * of xterm, which ignore what they do not know.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "grid.h"

struct err;
struct grid;
struct loop;
struct screen;

struct screen_fns {
	/* A key (top-key.h); pasted: it was not typed, so it is text. */
	void (*on_key)(uint32_t key, bool pasted, void *arg);
	/* Draw again: another size, or the terminal is ours again. */
	void (*on_size)(void *arg);
	/* The terminal has gone. */
	void (*on_gone)(void *arg);
};

/* Can a screen be drawn: is standard output a terminal that can do more than
 * print? term: $TERM, NULL = not set. */
bool screen_possible(const char *term);

/* What colours it has, by $TERM and $COLORTERM (NULL = not set). */
enum grid_colours
screen_colours(bool wanted, const char *term, const char *colorterm);

/* Take the terminal of standard output. One at a time; free it before the
 * loop. Negative errno. */
int screen_new(struct loop *loop, enum grid_colours colours,
    const struct screen_fns *fns, void *arg, struct screen **ret_screen,
    struct err *err);
void screen_free(struct screen *screen);

void screen_size(const struct screen *screen, int *ret_rows, int *ret_columns);

/* Show the frame, now or as soon as the terminal reads; it belongs to the
 * screen from now on. */
void screen_show(struct screen *screen, struct grid *frame);
/* Do not trust what stands there: the next frame is drawn whole. */
void screen_forget(struct screen *screen);

/* Give the terminal to another program, and take it again. */
void screen_leave(struct screen *screen);
void screen_enter(struct screen *screen);

#endif
