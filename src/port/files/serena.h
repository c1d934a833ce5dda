/* SPDX-License-Identifier: ISC */

/* A Serena project for a worktree. */
#ifndef SERENA_H
#define SERENA_H

struct err;

/* .serena/project.yml in the worktree (not when git tracks it), kept
 * out of git by .git/info/exclude, and the worktree's path in the `projects:`
 * list of Serena's own file, which is edited atomically and only there; no such
 * file: nothing is registered. What git says is asked before (facts), as this
 * runs no program. -EAGAIN while another daemon edits the list: try again. */
#define SERENA_TRACKED 1u /* git tracks .serena/project.yml */
#define SERENA_IGNORED 2u /* git ignores it already */
int serena_prepare(const char *worktree, const char *name, const char *config,
    unsigned facts, struct err *err);

#endif
