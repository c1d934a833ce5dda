/* SPDX-License-Identifier: ISC */

/*
 * A worker's commit is frozen for the landing queue: everything that is said of
 * it afterwards, and what lands, is about this very commit, whatever happens in
 * the worktree. The rules of git.h hold.
 */
#ifndef GIT_FREEZE_H
#define GIT_FREEZE_H

#include "git.h"

struct git;

struct git_freeze {
	const char *branch; /* that the worker must stand on */
	const char *onto; /* landing branch */
	const char *ref; /* full name, "refs/llmc/queue/<task>"; NULL = only
			  * look */
	const char *expected; /* full id that HEAD must have, NULL = any */
	/* The caller has just seen that nothing is uncommitted at this commit:
	 * only HEAD is read again, if it is still there. NULL = not seen. */
	const char *seen_clean;
	/* Files and folders, relative to the top, that never land. Literal
	 * names, in upper or lower case; NULL terminated; NULL = none. */
	const char *const *forbidden;
	/* Patterns of paths whose changes are reported: git's pathspecs with
	 * ":(top,glob)" in front. A star or "?" does not match a slash, two
	 * stars beside one match any number of folders, a folder's name
	 * means all below it, and upper and lower case differ. "Makefile" is
	 * the one at the top; with two stars and a slash in front it is each of
	 * them. */
	const char *const *protected_paths;
	bool tests; /* look whether it weakens tests, which takes one more
		     * process if it changes some */
};

/* Why it was not frozen. */
enum git_freeze_refusal {
	GIT_FREEZE_OTHER_BRANCH = 1 << 0, /* or detached */
	GIT_FREEZE_REBASING = 1 << 1,
	GIT_FREEZE_DIRTY = 1 << 2, /* changes or untracked files */
	GIT_FREEZE_MOVED = 1 << 3, /* HEAD is not the expected commit */
	GIT_FREEZE_NOTHING = 1 << 4, /* the landing branch has all commits */
	GIT_FREEZE_UNRELATED = 1 << 5, /* no commit in common with it */
	GIT_FREEZE_FORBIDDEN = 1 << 6
};

struct git_frozen {
	unsigned refused; /* 0 = frozen, and the ref names `commit` */
	char commit[GIT_ID_SIZE], tree[GIT_ID_SIZE];
	/* Where it left the landing branch, or a commit that this has lost
	 * since (git_home's base): the commit itself if NOTHING, "" if
	 * UNRELATED. Its tree is "" and its committer date 0 if unknown. */
	char base[GIT_ID_SIZE], base_tree[GIT_ID_SIZE];
	int64_t base_date;
	char branch[256]; /* checked out, "" = detached */
	/* Of the commit; dates as git_candidate wants them. "" if NOTHING. */
	const char *author_name, *author_email, *author_date, *committer_date;
	struct git_list messages; /* of all commits, oldest first, without
				   * their last newlines */
	struct git_list dirty, forbidden, protected_paths; /* paths */
	const char *weakens; /* what it does to tests: acceptance.h; "" =
			      * nothing that was found, or was not looked for */
};

/* frozen is NULL with an error, and valid until the callback returns. */
typedef void git_freeze_fn(
    const struct git_frozen *frozen, const struct err *err, void *arg);

/* Look at the worktree and write the ref, unless something is refused; the
 * answer has all reasons, and all facts in either case. Protected paths do not
 * keep it from being frozen. Needs two git processes, or one if it was seen
 * clean; one more if a commit touched forbidden or protected paths, and one if
 * the worker merged. */
void git_freeze(struct git *git, const char *dir, const struct git_freeze *what,
    git_freeze_fn *fn, void *arg);

/* Only look at a commit that was made of the worktree (git-worktree.h): which
 * of the forbidden and protected paths differ from `base`. The answer has
 * `commit`, these lists, FORBIDDEN, and MOVED if neither the commit nor its
 * first parent is the expected one; `branch`, `onto` and `ref` of what are not
 * used. */
void git_freeze_look(struct git *git, const char *base, const char *commit,
    const struct git_freeze *what, git_freeze_fn *fn, void *arg);

/* Call fn when the commits and refs that were frozen until now are on disk:
 * from then on the worker's branch is not needed to keep them. */
void git_freeze_sync(struct git *git, git_work_fn *fn, void *arg);

/* Remove the ref; it may be gone already. */
void
git_freeze_drop(struct git *git, const char *ref, git_work_fn *fn, void *arg);

/* Remove the locks of refs in this folder, "refs/llmc/x/", that a killed daemon
 * left. For one that starts: before it freezes or drops anything. */
void git_freeze_unlock(const struct git *git, const char *folder);

#endif
