/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "api.h"
#include "guard.h"
#include "mcp.h"

static const struct mcp_server all = { .version = "1.2", .session = "3" };

static struct mcp_ask ask = { .answer = BUF_INIT };

static enum mcp_kind
hear(const char *line)
{
	mcp_ask_release(&ask);
	mcp_read(&all, line, strlen(line), &ask);
	return ask.kind;
}

/* The whole line that is answered. */
static const char *
answer(const char *line)
{
	ck_assert_int_eq(hear(line), MCP_ANSWER);
	return ask.answer.data;
}

#define assert_answer(line, wanted) ck_assert_str_eq(answer(line), wanted "\n")

void
unit_after(void)
{
	mcp_ask_release(&ask);
}

TEST(the_probes_of_the_real_client_are_answered)
{
	assert_answer(
	    "{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\","
	    "\"method\":\"server/discover\",\"params\":{\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
	    "{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\","
	    "\"error\":{\"code\":-32601,\"message\":\"method not found\"}}");
	assert_answer("{\"method\":\"initialize\",\"params\":{"
		      "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		      "\"clientInfo\":{\"name\":\"claude-code\",\"version\":"
		      "\"2.1.328\"}},\"jsonrpc\":\"2.0\",\"id\":0}",
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{"
	    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{"
	    "\"listChanged\":true}},\"serverInfo\":{\"name\":\"llmc\",\"version\":\"1.2\"},"
	    "\"instructions\":\"llmc runs this session without a person beside "
	    "it, and these are its tools: mail and reservations of files among "
	    "agents too. If your prompt asks for it, end your work with "
	    "report_completion. What you cannot decide yourself, ask with "
	    "request_orchestrator. Mail reaches you by itself: do not poll "
	    "mail_inbox. agent_spawn starts whole agents; for reading and "
	    "searching your own subagents are cheaper.\"}}");
	ck_assert_int_eq(hear("{\"jsonrpc\":\"2.0\","
			      "\"method\":\"notifications/initialized\"}"),
	    MCP_NOTHING);
	assert_answer("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}");
}

static const struct {
	const char *asked, *agreed;
} versions[] = {
	{ "\"2025-11-25\"", "2025-11-25" },
	{ "\"2025-06-18\"", "2025-06-18" },
	{ "\"2024-11-05\"", "2024-11-05" },
	/* With batches, which are not spoken here. */
	{ "\"2025-03-26\"", "2025-11-25" },
	{ "\"2031-01-01\"", "2025-11-25" },
	{ "\"\"", "2025-11-25" },
	{ "5", "2025-11-25" },
	{ "null", "2025-11-25" },
};

TEST_ROWS(a_known_version_is_agreed_to_else_ours_is_offered, nitems(versions))
{
	cleanup_buf struct buf line = BUF_INIT, wanted = BUF_INIT;

	buf_addf(&line,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
	    "\"params\":{\"protocolVersion\":%s}}",
	    versions[_i].asked);
	buf_addf(&wanted, "{\"protocolVersion\":\"%s\",", versions[_i].agreed);
	ck_assert_ptr_nonnull(strstr(answer(line.data), wanted.data));
}

static const char *const ids[] = { "0", "-1", "1.50", "1e3", "\"\"", "\"a b\"",
	"\"\xc3\xa9\\u0001\"", "9007199254740993", "18446744073709551615",
	"-9223372036854775808", "null" };

TEST_ROWS(ids_are_echoed_as_they_came, nitems(ids))
{
	cleanup_buf struct buf line = BUF_INIT, wanted = BUF_INIT;

	buf_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
	    ids[_i]);
	buf_addf(&wanted, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n",
	    ids[_i]);
	ck_assert_str_eq(answer(line.data), wanted.data);
}

static const struct {
	const char *line;
	const char *answer; /* its beginning; NULL = none */
} odd[] = {
	{ "", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700," },
	{ "x", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700," },
	{ "[]",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600," },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600," },
	{ "3", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600," },
	{ "{}",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600," },
	{ "{\"id\":1,\"method\":\"ping\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600," },
	{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
	/* A notification is never answered. */
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}", NULL },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":[]}", NULL },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", NULL },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
	    NULL },
	/* We have asked for nothing. */
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", NULL },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,"
	  "\"message\":\"x\"}}",
	    NULL },
};

TEST_ROWS(odd_lines_are_answered_as_json_rpc_says, nitems(odd))
{
	if (odd[_i].answer == NULL)
		ck_assert_int_eq(hear(odd[_i].line), MCP_NOTHING);
	else
		ck_assert_msg(strncmp(answer(odd[_i].line), odd[_i].answer,
				  strlen(odd[_i].answer)) == 0,
		    "%s", ask.answer.data);
}

/* --- the list --------------------------------------------------------- */

static void assert_plain(struct json_object *schema, const char *tool);

static void
assert_plain_members(struct json_object *schema, const char *tool)
{
	json_object_object_foreach(schema, key, member)
	{
		(void)key;
		assert_plain(member, tool);
	}
}

static void
assert_plain(struct json_object *schema, const char *tool)
{
	static const char *const never[] = { "anyOf", "oneOf", "allOf", "not",
		"$ref", "$schema" };

	if (json_object_is_type(schema, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(schema); i++)
			assert_plain(
			    json_object_array_get_idx(schema, i), tool);
		return;
	}
	if (!json_object_is_type(schema, json_type_object))
		return;
	for (size_t i = 0; i < nitems(never); i++)
		ck_assert_msg(
		    !json_object_object_get_ex(schema, never[i], NULL),
		    "%s has %s", tool, never[i]);
	assert_plain_members(schema, tool);
}

static void
assert_tool(struct json_object *tool)
{
	const char *name = json_string_or(tool, "name", "");
	struct json_object *schema = NULL, *members = NULL, *required = NULL;

	ck_assert_uint_gt(strlen(name), 0);
	ck_assert_uint_eq(
	    strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
	ck_assert_uint_gt(strlen(json_string_or(tool, "description", "")), 0);
	ck_assert(json_object_object_get_ex(tool, "inputSchema", &schema));
	ck_assert_str_eq(json_string_or(schema, "type", ""), "object");
	ck_assert(json_object_object_get_ex(schema, "properties", &members));
	ck_assert(!json_object_object_get_ex(members, "worker", NULL));
	ck_assert(!json_object_object_get_ex(members, "call", NULL));
	json_object_object_get_ex(schema, "required", &required);
	ck_assert_ptr_null(
	    strstr(json_object_to_json_string(required), "call"));
	assert_plain(schema, name);
}

TEST(the_schema_names_what_a_report_must_have)
{
	cleanup_json struct json_object *list = mcp_tools(&all);
	const char *text =
	    json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN);

	ck_assert_ptr_nonnull(strstr(text, "\"required\":[\"summary\"]"));
	ck_assert_ptr_nonnull(strstr(text, "\"minimum\":0,\"maximum\":100"));
}

/* Claude Code sends those that it always loads with every request, and of the
 * others the names. */
TEST(few_tools_are_always_in_the_request)
{
	cleanup_json struct json_object *list = mcp_tools(&all);
	struct json_object *meta;
	size_t size = 0, loaded = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *tool = json_object_array_get_idx(list, i);

		meta = json_member(tool, "_meta");
		if (meta == NULL) {
			size += strlen(json_string_or(tool, "name", "")) + 11;
			continue;
		}
		ck_assert(json_bool_or(meta, "anthropic/alwaysLoad", false));
		size += strlen(json_object_to_json_string_ext(
		    tool, JSON_C_TO_STRING_PLAIN));
		loaded++;
	}
	ck_assert_uint_eq(loaded, 3);
	ck_assert_msg(size <= 3500, "%zu bytes", size);
}

TEST(every_tool_of_the_table_is_listed)
{
	cleanup_json struct json_object *list = mcp_tools(&all);
	size_t rows = 0;

	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		rows += (m->flags & API_TOOL) != 0;
	ck_assert_uint_eq(json_object_array_length(list), rows);
	ck_assert_uint_ge(rows, 13);
	for (size_t i = 0; i < rows; i++)
		assert_tool(json_object_array_get_idx(list, i));
	/* All at once, whatever page is asked for. */
	ck_assert_ptr_nonnull(
	    strstr(answer("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			  "\"tools/list\",\"params\":{\"cursor\":\"x\"}}"),
		"report_completion"));
	ck_assert_ptr_null(strstr(ask.answer.data, "nextCursor"));
}

TEST(a_session_may_have_only_some_of_them)
{
	static char send[] = "mail_send", report[] = "report_progress";
	static char *names[] = { send, report, NULL };
	static const struct guard_policy policy = {
		.tools.all = true, .llmc_scoped = true, .llmc_tools = names
	};
	static const struct mcp_server some = { .version = "1.2",
		.policy = &policy };
	static const char line[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"agent_spawn\",\"arguments\":{}}}";
	cleanup_json struct json_object *list = mcp_tools(&some);

	ck_assert_uint_eq(json_object_array_length(list), 2);
	ck_assert_uint_ne(mcp_tools_mark(&some), mcp_tools_mark(&all));
	mcp_read(&some, line, strlen(line), &ask);
	ck_assert_int_eq(ask.kind, MCP_ANSWER);
	ck_assert_str_eq(ask.answer.data,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
	    "\"text\",\"text\":\"E_UNAUTHORIZED: this session may not use this "
	    "tool\"}],\"isError\":true}}\n");
}

/* --- calls ------------------------------------------------------------ */

static const char *
params(void)
{
	return json_object_to_json_string_ext(
	    ask.params, JSON_C_TO_STRING_NOSLASHESCAPE);
}

TEST(a_call_goes_to_the_daemon_with_an_id_of_its_own)
{
	ck_assert_int_eq(
	    hear("{\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"report_progress\",\"arguments\":{\"phase\":\"half\"},"
		 "\"_meta\":{\"claudecode/toolUseId\":\"toolu_1\","
		 "\"progressToken\":2}},\"jsonrpc\":\"2.0\",\"id\":2}"),
	    MCP_CALL);
	ck_assert_str_eq(ask.method->name, "team.report_progress");
	ck_assert_int_eq(json_object_get_int(ask.id), 2);
	ck_assert_str_eq(
	    params(), "{\"phase\":\"half\",\"call\":\"3/toolu_1\"}");
	ck_assert_int_gt(ask.wait_ms, 60000);
}

TEST(nobody_speaks_as_another)
{
	ck_assert_int_eq(
	    hear("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"mail_inbox\",\"arguments\":{"
		 "\"worker\":\"eve\",\"call\":\"3/toolu_of_eve\"}}}"),
	    MCP_CALL);
	ck_assert_str_eq(params(), "{}");
}

TEST(a_call_may_have_no_arguments)
{
	ck_assert_int_eq(
	    hear("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"mail_inbox\",\"arguments\":null}}"),
	    MCP_CALL);
	ck_assert_str_eq(params(), "{}");
}

static const struct {
	const char *params;
	const char *message;
} bad_calls[] = {
	{ "{}", "params.name: expected the name of a tool" },
	{ "{\"name\":5}", "params.name: expected the name of a tool" },
	{ "{\"name\":\"team.mail_inbox\"}", "no such tool" },
	/* A method, but no tool. */
	{ "{\"name\":\"tree\"}", "no such tool" },
	{ "{\"name\":\"nuke\"}", "no such tool" },
	{ "{\"name\":\"mail_inbox\",\"arguments\":[]}",
	    "params.arguments: expected an object" },
	{ "{\"name\":\"mail_inbox\",\"arguments\":\"{}\"}",
	    "params.arguments: expected an object" },
};

TEST_ROWS(a_call_of_nothing_is_refused, nitems(bad_calls))
{
	cleanup_buf struct buf line = BUF_INIT, wanted = BUF_INIT;

	buf_addf(&line,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\","
	    "\"params\":%s}",
	    bad_calls[_i].params);
	buf_addf(&wanted,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"error\":{\"code\":-32602,"
	    "\"message\":\"%s\"}}\n",
	    bad_calls[_i].message);
	ck_assert_str_eq(answer(line.data), wanted.data);
}

static const struct {
	const char *tool, *arguments;
	int64_t least_ms;
} waits[] = {
	{ "mail_inbox", "{}", 60000 },
	{ "mail_inbox", "{\"timeoutSeconds\":3600}", 60000 },
	{ "request_orchestrator", "{}", 300000 + 60000 },
	{ "request_orchestrator", "{\"timeoutSeconds\":1}", 10000 + 60000 },
	{ "request_orchestrator", "{\"timeoutSeconds\":3600}",
	    3600000 + 60000 },
	{ "request_orchestrator", "{\"timeoutSeconds\":1000000000}",
	    3600000 + 60000 },
};

/* The client must not give up before us, nor we before the daemon. */
TEST_ROWS(a_call_waits_as_long_as_its_tool_does, nitems(waits))
{
	cleanup_buf struct buf line = BUF_INIT;

	buf_addf(&line,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
	    waits[_i].tool, waits[_i].arguments);
	ck_assert_int_eq(hear(line.data), MCP_CALL);
	ck_assert_int_ge(ask.wait_ms, waits[_i].least_ms);
	ck_assert_int_lt(ask.wait_ms, waits[_i].least_ms + 300000);
	ck_assert_int_lt(ask.wait_ms, MCP_TOOL_TIMEOUT_MS);
	if (strcmp(waits[_i].tool, "request_orchestrator") == 0)
		ck_assert_ptr_nonnull(strstr(ask.late, "comes as mail"));
	else
		ck_assert_ptr_null(ask.late);
}

TEST(a_call_can_be_cancelled)
{
	ck_assert_int_eq(hear("{\"jsonrpc\":\"2.0\",\"method\":"
			      "\"notifications/cancelled\",\"params\":{"
			      "\"requestId\":17,\"reason\":\"x\"}}"),
	    MCP_CANCEL);
	ck_assert_int_eq(json_object_get_int(ask.id), 17);
}

/* --- answers ---------------------------------------------------------- */

TEST(the_daemons_answer_is_text_for_the_model)
{
	cleanup_json struct json_object *id = json_object_new_string("c");
	cleanup_json struct json_object *result =
	    json_tokener_parse("{\"ok\":true,\"name\":\"a \\\"b\\\"\"}");
	cleanup_buf struct buf out = BUF_INIT;

	mcp_result(&out, id, result);
	mcp_result(&out, NULL, NULL);
	ck_assert_str_eq(out.data,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{\"content\":[{"
	    "\"type\":\"text\",\"text\":\"{\\\"ok\\\":true,\\\"name\\\":\\\"a "
	    "\\\\\\\"b\\\\\\\"\\\"}\"}],\"isError\":false}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"content\":[{"
	    "\"type\":\"text\",\"text\":\"null\"}],\"isError\":false}}\n");
}

static const struct {
	int code;
	const char *text;
} refusals[] = {
	{ API_E_RATE, "E_RATE: because" },
	{ API_E_UNAUTHORIZED, "E_UNAUTHORIZED: because" },
	{ API_E_NOT_FOUND, "E_NOT_FOUND: because" },
	{ API_FAILED, "because" },
	{ API_UNKNOWN, "because" },
	{ -32602, "because" },
	{ 5, "because" },
};

TEST_ROWS(a_refusal_has_its_code_in_front, nitems(refusals))
{
	cleanup_buf struct buf out = BUF_INIT, wanted = BUF_INIT;

	mcp_refusal(&out, NULL, refusals[_i].code, "because");
	buf_addf(&wanted,
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"content\":[{"
	    "\"type\":\"text\",\"text\":\"%s\"}],\"isError\":true}}\n",
	    refusals[_i].text);
	ck_assert_str_eq(out.data, wanted.data);
}
