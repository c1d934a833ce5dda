/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "git-dirs.h"
#include "git-sync.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"

/* A slow disk behind a full cache. */
#define SYNC_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct git_sync {
	struct loop *loop;
	bool whole;
	char **paths;
	struct child *child; /* NULL = done */
	struct loop_timer *soon;
	struct err err;
	git_sync_fn *fn;
	void *arg;
};

/* The callback may free it. */
static void
sync_tell(void *arg)
{
	struct git_sync *sync = arg;
	git_sync_fn *fn = sync->fn;

	loop_timer_free(take_ptr(&sync->soon));
	sync->fn = NULL;
	fn(sync->err.code != 0 ? &sync->err : NULL, sync->arg);
}

/* What a user removed in the meantime, by a switch, need not be on disk. */
static bool
drop_vanished(struct git_sync *sync)
{
	char **kept = NULL;
	bool vanished;
	struct stat st;

	for (size_t i = 0; sync->paths[i] != NULL; i++)
		if (lstat(sync->paths[i], &st) == 0)
			strv_add(&kept, sync->paths[i]);
	vanished = strv_count(kept) < strv_count(sync->paths);
	strv_free(sync->paths);
	sync->paths = kept;
	return vanished && kept != NULL;
}

static int sync_start(struct git_sync *sync, struct err *err);

static void
sync_done(const struct child_result *result, void *arg)
{
	struct git_sync *sync = arg;
	cleanup_buf struct buf text = BUF_INIT;

	sync->child = NULL;
	if (!child_succeeded(result)) {
		if (drop_vanished(sync) && sync_start(sync, &sync->err) == 0)
			return;
		child_output_text(&result->err, &text);
		if (text.len == 0)
			child_result_describe(result, &text);
		err_set(&sync->err, -EIO,
		    "cannot put the repository on disk: sync: %s", text.data);
	}
	if (sync->fn != NULL)
		sync_tell(sync);
}

static int
sync_start(struct git_sync *sync, struct err *err)
{
	struct child_spec spec = { .deadline_ms = SYNC_DEADLINE_MS };
	char **argv = NULL;
	int r;

	strv_add(&argv, "sync");
	if (sync->whole)
		strv_add(&argv, "-f");
	strv_add(&argv, "--");
	strv_add_all(&argv, strv_const(sync->paths));
	spec.argv = strv_const(argv);
	r = child_spawn(sync->loop, &spec, sync_done, sync, &sync->child, err);
	strv_free(argv);
	return r;
}

int
git_sync_new(struct loop *loop, bool whole, const char *const *paths,
    struct git_sync **ret_sync, struct err *err)
{
	struct git_sync *sync = xcalloc(1, sizeof *sync);
	int r;

	sync->loop = loop;
	sync->whole = whole;
	strv_add_all(&sync->paths, paths);
	r = sync_start(sync, err);
	if (r < 0) {
		git_sync_free(sync);
		return r;
	}
	*ret_sync = sync;
	return 0;
}

void
git_sync_wait(struct git_sync *sync, git_sync_fn *fn, void *arg)
{
	sync->fn = fn;
	sync->arg = arg;
	if (sync->child == NULL)
		sync->soon = loop_after(sync->loop, 1, sync_tell, sync);
}

void
git_sync_free(struct git_sync *sync)
{
	if (sync == NULL)
		return;
	if (sync->child != NULL)
		child_release(sync->child);
	loop_timer_free(sync->soon);
	strv_free(sync->paths);
	free(sync);
}

static void
op_synced(const struct err *err, void *arg)
{
	struct git_op *op = arg;

	if (err != NULL)
		op->err = *err;
	git_sync_free(take_ptr(&op->sync));
	git_op_resume(op, op->err.code != 0 ? GIT_OP_FAIL : GIT_OP_NEXT);
}

enum git_op_next
git_sync_ask(struct git_op *op)
{
	const char *common = op->common;
	const char *const paths[] = { common, NULL };

	if (git_sync_new(git_loop(op->git), true, paths, &op->sync, &op->err) <
	    0)
		return GIT_OP_FAIL;
	git_sync_wait(op->sync, op_synced, op);
	return GIT_OP_WAIT;
}
