/* SPDX-License-Identifier: ISC */

/* What the git-*.c files share. */
#ifndef GIT_PRIVATE_H
#define GIT_PRIVATE_H

#include <sys/queue.h>
#include <sys/types.h>

#include "buf.h"
#include "git-land.h"
#include "git-worktree.h"
#include "git.h"
#include "procref.h"

struct child;
struct err;
struct git;
struct git_hold;
struct git_op;
struct git_op_text;
struct git_save;
struct git_slot;

/* --- what git prints, and refs ----------------------------------------- */

/*
 * Reads what git prints for programs (-z), one record at a time. Records point
 * into the text.
 */

/* NUL terminated records, one after the other; NULL = no more. */
struct git_records {
	const char *at, *end;
};
void git_records_init(struct git_records *records, const char *out, size_t len);
const char *git_records_next(struct git_records *records);

/* The text after n blanks of a record, NULL if there are fewer. */
const char *git_records_skip(const char *s, int n);

/* Copy the word at s; false if there is none or it is too long. */
bool git_records_word(const char *s, char *out, size_t size);

/*
 * The differences between two trees, as git prints them. Malformed parts are
 * skipped.
 */

/* diff-tree -r -z --no-renames, raw, sorted by path; paths point into the
 * text. */
struct git_change {
	char status; /* A, D, M, T */
	char old_mode[8], mode[8]; /* zeros where it is not */
	char old_id[GIT_ID_SIZE]; /* zeros when added */
	char id[GIT_ID_SIZE]; /* new, zeros when deleted */
	const char *path;
};
struct git_changes {
	struct git_change *v;
	size_t count;
};
void
git_changes_parse(struct git_changes *changes, const char *out, size_t len);
void git_changes_release(struct git_changes *changes);
const struct git_change *
git_changes_find(const struct git_changes *changes, const char *path);
/* Is a change below the folder `path`? */
bool git_changes_below(const struct git_changes *changes, const char *path);

/* status --porcelain=v2 -z --branch --no-renames */
enum git_status_kind {
	GIT_STATUS_HEAD, /* text = id of the commit, "" = unborn */
	GIT_STATUS_BRANCH, /* text = its name, "" = detached */
	GIT_STATUS_CHANGED,
	GIT_STATUS_UNMERGED,
	GIT_STATUS_UNTRACKED
};

struct git_status_entry {
	enum git_status_kind kind;
	const char *text; /* else a path */
	/* Of a changed one: it is in the index like that, and the file differs
	 * from the index. */
	bool submodule, staged, unstaged;
	/* The same; zeros where it does not exist. */
	char head_id[GIT_ID_SIZE], index_id[GIT_ID_SIZE];
};

bool git_status_next(
    struct git_records *records, struct git_status_entry *ret_entry);

/* worktree list --porcelain -z; owned. */
struct git_tree {
	char *path;
	char *branch; /* full ref name, NULL = detached */
	bool locked;
	bool missing; /* its folder is not there */
	bool unfinished; /* `worktree add` was killed in the middle */
};

struct git_trees {
	struct git_tree *v;
	size_t count;
};

void git_trees_parse(struct git_trees *trees, const char *out, size_t len);
void git_trees_release(struct git_trees *trees);
#define cleanup_git_trees __attribute__((cleanup(git_trees_release)))

/* The next one after `after` (NULL = the first) with the branch checked out;
 * without refs/heads/. */
const struct git_tree *git_trees_on(const struct git_trees *trees,
    const char *branch, const struct git_tree *after);

/* Do two paths mean the same place? The last part need not exist. */
bool git_trees_same_path(const char *a, const char *b);

/*
 * Single refs, read and written as git does it, without a git process: a
 * landing looks at a handful of them. -ENOTSUP wherever git may know better
 * (another format, a ref that names a ref, a lock): ask git then.
 */

/* Is it a whole name of an object? */
bool git_is_id(const char *text, size_t len);

/* The id that a ref of the repository has, given by its full name. -ENOENT if
 * there is none. */
int git_refs_read(const char *common, const char *ref, char out[GIT_ID_SIZE]);

/* The commit that HEAD of a worktree names; -ENOENT if it is unborn. */
int
git_refs_head(const char *gitdir, const char *common, char out[GIT_ID_SIZE]);

/* Set a ref that only llmc writes, without a reflog. */
int git_refs_write(const char *common, const char *ref, const char *id);

/* Remove such a ref; it may be gone already. */
int git_refs_drop(const char *common, const char *ref);

/* Remove the locks of all refs in such a folder, "refs/llmc/x/", that a killed
 * process left there: only while no other one writes them. */
void git_refs_unlock(const char *common, const char *folder);

/* --- how a git is started ---------------------------------------------- */

/* The environment of every git that is started. */

/* NULL terminated edits, as in child.h. */
extern const char *const git_env[];

/*
 * What a git is started with: its arguments, its environment, and the box of
 * the worker in whose tree it runs.
 */

/* For who runs it without a slot, at the user's own trees: its arguments, and
 * the edits of its environment (child.h) with `more` behind them, once dir is
 * verified. The caller frees both (buf.h). */
void git_arguments(const struct git *git, const char *dir,
    const char *const *args, char ***ret_argv);
int git_environment(const struct git *git, const char *dir,
    const char *const *more, char ***ret_env, struct err *err);

/* How long a command may take, as the options say: more for one that reads or
 * writes a whole tree. */
int64_t git_deadline(const struct git *git, const char *verb);

/* Remove the lock file that git complained about if it is stale: it belongs to
 * a linked worktree (never to the user's main tree), it was not just created,
 * and no git is running in that worktree; or it is that of a ref of llmc's own.
 * True if it is gone. */
bool git_lock_remove_dead(const char *dir, const char *complaint);

/* Wait until the gits that run now at the top of that tree (most go there
 * first) have ended, or neither they nor what they started has run for
 * quiet_ms: those wait for somebody, as a pager does. At most so long. */
void git_lock_wait_quiet(const char *dir, int64_t quiet_ms, int64_t most_ms);

/*
 * Is a directory the top of a working tree of this repository? Asked before
 * every git command, without a git process: a worker can replace its worktree
 * by a symbolic link, make a second repository in it, or point its .git
 * somewhere else, and git would follow.
 */

/* The git directory of dir, for GIT_DIR; the caller frees it. -ENOENT if there
 * is no such directory or no .git in it. -EUCLEAN if it is not a working tree
 * of the repository at root: it must be a real directory (links above it are
 * fine), and its .git must be either the repository's own folder or a file that
 * names a folder of the repository's worktrees, which names this .git in turn.
 * Its HEAD and index must be files, and its config.worktree must be the
 * repository's own or have nothing that runs a program.
 * The root itself is the user's: any .git that git accepts is accepted, a link
 * too.
 *
 * The answer holds at the time of the call only. A command that is given the
 * answer as GIT_DIR and dir as GIT_WORK_TREE never uses another repository;
 * what remains is that dir is replaced before the command enters it. */
int git_verify(
    const char *root, const char *dir, char **ret_gitdir, struct err *err);

/* The same, with the folder that all worktrees share, as the root names it: for
 * GIT_COMMON_DIR, since `commondir` in a worktree's git directory is the
 * worker's to write. */
int git_verify_common(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);

/* As git_verify_common(), for the clone of a worker whose sandbox is strict
 * (git-clone.h): a folder of its own as .git. Its configuration is the
 * worker's, so git runs there in the worker's box only. *ret_common is the
 * user's repository. */
int git_verify_clone(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);

/* A FIFO or a device at the place of a small file in a worktree's git directory
 * would have every git wait that lists worktrees, the user's too: remove it. */
void git_verify_sweep(const char *root);

/* text: the contents of the file. A file that git would read differently, such
 * as one with a continued line, is not plain. */
bool git_config_is_plain(const char *text);

/*
 * Where a worker's working tree stands: with HEAD on the worker's own branch,
 * or detached, where the worker cannot write refs (git_follow_run() moves the
 * branch then). One place knows which of the two is right: git_home().
 */

/* The git directory of a tree, from its .git; NULL when that is broken. The
 * caller frees. */
char *git_dirs_gitdir(const char *tree);

/* What all worktrees share: refs, objects. The caller frees. */
char *git_dirs_common(const char *gitdir);

/* A folder of objects as info/alternates and the variable have it: quoted,
 * since it may have a newline or a colon. */
char *git_dirs_alternate(const char *objects);

/* The full name of the branch that HEAD is on; NULL = detached or broken. The
 * caller frees. */
char *git_dirs_head(const char *gitdir);
bool git_dirs_is_on(const char *gitdir, const char *branch);

/* The full name of what a branch that is a symbolic reference points at; NULL =
 * it is none. The caller frees. */
char *git_dirs_alias(const char *common, const char *branch);

/* The commit a detached HEAD is at; "" = it is not detached, or not
 * at a whole id. */
void git_dirs_detached(const char *gitdir, char *out, size_t size);

/* The main tree and the worktrees that exist, or are locked, with the branches
 * that their HEADs lead to; all: also those that git has, and whose folder was
 * deleted. -EUCLEAN
 * when root is no working tree, -ENOTSUP for refs that are not files. */
int git_dirs_trees(
    const char *root, bool all, struct git_trees *trees, struct err *err);

/* The git directory that the repository has for a worktree at this path, which
 * need not exist any more; NULL = none. The caller frees. */
char *git_dirs_registered(const char *common, const char *tree);

/* Is the path, by its real name, that of the folder or of something in it? */
bool git_dirs_is_below(const char *path, const char *folder);

/* May the hook run at a landing? It exists in the repository's own folder of
 * hooks, and does not lie (by a link) in the tree, where a worker's commit
 * could have put it. */
bool
git_dirs_hook_is_safe(const char *common, const char *tree, const char *hook);

/* Have git run the hooks of the repository's own folder only, whatever
 * core.hooksPath says; or none, if one of them lies in the tree or in the
 * root's. */
void git_dirs_add_hooks(
    const char *gitdir, const char *tree, const char *root, char ***env);

/* The git directory of a tree, and what all share, as git_verify_common(); or
 * git_verify_clone(), where git_home() says that it is one. */
int git_stand_find(const struct git *git, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err);
bool git_stand_is_clone(const struct git *git, const char *dir);

/* Is HEAD on the branch, or detached in a tree that is to be so? Not in the
 * middle of a rebase. A clone has branches of its own: what counts there is
 * HEAD. */
bool git_stand_is_on(const struct git *git, const char *dir, const char *gitdir,
    const char *branch);

/* What HEAD is on, as git status tells it: the worker's branch also for a tree
 * that is detached as it is to be. size: of branch. */
void git_stand_name(const struct git *git, const char *dir, const char *gitdir,
    char *branch, size_t size);

/* May git run with these arguments in a worker's tree? What writes to the
 * branch that HEAD is on may not if that is another's: -EUCLEAN. */
int git_stand_check(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *args, struct err *err);

/* --- operations in a helper -------------------------------------------- */

/* A slot: the queue is the caller's from `begin` until git_slot_end(). `drop`
 * (may be NULL) is called instead of everything else when git_free() comes
 * first: release arg there. */
typedef void git_slot_fn(struct git_slot *slot, void *arg);
void git_slot(
    struct git_queue *queue, git_slot_fn *begin, git_drop_fn *drop, void *arg);
void git_slot_end(struct git_slot *slot);
/* arg of the slot that has the queue, if its drop is this one; NULL = none. */
void *git_slot_running(struct git_queue *queue, git_drop_fn *drop);

TAILQ_HEAD(git_slots, git_slot);

struct git_queue {
	SLIST_ENTRY(git_queue) entry;
	struct git *git;
	char *dir;
	struct git_slots slots; /* the first one has the queue */
	struct loop_call *next;
};

/*
 * How operations on worktrees and branches (git.h) are written: as one
 * function in a helper process, in one slot of the worktree's queue.
 */

struct git_op {
	struct git *git;
	struct git_slot *slot;
	struct git_slot *root_slot; /* of an operation that needs both queues */
	char *dir;
	/* After git_op_need_gitdir(): its own, and the one that all share. */
	char *gitdir, *common;
	char *onto; /* NULL where git_op_need_onto() is not used */
	char onto_id[GIT_ID_SIZE], head_id[GIT_ID_SIZE]; /* after it */
	struct err err;

	struct child *child; /* the helper */
	bool repeated; /* one was killed before it answered */
	struct loop_timer *again; /* starts the next one */
	bool lost; /* it ended without an answer, also the next one */
	bool cut_off; /* that, or by git_free(): for `release` */
	bool verbose; /* the helper notes its commands */

	/* Of git_follow_run(): where the branch goes, and where it was. */
	char followed[GIT_ID_SIZE], follows[GIT_ID_SIZE];
	bool follows_known, follow_gone;

	/* The command being composed; cleared when it has run. */
	char **args, **env;
	struct buf input;
	const char *run_dir; /* NULL = dir */
	int64_t deadline_ms;
	int stdin_fd; /* these as in git_command */
	bool once, linger;
	int64_t delay_ms;

	/* Of an operation in a helper. */
	void (*run)(struct git_op *op);
	void (*undo)(struct git_op *op); /* in the helper, before it ends */
	void *ret; /* what `run` leaves there, `finish` finds there */
	size_t ret_size;
	struct buf report; /* git_op_tell() */
	struct git_op_text *texts; /* git_op_text() */
	const char *verb; /* of the last command */
	struct git_answer answer; /* valid as long as the operation */
	struct err answer_err;
	bool tolerant; /* git_op_try() returns -1 if git did not end */

	/* The whole operation. `finish` tells the caller; `release` frees what
	 * the operation itself holds, NULL = nothing; then self is freed. */
	void *self;
	void (*finish)(struct git_op *op, const struct err *err);
	git_work_fn *work_fn; /* without `finish` */
	void *arg;
	void (*release)(struct git_op *op);
};

/*
 * An operation that is written as one function: `run` is called in a helper,
 * which is a copy of this process (child.h), when the queue is free. There
 * every command is waited for, and what cannot go on ends the helper. A daemon
 * that is killed takes the helper along, and a git under way runs to its end.
 * A helper that is killed alone is started once more.
 *
 * size is that of a struct that begins with a git_op; git_op_begin() starts it
 * once that is filled in. Texts live as long as the operation. Of all that
 * `run` changes, `finish` sees op->err, what `ret` points at, and the report.
 */
void *git_op_new(size_t size, struct git *git, const char *dir,
    const char *onto, void (*run)(struct git_op *op),
    void (*finish)(struct git_op *op, const struct err *err));
/* both_queues: it changes the list of worktrees, so nothing else of the
 * repository's queue may run. */
void git_op_begin(struct git_op *op, bool both_queues);
char *git_op_text(struct git_op *op, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
char *git_op_copy(struct git_op *op, const char *text);

/* A list for `finish`, by its letter. The caller releases it; it ends with a
 * NULL that is not counted. */
void git_op_tell(struct git_op *op, char letter, const char *text);
void
git_op_tell_all(struct git_op *op, char letter, const struct git_list *list);
void
git_op_told(const struct git_op *op, char letter, struct git_list *ret_list);

/* An operation whose answer is a list. */
struct git_op_list {
	struct git_op op;
	char *name; /* of what it is about */
	git_list_fn *fn;
};
#define GIT_OP_LIST 'l' /* the letter */
void git_op_list(struct git *git, const char *dir, const char *onto,
    const char *name, void (*run)(struct git_op *op), git_list_fn *fn,
    void *arg);

/* The following are for `run`. */

/* End the helper: with this error, with op->err, or with what git said last. */
void git_op_die(struct git_op *op, int code, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void git_op_die_of(struct git_op *op) __attribute__((noreturn));
void git_op_die_as(struct git_op *op) __attribute__((noreturn));
struct err git_op_complaint(struct git_op *op); /* what git said last */

/* Run git with the arguments so far and these: its exit status; or what it
 * printed, where only 0 is good. */
int git_op_try(struct git_op *op, ...) __attribute__((sentinel));
const char *git_op_must(struct git_op *op, ...) __attribute__((sentinel));

/* The ids of several names (NULL terminated), "" for those that name nothing.
 */
void git_op_find_ids(
    struct git_op *op, const char *const *names, char (*ids)[GIT_ID_SIZE]);
/* The commit of a branch of the repository, "" if there is none; mostly without
 * a git process. */
void
git_op_branch_tip(struct git_op *op, const char *branch, char id[GIT_ID_SIZE]);
bool git_op_is_ancestor(struct git_op *op, const char *id, const char *of);

/* The status of op->dir, for git_status_next(). */
void git_op_status(struct git_op *op, struct git_records *ret_records);
int git_op_try_status(struct git_op *op, struct git_records *ret_records);

/* The list of worktrees; forget the one at that path, and remove it if it is
 * there. */
void git_op_trees(struct git_op *op, struct git_trees *trees);
void git_op_unregister(struct git_op *op, const char *path);

/* op->gitdir and op->common; op->onto_id and op->head_id; who commits. */
void git_op_need_gitdir(struct git_op *op);
void git_op_need_onto(struct git_op *op);
int git_op_look_onto(struct git_op *op); /* negative with op->err set */
void git_op_need_identity(struct git_op *op);

/* Compose the question. */
void git_op_args(struct git_op *op, ...) __attribute__((sentinel));
void git_op_arg(struct git_op *op, const char *arg);
/* The first arguments of a command that must run no hook: a relative
 * core.hooksPath names files of the worktree. */
void git_op_no_hooks(struct git_op *op);
/* The same for one that compares commits and must not read .gitattributes,
 * where a worker can say that its lines are not to be shown: git looks for it
 * where it runs. After git_op_need_gitdir(). */
void git_op_no_attributes(struct git_op *op);
void git_op_env(struct git_op *op, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A commit of llmc itself, which must work even if git does not know who
 * commits. */
void git_op_own_name(struct git_op *op);

/* A name for a ref of the repository, by its full name, that a git in op->dir
 * understands: itself, or in a clone its id, or what names nothing. After
 * git_op_need_gitdir(). The caller frees. */
char *git_op_ref(const struct git_op *op, const char *ref);

/* The name of the commit of a branch of the repository, in op->dir, which may
 * be a clone. The caller frees. */
char *git_op_known_branch(const struct git_op *op, const char *branch);

/* Is there nothing at that path, or an empty folder? */
bool git_op_place_is_free(const char *path);
/* Has the working tree nothing but .git, as one that was just made? */
bool git_op_is_empty(const struct git_op *op);

/* The full name of the branch that a rebase has taken off HEAD; NULL = none.
 * The caller frees. */
char *git_op_rebased_branch(const char *gitdir);

/* An argument of log and rev-list: leave out what the worker began with
 * (git_home). Nothing, if that is not known or not here. */
void git_op_not_base(struct git_op *op);

/* Is there such a file in the git directory of the worktree? */
bool git_op_has(const struct git_op *op, const char *name);
bool git_op_rebasing(const struct git_op *op);
/* Remove the files of a rebase that git itself could not end, and the commits
 * it has noted: in a box git cannot remove any ref. */
void git_op_forget_rebase(const struct git_op *op);

/* git_worktree_add() in a helper that has both queues, at op->dir and
 * op->onto. branch: NULL = detached, and without any files yet. */
void git_worktree_op_add(struct git_op *op, const char *branch);

/* git_submodules() in a helper; op->err has an error. force: changes in them
 * are lost, and of one that cannot be had there is nothing. */
void git_worktree_op_submodules(struct git_op *op, bool force);

/*
 * The branch of a worker whose HEAD is detached is moved to
 * where HEAD is, once that is known to be a commit that is there with all it
 * needs. The worker itself cannot write refs. Every operation that looks at
 * the work of such a tree begins with it, so a daemon that was killed before
 * needs no other repair.
 */

/* After git_op_need_gitdir(): op->followed is the commit that HEAD and the
 * branch are at. The branch stays where it is while it is checked out
 * elsewhere: then only HEAD has the work. Nothing is done, and it is "", where
 * git_home() says that the tree is not detached, and in a rebase. A HEAD that
 * the worker has put on a branch is detached where it is; at the worker's own
 * commit, if it names none. -EIO if the commit is not whole. What the branch
 * had before is in its reflog. Of a clone, the commit is imported by its id
 * (git-clone.h), whatever branch of its own HEAD is on. */
void git_follow_run(struct git_op *op);

/* -EBUSY if the branch is checked out elsewhere. */
void git_follow_check_trees(struct git_op *op);

/* In a helper: set HEAD to the branch, or detach it at the commit. Neither
 * files nor branches change. */
void git_follow_put(
    struct git_op *op, const char *branch, bool detached, const char *id);

/* Where refs are read-only, git cannot remove those of its own that it notes a
 * commit in, because that needs a lock beside all refs: CHERRY_PICK_HEAD stays
 * during and after a rebase, and git takes it for a cherry-pick in progress.
 * Remove it for a tree that is detached, but not another than REBASE_HEAD
 * during a rebase: the worker may pick a commit then. Part of git_follow_run().
 */
void git_follow_tidy(const struct git_op *op);

/* The same for a worktree whose folder is gone, without git_op_need_gitdir():
 * what its HEAD had is not lost with it. A commit that is not whole is left. */
void git_follow_gone(struct git_op *op);

/* Of a clone (git-clone.h), in a helper. */

/* Have the commit in the repository, if it comes from a clone. */
void git_import_run(struct git_op *op, const char *id);

/* Delete a folder with all in it. */
void git_clone_op_delete(struct git_op *op, const char *folder);

/* After git_op_need_onto(), before the clone's git directory goes away: have
 * what only its index, its other branches and its stashes name. Those are saved
 * as `ref`, if there are any. saved: the index is saved already. Else -EBUSY in
 * a rebase and with unmerged files. */
void git_clone_op_keep(struct git_op *op, const char *ref, bool saved);

/*
 * Puts all that has changed in a worktree into an index: the one that
 * save->index names, or the real one. For a salvage and for a commit of what
 * is left over, in a helper. op->self begins with a struct
 * git_save.
 */

struct git_kept {
	char *name;
	bool replaces; /* what is there; else it stays, and "-2" or more is
			* added to the name */
};

/* Move it, and add a line about it to `words`. */
int git_kept_move(const char *dir, const struct git_kept *kept,
    const char *path, struct buf *words, struct err *err);

void git_stage_use_index(struct git_op *op);

/* For a temporary index: contents as they are in the files, whatever a filter,
 * an encoding or line ends would make of it: what git cannot convert is saved,
 * too, and no program runs. */
void git_stage_raw(struct git_save *save);

/* For a commit: as `git add` does it. */
void git_stage_add(struct git_save *save);

/*
 * The part of an operation that saves work as git_salvage() says. Everything
 * that throws work away begins with it: a reset, the removal of a worktree,
 * the end of a rebase.
 */

/* In a helper: put the whole file systems of these paths on disk, or only the
 * files and folders themselves, where they still exist. */
int git_sync(bool whole, const char *const *paths, struct err *err);

/* After git_op_need_gitdir(): all that was written to the repository until now
 * is on disk. */
void git_sync_run(struct git_op *op);

/* op.self is an object that begins with this one. */
struct git_save {
	struct git_op op;
	char *worker, *branch, *landed, *ref;
	struct git_kept kept;
	bool moves; /* the files go away afterwards: what git cannot save is
		     * moved aside instead of refused */
	bool leave; /* as in git_salvage */
	int64_t total; /* bytes of files so far, with `leave` */
	struct buf left; /* a line about each that is left out */
	struct buf others; /* paths to save, NUL terminated */
	struct buf moved; /* a line about each that was moved */
	char **nested; /* untracked repositories, each with a last slash */

	char *index; /* temporary one, so that the real one stays */
	char head_tree[GIT_ID_SIZE], branch_id[GIT_ID_SIZE];
	char old[GIT_ID_SIZE], old_tree[GIT_ID_SIZE], old_head[GIT_ID_SIZE];
	char tree[GIT_ID_SIZE], staged_id[GIT_ID_SIZE];
	bool staged; /* the index has contents that no file has */
	bool unmerged;

	/* What `finish` sees. */
	struct git_save_out {
		bool nothing; /* no ref was needed */
		bool clean; /* HEAD is on the branch, nothing is uncommitted */
		bool conflict; /* of a rebase */
		char head[GIT_ID_SIZE], base[GIT_ID_SIZE];
	} out;
	git_salvage_fn *fn;
};

/* As git_op_new(), of an operation whose result fn gets as in git-worktree.h.
 * what: NULL for one that uses only its lists of files. */
void *git_save_new(size_t size, struct git *git, const char *dir,
    const char *onto, const struct git_salvage *what, bool moves,
    void (*run)(struct git_op *op), git_salvage_fn *fn, void *arg);

/* In the helper, after git_op_need_gitdir() and git_op_need_onto(). Commits
 * that op->onto has are safe, too. It may run more than once in an operation.
 */
void git_save_run(struct git_save *save);

/* The same for what op->head_id has, of a branch without a worktree. */
void git_save_commits(struct git_save *save);

/* --- a landing ---------------------------------------------------------- */

/*
 * One landing at a time in a repository, and a record of what it holds:
 * <common>/llmc-landing, locked while any process of the landing lives (its
 * gits inherit the descriptor). A record without the lock belongs to a landing
 * that was killed.
 */

struct git_claim {
	int fd; /* -1 = not taken */
	char *common;
	bool holds_index; /* index.lock was made by this one */

	/* Written down. */
	bool active;
	char *tree, *gitdir; /* where its locks are; tree "" = not checked
			      * out */
	char *branch;
	char old_id[GIT_ID_SIZE], new_id[GIT_ID_SIZE];
	struct procref updater; /* holds the locks of the refs */
	uint64_t head_inode; /* of its HEAD.lock, 0 = not known */
	int64_t head_ms;
	bool files; /* begun to move; before that they are the user's alone */
};

void git_claim_init(struct git_claim *claim);

/* Take it without waiting, and read what is left in it (active). -EAGAIN while
 * another landing has it. */
int
git_claim_take(struct git_claim *claim, const char *common, struct err *err);
void git_claim_release(struct git_claim *claim); /* keeps what is written */

/* Write down what is about to be done, or that it is done. */
int git_claim_write(struct git_claim *claim, struct err *err);
void git_claim_clear(struct git_claim *claim);

/* Note the updater, before it takes a lock, and its HEAD.lock, once it has. */
int git_claim_note_updater(struct git_claim *claim, pid_t pid, struct err *err);
int git_claim_note_head(struct git_claim *claim, struct err *err);

/* Note that files are about to move. All that is written is on disk then. */
int git_claim_note_files(struct git_claim *claim, struct err *err);

/* Make `name` (index.lock, HEAD.lock) in claim->gitdir, marked as ours. -EEXIST
 * if another process holds it; an index.lock that we hold already is fine. */
int git_claim_lock(struct git_claim *claim, const char *name, struct err *err);
void git_claim_unlock(struct git_claim *claim, const char *name);

/* Remove the locks that a killed landing left, but not an index.lock that this
 * one holds. False while its updater lives: that removes its own. */
bool git_claim_sweep(struct git_claim *claim);

/* Have the updater end, with its hook. */
void git_claim_end_updater(const struct git_claim *claim);

/* The index that the landing works on; the caller frees. */
char *git_claim_index(const struct git_claim *claim);
void git_claim_remove_index(const struct git_claim *claim);

/*
 * A branch held for a move: a `git update-ref --stdin` that has locked the
 * branch, and HEAD where that is on it, and waits for our word. Whatever ends
 * us ends it: at the end of its input it lets go and has changed nothing. In a
 * helper: each word waits for its answer.
 */

struct git_hold_spec {
	const char *dir; /* the tree that has the branch */
	const char *branch;
	const char *old_id, *new_id;
	const char *reason; /* for the reflog */
	const char *const *env; /* as in git.h */
};

/* Start it; it has not locked anything. */
int git_hold_new(struct git *git, const struct git_hold_spec *spec,
    struct git_hold **ret_hold, struct err *err);
pid_t git_hold_pid(const struct git_hold *hold);

/* Our words. One that ended by itself in between tells it then. A hook that
 * takes longer than ten seconds is ended, and git with it: behind a commit the
 * branch may have moved then. True: the branch is held; it has moved. */
bool git_hold_prepare(struct git_hold *hold);
bool git_hold_commit(struct git_hold *hold);
void git_hold_abort(struct git_hold *hold);

/* Why not: what it said, valid until it is freed; whether another git has the
 * branch or HEAD. */
const char *git_hold_complaint(const struct git_hold *hold);
bool git_hold_is_locked(const struct git_hold *hold);

/* Let go without waiting. NULL is fine. */
void git_hold_free(struct git_hold *hold);

/*
 * Does a checkout block a landing? Decided from what git says about both, and
 * from the files.
 */

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

/* Add rows that remove from an index what the user has staged (foreign). */
void
git_land_check_unstage(const struct git_land_check *check, struct buf *out);

/* What is in the way does not have the other content: have its rows put the
 * checkout's own commit into an index, but for files that are missing. */
void git_land_check_forgive(struct git_land_check *check);

/* "3 files are in the way in /path: a, b, c", names made visible. */
void
git_land_check_describe(const struct git_land_check *check, struct buf *out);

/*
 * How a branch moves together with its checkout: locks, files, index, branch,
 * in the one order in which neither a user who works in the same tree nor a
 * kill between two steps loses anything. git-land.c has the order; what is
 * about the checkout is in git-land-files.c, which git-land.c calls. All of it
 * runs in a helper.
 */

struct git_move {
	struct git_op op; /* onto: where the branch must be */
	char *branch, *id_name;
	char **keep; /* "ID COMMIT" */
	bool instead; /* it need not be on top of what the branch has */
	bool overlap;
	char id[GIT_ID_SIZE];
	char *common;
	char *tree, *gitdir; /* the checkout; tree NULL = none */
	struct git_claim claim;
	struct git_hold *hold;
	int tries; /* that met a lock, or a user who was faster */
	bool recorded; /* the claim tells of this landing */
	bool synced; /* what the commit consists of is on disk */

	/* What is looked at: HEAD's commit, the one whose content may be there
	 * already, and between which two the files move. */
	const char *head_id, *other_id, *from_id, *to_id;
	struct buf changes; /* text that check points into */
	struct git_land_check check;
	bool touched; /* files may be ahead of the branch */

	struct err refused; /* why git did not move it */
	bool held; /* by another git's lock */
	const char *where; /* the tree it waits for; NULL = none */

	enum git_land_result result; /* what `finish` sees */
	git_land_fn *fn;
	git_work_fn *settle_fn; /* used instead: nothing is to land */
};

/* End with this result, holding nothing; the detail is a sentence. */
void git_move_end(struct git_move *move, enum git_land_result result,
    const char *detail) __attribute__((noreturn));
#define GIT_MOVE_LOCKED "another git process holds a lock"

/* Kinds of records in its report. */
#define GIT_MOVE_DETAIL 'd'
#define GIT_MOVE_PLACE  'p'

/* Find the checkout: sets move->tree and move->gitdir, NULL = nowhere; or ends
 * the landing with what it waits for. A worktree of llmc's own that has the
 * branch is taken off it; false with move->refused if it cannot be. */
bool git_move_find_tree(struct git_move *move);

/* Has a person begun something since, in a tree that has the branch or with the
 * branch itself, that holds up a landing? */
bool git_move_is_in_the_way(const struct git_move *move);

/* Has a rebase begun that puts the branch back to where it was before the move,
 * if it is aborted? */
bool git_move_is_taken_back(const struct git_move *move);

/* Settings of one git: its hooks, and that a ref or an index is on disk before
 * it gets its name. */
void git_move_config(const struct git_move *move, bool hooks, char ***env);

/* What the files are compared with: the difference of head_id and other_id. */
void git_move_changes(struct git_move *move);

/* Where the checkout stands, and what is in the way there. */
enum git_move_stands {
	MOVE_STANDS_HERE, /* on the branch, at head_id */
	MOVE_STANDS_HIGHER, /* on the branch, at another commit */
	MOVE_STANDS_ELSEWHERE,
};
enum git_move_stands git_move_look(struct git_move *move, const char *branch);

/* Move the files from from_id to to_id on a copy of the index. False: git did
 * not; true in ret_changes if because of the user's changes. */
void git_move_copy_index(struct git_move *move);
void git_move_adopt(struct git_move *move);
bool git_move_read(struct git_move *move, bool *ret_changes);
/* The copy becomes the index. */
void git_move_put_index(struct git_move *move);

/* A file that a git was writing when it was killed is the beginning of the old
 * or of the new version. It has no other content, so it is removed, and a file
 * that is missing is written again. */
void git_move_remove_partial_files(struct git_move *move);

/* What the user has staged in the way of a settling is kept aside while the
 * files move, and put back then: rows of the index. */
const char *git_move_staged(struct git_move *move, size_t *ret_len);
void git_move_restage(struct git_move *move, const char *rows, size_t len);

#endif
