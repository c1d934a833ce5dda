/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "agent-report.h"
#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "book-history.h"
#include "emit.h"
#include "intake.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-node.h"
#include "plan.h"
#include "serve.h"
#include "server.h"
#include "settings-table.h"
#include "spawn-rules.h"
#include "task.h"
#include "team-private.h"
#include "turn-policy.h"

/* The attempt that a call is about; NULL: the call was refused. */
static struct task_attempt *
attempt_of(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct agent **ret_agent,
    struct task **ret_task)
{
	*ret_task = NULL;
	*ret_agent = team_floor_speaker(floor, call, params, ret_task);
	if (*ret_agent == NULL)
		return NULL;
	if (*ret_task == NULL) {
		serve_refuse(call, API_FAILED,
		    "you have no task that a report could be about; say it in "
		    "your last message");
		return NULL;
	}
	return &(*ret_task)->attempt;
}

/* --- progress ---------------------------------------------------------- */

/* Is the caller to come later, or not at all? Then it has its answer. */
static bool
is_refused(
    const struct task_attempt *attempt, struct server_call *call, int64_t now)
{
	int64_t wait = 0;

	switch (progress_report_rate(
	    attempt->progress_count, attempt->progress_ms, now, &wait)) {
	case PROGRESS_TOO_SOON:
		serve_refuse(call, API_E_RATE,
		    "one report in %d seconds is kept, and the next one in %d; "
		    "go on with your work",
		    PROGRESS_EVERY_MS / 1000, (int)((wait + 999) / 1000));
		return true;
	case PROGRESS_USED_UP:
		serve_refuse(call, API_E_RATE,
		    "%d reports were kept, and no more are in this run; go on "
		    "with your work",
		    PROGRESS_COUNT_MAX);
		return true;
	case PROGRESS_ACCEPTED:
		break;
	}
	return false;
}

static void
answer_progress(const struct task_attempt *attempt, struct server_call *call)
{
	struct json_object *answer = json_object_new_object();

	json_set_bool(answer, "accepted", true);
	json_set_int(answer, "reportsLeft",
	    PROGRESS_COUNT_MAX - attempt->progress_count);
	server_reply(call, answer);
}

static void
on_progress(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "call", NULL);
	cleanup_json struct json_object *said = NULL;
	int64_t now = clock_wall_ms();
	struct err err = { 0 };
	struct agent *agent;
	struct task *task;
	struct task_attempt *attempt =
	    attempt_of(floor, call, params, &agent, &task);
	double percent;
	const char *phase;
	cleanup_free char *run = NULL;
	cleanup_free char *text = NULL;
	cleanup_buf struct buf data = BUF_INIT;

	if (attempt == NULL)
		return;
	agent->worker->activity_ms = now;
	/* The same call once more: its answer was lost with a daemon. */
	if (text_is(id, attempt->progress_call)) {
		answer_progress(attempt, call);
		return;
	}
	if (progress_report_from_args(params, &said, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	if (is_refused(attempt, call, now))
		return;
	json_object_put(attempt->progress);
	attempt->progress = progress_report_latest(said, now);
	attempt->progress_count++;
	attempt->progress_ms = now;
	xstrset(&attempt->progress_call, id);
	answer_progress(attempt, call);
	persist_changed(floor->core);
	/* The record of the run has the last one without its numbers, the event
	 * all of each. */
	percent = progress_report_percent(task->attempt.progress);
	phase = json_string_or(said, "phase", "");
	run = task_attempt_id(task);
	text = isnan(percent) ? xstrdup(phase) :
				xasprintf("%s (%.0f%%)", phase, percent);
	json_set_string(said, "runId", run);
	json_print(said, false, &data);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_PROGRESS,
		.worker = task->worker,
		.task = task->id,
		.text = text,
		.data = data.data });
}

/* --- the end ----------------------------------------------------------- */

static void
on_completion(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct json_object *said = NULL, *answer;
	struct err err = { 0 };
	struct agent *agent;
	struct task *task;
	struct task_attempt *attempt =
	    attempt_of(floor, call, params, &agent, &task);

	if (attempt == NULL)
		return;
	agent->worker->activity_ms = clock_wall_ms();
	if (completion_report_from_args(params, &said, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	turn_policy_reported(floor->mode, task, said, true);
	answer = json_object_new_object();
	json_set_bool(answer, "recorded", true);
	json_set_string(answer, "next",
	    "End your turn now. If you use another tool, report again "
	    "afterwards.");
	serve_reply(floor->core, call, answer);
}

/* The hooks of tools are only signs of life, and not saved at once; but that
 * another tool came after the report must not be forgotten. */
void
team_report_tool_used(void *arg, struct agent *agent, const char *tool)
{
	const struct team_floor *floor = arg;
	struct task_attempt *attempt = &auto_task(agent)->attempt;
	const char *name = completion_report_tool(tool);

	/* Only the call itself is a report: on_completion(). */
	if (strcmp(name, COMPLETION_TOOL) == 0)
		return;
	if (text_is(attempt->last_tool, name))
		return;
	if (text_is(attempt->last_tool, COMPLETION_TOOL))
		persist_changed(floor->core);
	else
		persist_note(floor->core);
	xstrset(&attempt->last_tool, name);
}

void
team_report_task_text(const struct task *task, struct buf *out)
{
	report_prompt(out,
	    task_is_spawned(task) || task->launch.report_only ||
		json_bool_or(
		    task->launch.contract, "requireCompletionReport", false),
	    task->launch.progress_reporting);
}

/* --- records of runs ---------------------------------------------------- */

static void
write_records(struct book *book, struct json_object *ended)
{
	struct err err = { 0 };

	json_object_object_foreach(ended, id, record)
	{
		if (book_file_attempt(book, record, &err) < 0)
			log_debug("%s is not recorded: %s", id, err.msg);
	}
}

/* Into the book, with the task that does not have them any more. */
void
team_report_files(void *arg, struct task *task)
{
	const struct team_floor *floor = arg;

	if (task->attempt.ended == NULL)
		return;
	write_records(floor->core->book, task->attempt.ended);
	json_object_put(take_ptr(&task->attempt.ended));
	if (task->step == TASK_SETTLING) {
		struct spent rest = perf_record_spent(task);
		cleanup_free char *last = task_attempt_id(task);

		book_charge_attempt(floor->core->book, last, &rest);
		task_attempt_spent(task);
	}
	persist_changed(floor->core);
}

void
team_report_file_all(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		team_report_files(floor, state->tasks[i]);
}

/* --- life --------------------------------------------------------------- */

void
team_report_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.report_progress", on_progress, floor);
	serve_handle(
	    floor->core, "team.report_completion", on_completion, floor);
}

/* --- one agent ------------------------------------------------------- */

static void
set(struct json_object *row, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_set_string(row, key, text);
}

/* What its last report says of its end. task: NULL = it has not begun. */
static void
add_reports(struct json_object *row, const struct task *task, bool contract)
{
	static const struct task_attempt none;
	const struct task_attempt *attempt =
	    task != NULL ? &task->attempt : &none;
	enum verification_state state = task == NULL && contract ?
	    VERIFICATION_PENDING :
	    attempt->verification;
	struct json_object *completion;

	if (state != VERIFICATION_NONE)
		json_set_string(
		    row, "verification", verification_state_words[state]);
	if (attempt->progress != NULL)
		json_set(row, "progress", json_object_get(attempt->progress));
	if (attempt->report == NULL)
		return;
	completion = json_object_new_object();
	set(completion, "status",
	    json_string_or(attempt->report, "status", NULL));
	set(completion, "confidence",
	    json_string_or(attempt->report, "confidence", NULL));
	json_set(row, "completion", completion);
}

static void
add_worker(struct json_object *row, struct agent *agent)
{
	const struct worker *worker = agent->worker;

	json_set_string(row, "worker", worker->name);
	json_set_string(
	    row, "workerStatus", worker_status_name(worker->status));
	set(row, "session_id", worker->session.id);
}

static void
add_status(const struct team_floor *floor, const char *actor, bool words,
    struct run_facts *facts, struct json_object *row)
{
	cleanup_free char *asks =
	    team_requests_reason(floor->requests, actor, words);
	const char *reason = NULL;
	enum run_status status;

	facts->pending = team_requests_pending(floor->requests, actor);
	facts->pending_reason = asks;
	status = run_status(facts, &reason);
	json_set_string(row, "runStatus", run_status_words[status]);
	json_set_int(row, "pendingRequestCount", (int64_t)facts->pending);
	set(row, "blockedReason", reason);
}

static struct agent *
agent_of(const struct team_floor *floor, const struct task *task)
{
	struct agent *agent = task != NULL && task->worker != NULL ?
	    fleet_find(floor->fleet, task->worker) :
	    NULL;

	return agent != NULL && text_is(agent->worker->task, task->id) ? agent :
									 NULL;
}

static void
know_worker(struct run_facts *facts, const struct agent *agent)
{
	if (agent == NULL)
		return;
	facts->worker = agent->worker->status;
	facts->worker_reason = agent->worker->reason;
}

static struct json_object *
spawned_row(
    struct team_floor *floor, const struct team_member *member, bool words)
{
	const struct task_launch *launch = member->launch;
	const struct task *filed = member->filed;
	struct json_object *row = json_object_new_object();
	struct agent *agent = agent_of(floor, member->task);
	struct run_facts facts = { .task = member->task,
		.filed = filed != NULL ? filed->outcome : OUTCOME_NONE,
		.filed_reason = filed != NULL ? filed->reason : NULL,
		.worker = WORKER_STATUS_COUNT,
		.node = member->node->status,
		.node_reason = member->node->blocked_reason };

	json_set_string(row, "actor_id", launch->actor);
	set(row, "parent_actor_id", launch->parent_actor);
	json_set_string(row, "root_actor_id", ACTOR_OVERSEER);
	json_set_string(row, "session_id", TEAM_NO_SESSION);
	json_set_int(row, "depth", launch->depth);
	json_set_int(row, "max_depth", launch->max_depth);
	json_set_int(row, "local_max_depth", launch->local_max_depth);
	set(row, "role", launch->role);
	set(row, "label", launch->label);
	set(row, "agent", launch->agent);
	set(row, "title", member->node->name);
	set(row, "goal", member->plan->goal->id);
	set(row, "node", member->node->id);
	set(row, "task", member->task != NULL ? member->task->id : NULL);
	if (agent != NULL)
		add_worker(row, agent);
	know_worker(&facts, agent);
	add_status(floor, launch->actor, words, &facts, row);
	add_reports(row, member->task != NULL ? member->task : filed,
	    launch->contract != NULL);
	return row;
}

/* Its node, if its task is one of a plan. */
static void
add_node(struct json_object *row, const struct team_floor *floor,
    const struct task *task)
{
	struct plan *plan = NULL;
	struct plan_node *node = NULL;

	if (floor->plan->state != PLAN_OPEN || !intake_is_planned(task) ||
	    plan_bind_find(
		plan_floor_set(floor->plan), task->key, &plan, &node, NULL) < 0)
		return;
	set(row, "goal", plan->goal->id);
	set(row, "node", node->id);
}

static struct json_object *
root_row(struct team_floor *floor, struct agent *agent, const struct task *task)
{
	struct json_object *row = json_object_new_object();
	const struct hierarchy_place place =
	    hierarchy_root_worker((int)tuning.team_depth);
	cleanup_free char *actor =
	    task != NULL ? task_actor(task) : team_actor_of(agent);
	struct run_facts facts = { .task = task,
		.worker = WORKER_STATUS_COUNT,
		.node = NODE_STATUS_COUNT };

	json_set_string(row, "actor_id", actor);
	json_set_string(row, "parent_actor_id", ACTOR_OVERSEER);
	json_set_string(row, "root_actor_id", ACTOR_OVERSEER);
	json_set_int(row, "depth", place.depth);
	json_set_int(row, "max_depth", place.max_depth);
	json_set_int(row, "local_max_depth", place.local_max_depth);
	if (task != NULL) {
		set(row, "title", task->title);
		set(row, "task", task->id);
		add_node(row, floor, task);
	} else if (agent != NULL) {
		set(row, "title", agent->worker->prompt_command);
	}
	if (agent != NULL)
		add_worker(row, agent);
	know_worker(&facts, agent);
	add_status(floor, actor, false, &facts, row);
	if (task != NULL)
		add_reports(row, task, false);
	return row;
}

/* --- all of them -------------------------------------------------------- */

/* How long one that has ended is shown. */
#define SHOWN_MS (INT64_C(24) * 60 * 60 * 1000)

struct tree {
	struct team_floor *floor;
	struct team_members members;
	bool *shown; /* one for each of the members */
	struct json_object *rows;
};

static void
load(struct tree *tree, struct team_floor *floor)
{
	*tree =
	    (struct tree){ .floor = floor, .rows = json_object_new_array() };
	if (floor->plan->state == PLAN_OPEN) {
		team_members_load(floor, &tree->members);
		team_members_add_filed(floor, &tree->members);
	}
	tree->shown = xcalloc(tree->members.count + 1, sizeof *tree->shown);
}

static void
release(struct tree *tree)
{
	team_members_release(&tree->members);
	free(tree->shown);
	json_object_put(tree->rows);
}

/* Each is below the one that asked for it. */
static void
add_below(struct tree *tree, const char *actor)
{
	for (size_t i = 0; i < tree->members.count; i++) {
		const struct team_member *member = &tree->members.list[i];

		if (tree->shown[i] ||
		    strcmp(member->launch->parent_actor, actor) != 0)
			continue;
		tree->shown[i] = true;
		if (member->node->ended_ms == 0 ||
		    clock_wall_ms() - member->node->ended_ms < SHOWN_MS)
			json_object_array_add(tree->rows,
			    spawned_row(tree->floor, member, false));
		add_below(tree, member->launch->actor);
	}
}

static bool
is_spawned(const struct task *task)
{
	return task != NULL && task_is_spawned(task);
}

static void
add_root(struct tree *tree, struct agent *agent, const struct task *task)
{
	cleanup_free char *actor = task != NULL ? task_actor(task) : NULL;

	json_object_array_add(tree->rows, root_row(tree->floor, agent, task));
	if (actor != NULL)
		add_below(tree, actor);
}

static bool
has_children(const struct tree *tree, const struct task *task)
{
	cleanup_free char *actor = task_actor(task);

	for (size_t i = 0; i < tree->members.count; i++)
		if (strcmp(tree->members.list[i].launch->parent_actor, actor) ==
		    0)
			return true;
	return false;
}

static void
on_tree(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const struct state *state = &floor->core->state;
	struct tree tree;

	(void)params;
	load(&tree, floor);
	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		const struct task *task = auto_task(agent);

		if (!is_spawned(task) &&
		    (task != NULL || agent->worker->prompt != NULL))
			add_root(&tree, agent, task);
	}
	/* Parents whose work waits without a worker. */
	for (size_t i = 0; i < state->task_count; i++)
		if (!is_spawned(state->tasks[i]) &&
		    !auto_is_held(floor->mode, state->tasks[i]) &&
		    has_children(&tree, state->tasks[i]))
			add_root(&tree, NULL, state->tasks[i]);
	/* Those whose parent has ended. */
	for (size_t i = 0; i < tree.members.count; i++)
		if (!tree.shown[i] &&
		    team_members_find(&tree.members,
			tree.members.list[i].launch->parent_actor) == NULL)
			add_below(
			    &tree, tree.members.list[i].launch->parent_actor);
	serve_reply(floor->core, call, json_object_get(tree.rows));
	release(&tree);
}

/* --- agent_status ------------------------------------------------------ */

static struct json_object *
own_place(const struct task *task)
{
	struct hierarchy_place place = team_fleet_place(&task->launch);
	cleanup_free char *actor = task_actor(task);
	struct json_object *json = json_object_new_object();

	json_set_string(json, "actor_id", actor);
	json_set_int(json, "depth", place.depth);
	json_set_int(json, "max_depth", hierarchy_deepest(&place));
	return json;
}

static void
on_status(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *wanted = json_string_or(params, "actor_id", NULL);
	struct task *task = NULL;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, &task);
	cleanup_free char *actor = NULL;
	struct json_object *result;
	struct tree tree;

	if (agent == NULL)
		return;
	load(&tree, floor);
	actor = task != NULL ? task_actor(task) : xstrdup("");
	for (size_t i = 0; i < tree.members.count; i++) {
		const struct team_member *member = &tree.members.list[i];

		if ((wanted == NULL ||
			strcmp(member->launch->actor, wanted) == 0) &&
		    team_member_is_below(&tree.members, member, actor))
			json_object_array_add(
			    tree.rows, spawned_row(floor, member, true));
	}
	if (wanted != NULL && json_object_array_length(tree.rows) == 0) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "%s: no such agent works for you", wanted);
	} else {
		result = json_object_new_object();
		json_set(result, "agents", json_object_get(tree.rows));
		if (task != NULL)
			json_set(result, "you", own_place(task));
		serve_reply(floor->core, call, result);
	}
	release(&tree);
}

void
team_tree_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.tree", on_tree, floor);
	serve_handle(floor->core, "team.agent_status", on_status, floor);
}
