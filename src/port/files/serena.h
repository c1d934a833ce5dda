/* SPDX-License-Identifier: ISC */

/* A Serena project for a worktree. */
#ifndef SERENA_H
#define SERENA_H

struct err;

/* Write .serena/project.yml in the worktree (unless git tracks it), keep it out
 * of git by .git/info/exclude, and add the worktree's path to the `projects:`
 * list of Serena's own file, which is edited atomically and only there; without
 * such a file nothing is registered. The facts must come from git, because this
 * runs no program. -EAGAIN while another daemon edits the list: try again. */
#define SERENA_TRACKED 1u /* git tracks .serena/project.yml */
#define SERENA_IGNORED 2u /* git ignores it already */
int serena_prepare(const char *worktree, const char *name, const char *config,
    unsigned facts, struct err *err);

#endif
