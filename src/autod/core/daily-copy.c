/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "api-work.h"
#include "book.h"
#include "child.h"
#include "core.h"
#include "daily-copy.h"
#include "emit.h"
#include "loop.h"
#include "workspace.h"

#define DAY_MS  (INT64_C(24) * 3600 * 1000)
#define WAIT_MS (INT64_C(3600) * 1000) /* after a start, or a try */

struct daily_copy {
	struct core *core;
	struct child *child; /* NULL = none */
	int64_t tried_ms; /* monotonic */
	bool told; /* that the book is damaged */
};

static void
on_copied(const struct child_result *result, void *arg)
{
	struct daily_copy *copy = arg;
	cleanup_buf struct buf words = BUF_INIT;

	copy->child = NULL;
	if (child_succeeded(result))
		return;
	child_output_text(&result->err, &words);
	buf_truncate(&words, strcspn(words.data, "\n"));
	if (words.len == 0)
		child_result_describe(result, &words);
	log_info("no copy of the book was made: %s", words.data);
	if (result->exited && result->status == STORE_TASK_DAMAGED &&
	    !copy->told) {
		copy->told = true;
		emit_damage(words.data, copy->core);
	}
}

void
daily_copy_patrol(struct daily_copy *copy)
{
	cleanup_free char *file =
	    workspace_path(copy->core->workspace, WORKSPACE_BOOK_COPY);
	cleanup_free char *owner = xasprintf("%d", (int)getpid());
	cleanup_free char *autod = NULL;
	int64_t now = clock_mono_ms(), age;
	struct stat st;

	if (copy->child != NULL || now - copy->tried_ms < WAIT_MS)
		return;
	copy->tried_ms = now;
	if (stat(file, &st) == 0) {
		age = clock_wall_ms() - (int64_t)st.st_mtime * 1000;
		if (age >= 0 && age < DAY_MS)
			return;
	}
	autod = sibling_find("autod");
	if (autod != NULL)
		child_spawn(copy->core->loop,
		    &(struct child_spec){
			.argv = (const char *const[]){ autod, "--root",
			    copy->core->workspace->root, "--store-task", "copy",
			    "--owner", owner, NULL },
			.deadline_ms = API_STORE_JOB_MS },
		    on_copied, copy, &copy->child, NULL);
}

struct daily_copy *
daily_copy_new(struct core *core)
{
	struct daily_copy *copy = xcalloc(1, sizeof *copy);

	copy->core = core;
	copy->tried_ms = clock_mono_ms();
	return copy;
}

void
daily_copy_free(struct daily_copy *copy)
{
	if (copy != NULL && copy->child != NULL)
		child_abandon(copy->child);
	free(copy);
}
