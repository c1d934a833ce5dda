/* SPDX-License-Identifier: ISC */

/* llmc top in a real terminal: what it shows, what its keys do, and how it
 * leaves the terminal. */
#include <spawn.h>
#include <sys/ioctl.h>

#include "autorun.h"
#include "toprun.h"

#define MANY    100 /* workers */
#define LIVE    8 /* of them that run; TOP_WORKERS: others */
#define RESIZES unit_times(200) /* 20, or all of them in tests/soak.sh */
#define TRIES   3
#define WAIT_MS 40000

static void
begin(void)
{
	fleet_begin();
	auto_ails("");
}

/* A worker at work, which waits at a gate. */
static void
begin_live(void)
{
	begin();
	fleet_up();
	fleet_add("adam");
	fleet_start("adam",
	    e2e_path(
		"fake: commit a.txt a\nfake: run %s\n", auto_gate("work")));
	auto_wait_gate("work");
	top_shell(80, 24);
}

const int unit_timeout = 120; /* seconds, each */

/* --- what it shows --------------------------------------------------- */

TEST_IN(begin_live, the_first_frame_shows_what_goes_on)
{
	top_type("");
	top_wait("[live]");
	e2e_has(top_screen(), "adam");
	e2e_has(top_screen(), "working");
	ck_assert_str_eq(top_ask("#{alternate_on} #{cursor_flag}"), "1 0");
	auto_open_gate("work");
	top_wait("needs_review");
	top_keys("q");
	top_wait_end(0);
	e2e_has(top_screen(), "prompt>");
}

#define ROW "adam   working"

TEST_IN(begin_live, what_is_pasted_is_no_command)
{
	top_type("");
	top_wait("[live]");
	top_keys("-l \"$(printf '\\033[200~q\\033[201~')\"");
	top_keys("/");
	top_keys("-l \"$(printf '\\033[200~qqq\\033[201~')\"");
	top_wait_without(ROW);
	e2e_has(top_screen(), "qqq");
	top_keys("Escape");
	top_wait(ROW);
}

TEST_IN(begin_live, a_lost_daemon_is_said_within_a_second_and_found_again)
{
	int64_t took = INT64_MAX, before;

	top_type("");
	/* A busy machine may need longer, once. */
	for (int i = 0; i < TRIES && took > 1000; i++) {
		top_wait("[live]");
		before = clock_mono_ms();
		fleet_kill(fleet_daemon_pid());
		top_wait("lost");
		took = clock_mono_ms() - before;
		e2e_has(top_screen(), "adam");
		fleet_up();
	}
	ck_assert_int_le(took, 1000);
	top_wait("[live]");
	top_wait_without("lost");
	top_keys("q");
	top_wait_end(0);
}

/* --- what it leaves -------------------------------------------------- */

static const struct {
	int signo, status;
} deaths[] = {
	{ SIGTERM, 128 + SIGTERM },
	{ SIGHUP, 128 + SIGHUP },
	{ SIGINT, 0 },
	{ SIGSEGV, 128 + SIGSEGV },
	{ SIGABRT, 128 + SIGABRT },
};

TEST_IN(begin_live, the_terminal_is_restored_whatever_ends_it)
{
	/* The words are not on the screen while the command is typed. */
	top_keys("'clear; stty -g >\"$FLEET/before\"; echo no\"\"ted' Enter");
	top_wait("noted\n");
	for (size_t i = 0; i < nitems(deaths); i++) {
		top_type("ulimit -c 0; ");
		top_wait("[live]");
		ck_assert_int_eq(kill(top_pid(), deaths[i].signo), 0);
		top_wait_end(deaths[i].status);
		top_keys(
		    "'clear; stty -g >\"$FLEET/after\"; echo sa\"\"me' Enter");
		top_wait("same\n");
		ck_assert_str_eq(e2e_read(e2e_path("%s/after", unit_scratch())),
		    e2e_read(e2e_path("%s/before", unit_scratch())));
	}
}

TEST_IN(begin_live, a_stopped_top_gives_the_terminal_back_and_goes_on)
{
	top_type("");
	top_wait("[live]");
	top_keys("C-z");
	top_wait("Stopped");
	ck_assert_str_eq(top_ask("#{alternate_on} #{cursor_flag}"), "0 1");
	top_keys("fg Enter");
	top_wait("[live]");
	/* From outside, and in the way that nobody can handle. */
	kill(top_pid(), SIGTSTP);
	top_wait("Stopped");
	top_keys("fg Enter");
	top_wait("[live]");
	kill(top_pid(), SIGSTOP);
	auto_wait_shell("grep -q '^State:.T' \"/proc/$(cat "
			"\"$FLEET/top.pid\")/status\"");
	top_keys("f g C-j"); /* the terminal is still raw */
	top_wait_without("Stopped");
	top_wait("[live]");
	top_keys("q");
	top_wait("prompt>");
	ck_assert_str_eq(top_ask("#{alternate_on} #{cursor_flag}"), "0 1");
}

/* --- what it does ---------------------------------------------------- */

TEST_IN(begin_live, a_worker_is_paused_and_resumed_after_a_question)
{
	top_type("");
	top_wait("[live]");
	auto_open_gate("work");
	top_wait("needs_review");
	fleet_add("bea");
	top_wait("bea");
	top_keys("G P");
	top_wait("bea?");
	top_keys("n");
	top_wait_without("bea?");
	ck_assert_str_eq(fleet_status("bea"), "idle");
	top_keys("P y");
	fleet_wait("bea", "paused");
	top_wait("paused");
	top_keys("R y");
	fleet_wait("bea", "idle");
	top_wait("bea    idle");
}

TEST_IN(begin_live, finished_work_is_rejected_and_accepted)
{
	top_type("");
	auto_open_gate("work");
	top_wait("needs_review");
	top_keys("X");
	top_keys("-l 'fake: commit b.txt b'");
	top_keys("Enter");
	fleet_wait_prompt("fake: commit b.txt b");
	top_wait("rejected -> needs_review");
	top_keys("A y");
	top_wait("Landed");
	fleet_wait("adam", "idle");
	ck_assert_int_eq(fleet_commits(), 2);
}

TEST_IN(begin_live, attaching_and_logs_come_back)
{
	e2e_script(e2e_path("%s/pager", unit_scratch()),
	    "#!/bin/sh\nhead -n 3\necho end of the logs\nread -r line "
	    "</dev/tty\n");
	top_type("PAGER=\"\\\"$FLEET/pager\\\"\" ");
	top_wait("[live]");
	top_keys("l");
	top_wait("end of the logs");
	top_keys("Enter");
	top_wait("[live]");
	top_keys("a");
	top_wait("[y/N]");
	top_keys("y Enter");
	top_wait("llmc-adam");
	top_keys("C-b d");
	top_wait("[live]");
	top_wait("working");
	/* What went wrong can be read. */
	top_keys("a");
	top_wait("[y/N]");
	top_keys("n Enter");
	top_wait("Press Enter");
	top_keys("Enter");
	top_wait("[live]");
	top_keys("q");
	top_wait_end(0);
}

/* --- many rows, many sizes ------------------------------------------- */

/* A state with many workers, none of which runs. */
static void
put_many(void)
{
	struct json_object *state, *workers, *adam, *copy;

	fleet_up();
	fleet_add("adam");
	fleet_do("down", NULL);
	state = auto_state();
	ck_assert_int_eq(
	    json_get_object(state, "", "workers", &workers, NULL), 0);
	ck_assert_int_eq(json_get_object(workers, "", "adam", &adam, NULL), 0);
	for (int i = 1; i < MANY; i++) {
		copy = NULL;
		json_object_deep_copy(adam, &copy, NULL);
		json_set_string(copy, "name", e2e_path("w%03d", i));
		json_set_string(copy, "reason",
		    i % 2 == 0 ? "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
				 " e\xcc\x81 wide" :
				 "evil \033]0;owned\a\033[2J\033[31m title");
		json_set(workers, e2e_path("w%03d", i), copy);
	}
	auto_put_state(state);
}

static void
begin_many(void)
{
	begin();
	put_many();
	top_shell(80, 24);
}

TEST_IN(begin_many, no_size_leaves_a_stale_cell)
{
	unsigned seed = 1;

	top_type("");
	top_wait("w001");
	for (int i = 0; i < RESIZES; i++) {
		int columns, rows;

		seed = seed * 1103515245 + 12345;
		columns = 20 + (int)(seed >> 16) % 160;
		seed = seed * 1103515245 + 12345;
		rows = 5 + (int)(seed >> 16) % 50;
		top_resize(columns, rows);
		top_wait_same(columns, rows);
	}
	top_resize(80, 24);
	top_wait_same(80, 24);
	top_keys("G");
	top_wait("w099");
	top_keys("g");
	top_wait_same(80, 24);
}

/* Workers that run, some of them at work on tasks with wide titles. */
static void
begin_running(void)
{
	const char *wanted = getenv("TOP_WORKERS");
	int count = wanted != NULL ? (int)strtol(wanted, NULL, 10) : LIVE;

	begin();
	fleet_up();
	for (int i = 1; i <= count; i++)
		fleet_do("add", e2e_path("w%03d", i), NULL);
	for (int i = 1; i <= count; i++)
		fleet_wait(e2e_path("w%03d", i), "idle");
	for (int i = 1; i <= count; i += 4)
		fleet_start(e2e_path("w%03d", i),
		    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e e\xcc\x81 wide\n"
		    "fake: commit a.txt a");
	for (int i = 1; i <= count; i += 4)
		fleet_wait(e2e_path("w%03d", i), "needs_review");
	top_shell(80, 24);
}

/* With each one a worker changes, too. */
TEST_IN(begin_running, no_size_leaves_a_stale_cell_while_workers_run)
{
	static const struct {
		int columns, rows;
	} sizes[] = { { 40, 10 }, { 80, 24 }, { 160, 50 }, { 20, 5 } };

	top_type("");
	top_wait("[live]");
	for (int i = 0; i < RESIZES; i++) {
		int columns = sizes[i % (int)nitems(sizes)].columns;
		int rows = sizes[i % (int)nitems(sizes)].rows;

		fleet_do(i % 2 == 0 ? "pause" : "resume", "w002", NULL);
		top_resize(columns, rows);
		top_wait_same(columns, rows);
	}
	top_resize(80, 24);
	top_wait("[live]");
	top_keys("q");
	top_wait_end(0);
}

TEST_IN(begin_many, escapes_in_texts_do_nothing)
{
	top_type("");
	top_wait("w001");
	top_keys("j Enter");
	top_wait("\\x1b]0;owned");
	e2e_lacks(top_ask("#{pane_title}"), "owned");
}

TEST_IN(begin_many, without_a_terminal_one_frame_is_printed)
{
	struct e2e_run *run = e2e_sh(fleet_root(), "\"$LLMC\" top");
	struct json_object *view;

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "llmc top ");
	e2e_has(run->out, "w001");
	e2e_lacks(run->out, "\033");
	run = e2e_sh(fleet_root(), "COLUMNS=40 LINES=10 \"$LLMC\" top");
	e2e_expect(run, 0, NULL);
	e2e_lacks(run->out, "w030");
	view = e2e_json(e2e_llmc(fleet_root(), "top", "--json", NULL), 0);
	ck_assert_str_eq(auto_member(view, "workers.w099.name"), "w099");
	/* A terminal that can only print gets one, too. */
	top_keys("'clear; TERM=dumb \"$LLMC\" top; echo ended-$?' Enter");
	top_wait_end(0);
	e2e_has(top_screen(), "w001");
}

/* --- a terminal that does not read ------------------------------------ */

static pid_t
spawn_on(int slave)
{
	const char *argv[] = { e2e_llmc_path(), "--root", fleet_root(), "top",
		NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_adddup2(&files, slave, fd);
	setenv("TERM", "xterm-256color", 1);
	ck_assert_int_eq(posix_spawn(&pid, argv[0], &files, NULL,
			     (char *const *)(uintptr_t)argv, environ),
	    0);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* Nothing has come for a while: it has no room left. */
static void
fill(int master)
{
	struct pollfd ready = { .fd = master, .events = POLLIN };
	int before = -1, there = 0;

	ck_assert_int_eq(poll(&ready, 1, WAIT_MS), 1);
	while (there != before || there < 2000) {
		ck_assert(!unit_is_late());
		before = there;
		ck_assert_int_eq(write(master, "\f?\f?\f?\f?", 8), 8);
		poll(NULL, 0, 50);
		ck_assert_int_eq(ioctl(master, FIONREAD, &there), 0);
	}
}

TEST_IN(begin_many, a_terminal_that_does_not_read_hangs_nothing)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	struct winsize size = { .ws_row = 50, .ws_col = 160 };
	int status = 0;
	pid_t pid;

	ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(ioctl(slave, TIOCSWINSZ, &size), 0);
	pid = spawn_on(slave);
	fill(master);
	kill(pid, SIGTERM);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (unit_is_late())
			kill(pid, SIGKILL);
		poll(NULL, 0, 10);
	}
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 128 + SIGTERM);
	close(slave);
	close(master);
}
