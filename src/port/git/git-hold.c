/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "child.h"
#include "git-hold.h"
#include "git-start.h"
#include "git.h"
#include "loop.h"

/* For the hooks of the user, and a slow disk. */
#define HOLD_DEADLINE_MS (INT64_C(15) * 60 * 1000)

/* For each of our words: the user's git waits as long for the index. A hook
 * that takes longer is ended; before the branch has moved, that is a refusal.
 */
#define WORD_MS  10000
#define ABORT_MS 2000

enum hold_word {
	HOLD_PREPARE,
	HOLD_COMMIT,
	HOLD_ABORT
};

struct git_hold {
	struct loop *loop;
	struct child *child; /* NULL = it has ended */
	int fd; /* its standard input */
	struct buf orders; /* up to prepare */
	struct buf said;
	enum hold_word word; /* our last one */
	bool awaited; /* fn is to be called at its answer */
	struct loop_timer *soon;
	struct loop_timer *limit; /* for its answer */
	bool late;
	git_hold_fn *fn;
	void *arg;
	int status;
	struct buf complaint;
};

/* The callback may free the hold. */
static void
hold_tell_end(struct git_hold *hold)
{
	struct git_hold_result result = {
		.status = hold->status,
		.locked = git_complaint_is_lock(hold->complaint.data),
		.complaint = hold->complaint.data,
	};

	hold->awaited = false;
	hold->fn(&result, hold->arg);
}

static void
hold_said(const char *bytes, size_t len, void *arg)
{
	struct git_hold *hold = arg;

	buf_add(&hold->said, bytes, len);
	/* A late one lets go at the end of its input, which it has reached. */
	if (hold->awaited && hold->word == HOLD_PREPARE && !hold->late &&
	    strstr(hold->said.data, "prepare: ok\n") != NULL) {
		hold->awaited = false;
		loop_timer_free(take_ptr(&hold->limit));
		buf_clear(&hold->said);
		hold->fn(NULL, hold->arg);
	}
}

/* At the end of its input it exits with 0, whether it has moved the branch or
 * not: only its word counts. */
static void
hold_ended(const struct child_result *result, void *arg)
{
	struct git_hold *hold = arg;
	struct buf *out;

	hold->child = NULL;
	loop_timer_free(take_ptr(&hold->limit));
	if (strstr(hold->said.data, "commit: ok\n") != NULL)
		hold->status = 0;
	else if (result->exited && result->status != 0)
		hold->status = result->status;
	else
		hold->status = -1;
	out = &hold->complaint;
	child_output_text(&result->err, out);
	while (out->len > 0 && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
	if (hold->late)
		buf_addf(out, "it did not %s within %d s",
		    hold->word == HOLD_PREPARE ? "lock the branch" : "end",
		    WORD_MS / 1000);
	else if (!result->exited && out->len == 0)
		child_result_describe(result, out);
	else if (out->len == 0)
		buf_adds(out, "it ended before it was told to");
	if (hold->awaited)
		hold_tell_end(hold);
}

static int
hold_spawn(struct git_hold *hold, struct git *git,
    const struct git_hold_spec *spec, struct err *err)
{
	const char *const args[] = { "update-ref", "-m", spec->reason,
		"--stdin", NULL };
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec child = { .said = hold_said,
		.deadline_ms = HOLD_DEADLINE_MS };
	int fds[2], r;

	r = git_environment(git, spec->dir, spec->env, &env, err);
	if (r < 0)
		return r;
	git_arguments(git, spec->dir, args, &argv);
	if (pipe2(fds, O_CLOEXEC) == -1)
		return err_errno(err, -errno, "pipe");
	child.argv = strv_const(argv);
	child.env = strv_const(env);
	child.stdin_fd = fds[0];
	r = child_spawn(
	    git_loop(git), &child, hold_ended, hold, &hold->child, err);
	close(fds[0]);
	hold->fd = fds[1];
	return r;
}

int
git_hold_new(struct git *git, const struct git_hold_spec *spec,
    struct git_hold **ret_hold, struct err *err)
{
	struct git_hold *hold = xcalloc(1, sizeof *hold);
	int r;

	hold->loop = git_loop(git);
	hold->fd = -1;
	buf_init(&hold->orders);
	buf_init(&hold->said);
	buf_init(&hold->complaint);
	buf_addf(&hold->orders, "start\nupdate refs/heads/%s %s %s\nprepare\n",
	    spec->branch, spec->new_id, spec->old_id);
	r = hold_spawn(hold, git, spec, err);
	if (r < 0) {
		git_hold_free(hold);
		return r;
	}
	*ret_hold = hold;
	return 0;
}

pid_t
git_hold_pid(const struct git_hold *hold)
{
	return hold->child != NULL ? child_pid(hold->child) : 0;
}

static void
hold_soon(void *arg)
{
	struct git_hold *hold = arg;

	loop_timer_free(take_ptr(&hold->soon));
	hold_tell_end(hold);
}

/* The end of its input lets it clean up; then it is told to. */
static void
hold_too_late(void *arg)
{
	struct git_hold *hold = arg;

	loop_timer_free(take_ptr(&hold->limit));
	hold->fd = fd_close(hold->fd);
	if (hold->late) {
		child_cancel(hold->child);
		return;
	}
	hold->late = true;
	hold->limit = loop_after(hold->loop, ABORT_MS, hold_too_late, hold);
}

/* Answers come from the loop. What it does not read any more it tells by its
 * end. */
static void
hold_await(
    struct git_hold *hold, enum hold_word word, git_hold_fn *fn, void *arg)
{
	hold->word = word;
	hold->fn = fn;
	hold->arg = arg;
	hold->awaited = true;
	if (hold->child == NULL)
		hold->soon = loop_after(hold->loop, 1, hold_soon, hold);
	else
		hold->limit =
		    loop_after(hold->loop, WORD_MS, hold_too_late, hold);
}

void
git_hold_prepare(struct git_hold *hold, git_hold_fn *fn, void *arg)
{
	hold_await(hold, HOLD_PREPARE, fn, arg);
	if (hold->child != NULL)
		(void)file_write_all(
		    hold->fd, hold->orders.data, hold->orders.len);
}

void
git_hold_commit(struct git_hold *hold, git_hold_fn *fn, void *arg)
{
	static const char commit[] = "commit\n";

	hold_await(hold, HOLD_COMMIT, fn, arg);
	if (hold->child != NULL)
		(void)file_write_all(hold->fd, commit, strlen(commit));
	hold->fd = fd_close(hold->fd);
}

void
git_hold_abort(struct git_hold *hold, git_hold_fn *fn, void *arg)
{
	hold_await(hold, HOLD_ABORT, fn, arg);
	hold->fd = fd_close(hold->fd);
}

void
git_hold_free(struct git_hold *hold)
{
	if (hold == NULL)
		return;
	fd_close(hold->fd);
	if (hold->child != NULL)
		child_release(hold->child);
	loop_timer_free(hold->soon);
	loop_timer_free(hold->limit);
	buf_release(&hold->orders);
	buf_release(&hold->said);
	buf_release(&hold->complaint);
	free(hold);
}
