/* SPDX-License-Identifier: ISC */

/* What tests need from the fake agent beyond what test-agents.c compares. */

#include "bed.h"

#define BOX "❯\u00a0"

static const char *const no_args[] = { NULL };

static const char *
fake(void)
{
	const char *path = getenv("LLMC_FAKE_CLAUDE");

	ck_assert_msg(path != NULL, "LLMC_FAKE_CLAUDE is not set");
	return path;
}

/* A bed with a running agent, and one extra variable. */
static struct bed *
begin(const char *variable)
{
	const char *const env[] = { variable, NULL };
	struct bed *bed = bed_new(fake(), NULL, env);

	bed_start(bed, no_args);
	bed_wait(bed, "SessionStart");
	return bed;
}

static struct json_object *
turn(struct bed *bed, const char *prompt)
{
	struct json_object *stop;

	bed_paste(bed, prompt);
	stop = bed_wait(bed, "Stop");
	bed_wait_status(bed, "idle");
	return stop;
}

static void
check_events(struct bed *bed, const char *want)
{
	cleanup_free char *names = bed_event_names(bed);

	ck_assert_str_eq(names, want);
}

static void
check_text(struct json_object *event, const char *key, const char *want)
{
	ck_assert_str_eq(json_string_or(event, key, "(none)"), want);
}

/* The user's own hooks, in HOME, in addition to the recorder. */
static struct bed *
begin_with_hooks(const char *variable, const char *hooks)
{
	const char *const env[] = { variable, NULL };
	const char *const args[] = { "--setting-sources", "user", NULL };
	struct bed *bed = bed_new(fake(), NULL, env);
	cleanup_free char *dir = file_join(bed_home(bed), ".claude");
	cleanup_free char *path = file_join(dir, "settings.json");

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(
	    file_replace(path, hooks, strlen(hooks), 0600, NULL), 0);
	bed_start(bed, args);
	bed_wait(bed, "SessionStart");
	return bed;
}

/* ---- input */

TEST(prompts_that_were_accepted_are_logged)
{
	cleanup_free char *variable =
	    xasprintf("FAKE_CLAUDE_LOG=%s/log", unit_scratch());
	cleanup_json struct json_object *lines = NULL;
	cleanup_bed struct bed *bed = begin(variable);

	turn(bed, "first\nline two");
	bed_answer(bed, "UserPromptSubmit", "{\"decision\":\"block\"}");
	bed_paste(bed, "refused");
	bed_wait_screen(bed, "blocked by hook");
	bed_key(bed, "C-c");
	turn(bed, "second");
	lines = bed_lines(unit_path("log"));
	ck_assert_uint_eq(json_object_array_length(lines), 2);
	check_text(
	    json_object_array_get_idx(lines, 0), "prompt", "first\nline two");
	check_text(json_object_array_get_idx(lines, 0), "session_id",
	    bed_session(bed));
	check_text(json_object_array_get_idx(lines, 1), "prompt", "second");
}

TEST(enter_behind_a_paste_can_be_lost)
{
	cleanup_bed struct bed *bed = begin("FAKE_CLAUDE_IGNORE_ENTER=2");

	bed_paste(bed, "hello");
	bed_key(bed, "Enter");
	bed_wait_screen(bed, BOX "hello");
	check_events(bed, "SessionStart");
	bed_key(bed, "Enter");
	check_text(bed_wait(bed, "UserPromptSubmit"), "prompt", "hello");
	bed_wait(bed, "Stop");
}

TEST(enter_is_lost_before_the_session_starts)
{
	const char *const env[] = { "FAKE_CLAUDE_START_MS=3000", NULL };
	cleanup_bed struct bed *bed = bed_new(fake(), NULL, env);

	bed_start(bed, no_args);
	bed_wait_screen(bed, "stand-in");
	bed_paste(bed, "early");
	bed_wait(bed, "SessionStart");
	bed_wait_screen(bed, BOX "early");
	bed_key(bed, "Enter");
	check_text(bed_wait(bed, "UserPromptSubmit"), "prompt", "early");
	bed_wait(bed, "Stop");
	check_events(bed, "SessionStart UserPromptSubmit Stop");
}

TEST(keys_without_brackets_are_typed_text)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_key(bed, "hi");
	bed_key(bed, "Space");
	bed_key(bed, "youX");
	bed_key(bed, "BSpace");
	bed_key(bed, "Enter");
	check_text(bed_wait(bed, "UserPromptSubmit"), "prompt", "hi you");
}

TEST(pasted_text_is_changed_as_the_real_box_does)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "a\tb\r\nc\001d\u200be\rf\n");
	check_text(
	    bed_wait(bed, "UserPromptSubmit"), "prompt", "a    b\ncde\nf\n");
}

TEST(a_final_backslash_makes_enter_a_newline)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "one\\");
	bed_key(bed, "two");
	bed_key(bed, "Enter");
	check_text(bed_wait(bed, "UserPromptSubmit"), "prompt", "one\ntwo");
}

TEST(escape_twice_opens_a_dialog_that_swallows_a_paste)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_key(bed, "Escape");
	bed_key(bed, "Escape");
	bed_wait_screen(bed, "Rewind");
	bed_paste(bed, "swallowed");
	turn(bed, "kept");
	check_events(bed, "SessionStart UserPromptSubmit Stop");
}

TEST(a_shell_command_is_no_prompt)
{
	cleanup_bed struct bed *bed = begin(NULL);

	turn(bed, "!touch by-hand");
	check_events(bed, "SessionStart Stop");
	free(bed_shell(bed, "test -e by-hand"));
}

TEST(control_c_twice_leaves)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_key(bed, "C-c");
	bed_key(bed, "C-c");
	check_text(bed_wait(bed, "SessionEnd"), "reason", "prompt_input_exit");
	ck_assert_int_eq(bed_wait_gone(bed), 0);
}

/* ---- turns */

TEST(a_prompt_during_text_gets_a_turn_of_its_own)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "fake: sleep 2000\nfake: say slept");
	bed_wait(bed, "UserPromptSubmit");
	bed_paste(bed, "next\nfake: say next");
	check_text(bed_wait(bed, "Stop"), "last_assistant_message", "slept");
	check_text(bed_wait(bed, "Stop"), "last_assistant_message", "next");
	check_events(
	    bed, "SessionStart UserPromptSubmit UserPromptSubmit Stop Stop");
}

TEST(escape_interrupts_and_runs_what_is_queued)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "fake: sleep 600000");
	bed_wait(bed, "UserPromptSubmit");
	bed_paste(bed, "next\nfake: say next");
	bed_wait(bed, "UserPromptSubmit");
	bed_key(bed, "Escape");
	check_text(bed_wait(bed, "Stop"), "last_assistant_message", "next");
	check_events(
	    bed, "SessionStart UserPromptSubmit UserPromptSubmit Stop");
}

TEST(clear_waits_for_the_end_of_the_turn)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "fake: sleep 2000");
	bed_wait(bed, "UserPromptSubmit");
	bed_paste(bed, "/clear");
	bed_wait(bed, "SessionStart");
	check_events(
	    bed, "SessionStart UserPromptSubmit Stop SessionEnd SessionStart");
}

TEST(the_context_can_be_compacted_within_a_turn)
{
	cleanup_bed struct bed *bed = begin(NULL);

	turn(bed, "fake: compact\nfake: say still here");
	check_events(bed,
	    "SessionStart UserPromptSubmit PreCompact "
	    "SubagentStop SessionStart PostCompact Stop");
	check_text(bed_event(bed, 2), "trigger", "auto");
}

TEST(steps_leave_what_they_say_in_git)
{
	cleanup_bed struct bed *bed = begin(NULL);
	cleanup_free char *count = NULL, *dirt = NULL;

	check_text(turn(bed,
		       "Task:\n  fake: commits 3\nfake: write dirty.txt x\n"
		       "fake: ask Shall I go on?"),
	    "last_assistant_message", "Shall I go on?");
	count = bed_shell(bed, "git rev-list --count HEAD");
	ck_assert_str_eq(count, "4");
	dirt = bed_shell(bed, "git status --porcelain");
	ck_assert_str_eq(dirt, "?? dirty.txt");
}

TEST(a_stopped_rebase_is_resolved_with_the_own_side)
{
	cleanup_bed struct bed *bed = begin(NULL);
	cleanup_free char *text = NULL;

	free(bed_shell(bed,
	    "commit() { echo $1 >f && git add f && git commit -q -m $1; } && "
	    "git checkout -q -b work && commit one && commit two && "
	    "git checkout -q main && commit theirs && git checkout -q work && "
	    "! git rebase -q main >/dev/null 2>&1"));
	turn(bed, "fake: resolve");
	text = bed_shell(
	    bed, "cat f; git status | head -1; git log --format=%s main..");
	ck_assert_str_eq(text, "two\nOn branch work\ntwo\none");
}

/* ---- waiting for people */

TEST(a_dialog_drops_text_and_tells_after_a_while)
{
	cleanup_bed struct bed *bed = begin("FAKE_CLAUDE_NOTIFY_MS=50");

	bed_paste(bed, "fake: permission");
	check_text(bed_wait(bed, "Notification"), "notification_type",
	    "permission_prompt");
	bed_wait_status(bed, "waiting");
	bed_paste_only(bed, "dropped");
	bed_key(bed, "Enter");
	bed_wait(bed, "Stop");
	free(bed_shell(bed, "test -e permission-given"));
	check_events(bed,
	    "SessionStart UserPromptSubmit PreToolUse PermissionRequest "
	    "Notification PostToolUse PostToolBatch Stop");
}

TEST(waiting_for_input_is_told_after_a_while)
{
	cleanup_bed struct bed *bed = begin("FAKE_CLAUDE_IDLE_MS=50");

	turn(bed, "hello");
	check_text(
	    bed_wait(bed, "Notification"), "notification_type", "idle_prompt");
}

TEST(a_first_run_dialog_fires_no_hook)
{
	const char *const env[] = { "FAKE_CLAUDE_NO_SESSIONSTART=1", NULL };
	cleanup_bed struct bed *bed = bed_new(fake(), NULL, env);

	bed_start(bed, no_args);
	bed_wait_screen(bed, "No, exit");
	bed_paste_only(bed, "ignored");
	bed_key(bed, "Enter");
	ck_assert_int_eq(bed_wait_gone(bed), 1);
	bed_start(bed, no_args);
	bed_wait_screen(bed, "No, exit");
	bed_signal(bed, SIGTERM);
	ck_assert_int_eq(bed_wait_gone(bed), 143);
	check_events(bed, "");
}

/* ---- ends */

TEST(a_crash_leaves_its_traces_and_can_be_resumed)
{
	cleanup_bed struct bed *bed = begin(NULL);
	const char *args[] = { "--resume", bed_session(bed), NULL };
	cleanup_free char *left = NULL;

	bed_paste(bed, "fake: crash");
	ck_assert_int_eq(bed_wait_gone(bed), 128 + SIGKILL);
	left = bed_shell(bed, "ls \"$HOME/.claude/sessions\" | wc -l");
	ck_assert_str_eq(left, "1");
	check_events(bed, "SessionStart UserPromptSubmit PreToolUse");
	bed_start(bed, args);
	check_text(bed_wait(bed, "SessionStart"), "source", "resume");
	check_text(turn(bed, "go on"), "session_id", bed_session(bed));
}

TEST(an_exit_in_the_middle_fires_nothing)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "fake: exit 3");
	ck_assert_int_eq(bed_wait_gone(bed), 3);
	check_events(bed, "SessionStart UserPromptSubmit");
}

TEST(a_hang_hears_only_signals)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(bed, "fake: hang");
	bed_wait(bed, "UserPromptSubmit");
	bed_key(bed, "Escape");
	bed_paste(bed, "anybody there?");
	bed_signal(bed, SIGTERM);
	ck_assert_int_eq(bed_wait_gone(bed), 143);
	check_events(bed, "SessionStart UserPromptSubmit");
}

TEST(a_hard_hang_hears_no_sigterm)
{
	cleanup_bed struct bed *bed = begin(NULL);

	bed_paste(
	    bed, "fake: run touch \"$HOOK_RECORD/mark\"\nfake: hang hard");
	bed_wait(bed, "PostToolBatch");
	bed_wait_status(bed, "busy");
	bed_signal(bed, SIGTERM);
	bed_signal(bed, SIGKILL);
	ck_assert_int_eq(bed_wait_gone(bed), 128 + SIGKILL);
}

TEST(ids_and_rights_are_checked_at_the_start)
{
	static const char id[] = "00000000-0000-4000-8000-000000000000";
	cleanup_bed struct bed *bed = begin(NULL);
	cleanup_free char *text = NULL, *command = NULL;

	turn(bed, "make a transcript");
	command = xasprintf("fake='%s'; "
			    "\"$fake\" --resume %s 2>&1; echo $?; "
			    "\"$fake\" --session-id %s 2>&1; echo $?; "
			    "\"$fake\" --session-id x 2>&1; echo $?; "
			    "\"$fake\" --version",
	    fake(), id, bed_session(bed));
	text = bed_shell(bed, command);
	ck_assert_ptr_nonnull(
	    strstr(text, "No conversation found with session ID: 00000000"));
	ck_assert_ptr_nonnull(strstr(text, "is already in use.\n1\n"));
	ck_assert_ptr_nonnull(strstr(text, "Invalid session ID"));
	ck_assert_ptr_nonnull(strstr(text, "1\n2.1.328 (fake-claude)"));
}

/* ---- hooks */

TEST(blocks_of_the_stop_hook_are_capped)
{
	struct bed *bed = begin_with_hooks("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2",
	    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
	    "\"command\":\"echo more >&2; exit 2\"}]}]}}");

	bed_paste(bed, "hello");
	bed_wait(bed, "Stop");
	bed_wait(bed, "Stop");
	bed_wait(bed, "Stop");
	bed_wait_status(bed, "idle");
	check_events(bed, "SessionStart UserPromptSubmit Stop Stop Stop");
	ck_assert(!json_bool_or(bed_event(bed, 2), "stop_hook_active", true));
	ck_assert(json_bool_or(bed_event(bed, 4), "stop_hook_active", false));
	bed_free(bed);
}

TEST(hooks_get_their_environment_and_are_matched)
{
	struct bed *bed = begin_with_hooks(NULL,
	    "{\"hooks\":{\"SessionStart\":["
	    "{\"matcher\":\"startup|clear\",\"hooks\":[{\"type\":\"command\","
	    "\"command\":\"env >\\\"$HOOK_RECORD/env\\\"; pwd "
	    ">>\\\"$HOOK_RECORD/env\\\"\"}]},"
	    "{\"matcher\":\"resume\",\"hooks\":[{\"type\":\"command\","
	    "\"command\":\"touch \\\"$HOOK_RECORD/wrong\\\"\"}]}]}}");
	cleanup_buf struct buf env = BUF_INIT;
	cleanup_free char *dir =
	    xasprintf("CLAUDE_PROJECT_DIR=%s\n", bed_repo(bed));
	cleanup_free char *session =
	    xasprintf("CLAUDE_CODE_SESSION_ID=%s\n", bed_session(bed));

	turn(bed, "hello");
	ck_assert_int_eq(
	    file_read(bed_path(bed, "env"), 1 << 20, &env, NULL), 0);
	ck_assert_ptr_nonnull(strstr(env.data, dir));
	ck_assert_ptr_nonnull(strstr(env.data, session));
	ck_assert_ptr_nonnull(strstr(env.data, "CLAUDECODE=1\n"));
	ck_assert_ptr_nonnull(strstr(env.data, "CLAUDE_PID="));
	ck_assert(!file_exists(bed_path(bed, "wrong")));
	bed_free(bed);
}

TEST(a_hook_that_takes_too_long_is_ignored)
{
	struct bed *bed = begin_with_hooks(NULL,
	    "{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":"
	    "\"command\",\"timeout\":1,\"command\":\"tail -f /dev/null; "
	    "exit 2\"}]}]}}");

	turn(bed, "hello");
	check_events(bed, "SessionStart UserPromptSubmit Stop");
	bed_free(bed);
}

/* ---- the transcript */

static const char *
line_type(struct json_object *line)
{
	struct json_object *message = NULL, *content = NULL;
	const char *type = json_string_or(line, "type", "?");

	if (json_get_object(line, "", "message", &message, NULL) < 0)
		return json_string_or(line, "subtype", type);
	if (json_get_array(message, "", "content", &content, NULL) < 0)
		return type;
	return json_string_or(
	    json_object_array_get_idx(content, 0), "type", "?");
}

TEST(the_transcript_has_a_line_for_everything)
{
	cleanup_bed struct bed *bed = begin(NULL);
	cleanup_json struct json_object *lines = NULL;
	cleanup_buf struct buf types = BUF_INIT;
	struct json_object *failure, *message = NULL;

	turn(bed, "fake: say Look.\nfake: run exit 1");
	bed_paste(bed, "fake: fail 529");
	failure = bed_wait(bed, "StopFailure");
	bed_wait_status(bed, "idle");
	lines = bed_lines(json_string_or(failure, "transcript_path", ""));
	for (size_t i = 0; i < json_object_array_length(lines); i++)
		buf_addf(&types, "%s ",
		    line_type(json_object_array_get_idx(lines, i)));
	ck_assert_str_eq(types.data,
	    "mode permission-mode user text tool_use tool_result text "
	    "turn_duration user text turn_duration ");
	/* Two blocks of one message share its id. */
	ck_assert_int_eq(json_get_object(json_object_array_get_idx(lines, 3),
			     "", "message", &message, NULL),
	    0);
	check_text(message, "stop_reason", "tool_use");
	ck_assert_int_eq(json_get_object(json_object_array_get_idx(lines, 9),
			     "", "message", &message, NULL),
	    0);
	check_text(message, "model", "<synthetic>");
	ck_assert(json_bool_or(
	    json_object_array_get_idx(lines, 9), "isApiErrorMessage", false));
}
