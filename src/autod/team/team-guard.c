/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent.h"
#include "api.h"
#include "attempt.h"
#include "auto.h"
#include "book.h"
#include "event.h"
#include "guard.h"
#include "intake.h"
#include "moment.h"
#include "plan-floor.h"
#include "plan-node.h"
#include "serve.h"
#include "settings.h"
#include "task.h"
#include "team-private.h"
#include "work-record.h"

/* --- reservations ---------------------------------------------------- */

struct team_reserve {
	/* Those that are open, as the book has them, in the order of their
	 * making. */
	struct reservation **list;
	size_t count;
};

/* --- records ----------------------------------------------------------- */

static void
put(struct team_floor *floor, struct json_object *json, const char *id)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	json_print(json, false, &text);
	if (book_put_body(floor->core->book, BOOK_RESERVATION, TEAM_NO_GOAL, id,
		text.data, &err) < 0)
		log_debug("%s: %s", id, err.msg);
}

/* A new one, or another version of one. */
static void
add(struct team_reserve *reserve, struct json_object *json)
{
	struct reservation *r = NULL;

	if (reservation_from_json(json, "", &r, NULL) < 0)
		return;
	for (size_t i = 0; i < reserve->count; i++)
		if (strcmp(reserve->list[i]->id, r->id) == 0) {
			reservation_free(reserve->list[i]);
			reserve->list[i] = r;
			return;
		}
	reserve->list = xreallocarray(
	    reserve->list, reserve->count + 1, sizeof(struct reservation *));
	reserve->list[reserve->count++] = r;
}

static struct reservation *
find(const struct team_reserve *reserve, const char *id)
{
	for (size_t i = 0; i < reserve->count; i++)
		if (strcmp(reserve->list[i]->id, id) == 0)
			return reserve->list[i];
	return NULL;
}

static void
end(struct team_floor *floor, struct reservation *r)
{
	cleanup_json struct json_object *json = NULL;
	struct team_reserve *reserve;
	size_t kept = 0;

	r->ended = true;
	json = reservation_to_json(r);
	put(floor, json, r->id);
	reserve = floor->reserve;
	for (size_t i = 0; i < reserve->count; i++)
		if (reserve->list[i] != r)
			reserve->list[kept++] = reserve->list[i];
		else
			reservation_free(reserve->list[i]);
	reserve->count = kept;
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
	run = task_attempt_id(task);
	return r->run != NULL && strcmp(r->run, run) != 0;
}

static bool
is_in_force(const struct team_floor *floor, const struct reservation *r)
{
	return reservation_holds(r, clock_wall_ms()) && !has_ended(floor, r);
}

void
team_reserve_sweep(struct team_floor *floor, const struct event *event)
{
	for (size_t i = 0; i < floor->reserve->count;) {
		struct reservation *r = floor->reserve->list[i];

		if (!is_in_force(floor, r) ||
		    team_floor_ends(event, r->task, r->worker))
			end(floor, r);
		else
			i++;
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
refuse_conflict(struct team_floor *floor, struct server_call *call,
    const char *actor, const struct reservation *r, const char *path,
    int64_t now)
{
	const struct task *task = team_actor_task(floor, actor);
	bool has_mail = team_fleet_has_tool(floor->core->settings,
	    task != NULL ? &task->launch : NULL, "mcp__llmc__mail_send");
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
	buf_addf(&words,
	    ". Nothing was reserved. Work on something else first, or %s.",
	    has_mail ? "send its owner mail" : "ask your parent");
	serve_refuse(call, API_E_CONFLICT, "%s", words.data);
}

/* True: another agent has one of them, and the call was refused. */
static bool
is_taken(struct team_floor *floor, struct server_call *call, const char *actor,
    char **paths)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < floor->reserve->count; i++)
		for (size_t p = 0; paths[p] != NULL; p++)
			if (reservation_blocks(floor->reserve->list[i], actor,
				paths[p], now)) {
				refuse_conflict(floor, call, actor,
				    floor->reserve->list[i], paths[p], now);
				return true;
			}
	return false;
}

/* An agent reserves no more than it may change: all of the repository would
 * stop everybody. True: one of them is more, and the call was refused. */
static bool
is_too_much(struct server_call *call, const struct task *task, char **paths)
{
	char **scope = task != NULL ? task->launch.scope_paths : NULL;

	for (size_t i = 0; paths[i] != NULL; i++)
		if (paths[i][0] == '\0') {
			serve_refuse(call, API_E_UNAUTHORIZED,
			    "the whole repository cannot be reserved; reserve "
			    "the files and folders that you are about to "
			    "change");
			return true;
		} else if (scope != NULL &&
		    !scope_path_within(scope, paths[i])) {
			serve_refuse(call, API_E_UNAUTHORIZED,
			    "%s is outside of the scope of your task, so you "
			    "cannot reserve it; reserve what you may change",
			    paths[i]);
			return true;
		}
	return false;
}

/* A new one, or the old one for longer. */
static struct reservation *
make(struct team_floor *floor, const struct agent *agent, const char *actor,
    const char *path, struct json_object *params)
{
	const struct task *task = auto_task(agent);
	struct reservation *r = reservation_new(), *old;
	int64_t ttl = json_int_or(params, "ttl_seconds", 0) * 1000;

	r->id = reservation_id(actor, path);
	old = find(floor->reserve, r->id);
	xstrset(&r->actor, actor);
	xstrset(&r->worker, agent->worker->name);
	xstrset(&r->path, path);
	xstrset(&r->reason, json_string_or(params, "reason", NULL));
	if (task != NULL) {
		xstrset(&r->task, task->id);
		r->run = task_attempt_id(task);
	}
	r->created_ms = old != NULL ? old->created_ms : clock_wall_ms();
	r->until_ms = clock_wall_ms() + (ttl > 0 ? ttl : RESERVATION_TTL_MS);
	if (old != NULL && old->until_ms > r->until_ms)
		r->until_ms = old->until_ms;
	return r;
}

/* How many the agent has. */
static size_t
count_of(const struct team_reserve *reserve, const char *actor)
{
	size_t count = 0;

	for (size_t i = 0; i < reserve->count; i++)
		count += strcmp(reserve->list[i]->actor, actor) == 0;
	return count;
}

/* How many of these it does not have yet. */
static size_t
count_new(const struct team_reserve *reserve, const char *actor, char **paths)
{
	size_t count = 0;

	for (; *paths != NULL; paths++) {
		cleanup_free char *id = reservation_id(actor, *paths);

		count += find(reserve, id) == NULL;
	}
	return count;
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
	actor = team_actor_of(agent);
	team_reserve_sweep(floor, NULL);
	if (is_too_much(call, auto_task(agent), paths) ||
	    is_taken(floor, call, actor, paths))
		return;
	if (count_of(floor->reserve, actor) +
		count_new(floor->reserve, actor, paths) >
	    RESERVATION_MAX) {
		serve_refuse(call, API_E_RATE,
		    "an agent can reserve %d places; reserve a folder, or "
		    "release some with mail_release",
		    RESERVATION_MAX);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; paths[i] != NULL; i++) {
		struct reservation *r =
		    make(floor, agent, actor, paths[i], params);
		cleanup_json struct json_object *json = reservation_to_json(r);
		cleanup_json struct json_object *safe = book_masked(json);

		put(floor, safe, r->id); /* others read it */
		add(floor->reserve, safe);
		json_object_array_add(list, to_answer(r, actor));
		reservation_free(r);
	}
	team_guard_changed(floor);
	result = json_object_new_object();
	json_set(result, "reserved", list);
	plan_call_answer(floor->plan, call, NULL, result);
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

	for (size_t i = 0; i < floor->reserve->count; i++) {
		const struct reservation *r = floor->reserve->list[i];
		size_t at = count;

		if (strcmp(r->actor, actor) == 0 && is_meant(r, paths, &at)) {
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
	actor = team_actor_of(agent);
	count = count_meant(floor, actor, paths, &missing);
	if (missing != NULL) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "you have not reserved %.200s; nothing was released",
		    missing);
		return;
	}
	for (size_t i = 0; i < floor->reserve->count;) {
		struct reservation *r = floor->reserve->list[i];

		if (strcmp(r->actor, actor) == 0 && is_meant(r, paths, &at))
			end(floor, r);
		else
			i++;
	}
	result = json_object_new_object();
	json_set_int(result, "released", (int64_t)count);
	plan_call_answer(floor->plan, call, NULL, result);
}

static void
on_list(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct agent *agent = team_floor_speaker(floor, call, params, NULL);
	cleanup_free char *actor = NULL;
	struct json_object *list, *result;

	if (agent == NULL || !plan_call_begin(floor->plan, call))
		return;
	actor = team_actor_of(agent);
	list = json_object_new_array();
	for (size_t i = 0; i < floor->reserve->count; i++) {
		const struct reservation *r = floor->reserve->list[i];

		if (is_in_force(floor, r))
			json_object_array_add(list, to_answer(r, actor));
	}
	result = json_object_new_object();
	json_set(result, "reservations", list);
	serve_reply(floor->core, call, result);
}

/* --- for people -------------------------------------------------------- */

static struct json_object *
row_of(const struct reservation *r)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", r->id);
	json_set_string(row, "path", r->path[0] != '\0' ? r->path : ".");
	json_set_string(row, "actor_id", r->actor);
	if (r->worker != NULL)
		json_set_string(row, "worker", r->worker);
	if (r->task != NULL)
		json_set_string(row, "task", r->task);
	json_set_int(row, "until_ms", r->until_ms);
	if (r->reason != NULL)
		json_set_string(row, "reason", r->reason);
	return row;
}

static void
on_person_list(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct json_object *rows;

	(void)params;
	if (!plan_call_begin(floor->plan, call))
		return;
	rows = json_object_new_array();
	for (size_t i = 0; i < floor->reserve->count; i++)
		if (is_in_force(floor, floor->reserve->list[i]))
			json_object_array_add(
			    rows, row_of(floor->reserve->list[i]));
	serve_reply(floor->core, call, rows);
}

static void
on_person_release(
    void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "id", "");
	cleanup_free char *key = NULL, *subject = NULL, *body = NULL;
	struct json_object *row;
	struct reservation *r;

	if (!plan_call_begin_change(floor->plan, call))
		return;
	r = find(floor->reserve, id);
	if (r == NULL || !is_in_force(floor, r)) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no reservation %s; list them with: llmc task "
		    "reservations",
		    id);
		return;
	}
	row = row_of(r);
	key = xasprintf("released/%s/%lld", id, (long long)r->until_ms);
	subject = xasprintf(
	    "reservation.released:%s", json_string_or(row, "path", ""));
	body = xasprintf("A person has released what you had reserved: %s. "
			 "Other agents may change it now.",
	    json_string_or(row, "path", ""));
	team_mail_post(floor,
	    &(struct mail_draft){ .key = key,
		.from = ACTOR_PERSON,
		.to = r->actor,
		.subject = subject,
		.body = body },
	    NULL, NULL);
	end(floor, r);
	plan_call_answer(floor->plan, call, NULL, row);
}

/* --- life -------------------------------------------------------------- */

static bool
on_open(struct book_row *row, void *arg)
{
	const char *body = book_text(row, 0);
	cleanup_json struct json_object *json = NULL;

	if (json_parse(body, strlen(body), BOOK_BODY_MAX, &json, NULL) == 0)
		add(arg, json);
	return true;
}

void
team_reserve_opened(struct team_floor *floor)
{
	struct err err = { 0 };

	if (book_query(floor->core->book,
		"SELECT r.body FROM reservations AS r WHERE r.status = 'open'"
		" ORDER BY r.ts_ms, r.id",
		NULL, 0, on_open, floor->reserve, &err) < 0)
		log_debug("reservations cannot be read: %s", err.msg);
}

void
team_reserve_closed(struct team_reserve *reserve)
{
	for (size_t i = 0; i < reserve->count; i++)
		reservation_free(reserve->list[i]);
	free(take_ptr(&reserve->list));
	reserve->count = 0;
}

size_t
team_reserve_count(const struct team_floor *floor)
{
	return floor->reserve->count;
}

struct team_reserve *
team_reserve_new(struct team_floor *floor)
{
	struct team_reserve *reserve = xcalloc(1, sizeof *reserve);

	serve_handle(floor->core, "team.mail_reserve", on_reserve, floor);
	serve_handle(floor->core, "team.mail_release", on_release, floor);
	serve_handle(
	    floor->core, "team.mail_list_reservations", on_list, floor);
	serve_handle(floor->core, "reservation.list", on_person_list, floor);
	serve_handle(
	    floor->core, "reservation.release", on_person_release, floor);
	return reserve;
}

void
team_reserve_free(struct team_reserve *reserve)
{
	if (reserve == NULL)
		return;
	team_reserve_closed(reserve);
	free(reserve);
}

/* --- what agents may do ---------------------------------------------- */

/* The tools of its task; NULL = it has none. */
static void
fill_tools(const struct agent *agent, const struct task_launch *launch,
    struct tool_scope *ret_tools)
{
	cleanup_agent_card struct agent_card *card = launch == NULL ?
	    NULL :
	    agent_card_for(agent->core->settings, launch->agent, launch->role);

	*ret_tools = (struct tool_scope){ .all = true };
	if (launch != NULL &&
	    tool_scope_of_run(card, launch, ret_tools, NULL) < 0)
		log_debug("%s: its tools are not those of its card any more",
		    agent->worker->name);
}

static const struct task_launch *
launch_of(const struct agent *agent)
{
	const struct task *task = agent != NULL ? auto_task(agent) : NULL;

	return task != NULL ? &task->launch : NULL;
}

/* Is one of llmc's tools of use to the session? Goals or teams may be off, and
 * a worker that a person drives has no task to report about or to split. */
static bool
is_offered(
    const struct team_floor *floor, const struct agent *agent, const char *tool)
{
	static const struct {
		const char *tool;
		bool goals, team, task; /* what it needs */
	} needs[] = {
		{ "report_progress", .task = true },
		{ "report_completion", .task = true },
		{ "plan_review_needed", .goals = true, .task = true },
		{ "agent_spawn", .team = true, .task = true },
		{ "agent_status", .team = true, .task = true },
		{ "respond_orchestrator_request", .team = true, .task = true },
	};
	const struct settings *settings = floor->core->settings;
	bool goals = settings_bool(settings, "plan.enabled");
	bool has_task =
	    auto_task(agent) != NULL || auto_drives(floor->mode, agent);

	for (size_t i = 0; i < nitems(needs); i++)
		if (strcmp(needs[i].tool, tool) == 0)
			return (goals || !needs[i].goals) &&
			    (team_fleet_is_on(settings) || !needs[i].team) &&
			    (has_task || !needs[i].task);
	return goals;
}

void
team_guard_fill(void *arg, struct agent *agent, struct guard_policy *policy)
{
	struct team_floor *floor = arg;
	const struct task_launch *launch = launch_of(agent);
	cleanup_free char *actor = NULL;
	int64_t now;

	fill_tools(agent, launch, &policy->tools);
	if (launch != NULL && launch->scope_paths != NULL)
		policy->scope_paths =
		    strv_copy(strv_const(launch->scope_paths));
	policy->llmc_scoped = true;
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		if ((m->flags & API_TOOL) &&
		    is_offered(floor, agent, strchr(m->name, '.') + 1))
			strv_add(&policy->llmc_tools, strchr(m->name, '.') + 1);
	/* Add what others than this agent have reserved. */
	actor = team_actor_of(agent);
	now = clock_wall_ms();
	for (size_t i = 0; i < floor->reserve->count; i++) {
		const struct reservation *r = floor->reserve->list[i];
		cleanup_free char *owner = NULL;

		if (!reservation_holds(r, now) || strcmp(r->actor, actor) == 0)
			continue;
		owner = reservation_owner(r);
		guard_policy_reserve(policy, r->path, owner, r->until_ms);
	}
}

/* Why it has its own tools only; NULL = it is as free as its rank. */
static const char *
confined_by(const struct agent *agent, const struct task_launch *launch,
    const struct tool_scope *tools)
{
	if (worker_is_team(agent->worker->name) ||
	    (launch != NULL && (launch->parent != NULL || launch->depth > 0)))
		return "works for another agent";
	if (launch != NULL && launch->scope_paths != NULL)
		return "has a task with a scope";
	return tool_scope_is_limited(tools) ? "has a task with limited tools" :
					      NULL;
}

int
team_guard_admits(void *arg, const char *worker,
    const struct api_method *method, struct err *err)
{
	const struct team_floor *floor = arg;
	const struct agent *agent = fleet_find(floor->fleet, worker);
	const struct task_launch *launch = launch_of(agent);
	struct guard_policy policy = { 0 };
	cleanup_buf struct buf why = BUF_INIT;
	const char *limit;
	int r = 0;

	if (agent == NULL || (method->flags & API_OWN))
		return 0;
	fill_tools(agent, launch, &policy.tools);
	if (method->flags & API_TOOL) {
		cleanup_free char *tool = xasprintf(
		    GUARD_LLMC_TOOLS "%s", strchr(method->name, '.') + 1);

		if (guard_tool(&policy, tool, &why) != GUARD_PASS)
			r = err_set(err, -EPERM, "%s", why.data);
	} else if ((limit = confined_by(agent, launch, &policy.tools)) !=
	    NULL) {
		r = err_set(err, -EPERM,
		    "%s is refused: %s %s; use your tools, such as mail_send, "
		    "request_orchestrator and agent_spawn",
		    method->name, worker, limit);
	}
	guard_policy_release(&policy);
	return r;
}

/* Where it may write, as its plan says now. */
static void
set_scope(struct team_floor *floor, struct task *task)
{
	struct plan_node *node = NULL;
	struct plan *plan = NULL;
	char **scope = NULL;

	if (!intake_is_planned(task) || floor->plan->state != PLAN_OPEN ||
	    plan_bind_find(
		plan_floor_set(floor->plan), task->key, &plan, &node, NULL) < 0)
		return;
	for (; scope == NULL && node != NULL; node = node->parent)
		scope = node->scope_paths;
	if (scope == NULL)
		return;
	strv_clear(&task->launch.scope_paths);
	task->launch.scope_paths = strv_copy(strv_const(scope));
}

void
team_guard_assigned(struct team_floor *floor, const struct event *event)
{
	struct task *task = state_task(&floor->core->state, event->task);

	if (task == NULL)
		return;
	task->attempt.violations = 0;
	xstrset(&task->attempt.scope_checked, NULL);
	set_scope(floor, task);
}

/* A worker of a team here is in the strictest sandbox of all. */
void
team_guard_leaves(void *arg, struct task *copy)
{
	struct team_floor *floor = arg;
	const struct settings *settings = floor->core->settings;
	enum box_mode mode;

	set_scope(floor, copy);
	if (!task_is_for_team(copy))
		return;
	launch_travels(settings, &copy->launch);
	mode = box_mode_of(settings, "team-1");
	if (copy->sandbox == NULL || task_fits(copy, mode))
		xstrset(&copy->sandbox, box_mode_name(mode));
}

void
team_guard_refresh(void *arg)
{
	const struct team_floor *floor = arg;

	for (size_t i = 0; i < floor->fleet->count; i++)
		agent_guard_refresh(floor->fleet->agents[i]);
}
