/* SPDX-License-Identifier: ISC */

#include "unit.h"

#define MAX 65536

static struct json_object *
parse(const char *text)
{
	struct json_object *value = NULL;
	struct err err;

	if (json_parse(text, strlen(text), MAX, &value, &err) < 0)
		ck_abort_msg("%s: %s", text, err.msg);
	return value;
}

static void
assert_prints(struct json_object *value, bool pretty, const char *expected)
{
	cleanup_buf struct buf out = BUF_INIT;

	json_print(value, pretty, &out);
	ck_assert_str_eq(out.data, expected);
	ck_assert_uint_eq(out.len, strlen(expected));
}

static void
assert_reads(const char *text, const char *expected)
{
	cleanup_json struct json_object *value = parse(text);

	assert_prints(value, false, expected);
}

static void
assert_refused(const char *bytes, size_t len, const char *words)
{
	struct json_object *value = (struct json_object *)&value;
	struct err err = { 0, "" };

	ck_assert_int_eq(json_parse(bytes, len, MAX, &value, &err), -EINVAL);
	ck_assert_ptr_eq(value, &value);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(json_parse(bytes, len, MAX, &value, NULL), -EINVAL);
}

TEST(reads_every_kind_of_value)
{
	assert_reads(" {\"a\" : [1, -2.5e3, true, false, null, \"x\"]}\r\n\t",
	    "{\"a\":[1,-2.5e3,true,false,null,\"x\"]}");
	assert_reads("[]", "[]");
	assert_reads("{}", "{}");
	assert_reads("3", "3");
	assert_reads("-7 ", "-7");
	assert_reads("\"s\"", "\"s\"");
	assert_reads("true", "true");
	assert_reads("1.5", "1.5");
	assert_reads("[0,-0.0,0e0,1E+2,1e-2]", "[0,-0.0,0e0,1E+2,1e-2]");
	assert_reads("{\"\":{\"\":[[]]}}", "{\"\":{\"\":[[]]}}");
}

TEST(reads_every_escape)
{
	cleanup_json struct json_object *value =
	    parse("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\"]");

	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(value, 0)),
	    "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80");
}

TEST(needs_no_terminating_nul)
{
	static const char *const texts[] = { "12", "[12]", "true", "\"a\"" };

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_json struct json_object *value = NULL;
		cleanup_free char *bytes = NULL;
		size_t len = strlen(texts[i]);

		/* A heap block of exactly that size, so that reading past the
		 * end is detected. */
		bytes = xmalloc(len);
		memcpy(bytes, texts[i], len);
		ck_assert_int_eq(json_parse(bytes, len, MAX, &value, NULL), 0);
		assert_prints(value, false, texts[i]);
	}
}

TEST(last_of_equal_keys_wins)
{
	assert_reads("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
}

TEST(half_a_surrogate_pair_is_replaced)
{
	assert_reads("[\"\\ud800\",\"\\udc00x\",\"\\ud800\\u0041\"]",
	    "[\"\xef\xbf\xbd\",\"\xef\xbf\xbdx\",\"\xef\xbf\xbd"
	    "A\"]");
}

static const struct {
	const char *text;
	const char *words;
} malformed[] = {
	{ "", "byte 0: unexpected end of data" },
	{ "  ", "byte 2: unexpected end of data" },
	{ "[", "byte 1: unexpected end of data" },
	{ "[1", "byte 2: unexpected end of data" },
	{ "{\"a\":", "byte 5: unexpected end of data" },
	{ "{\"a\":1,}", "byte 7: unexpected character" },
	{ "[1,]", "byte 3: unexpected character" },
	{ "[,1]", "byte 1: unexpected character" },
	{ "[1,,2]", "byte 3: unexpected character" },
	{ "[1 2]", "byte 3: array value separator ',' expected" },
	{ "[1}", "byte 2: array value separator ',' expected" },
	{ "]", "byte 0: unexpected character" },
	{ "{a:1}", "byte 1: unexpected character" },
	{ "{1:1}", "byte 1: quoted object property name expected" },
	{ "{'a':1}", "byte 1: unexpected character" },
	{ "['a']", "byte 1: unexpected character" },
	{ "{\"a\" 1}", "byte 5: object property name separator ':' expected" },
	{ "[1] x", "byte 4: unexpected character" },
	{ "[1] [2]", "byte 4: unexpected character" },
	{ "[1],", "byte 3: unexpected character" },
	{ "[1] // why", "byte 4: unexpected character" },
	{ "/* why */ [1]", "byte 0: unexpected character" },
	{ "[NaN]", "byte 1: unexpected character" },
	{ "[Infinity]", "byte 1: unexpected character" },
	{ "[-Infinity]", "byte 2: expected a digit" },
	{ "[True]", "byte 1: unexpected character" },
	{ "[nul]", "byte 1: unexpected character" },
	{ "[tru", "byte 1: unexpected character" },
	{ "[truex]", "byte 5: unexpected character" },
	{ "[01]", "byte 1: number with a leading zero" },
	{ "[-01]", "byte 1: number with a leading zero" },
	{ "[00]", "byte 1: number with a leading zero" },
	{ "[1.]", "byte 3: expected a digit" },
	{ "[.5]", "byte 1: unexpected character" },
	{ "[+1]", "byte 1: unexpected character" },
	{ "[-]", "byte 2: expected a digit" },
	{ "-", "byte 1: expected a digit" },
	{ "[1e]", "byte 3: expected a digit" },
	{ "[1e+]", "byte 4: expected a digit" },
	{ "[0x10]", "byte 2: unexpected character" },
	{ "[1.2.3]", "byte 4: unexpected character" },
	{ "[\"a\tb\"]", "byte 3: control character in a string" },
	{ "[\"a\nb\"]", "byte 3: control character in a string" },
	{ "[\"\\x\"]", "byte 3: unknown escape in a string" },
	{ "[\"\\", "byte 3: unknown escape in a string" },
	{ "[\"\\u12g4\"]", "byte 6: \\u needs four hex digits" },
	{ "[\"\\u12", "byte 6: \\u needs four hex digits" },
	{ "[\"a", "byte 3: unexpected end of data in a string" },
	{ "[\"\\u0000\"]", "byte 2: \\u0000 in a string" },
	{ "{\"a\\u0000b\":1}", "byte 3: \\u0000 in a string" },
	{ "[\"\xff\"]", "byte 2: invalid UTF-8" },
	{ "[\"\xc0\x80\"]", "byte 2: invalid UTF-8" },
	{ "[\"a\xed\xa0\x80\"]", "byte 3: invalid UTF-8" },
	{ "[\"\xf4\x90\x80\x80\"]", "byte 2: invalid UTF-8" },
	{ "[\"\xc3", "byte 2: invalid UTF-8" },
	{ "\xef\xbb\xbf[1]", "byte 0: unexpected character" },
	{ "[1\f]", "byte 2: unexpected character" },
	{ "null", "byte 4: expected a value, found null" },
	{ "[1,\n2,\n3 4]",
	    "byte 9 (line 3): array value separator ',' expected" },
};

TEST(malformed_text_is_refused_with_its_place)
{
	for (size_t i = 0; i < nitems(malformed); i++)
		assert_refused(malformed[i].text, strlen(malformed[i].text),
		    malformed[i].words);
}

TEST(a_nul_byte_is_refused_wherever_it_stands)
{
	assert_refused("[1]\0", 4, "byte 3: unexpected character");
	assert_refused("\0[1]", 4, "byte 0: unexpected character");
	assert_refused("[1\0]", 4, "byte 2: unexpected character");
	assert_refused(
	    "[\"a\0b\"]", 7, "byte 3: control character in a string");
	assert_refused("[\"\\\0\"]", 6, "byte 3: unknown escape in a string");
	assert_refused("[1.\0]", 5, "byte 3: expected a digit");
}

TEST(integers_that_would_be_bent_are_refused)
{
	assert_reads("[9223372036854775807,-9223372036854775808]",
	    "[9223372036854775807,-9223372036854775808]");
	assert_reads("[18446744073709551615]", "[18446744073709551615]");
	assert_refused(
	    "[18446744073709551616]", 22, "byte 1: integer out of range");
	assert_refused(
	    "[-9223372036854775809]", 22, "byte 1: integer out of range");
	assert_refused(
	    "[1,100000000000000000000]", 25, "byte 3: integer out of range");
	assert_reads("[100000000000000000000.0]", "[100000000000000000000.0]");
}

TEST(size_is_bounded)
{
	cleanup_json struct json_object *value = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(json_parse("[1,2]", 5, 5, &value, &err), 0);
	json_cleanup(&value);
	ck_assert_int_eq(json_parse("[1,2]", 5, 4, &value, &err), -E2BIG);
	ck_assert_ptr_null(value);
	ck_assert_str_eq(err.msg, "5 bytes are more than the 4 allowed");
	ck_assert_int_eq(
	    json_parse("[1,2]", SIZE_MAX, SIZE_MAX, &value, &err), -E2BIG);
}

static int
parse_nested(int depth, const char *open, const char *inner, const char *close)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *value = NULL;

	for (int i = 0; i < depth; i++)
		buf_adds(&text, open);
	buf_adds(&text, inner);
	for (int i = 0; i < depth; i++)
		buf_adds(&text, close);
	return json_parse(text.data, text.len, MAX, &value, NULL);
}

TEST(depth_is_bounded)
{
	const int max = JSON_DEPTH_MAX;

	ck_assert_int_eq(parse_nested(max, "[", "", "]"), 0);
	ck_assert_int_eq(parse_nested(max, "[", "1", "]"), 0);
	ck_assert_int_eq(parse_nested(max, "{\"a\":", "\"x\"", "}"), 0);
	ck_assert_int_eq(parse_nested(max + 1, "[", "", "]"), -E2BIG);
	ck_assert_int_eq(parse_nested(max + 1, "{\"a\":", "1", "}"), -E2BIG);
	ck_assert_int_eq(parse_nested(9999, "[", "", ""), -E2BIG);
	/* Brackets inside strings and side by side do not count. */
	ck_assert_int_eq(parse_nested(1, "[", "\"[[[[[[[[[[\"", "]"), 0);
	ck_assert_int_eq(parse_nested(200, "", "[[],[]]", ""), 0);
	ck_assert_int_eq(parse_nested(200, "", "]", "]"), -EINVAL);
}

static int
parse_list(const char *item, size_t count, size_t max, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *value = NULL;

	for (size_t i = 0; i < count; i++)
		buf_addf(&text, "%c%s", i == 0 ? '[' : ',', item);
	buf_addc(&text, ']');
	return json_parse(text.data, text.len, max, &value, err);
}

/* The list itself counts as 6. */
TEST(values_are_bounded)
{
	const size_t line = (size_t)4 * 1024 * 1024;
	const size_t least = JSON_WEIGHT_LEAST - 6, most = line / 4 - 6;
	struct err err = { 0, "" };

	ck_assert_int_eq(parse_list("1", least, MAX, NULL), 0);
	ck_assert_int_eq(parse_list("1", least + 1, MAX, &err), -E2BIG);
	ck_assert_int_eq(parse_list("\"\"", least + 1, MAX, NULL), -E2BIG);
	ck_assert_int_eq(parse_list("[]", least / 6, MAX, NULL), 0);
	ck_assert_int_eq(parse_list("[]", least / 6 + 1, MAX, NULL), -E2BIG);
	ck_assert_int_eq(parse_list("{}", least / 16, MAX, NULL), 0);
	ck_assert_int_eq(parse_list("{}", least / 16 + 1, MAX, NULL), -E2BIG);
	ck_assert_int_eq(
	    parse_list("{\"a\":1}", least / 18 + 1, MAX, NULL), -E2BIG);
	/* More bytes allow more values, but not without end. */
	ck_assert_int_eq(parse_list("{}", most / 16, line, NULL), 0);
	ck_assert_int_eq(parse_list("{}", line / 3 - 1, line, &err), -E2BIG);
	ck_assert_str_eq(err.msg, "byte 196606: too many values");
	ck_assert_int_eq(
	    parse_list("1", JSON_WEIGHT_MOST, 100 * line, NULL), -E2BIG);
	/* Blanks cost nothing. */
	ck_assert_int_eq(parse_list(" \n1\t ", least, MAX * 4, NULL), 0);
}

TEST(prints_on_one_line_or_indented)
{
	cleanup_json struct json_object *value =
	    parse("{\"a\":[1,{\"b\":\"x\\ny/z\\u2028\"}],\"c\":null}");

	assert_prints(
	    value, false, "{\"a\":[1,{\"b\":\"x\\ny/z\\u2028\"}],\"c\":null}");
	assert_prints(value, true,
	    "{\n"
	    "  \"a\": [\n"
	    "    1,\n"
	    "    {\n"
	    "      \"b\": \"x\\ny/z\\u2028\"\n"
	    "    }\n"
	    "  ],\n"
	    "  \"c\": null\n"
	    "}\n");
	assert_prints(NULL, false, "null");
	assert_prints(NULL, true, "null\n");
}

TEST(print_appends)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_json struct json_object *value = parse("[1]");

	buf_adds(&out, "x=");
	json_print(value, false, &out);
	ck_assert_str_eq(out.data, "x=[1]");
}

TEST(control_characters_are_escaped)
{
	cleanup_json struct json_object *object = json_object_new_object();

	json_set_string(object, "a\n", "\x01\x1f\r\n\t\"\\/");
	assert_prints(
	    object, false, "{\"a\\n\":\"\\u0001\\u001f\\r\\n\\t\\\"\\\\/\"}");
}

/* And mean the same when they are read again. */
TEST(characters_that_nobody_sees_are_escaped)
{
	const char *text = "a\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81";
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_json struct json_object *again = NULL;

	json_set_string(object, "k", text);
	assert_prints(
	    object, false, "{\"k\":\"a\\u007f\\u009b\\u202e\\udb40\\udc41\"}");
	again = parse("{\"k\":\"a\\u007f\\u009b\\u202e\\udb40\\udc41\"}");
	ck_assert_str_eq(json_string_or(again, "k", ""), text);
}

TEST(invalid_utf8_is_replaced_when_printed)
{
	cleanup_json struct json_object *object = json_object_new_object();

	json_set(object, "k\xff", json_object_new_string("a\xc3"));
	assert_prints(object, false, "{\"k\xef\xbf\xbd\":\"a\xef\xbf\xbd\"}");
}

TEST(saves_and_loads)
{
	const char *path = unit_path("doc.json");
	cleanup_json struct json_object *value = parse("{\"a\":[1,\"x\"]}");
	cleanup_json struct json_object *again = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(json_save(path, value, 0600, NULL), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(file_read(path, MAX, &text, NULL), 0);
	ck_assert_str_eq(
	    text.data, "{\n  \"a\": [\n    1,\n    \"x\"\n  ]\n}\n");
	ck_assert_int_eq(json_load(path, MAX, &again, NULL), 0);
	ck_assert(json_object_equal(value, again));
}

TEST(load_and_save_name_the_file)
{
	const char *path = unit_path("bad.json");
	struct json_object *value = NULL;
	struct err err = { 0, "" };
	cleanup_free char *words =
	    xasprintf("%s: byte 3 (line 2): unexpected character", path);

	ck_assert_int_eq(json_load(path, MAX, &value, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(file_replace(path, "[\n1x]", 5, 0600, NULL), 0);
	ck_assert_int_eq(json_load(path, MAX, &value, &err), -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(json_load(path, 4, &value, &err), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(json_load(path, 4, &value, NULL), -EFBIG);
	ck_assert_ptr_null(value);
	ck_assert_int_lt(
	    json_save(unit_path("none/doc.json"), NULL, 0600, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "none"));
}

TEST(gets_typed_members)
{
	cleanup_json struct json_object *o =
	    parse("{\"s\":\"x\",\"i\":-5,\"d\":1.5,\"b\":true,\"o\":{},"
		  "\"a\":[]}");
	struct json_object *value = NULL;
	const char *s = NULL;
	int64_t i = 0;
	double d = 0;
	bool b = false;

	ck_assert_int_eq(json_get_string(o, "", "s", &s, NULL), 0);
	ck_assert_str_eq(s, "x");
	ck_assert_int_eq(json_get_int(o, "", "i", -5, -5, &i, NULL), 0);
	ck_assert_int_eq(i, -5);
	ck_assert_int_eq(json_get_double(o, "", "d", &d, NULL), 0);
	ck_assert_double_eq(d, 1.5);
	ck_assert_int_eq(json_get_double(o, "", "i", &d, NULL), 0);
	ck_assert_double_eq(d, -5);
	ck_assert_int_eq(json_get_bool(o, "", "b", &b, NULL), 0);
	ck_assert(b);
	ck_assert_int_eq(json_get_object(o, "", "o", &value, NULL), 0);
	ck_assert(json_object_is_type(value, json_type_object));
	ck_assert_int_eq(json_get_array(o, "", "a", &value, NULL), 0);
	ck_assert(json_object_is_type(value, json_type_array));
}

/* Get the member as every type: each returns the code and leaves its
 * out-parameter unchanged. */
static void
assert_all_fail(
    struct json_object *o, const char *key, int code, const char *words)
{
	struct json_object *value = NULL;
	const char *s = "untouched";
	int64_t i = 42;
	double d = 42;
	bool b = true;
	struct err err = { 0, "" };

	ck_assert_int_eq(json_get_int(o, "at", key, 0, 1, &i, &err), code);
	ck_assert_int_eq(json_get_double(o, "at", key, &d, &err), code);
	ck_assert_int_eq(json_get_bool(o, "at", key, &b, &err), code);
	ck_assert_int_eq(json_get_object(o, "at", key, &value, &err), code);
	ck_assert_int_eq(json_get_array(o, "at", key, &value, &err), code);
	ck_assert_int_eq(json_get_string(o, "at", key, &s, &err), code);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(err.code, code);
	ck_assert_str_eq(s, "untouched");
	ck_assert_int_eq(i, 42);
	ck_assert_double_eq(d, 42);
	ck_assert(b);
	ck_assert_ptr_null(value);
}

TEST(missing_and_null_members_are_enoent)
{
	cleanup_json struct json_object *o = parse("{\"n\":null}");

	assert_all_fail(o, "n", -ENOENT, "at.n: missing");
	assert_all_fail(o, "x", -ENOENT, "at.x: missing");
}

TEST(looking_into_something_else_is_einval)
{
	cleanup_json struct json_object *o = parse("[1]");
	struct err err = { 0, "" };
	bool b;

	assert_all_fail(
	    o, "x", -EINVAL, "at: expected an object, found an array");
	assert_all_fail(
	    NULL, "x", -EINVAL, "at: expected an object, found null");
	ck_assert_int_eq(json_get_bool(o, "", "x", &b, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "expected an object, found an array");
}

TEST(wrong_types_are_named)
{
	cleanup_json struct json_object *o =
	    parse("{\"s\":\"x\",\"i\":5,\"b\":true,\"o\":{},\"a\":[]}");
	struct json_object *value = NULL;
	struct err err = { 0, "" };
	const char *s;
	int64_t i;
	double d;
	bool b;

	ck_assert_int_eq(
	    json_get_string(o, "workers.auto-1", "i", &s, &err), -EINVAL);
	ck_assert_str_eq(
	    err.msg, "workers.auto-1.i: expected a string, found a number");
	ck_assert_int_eq(json_get_int(o, "", "s", 0, 9, &i, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "s: expected an integer, found a string");
	ck_assert_int_eq(json_get_double(o, "", "b", &d, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "b: expected a number, found a boolean");
	ck_assert_int_eq(json_get_bool(o, "", "i", &b, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "i: expected a boolean, found a number");
	ck_assert_int_eq(json_get_object(o, "", "a", &value, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "a: expected an object, found an array");
	ck_assert_int_eq(json_get_array(o, "", "o", &value, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "o: expected an array, found an object");
}

TEST(numbers_out_of_range_are_refused)
{
	cleanup_json struct json_object *o =
	    parse("{\"i\":11,\"f\":3.0,\"u\":9223372036854775808,"
		  "\"max\":9223372036854775807,\"inf\":1e999}");
	struct err err = { 0, "" };
	int64_t i = 42;
	double d = 42;

	ck_assert_int_eq(json_get_int(o, "", "i", 0, 10, &i, &err), -EINVAL);
	ck_assert_str_eq(
	    err.msg, "i: expected an integer from 0 to 10, found 11");
	ck_assert_int_eq(json_get_int(o, "", "i", 12, 99, &i, &err), -EINVAL);
	ck_assert_int_eq(json_get_int(o, "", "f", 0, 10, &i, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "f: expected an integer, found 3.0");
	ck_assert_int_eq(
	    json_get_int(o, "", "u", INT64_MIN, INT64_MAX, &i, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "found 9223372036854775808"));
	ck_assert_int_eq(json_get_double(o, "", "inf", &d, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "inf: number out of range");
	ck_assert_int_eq(i, 42);
	ck_assert_double_eq(d, 42);
	ck_assert_int_eq(
	    json_get_int(o, "", "max", INT64_MIN, INT64_MAX, &i, NULL), 0);
	ck_assert_int_eq(i, INT64_MAX);
}

TEST(fallbacks_stand_in_for_missing_null_and_wrong)
{
	cleanup_json struct json_object *o =
	    parse("{\"s\":\"x\",\"i\":5,\"b\":true,\"n\":null,"
		  "\"u\":9223372036854775808}");

	ck_assert_str_eq(json_string_or(o, "s", "f"), "x");
	ck_assert_str_eq(json_string_or(o, "i", "f"), "f");
	ck_assert_str_eq(json_string_or(o, "n", "f"), "f");
	ck_assert_ptr_null(json_string_or(o, "none", NULL));
	ck_assert_int_eq(json_int_or(o, "i", -1), 5);
	ck_assert_int_eq(json_int_or(o, "s", -1), -1);
	ck_assert_int_eq(json_int_or(o, "u", -1), -1);
	ck_assert_int_eq(json_int_or(o, "none", -1), -1);
	ck_assert(json_bool_or(o, "b", false));
	ck_assert(!json_bool_or(o, "i", false));
	ck_assert(json_bool_or(o, "none", true));
	ck_assert_str_eq(json_string_or(NULL, "s", "f"), "f");
	ck_assert_int_eq(json_int_or(NULL, "i", 7), 7);
}

TEST(setters_build_an_object)
{
	cleanup_json struct json_object *o = json_object_new_object();
	char text[] = "copied";

	json_set_string(o, "s", text);
	text[0] = 'X';
	json_set_string(o, "n", NULL);
	json_set_string(o, "bad", "a\xff\xc0z");
	json_set_int(o, "i", INT64_MIN);
	json_set_bool(o, "b", false);
	json_set(o, "o", json_object_new_object());
	json_set(o, "null", NULL);
	json_set_int(o, "s2", 1);
	json_set_int(o, "s2", 2);
	assert_prints(o, false,
	    "{\"s\":\"copied\",\"n\":null,"
	    "\"bad\":\"a\xef\xbf\xbd\xef\xbf\xbdz\","
	    "\"i\":-9223372036854775808,\"b\":false,\"o\":{},\"null\":null,"
	    "\"s2\":2}");
	/* The whole string is stored, not only printed. */
	ck_assert_str_eq(
	    json_string_or(o, "bad", ""), "a\xef\xbf\xbd\xef\xbf\xbdz");
}

TEST(types_have_words)
{
	cleanup_json struct json_object *a =
	    parse("[null,true,1.5,1,{},[],\"s\"]");
	static const char *const words[] = { "null", "a boolean", "a number",
		"a number", "an object", "an array", "a string" };

	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_str_eq(
		    json_type_words(json_object_array_get_idx(a, i)), words[i]);
}

TEST(paths_are_joined)
{
	cleanup_buf struct buf out = BUF_INIT;

	json_path_key(&out, "", "a");
	json_path_key(&out, ",a", "b");
	json_path_index(&out, ",a", 3);
	json_path_index(&out, ",", 0);
	ck_assert_str_eq(out.data, "a,a.b,a[3],[0]");
	buf_clear(&out);
	json_path_key(&out, "", "\x1b[31m\n");
	ck_assert_ptr_null(strchr(out.data, '\x1b'));
	ck_assert_ptr_null(strchr(out.data, '\n'));
}

/* Outside bytes may have any type anywhere. */
TEST(members_and_lengths_of_any_value)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *list;

	ck_assert_int_eq(json_parse("{\"a\":[1,2],\"b\":\"x\",\"c\":null}", 28,
			     100, &json, NULL),
	    0);
	list = json_member(json, "a");
	ck_assert_uint_eq(json_length(list), 2);
	ck_assert_ptr_null(json_member(list, "a"));
	ck_assert_ptr_null(json_member(json_member(json, "b"), "a"));
	ck_assert_ptr_null(json_member(json, "c"));
	ck_assert_ptr_null(json_member(NULL, "a"));
	ck_assert_uint_eq(json_length(json), 0);
	ck_assert_uint_eq(json_length(json_member(json, "b")), 0);
	ck_assert_uint_eq(json_length(NULL), 0);
}
