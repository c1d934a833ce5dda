/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "api.h"
#include "box.h"
#include "git-facts.h"
#include "git-land.h"
#include "git-worktree.h"
#include "git.h"
#include "overseer-private.h"
#include "remedy.h"
#include "settings.h"

static void
add_history(const struct overseer *o, struct buf *out)
{
	char stamp[CLOCK_STAMP_SIZE];

	for (size_t i = 0; i < o->history.count; i++) {
		const struct spiral_event *e = &o->history.events[i];

		if (e->kind != SPIRAL_REMEDY ||
		    !text_is(e->signature, o->failure.signature))
			continue;
		clock_format_stamp(e->at_ms, stamp);
		buf_addf(out, "%s: %s (%s)%s%s\n", stamp,
		    e->outcome != NULL ? e->outcome : "?",
		    e->words != NULL ? e->words : "",
		    e->log != NULL ? ", see " : "",
		    e->log != NULL ? e->log : "");
	}
}

static void
repair_prompt_write(struct repair *r)
{
	struct overseer *o = r->overseer;
	const struct evidence *e = &o->failure.evidence;
	cleanup_buf struct buf history = BUF_INIT;
	const struct remedy_log logs[] = {
		{ "autod.log", e->autod_log },
		{ "auto.log", e->auto_log },
		{ "task_pool.log", e->task_pool_log },
		{ "post_accept.log", e->post_accept_log },
	};
	struct remedy_facts facts = {
		.instructions =
		    settings_string(o->settings, "overseer.remediation_prompt"),
		.verdict = health_verdict_name(o->failure.verdict),
		.class = o->failure.class,
		.words = o->failure.words,
		.ended = o->daemon.how_ended,
		.age_s = o->failure.beat_age_s,
		.failure = e->failure,
		.registration = e->registration,
		.heartbeat = e->heartbeat,
		.standard_error = e->standard_error,
		.stack = e->stack,
		.workers = e->workers,
		.task_error = e->task_error,
		.git_status = r->status.data,
		.logs = logs,
		.log_count = nitems(logs),
		.finding_file = r->finding,
		.manual_file = r->request,
		.root = o->workspace.root,
		.tree = r->in_worktree ? r->cwd : NULL,
		.boxed = r->boxed,
	};

	add_history(o, &history);
	facts.history = history.data;
	remedy_prompt(&facts, &r->prompt);
}

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
	else
		operation_on_over(&r->op);
}

/* What is not committed is saved, then discarded. */
static void
step_clean(struct operation *op)
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
	else
		operation_on_over(&r->op);
}

static void
step_rebase(struct operation *op)
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
	r->landed = true; /* by another process */
	xstrset(&r->words, "there was nothing to land");
	operation_done(&r->op);
}

static void
step_squash(struct operation *op)
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
	operation_on_over(&r->op);
}

static void
step_publish(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	git_land(r->overseer->git, repair_branch(r), r->onto, r->fix, NULL,
	    false, on_landed, operation_await(op));
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
				  "as %s (see: llmc landing salvage show %s)",
		    r->words != NULL ? r->words : "", r->saved, r->saved);
		xstrset(&r->words, words);
	}
	operation_on_over(arg);
}

/* The worktree is at the branch again; what has not landed is saved. */
static void
step_tidy(struct operation *op)
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

/* --- the place ------------------------------------------------------- */

static char *
place_of(const struct overseer *o)
{
	cleanup_free char *dir = workspace_resolve(
	    &o->workspace, settings_string(o->settings, "repo.worktree_dir"));

	return file_join(dir, CALLER_REPAIR);
}

/* Nothing in it is of an earlier repair. */
static void
make_folder(struct repair *r)
{
	const struct overseer *o = r->overseer;
	struct err err = { 0 };

	r->folder = overseer_path(o, "remedy");
	r->finding = file_join(r->folder, "finding.txt");
	if (file_mkdirs(r->folder, 0700, &err) < 0)
		log_info("%s", err.msg);
	unlink(r->finding);
}

enum {
	STEP_PLACE,
	STEP_STAND,
	STEP_RESET,
	STEP_FACTS,
	STEP_STATUS,
	STEP_KEEP,
	STEP_WORK,
	STEP_CLEAN,
	STEP_REBASE,
	STEP_SQUASH,
	STEP_CHECK_PATHS,
	STEP_CHECK_PLACE,
	STEP_CHECK,
	STEP_PUBLISH,
};

bool
repair_home(void *arg, const char *dir, struct git_home *ret_home)
{
	const struct overseer *o = arg;
	cleanup_free char *own = place_of(o);

	if (strcmp(dir, own) != 0)
		return false;
	*ret_home = (struct git_home){ .worker = CALLER_REPAIR,
		.branch = REPAIR_BRANCH,
		.detached = true };
	return true;
}

int
repair_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	const struct overseer *o = arg;

	return box_prefix(&o->workspace, o->settings, dir, ret_prefix, err);
}

/* What lies there cannot be used: it is kept for a person to look at. */
static bool
keep_unusable(struct repair *r)
{
	cleanup_free char *kept = xasprintf("%s.kept-%s", r->cwd, r->stamp);

	if (r->moved || rename(r->cwd, kept) == -1)
		return false;
	r->moved = true;
	log_info("%s cannot be used; it is %s now", r->cwd, kept);
	return true;
}

/* Rather without a worktree than not at all; but never in the user's checkout,
 * and never without the box. */
static void
on_place(const struct err *err, void *arg)
{
	struct repair *r = arg;
	cleanup_free char *words = NULL;

	if (err != NULL && !r->op.stopping && !r->moved && keep_unusable(r)) {
		if (operation_arrived(&r->op, NULL))
			operation_go(&r->op, STEP_PLACE);
		return;
	}
	if (err != NULL && r->boxed) {
		words = xasprintf(
		    "no worktree can be made for the repair: %s", err->msg);
		repair_failed(r, REPAIR_FAILED, words);
		return;
	}
	if (!operation_arrived(&r->op, NULL))
		return;
	if (err == NULL) {
		operation_next(&r->op);
		return;
	}
	log_info("no worktree for the repair: %s", err->msg);
	r->in_worktree = false;
	xstrset(&r->cwd, r->overseer->workspace.root);
	xstrset(&r->desk, r->folder);
	operation_go(&r->op, STEP_FACTS);
}

static void
step_place(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	if (r->in_worktree)
		git_worktree_add(r->overseer->git, r->cwd, REPAIR_BRANCH,
		    repair_branch(r), on_place, operation_await(op));
	else
		operation_go(op, STEP_FACTS);
}

static void
step_stand(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	git_follow_set(r->overseer->git, r->cwd, REPAIR_BRANCH, true, on_place,
	    operation_await(op));
}

static void
on_reset(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;

	r->placed = err == NULL;
	if (saved != NULL && saved->ref[0] != '\0')
		log_info("work of an earlier repair is kept as %s", saved->ref);
	on_place(err, arg);
}

/* A fix that did not land may lie there. */
static void
step_reset(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_reset what = { .onto = repair_branch(r) };

	repair_keep_place(r, &what.keep);
	git_reset(
	    r->overseer->git, r->cwd, &what, on_reset, operation_await(op));
}

/* A broken repository is a reason to repair, not one to stop. */
static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err == NULL) {
		r->uncommitted = facts->changed + facts->untracked;
		memcpy(r->head, facts->head, sizeof r->head);
	}
	operation_on_over(&r->op);
}

static void
step_facts(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	git_facts_read(r->overseer->git, r->cwd, repair_branch(r), on_facts,
	    operation_await(op));
}

static void
on_status(const struct git_answer *answer, void *arg)
{
	struct repair *r = arg;

	if (answer->status == 0)
		buf_add(&r->status, answer->out, answer->out_len);
	if (!operation_arrived(&r->op, NULL))
		return;
	repair_prompt_write(r);
	operation_next(&r->op);
}

static void
step_status(struct operation *op)
{
	static const char *const args[] = { "status", "--short", "--branch",
		NULL };
	struct repair *r = (struct repair *)op;
	struct overseer *o = r->overseer;
	struct git_command status = { .args = args };

	git_run(git_queue(o->git, o->workspace.root), &status, on_status,
	    operation_await(op));
}

/* --- afterwards ------------------------------------------------------ */

static void
on_diff(const struct git_answer *answer, void *arg)
{
	struct repair *r = arg;

	if (answer->status == 0)
		buf_add(&r->diff, answer->out, answer->out_len);
	operation_on_over(&r->op);
}

/* What has changed since the repair began, committed or not. */
static void
step_diff(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	const char *const args[] = { "diff", "--stat", "--patch", r->head,
		NULL };
	struct git_command diff = { .args = args };

	if (r->head[0] == '\0')
		operation_next(op);
	else
		git_run(git_queue(r->overseer->git, r->cwd), &diff, on_diff,
		    operation_await(op));
}

static void
tell(const struct repair *r)
{
	struct overseer *o = r->overseer;
	struct err err = { 0 };
	cleanup_free char *log = repair_report_write(r, &err), *words = NULL;

	if (log == NULL) {
		words = xasprintf("%s; there is no record of the repair: %s",
		    r->words != NULL ? r->words : "it ended", err.msg);
		console_say(o, CONSOLE_RED,
		    "The record of the repair cannot be written: %s", err.msg);
	}
	r->ended(o, r->outcome, words != NULL ? words : r->words,
	    clock_mono_ms() - r->began_ms, repair_agent_cost(r), log);
}

static void
closing_ended(struct operation *op, const struct err *err)
{
	struct repair *r = (struct repair *)op;
	struct overseer *o = r->overseer;

	(void)err; /* only when it was dropped */
	o->repair = NULL;
	if (!r->dropped)
		tell(r);
	repair_agent_release(r);
	repair_check_release(r);
	free(r->keep.ref);
	buf_release(&r->prompt);
	buf_release(&r->status);
	buf_release(&r->diff);
	free(r->words);
	free(r->cwd);
	free(r->desk);
	free(r->folder);
	free(r->finding);
	free(r->request);
	free(r->manual);
	free(r->saved);
	strv_free(r->transcripts);
	free(r);
}

static const struct operation_step closing_steps[] = {
	{ .name = "end the session", .run = repair_agent_end, .firm = true },
	{ .name = "compare", .run = repair_keep_check, .firm = true },
	{ .name = "diff", .run = step_diff, .firm = true },
	{ .name = "tidy", .run = step_tidy, .firm = true },
};

OPERATION_KIND(closing, "closing of the repair", closing_steps, closing_ended);

/* --- the repair ------------------------------------------------------ */

/* The err of a repair that did not fail by itself is that of a cancel or of the
 * deadline. */
static void
repair_ended(struct operation *op, const struct err *err)
{
	struct repair *r = (struct repair *)op;
	struct overseer *o = r->overseer;

	repair_agent_rest(r);
	if (r->dropped) {
		closing_ended(op, err);
		return;
	}
	if (err == NULL) {
		r->outcome = REPAIR_COMPLETED;
	} else if (!r->failed && err->code == -ETIMEDOUT) {
		r->outcome = REPAIR_TIMED_OUT;
		xstrset(&r->words,
		    "it took longer than overseer.remediation_timeout");
	} else if (!r->failed) {
		r->outcome = REPAIR_INTERRUPTED;
		xstrset(&r->words, err->msg);
	}
	operation_begin(op, &closing, o->loop, 0);
}

/* What is on its way onto the branch is finished. */
static const struct operation_step repair_steps[] = {
	[STEP_PLACE] = { .name = "place", .run = step_place },
	[STEP_STAND] = { .name = "stand", .run = step_stand },
	[STEP_RESET] = { .name = "reset the place", .run = step_reset },
	[STEP_FACTS] = { .name = "facts", .run = step_facts },
	[STEP_STATUS] = { .name = "status", .run = step_status },
	[STEP_KEEP] = { .name = "keep", .run = repair_keep_save },
	[STEP_WORK] = { .name = "work",
	    .run = repair_agent_work,
	    .cancel = repair_agent_cancel },
	[STEP_CLEAN] = { .name = "clean", .run = step_clean },
	[STEP_REBASE] = { .name = "rebase", .run = step_rebase },
	[STEP_SQUASH] = { .name = "squash", .run = step_squash },
	[STEP_CHECK_PATHS] = { .name = "check the paths",
	    .run = repair_check_paths },
	[STEP_CHECK_PLACE] = { .name = "place of the check",
	    .run = repair_check_place },
	[STEP_CHECK] = { .name = "check",
	    .run = repair_check_run,
	    .cancel = repair_check_cancel },
	[STEP_PUBLISH] = { .name = "land", .run = step_publish, .firm = true },
};

OPERATION_KIND(repair_kind, "repair", repair_steps, repair_ended);

void
repair_begin(struct overseer *o, repair_ended_fn *ended)
{
	struct repair *r = xcalloc(1, sizeof *r);
	cleanup_free char *name = NULL;

	o->failure.attempt++;
	console_say(o, CONSOLE_RED, "⚠ Entering remediation mode...");
	o->repair = r;
	r->overseer = o;
	r->ended = ended;
	r->prompt = r->status = r->diff = (struct buf)BUF_INIT;
	r->began_ms = clock_mono_ms();
	clock_format_compact(clock_wall_ms(), r->stamp);
	name = xasprintf("manual_intervention_needed_%s.txt", r->stamp);
	r->manual = overseer_path(o, name);
	make_folder(r);
	r->request = file_join(r->folder, name);
	r->boxed = box_mode_of(o->settings, CALLER_REPAIR) != BOX_OFF;
	r->in_worktree = r->boxed ||
	    settings_bool(o->settings, "overseer.remediation_worktree");
	r->cwd = r->in_worktree ? place_of(o) : xstrdup(o->workspace.root);
	r->desk = xstrdup(r->cwd);
	operation_begin(&r->op, &repair_kind, o->loop,
	    settings_duration(o->settings, "overseer.remediation_timeout"));
}

void
repair_stop(struct overseer *o, bool now)
{
	struct repair *r = o->repair;

	if (r == NULL)
		return;
	if (!now) {
		operation_cancel(&r->op, "the overseer was told to stop");
		return;
	}
	r->dropped = true;
	r->outcome = REPAIR_INTERRUPTED;
	xstrset(&r->words, "the overseer was told to stop at once");
	repair_agent_rest(r);
	repair_agent_kill(r);
	tell(r);
	operation_drop(&r->op);
}
