/* SPDX-License-Identifier: ISC */

/* Folders that look like cgroups, and once the real ones where there are any.
 */

#include "unit.h"
#include "box-plan.h"
#include "machine.h"

#define MEMORY (1u << BOX_LIMIT_MEMORY)
#define TASKS  (1u << BOX_LIMIT_TASKS)
#define CPU    (1u << BOX_LIMIT_CPU)
#define ALL    (MEMORY | TASKS | CPU)

/* No cgroup, no systemd. */
static const struct cgroup_world nowhere = {
	.mount = "/nonexistent",
	.self = "/nonexistent/self",
	.booted = "/nonexistent/booted",
	.system_manager = "/nonexistent/system",
	.user_manager = "/nonexistent/user",
	.systemd_run = "/nonexistent/systemd-run",
};

static void
write_file(const char *dir, const char *name, const char *text)
{
	cleanup_free char *path = file_join(dir, name);

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void
assert_file(const char *dir, const char *name, const char *expected)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, 4096, &text, NULL), 0);
	ck_assert_str_eq(text.data, expected);
}

static void
make_group(const char *dir, const char *controllers, const char *passed_on)
{
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	write_file(dir, "cgroup.procs", "");
	write_file(dir, "cgroup.controllers", controllers);
	write_file(dir, "cgroup.subtree_control", passed_on);
}

/* A mount with the group /unit in it, in which we are. */
static struct cgroup_world
make_world(const char *controllers, const char *passed_on)
{
	static int count;
	cleanup_free char *name = xasprintf("cgroup%d", count++);
	cleanup_free char *self_name = xasprintf("self%d", count);
	const char *mount = unit_path(name);
	cleanup_free char *unit = file_join(mount, "unit");
	struct cgroup_world world = nowhere;

	make_group(unit, controllers, passed_on);
	world.mount = mount;
	world.self = unit_path(self_name);
	write_file(unit_scratch(), self_name, "4:memory:/x\n0::/unit\n");
	return world;
}

TEST(a_folder_with_the_controllers_is_used)
{
	struct cgroup_world world =
	    make_world("cpuset cpu memory pids\n", "cpu memory pids\n");
	cleanup_free char *unit = file_join(world.mount, "unit");
	ended_by(cgroup_place_release) struct cgroup_place place;

	cgroup_find(ALL, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_FOLDER);
	ck_assert_str_eq(place.folder, unit);
	ck_assert_uint_eq(place.held, ALL);
	ck_assert_ptr_null(place.why);
}

TEST(nothing_is_looked_for_without_limits)
{
	ended_by(cgroup_place_release) struct cgroup_place place;

	cgroup_find(0, &nowhere, &place);
	ck_assert_int_eq(place.way, CGROUP_NONE);
	ck_assert_ptr_null(place.why);
}

/* As with DelegateSubgroup= of systemd. */
TEST(the_folder_around_ours_is_used_if_ours_has_none)
{
	struct cgroup_world world = make_world("memory\n", "memory\n");
	cleanup_free char *inner = file_join(world.mount, "unit/main");
	cleanup_free char *unit = file_join(world.mount, "unit");
	ended_by(cgroup_place_release) struct cgroup_place place;

	make_group(inner, "memory\n", "");
	ck_assert_int_eq(truncate(world.self, 0), 0);
	write_file(
	    unit_scratch(), strrchr(world.self, '/') + 1, "0::/unit/main\n");
	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_FOLDER);
	ck_assert_str_eq(place.folder, unit);
}

TEST(controllers_that_are_not_passed_on_are_turned_on)
{
	struct cgroup_world world = make_world("memory pids\n", "");
	cleanup_free char *unit = file_join(world.mount, "unit");
	ended_by(cgroup_place_release) struct cgroup_place place;

	cgroup_find(TASKS, &world, &place);
	/* A file does not turn "+pids" into "pids" as the kernel does. */
	assert_file(unit, "cgroup.subtree_control", "+pids");
	ck_assert_int_eq(place.way, CGROUP_NONE);
}

TEST(what_a_folder_cannot_hold_is_said)
{
	struct cgroup_world world = make_world("memory\n", "memory\n");
	ended_by(cgroup_place_release) struct cgroup_place place;

	cgroup_find(ALL, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_FOLDER);
	ck_assert_uint_eq(place.held, MEMORY);
	ck_assert_ptr_nonnull(strstr(place.why,
	    "has no controller for tasks_max and "
	    "cpu_weight"));
}

TEST(without_cgroup_and_systemd_there_is_no_place)
{
	struct cgroup_world world = make_world("", "");
	struct cgroup_place place;

	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_NONE);
	ck_assert_uint_eq(place.held, 0);
	ck_assert_ptr_nonnull(strstr(place.why, "no cgroup with these"));
	ck_assert_ptr_nonnull(strstr(place.why, "no systemd"));
	cgroup_place_release(&place);
	cgroup_find(MEMORY, &nowhere, &place);
	ck_assert_int_eq(place.way, CGROUP_NONE);
	ck_assert_ptr_nonnull(strstr(place.why, "cgroup v2 is not there"));
	cgroup_place_release(&place);
}

TEST(a_folder_outside_of_our_namespace_is_not_ours)
{
	struct cgroup_world world = make_world("memory\n", "memory\n");
	ended_by(cgroup_place_release) struct cgroup_place place;

	write_file(
	    unit_scratch(), strrchr(world.self, '/') + 1, "0::/../unit\n");
	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_NONE);
}

TEST(what_systemd_manages_is_left_to_it)
{
	struct cgroup_world world = make_world("memory\n", "memory\n");
	ended_by(cgroup_place_release) struct cgroup_place place;

	world.booted = "/";
	world.user_manager = "/";
	world.systemd_run = "/bin/systemd-run";
	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_eq(place.way, CGROUP_SCOPE);
	ck_assert(!place.as_root);
	ck_assert_str_eq(place.systemd_run, "/bin/systemd-run");
	ck_assert_uint_eq(place.held, MEMORY);
	ck_assert_ptr_null(place.why);
	ck_assert_ptr_null(place.folder);
}

TEST(root_asks_the_manager_of_the_system)
{
	struct cgroup_world world = nowhere;
	ended_by(cgroup_place_release) struct cgroup_place place;

	world.system_manager = "/";
	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_eq(
	    place.way, geteuid() == 0 ? CGROUP_SCOPE : CGROUP_NONE);
	ck_assert(place.as_root == (geteuid() == 0));
}

TEST(a_worker_gets_a_folder_with_its_limits)
{
	struct cgroup_world world =
	    make_world("memory pids cpu\n", "memory pids cpu\n");
	cleanup_free char *prepared = file_join(world.mount, "unit/llmc-adam");
	struct box_limits limits = { { 4096, 0, 50 } };
	cleanup_free char *dir = NULL;
	ended_by(cgroup_place_release) struct cgroup_place place;
	struct err err = { 0 };

	cgroup_find(ALL, &world, &place);
	/* The kernel makes these files. */
	make_group(prepared, "", "");
	write_file(prepared, "memory.max", "");
	write_file(prepared, "pids.max", "");
	write_file(prepared, "cpu.weight", "");
	ck_assert_msg(
	    cgroup_make(&place, &limits, "llmc-adam", &dir, &err) == 0, "%s",
	    err.msg);
	ck_assert_str_eq(dir, prepared);
	assert_file(dir, "memory.max", "4096");
	assert_file(dir, "pids.max", "max");
	assert_file(dir, "cpu.weight", "50");
}

TEST(a_limit_that_cannot_be_written_is_an_error)
{
	struct cgroup_world world = make_world("memory\n", "memory\n");
	struct box_limits limits = { { 4096, 0, 0 } };
	cleanup_free char *dir = NULL;
	ended_by(cgroup_place_release) struct cgroup_place place;
	struct err err = { 0 };

	cgroup_find(MEMORY, &world, &place);
	ck_assert_int_lt(
	    cgroup_make(&place, &limits, "llmc-eve", &dir, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc-eve/memory.max"));
}

TEST(kills_for_memory_are_read)
{
	const char *dir = unit_path("events");

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(cgroup_oom_kills(dir), -1);
	write_file(dir, "memory.events", "oom 5\noom_kill 3\n");
	ck_assert_int_eq(cgroup_oom_kills(dir), 3);
}

TEST(the_kernel_accepts_the_limits)
{
	struct box_limits limits = { { INT64_C(1) << 30, 100, 50 } };
	cleanup_free char *dir = NULL;
	struct cgroup_place place;
	struct err err = { 0 };

	cgroup_find(ALL, NULL, &place);
	if (place.way != CGROUP_FOLDER) {
		cgroup_place_release(&place);
		unit_skip("no cgroup v2 with controllers is delegated here");
	}
	ck_assert_msg(
	    cgroup_make(&place, &limits, "llmc-test-cgroup", &dir, &err) == 0,
	    "%s", err.msg);
	if (place.held & MEMORY)
		assert_file(dir, "memory.max", "1073741824\n");
	rmdir(dir);
	ck_assert(!file_exists(dir));
	cgroup_place_release(&place);
}
