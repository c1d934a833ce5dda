/* SPDX-License-Identifier: ISC */

/* Records of runs in their files, and added up: the vectors. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "perf-files.h"
#include "perf-stats.h"
#include "unit.h"
#include "workspace.h"

static const char base_text[] =
    "{\"runId\":\"%s\",\"agentId\":\"%s\",\"spawnerSessionKey\":\"x\","
    "\"startedAt\":0,\"endedAt\":%lld,\"runtimeMs\":%lld,\"outcome\":\"%s\"}";

struct scene {
	struct workspace workspace;
	struct json_object *root; /* the vectors; NULL = not loaded */
	int runs;
};

static void
begin(struct scene *s, const char *name)
{
	memset(s, 0, sizeof *s);
	s->workspace.root = xstrdup(unit_path(name));
	s->workspace.dir = file_join(s->workspace.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(s->workspace.dir, 0700, NULL), 0);
}

static void
end(struct scene *s)
{
	json_object_put(s->root);
	workspace_release(&s->workspace);
}

static struct json_object *
vector(struct scene *s, const char *id)
{
	cleanup_free char *path = NULL;
	struct json_object *rows;
	struct err err = { 0 };

	if (unit_vectors() == NULL)
		unit_skip("the vectors are absent: set LLMC_VECTORS");
	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &s->root, &err) == 0, "%s", err.msg);
	rows = json_object_object_get(
	    json_object_object_get(s->root, "performance"), "vectors");
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
record_of(struct scene *s, struct json_object *run, int64_t ended_ms)
{
	cleanup_free char *id = xasprintf("t%d-1", ++s->runs);
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
add(struct scene *s, struct json_object *run, int64_t ended_ms)
{
	cleanup_json struct json_object *json = record_of(s, run, ended_ms);
	struct err err = { 0 };

	ck_assert_msg(perf_files_add(&s->workspace, json, false, &err) == 0,
	    "%s", err.msg);
}

static char *
path_of(const struct scene *s, const char *day)
{
	return xasprintf(
	    "%s/perf/agent-performance-%s.jsonl", s->workspace.dir, day);
}

static int64_t
lines_of(const struct scene *s, const char *day)
{
	cleanup_free char *path = path_of(s, day);
	cleanup_buf struct buf text = BUF_INIT;
	int64_t lines = 0;

	ck_assert_int_eq(file_read(path, 65536, &text, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return lines;
}

static void
count(struct json_object *record, void *arg)
{
	struct perf_record facts;

	ck_assert_int_eq(perf_record_read(record, &facts, NULL), 0);
	perf_stats_add(arg, &facts);
}

static struct perf_stats *
read_all(const struct scene *s, int64_t since_ms, int64_t now_ms)
{
	struct perf_stats *stats = perf_stats_new(PERF_BY_AGENT);
	struct err err = { 0 };

	ck_assert_msg(perf_files_read(&s->workspace, since_ms, now_ms, count,
			  stats, &err) == 0,
	    "%s", err.msg);
	return stats;
}

START_TEST(each_day_has_a_file)
{
	struct scene s;
	struct json_object *row, *rows, *files;
	cleanup_free char *path = NULL;
	struct stat st;

	begin(&s, "days");
	row = vector(&s, "rotate-by-day");
	rows = json_object_object_get(row, "records");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *run = json_object_array_get_idx(rows, i);

		add(&s, run, noon(json_string_or(run, "day", "")));
	}
	files = json_object_object_get(
	    json_object_object_get(row, "expect"), "files");
	ck_assert_int_eq(
	    lines_of(&s, "2026-02-01"), json_int_or(files, "2026-02-01", 0));
	ck_assert_int_eq(
	    lines_of(&s, "2026-02-02"), json_int_or(files, "2026-02-02", 0));
	path = path_of(&s, "2026-02-01");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	end(&s);
}
END_TEST

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

START_TEST(runs_are_added_up_by_agent)
{
	struct scene s;
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	cleanup_json struct json_object *json = NULL;
	int64_t now = noon("2026-02-10");

	begin(&s, "aggregate");
	row = vector(&s, "aggregate");
	rows = json_object_object_get(row, "runs");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(&s, json_object_array_get_idx(rows, i), now - 1000);
	stats = read_all(&s, 0, now);
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
	end(&s);
}
END_TEST

START_TEST(old_files_are_removed)
{
	struct scene s;
	struct json_object *row, *rows, *gone;

	begin(&s, "retention");
	row = vector(&s, "retention");
	rows = json_object_object_get(row, "files");
	gone = json_object_object_get(row, "expect_removed");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(&s, row,
		    noon(json_object_get_string(
			json_object_array_get_idx(rows, i))));
	perf_files_tidy(&s.workspace, noon(json_string_or(row, "now", "")));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		const char *day =
		    json_object_get_string(json_object_array_get_idx(rows, i));
		cleanup_free char *path = path_of(&s, day);
		bool removed = false;

		for (size_t n = 0; n < json_object_array_length(gone); n++)
			removed = removed ||
			    strcmp(day,
				json_object_get_string(
				    json_object_array_get_idx(gone, n))) == 0;
		ck_assert(file_exists(path) == !removed);
	}
	end(&s);
}
END_TEST

START_TEST(reports_of_progress_go_as_late)
{
	struct scene s;
	cleanup_free char *dir = NULL, *old = NULL, *young = NULL;
	int64_t now = noon("2026-03-01");
	struct utimbuf at;

	begin(&s, "progress");
	dir = workspace_path(&s.workspace, "progress");
	old = file_join(dir, "t1-1.jsonl");
	young = file_join(dir, "t2-1.jsonl");
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(old, "{}\n", 3, 0600, NULL), 0);
	ck_assert_int_eq(file_replace(young, "{}\n", 3, 0600, NULL), 0);
	at.actime = at.modtime = now / 1000 - 31 * 24 * 3600;
	ck_assert_int_eq(utime(old, &at), 0);
	at.actime = at.modtime = now / 1000 - 29 * 24 * 3600;
	ck_assert_int_eq(utime(young, &at), 0);
	perf_files_tidy(&s.workspace, now);
	ck_assert(!file_exists(old));
	ck_assert(file_exists(young));
	end(&s);
}
END_TEST

START_TEST(unknown_tokens_count_for_nothing)
{
	struct scene s;
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	struct perf_group group;
	int64_t now = noon("2026-02-10");

	begin(&s, "tokens");
	row = vector(&s, "null-tokens");
	rows = json_object_object_get(row, "runs");
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		add(&s, json_object_array_get_idx(rows, i), now);
	stats = read_all(&s, 0, now);
	expect = json_object_object_get(row, "expect");
	group = perf_stats_group(stats, 0);
	ck_assert_int_eq(group.tokens_in, json_int_or(expect, "in", -1));
	ck_assert_int_eq(group.tokens_out, json_int_or(expect, "out", -1));
	perf_stats_free(stats);
	end(&s);
}
END_TEST

START_TEST(an_old_record_in_a_new_file_does_not_count)
{
	struct scene s;
	struct json_object *row, *rows, *expect;
	struct perf_stats *stats;
	struct perf_group group;
	cleanup_free char *path = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	begin(&s, "old");
	row = vector(&s, "old-record-in-new-file");
	rows = json_object_object_get(row, "records");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *run = json_object_array_get_idx(rows, i);
		cleanup_json struct json_object *json =
		    record_of(&s, run, noon(json_string_or(run, "ended", "")));

		json_print(json, false, &text);
		buf_addc(&text, '\n');
	}
	add(&s, row, noon("2026-02-09")); /* makes the folder */
	path = path_of(&s, "2026-02-09");
	ck_assert_int_eq(
	    file_replace(path, text.data, text.len, 0600, NULL), 0);
	stats = read_all(&s, 0, noon(json_string_or(row, "now", "")));
	expect = json_object_object_get(row, "expect");
	ck_assert_uint_eq(perf_stats_count(stats), 1);
	group = perf_stats_group(stats, 0);
	ck_assert_int_eq(group.runs, json_int_or(expect, "runs", -1));
	ck_assert_int_eq(group.tokens_in, json_int_or(expect, "in", -1));
	ck_assert_int_eq(group.tokens_out, json_int_or(expect, "out", -1));
	ck_assert_int_eq(
	    group.outcomes[PERF_FAILURE], json_int_or(expect, "failure", -1));
	perf_stats_free(stats);
	end(&s);
}
END_TEST

START_TEST(a_torn_line_and_foreign_files_are_passed_over)
{
	struct scene s;
	cleanup_json struct json_object *none = json_object_new_object();
	cleanup_free char *path = NULL, *other = NULL;
	struct perf_stats *stats;
	int64_t now = noon("2026-02-10");

	begin(&s, "torn");
	add(&s, none, now);
	path = path_of(&s, "2026-02-10");
	other = path_of(&s, "2026-02-99");
	ck_assert_int_eq(
	    file_append(path, "{\"runId\":\"t9", 12, 0600, false, NULL), 0);
	ck_assert_int_eq(file_replace(other, "x\n", 2, 0600, NULL), 0);
	stats = read_all(&s, 0, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 1);
	perf_stats_free(stats);
	/* The next one is whole again. */
	add(&s, none, now);
	stats = read_all(&s, 0, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 2);
	perf_stats_free(stats);
	perf_files_tidy(&s.workspace, now);
	ck_assert(file_exists(other));
	end(&s);
}
END_TEST

START_TEST(a_record_that_was_written_is_not_written_again)
{
	struct scene s;
	cleanup_json struct json_object *none = json_object_new_object();
	cleanup_json struct json_object *one = NULL, *other = NULL;
	int64_t now = noon("2026-02-10");

	begin(&s, "again");
	one = record_of(&s, none, now);
	other = record_of(&s, none, now);
	ck_assert_int_eq(perf_files_add(&s.workspace, one, true, NULL), 0);
	ck_assert_int_eq(perf_files_add(&s.workspace, other, true, NULL), 0);
	ck_assert_int_eq(perf_files_add(&s.workspace, one, true, NULL), 0);
	ck_assert_int_eq(lines_of(&s, "2026-02-10"), 2);
	end(&s);
}
END_TEST

START_TEST(only_runs_since_then_are_read)
{
	struct scene s;
	cleanup_json struct json_object *none = json_object_new_object();
	struct perf_stats *stats;
	int64_t now = noon("2026-02-10");

	begin(&s, "since");
	add(&s, none, now - 3 * PERF_DAY_MS);
	add(&s, none, now - 1000);
	add(&s, none, now);
	stats = read_all(&s, now - 500, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 1);
	perf_stats_free(stats);
	stats = read_all(&s, 0, now);
	ck_assert_int_eq(perf_stats_group(stats, 0).runs, 3);
	perf_stats_free(stats);
	end(&s);
}
END_TEST

START_TEST(percentiles_are_times_of_runs)
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
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("perf-files");

	unit_case(s, "perf-files",
	    (const TTest *[]){ each_day_has_a_file, runs_are_added_up_by_agent,
		old_files_are_removed, reports_of_progress_go_as_late,
		unknown_tokens_count_for_nothing,
		an_old_record_in_a_new_file_does_not_count,
		a_torn_line_and_foreign_files_are_passed_over,
		a_record_that_was_written_is_not_written_again,
		only_runs_since_then_are_read, percentiles_are_times_of_runs,
		NULL });
	return s;
}
