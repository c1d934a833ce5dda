/* SPDX-License-Identifier: ISC */

/*
 * Where things are: the root (the top of the user's main working tree) and
 * llmc's files below it. Finding it runs no program and changes nothing.
 */
#ifndef WORKSPACE_H
#define WORKSPACE_H

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

/* Has `llmc init` been run here? */
bool workspace_initialised(const struct workspace *workspace);

/* The path of one of llmc's files: <root>/.llmc/<name>; the caller frees it. */
char *workspace_path(const struct workspace *workspace, const char *name);
#define WORKSPACE_BOOK "llmc.db" /* port/book */

/* A path from the configuration: relative ones start at the root. */
char *workspace_resolve(const struct workspace *workspace, const char *path);

/* The same, as git names it: below the root, without "." and ".." in it. NULL
 * if it is the root or outside of it. The caller frees it. */
char *workspace_inside(const struct workspace *workspace, const char *path);

void workspace_cleanup(struct workspace *workspace);
#define cleanup_workspace __attribute__((cleanup(workspace_cleanup)))

#endif
