/* SPDX-License-Identifier: ISC */

/* `llmc errand`, which runs the command of an errand: what can happen to it,
 * including its own death at any moment. */
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "errand-world.h"
#include "sibling.h"

static void
run_command(const char *command, struct run *run)
{
	struct errand_spec spec = spec_for(fresh_dir(), command);

	run_start(run, &spec);
	run_wait(run);
}

static void
expect(const char *command, int status, const char *out)
{
	struct run run;

	run_command(command, &run);
	ck_assert(!run.result.lost);
	ck_assert_int_eq(run.result.status, status);
	ck_assert_str_eq(run.result.out.data, out);
	run_release(&run);
}

const int unit_timeout = 120; /* seconds, each */

TEST(the_last_words_of_a_killed_command_are_kept)
{
	expect("echo words; kill -KILL $$", 137, "words\n");
}

TEST(signals_to_the_group_end_the_command_only)
{
	expect("trap '' INT HUP USR1; kill -INT 0; kill -HUP 0; kill -USR1 0; "
	       "echo on; exit 3",
	    3, "on\n");
	expect("kill -INT 0; sleep 1000", 130, "");
	expect("kill -TERM 0; sleep 1000", 143, "");
}

TEST(the_command_has_the_lock_out_of_the_way)
{
	expect("ls /proc/$$/fd; true", 0, "0\n1\n100\n2\n");
	expect(
	    "readlink /proc/$$/fd/100 | sed 's/.*\\///'; true", 0, "e.lock\n");
}

TEST(a_flood_that_is_left_behind_ends_with_it)
{
	ended_by(run_release) struct run run;

	run_command("yes & yes >&2 & exit 6", &run);
	ck_assert_int_eq(run.result.status, 6);
	ck_assert(run.result.cut);
	ck_assert_uint_eq(run.result.out.len, ERRAND_OUT_MAX);
	ck_assert_uint_eq(run.result.err.len, ERRAND_ERR_MAX);
	ck_assert_int_lt(run.result.duration_ms, 10000);
}

TEST(output_may_end_before_the_command)
{
	expect("echo x; exec >&- 2>&-; true; exit 7", 7, "x\n");
}

/* Half of a task would be mistaken for a whole one. */
TEST(output_that_cannot_be_written_is_lost)
{
	struct rlimit old, few;
	struct errand_spec spec = spec_for(fresh_dir(),
	    "head -c 100000 /dev/zero | tr '\\0' x; echo done >&2");
	ended_by(run_release) struct run run;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	few = old;
	few.rlim_cur = 8192;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	run_start(&run, &spec);
	run_wait(&run);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert(run.result.lost);
	ck_assert_uint_eq(run.result.out.len, 8192);
	ck_assert_str_eq(run.result.err.data, "done\n");
}

TEST(a_command_that_is_too_long_is_126_with_words)
{
	cleanup_free char *command = xcalloc(1, 300001);
	ended_by(run_release) struct run run;

	memset(command, ' ', 300000);
	run_command(command, &run);
	ck_assert_int_eq(run.result.status, 126);
	ck_assert_ptr_nonnull(strstr(run.result.err.data, "too long"));
}

/* --- missing or wrong programs ----------------------------------------- */

/* The llmc of the test is the first in PATH; use another one, or none. */
static void
expect_unable(const char *path, const char *words)
{
	cleanup_free char *old = xstrdup(getenv("PATH"));
	struct run run;

	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	run_command("true", &run);
	ck_assert_int_eq(setenv("PATH", old, 1), 0);
	ck_assert(!run.result.lost);
	ck_assert_int_eq(run.result.status, 126);
	ck_assert_msg(strstr(run.result.err.data, words) != NULL, "%s",
	    run.result.err.data);
	run_release(&run);
}

TEST(without_llmc_it_is_126_with_words)
{
	expect_unable(unit_scratch(), "No such file");
}

TEST(an_llmc_that_is_broken_is_126_with_its_words)
{
	static const char script[] =
	    "#!/bin/sh\necho I am broken >&2\nexit 1\n";
	const char *path = unit_path("broken/llmc");

	ck_assert_int_eq(mkdir(unit_path("broken"), 0700), 0);
	ck_assert_int_eq(
	    file_replace(path, script, sizeof script - 1, 0755, NULL), 0);
	expect_unable(unit_path("broken"), "I am broken\n");
}

/* Its runner is killed before it can begin: it is lost, and nobody starts it
 * again. */
TEST(one_that_ended_before_it_began_is_not_started_again)
{
	static const char script[] = "#!/bin/sh\nkill -KILL $$\n";
	cleanup_free char *old = xstrdup(getenv("PATH"));
	cleanup_free char *command =
	    xasprintf("echo >'%s'", unit_path("effect"));
	struct errand_spec spec = spec_for(fresh_dir(), command);
	const char *path = unit_path("killed/llmc");

	ck_assert_int_eq(mkdir(unit_path("killed"), 0700), 0);
	ck_assert_int_eq(
	    file_replace(path, script, sizeof script - 1, 0755, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct run run;

		setenv("PATH", i == 0 ? unit_path("killed") : old, 1);
		if (i == 0)
			run_start(&run, &spec);
		else
			run_adopt(&run, &spec);
		run_wait(&run);
		ck_assert(run.result.lost);
		run_release(&run);
	}
	ck_assert(!file_exists(unit_path("effect")));
}

static void
expect_refusal(const char *file, const char *words)
{
	cleanup_free char *llmc = sibling_find("llmc");
	const char *const argv[] = { llmc, "errand", file, NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result result;

	ck_assert_ptr_nonnull(llmc);
	ck_assert_int_eq(child_run(&spec, &result, NULL), 0);
	ck_assert(result.exited);
	ck_assert_int_ne(result.status, 0);
	ck_assert_msg(strstr(result.err.head.data, words) != NULL, "%s",
	    result.err.head.data);
}

TEST(nobody_else_can_run_one)
{
	const char *dir = fresh_dir();
	struct errand_spec spec = spec_for(dir, "true");
	cleanup_free char *json = file_of(dir, ".json");
	struct run run;

	run_start(&run, &spec);
	run_wait(&run);
	run_release(&run);
	remove_file(dir, ".pid");
	expect_refusal(json, "autod");
	expect_refusal(dir, "record of an errand");
	expect_refusal(".json", "record of an errand");
	ck_assert(!has_file(dir, ".pid"));
}

/* --- killed between any two system calls ------------------------------ */

/* Continue to its next system call, or to the end of this one. False if it has
 * exited. *ret_call: the call that begins here, -1 = none. */
static bool
trace_step(pid_t pid, long *ret_call)
{
	struct __ptrace_syscall_info info;
	int status = 0;

	ck_assert_int_eq(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		return false;
	ck_assert_int_gt(
	    ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info), 0);
	*ret_call =
	    info.op == PTRACE_SYSCALL_INFO_ENTRY ? (long)info.entry.nr : -1;
	return true;
}

/* llmc errand, traced, at the point where it has read its record and begins to
 * act. */
static pid_t
trace_start(const char *llmc, const char *json, const char *lock_path)
{
	int lock = lock_try(lock_path, NULL), status = 0;
	long call = -1;
	pid_t pid;

	ck_assert_int_ge(lock, 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setsid();
		dup2(lock, STDIN_FILENO);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(99);
		execl(llmc, llmc, "errand", json, (char *)NULL);
		_exit(98);
	}
	close(lock);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
		unit_skip("tracing is not allowed here");
	ck_assert(WIFSTOPPED(status));
	/* Without this the calls cannot be distinguished. */
	ck_assert_int_eq(
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD),
	    0);
	while (call != SYS_signalfd4)
		ck_assert(trace_step(pid, &call));
	return pid;
}

static bool
is_poll(long call)
{
#ifdef SYS_poll
	if (call == SYS_poll)
		return true;
#endif
	return call == SYS_ppoll;
}

/* Continue by n stops. False if it has exited before or (if requested) waits
 * for the command. */
static bool
trace_on(pid_t pid, int n, bool to_the_wait)
{
	long call = -1;

	for (int i = 0; i < n; i++)
		if (!trace_step(pid, &call) || (to_the_wait && is_poll(call)))
			return false;
	return true;
}

static void
trace_end(pid_t pid, int signo)
{
	int status = 0;

	ck_assert_int_eq(kill(-pid, signo), 0);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

/* An errand that has been recorded but not begun. */
static void
leave_intent(const struct errand_spec *spec, const char *effect)
{
	static const char *const suffixes[] = { ".pid", ".status", ".out",
		".err" };
	struct run run;

	ck_assert_int_eq(errand_forget(spec->dir, spec->name, NULL), 0);
	run_start(&run, spec);
	run_wait(&run);
	ck_assert_int_eq(run.result.status, 5);
	run_release(&run);
	for (size_t i = 0; i < nitems(suffixes); i++)
		remove_file(spec->dir, suffixes[i]);
	ck_assert_int_eq(unlink(effect), 0);
}

TEST(killed_anywhere_it_happens_once_at_most)
{
	const char *dir = fresh_dir(), *effect = unit_path("effect");
	cleanup_free char *command =
	    xasprintf("echo said; echo x >>'%s'; exit 5", effect);
	cleanup_free char *json = file_of(dir, ".json");
	cleanup_free char *lock = file_of(dir, ".lock");
	cleanup_free char *llmc = sibling_find("llmc");
	struct errand_spec spec = spec_for(dir, command);
	int told = 0, lost = 0;
	bool killed = true;

	for (int n = 0; killed; n++) {
		struct run run;
		pid_t pid;

		leave_intent(&spec, effect);
		pid = trace_start(llmc, json, lock);
		killed = trace_on(pid, n, false);
		if (killed) {
			ck_assert_int_eq(kill(pid, SIGKILL), 0);
			ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		}
		run_adopt(&run, &spec);
		run_wait(&run);
		if (!run.result.lost) {
			cleanup_free char *text = text_of(effect);

			ck_assert_msg(strcmp(text, "x\n") == 0, "stop %d", n);
			ck_assert_int_eq(run.result.status, 5);
			ck_assert_str_eq(run.result.out.data, "said\n");
			told++;
		} else if (file_exists(effect)) {
			cleanup_free char *text = text_of(effect);

			/* The kill can come between its open and its write. */
			ck_assert_msg(
			    text[0] == '\0' || strcmp(text, "x\n") == 0,
			    "stop %d: %s", n, text);
			lost++;
		}
		run_release(&run);
		unlink(effect);
	}
	ck_assert_int_gt(told, 0);
	ck_assert_int_gt(lost, 0);
}

/* A SIGTERM for the group also counts before the command is in it. */
TEST(ended_anywhere_it_does_not_go_on)
{
	static const char record[] = "{\"command\":\"exec sleep 60\"}";
	const char *dir = fresh_dir();
	cleanup_free char *json = file_of(dir, ".json");
	cleanup_free char *lock = file_of(dir, ".lock");
	cleanup_free char *status = file_of(dir, ".status");
	cleanup_free char *llmc = sibling_find("llmc");
	int told = 0;
	bool began = false;

	ck_assert_int_eq(
	    file_replace(json, record, sizeof record - 1, 0600, NULL), 0);
	for (int n = 0; !began; n++) {
		pid_t pid = trace_start(llmc, json, lock);

		began = !trace_on(pid, n, true);
		trace_end(pid, SIGTERM);
		if (file_exists(status)) {
			cleanup_free char *text = text_of(status);

			ck_assert_msg(strcmp(text, "143\n") == 0, "stop %d", n);
			ck_assert_int_eq(unlink(status), 0);
			told++;
		}
	}
	ck_assert_int_gt(told, 1);
}
