/* SPDX-License-Identifier: ISC */

#include <sys/prctl.h>

#include <linux/capability.h>

#include "keeper-world.h"

#define MEMORY_MAX_KB 512

/* Sessions of their own, and a daemon that has forked twice; then the program
 * waits for a line. */
#define STRAYS                                                      \
	"setsid sleep 1000 & "                                      \
	"(setsid sh -c 'sleep 1000 & sleep 1000 & wait' & exit) & " \
	"echo up; read line; exit 3"
#define STRAY_COUNT 6 /* at least, with the program and both processes */

#define MODE keeper_world_modes[_i]

TEST_ROWS(exit_status_is_passed_on, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, "exit 7");
	ck_assert_int_eq(keeper_world_status(), 7);
}

TEST_ROWS(end_by_a_signal_is_passed_on, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, "kill -9 $$");
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
}

TEST_ROWS(strays_are_gone_when_the_program_ends, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	keeper_world_type("end\n");
	ck_assert_int_eq(keeper_world_status(), 3);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(strays_are_gone_when_the_program_is_killed, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	ck_assert_int_eq(kill(keeper_world_program(), SIGKILL), 0);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(strays_are_gone_when_the_keeper_is_killed, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	ck_assert_int_eq(kill(w.keeper, SIGKILL), 0);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	keeper_world_until_gone();
}

static bool
is_removed(const char *dir)
{
	while (file_exists(dir) && !unit_is_late())
		poll(NULL, 0, 5);
	return !file_exists(dir);
}

TEST(group_is_gone_when_the_keeper_is_killed)
{
	cleanup_free char *group = NULL;

	keeper_world_begin("cgroup", false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	group = keeper_world_group();
	ck_assert(file_exists(group));
	ck_assert_int_eq(kill(w.keeper, SIGKILL), 0);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	ck_assert(is_removed(group));
	ck_assert_int_eq(keeper_world_marked(), 0);
}

/* Both ends are there before the inner process sees one of them. */
TEST(group_is_gone_when_keeper_and_program_end_at_once)
{
	cleanup_free char *group = NULL;
	pid_t inner;

	keeper_world_begin("cgroup", false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	group = keeper_world_group();
	inner = keeper_world_inner();
	ck_assert_int_eq(kill(inner, SIGSTOP), 0);
	ck_assert_int_eq(kill(keeper_world_program(), SIGKILL), 0);
	ck_assert_int_eq(kill(w.keeper, SIGKILL), 0);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	ck_assert_int_eq(kill(inner, SIGCONT), 0);
	ck_assert(is_removed(group));
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(strays_are_gone_when_the_inner_process_is_killed, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
	ck_assert_int_eq(kill(keeper_world_inner(), SIGKILL), 0);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(sigterm_is_passed_on, KEEPER_WORLD_MODES)
{
	keeper_world_begin(MODE, false,
	    "trap 'echo ending; exit 5' TERM; echo up; sleep 1000 & wait");
	keeper_world_expect("up");
	ck_assert_int_eq(kill(w.keeper, SIGTERM), 0);
	keeper_world_expect("ending");
	ck_assert_int_eq(keeper_world_status(), 5);
	ck_assert_int_eq(keeper_world_marked(), 0);
}

TEST_ROWS(record_is_there_before_the_program, KEEPER_WORLD_MODES)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *script =
	    xasprintf("test -s '%s' && read line", unit_path("keeper.json"));

	keeper_world_begin(MODE, false, script);
	keeper_world_until_marked(3);
	ck_assert_int_eq(json_load(w.record, 8192, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "mode", ""), MODE);
	ck_assert_str_eq(json_string_or(json, "mark", ""), w.mark);
	ck_assert_int_eq(json_int_or(json, "pid", 0), w.keeper);
	ck_assert_int_gt(json_int_or(json, "start_time", 0), 0);
	ck_assert_int_gt(json_int_or(json, "init", 0), w.keeper);
	ck_assert_int_gt(json_int_or(json, "init_start_time", 0), 0);
	ck_assert_uint_eq(strlen(json_string_or(json, "boot_id", "")), 36);
	keeper_world_type("end\n");
	ck_assert_int_eq(keeper_world_status(), 0);
}

static long
pss_kb(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/smaps_rollup", (int)pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;

	if (file_read(path, 65536, &text, NULL) < 0)
		unit_skip("this kernel does not tell the memory of a process");
	line = strstr(text.data, "\nPss:");
	ck_assert_ptr_nonnull(line);
	return strtol(line + 5, NULL, 10);
}

TEST_ROWS(keeper_needs_little_memory, KEEPER_WORLD_MODES)
{
	long used;

	keeper_world_begin(MODE, false, "echo up; read line");
	keeper_world_expect("up");
	used = pss_kb(w.keeper) + pss_kb(keeper_world_inner());
	if (getenv("ASAN_OPTIONS") != NULL)
		unit_skip("sanitizers need more");
	ck_assert_int_le(used, MEMORY_MAX_KB);
}

/* --- the start --------------------------------------------------------- */

/* The keeper's own words and status, with these arguments. */
static int
run(const char *arguments, bool without_namespaces)
{
	cleanup_free char *line = xasprintf(
	    "exec \"$KEEPER_BIN\" %s 2>'%s'", arguments, unit_path("words"));
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (without_namespaces)
			prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool
said(const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(unit_path("words"), 65536, &text, NULL), 0);
	return text.len > 0 && strstr(text.data, words) != NULL;
}

TEST(program_that_is_missing_is_named)
{
	ck_assert_int_eq(run("-- /nowhere/a-program", false), 127);
	ck_assert(said("/nowhere/a-program: No such file"));
	ck_assert_int_eq(run("-- /", false), 126);
}

TEST(program_is_not_run_without_its_record)
{
	ck_assert_int_eq(run("--record /nowhere/a-file -- echo", false), 125);
	ck_assert(said("/nowhere/a-file: No such file"));
}

TEST(wrong_arguments_are_refused)
{
	ck_assert_int_eq(run("--mode nonsense -- true", false), 125);
	ck_assert(said("usage:"));
	ck_assert_int_eq(run("--mode reaper,, -- true", false), 125);
	ck_assert_int_eq(run("--mode reaper --", false), 125);
	ck_assert_int_eq(run("--nonsense -- true", false), 125);
	ck_assert_int_eq(run("--no-abstract -- true", false), 125);
	ck_assert_int_eq(run("--bare --", false), 125);
}

TEST(a_bare_program_gets_the_standard_streams_only)
{
	ck_assert_int_eq(
	    run("-- sh -c 'test -e /proc/self/fd/7' 7</dev/null", false), 0);
	ck_assert_int_eq(
	    run("--bare -- sh -c '! test -e /proc/self/fd/7' 7</dev/null",
		false),
	    0);
}

/* A folder with the files of a group, which the program removes: then nothing
 * but the rule keeps the keeper from removing the folder as well. */
TEST(group_that_was_there_before_is_not_removed)
{
	const char *group = unit_path("group");
	cleanup_free char *arguments =
	    xasprintf("--mode cgroup --cgroup '%s' -- rm '%s/cgroup.kill' "
		      "'%s/cgroup.procs'",
		group, group, group);
	cleanup_free char *kill_file = file_join(group, "cgroup.kill");
	cleanup_free char *procs = file_join(group, "cgroup.procs");

	ck_assert_int_eq(mkdir(group, 0755), 0);
	ck_assert_int_eq(file_replace(kill_file, "", 0, 0600, NULL), 0);
	ck_assert_int_eq(file_replace(procs, "", 0, 0600, NULL), 0);
	ck_assert_int_eq(run(arguments, false), 0);
	ck_assert(!file_exists(procs));
	ck_assert(file_is_dir(group));
}

TEST(next_mode_is_used_where_one_is_not_to_be_had)
{
	cleanup_free char *arguments = xasprintf(
	    "--mode namespace,reaper --record '%s' -- true", unit_path("next"));
	cleanup_json struct json_object *json = NULL;

	if (geteuid() != 0)
		unit_skip("only root can give up what a namespace needs");
	ck_assert_int_eq(run("--mode namespace -- true", true), 125);
	ck_assert(said("mode namespace"));
	ck_assert_int_eq(run(arguments, true), 0);
	ck_assert_int_eq(json_load(unit_path("next"), 8192, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "mode", ""), "reaper");
}

TEST(mode_of_the_environment_is_used)
{
	setenv("LLMC_KEEPER_MODE", "nonsense", 1);
	ck_assert_int_eq(run("-- true", false), 125);
	setenv("LLMC_KEEPER_MODE", "reaper", 1);
	ck_assert_int_eq(run("-- true", false), 0);
	unsetenv("LLMC_KEEPER_MODE");
}
