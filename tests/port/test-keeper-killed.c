/* SPDX-License-Identifier: ISC */

/* Keepers of a worker that are killed together with their inner process, so
 * that nobody is left to clean up. */
#include <sys/ptrace.h>

#include "keeper-world.h"
#include "orphans.h"
#include "workspace.h"

#define STRAYS                                              \
	"setsid sleep 1000 & (setsid sleep 1000 & exit) & " \
	"echo up; read line"
#define STRAY_COUNT 5
#define UNMARKED                                                     \
	"env -i setsid sh -c 'echo $$ up; exec sleep 1000' & wait; " \
	"read line"
#define MODE keeper_world_modes[_i]

/* Those in which a process has the same number inside and outside. */
static const char *const visible_modes[] = { "cgroup", "scope", "reaper" };

static struct scene {
	struct workspace workspace;
	struct loop *loop;
	int calls;
	struct err err;
} s;

static void
on_over(const struct err *err, void *arg)
{
	(void)arg;
	s.calls++;
	if (err != NULL)
		s.err = *err;
	loop_stop(s.loop, 0);
}

static void
scene_end(void)
{
	workspace_release(&s.workspace);
	loop_free(s.loop);
}

static void
scene_begin_with(const char *mode, const char *script)
{
	cleanup_free char *mark = NULL, *record = NULL, *dir = NULL;

	memset(&s, 0, sizeof s);
	s.loop = loop_new();
	s.workspace.root = xstrdup(unit_path("a root"));
	s.workspace.dir = file_join(s.workspace.root, ".llmc");
	dir = workspace_path(&s.workspace, "sessions/adam");
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	mark = orphans_mark(&s.workspace, "adam");
	record = orphans_record(&s.workspace, "adam");
	keeper_world_begin_as(mode, false, script, mark, record);
	keeper_world_expect("up");
	unit_at_end(scene_end);
}

static void
scene_begin(const char *mode)
{
	scene_begin_with(mode, STRAYS);
	keeper_world_until_marked(STRAY_COUNT);
}

/* Nobody notices: both are stopped before one is killed. */
static void
kill_both(void)
{
	pid_t inner = keeper_world_inner();

	kill(w.keeper, SIGSTOP);
	kill(inner, SIGSTOP);
	kill(inner, SIGKILL);
	kill(w.keeper, SIGKILL);
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
}

static void
end_remains(void)
{
	struct orphans *remains =
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s);

	if (remains != NULL) {
		loop_run(s.loop);
		ck_assert_int_eq(s.calls, 1);
	}
	ck_assert_msg(s.err.code == 0, "%s", s.err.msg);
	ck_assert_int_eq(keeper_world_marked(), 0);
	ck_assert_ptr_null(
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s));
}

TEST_ROWS(what_two_killed_processes_left_is_ended, KEEPER_WORLD_MODES)
{
	cleanup_free char *group = NULL;

	scene_begin(MODE);
	group = keeper_world_group();
	ck_assert_int_eq(group != NULL, strcmp(MODE, "cgroup") == 0);
	kill_both();
	end_remains();
	ck_assert(group == NULL || !file_exists(group));
}

TEST_ROWS(keeper_that_runs_is_ended, KEEPER_WORLD_MODES)
{
	scene_begin(MODE);
	end_remains();
	ck_assert_int_eq(keeper_world_status(), 128 + SIGKILL);
}

/* The inner process knows its children without a mark: it must have the time
 * to end them. */
TEST_ROWS(stray_without_a_mark_is_ended, nitems(visible_modes))
{
	struct procref stray = PROCREF_INIT;

	scene_begin_with(visible_modes[_i], UNMARKED);
	ck_assert_int_eq(
	    procref_set(&stray, (pid_t)strtol(w.text.data, NULL, 10)), 0);
	end_remains();
	ck_assert_int_eq(procref_signal(&stray, SIGKILL), -ESRCH);
	procref_release(&stray);
}

/* --- time -------------------------------------------------------------- */

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

/* Virtual time. */
static void
pass(int64_t ms)
{
	struct loop_timer *timer = loop_after(s.loop, ms, on_time, s.loop);

	loop_run(s.loop);
	loop_timer_free(timer);
}

/* As much virtual time as time of the machine, in which processes end. */
static void
pass_until_called(void)
{
	for (int i = 0; i < 4000 && s.calls == 0; i++) {
		poll(NULL, 0, 5);
		pass(5);
	}
	ck_assert_int_eq(s.calls, 1);
}

/* It has five seconds (keeper-processes.c). */
TEST(inner_process_has_six_seconds)
{
	struct procref inner = PROCREF_INIT;

	scene_begin("reaper");
	ck_assert_int_eq(procref_set(&inner, keeper_world_inner()), 0);
	/* A stop would end with the death of the outer process: the kernel
	 * continues a group that loses its parent. */
	if (ptrace(PTRACE_SEIZE, inner.pid, NULL, NULL) == -1)
		unit_skip("no process may be traced here");
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, inner.pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(inner.pid, NULL, __WALL), inner.pid);
	clock_virtual_begin(1000, 1000);
	ck_assert_ptr_nonnull(
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s));
	pass(5900);
	ck_assert(procref_alive(&inner));
	ck_assert_int_ne(procref_state(&inner), 'Z');
	pass(200);
	ck_assert_int_eq(waitpid(inner.pid, NULL, __WALL), inner.pid);
	pass_until_called();
	clock_virtual_end();
	ck_assert_msg(s.err.code == 0, "%s", s.err.msg);
	ck_assert(!procref_alive(&inner));
	ck_assert_int_eq(keeper_world_marked(), 0);
	procref_release(&inner);
}

/* A debugger holds it at its exit. */
TEST(process_that_does_not_end_is_named_after_thirty_seconds)
{
	cleanup_free char *wanted = NULL;
	pid_t inner;

	scene_begin("reaper");
	inner = keeper_world_inner();
	if (ptrace(PTRACE_SEIZE, inner, NULL,
		(void *)(uintptr_t)PTRACE_O_TRACEEXIT) == -1)
		unit_skip("no process may be traced here");
	clock_virtual_begin(1000, 1000);
	ck_assert_ptr_nonnull(
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s));
	pass(29900);
	ck_assert_int_eq(s.calls, 0);
	pass(200);
	ck_assert_int_eq(s.calls, 1);
	clock_virtual_end();
	ck_assert_int_eq(s.err.code, -ETIMEDOUT);
	wanted =
	    xasprintf("process %d of an ended session of adam", (int)inner);
	ck_assert_msg(strstr(s.err.msg, wanted) == s.err.msg, "%s", s.err.msg);
	ck_assert_ptr_nonnull(strstr(s.err.msg, "llmc reset adam"));
	ptrace(PTRACE_DETACH, inner, NULL, NULL);
	ptrace(PTRACE_CONT, inner, NULL, NULL);
	s.calls = 0;
	s.err = (struct err){ 0 };
	end_remains();
}

static const char *const records[] = { NULL, "", "{", "[]", "{}",
	"{\"ended\":\"yes\"}", "{\"ended\":true",
	"{\"mode\":\"namespace\",\"pid\":1,\"init\":1}",
	"{\"mode\":5,\"pid\":\"x\",\"init\":[],\"cgroup\":\"/\"}" };

TEST_ROWS(mark_is_enough_without_a_record, nitems(records))
{
	scene_begin("reaper");
	kill_both();
	unlink(w.record);
	if (records[_i] != NULL)
		ck_assert_int_eq(file_replace(w.record, records[_i],
				     strlen(records[_i]), 0600, NULL),
		    0);
	end_remains();
}

/* The agent can write the record: it must not name a victim. */
TEST(stranger_in_the_record_is_left_alone)
{
	cleanup_json struct json_object *theirs = NULL;
	cleanup_free char *record = xstrdup(unit_path("other.json"));
	struct keeper_world ours, other;

	scene_begin("reaper");
	ours = w;
	w = (struct keeper_world){ 0 };
	keeper_world_begin_as("reaper", false, STRAYS, "a stranger", record);
	keeper_world_until_marked(STRAY_COUNT);
	other = w;
	w = ours;
	ck_assert_int_eq(json_load(record, 8192, &theirs, NULL), 0);
	ck_assert_int_eq(json_save(w.record, theirs, 0600, NULL), 0);
	end_remains();
	keeper_world_end();
	w = other;
	ck_assert_int_ge(keeper_world_marked(), STRAY_COUNT);
	ck_assert_int_eq(kill(w.keeper, 0), 0);
}

TEST_ROWS(nothing_is_left_of_a_keeper_that_ended, KEEPER_WORLD_MODES)
{
	scene_begin(MODE);
	keeper_world_type("end\n");
	ck_assert_int_eq(keeper_world_status(), 0);
	ck_assert_ptr_null(
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s));
	ck_assert_int_eq(s.calls, 0);
}

/* A daemon may have made it for the next session. */
TEST(group_of_a_keeper_that_ended_is_left_alone)
{
	cleanup_free char *group = NULL;

	scene_begin("cgroup");
	keeper_world_type("end\n");
	ck_assert_int_eq(keeper_world_status(), 0);
	group = keeper_world_group();
	ck_assert(!file_exists(group));
	ck_assert_int_eq(mkdir(group, 0755), 0);
	ck_assert_ptr_null(
	    orphans_end(s.loop, &s.workspace, "adam", on_over, &s));
	ck_assert_int_eq(rmdir(group), 0);
}

TEST_ROWS(mode_in_force_is_told, KEEPER_WORLD_MODES)
{
	cleanup_free char *mode = NULL;

	scene_begin(MODE);
	mode = orphans_mode(&s.workspace, "adam");
	ck_assert_str_eq(mode, MODE);
	ck_assert_ptr_null(orphans_mode(&s.workspace, "eve"));
}
