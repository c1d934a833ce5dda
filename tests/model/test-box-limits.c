/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "box-plan.h"

#define MEMORY (1u << BOX_LIMIT_MEMORY)
#define TASKS  (1u << BOX_LIMIT_TASKS)
#define CPU    (1u << BOX_LIMIT_CPU)

static void
assert_limits(const char *text, const char *worker, int64_t memory,
    int64_t tasks, int64_t cpu)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse(text);
	struct box_limits limits;

	box_limits_of(world.settings, worker, &limits);
	ck_assert_int_eq(limits.values[BOX_LIMIT_MEMORY], memory);
	ck_assert_int_eq(limits.values[BOX_LIMIT_TASKS], tasks);
	ck_assert_int_eq(limits.values[BOX_LIMIT_CPU], cpu);
}

TEST(nothing_is_limited_by_default)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse("");
	struct box_limits limits;

	box_limits_of(world.settings, "adam", &limits);
	ck_assert_uint_eq(box_limits_wanted(&limits), 0);
	ck_assert_uint_eq(box_limits_wanted_by_any(world.settings), 0);
}

TEST(limits_come_from_the_defaults_and_from_the_worker)
{
	static const char text[] = "[defaults]\nmemory_max = \"4G\"\n"
				   "tasks_max = 500\n"
				   "[workers.eve]\nmemory_max = \"512M\"\n"
				   "cpu_weight = 20\n";

	assert_limits(text, "adam", INT64_C(4) << 30, 500, 0);
	assert_limits(text, "eve", INT64_C(512) << 20, 500, 20);
}

TEST(a_limit_of_one_worker_is_wanted)
{
	cleanup_settings_world struct settings_world world =
	    settings_world_parse("[defaults]\ntasks_max = 5\n"
				 "[workers.eve]\ncpu_weight = 20\n");

	ck_assert_uint_eq(
	    box_limits_wanted_by_any(world.settings), TASKS | CPU);
}

TEST(a_worker_can_do_without_the_limit_of_the_defaults)
{
	assert_limits("[defaults]\nmemory_max = \"1G\"\ntasks_max = 9\n"
		      "[workers.eve]\nmemory_max = \"\"\ntasks_max = 0\n",
	    "eve", 0, 0, 0);
}

TEST(controllers_are_whole_words)
{
	ck_assert_uint_eq(box_limits_available(""), 0);
	ck_assert_uint_eq(box_limits_available("\n"), 0);
	ck_assert_uint_eq(box_limits_available("cpuset io hugetlb\n"), 0);
	ck_assert_uint_eq(
	    box_limits_available("cpuset cpu io memory hugetlb pids rdma\n"),
	    MEMORY | TASKS | CPU);
	ck_assert_uint_eq(box_limits_available("memory pids"), MEMORY | TASKS);
}

static void
assert_words(unsigned set, const char *expected)
{
	cleanup_buf struct buf out = BUF_INIT;

	box_limits_describe(set, &out);
	ck_assert_str_eq(out.data, expected);
}

TEST(limits_are_named_as_in_the_settings)
{
	assert_words(CPU, "cpu_weight");
	assert_words(MEMORY | CPU, "memory_max and cpu_weight");
	assert_words(
	    MEMORY | TASKS | CPU, "memory_max, tasks_max and cpu_weight");
}

static void
assert_scope(
    const struct box_limits *limits, bool as_root, const char *expected)
{
	cleanup_strv char **argv =
	    box_limits_scope(limits, "/bin/systemd-run", "llmc-adam", as_root);
	cleanup_buf struct buf out = BUF_INIT;

	for (char **word = argv; *word != NULL; word++)
		buf_addf(&out, "%s%s", out.len > 0 ? " " : "", *word);
	ck_assert_str_eq(out.data, expected);
}

TEST(a_scope_gets_the_limits_that_are_set)
{
	struct box_limits limits = { { 1 << 20, 0, 7 } };

	assert_scope(&limits, false,
	    "/bin/systemd-run --user --scope --quiet --collect "
	    "--unit=llmc-adam -p MemoryMax=1048576 -p CPUWeight=7 --");
	limits.values[BOX_LIMIT_TASKS] = 9;
	limits.values[BOX_LIMIT_CPU] = 0;
	assert_scope(&limits, true,
	    "/bin/systemd-run --scope --quiet --collect --unit=llmc-adam "
	    "-p MemoryMax=1048576 -p TasksMax=9 --");
}

TEST(kills_for_memory_are_counted_by_their_own_line)
{
	ck_assert_int_eq(box_limits_oom_kills("low 0\nhigh 0\nmax 4\noom 3\n"
					      "oom_kill 2\n"
					      "oom_group_kill 1\n"),
	    2);
	ck_assert_int_eq(box_limits_oom_kills("oom_kill 0"), 0);
	ck_assert_int_eq(box_limits_oom_kills("oom 3\n"), -1);
	ck_assert_int_eq(box_limits_oom_kills("oom_kill x\n"), -1);
	ck_assert_int_eq(box_limits_oom_kills(""), -1);
}
