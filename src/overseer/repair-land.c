/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <stdlib.h>

#include "errtext.h"
#include "git-land.h"
#include "git-rebase.h"
#include "git-reset.h"
#include "git-squash.h"
#include "log.h"
#include "mem.h"
#include "overseer.h"
#include "repair-keep.h"
#include "repair-land.h"
#include "repair.h"

static void
on_rebased(bool conflict, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL || conflict)
		repair_failed(r, REPAIR_FAILED,
		    err != NULL ? err->msg :
				  "the fix conflicts with the default branch");
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_land_rebase(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_salvage keep;

	repair_keep_place(r, &keep);
	git_rebase(r->overseer->git, r->cwd, r->onto, &keep, on_rebased,
	    operation_await(op));
}

static void
on_squashed(const char *id, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL) {
		repair_failed(r, REPAIR_FAILED, err->msg);
		return;
	}
	snprintf(r->fix, sizeof r->fix, "%s", id);
	if (!operation_arrived(&r->op, NULL))
		return;
	if (r->fix[0] != '\0') {
		operation_next(&r->op);
		return;
	}
	xstrset(&r->words, "there was nothing to land");
	operation_done(&r->op);
}

void
repair_land_squash(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	git_squash(r->overseer->git, r->cwd, "overseer", r->onto,
	    "Repair by the overseer", on_squashed, operation_await(op));
}

static void
on_landed(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct repair *r = arg;
	cleanup_free char *words = NULL;

	(void)places;
	if (result != GIT_LANDED) {
		words = xasprintf("the fix is in %s but cannot land: %s",
		    r->cwd, err != NULL ? err->msg : detail);
		repair_failed(r, REPAIR_FAILED, words);
		return;
	}
	xstrset(&r->words, "the fix has landed");
	if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_land_publish(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	git_land(r->overseer->git, repair_branch(r), r->onto, r->fix, false,
	    on_landed, operation_await(op));
}

static void
on_tidied(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	(void)saved;
	if (err != NULL)
		log_debug("the repair's worktree: %s", err->msg);
	operation_on_over(arg);
}

void
repair_land_tidy(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_reset what = { .onto = repair_branch(r) };

	repair_keep_place(r, &what.keep);
	git_reset(
	    r->overseer->git, r->cwd, &what, on_tidied, operation_await(op));
}
