/* SPDX-License-Identifier: ISC */

/* Mail between the agents and people of two hosts. */

#include "hosts-world.h"

#include "outcome.h"
#include "plan-floor.h"
#include "team-floor.h"
#include "workspace.h"

static struct {
	struct plan_floor *plan;
	struct team_floor *team;
} family;

static void
open_family(void)
{
	family.plan = plan_floor_new(auto_world.mode);
	family.team = team_floor_new(family.plan);
}

static void
close_family(void)
{
	team_floor_free(take_ptr(&family.team));
	plan_floor_free(take_ptr(&family.plan));
}

static void
join_family(void)
{
	open_family();
	unit_at_end(close_family);
}

static bool
is_open(void *arg)
{
	return ((struct team_floor *)arg)->open;
}

static void
live(void)
{
	hosts_world_live();
	floor_world_wait(is_open, family.team);
}

/* Host a with an agent on t1-a. */
static void
begin(void)
{
	hosts_world_begin("concurrency = 2\n[plan]\nenabled = true\n");
	join_family();
	auto_world_task("a.md", "Do it\n");
	live();
	auto_world_turn_on("t1-a");
}

static void
die(void)
{
	close_family();
	hosts_floor_free(take_ptr(&hosts_world.floor));
	auto_world_reopen();
	hosts_world.floor = hosts_floor_new(auto_world.mode);
	open_family();
	live();
}

#define SEND(to)                                                      \
	floor_world_ask("mail.send",                                  \
	    "{\"to\":\"" to "\",\"subject\":\"news\",\"body\":\"the " \
	    "text\"}")

/* The first letter to b, "ID,a,METHOD,PARAMS;". */
static const char *
letter_to_b(void)
{
	const char *text;

	for (int i = 0; i < 2000; i++) {
		text = hosts_world_says(&SHARED_CALL0(SHARED_LETTER_TAKE), 1);
		if (*text != '\0')
			return text;
		hosts_world_polls();
	}
	ck_abort_msg("no letter came");
}

/* What b says of the first letter to it. */
static void
b_answers(const char *state, const char *result)
{
	const char *text = letter_to_b();
	cleanup_free char *id = xstrndup(text, strcspn(text, ","));

	ck_assert_str_ne(
	    SAYS(SHARED_LETTER_DONE, BOOK_T(id), BOOK_T(state), BOOK_T(result)),
	    "");
}

static const char *
shown(const char *id)
{
	cleanup_free char *params = xasprintf("{\"id\":\"%s\"}", id);
	struct floor_call *call = floor_world_ask("mail.show", params);

	ck_assert_ptr_null(floor_world_answer(call));
	return json_object_to_json_string_ext(
	    floor_call_result(call), JSON_C_TO_STRING_PLAIN);
}

TEST(mail_to_an_agent_of_another_host_is_given_to_that_host)
{
	struct floor_call *call;
	const char *id;

	begin();
	call = SEND("b:auto-1");
	ck_assert_ptr_nonnull(strstr(letter_to_b(), ",a,mail.deliver,"));
	ck_assert_ptr_nonnull(strstr(letter_to_b(), "the text"));
	b_answers(
	    "done", "{\"id\":\"x\",\"to\":\"y\",\"to_worker\":\"auto-1\"}");
	hosts_world_polls();
	ck_assert_ptr_null(floor_world_answer(call));
	id = json_string_or(floor_call_result(call), "id", "");
	ck_assert_ptr_nonnull(strstr(shown(id), "\"status\":\"done\""));
	ck_assert_ptr_nonnull(strstr(shown(id), "\"to_worker\":\"auto-1\""));
}

TEST(words_say_why_mail_cannot_be_delivered)
{
	struct floor_call *call;

	begin();
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(SEND("c:auto-1")), "the fleet has no host c"));
	call = SEND("b:auto-9");
	b_answers("failed", "there is no auto-9");
	hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "there is no auto-9"));
	/* A host that leaves does nothing any more. */
	call = SEND("b:auto-1");
	letter_to_b();
	hosts_world_sql("update host set state='gone' where host='b'");
	hosts_world_polls();
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "host b has left the fleet"));
	ck_assert_str_eq(
	    hosts_world_says(&SHARED_CALL0(SHARED_LETTER_TAKE), 1), "");
}

/* The daemon dies while the letter waits: it is the same letter then. */
TEST(mail_waits_for_a_host_that_is_away_and_is_sent_once)
{
	cleanup_free char *before = NULL;

	begin();
	SEND("b:auto-1");
	before = xstrdup(letter_to_b());
	die();
	for (int i = 0; i < 20; i++) {
		hosts_world_polls();
		floor_world_settle();
	}
	ck_assert_str_eq(letter_to_b(), before);
}

#define MAIL_OF(from, to)                                                     \
	"{\"mail\":{\"id\":\"M_a12\",\"actor\":\"" to "\",\"sender\":\"" from \
	"\",\"subject\":\"news\",\"body\":\"the text\",\"ts\":1}}"

/* --- to this host --------------------------------------------------------- */

static int
count_mail(const char *worker)
{
	return (int)json_object_array_length(
	    json_object_object_get(floor_world_result(floor_world_ask_as(
				       worker, "team.mail_inbox", "{}")),
		"mail"));
}

/* Another host is no person here, and gives orders to nobody whose task it has
 * not given. */
TEST_ROWS(who_may_write_to_an_agent_of_this_host, 6)
{
	static const struct {
		const char *mail, *words;
	} rows[] = {
		{ MAIL_OF("actor:task:t9-b", "actor:task:t1-a"),
		    "is not the parent" },
		{ MAIL_OF("actor:system:person", "actor:task:t77-a"),
		    "there is no actor:task:t77-a" },
		{ "{\"mail\":{}}", "mail" },
		{ MAIL_OF("actor:system:person", "actor:task:t1-a"), "by ssh" },
		{ MAIL_OF("actor:system:overseer", "actor:task:t1-a"),
		    "is not the parent" },
		{ MAIL_OF("actor:system:person", "actor:system:person"),
		    "written to by agents" },
	};

	begin();
	SAYS(SHARED_LETTER_POST, BOOK_T("l1"), BOOK_T("a"),
	    BOOK_T("mail.deliver"), BOOK_T(rows[_i].mail));
	hosts_world_wait_letter("l1", ",a,mail.deliver,failed,");
	ck_assert_ptr_nonnull(
	    strstr(SAYS(SHARED_LETTER_READ, BOOK_T("l1")), rows[_i].words));
}

/* --- agents that were spawned ------------------------------------- */

static const char *
tool(const char *task, const char *name, const char *params)
{
	const char *worker = state_task(&auto_world.core->state, task)->worker;
	cleanup_free char *method = xasprintf("team.%s", name);

	return floor_world_answer(floor_world_ask_as(worker, method, params));
}

/* The only worker of a is busy with the parent of t2-a, which b may have. */
static void
spawn(const char *more)
{
	cleanup_free char *settings =
	    xasprintf("[plan]\nenabled = true\n%s", more != NULL ? more : "");

	hosts_world_begin(settings);
	join_family();
	auto_world_task("a.md", "Do it\n");
	live();
	auto_world_turn_on("t1-a");
	ck_assert_ptr_null(tool("t1-a", "agent_spawn",
	    "{\"requested_subagents\":[{\"role\":\"coder\",\"label\":\"c\","
	    "\"task\":\"Make c.\",\"runTimeoutSeconds\":600}],"
	    "\"spawn_reason\":\"x\"}"));
}

static void
b_takes(const char *task)
{
	const struct shared_call calls[] = {
		SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T(task)),
		SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T(B_BOOT)),
	};

	SAYS(SHARED_CAN_SET, BOOK_T("team"));
	SAYS(SHARED_CAN_SET, BOOK_T("sandbox:off"));
	hosts_world_wait_row(task, "queued - 0");
	ck_assert_str_ne(hosts_world_says(calls, 2), "");
	hosts_world_polls();
	auto_world_wait_step(task, TASK_ELSEWHERE);
}

#define CHILD "actor:team:coder:coder-1"

TEST(a_child_goes_to_another_host_with_all_that_limits_it)
{
	const char *row;

	spawn("[budget]\ntask_turns = 7\n[workers.auto-1]\n"
	      "disallowed_tools = [\"WebFetch\"]\n"
	      "permission_mode = \"plan\"\n");
	b_takes("t2-a");
	row = SAYS(SHARED_TASK_READ, BOOK_T("t2-a"));
	ck_assert_ptr_nonnull(strstr(row, "\"parent\":\"t1-a\""));
	ck_assert_ptr_nonnull(strstr(row, "\"depth\":2"));
	ck_assert_ptr_nonnull(strstr(row, "\"timeout_s\":600"));
	ck_assert_ptr_nonnull(strstr(row, "\"budget_turns\":7"));
	ck_assert_ptr_nonnull(strstr(row, "WebFetch"));
	ck_assert_ptr_nonnull(strstr(row, "\"permission_mode\":\"plan\""));
	ck_assert_ptr_nonnull(strstr(row, "\"sandbox\":\""));
	ck_assert_ptr_null(strstr(row, "confined_by"));
}

TEST(the_result_of_a_child_elsewhere_comes_to_its_parent)
{
	spawn(NULL);
	b_takes("t2-a");
	ck_assert_str_ne(
	    SAYS(SHARED_FINISH, BOOK_T("t2-a"), BOOK_I(1), BOOK_T(B_BOOT),
		BOOK_T("done"),
		BOOK_T("{\"outcome\":\"no_changes\",\"attempts\":1,"
		       "\"last_words\":\"Found it.\"}"),
		BOOK_T(NULL)),
	    "");
	hosts_world_polls();
	auto_world_wait_step("t2-a", -1);
	ck_assert_int_eq(
	    count_mail(state_task(&auto_world.core->state, "t1-a")->worker),
	    2); /* with the answer to the spawn */
}

TEST(a_child_that_no_host_wants_begins_at_home)
{
	spawn(NULL);
	hosts_world_wait_row("t2-a", "queued - 0");
	auto_world_turn_on("t2-a");
	ck_assert_str_eq(hosts_world_row("t2-a"), "claimed a 1");
}

TEST(a_parent_that_ends_badly_ends_its_child_elsewhere)
{
	spawn(NULL);
	b_takes("t2-a");
	outcome_settle(auto_world.mode,
	    state_task(&auto_world.core->state, "t1-a"), OUTCOME_FAILED, "no");
	hosts_world_wait_row("t2-a", "dropped b 2");
}

TEST(a_question_of_a_child_elsewhere_is_answered_by_its_parent)
{
	spawn(NULL);
	b_takes("t2-a");
	SAYS(SHARED_LETTER_POST, BOOK_T("l1"), BOOK_T("a"),
	    BOOK_T("mail.deliver"),
	    BOOK_T("{\"mail\":{\"id\":\"M_a12\",\"actor\":\"actor:task:t1-a\","
		   "\"sender\":\"" CHILD "\",\"subject\":\"request:R_1\","
		   "\"body\":\"Which?\",\"ts\":1}}"));
	hosts_world_wait_letter("l1", ",a,mail.deliver,done,");
	ck_assert_ptr_null(tool("t1-a", "respond_orchestrator_request",
	    "{\"requestId\":\"R_1\",\"response\":\"blue\"}"));
	ck_assert_ptr_nonnull(strstr(letter_to_b(), "answer:R_1"));
	ck_assert_ptr_nonnull(strstr(letter_to_b(), "blue"));
}

/* t7-b was spawned by t1-b. */
static void
b_spawns(void)
{
	ck_assert_str_ne(
	    SAYS(SHARED_PUBLISH, BOOK_T("t7-b"), BOOK_I(1), BOOK_T(NULL),
		BOOK_T("main"), BOOK_T("c"),
		BOOK_T("{\"title\":\"c\",\"text\":\"Make c.\",\"key\":\"g1/"
		       "T1.2\",\"run\":{\"parent\":\"t1-b\","
		       "\"parent_actor\":\"actor:task:t1-b\",\"actor\":\"" CHILD
		       "\",\"role\":\"coder\",\"depth\":2,\"max_depth\":2,"
		       "\"local_max_depth\":2,\"tools_deny\":[\"WebFetch\"]}}"),
		BOOK_I(0)),
	    "");
}

/* t7-b, that the agent of t1-b has asked for, is done here. */
static struct agent *
run_child(void)
{
	hosts_world_begin("[plan]\nenabled = true\n");
	join_family();
	live();
	b_spawns();
	hosts_world_polls();
	return auto_world_turn_on("t7-b");
}

/* Its answer was lost, and b says it again. */
TEST(mail_of_another_host_is_there_once)
{
	run_child();
	for (int i = 0; i < 2; i++) {
		const char *id = i == 0 ? "l1" : "l2";

		SAYS(SHARED_LETTER_POST, BOOK_T(id), BOOK_T("a"),
		    BOOK_T("mail.deliver"),
		    BOOK_T(MAIL_OF("actor:system:person", "auto-1")));
		hosts_world_wait_letter(id, ",a,mail.deliver,done,");
	}
	ck_assert_int_eq(count_mail("auto-1"), 1);
	ck_assert_ptr_nonnull(strstr(shown("M_a12"), "\"to\":\"" CHILD "\""));
	ck_assert_ptr_nonnull(strstr(shown("M_a12"), "\"sender_host\":\"b\""));
}

/* The daemon died in the middle of it. */
TEST(a_letter_with_mail_is_begun_again)
{
	run_child();
	SAYS(SHARED_LETTER_POST, BOOK_T("l1"), BOOK_T("a"),
	    BOOK_T("mail.deliver"),
	    BOOK_T(MAIL_OF("actor:system:person", "auto-1")));
	close_family();
	hosts_floor_free(take_ptr(&hosts_world.floor));
	BOOK_RUN(auto_world.core->book,
	    "INSERT INTO host_letter(id, from_host, method, params, state) "
	    "VALUES('l1', 'b', 'mail.deliver', $1, 'begun')",
	    BOOK_T(MAIL_OF("actor:system:person", "auto-1")));
	ck_assert_int_eq(book_commit(auto_world.core->book, NULL), 0);
	auto_world_reopen();
	hosts_world.floor = hosts_floor_new(auto_world.mode);
	open_family();
	live();
	hosts_world_wait_letter("l1", ",a,mail.deliver,done,");
}

static void
b_writes(const char *id, const char *subject, const char *body)
{
	cleanup_free char *mail = xasprintf(
	    "{\"mail\":{\"id\":\"M_b%s\",\"actor\":\"" CHILD
	    "\",\"sender\":\"actor:task:t1-b\",\"subject\":\"%s\",\"body\":"
	    "\"%s\",\"ts\":1}}",
	    id, subject, body);

	SAYS(SHARED_LETTER_POST, BOOK_T(id), BOOK_T("a"),
	    BOOK_T("mail.deliver"), BOOK_T(mail));
	hosts_world_wait_letter(id, ",a,mail.deliver,done,");
}

TEST(a_child_of_another_host_writes_to_its_parent_and_is_limited)
{
	const struct agent *agent = run_child();

	ck_assert_str_eq(agent->worker->name, "auto-1");
	ck_assert_ptr_null(tool("t7-b", "mail_send",
	    "{\"to\":\"parent\",\"subject\":\"x\",\"body\":\"y\"}"));
	ck_assert_ptr_nonnull(
	    strstr(letter_to_b(), "\"actor\":\"actor:task:t1-b\""));
	b_writes("1", "news", "z");
	ck_assert_int_eq(count_mail("auto-1"), 1);
}

TEST(a_child_of_another_host_asks_its_parent)
{
	struct floor_call *call;
	cleanup_free char *subject = NULL;
	const char *text;

	run_child();
	call = floor_world_ask_as("auto-1", "team.request_orchestrator",
	    "{\"message\":\"Which?\",\"call\":\"c1\"}");
	text = strstr(letter_to_b(), "request:R_");
	ck_assert_ptr_nonnull(text);
	subject = xasprintf("answer:%.*s",
	    (int)strcspn(text + strlen("request:"), "\""),
	    text + strlen("request:"));
	b_writes("1", subject, "blue");
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "response", ""), "blue");
}

TEST(the_next_attempt_knows_whom_a_lost_host_has_asked_for)
{
	hosts_world_begin("[plan]\nenabled = true\n");
	join_family();
	auto_world_task("a.md", "Do it\n");
	SAYS(SHARED_PUBLISH, BOOK_T("t7-b"), BOOK_I(1), BOOK_T(NULL),
	    BOOK_T("main"), BOOK_T("Make c"), BOOK_T("{}"), BOOK_I(0));
	SAYS(SHARED_PUBLISH_PARENT, BOOK_T("t7-b"), BOOK_T("t6-b"));
	SAYS(SHARED_PUBLISH_WANT, BOOK_T("t7-b"), BOOK_T("nowhere"));
	SAYS(SHARED_PUBLISH, BOOK_T("t6-b"), BOOK_I(1), BOOK_T(NULL),
	    BOOK_T("main"), BOOK_T("x"),
	    BOOK_T("{\"title\":\"x\",\"text\":\"Make x.\"}"), BOOK_I(0));
	hosts_world_sql("update task set fence=2 where task='t6-b'");
	live();
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(auto_world_turn_on("t6-b")->session),
		"t7-b (Make c, of host b): queued"));
}

/* c, which had t1-b and has asked for t7-b, is lost; b works on that, and ends
 * it, or gives it back. */
TEST_ROWS(the_next_attempt_owns_whom_a_lost_host_has_asked_for, 2)
{
	const struct shared_call claim =
	    SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T("t7-b"));

	hosts_world_begin("[plan]\nenabled = true\n");
	join_family();
	b_spawns();
	SAYS(SHARED_PUBLISH_PARENT, BOOK_T("t7-b"), BOOK_T("t1-b"));
	ck_assert_str_ne(hosts_world_says(&claim, 1), "");
	SAYS(SHARED_PUBLISH, BOOK_T("t1-b"), BOOK_I(1), BOOK_T(NULL),
	    BOOK_T("main"), BOOK_T("x"),
	    BOOK_T("{\"title\":\"x\",\"text\":\"Make x.\"}"), BOOK_I(0));
	hosts_world_sql("update task set fence=2 where task='t1-b';"
			"update task set owner='c' where task='t7-b'");
	live();
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(auto_world_turn_on("t1-b")->session),
		"These work for you, and you get their results: coder-1 "
		"(t7-b)"));
	auto_world_wait_step("t7-b", TASK_ELSEWHERE);
	ck_assert_int_eq(
	    strncmp(SAYS(SHARED_TASK_READ, BOOK_T("t7-b")), "t7-b,a,", 7), 0);
	if (_i == 0)
		SAYS(SHARED_FINISH, BOOK_T("t7-b"), BOOK_I(1), BOOK_T(B_BOOT),
		    BOOK_T("done"),
		    BOOK_T("{\"outcome\":\"no_changes\",\"attempts\":1,"
			   "\"last_words\":\"Found it.\"}"),
		    BOOK_T(NULL));
	else
		SAYS(SHARED_GIVE_BACK, BOOK_T("t7-b"), BOOK_I(1),
		    BOOK_T(B_BOOT), BOOK_T("not now"));
	hosts_world_sql("update task set not_before=0");
	hosts_world_polls();
	if (_i == 1)
		fake_session_turn_ends(
		    auto_world_turn_on("t7-b")->session, "Found it.");
	auto_world_wait_step("t7-b", -1);
	ck_assert_int_eq(
	    count_mail(state_task(&auto_world.core->state, "t1-b")->worker), 1);
}
