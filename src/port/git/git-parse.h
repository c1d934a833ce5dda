/* SPDX-License-Identifier: ISC */

/*
 * What git prints for programs (-z), taken apart. Entries point into the text
 * that is parsed, except where something is said to be owned. Malformed pieces
 * are passed over. Private to the git-*.c files.
 */
#ifndef GIT_PARSE_H
#define GIT_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "git-work.h"

/* NUL terminated records, one after the other; NULL = no more. */
struct git_records {
	const char *at, *end;
};
void git_records_init(struct git_records *records, const char *out, size_t len);
const char *git_records_next(struct git_records *records);

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
	/* Of a changed one; zeros where it does not exist. */
	char head_id[GIT_ID_SIZE], index_id[GIT_ID_SIZE];
};
bool git_status_next(
    struct git_records *records, struct git_status_entry *ret_entry);

/* worktree list --porcelain -z; owned. */
struct git_tree {
	char *path;
	char *branch; /* full ref name, NULL = detached */
	bool locked;
	bool unfinished; /* `worktree add` was killed in the middle */
};
struct git_trees {
	struct git_tree *v;
	size_t count;
};
void git_trees_parse(struct git_trees *trees, const char *out, size_t len);
void git_trees_release(struct git_trees *trees);
const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir);
/* The next one behind `after` (NULL = the first) with the branch checked out;
 * without refs/heads/. */
const struct git_tree *git_trees_on(const struct git_trees *trees,
    const char *branch, const struct git_tree *after);

/* Do two paths mean the same place? The last part need not exist. */
bool git_same_path(const char *a, const char *b);

/* diff-tree -r -z --no-renames, raw, sorted by path; paths point into the
 * text. */
struct git_change {
	char status; /* A, D, M, T */
	char mode[8]; /* new */
	char id[GIT_ID_SIZE]; /* new, zeros when deleted */
	const char *path;
};
struct git_changes {
	struct git_change *v;
	size_t count;
};
void
git_changes_parse(struct git_changes *changes, const char *out, size_t len);
void git_changes_release(struct git_changes *changes);
const struct git_change *
git_changes_find(const struct git_changes *changes, const char *path);
/* Is a change below the folder `path`? */
bool git_changes_below(const struct git_changes *changes, const char *path);

#endif
