/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "git-compare.h"
#include "git-salvage.h"
#include "log.h"
#include "mem.h"
#include "overseer.h"
#include "people.h"
#include "repair-keep.h"
#include "repair.h"
#include "text.h"
#include "writer.h"

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

/* Not for a repair that has failed: a person is told of that anyway. */
static void
tell(const struct repair *r, const char *what, const char *why)
{
	struct overseer *o = r->overseer;

	console_say(o, CONSOLE_RED, "%s", why);
	if (r->outcome == REPAIR_COMPLETED)
		people_tell(o->people, o->settings,
		    &(struct notice){
			.class = NOTICE_CHECKOUT, .what = what, .why = why });
}

/* Rather a repair without a copy than a fleet that stays down. */
static void
on_saved(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL && r->head[0] != '\0') {
		cleanup_free char *words =
		    xasprintf("what is not committed in %s cannot be saved "
			      "before the repair: %s",
			r->cwd, err->msg);

		log_warnx("%s", words);
		tell(r, "uncommitted files cannot be saved before a repair",
		    words);
	} else if (err != NULL) {
		log_info("nothing of %s can be saved before the repair: %s",
		    r->cwd, err->msg);
	} else if (saved->ref[0] != '\0' && r->head[0] != '\0') {
		xstrset(&r->keep.ref, saved->ref);
	}
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
	what.leave = true;
	git_salvage(
	    r->overseer->git, r->cwd, &what, on_saved, operation_await(op));
}

static void
add_files(struct buf *words, const char *const *paths, size_t count,
    const char *became)
{
	bool one = count == 1;

	if (count == 0)
		return;
	buf_addf(words,
	    "%zu file%s that %s not committed ha%s been %s: ", count,
	    one ? "" : "s", one ? "was" : "were", one ? "s" : "ve", became);
	for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
		buf_adds(words, i == 0 ? "" : ", ");
		text_add_visible(words, paths[i], strlen(paths[i]), false);
	}
	buf_adds(words, count > NAMES_MAX ? ", ...; " : "; ");
}

/* In the user's checkout others write, too: editors, logs, databases. So a file
 * that has changed is told, and only one that was thrown away is a failure. */
static void
differs(struct repair *r, const struct git_compared *compared,
    const struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (compared != NULL && compared->lost_count > 0 &&
	    r->outcome == REPAIR_COMPLETED)
		r->outcome = REPAIR_FAILED;
	else if (r->words != NULL)
		buf_addf(&words, "%s; and ", r->words);
	if (compared == NULL) {
		buf_addf(&words,
		    "it is not known whether files that were not committed "
		    "have changed (%s); ",
		    err->msg);
	} else {
		add_files(&words, compared->lost, compared->lost_count,
		    "thrown away");
		add_files(&words, compared->changed, compared->changed_count,
		    "changed");
	}
	buf_addf(&words,
	    "as they were, they are kept as %s (see: llmc salvage show %s)",
	    r->keep.ref, r->keep.ref);
	xstrset(&r->words, words.data);
	tell(r, "uncommitted files have changed during a repair", words.data);
}

static void
on_compared(
    const struct git_compared *compared, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL || compared->lost_count + compared->changed_count > 0)
		differs(r, compared, err);
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
