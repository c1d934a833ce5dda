/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "plan-call.h"
#include "plan-query.h"
#include "request.h"
#include "serve.h"
#include "server.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-book.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-post.h"
#include "team-question.h"
#include "team-request.h"
#include "team-waiters.h"
#include "text.h"
#include "worker.h"

/* A change of a question that is being stored. */
struct storing {
	LIST_ENTRY(storing) entry;
	struct team_requests *requests;
	char *id;
	bool ends; /* by this change */
};

LIST_HEAD(storing_list, storing);

#define ASKS_MAX 500 /* bytes of a question that the state has */

struct team_requests {
	struct team_floor *floor;
	struct request_registry registry;
	struct team_waiters *waiters;
	struct storing_list storing;
	struct loop_timer *timer; /* for the next deadline */
	bool read; /* those of the last minute */
};

static struct team_book *
book_of(const struct team_requests *requests)
{
	return requests->floor->book;
}

/* --- who waits ---------------------------------------------------------- */

/* The first question of the worker that has no answer; NULL = none. */
static const struct request *
question_of(const struct team_requests *requests, const struct worker *w)
{
	for (size_t i = 0; i < requests->registry.count; i++) {
		const struct request *r = requests->registry.list[i];

		if (request_is_open(r) && r->worker != NULL &&
		    strcmp(r->worker, w->name) == 0)
			return r;
	}
	return NULL;
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
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

		if (is_same(w->asks_id, r != NULL ? r->id : NULL))
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

/* --- the records ------------------------------------------------------- */

static void set_timer(struct team_requests *requests);

static void
await(
    struct team_requests *requests, struct server_call *call, struct request *r)
{
	r->awaited = true;
	team_waiters_add(requests->waiters, call, r);
}

/* Each agent has its own place in the queue of the store: what is refused of
 * one takes nothing of another with it. */
static const char *
place_of(const struct request *r)
{
	return r->task != NULL ? r->task : r->child;
}

static void
storing_free(struct storing *storing)
{
	LIST_REMOVE(storing, entry);
	free(storing->id);
	free(storing);
}

/* The store refused a change of it: it is as the book has it again. */
static void
take_back(struct team_requests *requests, const char *id)
{
	const struct team_record *record =
	    team_book_get(book_of(requests), STORE_REQUEST, id);
	struct request *r = NULL;

	request_registry_remove(&requests->registry, id);
	if (record != NULL &&
	    request_from_json(record->body, "", &r, NULL) == 0)
		request_registry_add(&requests->registry, r);
	show(requests);
	set_timer(requests);
}

/* What has ended is stored: tell those who wait, and forget the texts. */
static void
on_stored(const struct err *err, void *arg)
{
	struct storing *storing = arg;
	struct team_requests *requests = storing->requests;

	if (err != NULL)
		take_back(requests, storing->id);
	if (err != NULL || storing->ends)
		team_waiters_answer(requests->waiters, storing->id,
		    request_registry_find(&requests->registry, storing->id),
		    err);
	storing_free(storing);
	if (!LIST_EMPTY(&requests->storing))
		return;
	request_registry_cut(&requests->registry);
	request_registry_sweep(&requests->registry, clock_wall_ms());
}

static void
put(struct team_requests *requests, const struct request *r)
{
	struct storing *storing = xcalloc(1, sizeof *storing);
	struct team_book *book = book_of(requests);
	const char *place = place_of(r);

	storing->requests = requests;
	storing->id = xstrdup(r->id);
	storing->ends = !request_is_open(r);
	LIST_INSERT_HEAD(&requests->storing, storing, entry);
	team_book_put(book, STORE_REQUEST, place, r->id, request_to_json(r));
	team_question_settle(requests->floor, r);
	show(requests);
	team_book_then(book, requests, place, on_stored, storing);
}

static bool
is_ready(const struct team_requests *requests)
{
	return team_book_is_open(book_of(requests)) &&
	    team_book_ready(book_of(requests), NULL) == 0;
}

static void
store_end(struct team_requests *requests, const struct request *r)
{
	put(requests, r);
	emit(requests->floor->core,
	    &(struct event){ .kind = EVENT_REQUEST_ENDED,
		.worker = r->worker,
		.task = r->task,
		.ref = r->id,
		.result = request_state_words[r->state] });
}

static void
end(struct team_requests *requests, struct request *r, enum request_state state)
{
	if (!request_is_open(r) || !is_ready(requests))
		return;
	request_end(r, state, clock_wall_ms());
	store_end(requests, r);
}

static void
on_deadline(void *arg)
{
	struct team_requests *requests = arg;
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < requests->registry.count; i++) {
		struct request *r = requests->registry.list[i];

		if (r->deadline_ms <= now)
			end(requests, r, REQUEST_TIMEOUT);
	}
	set_timer(requests);
}

static void
set_timer(struct team_requests *requests)
{
	int64_t next = request_registry_next(&requests->registry);
	int64_t ms = next - clock_wall_ms();

	/* One that cannot be stored now is tried again. */
	if (ms <= 0)
		ms = 1000;
	if (next == 0)
		loop_timer_free(take_ptr(&requests->timer));
	else if (requests->timer == NULL)
		requests->timer = loop_after(
		    requests->floor->core->loop, ms, on_deadline, requests);
	else
		loop_timer_restart(requests->timer, ms);
}

/* --- ends of runs ------------------------------------------------------ */

static bool
is_over(const struct team_requests *requests, const char *task, const char *run)
{
	const struct task *t = state_task(&requests->floor->core->state, task);
	cleanup_free char *now = t != NULL ? task_run_id(t) : NULL;

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

/* event: NULL = look at what there is. */
static void
sweep(struct team_requests *requests, const struct event *event)
{
	bool exited = event != NULL && event->worker != NULL &&
	    (event->kind == EVENT_AGENT_EXITED ||
		event->kind == EVENT_SESSION_GONE);

	for (size_t i = 0; i < requests->registry.count; i++) {
		struct request *r = requests->registry.list[i];

		if (!request_is_open(r))
			continue;
		if (is_child_gone(requests, r) ||
		    team_floor_ends(event, r->task, r->worker) ||
		    (exited && r->worker != NULL &&
			strcmp(r->worker, event->worker) == 0))
			end(requests, r, REQUEST_CANCELLED);
		else if (r->parent_task != NULL &&
		    (is_over(requests, r->parent_task, NULL) ||
			(event != NULL && event->kind == EVENT_TASK_FINISHED &&
			    team_floor_ends(event, r->parent_task, NULL))))
			end(requests, r, REQUEST_ORPHANED);
	}
	set_timer(requests);
}

void
team_requests_event(struct team_requests *requests, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
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

/* A question that has ended, as it was stored; NULL = it is too old. */
static struct request *
from_rows(struct json_object *rows)
{
	struct request *r = NULL;

	if (json_object_array_length(rows) == 0 ||
	    request_from_json(
		json_object_array_get_idx(rows, 0), "", &r, NULL) < 0)
		return NULL;
	if (request_is_open(r) ||
	    r->ended_ms + REQUEST_KEEP_MS > clock_wall_ms())
		return r;
	request_free(r);
	return NULL;
}

/* An answer that was sent as mail needs no second way. */
static void
answer_again(
    struct plan_floor *plan, struct server_call *call, const struct request *r)
{
	team_question_answer_read(team_floor_above(plan), r);
	plan_call_answer(plan, call, NULL, request_to_answer(r));
}

/* The call was made before: here is what became of it. */
static void
on_asked_before(struct plan_floor *plan, struct server_call *call,
    struct json_object *context, struct json_object *rows)
{
	struct request *r = from_rows(rows);

	(void)context;
	if (r == NULL)
		serve_refuse(call, API_FAILED,
		    "this question was asked long ago; ask it again");
	else if (request_is_open(r)) /* its end is being stored */
		serve_refuse(call, API_BUSY, "the answer is being stored");
	else
		answer_again(plan, call, r);
	request_free(r);
}

static void
ask(struct team_requests *requests, struct server_call *call, struct request *r)
{
	struct err err = { 0 };
	struct request *alike;

	if (!requests->read) {
		serve_refuse(call, API_BUSY, "the questions are being read");
		request_free(r);
		return;
	}
	/* The session that asked it is gone, and the next one asks the same:
	 * that is one question. */
	alike = request_registry_alike(&requests->registry, r);
	if (alike != NULL && !team_waiters_has(requests->waiters, alike->id)) {
		await(requests, call, alike);
		request_free(r);
		return;
	}
	if (request_registry_admits(&requests->registry, r->child, r->parent,
		r->created_ms, &err) < 0) {
		serve_refuse(call, API_E_RATE, "%s", err.msg);
		request_free(r);
		return;
	}
	if (team_question_tell(requests->floor, r, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		request_free(r);
		return;
	}
	request_registry_add(&requests->registry, r);
	put(requests, r);
	await(requests, call, r);
	emit(requests->floor->core,
	    &(struct event){ .kind = EVENT_REQUEST,
		.worker = r->worker,
		.task = r->task,
		.ref = r->id,
		.to = r->parent });
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
	struct request *old;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	request_registry_sweep(&requests->registry, clock_wall_ms());
	id = team_question_id(agent, params);
	old = request_registry_find(&requests->registry, id);
	if (old != NULL && request_is_open(old))
		await(requests, call, old);
	else if (old != NULL || team_book_knows(floor->book, STORE_REQUEST, id))
		plan_query_records(floor->plan, call, params, STORE_REQUEST,
		    NULL, id, on_asked_before);
	else
		ask(requests, call,
		    team_question_make(floor, agent, task, id, params));
}

/* --- answers ----------------------------------------------------------- */

/* It has ended: was that this very call? */
static void
on_answered_before(struct plan_floor *plan, struct server_call *call,
    struct json_object *context, struct json_object *rows)
{
	struct request *r = from_rows(rows);
	const char *id = json_string_or(context, "call", NULL);
	struct err err = { 0 };

	if (r == NULL)
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no such question any more");
	else if (id != NULL && r->respond_call != NULL &&
	    strcmp(id, r->respond_call) == 0)
		plan_call_answer(plan, call, NULL, request_to_answer(r));
	else {
		request_resolve(r, "", NULL, NULL, clock_wall_ms(), &err);
		serve_refuse(call, API_E_CONFLICT, "%s", err.msg);
	}
	request_free(r);
}

/* Tells them how it ended; by mail if nobody waits for that. */
static void
resolve(struct team_requests *requests, struct server_call *call,
    struct request *r, const char *actor, struct json_object *params)
{
	struct team_floor *floor = requests->floor;
	struct json_object *result;
	struct err err = { 0 };
	int code = request_resolve(r, json_string_or(params, "response", ""),
	    actor, json_string_or(params, "call", NULL), clock_wall_ms(), &err);

	store_end(requests, r);
	set_timer(requests);
	if (code < 0) {
		serve_refuse(call, API_E_CONFLICT, "%s", err.msg);
		return;
	}
	result = request_to_answer(r);
	if (!team_waiters_has(requests->waiters, r->id) &&
	    team_question_answer_mail(floor, r) == 0)
		json_set_string(result, "message",
		    "Whoever asked does not wait for it now, and gets the "
		    "answer as mail.");
	plan_call_answer(floor->plan, call, place_of(r), result);
}

/* actor: who answers; a person may answer everything. */
static void
respond(struct team_requests *requests, struct server_call *call,
    const char *actor, const char *id, struct json_object *params)
{
	struct team_floor *floor = requests->floor;
	struct request *r = request_registry_find(&requests->registry, id);
	bool known =
	    r != NULL || team_book_knows(floor->book, STORE_REQUEST, id);

	if (!known)
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no question %.100s; its id is in the mail that "
		    "told you of it",
		    id);
	else if (r == NULL || !request_is_open(r))
		plan_query_records(floor->plan, call, params, STORE_REQUEST,
		    NULL, id, on_answered_before);
	else if (strcmp(actor, ACTOR_PERSON) != 0 &&
	    strcmp(actor, r->parent) != 0)
		serve_refuse(call, API_E_UNAUTHORIZED,
		    "%s was not asked of you but of %s", id, r->parent);
	else
		resolve(requests, call, r, actor, params);
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
	actor = team_mail_actor(agent);
	respond(requests, call, actor, json_string_or(params, "requestId", ""),
	    params);
}

static void
on_person_answers(
    void *arg, struct server_call *call, struct json_object *params)
{
	struct team_requests *requests = arg;
	const char *id = json_string_or(params, "id", ""), *answer;
	const struct request *r;
	struct err err = { 0 };

	if (!plan_call_begin_change(requests->floor->plan, call))
		return;
	r = request_registry_find(&requests->registry, id);
	if (r != NULL) {
		answer = request_choice(
		    r, json_string_or(params, "response", ""), &err);
		if (answer == NULL) {
			serve_refuse(call, API_FAILED, "%s", err.msg);
			return;
		}
		json_set_string(params, "response", answer);
	}
	respond(requests, call, ACTOR_PERSON, id, params);
}

/* --- questions about them ---------------------------------------------- */

size_t
team_requests_pending(struct team_requests *requests, const char *actor)
{
	return request_registry_pending(&requests->registry, actor);
}

bool
team_requests_asks(struct team_requests *requests, const struct agent *agent)
{
	cleanup_free char *actor = team_mail_actor(agent);

	for (size_t i = 0; i < requests->registry.count; i++) {
		const struct request *r = requests->registry.list[i];

		/* A call to an earlier daemon is made again. */
		if (request_is_open(r) && strcmp(r->child, actor) == 0 &&
		    (!r->awaited || team_waiters_has(requests->waiters, r->id)))
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

/* Also those that have ended count for a minute. */
static void
on_recent(const struct store_part *part, void *arg)
{
	struct team_requests *requests = arg;

	for (size_t i = 0; i < part->record_count; i++) {
		const char *body = part->records[i].body;
		cleanup_json struct json_object *json = NULL;

		if (json_parse(
			body, strlen(body), STORE_BODY_MAX, &json, NULL) == 0)
			request_registry_remember(
			    &requests->registry, json, clock_wall_ms());
	}
	if (!part->last)
		return;
	request_registry_cut(&requests->registry);
	requests->read = true;
}

void
team_requests_opened(struct team_requests *requests)
{
	struct team_record *record = NULL;

	while ((record = team_book_next(
		    book_of(requests), STORE_REQUEST, NULL, record)) != NULL) {
		struct request *r = NULL;

		if (request_from_json(record->body, "", &r, NULL) == 0)
			request_registry_add(&requests->registry, r);
	}
	team_book_read(book_of(requests), STORE_REQUEST, NULL, NULL,
	    REQUEST_ENDED_MAX, on_recent, requests);
	sweep(requests, NULL);
	show(requests);
}

void
team_requests_closed(struct team_requests *requests)
{
	struct storing *storing;

	team_book_forget(book_of(requests), requests);
	while ((storing = LIST_FIRST(&requests->storing)) != NULL)
		storing_free(storing);
	team_waiters_refuse(requests->waiters);
	request_registry_release(&requests->registry);
	requests->read = false;
	if (!requests->floor->core->stopping)
		show(requests);
	set_timer(requests);
}

struct team_requests *
team_requests_new(struct team_floor *floor)
{
	struct team_requests *requests = xcalloc(1, sizeof *requests);
	struct core *core = floor->core;

	requests->floor = floor;
	LIST_INIT(&requests->storing);
	requests->waiters = team_waiters_new(core);
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
	/* The book is closed: nobody waits any more. */
	request_registry_release(&requests->registry);
	set_timer(requests);
	team_waiters_free(requests->waiters);
	free(requests);
}
