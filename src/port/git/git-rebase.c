/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <ftw.h>
#include <sys/stat.h>

#include "git-private.h"

#define FRESH_MS 2000
#define LINK_MAX 4096

/* "Unable to create '/r/.git/worktrees/w/index.lock': File exists." The caller
 * frees. */
static char *
complained_of(const char *complaint)
{
	static const char before[] = "Unable to create '";
	static const char after[] = ".lock': File exists";
	const char *at = strstr(complaint, before), *end;

	if (at == NULL)
		return NULL;
	at += strlen(before);
	end = strstr(at, after);
	return end == NULL ? NULL :
			     xstrndup(at, (size_t)(end - at) + strlen(".lock"));
}

/* Is it directly in the git directory of this linked worktree? */
static bool
is_own(const char *dir, const char *lock)
{
	const char *slash = strrchr(lock, '/');
	cleanup_free char *path = file_join(dir, ".git");
	cleanup_free char *gitdir = NULL, *folder = NULL;
	struct stat own, other;

	if (slash == NULL || file_is_dir(path))
		return false;
	gitdir = git_dirs_gitdir(dir);
	folder = xstrndup(lock, (size_t)(slash - lock));
	return gitdir != NULL && stat(gitdir, &own) == 0 &&
	    stat(folder, &other) == 0 && own.st_dev == other.st_dev &&
	    own.st_ino == other.st_ino;
}

/* May this process, into which we may not look, have made a file of `owner`?
 * Only a process of the same user, or any (NULL). */
static bool
may_be(const char *pid, const uid_t *owner)
{
	cleanup_free char *path = xasprintf("/proc/%s", pid);
	struct stat st;

	return owner == NULL || (stat(path, &st) == 0 && st.st_uid == *owner);
}

static bool
is_git_in(const char *pid, const char *dir, bool below, const uid_t *owner)
{
	cleanup_free char *comm = xasprintf("/proc/%s/comm", pid);
	cleanup_free char *cwd = xasprintf("/proc/%s/cwd", pid);
	cleanup_buf struct buf name = BUF_INIT;
	size_t len = strlen(dir);
	char where[LINK_MAX];
	ssize_t n;

	if (file_read(comm, 64, &name, NULL) < 0 ||
	    !text_begins(name.data, "git"))
		return false;
	n = readlink(cwd, where, sizeof where - 1);
	if (n < 0)
		return errno == EACCES && may_be(pid, owner);
	where[n] = '\0';
	return strncmp(where, dir, len) == 0 &&
	    (where[len] == '\0' || (below && where[len] == '/'));
}

static bool
git_runs_in(const char *dir, bool below, const uid_t *owner)
{
	cleanup_free char *real = realpath(dir, NULL);
	cleanup_dir DIR *proc = opendir("/proc");
	const char *name;
	bool found = proc == NULL || real == NULL;

	while (!found && (name = dir_next(proc)) != NULL)
		found = isdigit((unsigned char)name[0]) &&
		    is_git_in(name, real, below, owner);
	return found;
}

bool
git_lock_remove_dead(const char *dir, const char *complaint)
{
	cleanup_free char *lock = complained_of(complaint);
	struct stat st;

	if (lock == NULL || !is_own(dir, lock) || stat(lock, &st) == -1)
		return false;
	if (clock_wall_ms() - clock_file_ms(&st.st_mtim) < FRESH_MS ||
	    git_runs_in(dir, true, &st.st_uid))
		return false;
	return unlink(lock) == 0;
}

bool
git_lock_runs_at(const char *dir)
{
	return git_runs_in(dir, false, NULL);
}

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
	git_stand_put(op, rebase->save.branch,
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
	git_clone_op_import(op, squash->id);
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
