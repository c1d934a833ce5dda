/* SPDX-License-Identifier: ISC */

/* The API of Codex, told in the words of the other one: its requests become
 * those of /v1/messages, and the answers to them a stream of its own. */
#include "base.h"
#include "stub.h"

static struct json_object *
new_message(struct json_object *messages, const char *role)
{
	struct json_object *message = json_object_new_object();
	struct json_object *content = json_object_new_array();

	json_set_string(message, "role", role);
	json_set(message, "content", content);
	json_object_array_add(messages, message);
	return content;
}

static void
add_block(struct json_object *content, const char *type, const char *member,
    const char *text)
{
	struct json_object *block = json_object_new_object();

	json_set_string(block, "type", type);
	json_set_string(block, member, text);
	json_object_array_add(content, block);
}

/* A text, or parts with texts. */
static void
join(struct json_object *content, struct buf *out)
{
	if (json_object_is_type(content, json_type_string))
		buf_adds(out, json_object_get_string(content));
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++)
		buf_adds(out,
		    json_string_or(
			json_object_array_get_idx(content, i), "text", ""));
}

struct json_object *
stub_codex_request(struct json_object *body)
{
	struct json_object *request = json_object_new_object();
	struct json_object *messages = json_object_new_array(), *input = NULL;
	struct json_object *metadata = json_object_new_object();

	json_set_bool(request, "codex", true);
	json_set_string(
	    metadata, "user_id", json_string_or(body, "prompt_cache_key", ""));
	json_set(request, "metadata", metadata);
	json_set_bool(request, "stream", true);
	json_set_string(request, "model", json_string_or(body, "model", ""));
	json_set(request, "messages", messages);
	if (json_get_array(body, "", "input", &input, NULL) < 0)
		return request;
	for (size_t i = 0; i < json_object_array_length(input); i++) {
		struct json_object *item = json_object_array_get_idx(input, i);
		const char *type = json_string_or(item, "type", "");
		const char *role = json_string_or(item, "role", "");
		cleanup_buf struct buf text = BUF_INIT;

		if (strcmp(type, "message") == 0) {
			join(json_object_object_get(item, "content"), &text);
			/* What the program says of itself is no prompt. */
			if (strcmp(role, "developer") == 0 ||
			    (strcmp(role, "user") == 0 && text.data[0] == '<'))
				continue;
			add_block(new_message(messages, role), "text", "text",
			    text.data);
		} else if (strstr(type, "_call_output") != NULL) {
			join(json_object_object_get(item, "output"), &text);
			add_block(new_message(messages, "user"), "tool_result",
			    "content", text.data);
		} else if (strstr(type, "_call") != NULL) {
			add_block(new_message(messages, "assistant"),
			    "tool_use", "name",
			    json_string_or(item, "name", ""));
		}
	}
	return request;
}

static void
add_event(struct buf *out, const char *type, struct json_object *data)
{
	json_set_string(data, "type", type);
	buf_addf(out, "event: %s\ndata: ", type);
	json_print(data, false, out);
	buf_adds(out, "\n\n");
	json_object_put(data);
}

/* Its only tool runs a script; its others are functions of that. */
static void
add_script(struct json_object *block, struct buf *out)
{
	const char *name = json_string_or(block, "name", "");
	struct json_object *input = json_object_object_get(block, "input");
	cleanup_json struct json_object *args = json_object_new_object();
	cleanup_buf struct buf json = BUF_INIT, patch = BUF_INIT;

	if (strcmp(name, "Bash") == 0) {
		json_set_string(
		    args, "cmd", json_string_or(input, "command", ""));
		json_print(args, false, &json);
		buf_addf(out,
		    "const r = await tools.exec_command(%s); text(r.output);",
		    json.data);
	} else if (strcmp(name, "Write") == 0) {
		cleanup_json struct json_object *text = NULL;

		buf_addf(&patch,
		    "*** Begin Patch\n*** Add File: %s\n+%s*** End Patch",
		    json_string_or(input, "file_path", ""),
		    json_string_or(input, "content", "\n"));
		text = json_object_new_string(patch.data);
		json_print(text, false, &json);
		buf_addf(out, "text(await tools.apply_patch(%s));", json.data);
	} else {
		json_print(input, false, &json);
		buf_addf(out,
		    "const r = await tools.%s(%s); "
		    "text(r.content?.[0]?.text ?? JSON.stringify(r));",
		    name, json.data);
	}
}

void
stub_codex_stream(struct json_object *message, struct buf *out)
{
	struct json_object *content =
	    json_object_object_get(message, "content");
	struct json_object *tokens = json_object_object_get(message, "usage");
	struct json_object *data = json_object_new_object();
	struct json_object *response = json_object_new_object();
	struct json_object *usage = json_object_new_object();
	struct json_object *details = json_object_new_object();
	int64_t cached = json_int_or(tokens, "cache_read_input_tokens", 0);
	int64_t input = json_int_or(tokens, "input_tokens", 0) + cached;
	int64_t output = json_int_or(tokens, "output_tokens", 0);
	const char *id = json_string_or(message, "id", "");

	json_set_string(response, "id", id);
	json_set(data, "response", json_object_get(response));
	add_event(out, "response.created", data);
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		struct json_object *item = json_object_new_object();
		struct json_object *parts = json_object_new_array();
		cleanup_buf struct buf script = BUF_INIT;

		if (strcmp(json_string_or(block, "type", ""), "text") == 0) {
			json_set_string(item, "type", "message");
			json_set_string(item, "role", "assistant");
			json_set_string(item, "id", id);
			add_block(parts, "output_text", "text",
			    json_string_or(block, "text", ""));
			json_set(item, "content", json_object_get(parts));
		} else {
			add_script(block, &script);
			json_set_string(item, "type", "custom_tool_call");
			json_set_string(item, "namespace", "functions");
			json_set_string(item, "name", "exec");
			json_set_string(
			    item, "call_id", json_string_or(block, "id", ""));
			json_set_string(item, "input", script.data);
		}
		json_object_put(parts);
		data = json_object_new_object();
		json_set_int(data, "output_index", (int64_t)i);
		json_set(data, "item", item);
		add_event(out, "response.output_item.done", data);
	}
	json_set_int(details, "cached_tokens", cached);
	json_set_int(usage, "input_tokens", input);
	json_set(usage, "input_tokens_details", details);
	json_set_int(usage, "output_tokens", output);
	json_set_int(usage, "total_tokens", input + output);
	json_set(response, "usage", usage);
	data = json_object_new_object();
	json_set(data, "response", response);
	add_event(out, "response.completed", data);
}
