/* SPDX-License-Identifier: ISC */

/*
 * Where things are: the root (the top of the user's main working tree), whether
 * its settings may be used, llmc's files below it, and the folder of each
 * session. Finding it runs no program and changes nothing.
 */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "id.h"

struct buf;
struct err;

struct workspace {
	char *root; /* absolute, no links in it */
	char *git_dir; /* the common one: <root>/.git, or where that points */
	char *dir; /* <root>/.llmc */
	bool in_worktree; /* the search began in a linked worktree */
};

/* Search upwards from `start` as git does. From inside a linked worktree the
 * main working tree is found. -ENOENT outside of a repository, -ENOTSUP where
 * there is no main working tree (a bare repository), -EINVAL for a .git that
 * cannot be understood. Released by the caller on success only. */
int workspace_find(
    const char *start, struct workspace *ret_workspace, struct err *err);

/* The same for a root named by the user: it must be the top of a repository,
 * or lie in a linked worktree of one. */
int workspace_at(
    const char *root, struct workspace *ret_workspace, struct err *err);

void workspace_release(struct workspace *workspace);

/* Has `llmc init` been run here? Yes if the folder cannot be looked into. */
bool workspace_initialised(const struct workspace *workspace);

/* The path of one of llmc's files: <root>/.llmc/<name>; the caller frees it. */
char *workspace_path(const struct workspace *workspace, const char *name);
#define WORKSPACE_BOOK         "llmc.db" /* port/book */
#define WORKSPACE_BOOK_VERSION 1 /* of its tables */
#define WORKSPACE_BOOK_COPY    "llmc.copy.db" /* of the last day */

/* A path from the configuration: relative ones start at the root. */
char *workspace_resolve(const struct workspace *workspace, const char *path);

/* The same, as git names it: below the root, without "." and ".." in it. NULL
 * if it is the root or outside of it. The caller frees it. */
char *workspace_inside(const struct workspace *workspace, const char *path);

void workspace_cleanup(struct workspace *workspace);
#define cleanup_workspace __attribute__((cleanup(workspace_cleanup)))

/*
 * The roots of this user, so that llmc can list them: a file for each, which
 * its daemon writes when it begins, in $XDG_STATE_HOME/llmc/roots, or in
 * ~/.local/state/llmc/roots. It only helps to find them: nothing follows from
 * a file that is there or not.
 */

#define ROOTS_MAX 256 /* that are listed */

int roots_note(const char *root, struct err *err);

/* Their paths, sorted, as in buf.h; the caller frees them. Files of roots that
 * do not exist any more are removed. */
char **roots_list(void);

/*
 * Whether the settings of a root may be used. A repository can bring a folder
 * .llmc along, and settings run commands: they count only if this user has run
 * `llmc init` here. That leaves a mark in the git directory, which a clone does
 * not copy. Settings that git tracks change with every pull, so for those the
 * mark holds what was accepted.
 */

/* May these settings, the text of config.toml, be used? 0; -ENOENT if llmc is
 * not set up here; -EPERM if they were not accepted; err says what to type.
 * -EAGAIN, without words: yes, unless they are not empty and git tracks the
 * file. */
int root_mark_judge(const struct workspace *workspace, const struct buf *config,
    struct err *err);

/* Does git track nothing in .llmc, for sure? Looks without git, at once. */
bool root_mark_is_untracked(const struct workspace *workspace);

/* What git is asked for that, with status 0 for yes; and then this is said:
 * -EPERM. */
extern const char *const root_mark_question[];
int
root_mark_refuse_tracked(const struct workspace *workspace, struct err *err);

/* The same for the file as it is now, never -EAGAIN: asks git, and waits, so
 * never from inside a loop. A git that cannot answer (a broken index) forbids
 * nothing: it is needed to repair that. */
int root_mark_check(const struct workspace *workspace, struct err *err);

/* Accept the settings as they are now. Asks git too. */
int root_mark_write(const struct workspace *workspace, struct err *err);

/* Just before llmc itself changes the settings to these: accept them. Does
 * nothing where the mark holds none. */
int root_mark_follow(const struct workspace *workspace,
    const struct buf *config, struct err *err);

/* .llmc/root_id: the id of the first state of this root, and a sign that there
 * was one. */

/* -ENOENT if there is no such file, or no id in it; ret_id is as it was then.
 */
int root_id_read(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err);

/* Write it, if there is none. */
int root_id_keep(
    const struct workspace *workspace, const char *id, struct err *err);

/* There is no state: was there one? This root has an id, or worktrees in that
 * folder (absolute). Words that say what to do. */
bool root_id_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

/*
 * The folder of one agent session, .llmc/run/<name>/: the socket at which only
 * that session is served, and the spool of its hooks. 0700, and only of our
 * user. Made when the worker is known, removed with the worker.
 *
 * A socket's path is short: if the folder is too deep for one, the socket is in
 * a folder of its own in $XDG_RUNTIME_DIR or /tmp, as the daemon's is. The
 * spool is always below .llmc.
 */

/* Each is the caller's to free. name: "adam", or "overseer". */
char *run_dir_path(const struct workspace *workspace, const char *name);
char *run_dir_spool(const struct workspace *workspace, const char *name);
/* The folder of its socket, usually run_dir_path(); and the socket in it. */
char *run_dir_socket_dir(const struct workspace *workspace, const char *name);
char *run_dir_socket(const struct workspace *workspace, const char *name);
/* The socket where nothing can be created in .llmc. */
char *
run_dir_socket_outside(const struct workspace *workspace, const char *name);

/* Make the folders of the session, private. -EPERM: one of them is a link, or
 * another user's. */
int run_dir_make(
    const struct workspace *workspace, const char *name, struct err *err);
/* Only the folder of this socket, which lies outside of .llmc. */
int run_dir_make_outside(const char *socket, struct err *err);

/* Shall the hooks of its tools wait for the daemon's answer? A file beside the
 * socket says so, because they are not to wait each time. What cannot be
 * created is not waited for. */
void
run_dir_wait(const struct workspace *workspace, const char *name, bool wait);
bool run_dir_waits(const char *socket);

/* Remove all of them, with what is in them. */
void run_dir_remove(const struct workspace *workspace, const char *name);

#endif
