/* SPDX-License-Identifier: ISC */

/* A session for a person. */
#include "session-world.h"
#include "session-console.h"
#include "settings.h"

static void
on_started(pid_t pid, const struct err *err, void *arg)
{
	pid_t *got = arg;

	ck_assert_ptr_null(err);
	*got = pid;
}

static int
start(pid_t *ret_pid, struct err *err)
{
	struct session_console console = { .name = "console1",
		.workspace = &w.workspace,
		.settings = w.settings,
		.llmc = "/opt/llmc" };

	return session_console_start(
	    fake_tmux_port(w.tmux), &console, on_started, ret_pid, err);
}

TEST(a_console_is_the_agent_and_nothing_of_ours)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *settings = NULL;
	struct json_object *argv = NULL;
	pid_t pid = 0;

	world_begin();
	settings_override(
	    w.settings, "defaults.agent_command", "my-agent", NULL);
	settings_override(w.settings, "defaults.model", "some-model", NULL);
	w.tmux->pid = 42;
	ck_assert_int_eq(start(&pid, NULL), 0);
	world_run(10);
	ck_assert_int_eq(pid, 42);
	world_expect_tmux("start");
	ck_assert_str_eq(w.tmux->role.data, "console");
	ck_assert_int_eq(
	    json_load(w.tmux->launcher.data, 1 << 22, &json, NULL), 0);
	ck_assert_int_eq(json_get_array(json, "", "argv", &argv, NULL), 0);
	ck_assert_str_eq(json_object_to_json_string_ext(argv, 0),
	    "[\"my-agent\",\"--model\",\"some-model\"]");
	ck_assert_str_eq(json_string_or(json, "cwd", ""), w.workspace.root);
	settings =
	    file_join(w.workspace.dir, "sessions/console1/settings.json");
	ck_assert(!file_exists(settings));
}

TEST(a_console_does_not_learn_of_the_session_it_was_opened_from)
{
	static const char *const names[] = { "CLAUDECODE", "CLAUDE_PID",
		"CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR",
		"CLAUDE_ENV_FILE", "CLAUDE_CODE_ENTRYPOINT" };
	cleanup_buf struct buf text = BUF_INIT;
	pid_t pid = 0;

	world_begin();
	for (size_t i = 0; i < nitems(names); i++)
		setenv(names[i], "of-another", 1);
	setenv("CLAUDE_CONFIG_DIR", "kept-one", 1);
	ck_assert_int_eq(start(&pid, NULL), 0);
	ck_assert_int_eq(
	    file_read(w.tmux->launcher.data, 1 << 22, &text, NULL), 0);
	ck_assert_ptr_null(strstr(text.data, "of-another"));
	ck_assert_ptr_nonnull(strstr(text.data, "CLAUDE_CONFIG_DIR=kept-one"));
	world_run(10);
}

TEST(files_that_cannot_be_written_are_an_error)
{
	cleanup_free char *sessions = NULL;
	struct err err = { 0 };
	pid_t pid = -1;

	world_begin();
	sessions = file_join(w.workspace.dir, "sessions");
	ck_assert_int_eq(file_replace(sessions, "x", 1, 0600, NULL), 0);
	ck_assert_int_lt(start(&pid, &err), 0);
	ck_assert_str_ne(err.msg, "");
	world_run(10);
	ck_assert_int_eq(pid, -1);
	world_expect_tmux("");
	unlink(sessions);
}
