/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-kind.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "box-plan.h"
#include "emit.h"
#include "git-facts.h"
#include "git.h"
#include "outcome.h"
#include "persist.h"
#include "prompt.h"
#include "review.h"
#include "settings.h"
#include "turn-policy.h"
#include "worker-op.h"

static const char *
reviewer(const struct auto_mode *mode)
{
	return settings_string(mode->core->settings, "auto.review");
}

/* Has a reviewer a task about this commit, which has not ended? */
static bool
is_open(const struct auto_mode *mode, const struct task *t, const char *commit)
{
	const struct state *state = &mode->core->state;
	cleanup_free char *key = xasprintf("%s@%s", t->id, commit);

	for (size_t i = 0; i < state->task_count; i++)
		if (review_is(state->tasks[i]) &&
		    state->tasks[i]->step != TASK_SETTLING &&
		    strcmp(state->tasks[i]->key, key) == 0)
			return true;
	return false;
}

/* --- a reviewer begins -------------------------------------------------- */

/* On the worker of the author: what is there to be reviewed? */
struct op_review {
	struct worker_op op; /* first */
	struct auto_mode *mode;
	char head[GIT_ID_SIZE];
	struct buf diff;
	char *why; /* there is no diff */
};

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_review *r = arg;

	if (!operation_arrived(&r->op.op, err))
		return;
	memcpy(r->head, facts->head, sizeof r->head);
	operation_next(&r->op.op);
}

static void
step_head(struct operation *op)
{
	struct op_review *r = (struct op_review *)op;
	struct core *core = r->op.agent->core;

	git_facts_read(core->git, r->op.agent->worker->worktree,
	    core_branch(core), on_facts, operation_await(op));
}

static void
on_diff(const struct git_answer *answer, void *arg)
{
	struct op_review *r = arg;

	if (answer->status == 0)
		buf_add(&r->diff, answer->out, answer->out_len);
	else
		r->why = xasprintf("its change cannot be shown: %s",
		    answer->err != NULL ? answer->err->msg : answer->complaint);
	operation_on_done(NULL, arg);
}

static void
step_diff(struct operation *op)
{
	struct op_review *r = (struct op_review *)op;
	struct core *core = r->op.agent->core;
	const struct worker *w = r->op.agent->worker;
	cleanup_free char *range = xasprintf(
	    "%s...%s", w->base != NULL ? w->base : core_branch(core), r->head);
	const char *const args[] = { "diff", "--no-color", "--no-ext-diff",
		"--no-textconv", "--ignore-submodules=none", "-M", range, "--",
		NULL };
	struct git_command diff = { .args = args };

	git_run(git_queue(core->git, w->worktree), &diff, on_diff,
	    operation_await(op));
}

/* Why no worker of a team may look at work of this task, and what to set; NULL
 * = one may. The caller frees it. */
static char *
unfit_why(const struct auto_mode *mode, const struct task *of)
{
	if (task_fits(of, box_mode_of(mode->core->settings, "team-1")))
		return NULL;
	return xasprintf("the task is for a worker in sandbox %s, and a "
			 "reviewer would not have one so strict: llmc config "
			 "set defaults.sandbox %s",
	    of->sandbox, of->sandbox);
}

/* All of it is saved at once: a daemon that dies before begins again, and one
 * that dies after it finds the task of the reviewer. */
static void
begin(struct op_review *r, struct task *t)
{
	struct auto_mode *mode = r->mode;
	struct state *state = &mode->core->state;
	const char *who = reviewer(mode);
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct err err = { 0 };
	bool scoped = false;
	struct task *review;

	review_begin(t, r->head);
	persist_changed(mode->core);
	if (r->why == NULL &&
	    agent_reviews(mode->core->settings, who, &scoped, &err) < 0)
		r->why = xstrdup(err.msg);
	if (r->why == NULL)
		r->why = unfit_why(mode, t);
	if (r->why != NULL || r->diff.len == 0) {
		cleanup_json struct json_object *nothing =
		    json_object_new_object();

		json_set_string(nothing, "verdict", REVIEW_SAYS_APPROVE);
		review_end(t, r->head, r->why == NULL ? nothing : NULL, r->why);
		task_note(t, "was not reviewed",
		    r->why != NULL ? r->why : "its change is empty", now);
		after_landing_begin(mode, r->op.agent);
		return;
	}
	id = state_task_id(state);
	review = review_task_new(
	    id, t, r->head, r->diff.data, r->diff.len, who, scoped, now);
	task_take(review, now); /* it comes from no source */
	free(r->op.agent->worker->reason);
	r->op.agent->worker->reason =
	    xasprintf("%s reviews it, which is task %s", who, id);
	task_note(t, "is reviewed, which is task", id, now);
	auto_add_task(mode, review);
	task_ref_keep(mode, review);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_review *r = (struct op_review *)op;
	struct agent *agent = r->op.agent;
	struct task *t = auto_task(agent);

	worker_op_release(&r->op);
	if (err != NULL && err->code != -ECANCELED) {
		agent_move(agent, WORKER_ERROR, err->msg);
	} else if (err == NULL && t != NULL && t->step == TASK_ASSIGNED &&
	    agent->worker->status == WORKER_NEEDS_REVIEW &&
	    !r->mode->core->stopping) {
		xstrset(&agent->worker->commit, r->head);
		if (review_next(t, *reviewer(r->mode) != '\0', r->head,
			is_open(r->mode, t, r->head)) == REVIEW_BEGIN)
			begin(r, t);
		else
			after_landing_begin(r->mode, agent);
	}
	buf_release(&r->diff);
	free(r->why);
	free(r);
}

static const struct operation_step steps[] = {
	{ .name = "head", .run = step_head },
	{ .name = "diff", .run = step_diff },
};

OPERATION_KIND(kind, "review", steps, end, .yields = true);

/* --- finished work ------------------------------------------------------ */

static void
send_back(struct auto_mode *mode, struct agent *agent, struct task *t)
{
	cleanup_buf struct buf findings = BUF_INIT, words = BUF_INIT;

	review_findings(t, &findings);
	prompt_rejection(findings.data, &words);
	review_sent_back(t);
	agent_move(agent, WORKER_REJECTED, NULL);
	if (turn_policy_held(mode, agent, words.data) ||
	    hold_turn_ended(agent, words.data))
		return;
	EMIT(mode->core, EVENT_SENT_BACK, .worker = agent->worker->name,
	    .task = t->id, .reason = findings.data);
	agent_prompt(agent, words.data, false, WORKER_REJECTED);
}

static void
ask(struct auto_mode *mode, struct agent *agent, const struct task *t)
{
	struct worker *w = agent->worker;
	cleanup_buf struct buf words = BUF_INIT;

	review_asks(t, reviewer(mode), w->name, &words);
	w->for_person = true;
	xstrset(&w->reason, words.data);
	persist_changed(mode->core);
	EMIT(mode->core, EVENT_WORKER_PARKED, .worker = w->name,
	    .reason = words.data);
}

bool
work_review_holds(struct auto_mode *mode, struct agent *agent)
{
	struct task *t = auto_task(agent);
	const char *commit = agent->worker->commit;
	enum review_step step = review_next(t, *reviewer(mode) != '\0', commit,
	    commit != NULL && is_open(mode, t, commit));
	struct op_review *r;

	if (step == REVIEW_BACK &&
	    task_attempt_turns(t) >=
		settings_int(mode->core->settings, "auto.max_turns"))
		step = REVIEW_ASK; /* it is finished, and no turn is left */
	switch (step) {
	case REVIEW_LAND:
		return false;
	case REVIEW_WAIT:
		break;
	case REVIEW_BEGIN:
		r = xcalloc(1, sizeof *r);
		r->mode = mode;
		buf_init(&r->diff);
		worker_op_begin(&r->op, &kind, agent, NULL);
		break;
	case REVIEW_BACK:
		send_back(mode, agent, t);
		break;
	case REVIEW_ASK:
		ask(mode, agent, t);
		break;
	}
	return true;
}

bool
work_review_approved(const struct task *t, const char *commit)
{
	return t->attempt.review == REVIEW_APPROVED &&
	    review_next(t, true, commit, false) == REVIEW_LAND;
}

/* --- a reviewer ends ---------------------------------------------------- */

void
work_review_seen(struct agent *agent, struct turn_facts *facts)
{
	struct task *t = auto_task(agent);

	/* Whatever it left in its worktree, its turn is over. What a guard has
	 * kept it from does not count. */
	t->attempt.violations = facts->uncommitted > 0 || facts->rebasing ||
	    t->from == NULL || strcmp(agent->seen.head, t->from) != 0;
	facts->uncommitted = facts->conflicts = facts->ahead = 0;
	facts->rebasing = facts->resolving = false;
	facts->commit_wanted = facts->result_wanted = false;
	facts->check_wanted = facts->asks_person = false;
	facts->said->what = SAID_NOTHING;
}

void
work_review_said(struct auto_mode *mode, struct agent *agent)
{
	struct worker *w = agent->worker;
	struct task *t = auto_task(agent);

	if ((w->status != WORKER_NO_CHANGES &&
		w->status != WORKER_NEEDS_REVIEW) ||
	    agent_is_taken(agent))
		return;
	outcome_settle(mode, t, OUTCOME_NO_CHANGES, NULL);
	if (t->attempt.violations > 0) {
		outcome_clear_worker(agent);
	} else {
		agent_move(agent,
		    w->session.ready ? WORKER_IDLE : WORKER_OFFLINE, NULL);
		xstrset(&w->task, NULL);
	}
	scheduler_look(mode);
}

/* Does its author still wait for it? */
static bool
is_wanted(const struct auto_mode *mode, const struct task *review)
{
	const char *commit = NULL;
	cleanup_free char *id = review_task(review, &commit);
	const struct task *of = state_task(&mode->core->state, id);
	const struct agent *author =
	    of != NULL ? fleet_find(mode->fleet, of->worker) : NULL;
	const struct worker *w;

	if (of == NULL || author == NULL || auto_task(author) != of ||
	    of->step != TASK_ASSIGNED || *reviewer(mode) == '\0')
		return false;
	w = author->worker;
	return of->attempt.review == REVIEW_OPEN && w->commit != NULL &&
	    review_next(of, true, w->commit, true) == REVIEW_WAIT &&
	    strcmp(commit, w->commit) == 0 &&
	    (worker_waits(w->status) ? w->before : w->status) ==
	    WORKER_NEEDS_REVIEW;
}

void
work_review_over(struct auto_mode *mode, const struct task *t)
{
	struct core *core = mode->core;
	const char *commit = NULL;
	cleanup_free char *id = review_task(t, &commit);
	struct task *of = state_task(&core->state, id);
	struct agent *author =
	    of != NULL ? fleet_find(mode->fleet, of->worker) : NULL;
	bool changed = t->attempt.violations > 0;
	bool waited = is_wanted(mode, t);
	cleanup_buf struct buf words = BUF_INIT;

	persist_changed(core);
	if (author != NULL && auto_task(author) == of &&
	    author->worker->status == WORKER_NEEDS_REVIEW)
		xstrset(&author->worker->reason, NULL);
	/* One that was dropped because its author works again says nothing of
	 * the reviewer. */
	if (of != NULL && (waited || !t->dropped) &&
	    review_end(of, commit,
		t->outcome == OUTCOME_NO_CHANGES ? t->attempt.report : NULL,
		t->reason)) {
		if (of->attempt.review == REVIEW_FINDINGS)
			review_findings(of, &words);
		else if (of->attempt.review == REVIEW_FAILED)
			buf_adds(&words,
			    t->reason != NULL ? t->reason :
						"it gave no verdict");
		if (changed)
			buf_addf(&words,
			    "%sit changed files, which are not used and were "
			    "put aside",
			    words.len > 0 ? "; " : "");
		task_note(of, "was reviewed",
		    review_state_words[of->attempt.review], clock_wall_ms());
		EMIT(core, EVENT_REVIEWED, .worker = t->worker, .task = of->id,
		    .commit = commit,
		    .result = review_state_words[of->attempt.review],
		    .reason = words.len > 0 ? words.data : NULL);
	}
	if (author != NULL && auto_task(author) == of)
		after_landing_begin(mode, author);
}

void
work_review_tend(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	for (size_t i = state->task_count; i-- > 0;) {
		struct task *t = i < state->task_count ? state->tasks[i] : NULL;
		struct agent *agent =
		    t != NULL ? fleet_find(mode->fleet, t->worker) : NULL;
		cleanup_free char *why = NULL;

		if (t == NULL || !review_is(t) || t->step == TASK_SETTLING)
			continue;
		if (!is_wanted(mode, t))
			outcome_drop(
			    mode, t, "nobody waits for this review", NULL);
		else if (t->step == TASK_WAITING &&
		    (why = unfit_why(mode, t)) != NULL)
			outcome_settle(mode, t, OUTCOME_FAILED, why);
		else if (agent != NULL && auto_task(agent) == t &&
		    agent->worker->status == WORKER_ERROR &&
		    !agent_is_taken(agent))
			outcome_attempt_failed(mode, agent,
			    agent->worker->reason != NULL ?
				agent->worker->reason :
				"its worker has failed");
	}
}
