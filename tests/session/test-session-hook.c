/* SPDX-License-Identifier: ISC */

/* What a session's hooks report. */
#include "session-world.h"
#include "hook-event.h"
#include "session-hook.h"

/* A call of which only the address matters. */
static struct server_call *
some_call(void)
{
	static int call;

	return (struct server_call *)&call;
}

TEST(the_end_of_a_turn_is_the_owners_to_answer)
{
	world_begin();
	world_up();
	w.record.busy = true;
	world_hook("PreToolUse", "{}", NULL);
	ck_assert(world_hook(
	    "Stop", "{\"last_assistant_message\":\"all done\"}", some_call()));
	world_expect("progressed turn:all done");
	ck_assert_ptr_eq(w.call, some_call());
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* From the spool: nobody waits. */
	w.record.busy = true;
	world_hook("Stop", "{}", NULL);
	world_expect("progressed unheard-turn");
}

TEST(a_turn_goes_on_in_the_background)
{
	struct session_life life;

	world_begin();
	world_up();
	w.record.busy = true;
	ck_assert(!world_hook(
	    "Stop", "{\"background_tasks\":[{\"id\":\"b1\"}]}", some_call()));
	world_expect("progressed");
	ck_assert(w.record.busy);
	/* It may be silent for as long as in a tool. */
	session_life(w.session, NULL, &life);
	ck_assert(life.tool_open);
	/* Its own notifications are not prompts. */
	world_submits("<task-notification>\nb1 has ended");
	world_expect("");
	/* It is known to wait for that. */
	world_hook(
	    "Notification", "{\"notification_type\":\"idle_prompt\"}", NULL);
	world_expect("");
	ck_assert(world_hook("Stop", "{\"background_tasks\":[]}", some_call()));
	world_expect("progressed turn");
	session_life(w.session, NULL, &life);
	ck_assert(!life.tool_open);
}

#define UUID(digit) "0000000" digit "-4f89-11d3-9a0c-0305e82c3301"
#define CONVERSATION(digit)                                       \
	"\"session_id\":\"" UUID(digit) "\",\"transcript_path\":" \
					"\"/t/" UUID(digit) ".jsonl\""

/* A resumed conversation goes on in its file, or begins with a copy in another
 * one: what is older than the copy was counted before. */
TEST(the_history_of_a_resumed_conversation_is_known)
{
	int64_t before;

	world_begin();
	world_up();
	xstrset(&w.record.projects, NULL); /* any folder */
	world_hook("SessionStart",
	    "{\"source\":\"clear\"," CONVERSATION("a") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
	world_hook("SessionStart",
	    "{\"source\":\"resume\"," CONVERSATION("a") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
	before = clock_wall_ms();
	world_hook("SessionStart",
	    "{\"source\":\"resume\"," CONVERSATION("b") "}", NULL);
	ck_assert_int_ge(w.record.history_ms, before);
	world_hook("SessionStart",
	    "{\"source\":\"clear\"," CONVERSATION("c") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
}

/* The session begins, but what it says is not read. */
TEST(files_elsewhere_are_not_its_conversation)
{
	static const char *const wrong[] = {
		("\"session_id\":\"" UUID("a") "\",\"transcript_path\":"
					       "\"/etc/passwd\""),
		(CONVERSATION("a")),
		"\"session_id\":\"../../x\"",
		("\"session_id\":\"" UUID("a") "\""),
		"\"transcript_path\":\"/etc/passwd\"",
	};

	world_begin();
	world_up();
	for (size_t i = 0; i < nitems(wrong); i++) {
		cleanup_free char *data =
		    xasprintf("{\"source\":\"clear\",%s}", wrong[i]);

		world_hook("SessionStart", data, NULL);
		world_expect("ready:clear");
		ck_assert_str_eq(w.record.id, WORLD_TOLD_ID);
		ck_assert_str_eq(w.record.transcript, w.transcript);
	}
}

/* An agent that names its conversation and then asks for its tools, or the
 * other way: a new one is not one that was resumed. */
TEST(a_named_conversation_is_not_a_resumed_one)
{
	world_begin();
	for (int resumed = 0; resumed < 2; resumed++) {
		world_agent(false);
		world_launch(resumed);
		world_run(100);
		xstrset(&w.record.projects, NULL); /* any folder */
		world_hook(HOOK_EVENT_NAMED, "{" CONVERSATION("a") "}", NULL);
		world_hook(HOOK_EVENT_READY, "{}", NULL);
		world_expect(resumed ? "ready:resume" : "ready:startup");
		ck_assert_str_eq(w.record.id, UUID("a"));
		world_agent_exits();
		world_run(100);
		buf_clear(&w.told);
	}
}

TEST(a_compaction_does_not_end_a_turn)
{
	world_begin();
	world_up();
	w.record.busy = true;
	world_hook("PreCompact", "{}", NULL);
	ck_assert(!world_hook("Stop", "{}", some_call()));
	world_expect("progressed");
	ck_assert(w.record.busy);
	world_hook("SessionStart",
	    "{\"source\":\"compact\",\"session_id\":\"other\"}", NULL);
	world_expect(""); /* no session begins */
	ck_assert_str_eq(w.record.id, WORLD_TOLD_ID);
	ck_assert(world_hook("Stop", "{}", some_call()));
	world_expect("progressed turn");
	/* A compaction that never ended does not hide the next turn. */
	world_hook("PreCompact", "{}", NULL);
	world_submits("typed");
	ck_assert(world_hook("Stop", "{}", some_call()));
	world_expect("typed:typed progressed turn");
}

TEST(an_end_that_was_not_heard_is_noticed)
{
	static const char idle[] = "{\"notification_type\":\"idle_prompt\"}";

	world_begin();
	world_up();
	world_hook("Notification", idle, some_call());
	world_expect(""); /* it is idle, as we know */
	world_submits("typed");
	world_hook("PreToolUse", "{}", NULL);
	world_hook("PreCompact", "{}", NULL);
	ck_assert(!world_hook("Notification", idle, some_call()));
	world_expect("typed:typed unheard-turn");
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* With a pending prompt it is just slow. */
	w.record.busy = true;
	w.typing = false;
	session_prompt(w.session, "x", "1", false);
	world_hook("Notification", idle, NULL);
	world_expect("");
}

TEST(a_permission_dialog_is_told)
{
	world_begin();
	world_up();
	world_hook("Notification",
	    "{\"notification_type\":\"permission_prompt\"}", NULL);
	world_expect("permission");
	world_hook(
	    "Notification", "{\"notification_type\":\"auth_success\"}", NULL);
	world_hook("Notification", "{}", NULL);
	world_expect("");
}

TEST(what_is_typed_by_hand_is_told)
{
	world_begin();
	world_up();
	world_submits("do that");
	world_expect("typed:do that");
	ck_assert(w.record.busy);
	world_submits("[llmc 99] of long ago");
	world_expect("");
}

TEST(tools_are_counted)
{
	int changes;

	world_begin();
	world_up();
	changes = w.changes;
	world_hook("PreToolUse", "{}", NULL);
	world_hook("PreToolUse", "{}", NULL);
	ck_assert_int_eq(w.record.open_tools, 2);
	world_hook("PostToolUse", "{}", NULL);
	world_hook("PostToolUseFailure", "{}", NULL);
	world_hook("PostToolUse", "{}", NULL); /* its start was lost */
	ck_assert_int_eq(w.record.open_tools, 0);
	world_hook("SubagentStop", "{}", NULL);
	world_expect("progressed progressed progressed");
	ck_assert_int_eq(w.changes, changes); /* not worth saving each time */
}

TEST(a_turn_that_fails_is_told)
{
	world_begin();
	world_up();
	w.record.busy = true;
	ck_assert(!world_hook("StopFailure",
	    "{\"error\":\"rate_limit\",\"last_assistant_message\":\"wait\"}",
	    some_call()));
	world_expect("failed:rate_limit wait");
	ck_assert(!w.record.busy);
}

TEST(only_its_own_events_are_heard)
{
	static const char typed[] = "{\"prompt\":\"x\"}";
	cleanup_json struct json_object *data = json_object_new_object();
	const struct hook_event other = { .kind = HOOK_STOP,
		.event = "Stop",
		.worker = "eve",
		.generation = 1,
		.id = "e",
		.data = data };

	world_begin();
	world_up();
	world_hook_of("UserPromptSubmit", typed, 0, "a");
	world_hook_of("UserPromptSubmit", typed, 2, "b");
	world_hook_of("NoSuchEvent", typed, 1, "c");
	world_expect("");
	world_hook_of("UserPromptSubmit", typed, 1, "d");
	world_expect("typed:x");
	world_hook_of("UserPromptSubmit", typed, 1, "d"); /* also in the
							   * spool */
	world_expect("");
	ck_assert(!session_hook(w.session, some_call(), &other));
	world_expect("");
}

TEST(doubles_are_remembered_for_each_session)
{
	static const char typed[] = "{\"prompt\":\"x\"}";

	world_begin();
	world_up();
	for (int i = 0; i < 100; i++) {
		cleanup_free char *id = xasprintf("id-%d", i);

		world_hook_of("SubagentStop", "{}", 1, id);
	}
	world_hook_of("UserPromptSubmit", typed, 1, "id-0");
	world_expect("");
	world_end();
	/* Another session has not seen that id. */
	world_begin();
	world_up();
	world_hook_of("UserPromptSubmit", typed, 1, "id-0");
	world_expect("typed:x");
}

TEST(what_does_not_run_says_nothing)
{
	static const char typed[] = "{\"prompt\":\"x\"}";

	world_begin();
	world_hook("SessionStart", "{}", NULL);
	ck_assert(!w.record.ready);
	world_up();
	session_end(w.session, NULL, NULL);
	world_hook("UserPromptSubmit", typed, NULL);
	ck_assert(!world_hook("Stop", "{}", some_call()));
	world_until(SESSION_NONE);
	world_hook("SessionStart", "{}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_expect("");
}

TEST(a_stop_is_answered_as_claude_reads_it)
{
	cleanup_json struct json_object *answer =
	    session_hook_stop_answer("commit it");
	cleanup_json struct json_object *context = NULL;

	ck_assert_str_eq(json_string_or(answer, "decision", ""), "block");
	ck_assert_str_eq(json_string_or(answer, "reason", ""), "commit it");
	ck_assert_ptr_null(session_hook_stop_answer(NULL));
	context = session_hook_tool_answer("PostToolUseFailure", "look");
	ck_assert_str_eq(
	    json_object_to_json_string_ext(context, JSON_C_TO_STRING_PLAIN),
	    "{\"hookSpecificOutput\":{\"hookEventName\":"
	    "\"PostToolUseFailure\",\"additionalContext\":\"look\"}}");
}

TEST(an_owner_that_cares_for_nothing_is_fine)
{
	static const struct session_events none = { 0 };
	struct session_record record = { 0 };
	struct session *mine;

	world_begin();
	world_agent(false);
	mine = w.session;
	w.host.then = NULL;
	w.host.forget = NULL;
	w.session =
	    session_new(&w.host, "adam", "worker", &record, &none, NULL);
	record.generation = 1;
	w.record.generation = 2; /* the generation of the world's hooks */
	world_launch(false);
	world_run(10);
	world_starts("startup");
	session_prompt(w.session, "x", "1", false);
	world_run(10);
	world_expect_tmux("kill start paste [llmc 1] x");
	world_submits("[llmc 1] x");
	world_submits("y");
	world_hook("PreToolUse", "{}", NULL);
	world_hook("PostToolUse", "{}", NULL);
	world_hook("Notification",
	    "{\"notification_type\":\"permission_prompt\"}", NULL);
	world_hook("StopFailure", "{}", NULL);
	world_hook("Stop", "{}", NULL);
	world_writes("z");
	world_run(10);
	world_agent_exits();
	world_run(10);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	w.tmux->err = (struct err){ -1, "no" };
	world_launch(false);
	world_run(10);
	world_expect("");
	session_free(w.session);
	session_record_release(&record);
	w.session = mine;
}
