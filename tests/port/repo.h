/* SPDX-License-Identifier: ISC */

/*
 * A real repository for the tests of the git ports: a scratch HOME, no other
 * configuration, and synchronous versions of the operations on git.
 */
#ifndef REPO_H
#define REPO_H

#include "unit.h"
#include "git-facts.h"
#include "git-land.h"
#include "git.h"

struct err;

struct repo {
	struct loop *loop;
	struct git *git;
	const char *base; /* scratch folder of this repository */
	const char *root;
	const char *dir; /* a worktree on llmc/ann, after it was added */
	/* What git_home() says of it, and whether git runs in a box there: as
	 * REPO_DETACHED and REPO_BOXED in the environment say. */
	bool detached, boxed;
	const char *task_base; /* the base that git_home() says; NULL = none */
	bool may_clone; /* it is one when its .git is a folder */

	/* The answer of the last operation. */
	bool called;
	int code; /* of err, 0 = success */
	char msg[512];
	char text[4096]; /* ref, id, detail; lists with | after each entry */
	char stamp[16]; /* of the last reset, removal or rebase */
	int stamps;
	const char *const *keep; /* as in git_land(), for each that follows */
	const char *keep_as; /* as in git_salvage, for each that follows */
	bool leave; /* the same */
	char clean[GIT_ID_SIZE]; /* HEAD of a clean worktree that was saved */
	bool conflict;
	enum git_land_result landed;
	char **places; /* that tell when to land it again */
	struct git_facts facts;
	int followed_code; /* of repo_follow() */
};

/* A repository with one commit (a.txt) on main; run_hooks as in git.h. The
 * caller frees it. */
struct repo *repo_new(bool run_hooks);
struct repo *repo_new_empty(void); /* without the commit */
/* With git-lfs for those who have it, and names that it can handle: no line
 * break. Without it the test is skipped. */
struct repo *repo_new_lfs(void);
void repo_free(struct repo *repo);
void repo_cleanup(struct repo **repo);
#define cleanup_repo __attribute__((cleanup(repo_cleanup)))

/* From now on git and sync(1) wait for the disk, as they should. */
void repo_use_disk(void);

/* Open another struct git on the same repository. */
void repo_reopen(struct repo *repo, const struct git_options *options);

/* Run a shell script in the main tree (sh) or in the worktree (wt); it must
 * succeed. $R, $W and $B are root, dir and base. The output, without its last
 * newlines, is valid until the repository is freed. */
const char *repo_sh(struct repo *repo, const char *text);
/* In a worktree that is detached, the branch follows afterwards. */
const char *repo_wt(struct repo *repo, const char *text);
/* Only that (git_follow_run); returns its code. */
int repo_follow(struct repo *repo);

/* Skip the test where worktrees are detached. */
void repo_attached_only(void);

/* For more operations: forget the last answer, note one, run the loop until
 * there is one. */
void repo_begin(struct repo *repo);
void repo_answered(struct repo *repo, const struct err *err);
void repo_wait(struct repo *repo);

/* The operations, with branch llmc/ann, onto main, worker ann. Return the code;
 * -1 with landed for a landing that failed. */
int repo_add(struct repo *repo);
struct repo *repo_with_tree(void); /* a new one, with the worktree */
int repo_facts(struct repo *repo);
int repo_conflicts(struct repo *repo);
/* Give up root's right to read every file, for good; false if that is not
 * possible here. */
bool repo_obey_modes(void);
int repo_salvage(struct repo *repo, const char *stamp);
int repo_reset(struct repo *repo);
int repo_reset_clean(struct repo *repo, const char *head, const char *same);
int repo_unlock(struct repo *repo);
int repo_remove(struct repo *repo);
int repo_leftovers(struct repo *repo, const char *message);
int repo_rebase(struct repo *repo);
int repo_abort(struct repo *repo);
int repo_forks(struct repo *repo);
int repo_squash(struct repo *repo, const char *message);
enum git_land_result
repo_land(struct repo *repo, const char *onto, const char *id, bool overlap);
int repo_settle(struct repo *repo);

/* Put a wrapper for git into PATH: the n-th call from now is killed instead of
 * run ("before"), run and then killed ("after"), or ends only with its helper
 * ("hang"); or the helper is killed ("orphan-before", "orphan-after"), and with
 * it the process that has called repo_trap_us(). 0 = none, only count. */
void repo_trap(struct repo *repo, int nth, const char *mode);
void repo_trap_us(void);
int repo_trap_count(struct repo *repo); /* calls since then */
/* Somebody else does that in the main tree right before the first git whose
 * words match the pattern of a shell. */
void repo_meanwhile(struct repo *repo, const char *pattern, const char *does);
void repo_untrap(struct repo *repo);

#endif
