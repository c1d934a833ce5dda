/* SPDX-License-Identifier: ISC */

#include <libgen.h>

#include "fake.h"

/* US dollars, as the real program calculates for its default model. */
#define TRANSCRIPT_MAX (64 * 1024 * 1024)
#define USD_INPUT      4e-6
#define USD_OUTPUT     2e-5

static void
fake_transcript_write(struct fake *fake, struct json_object *line)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (fake->options.codex || fake->options.gemini) {
		(fake->options.codex ? fake_codex_write : fake_gemini_write)(
		    fake, line);
		json_object_put(line);
		return;
	}
	json_set_string(line, "sessionId", fake->session);
	json_print(line, false, &text);
	buf_addc(&text, '\n');
	file_append(
	    fake->transcript_file, text.data, text.len, 0600, false, NULL);
	json_object_put(line);
}

/* A line of the conversation: each refers to the one before. */
static void
fake_transcript_entry(struct fake *fake, struct json_object *line)
{
	char stamp[CLOCK_STAMP_SIZE], uuid[ID_UUID_SIZE];

	id_uuid(uuid);
	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(
	    line, "parentUuid", fake->parent[0] != '\0' ? fake->parent : NULL);
	json_set_bool(line, "isSidechain", false);
	json_set_string(line, "uuid", uuid);
	json_set_string(line, "timestamp", stamp);
	json_set_string(line, "userType", "external");
	json_set_string(line, "entrypoint", "cli");
	json_set_string(line, "cwd", fake->cwd);
	json_set_string(line, "version", FAKE_VERSION);
	memcpy(fake->parent, uuid, sizeof(uuid));
	fake_transcript_write(fake, line);
}

/* {"type":"user","message":{"role":"user","content":CONTENT}} */
static struct json_object *
fake_transcript_user(struct fake *fake, struct json_object *content)
{
	struct json_object *line = json_object_new_object(), *message;

	if (fake->prompt_id[0] != '\0')
		json_set_string(line, "promptId", fake->prompt_id);
	json_set_string(line, "type", "user");
	message = json_object_new_object();
	json_set_string(message, "role", "user");
	json_set(message, "content", content);
	json_set(line, "message", message);
	return line;
}

static struct json_object *
fake_transcript_plain(const char *type)
{
	struct json_object *line = json_object_new_object();

	json_set_string(line, "type", type);
	return line;
}

static struct json_object *
fake_block(const char *type)
{
	return fake_transcript_plain(type);
}

static struct json_object *
fake_text_block(const char *text)
{
	struct json_object *block = fake_block("text");

	json_set_string(block, "text", text);
	return block;
}

/* What the real program writes before the first prompt of a file. */
static void
fake_transcript_begin(struct fake *fake)
{
	struct json_object *line;
	cleanup_free char *path = xstrdup(fake->transcript_file);

	if (file_exists(fake->transcript_file))
		return;
	file_mkdirs(dirname(path), 0700, NULL);
	line = fake_transcript_plain("mode");
	json_set_string(line, "mode", "normal");
	fake_transcript_write(fake, line);
	line = fake_transcript_plain("permission-mode");
	json_set_string(line, "permissionMode", fake->options.mode);
	fake_transcript_write(fake, line);
	if (!fake->cleared)
		return;
	fake->cleared = false;
	line = fake_transcript_user(fake,
	    json_object_new_string("<command-name>/clear</command-name>\n"
				   "<command-message>clear</command-message>\n"
				   "<command-args></command-args>"));
	json_object_object_del(line, "promptId");
	fake_transcript_entry(fake, line);
}

void
fake_transcript_prompt(struct fake *fake, const char *text, bool queued)
{
	struct json_object *line, *origin;

	fake_transcript_begin(fake);
	line = fake_transcript_user(fake, json_object_new_string(text));
	json_set_string(line, "permissionMode", fake->options.mode);
	origin = json_object_new_object();
	json_set_string(origin, "kind", "human");
	json_set(line, "origin", origin);
	json_set_string(line, "promptSource", queued ? "queued" : "typed");
	fake_transcript_entry(fake, line);
	fake->context_tokens += (int64_t)strlen(text) / 4;
}

void
fake_transcript_feedback(struct fake *fake, const char *reason)
{
	cleanup_free char *text = xasprintf("Stop hook feedback:\n%s", reason);
	struct json_object *line =
	    fake_transcript_user(fake, json_object_new_string(text));

	json_set_bool(line, "isMeta", true);
	fake_transcript_entry(fake, line);
}

void
fake_transcript_queue(
    struct fake *fake, const char *operation, const char *text)
{
	struct json_object *line = fake_transcript_plain("queue-operation");
	char stamp[CLOCK_STAMP_SIZE];

	fake_transcript_begin(fake);
	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(line, "operation", operation);
	json_set_string(line, "timestamp", stamp);
	if (text != NULL)
		json_set_string(line, "content", text);
	fake_transcript_write(fake, line);
}

static struct json_object *
fake_usage(int64_t input, int64_t output)
{
	struct json_object *usage = json_object_new_object();

	json_set_int(usage, "input_tokens", input);
	json_set_int(usage, "cache_creation_input_tokens", 0);
	json_set_int(usage, "cache_read_input_tokens", 0);
	json_set_int(usage, "output_tokens", output);
	json_set_string(usage, "service_tier", "standard");
	return usage;
}

/* One line per block; blocks of one message share id and usage. */
static void
fake_transcript_assistant(struct fake *fake, struct json_object *block,
    const char *stop_reason, struct json_object *usage)
{
	struct json_object *line = fake_transcript_plain("assistant");
	struct json_object *message = fake_transcript_plain("message");
	struct json_object *content = json_object_new_array();

	json_set_string(message, "id", fake->message);
	json_set_string(message, "role", "assistant");
	json_set_string(message, "model", fake->options.model);
	json_object_array_add(content, block);
	json_set(message, "content", content);
	json_set_string(message, "stop_reason", stop_reason);
	json_set_string(message, "stop_sequence", NULL);
	json_set(message, "usage", usage);
	json_set(line, "message", message);
	json_set_string(line, "requestedModel", fake->options.model);
	json_set_string(line, "effort", "medium");
	fake_transcript_entry(fake, line);
}

/* A new message, and what it costs. */
static int64_t
fake_message_new(struct fake *fake, size_t len)
{
	char hash[ID_UUID_SIZE];
	int64_t output = (int64_t)len / 4 + 1;

	id_uuid(hash);
	snprintf(fake->message, sizeof(fake->message), "msg_%.23s", hash);
	fake->context_tokens += output;
	fake->input_tokens += fake->context_tokens;
	fake->output_tokens += output;
	return output;
}

void
fake_transcript_say(struct fake *fake, const char *text)
{
	int64_t output = fake_message_new(fake, strlen(text));

	fake_transcript_assistant(fake, fake_text_block(text), "end_turn",
	    fake_usage(fake->context_tokens, output));
}

void
fake_transcript_call(struct fake *fake, const char *say,
    const char *tool_use_id, struct json_object *input)
{
	fake_transcript_tool(fake, say, tool_use_id, "Bash", input);
}

void
fake_transcript_tool(struct fake *fake, const char *say,
    const char *tool_use_id, const char *name, struct json_object *input)
{
	int64_t output = fake_message_new(
	    fake, strlen(say) + strlen(json_string_or(input, "command", "")));
	struct json_object *block;

	if (*say != '\0')
		fake_transcript_assistant(fake, fake_text_block(say),
		    "tool_use", fake_usage(fake->context_tokens, output));
	block = fake_block("tool_use");
	json_set_string(block, "id", tool_use_id);
	json_set_string(block, "name", name);
	json_set(block, "input", input);
	fake_transcript_assistant(
	    fake, block, "tool_use", fake_usage(fake->context_tokens, output));
}

void
fake_transcript_result(struct fake *fake, const char *tool_use_id,
    const char *content, bool failed, struct json_object *response)
{
	struct json_object *block = fake_block("tool_result"), *line;
	struct json_object *list = json_object_new_array();

	json_set_string(block, "tool_use_id", tool_use_id);
	json_set_string(block, "content", content);
	json_set_bool(block, "is_error", failed);
	json_object_array_add(list, block);
	line = fake_transcript_user(fake, list);
	json_set(line, "toolUseResult", response);
	fake_transcript_entry(fake, line);
}

void
fake_transcript_error(
    struct fake *fake, const struct script_error *error, const char *text)
{
	struct json_object *line = fake_transcript_plain("assistant");
	struct json_object *message = fake_transcript_plain("message");
	struct json_object *content = json_object_new_array();
	char id[ID_UUID_SIZE];

	id_uuid(id);
	json_set_string(message, "id", id);
	json_set_string(message, "model", "<synthetic>");
	json_set_string(message, "role", "assistant");
	json_set_string(message, "stop_reason", "stop_sequence");
	json_set_string(message, "stop_sequence", "");
	json_set(message, "usage", fake_usage(0, 0));
	json_object_array_add(content, fake_text_block(text));
	json_set(message, "content", content);
	json_set(line, "message", message);
	json_set_string(line, "error", error->word);
	json_set_bool(line, "isApiErrorMessage", true);
	json_set_int(line, "apiErrorStatus", error->status);
	json_set_string(line, "apiErrorType", error->type);
	fake_transcript_entry(fake, line);
}

void
fake_transcript_interrupted(struct fake *fake, bool in_tool)
{
	struct json_object *list = json_object_new_array();

	json_object_array_add(list,
	    fake_text_block(in_tool ?
		    "[Request interrupted by user for tool use]" :
		    "[Request interrupted by user]"));
	fake_transcript_entry(fake, fake_transcript_user(fake, list));
}

static struct json_object *
fake_transcript_system(const char *subtype)
{
	struct json_object *line = fake_transcript_plain("system");

	json_set_string(line, "subtype", subtype);
	return line;
}

void
fake_transcript_turn(struct fake *fake, int64_t ms)
{
	struct json_object *line = fake_transcript_system("turn_duration");

	json_set_int(line, "durationMs", ms);
	json_set_bool(line, "isMeta", false);
	fake_transcript_entry(fake, line);
}

void
fake_transcript_compact(struct fake *fake, const char *trigger)
{
	struct json_object *line = fake_transcript_system("compact_boundary");
	struct json_object *meta = json_object_new_object();

	fake_transcript_begin(fake);
	json_set_string(line, "content", "Conversation compacted");
	json_set_string(meta, "trigger", trigger);
	json_set_int(meta, "preTokens", fake->context_tokens);
	json_set_int(meta, "postTokens", fake->context_tokens / 2);
	json_set(line, "compactMetadata", meta);
	fake_transcript_entry(fake, line);
	fake->context_tokens /= 2;
	line = fake_transcript_user(fake,
	    json_object_new_string("This session is being continued from a "
				   "previous conversation. A summary."));
	json_set_bool(line, "isCompactSummary", true);
	fake_transcript_entry(fake, line);
}

void
fake_transcript_cost(struct fake *fake)
{
	struct json_object *line, *models, *used;
	double cost = (double)fake->input_tokens * USD_INPUT +
	    (double)fake->output_tokens * USD_OUTPUT;

	if (!file_exists(fake->transcript_file))
		return;
	line = fake_transcript_plain("cost-state");
	models = json_object_new_object();
	used = json_object_new_object();
	json_set(line, "totalCostUSD", json_object_new_double(cost));
	json_set_int(line, "totalLinesAdded", 0);
	json_set_int(line, "totalLinesRemoved", 0);
	json_set_int(line, "totalDuration", clock_wall_ms() - fake->started_ms);
	if (fake->output_tokens > 0) {
		json_set_int(used, "inputTokens", fake->input_tokens);
		json_set_int(used, "outputTokens", fake->output_tokens);
		json_set_int(used, "cacheReadInputTokens", 0);
		json_set_int(used, "cacheCreationInputTokens", 0);
		json_set(used, "costUSD", json_object_new_double(cost));
		json_set(models, fake->options.model, json_object_get(used));
	}
	json_object_put(used);
	json_set(line, "modelUsage", models);
	json_set_bool(line, "hasUnknownModelCost", false);
	fake_transcript_write(fake, line);
	/* What comes next is another conversation. */
	fake->input_tokens = fake->output_tokens = 0;
}

/* A conversation that is resumed goes on from the last line of this kind; what
 * a process that was killed has used is in none. */
void
fake_transcript_resume(struct fake *fake)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *line, *models = NULL, *used = NULL;

	if (file_read(fake->transcript_file, TRANSCRIPT_MAX, &text, NULL) < 0)
		return;
	for (char *at = text.data, *end; (end = strchr(at, '\n')) != NULL;
	     at = end + 1) {
		*end = '\0';
		if (strstr(at, "\"cost-state\"") == NULL)
			continue;
		line = json_tokener_parse(at);
		if (json_get_object(line, "", "modelUsage", &models, NULL) ==
			0 &&
		    json_get_object(
			models, "", fake->options.model, &used, NULL) == 0) {
			fake->input_tokens =
			    json_int_or(used, "inputTokens", 0);
			fake->output_tokens =
			    json_int_or(used, "outputTokens", 0);
		}
		json_object_put(line);
	}
}
