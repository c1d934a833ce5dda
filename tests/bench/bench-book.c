/* SPDX-License-Identifier: ISC */

/*
 * How fast the book is with a million events and 100,000 ended tasks, and how
 * large after a week of 100 workers, as a table:
 *
 *   bench-book [DIR]
 *
 * DIR is where the book is made, on the disk to measure; TMPDIR otherwise.
 */
#include "base.h"

#include <sys/stat.h>

#include "bench.h"
#include "book-care.h"
#include "book-history.h"
#include "book-private.h"
#include "metrics.h"
#include "state-book.h"
#include "state.h"
#include "table.h"
#include "task.h"
#include "worker.h"

#define EVENTS      1000000
#define GOALS       100
#define WORKERS     10
#define ASSIGNMENTS 20000
#define NODES       10000 /* of the goal that is loaded */
#define IN_PASS     50
#define PASSES      200
#define REPORTS     20
#define ENDED       100000 /* tasks */
#define FLEET       100 /* workers */
#define HOUR_MS     INT64_C(3600000)

/* What a worker of a week does: a task in 20 minutes, with its turns, attempts,
 * stretches of time and events. */
#define WEEK_TASKS  (7 * 24 * 3) /* of each */
#define WEEK_TURNS  3 /* of a task, and so on */
#define WEEK_SPANS  8
#define WEEK_EVENTS 15
#define WEEK_MB     1024 /* where it must stay below */

struct bench {
	struct book *book;
	struct table *table;
	size_t got; /* records and events */
	int64_t from_ms; /* when events begin; nothing of them is old */
};

static void
add_event(struct bench *b, size_t n)
{
	char goal[24], assignment[24], node[24], worker[24], task[24];
	struct book_event event = {
		.ts_ms = b->from_ms + (int64_t)n * 100,
		.type = "assignment.updated",
		.goal_id = goal,
		.assignment_id = assignment,
		.node_id = node,
		.worker = worker,
		.task = task,
		.data = "{\"status\":\"in_progress\",\"summary\":"
			"\"the parser reads numbers now\",\"retry\":0}",
	};
	struct err err = { 0 };

	snprintf(goal, sizeof goal, "goal_%zu", n % GOALS);
	snprintf(assignment, sizeof assignment, "A_%zu", n % ASSIGNMENTS);
	snprintf(node, sizeof node, "T%zu", n % NODES);
	snprintf(worker, sizeof worker, "auto-%zu", n % WORKERS);
	snprintf(task, sizeof task, "01J%zu", n % ASSIGNMENTS);
	bench_must(book_add_event(b->book, &event, &err), "event", &err);
}

static void
commit(struct bench *b)
{
	struct err err = { 0 };

	bench_must(book_commit(b->book, &err), "commit", &err);
}

static void
put(struct bench *b, enum book_kind kind, const char *id, const char *body)
{
	struct err err = { 0 };

	bench_must(
	    book_put_body(b->book, kind, "goal_0", id, body, &err), id, &err);
}

static void
fill(struct bench *b)
{
	put(b, BOOK_GOAL, "goal_0", "{\"status\":\"active\"}");
	for (size_t i = 0; i < NODES; i++) {
		cleanup_free char *id = xasprintf("T%zu", i);

		put(b, BOOK_NODE, id,
		    "{\"status\":\"todo\",\"name\":\"Read numbers\","
		    "\"objective\":\"The parser reads all numbers\","
		    "\"acceptanceCriteria\":[\"the tests pass\"]}");
	}
	for (size_t i = 0; i < EVENTS; i++) {
		add_event(b, i);
		if (i % 10000 == 0)
			commit(b);
	}
	commit(b);
}

static void
row(struct bench *b, const char *name, int64_t began, size_t times,
    const char *result)
{
	cleanup_free char *time = bench_time(
	    (double)(clock_mono_us() - began) / (double)times, false);

	table_row(b->table, (const char *[]){ name, time, result });
}

static bool
on_event(const struct book_event *event, void *arg)
{
	(void)event;
	((struct bench *)arg)->got++;
	return true;
}

static bool
on_record(const struct book_record *record, void *arg)
{
	(void)record;
	((struct bench *)arg)->got++;
	return true;
}

static void
query(struct bench *b, const char *name, struct book_filter filter)
{
	int64_t began = clock_mono_us();
	cleanup_free char *result = NULL;
	struct err err = { 0 };

	b->got = 0;
	bench_must(
	    book_query_events(b->book, &filter, on_event, b, &err), name, &err);
	result = xasprintf("%zu events", b->got);
	row(b, name, began, 1, result);
}

static void
bench_all(struct bench *b, const char *path)
{
	int64_t began = clock_mono_us();
	struct err err = { 0 };
	size_t n = EVENTS;

	bench_must(book_open(path, &b->book, &err), path, &err);
	row(b, "open", began, 1, "at most 10 ms");
	query(b, "why ASSIGNMENT",
	    (struct book_filter){ .assignment_id = "A_77" });
	query(b, "why TASK", (struct book_filter){ .task = "01J77" });
	query(b, "why WORKER, the last 1000",
	    (struct book_filter){
		.worker = "auto-7", .limit = 1000, .newest_first = true });
	query(
	    b, "events of a goal", (struct book_filter){ .goal_id = "goal_7" });
	query(b, "events --since, of a worker",
	    (struct book_filter){
		.since_ms = b->from_ms + (EVENTS - 10000) * INT64_C(100),
		.worker = "auto-7" });
	began = clock_mono_us();
	bench_must(book_load_open(b->book, on_record, b, &err), "load", &err);
	row(b, "load", began, 1, "10001 records");
	began = clock_mono_us();
	for (size_t pass = 0; pass < PASSES; pass++) {
		for (size_t i = 0; i < IN_PASS; i++)
			add_event(b, n++);
		commit(b);
	}
	row(b, "commit of 50 events", began, PASSES, "one fsync");
	began = clock_mono_us();
	for (size_t pass = 0; pass < PASSES; pass++) {
		add_event(b, n++);
		commit(b);
	}
	row(b, "commit of one event", began, PASSES, "one fsync");
}

/* --- the state ------------------------------------------------------------ */

static struct task *
make_task(size_t n, int64_t ended_ms)
{
	cleanup_free char *json = xasprintf(
	    "{\"id\":\"t%zu\",\"source\":\"folder\",\"key\":\"%zu.md\","
	    "\"title\":\"Let the parser read numbers\",\"text\":\"%0800d\","
	    "\"step\":\"%s\",\"outcome\":\"%s\",\"worker\":\"w%03zu\","
	    "\"attempts\":1,\"turns\":3,\"created_ms\":%lld,"
	    "\"assigned_ms\":%lld,\"finished_ms\":%lld,\"tokens\":20000,"
	    "\"commit\":\"%040zx\",\"run_id\":\"r1\",\"last_words\":"
	    "\"%0400d\",\"cost\":20000,\"priority\":\"normal\",\"history\":"
	    "[{\"at_unix\":1,\"what\":\"assigned\",\"detail\":\"w\"},"
	    "{\"at_unix\":2,\"what\":\"landed\"}]}",
	    n, n, 0, ended_ms > 0 ? "settling" : "assigned",
	    ended_ms > 0 ? "landed" : "none", n % FLEET,
	    (long long)(ended_ms - HOUR_MS / 3),
	    (long long)(ended_ms - HOUR_MS / 3), (long long)ended_ms, n, 0);
	cleanup_json struct json_object *record = NULL;
	struct task *task = NULL;
	struct err err = { 0 };

	bench_must(json_parse(json, strlen(json), 1 << 20, &record, &err),
	    "task", &err);
	bench_must(task_from_json(record, "", &task, &err), "task", &err);
	return task;
}

static void
row_of_times(
    struct bench *b, const char *name, double *us, size_t n, const char *target)
{
	cleanup_free char *median = NULL, *words = NULL;

	bench_sort(us, n);
	median = bench_time(us[n / 2], false);
	words = xasprintf("%s, p99 %.2f ms", target, us[n * 99 / 100] / 1000);
	table_row(b->table, (const char *[]){ name, median, words });
}

/* As a pass does it that changed one worker and its task. */
static void
bench_state_write(struct bench *b)
{
	struct state_book *rows = NULL;
	struct state state;
	struct err err = { 0 };
	double us[PASSES];

	bench_must(state_book_new(b->book, &rows, &err), "state", &err);
	state_init(&state);
	for (size_t i = 0; i < FLEET; i++) {
		cleanup_free char *name = xasprintf("w%03zu", i);

		state_add(&state, worker_new(name, 1));
		state_add_task(&state, make_task(ENDED + i, 0));
	}
	state_book_put(rows, &state);
	commit(b);
	for (size_t i = 0; i < PASSES; i++) {
		int64_t began = clock_mono_us();

		state.workers[i % FLEET]->activity_ms = (int64_t)i + 1;
		state.tasks[i % FLEET]->turns = (int)i + 1;
		state_book_put(rows, &state);
		commit(b);
		us[i] = (double)(clock_mono_us() - began);
	}
	row_of_times(b, "state write, 100 workers", us, PASSES, "at most 1 ms");
	state_book_free(rows);
	state_release(&state);
}

/* --- history -------------------------------------------------------------- */

static void
fill_history(struct bench *b)
{
	int64_t now = clock_wall_ms();
	struct err err = { 0 };

	bench_must(book_history_open(b->book, &err), "history", &err);
	for (size_t i = 0; i < ENDED; i++) {
		struct task *task =
		    make_task(i, now - (int64_t)(ENDED - i) * 1000);

		book_file_task(b->book, task);
		task_free(task);
		if (i % 1000 == 0)
			commit(b);
	}
	commit(b);
}

static void
find(struct bench *b, const char *name, struct task *(*fn)(struct book *))
{
	double us[PASSES];

	for (size_t i = 0; i < PASSES; i++) {
		int64_t began = clock_mono_us();
		struct task *task = fn(b->book);

		us[i] = (double)(clock_mono_us() - began);
		bench_must(task != NULL ? 0 : -1, name, &(struct err){ 0 });
		task_free(task);
	}
	row_of_times(b, name, us, PASSES, "at most 5 ms");
}

static struct task *
by_id(struct book *book)
{
	return book_find_task(book, "t777");
}

static struct task *
by_key(struct book *book)
{
	return book_find_task_key(book, "folder", "777.md");
}

static struct task *
by_commit(struct book *book)
{
	return book_find_task_commit(
	    book, "0000000000000000000000000000000000000309");
}

static void
measure_report(struct bench *b)
{
	int64_t from = clock_wall_ms() - INT64_C(10000) * 1000;
	struct err err = { 0 };
	double us[REPORTS];

	for (size_t i = 0; i < REPORTS; i++) {
		struct json_object *rows = json_object_new_object();
		int64_t began = clock_mono_us();

		bench_must(book_report_tasks(b->book, from, 100, rows, &err),
		    "report", &err);
		us[i] = (double)(clock_mono_us() - began);
		json_object_put(rows);
	}
	row_of_times(b, "tasks of a report over 10,000", us, REPORTS,
	    "at most 200 ms with its process");
}

static void
bench_prune(struct bench *b, const char *name, int64_t keep)
{
	int64_t now = clock_wall_ms();
	double us[REPORTS];

	for (size_t i = 0; i < REPORTS; i++) {
		int64_t began = clock_mono_us();

		book_history_prune(b->book,
		    &(struct book_limits){
			now, now - 365 * 24 * HOUR_MS, keep, BOOK_BYTES_MAX });
		commit(b);
		us[i] = (double)(clock_mono_us() - began);
	}
	row_of_times(b, name, us, REPORTS, "at most 5 ms");
}

/* With 50 nodes each: two steps and one for the goal. */
static void
add_old_goals(struct bench *b)
{
	struct err err = { 0 };

	for (int i = 0; i < REPORTS; i++) {
		cleanup_free char *goal = xasprintf("old%d", i);

		bench_must(
		    book_put_body(b->book, BOOK_GOAL, goal, goal,
			"{\"status\":\"completed\",\"endedAt\":1}", &err),
		    "goal", &err);
		for (int j = 0; j < 50; j++) {
			cleanup_free char *node = xasprintf("T%d", j);
			cleanup_free char *body = xasprintf(
			    "{\"status\":\"done\",\"description\":\"%01000d\"}",
			    j);

			bench_must(book_put_body(b->book, BOOK_NODE, goal, node,
				       body, &err),
			    "node", &err);
		}
	}
	commit(b);
}

static void
bench_history(struct bench *b)
{
	find(b, "ended task by id", by_id);
	find(b, "ended task by key", by_key);
	find(b, "ended task by commit", by_commit);
	measure_report(b);
	bench_prune(b, "nothing to prune", ENDED);
	add_old_goals(b);
	bench_prune(b, "prune of old goals", ENDED);
	bench_prune(b, "prune of some tasks", ENDED / 2);
}

/* --- a week ------------------------------------------------------- */

static void
week_task(struct bench *b, size_t n, int64_t ended_ms)
{
	cleanup_free char *id = xasprintf("t%zu", n);
	cleanup_free char *worker = xasprintf("w%03zu", n % FLEET);
	struct task *task = make_task(n, ended_ms);

	book_file_task(b->book, task);
	task_free(task);
	for (int i = 1; i <= WEEK_TURNS; i++) {
		cleanup_free char *text =
		    xasprintf("{\"iteration\":%d,\"words\":\"%0900d\"}", i, 0);
		cleanup_json struct json_object *turn =
		    json_tokener_parse(text);

		book_put_turn(b->book, id, i, turn);
	}
	for (int i = 0; i < WEEK_SPANS; i++) {
		struct work_span span = { .worker = worker,
			.task = id,
			.from_ms = ended_ms - HOUR_MS / 3 + i * 100,
			.to_ms = ended_ms - HOUR_MS / 3 + i * 100 + 90 };

		book_file_span(b->book, &span);
	}
	for (int i = 0; i < WEEK_EVENTS; i++)
		add_event(b, n);
}

/* With the patrols that prune it: every 30 seconds. */
static void
bench_week(struct bench *b, const char *path)
{
	cleanup_free char *file = xasprintf("%s-week.db", path);
	int64_t began = clock_mono_us(), now = clock_wall_ms();
	const int64_t from = now - 7 * 24 * HOUR_MS;
	const size_t tasks = (size_t)FLEET * WEEK_TASKS;
	cleanup_free char *size = NULL, *words = NULL;
	struct err err = { 0 };
	struct stat st;

	bench_must(book_open(file, &b->book, &err), file, &err);
	bench_must(book_history_open(b->book, &err), "history", &err);
	for (size_t i = 0; i < tasks; i++) {
		int64_t at =
		    from + 7 * 24 * HOUR_MS / (int64_t)tasks * (int64_t)i;

		week_task(b, i, at);
		if (i % 20 == 0 &&
		    !book_history_prune(b->book,
			&(struct book_limits){ at, at - 365 * 24 * HOUR_MS,
			    ENDED, BOOK_BYTES_MAX }))
			book_shrink(b->book);
		if (i % 20 == 0)
			commit(b);
	}
	commit(b);
	book_close(b->book);
	bench_must(stat(file, &st), file, &err);
	size = xasprintf("%.0f MB", (double)st.st_size / 1e6);
	words = xasprintf("at most %d MB; written in %.0f s, %zu tasks",
	    WEEK_MB, (double)(clock_mono_us() - began) / 1e6, tasks);
	table_row(
	    b->table, (const char *[]){ "a week of 100 workers", size, words });
	book_files_remove(file);
}

int
main(int argc, char **argv)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "TIME", .right = true }, { .title = "RESULT" } };
	const char *dir = argc > 1 ? argv[1] : getenv("TMPDIR");
	cleanup_free char *path = xasprintf(
	    "%s/bench-book-%d.db", dir != NULL ? dir : "/tmp", (int)getpid());
	struct bench b = { .from_ms = clock_wall_ms() - HOUR_MS * 24 * 30 };
	struct err err = { 0 };

	bench_must(book_open(path, &b.book, &err), path, &err);
	b.table = table_new(columns, 3);
	fill(&b);
	fill_history(&b);
	book_close(b.book);
	bench_all(&b, path);
	bench_must(book_history_open(b.book, &err), path, &err);
	bench_state_write(&b);
	bench_history(&b);
	book_close(b.book);
	bench_week(&b, path);
	book_files_remove(path);
	bench_print(b.table);
	return 0;
}
