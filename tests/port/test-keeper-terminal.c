/* SPDX-License-Identifier: ISC */

/* A keeper at a terminal, as in a pane of tmux. */
#include <sys/ioctl.h>

#include "keeper-world.h"

#define MODE keeper_world_modes[_i]

/* A program that handles a signal while a child of its runs. */
#define ON(signal, action)                        \
	"trap '" action "' " signal "; echo up; " \
	"while :; do sleep 1000 & wait; done"

TEST_ROWS(
    interrupt_key_reaches_the_program_and_not_the_keeper, KEEPER_WORLD_MODES)
{
	/* bwrap must ignore it, and a shell would keep that. */
	keeper_world_begin(MODE, true,
	    "exec env --default-signal=INT sh -c \"" ON(
		"INT", "echo interrupted; exit 6") "\"");
	keeper_world_expect("up");
	keeper_world_type("\003");
	keeper_world_expect("interrupted");
	ck_assert_int_eq(keeper_world_status(), 6);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(change_of_size_reaches_the_program, KEEPER_WORLD_MODES)
{
	const struct winsize size = { .ws_row = 33, .ws_col = 77 };

	keeper_world_begin(MODE, true, ON("WINCH", "stty size"));
	keeper_world_expect("up");
	ck_assert_int_eq(ioctl(w.in, TIOCSWINSZ, &size), 0);
	keeper_world_expect("33 77");
}

TEST_ROWS(suspend_key_stops_nothing, KEEPER_WORLD_MODES)
{
	keeper_world_begin(
	    MODE, true, "echo up; read line; echo \"got $line\"; exit 4");
	keeper_world_expect("up");
	keeper_world_type("\032");
	keeper_world_type("text\n");
	keeper_world_expect("got text");
	ck_assert_int_eq(keeper_world_status(), 4);
}

TEST_ROWS(program_that_stops_itself_goes_on, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, true,
	    "echo up; kill -STOP $$; echo on again; kill -STOP $$; "
	    "echo and again; exit 4");
	keeper_world_expect("on again");
	keeper_world_expect("and again");
	ck_assert_int_eq(keeper_world_status(), 4);
}

/* As Claude Code does at Ctrl-Z: it waits for SIGCONT then. */
TEST_ROWS(group_that_suspends_itself_is_continued, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, true,
	    "trap 'echo on again; exit 4' CONT; echo up; kill -TSTP 0; "
	    "while :; do sleep 1000 & wait; done");
	keeper_world_expect("on again");
	ck_assert_int_eq(keeper_world_status(), 4);
}

TEST_ROWS(hangup_leaves_the_program_time_to_end, KEEPER_WORLD_MODES)
{
	cleanup_free char *file = xstrdup(unit_path("ended"));
	cleanup_free char *script = xasprintf(
	    ON("HUP", "sleep 0.3; echo >%s; exit 0"), unit_path("ended"));

	unlink(file);
	keeper_world_begin(MODE, true, script);
	keeper_world_expect("up");
	close(w.in);
	w.in = w.out = -1;
	ck_assert_int_eq(keeper_world_status(), 0);
	ck_assert(file_exists(file));
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(hangup_ends_a_program_that_ignores_it, KEEPER_WORLD_MODES)
{
	int64_t begin;

	keeper_world_begin(MODE, true, ON("HUP TERM", ":"));
	keeper_world_expect("up");
	begin = clock_mono_ms();
	close(w.in);
	w.in = w.out = -1;
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	ck_assert_int_ge(clock_mono_ms() - begin, 1500);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(sigterm_and_resume_work_at_a_terminal, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, true, ON("TERM", "echo ending; exit 5"));
	keeper_world_expect("up");
	ck_assert_int_eq(kill(w.keeper, SIGSTOP), 0);
	ck_assert_int_eq(kill(w.keeper, SIGTERM), 0);
	ck_assert_int_eq(kill(w.keeper, SIGCONT), 0);
	keeper_world_expect("ending");
	ck_assert_int_eq(keeper_world_status(), 5);
}

/* How often it has called read(2). */
static long
count_reads(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/io", (int)pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;

	if (file_read(path, 4096, &text, NULL) < 0)
		unit_skip("the kernel does not count calls");
	line = strstr(text.data, "syscr: ");
	ck_assert_ptr_nonnull(line);
	return strtol(line + strlen("syscr: "), NULL, 10);
}

/* There may be a hundred keepers, and thousands of processes. */
TEST(idle_keeper_does_not_search_all_processes)
{
	int64_t begin = clock_mono_ms();
	long first, now;
	pid_t inner;

	keeper_world_begin("reaper", true, "echo up; exec sleep 1000");
	keeper_world_expect("up");
	inner = keeper_world_inner();
	first = now = count_reads(inner);
	while (now < first + 2) {
		ck_assert_int_lt(clock_mono_ms() - begin, 20000);
		poll(NULL, 0, 10);
		now = count_reads(inner);
	}
	ck_assert_int_le(now, first + 3);
}
