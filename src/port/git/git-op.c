/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "git-clone.h"
#include "git-op.h"
#include "git-refs.h"
#include "git-save.h"
#include "git-stand.h"
#include "mem.h"
#include "remove-tree.h"
#include "strv.h"

void
git_op_arg(struct git_op *op, const char *arg)
{
	strv_add(&op->args, arg);
}

void
git_op_no_hooks(struct git_op *op)
{
	git_op_args(op, "-c", "core.hooksPath=/dev/null", NULL);
}

enum git_op_next
git_op_args(struct git_op *op, ...)
{
	const char *arg;
	va_list ap;

	va_start(ap, op);
	while ((arg = va_arg(ap, const char *)) != NULL)
		git_op_arg(op, arg);
	va_end(ap);
	return GIT_OP_ASK;
}

void
git_op_env(struct git_op *op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&op->env, xvasprintf(fmt, ap));
	va_end(ap);
}

void
git_op_own_name(struct git_op *op)
{
	git_op_env(op, "GIT_AUTHOR_NAME=llmc");
	git_op_env(op, "GIT_AUTHOR_EMAIL=llmc@localhost");
	git_op_env(op, "GIT_COMMITTER_NAME=llmc");
	git_op_env(op, "GIT_COMMITTER_EMAIL=llmc@localhost");
}

enum git_op_next
git_op_fail(struct git_op *op, int code, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(&op->err, code, "%s", text);
	return GIT_OP_FAIL;
}

enum git_op_next
git_op_complain(struct git_op *op, const struct git_answer *answer)
{
	const char *verb = git_verb(strv_const(op->args));

	if (answer->err != NULL) {
		op->err = *answer->err;
		return GIT_OP_FAIL;
	}
	if (answer->complaint[0] == '\0')
		return git_op_fail(op, -EIO,
		    "git %s in %s failed without a message (status %d)", verb,
		    op->dir, answer->status);
	return git_op_fail(op, answer->locked ? -EBUSY : -EIO, "git %s: %s",
	    verb, answer->complaint);
}

static void
op_clear_question(struct git_op *op)
{
	strv_clear(&op->args);
	strv_clear(&op->env);
	buf_clear(&op->input);
	op->run_dir = NULL;
	op->deadline_ms = op->delay_ms = 0;
	op->stdin_fd = 0;
	op->once = op->linger = false;
}

static void
op_free(void *arg)
{
	struct git_op *op = arg;

	if (op->release != NULL)
		op->release(op);
	git_sync_free(op->sync);
	git_clone_op_release(op);
	op_clear_question(op);
	buf_release(&op->input);
	free(op->dir);
	free(op->gitdir);
	free(op->common);
	free(op->onto);
	free(op->self);
}

/* Release the queues before the caller is told, who may ask for more or free
 * the git. */
static void
op_end(struct git_op *op)
{
	if (op->root_slot != NULL)
		git_slot_end(op->root_slot);
	git_slot_end(op->slot);
	op->finish(op, op->err.code != 0 ? &op->err : NULL);
	op_free(op);
}

static void op_answered(const struct git_answer *answer, void *arg);

static void
op_ask(struct git_op *op)
{
	struct git_slot *slot =
	    op->root_slot != NULL ? op->root_slot : op->slot;
	struct git_command command = {
		.args = strv_const(op->args),
		.env = strv_const(op->env),
		.input = op->input.len > 0 ? op->input.data : NULL,
		.input_len = op->input.len,
		.dir = op->run_dir != NULL ? op->run_dir : op->dir,
		.stdin_fd = op->stdin_fd,
		.deadline_ms = op->deadline_ms,
		.once = op->once,
		.linger = op->linger,
		.delay_ms = op->delay_ms,
	};

	git_slot_run(slot, &command, op_answered, op);
}

/* Returns whether the operation goes on at once. */
static bool
op_take(struct git_op *op, enum git_op_next next)
{
	switch (next) {
	case GIT_OP_ASK:
		op_ask(op);
		return false;
	case GIT_OP_WAIT:
		return false;
	case GIT_OP_NEXT:
		op->at++;
		break;
	case GIT_OP_AGAIN:
		break;
	case GIT_OP_FAIL:
		op->caller = NULL;
		op->at = op->count;
		break;
	case GIT_OP_DONE:
		op->at = op->count;
		break;
	}
	return true;
}

enum git_op_next
git_op_call(struct git_op *op, const struct git_op_step *steps, size_t count)
{
	op->caller = op->steps;
	op->caller_count = op->count;
	op->caller_at = op->at;
	op->steps = steps;
	op->count = count;
	op->at = 0;
	return GIT_OP_AGAIN;
}

/* Returns whether there was a caller. */
static bool
op_return(struct git_op *op)
{
	if (op->caller == NULL)
		return false;
	op->steps = take_ptr(&op->caller);
	op->count = op->caller_count;
	op->at = op->caller_at + 1;
	return true;
}

static void
op_advance(struct git_op *op)
{
	while (op->at < op->count || op_return(op)) {
		if (op->at >= op->count)
			continue;
		op_clear_question(op);
		if (!op_take(op, op->steps[op->at].ask(op)))
			return;
	}
	op_end(op);
}

void
git_op_resume(struct git_op *op, enum git_op_next next)
{
	if (op_take(op, next))
		op_advance(op);
}

static void
op_answered(const struct git_answer *answer, void *arg)
{
	struct git_op *op = arg;
	const struct git_op_step *step = &op->steps[op->at];
	enum git_op_next next;

	if (answer->err != NULL && !step->tolerant)
		next = git_op_complain(op, answer);
	else if (step->answer != NULL)
		next = step->answer(op, answer);
	else
		next = answer->status == 0 ? GIT_OP_NEXT :
					     git_op_complain(op, answer);
	if (op_take(op, next))
		op_advance(op);
}

static void
op_begin_root(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->root_slot = slot;
	op_advance(op);
}

static void
op_begin_both(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->slot = slot;
	git_slot(
	    git_queue(op->git, git_root(op->git)), op_begin_root, NULL, op);
}

static void
op_begin(struct git_slot *slot, void *arg)
{
	struct git_op *op = arg;

	op->slot = slot;
	op_advance(op);
}

void
git_op_start(struct git_op *op, struct git *git, const char *dir,
    const struct git_op_step *steps, size_t count, bool both_queues)
{
	bool both = both_queues && strcmp(dir, git_root(git)) != 0;

	op->git = git;
	op->dir = xstrdup(dir);
	op->steps = steps;
	op->count = count;
	buf_init(&op->input);
	/* Always the worktree's queue first, so that there is no deadlock. */
	git_slot(
	    git_queue(git, dir), both ? op_begin_both : op_begin, op_free, op);
}

enum git_op_next
git_op_ask_ids(struct git_op *op, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strchr(names[i], '\n') != NULL)
			return git_op_fail(op, -EINVAL,
			    "a git name cannot contain a line break");
		buf_adds(&op->input, names[i]);
		buf_addc(&op->input, '\n');
	}
	return git_op_args(op, "cat-file", "--batch-check=%(objectname)", NULL);
}

/* If there is no such object, git prints the name and a message. */
static bool
is_id(const char *s, size_t len)
{
	return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") >= len;
}

void
git_op_ids(
    const struct git_answer *answer, char (*ids)[GIT_ID_SIZE], size_t count)
{
	const char *line = answer->out;

	memset(ids, 0, count * sizeof *ids);
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(line, "\n");

		if (is_id(line, len))
			memcpy(ids[i], line, len);
		line += len;
		if (*line == '\n')
			line++;
	}
}

char *
git_op_branch_name(const char *branch)
{
	return xasprintf("refs/heads/%s^{commit}", branch);
}

char *
git_op_known_branch(const struct git_op *op, const char *branch)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *name = git_clone_op_ref(op, ref);

	return xasprintf("%s^{commit}", name);
}

enum git_op_next
git_op_find_gitdir(struct git_op *op)
{
	const char *dir = op->run_dir != NULL ? op->run_dir : op->dir;
	cleanup_free char *gitdir = NULL, *common = NULL;

	if (git_stand_find(op->git, dir, &gitdir, &common, &op->err) < 0)
		return GIT_OP_FAIL;
	free(op->gitdir);
	free(op->common);
	op->gitdir = take_ptr(&gitdir);
	op->common = take_ptr(&common);
	return GIT_OP_NEXT;
}

/* Where onto is a branch, and HEAD an ordinary one, no git is needed. */
static bool
read_onto(struct git_op *op)
{
	const char *dir = op->run_dir != NULL ? op->run_dir : op->dir;
	cleanup_free char *gitdir = NULL, *common = NULL;
	cleanup_free char *ref = xasprintf("refs/heads/%s", op->onto);
	char onto[GIT_ID_SIZE], head[GIT_ID_SIZE] = "";
	int r;

	if (git_stand_find(op->git, dir, &gitdir, &common, NULL) < 0)
		return false;
	r = git_refs_head(gitdir, common, head);
	if (git_stand_is_clone(op->git, dir)) {
		git_dirs_detached(gitdir, head, sizeof head);
		r = head[0] != '\0' ? 0 : -ENOTSUP;
	}
	if ((r < 0 && r != -ENOENT) || git_refs_read(common, ref, onto) < 0)
		return false;
	memcpy(op->onto_id, onto, GIT_ID_SIZE);
	memcpy(op->head_id, head, GIT_ID_SIZE);
	return true;
}

enum git_op_next
git_op_ask_onto(struct git_op *op)
{
	cleanup_free char *branch = git_op_branch_name(op->onto);
	cleanup_free char *other = xasprintf("%s^{commit}", op->onto);

	if (read_onto(op))
		return GIT_OP_NEXT;
	if (op->run_dir == NULL && git_clone_op_is(op))
		return git_clone_op_ask_onto(op);
	return git_op_ask_ids(
	    op, (const char *[]){ branch, other, "HEAD^{commit}", NULL });
}

enum git_op_next
git_op_onto(struct git_op *op, const struct git_answer *answer)
{
	char ids[3][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	memcpy(op->onto_id, ids[0][0] != '\0' ? ids[0] : ids[1], GIT_ID_SIZE);
	memcpy(op->head_id, ids[2], GIT_ID_SIZE);
	if (op->onto_id[0] != '\0')
		return GIT_OP_NEXT;
	if (op->head_id[0] == '\0')
		return git_op_fail(op, -ENOENT,
		    "%s has no commit on %s yet; type: git commit "
		    "--allow-empty -m start",
		    git_root(op->git), op->onto);
	if (op->onto[0] == '\0')
		return git_op_fail(op, -ENOENT,
		    "no branch is set that work lands on; type: llmc config "
		    "set repo.default_branch BRANCH, and restart the daemon");
	return git_op_fail(op, -ENOENT, "there is no branch or commit %s in %s",
	    op->onto, git_root(op->git));
}

enum git_op_next
git_op_ask_identity(struct git_op *op)
{
	return git_op_args(op, "var", "GIT_COMMITTER_IDENT", NULL);
}

enum git_op_next
git_op_identity(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status == 0)
		return GIT_OP_NEXT;
	return git_op_fail(op, -ENOKEY,
	    "git has no author for its commits; type: git config --global "
	    "user.name \"Your Name\" && git config --global user.email "
	    "you@example.org");
}

void
git_op_not_base(struct git_op *op)
{
	cleanup_free char *not = NULL;
	struct git_home home;

	if (!git_home(op->git, op->dir, &home) || home.base == NULL ||
	    !is_id(home.base, strlen(home.base)))
		return;
	not = xasprintf("^%s", home.base);
	git_op_args(op, "--ignore-missing", not, NULL);
}

enum git_op_next
git_op_ask_trees(struct git_op *op)
{
	op->run_dir = git_root(op->git);
	return git_op_args(op, "worktree", "list", "--porcelain", "-z", NULL);
}

enum git_op_next
git_op_ask_ancestor(struct git_op *op, const char *ancestor, const char *of)
{
	return git_op_args(
	    op, "merge-base", "--is-ancestor", ancestor, of, NULL);
}

enum git_op_next
git_op_ask_unregister(struct git_op *op, const char *path)
{
	op->run_dir = git_root(op->git);
	return git_op_args(
	    op, "worktree", "remove", "--force", "--force", "--", path, NULL);
}

bool
git_op_place_is_free(const char *path)
{
	DIR *stream = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (stream == NULL)
		return errno == ENOENT;
	while (empty && (entry = readdir(stream)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0;
	closedir(stream);
	return empty;
}

char *
git_op_rebased_branch(const char *gitdir)
{
	static const char *const names[] = { "rebase-merge/head-name",
		"rebase-apply/head-name" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(gitdir, names[i]);
		cleanup_buf struct buf text = BUF_INIT;

		if (file_read(path, 4096, &text, NULL) < 0)
			continue;
		buf_truncate(&text, strcspn(text.data, "\n"));
		if (strncmp(text.data, "refs/heads/", 11) == 0)
			return buf_take(&text);
	}
	return NULL;
}

bool
git_op_has(const struct git_op *op, const char *name)
{
	cleanup_free char *path = file_join(op->gitdir, name);

	return file_exists(path);
}

bool
git_op_rebasing(const struct git_op *op)
{
	return git_op_has(op, "rebase-merge") || git_op_has(op, "rebase-apply");
}

/* A handful of small files. */
void
git_op_forget_rebase(const struct git_op *op)
{
	static const char *const names[] = { "rebase-merge", "rebase-apply" };
	static const char *const notes[] = { "CHERRY_PICK_HEAD",
		"REBASE_HEAD" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(op->gitdir, names[i]);

		remove_tree(path);
	}
	for (size_t i = 0; i < nitems(notes); i++) {
		cleanup_free char *path = file_join(op->gitdir, notes[i]);

		unlink(path);
	}
}
