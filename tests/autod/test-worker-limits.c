/* SPDX-License-Identifier: ISC */

/* The limits of a worker's sessions, in a folder that looks like a cgroup and
 * with a systemd that is none. */
#include "fleet-world.h"
#include "machine.h"
#include "orphans.h"

#define SETTINGS                                  \
	"[defaults]\nagent_command = \"agent\"\n" \
	"memory_max = \"64M\"\ntasks_max = 300\n"

static const struct cgroup_world nowhere = {
	.mount = "/nonexistent",
	.self = "/nonexistent/self",
	.booted = "/nonexistent/booted",
	.system_manager = "/nonexistent/system",
	.user_manager = "/nonexistent/user",
	.systemd_run = "/nonexistent/systemd-run",
};

static void
begin(const struct cgroup_world *cgroups)
{
	fleet_world_begin(SETTINGS);
	floor_world.fleet->cgroups = cgroups;
	fleet_world.adam = fleet_world_add("adam");
	fleet_world_wait_up(fleet_world.adam);
}

static void
write_file(const char *dir, const char *name, const char *text)
{
	cleanup_free char *path = file_join(dir, name);

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void
expect_file(const char *dir, const char *name, const char *expected)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, 4096, &text, NULL), 0);
	ck_assert_str_eq(text.data, expected);
}

/* Part of its launch.json. */
static struct json_object *
keeper_of(void)
{
	cleanup_free char *path =
	    file_join(floor_world.workspace.dir, "sessions/adam/launch.json");
	cleanup_json struct json_object *json = NULL;

	ck_assert_int_eq(json_load(path, 1 << 20, &json, NULL), 0);
	return json_object_get(json_object_object_get(json, "keeper"));
}

/* A mount with one group, for adam's sessions of any repository. */
static struct cgroup_world
make_cgroups(void)
{
	const char *mount = unit_path("cgroup");
	struct cgroup_world world = nowhere;

	ck_assert_int_eq(file_mkdirs(mount, 0700, NULL), 0);
	write_file(mount, "cgroup.procs", "");
	write_file(mount, "cgroup.controllers", "memory pids\n");
	write_file(mount, "cgroup.subtree_control", "memory pids\n");
	write_file(unit_scratch(), "self", "0::/\n");
	world.mount = mount;
	world.self = unit_path("self");
	return world;
}

TEST(a_session_gets_a_cgroup_and_its_end_has_words)
{
	struct cgroup_world cgroups = make_cgroups();
	cleanup_json struct json_object *keeper = NULL;
	cleanup_free char *dir = NULL;
	const char *name;

	/* The kernel would make the files of a new group: the first attempt
	 * fails, and shows its name. */
	begin(&cgroups);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMITS_MISSING], 1);
	name = strstr(fleet_world.adam->limits.reported, "cgroup/llmc-");
	ck_assert_ptr_nonnull(name);
	name += strlen("cgroup/");
	dir =
	    xasprintf("%s/%.*s", cgroups.mount, (int)strcspn(name, "/"), name);
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	write_file(dir, "memory.max", "");
	write_file(dir, "pids.max", "");
	fleet_world_kill(fleet_world.adam);
	floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
	ck_assert_ptr_null(strstr(fleet_world.reason, "memory_max"));
	fleet_world_wait_up(fleet_world.adam);
	expect_file(dir, "memory.max", "67108864");
	expect_file(dir, "pids.max", "300");
	ck_assert_str_eq(fleet_world.adam->limits.cgroup, dir);
	keeper = keeper_of();
	ck_assert_str_eq(json_string_or(keeper, "cgroup", ""), dir);
	/* The kernel kills for memory. */
	write_file(dir, "memory.events", "oom 1\noom_kill 1\n");
	fleet_world_kill(fleet_world.adam);
	floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
	ck_assert_str_eq(fleet_world.reason,
	    "the kernel killed a process of it, because its memory reached "
	    "memory_max (64 MiB)");
}

TEST(a_session_starts_in_a_scope)
{
	struct cgroup_world cgroups = nowhere;
	cleanup_json struct json_object *keeper = NULL;
	struct json_object *scope;

	cgroups.user_manager = "/";
	cgroups.systemd_run = "/bin/systemd-run";
	begin(&cgroups);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMITS_MISSING], 0);
	keeper = keeper_of();
	scope = json_object_object_get(keeper, "scope");
	ck_assert_uint_eq(json_object_array_length(scope), 11);
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(scope, 0)),
	    "/bin/systemd-run");
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(scope, 7)),
	    "MemoryMax=67108864");
}

/* In a scope, and in a session that an earlier daemon launched: the group is
 * gone, and the keeper has counted. */
TEST_ROWS(words_come_from_the_record_where_there_is_no_cgroup, 2)
{
	static const char counted[] = "{\"ended\":true,\"oom_kills\":2}";
	struct cgroup_world cgroups = nowhere;
	cleanup_free char *record = NULL;

	cgroups.user_manager = "/";
	cgroups.systemd_run = "/bin/systemd-run";
	begin(&cgroups);
	if (_i == 1) {
		fleet_world_reopen();
		floor_world.fleet->cgroups = &cgroups;
		ck_assert_int_eq(fleet_world.told[EVENT_ADOPTED], 1);
	}
	record = orphans_record(&floor_world.workspace, "adam");
	ck_assert_int_eq(
	    file_replace(record, counted, strlen(counted), 0600, NULL), 0);
	fleet_world_kill(fleet_world.adam);
	floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
	ck_assert_ptr_nonnull(
	    strstr(fleet_world.reason, "memory_max (64 MiB)"));
	/* The next session has its own count. */
	fleet_world_wait_up(fleet_world.adam);
	xstrset(&fleet_world.reason, "");
	fleet_world_kill(fleet_world.adam);
	floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
	ck_assert_ptr_null(strstr(fleet_world.reason, "memory_max"));
}

TEST(what_cannot_be_held_is_told_once_and_the_session_starts)
{
	cleanup_json struct json_object *keeper = NULL;

	begin(&nowhere);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMITS_MISSING], 1);
	ck_assert_ptr_nonnull(strstr(
	    fleet_world.adam->limits.reported, "cgroup v2 is not there"));
	fleet_world_kill(fleet_world.adam);
	floor_world_wait_status(fleet_world.adam, WORKER_OFFLINE);
	fleet_world_wait_up(fleet_world.adam);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMITS_MISSING], 1);
	keeper = keeper_of();
	ck_assert_ptr_null(json_object_object_get(keeper, "cgroup"));
	ck_assert_ptr_null(json_object_object_get(keeper, "scope"));
}
