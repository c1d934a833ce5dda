/* SPDX-License-Identifier: ISC */

/* Keepers of a worker that are killed together with their inner process, so
 * that nobody is left to clean up. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "keeper-world.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "remains.h"
#include "unit.h"
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

struct scene {
	struct keeper_world keeper;
	struct workspace workspace;
	struct loop *loop;
	int calls;
	struct err err;
};

static void
on_over(const struct err *err, void *arg)
{
	struct scene *s = arg;

	s->calls++;
	if (err != NULL)
		s->err = *err;
	loop_stop(s->loop, 0);
}

static void
scene_begin_with(struct scene *s, const char *mode, const char *script)
{
	cleanup_free char *mark = NULL, *record = NULL, *dir = NULL;

	memset(s, 0, sizeof *s);
	s->loop = loop_new();
	s->workspace.root = xstrdup(unit_path("a root"));
	s->workspace.dir = file_join(s->workspace.root, ".llmc");
	dir = workspace_path(&s->workspace, "sessions/adam");
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	mark = remains_mark(&s->workspace, "adam");
	record = remains_record(&s->workspace, "adam");
	keeper_world_begin_as(&s->keeper, mode, false, script, mark, record);
	keeper_world_expect(&s->keeper, "up");
}

static void
scene_begin(struct scene *s, const char *mode)
{
	scene_begin_with(s, mode, STRAYS);
	keeper_world_until_marked(&s->keeper, STRAY_COUNT);
}

static void
scene_end(struct scene *s)
{
	keeper_world_end(&s->keeper);
	workspace_release(&s->workspace);
	loop_free(s->loop);
}

#define cleanup_scene __attribute__((cleanup(scene_end)))

/* Nobody notices: both are stopped before one is killed. */
static void
kill_both(struct scene *s)
{
	pid_t inner = keeper_world_inner(&s->keeper);

	kill(s->keeper.keeper, SIGSTOP);
	kill(inner, SIGSTOP);
	kill(inner, SIGKILL);
	kill(s->keeper.keeper, SIGKILL);
	ck_assert_int_eq(keeper_world_status(&s->keeper), 128 + SIGKILL);
}

static void
end_remains(struct scene *s)
{
	struct remains *remains =
	    remains_end(s->loop, &s->workspace, "adam", on_over, s);

	if (remains != NULL) {
		loop_run(s->loop);
		ck_assert_int_eq(s->calls, 1);
	}
	ck_assert_msg(s->err.code == 0, "%s", s->err.msg);
	ck_assert_int_eq(keeper_world_marked(&s->keeper), 0);
	ck_assert_ptr_null(
	    remains_end(s->loop, &s->workspace, "adam", on_over, s));
}

TEST_ROWS(what_two_killed_processes_left_is_ended, KEEPER_WORLD_MODES)
{
	cleanup_scene struct scene s;
	cleanup_free char *group = NULL;

	scene_begin(&s, MODE);
	group = keeper_world_group(&s.keeper);
	ck_assert_int_eq(group != NULL, strcmp(MODE, "cgroup") == 0);
	kill_both(&s);
	end_remains(&s);
	ck_assert(group == NULL || !file_exists(group));
}

TEST_ROWS(keeper_that_runs_is_ended, KEEPER_WORLD_MODES)
{
	cleanup_scene struct scene s;

	scene_begin(&s, MODE);
	end_remains(&s);
	ck_assert_int_eq(keeper_world_status(&s.keeper), 128 + SIGKILL);
}

/* The inner process knows its children without a mark: it must have the time
 * to end them. */
TEST_ROWS(stray_without_a_mark_is_ended, nitems(visible_modes))
{
	cleanup_scene struct scene s;
	struct procref stray = PROCREF_INIT;

	scene_begin_with(&s, visible_modes[_i], UNMARKED);
	ck_assert_int_eq(
	    procref_set(&stray, (pid_t)strtol(s.keeper.text.data, NULL, 10)),
	    0);
	end_remains(&s);
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
pass(struct scene *s, int64_t ms)
{
	struct loop_timer *timer = loop_after(s->loop, ms, on_time, s->loop);

	loop_run(s->loop);
	loop_timer_free(timer);
}

/* As much virtual time as time of the machine, in which processes end. */
static void
pass_until_called(struct scene *s)
{
	for (int i = 0; i < 4000 && s->calls == 0; i++) {
		poll(NULL, 0, 5);
		pass(s, 5);
	}
	ck_assert_int_eq(s->calls, 1);
}

/* It has five seconds (keeper-outer.c). */
TEST(inner_process_has_six_seconds)
{
	cleanup_scene struct scene s;
	struct procref inner = PROCREF_INIT;

	scene_begin(&s, "reaper");
	ck_assert_int_eq(procref_set(&inner, keeper_world_inner(&s.keeper)), 0);
	/* A stop would end with the death of the outer process: the kernel
	 * continues a group that loses its parent. */
	if (ptrace(PTRACE_SEIZE, inner.pid, NULL, NULL) == -1)
		unit_skip("no process may be traced here");
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, inner.pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(inner.pid, NULL, __WALL), inner.pid);
	clock_virtual_begin(1000, 1000);
	ck_assert_ptr_nonnull(
	    remains_end(s.loop, &s.workspace, "adam", on_over, &s));
	pass(&s, 5900);
	ck_assert(procref_alive(&inner));
	ck_assert_int_ne(procref_state(&inner), 'Z');
	pass(&s, 200);
	ck_assert_int_eq(waitpid(inner.pid, NULL, __WALL), inner.pid);
	pass_until_called(&s);
	clock_virtual_end();
	ck_assert_msg(s.err.code == 0, "%s", s.err.msg);
	ck_assert(!procref_alive(&inner));
	ck_assert_int_eq(keeper_world_marked(&s.keeper), 0);
	procref_release(&inner);
}

/* A debugger holds it at its exit. */
TEST(process_that_does_not_end_is_named_after_thirty_seconds)
{
	cleanup_scene struct scene s;
	cleanup_free char *wanted = NULL;
	pid_t inner;

	scene_begin(&s, "reaper");
	inner = keeper_world_inner(&s.keeper);
	if (ptrace(PTRACE_SEIZE, inner, NULL,
		(void *)(uintptr_t)PTRACE_O_TRACEEXIT) == -1)
		unit_skip("no process may be traced here");
	clock_virtual_begin(1000, 1000);
	ck_assert_ptr_nonnull(
	    remains_end(s.loop, &s.workspace, "adam", on_over, &s));
	pass(&s, 29900);
	ck_assert_int_eq(s.calls, 0);
	pass(&s, 200);
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
	end_remains(&s);
}

TEST(mark_is_enough_without_a_record)
{
	static const char *const records[] = { NULL, "", "{", "[]", "{}",
		"{\"ended\":\"yes\"}", "{\"ended\":true",
		"{\"mode\":\"namespace\",\"pid\":1,\"init\":1}",
		"{\"mode\":5,\"pid\":\"x\",\"init\":[],\"cgroup\":\"/\"}" };

	for (size_t i = 0; i < nitems(records); i++) {
		cleanup_scene struct scene s;

		scene_begin(&s, "reaper");
		kill_both(&s);
		unlink(s.keeper.record);
		if (records[i] != NULL)
			ck_assert_int_eq(
			    file_replace(s.keeper.record, records[i],
				strlen(records[i]), 0600, NULL),
			    0);
		end_remains(&s);
	}
}

/* The agent can write the record: it must not name a victim. */
TEST(stranger_in_the_record_is_left_alone)
{
	cleanup_scene struct scene s;
	cleanup_keeper_world struct keeper_world other;
	cleanup_json struct json_object *theirs = NULL;
	cleanup_free char *record = xstrdup(unit_path("other.json"));

	scene_begin(&s, "reaper");
	keeper_world_begin_as(
	    &other, "reaper", false, STRAYS, "a stranger", record);
	keeper_world_until_marked(&other, STRAY_COUNT);
	ck_assert_int_eq(json_load(record, 8192, &theirs, NULL), 0);
	ck_assert_int_eq(json_save(s.keeper.record, theirs, 0600, NULL), 0);
	end_remains(&s);
	ck_assert_int_ge(keeper_world_marked(&other), STRAY_COUNT);
	ck_assert_int_eq(kill(other.keeper, 0), 0);
}

TEST_ROWS(nothing_is_left_of_a_keeper_that_ended, KEEPER_WORLD_MODES)
{
	cleanup_scene struct scene s;

	scene_begin(&s, MODE);
	keeper_world_type(&s.keeper, "end\n");
	ck_assert_int_eq(keeper_world_status(&s.keeper), 0);
	ck_assert_ptr_null(
	    remains_end(s.loop, &s.workspace, "adam", on_over, &s));
	ck_assert_int_eq(s.calls, 0);
}

/* A daemon may have made it for the next session. */
TEST(group_of_a_keeper_that_ended_is_left_alone)
{
	cleanup_scene struct scene s;
	cleanup_free char *group = NULL;

	scene_begin(&s, "cgroup");
	keeper_world_type(&s.keeper, "end\n");
	ck_assert_int_eq(keeper_world_status(&s.keeper), 0);
	group = keeper_world_group(&s.keeper);
	ck_assert(!file_exists(group));
	ck_assert_int_eq(mkdir(group, 0755), 0);
	ck_assert_ptr_null(
	    remains_end(s.loop, &s.workspace, "adam", on_over, &s));
	ck_assert_int_eq(rmdir(group), 0);
}

TEST_ROWS(mode_in_force_is_told, KEEPER_WORLD_MODES)
{
	cleanup_scene struct scene s;
	cleanup_free char *mode = NULL;

	scene_begin(&s, MODE);
	mode = remains_mode(&s.workspace, "adam");
	ck_assert_str_eq(mode, MODE);
	ck_assert_ptr_null(remains_mode(&s.workspace, "eve"));
}
