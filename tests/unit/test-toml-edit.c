/* SPDX-License-Identifier: ISC */

#include <json-c/json.h>

#include "toml-edit.h"
#include "toml.h"
#include "unit.h"

#define PARTS_MAX 8

struct path {
	const char *part[PARTS_MAX]; /* up to the first NULL */
};

static size_t
path_count(const struct path *path)
{
	size_t count = 0;

	while (path->part[count] != NULL)
		count++;
	return count;
}

struct set_case {
	const char *before;
	struct path path;
	const char *value, *after;
};

static void
run_set(const struct set_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct set_case *c = &cases[i];
		cleanup_buf struct buf doc = BUF_INIT;
		struct err err = { 0 };
		int r;

		buf_adds(&doc, c->before);
		r = toml_edit_set(
		    &doc, c->path.part, path_count(&c->path), c->value, &err);
		ck_assert_msg(r == 0, "case %zu: %s", i, err.msg);
		ck_assert_str_eq(doc.data, c->after);
	}
}

struct remove_case {
	const char *before;
	struct path path;
	const char *after;
};

typedef int (*remove_fn)(
    struct buf *, const char *const *, size_t, struct err *);

static void
run_remove(remove_fn function, const struct remove_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct remove_case *c = &cases[i];
		cleanup_buf struct buf doc = BUF_INIT;
		struct err err = { 0 };
		int r;

		buf_adds(&doc, c->before);
		r = function(&doc, c->path.part, path_count(&c->path), &err);
		ck_assert_msg(r == 0, "case %zu: %s", i, err.msg);
		ck_assert_str_eq(doc.data, c->after);
	}
}

TEST(replaces_in_place)
{
	static const struct set_case cases[] = {
		{ "# top\na = 1 # one\n\nb=2\n", { { "a" } }, "\"x\"",
		    "# top\na = \"x\" # one\n\nb=2\n" },
		{ "a = 1\r\n\r\n[t]\r\n b = [\r\n1,\r\n] # c\r\n",
		    { { "t", "b" } }, "true",
		    "a = 1\r\n\r\n[t]\r\n b = true # c\r\n" },
		{ "t = { a = 1 , b = { c = 'x' } }", { { "t", "b", "c" } }, "2",
		    "t = { a = 1 , b = { c = 2 } }" },
		{ "t = { a.b = 1 }\n", { { "t", "a", "b" } }, "[1, 2]",
		    "t = { a.b = [1, 2] }\n" },
		{ "[x]\na . 'b.c' . \"d\" = 1\n", { { "x", "a", "b.c", "d" } },
		    "inf", "[x]\na . 'b.c' . \"d\" = inf\n" },
		{ "\"a b\" = '''\nlong\n''' # c", { { "a b" } }, "\"\"",
		    "\"a b\" = \"\" # c" },
		{ "\xef\xbb\xbf"
		  "a=1",
		    { { "a" } }, "22",
		    "\xef\xbb\xbf"
		    "a=22" },
		{ "a = { b = 1 }\n", { { "a" } }, "{ c = 2 }",
		    "a = { c = 2 }\n" },
		{ "[a.b]\nk = 1\n[c]\nk = 2\n", { { "a", "b", "k" } }, "3",
		    "[a.b]\nk = 3\n[c]\nk = 2\n" },
		{ "\"\" = 1\n", { { "" } }, "2", "\"\" = 2\n" },
		{ "a = 1\n", { { "a" } }, "[\n1, # c\n2]",
		    "a = [\n1, # c\n2]\n" },
	};

	run_set(cases, nitems(cases));
}

TEST(new_key_goes_to_the_end_of_its_table)
{
	static const struct set_case cases[] = {
		{ "[a]\nx = 1 # one\n\n# about b\n[b]\ny = 2\n",
		    { { "a", "new" } }, "3",
		    "[a]\nx = 1 # one\nnew = 3\n\n# about b\n[b]\ny = 2\n" },
		{ "[a]\r\n# soon\r\nx = 1\r\n# y = 2\r\n\r\n[b]\r\n",
		    { { "a", "z" } }, "3",
		    "[a]\r\n# soon\r\nx = 1\r\nz = 3\r\n# y = 2\r\n\r\n"
		    "[b]\r\n" },
		{ "[a] # empty\n[b]\n", { { "a", "x" } }, "1",
		    "[a] # empty\nx = 1\n[b]\n" },
		{ "[a]", { { "a", "x" } }, "1", "[a]\nx = 1\n" },
		{ "[a]\ny = 1 # no newline", { { "a", "x" } }, "1",
		    "[a]\ny = 1 # no newline\nx = 1\n" },
		{ "[a]\r\ny = 1", { { "a", "x" } }, "1",
		    "[a]\r\ny = 1\r\nx = 1\r\n" },
		{ "[a]\nx.y = 1\n[b]\n", { { "a", "x", "z" } }, "2",
		    "[a]\nx.y = 1\nx.z = 2\n[b]\n" },
		{ "x.y.z = 1\n", { { "x", "y", "a b" } }, "2",
		    "x.y.z = 1\nx.y.\"a b\" = 2\n" },
		{ "[a.b]\n[a]\ny = 1\n[c]\n", { { "a", "x" } }, "2",
		    "[a.b]\n[a]\ny = 1\nx = 2\n[c]\n" },
	};

	run_set(cases, nitems(cases));
}

TEST(new_key_at_the_first_level)
{
	static const struct set_case cases[] = {
		{ "", { { "a" } }, "1", "a = 1\n" },
		{ "\xef\xbb\xbf", { { "a" } }, "1",
		    "\xef\xbb\xbf"
		    "a = 1\n" },
		{ "# only words", { { "a" } }, "1", "# only words\na = 1\n" },
		{ "b = 2", { { "a" } }, "1", "b = 2\na = 1\n" },
		{ "b = 2\n\n# about t\n[t]\n", { { "a" } }, "1",
		    "b = 2\na = 1\n\n# about t\n[t]\n" },
		{ "[t]\n", { { "a" } }, "1", "a = 1\n\n[t]\n" },
		{ "# top\n\n# about t\n[t]\n", { { "a" } }, "1",
		    "# top\n\na = 1\n\n# about t\n[t]\n" },
		{ "t.x = 1\n[u]\n", { { "a" } }, "1", "t.x = 1\na = 1\n[u]\n" },
	};

	run_set(cases, nitems(cases));
}

TEST(new_key_in_an_inline_table)
{
	static const struct set_case cases[] = {
		{ "t = {}\n", { { "t", "a" } }, "1", "t = { a = 1 }\n" },
		{ "t = { }\n", { { "t", "a" } }, "1", "t = { a = 1 }\n" },
		{ "t = { b = 2 } # c\n", { { "t", "a" } }, "1",
		    "t = { b = 2, a = 1 } # c\n" },
		{ "t = {b = [\n2,\n]}\n", { { "t", "a", "x" } }, "1",
		    "t = {b = [\n2,\n], a.x = 1}\n" },
		{ "t = { a.x = 1 }\n", { { "t", "a", "y" } }, "2",
		    "t = { a.x = 1, a.y = 2 }\n" },
		{ "[s]\nt.u = { b = { c = 1 } }\n",
		    { { "s", "t", "u", "b", "d" } }, "2",
		    "[s]\nt.u = { b = { c = 1, d = 2 } }\n" },
	};

	run_set(cases, nitems(cases));
}

TEST(new_table_is_appended)
{
	static const struct set_case cases[] = {
		{ "", { { "a", "x" } }, "1", "[a]\nx = 1\n" },
		{ "k = 1", { { "a", "b", "x" } }, "1",
		    "k = 1\n\n[a.b]\nx = 1\n" },
		{ "k = 1\r\n", { { "a b", "x" } }, "1",
		    "k = 1\r\n\r\n[\"a b\"]\r\nx = 1\r\n" },
		{ "k = 1\n\n", { { "a", "x" } }, "1", "k = 1\n\n[a]\nx = 1\n" },
		{ "\xef\xbb\xbf", { { "a", "x" } }, "1",
		    "\xef\xbb\xbf[a]\nx = 1\n" },
		{ "\n", { { "a", "x" } }, "1", "\n[a]\nx = 1\n" },
		/* implied so far */
		{ "[a.b]\nk = 1\n", { { "a", "x" } }, "1",
		    "[a.b]\nk = 1\n\n[a]\nx = 1\n" },
		{ "[a]\nk = 1\n# end", { { "a", "b", "x" } }, "1",
		    "[a]\nk = 1\n# end\n\n[a.b]\nx = 1\n" },
		/* below a dotted key */
		{ "a.b = 1\n", { { "a", "c", "x" } }, "1",
		    "a.b = 1\n\n[a.c]\nx = 1\n" },
		{ "[[l]]\n", { { "a", "x" } }, "1", "[[l]]\n\n[a]\nx = 1\n" },
	};

	run_set(cases, nitems(cases));
}

TEST(set_refuses_and_changes_nothing)
{
	static const struct {
		const char *doc;
		struct path path;
		const char *value, *words;
	} cases[] = {
		{ "a = 1\n", { { "a" } }, "1\n[x]", "the new value" },
		{ "a = 1\n", { { "a" } }, "1\nb = 2", "the new value" },
		{ "a = 1\n", { { "a" } }, "1 # c", "the new value" },
		{ "a = 1\n", { { "a" } }, " 1", "the new value" },
		{ "a = 1\n", { { "a" } }, "1\n", "the new value" },
		{ "a = 1\n", { { "a" } }, "", "the new value" },
		{ "a = 1\n", { { "a" } }, "opus", "the new value: line 1" },
		{ "a = 1\n", { { "a" } }, "\"x", "the new value: line 1" },
		{ "a = 1\n", { { "a" } }, "'\x01'", "the new value: line 1" },
		{ "t = { a = 1 }\n", { { "t", "a" } }, "1, b = 2",
		    "the new value: line 1" },
		{ "t = { a = 1 }\n", { { "t", "a" } }, "1 }\nb = { c = 1",
		    "the new value: line 1" },
		{ "a = \n", { { "a" } }, "1", "line 1: expected a value" },
		{ "a = 1\n", { { "a", "b" } }, "1",
		    "'a' is an integer on line 1" },
		{ "\na = []\n", { { "a", "b", "c" } }, "1",
		    "'a' is an array on line 2" },
		{ "[[a]]\nb = 1\n", { { "a", "b" } }, "1", "'a' is an array" },
		{ "[a]\n", { { "a" } }, "1", "'a' is a table on line 1" },
		{ "[a.b]\n", { { "a" } }, "1", "'a' is a table on line 1" },
		{ "a.b = 1\n", { { "a" } }, "1", "'a' is a table on line 1" },
		{ "[[a]]\n", { { "a" } }, "1", "'a' is an array on line 1" },
		{ "a = 1\n", { { NULL } }, "1", "no key given" },
		{ "a = 1\n", { { "\xff" } }, "1", "the key cannot be written" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf doc = BUF_INIT;
		struct err err = { 0 };
		int r;

		buf_adds(&doc, cases[i].doc);
		r = toml_edit_set(&doc, cases[i].path.part,
		    path_count(&cases[i].path), cases[i].value, &err);
		ck_assert_msg(r == -EINVAL, "case %zu: %d", i, r);
		ck_assert_int_eq(err.code, -EINVAL);
		ck_assert_msg(strncmp(err.msg, cases[i].words,
				  strlen(cases[i].words)) == 0,
		    "case %zu: %s", i, err.msg);
		ck_assert_str_eq(doc.data, cases[i].doc);
	}
}

TEST(bounds_hold_for_the_result)
{
	const char *path[TOML_DEPTH_MAX + 1];
	cleanup_buf struct buf doc = BUF_INIT;
	struct err err = { 0 };

	for (size_t i = 0; i < nitems(path); i++)
		path[i] = "a";
	ck_assert_int_eq(
	    toml_edit_set(&doc, path, nitems(path), "1", &err), -E2BIG);
	ck_assert_uint_eq(doc.len, 0);
	ck_assert_int_eq(
	    toml_edit_set(&doc, path, nitems(path) - 1, "1", &err), 0);
	buf_clear(&doc);
	while (doc.len < TOML_SIZE_MAX - 4)
		buf_addc(&doc, '\n');
	ck_assert_int_eq(toml_edit_set(&doc, path, 1, "1", &err), -E2BIG);
	ck_assert_uint_eq(doc.len, TOML_SIZE_MAX - 4);
}

TEST(unset_removes_the_line)
{
	static const struct remove_case cases[] = {
		{ "# top\na = 1 # one\nb = 2\n", { { "a" } },
		    "# top\nb = 2\n" },
		{ "a = 1\r\n b = [\r\n2 # c\r\n] # d\r\nc = 3\r\n", { { "b" } },
		    "a = 1\r\nc = 3\r\n" },
		{ "a = 1\nb = 2", { { "b" } }, "a = 1\n" },
		{ "\xef\xbb\xbf"
		  "a = 1\nb = 2\n",
		    { { "a" } },
		    "\xef\xbb\xbf"
		    "b = 2\n" },
		{ "[t]\nx.y = 1\nx.z = 2\n", { { "t", "x", "y" } },
		    "[t]\nx.z = 2\n" },
		{ "[t]\nx = '''\n# a\n'''\n[u]\n", { { "t", "x" } },
		    "[t]\n[u]\n" },
		{ "t = { a = 1 }\n", { { "t" } }, "" },
		{ "[f]\na.c = 1\n[f.a.t]\n", { { "f", "a", "c" } },
		    "[f]\n[f.a.t]\n" },
	};

	run_remove(toml_edit_unset, cases, nitems(cases));
}

struct refusal {
	const char *doc;
	struct path path;
	int code;
};

static void
run_refusals(remove_fn function, const struct refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf doc = BUF_INIT;
		struct err err = { 0 };
		int r;

		buf_adds(&doc, cases[i].doc);
		r = function(
		    &doc, cases[i].path.part, path_count(&cases[i].path), &err);
		ck_assert_msg(r == cases[i].code, "case %zu: %d", i, r);
		ck_assert_int_eq(err.code, r);
		ck_assert_str_ne(err.msg, "");
		ck_assert_str_eq(doc.data, cases[i].doc);
	}
}

TEST(unset_in_an_inline_table_says_what_to_do)
{
	const char *const path[] = { "t", "a" };
	cleanup_buf struct buf doc = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&doc, "t = { a = 1 }\n");
	ck_assert_int_eq(toml_edit_unset(&doc, path, 2, &err), -EINVAL);
	ck_assert(strstr(err.msg, "edit the file"));
}

TEST(unset_refuses)
{
	static const struct refusal cases[] = {
		{ "a = 1\n", { { "b" } }, -ENOENT },
		{ "a = 1\n", { { "b", "c" } }, -ENOENT },
		{ "", { { "b" } }, -ENOENT },
		{ "t = { a = 1 }\n", { { "t", "b" } }, -ENOENT },
		{ "t = { a = 1 }\n", { { "t", "a" } }, -EINVAL },
		{ "t = { a.b = 1 }\n", { { "t", "a", "b" } }, -EINVAL },
		{ "a = 1\n", { { "a", "b" } }, -EINVAL },
		{ "[a]\n", { { "a" } }, -EINVAL },
		{ "[[a]]\nb = 1\n", { { "a", "b" } }, -EINVAL },
		{ "a.b = 1\n", { { "a" } }, -EINVAL },
		{ "a = \n", { { "a" } }, -EINVAL },
		{ "a = 1\n", { { NULL } }, -EINVAL },
	};

	run_refusals(toml_edit_unset, cases, nitems(cases));
}

TEST(remove_table_takes_its_lines)
{
	static const struct remove_case cases[] = {
		{ "k = 1\n\n[a]\nx = 1\n\n[b]\ny = 2\n", { { "a" } },
		    "k = 1\n\n[b]\ny = 2\n" },
		{ "k = 1\r\n[a]\r\nx = 1\r\n# tail\r\n", { { "a" } },
		    "k = 1\r\n" },
		{ "[a]", { { "a" } }, "" },
		/* the blank line before the last one goes too */
		{ "k = 1\n\n[a]\nx = 1\n", { { "a" } }, "k = 1\n" },
		{ "k = 1\r\n\r\n[a]\r\n", { { "a" } }, "k = 1\r\n" },
		{ "k = 1\n\n[a]\nx = 1\n\n", { { "a" } }, "k = 1\n\n" },
		{ "\xef\xbb\xbf[a]\n", { { "a" } }, "\xef\xbb\xbf" },
		/* comments that touch a header go with it */
		{ "# the file\n\n# about a\n[a]\nx = 1\n\n# about b\n"
		  "# more\n[b]\n",
		    { { "a" } }, "# the file\n\n# about b\n# more\n[b]\n" },
		{ "# the file\n[a]\n# inside\n\n[b]\n", { { "a" } },
		    "# the file\n[b]\n" },
		{ "[b]\ns = '''\n# no comment'''\n[a]\nx = 1\n", { { "a" } },
		    "[b]\ns = '''\n# no comment'''\n" },
		{ "s = '''\n# no comment'''\n  # one\n  [a]\nx = 1\n",
		    { { "a" } }, "s = '''\n# no comment'''\n" },
		/* sub-tables, wherever they are */
		{ "[a]\nx = 1\n[b]\n[a.c]\ny = 1\n[a.c.d]\n[e]\n", { { "a" } },
		    "[b]\n[e]\n" },
		{ "[a.c]\n[ab]\n[a.d]\n", { { "a" } }, "[ab]\n" },
		{ "[a.c]\nx = 1\n[a]\n", { { "a", "c" } }, "[a]\n" },
		{ "[f]\na.c = 1\n[f.a.t]\n[g]\n", { { "f" } }, "[g]\n" },
		/* arrays */
		{ "[[l]]\nx = 1\n[k]\n[[l]]\n[l.sub]\ny = 1\n[[l.m]]\n",
		    { { "l" } }, "[k]\n" },
		{ "[a]\n[[a.l]]\n[[a.l]]\n[b]\n", { { "a", "l" } },
		    "[a]\n[b]\n" },
		{ "[\"a b\"]\n[c]\n", { { "a b" } }, "[c]\n" },
	};

	run_remove(toml_edit_remove_table, cases, nitems(cases));
}

TEST(remove_table_refuses)
{
	static const struct refusal cases[] = {
		{ "[a]\n", { { "b" } }, -ENOENT },
		{ "[a]\n", { { "a", "b" } }, -ENOENT },
		{ "a = 1\n", { { "a" } }, -EINVAL },
		{ "a = {}\n", { { "a" } }, -EINVAL },
		{ "a = [{}]\n", { { "a" } }, -EINVAL },
		{ "a.b = 1\n", { { "a" } }, -EINVAL },
		{ "[[a]]\n[a.b]\n", { { "a", "b" } }, -EINVAL },
		{ "[a\n", { { "a" } }, -EINVAL },
		{ "[a]\n", { { NULL } }, -EINVAL },
	};

	run_refusals(toml_edit_remove_table, cases, nitems(cases));
}

TEST(words_are_optional)
{
	cleanup_buf struct buf doc = BUF_INIT;
	const char *path[] = { "a" };

	ck_assert_int_eq(toml_edit_set(&doc, path, 1, "x", NULL), -EINVAL);
	ck_assert_int_eq(toml_edit_unset(&doc, path, 1, NULL), -ENOENT);
	ck_assert_int_eq(toml_edit_remove_table(&doc, path, 1, NULL), -ENOENT);
	ck_assert_int_eq(toml_edit_set(&doc, path, 1, "1", NULL), 0);
	ck_assert_int_eq(toml_edit_unset(&doc, path, 1, NULL), 0);
	ck_assert_str_eq(doc.data, "");
}

TEST(quoted_text_reads_back)
{
	static const char *const texts[] = { "", "plain", "a\"b\\c'",
		"\b\t\n\f\r", "\x01\x1f\x7f\x1b[2J", "\xc3\xa4\xf0\x9f\x98\x80",
		"\"\"\"", "# no\n[header]\n" };
	const char *path[] = { "v" };

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_buf struct buf doc = BUF_INIT, value = BUF_INIT;
		struct json_object *root = NULL, *read;

		toml_edit_quote(&value, texts[i]);
		ck_assert_int_eq(
		    toml_edit_set(&doc, path, 1, value.data, NULL), 0);
		ck_assert_int_eq(
		    toml_parse(doc.data, doc.len, &root, NULL, NULL), 0);
		ck_assert(json_object_object_get_ex(root, "v", &read));
		ck_assert_str_eq(json_object_get_string(read), texts[i]);
		json_object_put(root);
	}
}

TEST(quoting_is_plain)
{
	static const struct {
		const char *text, *value, *key;
	} cases[] = {
		{ "", "\"\"", "\"\"" },
		{ "aZ09_-", "\"aZ09_-\"", "aZ09_-" },
		{ "a.b", "\"a.b\"", "\"a.b\"" },
		{ "a\n\x7f", "\"a\\n\\u007f\"", "\"a\\n\\u007f\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"", "\"\xc3\xa4\"" },
		{ "\xff", "\"\xef\xbf\xbd\"", "\"\xef\xbf\xbd\"" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf value = BUF_INIT, key = BUF_INIT;

		buf_adds(&value, ">");
		toml_edit_quote(&value, cases[i].text);
		ck_assert_str_eq(value.data + 1, cases[i].value);
		toml_edit_quote_key(&key, cases[i].text);
		ck_assert_str_eq(key.data, cases[i].key);
	}
}
