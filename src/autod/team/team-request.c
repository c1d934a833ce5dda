/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "api.h"
#include "ask.h"
#include "asks.h"
#include "attempt.h"
#include "auto.h"
#include "book.h"
#include "emit.h"
#include "loop.h"
#include "mail.h"
#include "outcome.h"
#include "park.h"
#include "persist.h"
#include "plan-floor.h"
#include "serve.h"
#include "server.h"
#include "settings-table.h"
#include "task.h"
#include "team-private.h"
#include "worker.h"

#define FREE_AGAIN_MS 5000
#define ASKS_MAX      500 /* bytes of a question that the state has */

/* A call of request_orchestrator: it is answered when its question has ended.
 * A caller that hangs up waits no more; its question stays, since the same call
 * may be made again. */
struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct team_requests *requests;
	struct server_call *call;
	char *id; /* of the question */
};

TAILQ_HEAD(waiter_list, waiter);

struct team_requests {
	struct team_floor *floor;
	struct request_registry registry; /* as the book has them */
	struct waiter_list waiters;
	struct loop_timer *timer; /* for the next deadline */
};

/* --- who waits ---------------------------------------------------------- */

/* The first question of the worker that has no answer; NULL = none. */
static const struct request *
question_of(const struct team_requests *requests, const struct worker *w)
{
	for (size_t i = 0; i < requests->registry.count; i++) {
		const struct request *r = requests->registry.list[i];

		if (request_is_open(r) && text_is(r->worker, w->name))
			return r;
	}
	return NULL;
}

/* Everybody who looks at the state sees who waits with what. */
static void
show(struct team_requests *requests)
{
	struct core *core = requests->floor->core;

	for (size_t i = 0; i < core->state.count; i++) {
		struct worker *w = core->state.workers[i];
		const struct request *r = question_of(requests, w);
		cleanup_buf struct buf line = BUF_INIT;

		if (text_same(w->asks_id, r != NULL ? r->id : NULL))
			continue;
		if (r != NULL)
			text_add_line(&line, r->message,
			    text_cut(r->message, strlen(r->message), ASKS_MAX));
		xstrset(&w->asks_id, r != NULL ? r->id : NULL);
		xstrset(&w->asks, r != NULL ? line.data : NULL);
		w->asks_ms = r != NULL ? r->created_ms : 0;
		w->asks_person =
		    r != NULL && strcmp(r->parent, ACTOR_PERSON) == 0;
		persist_changed(core);
	}
}

/* --- calls that wait --------------------------------------------------- */

static void
waiter_free(struct waiter *waiter)
{
	TAILQ_REMOVE(&waiter->requests->waiters, waiter, entry);
	free(waiter->id);
	free(waiter);
}

static void
on_gone(void *arg)
{
	struct waiter *waiter = arg;

	serve_refuse(waiter->call, API_BUSY, "nobody waits for the answer");
	waiter_free(waiter);
}

static void
on_gone_late(void *arg)
{
	(void)arg; /* the answer is on its way */
}

static void
await(
    struct team_requests *requests, struct server_call *call, struct request *r)
{
	struct waiter *waiter = xcalloc(1, sizeof *waiter);

	r->awaited = true;
	waiter->requests = requests;
	waiter->call = call;
	waiter->id = xstrdup(r->id);
	TAILQ_INSERT_TAIL(&requests->waiters, waiter, entry);
	server_on_gone(call, on_gone, waiter);
}

static bool
is_awaited(const struct team_requests *requests, const char *id)
{
	const struct waiter *waiter;

	TAILQ_FOREACH (waiter, &requests->waiters, entry)
		if (strcmp(waiter->id, id) == 0)
			return true;
	return false;
}

/* --- the records ------------------------------------------------------- */

static void set_timer(struct team_requests *requests);

static int
put(struct team_requests *requests, const struct request *r, struct err *err)
{
	cleanup_json struct json_object *json = request_to_json(r);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	return book_put_body(requests->floor->core->book, BOOK_REQUEST,
	    TEAM_NO_GOAL, r->id, text.data, err);
}

/* It has ended: tell those who wait, and forget it. */
static void
finish(struct team_requests *requests, struct request *r)
{
	cleanup_free char *id = xstrdup(r->id);
	cleanup_free char *key = xasprintf(ASK_OF_AGENT "%s", id);
	struct err err = { 0 };
	struct waiter *waiter, *next;

	if (put(requests, r, &err) < 0)
		log_debug("%s: %s", r->id, err.msg);
	team_question_settle(requests->floor, r);
	asks_resolve(requests->floor->core, key);
	/* Answer those who wait for the question. */
	for (waiter = TAILQ_FIRST(&requests->waiters); waiter != NULL;
	     waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->id, r->id) != 0)
			continue;
		server_on_gone(waiter->call, on_gone_late, NULL);
		serve_reply(
		    requests->floor->core, waiter->call, request_to_answer(r));
		waiter_free(waiter);
	}
	show(requests);
	emit(requests->floor->core,
	    &(struct event){ .kind = EVENT_REQUEST_ENDED,
		.worker = r->worker,
		.task = r->task,
		.ref = r->id,
		.result = request_state_words[r->state] });
	request_registry_remove(&requests->registry, id);
}

static void
end(struct team_requests *requests, struct request *r, enum request_state state)
{
	request_end(r, state, clock_wall_ms());
	finish(requests, r);
}

/* Is it asked of a person, about this task? */
static bool
is_for_person(const struct request *r, const char *task)
{
	return text_same(r->task, task) && strcmp(r->parent, ACTOR_PERSON) == 0;
}

/* When the worker of a question to a person gets another task; 0 = never. */
static int64_t
free_ms(const struct request *r)
{
	return r->task != NULL && r->worker != NULL &&
		strcmp(r->parent, ACTOR_PERSON) == 0 ?
	    r->created_ms + tuning.answer_wait :
	    0;
}

/* The person takes their time: the task waits for the answer without its
 * worker, which gets another one. The answer is in the next prompt of the task,
 * and is one for all that it asks: the calls end with the session. False: not
 * now, or a person drives the worker. */
static bool
free_worker(struct team_requests *requests, const struct request *r)
{
	const struct request_registry *open = &requests->registry;
	struct team_floor *floor = requests->floor;
	struct agent *agent = fleet_find(floor->fleet, r->worker);
	const struct task *t = agent != NULL ? auto_task(agent) : NULL;
	cleanup_free char *to = NULL;

	if (t == NULL || strcmp(t->id, r->task) != 0 ||
	    t->step != TASK_ASSIGNED || !auto_drives(floor->mode, agent) ||
	    !worker_in_turn(agent->worker->status) || agent_is_taken(agent))
		return false;
	to = xasprintf("task/%s", t->id);
	for (size_t i = 0; i < open->count; i++) {
		cleanup_free char *from =
		    xasprintf(ASK_OF_AGENT "%s", open->list[i]->id);

		if (is_for_person(open->list[i], t->id))
			asks_move(floor->core, from, to);
	}
	/* What it asks is for the person alone: agents can read events. */
	op_park_task(floor->mode, agent, ASK_QUESTION,
	    "it waits for an answer to its question: llmc asks");
	for (size_t i = 0; i < open->count;)
		if (is_for_person(open->list[i], t->id))
			end(requests, open->list[i], REQUEST_CANCELLED);
		else
			i++;
	return true;
}

static void
on_deadline(void *arg)
{
	struct team_requests *requests = arg;
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < requests->registry.count;) {
		struct request *r = requests->registry.list[i];

		if (free_ms(r) != 0 && free_ms(r) <= now &&
		    free_worker(requests, r))
			continue;
		if (r->deadline_ms <= now)
			end(requests, r, REQUEST_TIMEOUT);
		else
			i++;
	}
	set_timer(requests);
}

static void
set_timer(struct team_requests *requests)
{
	int64_t next = request_registry_next(&requests->registry);
	int64_t now = clock_wall_ms(), ms;

	for (size_t i = 0; i < requests->registry.count; i++) {
		int64_t at = free_ms(requests->registry.list[i]);

		if (at != 0 && at <= now) /* its worker is busy just now */
			at = now + FREE_AGAIN_MS;
		if (at != 0 && at < next)
			next = at;
	}
	ms = next - now;

	if (next == 0)
		loop_timer_free(take_ptr(&requests->timer));
	else
		loop_timer_set(&requests->timer, requests->floor->core->loop,
		    ms > 0 ? ms : 1, on_deadline, requests);
}

static bool
on_found(const struct book_record *record, void *arg)
{
	cleanup_json struct json_object *json = NULL;

	if (json_parse(record->body, strlen(record->body), BOOK_BODY_MAX, &json,
		NULL) == 0)
		request_from_json(json, "", arg, NULL);
	return false;
}

/* One that has ended; the caller frees it. NULL = there is none. */
static struct request *
read_ended(const struct team_requests *requests, const char *id)
{
	struct request *r = NULL;
	struct err err = { 0 };

	if (book_read_bodies(requests->floor->core->book, BOOK_REQUEST, NULL,
		id, on_found, &r, &err) < 0)
		log_debug("%s: %s", id, err.msg);
	return r;
}

/* --- ends of runs ------------------------------------------------------ */

static bool
is_over(const struct team_requests *requests, const char *task, const char *run)
{
	const struct task *t = state_task(&requests->floor->core->state, task);
	cleanup_free char *now = t != NULL ? task_attempt_id(t) : NULL;

	return t == NULL || t->step == TASK_SETTLING ||
	    (run != NULL && strcmp(run, now) != 0);
}

static bool
is_child_gone(const struct team_requests *requests, const struct request *r)
{
	return r->task != NULL ? is_over(requests, r->task, r->run) :
				 r->worker != NULL &&
		fleet_find(requests->floor->fleet, r->worker) == NULL;
}

/* Its session ends before a person has answered. If the task waits for a
 * person, the question is a part of that ask; the next session gets the
 * answer. */
static void
keep_question(struct core *core, const struct request *r)
{
	const struct task *t =
	    r->task != NULL ? state_task(&core->state, r->task) : NULL;
	cleanup_free char *from = NULL, *to = NULL;

	if (t == NULL || !task_asks(t) || !is_for_person(r, r->task))
		return;
	from = xasprintf(ASK_OF_AGENT "%s", r->id);
	to = xasprintf("task/%s", t->id);
	asks_look(core); /* its ask is there */
	asks_move(core, from, to);
}

/* event: NULL = look at what there is. */
static void
sweep(struct team_requests *requests, const struct event *event)
{
	const char *gone = event != NULL &&
		(event->kind == EVENT_AGENT_EXITED ||
		    event->kind == EVENT_SESSION_GONE) ?
	    event->worker :
	    NULL;

	for (size_t i = 0; i < requests->registry.count;) {
		struct request *r = requests->registry.list[i];

		if (is_child_gone(requests, r) ||
		    team_floor_ends(event, r->task, r->worker) ||
		    text_is(gone, r->worker)) {
			keep_question(requests->floor->core, r);
			end(requests, r, REQUEST_CANCELLED);
		} else if (r->parent_task != NULL &&
		    (is_over(requests, r->parent_task, NULL) ||
			(event != NULL && event->kind == EVENT_TASK_FINISHED &&
			    team_floor_ends(event, r->parent_task, NULL))))
			end(requests, r, REQUEST_ORPHANED);
		else
			i++;
	}
	set_timer(requests);
}

void
team_requests_look(struct team_requests *requests)
{
	struct team_floor *floor = requests->floor;

	if (!floor->open)
		return;
	for (size_t i = 0; i < requests->registry.count;) {
		struct request *r = requests->registry.list[i];
		const struct team_box *box = team_post_box(floor, r->child);
		const struct mail *answer = NULL;
		const char *words = NULL;
		cleanup_free char *id = NULL;

		for (size_t k = 0; box != NULL && k < box->count; k++)
			if (team_question_is_answer(box->mails[k], r))
				answer = box->mails[k];
		if (answer != NULL)
			words = ask_choice(
			    strv_const(r->options), answer->body, NULL);
		if (answer != NULL &&
		    request_resolve(r, words != NULL ? words : answer->body,
			r->parent, NULL, clock_wall_ms(), NULL) == 0) {
			id = xstrdup(answer->id);
			/* Without a call that waits it stays mail. */
			if (is_awaited(requests, r->id))
				team_mail_settle(floor, id);
			finish(requests, r);
		} else if (r->parent_task == NULL &&
		    strcmp(r->parent, ACTOR_PERSON) != 0 &&
		    team_question_is_lost(floor, r)) {
			end(requests, r, REQUEST_ORPHANED);
		} else {
			i++;
		}
	}
	set_timer(requests);
}

void
team_requests_sweep(struct team_requests *requests)
{
	sweep(requests, NULL);
	show(requests);
}

void
team_requests_event(struct team_requests *requests, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
	case EVENT_TASK_PARKED:
	case EVENT_WORKER_LOST:
	case EVENT_WORKER_GONE:
	case EVENT_AGENT_EXITED:
	case EVENT_SESSION_GONE:
		sweep(requests, event);
		break;
	default:
		break;
	}
}

/* --- request_orchestrator ---------------------------------------------- */

/* The call was made before, and its question has ended. An answer that was sent
 * as mail needs no second way. */
static void
answer_again(struct team_requests *requests, struct server_call *call,
    const struct request *r)
{
	struct team_floor *floor = requests->floor;

	if (!request_is_kept(r, clock_wall_ms())) {
		serve_refuse(call, API_FAILED,
		    "this question was asked long ago; ask it again");
		return;
	}
	team_question_answer_read(floor, r);
	plan_call_answer(floor->plan, call, NULL, request_to_answer(r));
}

struct recent {
	const char *child;
	int count;
};

static bool
on_recent(struct book_row *row, void *arg)
{
	struct recent *recent = arg;
	const char *body = book_text(row, 0);
	cleanup_json struct json_object *json = NULL;

	if (json_parse(body, strlen(body), BOOK_BODY_MAX, &json, NULL) == 0)
		recent->count += strcmp(json_string_or(json, "child", ""),
				     recent->child) == 0;
	return true;
}

static int
admit(struct team_requests *requests, const struct request *r, struct err *err)
{
	struct recent recent = { .child = r->child };
	int code = book_query(requests->floor->core->book,
	    "SELECT r.body FROM requests AS r WHERE r.ts_ms > $1",
	    BOOK_VALUES(BOOK_I(r->created_ms - REQUEST_RATE_MS)), on_recent,
	    &recent, err);

	return code < 0 ? code :
			  request_registry_admits(&requests->registry, r->child,
			      r->parent, recent.count, err);
}

/* Its session is another one by now: no call waits for what an earlier one has
 * asked. If that was the same, it is the same question. NULL = it was not. */
static struct request *
take_over(struct team_requests *requests, const struct request *r)
{
	struct request *alike = request_registry_alike(&requests->registry, r);

	if (alike != NULL && is_awaited(requests, alike->id))
		alike = NULL;
	if (alike != NULL && alike->session != r->session) {
		alike->session = r->session;
		put(requests, alike, NULL);
	}
	for (size_t i = 0; i < requests->registry.count;) {
		struct request *old = requests->registry.list[i];

		if (old->session != 0 && old->session != r->session &&
		    text_is(old->worker, r->worker))
			end(requests, old, REQUEST_CANCELLED);
		else
			i++;
	}
	return alike;
}

/* Takes r. */
static void
ask(struct team_requests *requests, struct server_call *call, struct request *r)
{
	struct request *alike = take_over(requests, r);
	struct err err = { 0 };
	int code = 0;

	if (alike != NULL)
		await(requests, call, alike);
	else if (admit(requests, r, &err) < 0)
		code = API_E_RATE;
	else if (team_question_tell(requests->floor, r, &err) < 0 ||
	    put(requests, r, &err) < 0)
		code = API_FAILED;
	if (code != 0) {
		cleanup_free char *key = xasprintf(ASK_OF_AGENT "%s", r->id);

		asks_resolve(requests->floor->core, key);
		serve_refuse(call, code, "%s", err.msg);
	}
	if (alike != NULL || code != 0) {
		request_free(r);
		return;
	}
	request_registry_add(&requests->registry, r);
	show(requests);
	await(requests, call, r);
	emit(requests->floor->core,
	    &(struct event){ .kind = EVENT_REQUEST,
		.worker = r->worker,
		.task = r->task,
		.ref = r->id,
		.to = strcmp(r->parent, ACTOR_PERSON) == 0 ? "a person" :
							     r->parent });
	set_timer(requests);
}

static void
on_request(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_requests *requests = arg;
	struct team_floor *floor = requests->floor;
	struct task *task = NULL;
	struct agent *agent = team_floor_speaker(floor, call, params, &task);
	cleanup_free char *id = NULL;
	struct request *old, *ended = NULL;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	id = team_question_id(agent, params);
	old = request_registry_find(&requests->registry, id);
	if (old != NULL)
		await(requests, call, old);
	else if ((ended = read_ended(requests, id)) != NULL)
		answer_again(requests, call, ended);
	else
		ask(requests, call,
		    team_question_make(floor, agent, task, id, params));
	request_free(ended);
}

/* --- answers ----------------------------------------------------------- */

/* It has ended: was that this very call? */
static void
respond_again(struct team_requests *requests, struct server_call *call,
    struct request *r, struct json_object *params)
{
	const char *id = json_string_or(params, "call", NULL);
	struct err err = { 0 };

	if (!request_is_kept(r, clock_wall_ms())) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no such question any more");
	} else if (text_is(id, r->respond_call)) {
		plan_call_answer(
		    requests->floor->plan, call, NULL, request_to_answer(r));
	} else {
		request_resolve(r, "", NULL, NULL, clock_wall_ms(), &err);
		serve_refuse(call, API_E_CONFLICT, "%s", err.msg);
	}
}

/* The question of an agent of another host, as mail to this actor; NULL = there
 * is none. The caller frees it. */
struct asked {
	const char *subject;
	struct mail *mail;
};

static bool
on_asked(struct book_row *row, void *arg)
{
	struct asked *asked = arg;
	const char *body = book_text(row, 0);
	cleanup_json struct json_object *json = NULL;
	struct mail *mail = NULL;

	if (json_parse(body, strlen(body), BOOK_BODY_MAX, &json, NULL) < 0 ||
	    mail_from_json(json, "", &mail, NULL) < 0)
		return true;
	if (mail->from_host != NULL &&
	    strcmp(mail->subject, asked->subject) == 0)
		asked->mail = mail;
	else
		mail_free(mail);
	return asked->mail == NULL;
}

static struct mail *
asked_elsewhere(
    const struct team_requests *requests, const char *actor, const char *id)
{
	cleanup_free char *subject = xasprintf("request:%s", id);
	struct asked asked = { .subject = subject };

	book_query(requests->floor->core->book,
	    "SELECT r.body FROM mail AS r WHERE r.actor_id = $1"
	    " ORDER BY r.ts_ms DESC LIMIT 1000",
	    BOOK_VALUES(BOOK_T(actor)), on_asked, &asked, NULL);
	return asked.mail;
}

static void
respond_elsewhere(struct team_requests *requests, struct server_call *call,
    const struct mail *asked, const char *actor, const char *id,
    struct json_object *params)
{
	struct team_floor *floor = requests->floor;
	const char *response = json_string_or(params, "response", "");
	struct json_object *result;
	struct err err = { 0 };

	if (team_question_forward(floor, asked, actor, response, &err) < 0) {
		serve_refuse(call, API_E_CONFLICT, "%s", err.msg);
		return;
	}
	team_mail_settle(floor, asked->id);
	result = json_object_new_object();
	json_set_string(result, "requestId", id);
	json_set_string(
	    result, "status", request_state_words[REQUEST_RESOLVED]);
	json_set_string(result, "response", response);
	json_set_string(result, "responder", actor);
	json_set_string(result, "message",
	    "The agent is on another host, which gets the answer.");
	plan_call_answer(floor->plan, call, NULL, result);
}

/* actor: who answers; a person may answer everything. */
static void
respond(struct team_requests *requests, struct server_call *call,
    const char *actor, const char *id, struct json_object *params)
{
	struct request *r = request_registry_find(&requests->registry, id);
	struct request *ended = r == NULL ? read_ended(requests, id) : NULL;
	struct mail *asked = r == NULL && ended == NULL ?
	    asked_elsewhere(requests, actor, id) :
	    NULL;

	if (asked != NULL) {
		respond_elsewhere(requests, call, asked, actor, id, params);
		mail_free(asked);
	} else if (ended != NULL) {
		respond_again(requests, call, ended, params);
	} else if (r == NULL) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no question %.100s; its id is in the mail with "
		    "the question",
		    id);
	} else if (strcmp(actor, ACTOR_PERSON) != 0 &&
	    strcmp(actor, r->parent) != 0) {
		serve_refuse(call, API_E_UNAUTHORIZED,
		    "%s was not asked of you but of %s", id, r->parent);
	} else {
		struct team_floor *floor = requests->floor;
		struct json_object *result;
		struct err err = { 0 };
		const char *words = ask_choice(strv_const(r->options),
		    json_string_or(params, "response", ""), &err);
		int code;

		if (words == NULL) {
			serve_refuse(call, API_FAILED, "%s", err.msg);
			return;
		}
		code = request_resolve(r, words, actor,
		    json_string_or(params, "call", NULL), clock_wall_ms(),
		    &err);

		/* Answer the calls that wait for it; without one, send mail. */
		if (code < 0) {
			serve_refuse(call, API_E_CONFLICT, "%s", err.msg);
		} else {
			result = request_to_answer(r);
			if (!is_awaited(requests, r->id) &&
			    team_question_answer_mail(floor, r) == 0)
				json_set_string(result, "message",
				    "The agent does not wait for it now, and gets "
				    "the answer as mail.");
			plan_call_answer(floor->plan, call, NULL, result);
		}
		finish(requests, r);
		set_timer(requests);
	}
	request_free(ended);
}

static void
on_respond(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_requests *requests = arg;
	struct team_floor *floor = requests->floor;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, NULL);
	cleanup_free char *actor = NULL;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	actor = team_actor_of(agent);
	respond(requests, call, actor, json_string_or(params, "requestId", ""),
	    params);
}

static void
on_person_answers(
    void *arg, struct server_call *call, struct json_object *params)
{
	struct team_requests *requests = arg;

	if (plan_call_begin_change(requests->floor->plan, call))
		respond(requests, call, ACTOR_PERSON,
		    json_string_or(params, "id", ""), params);
}

/* --- questions about them ---------------------------------------------- */

size_t
team_requests_count(const struct team_requests *requests)
{
	return requests->registry.count;
}

char *
team_requests_child(const struct team_requests *requests,
    const struct agent *agent, const char *id)
{
	const struct request *r =
	    request_registry_find(&requests->registry, id);
	cleanup_free char *actor = team_actor_of(agent);

	return r != NULL && strcmp(r->parent, actor) == 0 ? xstrdup(r->child) :
							    NULL;
}

size_t
team_requests_pending(struct team_requests *requests, const char *actor)
{
	return request_registry_pending(&requests->registry, actor);
}

bool
team_requests_asks(struct team_requests *requests, const struct agent *agent)
{
	cleanup_free char *actor = team_actor_of(agent);

	for (size_t i = 0; i < requests->registry.count; i++) {
		const struct request *r = requests->registry.list[i];

		/* A call to an earlier daemon is made again. */
		if (strcmp(r->child, actor) == 0 &&
		    (!r->awaited || is_awaited(requests, r->id)))
			return true;
	}
	return false;
}

char *
team_requests_reason(
    struct team_requests *requests, const char *actor, bool words)
{
	const struct request *r =
	    request_registry_first(&requests->registry, actor);

	return r != NULL ? team_question_reason(r, words) : NULL;
}

/* --- the object -------------------------------------------------------- */

static bool
on_open(struct book_row *row, void *arg)
{
	struct team_requests *requests = arg;
	const char *body = book_text(row, 0);
	cleanup_json struct json_object *json = NULL;
	struct request *r = NULL;

	if (json_parse(body, strlen(body), BOOK_BODY_MAX, &json, NULL) == 0 &&
	    request_from_json(json, "", &r, NULL) == 0)
		request_registry_add(&requests->registry, r);
	return true;
}

/* What is asked of a person is open as long as its request is. */
void
team_requests_opened(struct team_requests *requests)
{
	struct core *core = requests->floor->core;
	struct err err = { 0 };

	if (book_query(core->book,
		"SELECT r.body FROM requests AS r WHERE r.status = 'open'"
		" ORDER BY r.ts_ms, r.id",
		NULL, 0, on_open, requests, &err) < 0) {
		log_debug("questions cannot be read: %s", err.msg);
		return;
	}
	for (size_t i = core->state.ask_count; i-- > 0;) {
		const char *key = core->state.asks[i]->key;

		if (text_begins(key, ASK_OF_AGENT) &&
		    request_registry_find(&requests->registry,
			key + strlen(ASK_OF_AGENT)) == NULL)
			asks_resolve(core, key);
	}
	for (size_t i = 0; i < requests->registry.count; i++)
		team_question_ask(requests->floor, requests->registry.list[i]);
}

void
team_requests_closed(struct team_requests *requests)
{
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&requests->waiters)) != NULL) {
		serve_refuse(waiter->call, API_BUSY,
		    "the daemon is stopping; the question stays");
		waiter_free(waiter);
	}
	/* They stay with their workers: the next floor reads them. */
	request_registry_release(&requests->registry);
	set_timer(requests);
}

struct team_requests *
team_requests_new(struct team_floor *floor)
{
	struct team_requests *requests = xcalloc(1, sizeof *requests);
	struct core *core = floor->core;

	requests->floor = floor;
	TAILQ_INIT(&requests->waiters);
	serve_handle(core, "team.request_orchestrator", on_request, requests);
	serve_handle(
	    core, "team.respond_orchestrator_request", on_respond, requests);
	serve_handle(core, "request.answer", on_person_answers, requests);
	return requests;
}

void
team_requests_free(struct team_requests *requests)
{
	if (requests == NULL)
		return;
	/* The book is closed: no call waits any more. */
	request_registry_release(&requests->registry);
	set_timer(requests);
	free(requests);
}
