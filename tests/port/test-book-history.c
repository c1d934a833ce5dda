/* SPDX-License-Identifier: ISC */

/* What has ended, in the book: attempts (the vectors), tasks, runs, spans. */
#include "unit.h"
#include "ask.h"
#include "attempt.h"
#include "book-history.h"
#include "book.h"
#include "metrics.h"
#include "moment.h"
#include "report.h"
#include "schema.h"
#include "state.h"
#include "task.h"
#include "version.h"
#include "worker.h"
#include "workspace.h"

static const char base_text[] =
    "{\"runId\":\"%s\",\"agentId\":\"%s\",\"spawnerSessionKey\":\"x\","
    "\"startedAt\":0,\"endedAt\":%lld,\"runtimeMs\":%lld,\"outcome\":\"%s\"}";

static struct scene {
	struct workspace workspace;
	struct book *book;
	struct json_object *root; /* the vectors; NULL = not loaded */
	int runs;
} s;

static void
open_book(void)
{
	cleanup_free char *path = workspace_path(&s.workspace, "llmc.db");
	struct err err = { 0 };

	ck_assert_msg(book_open(path, &s.book, &err) == 0 &&
		book_history_open(s.book, &err) == 0,
	    "%s", err.msg);
}

static void
end(void)
{
	book_close(s.book);
	json_object_put(s.root);
	workspace_release(&s.workspace);
}

static void
begin(const char *name)
{
	memset(&s, 0, sizeof s);
	s.workspace.root = xstrdup(unit_path(name));
	s.workspace.dir = file_join(s.workspace.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(s.workspace.dir, 0700, NULL), 0);
	open_book();
	unit_at_end(end);
}

static struct json_object *
vector(const char *id)
{
	cleanup_free char *path = NULL;
	struct json_object *rows;
	struct err err = { 0 };

	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &s.root, &err) == 0, "%s", err.msg);
	rows = json_object_object_get(
	    json_object_object_get(s.root, "performance"), "vectors");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(json_string_or(row, "id", ""), id) == 0)
			return row;
	}
	ck_abort_msg("no vector %s", id);
	return NULL;
}

/* Noon of a day. */
static int64_t
noon(const char *day)
{
	cleanup_free char *stamp = xasprintf("%sT12:00:00.000Z", day);
	int64_t ms = 0;

	ck_assert(moment_parse(stamp, &ms));
	return ms;
}

/* A run as the vectors describe it. */
static struct json_object *
record_of(struct json_object *run, int64_t ended_ms)
{
	cleanup_free char *id = xasprintf("t%d-1", ++s.runs);
	cleanup_free char *text =
	    xasprintf(base_text, id, json_string_or(run, "agent", "agent"),
		(long long)ended_ms, (long long)json_int_or(run, "ms", 1000),
		json_string_or(run, "outcome", "success"));
	struct json_object *json = NULL, *tokens = json_object_new_object();
	struct json_object *value = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 4096, &json, NULL), 0);
	json_set(tokens, "input",
	    json_object_get(json_object_object_get(run, "in")));
	json_set(tokens, "output",
	    json_object_get(json_object_object_get(run, "out")));
	json_set(json, "tokens", tokens);
	if (json_object_object_get_ex(run, "verified", &value))
		json_set(json, "verificationPassed", json_object_get(value));
	if (json_bool_or(run, "report", false))
		json_set(json, "completionReport", json_object_new_object());
	return json;
}

static void
add(struct json_object *run, int64_t ended_ms)
{
	cleanup_json struct json_object *json = record_of(run, ended_ms);
	struct err err = { 0 };

	ck_assert_msg(
	    book_file_attempt(s.book, json, &err) == 0, "%s", err.msg);
}

static void
count(struct json_object *record, void *arg)
{
	struct perf_record facts;

	ck_assert_int_eq(perf_record_read(record, &facts, NULL), 0);
	perf_stats_add(arg, &facts);
}

static struct perf_stats *
read_all(int64_t since_ms, int64_t now_ms)
{
	struct perf_stats *stats = perf_stats_new(PERF_BY_AGENT);
	struct err err = { 0 };

	ck_assert_msg(book_read_attempts(
			  s.book, since_ms, now_ms, count, stats, &err) == 0,
	    "%s", err.msg);
	return stats;
}

static void
expect_group(const struct perf_group *group, struct json_object *expect)
{
	struct json_object *part = json_object_object_get(expect, "outcomes");

	ck_assert_int_eq(group->runs, json_int_or(expect, "runs", -1));
	ck_assert_int_eq(group->tokens_in, json_int_or(expect, "in", -1));
	ck_assert_int_eq(group->tokens_out, json_int_or(expect, "out", -1));
	ck_assert_int_eq(group->average_ms, json_int_or(expect, "avg_ms", -1));
	for (size_t i = 0; i < PERF_OUTCOME_COUNT; i++)
		ck_assert_int_eq(group->outcomes[i],
		    json_int_or(part, perf_outcome_words[i], -1));
	part = json_object_object_get(expect, "verification");
	ck_assert_int_eq(group->passed, json_int_or(part, "passed", -1));
	ck_assert_int_eq(group->failed, json_int_or(part, "failed", -1));
	ck_assert_int_eq(group->unverified, json_int_or(part, "unknown", -1));
	ck_assert_int_eq(group->reports, json_int_or(expect, "reports", -1));
}

TEST(runs_are_added_up_by_agent)
{
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	cleanup_json struct json_object *json = NULL;
	int64_t now = noon("2026-02-10");

	begin("aggregate");
	row = vector("aggregate");
	rows = json_object_object_get(row, "runs");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(json_object_array_get_idx(rows, i), now - 1000);
	stats = read_all(0, now);
	expect = json_object_object_get(row, "expect");
	ck_assert_uint_eq(
	    perf_stats_count(stats), (size_t)json_object_object_length(expect));
	for (size_t i = 0; i < perf_stats_count(stats); i++) {
		struct perf_group group = perf_stats_group(stats, i);
		struct json_object *one =
		    json_object_object_get(expect, group.name);

		expect_group(&group, one);
		ck_assert_int_eq(group.tokens_in + group.tokens_out,
		    json_int_or(one, "total", -1));
	}
	json = perf_stats_to_json(stats);
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(json, 0), "agent", ""),
	    "agent-1");
	perf_stats_free(stats);
}

/* In steps, as a patrol does it. */
static void
prune(int64_t now_ms, int64_t keep_ms, int64_t tasks)
{
	int steps = 0;

	while (book_history_prune(s.book,
	    &(struct book_limits){ now_ms, keep_ms, tasks, BOOK_BYTES_MAX }))
		ck_assert_int_lt(++steps, 1000);
}

TEST(old_attempts_are_removed)
{
	struct json_object *row, *rows, *gone;
	int64_t left = 0;

	begin("retention");
	row = vector("retention");
	rows = json_object_object_get(row, "files");
	gone = json_object_object_get(row, "expect_removed");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(row,
		    noon(json_object_get_string(
			json_object_array_get_idx(rows, i))));
	prune(noon(json_string_or(row, "now", "")), 0, 100);
	ck_assert_int_eq(book_get_int(s.book, "SELECT count(*) FROM attempt a",
			     NULL, 0, &left, NULL),
	    0);
	ck_assert_int_eq(left,
	    (int64_t)(json_object_array_length(rows) -
		json_object_array_length(gone)));
}

TEST(unknown_tokens_count_for_nothing)
{
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	struct perf_group group;
	int64_t now = noon("2026-02-10");

	begin("tokens");
	row = vector("null-tokens");
	rows = json_object_object_get(row, "runs");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(json_object_array_get_idx(rows, i), now);
	stats = read_all(0, now);
	expect = json_object_object_get(row, "expect");
	group = perf_stats_group(stats, 0);
	ck_assert_int_eq(group.tokens_in, json_int_or(expect, "in", -1));
	ck_assert_int_eq(group.tokens_out, json_int_or(expect, "out", -1));
	perf_stats_free(stats);
}

TEST(an_old_record_does_not_count)
{
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	struct perf_group group;

	begin("old");
	row = vector("old-record-in-new-file");
	rows = json_object_object_get(row, "records");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *run = json_object_array_get_idx(rows, i);
		cleanup_json struct json_object *json =
		    record_of(run, noon(json_string_or(run, "ended", "")));

		ck_assert_int_eq(book_file_attempt(s.book, json, NULL), 0);
	}
	stats = read_all(0, noon(json_string_or(row, "now", "")));
	expect = json_object_object_get(row, "expect");
	ck_assert_uint_eq(perf_stats_count(stats), 1);
	group = perf_stats_group(stats, 0);
	ck_assert_int_eq(group.runs, json_int_or(expect, "runs", -1));
	ck_assert_int_eq(group.tokens_in, json_int_or(expect, "in", -1));
	ck_assert_int_eq(group.tokens_out, json_int_or(expect, "out", -1));
	ck_assert_int_eq(
	    group.outcomes[PERF_FAILURE], json_int_or(expect, "failure", -1));
	perf_stats_free(stats);
}

TEST(a_record_that_was_written_is_not_written_again)
{
	cleanup_json struct json_object *none = json_object_new_object();
	cleanup_json struct json_object *one = NULL, *other = NULL;
	struct perf_stats *stats;
	int64_t now = noon("2026-02-10");

	begin("again");
	one = record_of(none, now);
	other = record_of(none, now);
	ck_assert_int_eq(book_file_attempt(s.book, one, NULL), 0);
	ck_assert_int_eq(book_file_attempt(s.book, other, NULL), 0);
	ck_assert_int_eq(book_file_attempt(s.book, one, NULL), 0);
	stats = read_all(0, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 2);
	perf_stats_free(stats);
}

TEST(only_runs_since_then_are_read)
{
	cleanup_json struct json_object *none = json_object_new_object();
	struct perf_stats *stats;
	int64_t now = noon("2026-02-10");

	begin("since");
	add(none, now - 3 * PERF_DAY_MS);
	add(none, now - 1000);
	add(none, now);
	stats = read_all(now - 500, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 1);
	perf_stats_free(stats);
	stats = read_all(0, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 3);
	perf_stats_free(stats);
}

TEST(percentiles_are_times_of_runs)
{
	struct perf_stats *stats = perf_stats_new(PERF_BY_MODEL);
	struct perf_record record = { .run = "t1-1",
		.agent = "a",
		.verified = -1,
		.tokens_in = -1,
		.tokens_out = -1,
		.cost = 0.5,
		.retry_of = "t1-0" };
	struct perf_group group;

	for (int i = 10; i >= 1; i--) {
		record.runtime_ms = i * 1000;
		perf_stats_add(stats, &record);
	}
	record.model = "m";
	perf_stats_add(stats, &record);
	ck_assert_uint_eq(perf_stats_count(stats), 2);
	group = perf_stats_group(stats, 0);
	ck_assert_str_eq(group.name, "");
	ck_assert_int_eq(group.p50_ms, 5000);
	ck_assert_int_eq(group.p90_ms, 9000);
	ck_assert_int_eq(group.average_ms, 5500);
	ck_assert_int_eq(group.retries, 10);
	ck_assert(group.cost == 5.0);
	group = perf_stats_group(stats, 1);
	ck_assert_str_eq(group.name, "m");
	ck_assert_int_eq(group.p50_ms, 1000);
	ck_assert_int_eq(group.p90_ms, 1000);
	perf_stats_free(stats);
}

/* --- tasks --------------------------------------------------------------- */

#define NOW  (INT64_C(1769853600) * 1000)
#define HOUR ((int64_t)3600 * 1000)
#define DAY  (24 * HOUR)

static void
file_task(int number, enum task_outcome outcome)
{
	cleanup_free char *id = xasprintf("t%d", number);
	cleanup_free char *key = xasprintf("k%d", number % 3);
	struct task *task = task_new(id, "folder", key, "T", "text", NOW);

	task->step = TASK_SETTLING;
	task->outcome = outcome;
	task->attempts = 1;
	task->finished_ms = NOW + number;
	task->spent.cost = number;
	xstrset(&task->last_words, "Done.");
	task_note(task, "assigned", NULL, NOW);
	if (outcome == OUTCOME_LANDED)
		task->commit = xasprintf("c%d", number);
	book_file_task(s.book, task);
	task_free(task);
}

static bool
note_task(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	buf_addf(arg, "%s %s; ", task->id, task_outcome_name(task->outcome));
	return true;
}

static void
expect_tasks(const struct book_tasks *which, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(
	    book_each_task(s.book, which, note_task, &text, NULL), 0);
	ck_assert_str_eq(text.data, want);
}

TEST(an_ended_task_is_found_by_all_its_names)
{
	struct task *task;

	begin("find");
	for (int i = 1; i <= 5; i++)
		file_task(i, OUTCOME_LANDED);
	task = book_find_task(s.book, "t2");
	ck_assert_str_eq(task->text, "text");
	ck_assert_str_eq(task->last_words, "Done.");
	ck_assert_uint_eq(json_object_array_length(task->history), 1);
	task_free(task);
	/* The newest of those with the name. */
	task = book_find_task_key(s.book, "folder", "k2");
	ck_assert_str_eq(task->id, "t5");
	task_free(task);
	ck_assert_ptr_null(book_find_task_key(s.book, "files", "k2"));
	task = book_find_task_commit(s.book, "c3");
	ck_assert_str_eq(task->id, "t3");
	task_free(task);
	ck_assert_ptr_null(book_find_task(s.book, "t9"));
	expect_tasks(
	    &(struct book_tasks){ .name = "k2" }, "t5 landed; t2 landed; ");
	expect_tasks(&(struct book_tasks){ .name = "t1" }, "t1 landed; ");
}

/* Its cost was corrected, say: it is there once, as the newest. */
TEST(a_record_that_is_corrected_counts_once_and_last)
{
	begin("corrected");
	for (int i = 1; i <= 3; i++)
		file_task(i, OUTCOME_FAILED);
	file_task(1, OUTCOME_LANDED);
	expect_tasks(&(struct book_tasks){ .oldest_first = true },
	    "t2 failed; t3 failed; t1 landed; ");
	expect_tasks(
	    &(struct book_tasks){ .limit = 2 }, "t1 landed; t3 failed; ");
	expect_tasks(&(struct book_tasks){ .after = 3 }, "t1 landed; ");
	/* Of the two newest only. */
	expect_tasks(
	    &(struct book_tasks){ .limit = 2, .failed = true, .brief = true },
	    "t3 failed; ");
}

TEST(of_too_many_tasks_the_oldest_go)
{
	begin("many");
	for (int i = 1; i <= 250; i++)
		file_task(i, OUTCOME_LANDED);
	prune(NOW + DAY, 0, 3);
	expect_tasks(&(struct book_tasks){ 0 },
	    "t250 landed; t249 landed; t248 landed; ");
	prune(NOW + DAY, NOW + 250, 3);
	expect_tasks(&(struct book_tasks){ 0 }, "t250 landed; ");
	/* Whoever has seen it finds the next one, whatever is kept. */
	prune(NOW + DAY, NOW + DAY, 3);
	file_task(251, OUTCOME_LANDED);
	expect_tasks(&(struct book_tasks){ .after = 250 }, "t251 landed; ");
}

static int64_t
count_events(void)
{
	int64_t count = -1;

	ck_assert_int_eq(book_get_int(s.book, "SELECT count(*) FROM events e",
			     NULL, 0, &count, NULL),
	    0);
	return count;
}

TEST(of_too_many_events_the_oldest_go)
{
	begin("events");
	for (int i = 1; i <= 100; i++)
		ck_assert_int_eq(
		    book_add_event(s.book,
			&(struct book_event){ .ts_ms = NOW + i, .type = "a" },
			NULL),
		    0);
	prune(NOW + DAY, 0, 3);
	ck_assert_int_eq(count_events(), 60);
	prune(NOW + DAY, NOW + 91, 3);
	ck_assert_int_eq(count_events(), 10);
	prune(NOW + DAY, NOW + DAY, 3);
	ck_assert_int_eq(count_events(), 1);
}

static void
put_body(
    enum book_kind kind, const char *goal, const char *id, const char *body)
{
	struct err err = { 0 };

	ck_assert_msg(book_put_body(s.book, kind, goal, id, body, &err) == 0,
	    "%s", err.msg);
}

static void
expect_rows(const char *table, int64_t want)
{
	cleanup_free char *sql = xasprintf("SELECT count(*) FROM %s", table);
	int64_t count = -1;

	book_commit(s.book, NULL);
	book_get_int(s.book, sql, NULL, 0, &count, NULL);
	ck_assert_msg(count == want, "%s: %lld rows, not %lld", table,
	    (long long)count, (long long)want);
}

static void
put_goal(const char *id, const char *status, int64_t ended_ms)
{
	cleanup_free char *goal =
	    xasprintf("{\"status\":\"%s\",\"endedAt\":%lld}", status,
		(long long)ended_ms);
	cleanup_free char *assignment = xasprintf("A_%s", id);
	cleanup_free char *crystal = xasprintf("C_%s", id);

	put_body(BOOK_GOAL, id, id, goal);
	for (int i = 0; i < 60; i++) {
		cleanup_free char *node = xasprintf("T%d", i);

		put_body(BOOK_NODE, id, node,
		    i == 0    ? "{\"status\":\"done\"}" :
			i % 2 ? "{\"status\":\"done\",\"parentId\":\"T0\"}" :
				"{\"status\":\"done\",\"parentId\":\"T1\"}");
	}
	put_body(BOOK_ASSIGNMENT, id, assignment,
	    "{\"status\":\"done\",\"workNodeId\":\"T1\"}");
	put_body(BOOK_CRYSTAL, id, crystal, "{\"summary\":\"x\"}");
}

/* Whenever the daemon ends. */
static void
expect_whole(void)
{
	static const char *const lost[] = {
		"nodes AS n LEFT JOIN goals AS g ON g.id = n.goal_id WHERE g.id "
		"IS NULL",
		"nodes AS n LEFT JOIN nodes AS p ON p.goal_id = n.goal_id AND "
		"p.id = n.parent_id WHERE n.parent_id IS NOT NULL AND p.id IS "
		"NULL",
	};

	for (size_t i = 0; i < nitems(lost); i++)
		expect_rows(lost[i], 0);
}

/* One after the other, with all there is of them; an open one never. */
TEST(old_goals_go_with_their_nodes)
{
	begin("goals");
	put_goal("old", "completed", NOW);
	put_goal("older", "cancelled", NOW - 1);
	put_goal("new", "archived", NOW + 2);
	put_goal("open", "paused", NOW - 5);
	while (book_history_prune(s.book,
	    &(struct book_limits){ NOW + DAY, NOW + 1, 100, BOOK_BYTES_MAX }))
		expect_whole();
	expect_rows("goals", 2);
	expect_rows("nodes", 120);
	expect_rows("nodes WHERE assignment IS NOT NULL", 2);
	expect_rows("crystals", 2);
	/* It ended before all tasks that are kept. */
	for (int i = 10; i < 20; i++)
		file_task(i, OUTCOME_LANDED);
	prune(NOW + DAY, 0, 5);
	expect_rows("goals", 1);
	expect_rows("nodes", 60);
}

TEST(closed_mail_and_questions_go)
{
	static const enum book_kind kinds[] = { BOOK_MAIL, BOOK_REQUEST,
		BOOK_RESERVATION };
	static const char *const tables[] = { "mail", "requests",
		"reservations" };

	begin("team");
	for (size_t i = 0; i < nitems(kinds); i++) {
		put_body(kinds[i], "G", "open",
		    "{\"status\":\"open\",\"ts\":1,\"actor\":\"a\"}");
		for (int j = 0; j < 70; j++) {
			cleanup_free char *id = xasprintf("c%d", j);
			cleanup_free char *body =
			    xasprintf("{\"status\":\"done\",\"ts\":%lld}",
				(long long)(NOW + j));

			put_body(kinds[i], "G", id, body);
		}
	}
	prune(NOW + DAY, NOW + 60, 100);
	for (size_t i = 0; i < nitems(kinds); i++)
		expect_rows(tables[i], 11);
}

/* The newest stays: the next one gets the number after it. */
TEST(old_asks_go)
{
	begin("asks");
	for (int i = 1; i <= 4; i++) {
		struct ask *ask = schema_new(&ask_schema);

		ask->id = xasprintf("a%d", i);
		ask->key = xasprintf("k%d", i);
		ask->nr = i;
		ask->how = i == 2 ? ASK_OPEN : ASK_RESOLVED;
		ask->ended_ms = i == 2 ? 0 : NOW;
		book_put_ask(s.book, ask);
		ask_free(ask);
	}
	prune(NOW + DAY, NOW + 1, 100);
	expect_rows("ask WHERE ask.id IN ('a2', 'a4')", 2);
	expect_rows("ask", 2);
}

/* The oldest day goes, then the next; not the last one. */
TEST(a_book_that_is_too_large_loses_its_oldest_days)
{
	begin("large");
	for (int i = 0; i < 4; i++)
		put_goal((const char *const[]){ "a", "b", "c", "d" }[i],
		    "completed", NOW + i * DAY);
	book_commit(s.book, NULL);
	while (book_history_prune(
	    s.book, &(struct book_limits){ NOW + 3 * DAY + HOUR, 0, 100, 1 }))
		book_commit(s.book, NULL);
	expect_rows("goals", 1);
	expect_rows("nodes", 60);
}

TEST(a_report_has_details_of_the_last_and_sums_of_all)
{
	cleanup_json struct json_object *rows = json_object_new_object();
	struct json_object *row;

	begin("report");
	for (int i = 1; i <= 6; i++)
		file_task(i, i == 2 ? OUTCOME_FAILED : OUTCOME_LANDED);
	ck_assert_int_eq(book_report_tasks(s.book, NOW + 2, 2, rows, NULL), 0);
	ck_assert_int_eq(json_object_object_length(rows), 5);
	/* The last two of those that landed, and of those that did not. */
	row = json_object_object_get(rows, "t6");
	ck_assert_str_eq(json_string_or(row, "last_words", ""), "Done.");
	row = json_object_object_get(rows, "t2");
	ck_assert_str_eq(json_string_or(row, "last_words", ""), "Done.");
	row = json_object_object_get(rows, "t3");
	ck_assert_ptr_null(json_object_object_get(row, "last_words"));
	ck_assert_str_eq(json_string_or(row, "outcome", ""), "landed");
	ck_assert_int_eq(json_int_or(row, "finished_ms", 0), NOW + 3);
	ck_assert_int_eq(json_int_or(row, "cost_micros", -1), 3);
	ck_assert_str_eq(json_string_or(row, "cost_source", ""),
	    json_string_or(
		json_object_object_get(rows, "t6"), "cost_source", "-"));
}

/* --- runs ---------------------------------------------------------------- */

TEST(a_run_is_found_with_what_it_goes_on_from)
{
	struct report_run run = { 0 };

	begin("runs");
	ck_assert_int_eq(book_find_run(s.book, &run, NULL), 0);
	ck_assert_ptr_null(run.id);
	book_begin_run(s.book, "r1", "a", NOW);
	book_end_run(s.book, "r1", "a", NOW + HOUR, true);
	book_begin_run(s.book, "r2", "b", NOW + 2 * HOUR);
	book_begin_run(s.book, "r2", "c", NOW + 3 * HOUR);
	book_end_run(s.book, "r2", "c", NOW + 4 * HOUR, false);
	ck_assert_int_eq(book_find_run(s.book, &run, NULL), 0);
	ck_assert_str_eq(run.id, "r2");
	ck_assert_int_eq(run.from_ms, NOW + 2 * HOUR);
	ck_assert_int_eq(run.ended_ms, NOW + 4 * HOUR);
	ck_assert(!run.complete);
	report_run_release(&run);
	run.wanted = xstrdup("r1");
	ck_assert_int_eq(book_find_run(s.book, &run, NULL), 0);
	ck_assert(report_run_is_found(&run));
	ck_assert(run.complete);
	ck_assert_int_eq(run.next_ms, NOW + 2 * HOUR);
	report_run_release(&run);
}

/* --- spans ---------------------------------------------------------------- */

static void
add_span(const char *worker, int64_t from_ms, int64_t to_ms)
{
	struct work_span span = { .worker = xstrdup(worker),
		.use = WORK_IDLE,
		.from_ms = from_ms,
		.to_ms = to_ms };

	book_file_span(s.book, &span);
	work_span_release(&span);
}

static void
note_span(const struct work_span *span, void *arg)
{
	buf_addf(arg, "%s %s %s %d; ", span->worker, work_use_words[span->use],
	    span->task != NULL ? span->task : "-",
	    (int)((span->to_ms - span->from_ms) / 1000));
}

static void
expect_spans(int64_t since_ms, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(
	    book_read_spans(s.book, since_ms, note_span, &text, NULL), 0);
	ck_assert_str_eq(text.data, want);
}

TEST(spans_are_read_by_their_ends)
{
	begin("spans");
	expect_spans(0, "");
	add_span("c", NOW - 3000, NOW);
	add_span("a", NOW - 2 * DAY - 5000, NOW - 2 * DAY);
	add_span("b", NOW - DAY - 4000, NOW - DAY);
	add_span("b", NOW - DAY - 1000, NOW - DAY); /* they may overlap */
	expect_spans(0, "a idle - 5; b idle - 4; b idle - 1; c idle - 3; ");
	expect_spans(NOW - DAY + 1, "c idle - 3; ");
	expect_spans(NOW + 1, "");
	prune(NOW + (BOOK_SPAN_DAYS - 1) * DAY, 0, 100);
	expect_spans(0, "b idle - 4; b idle - 1; c idle - 3; ");
}

static void
write_document(const char *name, const char *key, int64_t value)
{
	cleanup_free char *file = workspace_path(&s.workspace, name);
	cleanup_free char *text =
	    xasprintf("{\"%s\": %lld}", key, (long long)value);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

static void
expect_open(const struct state *state, bool alive, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	book_open_spans(
	    s.book, &s.workspace, state, alive, NOW, note_span, &text);
	ck_assert_str_eq(text.data, want);
}

/* The story: it was idle, then a task waited, then the daemon was killed. */
TEST(what_was_split_off_is_not_counted_again)
{
	ended_by(state_release) struct state state;

	begin("split");
	state_init(&state);
	state_add(&state, worker_new("auto-1", NOW - 60000));
	state_add(&state, worker_new("auto-2", NOW - 50000));
	state.workers[0]->status = WORKER_IDLE;
	state.workers[1]->status = WORKER_IDLE;
	write_document("daemon.json", "start_time_unix", NOW / 1000 - 100);
	write_document("auto.heartbeat", "timestamp_unix", NOW / 1000 - 10);
	add_span("auto-1", NOW - 60000, NOW - 40000);
	add_span("auto-3", NOW - 60000, NOW - 5000);
	expect_open(&state, false, "auto-1 idle - 30; auto-2 idle - 40; ");
	expect_open(&state, true, "auto-1 idle - 40; auto-2 idle - 50; ");
	/* It was starting, and then works: one span. */
	state.workers[0]->since_ms = NOW - 20000;
	expect_open(&state, false, "auto-1 idle - 30; auto-2 idle - 40; ");
}

TEST(what_goes_on_ends_now_or_when_the_daemon_was_last_alive)
{
	ended_by(state_release) struct state state;
	struct worker *w = worker_new("auto-1", NOW - 60000);

	begin("alive");
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
	book_note_alive(s.book, NOW - 25000);
	expect_open(&state, false, "auto-1 working t1 5; ");
	write_document("auto.heartbeat", "timestamp_unix", NOW / 1000 - 10);
	expect_open(&state, false, "auto-1 working t1 20; ");
	w->since_ms = NOW - 15000;
	expect_open(&state, false, "auto-1 working t1 5; ");
}
