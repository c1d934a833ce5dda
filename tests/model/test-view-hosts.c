/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "metrics.h"
#include "view.h"

/* What one host's daemon shows, without a fleet. */
static struct json_object *
view_of_host(void)
{
	return view_complete(json_tokener_parse(
	    "{\"head\": {\"root\": \"/src\", \"steps\": {\"waiting\": 2, "
	    "\"offered\": 1}, \"outcomes\": {\"landed\": 5}},"
	    "\"workers\": {\"auto-1\": {\"name\": \"auto-1\", \"status\": "
	    "\"working\", \"task\": \"t1\", \"prompt\": \"secret\"}, "
	    "\"auto-2\": {\"name\": \"auto-2\", \"status\": \"idle\", "
	    "\"remark\": \"llmc resume, or: llmc resume auto-2\"}},"
	    "\"tasks\": {\"t1\": {\"id\": \"t1\", \"step\": \"working\"}},"
	    "\"asks\": {\"a3\": {\"kind\": \"question\", \"who\": \"auto-1\", "
	    "\"words\": \"Which?\", \"command\": \"llmc answer a3 TEXT\"}}}"));
}

static void
add(struct json_object *view, const char *host, const char *state, bool here,
    struct json_object *part)
{
	view_hosts_add(view,
	    &(struct view_host){ .host = host,
		.state = state,
		.here = here,
		.slots = 4,
		.part = part });
}

TEST(any_host_shows_the_rows_of_all_and_commands_that_work_there)
{
	cleanup_json struct json_object *view = view_of_host();
	cleanup_json struct json_object *other = view_of_host();
	cleanup_json struct json_object *part = NULL, *list = NULL;
	struct json_object *row;

	json_set_string(view_row(view, "tasks", "t1"), "step", "elsewhere");
	part = view_host_part(other, 64 * 1024);
	ck_assert_int_eq(json_int_or(part, "busy", -1), 1);
	ck_assert_int_eq(json_int_or(part, "waiting", -1), 3);
	add(view, "borg", "up", true, NULL);
	add(view, "atlas", "up", false, part);
	add(view, "cray", "lost", false, part);
	view_needs(view);

	row = view_row(view, "workers", "atlas:auto-1");
	ck_assert_str_eq(json_string_or(row, "host", "-"), "atlas");
	ck_assert_ptr_null(json_object_object_get(row, "prompt"));
	ck_assert(view_is(view_row(view, "workers", "auto-1"), "host", "borg"));
	ck_assert_str_eq(
	    json_string_or(
		view_row(view, "workers", "atlas:auto-2"), "remark", "-"),
	    "llmc resume, or: llmc resume atlas:auto-2");
	/* A lost host's workers are not known. */
	ck_assert_ptr_null(view_row(view, "workers", "cray:auto-1"));
	/* The runner's row of a task replaces the owner's. */
	ck_assert(view_is(view_row(view, "tasks", "t1"), "host", "atlas"));
	ck_assert(view_is(view_row(view, "tasks", "t1"), "step", "working"));
	ck_assert_str_eq(
	    json_string_or(
		view_row(view, "needs", "d-auto-1-atlas:a3"), "command", "-"),
	    "llmc answer atlas:a3 TEXT");
	ck_assert_ptr_nonnull(view_row(view, "needs", "i-cray"));

	list = view_hosts_list(view);
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(list, 0), "host", "-"),
	    "cray");
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(list, 1), "host", "-"),
	    "atlas");
}

TEST(here_is_what_a_host_shows_without_a_fleet)
{
	cleanup_json struct json_object *view = view_of_host();
	cleanup_json struct json_object *other = view_of_host();
	cleanup_json struct json_object *part = view_host_part(other, 65536);

	add(view, "borg", "up", true, NULL);
	add(view, "atlas", "up", false, part);
	add(view, "cray", "lost", false, NULL);
	view_needs(view);
	view_hosts_here(view);
	ck_assert_int_eq(json_object_object_length(view_of(view, "hosts")), 0);
	ck_assert_int_eq(
	    json_object_object_length(view_of(view, "workers")), 2);
	ck_assert_int_eq(json_object_object_length(view_of(view, "asks")), 1);
	ck_assert_int_eq(json_object_object_length(view_of(view, "needs")), 1);
}

/* Whatever a host has, what it posts is not longer, and says what is missing;
 * whatever another one has posted is survived. */
TEST(a_part_has_a_bound_and_a_bad_one_is_survived)
{
	cleanup_json struct json_object *view = view_of_host();
	cleanup_json struct json_object *other = view_of_host();
	cleanup_json struct json_object *part = NULL, *bad = NULL;

	for (int i = 0; i < 5000; i++) {
		struct json_object *row = json_object_new_object();
		cleanup_free char *key = xasprintf("t%d", i);

		json_set_string(row, "id", key);
		json_set_string(row, "title", "A title that takes some room");
		json_set(view_of(other, "tasks"), key, row);
	}
	part = view_host_part(other, 65536);
	ck_assert_uint_lt(strlen(json_object_to_json_string_ext(
			      part, JSON_C_TO_STRING_PLAIN)),
	    65536);
	ck_assert_int_gt(json_int_or(part, "left_out", 0), 4000);
	bad = json_tokener_parse("{\"workers\": {\"a\": 3, \"b\": null}, "
				 "\"asks\": [1], \"tasks\": {\"t\": {}}, "
				 "\"busy\": \"x\"}");
	add(view, "odd", "up", false, bad);
	view_needs(view);
	add(view, "none", "up", false, NULL);
}

TEST(without_a_fleet_nothing_of_it_is_sent)
{
	cleanup_json struct json_object *view = view_new();
	cleanup_json struct json_object *with = view_new();
	cleanup_json struct json_object *change = NULL;

	view_keep(view, NULL);
	ck_assert_ptr_null(view_of(view, "hosts"));
	add(with, "atlas", "up", true, NULL);
	change = view_diff(view, with);
	ck_assert_ptr_nonnull(change);
	json_object_put(view_diff(with, view));
}

TEST(every_series_has_the_host_as_a_label)
{
	struct metrics m = { .version = "1", .host = "at\"las" };
	cleanup_buf struct buf out = BUF_INIT;

	metrics_text(&m, &out);
	ck_assert_ptr_nonnull(strstr(
	    out.data, "llmc_build_info{host=\"at\\\"las\",version=\"1\"} 1\n"));
	ck_assert_ptr_nonnull(
	    strstr(out.data, "llmc_cost_open_usd{host=\"at\\\"las\"} 0"));
	for (const char *line = out.data; *line != '\0';
	     line += strcspn(line, "\n") + 1)
		ck_assert(line[0] == '#' ||
		    strncmp(strchr(line, '{'), "{host=", 6) == 0);
}
