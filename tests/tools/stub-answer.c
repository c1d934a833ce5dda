/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "script.h"
#include "stub.h"

#define SUMMARY_ASKED "Your task is to create a detailed summary"
#define REMINDER      "<system-reminder>"
#define LOST          "[Tool call interrupted"
#define DEFERRED      "deferred tools are now available"
#define STRUCTURED    "StructuredOutput"
#define CONTEXT       "hook additional context:"

int64_t
stub_tokens(struct json_object *json)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	return (int64_t)text.len / 4 + 1;
}

/* ---- which steps are done, from the conversation */

/* Skip steps that only the fake agent can do. */
static void
stub_next(struct script *script, struct script_action *action)
{
	do
		script_next(script, action);
	while (action->kind == SCRIPT_DO_COMPACT ||
	    action->kind == SCRIPT_DO_EXIT ||
	    action->kind == SCRIPT_DO_IGNORE_ENTER);
}

/* What is to be done at a text: the steps in it, or those of the last rule for
 * it. */
static const char *
stub_steps(const char *text, struct json_object *rules)
{
	for (size_t i = json_object_array_length(rules); i-- > 0;) {
		struct json_object *rule = json_object_array_get_idx(rules, i);

		if (strstr(text, json_string_or(rule, "words", "")) != NULL)
			return json_string_or(rule, "steps", "");
	}
	return text;
}

/* A person's text starts over: the rest of the previous turn did not happen.
 * Text that comes with a tool result is part of the turn. */
static void
stub_play_text(struct script *script, const char *text, bool within,
    struct json_object *rules)
{
	const char *steps = stub_steps(text, rules);

	if (strncmp(text, REMINDER, strlen(REMINDER)) == 0)
		return;
	if (!within)
		script_release(script);
	script_add(script, steps, strlen(steps));
}

static bool
stub_has_block(struct json_object *content, const char *type)
{
	struct json_object *block;

	for (size_t i = 0; i < json_object_array_length(content); i++) {
		block = json_object_array_get_idx(content, i);
		if (strcmp(json_string_or(block, "type", ""), type) == 0)
			return true;
	}
	return false;
}

/* The answer of a tool: a string, or blocks of text. */
static void
stub_heard(struct script *script, struct json_object *block)
{
	struct json_object *content = NULL;
	const char *text = json_string_or(block, "content", NULL);

	if (strcmp(json_string_or(block, "type", ""), "tool_result") != 0)
		return;
	if (text == NULL &&
	    json_get_array(block, "", "content", &content, NULL) == 0)
		text = json_string_or(
		    json_object_array_get_idx(content, 0), "text", NULL);
	if (text != NULL)
		script_answer(script, text);
}

static void
stub_play_user(struct script *script, struct json_object *content,
    struct json_object *rules)
{
	bool within = stub_has_block(content, "tool_result");
	struct json_object *block;
	const char *text;

	for (size_t i = 0; i < json_object_array_length(content); i++) {
		block = json_object_array_get_idx(content, i);
		text = json_string_or(block, "text", NULL);
		if (text != NULL)
			stub_play_text(script, text, within, rules);
		if (within)
			stub_heard(script, block);
		/* Killed in the middle: the rest is dropped. */
		if (strstr(json_string_or(block, "content", ""), LOST) != NULL)
			script_release(script);
	}
}

/* A message of the model used the steps of one answer; if it called no tool,
 * the turn was over. */
static void
stub_play_assistant(struct script *script, struct json_object *content)
{
	struct script_action played = SCRIPT_ACTION_INIT;

	if (stub_has_block(content, "tool_use"))
		stub_next(script, &played);
	else
		script_release(script);
	script_action_release(&played);
}

static void
stub_play(struct script *script, struct json_object *message,
    struct json_object *rules)
{
	const char *role = json_string_or(message, "role", "");
	const char *text = json_string_or(message, "content", NULL);
	bool user = strcmp(role, "user") == 0;
	struct json_object *content = NULL;

	if (json_get_array(message, "", "content", &content, NULL) < 0) {
		if (user && text != NULL)
			stub_play_text(script, text, false, rules);
	} else if (user) {
		stub_play_user(script, content, rules);
	} else if (strcmp(role, "assistant") == 0) {
		stub_play_assistant(script, content);
	}
}

/* ---- the log */

static void
stub_add_prompt(struct json_object *list, const char *text)
{
	if (text != NULL && strncmp(text, REMINDER, strlen(REMINDER)) != 0)
		json_object_array_add(list, json_object_new_string(text));
}

static void
stub_add_prompts(struct json_object *list, struct json_object *message)
{
	struct json_object *content = NULL;

	if (json_get_array(message, "", "content", &content, NULL) < 0) {
		stub_add_prompt(list, json_string_or(message, "content", NULL));
		return;
	}
	for (size_t i = 0; i < json_object_array_length(content); i++)
		stub_add_prompt(list,
		    json_string_or(
			json_object_array_get_idx(content, i), "text", NULL));
}

/* What a hook adds is said by the system. */
static bool
stub_is_context(struct json_object *message)
{
	return strcmp(json_string_or(message, "role", ""), "system") == 0 &&
	    strstr(json_object_to_json_string(message), CONTEXT) != NULL;
}

struct json_object *
stub_prompts(struct json_object *request)
{
	struct json_object *list = json_object_new_array(), *messages = NULL,
			   *message;

	if (json_get_array(request, "", "messages", &messages, NULL) < 0)
		return list;
	for (size_t i = 0; i < json_object_array_length(messages); i++) {
		message = json_object_array_get_idx(messages, i);
		if (strcmp(json_string_or(message, "role", ""), "user") == 0 ||
		    stub_is_context(message))
			stub_add_prompts(list, message);
	}
	return list;
}

static bool
stub_is_served(const char *name)
{
	return strncmp(name, "mcp__", strlen("mcp__")) == 0;
}

/* The names after "deferred tools are now available", one a line. */
static void
stub_add_deferred(struct json_object *list, const char *text, bool served)
{
	const char *at = strstr(text, DEFERRED);

	at = at != NULL ? strchr(at, '\n') : NULL;
	while (at != NULL && at[1] != '\n' && at[1] != '\0') {
		size_t len = strcspn(++at, "\n");

		if (stub_is_served(at) == served)
			json_object_array_add(
			    list, json_object_new_string_len(at, (int)len));
		at = at[len] == '\n' ? at + len : NULL;
	}
}

struct json_object *
stub_tools(struct json_object *request, bool served, bool deferred)
{
	struct json_object *list = json_object_new_array(), *tools = NULL,
			   *messages = NULL;

	json_get_array(request, "", "tools", &tools, NULL);
	for (size_t i = 0; tools != NULL && i < json_object_array_length(tools);
	     i++) {
		const char *name = json_string_or(
		    json_object_array_get_idx(tools, i), "name", "");

		if (stub_is_served(name) == served)
			json_object_array_add(
			    list, json_object_new_string(name));
	}
	if (!deferred ||
	    json_get_array(request, "", "messages", &messages, NULL) < 0)
		return list;
	for (size_t i = 0; i < json_object_array_length(messages); i++) {
		struct json_object *content = NULL,
				   *message =
				       json_object_array_get_idx(messages, i);
		const char *text = json_string_or(message, "content", NULL);

		if (text != NULL)
			stub_add_deferred(list, text, served);
		else if (json_get_array(
			     message, "", "content", &content, NULL) == 0)
			for (size_t k = 0;
			     k < json_object_array_length(content); k++)
				stub_add_deferred(list,
				    json_string_or(
					json_object_array_get_idx(content, k),
					"text", ""),
				    served);
	}
	return list;
}

int64_t
stub_served_bytes(struct json_object *request)
{
	struct json_object *tools = NULL, *tool;
	int64_t bytes = 0;

	json_get_array(request, "", "tools", &tools, NULL);
	for (size_t i = 0; tools != NULL && i < json_object_array_length(tools);
	     i++) {
		tool = json_object_array_get_idx(tools, i);
		if (stub_is_served(json_string_or(tool, "name", "")))
			bytes += (int64_t)strlen(json_object_to_json_string_ext(
			    tool, JSON_C_TO_STRING_PLAIN));
	}
	return bytes;
}

const char *
stub_conversation(struct json_object *request)
{
	struct json_object *metadata = NULL;

	if (json_get_object(request, "", "metadata", &metadata, NULL) < 0)
		return "";
	return json_string_or(metadata, "user_id", "");
}

/* The text of the last message, for calls that no person made. */
static bool
stub_asks_summary(struct json_object *messages)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t n = json_object_array_length(messages);

	if (n > 0)
		json_print(
		    json_object_array_get_idx(messages, n - 1), false, &text);
	return strstr(text.data, SUMMARY_ASKED) != NULL;
}

void
stub_plan(struct json_object *request, struct json_object *rules,
    struct script_action *action)
{
	struct json_object *messages = NULL;
	struct script script = { 0 };

	if (json_get_array(request, "", "messages", &messages, NULL) == 0) {
		if (stub_asks_summary(messages)) {
			buf_adds(&action->say,
			    "<summary>A short summary.</summary>");
			return;
		}
		for (size_t i = 0; i < json_object_array_length(messages); i++)
			stub_play(&script,
			    json_object_array_get_idx(messages, i), rules);
	}
	stub_next(&script, action);
	script_release(&script);
}

/* ---- the message */

static struct json_object *
stub_usage(const int64_t tokens[STUB_TOKENS])
{
	struct json_object *usage = json_object_new_object();
	struct json_object *cache = json_object_new_object();

	json_set_int(cache, "ephemeral_5m_input_tokens", tokens[3]);
	json_set_int(cache, "ephemeral_1h_input_tokens", tokens[4]);
	json_set_int(usage, "input_tokens", tokens[0]);
	json_set_int(usage, "output_tokens", tokens[1]);
	json_set_int(usage, "cache_read_input_tokens", tokens[2]);
	json_set_int(
	    usage, "cache_creation_input_tokens", tokens[3] + tokens[4]);
	json_set(usage, "cache_creation", cache);
	json_set_string(usage, "service_tier", "standard");
	return usage;
}

/* OpenCode has another tool for subagents. */
static bool
stub_has_task(struct json_object *request)
{
	struct json_object *tools = NULL;

	json_get_array(request, "", "tools", &tools, NULL);
	for (size_t i = 0; tools != NULL && i < json_object_array_length(tools);
	     i++)
		if (strcmp(json_string_or(
			       json_object_array_get_idx(tools, i), "name", ""),
			"task") == 0)
			return true;
	return false;
}

static const char *
stub_tool_name(struct json_object *request, const struct script_action *action)
{
	if (action->agent)
		return stub_has_task(request) ? "task" : "Agent";
	if (action->structured)
		return STRUCTURED;
	return action->file ? "Write" : "Bash";
}

/* What --json-schema asks for; a mistake in a test is an empty answer. */
static struct json_object *
stub_structured(const struct script_action *action)
{
	struct json_object *json = NULL;

	json_parse(
	    action->text.data, action->text.len, action->text.len, &json, NULL);
	return json != NULL ? json : json_object_new_object();
}

/* A command for the shell, a task for a subagent, a file, or an answer. */
static void
stub_tool(struct json_object *request, const struct script_action *action,
    struct json_object *block)
{
	struct json_object *input = action->structured ?
	    stub_structured(action) :
	    json_object_new_object();

	if (action->structured) {
		/* the input as it is */
	} else if (action->agent) {
		json_set_string(input, "prompt", action->text.data);
		json_set_string(input, "subagent_type",
		    stub_has_task(request) ? "general" : "general-purpose");
		json_set_string(input, "model", "haiku");
	} else if (action->file) {
		json_set_string(input, "file_path", action->text.data);
		json_set_string(input, "content", "escaped\n");
	} else {
		json_set_string(input, "command", action->command.data);
	}
	if (!action->file && !action->structured)
		json_set_string(input, "description", "scripted by the test");
	if (action->background)
		json_set_bool(input, "run_in_background", true);
	json_set_string(block, "name", stub_tool_name(request, action));
	json_set(block, "input", input);
}

static struct json_object *
stub_tool_block(struct json_object *content)
{
	struct json_object *block = json_object_new_object();
	char uuid[ID_UUID_SIZE], id[40];

	id_uuid(uuid);
	snprintf(id, sizeof(id), "toolu_%.23s", uuid);
	json_set_string(block, "type", "tool_use");
	json_set_string(block, "id", id);
	json_object_array_add(content, block);
	return block;
}

/* Each agent has names of its own for the tools of llmc. */
static void
stub_use(struct json_object *request, struct json_object *block,
    const struct script_use *use)
{
	cleanup_free char *name = xasprintf("mcp__llmc__%s", use->name);
	cleanup_free char *other = xasprintf("llmc_%s", use->name);
	struct json_object *input = NULL, *tools = NULL;

	json_parse(
	    use->input, strlen(use->input), strlen(use->input), &input, NULL);
	/* A tool of the agent itself has a capital. */
	json_set_string(block, "name",
	    *use->name >= 'A' && *use->name <= 'Z' ? use->name : name);
	json_get_array(request, "", "tools", &tools, NULL);
	for (size_t i = 0; tools != NULL && i < json_object_array_length(tools);
	     i++) {
		const char *own = json_string_or(
		    json_object_array_get_idx(tools, i), "name", "");
		const char *end = strstr(own, other);

		if (end != NULL && strcmp(end, other) == 0)
			json_set_string(block, "name", own);
	}
	json_set(
	    block, "input", input != NULL ? input : json_object_new_object());
}

static struct json_object *
stub_content(struct json_object *request, const struct script_action *action)
{
	struct json_object *content = json_object_new_array(), *block;

	if (action->say.len > 0) {
		block = json_object_new_object();
		json_set_string(block, "type", "text");
		json_set_string(block, "text", action->say.data);
		json_object_array_add(content, block);
	}
	if (action->kind != SCRIPT_DO_TOOL)
		return content;
	for (size_t i = 0; i < action->use_count; i++)
		stub_use(request, stub_tool_block(content), &action->uses[i]);
	if (action->use_count == 0)
		stub_tool(request, action, stub_tool_block(content));
	return content;
}

struct json_object *
stub_message(struct json_object *request, const struct script_action *action,
    const int64_t *usage)
{
	struct json_object *message = json_object_new_object();
	const int64_t counted[STUB_TOKENS] = { stub_tokens(request),
		(int64_t)(action->say.len + action->command.len) / 4 + 1 };
	char uuid[ID_UUID_SIZE], id[40];

	id_uuid(uuid);
	snprintf(id, sizeof(id), "msg_%.23s", uuid);
	json_set_string(message, "id", id);
	json_set_string(message, "type", "message");
	json_set_string(message, "role", "assistant");
	json_set_string(
	    message, "model", json_string_or(request, "model", "stub"));
	json_set_string(message, "stop_reason",
	    action->kind == SCRIPT_DO_TOOL ? "tool_use" : "end_turn");
	json_set(message, "content", stub_content(request, action));
	json_set_string(message, "stop_sequence", NULL);
	json_set(message, "usage", stub_usage(usage != NULL ? usage : counted));
	return message;
}

/* ---- the stream */

static void
stub_event(struct buf *out, const char *type, struct json_object *data)
{
	json_set_string(data, "type", type);
	buf_addf(out, "event: %s\ndata: ", type);
	json_print(data, false, out);
	buf_adds(out, "\n\n");
	json_object_put(data);
}

static struct json_object *
stub_block_event(size_t index)
{
	struct json_object *data = json_object_new_object();

	json_set_int(data, "index", (int64_t)index);
	return data;
}

/* The empty block, its whole contents as one delta, its end. */
static void
stub_stream_block(struct buf *out, size_t index, struct json_object *block)
{
	cleanup_buf struct buf input = BUF_INIT;
	struct json_object *empty = json_object_new_object();
	struct json_object *delta = json_object_new_object(), *data;
	const char *type = json_string_or(block, "type", "");
	bool tool = strcmp(type, "tool_use") == 0;

	json_set_string(empty, "type", type);
	json_set_string(
	    delta, "type", tool ? "input_json_delta" : "text_delta");
	if (tool) {
		json_set_string(empty, "id", json_string_or(block, "id", ""));
		json_set_string(
		    empty, "name", json_string_or(block, "name", ""));
		json_set(empty, "input", json_object_new_object());
		json_print(
		    json_object_object_get(block, "input"), false, &input);
		json_set_string(delta, "partial_json", input.data);
	} else {
		json_set_string(empty, "text", "");
		json_set_string(
		    delta, "text", json_string_or(block, "text", ""));
	}
	data = stub_block_event(index);
	json_set(data, "content_block", empty);
	stub_event(out, "content_block_start", data);
	data = stub_block_event(index);
	json_set(data, "delta", delta);
	stub_event(out, "content_block_delta", data);
	stub_event(out, "content_block_stop", stub_block_event(index));
}

static void
stub_stream_start(struct json_object *message, struct buf *out)
{
	struct json_object *data = json_object_new_object();
	struct json_object *start = json_object_new_object();

	json_object_object_foreach(message, key, value)
	    json_object_object_add(start, key, json_object_get(value));
	json_set(start, "content", json_object_new_array());
	json_set(start, "stop_reason", NULL);
	json_set(data, "message", start);
	stub_event(out, "message_start", data);
}

void
stub_stream(struct json_object *message, struct buf *out)
{
	struct json_object *content =
	    json_object_object_get(message, "content");
	struct json_object *data, *delta;

	stub_stream_start(message, out);
	for (size_t i = 0; i < json_object_array_length(content); i++)
		stub_stream_block(
		    out, i, json_object_array_get_idx(content, i));
	delta = json_object_new_object();
	json_set_string(
	    delta, "stop_reason", json_string_or(message, "stop_reason", ""));
	json_set(delta, "stop_sequence", NULL);
	data = json_object_new_object();
	json_set(data, "delta", delta);
	json_set(data, "usage",
	    json_object_get(json_object_object_get(message, "usage")));
	stub_event(out, "message_delta", data);
	stub_event(out, "message_stop", json_object_new_object());
}
