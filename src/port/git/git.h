/* SPDX-License-Identifier: ISC */

/*
 * git, asynchronously: one serial queue per working tree and one for the
 * repository's refs, LC_ALL=C, no prompts, a deadline on everything, index.lock
 * retried. The plumbing; what a landing or a reset consists of is git-work.h.
 *
 * Nobody sits at these commands, so whatever could ask or surprise is off in
 * them: editors, signatures (commit.gpgSign would wait for a passphrase),
 * autostash, autosquash, background gc, fsmonitor. The rest of the user's
 * configuration holds.
 *
 * A directory without a .git of its own is refused: git would look further up,
 * and from a broken worktree find the user's own tree.
 */
#ifndef GIT_H
#define GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct git;
struct git_queue;
struct loop;

struct git_options {
	const char *root; /* main working tree */
	bool run_hooks; /* the user's git hooks run in our commits */
	int64_t deadline_ms; /* per command, 0 = 120 s */
};

struct git *git_new(struct loop *loop, const struct git_options *options);

/* Kills what runs, without callbacks; a killed git leaves its lock files
 * behind, so let it become idle first where there is time. Fine from inside a
 * callback. */
void git_free(struct git *git);
bool git_busy(const struct git *git); /* something runs or waits */
const char *git_root(const struct git *git);

/* The queue of a working tree (or of the repository: the root). Created when
 * first asked for; lives as long as the git. */
struct git_queue *git_queue(struct git *git, const char *dir);

/* Answer of one command. status is git's exit status, or -1 with err set when
 * it did not run, did not end in time (-ETIMEDOUT) or said more than 32 MiB
 * (-EFBIG). out and complaint are without their last newlines, hints left out
 * of the complaint, and valid until the callback returns; behind -z, out holds
 * NULs. */
struct git_answer {
	int status;
	const char *out;
	size_t out_len;
	const char *complaint;
	bool locked; /* failed because another git holds a lock file */
	const struct err *err;
};
typedef void git_fn(const struct git_answer *answer, void *arg);

struct git_command {
	const char *const *args; /* without "git -C dir"; NULL terminated */
	const char *input; /* standard input, NULL = none */
	size_t input_len; /* 0 = up to the NUL */
	const char *const *env; /* further "K=V"; NULL = none */
	const char *dir; /* where, NULL = the queue's directory */
	int64_t deadline_ms; /* 0 = the default */
	bool once; /* a lock file is answered at once: what the command had done
		    * by then must be undone first */
	int64_t delay_ms; /* before it runs */
};

/* Queue a command; copied. A command that failed on a lock file is tried again
 * GIT_TRIES times, GIT_RETRY_MS apart, before it is answered; once more when
 * it was the lock of a worktree's that nobody holds. */
#define GIT_TRIES    5
#define GIT_RETRY_MS 500
void git_run(struct git_queue *queue, const struct git_command *command,
    git_fn *fn, void *arg);

/* A turn: the queue is the caller's from `begin` until git_turn_end(), for
 * commands that depend on each other's answers. One command at a time. `drop`
 * (may be NULL) is called instead of everything else when git_free() comes
 * first: release arg there. */
struct git_turn;
typedef void git_turn_fn(struct git_turn *turn, void *arg);
typedef void git_drop_fn(void *arg);
void git_turn(
    struct git_queue *queue, git_turn_fn *begin, git_drop_fn *drop, void *arg);
void git_turn_run(struct git_turn *turn, const struct git_command *command,
    git_fn *fn, void *arg);
void git_turn_end(struct git_turn *turn);

#endif
