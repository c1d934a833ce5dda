/* SPDX-License-Identifier: ISC */

/* How the work of a worktree is saved or committed, and how the worktree gets
 * to another commit: reset, rebased, squashed. */

#include "base.h"

#include <sys/stat.h>

#include "git-private.h"

static void
salvage_run(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_op_need_onto(op);
	git_save_run(op->self);
}

void
git_salvage(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct git_save *save = git_save_new(sizeof *save, git, dir, what->onto,
	    what, false, salvage_run, fn, arg);

	git_op_begin(&save->op, false);
}

/* --- leftovers --------------------------------------------------------- */

struct leftovers_op {
	struct git_save save; /* first; only its list of files is used */
	char *message;
};

/* Those of the repository's own folder; not what core.hooksPath names, which
 * may be the worker's files. */
static void
leftovers_use_hooks(struct git_op *op)
{
	static const char *const names[] = { "pre-commit", "prepare-commit-msg",
		"commit-msg", "post-commit", "post-rewrite",
		"post-index-change", "reference-transaction" };
	const char *common = op->common;
	cleanup_free char *config =
	    xasprintf("core.hooksPath=%s/hooks", common);

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *name = xasprintf("hooks/%s", names[i]);
		cleanup_free char *path = file_join(common, name);

		if (!git_runs_hooks(op->git) ||
		    (file_exists(path) &&
			!git_dirs_hook_is_safe(common, op->dir, names[i]))) {
			git_op_no_hooks(op);
			return;
		}
	}
	git_op_args(op, "-c", config, NULL);
}

static void
leftovers_run(struct git_op *op)
{
	const struct leftovers_op *left = op->self;
	bool ahead;
	int status;

	git_op_need_gitdir(op);
	if (git_op_rebasing(op))
		git_op_die(op, -EBUSY,
		    "a rebase is in progress in %s; finish it first", op->dir);
	git_op_must(op, "ls-files", "--unmerged", "-z", NULL);
	if (op->answer.out_len > 0)
		git_op_die(op, -EBUSY,
		    "there are unmerged files in %s; resolve them first",
		    op->dir);
	git_op_need_onto(op);
	git_stage_add(op->self);
	status = git_op_try(op, "diff-index", "--cached", "--quiet",
	    "--ignore-submodules=dirty", "HEAD", "--", NULL);
	if (status > 1)
		git_op_die_as(op);
	if (status == 0)
		return;
	git_op_need_identity(op);
	git_op_args(op, "rev-list", "--max-count=1", NULL);
	git_op_not_base(op);
	git_op_must(op, git_op_text(op, "%s..HEAD", op->onto_id), NULL);
	ahead = op->answer.out_len > 0;
	leftovers_use_hooks(op);
	git_op_args(op, "commit", "--quiet", "--cleanup=whitespace", NULL);
	/* git has prepared the message of a merge or pick that was not
	 * finished. */
	if (git_op_has(op, "MERGE_HEAD") || git_op_has(op, "CHERRY_PICK_HEAD"))
		git_op_args(op, "--no-edit", NULL);
	else if (ahead)
		git_op_args(op, "--amend", "--no-edit", "--allow-empty",
		    "--allow-empty-message", NULL);
	else {
		buf_adds(&op->input, left->message);
		git_op_args(op, "--file=-", NULL);
	}
	git_op_must(op, NULL);
	git_follow_run(op);
}

void
git_salvage_commit(struct git *git, const char *dir, const char *onto,
    const char *message, git_work_fn *fn, void *arg)
{
	struct leftovers_op *left = git_save_new(sizeof *left, git, dir, onto,
	    NULL, false, leftovers_run, NULL, arg);
	struct git_op *op = &left->save.op;

	left->message = git_op_copy(op, message);
	op->finish = NULL;
	op->work_fn = fn;
	git_op_begin(op, false);
}

/* --- reset -------------------------------------------------------------- */

#define STALE_LOCK_MS (INT64_C(10) * 60 * 1000)

struct reset_op {
	struct git_save save; /* first */
	char *head, *same; /* as in git_reset */
	bool find_base;
	bool elsewhere; /* the branch is checked out there, and stays */
	bool gentle; /* nothing is forced */
};

static bool
is_detached(const struct git_op *op)
{
	struct git_home home;

	return git_home(op->git, op->dir, &home) && home.detached;
}

/* A ref is never moved under a checkout that does not follow: a tree that is
 * detached is reset without it. */
static void
check_trees(struct reset_op *reset)
{
	struct git_op *op = &reset->save.op;
	struct git_trees trees = { 0 };
	const struct git_tree *other = NULL;

	if (git_dirs_trees(git_root(op->git), false, &trees, NULL) < 0)
		git_op_trees(op, &trees);
	while (
	    (other = git_trees_on(&trees, reset->save.branch, other)) != NULL)
		if (!git_trees_same_path(other->path, op->dir)) {
			reset->elsewhere = true;
			if (!is_detached(op))
				git_op_die(op, -EBUSY,
				    "branch %s is checked out at %s",
				    reset->save.branch, other->path);
		}
}

/* Left by a git that was killed: nothing else would remove it. */
static void
remove_stale_lock(const struct git_op *op)
{
	cleanup_free char *path = file_join(op->gitdir, "index.lock");
	struct stat st;

	if (stat(path, &st) == 0 &&
	    clock_wall_ms() - clock_file_ms(&st.st_mtim) > STALE_LOCK_MS)
		unlink(path);
}

/* A killed `worktree add` leaves this; nothing else would remove it. */
static void
remove_unfinished_mark(const struct git_op *op)
{
	cleanup_free char *path = file_join(op->gitdir, "locked");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 64, &text, NULL) == 0 &&
	    text_begins(text.data, "initializing"))
		unlink(path);
}

/* Quit, not abort: HEAD and the files are set below. */
static void
end_work(struct git_op *op)
{
	remove_stale_lock(op);
	remove_unfinished_mark(op);
	if (git_op_rebasing(op)) {
		git_op_try(op, "rebase", "--quit", NULL);
		git_op_forget_rebase(op);
	}
	if (git_op_has(op, "sequencer"))
		git_op_must(op, "cherry-pick", "--quit", NULL);
	/* Before the checkout: an uncommitted .gitattributes could have it need
	 * a filter or an encoding that fails. What is left is removed or
	 * reported after it. */
	git_op_try(op, "clean", "-d", "--force", "--quiet", NULL);
}

/* Left by a git that has not ended there: picks that would go on, or a lock
 * with which whoever comes next could commit nothing. A checkout that is forced
 * tells of the lock. */
static bool
is_left(const struct git_op *op)
{
	return git_op_has(op, "sequencer") || git_op_has(op, "index.lock");
}

/* False: without --force it refuses to overwrite changes, which were made since
 * it was found clean. */
static bool
check_out(struct reset_op *reset)
{
	struct git_op *op = &reset->save.op;

	if (reset->gentle && text_is(reset->same, op->onto_id)) {
		git_op_args(op, "update-ref", "-m", "llmc: reset", NULL);
		if (is_detached(op))
			git_op_args(op, "--no-deref", "HEAD", NULL);
		else
			git_op_arg(op,
			    git_op_text(
				op, "refs/heads/%s", reset->save.branch));
		git_op_args(op, op->onto_id, reset->head, NULL);
	} else {
		git_op_args(op, "checkout", "--quiet", NULL);
		if (!reset->gentle)
			git_op_arg(op, "--force");
		if (is_detached(op))
			git_op_arg(op, "--detach");
		else
			git_op_args(
			    op, "--no-track", "-B", reset->save.branch, NULL);
		git_op_arg(op, op->onto_id);
	}
	if (git_op_try(op, NULL) == 0)
		return true;
	if (!reset->gentle || op->answer.locked)
		git_op_die_as(op);
	return false;
}

/* False: it is there already. */
static bool
save_and_check_out(struct reset_op *reset, bool refused)
{
	struct git_op *op = &reset->save.op;

	for (;; refused = true) {
		git_save_run(&reset->save);
		reset->gentle =
		    reset->save.out.clean && !refused && !is_left(op);
		if (!reset->gentle)
			end_work(op);
		else if (strcmp(op->head_id, op->onto_id) == 0 &&
		    (!is_detached(op) ||
			strcmp(reset->save.branch_id, op->onto_id) == 0))
			return false;
		if (check_out(reset))
			return true;
	}
}

/* What HEAD is not on does not go with it. What the branch had is saved. */
static void
move_branch(struct reset_op *reset)
{
	struct git_op *op = &reset->save.op;

	if (!is_detached(op))
		return;
	git_op_forget_rebase(op);
	if (reset->elsewhere)
		return;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_must(op, "update-ref", "--no-deref", "--create-reflog", "-m",
	    "llmc: reset", git_op_text(op, "refs/heads/%s", reset->save.branch),
	    op->onto_id, NULL);
}

static void
verify(struct reset_op *reset)
{
	struct git_op *op = &reset->save.op;
	const char *ref = git_op_text(op, "refs/heads/%s", reset->save.branch);
	cleanup_free char *branch = git_op_known_branch(op, reset->save.branch);
	char ids[2][GIT_ID_SIZE];

	if (git_refs_read(op->common, ref, ids[0]) < 0 ||
	    git_refs_head(op->gitdir, op->common, ids[1]) < 0)
		git_op_find_ids(
		    op, (const char *[]){ branch, "HEAD^{commit}", NULL }, ids);
	if ((!reset->elsewhere && strcmp(ids[0], op->onto_id) != 0) ||
	    strcmp(ids[1], op->onto_id) != 0)
		git_op_die(op, -EIO,
		    "%s or branch %s was moved by another process in the "
		    "meantime",
		    op->dir, reset->save.branch);
}

/* Is it still where it was clean? */
static bool
is_as_seen(const struct reset_op *reset)
{
	const struct git_op *op = &reset->save.op;

	return reset->head != NULL && !git_op_rebasing(op) && !is_left(op) &&
	    git_stand_is_on(op->git, op->dir, op->gitdir, reset->save.branch);
}

/* False: nothing is left to do. */
static bool
set_back(struct reset_op *reset)
{
	struct git_op *op = &reset->save.op;
	bool refused = false;

	if (is_as_seen(reset)) {
		if (strcmp(op->head_id, op->onto_id) == 0)
			return is_detached(op);
		reset->gentle = strcmp(op->head_id, reset->head) == 0;
		if (reset->gentle && check_out(reset))
			return true;
		refused = reset->gentle;
	}
	return save_and_check_out(reset, refused);
}

static void
reset_run(struct git_op *op)
{
	struct reset_op *reset = op->self;
	struct git_save_out *out = &reset->save.out;
	bool onto_landed = strcmp(reset->save.landed, op->onto) == 0;
	cleanup_free char *alias = NULL;

	git_op_need_gitdir(op);
	/* A branch that is another name of a second one would move that. */
	alias = git_dirs_alias(op->common, reset->save.branch);
	if (alias != NULL) {
		op->run_dir = git_root(op->git);
		git_op_no_hooks(op);
		git_op_must(op, "symbolic-ref", "--delete",
		    git_op_text(op, "refs/heads/%s", reset->save.branch), NULL);
	}
	check_trees(reset);
	git_op_need_onto(op);
	if (onto_landed)
		memcpy(out->base, op->onto_id, GIT_ID_SIZE);
	if (set_back(reset)) {
		move_branch(reset);
		if (!reset->gentle)
			git_op_must(
			    op, "clean", "-d", "--force", "--quiet", NULL);
		verify(reset);
		/* A commit that was built on the landing branch. */
		if (reset->find_base && !onto_landed &&
		    git_op_try(op, "merge-base", op->onto_id,
			git_op_known_branch(op, reset->save.landed), NULL) == 0)
			strlcpy(out->base, op->answer.out, sizeof out->base);
	}
	out->clean = false;
}

void
git_reset(struct git *git, const char *dir, const struct git_reset *what,
    git_salvage_fn *fn, void *arg)
{
	struct reset_op *reset = git_save_new(sizeof *reset, git, dir,
	    what->onto, &what->keep, true, reset_run, fn, arg);
	struct git_op *op = &reset->save.op;

	reset->head = git_op_copy(op, what->head);
	reset->same = git_op_copy(op, what->same);
	reset->find_base = what->find_base;
	git_op_begin(op, false);
}

/* --- rebase ------------------------------------------------------------- */

#define REBASE_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct rebase_op {
	struct git_save save; /* first */
	char origin[GIT_ID_SIZE]; /* where a rebase of the worker's began */
	struct err stopped; /* what git said when it stopped */
	git_rebase_fn *rebase_fn;
};

/* A branch that follows is still where it was at the end of a turn: a rebase
 * that the worker began itself came from here. */
static void
read_origin(struct rebase_op *rebase)
{
	static const char *const names[] = { "rebase-merge/orig-head",
		"rebase-apply/orig-head" };
	const struct git_op *op = &rebase->save.op;
	struct git_home home;

	strlcpy(rebase->origin, "-", sizeof rebase->origin);
	if (!git_home(op->git, op->dir, &home) || !home.detached)
		return;
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(op->gitdir, names[i]);
		cleanup_buf struct buf text = BUF_INIT;

		if (file_read(path, 256, &text, NULL) < 0)
			continue;
		buf_truncate(&text, strspn(text.data, "0123456789abcdef"));
		if (text.len > 0)
			strlcpy(
			    rebase->origin, text.data, sizeof rebase->origin);
	}
}

/* What git finds in the folder of a rebase is the worker's to write: to abort
 * would set the branch that head-name says to what orig-head says. To quit does
 * not, and leaves HEAD and the files, which are set next: a rebase has not
 * moved the branch. */
static void
quit(struct rebase_op *rebase)
{
	struct git_op *op = &rebase->save.op;

	if (!git_op_rebasing(op))
		return;
	read_origin(rebase);
	if (git_op_try(op,
		git_op_has(op, "rebase-apply/applying") ? "am" : "rebase",
		"--quit", NULL) != 0 &&
	    op->answer.locked)
		git_op_die_as(op);
	git_op_forget_rebase(op);
}

static void
put_back(struct rebase_op *rebase)
{
	struct git_op *op = &rebase->save.op;
	cleanup_free char *branch =
	    git_op_known_branch(op, rebase->save.branch);
	char ids[2][GIT_ID_SIZE];
	struct git_home home;

	git_op_find_ids(op,
	    (const char *[]){
		branch, git_op_text(op, "%s^{commit}", rebase->origin), NULL },
	    ids);
	if (ids[1][0] == '\0' && ids[0][0] == '\0')
		git_op_die(op, -ENOENT, "there is no branch %s in %s",
		    rebase->save.branch, git_root(op->git));
	git_follow_put(op, rebase->save.branch,
	    git_home(op->git, op->dir, &home) && home.detached,
	    ids[1][0] != '\0' ? ids[1] : ids[0]);
	git_op_must(op, "reset", "--hard", "--quiet", NULL);
}

/* Returns whether a rebase was under way. A conflict that is half resolved
 * would be lost. */
static bool
end_rebase(struct rebase_op *rebase)
{
	if (!git_op_rebasing(&rebase->save.op))
		return false;
	git_save_run(&rebase->save);
	quit(rebase);
	put_back(rebase);
	return true;
}

static void
give_up(struct rebase_op *rebase)
{
	quit(rebase);
	put_back(rebase);
	rebase->save.op.err = rebase->stopped;
	git_op_die_of(&rebase->save.op);
}

static void
head_id(struct git_op *op, char out[GIT_ID_SIZE])
{
	git_op_find_ids(op, (const char *[]){ "HEAD^{commit}", NULL },
	    (char(*)[GIT_ID_SIZE])out);
}

static int
try_rebase(struct rebase_op *rebase, const char *onto, const char *upstream,
    const char *branch)
{
	struct git_op *op = &rebase->save.op;
	int status;

	op->deadline_ms = REBASE_DEADLINE_MS;
	op->once = op->tolerant = true;
	status = git_op_try(op, "rebase", "--merge", "--quiet", "--no-stat",
	    "--no-autostash", "--no-fork-point", "--rerere-autoupdate",
	    "--onto", onto, upstream, branch, NULL);
	if (status != 0)
		rebase->stopped = git_op_complaint(op);
	return status;
}

/* A lock on HEAD or a ref is found after the files of `onto` were written. Left
 * like that, they would look as if all work of the branch had been undone.
 * Files that are in neither version stay. Then it is tried again. */
static int
begin_rebase(struct rebase_op *rebase, const char *upstream)
{
	struct git_op *op = &rebase->save.op;
	bool freed = false;

	for (int tries = 0;;) {
		int status = try_rebase(rebase, op->onto_id, upstream, NULL);

		if (status == 0 || git_op_rebasing(op))
			return status;
		if (op->answer.locked) {
			if (tries == GIT_TRIES)
				freed = git_lock_remove_dead(
				    op->dir, rebase->stopped.msg);
			op->once = tries < GIT_TRIES;
			/* An index that is locked was not touched either. */
			git_op_try(op, "read-tree", "-m", "-u", op->onto_id,
			    "HEAD", NULL);
			tries++;
			if (tries <= GIT_TRIES ||
			    (tries == GIT_TRIES + 1 && freed)) {
				op->delay_ms = GIT_RETRY_MS;
				continue;
			}
		}
		op->err = rebase->stopped;
		git_op_die_of(op);
	}
}

/* Has the landing branch lost what the worker began with? Then that was
 * dropped, and is not rebased. */
static const char *
find_upstream(struct git_op *op)
{
	struct git_home home;

	if (git_home(op->git, op->dir, &home) && home.base != NULL &&
	    strcmp(home.base, op->onto_id) != 0 &&
	    git_op_try(op, "merge-base", "--is-ancestor", home.base,
		op->onto_id, NULL) == 1 &&
	    git_op_try(op, "merge-base", "--is-ancestor", home.base, "HEAD",
		NULL) == 0)
		return home.base;
	return op->onto_id;
}

/* Stopped without a conflict: rerere has resolved it, and the rebase can go on.
 * Not with --continue, which runs what a worker can have put into the list of
 * commands: this commit is made here, and a new rebase takes the rest. */
static int
go_on(struct rebase_op *rebase, const char *tip, char stopped_at[GIT_ID_SIZE])
{
	struct git_op *op = &rebase->save.op;
	char id[1][GIT_ID_SIZE], base[GIT_ID_SIZE];
	struct git_home home;

	git_op_find_ids(
	    op, (const char *[]){ "REBASE_HEAD^{commit}", NULL }, id);
	if (id[0][0] == '\0' || strcmp(id[0], stopped_at) == 0)
		give_up(rebase);
	memcpy(stopped_at, id[0], GIT_ID_SIZE);
	/* Something else is wrong if nothing of it is in the index: a file was
	 * in the way. And is it one of those that are rebased? */
	if (git_op_try(op, "diff-index", "--cached", "--quiet",
		"--ignore-submodules=dirty", "HEAD", "--", NULL) != 1 ||
	    git_op_try(
		op, "merge-base", "--is-ancestor", stopped_at, tip, NULL) != 0)
		give_up(rebase);
	git_op_must(op, "rebase", "--quit", NULL);
	git_op_no_hooks(op);
	git_op_must(op, "commit", "--quiet", "--no-verify", "--allow-empty",
	    "--allow-empty-message", "-C", stopped_at, NULL);
	head_id(op, base);
	return try_rebase(rebase, base, stopped_at,
	    git_home(op->git, op->dir, &home) && home.detached ?
		tip :
		rebase->save.branch);
}

static void
rebase_run(struct git_op *op)
{
	struct rebase_op *rebase = op->self;
	char tip[GIT_ID_SIZE], stopped_at[GIT_ID_SIZE] = "";
	int status;

	git_op_need_gitdir(op);
	git_op_need_identity(op);
	git_op_need_onto(op);
	git_follow_run(op);
	/* Where the commits to rebase end. */
	memcpy(tip, op->head_id, GIT_ID_SIZE);
	if (end_rebase(rebase))
		head_id(op, tip);
	status = begin_rebase(rebase, find_upstream(op));
	while (status != 0) {
		/* A rebase that was cut off in the middle has no conflict to
		 * show, only a broken state. */
		if (status < 0 || !git_op_rebasing(op))
			give_up(rebase);
		git_op_must(op, "ls-files", "--unmerged", "-z", NULL);
		git_follow_tidy(op);
		if (op->answer.out_len > 0) {
			rebase->save.out.conflict = true;
			return;
		}
		status = go_on(rebase, tip, stopped_at);
	}
	git_op_forget_rebase(op);
	git_follow_run(op);
}

static void
rebase_finish(struct git_op *op, const struct err *err)
{
	const struct rebase_op *rebase = op->self;

	rebase->rebase_fn(
	    err == NULL && rebase->save.out.conflict, err, op->arg);
}

void
git_rebase(struct git *git, const char *dir, const char *onto,
    const struct git_salvage *keep, git_rebase_fn *fn, void *arg)
{
	struct rebase_op *rebase = git_save_new(
	    sizeof *rebase, git, dir, onto, keep, true, rebase_run, NULL, arg);

	rebase->rebase_fn = fn;
	rebase->save.op.finish = rebase_finish;
	git_op_begin(&rebase->save.op, false);
}

static void
abort_run(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_op_need_onto(op);
	end_rebase(op->self);
}

void
git_rebase_abort(struct git *git, const char *dir,
    const struct git_salvage *keep, git_salvage_fn *fn, void *arg)
{
	struct rebase_op *rebase = git_save_new(sizeof *rebase, git, dir,
	    keep->onto, keep, true, abort_run, fn, arg);

	git_op_begin(&rebase->save.op, false);
}

/* --- squash ------------------------------------------------------------- */

/* Makes the one commit that lands. */

struct squash_op {
	struct git_op op;
	char *ref, *message;
	char id[GIT_ID_SIZE]; /* "" = nothing to land */
	git_id_fn *fn;
};

static void
squash_run(struct git_op *op)
{
	static const char *const person[] = { "GIT_AUTHOR_NAME=",
		"GIT_AUTHOR_EMAIL=", "GIT_AUTHOR_DATE=@",
		"GIT_COMMITTER_DATE=@" };
	struct squash_op *squash = op->self;
	char trees[2][GIT_ID_SIZE];
	struct git_records records;
	const char *record;

	git_op_need_onto(op);
	if (squash->message[strspn(squash->message, " \t\r\n")] == '\0')
		git_op_die(
		    op, -EINVAL, "a commit without a message cannot land");
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	if (!git_op_is_ancestor(op, op->onto_id, op->head_id)) {
		if (git_op_is_ancestor(op, op->head_id, op->onto_id))
			return;
		git_op_die(op, -ESTALE,
		    "%s is not on top of %s: rebase it first", op->dir,
		    op->onto);
	}
	git_op_find_ids(op,
	    (const char *[]){ git_op_text(op, "%s^{tree}", op->head_id),
		git_op_text(op, "%s^{tree}", op->onto_id), NULL },
	    trees);
	if (trees[0][0] == '\0' || trees[1][0] == '\0')
		git_op_die(op, -EIO, "a tree is missing in %s; type: git fsck",
		    git_root(op->git));
	if (strcmp(trees[0], trees[1]) == 0)
		return;
	git_op_need_identity(op);
	git_op_must(op, "log", "-z", "--max-count=1", "--date=raw",
	    "--no-show-signature", "--format=%an%x00%ae%x00%ad%x00%cd",
	    op->head_id, "--", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	for (size_t i = 0; i < nitems(person); i++) {
		record = git_records_next(&records);
		if (record == NULL)
			git_op_die(op, -EPROTO,
			    "git log did not print the author of HEAD");
		git_op_env(op, "%s%s", person[i], record);
	}
	buf_adds(&op->input, squash->message);
	strlcpy(squash->id,
	    git_op_must(op, "commit-tree", trees[0], "-p", op->onto_id, "-F",
		"-", NULL),
	    sizeof squash->id);
	git_import_run(op, squash->id);
	op->run_dir = git_root(op->git);
	git_op_must(op, "update-ref", squash->ref, squash->id, NULL);
}

static void
squash_finish(struct git_op *op, const struct err *err)
{
	struct squash_op *squash = op->self;

	squash->fn(err == NULL ? squash->id : NULL, err, op->arg);
}

void
git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg)
{
	struct squash_op *squash = git_op_new(
	    sizeof *squash, git, dir, onto, squash_run, squash_finish);
	struct git_op *op = &squash->op;

	squash->ref = git_op_text(op, "refs/llmc/landing/%s", worker);
	squash->message = git_op_copy(op, message);
	squash->fn = fn;
	op->arg = arg;
	op->ret = squash->id;
	op->ret_size = sizeof squash->id;
	git_op_begin(op, false);
}
