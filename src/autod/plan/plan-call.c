/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-set.h"
#include "planbook.h"
#include "rpc.h"
#include "serve.h"
#include "store.h"

#define SHOWN_MAX 5 /* goals that a message lists */
#define PART_MIN  4 /* letters of an id that can stand for it */

/* A call that waits for the store: for a goal, or until it may be answered. */
struct plan_call_wait {
	TAILQ_ENTRY(plan_call_wait) entry;
	struct plan_calls *calls;
	struct server_call *call;
	struct json_object *params;
	struct json_object *result; /* to be answered */
	struct json_object *goals; /* that were read */
	char *goal_id; /* that is being fetched */
	int missing; /* the code if there is no such goal */
	plan_call_fn *fn;
	plan_call_goals_fn *goals_fn;
};

TAILQ_HEAD(plan_call_waits, plan_call_wait);

struct plan_calls {
	struct plan_floor *floor;
	struct plan_call_waits waiting;
};

/* --- waiting --------------------------------------------------------- */

static struct plan_call_wait *
wait_new(struct plan_floor *floor, struct server_call *call,
    struct json_object *params)
{
	struct plan_call_wait *w = xcalloc(1, sizeof *w);

	w->calls = floor->calls;
	w->call = call;
	w->params = json_object_get(params);
	TAILQ_INSERT_TAIL(&floor->calls->waiting, w, entry);
	return w;
}

static void
wait_free(struct plan_call_wait *w)
{
	TAILQ_REMOVE(&w->calls->waiting, w, entry);
	json_object_put(w->params);
	json_object_put(w->result);
	json_object_put(w->goals);
	free(w->goal_id);
	free(w);
}

/* The store cannot be written: it may take long until it can. A command without
 * a daemon ends, and what it changed with it. */
static void
refuse_changes(struct plan_calls *calls, const char *why)
{
	const struct plan_floor *floor = calls->floor;
	struct plan_call_wait *w, *next;

	plan_persist_forget(plan_floor_persist(floor), calls);
	for (w = TAILQ_FIRST(&calls->waiting); w != NULL; w = next) {
		next = TAILQ_NEXT(w, entry);
		if (w->result == NULL)
			continue;
		serve_refuse(w->call, API_FAILED,
		    "the store of goals cannot be written%s: %s",
		    floor->core->options->oneshot ?
			", and nothing was changed" :
			" now; the change is kept, and stored as soon as it "
			"can be",
		    why);
		wait_free(w);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_STORE_UNWRITTEN)
		refuse_changes(arg, event->reason);
}

/* --- life ------------------------------------------------------------ */

struct plan_calls *
plan_calls_new(struct plan_floor *floor)
{
	struct plan_calls *calls = xcalloc(1, sizeof *calls);

	calls->floor = floor;
	TAILQ_INIT(&calls->waiting);
	emit_subscribe(floor->core, on_event, calls);
	return calls;
}

void
plan_calls_closed(struct plan_calls *calls)
{
	struct plan_call_wait *w;

	while ((w = TAILQ_FIRST(&calls->waiting)) != NULL) {
		serve_refuse(w->call, API_FAILED,
		    "the store of goals was closed before this was stored; "
		    "type: llmc goal list");
		wait_free(w);
	}
}

void
plan_calls_free(struct plan_calls *calls)
{
	if (calls == NULL)
		return;
	emit_unsubscribe(calls->floor->core, on_event, calls);
	plan_calls_closed(calls);
	free(calls);
}

/* --- may it? --------------------------------------------------------- */

bool
plan_call_begin(struct plan_floor *floor, struct server_call *call)
{
	switch (floor->state) {
	case PLAN_OPEN:
		return true;
	case PLAN_OFF:
		serve_refuse(call, API_FAILED,
		    "goals are off; turn them on with: llmc config set "
		    "plan.enabled true%s",
		    floor->core->options->oneshot ?
			"" :
			", then restart the daemon");
		break;
	case PLAN_OPENING:
		serve_refuse(call, API_BUSY,
		    "the store of goals is being opened; try again in a "
		    "moment");
		break;
	case PLAN_JOB:
		serve_refuse(call, API_BUSY,
		    "the store of goals is being replaced; try again in a "
		    "moment");
		break;
	case PLAN_SAFE:
		serve_refuse(call, API_FAILED, "goals are off: %s", floor->why);
		break;
	}
	return false;
}

bool
plan_call_begin_change(struct plan_floor *floor, struct server_call *call)
{
	struct err err = { 0 };

	if (!plan_call_begin(floor, call))
		return false;
	if (plan_persist_ready(plan_floor_persist(floor), &err) == 0)
		return true;
	serve_refuse(call, API_FAILED, "%s", err.msg);
	return false;
}

static bool
is_api_error(int code)
{
	return code <= API_FAILED && code >= API_E_RATE;
}

void
plan_call_refuse(struct server_call *call, const struct err *err)
{
	serve_refuse(call, is_api_error(err->code) ? err->code : API_FAILED,
	    "%s", err->msg);
}

/* --- goals ----------------------------------------------------------- */

/* Ids of goals that a word may mean. */
struct matches {
	const char *word;
	int missing; /* the code if it means none */
	const char *exact;
	const char *first;
	size_t count;
	struct buf shown;
};

static void
match(struct matches *m, const char *id, const char *title)
{
	if (strcmp(id, m->word) == 0)
		m->exact = id;
	if (strlen(m->word) < PART_MIN || strcasestr(id, m->word) == NULL)
		return;
	if (m->count++ == 0)
		m->first = id;
	if (m->count <= SHOWN_MAX)
		buf_addf(&m->shown, "%s%s (%.40s)", m->count > 1 ? ", " : "",
		    id, title);
}

static const char *
matched(const struct matches *m)
{
	if (m->exact != NULL)
		return m->exact;
	return m->count == 1 ? m->first : NULL;
}

static void
refuse_goal(struct server_call *call, const struct matches *m)
{
	if (m->count == 0)
		serve_refuse(call, m->missing,
		    "there is no goal %s; see: llmc goal list --all", m->word);
	else
		serve_refuse(call, m->missing,
		    "%s can be several goals; type more of the id: %s%s",
		    m->word, m->shown.data,
		    m->count > SHOWN_MAX ? ", ..." : "");
}

static void
on_fetched(void *arg)
{
	struct plan_call_wait *w = arg;
	struct plan_floor *floor = w->calls->floor;
	struct plan *plan = plan_set_plan(plan_floor_set(floor), w->goal_id);

	if (plan == NULL)
		serve_refuse(w->call, w->missing,
		    "there is no goal %s; see: llmc goal list --all",
		    w->goal_id);
	else
		w->fn(floor, w->call, w->params, plan);
	wait_free(w);
}

static void
match_read(struct plan_call_wait *w)
{
	struct matches m = { .word = json_string_or(w->params, "goal", ""),
		.missing = w->missing,
		.shown = BUF_INIT };
	size_t count = json_object_array_length(w->goals);

	for (size_t i = 0; i < count; i++) {
		struct json_object *goal =
		    json_object_array_get_idx(w->goals, i);

		match(&m, json_string_or(goal, "goalId", ""),
		    json_string_or(goal, "title", ""));
	}
	if (matched(&m) != NULL) {
		w->goal_id = xstrdup(matched(&m));
		planbook_fetch(
		    w->calls->floor->book, w->goal_id, on_fetched, w);
	} else {
		refuse_goal(w->call, &m);
		wait_free(w);
	}
	buf_release(&m.shown);
}

static void
add_read(struct plan_call_wait *w, const struct store_change *record)
{
	const struct plan_set *set = plan_floor_set(w->calls->floor);
	struct json_object *json = NULL;

	if (plan_set_plan(set, record->id) != NULL ||
	    json_parse(record->body, strlen(record->body), STORE_GOAL_MAX,
		&json, NULL) < 0)
		return;
	/* There may be very many of them, and they are not listed. */
	if (w->fn == NULL && json_bool_or(json, "implicit", false))
		json_object_put(json);
	else
		json_object_array_add(w->goals, json);
}

static void
on_goals(const struct store_part *part, void *arg)
{
	struct plan_call_wait *w = arg;

	for (size_t i = 0; i < part->record_count; i++)
		add_read(w, &part->records[i]);
	if (!part->last)
		return;
	if (part->err != NULL) {
		plan_call_refuse(w->call, part->err);
		wait_free(w);
	} else if (w->fn != NULL) {
		match_read(w);
	} else {
		w->goals_fn(w->calls->floor, w->call, w->params, w->goals);
		wait_free(w);
	}
}

static struct plan_call_wait *
read_goals(struct plan_floor *floor, struct server_call *call,
    struct json_object *params)
{
	struct plan_call_wait *w = wait_new(floor, call, params);

	w->goals = json_object_new_array();
	store_read(
	    planbook_store(floor->book), STORE_GOAL, NULL, NULL, on_goals, w);
	return w;
}

void
plan_call_goals(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_goals_fn *fn)
{
	read_goals(floor, call, params)->goals_fn = fn;
}

static void
find_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, int missing, plan_call_fn *fn)
{
	const struct plan_set *set = plan_floor_set(floor);
	struct matches m = { .word = json_string_or(params, "goal", ""),
		.missing = missing,
		.shown = BUF_INIT };
	struct plan_call_wait *w;

	for (size_t i = 0; i < set->plan_count; i++)
		match(&m, set->plans[i]->goal->id, set->plans[i]->goal->title);
	if (matched(&m) != NULL)
		fn(floor, call, params, plan_set_plan(set, matched(&m)));
	else if (m.count > 0)
		refuse_goal(call, &m);
	else {
		w = read_goals(floor, call, params);
		w->fn = fn;
		w->missing = missing;
	}
	buf_release(&m.shown);
}

void
plan_call_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_fn *fn)
{
	find_goal(floor, call, params, API_E_UNKNOWN, fn);
}

void
plan_call_plan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_fn *fn)
{
	find_goal(floor, call, params, API_E_NOT_FOUND, fn);
}

/* --- answers --------------------------------------------------------- */

static void
on_stored(const struct err *err, void *arg)
{
	struct plan_call_wait *w = arg;

	if (err != NULL)
		serve_refuse(w->call, API_FAILED,
		    "it could not be stored, and nothing was changed: %s",
		    err->msg);
	else
		serve_reply(
		    w->calls->floor->core, w->call, take_ptr(&w->result));
	wait_free(w);
}

void
plan_call_answer(struct plan_floor *floor, struct server_call *call,
    const char *goal_id, struct json_object *result)
{
	struct plan_call_wait *w = wait_new(floor, call, NULL);

	w->result = result;
	plan_persist_then(
	    plan_floor_persist(floor), floor->calls, goal_id, on_stored, w);
}

struct plan_call_wait *
plan_call_hold(struct plan_floor *floor, struct server_call *call)
{
	return wait_new(floor, call, NULL);
}

void
plan_call_reply(struct plan_call_wait *w, struct json_object *result)
{
	w->result = result;
	on_stored(NULL, w);
}
