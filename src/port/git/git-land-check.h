/* SPDX-License-Identifier: ISC */

/*
 * Does a checkout block a landing? Decided from what git says about both, and
 * from the files. Private to git-land.c.
 */
#ifndef GIT_LAND_CHECK_H
#define GIT_LAND_CHECK_H

#include "git-changes.h"

struct git_land_check {
	const char *tree; /* path of the checkout; borrowed */
	bool overlap; /* only files that the landing touches can block it */
	struct git_changes changes; /* what the landing does */

	/* Found. */
	char head[GIT_ID_SIZE]; /* the checkout's commit */
	char *branch; /* and branch, "" = detached; NULL = not known */
	struct buf in_way; /* paths, NUL terminated */
	size_t in_way_count;
	struct buf foreign; /* those of them whose staged content is neither the
			     * old nor the landed one */
	/* Paths that may have the landed content already: rows for
	 * `update-index -z --index-info` that put it into an index. */
	struct buf suspects;
};

void git_land_check_init(
    struct git_land_check *check, const char *tree, bool overlap);
void git_land_check_release(struct git_land_check *check);

/* Judge the answer of status (git_status_next) of the checkout, without
 * untracked files; check->changes is filled. */
void git_land_check_status(
    struct git_land_check *check, const char *out, size_t len);

/* Count paths, each ended by NUL, as blocking. */
void git_land_check_blame_all(
    struct git_land_check *check, const char *out, size_t len);

/* The path of a changed file that is in the way with nothing of the user's own
 * staged: a git may have left it that ended while it wrote it. NULL = it is
 * none. The caller frees. */
char *git_land_check_leftover(
    const struct git_land_check *check, const struct git_change *change);

/* What is in the way does not have the other content: have its rows put the
 * checkout's own commit into an index, but for files that are missing. */
void git_land_check_forgive(struct git_land_check *check);

/* Add rows that remove from an index what the user has staged (foreign). */
void
git_land_check_unstage(const struct git_land_check *check, struct buf *out);

/* "3 files are in the way in /path: a, b, c", names made visible. */
void
git_land_check_describe(const struct git_land_check *check, struct buf *out);

/* Is that branch being rebased in the tree? A rebase takes it off HEAD and puts
 * it back at its end. */
bool git_land_check_rebases(const char *tree, const char *branch);

#endif
