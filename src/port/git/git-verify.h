/* SPDX-License-Identifier: ISC */

/*
 * Is a directory the top of a working tree of this repository? Asked before
 * every git command, without a git process: a worker can replace its worktree
 * by a symbolic link, make a second repository in it, or point its .git
 * somewhere else, and git would follow. Private to the git-*.c files.
 */
#ifndef GIT_VERIFY_H
#define GIT_VERIFY_H

struct err;

/* The git directory of dir, for GIT_DIR; the caller frees it. -ENOENT if there
 * is no such directory or no .git in it. -EUCLEAN if it is not a working tree
 * of the repository at root: it must be a real directory (links above it are
 * fine), and its .git must be either the repository's own folder or a file that
 * names a folder of the repository's worktrees, which names this .git in turn.
 * Its HEAD and index must be files, and its config.worktree must be the
 * repository's own or have nothing that runs a program (git-remove.h).
 * The root itself is the user's: any .git that git accepts is accepted, a link
 * too.
 *
 * The answer holds at the time of the call only. A command that is given the
 * answer as GIT_DIR and dir as GIT_WORK_TREE never uses another repository;
 * what remains is that dir is replaced before the command enters it. */
int git_verify(
    const char *root, const char *dir, char **ret_gitdir, struct err *err);

/* The same, with the folder that all worktrees share, as the root names it: for
 * GIT_COMMON_DIR, since `commondir` in a worktree's git directory is the
 * worker's to write. */
int git_verify_common(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);

/* The same for the clone of a worker whose sandbox is strict (git-clone.h): a
 * folder of its own as .git. Its configuration is the worker's, so git runs
 * there in the worker's box only. *ret_common is the user's repository. */
int git_verify_clone(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);

/* A FIFO or a device at the place of a small file in a worktree's git directory
 * would have every git wait that lists worktrees, the user's too: remove it. */
void git_verify_sweep(const char *root);

#endif
