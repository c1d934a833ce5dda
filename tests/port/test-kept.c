/* SPDX-License-Identifier: ISC */

/* Real commands below a real keeper: in the mode that this user gets, and as a
 * subreaper, which is what others get where there are no cgroups. */
#include "sibling.h"
#include "strays.h"
#include "unit.h"

#define GUARD_MS 20000

/* Daemons of three kinds, each with $ON in its environment; then a word to the
 * fifo. What follows it is the rest of the command. */
#define LEAVE                                                                \
	"setsid nohup sleep 1000 >/dev/null 2>&1 & "                         \
	"(setsid sh -c 'sleep 1000 & exec sleep 1000' >/dev/null 2>&1 &) ; " \
	"(sleep 1000 >/dev/null 2>&1 &) ; echo >\"$ON\"; "

static const char *const modes[] = { "", "reaper" };

/* From SIGTERM to SIGKILL. */
static int64_t grace_ms = 300;

/* One command, its loop and its result. */
struct run {
	struct loop *loop;
	struct child *child;
	char *on; /* the fifo, and the mark of its processes */
	bool ended;
	bool exited, timed_out, cancelled;
	int status, signal;
	int start_error;
	int64_t duration_ms;
	char *out;
};

static void
on_ended(const struct child_result *result, void *arg)
{
	struct run *run = arg;
	cleanup_buf struct buf out = BUF_INIT;

	child_output_text(&result->out, &out);
	run->ended = true;
	run->exited = result->exited;
	run->timed_out = result->timed_out;
	run->cancelled = result->cancelled;
	run->status = result->status;
	run->signal = result->signal;
	run->start_error = result->start_error;
	run->duration_ms = result->duration_ms;
	run->out = buf_take(&out);
	run->child = NULL;
	loop_stop(run->loop, 0);
}

/* deadline_ms: 0 = none that matters. */
static void
run_start_argv(struct run *run, char **argv, int64_t deadline_ms)
{
	static int count;
	cleanup_free char *name = xasprintf("on%d-%d", (int)getpid(), count++);
	cleanup_free char *on = NULL;
	struct child_spec spec = { .argv = strv_const(argv),
		.merge_stderr = true,
		.grace_ms = grace_ms,
		.deadline_ms = deadline_ms > 0 ? deadline_ms : GUARD_MS };
	const char *env[2] = { NULL, NULL };
	struct err err = { 0 };

	*run =
	    (struct run){ .loop = loop_new(), .on = xstrdup(unit_path(name)) };
	ck_assert_int_eq(mkfifo(run->on, 0600), 0);
	on = xasprintf("ON=%s", run->on);
	env[0] = on;
	spec.env = env;
	ck_assert_msg(child_spawn(run->loop, &spec, on_ended, run, &run->child,
			  &err) == 0,
	    "%s", err.msg);
}

static void
run_start(
    struct run *run, const char *command, int64_t deadline_ms, unsigned flags)
{
	cleanup_strv char **argv = kept_shell(command, flags);

	run_start_argv(run, argv, deadline_ms);
}

static void
run_wait(struct run *run)
{
	loop_run(run->loop);
	ck_assert(run->ended);
}

/* Until the command has written to the fifo. */
static void
run_hear(const struct run *run)
{
	int fd = open(run->on, O_RDONLY | O_CLOEXEC);
	char byte;

	ck_assert_int_eq(read(fd, &byte, 1), 1);
	close(fd);
}

static void
run_release(struct run *run)
{
	loop_free(run->loop);
	free(run->on);
	free(run->out);
}

static void
use_mode(int i)
{
	setenv("LLMC_KEEPER_MODE", modes[i], 1);
}

static const struct {
	const char *command;
	int status, signal;
} endings[] = {
	{ "exit 0", 0, 0 },
	{ "exit 3", 3, 0 },
	{ "exit 143", 143, 0 },
	{ "exit 255", 255, 0 },
	{ "no-such-program-here 2>/dev/null", 127, 0 },
	{ "kill -TERM $$", 0, SIGTERM },
	{ "kill -KILL $$", 0, SIGKILL },
	{ "kill -SEGV $$", 0, SIGSEGV },
	{ "kill -USR1 $$", 0, SIGUSR1 },
};

void
unit_begin(void)
{
	cleanup_free char *keeper = sibling_find("keeper");

	if (keeper == NULL)
		unit_skip_all("there is no keeper on PATH");
}

TEST_ROWS(it_ends_as_the_command_ends, nitems(modes))
{
	use_mode(_i % 2);
	for (size_t i = 0; i < nitems(endings); i++) {
		struct run run;

		run_start(&run, endings[i].command, 0, 0);
		run_wait(&run);
		ck_assert_msg(run.exited == (endings[i].signal == 0), "%s",
		    endings[i].command);
		if (run.exited)
			ck_assert_int_eq(run.status, endings[i].status);
		else
			ck_assert_int_eq(run.signal, endings[i].signal);
		run_release(&run);
	}
}

TEST(without_a_keeper_something_is_left)
{
	/* It says that it has left the group: it is not killed with it. */
	const char *const words[] = { "/bin/sh", "-c",
		("(setsid sh -c 'echo; exec sleep 1000 >/dev/null 2>&1' &) | "
		 "{ read -r word; echo >\"$ON\"; exit 5; }"),
		NULL };
	cleanup_strv char **argv = strv_copy(words);
	ended_by(run_release) struct run run;
	pid_t pid = 0;

	run_start_argv(&run, argv, 0);
	run_hear(&run);
	run_wait(&run);
	ck_assert_int_eq(run.status, 5);
	ck_assert_int_ge(strays_count(run.on, NULL), 1);
	while (strays_count(run.on, &pid) > 0)
		kill(pid, SIGKILL);
}

/* The first child of a process. */
static pid_t
child_of(pid_t pid)
{
	cleanup_free char *path =
	    xasprintf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 4096, &text, NULL) < 0 || text.len == 0)
		unit_skip("the kernel does not list children");
	return (pid_t)strtol(text.data, NULL, 10);
}

static void
kill_keeper(struct run *run)
{
	ck_assert_int_eq(kill(child_pid(run->child), SIGKILL), 0);
}

static void
kill_inner(struct run *run)
{
	ck_assert_int_eq(kill(child_of(child_pid(run->child)), SIGKILL), 0);
}

static void
cancel(struct run *run)
{
	child_cancel(run->child);
}

static void
abandon(struct run *run)
{
	child_abandon(run->child);
}

/* soon_ms: how long its strays may take to end after it; 0 where the keeper was
 * there to the end. */
static const struct {
	const char *rest; /* of the command, behind LEAVE */
	void (*act)(struct run *run);
	int64_t deadline_ms;
	int status, signal;
	int64_t soon_ms;
} ways[] = {
	{ "exit 5", NULL, 0, 5, 0, 0 },
	{ "trap '' TERM; while :; do sleep 1000; done", NULL, 800, 0, SIGKILL,
	    2000 },
	{ "wait; sleep 1000", cancel, 0, 0, SIGTERM, 0 },
	{ "sleep 1000", abandon, 0, 0, 0, 5000 },
	{ "sleep 1000", kill_keeper, 0, 0, SIGKILL, 5000 },
	{ "sleep 1000", kill_inner, 0, 0, SIGKILL, 0 },
};

TEST_ROWS(nothing_is_left_however_it_ends, nitems(ways) * nitems(modes))
{
	size_t way = (size_t)_i / nitems(modes);
	cleanup_free char *command = xasprintf(LEAVE "%s", ways[way].rest);
	ended_by(run_release) struct run run;

	use_mode(_i % (int)nitems(modes));
	run_start(&run, command, ways[way].deadline_ms, 0);
	run_hear(&run);
	if (ways[way].signal != 0)
		ck_assert_int_gt(strays_count(run.on, NULL), 3);
	if (ways[way].act != NULL)
		ways[way].act(&run);
	if (ways[way].act != abandon) {
		run_wait(&run);
		ck_assert(run.timed_out == (ways[way].deadline_ms > 0));
		ck_assert(run.cancelled == (ways[way].act == cancel));
		ck_assert(run.exited == (ways[way].signal == 0));
		ck_assert_int_eq(run.status, ways[way].status);
		ck_assert_int_eq(run.signal, ways[way].signal);
	}
	ck_assert(strays_become(run.on, 0, ways[way].soon_ms));
}

/* A process that starts a command and is killed when the command runs; the
 * fifo, to be freed. */
static char *
start_and_die(const char *command, unsigned flags)
{
	int ends[2];
	char on[4096] = "";
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct run run;

		run_start(&run, command, 0, flags);
		run_hear(&run);
		if (write(ends[1], run.on, strlen(run.on)) == -1)
			_exit(1);
		loop_run(run.loop);
		_exit(2);
	}
	ck_assert_int_gt(read(ends[0], on, sizeof on - 1), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(ends[0]);
	close(ends[1]);
	return xstrdup(on);
}

TEST_ROWS(nothing_is_left_when_the_daemon_is_killed, nitems(modes))
{
	cleanup_free char *on = NULL;

	use_mode(_i);
	on = start_and_die(LEAVE "sleep 1000", 0);
	ck_assert(strays_become(on, 0, 5000));
}

TEST_ROWS(one_that_is_left_alone_ends_by_itself, nitems(modes))
{
	cleanup_free char *on = NULL;
	int fd;

	use_mode(_i);
	on = start_and_die(LEAVE "read x <\"$ON\"; exit 0", KEPT_ALONE);
	ck_assert_int_gt(strays_count(on, NULL), 4);
	fd = open(on, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(write(fd, "go\n", 3), 3);
	close(fd);
	ck_assert(strays_become(on, 0, 5000));
}

TEST_ROWS(sigterm_reaches_all_of_its_group, nitems(modes))
{
	ended_by(run_release) struct run run;

	use_mode(_i);
	grace_ms = GUARD_MS;
	/* The outer shell acts on it only when the inner one has ended. */
	run_start(&run,
	    "exec 2>/dev/null; trap 'echo outer; exit 4' TERM; "
	    "sh -c 'trap \"echo inner; exit 1\" TERM; echo >\"$ON\"; "
	    "while :; do sleep 0.01; done'; true",
	    0, 0);
	run_hear(&run);
	child_cancel(run.child);
	run_wait(&run);
	ck_assert_str_eq(run.out, "inner\nouter\n");
	ck_assert_int_eq(run.status, 4);
}

TEST_ROWS(cancelled_at_once_it_ends_at_once, nitems(modes))
{
	use_mode(_i);
	for (int i = 0; i < 20; i++) {
		struct run run;

		run_start(&run, "sleep 1000", 0, 0);
		child_cancel(run.child);
		run_wait(&run);
		ck_assert_int_eq(run.signal, SIGTERM);
		ck_assert(strays_become(run.on, 0, 5000));
		run_release(&run);
	}
}

/* `cmd > >(tee log)` of bash is such a thing. */
TEST_ROWS(output_that_comes_late_is_waited_for, nitems(modes))
{
	ended_by(run_release) struct run run;

	use_mode(_i);
	run_start(&run, "(sleep 0.2; echo late) & echo early", 0, 0);
	run_wait(&run);
	ck_assert_str_eq(run.out, "early\nlate\n");
}

TEST_ROWS(output_that_never_comes_is_not_waited_for, nitems(modes))
{
	struct run run;

	use_mode(_i);
	run_start(&run, "sleep 1000 & echo early", 0, 0);
	run_wait(&run);
	ck_assert_str_eq(run.out, "early\n");
	ck_assert_int_ge(run.duration_ms, 500);
	ck_assert_int_lt(run.duration_ms, 10000);
	run_release(&run);
	/* Nor is one that has another output. */
	run_start(&run, "sleep 1000 >/dev/null 2>&1 & echo early", 0, 0);
	run_wait(&run);
	ck_assert_int_lt(run.duration_ms, 900);
	run_release(&run);
}

TEST_ROWS(its_pid_is_no_other_commands, nitems(modes))
{
	struct run a, b;

	use_mode(_i);
	run_start(&a, "echo $$", 0, 0);
	run_start(&b, "echo $$", 0, 0);
	run_wait(&a);
	run_wait(&b);
	if (_i == 0 && geteuid() == 0 &&
	    access("/proc/sys/kernel/ns_last_pid", W_OK) != 0)
		unit_skip("the kernel does not let pids be chosen");
	ck_assert_str_ne(a.out, b.out);
	run_release(&a);
	run_release(&b);
}

TEST(a_program_is_kept_with_its_arguments)
{
	const char *const argv[] = { "printf", "%s|", "a b", "--", "", NULL };
	cleanup_strv char **kept = kept_argv(argv, 0);
	struct child_spec spec = { .argv = strv_const(kept) };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(child_run(&spec, &result, NULL), 0);
	child_output_text(&result.out, &out);
	ck_assert_str_eq(out.data, "a b|--||");
}

TEST(without_a_keeper_it_does_not_run)
{
	cleanup_strv char **argv = NULL;
	ended_by(run_release) struct run run;

	setenv("PATH", "/nonexistent", 1);
	argv = kept_shell("exit 0", 0);
	ck_assert_str_eq(argv[0], "keeper");
	run_start_argv(&run, argv, 0);
	run_wait(&run);
	ck_assert_int_eq(run.start_error, -ENOENT);
}
