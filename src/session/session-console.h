/* SPDX-License-Identifier: ISC */

/* A session for a person: an agent at the top of the repository, without our
 * hooks and without a record. It is not watched. */
#ifndef SESSION_CONSOLE_H
#define SESSION_CONSOLE_H

#include "tmux.h"

struct err;
struct settings;
struct workspace;

struct session_console {
	const char *name; /* "console1" */
	const struct workspace *workspace;
	const struct settings *settings;
	const char *llmc; /* path of the command line program */
};

/* Write its files and start it; fn as in tmux_start(). On negative errno the
 * files could not be written, and fn is not called. */
int
session_console_start(struct tmux *tmux, const struct session_console *console,
    tmux_started_fn *fn, void *arg, struct err *err);

#endif
