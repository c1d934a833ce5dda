/* SPDX-License-Identifier: ISC */

/* What is typed into a pane, and what is read from its screen. */

#include "tmux-world.h"

#define BEGIN "\033[200~"
#define END   "\033[201~"

#define LARGE (1024 * 1024)

static void
expect_text(const char *name, const char *text)
{
	world_expect_bytes(name, text, strlen(text));
}

static void
expect_no_buffer_left(void)
{
	cleanup_free char *buffers = world_tmux("list-buffers", NULL);

	ck_assert_str_eq(buffers, "");
}

TEST(paste_brackets_the_text_and_ends_with_return)
{
	const char *text = "one line\n\ttwo $(x) `y` #{pid} %H ' \" \\ ; \n"
			   "\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x8e\x89 -p";
	cleanup_free char *want = xasprintf(BEGIN "%s" END "\r", text);

	world_begin(NULL);
	world_start_reader("llmc-a", "i1", strlen(want));
	ck_assert_int_eq(world_paste("llmc-a", text, true), 0);
	expect_text("i1", want);
	expect_no_buffer_left();
}

TEST(paste_without_enter_leaves_the_return_out)
{
	const char *want = BEGIN "abc" END BEGIN "de" END "\r";

	world_begin(NULL);
	world_start_reader("llmc-a", "i2", strlen(want));
	ck_assert_int_eq(world_paste("llmc-a", "abc", false), 0);
	ck_assert_int_eq(world_paste("llmc-a", "de", true), 0);
	expect_text("i2", want);
}

TEST(a_megabyte_arrives_byte_by_byte)
{
	static const char *const pieces[] = { "word ", "\n", "\t", "\xc3\xa9",
		"\xe2\x82\xac", "\xf0\x9f\x8e\x89", "#{x}", "%%", "\\", "'" };
	cleanup_buf struct buf text = BUF_INIT, want = BUF_INIT;
	uint32_t seed = 1;

	while (text.len < LARGE) {
		seed = seed * 1103515245u + 12345u;
		buf_adds(&text, pieces[(seed >> 16) % nitems(pieces)]);
	}
	buf_addf(&want, BEGIN "%s" END "\r", text.data);
	world_begin(NULL);
	world_start_reader("llmc-a", "i3", want.len);
	ck_assert_int_eq(world_paste("llmc-a", text.data, true), 0);
	world_expect_bytes("i3", want.data, want.len);
	expect_no_buffer_left();
}

TEST(many_pastes_for_one_session_keep_their_order)
{
	enum {
		COUNT = 25
	};
	cleanup_buf struct buf want = BUF_INIT;
	struct answer answers[COUNT];

	for (int i = 0; i < COUNT; i++)
		buf_addf(&want, BEGIN "text %d" END "\r", i);
	world_begin(NULL);
	world_start_reader("llmc-a", "i4", want.len);
	for (int i = 0; i < COUNT; i++) {
		cleanup_free char *text = xasprintf("text %d", i);

		answer_begin(&answers[i]);
		tmux_paste(
		    world.tmux, "llmc-a", text, true, answer_done, &answers[i]);
	}
	for (int i = 0; i < COUNT; i++) {
		world_wait(&answers[i]);
		ck_assert_int_eq(answers[i].err.code, 0);
	}
	world_expect_bytes("i4", want.data, want.len);
}

TEST(pastes_for_many_sessions_do_not_mix)
{
	enum {
		COUNT = 8
	};
	struct answer answers[COUNT];
	char *names[COUNT], *texts[COUNT];

	world_begin(NULL);
	for (int i = 0; i < COUNT; i++) {
		names[i] = xasprintf("many%d", i);
		texts[i] = xasprintf("text for %d", i);
		world_start_reader(
		    names[i], names[i], strlen(texts[i]) + sizeof(BEGIN END));
	}
	for (int i = 0; i < COUNT; i++) {
		answer_begin(&answers[i]);
		tmux_paste(world.tmux, names[i], texts[i], true, answer_done,
		    &answers[i]);
	}
	for (int i = 0; i < COUNT; i++) {
		cleanup_free char *want =
		    xasprintf(BEGIN "%s" END "\r", texts[i]);

		world_wait(&answers[i]);
		ck_assert_int_eq(answers[i].err.code, 0);
		expect_text(names[i], want);
		free(names[i]);
		free(texts[i]);
	}
}

TEST(paste_and_keys_leave_copy_mode_first)
{
	const char *want = BEGIN "q" END "\rq";
	const char *const keys[] = { "q", NULL };

	world_begin(NULL);
	world_start_reader("llmc-a", "i6", strlen(want));
	free(world_tmux("copy-mode", "-t", "=llmc-a:", NULL));
	ck_assert_int_eq(world_paste("llmc-a", "q", true), 0);
	free(world_tmux("copy-mode", "-t", "=llmc-a:", NULL));
	ck_assert_int_eq(world_keys("llmc-a", keys), 0);
	expect_text("i6", want);
}

TEST(input_goes_to_the_agent_not_to_the_pane_in_front)
{
	const char *want = BEGIN "secret" END "\rk";
	const char *const keys[] = { "k", NULL };
	cleanup_buf struct buf screen = BUF_INIT;

	world_begin(NULL);
	world_start_reader("llmc-a", "i7", strlen(want));
	free(world_tmux(
	    "split-window", "-b", "-t", "=llmc-a:", "exec cat", NULL));
	free(world_tmux(
	    "new-window", "-t", "=llmc-a:", "echo a person; exec cat", NULL));
	ck_assert_int_eq(world_paste("llmc-a", "secret", true), 0);
	ck_assert_int_eq(world_keys("llmc-a", keys), 0);
	expect_text("i7", want);
	ck_assert_int_eq(world_capture("llmc-a", 0, &screen), 0);
	ck_assert_ptr_null(strstr(screen.data, "a person"));
}

TEST(keys_are_known_by_their_names)
{
	const char *const keys[] = { "a", "Enter", "C-c", "Escape", "x;", ";",
		"'", "-l", "Space", "#", "$HOME", "\\", "\xc3\xa9", NULL };
	const char *want = "a\r\003\033x;;'-l #$HOME\\\xc3\xa9";

	world_begin(NULL);
	world_start_reader("llmc-a", "i8", strlen(want));
	ck_assert_int_eq(world_keys("llmc-a", keys), 0);
	expect_text("i8", want);
}

/* paste-buffer alone would crash the whole server of tmux 3.3a. */
TEST(a_dead_pane_refuses_input_and_the_server_lives)
{
	const char *const keys[] = { "x", NULL };
	pid_t server;

	world_begin(NULL);
	ck_assert_int_eq(world_start("llmc-a", "exit 1", NULL), 0);
	world_until_dead("=llmc-a:");
	server = world_server();
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -EPIPE);
	ck_assert_int_eq(world_keys("llmc-a", keys), -EPIPE);
	ck_assert_int_eq(world_server(), server);
	expect_no_buffer_left();
}

/* The program exits between our check and our paste. */
TEST(a_pane_that_dies_meanwhile_refuses_input_and_the_server_lives)
{
	const char *script =
	    "case \"$*\" in *if-shell*)\n"
	    "	kill $(cat \"$HOME/victim\")\n"
	    "	until [ \"$(tmux -L " WORLD_SOCKET
	    " list-panes -t =llmc-a: -F '#{pane_dead}')\" = 1 ]; do :; done\n"
	    "esac\n"
	    "exec tmux \"$@\"";
	const char *const keys[] = { "x", NULL };
	const char *program = "echo $$ >\"$HOME/victim\"; exec sleep 1000";
	pid_t server;

	world_begin(NULL);
	world_end();
	world_begin(world_script("tmux-late", script));
	ck_assert_int_eq(world_start("other", "exec cat", NULL), 0);
	server = world_server();
	ck_assert_int_eq(world_start("llmc-a", program, NULL), 0);
	world_until_file(unit_path("home/victim"));
	ck_assert_int_eq(world_paste("llmc-a", "x", true), -EPIPE);
	expect_no_buffer_left();
	ck_assert_int_eq(world_kill("llmc-a"), 0);
	ck_assert_int_eq(remove(unit_path("home/victim")), 0);
	ck_assert_int_eq(world_start("llmc-a", program, NULL), 0);
	world_until_file(unit_path("home/victim"));
	ck_assert_int_eq(world_keys("llmc-a", keys), -EPIPE);
	ck_assert_int_eq(world_server(), server);
}

TEST(capture_gives_the_screen_without_blank_ends)
{
	cleanup_buf struct buf screen = BUF_INIT;

	world_begin(NULL);
	setenv("LC_ALL", "C", 1);
	ck_assert_int_eq(
	    world_start("llmc-a",
		"printf 'one  \\n\\n  \xe4\xb8\xad\xc3\xa9   \\n   \\n'; "
		": >i11.done; exec cat",
		NULL),
	    0);
	world_until_file(unit_path("i11.done"));
	while (strstr(screen.data, "one") == NULL)
		ck_assert_int_eq(world_capture("llmc-a", 0, &screen), 0);
	ck_assert_str_eq(screen.data, "one\n\n  \xe4\xb8\xad\xc3\xa9\n");
	unsetenv("LC_ALL");
}

TEST(capture_reaches_as_far_back_as_asked)
{
	cleanup_buf struct buf screen = BUF_INIT, all = BUF_INIT;
	size_t lines = 0;

	world_begin(NULL);
	ck_assert_int_eq(
	    world_start("llmc-a",
		"i=0; while [ $i -lt 500 ]; do i=$((i + 1)); echo line $i.; "
		"done; exec cat",
		NULL),
	    0);
	while (strstr(screen.data, "line 500.") == NULL)
		ck_assert_int_eq(world_capture("llmc-a", 0, &screen), 0);
	ck_assert_ptr_null(strstr(screen.data, "line 460."));
	ck_assert_int_eq(world_capture("llmc-a", 50, &screen), 0);
	for (const char *s = screen.data; (s = strchr(s, '\n')) != NULL; s++)
		lines++;
	/* All but the cursor's line, and those above. */
	ck_assert_uint_eq(lines, 39 + 50);
	ck_assert_int_eq(world_capture("llmc-a", 100000, &all), 0);
	ck_assert_int_eq(strncmp(all.data, "line 1.\n", 8), 0);
}
