/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "buf.h"
#include "diff.h"
#include "json.h"
#include "schema.h"

/* A diff in few letters: "modified a.c +1 -1 c | -old<1-2>+new". */
static char *
told(const char *diff, const struct diff_limits *limits)
{
	static const struct schema_field whole = { .type = SCHEMA_ROWS,
		.of = &diff_file_schema };
	cleanup_json struct json_object *files = NULL;
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	int64_t more = 0;

	files = diff_read(diff, strlen(diff), limits, &more);
	ck_assert_msg(
	    schema_check(&whole, files, "", &err) == 0, "%s", err.msg);
	for (size_t i = 0; i < json_object_array_length(files); i++) {
		struct json_object *f = json_object_array_get_idx(files, i);
		struct json_object *hunks, *lines, *words;

		buf_addf(&out, "%s%s%s", i > 0 ? "\n" : "",
		    json_bool_or(f, "binary", false) ? "binary " : "",
		    json_string_or(f, "status", ""));
		if (json_string_or(f, "old_path", NULL) != NULL)
			buf_addf(
			    &out, " %s =>", json_string_or(f, "old_path", ""));
		buf_addf(&out, " %s", json_string_or(f, "path", ""));
		if (json_string_or(f, "mode", NULL) != NULL)
			buf_addf(&out, " %s", json_string_or(f, "mode", ""));
		buf_addf(&out, " +%d -%d %s%s",
		    (int)json_int_or(f, "lines_added", 0),
		    (int)json_int_or(f, "lines_deleted", 0),
		    json_string_or(f, "language", ""),
		    json_bool_or(f, "too_long", false) ? " too long" : "");
		json_get_array(f, "", "hunks", &hunks, NULL);
		for (size_t h = 0; h < json_object_array_length(hunks); h++) {
			json_get_array(json_object_array_get_idx(hunks, h), "",
			    "lines", &lines, NULL);
			buf_adds(&out, " |");
			for (size_t l = 0; l < json_object_array_length(lines);
			     l++) {
				struct json_object *line =
				    json_object_array_get_idx(lines, l);

				buf_addf(&out, " %s%d:%d%s",
				    json_string_or(line, "k", ""),
				    (int)json_int_or(line, "o", 0),
				    (int)json_int_or(line, "n", 0),
				    json_string_or(line, "s", ""));
				if (json_get_array(
					line, "", "words", &words, NULL) == 0)
					json_print(words, false, &out);
			}
		}
	}
	if (more > 0)
		buf_addf(&out, "\n%d more", (int)more);
	return buf_take(&out);
}

#define HEAD(path)                                              \
	"diff --git a/" path " b/" path "\nindex 1..2 100644\n" \
	"--- a/" path "\n+++ b/" path "\n"

TEST(a_diff_is_read)
{
	static const struct {
		const char *diff, *words;
	} rows[] = {
		{ "", "" },
		{ "nothing of this\n@@ -1 +1 @@\n-is a diff\n", "" },
		{ HEAD("a.c") "@@ -3,2 +3,3 @@ main(void)\n x\n-int a = 1;\n"
			      "+int a = 22;\n+y\n",
		    "modified a.c +2 -1 c |  3:3x -4:0int a = 1;[[8,9]] "
		    "+0:4int a = 22;[[8,10]] +0:5y" },
		/* a line that looks like a head, and a second hunk */
		{ HEAD("q.sql") "@@ -1 +1 @@\n--- a comment\n+++ another\n"
				"@@ -9 +9 @@\n-x\n\\ No newline at end of "
				"file\n+x\n",
		    "modified q.sql +2 -2 none | -1:0-- a comment "
		    "+0:1++ another | -9:0x "
		    "\\0:0 No newline at end of file +0:9x" },
		{ "diff --git a/old b/new\nsimilarity index 100%\n"
		  "rename from old\nrename to new\n",
		    "renamed old => new +0 -0 none" },
		{ "diff --git a/s.sh b/s.sh\nold mode 100644\nnew mode "
		  "100755\n",
		    "mode s.sh 100755 +0 -0 hash" },
		{ "diff --git a/a b.png b/a b.png\nnew file mode 100644\n"
		  "index 0..1\nBinary files /dev/null and b/a b.png differ\n",
		    "binary added a b.png +0 -0 none" },
		{ "diff --git a/a b b/a b\ndeleted file mode 100644\n"
		  "--- a/a b\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
		    "deleted a b +0 -1 none | -1:0x" },
		{ "diff --git \"a/\\\"\\303\\244\\t.md\" "
		  "\"b/\\\"\\303\\244\\t.md\"\nnew file mode 100644\n"
		  "--- /dev/null\n+++ \"b/\\\"\\303\\244\\t.md\"\n"
		  "@@ -0,0 +1 @@\n+\x1b[0m\xe2\x80\xae\xff<b>\n",
		    "added \"\xc3\xa4\t.md +1 -0 markup | "
		    "+0:1\\x1b[0m\\u202e\\xff<b>" },
		/* cut off in the middle */
		{ HEAD("a") "@@ -1,9 +1,9 @@\n x\n" HEAD("b"),
		    "modified a +0 -0 none |  1:1x\n"
		    "modified b +0 -0 none" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *words = told(rows[i].diff, &diff_first_look);

		ck_assert_str_eq(words, rows[i].words);
	}
}

TEST(what_is_too_long_is_left_out_until_it_is_asked_for)
{
	static const char diff[] =
	    HEAD("a") "@@ -0,0 +1,3 @@\n+1\n+2\n+3\n" HEAD(
		"b") "@@ -0,0 +1 @@\n+1\n" HEAD("c");
	struct diff_limits limits = {
		.file_lines = 2, .lines = 9, .bytes = 9999, .files = 2
	};
	cleanup_free char *first = told(diff, &limits), *one = NULL,
			  *none = NULL;

	ck_assert_str_eq(first,
	    "modified a +3 -0 none too long\nmodified b +1 -0 none | "
	    "+0:11\n1 more");
	limits = diff_one_file;
	limits.file = "a";
	one = told(diff, &limits);
	ck_assert_str_eq(one, "modified a +3 -0 none | +0:11 +0:22 +0:33");
	limits.file = "d";
	none = told(diff, &limits);
	ck_assert_str_eq(none, "");
}

TEST(words_are_marked_where_lines_have_something_in_common)
{
	static const struct {
		const char *old, *new, *marks;
	} rows[] = {
		{ "return a;", "return b;", "7-8 / 7-8" },
		{ "f(a, b)", "f(a, b, c)", " / 6-9" },
		{ "one two three", "three four", "0-8 / 5-10" },
		{ "one two three", "four five six", "no" },
		{ "a b c d e", "a x y d e", "2-5 / 2-5" },
		{ "\xf0\x9f\x98\x80 old \xc3\xa4",
		    "\xf0\x9f\x98\x80 n \xc3\xa4", "3-6 / 3-4" },
		{ "same", "same", " / " },
		{ "", "x", "no" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf out = BUF_INIT;
		struct diff_marks marks[2];

		if (!diff_words(
			rows[i].old, rows[i].new, &marks[0], &marks[1])) {
			ck_assert_str_eq("no", rows[i].marks);
			continue;
		}
		for (size_t side = 0; side < 2; side++) {
			buf_adds(&out, side > 0 ? " / " : "");
			for (size_t j = 0; j < marks[side].count; j++)
				buf_addf(&out, "%s%d-%d", j > 0 ? " " : "",
				    marks[side].v[j].from, marks[side].v[j].to);
		}
		ck_assert_str_eq(out.data, rows[i].marks);
	}
}
