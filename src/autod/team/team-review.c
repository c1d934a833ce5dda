/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "emit.h"
#include "guard.h"
#include "intake.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-goal.h"
#include "plan.h"
#include "serve.h"
#include "task.h"
#include "team-private.h"
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
	const char *key; /* mail with the same one is sent once */
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
	cleanup_free char *actor = team_mail_actor(review->agent);
	cleanup_json struct json_object *meta = meta_of(review, plan, actor);
	cleanup_free char *subject =
	    xasprintf("plan.review_needed:%s", review->place.goal);
	const struct mail_draft draft = {
		.key = review->key,
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
	cleanup_free char *key = NULL;
	struct json_object *result;
	struct review review;
	struct err err = { 0 };

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	key = xasprintf("review/%s", json_string_or(params, "call", reason));
	review = (struct review){ .floor = floor,
		.agent = agent,
		.place = place_of(task),
		.key = key,
		.code = "replan",
		.reason = reason };
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
		    "A person was told. Do what can be done of your task as it "
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
		cleanup_free char *run = task_attempt_id(task);
		cleanup_free char *key = xasprintf("guard/%s", run);
		cleanup_json struct json_object *data =
		    json_object_new_object();
		struct review review = { .floor = floor,
			.agent = agent,
			.place = place_of(task),
			.key = key,
			.code = "guard_violation",
			.reason = words };
		struct err err = { 0 };

		/* As often as it must be, once for a run. */
		json_set_string(data, "reason", "guard_violation");
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

void
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
