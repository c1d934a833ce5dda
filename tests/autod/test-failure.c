/* SPDX-License-Identifier: ISC */

/* Hard failures (failure.json) and the heartbeat. */
#include <check.h>
#include <signal.h>

#include "clock.h"
#include "failure.h"
#include "file.h"
#include "json.h"
#include "life-world.h"
#include "life.h"
#include "mem.h"
#include "unit.h"

/* --- failures --------------------------------------------------------- */

static void
raise_failure(struct life_world *house, const char *class, int status)
{
	failure_raise(house->world.core,
	    &(struct failure){ .class = class,
		.worker = status < 0 ? NULL : "auto-1",
		.task = status < 0 ? NULL : "t7",
		.status = status,
		.reason = "it said: no" });
}

TEST_ROWS(a_failure_ends_the_daemon, 2)
{
	bool full = _i == 1;
	struct life_world house = { 0 };
	cleanup_json struct json_object *json = NULL;

	life_world_begin_quietly(&house);
	raise_failure(&house, "post_accept", full ? 3 : -1);
	raise_failure(&house, "git", 1); /* only the first one counts */
	ck_assert_int_eq(house.failures, 1);
	ck_assert_int_eq(life_world_run(&house, 1000), 1);
	life_world_expect(
	    &house, "high stops; low stops; high closes; low closes; ");
	ck_assert_uint_eq(house.world.core->state.errors, 1);
	json = life_world_load(&house, "failure.json");
	ck_assert_str_eq(json_string_or(json, "class", ""), "post_accept");
	ck_assert_str_eq(json_string_or(json, "words", ""), "it said: no");
	ck_assert_str_eq(
	    json_string_or(json, "worker", "-"), full ? "auto-1" : "-");
	ck_assert_str_eq(json_string_or(json, "task", "-"), full ? "t7" : "-");
	ck_assert_int_eq(json_int_or(json, "exit_status", -1), full ? 3 : -1);
	ck_assert_int_eq(
	    json_int_or(json, "at_unix", 0) / 10, clock_wall_ms() / 10000);
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    house.world.core->instance);

	/* The next daemon starts without it. */
	floor_world_close(&house.world);
	ck_assert(life_world_exists(&house, "failure.json"));
	floor_world_open(&house.world);
	life_world_build(&house);
	ck_assert(!life_world_exists(&house, "failure.json"));
	ck_assert_uint_eq(house.world.core->state.errors, 1);
	life_world_end(&house);
}

/* It stops the daemon and is reported, even if the file cannot be written. */
TEST(a_failure_that_cannot_be_filed)
{
	struct life_world house = { 0 };
	cleanup_free char *file = NULL;

	life_world_begin_quietly(&house);
	file = workspace_path(&house.world.workspace, "failure.json/x");
	ck_assert_int_eq(file_mkdirs(file, 0755, NULL), 0);
	raise_failure(&house, "git", 1);
	ck_assert_int_eq(life_world_run(&house, 1000), 1);
	ck_assert_int_eq(house.failures, 1);
	life_world_end(&house);
}

/* The daemon stops for a failure, so the first signal is not a second
 * request. */
TEST(a_signal_after_a_failure)
{
	struct life_world house = { 0 };

	life_world_begin_quietly(&house);
	house.low.noisy = true;
	raise_failure(&house, "git", 1);
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(&house, 1000), LIFE_GOES_ON);
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(&house, 1000), 1);
	life_world_expect(
	    &house, "high stops; low stops; high closes now; low closes now; ");
	life_world_end(&house);
}

/* --- the heartbeat ---------------------------------------------------- */

static void
expect_beat(struct life_world *house, int64_t sequence, const char *phase)
{
	cleanup_json struct json_object *json =
	    life_world_load(house, "auto.heartbeat");

	ck_assert_int_eq(json_int_or(json, "sequence", 0), sequence);
	ck_assert_str_eq(json_string_or(json, "phase", ""), phase);
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    house->world.core->instance);
	ck_assert_int_le(json_int_or(json, "monotonic_ms", 0), clock_mono_ms());
	ck_assert_int_gt(json_int_or(json, "rss_kb", 0), 0);
	ck_assert_int_ge(json_int_or(json, "lag_ms", -1), 0);
}

/* Three beats in overseer.heartbeat_timeout, at most five seconds apart; fewer
 * after a time in which little happened. */
static const struct beat_row {
	const char *settings;
	int64_t period_ms, quiet_ms;
} beat_rows[] = {
	{ "[overseer]\nheartbeat_timeout = \"15s\"", 5000, 7000 },
	{ "[overseer]\nheartbeat_timeout = \"9s\"", 3000, 3000 },
	{ "[overseer]\nheartbeat_timeout = \"7s\"", 2333, 2333 },
};

TEST_ROWS(the_loop_beats, nitems(beat_rows))
{
	const struct beat_row *row = &beat_rows[_i];
	struct life_world house = { .world.options.auto_mode = true,
		.low.phase = "low" };

	life_world_begin(&house, row->settings);
	expect_beat(&house, 1, "low");
	ck_assert_int_eq(
	    life_world_run(&house, row->period_ms - 20), LIFE_GOES_ON);
	expect_beat(&house, 1, "low");
	house.low.phase = "lower";
	ck_assert_int_eq(life_world_run(&house, 40), LIFE_GOES_ON);
	expect_beat(&house, 2, "lower");
	house.high.noisy = true;
	life_stop(house.world.core, "the test", false);
	ck_assert_int_eq(
	    life_world_run(&house, row->quiet_ms + 20), LIFE_GOES_ON);
	expect_beat(&house, 3, "stopping");
	house.high.noisy = false;
	ck_assert_int_eq(life_world_run(&house, 1000), 0);
	ck_assert(!life_world_exists(&house, "auto.heartbeat"));
	life_world_end(&house);
}

static int64_t
beats(struct life_world *house)
{
	cleanup_json struct json_object *json =
	    life_world_load(house, "auto.heartbeat");

	return json_int_or(json, "sequence", 0);
}

/* It wakes the machine. The overseer's limit is never reached. */
TEST(a_quiet_loop_beats_less_often)
{
	struct life_world house = { .world.options.auto_mode = true };
	int64_t before;

	life_world_begin(&house, "[overseer]\nheartbeat_timeout = \"30s\"");
	ck_assert_int_eq(life_world_run(&house, 15000), LIFE_GOES_ON);
	before = beats(&house);
	ck_assert_int_eq(life_world_run(&house, 66000), LIFE_GOES_ON);
	ck_assert_int_ge(beats(&house), before + 66 / 22);
	ck_assert_int_le(beats(&house), before + 66 / 13);
	before = beats(&house);
	for (int i = 0; i < 600; i++) /* each wakes it */
		ck_assert_int_eq(life_world_run(&house, 100), LIFE_GOES_ON);
	ck_assert_int_ge(beats(&house), before + (60 - 16) / 5);
	life_world_end(&house);
}

TEST(the_top_floor_says_what_it_is_at)
{
	struct life_world house = { .world.options.auto_mode = true,
		.low.phase = "low",
		.high.phase = "high" };
	struct life_world plain = { .world.options.auto_mode = true };
	struct life_world by_hand = { 0 };

	life_world_begin(&house, NULL);
	expect_beat(&house, 1, "high");
	life_world_end(&house);
	life_world_begin(&plain, NULL);
	expect_beat(&plain, 1, "idle");
	life_world_end(&plain);
	life_world_begin(&by_hand, NULL);
	ck_assert(!life_world_exists(&by_hand, "auto.heartbeat"));
	life_world_end(&by_hand);
}
