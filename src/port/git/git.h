/* SPDX-License-Identifier: ISC */

/*
 * git, asynchronously: one serial queue per working tree and one for the
 * repository's refs, LC_ALL=C, no prompts, a deadline on everything, index.lock
 * retried. Only the plumbing; git-work.h has the operations, such as a landing
 * or a reset.
 *
 * Nobody watches these commands, so everything that could ask or interfere is
 * turned off: editors, signatures (commit.gpgSign would wait for a passphrase),
 * autostash, autosquash, background gc, fsmonitor. The rest of the user's
 * configuration applies.
 *
 * Every directory is checked before a command runs there (git-verify.h), and
 * the command gets its GIT_DIR and GIT_WORK_TREE: left to itself, git would
 * look further up from a broken worktree and find the user's own tree, or
 * follow what a worker has put in its place.
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
	const char *const *own; /* folders of worktrees that are not the user's;
				 * NULL = none */
	/* Per command, 0 = 120 s. What reads or writes a whole tree has five
	 * times as long. */
	int64_t deadline_ms;
};

struct git *git_new(struct loop *loop, const struct git_options *options);

/* Kills running commands (but for those that linger), without callbacks; a
 * killed git leaves its lock files behind, so let it become idle first if there
 * is time. May be called from inside a callback. */
void git_free(struct git *git);
bool git_busy(const struct git *git); /* something runs or waits */
const char *git_root(const struct git *git);
struct loop *git_loop(const struct git *git);
bool git_runs_hooks(const struct git *git); /* as in the options */
const char *const *git_own(const struct git *git); /* never NULL */

/* The queue of a working tree (or of the repository: the root). Created when
 * first asked for; lives as long as the git. */
struct git_queue *git_queue(struct git *git, const char *dir);

/* Answer of one command. status is git's exit status, or -1 with err set if it
 * did not run, did not end in time (-ETIMEDOUT) or printed more than 32 MiB
 * (-EFBIG). out and complaint are without their last newlines, complaint also
 * without hints; both are valid until the callback returns. With -z, out
 * contains NULs. */
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
	int stdin_fd; /* used instead of input, as in child.h; 0 = none */
	const char *const *env; /* further "K=V"; NULL = none */
	const char *dir; /* where, NULL = the queue's directory */
	int64_t deadline_ms; /* 0 = the default */
	bool once; /* do not retry when there is a lock file: what the command
		    * had done by then must be undone first */
	bool linger; /* runs on if git_free() comes before its end */
	int64_t delay_ms; /* before it runs */
};

/* What the command is, for messages: "status" of "-c k=v status". */
const char *git_verb(const char *const *args);

/* Queue a command; copied. A command that failed because of a lock file is
 * tried again GIT_TRIES times, GIT_RETRY_MS apart, before it is answered; and
 * once more if a lock file of a worktree that nobody holds was removed. */
#define GIT_TRIES    5
#define GIT_RETRY_MS 500
void git_run(struct git_queue *queue, const struct git_command *command,
    git_fn *fn, void *arg);

/* A slot: the queue is the caller's from `begin` until git_slot_end(), for
 * commands that depend on each other's answers. One command at a time. `drop`
 * (may be NULL) is called instead of everything else when git_free() comes
 * first: release arg there. */
struct git_slot;
typedef void git_slot_fn(struct git_slot *slot, void *arg);
typedef void git_drop_fn(void *arg);
void git_slot(
    struct git_queue *queue, git_slot_fn *begin, git_drop_fn *drop, void *arg);
void git_slot_run(struct git_slot *slot, const struct git_command *command,
    git_fn *fn, void *arg);
void git_slot_end(struct git_slot *slot);

/* What a git is started with in dir, for who runs it without a slot: its
 * arguments, and the edits of its environment (child.h) with `more` behind
 * them, once dir is verified. The caller frees both (strv.h). */
void git_arguments(const struct git *git, const char *dir,
    const char *const *args, char ***ret_argv);
int git_environment(const struct git *git, const char *dir,
    const char *const *more, char ***ret_env, struct err *err);

/* Was that complaint about a lock file that another git holds? */
bool git_complaint_is_lock(const char *complaint);

#endif
