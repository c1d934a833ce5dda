/* SPDX-License-Identifier: ISC */

/*
 * The other side of the repository: what a remote has, and what it is given.
 * git.h has the common rules; each of these is one git on the network, with a
 * deadline, and nothing asks: no prompt, no askpass, ssh in batch mode. Whoever
 * uses these has a struct git of its own, so that no other git waits for them.
 */
#ifndef GIT_UPSTREAM_H
#define GIT_UPSTREAM_H

#include "git.h"
#include "landing-record.h"

struct git_push_spec {
	const char *remote; /* a name, or a URL */
	const char *commit; /* id; NULL = delete the ref */
	const char *ref; /* "refs/heads/main" */
	const char *expected; /* where the ref is now, "" = it must not exist */
	bool forward; /* `expected` must be an ancestor of the commit; otherwise
		       * it is rejected, and nothing is sent */
	int64_t deadline_ms; /* 0 = ten minutes */
};

/* words: a sentence, "" for PUSH_OK. PUSH_OK also if the remote
 * has the commit already: at the ref, or (forward) below later ones. */
typedef void git_push_fn(enum push_answer result, const char *words, void *arg);
void git_upstream_push(struct git *git, const struct git_push_spec *spec,
    git_push_fn *fn, void *arg);

enum git_upstream_stand {
	GIT_STAND_SAME,
	GIT_STAND_BEHIND, /* the branch can be moved to the remote's commit */
	GIT_STAND_AHEAD, /* it has commits that the remote lacks */
	GIT_STAND_DIVERGED, /* both have some */
	GIT_STAND_NONE, /* the remote has no such ref */
	GIT_STAND_COUNT
};

struct git_fetch_spec {
	const char *remote;
	const char *ref; /* "refs/heads/main", of the remote */
	const char *keep; /* "refs/llmc/upstream/main": the fetched commit; NULL
			   * = only ask where it is */
	const char *branch; /* ours, to compare with; NULL = do not */
	/* From the last answer, or NULL: if both are as then, so is `stand`,
	 * and one git has run. */
	const char *known_remote, *known_branch;
	enum git_upstream_stand known_stand;
	int64_t deadline_ms; /* 0 = two minutes, ten for commits */
};

struct git_fetched {
	enum push_answer result; /* OK, AWAY */
	char remote[GIT_ID_SIZE]; /* its commit, "" = none */
	char branch[GIT_ID_SIZE]; /* ours */
	enum git_upstream_stand stand; /* where `branch` is asked for */
};
typedef void
git_fetch_fn(const struct git_fetched *fetched, const char *words, void *arg);
/* Asks where the ref is, and fetches its commit if that is not here yet. */
void git_upstream_fetch(struct git *git, const struct git_fetch_spec *spec,
    git_fetch_fn *fn, void *arg);

/* The refs of origin that match a pattern: "refs/x/y ID" each. */
void git_upstream_list(
    struct git *git, const char *pattern, git_list_fn *fn, void *arg);

#endif
