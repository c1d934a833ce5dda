/* SPDX-License-Identifier: ISC */

/*
 * What looking at a workspace costs, compared with the targets: bench-show
 * BUILD. The floors of a daemon in this process, which does not work: 100
 * workers, 1,000 tasks, 200 that have ended.
 */
#include "base.h"

#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "book-history.h"
#include "book.h"
#include "child.h"
#include "core.h"
#include "emit.h"
#include "show.h"
#include "autod-private.h"
#include "loop.h"
#include "persist.h"
#include "table.h"
#include "task.h"
#include "top.h"
#include "view.h"
#include "worker.h"
#include "workspace.h"

#define WORKERS 100
#define TASKS   1000
#define ENDED   200
#define ROUNDS  200

#define TARGET_VIEW_MS    10 /* a pass of the loop */
#define TARGET_FIRST_MS   20
#define TARGET_EVENT_MS   100
#define TARGET_WAKES      0
#define TARGET_METRICS_MS 5
#define TARGET_FRAME_MS   16
#define TARGET_PAGE_KB    60
#define TARGET_CHARTS_MS  200
#define CHARTS            9
#define SPANS             120 /* of a worker in a day: a task in an hour or less */

static struct loop *loop;
static struct floors floors;
static struct table *table;

static double
read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double
now_us(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Of the processor: others may use it meanwhile. */
static double
used_us(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Of the processor, by children that have ended. */
static double
children_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* median < 0: none. */
static void
add_row(const char *what, double target, const char *unit, double median,
    double worst)
{
	cleanup_free char *wanted = xasprintf("<= %.0f %s", target, unit);
	cleanup_free char *usual =
	    median < 0 ? xstrdup("") : xasprintf("%.2f %s", median, unit);
	cleanup_free char *most = xasprintf("%.2f %s", worst, unit);

	table_row(table,
	    (const char *[]){ what, wanted, usual, most,
		worst <= target ? "reached" : "missed" });
}

static void
add_times(const char *what, double target_ms, double *times)
{
	bench_sort(times, ROUNDS);
	add_row(what, target_ms, "ms", times[ROUNDS / 2] / 1000,
	    times[ROUNDS * 99 / 100] / 1000);
}

/* --- the daemon ------------------------------------------------------ */

static struct task *
make_task(int n)
{
	cleanup_free char *id = xasprintf("t%d", n);
	struct task *task = task_new(id, "folder", id,
	    "Refuse passwords with spaces in the login form", "text",
	    (int64_t)1769853600 * 1000 + n);

	xstrset(&task->last_words,
	    "The form no longer trims spaces. Tests of the web service were "
	    "extended, and the session store reads its expiry in seconds.");
	usage_add(&task->spent.usage, "claude-x", USAGE_OUTPUT, n);
	task->spent.cost = n;
	return task;
}

static void
fill_state(struct state *state)
{
	for (int i = 1; i <= TASKS; i++) {
		struct task *task = make_task(i);

		task->step = i <= WORKERS ? TASK_ASSIGNED : TASK_WAITING;
		state_add_task(state, task);
	}
	for (int i = 1; i <= WORKERS; i++) {
		cleanup_free char *name = xasprintf("auto-%d", i);
		struct worker *w = worker_new(name, i);

		w->status = WORKER_WORKING;
		w->task = xasprintf("t%d", i);
		state_add(state, w);
	}
}

static void
file_ended(void)
{
	struct err err = { 0 };

	for (int i = 0; i < ENDED; i++) {
		struct task *task = make_task(TASKS + 1 + i);

		task->step = TASK_SETTLING;
		task->outcome = OUTCOME_LANDED;
		task->finished_ms = task->created_ms + 60000;
		book_file_task(floors.core->book, task);
		task_free(task);
	}
	bench_must(book_commit(floors.core->book, &err), "the book", &err);
}

static void
begin(const char *build, const char *repo, struct workspace *workspace)
{
	static const struct core_options options = { 0 };
	cleanup_free char *llmc = xasprintf("%s/src/cli/llmc", build);
	cleanup_free char *path =
	    xasprintf("%s/src/cli:%s", build, getenv("PATH"));
	struct err err = { 0 };

	setenv("PATH", path, 1);
	setenv("HOME", repo, 1);
	setenv("TMUX_TMPDIR", repo, 1);
	bench_run(NULL,
	    (const char *[]){ "git", "init", "-q", "-b", "main", repo, NULL });
	bench_run(repo,
	    (const char *[]){ "git", "-c", "user.name=b", "-c", "user.email=b",
		"commit", "-q", "--allow-empty", "-m", "first", NULL });
	bench_run(repo, (const char *[]){ llmc, "init", NULL });
	bench_must(workspace_at(repo, workspace, &err), repo, &err);
	bench_must(floors_build(&floors, loop, workspace, &options, &err),
	    "autod", &err);
	file_ended();
	fill_state(&floors.core->state);
}

/* --- the view -------------------------------------------------------- */

static void
measure_view(void)
{
	cleanup_json struct json_object *before =
	    show_snapshot(floors.show, NULL);
	double times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct json_object *now, *change;
		double start;

		floors.core->state.tasks[i]->turns++;
		start = used_us();
		now = show_snapshot(floors.show, NULL);
		change = view_diff(before, now);
		json_object_put(before);
		before = now;
		times[i] = used_us() - start;
		json_object_put(change);
	}
	add_times("view of 100 workers, 1,200 tasks, and its change",
	    TARGET_VIEW_MS, times);
}

/* While nobody follows, nothing is kept for long for the next one. */
static void
measure_first(void)
{
	double times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start;

		show_stream_patrol(floors.show->stream);
		start = used_us();
		json_object_put(show_snapshot(floors.show, NULL));
		times[i] = used_us() - start;
	}
	add_times("the first view", TARGET_FIRST_MS, times);
}

/* --- those who follow ------------------------------------------------ */

static double *came; /* when the last change came */

static int
on_body(const char *what, struct json_object *body, void *arg)
{
	(void)arg;
	if (body != NULL && strcmp(what, "change") == 0 && came != NULL) {
		*came = now_us();
		loop_stop(loop, 0);
	}
	return 0;
}

static void
on_time(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

static void
pass_time(int64_t ms)
{
	struct loop_timer *timer = loop_after(loop, ms, on_time, NULL);

	loop_run(loop);
	loop_timer_free(timer);
}

#define EVENTS  20
#define TURNS   9
#define IDLE_MS 5000

static void
measure_events(void)
{
	struct show_follower *f =
	    show_stream_follow(floors.show->stream, on_body, NULL);
	double times[EVENTS], worst = 0;

	pass_time((int64_t)4 * SHOW_PAUSE_MS);
	for (int i = 0; i < EVENTS; i++) {
		double at = 0, start = now_us();

		came = &at;
		floors.core->state.tasks[i]->turns++;
		persist_note(floors.core);
		loop_run(loop);
		came = NULL;
		times[i] = (at - start) / 1000;
		if (times[i] > worst)
			worst = times[i];
	}
	show_stream_leave(f);
	bench_sort(times, EVENTS);
	add_row("a change until somebody who follows has it", TARGET_EVENT_MS,
	    "ms", times[EVENTS / 2], worst);
}

/* How often the loop wakes up in the time after some events. */
static double
count_wakes(void)
{
	double times[TURNS];

	for (int i = 0; i < TURNS; i++) {
		uint64_t before;

		for (int n = 0; n < EVENTS; n++)
			emit(floors.core,
			    &(struct event){
				.kind = EVENT_TASK_RETRY, .task = "t1" });
		persist_note(floors.core);
		before = loop_passes(loop);
		pass_time((int64_t)4 * SHOW_PAUSE_MS);
		times[i] = (double)(loop_passes(loop) - before);
	}
	/* A timer of somebody else falls into a few of them. */
	bench_sort(times, TURNS);
	return times[TURNS / 2];
}

/* What a page adds that is open while nothing happens, beyond its beat. */
static void
measure_idle_page(void)
{
	uint64_t before = loop_passes(loop), without;
	struct show_follower *f;

	pass_time(IDLE_MS);
	without = loop_passes(loop) - before;
	f = show_stream_follow(floors.show->stream, on_body, NULL);
	pass_time((int64_t)4 * SHOW_PAUSE_MS);
	before = loop_passes(loop);
	pass_time(IDLE_MS);
	before = loop_passes(loop) - before;
	show_stream_leave(f);
	add_row("wake-ups of autod by an idle page in 5 s", TARGET_WAKES,
	    "more", -1, before > without ? (double)(before - without) : 0);
}

/* What the floor adds while nobody looks: ends it. */
static void
measure_wakes(void)
{
	double with = count_wakes(), without;

	show_floor_free(take_ptr(&floors.show));
	without = count_wakes();
	add_row("wake-ups of autod while nobody looks", TARGET_WAKES, "more",
	    -1, with > without ? with - without : 0);
}

/* --- those who draw -------------------------------------------------- */

static void
measure_metrics(void)
{
	double times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		cleanup_buf struct buf text = BUF_INIT;
		double start = used_us();

		show_metrics_text(floors.show, &text);
		times[i] = used_us() - start;
	}
	add_times("text of metrics", TARGET_METRICS_MS, times);
}

static void
measure_frames(void)
{
	cleanup_json struct json_object *view =
	    view_complete(show_snapshot(floors.show, NULL));
	struct grid *before = grid_new(50, 160), *after = grid_new(50, 160);
	struct top_facts facts = { .live = true };
	struct top_ui ui;
	double times[ROUNDS];

	top_ui_init(&ui);
	for (int i = 0; i < ROUNDS; i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct grid *swap = before;
		double start = used_us();

		facts.now_ms = (int64_t)1769853600 * 1000 + i * 1000;
		top_frame(view, &ui, &facts, after);
		grid_draw(before, after, GRID_COLOURS_TRUE, &bytes);
		times[i] = used_us() - start;
		before = after;
		after = swap;
	}
	top_ui_release(&ui);
	grid_free(before);
	grid_free(after);
	add_times("frame of llmc top, 160x50", TARGET_FRAME_MS, times);
}

/* What charts.get has a child do: of 100 workers in 24 hours. */
static void
measure_charts(const char *build, const char *repo)
{
	cleanup_free char *autod = xasprintf("%s/src/autod/autod", build);
	const char *const argv[] = { autod, "--root", repo, "--look", "charts",
		NULL };
	int64_t now = clock_wall_ms(), step = (int64_t)24 * 3600000 / SPANS;
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *view = show_snapshot(floors.show, NULL);
	struct json_object_iter it;
	cleanup_buf struct buf input = BUF_INIT;
	double times[CHARTS];
	struct err err = { 0 };

	for (int i = 0; i < WORKERS * SPANS; i++) {
		struct work_span span = {
			.worker = xasprintf("auto-%d", i / SPANS + 1),
			.use = (enum work_use)(i % WORK_USE_COUNT),
			.task = xasprintf("t%d", i / 4),
			.attempt = 1,
			.from_ms = now - (SPANS - i % SPANS) * step,
			.to_ms = now - (SPANS - i % SPANS - 1) * step,
		};

		book_file_span(floors.core->book, &span);
		work_span_release(&span);
	}
	for (int i = 0; i < WORKERS * SPANS / 4; i++) {
		struct task *task = make_task(i);

		task->outcome = OUTCOME_LANDED;
		task->finished_ms = now - i * 1000;
		book_file_task(floors.core->book, task);
		task_free(task);
	}
	bench_must(book_commit(floors.core->book, &err), "commit", &err);
	json_set_int(params, "now_ms", now);
	json_set_int(params, "since_ms", now - SPANS * step);
	json_set(params, "view", view);
	/* These workers have no agents, whose time the view would have. */
	json_object_object_foreachC(json_object_object_get(view, "workers"), it)
	    show_spans_fill(floors.show->spans, it.key, it.val);
	json_print(params, false, &input);
	for (int i = 0; i < CHARTS; i++) {
		const struct child_spec spec = { .argv = argv,
			.input = input.data,
			.input_len = input.len,
			.output_max = (size_t)8 * 1024 * 1024 };
		cleanup_child_result struct child_result result;
		double start = children_us();

		child_result_init(&result);
		bench_must(child_run(&spec, &result, &err), "charts", &err);
		bench_must(child_succeeded(&result) ? 0 : -EIO, "charts", &err);
		times[i] = (children_us() - start) / 1000;
	}
	bench_sort(times, CHARTS);
	add_row("charts of 100 workers in 24 hours, 12,000 spans",
	    TARGET_CHARTS_MS, "ms", times[CHARTS / 2], times[CHARTS - 1]);
}

static void
measure_page(void)
{
	struct child_spec spec = { .shell =
				       "cd '" LLMC_SOURCE
				       "/src/autod/show/page' && cat *.html "
				       "*.css *.js | gzip -9 | wc -c" };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	bench_must(child_run(&spec, &result, &err), "gzip", &err);
	child_output_text(&result.out, &text);
	add_row("the page, gzipped", TARGET_PAGE_KB, "KB", -1,
	    strtod(text.data, NULL) / 1024);
}

int
main(int argc, char **argv)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "TARGET", .right = true },
		{ .title = "MEDIAN", .right = true },
		{ .title = "P99", .right = true }, { .title = "" } };
	char dir[] = "/tmp/bench-show-XXXXXX";
	cleanup_free char *build = realpath(argc > 1 ? argv[1] : ".", NULL);
	struct workspace workspace;

	bench_must(build == NULL || mkdtemp(dir) == NULL ? -1 : 0, "mkdtemp",
	    &(struct err){ 0 });
	loop = loop_new();
	begin(build, dir, &workspace);
	table = table_new(columns, (int)nitems(columns));
	measure_view();
	measure_first();
	measure_events();
	measure_metrics();
	measure_frames();
	measure_page();
	measure_charts(build, dir);
	measure_idle_page();
	measure_wakes();
	bench_print(table);
	floors_free(&floors);
	workspace_release(&workspace);
	loop_free(loop);
	remove_tree(dir);
	return 0;
}
