/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-rebase.h"
#include "git-save.h"
#include "git-stand.h"
#include "mem.h"

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
	    strncmp(name.data, "git", 3) != 0)
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
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = proc == NULL || real == NULL;

	while (!found && (entry = readdir(proc)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
		    is_git_in(entry->d_name, real, below, owner);
	if (proc != NULL)
		closedir(proc);
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
	bool back; /* a rebase was ended: HEAD goes back to the branch */
	char origin[GIT_ID_SIZE]; /* where that says it began; "-" = unknown */
	char branch_id[GIT_ID_SIZE]; /* where it goes back to */
	char tip[GIT_ID_SIZE]; /* the last commit to rebase */
	char upstream[GIT_ID_SIZE]; /* the last one that is not; "" = onto */
	char stopped_at[GIT_ID_SIZE]; /* the one at the last stop */
	char base[GIT_ID_SIZE]; /* what the rest goes on top of */
	bool in_rest;
	struct err stopped; /* what git said when it stopped */
	bool conflict;
	int tries; /* that found a lock */
	bool freed; /* nobody held it, and it was removed */
	git_rebase_fn *rebase_fn; /* one of the two */
	git_salvage_fn *fn;
	void *arg;
};

enum rebase_step {
	REBASE_GITDIR,
	REBASE_IDENTITY,
	REBASE_ONTO,
	REBASE_FOLLOW,
	REBASE_SAVE,
	REBASE_ABORT,
	REBASE_BRANCH,
	REBASE_ATTACH,
	REBASE_RESTORE,
	REBASE_TIP,
	REBASE_LOST,
	REBASE_OWN,
	REBASE_RUN,
	REBASE_PUT_BACK,
	REBASE_UNMERGED,
	REBASE_STOPPED,
	REBASE_APPLIED,
	REBASE_MINE,
	REBASE_QUIT,
	REBASE_COMMIT,
	REBASE_COMMITTED,
	REBASE_REST,
	/* Behind what answers; the first of them is the usual end. */
	REBASE_END,
	REBASE_GIVE_UP,
	REBASE_GIVE_UP_BRANCH,
	REBASE_GIVE_UP_ATTACH,
	REBASE_GIVE_UP_RESTORE,
	REBASE_FAILED,
	REBASE_DONE,
	REBASE_COUNT
};

/* A conflict that is half resolved would be lost. */
static enum git_op_next
abort_save(struct git_op *op)
{
	return git_op_rebasing(op) ? git_save_ask(op) : GIT_OP_NEXT;
}

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
 * not, and leaves HEAD and the files, which are set below: a rebase has not
 * moved the branch. */
static enum git_op_next
abort_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	rebase->back = git_op_rebasing(op);
	if (!rebase->back)
		return GIT_OP_NEXT;
	read_origin(rebase);
	if (git_op_has(op, "rebase-apply/applying"))
		return git_op_args(op, "am", "--quit", NULL);
	return git_op_args(op, "rebase", "--quit", NULL);
}

static enum git_op_next
abort_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0 && answer->locked)
		return git_op_complain(op, answer);
	git_op_forget_rebase(op);
	return GIT_OP_NEXT;
}

static enum git_op_next
branch_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;
	cleanup_free char *name = git_op_known_branch(op, rebase->save.branch);
	cleanup_free char *origin = xasprintf("%s^{commit}", rebase->origin);

	if (!rebase->back)
		return GIT_OP_NEXT;
	return git_op_ask_ids(op, (const char *[]){ name, origin, NULL });
}

static enum git_op_next
branch_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;
	char ids[2][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	memcpy(rebase->branch_id, ids[1][0] != '\0' ? ids[1] : ids[0],
	    GIT_ID_SIZE);
	if (rebase->branch_id[0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no branch %s in %s",
		    rebase->save.branch, git_root(op->git));
	return GIT_OP_NEXT;
}

static enum git_op_next
attach_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	if (!rebase->back)
		return GIT_OP_NEXT;
	return git_stand_ask(op, rebase->save.branch, rebase->branch_id);
}

static enum git_op_next
restore_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	if (!rebase->back)
		return GIT_OP_NEXT;
	return git_op_args(op, "reset", "--hard", "--quiet", NULL);
}

static enum git_op_next
head_ask(struct git_op *op)
{
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

/* Where the commits to rebase end. */
static enum git_op_next
tip_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	memcpy(rebase->tip, op->head_id, GIT_ID_SIZE);
	return rebase->back ? head_ask(op) : GIT_OP_NEXT;
}

static enum git_op_next
tip_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &rebase->tip, 1);
	return GIT_OP_NEXT;
}

/* Has the landing branch lost what the worker began with? Then that is not
 * rebased: somebody has dropped it. */
static enum git_op_next
lost_ask(struct git_op *op)
{
	struct git_home home;

	if (!git_home(op->git, op->dir, &home) || home.base == NULL ||
	    strcmp(home.base, op->onto_id) == 0) {
		op->at = REBASE_RUN;
		return GIT_OP_AGAIN;
	}
	return git_op_ask_ancestor(op, home.base, op->onto_id);
}

static enum git_op_next
lost_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status == 1)
		return GIT_OP_NEXT;
	op->at = REBASE_RUN;
	return GIT_OP_AGAIN;
}

static enum git_op_next
own_ask(struct git_op *op)
{
	struct git_home home;

	return git_home(op->git, op->dir, &home) && home.base != NULL ?
	    git_op_ask_ancestor(op, home.base, "HEAD") :
	    GIT_OP_NEXT;
}

static enum git_op_next
own_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;
	struct git_home home;

	if (answer->status == 0 && git_home(op->git, op->dir, &home) &&
	    home.base != NULL)
		strlcpy(rebase->upstream, home.base, sizeof rebase->upstream);
	return GIT_OP_NEXT;
}

static enum git_op_next
rebase_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	op->deadline_ms = REBASE_DEADLINE_MS;
	op->once = true;
	op->delay_ms = rebase->tries > 0 ? GIT_RETRY_MS : 0;
	return git_op_args(op, "rebase", "--merge", "--quiet", "--no-stat",
	    "--no-autostash", "--no-fork-point", "--rerere-autoupdate",
	    "--onto", op->onto_id,
	    rebase->upstream[0] != '\0' ? rebase->upstream : op->onto_id, NULL);
}

static enum git_op_next
rebase_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status == 0) {
		op->at = REBASE_END;
		return GIT_OP_AGAIN;
	}
	git_op_complain(op, answer);
	if (!git_op_rebasing(op) && !answer->locked && !rebase->in_rest)
		return GIT_OP_FAIL;
	rebase->stopped = op->err;
	memset(&op->err, 0, sizeof op->err);
	/* A rebase that was cut off in the middle has no conflict to show, only
	 * a broken state. */
	op->at = rebase->in_rest && !git_op_rebasing(op) ? REBASE_GIVE_UP :
	    !git_op_rebasing(op)                         ? REBASE_PUT_BACK :
	    answer->err != NULL                          ? REBASE_GIVE_UP :
							   REBASE_UNMERGED;
	return GIT_OP_AGAIN;
}

/* A lock on HEAD or a ref is found after the files of `onto` were written. Left
 * like that, they would look as if somebody had undone all work of the branch.
 * Files that are in neither version stay. */
static enum git_op_next
put_back_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	if (rebase->tries == GIT_TRIES)
		rebase->freed =
		    git_lock_remove_dead(op->dir, rebase->stopped.msg);
	op->once = rebase->tries < GIT_TRIES;
	return git_op_args(
	    op, "read-tree", "-m", "-u", op->onto_id, "HEAD", NULL);
}

static enum git_op_next
put_back_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	(void)answer; /* an index that is locked was not touched either */
	rebase->tries++;
	if (rebase->tries <= GIT_TRIES ||
	    (rebase->tries == GIT_TRIES + 1 && rebase->freed)) {
		op->at = REBASE_RUN;
		return GIT_OP_AGAIN;
	}
	op->err = rebase->stopped;
	return GIT_OP_FAIL;
}

static enum git_op_next
unmerged_ask(struct git_op *op)
{
	return git_op_args(op, "ls-files", "--unmerged", "-z", NULL);
}

static enum git_op_next
unmerged_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	rebase->conflict = answer->out_len > 0;
	git_follow_tidy(op);
	return rebase->conflict ? GIT_OP_DONE : GIT_OP_NEXT;
}

/* Stopped without a conflict: rerere has resolved it, and the rebase can go on.
 * Not with --continue, which runs what a worker can have put into the list of
 * commands: this commit is made here, and a new rebase takes the rest. */
static enum git_op_next
stopped_ask(struct git_op *op)
{
	return git_op_ask_ids(
	    op, (const char *[]){ "REBASE_HEAD^{commit}", NULL });
}

static enum git_op_next
stopped_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;
	char ids[1][GIT_ID_SIZE];

	git_op_ids(answer, ids, nitems(ids));
	if (ids[0][0] != '\0' && strcmp(ids[0], rebase->stopped_at) != 0) {
		memcpy(rebase->stopped_at, ids[0], GIT_ID_SIZE);
		return GIT_OP_NEXT;
	}
	op->at = REBASE_GIVE_UP;
	return GIT_OP_AGAIN;
}

/* Something else is wrong if nothing of it is in the index: a file was in the
 * way. */
static enum git_op_next
applied_ask(struct git_op *op)
{
	return git_op_args(op, "diff-index", "--cached", "--quiet",
	    "--ignore-submodules=dirty", "HEAD", "--", NULL);
}

static enum git_op_next
applied_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status == 1)
		return GIT_OP_NEXT;
	op->at = REBASE_GIVE_UP;
	return GIT_OP_AGAIN;
}

/* Is it one of those that are rebased? */
static enum git_op_next
mine_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	return git_op_ask_ancestor(op, rebase->stopped_at, rebase->tip);
}

static enum git_op_next
mine_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status == 0)
		return GIT_OP_NEXT;
	op->at = REBASE_GIVE_UP;
	return GIT_OP_AGAIN;
}

static enum git_op_next
quit_ask(struct git_op *op)
{
	return git_op_args(op, "rebase", "--quit", NULL);
}

static enum git_op_next
commit_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	git_op_no_hooks(op);
	return git_op_args(op, "commit", "--quiet", "--no-verify",
	    "--allow-empty", "--allow-empty-message", "-C", rebase->stopped_at,
	    NULL);
}

static enum git_op_next
committed_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	git_op_ids(answer, &rebase->base, 1);
	return GIT_OP_NEXT;
}

static enum git_op_next
rest_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;
	struct git_home home;
	bool detached = git_home(op->git, op->dir, &home) && home.detached;

	rebase->in_rest = true;
	op->deadline_ms = REBASE_DEADLINE_MS;
	op->once = true;
	return git_op_args(op, "rebase", "--merge", "--quiet", "--no-stat",
	    "--no-autostash", "--no-fork-point", "--rerere-autoupdate",
	    "--onto", rebase->base, rebase->stopped_at,
	    detached ? rebase->tip : rebase->save.branch, NULL);
}

/* What comes behind it is for failures; a part goes on with the step after the
 * one that called it. */
static enum git_op_next
end_ask(struct git_op *op)
{
	enum git_op_next next;

	git_op_forget_rebase(op);
	op->at = REBASE_FAILED;
	next = git_follow_ask(op);
	return next == GIT_OP_NEXT ? GIT_OP_DONE : next;
}

static enum git_op_next
give_up_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;
	enum git_op_next next = abort_ask(op);

	rebase->back = true;
	return next;
}

static enum git_op_next
done(struct git_op *op)
{
	(void)op;
	return GIT_OP_DONE;
}

static enum git_op_next
failed(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	op->err = rebase->stopped;
	return GIT_OP_FAIL;
}

static const struct git_op_step rebase_steps[REBASE_COUNT] = {
	[REBASE_GITDIR] = GIT_OP_GITDIR,
	[REBASE_IDENTITY] = GIT_OP_IDENTITY,
	[REBASE_ONTO] = GIT_OP_ONTO,
	[REBASE_FOLLOW] = GIT_FOLLOW,
	[REBASE_SAVE] = { .ask = abort_save },
	[REBASE_ABORT] = { .ask = abort_ask, .answer = abort_answer },
	[REBASE_BRANCH] = { .ask = branch_ask, .answer = branch_answer },
	[REBASE_ATTACH] = { .ask = attach_ask },
	[REBASE_RESTORE] = { .ask = restore_ask },
	[REBASE_TIP] = { .ask = tip_ask, .answer = tip_answer },
	[REBASE_LOST] = { .ask = lost_ask, .answer = lost_answer },
	[REBASE_OWN] = { .ask = own_ask, .answer = own_answer },
	[REBASE_RUN] = { .ask = rebase_ask,
	    .answer = rebase_answer,
	    .tolerant = true },
	[REBASE_PUT_BACK] = { .ask = put_back_ask, .answer = put_back_answer },
	[REBASE_UNMERGED] = { .ask = unmerged_ask, .answer = unmerged_answer },
	[REBASE_STOPPED] = { .ask = stopped_ask, .answer = stopped_answer },
	[REBASE_APPLIED] = { .ask = applied_ask, .answer = applied_answer },
	[REBASE_MINE] = { .ask = mine_ask, .answer = mine_answer },
	[REBASE_QUIT] = { .ask = quit_ask },
	[REBASE_COMMIT] = { .ask = commit_ask },
	[REBASE_COMMITTED] = { .ask = head_ask, .answer = committed_answer },
	[REBASE_REST] = { .ask = rest_ask,
	    .answer = rebase_answer,
	    .tolerant = true },
	[REBASE_END] = { .ask = end_ask },
	[REBASE_GIVE_UP] = { .ask = give_up_ask, .answer = abort_answer },
	[REBASE_GIVE_UP_BRANCH] = { .ask = branch_ask,
	    .answer = branch_answer },
	[REBASE_GIVE_UP_ATTACH] = { .ask = attach_ask },
	[REBASE_GIVE_UP_RESTORE] = { .ask = restore_ask },
	[REBASE_FAILED] = { .ask = failed },
	[REBASE_DONE] = { .ask = done },
};

static const struct git_op_step abort_steps[] = {
	GIT_OP_GITDIR,
	GIT_OP_ONTO,
	{ .ask = abort_save },
	{ .ask = abort_ask, .answer = abort_answer },
	{ .ask = branch_ask, .answer = branch_answer },
	{ .ask = attach_ask },
	{ .ask = restore_ask },
};

static void
rebase_finish(struct git_op *op, const struct err *err)
{
	const struct rebase_op *rebase = op->self;
	struct git_salvaged saved = git_save_result(&rebase->save);

	if (rebase->rebase_fn != NULL)
		rebase->rebase_fn(
		    err == NULL && rebase->conflict, err, rebase->arg);
	else
		rebase->fn(err == NULL ? &saved : NULL, err, rebase->arg);
}

static void
rebase_release(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	git_save_release(&rebase->save);
}

static struct rebase_op *
rebase_new(const struct git_salvage *keep, const char *onto, void *arg)
{
	struct rebase_op *rebase = xcalloc(1, sizeof *rebase);
	struct git_op *op = &rebase->save.op;

	git_save_init(&rebase->save, keep, true);
	rebase->arg = arg;
	op->self = rebase;
	op->finish = rebase_finish;
	op->release = rebase_release;
	op->onto = xstrdup(onto);
	return rebase;
}

void
git_rebase(struct git *git, const char *dir, const char *onto,
    const struct git_salvage *keep, git_rebase_fn *fn, void *arg)
{
	struct rebase_op *rebase = rebase_new(keep, onto, arg);

	rebase->rebase_fn = fn;
	git_op_start(&rebase->save.op, git, dir, rebase_steps,
	    nitems(rebase_steps), false);
}

void
git_rebase_abort(struct git *git, const char *dir,
    const struct git_salvage *keep, git_salvage_fn *fn, void *arg)
{
	struct rebase_op *rebase = rebase_new(keep, keep->onto, arg);

	rebase->fn = fn;
	git_op_start(&rebase->save.op, git, dir, abort_steps,
	    nitems(abort_steps), false);
}
