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

/* --- what it left besides ---------------------------------------------- */

static void
note_saved(struct repair *r, const struct git_salvaged *saved)
{
	if (saved != NULL && saved->ref[0] != '\0')
		xstrset(&r->saved, saved->ref);
}

static void
on_cleaned(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;

	note_saved(r, saved);
	if (err != NULL)
		repair_failed(r, REPAIR_NO_FIX, err->msg);
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_land_clean(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_reset what = { .onto = r->tip };

	if (!r->agent.asked_to_tidy) {
		operation_next(op);
		return;
	}
	repair_keep_place(r, &what.keep);
	what.keep.onto = REPAIR_BRANCH; /* what is committed stays */
	git_reset(
	    r->overseer->git, r->cwd, &what, on_cleaned, operation_await(op));
}

/* --- onto the branch --------------------------------------------------- */

static void
on_rebased(bool conflict, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL || conflict)
		repair_failed(r, REPAIR_NO_FIX,
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
		repair_failed(r, REPAIR_NO_FIX, err->msg);
		return;
	}
	snprintf(r->fix, sizeof r->fix, "%s", id);
	if (!operation_arrived(&r->op, NULL))
		return;
	if (r->fix[0] != '\0') {
		operation_next(&r->op);
		return;
	}
	r->landed = true; /* by somebody else */
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
		words = xasprintf(
		    "the fix cannot land: %s", err != NULL ? err->msg : detail);
		repair_failed(r, REPAIR_NO_FIX, words);
		return;
	}
	r->landed = true;
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

/* --- the place is empty again ------------------------------------------ */

static void
on_tidied(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;
	cleanup_free char *words = NULL;

	note_saved(r, saved);
	if (err != NULL)
		log_debug("the repair's worktree: %s", err->msg);
	if (r->saved != NULL) {
		words = xasprintf("%s; what it left and did not land is kept "
				  "as %s (see: llmc salvage show %s)",
		    r->words != NULL ? r->words : "", r->saved, r->saved);
		xstrset(&r->words, words);
	}
	operation_on_over(arg);
}

void
repair_land_tidy(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_reset what = { .onto = repair_branch(r) };

	if (!r->placed) {
		operation_next(op);
		return;
	}
	repair_keep_place(r, &what.keep);
	if (r->landed)
		what.keep.onto = REPAIR_BRANCH; /* its commits are in the fix */
	git_reset(
	    r->overseer->git, r->cwd, &what, on_tidied, operation_await(op));
}
