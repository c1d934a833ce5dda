/* SPDX-License-Identifier: ISC */

/*
 * Where a worker's working tree stands: with HEAD on the worker's own branch,
 * or detached, where the worker cannot write refs (git-follow.h moves the
 * branch then). One place knows which of the two is right: git_home(). Private
 * to the git-*.c files, but for the last two.
 */
#ifndef GIT_STAND_H
#define GIT_STAND_H

#include "git-work.h"

struct err;
struct git;
struct git_op;
struct git_trees;

/* The git directory of a tree, from its .git; NULL when that is broken. The
 * caller frees. */
char *git_dirs_gitdir(const char *tree);

/* What all worktrees share: refs, objects. The caller frees. */
char *git_dirs_common(const char *gitdir);

/* The full name of the branch that HEAD is on; NULL = detached or broken. The
 * caller frees. */
char *git_dirs_head(const char *gitdir);
bool git_dirs_is_on(const char *gitdir, const char *branch);

/* The full name of what a branch that is a symbolic reference points at; NULL =
 * it is none. The caller frees. */
char *git_dirs_alias(const char *common, const char *branch);

/* The commit a detached HEAD is at; "" = it is not detached, or not
 * at a whole id. */
void git_dirs_detached(const char *gitdir, char *out, size_t size);

/* The main tree and the worktrees that exist, or are locked, with the branches
 * that their HEADs lead to. -EUCLEAN
 * when root is no working tree, -ENOTSUP for refs that are not files. */
int git_dirs_trees(const char *root, struct git_trees *trees, struct err *err);

/* The git directory that the repository has for a worktree at this path, which
 * need not exist any more; NULL = none. The caller frees. */
char *git_dirs_registered(const char *common, const char *tree);

/* Is the path, by its real name, that of the folder or of something in it? */
bool git_dirs_is_below(const char *path, const char *folder);

/* May the hook run at a landing? It exists in the repository's own folder of
 * hooks, and does not lie (by a link) in the tree, where a worker's commit
 * could have put it. */
bool
git_dirs_hook_is_safe(const char *common, const char *tree, const char *hook);

/* Have git run the hooks of the repository's own folder only, whatever
 * core.hooksPath says; or none, if one of them lies in the tree or in the
 * root's. */
void git_dirs_add_hooks(
    const char *gitdir, const char *tree, const char *root, char ***env);

/* The git directory of a tree, and what all share, as git_verify_common(); or
 * git_verify_clone(), where git_home() says that it is one. */
int git_stand_find(const struct git *git, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);
bool git_stand_is_clone(const struct git *git, const char *dir);

/* Is HEAD on the branch, or detached in a tree that is to be so? Not in the
 * middle of a rebase. A clone has branches of its own: what counts there is
 * HEAD. */
bool git_stand_is_on(const struct git *git, const char *dir, const char *gitdir,
    const char *branch);

/* What HEAD is on, as git status tells it: the worker's branch also for a tree
 * that is detached as it is to be. size: of branch. */
void git_stand_name(const struct git *git, const char *dir, const char *gitdir,
    char *branch, size_t size);

/* May git run with these arguments in a worker's tree? What writes to the
 * branch that HEAD is on may not if that is another's: -EUCLEAN. */
int git_stand_check(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *args, struct err *err);

/* In a helper: set HEAD to the branch, or detach it at the commit. Neither
 * files nor branches change. */
void git_stand_put(
    struct git_op *op, const char *branch, bool detached, const char *id);

/* Is HEAD on no branch? Looks at files only. True also for a clone, and for a
 * tree that is broken, which others tell. */
bool git_stand_is_detached(const struct git *git, const char *dir);

/* From now on the tree stands in the other way: detached at the commit that
 * HEAD names (of any branch; of its own, if HEAD names none), or on its branch
 * again, which has followed before. For a tree that no agent works in; home()
 * must say the new way from when fn is called. Index and files stay, a rebase
 * goes on. -EUCLEAN if it is to be attached and HEAD is on another branch. */
void git_stand_set(struct git *git, const char *dir, const char *branch,
    bool detached, git_work_fn *fn, void *arg);

#endif
