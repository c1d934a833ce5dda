/* SPDX-License-Identifier: ISC */

/* Agents ask for other agents: nodes of plans, and answers. */
#include "mail-world.h"
#include "book.h"
#include "schema.h"
#include "team-private.h"

#define KILLS 8 /* passes of the loop that a call takes at most, about */

static void
begin(const char *more)
{
	mail_world_open(more, NULL);
	plan_world_live();
}

static void
die(void)
{
	mail_world_die();
	plan_world_settle();
	floor_world_settle();
}

/* auto-1 is in a turn on T1.1 of goal_a; t1. */
static void
begin_on_node(const char *more)
{
	begin(more);
	plan_world_goal("goal_a", 1);
	auto_world_turn(1);
	plan_world_settle();
}

/* auto-1 is in a turn on t1, which comes from a folder. */
static void
begin_on_task(const char *more)
{
	mail_world_open(more, NULL);
	auto_world_task("a.md", "Add a file\n\nAny file.\n");
	plan_world_live();
	auto_world_turn(1);
	plan_world_settle();
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
is_taken(const char *goal, const char *want)
{
	floor_world_wait(is_begun, plan_world_plan(goal));
	plan_world_is(goal, want);
}

/* --- calls ------------------------------------------------------------- */

static struct floor_call *
ask(const char *tool, const char *params)
{
	return mail_world_ask("auto-1", tool, params);
}

static struct json_object *
must(const char *tool, const char *params)
{
	return floor_world_result(ask(tool, params));
}

static void
refused(const char *tool, const char *params, int code, const char *words)
{
	floor_world_refused(ask(tool, params), code, words);
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
	struct json_object *answer;
	const struct plan_node *node;
	const struct task_launch *run = NULL;
	int64_t version;

	begin_on_node(NULL);
	version = plan_world_plan("goal_a")->goal->version;
	answer = must("agent_spawn",
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
	is_taken("goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->version, version + 1);
	node = plan_world_node("goal_a", "T1.2");
	ck_assert_str_eq(node->name, "coder: Write it.");
	ck_assert_str_eq(node->objective, "Write it.\nAll.");
	ck_assert_str_eq(node->scope_paths[0], "src");
	ck_assert(
	    json_object_object_get_ex(node->verification, "artifacts", NULL));
	run = node->spawn;
	ck_assert_str_eq(run->parent, "t1");
	ck_assert_str_eq(run->parent_actor, "actor:task:t1");
	ck_assert(run->depth == 2 && run->max_depth == 3 &&
	    run->local_max_depth == 3);
	ck_assert_str_eq(run->model, "opus");
	ck_assert_str_eq(plan_world_node("goal_a", "T1.3")->name, "Eyes");
}

TEST(a_request_is_stored_when_it_is_answered)
{
	begin_on_node(NULL);
	must("agent_spawn", ASK("c1", CODER));
	die();
	ck_assert_ptr_nonnull(plan_world_node("goal_a", "T1.2"));
	ck_assert_ptr_nonnull(plan_world_node("goal_a", "T1.2")->spawn);
	ck_assert_str_eq(plan_world_plan("goal_a")->goal->revisions[0].actor,
	    ACTOR_OVERSEER);
}

TEST(those_who_are_denied_are_named_with_the_reason)
{
	struct json_object *answer;

	begin_on_node("[team]\nallowed_roles = [\"coder\"]\n");
	answer = must("agent_spawn", ASK("c1", CODER "," REVIEWER));
	ck_assert(json_bool_or(answer, "accepted", false));
	ck_assert_str_eq(text(answer, "message"), "some agents were denied");
	ck_assert_uint_eq(length(answer, "spawned_agents"), 1);
	ck_assert_str_eq(
	    text(member(answer, "denied_agents", 0), "role"), "reviewer");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "policy_violation");
	answer = must("agent_spawn", ASK("c2", REVIEWER));
	ck_assert(!json_bool_or(answer, "accepted", true));
	ck_assert_str_eq(text(answer, "reason"), "policy_violation");
	ck_assert_str_eq(
	    text(answer, "message"), "all requested agents were denied");
	ck_assert_str_ne(text(answer, "suggestion"), "");
	is_taken("goal_a", "active; T1.1 in_progress; T1.2 in_progress; ");
}

TEST(limits_count_what_was_accepted_before)
{
	struct json_object *answer;

	begin_on_node("[team]\nmax_concurrent = 2\n");
	must("agent_spawn", ASK("c1", CODER));
	answer = must("agent_spawn", ASK("c2", CODER "," CODER));
	ck_assert_uint_eq(length(answer, "spawned_agents"), 1);
	ck_assert_str_eq(text(member(answer, "spawned_agents", 0), "actor_id"),
	    "actor:team:coder:coder-2");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "resource_exhausted");
}

TEST(an_agent_at_the_limit_of_depth_is_denied_whatever_it_says)
{
	struct json_object *answer;
	struct task_launch *run;

	begin_on_node(NULL);
	run = &auto_world_of("t1")->launch;
	run->parent = xstrdup("t0");
	run->actor = xstrdup("actor:team:x:y-1");
	run->depth = run->max_depth = run->local_max_depth = 3;
	answer = must("agent_spawn", ASK("c1", CODER));
	ck_assert(!json_bool_or(answer, "accepted", true));
	ck_assert_str_eq(
	    text(answer, "reason"), "all_requests_exceed_depth_limit");
	ck_assert_str_eq(text(member(answer, "denied_agents", 0), "reason"),
	    "depth_limit_exceeded");
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
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
has_mail(const char *subject, const char *state)
{
	cleanup_buf struct buf mails = BUF_INIT;
	cleanup_free char *want = xasprintf("%s %s; ", subject, state);

	ck_assert_int_eq(book_read_bodies(auto_world.core->book, BOOK_MAIL,
			     NULL, NULL, on_mail, &mails, NULL),
	    0);
	ck_assert_msg(
	    strstr(mails.data, want) != NULL, "%s: %s", want, mails.data);
}

TEST(a_bad_entry_denies_itself_alone)
{
	struct json_object *answer;

	begin_on_node(NULL);
	answer = must("agent_spawn",
	    ASK("c1",
		CODER ",{\"role\":7,\"task\":\"x\"},{\"role\":\"coder\","
		      "\"task\":\"x\",\"colour\":\"red\"},\"coder\""));
	ck_assert_uint_eq(length(answer, "spawned_agents"), 1);
	ck_assert_uint_eq(length(answer, "denied_agents"), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(
		    text(member(answer, "denied_agents", i), "reason"),
		    "malformed");
	floor_has(text(member(answer, "denied_agents", 1), "message"),
	    "colour: unknown member");
}

TEST(the_request_is_a_message_to_the_overseer)
{
	struct json_object *answer, *list, *mail = NULL;
	const struct task_launch *run;

	begin_on_node(NULL);
	answer = must("agent_spawn", ASK("c1", CODER));
	ck_assert_str_eq(
	    text(member(answer, "spawned_agents", 0), "session_id"),
	    "none yet");
	has_mail("spawn.request:goal_a:T1.1", "done");
	list = plan_world_must("mail.inbox", "{\"all\":true}");
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (text_begins(
			text(json_object_array_get_idx(list, i), "subject"),
			"spawn.request:"))
			mail = json_object_array_get_idx(list, i);
	ck_assert_ptr_nonnull(mail);
	ck_assert_str_eq(text(mail, "to"), "actor:system:overseer");
	ck_assert_str_eq(text(mail, "kind"), "instruction");
	ck_assert(json_bool_or(mail, "ack_required", false));
	mail = json_object_object_get(mail, "body");
	ck_assert_str_eq(text(mail, "spawn_reason"), "two parts");
	ck_assert_int_eq(json_int_or(mail, "caller_depth", 0), 1);
	ck_assert_uint_eq(length(mail, "requested_subagents"), 1);
	run = plan_world_node("goal_a", "T1.2")->spawn;
	ck_assert_str_eq(run->root_actor, "actor:system:overseer");
}

TEST(the_answer_to_a_request_is_mail)
{
	cleanup_free char *accepted = NULL, *denied = NULL;
	struct json_object *answer;

	begin_on_node("[team]\nallowed_roles = [\"coder\"]\n");
	answer = must("agent_spawn", ASK("c1", CODER));
	accepted =
	    xasprintf("spawn.accepted:goal_a:%s", text(answer, "request_id"));
	/* The tool has said it: it is not delivered. */
	has_mail(accepted, "done");
	answer = must("agent_spawn", ASK("c2", REVIEWER));
	denied =
	    xasprintf("spawn.denied:goal_a:%s", text(answer, "request_id"));
	has_mail(denied, "done");
}

TEST(without_waiting_the_answer_comes_by_mail)
{
	cleanup_free char *accepted = NULL;
	struct json_object *answer;

	begin_on_node(NULL);
	answer = must("agent_spawn",
	    "{\"wait\":false,\"spawn_reason\":\"x\","
	    "\"requested_subagents\":[" CODER "]}");
	ck_assert_ptr_null(json_object_object_get(answer, "accepted"));
	accepted =
	    xasprintf("spawn.accepted:goal_a:%s", text(answer, "request_id"));
	has_mail(accepted, "open");
}

static char *
spawn_once(void)
{
	struct json_object *answer = must("agent_spawn",
	    ASK("c1", CODER "," CODER ",{\"role\":\"?\",\"task\":\"x\"}"));
	cleanup_buf struct buf printed = BUF_INIT;

	json_print(answer, false, &printed);
	return buf_take(&printed);
}

/* The agents in the answer that have a session, which is that of a worker; and
 * the answer as it is without. */
static size_t
take_sessions(char **answer)
{
	cleanup_json struct json_object *json = json_tokener_parse(*answer);
	cleanup_buf struct buf printed = BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < length(json, "spawned_agents"); i++) {
		struct json_object *one = member(json, "spawned_agents", i);
		const struct state *state = &auto_world.core->state;
		bool known = false;

		if (text_is(text(one, "session_id"), "none yet"))
			continue;
		for (size_t j = 0; j < state->count; j++)
			known |= text_is(state->workers[j]->session.id,
			    text(one, "session_id"));
		ck_assert_msg(known, "no such session: %s", *answer);
		json_set_string(one, "session_id", "none yet");
		count++;
	}
	json_print(json, false, &printed);
	free(*answer);
	*answer = buf_take(&printed);
	return count;
}

TEST(a_call_that_is_made_again_changes_nothing)
{
	cleanup_free char *first = NULL, *second = NULL, *third = NULL;

	begin_on_node(NULL);
	first = spawn_once();
	second = spawn_once();
	ck_assert_str_eq(first, second);
	die();
	/* But that its session may have begun by now. */
	third = spawn_once();
	take_sessions(&third);
	ck_assert_str_eq(first, third);
	is_taken("goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
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
	struct floor_call *call;
	int passes = _i;
	cleanup_free char *answer = NULL;

	begin_on_node(NULL);
	call = ask("agent_spawn",
	    ASK("c1", CODER "," CODER ",{\"role\":\"?\",\"task\":\"x\"}"));
	floor_world_wait_closely(is_over, &passes);
	if (!floor_call_is_answered(call))
		floor_call_hang_up(call);
	die();
	answer = spawn_once();
	ck_assert_ptr_nonnull(strstr(answer, "some agents were denied"));
	is_taken("goal_a",
	    "active; T1.1 in_progress; T1.2 in_progress; T1.3 in_progress; ");
}

/* --- a parent that is in no plan --------------------------------------- */

TEST(the_agents_of_a_pool_task_get_a_goal_of_their_own)
{
	const char *goal;

	begin_on_task(NULL);
	must("agent_spawn", ASK("c1", CODER));
	must("agent_spawn", ASK("c2", REVIEWER));
	goal = auto_world_of("t1")->launch.goal;
	ck_assert_ptr_nonnull(goal);
	is_taken(goal, "active; T1.1 in_progress; T1.2 in_progress; ");
	ck_assert_str_eq(
	    plan_world_plan(goal)->goal->title, "Delegated by t1: Add a file");
	ck_assert_int_eq(plan_world_plan(goal)->goal->version, 2);
	ck_assert_int_eq(plan_world_events("goal.created"), 1);
}

TEST(that_goal_is_found_again_by_the_next_daemon)
{
	cleanup_free char *goal = NULL;

	begin_on_task(NULL);
	must("agent_spawn", ASK("c1", CODER));
	goal = xstrdup(auto_world_of("t1")->launch.goal);
	die();
	must("agent_spawn", ASK("c2", REVIEWER));
	ck_assert_str_eq(auto_world_of("t1")->launch.goal, goal);
	is_taken(goal, "active; T1.1 in_progress; T1.2 in_progress; ");
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
	struct agent *agent;
	struct ending ending;
	const char *goal;

	begin_on_task(NULL);
	must("agent_spawn", ASK("c1", CODER));
	goal = auto_world_of("t1")->launch.goal;
	agent = auto_world_turn_on("t2");
	ck_assert_str_eq(agent->worker->name, "team-1");
	floor_world_wt(
	    "team-1", "echo x > c.txt; git add c.txt; git commit -qm 'add c'");
	fake_session_turn_ends(agent->session, "Done.");
	ending = (struct ending){ plan_world_plan(goal), GOAL_COMPLETED };
	floor_world_wait(has_ended, &ending);
	plan_world_is(goal, "completed; T1.1 done; ");
	/* The next ones get another. */
	must("agent_spawn", ASK("c2", CODER));
	ck_assert_str_ne(
	    auto_world_of("t1")->launch.goal, ending.plan->goal->id);
	ending =
	    (struct ending){ plan_world_plan(auto_world_of("t1")->launch.goal),
		    GOAL_CANCELLED };
	auto_world_turn_on("t3");
	plan_world_must("task.drop", "{\"task\":\"t3\"}");
	floor_world_wait(has_ended, &ending);
}

/* --- refusals ---------------------------------------------------------- */

TEST(nobody_can_ask_while_it_makes_no_sense)
{
	struct task *t;

	begin_on_node(NULL);
	t = auto_world_of("t1");
	t->abort_why = xstrdup("");
	refused(
	    "agent_spawn", ASK("c1", CODER), API_FAILED, "is being aborted");
	xstrset(&t->abort_why, NULL);
	plan_world_must("overseer.goal.pause", "{\"goal\":\"goal_a\"}");
	refused("agent_spawn", ASK("c2", CODER), API_FAILED, "is paused");
	plan_world_must("overseer.goal.resume", "{\"goal\":\"goal_a\"}");
	must("agent_spawn", ASK("c3", CODER));
}

TEST(without_goals_there_is_nobody_to_ask_for)
{
	auto_world_begin("[plan]\nenabled = false\n");
	plan_world.floor = plan_floor_new(auto_world.mode);
	mail_world.team = team_floor_new(plan_world.floor);
	auto_world_task("a.md", "Add a file\n");
	auto_world_live();
	auto_world_turn(1);
	refused("agent_spawn", ASK("c1", CODER), API_FAILED,
	    "llmc config set plan.enabled true");
	ck_assert_uint_eq(length(must("agent_status", "{}"), "agents"), 0);
	ck_assert_uint_eq(
	    json_object_array_length(plan_world_must("team.tree", "{}")), 1);
}

TEST(nor_while_auto_workers_may_not_work_on_goals)
{
	begin("allow_agents = [\"eve\"]\n");
	auto_world_task("a.md", "Add a file\n");
	auto_world_turn(1);
	plan_world_settle();
	refused("agent_spawn", ASK("c1", CODER), API_FAILED,
	    "llmc config set plan.allow_agents");
}

/* --- agent_status, team.tree ------------------------------------------- */

TEST(an_agent_sees_only_those_below_it)
{
	struct json_object *answer;

	begin_on_node(NULL);
	must("agent_spawn", ASK("c1", CODER "," REVIEWER));
	answer = must("agent_status", "{}");
	ck_assert_uint_eq(length(answer, "agents"), 2);
	ck_assert_str_eq(
	    text(member(answer, "agents", 0), "runStatus"), "queued");
	ck_assert_str_eq(text(member(answer, "agents", 0), "node"), "T1.2");
	answer = must("agent_status",
	    "{\"actor_id\":\"actor:team:reviewer:reviewer-1\"}");
	ck_assert_uint_eq(length(answer, "agents"), 1);
	refused("agent_status", "{\"actor_id\":\"actor:task:t1\"}",
	    API_E_NOT_FOUND, "no such agent works for you");
}

TEST(the_tree_has_each_agent_below_the_one_that_asked_for_it)
{
	struct json_object *rows, *row;
	struct err err = { 0 };

	begin_on_node(NULL);
	must("agent_spawn", ASK("c1", CODER));
	rows = plan_world_must("team.tree", "{}");
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
}

TEST(the_tree_has_who_has_ended_for_a_day)
{
	const int64_t day_ms = (int64_t)24 * 3600 * 1000;
	struct plan_node *node;

	begin_on_node(NULL);
	must("agent_spawn", ASK("c1", CODER));
	node = plan_world_node("goal_a", "T1.2");
	for (int ended = 0; ended < 2; ended++) {
		node->ended_ms = clock_wall_ms() - day_ms + !ended * 60000;
		ck_assert_uint_eq(json_object_array_length(
				      plan_world_must("team.tree", "{}")),
		    2 - ended);
	}
	node->ended_ms = 0;
}
