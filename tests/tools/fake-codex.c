/* SPDX-License-Identifier: ISC */

/*
 * Codex instead of Claude Code, as far as llmc sees it: its options, its own
 * folder, the form of its rollout file, and that its servers are started again
 * for a new conversation. It reports the start of a conversation at once, and
 * not with its first prompt.
 */
#include "fake.h"

/* A string of TOML at text, which begins with a quote; returns what follows. */
static const char *
read_string(const char *text, struct buf *out)
{
	for (text++; *text != '\0' && *text != '"'; text++) {
		unsigned code;

		if (*text != '\\') {
			buf_addc(out, *text);
		} else if (text[1] == 'u' &&
		    sscanf(text + 2, "%4x", &code) == 1) {
			buf_addc(out, (char)code);
			text += 5;
		} else {
			buf_addc(out, *++text);
		}
	}
	return *text == '"' ? text + 1 : text;
}

/* hooks.NAME=[{hooks=[{type="command",command="...",timeout=N}]}] */
static void
read_hook(struct json_object *hooks, const char *setting)
{
	cleanup_free char *name = xstrndup(setting, strcspn(setting, "="));
	const char *command = strstr(setting, "command=\"");
	const char *timeout = strstr(setting, ",timeout=");
	struct json_object *hook = json_object_new_object();
	struct json_object *entry = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *entries = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;

	if (command != NULL)
		read_string(command + strlen("command="), &text);
	json_set_string(hook, "type", "command");
	json_set_string(hook, "command", text.data);
	json_set_int(hook, "timeout",
	    timeout != NULL ? strtol(timeout + 9, NULL, 10) : 30);
	json_object_array_add(list, hook);
	json_set(entry, "hooks", list);
	json_object_array_add(entries, entry);
	json_set(hooks, name, entries);
}

/* mcp_servers.llmc={command="...",args=["...",...],...} */
static struct json_object *
read_server(const char *setting)
{
	struct json_object *server = json_object_new_object();
	struct json_object *args = json_object_new_array();
	const char *at = strstr(setting, "command=\"");
	cleanup_buf struct buf text = BUF_INIT;

	if (at != NULL)
		at = read_string(at + strlen("command="), &text);
	json_set_string(server, "type", "stdio");
	json_set_string(server, "command", text.data);
	for (at = at != NULL ? strchr(at, '[') : NULL;
	     at != NULL && *at != '\0' && *at != ']';) {
		cleanup_buf struct buf word = BUF_INIT;

		at++;
		if (*at != '"')
			continue;
		at = read_string(at, &word);
		json_object_array_add(args, json_object_new_string(word.data));
	}
	json_set(server, "args", args);
	return server;
}

void
fake_codex_options(struct fake_options *options, int argc, char **argv)
{
	static struct buf settings = BUF_INIT, servers = BUF_INIT;
	static char folder[PATH_MAX];
	const char *home = getenv("HOME"), *set = getenv("CODEX_HOME");
	cleanup_json struct json_object *own = json_object_new_object(),
					*tools = json_object_new_object();
	struct json_object *hooks = json_object_new_object();
	struct json_object *list = json_object_new_object();

	for (int i = 1; i < argc; i++) {
		const char *more = i + 1 < argc ? argv[i + 1] : "";

		options->codex |= strcmp(argv[i], "--no-daemon") == 0;
		if (strcmp(argv[i], "resume") == 0)
			options->resume = more;
		if (strncmp(more, "hooks.", 6) == 0)
			read_hook(hooks, more + 6);
		if (strncmp(more, "mcp_servers.llmc=", 17) == 0)
			json_set(list, "llmc", read_server(more));
	}
	json_set(own, "hooks", hooks);
	json_set(tools, "mcpServers", list);
	if (!options->codex)
		return;
	json_print(own, false, &settings);
	json_print(tools, false, &servers);
	snprintf(folder, sizeof folder, "%s%s",
	    set != NULL      ? set :
		home != NULL ? home :
			       "",
	    set != NULL ? "" : "/.codex");
	options->settings = settings.data;
	options->servers = servers.data;
	options->folder = folder;
	options->mode = "bypassPermissions";
	options->sources = "";
	options->llmc_allowed = options->bash_allowed = true;
}

char *
fake_codex_path(const struct fake *fake)
{
	return xasprintf("%s/sessions/2026/11/18/rollout-2026-11-18T09-14-49-"
			 "%s.jsonl",
	    fake->options.folder, fake->session);
}

static void
add_line(struct fake *fake, const char *stamp, const char *type,
    struct json_object *payload)
{
	cleanup_json struct json_object *line = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	json_set_string(line, "timestamp", stamp);
	json_set_string(line, "type", type);
	json_set(line, "payload", payload);
	json_print(line, false, &text);
	buf_addc(&text, '\n');
	file_append(
	    fake->transcript_file, text.data, text.len, 0600, false, NULL);
}

static struct json_object *
new_payload(const char *type)
{
	struct json_object *payload = json_object_new_object();

	json_set_string(payload, "type", type);
	return payload;
}

static void
add_error(struct fake *fake, const char *stamp, struct json_object *line,
    const char *text)
{
	static const struct {
		const char *word, *codex;
	} words[] = { { "rate_limit", "usage_limit_exceeded" },
		{ "server_error", "internal_server_error" },
		{ "overloaded", "server_overloaded" },
		{ "authentication_failed", "unauthorized" } };
	const char *word = json_string_or(line, "error", "");
	struct json_object *payload = new_payload("task_complete");
	struct json_object *error = json_object_new_object();

	for (size_t i = 0; i < nitems(words); i++)
		if (strcmp(words[i].word, word) == 0)
			word = words[i].codex;
	json_set_string(error, "message", text);
	json_set_string(error, "codex_error_info", word);
	json_set(payload, "error", error);
	add_line(fake, stamp, "event_msg", payload);
}

static void
add_block(struct fake *fake, const char *stamp, const char *role,
    struct json_object *block)
{
	const char *type = json_string_or(block, "type", "text");
	const char *text = json_string_or(block, "text", "");
	struct json_object *payload, *item, *parts;

	if (strcmp(type, "tool_use") == 0) {
		payload = new_payload("custom_tool_call");
		json_set_string(payload, "name", "exec");
		json_set_string(payload, "input", "");
		add_line(fake, stamp, "response_item", payload);
	} else if (strcmp(type, "tool_result") == 0) {
		payload = new_payload("custom_tool_call_output");
		json_set_string(
		    payload, "output", json_string_or(block, "content", ""));
		add_line(fake, stamp, "response_item", payload);
	} else if (strncmp(text, "[Request interrupted", 20) == 0) {
		add_line(fake, stamp, "event_msg", new_payload("turn_aborted"));
	} else {
		payload = new_payload("message");
		parts = json_object_new_array();
		json_object_array_add(parts, json_object_get(block));
		json_set_string(payload, "role", role);
		json_set(payload, "content", json_object_get(parts));
		add_line(fake, stamp, "response_item", payload);
		if (strcmp(role, "user") == 0) {
			payload = new_payload("item_completed");
			item = new_payload("UserMessage");
			json_set(item, "content", json_object_get(parts));
			json_set(payload, "item", item);
			add_line(fake, stamp, "event_msg", payload);
		}
		json_object_put(parts);
	}
}

void
fake_codex_write(struct fake *fake, struct json_object *line)
{
	struct json_object *message = json_object_object_get(line, "message");
	struct json_object *content =
	    json_object_object_get(message, "content");
	struct json_object *tokens = json_object_object_get(message, "usage");
	const char *role = json_string_or(line, "type", "");
	const char *stamp = json_string_or(line, "timestamp", "");
	bool user = strcmp(role, "user") == 0;

	if (!user && strcmp(role, "assistant") != 0)
		return;
	if (json_object_is_type(content, json_type_string)) {
		cleanup_json struct json_object *block =
		    json_object_new_object();

		json_set_string(block, "type", "text");
		json_set_string(block, "text", json_object_get_string(content));
		add_block(fake, stamp, role, block);
		return;
	}
	for (size_t i = 0; json_object_is_type(content, json_type_array) &&
	     i < json_object_array_length(content);
	     i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);

		if (json_bool_or(line, "isApiErrorMessage", false))
			add_error(fake, stamp, line,
			    json_string_or(block, "text", ""));
		else
			add_block(fake, stamp, role, block);
	}
	if (!user && tokens != NULL) {
		struct json_object *payload = json_object_new_object();
		struct json_object *usage = json_object_new_object();

		json_set_int(usage, "input_tokens",
		    json_int_or(tokens, "input_tokens", 0));
		json_set_int(usage, "output_tokens",
		    json_int_or(tokens, "output_tokens", 0));
		json_set_string(
		    payload, "response_id", json_string_or(message, "id", ""));
		json_set(payload, "usage", usage);
		add_line(fake, stamp, "token_usage_record", payload);
	}
}
