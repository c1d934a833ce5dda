/* SPDX-License-Identifier: ISC */

/*
 * The box of a worker, made: reads what model/task/box-plan.h needs to know,
 * creates the folders that are mounted, and returns the words that run a
 * program inside
 * (`[env -u NAME...] bwrap OPTION... --`, with the words of box-net.h before
 * it). Looks at files only, so a loop may call it.
 *
 * A box that was asked for is never left out: what cannot be made is an error
 * that says why and what to type.
 */
#ifndef BOX_H
#define BOX_H

#include "box-plan.h"

struct agent_kind;
struct err;
struct settings;
struct workspace;

enum box_kind {
	BOX_SESSION, /* an agent: its socket, a folder for its own files */
	BOX_COMMAND, /* git or a command in a worker's tree */
	BOX_CHECK, /* a command in .llmc/checks/NUMBER; worker is not used */
};

struct box_spec {
	enum box_kind kind;
	const struct workspace *workspace;
	const struct settings *settings;
	const char *worker; /* its name */
	const struct agent_kind *agent; /* of a BOX_SESSION; NULL = as its
					 * settings say */
	const char *tree; /* its worktree or clone; exists */
	bool read_only; /* that, for a session */
	bool network; /* a BOX_COMMAND that may need sandbox_hosts; a session
		       * and a check always have them */
	enum box_mode at_least; /* of a clone, whatever the settings say now */
	bool trial; /* the tree need not be of the kind that the mode has:
		     * nothing runs, or it is a repair's */
	const char *const *read, *const *write; /* besides those of the
						 * settings; NULL = none */
	const char *tmpdir; /* of its place (setup.h), exists; NULL = no
			     * program of the worker runs */
};

struct box {
	enum box_mode mode; /* BOX_OFF: the rest is NULL */
	char **prefix; /* words before those of the program */
	char **env; /* our own environment without what may not get in, and
		     * with what the box sets: "NAME=VALUE" */
	char *agent; /* that folder; only of a session */
};

/* Settings decide the mode. 0 with mode BOX_OFF if there is no sandbox.
 * Released with box_release(). */
int
box_prepare(const struct box_spec *spec, struct box *ret_box, struct err *err);
void box_release(struct box *box);

/* The prefix for a command in a folder that may be a worker's tree or that of a
 * check; *ret_prefix is NULL if no sandbox is set for it, or if it is none of
 * both. For strv_free(). */
int
box_prefix(const struct workspace *workspace, const struct settings *settings,
    const char *dir, char ***ret_prefix, struct err *err);

/* The settings have changed: tell the proxy of a strict box that may run. */
void box_refresh(const struct workspace *workspace,
    const struct settings *settings, const char *worker);

/* The text that runs a shell command behind a prefix (NULL = none); the caller
 * frees it. */
char *box_shell(const char *const *prefix, const char *command);

/* Adds the names of those of our own variables that must not reach code of an
 * agent that has no box, as edits of child.h that remove them. worker NULL: of
 * a check; settings NULL: defaults.env is not counted. */
void box_hide_env(
    const struct settings *settings, const char *worker, char ***edits);

/* Where a worker's agent keeps its files in a box: .llmc/box/NAME/claude. The
 * caller frees. */
char *box_agent_dir(const struct workspace *workspace, const char *worker,
    const struct agent_kind *kind);

#endif
