/* SPDX-License-Identifier: ISC */

/*
 * tmux from the command line: one command and its answer, in a loop of its own.
 * Failures are reported; all return an exit status.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct cli;
struct err;
struct settings;

struct sessions_entry {
	char *name; /* in tmux: "llmc-adam" */
	char *role; /* "worker", "console", "overseer", "" = not ours */
	char *worker; /* "" = none */
	bool dead; /* its program has ended */
};

struct sessions {
	struct sessions_entry *list;
	size_t count;
};

/* Everything that a session starts ends with it (remains.h): in one of this
 * root, as a console is, refuse to start what should go on. command: what to
 * type elsewhere. */
int
sessions_refuse_inside(struct cli *cli, const char *what, const char *command);

/* All sessions of this root's server; none if no server is running. */
int sessions_load(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions);
/* The same without the report: negative errno. */
int sessions_try(struct cli *cli, const struct settings *settings,
    struct sessions *ret_sessions, struct err *err);
void sessions_release(struct sessions *sessions);

/* By the worker's name, the console's ("console1"), or the session's own; NULL
 * if there is none. */
const struct sessions_entry *
sessions_find(const struct sessions *sessions, const char *target);

/* The screen and up to `history` lines above it, appended. */
int sessions_capture(struct cli *cli, const struct settings *settings,
    const char *name, int history, struct buf *out);

/* An agent for a person; name: "console1". */
int sessions_start_console(
    struct cli *cli, const struct settings *settings, const char *name);
int sessions_kill(
    struct cli *cli, const struct settings *settings, const char *name);

/* End those of workers that no daemon owns, keeping their work; the caller
 * holds the daemon's lock. *ret_ended: agents that were still running. */
int sessions_sweep(
    struct cli *cli, const struct settings *settings, int *ret_ended);

/* The command to type to attach, quoted for a shell; appended. */
void sessions_attach_words(
    const struct settings *settings, const char *name, struct buf *out);

/* Become tmux, attached to the session; inside the same server the client
 * switches. Inside another tmux the person is asked, unless `nested` says yes.
 * Returns only after a failure, or with --json, which only prints the
 * command. */
int sessions_attach(struct cli *cli, const struct settings *settings,
    const char *name, bool nested);

#endif
