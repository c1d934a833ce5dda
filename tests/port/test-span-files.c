/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "counters.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "span-files.h"
#include "state.h"
#include "unit.h"
#include "work-span.h"
#include "worker.h"
#include "workspace.h"

#define HOUR ((int64_t)3600 * 1000)
#define DAY  (24 * HOUR)
/* 2026-01-31 10:00 UTC */
#define NOW (INT64_C(1769853600) * 1000)

static struct workspace workspace;

static void
begin(void)
{
	cleanup_free char *dir = xasprintf("%s/.llmc", unit_scratch());

	workspace = (struct workspace){ 0 };
	workspace.root = xstrdup(unit_scratch());
	workspace.dir = xstrdup(dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}

static void
end(void)
{
	workspace_release(&workspace);
}

static void
add(const char *worker, int64_t from_ms, int64_t to_ms)
{
	struct work_span span = { .worker = xstrdup(worker),
		.use = WORK_IDLE,
		.from_ms = from_ms,
		.to_ms = to_ms };

	ck_assert_int_eq(span_files_add(&workspace, &span, NULL), 0);
	work_span_release(&span);
}

static void
note(const struct work_span *span, void *arg)
{
	buf_addf(arg, "%s %s %s %d; ", span->worker, work_use_words[span->use],
	    span->task != NULL ? span->task : "-",
	    (int)((span->to_ms - span->from_ms) / 1000));
}

static void
expect(int64_t since_ms, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	span_files_read(&workspace, since_ms, NOW, note, &text);
	ck_assert_str_eq(text.data, want);
}

static char *
path_of(const char *name)
{
	cleanup_free char *below = xasprintf("spans/%s", name);

	return workspace_path(&workspace, below);
}

static bool
exists(const char *name)
{
	cleanup_free char *file = path_of(name);

	return file_exists(file);
}

/* --- files ----------------------------------------------------------- */

START_TEST(there_is_a_file_for_each_day)
{
	begin();
	expect(0, "");
	add("a", NOW - 2 * DAY - 5000, NOW - 2 * DAY);
	add("b", NOW - DAY - 4000, NOW - DAY);
	add("c", NOW - 3000, NOW);
	ck_assert(exists("2026-01-29.jsonl"));
	ck_assert(exists("2026-01-31.jsonl"));
	expect(0, "a idle - 5; b idle - 4; c idle - 3; ");
	/* From the end of a span on, which may be in the middle of a day. */
	expect(NOW - DAY, "b idle - 4; c idle - 3; ");
	expect(NOW - DAY + 1, "c idle - 3; ");
	expect(NOW + 1, "");
	end();
}
END_TEST

START_TEST(spans_that_overlap_are_all_given)
{
	begin();
	add("a", NOW - 9000, NOW - 1000);
	add("a", NOW - 5000, NOW - 500);
	expect(NOW - 10000, "a idle - 8; a idle - 4; ");
	end();
}
END_TEST

START_TEST(one_over_midnight_is_in_the_file_of_its_end)
{
	begin();
	add("a", NOW - 20 * HOUR, NOW - HOUR);
	ck_assert(!exists("2026-01-30.jsonl"));
	expect(NOW - 2 * HOUR, "a idle - 68400; ");
	end();
}
END_TEST

START_TEST(lines_that_are_no_spans_are_passed_over)
{
	cleanup_free char *file = NULL;
	FILE *f;

	begin();
	add("a", NOW - 2000, NOW - 1000);
	file = path_of("2026-01-31.jsonl");
	f = fopen(file, "ae");
	ck_assert_ptr_nonnull(f);
	fputs("garbage\n[]\n{}\n{\"worker\": 1}\n{\"worker\": \"a\", ", f);
	ck_assert_int_eq(fclose(f), 0);
	add("b", NOW - 1000, NOW);
	expect(0, "a idle - 1; b idle - 1; ");
	end();
}
END_TEST

START_TEST(old_files_are_removed_and_foreign_ones_kept)
{
	cleanup_free char *foreign = NULL, *similar = NULL;

	begin();
	span_files_tidy(&workspace, NOW); /* there is nothing */
	add("a", NOW - 40 * DAY, NOW - 40 * DAY + 1);
	add("b", NOW - SPAN_KEEP_DAYS * DAY, NOW - SPAN_KEEP_DAYS * DAY + 1);
	add("c", NOW - 1, NOW);
	foreign = path_of("notes.txt");
	similar = path_of("2020-99-01.jsonl");
	ck_assert_int_eq(file_replace(foreign, "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(file_replace(similar, "x", 1, 0600, NULL), 0);
	span_files_tidy(&workspace, NOW);
	ck_assert(!exists("2025-12-22.jsonl"));
	ck_assert(exists("2025-12-31.jsonl"));
	ck_assert(exists("2026-01-31.jsonl"));
	ck_assert(exists("notes.txt"));
	ck_assert(exists("2020-99-01.jsonl"));
	end();
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_an_error)
{
	cleanup_free char *dir = NULL;
	struct work_span span = { .worker = NULL };

	begin();
	dir = workspace_path(&workspace, "spans");
	ck_assert_int_eq(file_replace(dir, "x", 1, 0600, NULL), 0);
	ck_assert_int_lt(span_files_add(&workspace, &span, NULL), 0);
	end();
}
END_TEST

/* --- those that go on ------------------------------------------------ */

static void
write_document(const char *name, const char *key, int64_t value)
{
	cleanup_free char *file = workspace_path(&workspace, name);
	cleanup_free char *text =
	    xasprintf("{\"%s\": %lld}", key, (long long)value);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

static void
expect_open(const struct state *state, bool alive, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	span_files_open(&workspace, state, alive, NOW, note, &text);
	ck_assert_str_eq(text.data, want);
}

/* The story: it was idle, then a task waited, then the daemon was killed. */
START_TEST(what_was_split_off_is_not_counted_again)
{
	struct state state;

	begin();
	state_init(&state);
	state_add(&state, worker_new("auto-1", NOW - 60000));
	state_add(&state, worker_new("auto-2", NOW - 50000));
	state.workers[0]->status = WORKER_IDLE;
	state.workers[1]->status = WORKER_IDLE;
	write_document("daemon.json", "start_time_unix", NOW / 1000 - 100);
	write_document("auto.heartbeat", "timestamp_unix", NOW / 1000 - 10);
	add("auto-1", NOW - 60000, NOW - 40000);
	add("auto-3", NOW - 60000, NOW - 5000);
	expect_open(&state, false, "auto-1 idle - 30; auto-2 idle - 40; ");
	expect_open(&state, true, "auto-1 idle - 40; auto-2 idle - 50; ");
	/* It was starting, and then works: one span. */
	state.workers[0]->since_ms = NOW - 20000;
	expect_open(&state, false, "auto-1 idle - 30; auto-2 idle - 40; ");
	state_release(&state);
	end();
}
END_TEST

START_TEST(what_was_written_and_not_counted_is_given)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct state state;

	begin();
	state_init(&state);
	add("auto-1", NOW - 60000, NOW - 40000);
	/* A state that never counted time, and one that was saved between. */
	span_files_uncounted(&workspace, &state, NOW, note, &text);
	ck_assert_str_eq(text.data, "");
	counters_work(&state.counters, "idle", 20000, NOW - 40000);
	add("auto-1", NOW - 40000, NOW - 35000);
	span_files_uncounted(&workspace, &state, NOW, note, &text);
	ck_assert_str_eq(text.data, "auto-1 idle - 5; ");
	state_release(&state);
	end();
}
END_TEST

START_TEST(what_goes_on_ends_now_or_when_the_daemon_was_last_alive)
{
	struct state state;
	struct worker *w = worker_new("auto-1", NOW - 60000);

	begin();
	state_init(&state);
	w->status = WORKER_WORKING;
	xstrset(&w->task, "t1");
	state_add(&state, w);
	/* Without a daemon ever, nothing goes on. */
	expect_open(&state, true, "");
	write_document("daemon.json", "start_time_unix", NOW / 1000 - 30);
	/* Before it began, no daemon ran. */
	expect_open(&state, true, "auto-1 working t1 30; ");
	expect_open(&state, false, "");
	write_document("auto.heartbeat", "timestamp_unix", NOW / 1000 - 10);
	expect_open(&state, false, "auto-1 working t1 20; ");
	w->since_ms = NOW - 15000;
	expect_open(&state, false, "auto-1 working t1 5; ");
	state_release(&state);
	end();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("span-files");

	unit_case(suite, "files",
	    (const TTest *const[]){ there_is_a_file_for_each_day,
		spans_that_overlap_are_all_given,
		one_over_midnight_is_in_the_file_of_its_end,
		lines_that_are_no_spans_are_passed_over,
		old_files_are_removed_and_foreign_ones_kept,
		a_folder_that_cannot_be_made_is_an_error, NULL });
	unit_case(suite, "going on",
	    (const TTest *const[]){ what_was_split_off_is_not_counted_again,
		what_was_written_and_not_counted_is_given,
		what_goes_on_ends_now_or_when_the_daemon_was_last_alive,
		NULL });
	return suite;
}
