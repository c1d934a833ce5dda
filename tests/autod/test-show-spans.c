/* SPDX-License-Identifier: ISC */

/* How workers spend their time, from the status of each to the rows of a
 * report: against a sum that is made beside it, second by second. */
#include "team-world.h"

#include <time.h>

#include "book-history.h"
#include "book.h"
#include "show.h"
#include "report.h"

/* 2040-03-24 22:30 UTC: soon it is midnight, and the clocks of Europe are set
 * forward. After today: files have the time of the machine. */
#define BEGIN  INT64_C(2216241000000)
#define SECOND 1000

static struct show_floor *show;

/* --- the world ------------------------------------------------------- */

static void
write_moment(const char *name, const char *key)
{
	cleanup_free char *file = workspace_path(&floor_world.workspace, name);
	cleanup_free char *text =
	    xasprintf("{\"%s\": %" PRId64 "}", key, clock_wall_ms() / SECOND);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

static bool
has_worker(void *arg)
{
	(void)arg;
	return auto_world_agent() != NULL;
}

static void
begin(void)
{
	team_world_begin("concurrency = 1\n");
	show = show_floor_new(team_world.team, NULL, NULL);
	auto_world_live();
	floor_world_wait(has_worker, NULL);
	floor_world_settle();
	book_run(floor_world.core->book, "DELETE FROM span", NULL, 0);
	/* From here on the loop stands still, and so does the time. */
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	clock_virtual_begin(0, BEGIN);
	show_spans_free(show->spans);
	floor_world.core->state.daemon_running = false;
	show->spans = show_spans_new(show);
	floor_world.core->state.daemon_running = true;
	write_moment("daemon.json", "start_time_unix");
	write_moment("auto.heartbeat", "timestamp_unix");
}

static void
end(void)
{
	clock_virtual_end();
	show_floor_free(take_ptr(&show));
	team_world_end();
}

static void
move(struct worker *worker, enum worker_status status)
{
	worker->status = status;
	worker->since_ms = clock_wall_ms();
}

static void
set_queue(bool queue)
{
	struct state *state = &floor_world.core->state;

	if (queue && state_task(state, "t900") == NULL) {
		state_add_task(
		    state, task_new("t900", "folder", "x", "x", "x", BEGIN));
		state_task(state, "t900")->step = TASK_WAITING;
	} else if (!queue)
		state_remove_task(state, "t900");
}

/* --- reading --------------------------------------------------------- */

struct spans {
	struct work_span *list;
	size_t count;
};

static void
keep(const struct work_span *span, void *arg)
{
	struct spans *spans = arg;

	spans->list =
	    xreallocarray(spans->list, spans->count + 1, sizeof *spans->list);
	spans->list[spans->count] = *span;
	spans->list[spans->count].worker = xstrdup(span->worker);
	spans->list[spans->count++].task =
	    span->task != NULL ? xstrdup(span->task) : NULL;
}

static void
release(struct spans *spans)
{
	while (spans->count > 0)
		work_span_release(&spans->list[--spans->count]);
	free(take_ptr(&spans->list));
}

static size_t
recorded(void)
{
	struct spans spans = { 0 };
	size_t count;

	ck_assert_int_eq(
	    book_read_spans(floor_world.core->book, 0, keep, &spans, NULL), 0);
	count = spans.count;
	release(&spans);
	return count;
}

/* What a report of all the time until now says. */
static struct json_object *
sums(void)
{
	struct spans spans = { 0 };
	const struct state *state = &floor_world.core->state;
	struct json_object *worked = NULL, *json;
	cleanup_json struct json_object *none = json_object_new_object();
	cleanup_json struct json_object *workers = json_object_new_object();

	for (size_t i = 0; i < state->count; i++)
		json_set(
		    workers, state->workers[i]->name, json_object_new_object());
	ck_assert_int_eq(
	    book_read_spans(floor_world.core->book, 0, keep, &spans, NULL), 0);
	book_open_spans(floor_world.core->book, &floor_world.workspace, state,
	    true, clock_wall_ms(), keep, &spans);
	json = report_time(&(struct report_time_in){ .spans = spans.list,
			       .count = spans.count,
			       .from_ms = BEGIN,
			       .to_ms = clock_wall_ms(),
			       .ended = none,
			       .open = none,
			       .workers = workers },
	    &worked);
	json_object_put(worked);
	release(&spans);
	return json;
}

static int64_t
row(struct json_object *json, const char *use)
{
	return json_int_or(json_object_object_get(json, "rows"), use, -1);
}

/* --- tests ----------------------------------------------------------- */

TEST(idle_time_is_divided_where_a_queue_begins_and_ends)
{
	cleanup_json struct json_object *json = NULL;
	struct worker *worker;
	size_t before;

	begin();
	worker = floor_world.core->state.workers[0];
	move(worker, WORKER_IDLE);
	show_spans_begin(show->spans);
	clock_virtual_advance(10 * SECOND);
	set_queue(true);
	show_spans_patrol(show->spans);
	clock_virtual_advance(20 * SECOND);
	set_queue(false);
	show_spans_patrol(show->spans);
	before = recorded();
	/* What stays the same adds nothing, over midnight too. */
	for (int i = 0; i < 5000; i++) {
		clock_virtual_advance(SECOND);
		show_spans_patrol(show->spans);
	}
	ck_assert_uint_eq(recorded(), before);
	json = sums();
	ck_assert_int_eq(row(json, "idle_queue"), 20 * SECOND);
	ck_assert_int_eq(row(json, "idle"), 5010 * SECOND);
	ck_assert_int_eq(json_int_or(json, "worker_ms", 0), 5030 * SECOND);
	end();
}

/* A limit is as long as it lasts, not as it was said to last: a turn that runs
 * has ended it. */
TEST(four_minutes_of_limit_are_four_minutes)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *text = NULL;
	struct agent *agent;

	begin();
	agent = auto_world_agent();
	move(agent->worker, WORKER_WORKING);
	show_spans_begin(show->spans);
	text = xasprintf("You've hit your 5-hour limit, resets at %" PRId64,
	    BEGIN / SECOND + 22 * 60);
	fake_session_turn_fails(agent->session, text);
	ck_assert_int_eq(agent->worker->status, WORKER_LIMITED);
	ck_assert_int_ge(agent->worker->until_ms, BEGIN + 22 * 60 * SECOND);
	for (int i = 0; i < 240; i++) {
		show_spans_patrol(show->spans);
		clock_virtual_advance(SECOND);
	}
	fake_session_works(agent->session);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	show_spans_patrol(show->spans);
	clock_virtual_advance(20 * 60 * SECOND);
	json = sums();
	ck_assert_int_eq(row(json, "limited"), 4 * 60 * SECOND);
	ck_assert_int_eq(row(json, "working_open"), 20 * 60 * SECOND);
	end();
}

TEST(work_that_waits_for_a_person_is_not_landing)
{
	cleanup_json struct json_object *json = NULL;
	struct worker *worker;

	begin();
	worker = floor_world.core->state.workers[0];
	move(worker, WORKER_ACCEPTING);
	show_spans_begin(show->spans);
	clock_virtual_advance(10 * SECOND);
	worker->for_person = true;
	move(worker, WORKER_NEEDS_REVIEW);
	show_spans_patrol(show->spans);
	clock_virtual_advance(1260 * SECOND);
	json = sums();
	ck_assert_int_eq(row(json, "landing"), 10 * SECOND);
	ck_assert_int_eq(row(json, "person"), 1260 * SECOND);
	end();
}

TEST(a_worker_that_is_idle_beside_tasks_of_the_source_has_a_queue)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *folder = NULL, *file = NULL;

	begin();
	folder = workspace_path(&floor_world.workspace, "tasks/todo");
	file = file_join(folder, "a.md");
	ck_assert_int_eq(file_mkdirs(folder, 0700, NULL), 0);
	move(floor_world.core->state.workers[0], WORKER_IDLE);
	show_spans_begin(show->spans);
	clock_virtual_advance(10 * SECOND);
	ck_assert_int_eq(file_replace(file, "x", 1, 0600, NULL), 0);
	show_spans_patrol(show->spans);
	clock_virtual_advance(20 * SECOND);
	json = sums(); /* by somebody who knows the state only */
	ck_assert_int_eq(row(json, "idle_queue"), 20 * SECOND);
	json_object_put(take_ptr(&json));
	ck_assert_int_eq(unlink(file), 0);
	/* Told at once: the next patrol may be long after. */
	emit(
	    floor_world.core, &(struct event){ .kind = EVENT_TASKS_EXHAUSTED });
	clock_virtual_advance(40 * SECOND);
	json = sums();
	ck_assert_int_eq(row(json, "idle_queue"), 20 * SECOND);
	ck_assert_int_eq(row(json, "idle"), 50 * SECOND);
	end();
}

static const enum worker_status statuses[] = { WORKER_IDLE, WORKER_WORKING,
	WORKER_ACCEPTING, WORKER_LIMITED, WORKER_PAUSED, WORKER_ERROR };
/* As report_use_words[] calls them, without a task. */
static const char *const uses[] = { "idle", "working_open", "landing",
	"limited", "paused", "error", "idle_queue", "daemon_down" };

#define QUEUE   6
#define DOWN    7
#define WORKERS 3
#define SECONDS 400

struct trial {
	struct worker *workers[WORKERS];
	int64_t want[nitems(uses)];
	bool queue;
};

/* Every worker does something for this second. */
static void
pass(struct trial *trial, bool up)
{
	for (int i = 0; i < WORKERS; i++) {
		size_t use = 0;

		while (statuses[use] != trial->workers[i]->status)
			use++;
		if (!up)
			use = DOWN;
		else if (use == 0 && trial->queue &&
		    worker_is_auto(trial->workers[i]->name))
			use = QUEUE;
		trial->want[use] += SECOND;
	}
	clock_virtual_advance(SECOND);
}

/* kill -9, some time, and the next daemon. */
static void
be_killed(struct trial *trial, int seconds)
{
	show_spans_free(show->spans);
	write_moment("auto.heartbeat", "timestamp_unix");
	for (int i = 0; i < seconds; i++)
		pass(trial, false);
	show->spans = show_spans_new(show);
	write_moment("daemon.json", "start_time_unix");
	write_moment("auto.heartbeat", "timestamp_unix");
	show_spans_begin(show->spans);
}

static void
live(struct trial *trial, unsigned *seed)
{
	show_spans_begin(show->spans);
	for (int second = 0; second < SECONDS; second++) {
		int what = rand_r(seed) % 40;

		if (what < 4) {
			trial->queue = !trial->queue;
			set_queue(trial->queue);
		} else if (what < 16)
			move(trial->workers[rand_r(seed) % WORKERS],
			    statuses[rand_r(seed) % (int)nitems(statuses)]);
		else if (what == 39)
			be_killed(trial, 1 + rand_r(seed) % 60);
		show_spans_patrol(show->spans);
		pass(trial, true);
	}
}

TEST(random_histories_with_kills_add_up_to_workers_times_wall)
{
	unsigned seed = 11;

	for (int n = 0; n < unit_times(20); n++) {
		static const char *const names[] = { "a", "b" };
		cleanup_json struct json_object *json = NULL;
		struct trial trial = { 0 };
		int64_t wall;

		begin();
		trial.workers[0] = floor_world.core->state.workers[0];
		clock_virtual_end(); /* git works for them */
		for (int i = 1; i < WORKERS; i++)
			trial.workers[i] =
			    floor_world_add(names[i - 1], WORKER_IDLE)->worker;
		clock_virtual_begin(0, BEGIN);
		for (int i = 0; i < WORKERS; i++)
			move(trial.workers[i], WORKER_IDLE);
		live(&trial, &seed);
		json = sums();
		wall = clock_wall_ms() - BEGIN;
		ck_assert_int_eq(
		    json_int_or(json, "worker_ms", 0), WORKERS * wall);
		for (size_t use = 0; use < nitems(uses); use++)
			ck_assert_msg(row(json, uses[use]) == trial.want[use],
			    "trial %d, %s: %" PRId64 " instead of %" PRId64, n,
			    uses[use], row(json, uses[use]), trial.want[use]);
		end();
	}
}

TEST(a_clock_that_is_set_back_makes_no_time_and_loses_none)
{
	cleanup_json struct json_object *json = NULL;
	struct worker *worker;
	int64_t wall;

	begin();
	worker = floor_world.core->state.workers[0];
	move(worker, WORKER_WORKING);
	show_spans_begin(show->spans);
	clock_virtual_advance(100 * SECOND);
	move(worker, WORKER_LIMITED);
	show_spans_patrol(show->spans);
	clock_virtual_advance(50 * SECOND);
	show_spans_patrol(show->spans);
	clock_virtual_begin(0, BEGIN + 80 * SECOND);
	show_spans_patrol(show->spans);
	move(worker, WORKER_PAUSED);
	show_spans_patrol(show->spans);
	clock_virtual_advance(120 * SECOND);
	show_spans_patrol(show->spans);
	json = sums();
	wall = clock_wall_ms() - BEGIN;
	ck_assert_int_eq(json_int_or(json, "worker_ms", 0), wall);
	ck_assert_int_eq(row(json, "working_open"), 100 * SECOND);
	ck_assert_int_eq(row(json, "paused"), 100 * SECOND);
	end();
}
