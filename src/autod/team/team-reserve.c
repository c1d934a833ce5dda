/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "event.h"
#include "guard.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "plan-call.h"
#include "reservation.h"
#include "scope-path.h"
#include "serve.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-book.h"
#include "team-floor.h"
#include "team-guard.h"
#include "team-mail.h"
#include "team-reserve.h"
#include "text.h"

/* --- records ----------------------------------------------------------- */

static void
free_reservation(void *data)
{
	reservation_free(data);
}

/* NULL = it is not readable. */
static struct reservation *
read_record(struct team_record *record)
{
	struct reservation *reservation = NULL;

	if (record->data == NULL &&
	    reservation_from_json(record->body, "", &reservation, NULL) == 0) {
		record->data = reservation;
		record->free_data = free_reservation;
	}
	return record->data;
}

static struct team_record *
next_record(const struct team_floor *floor, const char *actor,
    const struct team_record *last)
{
	return team_book_next(floor->book, STORE_RESERVATION, actor, last);
}

/* The reservation is the caller's, not that of a record. Each actor has its own
 * place in the queue of the store: see team-request.c. */
static void
put(struct team_floor *floor, const struct reservation *reservation)
{
	team_book_put(floor->book, STORE_RESERVATION, reservation->actor,
	    reservation->id, reservation_to_json(reservation));
}

static void
end_record(struct team_floor *floor, struct team_record *record)
{
	cleanup_free char *id = xstrdup(record->id);
	cleanup_free char *place = xstrdup(record->goal_id);
	struct reservation *reservation = read_record(record);
	struct json_object *json;

	if (reservation == NULL)
		return;
	reservation->ended = true;
	json = reservation_to_json(reservation);
	team_book_put(floor->book, STORE_RESERVATION, place, id, json);
	team_guard_changed(floor);
}

/* Has the run that made it ended? */
static bool
has_ended(const struct team_floor *floor, const struct reservation *r)
{
	const struct task *task;
	cleanup_free char *run = NULL;

	if (r->task == NULL)
		return r->worker != NULL &&
		    fleet_find(floor->fleet, r->worker) == NULL;
	task = state_task(&floor->core->state, r->task);
	if (task == NULL || task->step == TASK_SETTLING)
		return true;
	run = task_run_id(task);
	return r->run != NULL && strcmp(r->run, run) != 0;
}

void
team_reserve_sweep(struct team_floor *floor, const struct event *event)
{
	struct team_record *record, *next;

	if (!team_book_is_open(floor->book) ||
	    team_book_ready(floor->book, NULL) < 0)
		return;
	for (record = next_record(floor, NULL, NULL); record != NULL;
	     record = next) {
		const struct reservation *r = read_record(record);

		next = next_record(floor, NULL, record);
		if (r != NULL &&
		    (!reservation_holds(r, clock_wall_ms()) ||
			has_ended(floor, r) ||
			team_floor_ends(event, r->task, r->worker)))
			end_record(floor, record);
	}
}

void
team_reserve_event(struct team_floor *floor, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TASK_FINISHED:
	case EVENT_TASK_RETRY:
	case EVENT_WORKER_LOST:
	case EVENT_WORKER_GONE:
		team_reserve_sweep(floor, event);
		break;
	default:
		break;
	}
}

void
team_reserve_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy)
{
	cleanup_free char *actor = team_mail_actor(agent);
	struct team_record *record = NULL;
	int64_t now = clock_wall_ms();

	while ((record = next_record(floor, NULL, record)) != NULL) {
		const struct reservation *r = read_record(record);
		cleanup_free char *owner = NULL;

		if (r == NULL || !reservation_holds(r, now) ||
		    strcmp(r->actor, actor) == 0)
			continue;
		owner = reservation_owner(r);
		guard_policy_reserve(policy, r->path, owner, r->until_ms);
	}
}

/* --- the tools --------------------------------------------------------- */

static struct json_object *
to_answer(const struct reservation *r, const char *actor)
{
	struct json_object *json = json_object_new_object();
	cleanup_buf struct buf until = BUF_INIT;

	moment_add(&until, r->until_ms);
	json_set_string(json, "path", r->path[0] != '\0' ? r->path : ".");
	json_set_string(json, "actor_id", r->actor);
	json_set_string(json, "worker", r->worker);
	json_set_string(json, "until", until.data);
	json_set_bool(json, "yours", strcmp(r->actor, actor) == 0);
	if (r->reason != NULL)
		json_set_string(json, "reason", r->reason);
	return json;
}

static void
refuse_conflict(struct server_call *call, const struct reservation *r,
    const char *path, int64_t now)
{
	cleanup_free char *owner = reservation_owner(r);
	cleanup_buf struct buf words = BUF_INIT;

	buf_addf(&words, "%s is reserved by %s until ",
	    path[0] != '\0' ? path : "the whole repository", owner);
	moment_add(&words, r->until_ms);
	buf_adds(&words, " (another ");
	text_add_duration(&words, r->until_ms - now);
	buf_adds(&words, ")");
	if (strcmp(r->path, path) != 0)
		buf_addf(&words, ", as a part of %s",
		    r->path[0] != '\0' ? r->path : "everything");
	if (r->reason != NULL)
		buf_addf(&words, ": %s", r->reason);
	buf_adds(&words,
	    ". Nothing was reserved. Work on something else first, or send "
	    "its owner mail.");
	serve_refuse(call, API_E_CONFLICT, "%s", words.data);
}

/* True: another agent has one of them, and the call was refused. */
static bool
is_taken(struct team_floor *floor, struct server_call *call, const char *actor,
    char **paths)
{
	int64_t now = clock_wall_ms();
	struct team_record *record = NULL;

	while ((record = next_record(floor, NULL, record)) != NULL) {
		const struct reservation *r = read_record(record);

		for (size_t i = 0; r != NULL && paths[i] != NULL; i++)
			if (reservation_blocks(r, actor, paths[i], now)) {
				refuse_conflict(call, r, paths[i], now);
				return true;
			}
	}
	return false;
}

/* A new one, or the old one for longer. */
static struct json_object *
reserve(struct team_floor *floor, const struct agent *agent, const char *actor,
    const char *path, struct json_object *params)
{
	const struct task *task = auto_task(agent);
	struct reservation *r = reservation_new();
	struct team_record *record;
	const struct reservation *old;
	struct json_object *answer;
	int64_t ttl = json_int_or(params, "ttl_seconds", 0) * 1000;

	r->id = reservation_id(actor, path);
	record = team_book_get(floor->book, STORE_RESERVATION, r->id);
	old = record != NULL ? read_record(record) : NULL;
	xstrset(&r->actor, actor);
	xstrset(&r->worker, agent->worker->name);
	xstrset(&r->path, path);
	xstrset(&r->reason, json_string_or(params, "reason", NULL));
	if (task != NULL) {
		xstrset(&r->task, task->id);
		r->run = task_run_id(task);
	}
	r->created_ms = old != NULL ? old->created_ms : clock_wall_ms();
	r->until_ms = clock_wall_ms() + (ttl > 0 ? ttl : RESERVATION_TTL_MS);
	if (old != NULL && old->until_ms > r->until_ms)
		r->until_ms = old->until_ms;
	put(floor, r);
	answer = to_answer(r, actor);
	reservation_free(r);
	return answer;
}

static void
on_reserve(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct agent *agent = team_floor_speaker(floor, call, params, NULL);
	struct json_object *given = NULL, *list, *result;
	cleanup_strv char **paths = NULL;
	cleanup_free char *actor = NULL;
	struct err err = { 0 };

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	json_object_object_get_ex(params, "paths", &given);
	if (reservation_paths(given, &paths, &err) < 0) {
		serve_refuse(call, API_E_INVALID_PLAN, "%s", err.msg);
		return;
	}
	actor = team_mail_actor(agent);
	team_reserve_sweep(floor, NULL);
	if (is_taken(floor, call, actor, paths))
		return;
	if (team_book_count(floor->book, STORE_RESERVATION, actor) +
		strv_count(paths) >
	    RESERVATION_MAX) {
		serve_refuse(call, API_E_RATE,
		    "an agent can reserve %d places; reserve a folder, or "
		    "release some with mail_release",
		    RESERVATION_MAX);
		return;
	}
	result = json_object_new_object();
	list = json_object_new_array();
	for (size_t i = 0; paths[i] != NULL; i++)
		json_object_array_add(
		    list, reserve(floor, agent, actor, paths[i], params));
	json_set(result, "reserved", list);
	team_guard_changed(floor);
	plan_call_answer(floor->plan, call, actor, result);
}

/* Is it one of them, or below one? */
static bool
is_meant(const struct reservation *r, char *const *paths, size_t *at)
{
	if (paths == NULL)
		return true;
	for (size_t i = 0; paths[i] != NULL; i++)
		if (scope_path_meets(paths[i], r->path) &&
		    strlen(paths[i]) <= strlen(r->path)) {
			*at = i;
			return true;
		}
	return false;
}

/* How many of the actor's own are meant; the first path without one. */
static size_t
count_meant(struct team_floor *floor, const char *actor, char *const *paths,
    const char **ret_missing)
{
	size_t total = 0, count = strv_count(paths);
	cleanup_free bool *found = xcalloc(count + 1, sizeof *found);
	struct team_record *record = NULL;

	while ((record = next_record(floor, actor, record)) != NULL) {
		const struct reservation *r = read_record(record);
		size_t at = count;

		if (r != NULL && is_meant(r, paths, &at)) {
			total++;
			found[at] = true;
		}
	}
	for (size_t i = 0; paths != NULL && paths[i] != NULL; i++)
		if (!found[i] && *ret_missing == NULL)
			*ret_missing = paths[i];
	return total;
}

static void
on_release(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct agent *agent = team_floor_speaker(floor, call, params, NULL);
	struct json_object *given = NULL, *result;
	struct team_record *record, *next;
	cleanup_strv char **paths = NULL;
	cleanup_free char *actor = NULL;
	const char *missing = NULL;
	struct err err = { 0 };
	size_t count, at;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	if (json_object_object_get_ex(params, "paths", &given) &&
	    reservation_paths(given, &paths, &err) < 0) {
		serve_refuse(call, API_E_INVALID_PLAN, "%s", err.msg);
		return;
	}
	actor = team_mail_actor(agent);
	count = count_meant(floor, actor, paths, &missing);
	if (missing != NULL) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "you have not reserved %.200s; nothing was released",
		    missing);
		return;
	}
	for (record = next_record(floor, actor, NULL); record != NULL;
	     record = next) {
		const struct reservation *r = read_record(record);

		next = next_record(floor, actor, record);
		if (r != NULL && is_meant(r, paths, &at))
			end_record(floor, record);
	}
	result = json_object_new_object();
	json_set_int(result, "released", (int64_t)count);
	plan_call_answer(floor->plan, call, actor, result);
}

static void
on_list(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct agent *agent = team_floor_speaker(floor, call, params, NULL);
	struct team_record *record = NULL;
	cleanup_free char *actor = NULL;
	struct json_object *list, *result;

	if (agent == NULL || !plan_call_begin(floor->plan, call))
		return;
	actor = team_mail_actor(agent);
	list = json_object_new_array();
	while ((record = next_record(floor, NULL, record)) != NULL) {
		const struct reservation *r = read_record(record);

		if (r != NULL && reservation_holds(r, clock_wall_ms()) &&
		    !has_ended(floor, r))
			json_object_array_add(list, to_answer(r, actor));
	}
	result = json_object_new_object();
	json_set(result, "reservations", list);
	serve_reply(floor->core, call, result);
}

void
team_reserve_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.mail_reserve", on_reserve, floor);
	serve_handle(floor->core, "team.mail_release", on_release, floor);
	serve_handle(
	    floor->core, "team.mail_list_reservations", on_list, floor);
}
