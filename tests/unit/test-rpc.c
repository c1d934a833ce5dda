/* SPDX-License-Identifier: ISC */

#include "rpc.h"
#include "unit.h"

static struct rpc_message
decode(const char *line)
{
	struct rpc_message m;
	struct err err;

	if (rpc_decode(line, strlen(line), &m, NULL, NULL, &err) < 0)
		ck_abort_msg("%s: %s", line, err.msg);
	return m;
}

static void
assert_json(struct json_object *value, const char *expected)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(value, false, &text);
	ck_assert_str_eq(text.data, expected);
}

/* id NULL: none to answer to. */
static void
assert_refused(const char *line, int code, const char *id, const char *words)
{
	struct rpc_message m = { .code = 42 };
	cleanup_json struct json_object *got_id = NULL;
	struct err err = { 0, "" };
	int got_code = 0;

	ck_assert_int_eq(
	    rpc_decode(line, strlen(line), &m, &got_code, &got_id, &err),
	    -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_int_eq(got_code, code);
	assert_json(got_id, id == NULL ? "null" : id);
	ck_assert_int_eq(m.code, 42);
	ck_assert_ptr_null(m.root);
	ck_assert_int_eq(
	    rpc_decode(line, strlen(line), &m, NULL, NULL, NULL), -EINVAL);
}

TEST(decodes_a_request)
{
	struct rpc_message m = decode("{\"jsonrpc\":\"2.0\",\"id\":\"a-1\","
				      "\"method\":\"go\",\"params\":{\"x\":1},"
				      "\"unknown\":[]}");

	ck_assert_int_eq(m.kind, RPC_REQUEST);
	ck_assert_str_eq(m.method, "go");
	assert_json(m.id, "\"a-1\"");
	assert_json(m.params, "{\"x\":1}");
	rpc_message_release(&m);
	ck_assert_ptr_null(m.root);
	rpc_message_release(&m);
}

TEST(decodes_a_notification)
{
	struct rpc_message m =
	    decode("{\"jsonrpc\":\"2.0\",\"method\":\"tick\"}");

	ck_assert_int_eq(m.kind, RPC_NOTIFICATION);
	ck_assert_str_eq(m.method, "tick");
	ck_assert_ptr_null(m.id);
	ck_assert_ptr_null(m.params);
	rpc_message_release(&m);
	m = decode("{\"method\":\"\",\"params\":[1],\"jsonrpc\":\"2.0\"}");
	ck_assert_int_eq(m.kind, RPC_NOTIFICATION);
	assert_json(m.params, "[1]");
	rpc_message_release(&m);
}

TEST(decodes_a_result)
{
	struct rpc_message m =
	    decode("{\"jsonrpc\":\"2.0\",\"id\":-7,\"result\":[true]}");

	ck_assert_int_eq(m.kind, RPC_RESULT);
	assert_json(m.id, "-7");
	assert_json(m.result, "[true]");
	rpc_message_release(&m);
	m = decode("{\"jsonrpc\":\"2.0\",\"id\":\"\",\"result\":null}");
	ck_assert_int_eq(m.kind, RPC_RESULT);
	ck_assert_ptr_null(m.result);
	rpc_message_release(&m);
}

TEST(decodes_an_error)
{
	struct rpc_message m =
	    decode("{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{"
		   "\"code\":-32601,\"message\":\"no\",\"data\":[1]}}");

	ck_assert_int_eq(m.kind, RPC_ERROR);
	ck_assert_int_eq(m.code, RPC_METHOD_NOT_FOUND);
	ck_assert_str_eq(m.message, "no");
	assert_json(m.id, "3");
	assert_json(m.data, "[1]");
	rpc_message_release(&m);
	m = decode("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
		   "\"code\":1,\"message\":\"\"}}");
	ck_assert_int_eq(m.kind, RPC_ERROR);
	ck_assert_ptr_null(m.id);
	ck_assert_ptr_null(m.data);
	rpc_message_release(&m);
}

TEST(ids_come_back_as_they_came)
{
	static const char *const ids[] = { "0", "-9223372036854775808",
		"18446744073709551615", "\"\"", "\"1\"",
		"\"\\n\xf0\x9f\x98\x80\"" };

	for (size_t i = 0; i < nitems(ids); i++) {
		cleanup_buf struct buf line = BUF_INIT, out = BUF_INIT;
		struct rpc_message m;

		buf_addf(&line,
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":null}", ids[i]);
		m = decode(line.data);
		rpc_encode_result(&out, m.id, m.result);
		rpc_message_release(&m);
		buf_addc(&line, '\n');
		ck_assert_str_eq(out.data, line.data);
	}
}

TEST(what_is_no_json_is_a_parse_error)
{
	cleanup_buf struct buf deep = BUF_INIT;

	assert_refused("{\"id\":1,", RPC_PARSE_ERROR, NULL,
	    "byte 8: unexpected end of data");
	assert_refused(
	    "", RPC_PARSE_ERROR, NULL, "byte 0: unexpected end of data");
	for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
		buf_addc(&deep, '[');
	assert_refused(
	    deep.data, RPC_PARSE_ERROR, NULL, "byte 64: nested too deeply");
}

static const struct {
	const char *line;
	const char *id;
	const char *words;
} invalid[] = {
	{ "[]", NULL,
	    "expected an object, found an array: batches are not supported" },
	{ "3", NULL, "expected an object, found a number" },
	{ "{}", NULL, "jsonrpc: missing" },
	{ "{\"id\":1,\"method\":\"m\"}", "1", "jsonrpc: missing" },
	{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "1",
	    "jsonrpc: expected \"2.0\"" },
	{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", "1",
	    "jsonrpc: expected a string, found a number" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"x\"}", "\"x\"",
	    "expected one of method, result and error, found none" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":1}", "1",
	    "expected one of method, result and error, found several" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null,\"error\":{"
	  "\"code\":1,\"message\":\"\"}}",
	    "1", "expected one of method, result and error, found several" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", "1",
	    "method: expected a string, found a number" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", "1",
	    "method: missing" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":\"x\"}",
	    "1", "params: expected an object or an array, found a string" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}",
	    "1", "params: expected an object or an array, found null" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", NULL,
	    "id: expected a string or an integer, found null" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", NULL,
	    "id: expected a string or an integer, found 1.0" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", NULL,
	    "id: expected a string or an integer, found a boolean" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":1}", NULL,
	    "id: expected a string or an integer, found an object" },
	{ "{\"jsonrpc\":\"2.0\",\"result\":1}", NULL,
	    "id: missing in a result" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":1}", NULL,
	    "id: missing in a result" },
	{ "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"}}", NULL,
	    "id: missing in an error" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", "1",
	    "error: expected an object, found a string" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}", "1",
	    "error: missing" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"\"}}", "1",
	    "error.code: missing" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,"
	  "\"message\":\"\"}}",
	    "1", "error.code: expected an integer, found 1.5" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":2147483648,"
	  "\"message\":\"\"}}",
	    "1",
	    "error.code: expected an integer from -2147483648 to 2147483647, "
	    "found 2147483648" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", "1",
	    "error.message: missing" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,"
	  "\"message\":[]}}",
	    "1", "error.message: expected a string, found an array" },
};

TEST(what_is_no_message_is_an_invalid_request)
{
	for (size_t i = 0; i < nitems(invalid); i++)
		assert_refused(invalid[i].line, RPC_INVALID_REQUEST,
		    invalid[i].id, invalid[i].words);
}

TEST(a_line_over_the_bound_is_e2big)
{
	cleanup_free char *line = xmalloc(RPC_LINE_MAX + 1);
	static const char start[] = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";
	cleanup_json struct json_object *id = NULL;
	struct rpc_message m;
	struct err err = { 0, "" };
	int code = 0;

	memset(line, ' ', RPC_LINE_MAX + 1);
	memcpy(line, start, strlen(start));
	ck_assert_int_eq(
	    rpc_decode(line, RPC_LINE_MAX, &m, &code, &id, &err), 0);
	ck_assert_int_eq(code, 0);
	rpc_message_release(&m);
	ck_assert_int_eq(
	    rpc_decode(line, RPC_LINE_MAX + 1, &m, &code, &id, &err), -E2BIG);
	ck_assert_int_eq(err.code, -E2BIG);
	ck_assert_int_eq(code, RPC_PARSE_ERROR);
	ck_assert_ptr_null(id);
}

TEST(encodes_one_line_each)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_json struct json_object *id = json_object_new_int(5);
	cleanup_json struct json_object *params = json_object_new_object();

	json_set_string(params, "text", "two\nlines");
	rpc_encode_request(&out, id, "a/b", params);
	rpc_encode_request(&out, NULL, "tick\n\xff", NULL);
	rpc_encode_result(&out, id, params);
	rpc_encode_result(&out, id, NULL);
	rpc_encode_error(&out, id, RPC_INTERNAL_ERROR, "a \"b\"", params);
	rpc_encode_error(&out, NULL, RPC_PARSE_ERROR, "", NULL);
	ck_assert_str_eq(out.data,
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"a/b\","
	    "\"params\":{\"text\":\"two\\nlines\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"tick\\n\xef\xbf\xbd\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":5,"
	    "\"result\":{\"text\":\"two\\nlines\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,"
	    "\"message\":\"a \\\"b\\\"\",\"data\":{\"text\":\"two\\nlines\"}}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
	    "\"message\":\"\"}}\n");
}

/* Everything the reader returns now: lines between bars, ! for too long. */
static void
drain(struct rpc_reader *reader, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;
	int r;

	while ((r = rpc_reader_next(reader, &line)) != 0) {
		if (r == -E2BIG)
			buf_adds(out, "!|");
		else {
			ck_assert_int_eq(r, 1);
			buf_add(out, line.data, line.len);
			buf_addc(out, '|');
		}
	}
}

/* Fed in pieces of every size, drained after each or only at the end. */
static void
assert_lines(const char *bytes, size_t max, const char *expected)
{
	size_t len = strlen(bytes), part;

	for (size_t piece = 1; piece <= len; piece++) {
		for (int late = 0; late < 2; late++) {
			cleanup_buf struct buf out = BUF_INIT;
			struct rpc_reader reader;

			rpc_reader_init(&reader, max);
			for (size_t at = 0; at < len; at += part) {
				part = len - at < piece ? len - at : piece;
				rpc_reader_feed(&reader, bytes + at, part);
				if (!late)
					drain(&reader, &out);
			}
			drain(&reader, &out);
			rpc_reader_release(&reader);
			ck_assert_str_eq(out.data, expected);
		}
	}
}

TEST(lines_are_cut_however_they_arrive)
{
	assert_lines(
	    "one\ntwo\r\n\n\r\n  \t\nthree\nrest", 0, "one|two|three|");
	assert_lines("a\rb\r\r\n", 0, "a\rb\r|");
	assert_lines(" x \n", 0, " x |");
}

TEST(long_lines_are_skipped_once_each)
{
	assert_lines("12345\n123456\n12345\n", 5, "12345|!|12345|");
	assert_lines("1234567890abcdef\nok\n1234567\n", 5, "!|ok|!|");
	assert_lines("1234\r\n12345\r\nok\n", 5, "1234|!|ok|");
	assert_lines("ok\n1234567890", 5, "ok|!|");
	assert_lines("      \nok\n", 5, "!|ok|");
}

TEST(nul_bytes_stay_in_the_line)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_reader reader;

	rpc_reader_init(&reader, 0);
	rpc_reader_feed(&reader, "a\0b\n", 4);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 1);
	ck_assert_uint_eq(line.len, 3);
	ck_assert(memcmp(line.data, "a\0b", 3) == 0);
	rpc_reader_release(&reader);
}

TEST(only_a_line_touches_the_buffer)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_reader reader;

	buf_adds(&line, "old");
	rpc_reader_init(&reader, 2);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 0);
	rpc_reader_feed(&reader, NULL, 0);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 0);
	rpc_reader_feed(&reader, "long", 4);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), -E2BIG);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 0);
	ck_assert_str_eq(line.data, "old");
	rpc_reader_feed(&reader, "er\nab\n", 6);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 1);
	ck_assert_str_eq(line.data, "ab");
	rpc_reader_release(&reader);
}

TEST(an_endless_line_takes_no_memory)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_reader reader;
	char block[4096];

	memset(block, 'x', sizeof block);
	rpc_reader_init(&reader, 1000);
	for (int i = 0; i < 1000; i++) {
		rpc_reader_feed(&reader, block, sizeof block);
		ck_assert_uint_le(reader.pending.len, 1001);
	}
	ck_assert_int_eq(rpc_reader_next(&reader, &line), -E2BIG);
	for (int i = 0; i < 1000; i++) {
		rpc_reader_feed(&reader, block, sizeof block);
		ck_assert_int_eq(rpc_reader_next(&reader, &line), 0);
		ck_assert_uint_eq(reader.pending.len, 0);
	}
	ck_assert_uint_le(reader.pending.cap, 2048);
	rpc_reader_feed(&reader, "\nok\n", 4);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 1);
	ck_assert_str_eq(line.data, "ok");
	rpc_reader_release(&reader);
}

TEST(a_reader_can_be_used_again)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_reader reader;

	rpc_reader_init(&reader, 3);
	rpc_reader_feed(&reader, "12345", 5);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), -E2BIG);
	rpc_reader_release(&reader);
	rpc_reader_feed(&reader, "ab\n1234\n", 8);
	ck_assert_int_eq(rpc_reader_next(&reader, &line), 1);
	ck_assert_str_eq(line.data, "ab");
	ck_assert_int_eq(rpc_reader_next(&reader, &line), -E2BIG);
	rpc_reader_release(&reader);
}
