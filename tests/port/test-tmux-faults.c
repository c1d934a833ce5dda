/* SPDX-License-Identifier: ISC */

/* A tmux that is missing, hangs, gives wrong answers, dies, or is another
 * version. */

#include "tmux-world.h"

/* One of each command, all with the same result. */
static void
expect_all(int code)
{
	const char *const keys[] = { "x", NULL };
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), code);
	ck_assert_int_eq(world_paste("llmc-a", "x", true), code);
	ck_assert_int_eq(world_keys("llmc-a", keys), code);
	ck_assert_int_eq(world_kill("llmc-a"), code);
	ck_assert_int_eq(world_capture("llmc-a", 0, &out), code);
	ck_assert_int_eq(world_list(&out), code);
}

TEST(a_missing_tmux_is_never_a_missing_session)
{
	world_begin("no-such-tmux-anywhere");
	expect_all(-ENOENT);
}

TEST(a_tmux_that_hangs_is_given_up)
{
	world_begin(world_script("tmux-hangs", FOREVER));
	tmux_free(world.tmux);
	world.options.deadline_ms = 50;
	ck_assert_int_eq(
	    tmux_new(world.loop, &world.options, &world.tmux, NULL), 0);
	expect_all(-ETIMEDOUT);
}

TEST(one_session_that_hangs_does_not_hold_up_another)
{
	const char *script = "case \"$*\" in *=bad*) " FOREVER ";; esac\n"
			     "exec tmux \"$@\"";
	struct answer bad, behind;

	world_begin(world_script("tmux-hangs-once", script));
	answer_begin(&bad);
	answer_begin(&behind);
	ck_assert_int_eq(world_start("good", FOREVER, NULL), 0);
	tmux_paste(world.tmux, "bad", "x", true, answer_done, &bad);
	tmux_kill(world.tmux, "bad", answer_done, &behind);
	ck_assert_int_eq(world_paste("good", "x", true), 0);
	ck_assert_int_eq(world_kill("good"), 0);
	ck_assert_int_eq(bad.count, 0);
	ck_assert_int_eq(behind.count, 0);
}

TEST(what_tmux_complains_of_is_passed_on)
{
	static const struct {
		const char *script;
		int code;
		const char *words;
	} cases[] = {
		{ "exit 3", -EIO, "exited with status 3" },
		{ "kill -9 $$", -EIO, "killed by SIGKILL" },
		{ "echo 'strange \033[31m thing' >&2; exit 1", -EIO,
		    "strange \\x1b[31m thing" },
		{ "echo 'error connecting to /x (Permission denied)' >&2;"
		  "exit 1",
		    -EIO, "Permission denied" },
		{ "echo 'duplicate session: a' >&2; exit 1", -EEXIST,
		    "duplicate" },
		{ "echo 'command too long' >&2; exit 1", -E2BIG, "too long" },
		{ "echo; exit 0", -EIO, "process id" },
		{ "echo -1; exit 0", -EIO, "process id" },
		{ "echo 99999999999; exit 0", -EIO, "process id" },
		{ "echo 12x; exit 0", -EIO, "process id" },
	};
	const char *const argv[] = { "true", NULL };
	struct tmux_session session = {
		.name = "llmc-a", .role = "worker", .cwd = "/", .argv = argv
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct answer answer;

		world_begin(world_script("tmux-lies", cases[i].script));
		ck_assert_int_eq(
		    world_start_session(&session, &answer), cases[i].code);
		ck_assert_msg(strstr(answer.err.msg, cases[i].words) != NULL,
		    "%s", answer.err.msg);
		world_end();
	}
}

TEST(start_tries_again_while_an_old_server_ends)
{
	const char *script =
	    "n=$(cat \"$HOME/n\" 2>/dev/null); n=$((n + 1))\n"
	    "echo $n >\"$HOME/n\"\n"
	    "[ $n -gt 3 ] || { echo server exited unexpectedly >&2; exit 1; }\n"
	    "echo 4711";
	pid_t pid = 0;

	world_begin(world_script("tmux-ends", script));
	ck_assert_int_eq(world_start("llmc-a", "true", &pid), 0);
	ck_assert_int_eq(pid, 4711);
	world_end();
	world_begin(world_script(
	    "tmux-ends", "echo server exited unexpectedly >&2; exit 1"));
	ck_assert_int_eq(world_start("llmc-a", "true", NULL), -ECONNRESET);
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -ESRCH);
	ck_assert_int_eq(world_kill("llmc-a"), 0);
	ck_assert_int_eq(world_server(), 0);
}

TEST(a_killed_server_is_no_server_and_can_be_started_again)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct procref ref = PROCREF_INIT;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	ck_assert_int_eq(procref_set(&ref, world_server()), 0);
	ck_assert_int_eq(procref_signal(&ref, SIGKILL), 0);
	world_until_gone(&ref);
	procref_release(&ref);
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -ESRCH);
	ck_assert_int_eq(world_list(&out), 0);
	ck_assert_str_eq(out.data, "");
	ck_assert_int_eq(world_server(), 0);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	ck_assert_int_eq(world_list(&out), 0);
	ck_assert_str_eq(out.data, "llmc-a worker  1 live\n");
}

TEST(only_our_own_config_is_read)
{
	cleanup_free char *theirs = NULL, *ours = NULL;
	const char *text = "set -g @theirs yes\nset -g history-limit 3\n";

	world_begin(NULL);
	ck_assert_int_eq(file_replace(unit_path("home/.tmux.conf"), text,
			     strlen(text), 0600, NULL),
	    0);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	theirs = world_tmux("show-options", "-gv", "@theirs", NULL);
	ck_assert_str_eq(theirs, "");
	ours = world_tmux("display-message", "-p", "-t", "=llmc-a:",
	    "#{history_limit} #{window_width}x#{window_height} #{status}"
	    "#{remain-on-exit}",
	    NULL);
	ck_assert_str_eq(ours, "20000 120x40 onon");
}

TEST(a_config_that_went_away_is_written_again)
{
	world_begin(NULL);
	ck_assert_int_eq(unlink(world.options.config), 0);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	ck_assert(file_exists(world.options.config));
}

TEST(a_config_that_cannot_be_written_is_an_error)
{
	struct tmux_options options = { .command = "tmux",
		.socket = "t",
		.config = "/no/such/place/tmux.conf" };
	struct loop *loop = loop_new();
	struct tmux *tmux = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(tmux_new(loop, &options, &tmux, &err), -ENOENT);
	ck_assert_str_ne(err.msg, "");
	options.socket = "";
	ck_assert_int_eq(tmux_new(loop, &options, &tmux, &err), -EINVAL);
	options.socket = "../x";
	ck_assert_int_eq(tmux_new(loop, &options, &tmux, &err), -EINVAL);
	ck_assert_ptr_null(tmux);
	tmux_free(NULL);
	loop_free(loop);
}

TEST(a_server_of_the_users_does_not_reach_our_children)
{
	cleanup_free char *got = NULL;

	world_begin(world_script("tmux-env",
	    "echo \"<$TMUX><$TMUX_PANE><$PWD>\" >\"$HOME/env\"; echo 1"));
	setenv("TMUX", "/tmp/theirs,1,0", 1);
	setenv("TMUX_PANE", "%7", 1);
	ck_assert_int_eq(world_start("llmc-a", "true", NULL), 0);
	unsetenv("TMUX");
	unsetenv("TMUX_PANE");
	got = world_file(unit_path("home/env"));
	ck_assert_int_eq(strncmp(got, "<><></", 6), 0);
}

/* Newer versions remove escapes from pasted text unless told not to. */
TEST(a_tmux_with_literal_paste_is_asked_for_it)
{
	const char *script =
	    "case \"$*\" in\n"
	    "*list-panes*) echo '%5 0'; echo '[-dprS] [-s separator]' ;;\n"
	    "*) cat >\"$HOME/pasted\"; echo \"$*\" >\"$HOME/words\" ;;\n"
	    "esac";
	cleanup_free char *words = NULL, *pasted = NULL;

	world_begin(world_script("tmux-new", script));
	ck_assert_int_eq(world_paste("llmc-a", "x", true), 0);
	words = world_file(unit_path("home/words"));
	pasted = world_file(unit_path("home/pasted"));
	ck_assert_ptr_nonnull(strstr(words, "paste-buffer -Srd -b llmc-"));
	ck_assert_str_eq(pasted, "\033[200~x\033[201~\r");
}

static void
never(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
	ck_abort_msg("called after it was forgotten");
}

TEST(free_abandons_what_is_under_way)
{
	struct answer answer;

	world_begin(world_script("tmux-hangs", ": >\"$HOME/began\"; " FOREVER));
	tmux_paste(world.tmux, "llmc-a", "x", true, never, NULL);
	tmux_kill(world.tmux, "llmc-a", never, NULL);
	world_until_file(unit_path("home/began"));
	tmux_free(world.tmux);
	world.options.command = "tmux";
	ck_assert_int_eq(
	    tmux_new(world.loop, &world.options, &world.tmux, NULL), 0);
	answer_begin(&answer);
	tmux_kill(world.tmux, "llmc-a", answer_done, &answer);
	world_wait(&answer);
}

static void
free_inside(const struct err *err, void *arg)
{
	(void)arg;
	(void)err;
	tmux_free(take_ptr(&world.tmux));
	loop_stop(world.loop, 0);
}

TEST(free_from_inside_a_callback_is_fine)
{
	static const struct {
		const char *command, *name;
	} cases[] = { { NULL, "llmc-a" }, { "no-such-tmux-anywhere", "llmc-a" },
		{ NULL, "not a valid name" } };

	for (size_t i = 0; i < nitems(cases); i++) {

		world_begin(cases[i].command);
		tmux_kill(world.tmux, cases[i].name, free_inside, &world);
		tmux_kill(world.tmux, cases[i].name, never, NULL);
		ck_assert_int_eq(loop_run(world.loop), 0);
		ck_assert_ptr_null(world.tmux);
		world_end();
	}
}

TEST(a_callback_can_be_forgotten)
{
	cleanup_buf struct buf list = BUF_INIT;
	struct answer answer;
	int mine = 0;

	world_begin(NULL);
	/* The server must not end with the session that is killed. */
	ck_assert_int_eq(world_start("other", FOREVER, NULL), 0);
	world_start_reader("llmc-a", "typed", 1);
	tmux_paste(world.tmux, "llmc-a", "x", true, never, &mine);
	tmux_kill(world.tmux, "llmc-b", never, &mine);
	tmux_forget(world.tmux, &mine);
	/* Later commands are answered, and nothing was typed before them. */
	ck_assert_int_eq(world_list(&list), 0);
	answer_begin(&answer);
	tmux_capture(world.tmux, "llmc-a", 0, answer_text, &answer);
	world_wait(&answer);
	answer_end(&answer);
	ck_assert(!file_exists(unit_path("typed.done")));
	/* A session that was to be killed is gone. */
	tmux_kill(world.tmux, "llmc-a", never, &mine);
	tmux_forget(world.tmux, &mine);
	ck_assert_int_eq(world_kill("llmc-a"), 0);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "other worker  1 live\n");
}
