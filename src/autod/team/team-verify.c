/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "child.h"
#include "contract.h"
#include "emit.h"
#include "git-facts.h"
#include "guard.h"
#include "intake.h"
#include "sibling.h"
#include "outcome.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-goal.h"
#include "plan.h"
#include "serve.h"
#include "settings.h"
#include "task.h"
#include "team-private.h"
#include "turn-policy.h"
#include "worker-op.h"
#include "workspace.h"

#define REASON_MAX     1024 /* bytes of what a hook says */
#define TELL_EVERY_MS  1000 /* of a worker's denials */
#define FORGET_MS      (60 * 1000)
#define VIOLATIONS_MAX 3 /* of a run, before a person hears of them */

/* Where a task is in a plan. */
struct place {
	char *goal, *node; /* NULL = in none */
};

static void
place_release(struct place *place)
{
	free(place->goal);
	free(place->node);
}

static struct place
place_of(const struct task *task)
{
	struct place place = { 0 };

	if (task != NULL && intake_is_planned(task))
		plan_bind_key(task->key, &place.goal, &place.node, NULL);
	return place;
}

/* One that does not fit: who says so, and why. */
struct review {
	struct team_floor *floor;
	const struct agent *agent;
	struct place place; /* with a goal */
	const char *code; /* of the reason, for programs */
	const char *reason; /* a sentence */
};

/* NULL = the plan is not in memory. Owned by the caller. */
static struct json_object *
meta_of(const struct review *review, const struct plan *plan, const char *actor)
{
	const struct team_floor *floor = review->floor;

	if (plan == NULL)
		return NULL;
	return plan_meta_json(plan->goal,
	    &(struct plan_meta){ .version = plan->goal->version,
		.actor = actor,
		.reason = review->code,
		.root = floor->core->workspace->root });
}

static void
tell(const struct review *review, const struct plan *plan, const char *actor,
    struct json_object *meta)
{
	const struct place *place = &review->place;
	cleanup_free char *receipt =
	    xasprintf("review/%s/%s", place->goal, place->node);
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf data = BUF_INIT;

	json_set_string(json, "reason", review->reason);
	if (meta != NULL)
		json_set(json, "meta", json_object_get(meta));
	json_print(json, false, &data);
	emit(review->floor->core,
	    &(struct event){ .kind = EVENT_PLAN_REVIEW_NEEDED,
		.worker = review->agent->worker->name,
		.task = review->agent->worker->task,
		.goal = place->goal,
		.node = place->node,
		.receipt = receipt,
		.count = plan != NULL ? plan->goal->version : 0,
		.actor = actor,
		.class = review->code,
		.reason = review->reason,
		.data = data.data });
}

/* Mail to a person, who is notified by the event. As team_mail_post(). */
static int
send_review(
    const struct review *review, struct json_object *data, struct err *err)
{
	struct team_floor *floor = review->floor;
	const struct plan *plan = floor->plan->state == PLAN_OPEN ?
	    plan_set_plan(plan_floor_set(floor->plan), review->place.goal) :
	    NULL;
	cleanup_free char *actor = team_actor_of(review->agent);
	cleanup_json struct json_object *meta = meta_of(review, plan, actor);
	cleanup_free char *subject =
	    xasprintf("plan.review_needed:%s", review->place.goal);
	/* One for a node. */
	cleanup_free char *key =
	    xasprintf("review/%s/%s", review->place.goal, review->place.node);
	const struct mail_draft draft = {
		.key = key,
		.from = actor,
		.from_worker = review->agent->worker->name,
		.to = ACTOR_PERSON,
		.subject = subject,
		.data = data,
		.kind = MAIL_ALERT,
		.goal = review->place.goal,
		.meta = meta,
		.alerted = true,
	};
	int r = team_mail_post(floor, &draft, NULL, err);

	tell(review, plan, actor, meta);
	return r;
}

/* --- plan_review_needed ------------------------------------------------ */

static void
on_review(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct task *task = NULL;
	struct agent *agent = team_floor_speaker(floor, call, params, &task);
	const char *reason = json_string_or(params, "reason", "");
	const char *suggestion = json_string_or(params, "suggestion", NULL);
	cleanup_json struct json_object *data = NULL;
	cleanup_free char *words = suggestion == NULL ?
	    xstrdup(reason) :
	    xasprintf("%s; it suggests: %s", reason, suggestion);
	struct json_object *result;
	struct review review;
	struct err err = { 0 };

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	review = (struct review){ .floor = floor,
		.agent = agent,
		.place = place_of(task),
		.code = "replan",
		.reason = words };
	data = json_object_new_object();
	json_set_string(data, "reason", reason);
	if (suggestion != NULL)
		json_set_string(data, "suggestion", suggestion);
	json_set_string(data, "plan_node_id", review.place.node);
	json_set_string(data, "task", agent->worker->task);
	if (review.place.goal == NULL) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "your work is in no plan; ask a person with "
		    "request_orchestrator instead");
	} else if (send_review(&review, data, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
	} else {
		result = json_object_new_object();
		json_set_bool(result, "sent", true);
		json_set_string(result, "message",
		    "A person finds it in llmc asks. Do what can be done of your task as it "
		    "is, and say in your report what could not.");
		plan_call_answer(floor->plan, call, NULL, result);
	}
	place_release(&review.place);
}

/* --- guards ------------------------------------------------------------ */

static void
count_violation(struct team_floor *floor, struct agent *agent,
    const char *guard, const char *words)
{
	struct task *task = auto_task(agent);

	if (task == NULL)
		return;
	task->attempt.violations++;
	persist_changed(floor->core);
	if (task->attempt.violations == VIOLATIONS_MAX) {
		cleanup_json struct json_object *data =
		    json_object_new_object();
		struct review review = { .floor = floor,
			.agent = agent,
			.place = place_of(task),
			.code = PLAN_REVIEW_GUARD,
			.reason = words };
		struct err err = { 0 };

		json_set_string(data, "reason", PLAN_REVIEW_GUARD);
		json_set_string(data, "guard", guard);
		json_set_int(data, "violations", task->attempt.violations);
		json_set_string(data, "last", words);
		json_set_string(data, "plan_node_id", review.place.node);
		json_set_string(data, "task", task->id);
		if (review.place.goal != NULL &&
		    send_review(&review, data, &err) < 0)
			log_debug("%s: %s", task->id, err.msg);
		place_release(&review.place);
	}
}

static void
tell_denied(const struct team_floor *floor, const struct agent *agent,
    const char *guard, const char *words, int64_t count)
{
	emit(floor->core,
	    &(struct event){ .kind = EVENT_GUARD_DENIED,
		.worker = agent->worker->name,
		.task = agent->worker->task,
		.class = guard,
		.reason = words,
		.count = count });
}

/* The agent has changed files that are not its own: words name them. */
static void
team_review_violation(struct team_floor *floor, struct agent *agent,
    const char *guard, const char *words)
{
	tell_denied(floor, agent, guard, words, 1);
	count_violation(floor, agent, guard, words);
}

/* What the hooks of a worker have said lately. */
struct denials {
	LIST_ENTRY(denials) entry;
	char *worker;
	int64_t told_ms; /* 0 = never */
	int64_t count; /* since then */
};

LIST_HEAD(denials_list, denials);

struct team_review {
	struct denials_list list;
};

static void
denials_free(struct denials *denials)
{
	LIST_REMOVE(denials, entry);
	free(denials->worker);
	free(denials);
}

static struct denials *
denials_of(struct team_review *review, const char *worker, int64_t now_ms)
{
	struct denials *d, *next, *found = NULL;

	for (d = LIST_FIRST(&review->list); d != NULL; d = next) {
		next = LIST_NEXT(d, entry);
		if (strcmp(d->worker, worker) == 0)
			found = d;
		else if (now_ms > d->told_ms + FORGET_MS)
			denials_free(d);
	}
	if (found != NULL)
		return found;
	d = xcalloc(1, sizeof *d);
	d->worker = xstrdup(worker);
	LIST_INSERT_HEAD(&review->list, d, entry);
	return d;
}

/* A worker can say it as often as it likes, and must not fill the log. */
static void
tell_hook(struct team_floor *floor, const struct agent *agent,
    const char *guard, const char *words)
{
	int64_t now = clock_mono_ms();
	struct denials *d = denials_of(floor->review, agent->worker->name, now);

	d->count++;
	if (d->told_ms != 0 && now < d->told_ms + TELL_EVERY_MS)
		return;
	d->told_ms = now;
	tell_denied(floor, agent, guard, words, d->count);
	d->count = 0;
}

/* NULL = there is none. */
static const char *
kind_named(const char *word)
{
	for (int k = GUARD_PASS + 1; k < GUARD_KIND_COUNT; k++)
		if (strcmp(guard_kind_words[k], word) == 0)
			return guard_kind_words[k];
	return NULL;
}

void
team_review_denied(void *arg, struct agent *agent, struct json_object *denied)
{
	struct team_floor *floor = arg;
	const char *said = json_string_or(denied, "reason", "");
	cleanup_free char *reason =
	    xstrndup(said, text_cut(said, strlen(said), REASON_MAX));
	const char *guard = kind_named(json_string_or(denied, "guard", ""));

	if (guard == NULL)
		return;
	tell_hook(floor, agent, guard, reason);
	/* A tool that is missing is no question of the plan. */
	if (strcmp(guard, guard_kind_words[GUARD_SCOPE]) == 0 ||
	    strcmp(guard, guard_kind_words[GUARD_RESERVED]) == 0)
		count_violation(floor, agent, guard, reason);
}

struct team_review *
team_review_new(struct team_floor *floor)
{
	struct team_review *review = xcalloc(1, sizeof *review);

	LIST_INIT(&review->list);
	serve_handle(floor->core, "team.plan_review_needed", on_review, floor);
	return review;
}

void
team_review_free(struct team_review *review)
{
	struct denials *d;

	if (review == NULL)
		return;
	while ((d = LIST_FIRST(&review->list)) != NULL)
		denials_free(d);
	free(review);
}

/* --- an operation on finished work -------------------------------- */

#define RESULT_MAX ((size_t)4 * 1024 * 1024)
#define GRACE_MS   1000 /* nothing is lost if it is killed */

struct op_verify {
	struct worker_op op; /* first */
	struct team_floor *floor;
	char head[GIT_ID_SIZE]; /* "" = no commit */
	bool known; /* head is */
	/* The contract: */
	struct child *child; /* while it runs */
	struct json_object *result;
	/* The scope: */
	struct buf words; /* what is wrong; empty = nothing */
};

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_verify *v = arg;
	struct worker *w = v->op.agent->worker;

	if (!operation_arrived(&v->op.op, err))
		return;
	memcpy(v->head, facts->head, sizeof v->head);
	if (w->status == WORKER_NEEDS_REVIEW)
		xstrset(&w->commit, v->head);
	operation_next(&v->op.op);
}

/* The commit is unknown, or it is another one by now. */
static void
step_head(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;
	struct core *core = v->op.agent->core;

	if (v->known)
		operation_next(op);
	else
		git_facts_read(core->git, v->op.agent->worker->worktree,
		    core_branch(core), on_facts, operation_await(op));
}

static void
begin(struct team_floor *floor, struct agent *agent,
    const struct operation_kind *kind, const char *head, bool known)
{
	struct op_verify *v = xcalloc(1, sizeof *v);

	v->floor = floor;
	v->known = known;
	buf_init(&v->words);
	if (head != NULL)
		strlcpy(v->head, head, sizeof v->head);
	worker_op_begin(&v->op, kind, agent, NULL);
}

/* act: what follows from it. */
static void
end(struct op_verify *v, const struct err *err, void (*act)(struct op_verify *))
{
	if (v->child != NULL)
		child_abandon(v->child); /* the operation was dropped */
	worker_op_release(&v->op);
	if (err == NULL)
		act(v);
	else if (err->code != -ECANCELED)
		agent_tree_failed(v->op.agent, err);
	json_object_put(v->result);
	buf_release(&v->words);
	free(v);
}

/* --- the contract -------------------------------------------------------- */

/* The request of llmc verify (check-place.h). */
static void
write_request(const struct op_verify *v, const struct task *t, struct buf *out)
{
	const struct core *core = v->op.agent->core;
	cleanup_json struct json_object *request = json_object_new_object();
	cleanup_free char *id = task_attempt_id(t);
	cleanup_free char *name = xasprintf("artifacts/%s", id);
	cleanup_free char *keep = workspace_path(core->workspace, name);

	json_set_string(request, "root", core->workspace->root);
	json_set(request, "contract", json_object_get(t->launch.contract));
	json_set_string(request, "commit", v->head);
	json_set_string(
	    request, "base", t->attempt.base != NULL ? t->attempt.base : "");
	json_set_bool(request, "reported", verification_reported(t));
	json_set_string(request, "keep", keep);
	json_print(request, false, out);
}

/* -EIO: there is no result, for no fault of the work. */
static int
read_result(
    struct op_verify *v, const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT, how = BUF_INIT;

	if (result->timed_out) {
		v->result =
		    check_result_broken(check_reason_timeout, clock_wall_ms());
		return 0;
	}
	child_output_text(&result->out, &text);
	if (child_succeeded(result) &&
	    json_parse(text.data, text.len, RESULT_MAX, &v->result, err) == 0 &&
	    check_result_validate(v->result, err) == 0)
		return 0;
	json_object_put(take_ptr(&v->result));
	child_result_describe(result, &how);
	buf_clear(&text);
	child_output_text(&result->err, &text);
	return err_set(err, -EIO,
	    "the contract cannot be checked: llmc verify %s: %s", how.data,
	    text.data);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct op_verify *v = arg;
	struct operation *op = &v->op.op;
	struct err err = { 0 };
	int r = op->stopping ? 0 : read_result(v, result, &err);

	v->child = NULL;
	if (operation_arrived(op, r < 0 ? &err : NULL))
		operation_next(op);
}

static void
contract_check(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;
	struct agent *agent = v->op.agent;
	const struct task *t = auto_task(agent);
	cleanup_free char *llmc = sibling_find("llmc");
	const char *const words[] = { llmc != NULL ? llmc : "llmc", "verify",
		NULL };
	cleanup_strv char **argv = kept_argv(words, 0);
	cleanup_contract struct contract contract = { 0 };
	cleanup_buf struct buf request = BUF_INIT;
	struct child_spec spec = { .argv = strv_const(argv),
		.cwd = agent->core->workspace->root,
		.output_max = RESULT_MAX,
		.grace_ms = GRACE_MS };
	struct err err = { 0 };

	if (t == NULL ||
	    contract_read(t->launch.contract, "contract", &contract, &err) <
		0) {
		err_set(&err, -ECANCELED, "its task is gone");
		operation_fail(op, &err);
		return;
	}
	write_request(v, t, &request);
	spec.input = request.data;
	spec.input_len = request.len;
	spec.deadline_ms = contract.timeout_ms;
	if (child_spawn(
		agent->core->loop, &spec, on_exited, v, &v->child, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_check(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;

	if (v->child != NULL)
		child_cancel(v->child);
}

/* --- the end of the checks --------------------------------------------- */

/* All that this changes is saved at once: a daemon that dies before has the
 * checks run again, and one that dies after it does not retry again. */
static void
contract_act(struct op_verify *v)
{
	struct agent *agent = v->op.agent;
	struct task *t = auto_task(agent);
	enum verification_next next;
	cleanup_buf struct buf reason = BUF_INIT;

	/* The task was taken away, or the next daemon will check it. */
	if (t == NULL || t->step != TASK_ASSIGNED ||
	    v->floor->mode->core->stopping)
		return;
	next = verification_end(t, v->result, v->head);
	persist_changed(v->floor->mode->core);
	check_result_reasons(v->result, &reason);
	emit(v->floor->mode->core,
	    &(struct event){ .kind = EVENT_VERIFIED,
		.worker = v->op.agent->worker->name,
		.task = t->id,
		.result = json_string_or(v->result, "status", ""),
		.commit = v->head[0] != '\0' ? v->head : NULL,
		.reason = reason.len > 0 ? reason.data : NULL });
	if (next == VERIFICATION_GO_ON)
		auto_verified(v->floor->mode, agent, v->head);
	else
		outcome_contract_failed(
		    v->floor->mode, agent, next == VERIFICATION_RETRY);
}

static void
contract_end(struct operation *op, const struct err *err)
{
	end((struct op_verify *)op, err, contract_act);
}

static const struct operation_step contract_steps[] = {
	{ .name = "head", .run = step_head },
	{ .name = "write", .run = worker_op_write },
	{ .name = "check", .run = contract_check, .cancel = cancel_check },
};

static const struct operation_kind contract_kind = {
	.name = "verification",
	.steps = contract_steps,
	.count = nitems(contract_steps),
	.yields = true,
	.end = contract_end,
};

/* True: it is being checked. */
static bool
verify_contract(struct team_floor *floor, struct agent *agent, const char *head)
{
	struct task *t = auto_task(agent);

	if (t == NULL || t->step != TASK_ASSIGNED ||
	    !verification_is_due(t, head))
		return false;
	if (agent->op != NULL)
		return true; /* asked again when it is free */
	verification_begin(t);
	begin(floor, agent, &contract_kind, head, head != NULL);
	return true;
}

/* --- the scope ---------------------------------------------------- */

/* Its task, if it still has one with a scope. */
static struct task *
scoped_task(const struct agent *agent)
{
	struct task *t = auto_task(agent);

	return t != NULL && t->step == TASK_ASSIGNED &&
		t->launch.scope_paths != NULL ?
	    t :
	    NULL;
}

static void
on_files(
    const char *const *files, size_t count, const struct err *err, void *arg)
{
	struct op_verify *s = arg;
	const struct task *t = scoped_task(s->op.agent);

	if (!operation_arrived(&s->op.op, err))
		return;
	if (t != NULL)
		guard_commits(t->launch.scope_paths, files, count, &s->words);
	operation_next(&s->op.op);
}

static void
scope_files(struct operation *op)
{
	struct op_verify *s = (struct op_verify *)op;
	struct core *core = s->op.agent->core;

	git_since_own(core->git, s->op.agent->worker->worktree, s->head,
	    core_branch(core), on_files, operation_await(op));
}

/* --- the end of the scope ---------------------------------------------- */

static void
send_back(struct op_verify *s, const struct task *t)
{
	struct auto_mode *mode = s->floor->mode;
	struct agent *agent = s->op.agent;
	const char *words = s->words.data;
	bool in_turn = worker_in_turn(agent->worker->status);

	team_review_violation(
	    s->floor, agent, guard_kind_words[GUARD_SCOPE], words);
	if (task_attempt_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
		return;
	}
	if (in_turn &&
	    (auto_held(mode, agent, words) || hold_turn_ended(agent, words)))
		return;
	emit(mode->core,
	    &(struct event){ .kind = EVENT_SENT_BACK,
		.worker = agent->worker->name,
		.task = t->id,
		.reason = words });
	if (!in_turn)
		agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, words, false, agent->worker->status);
}

static void
scope_act(struct op_verify *s)
{
	struct agent *agent = s->op.agent;
	struct task *t = scoped_task(agent);

	/* The task was taken away, or the next daemon will look at it. */
	if (t == NULL || s->floor->core->stopping)
		return;
	if (s->words.len > 0) {
		/* In another status it has a turn to come, which is judged. */
		if (worker_in_turn(agent->worker->status) ||
		    agent->worker->status == WORKER_NEEDS_REVIEW)
			send_back(s, t);
		return;
	}
	xstrset(&t->attempt.scope_checked, s->head);
	persist_changed(s->floor->core);
	if (!verify_contract(s->floor, agent, s->head))
		auto_verified(s->floor->mode, agent, s->head);
}

static void
scope_end(struct operation *op, const struct err *err)
{
	end((struct op_verify *)op, err, scope_act);
}

static const struct operation_step scope_steps[] = {
	{ .name = "head", .run = step_head },
	{ .name = "files", .run = scope_files },
};

static const struct operation_kind scope_kind = {
	.name = "scope",
	.steps = scope_steps,
	.count = nitems(scope_steps),
	.yields = true,
	.end = scope_end,
};

/* Work without a commit changes nothing. */
static bool
scope_is_due(const struct agent *agent, const struct task *t, const char *head)
{
	if (head == NULL)
		return agent->worker->status != WORKER_NO_CHANGES;
	return !text_is(t->attempt.scope_checked, head);
}

/* A task without scope_paths costs nothing. */
static bool
verify_scope(struct team_floor *floor, struct agent *agent, const char *head)
{
	const struct task *t = scoped_task(agent);

	if (t == NULL || !scope_is_due(agent, t, head))
		return false;
	if (agent->op != NULL)
		return true; /* asked again when it is free */
	begin(floor, agent, &scope_kind, head, head != NULL && *head != '\0');
	return true;
}

bool
team_verify(void *floor, struct agent *agent, const char *head)
{
	return verify_scope(floor, agent, head) ||
	    verify_contract(floor, agent, head);
}
