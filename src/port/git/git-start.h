/* SPDX-License-Identifier: ISC */

/*
 * What a git is started with: its arguments, its environment, and the box of
 * the worker in whose tree it runs. Private to the git-*.c files.
 */
#ifndef GIT_START_H
#define GIT_START_H

struct err;
struct git;

/* For who runs it without a slot, at the user's own trees: its arguments, and
 * the edits of its environment (child.h) with `more` behind them, once dir is
 * verified. The caller frees both (strv.h). */
void git_arguments(const struct git *git, const char *dir,
    const char *const *args, char ***ret_argv);
int git_environment(const struct git *git, const char *dir,
    const char *const *more, char ***ret_env, struct err *err);

/* Both, also for a worker's tree: -EUCLEAN if it must not run there
 * (git-verify.h, git-stand.h). In a box its environment is that of the box,
 * with the same edits. */
int git_start_prepare(const struct git *git, const char *dir,
    const char *const *args, const char *const *more, char ***ret_argv,
    char ***ret_env, struct err *err);

#endif
