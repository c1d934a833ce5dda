/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: it is judged, goes on in another conversation, or has
 * failed and waits for a limit or a person.
 */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "person.h"
#include "persist.h"
#include "serve.h"
#include "session-hook.h"
#include "session-limit.h"
#include "settings-table.h"
#include "transcript-parser.h"
#include "fleet-private.h"

const char turn_end_leftover_message[] = "Work left uncommitted";

enum {
	STEP_LOOK,
	STEP_TEST,
	STEP_RESET,
	STEP_DECIDE,
	STEP_COMMIT,
	STEP_FACTS_AGAIN
};

struct turn_end {
	struct worker_op op;
	char *last_words; /* may be NULL */
	char head[GIT_ID_SIZE];
	struct git_facts facts;
	bool compares; /* its files with an earlier state */
	bool has_task;
	struct child *child; /* while tests run */
	struct said said;
	enum turn_action action;
	enum turn_action committed; /* what it becomes once all is committed */
	enum ask_kind ask;
	struct buf reason;
	bool from_policy; /* the reason is what the policy has to say */
};

/* --- judging ---------------------------------------------------------- */

/* The branch of a worker whose HEAD is detached can be checked out by the user,
 * and then does not follow. */
static void
look_at_branch(struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_free char *path = NULL;

	if (git_follow_elsewhere(agent->core->git, w->worktree, &path, NULL) <
	    0)
		return;
	if (path != NULL && !agent->branch_taken)
		AGENT_EMIT(agent, EVENT_BRANCH_TAKEN, .branch = w->branch,
		    .reason = path);
	agent->branch_taken = path != NULL;
}

static void
on_looked(const struct git_facts *facts, const struct git_snapshot *snapshot,
    const struct err *err, void *arg)
{
	struct turn_end *t = arg;
	struct agent *agent = t->op.agent;

	if (!operation_arrived(&t->op.op, err))
		return;
	t->facts = *facts;
	agent_saw(agent, facts);
	look_at_branch(agent);
	if (!t->compares) {
		operation_go(&t->op.op, STEP_DECIDE);
		return;
	}
	POLICY_TELL(
	    agent->fleet, policy, turn_seen, agent, snapshot, t->last_words);
	operation_next(&t->op.op);
}

static void
look(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;
	struct core *core = t->op.agent->core;
	const char *before =
	    POLICY_ASK(t->op.agent->fleet, policy, turn_before, t->op.agent);

	t->compares = before != NULL;
	git_snapshot(core->git, t->op.agent->worker->worktree,
	    core_branch(core), before, on_looked, operation_await(op));
}

static void
decide(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;
	struct agent *agent = t->op.agent;
	const struct git_facts *git = &t->facts;
	enum worker_status status = agent->worker->status;
	struct turn_facts facts = {
		.uncommitted = git->changed + git->untracked,
		.rebasing = git->rebasing,
		.conflicts = git->conflicts,
		.ahead = git->ahead,
		.resolving = status == WORKER_REBASING,
		.reviewing = status == WORKER_REVIEWING,
		.sent_back = agent->sent_back,
		.said = &t->said,
	};

	memcpy(t->head, git->head, sizeof t->head);
	t->has_task = POLICY_ASK(
	    agent->fleet, policy, turn_facts, agent, t->last_words, &facts);
	t->action = turn_judge(&facts, &t->reason, &t->ask);
	/* Commit leftovers before answering the Stop: if we die in between, the
	 * hook keeps its event for the next daemon. */
	t->committed =
	    facts.driven && facts.check_wanted ? TURN_CHECK : TURN_FINISHED;
	if (t->action == TURN_COMMIT)
		operation_next(op);
	else
		operation_done(op);
}

/* --- tests ------------------------------------------------------------ */

/* What tests leave in a clean worktree is no work. In another one it cannot be
 * told from work. */
static void
reset(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;

	if (git_facts_clean(&t->facts))
		worker_op_salvage(&t->op,
		    &(struct salvage_what){ .then = SALVAGE_RESET,
			.onto = t->facts.head,
			.check = true },
		    NULL);
	else if (!op->stopping)
		operation_next(op);
}

static void
on_tested(const struct child_result *result, void *arg)
{
	struct turn_end *t = arg;
	struct operation *op = &t->op.op;
	const struct fleet *fleet = t->op.agent->fleet;

	t->child = NULL;
	if (op->stopping)
		reset(op); /* cancelled: no step follows this one */
	else
		fleet->policy->turn_tested(
		    fleet->policy_arg, t->op.agent, result);
	operation_on_over(op);
}

/* The turn is over for the session: tests may take longer than a hook. */
static void
test(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;
	struct agent *agent = t->op.agent;
	const struct fleet *fleet = agent->fleet;
	const char *command = fleet->policy->turn_test == NULL ||
		t->facts.rebasing || t->facts.conflicts > 0 ?
	    NULL :
	    fleet->policy->turn_test(fleet->policy_arg, agent);
	struct err err = { 0 };
	bool boxed;

	if (command == NULL) {
		operation_go(op, STEP_DECIDE);
	} else if (tree_command_spawn(agent, command, "auto.check_timeout",
		       on_tested, t, &t->child, &boxed, &err) < 0) {
		log_debug("the tests do not run: %s", err.msg);
		operation_go(op, STEP_DECIDE);
	} else {
		serve_reply(agent->core, take_ptr(&t->op.call), NULL);
		operation_await(op);
	}
}

static void
cancel_test(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;

	if (t->child != NULL)
		child_cancel(t->child);
}

/* --- leftovers -------------------------------------------------------- */

static void
on_committed(const struct err *err, void *arg)
{
	struct turn_end *t = arg;
	struct agent *agent = t->op.agent;

	if (err != NULL)
		AGENT_EMIT(agent, EVENT_LEFTOVERS_STAY, .reason = err->msg);
	operation_on_done(err, &t->op.op);
}

static void
commit(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;
	struct core *core = t->op.agent->core;

	git_salvage_commit(core->git, t->op.agent->worker->worktree,
	    core_branch(core), turn_end_leftover_message, on_committed,
	    operation_await(op));
}

static void
on_facts_again(const struct git_facts *git, const struct err *err, void *arg)
{
	struct turn_end *t = arg;

	if (!operation_arrived(&t->op.op, err))
		return;
	agent_saw(t->op.agent, git);
	memcpy(t->head, git->head, sizeof t->head);
	t->action = t->committed;
	operation_done(&t->op.op);
}

static void
facts_again(struct operation *op)
{
	struct turn_end *t = (struct turn_end *)op;
	struct core *core = t->op.agent->core;

	git_facts_read(core->git, t->op.agent->worker->worktree,
	    core_branch(core), on_facts_again, operation_await(op));
}

/* --- in another conversation ------------------------------------------- */

struct afresh {
	struct worker_op op; /* first */
	char *words;
	struct buf text;
};

static void
on_afresh_seen(const struct git_facts *facts,
    const struct git_snapshot *snapshot, const struct err *err, void *arg)
{
	struct afresh *a = arg;

	(void)err; /* it looks for itself */
	if (!operation_arrived(&a->op.op, NULL))
		return;
	agent_reminder(a->op.agent, facts, snapshot, a->words, &a->text);
	operation_next(&a->op.op);
}

static void
afresh_look(struct operation *op)
{
	struct afresh *a = (struct afresh *)op;
	struct core *core = a->op.agent->core;

	git_snapshot(core->git, a->op.agent->worker->worktree,
	    core_branch(core), "", on_afresh_seen, operation_await(op));
}

/* If it was cancelled, the end of the turn is judged again. */
static void
afresh_end(struct operation *op, const struct err *err)
{
	struct afresh *a = (struct afresh *)op;
	struct agent *agent = a->op.agent;
	cleanup_buf struct buf whole = BUF_INIT;

	worker_op_release(&a->op);
	if (err == NULL && turn_end_counts(agent) &&
	    !hold_turn_ended(agent, a->words)) {
		fleet_preface(agent, a->text.data, &whole);
		agent_prompt(agent, whole.data, true, agent->worker->status);
	}
	free(a->words);
	buf_release(&a->text);
	free(a);
}

static const struct operation_step afresh_steps[] = {
	{ .name = "look", .run = afresh_look },
};

OPERATION_KIND(afresh_kind, "another conversation", afresh_steps, afresh_end,
    .yields = true);

bool
agent_afresh(struct agent *agent, const char *words)
{
	const struct worker *w = agent->worker;
	int64_t limit = agent_number(agent, "fresh_at");
	cleanup_free char *reason =
	    xasprintf("%d%% of its context are used", agent->context);
	struct afresh *a;

	if (limit == 0 || agent->context < limit || w->task == NULL ||
	    w->prompt == NULL || !fleet_drives(agent) ||
	    session_phase(agent->session) != SESSION_UP)
		return false;
	AGENT_EMIT(agent, EVENT_SENT_BACK, .task = w->task, .reason = words);
	AGENT_EMIT(agent, EVENT_AFRESH, .task = w->task, .reason = reason);
	a = xcalloc(1, sizeof *a);
	a->words = xstrdup(words);
	buf_init(&a->text);
	worker_op_begin(&a->op, &afresh_kind, agent, NULL);
	return true;
}

/* --- what follows ----------------------------------------------------- */

/* The answer continues the turn. Without a caller that waits, the turn is over,
 * and the reason becomes a new prompt. */
static void
send_back(struct turn_end *t)
{
	struct agent *agent = t->op.agent;
	int sent_back = agent->sent_back;
	cleanup_buf struct buf words = BUF_INIT;

	AGENT_EMIT(agent, EVENT_SENT_BACK, .task = agent->worker->task,
	    .reason = t->from_policy ? "there is mail for it" : t->reason.data);
	if (t->op.call == NULL || session_phase(agent->session) != SESSION_UP) {
		agent_prompt(
		    agent, t->reason.data, false, agent->worker->status);
	} else {
		fleet_preface(agent, t->reason.data, &words);
		serve_reply(agent->core, take_ptr(&t->op.call),
		    session_hook_stop_answer(words.data));
		agent->worker->session.busy = true;
		persist_changed(agent->core);
	}
	agent->sent_back = t->from_policy ? sent_back : sent_back + 1;
}

static void
report_to_policy(struct turn_end *t)
{

	if (t->has_task)
		POLICY_TELL(t->op.agent->fleet, policy, turn_judged,
		    t->op.agent, t->action, t->head, t->reason.data);
}

static bool
is_held(const struct turn_end *t)
{

	return t->has_task &&
	    POLICY_ASK(t->op.agent->fleet, policy, turn_held, t->op.agent,
		t->reason.data);
}

/* What it must read comes before what follows the turn. */
static void
ask_words(struct turn_end *t)
{
	struct agent *agent = t->op.agent;

	if (t->action != TURN_FINISHED && t->action != TURN_NO_CHANGES &&
	    t->action != TURN_CHECK)
		return;
	buf_clear(&t->reason);
	if (!POLICY_ASK(agent->fleet, policy, turn_words, agent, &t->reason))
		return;
	t->action = TURN_BACK;
	t->from_policy = true;
}

static void
act(struct turn_end *t)
{
	struct agent *agent = t->op.agent;

	ask_words(t);
	switch (t->action) {
	case TURN_NUDGE:
	case TURN_EXCUSE:
	case TURN_BACK:
		if (is_held(t))
			break;
		report_to_policy(t);
		if (!hold_turn_ended(agent, t->reason.data) &&
		    !agent_afresh(agent, t->reason.data))
			send_back(t);
		break;
	case TURN_COMMIT: /* has become another one by now */
	case TURN_FINISHED:
		agent_finish(agent, t->head);
		break;
	case TURN_NO_CHANGES:
		agent_move(agent, WORKER_NO_CHANGES, NULL);
		report_to_policy(t);
		break;
	case TURN_PAUSE:
		agent_move(agent, WORKER_PAUSED, t->reason.data);
		break;
	case TURN_ASK:
		agent->fleet->policy->turn_asks(
		    agent->fleet->policy_arg, agent, t->ask, t->reason.data);
		break;
	case TURN_WAIT:
		agent_move(agent, WORKER_WAITING, NULL);
		break;
	case TURN_CHECK:
	case TURN_FAIL:
	case TURN_ACTION_COUNT:
		report_to_policy(t);
		break;
	}
}

static void
end(struct operation *op, const struct err *err)
{
	struct turn_end *t = (struct turn_end *)op;
	struct agent *agent = t->op.agent;

	if (t->child != NULL)
		child_abandon(t->child); /* the operation was dropped */
	worker_op_release(&t->op);
	if (err == NULL) {
		if (turn_end_counts(agent))
			act(t);
	} else if (err->code != -ECANCELED) {
		agent_tree_failed(agent, err);
		if (op->at != STEP_COMMIT)
			AGENT_EMIT(
			    agent, EVENT_TURN_END_FAILED, .reason = err->msg);
	}
	serve_reply(agent->core, t->op.call, NULL);
	free(t->last_words);
	said_release(&t->said);
	buf_release(&t->reason);
	free(t);
}

static const struct operation_step steps[] = {
	[STEP_LOOK] = { .name = "facts", .run = look },
	[STEP_TEST] = { .name = "test", .run = test, .cancel = cancel_test },
	[STEP_RESET] = { .name = "reset", .run = reset, .firm = true },
	[STEP_DECIDE] = { .name = "decide", .run = decide },
	[STEP_COMMIT] = { .name = "commit", .run = commit },
	[STEP_FACTS_AGAIN] = { .name = "facts-again", .run = facts_again },
};

OPERATION_KIND(kind, "end of turn", steps, end, .yields = true);

bool
turn_end_counts(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_in_turn(worker_waits(w->status) ? w->before : w->status);
}

bool
turn_end_is_due(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return worker_in_turn(w->status) && !w->session.busy &&
	    w->session.step == PROMPT_NONE && agent->op == NULL &&
	    session_phase(agent->session) == SESSION_UP;
}

/* The service answers it. If its login was refused, it is taken again for all
 * that have the same. */
static void
heard(struct agent *agent)
{
	struct fleet *fleet = agent->fleet;
	bool lost = false;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *other = fleet->agents[i];
		struct hold_change change;

		if (!worker_waits_for_login(other->worker))
			continue;
		if (!agent->login_tried ||
		    strcmp(agent_log_in(other), agent_log_in(agent)) != 0)
			lost = true;
		else if (!agent_is_taken(other))
			hold_resume(other, 0, NULL, &change);
	}
	agent->login_tried = false;
	fleet->login_told = fleet->login_told && lost;
	if (!lost && agent->core->state.outage_since_unix != 0) {
		agent->core->state.outage_since_unix = 0;
		persist_changed(agent->core);
	}
}

void
turn_end_begin(
    struct agent *agent, struct server_call *call, const char *last_words)
{
	struct worker *w = agent->worker;
	struct turn_end *t;

	/* A turn that ends must have begun: that hook may have been lost. */
	if (w->status == WORKER_STARTING && session_confirm(agent->session))
		agent_move(agent, w->after, NULL);
	w->session.busy = false;
	persist_changed(agent->core);
	heard(agent);
	/* It goes on with the prompt that is on its way to it. */
	if (agent->op != NULL || !worker_in_turn(w->status) ||
	    w->session.step != PROMPT_NONE) {
		serve_reply(agent->core, call, NULL);
		return;
	}
	AGENT_EMIT(
	    agent, EVENT_TURN_ENDED, .task = w->task, .text = last_words);
	t = xcalloc(1, sizeof *t);
	t->reason = (struct buf)BUF_INIT;
	xstrset(&t->last_words, last_words);
	worker_op_begin(&t->op, &kind, agent, call);
}

/* --- a turn fails ------------------------------------------------------- */

static const char over_text[] =
    "The interruption is over. Continue the task from where it stopped.";

static void
not_heard(struct agent *agent, int64_t since_unix)
{
	struct state *state = &agent->core->state;

	if (state->outage_since_unix == 0 ||
	    since_unix < state->outage_since_unix)
		state->outage_since_unix = since_unix;
	persist_changed(agent->core);
}

void
turn_failure_retries(struct agent *agent, const struct transcript_totals *t)
{
	int64_t since = agent->core->state.outage_since_unix;

	if (!agent->worker->session.busy)
		return;
	if (t->deaf_ms > 0 && (since == 0 || t->deaf_ms / 1000 < since))
		not_heard(agent, t->deaf_ms / 1000);
	else if (t->deaf_ms == 0 && since > 0 && t->answered_ms / 1000 > since)
		heard(agent);
}

static void
limit_worker(struct agent *agent, const char *text, int64_t until)
{
	struct worker *w = agent->worker;

	w->session.busy = false;
	if (w->status != WORKER_LIMITED &&
	    agent_move(agent, WORKER_LIMITED, text) < 0)
		return;
	w->until_ms = until + limit_delay_ms(w->index);
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
}

static void
limit(struct agent *agent, enum limit_class class, const char *text)
{
	struct fleet *fleet = agent->fleet;
	int64_t until = limit_sharpen_ms(
	    session_limit_look_ms(class, text, agent->worker->limit_tries),
	    fleet->core->state.windows);

	agent->worker->limit_tries++; /* its own, not those of the others */
	limit_worker(agent, text, until);
	AGENT_EMIT(
	    agent, EVENT_WAITING, .reason = text, .until_unix = until / 1000);
	person_tell(agent->core,
	    &(struct notice){
		.class = class == LIMIT_OUTAGE ? NOTICE_OUTAGE : NOTICE_LIMIT,
		.why = text,
		.worker = agent->worker->name,
		.task = agent->worker->task });
	if (class == LIMIT_OUTAGE)
		not_heard(agent, clock_wall_ms() / 1000);
	POLICY_TELL(fleet, policy, limited, agent, class, text, until);
	if (class == LIMIT_USAGE)
		fleet_limit(fleet, agent, NULL, text, until);
}

/* The limit applies to the whole account: workers that would reach it next wait
 * too. Those in a turn learn of it from their agent. */
size_t
fleet_limit(struct fleet *fleet, const struct agent *like, const char *account,
    const char *text, int64_t until)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		enum worker_status status = agent->worker->status;
		cleanup_free char *own =
		    account != NULL ? agent_account(agent) : NULL;

		if ((status != WORKER_STARTING && status != WORKER_LIMITED &&
			status != WORKER_IDLE) ||
		    (like != NULL &&
			strcmp(agent_log_in(agent), agent_log_in(like)) != 0) ||
		    (account != NULL && !text_is(own, account)))
			continue;
		limit_worker(agent, text, until);
		count++;
	}
	return count;
}

/* It tries again now and then; people are told once that has been in vain for a
 * while. */
static void
refuse_login(struct agent *agent, const char *text)
{
	struct core *core = agent->core;
	const struct state *state = &core->state;
	int64_t now = clock_wall_ms();
	cleanup_free char *reason =
	    xasprintf("%s" WORKER_LOGIN_LOST "%s, or just wait", text,
		agent_log_in(agent));

	not_heard(agent, now / 1000);
	agent->login_tried = true;
	agent_move(agent, WORKER_PAUSED, reason);
	agent->worker->until_ms = now + tuning.login_probe;
	agent_tick_later(agent, 1);
	AGENT_EMIT(agent, EVENT_WAITING, .reason = reason,
	    .until_unix = agent->worker->until_ms / 1000);
	if (now - state->outage_since_unix * 1000 >= tuning.login_ask &&
	    !agent->fleet->login_told) {
		agent->fleet->login_told = true;
		AGENT_EMIT(agent, EVENT_LOGIN_NEEDED, .reason = reason);
	}
	POLICY_TELL(agent->fleet, policy, limited, agent, LIMIT_AUTH, reason,
	    agent->worker->until_ms);
}

void
turn_failure(struct agent *agent, const char *error, const char *text)
{
	enum limit_class class = limit_classify(error, text);

	AGENT_EMIT(agent, EVENT_TURN_FAILED, .error = error,
	    .class = limit_class_name(class), .text = text);
	if (class == LIMIT_USAGE || class == LIMIT_OUTAGE) {
		limit(agent, class, text);
		return;
	}
	agent->worker->session.busy = false;
	persist_changed(agent->core);
	if (text[0] == '\0')
		text = "the turn failed without a message";
	if (class == LIMIT_AUTH) {
		refuse_login(agent, text);
		return;
	}
	if (POLICY_ASK(agent->fleet, policy, turn_error, agent, text))
		return;
	agent_move(agent, WORKER_PAUSED, text);
	AGENT_EMIT(agent, EVENT_WORKER_PARKED, .reason = text);
}

/* --- a login that is refused -------------------------------------------- */

bool
turn_failure_login_is_lost(const struct agent *agent)
{
	const struct fleet *fleet = agent->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (worker_waits_for_login(fleet->agents[i]->worker) &&
		    strcmp(agent_log_in(fleet->agents[i]),
			agent_log_in(agent)) == 0)
			return true;
	return false;
}

/* Does another one try for it: before it in the fleet, or already? */
static bool
is_tried_by(const struct agent *other, const struct agent *agent, bool before)
{
	enum worker_status status = other->worker->status;

	return strcmp(agent_log_in(other), agent_log_in(agent)) == 0 &&
	    (worker_waits_for_login(other->worker) ? before :
						     other->login_tried &&
			(status == WORKER_STARTING ||
			    status == WORKER_OFFLINE ||
			    worker_in_turn(status)));
}

int64_t
turn_failure_login_ms(const struct agent *agent)
{
	const struct fleet *fleet = agent->fleet;
	int64_t left = agent->worker->until_ms - clock_wall_ms();
	bool before = true;

	if (!worker_waits_for_login(agent->worker))
		return -1;
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i] == agent)
			before = false;
		else if (is_tried_by(fleet->agents[i], agent, before))
			return tuning.login_probe;
	return left > 0 ? left : 0;
}

void
turn_failure_try_login(struct agent *agent)
{
	struct hold_change change;

	agent->login_tried = true;
	hold_resume(agent, 0, NULL, &change);
}

void
turn_failure_sharpen(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		struct worker *w = agent->worker;
		int64_t delay = limit_delay_ms(w->index);

		if (w->status != WORKER_LIMITED)
			continue;
		w->until_ms = limit_sharpen_ms(w->until_ms - delay,
				  fleet->core->state.windows) +
		    delay;
		agent_tick_later(agent, 1);
	}
}

void
turn_failure_works(struct agent *agent, bool has_heard)
{
	struct worker *w = agent->worker;

	if (has_heard)
		heard(agent);
	if (w->status != WORKER_LIMITED)
		return;
	AGENT_EMIT(agent, EVENT_LIMIT_OVER);
	w->until_ms = 0;
	if (agent_move(agent, w->before, NULL) == 0)
		w->session.busy = worker_in_turn(w->status);
	persist_changed(agent->core);
}

/* The limit is over: the worker continues where it was. */
void
turn_failure_over(struct agent *agent)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;

	AGENT_EMIT(agent, EVENT_LIMIT_OVER);
	agent_dismiss(agent);
	w->until_ms = 0;
	if (before == WORKER_IDLE || before == WORKER_NEEDS_REVIEW ||
	    before == WORKER_NO_CHANGES || before == WORKER_OFFLINE) {
		agent_move(agent, before, NULL);
		return;
	}
	agent_move(agent, WORKER_STARTING, NULL);
	if (w->session.step == PROMPT_NONE)
		agent_prompt(agent, over_text, false,
		    before == WORKER_STARTING ? w->after : before);
}
