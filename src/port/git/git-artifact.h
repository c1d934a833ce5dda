/* SPDX-License-Identifier: ISC */

/*
 * Files of a commit, found without a worktree: only what the commit itself has
 * counts, no link is followed, and no filter runs. These functions wait for
 * git: for a program of their own, never from inside a loop.
 */
#ifndef GIT_ARTIFACT_H
#define GIT_ARTIFACT_H

#include "contract.h"
#include "git.h"

struct buf;
struct err;

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
