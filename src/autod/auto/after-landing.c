/* SPDX-License-Identifier: ISC */

/* The landing of finished work: it may be reviewed by another agent before, and
 * what follows is done after. */

#include "base.h"
#include "agent-kind.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "backoff.h"
#include "box-plan.h"
#include "contract.h"
#include "emit.h"
#include "failure.h"
#include "git-facts.h"
#include "git.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "outcome.h"
#include "park.h"
#include "persist.h"
#include "prompt.h"
#include "review.h"
#include "settings.h"
#include "work-record.h"
#include "worker-op.h"

/* --- before the landing ---------------------------------------------- */

static void
emit_completed(const struct agent *agent, const struct task *t)
{
	AGENT_EMIT(agent, EVENT_TASK_COMPLETED, .task = t->id,
	    .result = worker_status_name(agent->worker->status));
}

/* What was verified or reviewed is what lands. NULL = nothing was. */
static const char *
verified_commit(const struct agent *agent, const struct task *t)
{
	return t->launch.contract != NULL || t->launch.scope_paths != NULL ||
		work_review_approved(t, agent->worker->commit) ?
	    agent->worker->commit :
	    NULL;
}

void
after_landing_begin(struct auto_mode *mode, struct agent *agent)
{
	struct task *t = auto_task(agent);

	if (t == NULL || !mode->active || mode->core->stopping)
		return;
	if (review_is(t)) {
		work_review_said(mode, agent);
		return;
	}
	if (agent->worker->status == WORKER_NO_CHANGES) {
		if (!POLICY_ASK(mode, team, verify, agent, NULL)) {
			struct worker *w = agent->worker;
			cleanup_buf struct buf answer = BUF_INIT;

			emit_completed(agent, t);
			verification_answer(t, &answer);
			outcome_without_commit(
			    mode, t, answer.len > 0 ? answer.data : NULL);
			agent_move(agent,
			    w->session.ready ? WORKER_IDLE : WORKER_OFFLINE,
			    NULL);
			xstrset(&w->task, NULL);
		}
		return;
	}
	if (agent->worker->status != WORKER_NEEDS_REVIEW ||
	    agent->worker->for_person || agent_is_taken(agent))
		return;
	if (mode->again != NULL && loop_timer_pending(mode->again))
		return; /* waiting for another git process */
	if (POLICY_ASK(mode, team, verify, agent, agent->worker->commit) ||
	    work_review_holds(mode, agent))
		return;
	emit_completed(agent, t);
	landing_begin(
	    mode->landings, agent, verified_commit(agent, t), false, NULL);
}

void
after_landing_hold(struct auto_mode *mode, struct agent *agent)
{
	landing_hold(
	    mode->landings, agent, verified_commit(agent, auto_task(agent)));
}

void
after_landing_resume(struct auto_mode *mode)
{
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];

		if (auto_drives(mode, agent) && !agent_is_taken(agent) &&
		    agent->worker->session.step == PROMPT_NONE)
			after_landing_begin(mode, agent);
	}
}

/* --- when it cannot land --------------------------------------------- */

static void
on_wait_over(void *arg)
{
	after_landing_resume(arg);
}

/* Does it go on in a tree that is made anew? */
static bool
blames_tree(const struct landing_end *end)
{
	return end->result == LANDING_END_TREE && end->agent != NULL &&
	    end->agent->worker->work_of != NULL &&
	    agent_blames_tree(end->agent, end->err);
}

/* A lock file of another git process goes away; anything else needs a person or
 * a repair. */
static void
wait_for_git(struct auto_mode *mode, const struct landing_end *end)
{
	int64_t ms = 0;

	if (end->err->code == -EBUSY &&
	    backoff_next(&backoff_git, mode->git_tries, &ms)) {
		mode->git_tries++;
		EMIT(mode->core, EVENT_LANDING_WAITS,
		    .branch = core_branch(mode->core), .reason = end->err->msg);
		loop_timer_set(
		    &mode->again, mode->core->loop, ms, on_wait_over, mode);
		return;
	}
	if (blames_tree(end)) {
		mode->git_tries = 0;
		outcome_tree_failed(mode, end->agent, end->err->msg);
		return;
	}
	RAISE(mode->core, end->err->code == -EBUSY ? "git_lock" : "git",
	    .worker = end->agent != NULL ? end->agent->worker->name : NULL,
	    .task = end->task, .reason = end->err->msg);
}

/* Send the worker back with these words, unless its turns are used up: then the
 * attempt has failed. */
static bool
send_back(struct auto_mode *mode, struct agent *agent, const struct task *t,
    const char *words)
{
	if (task_attempt_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
		return false;
	}
	EMIT(mode->core, EVENT_SENT_BACK, .worker = agent->worker->name,
	    .task = t->id, .reason = words);
	return true;
}

/* The worker itself must change something before its work can land. */
static void
refused(struct auto_mode *mode, const struct landing_end *end)
{
	struct task *t = state_task(&mode->core->state, end->task);

	if (t == NULL || end->agent == NULL || t->step != TASK_ASSIGNED)
		return;
	if (send_back(mode, end->agent, t, end->err->msg)) {
		agent_move(end->agent, WORKER_REJECTED, NULL);
		agent_prompt(end->agent, end->err->msg, false, WORKER_REJECTED);
	}
}

/* It has another commit than the one that was verified or reviewed. */
static void
verify_again(struct auto_mode *mode, const struct landing_end *end)
{
	struct task *t = state_task(&mode->core->state, end->task);

	if (t == NULL || end->agent == NULL)
		return;
	if (t->attempt.verification == VERIFICATION_PASSED)
		t->attempt.verification = VERIFICATION_PENDING;
	if ((t->launch.contract != NULL || t->launch.scope_paths != NULL) &&
	    POLICY_ASK(mode, team, verify, end->agent, NULL))
		return;
	if (t->attempt.review == REVIEW_APPROVED) {
		xstrset(&end->agent->worker->commit, NULL);
		after_landing_begin(mode, end->agent);
	}
}

static void
failed(struct auto_mode *mode, const struct landing_end *end)
{
	switch (end->err->code) {
	case -EPERM:
		refused(mode, end);
		break;
	case -ESTALE: /* the caller has the answer already */
		verify_again(mode, end);
		break;
	case -EACCES: /* a person decides */
	case -EUCLEAN: /* its worker is put aside, or its tree */
		if (end->err->code == -EUCLEAN && blames_tree(end)) {
			wait_for_git(mode, end);
			break;
		}
		EMIT(mode->core, EVENT_WORKER_PARKED,
		    .worker =
			end->agent != NULL ? end->agent->worker->name : NULL,
		    .reason = end->err->msg);
		break;
	default:
		wait_for_git(mode, end);
		break;
	}
}

enum landing_return
after_landing_ejected(void *arg, struct agent *agent, const char *task,
    const char *from, bool conflict, const char *words)
{
	struct auto_mode *mode = arg;
	struct task *t = state_task(&mode->core->state, task);

	if (t != NULL && !conflict)
		POLICY_TELL(mode, watch, ejected, t, agent, words);
	if (t != NULL && t->step == TASK_QUEUED) {
		struct core *core = mode->core;

		/* Its worker was released: another one goes on with it. */
		if (task_attempt_turns(t) <
		    settings_int(core->settings, "auto.max_turns")) {
			task_send_back(t, from, words, clock_wall_ms());
			task_ref_keep(mode, t);
			EMIT(core, EVENT_SENT_BACK, .worker = t->worker,
			    .task = t->id, .reason = words);
		} else {
			task_ref_salvage(mode, t, from);
			outcome_task_failed(mode, t, words);
		}
		persist_changed(core);
		loop_call_request(mode->look);
		return LANDING_RETURN_TAKEN;
	}
	if (t == NULL || !mode->active || t->step != TASK_ASSIGNED)
		return LANDING_RETURN_PERSON;
	if (agent == NULL) {
		task_give_back(t, words, clock_wall_ms());
		persist_changed(mode->core);
		loop_call_request(mode->look);
		return LANDING_RETURN_TAKEN;
	}
	return send_back(mode, agent, t, words) ? LANDING_RETURN_AGENT :
						  LANDING_RETURN_TAKEN;
}

/* However many turns it has had: a person wants another one. */
void
after_landing_rejected(
    void *arg, const char *task, const char *from, const char *words)
{
	struct auto_mode *mode = arg;
	struct task *t = state_task(&mode->core->state, task);

	if (t == NULL || task_send_back(t, from, words, clock_wall_ms()) < 0)
		return;
	task_ref_keep(mode, t);
	EMIT(mode->core, EVENT_SENT_BACK, .worker = t->worker, .task = t->id,
	    .reason = words);
	persist_changed(mode->core);
	loop_call_request(mode->look);
}

bool
after_landing_keeps(void *arg, const char *task)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, task);

	return t != NULL && (mode->active || t->step == TASK_QUEUED);
}

void
after_landing_blocked(void *arg, const char *class, const char *worker,
    const char *task, const char *reason)
{
	struct auto_mode *mode = arg;

	if (mode->active)
		RAISE(mode->core, class, .worker = worker, .task = task,
		    .reason = reason);
}

/* Once for a tree: a fix that does not help leads to another tree. */
void
after_landing_red(void *arg, const char *tree, const char *words, bool trial)
{
	struct auto_mode *mode = arg;
	struct state *state = &mode->core->state;
	const char *action =
	    settings_string(mode->core->settings, "auto.on_red");
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct task *fix;

	if (!mode->active || state_task_by_key(state, "fix", tree) != NULL)
		return;
	if (trial) {
		pause_for_trial(mode, words);
		return;
	}
	if (strcmp(action, "stop") == 0) {
		RAISE(mode->core, "red_branch", .reason = words);
		return;
	}
	if (strcmp(action, "revert") == 0) {
		cleanup_free char *reason = NULL;

		if (red_revert_begin(mode->landings, words))
			return;
		reason = xasprintf("%s\nNothing is taken back: %s.", words,
		    lands_by_pull(mode->core->settings) ?
			"auto.land is pull-request, so it only follows "
			"origin" :
			"its newest commit was not landed by a task");
		RAISE(mode->core, "red_branch", .reason = reason);
		return;
	}
	id = state_task_id(state);
	fix = task_for_red(id, tree, words, now);
	task_take(fix, now); /* it comes from no source */
	auto_add_task(mode, fix);
}

int
after_landing_priority(void *arg, const char *task)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, task);

	return (int)(t != NULL ? task_landing_priority(t) : PRIORITY_NORMAL);
}

bool
after_landing_proposes(
    void *arg, const struct landing_item *item, const char **ret_wait)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, item->task);
	bool proposes = t != NULL && mode->pulls != NULL &&
	    mode->pulls->proposes(mode->pulls_arg, t, ret_wait);

	if (*ret_wait == NULL && t != NULL && mode->feed_lost != NULL)
		*ret_wait = mode->feed_lost(mode->feed_arg, t->id);
	return proposes;
}

void
after_landing_propose(void *arg, const struct landing_item *item)
{
	struct auto_mode *mode = arg;
	struct task *t = state_task(&mode->core->state, item->task);
	struct agent *agent = fleet_find(mode->fleet, item->worker);

	if (t->step == TASK_ASSIGNED)
		task_queue(t, clock_wall_ms());
	if (agent != NULL && auto_task(agent) == t)
		xstrset(&agent->worker->task, NULL);
	xstrset(&t->from, item->commit);
	task_ref_keep(mode, t);
	mode->pulls->propose(mode->pulls_arg, t, item);
	persist_changed(mode->core);
}

/* --- after the landing ----------------------------------------------- */

void
after_landing_published(struct auto_mode *mode, const struct event *event)
{
	struct task *t = state_task(&mode->core->state, event->task);

	if (t == NULL)
		return;
	if (task_landed(t, event->commit, clock_wall_ms()) == 0) {
		xstrset(&t->move, event->to);
		xstrset(&t->held_by, event->ref);
		t->overtaken = event->result != NULL;
		t->place = (int)event->count;
	}
	mode->git_tries = 0;
}

bool
after_landing_ended(struct auto_mode *mode, const struct landing_end *end)
{
	if (end->task == NULL)
		return false;
	if (end->result == LANDING_END_LANDED) {
		struct task *t = state_task(&mode->core->state, end->task);

		if (end->agent != NULL)
			xstrset(&end->agent->worker->task, NULL);
		persist_changed(mode->core);
		loop_call_request(mode->look);
		if (t == NULL || t->step != TASK_LANDED)
			return false;
		if (t->commit != NULL)
			return true;
		outcome_without_commit(mode, t, NULL);
		return false;
	}
	if (end->result == LANDING_END_PROPOSED)
		loop_call_request(mode->look);
	if (!mode->active)
		return false;
	switch (end->result) {
	case LANDING_END_STUCK:
		RAISE(mode->core, "conflicts",
		    .worker = end->agent->worker->name, .task = end->task,
		    .reason = end->err->msg);
		break;
	case LANDING_END_FAILED:
	case LANDING_END_TREE:
		failed(mode, end);
		break;
	case LANDING_END_LANDED:
	case LANDING_END_PROPOSED:
	case LANDING_END_CONFLICT:
	case LANDING_END_EJECTED:
	case LANDING_END_CANCELLED:
		break;
	}
	return false;
}

static const char *
reviewer(const struct auto_mode *mode)
{
	return settings_string(mode->core->settings, "auto.review");
}

/* Has a reviewer a task about this commit, whose end its author does not know
 * yet? */
static bool
is_open(const struct auto_mode *mode, const struct task *t, const char *commit)
{
	const struct state *state = &mode->core->state;
	cleanup_free char *key = xasprintf("%s@%s", t->id, commit);

	for (size_t i = 0; i < state->task_count; i++)
		if (review_is(state->tasks[i]) &&
		    !state->tasks[i]->attempt.announced &&
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
		agent_tree_failed(agent, err);
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
review_send_back(struct auto_mode *mode, struct agent *agent, struct task *t)
{
	cleanup_buf struct buf findings = BUF_INIT, words = BUF_INIT;

	review_findings(t, &findings);
	prompt_rejection(findings.data, &words);
	review_sent_back(t);
	agent_move(agent, WORKER_REJECTED, NULL);
	if (auto_held(mode, agent, words.data) ||
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
		review_send_back(mode, agent, t);
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
		auto_clear_worker(agent);
	} else {
		agent_move(agent,
		    w->session.ready ? WORKER_IDLE : WORKER_OFFLINE, NULL);
		xstrset(&w->task, NULL);
	}
	loop_call_request(mode->look);
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

/* It has its outcome: its author goes on. */
static void
work_review_over(struct auto_mode *mode, struct task *t)
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

	t->attempt.announced = true;
	persist_changed(core);
	outcome_settle_due(mode);
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

		if (t == NULL || !review_is(t))
			continue;
		if (t->step == TASK_SETTLING) {
			if (!t->attempt.announced)
				work_review_over(mode, t);
			continue;
		}
		if (!mode->begun || mode->core->stopping)
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
