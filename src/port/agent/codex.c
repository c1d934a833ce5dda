/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent-kind.h"
#include "hook-event.h"
#include "mcp.h"
#include "workspace.h"

/* The hooks we use, and how long Codex lets each run, in seconds. */
static const struct {
	const char *event;
	int timeout;
} codex_hooks[] = {
	{ "SessionStart", 30 },
	{ "UserPromptSubmit", 10 },
	{ "PreToolUse", 30 },
	{ "PostToolUse", 5 },
	{ "PermissionRequest", 10 },
	{ "Stop", 60 },
};

/* A basic string of TOML. */
static void
add_quoted(struct buf *out, const char *text)
{
	buf_addc(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			buf_addf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			buf_addf(out, "\\u%04x", (unsigned)*text);
		else
			buf_addc(out, *text);
	}
	buf_addc(out, '"');
}

static void
add_setting(char ***argv, const struct buf *setting)
{
	strv_add(argv, "-c");
	strv_add(argv, setting->data);
}

static void
add_hook(char ***argv, const struct agent_launch *launch, const char *event,
    int timeout)
{
	cleanup_buf struct buf command = BUF_INIT, setting = BUF_INIT;

	agent_hook_command(&codex_kind, launch, event, &command);
	buf_addf(
	    &setting, "hooks.%s=[{hooks=[{type=\"command\",command=", event);
	add_quoted(&setting, command.data);
	buf_addf(&setting, ",timeout=%d}]}]", timeout);
	add_setting(argv, &setting);
}

static void
add_server(char ***argv, const struct agent_launch *launch)
{
	cleanup_buf struct buf setting = BUF_INIT;
	cleanup_strv char **words = NULL;

	agent_mcp_words(launch, &words);
	buf_adds(&setting, "mcp_servers.llmc={command=");
	add_quoted(&setting, words[0]);
	buf_adds(&setting, ",args=[");
	for (char **word = words + 1; *word != NULL; word++) {
		add_quoted(&setting, *word);
		buf_addc(&setting, ',');
	}
	/* That it asks for our tools says that it can be prompted. */
	buf_addf(&setting, "\"--ready\"],required=true,tool_timeout_sec=%d}",
	    MCP_TOOL_TIMEOUT_MS / 1000);
	add_setting(argv, &setting);
}

static int
codex_prepare(const struct agent_launch *launch, char ***argv, char ***env,
    struct err *err)
{
	static const char *const flags[] = { "--no-daemon", "--no-alt-screen",
		"--dangerously-bypass-approvals-and-sandbox",
		"--dangerously-bypass-hook-trust", "-c",
		"check_for_update_on_startup=false", NULL };
	const struct launch_choice *choice = agent_choice(launch);
	const char *extra = agent_string(launch, "append_system_prompt");
	cleanup_buf struct buf trust = BUF_INIT, more = BUF_INIT;

	(void)env;
	(void)err;
	strv_add(argv, agent_string(launch, codex_kind.command));
	if (launch->resume) {
		strv_add(argv, "resume");
		strv_add(argv, launch->session);
	}
	strv_add_all(argv, flags);
	buf_adds(&trust, "projects={");
	add_quoted(&trust, launch->workspace->root);
	buf_adds(&trust, "={trust_level=\"trusted\"},");
	add_quoted(&trust, launch->cwd);
	buf_adds(&trust, "={trust_level=\"trusted\"}}");
	add_setting(argv, &trust);
	agent_add_model(agent_model(launch), argv);
	if (choice->thinking != NULL) {
		buf_addf(&more, "model_reasoning_effort=\"%s\"",
		    strcmp(choice->thinking, "off") == 0 ? "minimal" :
							   choice->thinking);
		add_setting(argv, &more);
		buf_clear(&more);
	}
	if (extra[0] != '\0') {
		buf_adds(&more, "developer_instructions=");
		add_quoted(&more, extra);
		add_setting(argv, &more);
	}
	if (launch->tools)
		add_server(argv, launch);
	for (size_t i = 0; i < nitems(codex_hooks); i++)
		add_hook(
		    argv, launch, codex_hooks[i].event, codex_hooks[i].timeout);
	agent_add_extra(launch, argv);
	return 0;
}

/* It reports the start of a conversation with the first prompt of it. */
static const char *
codex_event(const char *event, struct json_object *data)
{
	struct json_object *input = NULL;

	if (strcmp(event, "SessionStart") == 0 &&
	    strcmp(json_string_or(data, "source", ""), "compact") != 0)
		return HOOK_EVENT_NAMED;
	/* The text of a patch is not the command of a shell. */
	if (strcmp(json_string_or(data, "tool_name", ""), "apply_patch") == 0 &&
	    json_object_object_get_ex(data, "tool_input", &input)) {
		json_set_string(
		    input, "patch", json_string_or(input, "command", ""));
		json_object_object_del(input, "command");
	}
	return event;
}

/* --- its files ------------------------------------------------------------ */

/* The user's settings may have secrets. */
static const char *const codex_gone[] = { "config.toml", "hooks.json", NULL };
static const char *const codex_variables[] = { "CODEX_", "OPENAI_", NULL };
static const char *const codex_shared[] = { "prompts", "skills", "rules",
	NULL };

const struct agent_kind codex_kind = {
	.name = "codex",
	.command = "codex_command",
	.tested = "0.169.0",
	.install = "install Codex (npm install -g @openai/codex), or: llmc "
		   "config set defaults.codex_command PATH",
	.log_in = "codex login",
	.can = AGENT_STOP_BLOCKS | AGENT_ALLOWS | AGENT_QUEUES | AGENT_BOXED |
	    AGENT_THINKS,
	.prepare = codex_prepare,
	.event = codex_event,
	.folder = "codex",
	.variable = "CODEX_HOME",
	.variables = codex_variables,
	.home = "/.codex",
	.transcripts = "sessions",
	.gone = codex_gone,
	.memory = "AGENTS.md",
	.shared = codex_shared,
	.login = "auth.json",
};

/* --- its rollout ---------------------------------------------------------- */

static struct json_object *
new_line(const char *type, struct json_object *from)
{
	struct json_object *line = json_object_new_object();

	json_set_string(line, "type", type);
	json_set_string(
	    line, "timestamp", json_string_or(from, "timestamp", ""));
	json_set(line, "message", json_object_new_object());
	return line;
}

static struct json_object *
message_in(struct json_object *line)
{
	return json_object_object_get(line, "message");
}

/* Content of one block; returns it. */
static struct json_object *
new_block(struct json_object *line, const char *type)
{
	struct json_object *blocks = json_object_new_array();
	struct json_object *block = json_object_new_object();

	json_set_string(block, "type", type);
	json_object_array_add(blocks, block);
	json_set(message_in(line), "content", blocks);
	return block;
}

/* Parts with texts, or one text. */
static void
add_text(struct json_object *content, struct buf *out)
{
	if (json_object_is_type(content, json_type_string))
		buf_adds(out, json_object_get_string(content));
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++)
		buf_addf(out, "%s%s", out->len > 0 ? "\n" : "",
		    json_string_or(
			json_object_array_get_idx(content, i), "text", ""));
}

static struct json_object *
text_line(
    const char *type, struct json_object *from, struct json_object *content)
{
	struct json_object *line = new_line(type, from);
	cleanup_buf struct buf text = BUF_INIT;

	add_text(content, &text);
	json_set_string(new_block(line, "text"), "text", text.data);
	return line;
}

/* The word that Claude Code has for it: limit.h knows these. */
static const char *
error_word(struct json_object *info)
{
	static const struct {
		const char *codex, *word;
	} words[] = {
		{ "usage_limit_exceeded", "rate_limit" },
		{ "rate_limit_exceeded", "rate_limit" },
		{ "server_overloaded", "overloaded" },
		{ "internal_server_error", "server_error" },
		{ "http_connection_failed", "server_error" },
		{ "response_stream_connection_failed", "server_error" },
		{ "response_stream_disconnected", "server_error" },
		{ "response_too_many_failed_attempts", "server_error" },
		{ "unauthorized", "authentication_failed" },
	};
	const char *name = json_object_is_type(info, json_type_string) ?
	    json_object_get_string(info) :
	    "";

	/* One with details is an object with one member. */
	if (json_object_is_type(info, json_type_object)) {
		json_object_object_foreach(info, key, value)
		{
			int64_t status =
			    json_int_or(value, "http_status_code", 0);

			name = status == 401 || status == 403 ? "unauthorized" :
			    status == 429 ? "rate_limit_exceeded" :
					    key;
		}
	}
	for (size_t i = 0; i < nitems(words); i++)
		if (strcmp(words[i].codex, name) == 0)
			return words[i].word;
	return "unknown";
}

static struct json_object *
event_line(struct json_object *from, struct json_object *payload)
{
	const char *type = json_string_or(payload, "type", "");
	struct json_object *item = json_object_object_get(payload, "item");
	struct json_object *error = json_object_object_get(payload, "error");
	struct json_object *line;

	if (strcmp(type, "item_completed") == 0 &&
	    strcmp(json_string_or(item, "type", ""), "UserMessage") == 0)
		return text_line(
		    "user", from, json_object_object_get(item, "content"));
	if (strcmp(type, "turn_aborted") == 0) {
		line = new_line("user", from);
		json_set_string(new_block(line, "text"), "text",
		    "[Request interrupted by user]");
		return line;
	}
	if (strcmp(type, "task_complete") != 0 ||
	    !json_object_is_type(error, json_type_object))
		return NULL;
	line = new_line("assistant", from);
	json_set_bool(line, "isApiErrorMessage", true);
	json_set_string(line, "turnFailed",
	    error_word(json_object_object_get(error, "codex_error_info")));
	json_set_string(new_block(line, "text"), "text",
	    json_string_or(error, "message", ""));
	return line;
}

static struct json_object *
item_line(
    struct json_object *from, struct json_object *payload, const char *model)
{
	const char *type = json_string_or(payload, "type", "");
	struct json_object *line, *block;
	cleanup_buf struct buf text = BUF_INIT;

	if (strcmp(type, "message") == 0) {
		if (strcmp(json_string_or(payload, "role", ""), "assistant") !=
		    0)
			return NULL; /* prompts are events */
		line = text_line("assistant", from,
		    json_object_object_get(payload, "content"));
	} else if (strcmp(type, "function_call") == 0 ||
	    strcmp(type, "custom_tool_call") == 0) {
		line = new_line("assistant", from);
		block = new_block(line, "tool_use");
		json_set_string(
		    block, "name", json_string_or(payload, "name", "?"));
		json_set_string(block, "input",
		    json_string_or(payload, "arguments",
			json_string_or(payload, "input", "")));
	} else if (strcmp(type, "function_call_output") == 0 ||
	    strcmp(type, "custom_tool_call_output") == 0) {
		line = new_line("user", from);
		add_text(json_object_object_get(payload, "output"), &text);
		json_set_string(
		    new_block(line, "tool_result"), "content", text.data);
		return line;
	} else {
		return NULL;
	}
	json_set_string(
	    message_in(line), "id", json_string_or(payload, "id", NULL));
	json_set_string(message_in(line), "model", model);
	return line;
}

/* What a request used. Its input includes what was read from the cache, and
 * what was written to it. */
static struct json_object *
usage_line(
    struct json_object *from, struct json_object *payload, const char *model)
{
	struct json_object *used = json_object_object_get(payload, "usage");
	struct json_object *line = new_line("assistant", from);
	struct json_object *usage = json_object_new_object();
	int64_t input = json_int_or(used, "input_tokens", 0);
	int64_t cached = json_int_or(used, "cached_input_tokens", 0);
	int64_t written = json_int_or(used, "cache_write_input_tokens", 0);

	json_set_int(usage, "input_tokens",
	    input > cached && input - cached > written ?
		input - cached - written :
		0);
	json_set_int(usage, "cache_read_input_tokens", cached);
	json_set_int(usage, "cache_creation_input_tokens", written);
	json_set_int(
	    usage, "output_tokens", json_int_or(used, "output_tokens", 0));
	json_set_string(message_in(line), "id",
	    json_string_or(payload, "response_id", NULL));
	json_set_string(message_in(line), "model", model);
	json_set(message_in(line), "usage", usage);
	return line;
}

struct json_object *
codex_line(struct json_object *line, char **model)
{
	const char *type = json_string_or(line, "type", "");
	struct json_object *payload = json_object_object_get(line, "payload");

	if (!json_object_is_type(payload, json_type_object))
		return NULL;
	if (strcmp(type, "turn_context") == 0 &&
	    json_string_or(payload, "model", NULL) != NULL)
		xstrset(model, json_string_or(payload, "model", NULL));
	if (strcmp(type, "event_msg") == 0)
		return event_line(line, payload);
	if (strcmp(type, "response_item") == 0)
		return item_line(line, payload, *model);
	if (strcmp(type, "token_usage_record") == 0)
		return usage_line(line, payload, *model);
	return NULL;
}
