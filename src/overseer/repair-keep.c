/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "console.h"
#include "errtext.h"
#include "git-compare.h"
#include "git-salvage.h"
#include "log.h"
#include "mem.h"
#include "overseer.h"
#include "repair-keep.h"
#include "repair.h"
#include "text.h"

#define NAMES_MAX 5 /* paths named in a sentence */

void
repair_keep_place(const struct repair *r, struct git_salvage *ret_what)
{
	*ret_what = (struct git_salvage){
		.worker = "overseer",
		.branch = r->in_worktree ? REPAIR_BRANCH : repair_branch(r),
		.onto = repair_branch(r),
		.stamp = r->stamp,
	};
}

static void
on_saved(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;
	cleanup_free char *words = NULL;

	if (err != NULL && r->head[0] != '\0') {
		words =
		    xasprintf("what is not committed in %s cannot be saved: %s",
			r->cwd, err->msg);
		repair_failed(r, REPAIR_FAILED, words);
		return;
	}
	if (err != NULL)
		log_info("nothing of %s can be saved before the repair: %s",
		    r->cwd, err->msg);
	else if (saved->ref[0] != '\0' && r->head[0] != '\0')
		xstrset(&r->keep.ref, saved->ref);
	if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

/* A repository that is too broken for that is a reason to repair it, not one to
 * stop. */
void
repair_keep_save(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_salvage what;

	if (r->in_worktree) {
		operation_next(op);
		return;
	}
	repair_keep_place(r, &what);
	what.leave_big = true;
	git_salvage(
	    r->overseer->git, r->cwd, &what, on_saved, operation_await(op));
}

static void
changed(struct repair *r, const char *const *paths, size_t count,
    const struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (r->outcome != REPAIR_COMPLETED && r->words != NULL)
		buf_addf(&words, "%s; and ", r->words);
	if (err != NULL)
		buf_addf(&words,
		    "it is not known whether files that were not committed "
		    "have changed (%s)",
		    err->msg);
	else
		buf_addf(&words,
		    "%zu file%s that %s not committed ha%s been changed: ",
		    count, count == 1 ? "" : "s", count == 1 ? "was" : "were",
		    count == 1 ? "s" : "ve");
	for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
		buf_adds(&words, i == 0 ? "" : ", ");
		text_add_visible(&words, paths[i], strlen(paths[i]), false);
	}
	if (count > NAMES_MAX)
		buf_adds(&words, ", ...");
	buf_addf(&words,
	    "; as they were, they are kept as %s (see: llmc "
	    "salvage show %s)",
	    r->keep.ref, r->keep.ref);
	if (r->outcome == REPAIR_COMPLETED)
		r->outcome = REPAIR_FAILED;
	xstrset(&r->words, words.data);
	console_say(r->overseer, CONSOLE_RED, "%s", words.data);
}

static void
on_compared(
    const char *const *paths, size_t count, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL || count > 0)
		changed(r, paths, count, err);
	if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_keep_check(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	if (r->keep.ref == NULL)
		operation_next(op);
	else
		git_compare(r->overseer->git, r->cwd, r->head, r->keep.ref,
		    on_compared, operation_await(op));
}

void
repair_keep_release(struct repair *r)
{
	free(r->keep.ref);
}
