/* SPDX-License-Identifier: ISC */

#include <math.h>

#include <json-c/json.h>

#include "toml.h"
#include "unit.h"

static struct json_object *
parse(const char *text)
{
	struct json_object *root = NULL;
	struct err err = { 0 };
	int r;

	r = toml_parse(text, strlen(text), &root, NULL, &err);
	ck_assert_msg(r == 0, "%s", err.msg);
	return root;
}

/* The value at a.b.0.c of the tree. */
static struct json_object *
at(struct json_object *root, const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *part;
	struct json_object *value = root;

	while ((part = strsep(&rest, ".")) != NULL) {
		if (json_object_is_type(value, json_type_array))
			value = json_object_array_get_idx(
			    value, strtoul(part, NULL, 10));
		else if (!json_object_object_get_ex(value, part, &value))
			value = NULL;
		ck_assert_msg(value != NULL, "%s is missing in %s", part, path);
	}
	return value;
}

/* The marked text must be exactly this. */
static void
assert_text(const char *text, struct json_object *value, const char *expected)
{
	struct toml_mark mark = toml_mark_of(value);
	cleanup_free char *found = NULL;

	ck_assert_uint_le(mark.start, mark.end);
	ck_assert_uint_le(mark.end, strlen(text));
	found = xstrndup(text + mark.start, mark.end - mark.start);
	ck_assert_str_eq(found, expected);
}

static void
assert_tail(const char *text, struct json_object *table, const char *rest)
{
	ck_assert_int_eq(toml_mark_of(table).type, TOML_TABLE);
	ck_assert_str_eq(text + toml_mark_of(table).tail, rest);
}

static const struct {
	const char *text, *words;
	unsigned line;
} refused[] = {
	{ "a = 1\n\nb =\n",
	    "line 3: expected a value after '=', found the end of the "
	    "line",
	    3 },
	{ "a =",
	    "line 1: expected a value after '=', found the end of the "
	    "file",
	    1 },
	{ "a = 1 b = 2",
	    "line 1: expected the end of the line after the value, "
	    "found 'b'",
	    1 },
	{ "\r\n[a\r\n", "line 2: expected ']' after the table's name, ", 2 },
	{ "a = opus",
	    "line 1: 'opus' is not a value: text goes in "
	    "\"quotes\"",
	    1 },
	{ "a = '''\n\nx",
	    "line 1: the string that starts here with "
	    "''' never ends",
	    1 },
	{ "a = \"x\n\"", "line 1: the string has no closing \"", 1 },
	{ "a = [\n1,\n2\n",
	    "line 4: the array that starts on line 1 has no closing", 4 },
	{ "a = [\n1\n2]", "line 3: expected ',' or ']' after", 3 },
	{ "a = 1\n# c\na = 2",
	    "line 3: 'a' is an integer since line 1: it cannot be set", 3 },
	{ "[a]\n[b]\n[a]", "line 3: 'a' is a table since line 1", 3 },
	{ "a = 9223372036854775808",
	    "line 1: '9223372036854775808' is "
	    "out of range",
	    1 },
	{ "a = 012", "line 1: '012' is not a number: no leading zeros", 1 },
	{ "a = 2023-02-29", "line 1: '2023-02-29' is not a valid date", 1 },
	{ "a = 1\nb = \"\\q\"", "line 2: expected one of b t n f r", 2 },
	{ "a = 1\n\x01", "line 2: the control character 0x01", 2 },
	{ "a = 1\nb = '\xff'", "line 2: the byte 0xff is not valid", 2 },
	{ "a = 1\rb = 2", "line 1: a carriage return without", 1 },
	{ "\"\\u001b[2J\" = 1\n\"\\u001b[2J\" = 1",
	    "line 2: '\\x1b[2J' is an integer", 2 },
};

TEST(errors_name_line_and_remedy)
{
	for (size_t i = 0; i < nitems(refused); i++) {
		struct json_object *root = NULL;
		struct err err = { 0 };
		unsigned line = 0;
		int r;

		r = toml_parse(refused[i].text, strlen(refused[i].text), &root,
		    &line, &err);
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_int_eq(err.code, -EINVAL);
		ck_assert_ptr_null(root);
		ck_assert_msg(strncmp(err.msg, refused[i].words,
				  strlen(refused[i].words)) == 0,
		    "%s", err.msg);
		ck_assert_uint_eq(line, refused[i].line);
	}
}

TEST(words_and_line_are_optional)
{
	struct json_object *root = NULL;

	ck_assert_int_eq(toml_parse("a", 1, &root, NULL, NULL), -EINVAL);
	ck_assert_ptr_null(root);
	ck_assert_int_eq(toml_parse(NULL, 0, &root, NULL, NULL), 0);
	ck_assert_int_eq(json_object_object_length(root), 0);
	json_object_put(root);
}

TEST(long_words_are_cut_in_errors)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *root = NULL;
	struct err err = { 0 };

	buf_adds(&text, "a = ");
	for (int i = 0; i < 1000; i++)
		buf_adds(&text, "\xc3\xa4");
	ck_assert_int_eq(
	    toml_parse(text.data, text.len, &root, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "\xc3\xa4...' is not a value"));
	ck_assert_uint_lt(strlen(err.msg), 300);
}

TEST(types_are_told_apart)
{
	static const struct {
		const char *value;
		enum toml_type type;
		enum json_type json;
	} cases[] = {
		{ "'x'", TOML_STRING, json_type_string },
		{ "0xff", TOML_INTEGER, json_type_int },
		{ "1e3", TOML_FLOAT, json_type_double },
		{ "-nan", TOML_FLOAT, json_type_double },
		{ "false", TOML_BOOL, json_type_boolean },
		{ "2024-02-29 07:32:00z", TOML_DATETIME, json_type_string },
		{ "2024-02-29t07:32:60", TOML_DATETIME_LOCAL,
		    json_type_string },
		{ "2024-02-29", TOML_DATE_LOCAL, json_type_string },
		{ "23:59:59.999999999999", TOML_TIME_LOCAL, json_type_string },
		{ "[1, 'a', []]", TOML_ARRAY, json_type_array },
		{ "{ a = 1 }", TOML_TABLE, json_type_object },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_free char *text = xasprintf("v=%s", cases[i].value);
		struct json_object *root = parse(text), *v = at(root, "v");

		ck_assert_int_eq(toml_mark_of(v).type, cases[i].type);
		ck_assert_int_eq(json_object_get_type(v), cases[i].json);
		assert_text(text, v, cases[i].value);
		json_object_put(root);
	}
}

TEST(values_are_exact)
{
	struct json_object *root = parse("min = -9223372036854775808\n"
					 "max = 0x7fffffffffffffff\n"
					 "pi = +3.141_592\n"
					 "ninf = -inf\n"
					 "when = 2024-02-29 07:32:00.50z\n"
					 "nul = \"a\\u0000b\"\n"
					 "\"k\\u0000\" = true\n"
					 "long = \"\"\"\r\none\r\n"
					 "two \\\r\n  \r\n  \"three\"\"\"\"\r\n"
					 "raw = '''\na\\b''c'''''\n");

	ck_assert_int_eq(json_object_get_int64(at(root, "min")), INT64_MIN);
	ck_assert_int_eq(json_object_get_int64(at(root, "max")), INT64_MAX);
	ck_assert_double_eq(json_object_get_double(at(root, "pi")), 3.141592);
	ck_assert(json_object_get_double(at(root, "ninf")) == -INFINITY);
	ck_assert_str_eq(json_object_get_string(at(root, "when")),
	    "2024-02-29T07:32:00.50Z");
	ck_assert_int_eq(json_object_get_string_len(at(root, "nul")), 3);
	ck_assert_mem_eq(json_object_get_string(at(root, "nul")), "a\0b", 4);
	ck_assert(json_object_get_boolean(at(root, "k\xc0\x80")));
	ck_assert_str_eq(
	    json_object_get_string(at(root, "long")), "one\ntwo \"three\"");
	ck_assert_str_eq(json_object_get_string(at(root, "raw")), "a\\b''c''");
	json_object_put(root);
}

TEST(order_of_the_text_is_kept)
{
	struct json_object *root = parse("z = 1\na = 2\n[m]\n[b]\n[m.k]\n");

	ck_assert_str_eq(
	    json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN),
	    "{\"z\":1,\"a\":2,\"m\":{\"k\":{}},\"b\":{}}");
	json_object_put(root);
}

/* json-c 0.16 reads the userdata of a double in one of its serializers. */
TEST(marks_do_not_disturb_printing)
{
	struct json_object *root = parse("f = 0.5\ng = 1e3\ns = 'x'\n"
					 "i = 7\na = [1.5, true]\n");
	struct json_object *copy = NULL;

	ck_assert_str_eq(
	    json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN),
	    "{\"f\":0.5,\"g\":1000.0,\"s\":\"x\",\"i\":7,\"a\":[1.5,true]}");
	ck_assert_int_eq(json_object_deep_copy(root, &copy, NULL), -1);
	ck_assert_ptr_null(copy);
	json_object_set_double(at(root, "f"), 0.25);
	ck_assert_str_eq(json_object_to_json_string(at(root, "f")), "0.25");
	ck_assert_int_eq(toml_mark_of(at(root, "f")).type, TOML_FLOAT);
	json_object_put(root);
}

TEST(foreign_values_have_no_mark)
{
	struct json_object *other = json_tokener_parse("{\"a\":1.5,\"b\":[]}");
	struct json_object *odd = json_object_new_double_s(1, "");

	ck_assert_int_eq(toml_mark_of(NULL).type, TOML_NONE);
	ck_assert_int_eq(toml_mark_of(other).type, TOML_NONE);
	ck_assert_int_eq(toml_mark_of(at(other, "a")).type, TOML_NONE);
	ck_assert_int_eq(toml_mark_of(at(other, "b")).type, TOML_NONE);
	ck_assert_int_eq(toml_mark_of(odd).type, TOML_NONE);
	json_object_put(other);
	json_object_put(odd);
}

TEST(marks_cover_the_value)
{
	const char *text = "\xef\xbb\xbf# top\n"
			   "name = \"\xc3\xa4\" # why\n"
			   "list = [ 1,\n  { x = 'y', z.w = 2.5 }, # c\n ]\n"
			   "a.\"b c\".d = true\n";
	struct json_object *root = parse(text);

	assert_text(text, at(root, "name"), "\"\xc3\xa4\"");
	ck_assert_uint_eq(toml_mark_of(at(root, "name")).line, 2);
	assert_text(
	    text, at(root, "list"), "[ 1,\n  { x = 'y', z.w = 2.5 }, # c\n ]");
	ck_assert_uint_eq(toml_mark_of(at(root, "list")).line, 3);
	assert_text(text, at(root, "list.0"), "1");
	assert_text(text, at(root, "list.1"), "{ x = 'y', z.w = 2.5 }");
	assert_text(text, at(root, "list.1.x"), "'y'");
	assert_text(text, at(root, "list.1.z"), "");
	assert_text(text, at(root, "list.1.z.w"), "2.5");
	ck_assert_uint_eq(toml_mark_of(at(root, "list.1.z.w")).line, 4);
	ck_assert_uint_eq(toml_mark_of(at(root, "list.1")).tail, 0);
	assert_text(text, at(root, "a.b c.d"), "true");
	assert_text(text, at(root, "a.b c"), "");
	ck_assert_uint_eq(toml_mark_of(at(root, "a.b c")).line, 6);
	ck_assert_uint_eq(toml_mark_of(at(root, "a")).tail, 0);
	ck_assert_uint_eq(toml_mark_of(root).end, strlen(text));
	json_object_put(root);
}

TEST(tables_know_header_and_tail)
{
	const char *text = "k = 1 # one\r\n"
			   "\r\n"
			   "# about a\r\n"
			   "  [ a . 'b' ] # two\r\n"
			   "x = [\r\n1 ]\r\n"
			   "# inside\r\n"
			   "y = 2\r\n"
			   "# behind\r\n"
			   "\r\n"
			   "[[list]]\r\n"
			   "[[list]]\r\n"
			   "z = 3";
	struct json_object *root = parse(text);

	assert_tail(text, root, strstr(text, "\r\n# about a"));
	assert_text(text, at(root, "a.b"), "[ a . 'b' ]");
	ck_assert_uint_eq(toml_mark_of(at(root, "a.b")).line, 4);
	assert_tail(text, at(root, "a.b"), strstr(text, "# behind"));
	ck_assert_uint_eq(toml_mark_of(at(root, "a")).tail, 0);
	assert_text(text, at(root, "a"), "");
	assert_text(text, at(root, "list"), "[[list]]");
	ck_assert_int_eq(toml_mark_of(at(root, "list")).type, TOML_ARRAY);
	ck_assert_uint_eq(toml_mark_of(at(root, "list")).line, 11);
	assert_tail(text, at(root, "list.0"), "[[list]]\r\nz = 3");
	assert_tail(text, at(root, "list.1"), "");
	ck_assert_uint_eq(toml_mark_of(at(root, "list.1")).line, 12);
	json_object_put(root);
}

TEST(implied_tables_take_their_late_header)
{
	const char *text = "[a.b]\nx = 1\n[a]\ny = 2\n# end\n";
	struct json_object *root = parse(text);

	assert_text(text, at(root, "a"), "[a]");
	ck_assert_uint_eq(toml_mark_of(at(root, "a")).line, 3);
	assert_tail(text, at(root, "a"), "# end\n");
	assert_tail(text, at(root, "a.b"), "[a]\ny = 2\n# end\n");
	json_object_put(root);
}

TEST(root_tail_without_keys)
{
	static const struct {
		const char *text;
		size_t tail;
	} cases[] = {
		{ "", 0 },
		{ "\xef\xbb\xbf", 3 },
		{ "[a]", 0 },
		{ "\xef\xbb\xbf[a]", 3 },
		{ "# top\n", 6 },
		{ "# top\n\n[a]\n", 7 },
		{ "# top\n\n  # about\n # a\n  [a]\n", 7 },
		{ "# about a\n[a]\n", 0 },
		{ "[a]\nb = 1\n", 0 },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct json_object *root = parse(cases[i].text);

		ck_assert_uint_eq(toml_mark_of(root).tail, cases[i].tail);
		json_object_put(root);
	}
}

static int
parse_repeated(const char *before, const char *piece, int times,
    const char *middle, const char *end_piece, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *root = NULL;
	unsigned line = 0;
	int r;

	buf_adds(&text, before);
	for (int i = 0; i < times; i++)
		buf_adds(&text, piece);
	buf_adds(&text, middle);
	for (int i = 0; i < times; i++)
		buf_adds(&text, end_piece);
	r = toml_parse(text.data, text.len, &root, &line, err);
	ck_assert((r == 0) == (root != NULL));
	ck_assert_uint_eq(line, r == 0 ? 0 : 2);
	json_object_put(root);
	return r;
}

TEST(depth_is_bounded)
{
	static const struct {
		const char *before, *piece, *middle, *end;
		int most; /* allowed number of repetitions */
	} cases[] = {
		{ "\na = ", "[", "", "]", TOML_DEPTH_MAX },
		{ "\na = ", "{a=", "1", "}", TOML_DEPTH_MAX - 1 },
		{ "\n", "a.", "a = 1", "", TOML_DEPTH_MAX - 1 },
		{ "\n[", "a.", "a]", "", TOML_DEPTH_MAX - 1 },
		{ "\n[[", "a.", "a]]", "", TOML_DEPTH_MAX - 2 },
	};
	struct err err;

	for (size_t i = 0; i < nitems(cases); i++) {
		for (int extra = 0; extra < 2; extra++) {
			int r = parse_repeated(cases[i].before, cases[i].piece,
			    cases[i].most + extra, cases[i].middle,
			    cases[i].end, &err);

			ck_assert_msg(r == (extra == 0 ? 0 : -E2BIG),
			    "case %zu extra %d: %d", i, extra, r);
		}
		ck_assert_int_eq(err.code, -E2BIG);
		ck_assert_str_eq(
		    err.msg, "line 2: nested more than 64 levels deep");
		ck_assert_int_eq(
		    parse_repeated(cases[i].before, cases[i].piece, 100000,
			cases[i].middle, cases[i].end, NULL),
		    -E2BIG);
	}
}

TEST(depth_counts_arrays_of_tables)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *root = NULL;
	struct err err;
	int i, r = 0;

	/* [[a]] [[a.a]] [[a.a.a]] ...: two levels each */
	for (i = 1; i < TOML_DEPTH_MAX && r == 0; i++) {
		buf_adds(&text, "[[a");
		for (int part = 1; part < i; part++)
			buf_adds(&text, ".a");
		buf_adds(&text, "]]\n");
		r = toml_parse(text.data, text.len, &root, NULL, &err);
		if (r == 0)
			json_object_put(root);
	}
	ck_assert_int_eq(r, -E2BIG);
	ck_assert_int_eq(i - 2, TOML_DEPTH_MAX / 2);
}

TEST(size_is_bounded)
{
	cleanup_free char *text = xmalloc(TOML_SIZE_MAX + 1);
	struct json_object *root = NULL;
	struct err err = { 0 };
	unsigned line = 0;

	memset(text, '\n', TOML_SIZE_MAX + 1);
	ck_assert_int_eq(
	    toml_parse(text, TOML_SIZE_MAX + 1, &root, &line, &err), -E2BIG);
	ck_assert_str_eq(err.msg, "the text is larger than 4 MiB");
	ck_assert_int_eq(err.code, -E2BIG);
	ck_assert_uint_eq(line, 1);
	ck_assert_ptr_null(root);
	ck_assert_int_eq(
	    toml_parse(text, TOML_SIZE_MAX, &root, &line, &err), 0);
	json_object_put(root);
}

TEST(text_needs_no_terminator)
{
	static const char *const texts[] = { "a = '", "a = \"\\", "a = \"\\u00",
		"a = 1", "a = 2024-02-29 ", "a = 2024-02-29 0", "[a", "[[a]",
		"a = '''", "a = \"\"\"\"", "a = {", "a = [", "a.", "#",
		"\r\n" };

	for (size_t i = 0; i < nitems(texts); i++) {
		size_t len = strlen(texts[i]);
		/* On the heap, so that reading past the end is detected. */
		cleanup_free char *bytes = xmalloc(len);
		struct json_object *root = NULL;

		memcpy(bytes, texts[i], len);
		toml_parse(bytes, len, &root, NULL, NULL);
		json_object_put(root);
	}
}

TEST(every_type_has_a_name)
{
	for (int type = 0; type < TOML_TYPE_COUNT; type++)
		ck_assert_ptr_nonnull(
		    toml_mark_type_name((enum toml_type)type));
	ck_assert_str_eq(toml_mark_type_name(TOML_STRING), "a string");
	ck_assert_str_eq(toml_mark_type_name(TOML_DATE_LOCAL), "a date");
	ck_assert_str_eq(toml_mark_type_name(TOML_TYPE_COUNT), "nothing");
}
