/* SPDX-License-Identifier: ISC */

/* What git says about a working tree. git-work.h has the common rules. */
#ifndef GIT_FACTS_H
#define GIT_FACTS_H

#include "git-work.h"

struct git;
struct git_records;

/* status --porcelain=v2 -z --branch --no-renames */
enum git_status_kind {
	GIT_STATUS_HEAD, /* text = id of the commit, "" = unborn */
	GIT_STATUS_BRANCH, /* text = its name, "" = detached */
	GIT_STATUS_CHANGED,
	GIT_STATUS_UNMERGED,
	GIT_STATUS_UNTRACKED
};

struct git_status_entry {
	enum git_status_kind kind;
	const char *text; /* else a path */
	/* Of a changed one: it is in the index like that, and the file differs
	 * from the index. */
	bool submodule, staged, unstaged;
	/* The same; zeros where it does not exist. */
	char head_id[GIT_ID_SIZE], index_id[GIT_ID_SIZE];
};

bool git_status_next(
    struct git_records *records, struct git_status_entry *ret_entry);

/* A working tree compared with a branch: always asked from git, never guessed
 * from file names or a screen. */
struct git_facts {
	char head[GIT_ID_SIZE]; /* "" = unborn */
	char onto[GIT_ID_SIZE]; /* tip of the branch, "" = no commit */
	/* Checked out, "" = detached; the worker's own for a tree that is to be
	 * detached (git-stand.h). */
	char branch[256];
	int ahead; /* commits that HEAD has and the branch has not */
	int changed; /* tracked files with changes, staged or not */
	int untracked; /* not ignored */
	bool rebasing; /* a rebase (or am) is in progress */
	int conflicts; /* unmerged paths in the index */
};

/* branch: NULL = compare with none: onto is "" and ahead 0. */
typedef void
git_facts_fn(const struct git_facts *facts, const struct err *err, void *arg);

void git_facts_read(struct git *git, const char *dir, const char *branch,
    git_facts_fn *fn, void *arg);

/* The commit of a branch; asked without a git process, at once. -ENOENT if
 * there is no such branch, another negative errno if that cannot be told. */
int git_facts_tip(struct git *git, const char *branch, char out[GIT_ID_SIZE]);

/* Is the branch at that commit? Asked without a git process, at once; false
 * also if that cannot be told. */
bool git_facts_is_at(struct git *git, const char *branch, const char *commit);

/* Unmerged paths. */
void git_facts_conflicts(
    struct git *git, const char *dir, git_list_fn *fn, void *arg);

/* The trees of the commits where HEAD left onto: usually one, more if it has
 * merges, none if it is not ahead of onto. */
void git_facts_forks(struct git *git, const char *dir, const char *onto,
    git_list_fn *fn, void *arg);

#endif
