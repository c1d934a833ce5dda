/* SPDX-License-Identifier: ISC */

/* What a session's hooks report. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "json.h"
#include "mem.h"
#include "session-hook.h"
#include "session-world.h"
#include "unit.h"

/* A call of which only the address matters. */
static struct server_call *
some_call(void)
{
	static int call;

	return (struct server_call *)&call;
}

TEST(the_end_of_a_turn_is_the_owners_to_answer)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.record.busy = true;
	world_hook(&w, "PreToolUse", "{}", NULL);
	ck_assert(world_hook(&w, "Stop",
	    "{\"last_assistant_message\":\"all done\"}", some_call()));
	world_expect(&w, "progressed turn:all done");
	ck_assert_ptr_eq(w.call, some_call());
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* From the spool: nobody waits. */
	w.record.busy = true;
	world_hook(&w, "Stop", "{}", NULL);
	world_expect(&w, "progressed unheard-turn");
	world_end(&w);
}

TEST(a_turn_goes_on_in_the_background)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.record.busy = true;
	ck_assert(!world_hook(&w, "Stop",
	    "{\"background_tasks\":[{\"id\":\"b1\"}]}", some_call()));
	world_expect(&w, "progressed");
	ck_assert(w.record.busy);
	/* Its own notifications are not prompts. */
	world_submits(&w, "<task-notification>\nb1 has ended");
	world_expect(&w, "");
	/* It is known to wait for that. */
	world_hook(&w, "Notification",
	    "{\"notification_type\":\"idle_prompt\"}", NULL);
	world_expect(&w, "");
	ck_assert(
	    world_hook(&w, "Stop", "{\"background_tasks\":[]}", some_call()));
	world_expect(&w, "progressed turn");
	world_end(&w);
}

#define UUID(digit) "0000000" digit "-4f89-11d3-9a0c-0305e82c3301"
#define CONVERSATION(digit)                                       \
	"\"session_id\":\"" UUID(digit) "\",\"transcript_path\":" \
					"\"/t/" UUID(digit) ".jsonl\""

/* A resumed conversation goes on in its file, or begins with a copy in another
 * one: what is older than the copy was counted before. */
TEST(the_history_of_a_resumed_conversation_is_known)
{
	struct world w;
	int64_t before;

	world_begin(&w);
	world_up(&w);
	xstrset(&w.record.projects, NULL); /* any folder */
	world_hook(&w, "SessionStart",
	    "{\"source\":\"clear\"," CONVERSATION("a") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
	world_hook(&w, "SessionStart",
	    "{\"source\":\"resume\"," CONVERSATION("a") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
	before = clock_wall_ms();
	world_hook(&w, "SessionStart",
	    "{\"source\":\"resume\"," CONVERSATION("b") "}", NULL);
	ck_assert_int_ge(w.record.history_ms, before);
	world_hook(&w, "SessionStart",
	    "{\"source\":\"clear\"," CONVERSATION("c") "}", NULL);
	ck_assert_int_eq(w.record.history_ms, 0);
	world_end(&w);
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
	struct world w;

	world_begin(&w);
	world_up(&w);
	for (size_t i = 0; i < nitems(wrong); i++) {
		cleanup_free char *data =
		    xasprintf("{\"source\":\"clear\",%s}", wrong[i]);

		world_hook(&w, "SessionStart", data, NULL);
		world_expect(&w, "ready:clear");
		ck_assert_str_eq(w.record.id, WORLD_TOLD_ID);
		ck_assert_str_eq(w.record.transcript, w.transcript);
	}
	world_end(&w);
}

TEST(a_compaction_does_not_end_a_turn)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.record.busy = true;
	world_hook(&w, "PreCompact", "{}", NULL);
	ck_assert(!world_hook(&w, "Stop", "{}", some_call()));
	world_expect(&w, "progressed");
	ck_assert(w.record.busy);
	world_hook(&w, "SessionStart",
	    "{\"source\":\"compact\",\"session_id\":\"other\"}", NULL);
	world_expect(&w, ""); /* no session begins */
	ck_assert_str_eq(w.record.id, WORLD_TOLD_ID);
	ck_assert(world_hook(&w, "Stop", "{}", some_call()));
	world_expect(&w, "progressed turn");
	/* A compaction that never ended does not hide the next turn. */
	world_hook(&w, "PreCompact", "{}", NULL);
	world_submits(&w, "typed");
	ck_assert(world_hook(&w, "Stop", "{}", some_call()));
	world_expect(&w, "typed:typed progressed turn");
	world_end(&w);
}

TEST(an_end_that_was_not_heard_is_noticed)
{
	static const char idle[] = "{\"notification_type\":\"idle_prompt\"}";
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_hook(&w, "Notification", idle, some_call());
	world_expect(&w, ""); /* it is idle, as we know */
	world_submits(&w, "typed");
	world_hook(&w, "PreToolUse", "{}", NULL);
	world_hook(&w, "PreCompact", "{}", NULL);
	ck_assert(!world_hook(&w, "Notification", idle, some_call()));
	world_expect(&w, "typed:typed unheard-turn");
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* With a pending prompt it is just slow. */
	w.record.busy = true;
	w.typing = false;
	session_prompt(w.session, "x", "1", false);
	world_hook(&w, "Notification", idle, NULL);
	world_expect(&w, "");
	world_end(&w);
}

TEST(a_permission_dialog_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_hook(&w, "Notification",
	    "{\"notification_type\":\"permission_prompt\"}", NULL);
	world_expect(&w, "permission");
	world_hook(&w, "Notification",
	    "{\"notification_type\":\"auth_success\"}", NULL);
	world_hook(&w, "Notification", "{}", NULL);
	world_expect(&w, "");
	world_end(&w);
}

TEST(what_is_typed_by_hand_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_submits(&w, "do that");
	world_expect(&w, "typed:do that");
	ck_assert(w.record.busy);
	world_submits(&w, "[llmc 99] of long ago");
	world_expect(&w, "");
	world_end(&w);
}

TEST(tools_are_counted)
{
	struct world w;
	int changes;

	world_begin(&w);
	world_up(&w);
	changes = w.changes;
	world_hook(&w, "PreToolUse", "{}", NULL);
	world_hook(&w, "PreToolUse", "{}", NULL);
	ck_assert_int_eq(w.record.open_tools, 2);
	world_hook(&w, "PostToolUse", "{}", NULL);
	world_hook(&w, "PostToolUseFailure", "{}", NULL);
	world_hook(&w, "PostToolUse", "{}", NULL); /* its start was lost */
	ck_assert_int_eq(w.record.open_tools, 0);
	world_hook(&w, "SubagentStop", "{}", NULL);
	world_expect(&w, "progressed progressed progressed");
	ck_assert_int_eq(w.changes, changes); /* not worth saving each time */
	world_end(&w);
}

TEST(a_turn_that_fails_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.record.busy = true;
	ck_assert(!world_hook(&w, "StopFailure",
	    "{\"error\":\"rate_limit\",\"last_assistant_message\":\"wait\"}",
	    some_call()));
	world_expect(&w, "failed:rate_limit wait");
	ck_assert(!w.record.busy);
	world_end(&w);
}

TEST(only_its_own_events_are_heard)
{
	static const char typed[] = "{\"prompt\":\"x\"}";
	cleanup_json struct json_object *other = NULL;
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_hook_of(&w, "UserPromptSubmit", typed, 0, "a");
	world_hook_of(&w, "UserPromptSubmit", typed, 2, "b");
	world_hook_of(&w, "NoSuchEvent", typed, 1, "c");
	world_expect(&w, "");
	world_hook_of(&w, "UserPromptSubmit", typed, 1, "d");
	world_expect(&w, "typed:x");
	world_hook_of(&w, "UserPromptSubmit", typed, 1, "d"); /* also in the
							       * spool */
	world_expect(&w, "");
	ck_assert_int_eq(
	    json_parse("{\"event\":\"Stop\"}", 16, 99, &other, NULL), 0);
	ck_assert(!session_hook(w.session, some_call(), other));
	json_set_string(other, "worker", "eve");
	json_set_int(other, "generation", 1);
	json_set_string(other, "id", "e");
	json_set(other, "data", json_object_new_object());
	ck_assert(!session_hook(w.session, some_call(), other));
	world_expect(&w, "");
	world_end(&w);
}

TEST(doubles_are_remembered_for_each_session)
{
	static const char typed[] = "{\"prompt\":\"x\"}";
	struct world w;

	world_begin(&w);
	world_up(&w);
	for (int i = 0; i < 100; i++) {
		cleanup_free char *id = xasprintf("id-%d", i);

		world_hook_of(&w, "SubagentStop", "{}", 1, id);
	}
	world_hook_of(&w, "UserPromptSubmit", typed, 1, "id-0");
	world_expect(&w, "");
	world_end(&w);
	/* Another session has not seen that id. */
	world_begin(&w);
	world_up(&w);
	world_hook_of(&w, "UserPromptSubmit", typed, 1, "id-0");
	world_expect(&w, "typed:x");
	world_end(&w);
}

TEST(what_does_not_run_says_nothing)
{
	static const char typed[] = "{\"prompt\":\"x\"}";
	struct world w;

	world_begin(&w);
	world_hook(&w, "SessionStart", "{}", NULL);
	ck_assert(!w.record.ready);
	world_up(&w);
	session_end(w.session, NULL, NULL);
	world_hook(&w, "UserPromptSubmit", typed, NULL);
	ck_assert(!world_hook(&w, "Stop", "{}", some_call()));
	world_until(&w, SESSION_NONE);
	world_hook(&w, "SessionStart", "{}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_expect(&w, "");
	world_end(&w);
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
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	mine = w.session;
	w.host.then = NULL;
	w.host.forget = NULL;
	w.session =
	    session_new(&w.host, "adam", "worker", &record, &none, NULL);
	record.generation = 1;
	w.record.generation = 2; /* the generation of the world's hooks */
	world_launch(&w, false);
	world_run(&w, 10);
	world_starts(&w, "startup");
	session_prompt(w.session, "x", "1", false);
	world_run(&w, 10);
	world_expect_tmux(&w, "kill start paste [llmc 1] x");
	world_submits(&w, "[llmc 1] x");
	world_submits(&w, "y");
	world_hook(&w, "PreToolUse", "{}", NULL);
	world_hook(&w, "PostToolUse", "{}", NULL);
	world_hook(&w, "Notification",
	    "{\"notification_type\":\"permission_prompt\"}", NULL);
	world_hook(&w, "StopFailure", "{}", NULL);
	world_hook(&w, "Stop", "{}", NULL);
	world_writes(&w, "z");
	world_run(&w, 10);
	world_agent_exits(&w);
	world_run(&w, 10);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	w.tmux->err = (struct err){ -1, "no" };
	world_launch(&w, false);
	world_run(&w, 10);
	world_expect(&w, "");
	session_free(w.session);
	session_record_release(&record);
	w.session = mine;
	world_end(&w);
}
