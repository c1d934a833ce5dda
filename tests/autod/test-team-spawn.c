/* SPDX-License-Identifier: ISC */

/* Agents ask for other agents: nodes of plans, and answers. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "book.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-world.h"
#include "run-dir.h"
#include "schema.h"
#include "task-run.h"
#include "task.h"
#include "team-private.h"
#include "unit.h"

#define KILLS 8 /* passes of the loop that a call takes at most, about */

struct world {
	struct plan_world plans;
	struct team_floor *team;
};

static void
begin(struct world *w, const char *more)
{
	plan_world_begin(&w->plans, more, NULL);
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
}

static void
end(struct world *w)
{
	team_floor_free(w->team);
	plan_world_end(&w->plans);
}

static void
die(struct world *w)
{
	team_floor_free(w->team);
	plan_world_reopen(&w->plans);
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
	plan_world_settle(&w->plans);
	floor_world_settle(&w->plans.world.floor);
}

/* auto-1 is in a turn on T1.1 of goal_a; t1. */
static void
begin_on_node(struct world *w, const char *more)
{
	begin(w, more);
	plan_world_goal(&w->plans, "goal_a", 1);
	auto_world_turn(&w->plans.world, 1);
	plan_world_settle(&w->plans);
}

/* auto-1 is in a turn on t1, which comes from a folder. */
static void
begin_on_task(struct world *w, const char *more)
{
	plan_world_begin(&w->plans, more, NULL);
	w->team = team_floor_new(w->plans.floor);
	auto_world_task(&w->plans.world, "a.md", "Add a file\n\nAny file.\n");
	plan_world_live(&w->plans);
	auto_world_turn(&w->plans.world, 1);
	plan_world_settle(&w->plans);
}

static struct task *
task(struct world *w, const char *id)
{
	return state_task(&w->plans.world.core->state, id);
}

static bool
is_begun(void *arg)
{
	struct plan *plan = arg;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->nodes[i]->status == NODE_QUEUED)
			return false;
	return true;
}

/* Every node of the goal is taken by a worker: then it looks like this. */
static void
is_taken(struct world *w, const char *goal, const char *want)
{
	floor_world_wait(
	    &w->plans.world.floor, is_begun, plan_world_plan(&w->plans, goal));
	plan_world_is(&w->plans, goal, want);
}

/* --- calls ------------------------------------------------------------- */

static struct floor_call *
ask(struct world *w, const char *tool, const char *params)
{
	struct floor_world *floor = &w->plans.world.floor;
	cleanup_free char *socket = run_dir_socket(&floor->workspace, "auto-1");
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(floor, socket, method, params);
}

static struct json_object *
must(struct world *w, const char *tool, const char *params)
{
	struct floor_call *call = ask(w, tool, params);
	const char *error = floor_world_answer(&w->plans.world.floor, call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

static void
refused(struct world *w, const char *tool, const char *params, int code,
    const char *words)
{
	struct floor_call *call = ask(w, tool, params);
	const char *error = floor_world_answer(&w->plans.world.floor, call);

	ck_assert_msg(error != NULL, "it was not refused");
	ck_assert_msg(floor_call_code(call) == code, "%d: %s",
	    floor_call_code(call), error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
}

#define CODER    "{\"role\":\"coder\",\"task\":\"Write it.\\nAll.\"}"
#define REVIEWER "{\"role\":\"reviewer\",\"task\":\"Look.\",\"label\":\"Eyes\"}"
#define ASK(call, list)                                          \
	"{\"call\":\"" call "\",\"spawn_reason\":\"two parts\"," \
	"\"requested_subagents\":[" list "]}"

static struct json_object *
member(struct json_object *json, const char *list, size_t i)
{
	return json_object_array_get_idx(json_object_object_get(json, list), i);
}

static const char *
text(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

static size_t
length(struct json_object *json, const char *list)
{
	return json_object_array_length(json_object_object_get(json, list));
}

/* --- agent_spawn ------------------------------------------------------- */

TEST(accepted_agents_are_siblings_of_the_node_in_one_revision)
{
	struct world w;
	struct json_object *answer;
	const struct plan_node *node;
	struct task_run *run = NULL;
	int64_t version;

	begin_on_node(&w, NULL);
	version = plan_world_plan(&w.plans, "goal_a")->goal->version;
	answer = must(&w, "agent_spawn",
	    ASK("c1",
		"{\"role\":\"coder\",\"task\":\"Write it.\\nAll.\","
		"\"suggested_actor_id\":\"team:backend\",\"local_max_depth\":"
		"9,\"scope_paths\":[\"src\"],\"model\":\"opus\","
		"\"verification\":{\"artifacts\":[{\"path\":\"a\"}]}}," REVIEWER));
	ck_assert(json_bool_or(answer, "accepted", false));
	ck_assert_uint_eq(length(answer, "spawned_agents"), 2);
	ck_assert_uint_eq(length(answer, "denied_agents"), 0);
	ck_assert_str_eq(text(member(answer, "spawned_agents", 0), "actor_id"),
	    "actor:team:backend:coder-1");
	ck_assert_str_eq(
	    text(member(answer, "spawned_agents", 1), "plan_node_id"), "T1.3");
	is_taken(&w, "goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
	ck_assert_int_eq(
	    plan_world_plan(&w.plans, "goal_a")->goal->version, version + 1);
	node = plan_world_node(&w.plans, "goal_a", "T1.2");
	ck_assert_str_eq(node->name, "coder: Write it.");
	ck_assert_str_eq(node->objective, "Write it.\nAll.");
	ck_assert_str_eq(node->spawned_from, "T1.1");
	ck_assert_str_eq(node->scope_paths[0], "src");
	ck_assert(
	    json_object_object_get_ex(node->verification, "artifacts", NULL));
	ck_assert_int_eq(task_run_from_json(node->spawn, "", &run, NULL), 0);
	ck_assert_str_eq(run->parent, "t1");
	ck_assert_str_eq(run->parent_actor, "actor:task:t1");
	ck_assert(run->depth == 2 && run->max_depth == 3 &&
	    run->local_max_depth == 3);
	ck_assert_str_eq(run->model, "opus");
	task_run_free(run);
	ck_assert_str_eq(
	    plan_world_node(&w.plans, "goal_a", "T1.3")->name, "Eyes");
	end(&w);
}

TEST(a_request_is_stored_when_it_is_answered)
{
	struct world w;

	begin_on_node(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER));
	die(&w);
	ck_assert_ptr_nonnull(plan_world_node(&w.plans, "goal_a", "T1.2"));
	ck_assert_ptr_nonnull(
	    plan_world_node(&w.plans, "goal_a", "T1.2")->spawn);
	ck_assert_str_eq(
	    plan_world_plan(&w.plans, "goal_a")->goal->revisions[0].actor,
	    ACTOR_OVERSEER);
	end(&w);
}

TEST(those_who_are_denied_are_named_with_the_reason)
{
	struct world w;
	struct json_object *answer;

	begin_on_node(&w, "[team]\nallowed_roles = [\"coder\"]\n");
	answer = must(&w, "agent_spawn", ASK("c1", CODER "," REVIEWER));
	ck_assert(json_bool_or(answer, "accepted", false));
	ck_assert_str_eq(text(answer, "message"), "some agents were denied");
	ck_assert_uint_eq(length(answer, "spawned_agents"), 1);
	ck_assert_str_eq(
	    text(member(answer, "denied_agents", 0), "role"), "reviewer");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "policy_violation");
	answer = must(&w, "agent_spawn", ASK("c2", REVIEWER));
	ck_assert(!json_bool_or(answer, "accepted", true));
	ck_assert_str_eq(text(answer, "reason"), "policy_violation");
	ck_assert_str_eq(
	    text(answer, "message"), "all requested agents were denied");
	ck_assert_str_ne(text(answer, "suggestion"), "");
	is_taken(&w, "goal_a", "active; T1.1 in_progress; T1.2 in_progress; ");
	end(&w);
}

TEST(limits_count_what_was_accepted_before)
{
	struct world w;
	struct json_object *answer;

	begin_on_node(&w, "[team]\nmax_concurrent = 2\n");
	must(&w, "agent_spawn", ASK("c1", CODER));
	answer = must(&w, "agent_spawn", ASK("c2", CODER "," CODER));
	ck_assert_uint_eq(length(answer, "spawned_agents"), 1);
	ck_assert_str_eq(text(member(answer, "spawned_agents", 0), "actor_id"),
	    "actor:team:coder:coder-2");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "resource_exhausted");
	end(&w);
}

TEST(an_agent_at_the_limit_of_depth_is_denied_whatever_it_says)
{
	struct world w;
	struct json_object *answer;
	struct task_run *run;

	begin_on_node(&w, NULL);
	run = task_run_of(task(&w, "t1"));
	run->parent = xstrdup("t0");
	run->actor = xstrdup("actor:team:x:y-1");
	run->depth = run->max_depth = run->local_max_depth = 3;
	answer = must(&w, "agent_spawn", ASK("c1", CODER));
	ck_assert(!json_bool_or(answer, "accepted", true));
	ck_assert_str_eq(
	    text(answer, "reason"), "all_requests_exceed_depth_limit");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "depth_limit_exceeded");
	plan_world_is(&w.plans, "goal_a", "active; T1.1 in_progress; ");
	end(&w);
}

/* --- mail -------------------------------------------------------------- */

/* Every piece of mail in the book: "subject state; ". */
static bool
on_mail(const struct book_record *record, void *arg)
{
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(record->body, strlen(record->body), 65536, &json, NULL),
	    0);
	buf_addf(arg, "%s %s; ", text(json, "subject"), text(json, "status"));
	return true;
}

static void
has_mail(struct world *w, const char *subject, const char *state)
{
	cleanup_buf struct buf mails = BUF_INIT;
	cleanup_free char *want = xasprintf("%s %s; ", subject, state);

	ck_assert_int_eq(book_read_bodies(w->plans.world.core->book, BOOK_MAIL,
			     NULL, NULL, on_mail, &mails, NULL),
	    0);
	ck_assert_msg(
	    strstr(mails.data, want) != NULL, "%s: %s", want, mails.data);
}

TEST(the_answer_to_a_request_is_mail)
{
	struct world w;
	cleanup_free char *accepted = NULL, *denied = NULL;
	struct json_object *answer;

	begin_on_node(&w, "[team]\nallowed_roles = [\"coder\"]\n");
	answer = must(&w, "agent_spawn", ASK("c1", CODER));
	accepted =
	    xasprintf("spawn.accepted:goal_a:%s", text(answer, "request_id"));
	/* The tool has said it: it is not delivered. */
	has_mail(&w, accepted, "done");
	answer = must(&w, "agent_spawn", ASK("c2", REVIEWER));
	denied =
	    xasprintf("spawn.denied:goal_a:%s", text(answer, "request_id"));
	has_mail(&w, denied, "done");
	end(&w);
}

TEST(without_waiting_the_answer_comes_by_mail)
{
	struct world w;
	cleanup_free char *accepted = NULL;
	struct json_object *answer;

	begin_on_node(&w, NULL);
	answer = must(&w, "agent_spawn",
	    "{\"wait\":false,\"spawn_reason\":\"x\","
	    "\"requested_subagents\":[" CODER "]}");
	ck_assert_ptr_null(json_object_object_get(answer, "accepted"));
	accepted =
	    xasprintf("spawn.accepted:goal_a:%s", text(answer, "request_id"));
	has_mail(&w, accepted, "open");
	end(&w);
}

static char *
spawn_once(struct world *w)
{
	struct json_object *answer = must(w, "agent_spawn",
	    ASK("c1", CODER "," CODER ",{\"role\":\"?\",\"task\":\"x\"}"));
	cleanup_buf struct buf printed = BUF_INIT;

	json_print(answer, false, &printed);
	return buf_take(&printed);
}

TEST(a_call_that_is_made_again_changes_nothing)
{
	struct world w;
	cleanup_free char *first = NULL, *second = NULL, *third = NULL;

	begin_on_node(&w, NULL);
	first = spawn_once(&w);
	second = spawn_once(&w);
	ck_assert_str_eq(first, second);
	die(&w);
	third = spawn_once(&w);
	ck_assert_str_eq(first, third);
	is_taken(&w, "goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
	end(&w);
}

static bool
is_over(void *arg)
{
	int *passes = arg;

	return (*passes)-- <= 0;
}

/* It dies so many passes of the loop after the call. */
TEST_ROWS(a_call_is_carried_out_once_whenever_the_daemon_is_killed, KILLS)
{
	struct world w;
	struct floor_call *call;
	int passes = _i;
	cleanup_free char *answer = NULL;

	begin_on_node(&w, NULL);
	call = ask(&w, "agent_spawn",
	    ASK("c1", CODER "," CODER ",{\"role\":\"?\",\"task\":\"x\"}"));
	floor_world_wait_closely(&w.plans.world.floor, is_over, &passes);
	if (!floor_call_is_answered(call))
		floor_call_hang_up(call);
	die(&w);
	answer = spawn_once(&w);
	ck_assert_ptr_nonnull(strstr(answer, "some agents were denied"));
	is_taken(&w, "goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
	end(&w);
}

/* --- a parent that is in no plan --------------------------------------- */

TEST(the_agents_of_a_pool_task_get_a_goal_of_their_own)
{
	struct world w;
	const char *goal;

	begin_on_task(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER));
	must(&w, "agent_spawn", ASK("c2", REVIEWER));
	goal = task(&w, "t1")->run->goal;
	ck_assert_ptr_nonnull(goal);
	is_taken(&w, goal, "active; T1.1 in_progress; T1.2 in_progress; ");
	ck_assert_str_eq(plan_world_plan(&w.plans, goal)->goal->title,
	    "Delegated by t1: Add a file");
	ck_assert_int_eq(plan_world_plan(&w.plans, goal)->goal->version, 2);
	ck_assert_int_eq(plan_world_events(&w.plans, "goal.created"), 1);
	end(&w);
}

TEST(that_goal_is_found_again_by_the_next_daemon)
{
	struct world w;
	cleanup_free char *goal = NULL;

	begin_on_task(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER));
	goal = xstrdup(task(&w, "t1")->run->goal);
	die(&w);
	must(&w, "agent_spawn", ASK("c2", REVIEWER));
	ck_assert_str_eq(task(&w, "t1")->run->goal, goal);
	is_taken(&w, goal, "active; T1.1 in_progress; T1.2 in_progress; ");
	end(&w);
}

struct ending {
	const struct plan *plan;
	enum goal_status status;
};

static bool
has_ended(void *arg)
{
	const struct ending *ending = arg;

	return ending->plan->goal->status == ending->status;
}

TEST(that_goal_ends_with_the_agents)
{
	struct world w;
	struct agent *agent;
	struct ending ending;
	const char *goal;

	begin_on_task(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER));
	goal = task(&w, "t1")->run->goal;
	agent = auto_world_turn_on(&w.plans.world, "t2");
	ck_assert_str_eq(agent->worker->name, "team-1");
	floor_world_wt(&w.plans.world.floor, "team-1",
	    "echo x > c.txt; git add c.txt; git commit -qm 'add c'");
	fake_session_turn_ends(agent->session, "Done.");
	ending =
	    (struct ending){ plan_world_plan(&w.plans, goal), GOAL_COMPLETED };
	floor_world_wait(&w.plans.world.floor, has_ended, &ending);
	plan_world_is(&w.plans, goal, "completed; T1.1 done; ");
	/* The next ones get another. */
	must(&w, "agent_spawn", ASK("c2", CODER));
	ck_assert_str_ne(task(&w, "t1")->run->goal, ending.plan->goal->id);
	ending = (struct ending){ plan_world_plan(
				      &w.plans, task(&w, "t1")->run->goal),
		GOAL_CANCELLED };
	auto_world_turn_on(&w.plans.world, "t3");
	plan_world_must(&w.plans, "task.drop", "{\"task\":\"t3\"}");
	floor_world_wait(&w.plans.world.floor, has_ended, &ending);
	end(&w);
}

/* --- refusals ---------------------------------------------------------- */

TEST(nobody_can_ask_while_it_makes_no_sense)
{
	struct world w;
	struct task *t;

	begin_on_node(&w, NULL);
	t = task(&w, "t1");
	t->abort_why = xstrdup("");
	refused(&w, "agent_spawn", ASK("c1", CODER), API_FAILED,
	    "is being aborted");
	xstrset(&t->abort_why, NULL);
	plan_world_must(
	    &w.plans, "overseer.goal.pause", "{\"goal\":\"goal_a\"}");
	refused(&w, "agent_spawn", ASK("c2", CODER), API_FAILED, "is paused");
	plan_world_must(
	    &w.plans, "overseer.goal.resume", "{\"goal\":\"goal_a\"}");
	must(&w, "agent_spawn", ASK("c3", CODER));
	end(&w);
}

TEST(without_goals_there_is_nobody_to_ask_for)
{
	struct world w;

	memset(&w, 0, sizeof w);
	auto_world_begin(&w.plans.world, "[plan]\nenabled = false\n");
	w.plans.floor = plan_floor_new(w.plans.world.mode);
	w.team = team_floor_new(w.plans.floor);
	auto_world_task(&w.plans.world, "a.md", "Add a file\n");
	auto_world_live(&w.plans.world);
	auto_world_turn(&w.plans.world, 1);
	refused(&w, "agent_spawn", ASK("c1", CODER), API_FAILED,
	    "llmc config set plan.enabled true");
	ck_assert_uint_eq(length(must(&w, "agent_status", "{}"), "agents"), 0);
	ck_assert_uint_eq(json_object_array_length(
			      plan_world_must(&w.plans, "team.tree", "{}")),
	    1);
	end(&w);
}

TEST(nor_while_auto_workers_may_not_work_on_goals)
{
	struct world w;

	begin(&w, "allow_agents = [\"eve\"]\n");
	auto_world_task(&w.plans.world, "a.md", "Add a file\n");
	auto_world_turn(&w.plans.world, 1);
	plan_world_settle(&w.plans);
	refused(&w, "agent_spawn", ASK("c1", CODER), API_FAILED,
	    "llmc config set plan.allow_agents");
	end(&w);
}

/* --- agent_status, team.tree ------------------------------------------- */

TEST(an_agent_sees_only_those_below_it)
{
	struct world w;
	struct json_object *answer;

	begin_on_node(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER "," REVIEWER));
	answer = must(&w, "agent_status", "{}");
	ck_assert_uint_eq(length(answer, "agents"), 2);
	ck_assert_str_eq(
	    text(member(answer, "agents", 0), "runStatus"), "queued");
	ck_assert_str_eq(text(member(answer, "agents", 0), "node"), "T1.2");
	answer = must(&w, "agent_status",
	    "{\"actor_id\":\"actor:team:reviewer:reviewer-1\"}");
	ck_assert_uint_eq(length(answer, "agents"), 1);
	refused(&w, "agent_status", "{\"actor_id\":\"actor:task:t1\"}",
	    API_E_NOT_FOUND, "no such agent works for you");
	end(&w);
}

TEST(the_tree_has_each_agent_below_the_one_that_asked_for_it)
{
	struct world w;
	struct json_object *rows, *row;
	struct err err = { 0 };

	begin_on_node(&w, NULL);
	must(&w, "agent_spawn", ASK("c1", CODER));
	rows = plan_world_must(&w.plans, "team.tree", "{}");
	ck_assert_uint_eq(json_object_array_length(rows), 2);
	ck_assert_msg(
	    schema_check(api_find("team.tree")->result, rows, "", &err) == 0,
	    "%s", err.msg);
	row = json_object_array_get_idx(rows, 0);
	ck_assert_str_eq(text(row, "actor_id"), "actor:task:t1");
	ck_assert_str_eq(text(row, "parent_actor_id"), ACTOR_OVERSEER);
	ck_assert_str_eq(text(row, "worker"), "auto-1");
	ck_assert_str_eq(text(row, "runStatus"), "running");
	ck_assert_int_eq(json_int_or(row, "depth", 0), 1);
	row = json_object_array_get_idx(rows, 1);
	ck_assert_str_eq(text(row, "actor_id"), "actor:team:coder:coder-1");
	ck_assert_str_eq(text(row, "parent_actor_id"), "actor:task:t1");
	ck_assert_int_eq(json_int_or(row, "depth", 0), 2);
	end(&w);
}
