/* SPDX-License-Identifier: ISC */

/*
 * A repair: a fresh session is told what is known, works, and ends. Completed
 * means that it ended its turn by itself and left the checkout as clean as it
 * found it, or committed. The outcomes are told apart; only that one restarts
 * the daemon.
 */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "console.h"
#include "errtext.h"
#include "file.h"
#include "git-facts.h"
#include "git-land.h"
#include "git-rebase.h"
#include "git-reset.h"
#include "git-squash.h"
#include "git-worktree.h"
#include "git.h"
#include "json.h"
#include "limit.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "overseer.h"
#include "remedy.h"
#include "repair-session.h"
#include "repair.h"
#include "report.h"
#include "respond.h"
#include "server.h"
#include "settings.h"
#include "text.h"

#define SESSIONS_MAX 3 /* of one repair, when they die */
#define AFTER_ESC_MS 3000
#define BRANCH       "llmc/overseer"

static const char *const outcome_words[REPAIR_OUTCOME_COUNT] = {
	[REPAIR_COMPLETED] = "completed",
	[REPAIR_GAVE_UP] = "gave up",
	[REPAIR_INTERRUPTED] = "interrupted",
	[REPAIR_DIED] = "session died",
	[REPAIR_TIMED_OUT] = "timed out",
	[REPAIR_FAILED] = "failed",
};

static const char go_on[] = "The interruption is over. Go on with the repair "
			    "from where it stopped.";

static void launch(struct repair *r);
static void close_up(struct repair *r);

const char *
repair_outcome_name(enum repair_outcome outcome)
{
	return outcome_words[outcome];
}

static void
repair_free(struct repair *r)
{
	session_free(r->session);
	loop_timer_free(r->timeout);
	loop_timer_free(r->wait);
	buf_release(&r->prompt);
	buf_release(&r->status);
	buf_release(&r->diff);
	free(r->words);
	free(r->cwd);
	free(r->manual);
	free(r->transcript);
	free(r);
}

/* --- the end --------------------------------------------------------- */

static void
finish(struct repair *r, enum repair_outcome outcome, const char *words)
{
	if (r->decided)
		return;
	r->decided = true;
	r->outcome = outcome;
	free(r->words);
	r->words = xstrdup(words);
	loop_timer_free(take_ptr(&r->timeout));
	loop_timer_free(take_ptr(&r->wait));
	if (r->session != NULL) {
		if (session_transcript(r->session) != NULL)
			xstrset(&r->transcript, session_transcript(r->session));
		session_end(r->session);
	} else {
		close_up(r);
	}
}

static void
told(struct repair *r)
{
	struct overseer *o = r->overseer;
	cleanup_free char *log = report_write(r);

	o->repair = NULL;
	respond_repaired(
	    o, r->outcome, r->words, clock_mono_ms() - r->began_ms, log);
	repair_free(r);
}

static void
diffed(const struct git_answer *answer, void *arg)
{
	struct repair *r = arg;

	if (answer->status == 0)
		buf_add(&r->diff, answer->out, answer->out_len);
	told(r);
}

/* What has changed since the repair began, committed or not. */
static void
close_up(struct repair *r)
{
	struct overseer *o = r->overseer;
	const char *const args[] = { "diff", "--stat", "--patch", r->head,
		NULL };
	struct git_command diff = { .args = args };

	if (r->head[0] == '\0')
		told(r);
	else
		git_run(git_queue(o->git, r->cwd), &diff, diffed, r);
}

/* --- landing of a fix made in a worktree ----------------------------- */

static void
fix_reset(const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL)
		log_debug("the repair's worktree: %s", err->msg);
	finish(r, REPAIR_COMPLETED, "the fix has landed");
}

static void
fix_landed(enum git_land_result result, const char *detail,
    const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;
	cleanup_free char *words = NULL;

	if (result != GIT_LANDED) {
		words = xasprintf("the fix is in %s but cannot land: %s",
		    r->cwd, err != NULL ? err->msg : detail);
		finish(r, REPAIR_FAILED, words);
		return;
	}
	git_reset(o->git, r->cwd, BRANCH,
	    settings_string(o->settings, "repo.default_branch"), fix_reset, r);
}

static void
fix_squashed(const char *id, const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;

	if (err != NULL)
		finish(r, REPAIR_FAILED, err->msg);
	else if (id[0] == '\0')
		finish(r, REPAIR_COMPLETED, "nothing was to be landed");
	else
		git_land(o->git,
		    settings_string(o->settings, "repo.default_branch"),
		    r->onto, id, false, fix_landed, r);
}

static void
fix_rebased(bool conflict, const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;

	if (err != NULL || conflict)
		finish(r, REPAIR_FAILED,
		    err != NULL ? err->msg :
				  "the fix conflicts with the default branch");
	else
		git_squash(o->git, r->cwd, "overseer", r->onto,
		    "Repair by the overseer", fix_squashed, r);
}

/* --- a turn has ended ------------------------------------------------ */

static void
write_manual(struct repair *r, const char *words)
{
	struct err err = { 0 };

	if (file_replace(r->manual, words, strlen(words), 0600, &err) < 0)
		log_errorx("%s: %s", r->manual, err.msg);
}

static void
left_dirt(struct repair *r, int dirt)
{
	cleanup_free char *words = NULL;

	if (!r->asked_to_tidy) {
		r->asked_to_tidy = true;
		words = xasprintf(
		    "%d file%s in %s changed and not committed. Commit what "
		    "belongs to the repair, restore the rest, and leave git "
		    "status as clean as it was.",
		    dirt, dirt == 1 ? " is" : "s are", r->cwd);
		if (r->call != NULL)
			session_answer(take_ptr(&r->call), words);
		else
			session_prompt(r->session, words);
		return;
	}
	session_answer(take_ptr(&r->call), NULL);
	words = xasprintf("The repair left %d uncommitted change%s in %s.\n",
	    dirt, dirt == 1 ? "" : "s", r->cwd);
	write_manual(r, words);
	finish(r, REPAIR_GAVE_UP, "it left changes that are not committed");
}

static void
looked(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;
	int dirt;

	if (r->decided) {
		session_answer(take_ptr(&r->call), NULL);
		return;
	}
	dirt = err == NULL ? facts->changed + facts->untracked : r->dirt;
	if (dirt > r->dirt) {
		left_dirt(r, dirt - r->dirt);
		return;
	}
	session_answer(take_ptr(&r->call), NULL);
	if (!r->in_worktree || err != NULL || facts->ahead == 0) {
		finish(r, REPAIR_COMPLETED, "the agent ended its work");
		return;
	}
	memcpy(r->onto, facts->onto, sizeof r->onto);
	git_rebase(o->git, r->cwd, r->onto, fix_rebased, r);
}

static void
stopped(void *arg, struct server_call *call, struct json_object *data)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;
	cleanup_free char *manual = history_manual_file(&o->workspace);

	(void)data;
	if (manual != NULL) {
		session_answer(call, NULL);
		finish(r, REPAIR_GAVE_UP,
		    "the agent says that it cannot be "
		    "repaired without a person");
		return;
	}
	r->call = call;
	git_facts_read(o->git, r->cwd,
	    settings_string(o->settings, "repo.default_branch"), looked, r);
}

static void
wait_over(void *arg)
{
	struct repair *r = arg;

	session_prompt(r->session, go_on);
}

/* Weather is waited for as long as the repair may take at all. */
static void
failed(void *arg, const char *error, const char *text)
{
	struct repair *r = arg;
	enum limit_class class = limit_classify(error, text);
	cleanup_free char *words =
	    xasprintf("the agent's turn failed: %s", text);

	if (class == LIMIT_AUTH || r->failures++ >= SESSIONS_MAX) {
		finish(r, REPAIR_FAILED, words);
		return;
	}
	loop_timer_free(r->wait);
	r->wait = loop_after(r->overseer->loop,
	    limit_backoff_ms(LIMIT_OUTAGE, r->failures - 1), wait_over, r);
}

static void
died(void *arg, const char *why)
{
	struct repair *r = arg;

	log_info("repair: %s", why);
	free(r->words);
	r->words = xstrdup(why);
	r->again = ++r->sessions < SESSIONS_MAX && !r->decided;
	if (!r->again && !r->decided) {
		r->decided = true;
		r->outcome = REPAIR_DIED;
	}
	if (session_transcript(r->session) != NULL)
		xstrset(&r->transcript, session_transcript(r->session));
	session_end(r->session);
}

static void
ended(void *arg)
{
	struct repair *r = arg;

	session_free(take_ptr(&r->session));
	if (r->again) {
		r->again = false;
		console_say(r->overseer, CONSOLE_YELLOW,
		    "The repairing session died; another one begins.");
		launch(r);
	} else {
		close_up(r);
	}
}

static void
interrupted(void *arg)
{
	struct repair *r = arg;

	finish(r, REPAIR_TIMED_OUT,
	    "it took longer than "
	    "overseer.remediation_timeout");
}

static void
timed_out(void *arg)
{
	struct repair *r = arg;

	if (r->session == NULL) {
		interrupted(r);
		return;
	}
	session_interrupt(r->session);
	loop_timer_free(r->timeout);
	r->timeout =
	    loop_after(r->overseer->loop, AFTER_ESC_MS, interrupted, r);
}

/* --- the beginning --------------------------------------------------- */

static void
launch(struct repair *r)
{
	static const struct session_events events = { stopped, failed, died,
		ended };
	struct err err = { 0 };

	if (session_begin(r->overseer, r->cwd, r->prompt.data, &events, r,
		&r->session, &err) < 0)
		finish(r, REPAIR_FAILED, err.msg);
}

static void
add_history(const struct overseer *o, struct buf *out)
{
	char stamp[CLOCK_STAMP_SIZE];

	for (size_t i = 0; i < o->history.count; i++) {
		const struct spiral_event *e = &o->history.events[i];

		if (e->kind != SPIRAL_REMEDY || e->signature == NULL ||
		    strcmp(e->signature, o->signature) != 0)
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
write_prompt(struct repair *r)
{
	struct overseer *o = r->overseer;
	const struct evidence *e = &o->evidence;
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
		.verdict = health_verdict_name(o->verdict),
		.class = o->class,
		.words = o->words,
		.ended = o->daemon.how_ended,
		.age_s = -1,
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
		.manual_file = r->manual,
		.root = o->workspace.root,
	};

	add_history(o, &history);
	facts.history = history.data;
	remedy_prompt(&facts, &r->prompt);
}

static void
status_known(const struct git_answer *answer, void *arg)
{
	struct repair *r = arg;

	if (answer->status == 0)
		buf_add(&r->status, answer->out, answer->out_len);
	write_prompt(r);
	launch(r);
}

static void
facts_known(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;
	const char *const args[] = { "status", "--short", "--branch", NULL };
	struct git_command status = { .args = args };

	/* A broken repository is a reason to repair, not one to stop. */
	if (err == NULL) {
		r->dirt = facts->changed + facts->untracked;
		memcpy(r->head, facts->head, sizeof r->head);
	}
	git_run(git_queue(o->git, o->workspace.root), &status, status_known, r);
}

static void
place_ready(const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;

	if (err != NULL) {
		/* Rather in the checkout than not at all. */
		log_info("no worktree for the repair: %s", err->msg);
		r->in_worktree = false;
		xstrset(&r->cwd, o->workspace.root);
	}
	git_facts_read(o->git, r->cwd,
	    settings_string(o->settings, "repo.default_branch"), facts_known,
	    r);
}

static void
place_added(const struct err *err, void *arg)
{
	struct repair *r = arg;
	struct overseer *o = r->overseer;

	if (err != NULL)
		place_ready(err, r);
	else
		git_reset(o->git, r->cwd, BRANCH,
		    settings_string(o->settings, "repo.default_branch"),
		    place_ready, r);
}

void
repair_begin(struct overseer *o)
{
	struct repair *r = xcalloc(1, sizeof *r);
	cleanup_free char *name = NULL, *dir = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	o->attempt++;
	overseer_set_state(o, STATE_REMEDIATING);
	console_say(o, CONSOLE_RED, "⚠ Entering remediation mode...");
	clock_format_compact(clock_wall_ms(), stamp);
	name = xasprintf("manual_intervention_needed_%s.txt", stamp);
	o->repair = r;
	r->overseer = o;
	r->prompt = r->status = r->diff = (struct buf)BUF_INIT;
	r->began_ms = clock_mono_ms();
	r->manual = overseer_path(o, name);
	snprintf(r->stamp, sizeof r->stamp, "%s", stamp);
	r->timeout = loop_after(o->loop,
	    settings_duration(o->settings, "overseer.remediation_timeout"),
	    timed_out, r);
	r->in_worktree =
	    settings_bool(o->settings, "overseer.remediation_worktree");
	if (!r->in_worktree) {
		r->cwd = xstrdup(o->workspace.root);
		place_ready(NULL, r);
		return;
	}
	dir = workspace_resolve(
	    &o->workspace, settings_string(o->settings, "repo.worktree_dir"));
	r->cwd = file_join(dir, "overseer");
	git_worktree_add(o->git, r->cwd, BRANCH,
	    settings_string(o->settings, "repo.default_branch"), place_added,
	    r);
}

void
repair_stop(struct overseer *o, bool now)
{
	struct repair *r = o->repair;

	if (r == NULL)
		return;
	if (now) {
		o->repair = NULL;
		repair_free(r);
		return;
	}
	finish(r, REPAIR_INTERRUPTED, "the overseer was told to stop");
}
