/* SPDX-License-Identifier: ISC */

/* Looks after commits that have landed: each is kept by a ref of its own for a
 * while, and one that a user's reset or an aborted rebase took off the branch
 * again is found. git.h has the common rules. */
#ifndef GIT_LANDED_H
#define GIT_LANDED_H

#include "git.h"

#define GIT_LANDED_REFS "refs/llmc/landed/"

struct git_landed_spec {
	const char *branch;
	const char *trailer; /* that names the task in a message */
	int64_t since_s; /* older commits landed on another branch */
	int64_t old_s; /* the refs of older commits are removed, but those of
			* the last GIT_LANDED_KEPT and of what is lost */
	const char *const *let_go; /* commits that may be lost; NULL = none */
};
#define GIT_LANDED_KEPT 200

struct git_lost {
	const char *id; /* behind GIT_LANDED_REFS */
	const char *commit, *title;
};

/* Valid until the callback returns. */
struct git_landed {
	char tip[GIT_ID_SIZE]; /* of the branch, as it was looked at */
	const struct git_lost *lost; /* in the order in which to pick them */
	size_t lost_count;
	const char *const *let_go; /* those of them that are still lost */
};
/* landed: NULL with an error. */
typedef void git_landed_fn(
    const struct git_landed *landed, const struct err *err, void *arg);

/* Which commits that have landed are not on the branch any more? One that was
 * rewritten is there: with the same author, time and task, or with the same
 * changes. */
void git_landed_look(struct git *git, const struct git_landed_spec *spec,
    git_landed_fn *fn, void *arg);

#endif
