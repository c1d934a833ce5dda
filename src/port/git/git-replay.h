/* SPDX-License-Identifier: ISC */

/* Puts commits that have landed here on top of what a remote has, as a plain
 * rebase would: nothing but objects is written. git.h has the common rules. */
#ifndef GIT_REPLAY_H
#define GIT_REPLAY_H

#include "git.h"

#define GIT_REPLAY_MAX 50 /* commits; more are a person's to look at */

/* One commit. id: behind GIT_LANDED_REFS (git-landed.h). */
struct git_replayed_commit {
	const char *id, *from;
	const char *to; /* "" = the remote has its change already */
};

/* Valid until the callback returns. */
struct git_replayed {
	const char *refused; /* why a person has to look; NULL = it is clean,
			      * and what follows is set */
	char tip[GIT_ID_SIZE], tree[GIT_ID_SIZE];
	const struct git_replayed_commit *commits; /* oldest first */
	size_t count;
};
typedef void git_replay_fn(
    const struct git_replayed *replayed, const struct err *err, void *arg);

/* Build again, on top of theirs, what ours has beyond it: a line of commits
 * that each have a ref of what has landed. Authors, dates and messages stay;
 * the same input gives the same commits. Attributes of merges are those of the
 * main working tree, as with git rebase there. */
void git_replay(struct git *git, const char *ours, const char *theirs,
    git_replay_fn *fn, void *arg);

#endif
