/* SPDX-License-Identifier: ISC */

/*
 * Gemini CLI without a terminal instead of Claude Code, as far as llmc sees it:
 * one prompt from standard input, its settings file, the form of its chat file,
 * and lines of JSON that say which conversation it is and how its turn ended.
 */
#include "fake.h"

#define FILE_MAX (1024 * 1024)

/* The hooks of one event; a time is in ms. */
static void
add_hooks(
    struct json_object *hooks, struct json_object *groups, const char *name)
{
	struct json_object *list = NULL;

	for (size_t i = 0; json_object_is_type(groups, json_type_array) &&
	     i < json_object_array_length(groups);
	     i++) {
		json_get_array(json_object_array_get_idx(groups, i), "",
		    "hooks", &list, NULL);
		for (size_t k = 0;
		     list != NULL && k < json_object_array_length(list); k++) {
			struct json_object *hook =
			    json_object_array_get_idx(list, k);

			json_set_int(hook, "timeout",
			    json_int_or(hook, "timeout", 60000) / 1000);
		}
	}
	json_set(hooks, name, json_object_get(groups));
}

void
fake_gemini_options(struct fake_options *options, int argc, char **argv)
{
	static const struct {
		const char *event, *name;
	} rows[] = {
		{ "BeforeAgent", "UserPromptSubmit" },
		{ "AfterAgent", "Stop" },
		{ "BeforeTool", "PreToolUse" },
		{ "AfterTool", "PostToolUse" },
	};
	static struct buf settings = BUF_INIT, servers = BUF_INIT;
	static char folder[PATH_MAX];
	const char *home = getenv("GEMINI_CLI_HOME");
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *file = NULL,
					*own = json_object_new_object(),
					*tools = json_object_new_object();
	struct json_object *hooks = json_object_new_object();
	struct json_object *given = NULL, *list = NULL;

	json_set(own, "hooks", hooks);
	for (int i = 1; i < argc; i++)
		options->gemini |= strcmp(argv[i], "--skip-trust") == 0;
	if (!options->gemini || home == NULL)
		return;
	snprintf(folder, sizeof folder, "%s/.gemini", home);
	path = file_join(folder, "settings.json");
	json_load(path, FILE_MAX, &file, NULL);
	json_get_object(file, "", "hooks", &given, NULL);
	for (size_t i = 0; given != NULL && i < nitems(rows); i++)
		add_hooks(hooks, json_object_object_get(given, rows[i].event),
		    rows[i].name);
	if (json_get_object(file, "", "mcpServers", &list, NULL) == 0)
		json_set(tools, "mcpServers", json_object_get(list));
	json_print(own, false, &settings);
	json_print(tools, false, &servers);
	options->headless = true;
	options->settings = settings.data;
	options->servers = servers.data;
	options->folder = folder;
	options->mode = "bypassPermissions";
	options->sources = "";
	options->llmc_allowed = options->bash_allowed = true;
}

char *
fake_gemini_path(const struct fake *fake)
{
	const char *slash = strrchr(fake->cwd, '/');

	return xasprintf("%s/tmp%s/chats/session-2026-11-18T09-14-%.8s.jsonl",
	    fake->options.folder, slash, fake->session);
}

/* {"type":TYPE,KEY:VALUE} on standard output. */
void
fake_gemini_say(const char *type, const char *key, const char *value)
{
	cleanup_json struct json_object *line = json_object_new_object();
	struct json_object *error = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	json_set_string(line, "type", type);
	json_set_string(error, "message", value);
	if (strcmp(key, "error") == 0)
		json_set(line, "error", json_object_get(error));
	else
		json_set_string(line, key, value);
	if (strcmp(type, "message") == 0) {
		json_set_string(line, "role", "assistant");
		json_set_bool(line, "delta", true);
	}
	json_print(line, false, &text);
	buf_addc(&text, '\n');
	file_write_all(STDOUT_FILENO, text.data, text.len);
	json_object_put(error);
}

/* Parts of one line: texts, and what tools have answered. */
static struct json_object *
new_parts(struct json_object *content, struct json_object *calls)
{
	struct json_object *parts = json_object_new_array();

	for (size_t i = 0; json_object_is_type(content, json_type_array) &&
	     i < json_object_array_length(content);
	     i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		const char *type = json_string_or(block, "type", "text");
		struct json_object *part = json_object_new_object();

		if (strcmp(type, "tool_use") == 0) {
			json_set_string(
			    part, "name", json_string_or(block, "name", ""));
			json_object_array_add(calls, part);
			continue;
		}
		if (strcmp(type, "tool_result") == 0) {
			struct json_object *done = json_object_new_object();
			struct json_object *said = json_object_new_object();

			json_set_string(said, "output",
			    json_string_or(block, "content", ""));
			json_set(done, "response", said);
			json_set(part, "functionResponse", done);
		} else {
			json_set_string(
			    part, "text", json_string_or(block, "text", ""));
		}
		json_object_array_add(parts, part);
	}
	return parts;
}

void
fake_gemini_write(struct fake *fake, struct json_object *line)
{
	struct json_object *message = json_object_object_get(line, "message");
	struct json_object *content =
	    json_object_object_get(message, "content");
	struct json_object *used = json_object_object_get(message, "usage");
	const char *type = json_string_or(line, "type", "");
	cleanup_json struct json_object *own = json_object_new_object();
	struct json_object *calls = json_object_new_array();
	struct json_object *tokens = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	bool user = strcmp(type, "user") == 0;

	json_set(own, "toolCalls", calls);
	json_set(own, "tokens", tokens);
	if (!user &&
	    (strcmp(type, "assistant") != 0 ||
		json_bool_or(line, "isApiErrorMessage", false)))
		return;
	json_set_string(own, "id", json_string_or(line, "uuid", ""));
	json_set_string(
	    own, "timestamp", json_string_or(line, "timestamp", ""));
	json_set_string(own, "type", user ? "user" : "gemini");
	json_set_string(own, "model", json_string_or(message, "model", NULL));
	json_set(own, "content",
	    json_object_is_type(content, json_type_string) ?
		json_object_get(content) :
		new_parts(content, calls));
	json_set_int(tokens, "input", json_int_or(used, "input_tokens", 0));
	json_set_int(tokens, "output", json_int_or(used, "output_tokens", 0));
	if (user || used == NULL)
		json_object_object_del(own, "tokens");
	json_print(own, false, &text);
	buf_addc(&text, '\n');
	file_append(
	    fake->transcript_file, text.data, text.len, 0600, false, NULL);
}
