/* SPDX-License-Identifier: ISC */

/* What git says about a working tree. git.h has the common rules. */
#ifndef GIT_FACTS_H
#define GIT_FACTS_H

#include "git.h"

struct err;

/* A working tree compared with a branch: always asked from git, never guessed
 * from file names or a screen. */
struct git_facts {
	char head[GIT_ID_SIZE]; /* "" = unborn */
	char onto[GIT_ID_SIZE]; /* tip of the branch, "" = no commit */
	/* Checked out, "" = detached; the worker's own for a tree that is to be
	 * detached. */
	char branch[256];
	int ahead; /* commits that HEAD has and the branch has not */
	int changed; /* tracked files with changes, staged or not */
	int untracked; /* not ignored */
	bool rebasing; /* a rebase (or am) is in progress */
	int conflicts; /* unmerged paths in the index */
	/* Only with a snapshot, of a clean tree: what HEAD adds and removes
	 * since it left the branch. */
	bool lines_known;
	int64_t lines_added, lines_removed;
};

bool git_facts_clean(const struct git_facts *facts); /* nor in a rebase */

/* branch: NULL = compare with none: onto is "" and ahead 0. */
typedef void
git_facts_fn(const struct git_facts *facts, const struct err *err, void *arg);

void git_facts_read(struct git *git, const char *dir, const char *branch,
    git_facts_fn *fn, void *arg);

/* The commit of a branch; asked without a git process, at once. -ENOENT if
 * there is no such branch, another negative errno if that cannot be read. */
int git_refs_tip(struct git *git, const char *branch, char out[GIT_ID_SIZE]);

/* Is the branch at that commit? Asked without a git process, at once; false
 * also if that cannot be read. */
bool git_facts_is_at(struct git *git, const char *branch, const char *commit);

/* Unmerged paths. */
void git_facts_conflicts(
    struct git *git, const char *dir, git_list_fn *fn, void *arg);

/* The trees of the commits where HEAD left onto: usually one, more if it has
 * merges, none if it is not ahead of onto. */
void git_facts_forks(struct git *git, const char *dir, const char *onto,
    git_list_fn *fn, void *arg);

/* What has happened in a working tree since a commit. */

/* Paths are sorted, each once; valid until the callback returns. */
struct git_since {
	bool known; /* the commit exists; else only uncommitted is set */
	int commits; /* that HEAD has, and neither the commit nor the branch */
	const char *const *files; /* changed by them */
	size_t file_count;
	const char *const *uncommitted; /* or untracked */
	size_t uncommitted_count;
};
typedef void
git_since_fn(const struct git_since *since, const struct err *err, void *arg);
/* commit: an id in hex, may be shortened. */
void git_since_read(struct git *git, const char *dir, const char *commit,
    const char *branch, git_since_fn *fn, void *arg);

/* The files of a commit that differ from where it left the branch: what would
 * change if it landed. Sorted; both names of a file that was moved. */
void git_since_own(struct git *git, const char *dir, const char *commit,
    const char *branch, git_list_fn *fn, void *arg);

/*
 * The files of a working tree as one tree, uncommitted ones too, and what has
 * changed since an earlier one.
 */

struct git_snapshot_change {
	const char *path;
	const char *blob; /* "" = the file is gone */
	bool own; /* differs from where the work began: it did not come from
		   * the branch */
};

/* Valid until the callback returns. */
struct git_snapshot {
	const char *tree;
	bool compared; /* false: the earlier tree is not there any more */
	const struct git_snapshot_change *changes;
	size_t count;
};
/* facts: NULL with an error. snapshot: NULL if none was asked for, or it could
 * not be made; the facts are there nevertheless. */
typedef void git_snapshot_fn(const struct git_facts *facts,
    const struct git_snapshot *snapshot, const struct err *err, void *arg);

/* The facts too. onto: the landing branch. before: the tree to compare with, ""
 * = where the work began, NULL = no snapshot. Files that are ignored, too big
 * or cannot be read are left out. Changes neither the index nor files. A clean
 * tree with one commit needs two git processes. */
void git_snapshot(struct git *git, const char *dir, const char *onto,
    const char *before, git_snapshot_fn *fn, void *arg);

/* Compares files with what was saved of them. */

/* Paths; each file is in one list at most. */
struct git_compared {
	const char *const *lost; /* gone, or as in `base` again */
	const char *const *changed; /* there, with contents of its own */
	size_t lost_count, changed_count;
};
/* compared: NULL with an error, and valid until the callback returns. */
typedef void git_compare_fn(
    const struct git_compared *compared, const struct err *err, void *arg);

/* Of the files that differ between the commits `base` and `saved`: those that
 * are not, in the working tree at dir, as in `saved` any more. It is their
 * contents that are compared. Index and files are not changed. */
void git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_compare_fn *fn, void *arg);

/* How many lines a commit adds and removes. */

/* Binary files count nothing. Without an answer in time it is -ETIMEDOUT: a
 * huge change is not worth the wait. */
typedef void
git_lines_fn(int64_t added, int64_t removed, const struct err *err, void *arg);
void git_lines_read(struct git *git, const char *dir, const char *base,
    const char *commit, git_lines_fn *fn, void *arg);

/* Add up what diff-tree --numstat -z printed, with or without --raw. */
void git_lines_sum(
    const char *out, size_t len, int64_t *ret_added, int64_t *ret_removed);

#endif
