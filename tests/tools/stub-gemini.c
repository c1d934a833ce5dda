/* SPDX-License-Identifier: ISC */

/* The API of Gemini, told in the words of the other one: its requests become
 * those of /v1/messages, and the answers to them its own. */
#include "base.h"
#include "stub.h"

static void
add_block(struct json_object *messages, const char *role, const char *type,
    const char *member, const char *text)
{
	struct json_object *message = json_object_new_object();
	struct json_object *content = json_object_new_array();
	struct json_object *block = json_object_new_object();

	json_set_string(block, "type", type);
	json_set_string(block, member, text);
	json_object_array_add(content, block);
	json_set_string(message, "role", role);
	json_set(message, "content", content);
	json_object_array_add(messages, message);
}

static void
add_part(
    struct json_object *part, const char *role, struct json_object *messages)
{
	struct json_object *call = json_object_object_get(part, "functionCall");
	struct json_object *done =
	    json_object_object_get(part, "functionResponse");
	struct json_object *said = json_object_object_get(done, "response");
	const char *text = json_string_or(part, "text", "");

	if (call != NULL)
		add_block(messages, "assistant", "tool_use", "name",
		    json_string_or(call, "name", ""));
	else if (done != NULL)
		add_block(messages, "user", "tool_result", "content",
		    json_string_or(
			said, "output", json_string_or(said, "error", "")));
	else if (text[0] != '\0' && strncmp(text, "<session_context>", 17) != 0)
		add_block(messages,
		    strcmp(role, "model") == 0 ? "assistant" : "user", "text",
		    "text", text);
}

/* Its requests do not say which conversation they belong to: the first prompt
 * of each has a number of its own. */
static void
name_conversation(struct json_object *request, struct json_object *messages)
{
	struct json_object *metadata = json_object_new_object();
	cleanup_buf struct buf first = BUF_INIT;

	if (json_object_array_length(messages) > 0)
		json_print(
		    json_object_array_get_idx(messages, 0), false, &first);
	json_set_string(metadata, "user_id", first.data);
	json_set(request, "metadata", metadata);
}

struct json_object *
stub_gemini_request(const char *path, struct json_object *body)
{
	struct json_object *request = json_object_new_object();
	struct json_object *messages = json_object_new_array();
	struct json_object *contents = NULL, *parts = NULL;
	const char *model = strstr(path, "/models/");
	cleanup_free char *name = model == NULL ?
	    xstrdup("") :
	    xstrndup(model + 8, strcspn(model + 8, ":"));

	json_set_bool(request, "gemini", true);
	json_set_bool(
	    request, "stream", strstr(path, ":streamGenerate") != NULL);
	json_set_string(request, "model", name);
	json_set(request, "messages", messages);
	if (json_get_array(body, "", "contents", &contents, NULL) < 0)
		return request;
	for (size_t i = 0; i < json_object_array_length(contents); i++) {
		struct json_object *item =
		    json_object_array_get_idx(contents, i);

		if (json_get_array(item, "", "parts", &parts, NULL) < 0)
			continue;
		for (size_t k = 0; k < json_object_array_length(parts); k++)
			add_part(json_object_array_get_idx(parts, k),
			    json_string_or(item, "role", "user"), messages);
	}
	name_conversation(request, messages);
	return request;
}

/* It refuses a command with a substitution, whatever is allowed. */
static struct json_object *
new_args(struct json_object *input)
{
	const char *command = json_string_or(input, "command", "");
	struct json_object *args;
	cleanup_buf struct buf text = BUF_INIT;

	if (strstr(command, "$(") == NULL && strchr(command, '`') == NULL)
		return json_object_get(input);
	buf_adds(&text, "printf '");
	for (; *command != '\0'; command++)
		buf_addf(&text, "\\%03o", (unsigned char)*command);
	buf_adds(&text, "' | sh");
	args = json_object_new_object();
	json_set_string(args, "command", text.data);
	return args;
}

/* Its names for the tools. */
static struct json_object *
new_call(struct json_object *block)
{
	const char *name = json_string_or(block, "name", "");
	struct json_object *input = json_object_object_get(block, "input");
	struct json_object *call = json_object_new_object();
	cleanup_free char *own = strncmp(name, "mcp__llmc__", 11) == 0 ?
	    xasprintf("mcp_llmc_%s", name + 11) :
	    xstrdup(strcmp(name, "Bash") == 0  ? "run_shell_command" :
		    strcmp(name, "Write") == 0 ? "write_file" :
						 name);

	json_set_string(call, "name", own);
	json_set(call, "args", new_args(input));
	return call;
}

struct json_object *
stub_gemini_answer(struct json_object *message)
{
	struct json_object *content =
	    json_object_object_get(message, "content");
	struct json_object *tokens = json_object_object_get(message, "usage");
	struct json_object *answer = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *candidate = json_object_new_object();
	struct json_object *said = json_object_new_object();
	struct json_object *parts = json_object_new_array();
	struct json_object *used = json_object_new_object();
	int64_t cached = json_int_or(tokens, "cache_read_input_tokens", 0);
	int64_t input = json_int_or(tokens, "input_tokens", 0) + cached;
	int64_t output = json_int_or(tokens, "output_tokens", 0);

	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		struct json_object *part = json_object_new_object();

		if (strcmp(json_string_or(block, "type", ""), "text") == 0)
			json_set_string(
			    part, "text", json_string_or(block, "text", ""));
		else
			json_set(part, "functionCall", new_call(block));
		json_object_array_add(parts, part);
	}
	json_set_string(said, "role", "model");
	json_set(said, "parts", parts);
	json_set(candidate, "content", said);
	json_set_string(candidate, "finishReason", "STOP");
	json_set_int(candidate, "index", 0);
	json_object_array_add(list, candidate);
	json_set(answer, "candidates", list);
	json_set_int(used, "promptTokenCount", input);
	json_set_int(used, "cachedContentTokenCount", cached);
	json_set_int(used, "candidatesTokenCount", output);
	json_set_int(used, "totalTokenCount", input + output);
	json_set(answer, "usageMetadata", used);
	json_set_string(
	    answer, "responseId", json_string_or(message, "id", ""));
	return answer;
}

/* A limit is one of the day: it is not tried again. */
void
stub_gemini_error(struct json_object *error, int status)
{
	const char *word = status == 401 ? "UNAUTHENTICATED" :
	    status == 403                ? "PERMISSION_DENIED" :
	    status == 429                ? "RESOURCE_EXHAUSTED" :
	    status == 500                ? "INTERNAL" :
					   "UNAVAILABLE";
	struct json_object *details = json_object_new_array();
	struct json_object *detail = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *one = json_object_new_object();

	json_set_int(error, "code", status);
	json_set_string(error, "status", word);
	json_set(error, "details", details);
	json_set_string(one, "quotaId", "GenerateRequestsPerDayPerProject");
	json_object_array_add(list, one);
	json_set_string(
	    detail, "@type", "type.googleapis.com/google.rpc.QuotaFailure");
	json_set(detail, "violations", list);
	if (status == 429)
		json_object_array_add(details, detail);
	else
		json_object_put(detail);
}
