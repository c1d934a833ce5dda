/* SPDX-License-Identifier: ISC */

/* Sessions: started, marked, listed, ended. */

#include "tmux-world.h"

TEST(start_tells_the_process_of_the_pane)
{
	cleanup_free char *written = NULL;
	pid_t pid = 0;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a",
			     "echo $$ >t1.pid; : >t1.done; " FOREVER, &pid),
	    0);
	world_until_file(unit_path("t1.done"));
	written = world_file(unit_path("t1.pid"));
	ck_assert_int_eq(strtol(written, NULL, 10), pid);
}

TEST(list_tells_the_marks_of_each_session)
{
	const char *const argv[] = { "sleep", "1000", NULL };
	struct tmux_session session = { .name = "llmc-adam",
		.role = "worker",
		.worker = "adam",
		.generation = 18446744073709ULL,
		.cwd = "/",
		.argv = argv };
	cleanup_buf struct buf list = BUF_INIT;
	struct answer answer;

	world_begin(NULL);
	ck_assert_int_eq(world_start_session(&session, &answer), 0);
	session = (struct tmux_session){ .name = "llmc-console",
		.role = "console",
		.cwd = "/",
		.argv = argv };
	ck_assert_int_eq(world_start_session(&session, &answer), 0);
	free(world_tmux("new-session", "-d", "-s", "a guest | here", "sleep",
	    "1000", NULL));
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data,
	    "a guest | here   0 live\n"
	    "llmc-adam worker adam 18446744073709 live\n"
	    "llmc-console console  0 live\n");
}

/* Others may put ':' into our options, or send garbage. */
TEST(list_takes_nonsense_apart_without_harm)
{
	static const struct {
		const char *text, *name, *role;
		size_t count;
	} cases[] = {
		{ "", NULL, NULL, 0 },
		{ "\n\n", NULL, NULL, 0 },
		{ "x\n", "x", "", 1 },
		{ "::::::::\n", "", "", 1 },
		{ "%1:1:1:1:%1:1:a:b:c:n", "n", "", 1 },
		{ "%1:1:1:1:%1:7:role:b:n\n", "n", "role", 1 },
		{ "%1:1:-1:1:%1:-7:role::n\n%2:1:1:1:%1:7:role::n\n"
		  "%2:1:1:1:%1:7:r:b:m",
		    "n", "role", 2 },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_free char *text = xstrdup(cases[i].text);
		cleanup_free struct tmux_info *list = NULL;

		ck_assert_uint_eq(tmux_list_parse(text, &list), cases[i].count);
		if (cases[i].count == 0)
			continue;
		ck_assert_str_eq(list[0].name, cases[i].name);
		ck_assert_str_eq(list[0].role, cases[i].role);
		ck_assert(list[0].dead);
		ck_assert_int_eq(list[0].pane_pid, 0);
	}
}

TEST(words_reach_the_program_unchanged)
{
	const char *const argv[] = { "/bin/sh", "-c",
		"printf '%s|' \"$@\" \"$LLMC_A\" \"$LLMC_B\" \"$PWD\" "
		">\"$LLMC_OUT\"; : >\"$LLMC_OUT.done\"; " FOREVER,
		"sh", "a b", "$HOME", "x;", "y\\;", ";", "", "#{pid}", "%H",
		"'\"", "-t", "--", "\xc3\xa9\xe2\x82\xac", NULL };
	cleanup_free char *out = xasprintf("LLMC_OUT=%s", unit_path("t4"));
	const char *const env[] = { "LLMC_A=1=2;", "LLMC_B=#{pid} $A", out,
		NULL };
	const char *cwd = unit_path("odd #{pid} %H;");
	struct tmux_session session = { .name = "llmc-a",
		.role = "worker",
		.cwd = cwd,
		.argv = argv,
		.env = env };
	cleanup_free char *got = NULL, *want = NULL;
	struct answer answer;

	world_begin(NULL);
	ck_assert_int_eq(file_mkdirs(cwd, 0700, NULL), 0);
	ck_assert_int_eq(world_start_session(&session, &answer), 0);
	world_until_file(unit_path("t4.done"));
	got = world_file(unit_path("t4"));
	want = xasprintf("a b|$HOME|x;|y\\;|;||#{pid}|%%H|'\"|-t|--|"
			 "\xc3\xa9\xe2\x82\xac|1=2;|#{pid} $A|%s|",
	    cwd);
	ck_assert_str_eq(got, want);
}

TEST(a_single_word_is_a_program_not_a_shell_command)
{
	const char *argv[] = { NULL, NULL };
	struct tmux_session session = { .name = "llmc-a",
		.role = "worker",
		.cwd = unit_scratch(),
		.argv = argv };
	cleanup_free char *written = NULL;
	struct answer answer;

	world_begin(NULL);
	argv[0] =
	    world_script("my $prog;", "echo $$ >t5.pid; : >t5.done; " FOREVER);
	ck_assert_int_eq(world_start_session(&session, &answer), 0);
	world_until_file(unit_path("t5.done"));
	written = world_file(unit_path("t5.pid"));
	ck_assert_int_eq(strtol(written, NULL, 10), answer.pid);
}

TEST(a_taken_name_is_refused_and_keeps_its_marks)
{
	const char *const argv[] = { "true", NULL };
	struct tmux_session other = { .name = "llmc-a",
		.role = "overseer",
		.generation = 9,
		.cwd = "/",
		.argv = argv };
	cleanup_buf struct buf list = BUF_INIT;
	struct answer answer;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	ck_assert_int_eq(world_start_session(&other, &answer), -EEXIST);
	ck_assert_ptr_nonnull(strstr(answer.err.msg, "llmc-a"));
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-a worker  1 live\n");
}

TEST(a_missing_directory_is_an_error_not_another_directory)
{
	const char *const argv[] = { "sleep", "1000", NULL };
	struct tmux_session session = { .name = "llmc-a",
		.role = "worker",
		.cwd = "/no/such/place",
		.argv = argv };
	struct answer answer;

	world_begin(NULL);
	ck_assert_int_eq(world_start_session(&session, &answer), -ENOENT);
	ck_assert_ptr_nonnull(strstr(answer.err.msg, "/no/such/place"));
	ck_assert_int_eq(world_server(), 0);
}

TEST(names_that_tmux_would_read_otherwise_are_refused)
{
	static const char *const names[] = { "", "a.b", "a:b", "=a", "a b",
		"$1", "a*", "a\n", "@1", "%1", NULL };
	const char *const argv[] = { "true", NULL };

	world_begin(NULL);
	for (size_t i = 0; names[i] != NULL; i++) {
		struct tmux_session session = { .name = names[i],
			.role = "worker",
			.cwd = "/",
			.argv = argv };
		struct answer answer;

		ck_assert_int_eq(
		    world_start_session(&session, &answer), -EINVAL);
		ck_assert_int_eq(world_kill(names[i]), -EINVAL);
		ck_assert_int_eq(world_paste(names[i], "x", true), -EINVAL);
		session.name = "ok";
		session.role = names[i];
		ck_assert_int_eq(
		    world_start_session(&session, &answer), -EINVAL);
		session.role = "worker";
		session.worker = names[i];
		ck_assert_int_eq(
		    world_start_session(&session, &answer), -EINVAL);
	}
}

TEST(a_command_too_long_for_tmux_says_so)
{
	cleanup_free char *word = xmalloc(20000);
	const char *argv[] = { "echo", word, NULL };
	struct tmux_session session = {
		.name = "llmc-a", .role = "worker", .cwd = "/", .argv = argv
	};
	struct answer answer;

	memset(word, 'x', 19999);
	word[19999] = '\0';
	world_begin(NULL);
	ck_assert_int_eq(world_start_session(&session, &answer), -E2BIG);
}

TEST(a_dead_pane_stays_and_is_listed_as_dead)
{
	const char *const keys[] = { "Enter", NULL };
	cleanup_buf struct buf list = BUF_INIT, screen = BUF_INIT;

	world_begin(NULL);
	ck_assert_int_eq(
	    world_start("llmc-a", "echo last words; read x; exit 3", NULL), 0);
	/* tmux may not read what is written at the very end. */
	while (strstr(screen.data, "last words") == NULL)
		ck_assert_int_eq(world_capture("llmc-a", 0, &screen), 0);
	ck_assert_int_eq(world_keys("llmc-a", keys), 0);
	world_until_dead("=llmc-a:");
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-a worker  1 dead\n");
	/* tmux scrolls by a line to report that it is dead. */
	ck_assert_int_eq(world_capture("llmc-a", 9, &screen), 0);
	ck_assert_ptr_nonnull(strstr(screen.data, "last words\n"));
}

/* tmux may miss the signal, so the kernel decides. */
TEST(a_killed_program_is_listed_as_dead_at_once)
{
	cleanup_buf struct buf list = BUF_INIT;
	ended_by(procref_release) struct procref ref = PROCREF_INIT;
	pid_t pid;

	world_begin(NULL);
	/* The background process keeps the terminal open. */
	ck_assert_int_eq(
	    world_start("llmc-a", "sleep 1000 & " FOREVER, &pid), 0);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_signal(&ref, SIGKILL), 0);
	world_until_gone(&ref);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-a worker  1 dead\n");
}

TEST(a_persons_panes_are_not_taken_for_the_agents)
{
	cleanup_free char *pane = NULL;
	cleanup_buf struct buf list = BUF_INIT;
	struct answer answer;
	pid_t pid;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, &pid), 0);
	pane = world_tmux(
	    "list-panes", "-t", "=llmc-a:", "-F", "#{pane_id}", NULL);
	free(world_tmux("split-window", "-b", "-t", "=llmc-a:", FOREVER, NULL));
	free(world_tmux("new-window", "-t", "=llmc-a:", FOREVER, NULL));
	answer_begin(&answer);
	tmux_list(world.tmux, answer_list, &answer);
	world_wait(&answer);
	answer_end(&answer);
	ck_assert_int_eq(answer.pid, pid);
	free(world_tmux("kill-pane", "-t", pane, NULL));
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-a worker  1 dead\n");
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -ESRCH);
}

static bool
list_says_attached(void *arg)
{
	cleanup_free char *count = world_tmux("list-sessions", "-F",
	    "#{session_attached}", "-f", "#{==:#{session_name},llmc-a}", NULL);

	(void)arg;
	return strcmp(count, "1") == 0;
}

TEST(the_words_for_a_person_attach)
{
	const char *words[8], *argv[16] = { "env", "-u", "TMUX" };
	struct tmux_session viewer = {
		.name = "viewer", .role = "console", .cwd = "/", .argv = argv
	};
	cleanup_free char *target = NULL, *other = NULL;
	cleanup_buf struct buf list = BUF_INIT;
	struct answer answer;

	world_begin(NULL);
	tmux_attach_words(&world.options, "llmc-a", true, words, &other);
	ck_assert_str_eq(words[3], "switch-client");
	tmux_attach_words(&world.options, "llmc-a", false, words, &target);
	ck_assert_str_eq(words[3], "attach");
	ck_assert_str_eq(words[5], "=llmc-a");
	for (size_t i = 0; words[i] != NULL; i++)
		argv[3 + i] = words[i];
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	ck_assert_int_eq(world_start_session(&viewer, &answer), 0);
	world_until(list_says_attached, NULL);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(
	    list.data, "llmc-a worker  1 live\nviewer console  0 live\n");
}

TEST(kill_ends_the_session_and_its_program)
{
	cleanup_buf struct buf list = BUF_INIT;
	ended_by(procref_release) struct procref ref = PROCREF_INIT;
	pid_t pid;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, &pid), 0);
	ck_assert_int_eq(world_start("llmc-b", FOREVER, NULL), 0);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(world_kill("llmc-a"), 0);
	world_until_gone(&ref);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-b worker  1 live\n");
	ck_assert_int_eq(world_kill("llmc-a"), 0);
}

TEST(a_name_never_means_a_longer_one)
{
	const char *const keys[] = { "x", NULL };
	cleanup_buf struct buf list = BUF_INIT, screen = BUF_INIT;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-auto-10", "exec cat", NULL), 0);
	ck_assert_int_eq(world_paste("llmc-auto-1", "no", true), -ESRCH);
	ck_assert_int_eq(world_keys("llmc-auto-1", keys), -ESRCH);
	ck_assert_int_eq(world_capture("llmc-auto-1", 0, &screen), -ESRCH);
	ck_assert_int_eq(world_kill("llmc-auto-1"), 0);
	ck_assert_int_eq(world_capture("llmc-auto-10", 0, &screen), 0);
	ck_assert_str_eq(screen.data, "");
	ck_assert_int_eq(world_start("llmc-auto-1", FOREVER, NULL), 0);
	ck_assert_int_eq(world_kill("llmc-auto-1"), 0);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-auto-10 worker  1 live\n");
}

TEST(no_server_is_an_empty_one)
{
	const char *const keys[] = { "x", NULL };
	cleanup_buf struct buf out = BUF_INIT;

	world_begin(NULL);
	ck_assert_int_eq(world_list(&out), 0);
	ck_assert_str_eq(out.data, "");
	ck_assert_int_eq(world_server(), 0);
	ck_assert_int_eq(world_kill("llmc-a"), 0);
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -ESRCH);
	ck_assert_int_eq(world_keys("llmc-a", keys), -ESRCH);
	ck_assert_int_eq(world_capture("llmc-a", 5, &out), -ESRCH);
}

TEST(the_server_outlives_us)
{
	ended_by(procref_release) struct procref ref = PROCREF_INIT;
	cleanup_buf struct buf list = BUF_INIT;
	pid_t server;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
	server = world_server();
	ck_assert_int_gt(server, 0);
	ck_assert_int_eq(procref_set(&ref, server), 0);
	tmux_free(world.tmux);
	ck_assert(procref_alive(&ref));
	ck_assert_int_eq(
	    tmux_new(world.loop, &world.options, &world.tmux, NULL), 0);
	ck_assert_int_eq(world_list(&list), 0);
	ck_assert_str_eq(list.data, "llmc-a worker  1 live\n");
	ck_assert_int_eq(world_server(), server);
}

/* A server that is exiting accepts clients until the end, and drops them. */
TEST(start_right_after_the_last_kill_succeeds)
{
	world_begin(NULL);
	for (int i = 0; i < 30; i++) {
		ck_assert_int_eq(world_start("llmc-a", FOREVER, NULL), 0);
		if (i % 2 == 0) {
			ck_assert_int_eq(world_kill("llmc-a"), 0);
			continue;
		}
		free(world_tmux("kill-server", NULL));
	}
}

TEST(the_session_of_a_worker_has_a_name)
{
	cleanup_free char *name = tmux_session_name("auto-1");

	ck_assert_str_eq(name, "llmc-auto-1");
}
