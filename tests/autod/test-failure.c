/* SPDX-License-Identifier: ISC */

/* Hard failures (failure.json) and the heartbeat. */
#include "life-world.h"
#include "failure.h"
#include "heartbeat.h"
#include "life.h"
#include "review.h"
#include "task.h"
#include "worker.h"

/* --- failures --------------------------------------------------------- */

static void
raise_failure(const char *class, int status)
{
	failure_raise(floor_world.core,
	    &(struct failure){ .class = class,
		.worker = status < 0 ? NULL : "auto-1",
		.task = status < 0 ? NULL : "t7",
		.status = status,
		.reason = "it said: no" });
}

TEST_ROWS(a_failure_ends_the_daemon, 2)
{
	bool full = _i == 1;
	cleanup_json struct json_object *json = NULL;

	life_world_begin_quietly();
	raise_failure("post_accept", full ? 3 : -1);
	raise_failure("git", 1); /* only the first one counts */
	ck_assert_int_eq(life_world.failures, 1);
	ck_assert_int_eq(life_world_run(1000), 1);
	life_world_expect("high stops; low stops; high closes; low closes; ");
	ck_assert_uint_eq(floor_world.core->state.errors, 1);
	json = life_world_load("failure.json");
	ck_assert_str_eq(json_string_or(json, "class", ""), "post_accept");
	ck_assert_str_eq(json_string_or(json, "words", ""), "it said: no");
	ck_assert_str_eq(
	    json_string_or(json, "worker", "-"), full ? "auto-1" : "-");
	ck_assert_str_eq(json_string_or(json, "task", "-"), full ? "t7" : "-");
	ck_assert_int_eq(json_int_or(json, "exit_status", -1), full ? 3 : -1);
	ck_assert_int_eq(
	    json_int_or(json, "at_unix", 0) / 10, clock_wall_ms() / 10000);
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    floor_world.core->instance);

	/* The next daemon starts without it. */
	floor_world_close();
	ck_assert(life_world_exists("failure.json"));
	floor_world_open();
	life_world_build();
	ck_assert(!life_world_exists("failure.json"));
	ck_assert_uint_eq(floor_world.core->state.errors, 1);
}

/* Who repairs it reads the last heartbeat, which lies there after its end. */
TEST(a_failure_tells_what_the_workers_were_doing)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *workers = NULL;
	struct worker *w;

	life_world = (struct life_world){ .options.auto_mode = true };
	life_world_begin(NULL);
	w = worker_new("auto-1", clock_wall_ms());
	w->status = WORKER_WORKING;
	state_add(&floor_world.core->state, w);
	raise_failure("git", 1);
	w->status = WORKER_OFFLINE;
	heartbeat_now(floor_world.core->heartbeat);
	ck_assert_int_eq(life_world_run(1000), 1);
	json = life_world_load("auto.heartbeat");
	ck_assert_int_eq(
	    json_get_array(json, "", "workers", &workers, NULL), 0);
	ck_assert_int_eq(json_object_array_length(workers), 1);
	ck_assert_ptr_nonnull(strstr(
	    json_object_get_string(json_object_array_get_idx(workers, 0)),
	    "auto-1 working"));
}

/* It stops the daemon and is reported, even if the file cannot be written. */
TEST(a_failure_that_cannot_be_filed)
{
	cleanup_free char *file = NULL;

	life_world_begin_quietly();
	file = workspace_path(&floor_world.workspace, "failure.json/x");
	ck_assert_int_eq(file_mkdirs(file, 0755, NULL), 0);
	raise_failure("git", 1);
	ck_assert_int_eq(life_world_run(1000), 1);
	ck_assert_int_eq(life_world.failures, 1);
}

/* The daemon stops for a failure, so the first signal is not a second
 * request. */
TEST(a_signal_after_a_failure)
{
	life_world_begin_quietly();
	life_world.low.noisy = true;
	raise_failure("git", 1);
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(1000), LIFE_GOES_ON);
	raise(SIGTERM);
	ck_assert_int_eq(life_world_run(1000), 1);
	life_world_expect(
	    "high stops; low stops; high closes now; low closes now; ");
}

/* --- the heartbeat ---------------------------------------------------- */

static void
expect_beat(int64_t sequence, const char *phase)
{
	cleanup_json struct json_object *json =
	    life_world_load("auto.heartbeat");

	ck_assert_int_eq(json_int_or(json, "sequence", 0), sequence);
	ck_assert_str_eq(json_string_or(json, "phase", ""), phase);
	ck_assert_str_eq(json_string_or(json, "instance_id", ""),
	    floor_world.core->instance);
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

	life_world = (struct life_world){ .options.auto_mode = true,
		.low.phase = "low" };
	life_world_begin(row->settings);
	expect_beat(1, "low");
	ck_assert_int_eq(life_world_run(row->period_ms - 20), LIFE_GOES_ON);
	expect_beat(1, "low");
	life_world.low.phase = "lower";
	ck_assert_int_eq(life_world_run(40), LIFE_GOES_ON);
	expect_beat(2, "lower");
	life_world.high.noisy = true;
	life_stop(floor_world.core, "the test", false);
	ck_assert_int_eq(life_world_run(row->quiet_ms + 20), LIFE_GOES_ON);
	expect_beat(3, "stopping");
	life_world.high.noisy = false;
	ck_assert_int_eq(life_world_run(1000), 0);
	ck_assert(!life_world_exists("auto.heartbeat"));
}

static int64_t
beats(void)
{
	cleanup_json struct json_object *json =
	    life_world_load("auto.heartbeat");

	return json_int_or(json, "sequence", 0);
}

/* It wakes the machine. The overseer's limit is never reached. */
TEST(a_quiet_loop_beats_less_often)
{
	int64_t before;

	life_world = (struct life_world){ .options.auto_mode = true };
	life_world_begin("[overseer]\nheartbeat_timeout = \"30s\"");
	ck_assert_int_eq(life_world_run(15000), LIFE_GOES_ON);
	before = beats();
	ck_assert_int_eq(life_world_run(66000), LIFE_GOES_ON);
	ck_assert_int_ge(beats(), before + 66 / 22);
	ck_assert_int_le(beats(), before + 66 / 13);
	before = beats();
	for (int i = 0; i < 600; i++) /* each wakes it */
		ck_assert_int_eq(life_world_run(100), LIFE_GOES_ON);
	ck_assert_int_ge(beats(), before + (60 - 16) / 5);
}

TEST(the_top_floor_says_what_it_is_at)
{
	life_world = (struct life_world){ .options.auto_mode = true,
		.low.phase = "low",
		.high.phase = "high" };
	life_world_begin(NULL);
	expect_beat(1, "high");
	life_world_end();
	life_world = (struct life_world){ .options.auto_mode = true };
	life_world_begin(NULL);
	expect_beat(1, "idle");
	life_world_end();
	life_world = (struct life_world){ 0 };
	life_world_begin(NULL);
	ck_assert(!life_world_exists("auto.heartbeat"));
}

/* Whom the overseer expects to get on. Who waits for the service, for a person
 * or for the user's checkout does not stand still. */
static const struct work_row {
	enum worker_status status;
	enum task_step step;
	bool for_person, reviewed, dirty, expected;
} work_rows[] = {
	{ WORKER_WORKING, TASK_ASSIGNED, .expected = true },
	{ WORKER_WORKING, TASK_PARKED, .expected = false },
	{ WORKER_WORKING, TASK_ASSIGNED, .dirty = true, .expected = true },
	{ WORKER_LIMITED, TASK_ASSIGNED, .expected = false },
	{ WORKER_WAITING, TASK_ASSIGNED, .expected = false },
	{ WORKER_PAUSED, TASK_ASSIGNED, .expected = false },
	{ WORKER_NEEDS_REVIEW, TASK_ASSIGNED, .expected = true },
	{ WORKER_NEEDS_REVIEW, TASK_ASSIGNED, .for_person = true },
	{ WORKER_NEEDS_REVIEW, TASK_ASSIGNED, .reviewed = true },
	{ WORKER_NEEDS_REVIEW, TASK_ASSIGNED, .dirty = true },
	{ WORKER_ACCEPTING, TASK_ASSIGNED, .expected = true },
	{ WORKER_ACCEPTING, TASK_ASSIGNED, .dirty = true },
};

TEST_ROWS(who_must_wait_is_not_expected_to_get_on, nitems(work_rows))
{
	const struct work_row *row = &work_rows[_i];
	cleanup_json struct json_object *json = NULL;
	struct json_object *expected = NULL;
	struct state *state;
	struct worker *w;
	struct task *t;

	life_world = (struct life_world){ .options.auto_mode = true };
	life_world_begin(NULL);
	state = &floor_world.core->state;
	w = worker_new("auto-1", clock_wall_ms());
	w->status = row->status;
	state_add(state, w);
	t = task_new("t1", "folder", "a.md", "A", "a", clock_wall_ms());
	t->step = row->step;
	if (row->reviewed)
		t->attempt.review = REVIEW_OPEN;
	state_add_task(state, t);
	xstrset(&w->task, t->id);
	w->for_person = row->for_person;
	state->source_repo_dirty_retry_count = row->dirty;
	heartbeat_now(floor_world.core->heartbeat);
	json = life_world_load("auto.heartbeat");
	ck_assert_int_eq(
	    json_get_array(json, "", "expected", &expected, NULL), 0);
	ck_assert_int_eq(json_object_array_length(expected), row->expected);
}
