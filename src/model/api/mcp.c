/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api.h"
#include "guard.h"
#include "mcp.h"
#include "rpc.h"
#include "schema.h"

#define TOOL_USE_MAX 128 /* bytes of the client's id */

/* While the daemon is away, a call waits this long for the next one. */
#define WAIT_MS 240000

/* request_orchestrator: what it waits by itself. */
#define ASK_DEFAULT_S 300
#define ASK_MIN_S     10
#define ASK_MAX_S     3600

/* The newest one first: offered to a client with an unknown one. The one of
 * 2025-03-26 is not among them, because it has batches. */
static const char *const versions[] = { "2025-11-25", "2025-06-18",
	"2024-11-05" };

/* --- the tools -------------------------------------------------------- */

static const char *
tool_name(const struct api_method *method)
{
	const char *dot = strchr(method->name, '.');

	return dot != NULL ? dot + 1 : method->name;
}

static bool
is_offered(const struct mcp_server *server, const char *tool)
{
	return server->policy == NULL || guard_offers(server->policy, tool);
}

static const struct api_method *
find_tool(const char *name)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		if ((m->flags & API_TOOL) && strcmp(tool_name(m), name) == 0)
			return m;
	return NULL;
}

static struct json_object *
made(struct json_object *value)
{
	if (value == NULL)
		fatalx("out of memory: an MCP message");
	return value;
}

/* The tools that every request of a session carries to the model; a client that
 * can search for tools loads the others when they are needed. */
static const struct mcp_always {
	const char *tool;
	bool flat; /* the members of its lists are named by their help only */
	const char *hidden[14]; /* members that its help names, or nobody
				 * needs; NULL terminated */
} always[] = {
	{ "report_completion", true, { NULL } },
	{ "request_orchestrator", true, { NULL } },
	{ "agent_spawn", false,
	    { "suggested_actor_id", "local_max_depth", "completionReport",
		"progressReporting", "wait", "label", "thinking", "toolsAllow",
		"toolsDeny", "verification", "allowPartial", "ownBudget",
		NULL } },
};

/* What is told in the answer if it is passed. */
static const char *const limits[] = { "maxLength", "minLength", "maxItems",
	"minItems", "minimum", "maximum" };

static void
mcp_thin(struct json_object *schema, const struct mcp_always *how, bool item);

static void
mcp_thin_members(struct json_object *members, const struct mcp_always *how)
{
	json_object_object_foreach(members, key, member)
	{
		(void)key;
		mcp_thin(member, how, false);
	}
}

static void
mcp_thin(struct json_object *schema, const struct mcp_always *how, bool item)
{
	struct json_object *members = json_member(schema, "properties");

	for (size_t i = 0; i < nitems(limits); i++)
		json_object_object_del(schema, limits[i]);
	if (!json_object_is_type(
		json_member(schema, "additionalProperties"), json_type_object))
		json_object_object_del(schema, "additionalProperties");
	if (json_member(schema, "items") != NULL)
		mcp_thin(json_member(schema, "items"), how, true);
	if (item && how->flat) {
		json_object_object_del(schema, "properties");
		json_object_object_del(schema, "required");
	} else if (members != NULL) {
		for (size_t i = 0; how->hidden[i] != NULL; i++)
			json_object_object_del(members, how->hidden[i]);
		mcp_thin_members(members, how);
	}
}

static struct json_object *
mcp_tool(const struct api_method *method)
{
	struct json_object *tool = made(json_object_new_object());
	struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = method->params };
	struct json_object *schema = schema_print(&whole);
	struct json_object *members = json_member(schema, "properties"), *meta;
	const char *name = tool_name(method);

	/* What the daemon adds is not for the model. */
	json_object_object_del(members, "worker");
	json_object_object_del(members, "call");
	json_object_object_del(schema, "$schema");
	json_set_string(tool, "name", name);
	json_set_string(tool, "description", method->help);
	json_set(tool, "inputSchema", schema);
	for (size_t i = 0; i < nitems(always); i++)
		if (strcmp(always[i].tool, name) == 0) {
			mcp_thin(schema, &always[i], false);
			meta = made(json_object_new_object());
			json_set_bool(meta, "anthropic/alwaysLoad", true);
			json_set(tool, "_meta", meta);
		}
	return tool;
}

struct json_object *
mcp_tools(const struct mcp_server *server)
{
	struct json_object *list = made(json_object_new_array());

	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		if (!(m->flags & API_TOOL) || !is_offered(server, tool_name(m)))
			continue;
		if (json_object_array_add(list, mcp_tool(m)) < 0)
			fatalx("out of memory: the list of tools");
	}
	return list;
}

uint64_t
mcp_tools_mark(const struct mcp_server *server)
{
	uint64_t mark = 0, bit = 1;

	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		if (!(m->flags & API_TOOL))
			continue;
		if (is_offered(server, tool_name(m)))
			mark |= bit;
		bit <<= 1;
	}
	return mark;
}

/* --- answers ---------------------------------------------------------- */

static void
add_content(
    struct buf *out, struct json_object *id, const char *text, bool is_error)
{
	cleanup_json struct json_object *result =
	    made(json_object_new_object());
	struct json_object *block = made(json_object_new_object());
	struct json_object *content = made(json_object_new_array());

	json_set_string(block, "type", "text");
	json_set_string(block, "text", text);
	if (json_object_array_add(content, block) < 0)
		fatalx("out of memory: an MCP message");
	json_set(result, "content", content);
	json_set_bool(result, "isError", is_error);
	rpc_encode_result(out, id, result);
}

void
mcp_result(struct buf *out, struct json_object *id, struct json_object *result)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(result, false, &text);
	add_content(out, id, text.data, false);
}

void
mcp_refusal(
    struct buf *out, struct json_object *id, int code, const char *message)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *word = api_error_word(&api_methods[0], code);

	if (text_begins(word, "E_"))
		buf_addf(&text, "%s: ", word);
	buf_adds(&text, message);
	add_content(out, id, text.data, true);
}

static void
answer_error(
    struct mcp_ask *ask, struct json_object *id, int code, const char *message)
{
	ask->kind = MCP_ANSWER;
	rpc_encode_error(&ask->answer, id, code, message, NULL);
}

/* Takes ownership of the result. */
static void
answer_result(
    struct mcp_ask *ask, struct json_object *id, struct json_object *result)
{
	ask->kind = MCP_ANSWER;
	rpc_encode_result(&ask->answer, id, result);
	json_object_put(result);
}

/* --- requests --------------------------------------------------------- */

/* What the client tells the model about this server. */
static void
add_instructions(const struct mcp_server *server, struct buf *out)
{
	static const struct {
		const char *tool, *text;
	} parts[] = {
		{ "report_completion",
		    " If your prompt asks for it, end your work with "
		    "report_completion." },
		{ "request_orchestrator",
		    " What you cannot decide yourself, ask with "
		    "request_orchestrator." },
		{ "mail_send",
		    " Mail reaches you by itself: do not poll mail_inbox." },
		{ "agent_spawn",
		    " agent_spawn starts whole agents; for reading and "
		    "searching your own subagents are cheaper." },
	};

	buf_adds(out,
	    "llmc runs this session without a person beside it, and these are "
	    "its tools: mail and reservations of files among agents too.");
	for (size_t i = 0; i < nitems(parts); i++)
		if (is_offered(server, parts[i].tool))
			buf_adds(out, parts[i].text);
}

static void
on_initialize(const struct mcp_server *server, struct json_object *id,
    struct json_object *params, struct mcp_ask *ask)
{
	const char *asked = json_string_or(params, "protocolVersion", "");
	const char *version = versions[0];
	struct json_object *result = made(json_object_new_object());
	struct json_object *can = made(json_object_new_object());
	struct json_object *tools = made(json_object_new_object());
	struct json_object *info = made(json_object_new_object());
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < nitems(versions); i++)
		if (strcmp(versions[i], asked) == 0)
			version = versions[i];
	json_set_bool(tools, "listChanged", true);
	json_set(can, "tools", tools);
	json_set_string(info, "name", "llmc");
	json_set_string(info, "version", server->version);
	json_set_string(result, "protocolVersion", version);
	json_set(result, "capabilities", can);
	json_set(result, "serverInfo", info);
	add_instructions(server, &text);
	json_set_string(result, "instructions", text.data);
	answer_result(ask, id, result);
}

static void
on_ping(const struct mcp_server *server, struct json_object *id,
    struct json_object *params, struct mcp_ask *ask)
{
	(void)server;
	(void)params;
	answer_result(ask, id, made(json_object_new_object()));
}

/* All at once: there is never a next page. */
static void
on_list(const struct mcp_server *server, struct json_object *id,
    struct json_object *params, struct mcp_ask *ask)
{
	struct json_object *result = made(json_object_new_object());

	(void)params;
	json_set(result, "tools", mcp_tools(server));
	ask->lists = true;
	answer_result(ask, id, result);
}

static const char late_question[] =
    "llmc's daemon has not answered in time. Go on without an answer; one that "
    "is given later comes as mail.";

static bool
is_question(const struct api_method *method)
{
	return strcmp(tool_name(method), "request_orchestrator") == 0;
}

static int64_t
wait_ms(const struct api_method *method, struct json_object *params)
{
	int64_t seconds = json_int_or(params, "timeoutSeconds", ASK_DEFAULT_S);

	if (!is_question(method))
		return WAIT_MS;
	if (seconds < ASK_MIN_S)
		seconds = ASK_MIN_S;
	if (seconds > ASK_MAX_S)
		seconds = ASK_MAX_S;
	return seconds * 1000 + WAIT_MS;
}

/* A call that is sent again is known by this. What the model says about itself
 * is not believed. */
static void
name_call(const struct mcp_server *server, struct json_object *params,
    struct mcp_ask *ask)
{
	cleanup_buf struct buf name = BUF_INIT;
	struct json_object *meta = NULL;
	const char *use;

	json_object_object_del(ask->params, "worker");
	json_object_object_del(ask->params, "call");
	json_object_object_get_ex(params, "_meta", &meta);
	use = json_string_or(meta, "claudecode/toolUseId", "");
	if (*use == '\0' || strlen(use) > TOOL_USE_MAX)
		return;
	if (server->session != NULL)
		buf_addf(&name, "%s/", server->session);
	buf_adds(&name, use);
	json_set_string(ask->params, "call", name.data);
}

static void
on_call(const struct mcp_server *server, struct json_object *id,
    struct json_object *params, struct mcp_ask *ask)
{
	const char *name = json_string_or(params, "name", NULL);
	const struct api_method *method = name != NULL ? find_tool(name) : NULL;
	struct json_object *given = json_member(params, "arguments");

	if (name == NULL) {
		answer_error(ask, id, RPC_INVALID_PARAMS,
		    "params.name: expected the name of a tool");
	} else if (method == NULL) {
		answer_error(ask, id, RPC_INVALID_PARAMS, "no such tool");
	} else if (given != NULL &&
	    !json_object_is_type(given, json_type_object)) {
		answer_error(ask, id, RPC_INVALID_PARAMS,
		    "params.arguments: expected an object");
	} else if (!is_offered(server, name)) {
		ask->kind = MCP_ANSWER;
		mcp_refusal(&ask->answer, id, API_E_UNAUTHORIZED,
		    "this session may not use this tool");
	} else {
		ask->kind = MCP_CALL;
		ask->id = json_object_get(id);
		ask->method = method;
		ask->params = given != NULL ? json_object_get(given) :
					      made(json_object_new_object());
		ask->wait_ms = wait_ms(method, ask->params);
		if (is_question(method))
			ask->late = late_question;
		name_call(server, params, ask);
	}
}

static const struct {
	const char *method;
	void (*fn)(const struct mcp_server *server, struct json_object *id,
	    struct json_object *params, struct mcp_ask *ask);
} requests[] = {
	{ "initialize", on_initialize },
	{ "ping", on_ping },
	{ "tools/list", on_list },
	{ "tools/call", on_call },
};

static void
read_request(const struct mcp_server *server, const char *method,
    struct json_object *id, struct json_object *params, struct mcp_ask *ask)
{
	for (size_t i = 0; i < nitems(requests); i++)
		if (strcmp(requests[i].method, method) == 0) {
			requests[i].fn(server, id, params, ask);
			return;
		}
	answer_error(ask, id, RPC_METHOD_NOT_FOUND, "method not found");
}

static void
read_notification(
    const char *method, struct json_object *params, struct mcp_ask *ask)
{
	struct json_object *id = NULL;

	if (strcmp(method, "notifications/cancelled") != 0 ||
	    !json_object_object_get_ex(params, "requestId", &id))
		return;
	ask->kind = MCP_CANCEL;
	ask->id = json_object_get(id);
}

/* --- a line ----------------------------------------------------------- */

static bool
is_id(struct json_object *id)
{
	return id == NULL || json_object_is_type(id, json_type_string) ||
	    json_object_is_type(id, json_type_int) ||
	    json_object_is_type(id, json_type_double);
}

static void
read_object(const struct mcp_server *server, struct json_object *root,
    struct mcp_ask *ask)
{
	struct json_object *id = NULL, *params = NULL;
	bool has_id = json_object_object_get_ex(root, "id", &id);
	const char *method = json_string_or(root, "method", NULL);

	json_object_object_get_ex(root, "params", &params);
	if (has_id && !is_id(id))
		answer_error(ask, NULL, RPC_INVALID_REQUEST,
		    "id: expected a string or a number");
	else if (strcmp(json_string_or(root, "jsonrpc", ""), "2.0") != 0)
		answer_error(
		    ask, id, RPC_INVALID_REQUEST, "jsonrpc: expected \"2.0\"");
	else if (method == NULL) {
		/* We ask for nothing, so an answer is not expected either. */
		if (!json_object_object_get_ex(root, "result", NULL) &&
		    !json_object_object_get_ex(root, "error", NULL))
			answer_error(ask, id, RPC_INVALID_REQUEST,
			    "method: expected a string");
	} else if (params != NULL &&
	    !json_object_is_type(params, json_type_object)) {
		if (has_id)
			answer_error(ask, id, RPC_INVALID_PARAMS,
			    "params: expected an object");
	} else if (has_id)
		read_request(server, method, id, params, ask);
	else
		read_notification(method, params, ask);
}

void
mcp_read(const struct mcp_server *server, const char *line, size_t len,
    struct mcp_ask *ret_ask)
{
	cleanup_json struct json_object *root = NULL;
	struct err err = { 0 };

	*ret_ask = (struct mcp_ask){ .answer = BUF_INIT };
	if (json_parse(line, len, RPC_LINE_MAX, &root, &err) < 0)
		answer_error(ret_ask, NULL, RPC_PARSE_ERROR, err.msg);
	else if (json_object_is_type(root, json_type_array))
		answer_error(ret_ask, NULL, RPC_INVALID_REQUEST,
		    "batches are not supported");
	else if (!json_object_is_type(root, json_type_object))
		answer_error(
		    ret_ask, NULL, RPC_INVALID_REQUEST, "expected an object");
	else
		read_object(server, root, ret_ask);
}

void
mcp_ask_release(struct mcp_ask *ask)
{
	buf_release(&ask->answer);
	json_object_put(ask->id);
	json_object_put(ask->params);
	*ask = (struct mcp_ask){ .answer = BUF_INIT };
}
