/* SPDX-License-Identifier: ISC */

/* The operations of the landing queue, synchronously, on a repository of
 * repo.h. Lists are texts with | after each entry. */
#ifndef REPO_LANDING_H
#define REPO_LANDING_H

#include "base.h"
#include "git-candidate.h"
#include "git-check-tree.h"
#include "git-freeze.h"
#include "repo.h"

struct repo_landing {
	struct repo *repo;
	const char *dir; /* a detached worktree at main, "$B/check" */
	struct git_frozen frozen; /* without its lists and texts */
	char author[256]; /* name|email|date|committer date */
	char messages[1024], dirty[1024], forbidden[1024],
	    protected_paths[1024], weakens[256];
	struct git_candidate_answer built; /* without its list */
	char paths[1024];
	char overlaid[1024], modified[1024];
	bool kept;
};

/* With the worktree of repo_add() and the detached one. */
struct repo_landing *repo_landing_new(void);
struct repo_landing *repo_landing_on(struct repo *repo); /* takes repo */
void repo_landing_cleanup(struct repo_landing **landing);
#define cleanup_landing __attribute__((cleanup(repo_landing_cleanup)))

/* Return the code, as those of repo.h. branch, onto and ref are set where the
 * caller left them out: llmc/ann, main, refs/llmc/queue/t1. */
int repo_freeze(struct repo_landing *landing, const struct git_freeze *what);
int repo_freeze_look(struct repo_landing *landing, const char *base,
    const char *commit, const struct git_freeze *what);
int repo_drop(struct repo_landing *landing, const char *ref);

/* Names are resolved, base is the merge base, dates and authors are set where
 * the caller left them out. */
int repo_build(struct repo_landing *landing, const struct git_candidate *what);

/* Build `head` on `parent`, and expect that result. */
void repo_expect_build(struct repo_landing *landing, const char *parent,
    const char *head, enum git_candidate_result result);

/* Prepare the detached worktree; names are resolved. */
int
repo_check_out(struct repo_landing *landing, const struct git_check_tree *what);
/* Note what lies there; and compare after a check, with the answer in paths. */
int repo_keep(struct repo_landing *landing, const char *keep);
int repo_compare(struct repo_landing *landing, const char *judge,
    const char *const *protected_paths);

#endif
