/* SPDX-License-Identifier: ISC */

/*
 * git, asynchronously: one serial queue per working tree and one for the
 * repository's refs, LC_ALL=C, no prompts, a deadline on everything, index.lock
 * retried. Only the plumbing: the operations, such as a landing or a reset,
 * have headers of their own.
 *
 * These commands run unattended, so everything that could ask or interfere is
 * turned off: editors, signatures (commit.gpgSign would wait for a passphrase),
 * autostash, autosquash, background gc, fsmonitor. The rest of the user's
 * configuration applies.
 *
 * Every directory is checked before a command runs there, and
 * the command gets its GIT_DIR, GIT_COMMON_DIR and GIT_WORK_TREE: left to
 * itself, git would look further up from a broken worktree and find the user's
 * own tree, or follow what a worker has put in its place. What would write to
 * the branch that HEAD is on runs only if that is the worker's own. With a box,
 * what runs in a worker's tree runs in it.
 */
#ifndef GIT_H
#define GIT_H

struct buf;
struct err;
struct git;
struct git_queue;
struct loop;

/* Whose is the working tree at dir? false = not a worker's. The strings are
 * valid until the loop goes on. */
struct git_home {
	const char *worker;
	const char *branch; /* short name */
	/* Its HEAD was detached: the worker cannot move its
	 * branch, which follows. */
	bool detached;
	/* It is a repository of its own (git-clone.h), in which git runs in
	 * the worker's box only; git-clone.h brings its commits here. */
	bool clone;
	/* The commit on which the work there began: what it has is not the
	 * worker's, even if no branch has it any more. NULL = not known. */
	const char *base;
};
typedef bool git_home_fn(void *arg, const char *dir, struct git_home *ret_home);

/* The first arguments of each command that runs in the working tree at dir, up
 * to and with "--"; NULL = it runs in no box. The caller frees (buf.h). Inside
 * must be, at their own places: dir and its git directory, writable; the shared
 * folder with its objects, of which the objects are writable; git, env and the
 * user's configuration of git. Nothing else is needed: temporary indexes are
 * in the git directory, refs are written from the root. */
typedef int
git_box_fn(void *arg, const char *dir, char ***ret_prefix, struct err *err);

struct git_options {
	const char *root; /* main working tree */
	bool run_hooks; /* the user's git hooks run in our commits */
	const char *const *own; /* folders of worktrees that are not the user's;
				 * NULL = none */
	/* Per command, 0 = 120 s. What reads or writes a whole tree has five
	 * times as long. */
	int64_t deadline_ms;
	git_home_fn *home; /* NULL = no tree is a worker's */
	git_box_fn *box; /* NULL = none */
	void *arg; /* of these two */
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
/* As the options say; no tree that is the root is a worker's. */
bool
git_home(const struct git *git, const char *dir, struct git_home *ret_home);
int git_box(const struct git *git, const char *dir, char ***ret_prefix,
    struct err *err);

/* The queue of a working tree (or of the repository: the root). Created when
 * first asked for; lives as long as the git. */
struct git_queue *git_queue(struct git *git, const char *dir);

/* The folder was moved away: the operation that runs there ends now, with an
 * error. What it waits for, such as a FIFO in the place of a file, does not
 * come. */
void git_interrupt(struct git *git, const char *dir);

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
typedef void git_drop_fn(void *arg);

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
	/* Called instead of the answer's function when git_free() comes first:
	 * release arg there. NULL = nothing is to be released. */
	git_drop_fn *drop;
};

/* What the command is, for messages: "status" of "-c k=v status". */
const char *git_verb(const char *const *args);

/* Queue a command; copied. It runs in a helper. A command that failed because
 * of a lock file is tried again GIT_TRIES times, GIT_RETRY_MS apart, before it
 * is answered; and once more if a stale lock file of a worktree was removed. */
#define GIT_TRIES    5
#define GIT_RETRY_MS 500
void git_run(struct git_queue *queue, const struct git_command *command,
    git_fn *fn, void *arg);

/* Run a command and wait for it: in a helper. out and complaint
 * are filled, and what ret_answer says is in them. */
void git_wait(const struct git *git, const struct git_command *command,
    struct buf *out, struct buf *complaint, struct git_answer *ret_answer,
    struct err *err);

void git_pause(int64_t ms); /* the same for time to pass */

/* Was that complaint about a lock file that another git holds? */
bool git_complaint_is_lock(const char *complaint);

/*
 * What operations on worktrees and branches have in common (git-facts.h,
 * git-worktree.h, git-land.h and others). Each is safe to run again after a
 * crash in the middle.
 *
 * Callbacks come once, from the loop, and not at all when git_free() comes
 * first. err is NULL on success; with an error facts, lists, refs and ids are
 * NULL, and err has the message of git (-EIO), or -ENOENT for a directory,
 * branch or commit that does not exist, -EBUSY for what another git or a rebase
 * holds, -ENOKEY if git does not know who commits, -ETIMEDOUT. -EUCLEAN: the
 * directory is not, or no longer, a worktree of this repository: the worker
 * that it belongs to must be put aside. Arguments are copied; directories are
 * absolute and the top of a working tree. `onto` is a branch or anything else
 * that names a commit; a branch takes precedence over a tag of the same name.
 *
 * An operation has its worktree's queue to itself, so operations on one
 * worktree happen in the order they were asked for.
 *
 * Commits made here are not signed. A repository inside of a worktree that is
 * not a submodule of it is left alone: it is not counted, not saved, not
 * committed and not cleaned; only git_remove() removes it, too.
 */

#define GIT_ID_SIZE 65 /* a SHA-256 name in hex */

typedef void git_work_fn(const struct err *err, void *arg);
typedef void git_id_fn(const char *id, const struct err *err, void *arg);

/* A list of texts, NULL terminated, valid until the callback returns; NULL with
 * an error. */
typedef void git_list_fn(
    const char *const *list, size_t count, const struct err *err, void *arg);

/*
 * A list of borrowed texts: paths and messages that point into what git
 * printed.
 */

struct git_list {
	const char **v; /* NULL as long as it is empty */
	size_t count, cap;
};

void git_list_add(struct git_list *list, const char *text);
/* Remove every text equal to this one. */
void git_list_remove(struct git_list *list, const char *text);
void git_list_release(struct git_list *list);
#define cleanup_git_list __attribute__((cleanup(git_list_release)))

#endif
