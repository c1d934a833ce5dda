/* SPDX-License-Identifier: ISC */

/* Rows as a table of text, as one of a page, and one row as lines. */
#include "unit.h"
#include "view-table.h"

static void
add_first(struct json_object *row, const void *arg, struct buf *out)
{
	buf_addf(
	    out, "%s%.1s", (const char *)arg, json_string_or(row, "name", ""));
}

static const struct view_column columns[] = {
	{ "Name", .key = "name" },
	{ "Status", "status", .cell = VIEW_STATUS },
	{ "Kind", "kind", .usual = "plain" },
	{ "Tries", "more.tries", VIEW_COUNT, .right = true },
	{ "Age", "age", VIEW_AGE, .right = true },
	{ "Took", "took", VIEW_DURATION, .right = true },
	{ "Tags", "tags", .cell = VIEW_WORDS },
	{ "Cost", .cell = VIEW_COST, .right = true },
	{ "First", .add_with = add_first },
};

static struct json_object *
make_rows(const char *kind)
{
	struct json_object *rows = json_tokener_parse(
	    "[{\"name\": \"adam\", \"status\": \"failed\", \"kind\": \"plain\","
	    "  \"more\": {\"tries\": 2}, \"age\": 65, \"took\": 61999,"
	    "  \"tags\": [\"a\", \"b\"], \"cost_micros\": 1020000,"
	    "  \"cost_source\": \"estimate\", \"attempts\": 1},"
	    " {\"name\": \"<eve>\", \"status\": \"odd\", \"age\": null,"
	    "  \"took\": null, \"attempts\": 0}]");

	json_set_string(json_object_array_get_idx(rows, 1), "kind", kind);
	return rows;
}

static void
assert_text(struct json_object *rows, bool colours, const char *expected)
{
	const struct view_table table = { .columns = columns,
		.count = nitems(columns),
		.rows = rows,
		.arg = "-" };
	cleanup_buf struct buf out = BUF_INIT;

	view_table_print(&table, 0, colours, &out);
	ck_assert_str_eq(out.data, expected);
}

TEST(a_column_without_news_is_left_out)
{
	cleanup_json struct json_object *rows = make_rows("plain");

	assert_text(rows, false,
	    "NAME   STATUS  TRIES   AGE  TOOK  TAGS        COST  FIRST\n"
	    "adam   failed      2  1m5s  1m1s  a, b  $1.02 est.  -a\n"
	    "<eve>  odd                                       -  -<\n");
}

TEST(a_status_has_its_colour_and_a_usual_value_is_shown_beside_others)
{
	cleanup_json struct json_object *rows = make_rows("other");

	assert_text(rows, true,
	    "NAME   STATUS  KIND   TRIES   AGE  TOOK  TAGS        COST  FIRST\n"
	    "adam   \033[31mfailed\033[0m  plain      2  1m5s  1m1s  a, b  "
	    "$1.02 est.  -a\n"
	    "<eve>  odd     other                                    -  -<\n");
}

TEST(rows_can_be_chosen_indented_and_without_headings)
{
	cleanup_json struct json_object *rows = make_rows("plain");
	const struct view_table table = { .columns = columns,
		.count = 2,
		.rows = rows,
		.first = 1,
		.most = 5,
		.indented = true,
		.bare = true };
	cleanup_buf struct buf out = BUF_INIT;

	view_table_print(&table, 0, false, &out);
	ck_assert_str_eq(out.data, "  <eve>  odd\n");
}

TEST(a_page_has_the_same_columns_escaped)
{
	static const struct view_column few[] = {
		{ "Name", "name", .code = true },
		{ "Tries", "more.tries", VIEW_COUNT, .right = true },
		{ "Tags", "tags", VIEW_WORDS, .flexible = true },
	};
	cleanup_json struct json_object *rows = make_rows("plain");
	const struct view_table table = {
		.columns = few, .count = nitems(few), .rows = rows
	};
	cleanup_buf struct buf out = BUF_INIT;

	view_table_html(&table, &out);
	ck_assert_str_eq(out.data,
	    "<div class=\"wide\"><table><tr><th scope=\"col\">Name"
	    "<th scope=\"col\" class=\"n\">Tries<th scope=\"col\">Tags\n"
	    "<tr><td class=\"s\"><code>adam</code><td class=\"n\">2<td>a, b\n"
	    "<tr><td class=\"s\"><code>&lt;eve&gt;</code><td class=\"n\"><td>\n"
	    "</table></div>\n");
}

TEST(one_row_has_a_line_for_each_value)
{
	static const struct view_column lines[] = {
		{ "name", .key = "name" },
		{ "kind", "kind", .usual = "plain" },
		{ "cost", "cost_micros", .cell = VIEW_MICROS },
		{ "none", "nothing", .cell = VIEW_MICROS },
		{ "gone", .key = "gone" },
	};
	cleanup_json struct json_object *rows = make_rows("plain");
	struct json_object *row = json_object_array_get_idx(rows, 0);
	cleanup_buf struct buf out = BUF_INIT;

	json_set_string(row, "name", "a\033[2J\nb");
	view_facts(lines, nitems(lines), row, "  ", 5, false, &out);
	ck_assert_str_eq(
	    out.data, "  name  a\\x1b[2J\\x0ab\n  cost  $1.02\n  none  -\n");
}
