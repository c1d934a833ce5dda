/* SPDX-License-Identifier: ISC */

/*
 * How fast the store of goals is with a million events, as a table:
 *
 *   bench-store [DIR]
 *
 * DIR is where the store is made, on the disk to measure; TMPDIR otherwise.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "store-aside.h"
#include "store-build.h"
#include "store.h"
#include "table.h"

#define EVENTS      1000000
#define GOALS       100
#define WORKERS     10
#define ASSIGNMENTS 20000
#define NODES       10000 /* of the goal that is loaded */
#define APPENDS     50000
#define IN_FLIGHT   500
#define SINGLES     200

struct bench {
	struct loop *loop;
	struct store *store;
	struct table *table;
	char *path;
	size_t waiting; /* answers */
	size_t sent;
	size_t got; /* records and events */
};

struct names {
	char goal[24], assignment[24], node[24], worker[24], task[24];
};

static struct store_event
make_event(size_t n, struct names *names)
{
	snprintf(names->goal, sizeof names->goal, "goal_%zu", n % GOALS);
	snprintf(names->assignment, sizeof names->assignment, "A_%zu",
	    n % ASSIGNMENTS);
	snprintf(names->node, sizeof names->node, "T%zu", n % NODES);
	snprintf(names->worker, sizeof names->worker, "auto-%zu", n % WORKERS);
	snprintf(names->task, sizeof names->task, "01J%zu", n % ASSIGNMENTS);
	return (struct store_event){
		.ts_ms = INT64_C(1700000000000) + (int64_t)n * 100,
		.type = "assignment.updated",
		.goal_id = names->goal,
		.assignment_id = names->assignment,
		.node_id = names->node,
		.worker = names->worker,
		.task = names->task,
		.data = "{\"status\":\"in_progress\",\"summary\":"
			"\"the parser reads numbers now\",\"retry\":0}",
	};
}

static void
fill(struct bench *b)
{
	struct store_build *build = NULL;
	struct err err = { 0 };
	struct names names;

	bench_must(store_build_begin(b->path, &build, &err), b->path, &err);
	for (size_t i = 0; i < NODES; i++) {
		cleanup_free char *id = xasprintf("T%zu", i);
		struct store_change node = { STORE_NODE, "goal_0", id,
			"{\"status\":\"todo\",\"name\":\"Read numbers\","
			"\"objective\":\"The parser reads all numbers\","
			"\"acceptanceCriteria\":[\"the tests pass\"]}" };

		bench_must(
		    store_build_record(build, &node, &err), "node", &err);
	}
	bench_must(store_build_record(build,
		       &(struct store_change){ STORE_GOAL, NULL, "goal_0",
			   "{\"status\":\"active\"}" },
		       &err),
	    "goal", &err);
	for (size_t i = 0; i < EVENTS; i++) {
		struct store_event event = make_event(i, &names);

		bench_must(store_build_event(build, &event, NULL, &err),
		    "event", &err);
	}
	bench_must(store_build_finish(build, &err), b->path, &err);
}

static void
on_done(const struct err *err, void *arg)
{
	struct bench *b = arg;

	if (err != NULL)
		bench_must(err->code, "the store", err);
	if (--b->waiting == 0)
		loop_stop(b->loop, 0);
}

static void
on_part(const struct store_part *part, void *arg)
{
	struct bench *b = arg;

	b->got += part->record_count + part->event_count;
	if (part->last)
		on_done(part->err, b);
}

static void
row(struct bench *b, const char *name, double us, const char *result)
{
	cleanup_free char *time = bench_time(us, false);
	cleanup_free char *lag =
	    xasprintf("%lld ms", (long long)loop_lag_ms(b->loop));

	table_row(b->table, (const char *[]){ name, time, lag, result });
	loop_lag_reset(b->loop);
}

static int64_t
wait_all(struct bench *b, int64_t began)
{
	loop_run(b->loop);
	return clock_mono_us() - began;
}

static void
open_store(struct bench *b)
{
	int64_t began = clock_mono_us();

	b->waiting = 1;
	b->store = store_new(b->loop, b->path, on_done, b);
	row(b, "open", (double)wait_all(b, began), "at most 10 ms");
}

static void
query(struct bench *b, const char *name, struct store_filter filter,
    const char *want)
{
	int64_t began = clock_mono_us(), took;
	cleanup_free char *result = NULL;

	b->waiting = 1;
	b->got = 0;
	store_query_events(b->store, &filter, on_part, b);
	took = wait_all(b, began);
	result = xasprintf("%zu events%s", b->got, want);
	row(b, name, (double)took, result);
}

static void
load(struct bench *b)
{
	int64_t began = clock_mono_us(), took;
	cleanup_free char *result = NULL;

	b->waiting = 1;
	b->got = 0;
	store_load(b->store, on_part, b);
	took = wait_all(b, began);
	result = xasprintf("%zu records", b->got);
	row(b, "load", (double)took, result);
}

static void on_appended(const struct err *err, void *arg);

static void
append_one(struct bench *b)
{
	struct names names;
	struct store_event event = make_event(EVENTS + b->sent++, &names);

	store_commit(b->store, NULL, 0, &event, 1, on_appended, b);
}

static void
on_appended(const struct err *err, void *arg)
{
	struct bench *b = arg;

	if (b->sent < APPENDS)
		append_one(b);
	on_done(err, b);
}

/* Many wait at once, as those of a busy pass of the loop do. */
static void
append(struct bench *b)
{
	int64_t began = clock_mono_us(), took;
	cleanup_free char *result = NULL;

	b->waiting = APPENDS;
	while (b->sent < IN_FLIGHT)
		append_one(b);
	took = wait_all(b, began);
	result = xasprintf(
	    "%.0f/s durable, at least 5000", APPENDS * 1e6 / (double)took);
	row(b, "append, each a commit", (double)took / APPENDS, result);
}

static void
append_singly(struct bench *b)
{
	int64_t began = clock_mono_us();
	struct names names;

	for (size_t i = 0; i < SINGLES; i++) {
		struct store_event event = make_event(i, &names);

		b->waiting = 1;
		store_commit(b->store, NULL, 0, &event, 1, on_done, b);
		loop_run(b->loop);
	}
	row(b, "commit and wait", (double)(clock_mono_us() - began) / SINGLES,
	    "one fsync each");
}

static void
bench_all(struct bench *b)
{
	open_store(b);
	query(b, "why ASSIGNMENT",
	    (struct store_filter){ .assignment_id = "A_77" },
	    ", at most 100 ms");
	query(b, "why TASK", (struct store_filter){ .task = "01J77" },
	    ", at most 100 ms");
	query(b, "why WORKER, the last 1000",
	    (struct store_filter){
		.worker = "auto-7", .limit = 1000, .newest_first = true },
	    ", at most 100 ms");
	query(b, "events of a goal",
	    (struct store_filter){ .goal_id = "goal_7" }, "");
	query(b, "events --since, of a worker",
	    (struct store_filter){ .since_ms = INT64_C(1700000000000) +
		    (EVENTS - 10000) * INT64_C(100),
		.worker = "auto-7" },
	    "");
	load(b);
	append(b);
	append_singly(b);
}

int
main(int argc, char **argv)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "TIME", .right = true },
		{ .title = "LOOP LAG", .right = true }, { .title = "RESULT" } };
	const char *dir = argc > 1 ? argv[1] : getenv("TMPDIR");
	cleanup_buf struct buf out = BUF_INIT;
	struct bench b = { 0 };

	b.path = xasprintf(
	    "%s/bench-store-%d.db", dir != NULL ? dir : "/tmp", (int)getpid());
	b.loop = loop_new();
	b.table = table_new(columns, 4);
	fill(&b);
	bench_all(&b);
	store_free(b.store);
	store_files_remove(b.path);
	table_print(b.table, 0, false, &out);
	fputs(out.data, stdout);
	table_free(b.table);
	loop_free(b.loop);
	free(b.path);
	return 0;
}
