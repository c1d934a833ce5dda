/* SPDX-License-Identifier: ISC */

/*
 * Questions to git that the command line asks and waits for. Never from inside
 * a loop. git runs with LC_ALL=C, without prompts and without optional locks.
 */
#ifndef GIT_ASK_H
#define GIT_ASK_H

#include "child.h"
#include "contract.h"
#include "git.h"

struct buf;
struct err;
struct settings;
struct workspace;

/* Run `git -C dir args...` (NULL terminated); its standard output, without the
 * final newline, is appended to out (may be NULL). 0, git's exit status if it
 * failed (its message is in err, on one line), or negative errno. */
int git_ask(
    const char *dir, const char *const *args, struct buf *out, struct err *err);

/* The same without waiting: child_spawn(). */
int git_ask_later(struct loop *loop, const char *dir, const char *const *args,
    child_fn *done, void *arg, struct child **ret_child, struct err *err);

/* Append the id of HEAD's commit; 1 if there is none, or negative errno. Asks
 * git only if HEAD is not an ordinary branch or commit. */
int git_ask_head(const char *dir, struct buf *out, struct err *err);

/* Does HEAD name a commit? 1, 0 or negative errno. */
int git_ask_has_commit(const char *dir, struct err *err);

/* Is it a repository without a working tree, by core.bare? */
bool git_ask_is_bare(const char *dir);

/* The branch that origin/HEAD names, else the one checked out; the caller
 * frees. NULL when there is neither. */
char *git_ask_default_branch(const char *dir);

/* Is no file below the folder ("a/") in the index of the tree at dir? Looks
 * without git; false also if that cannot be told. */
bool git_ask_lacks(const char *dir, const char *folder);

/* Is there such a local branch? */
bool git_ask_branch_exists(const char *dir, const char *branch);

/*
 * What the user's checkout of the landing branch has uncommitted: work waits
 * for it. Asks git, and waits: never from inside a loop.
 */

/* Append a sentence that names the first files, and says what waits. False if
 * there is nothing to tell: the checkout is clean, the branch is not checked
 * out, or git does not answer. */
bool uncommitted_describe(const struct workspace *workspace,
    const struct settings *settings, struct buf *out);

/*
 * Files of a commit, found without a worktree: only what the commit itself has
 * counts, no link is followed, and no filter runs. For a program of its own,
 * since it may take long.
 */

struct git_artifact {
	const char *path; /* set by the caller, as git writes it; "" = none */
	enum artifact_kind kind;
	char id[GIT_ID_SIZE]; /* of its blob */
	bool changed; /* since the base */
	int64_t size; /* if it is a file that was changed; else 0 */
};

/* Look the paths up in a commit and compare them with another one. commit and
 * base are full ids; commit "": none of them is there; base "": all of them are
 * new. Negative errno. */
int git_artifact_find(const char *root, const char *commit, const char *base,
    struct git_artifact *artifacts, size_t count, struct err *err);

/* Append the contents of one that was found, which has at most max bytes. */
int git_artifact_read(const char *root, const struct git_artifact *artifact,
    size_t max, struct buf *out, struct err *err);

#endif
