/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <glob.h>
#include <sys/stat.h>
#include <time.h>

#include "agent-kind.h"
#include "box.h"
#include "guard.h"
#include "hook-event.h"
#include "mcp.h"
#include "workspace.h"

#define FOLDER     ".gemini"
#define MEMORY     "llmc-worker.md"
#define FILE_MAX   (4 * 1024 * 1024)
#define CHAT_MAX   (256 * 1024 * 1024)
#define CHAT_ID    8 /* bytes of its id in the name of a chat file */
#define WAIT_MAX_S (7 * 24 * 3600)

/* The hooks we use, what they are to llmc, and how long each may run. Others
 * come too often to mean anything: PreCompress before each request. */
static const struct {
	const char *event, *ours;
	int seconds;
} gemini_hooks[] = {
	{ "BeforeAgent", HOOK_EVENT_NAMED, 10 },
	{ "AfterAgent", "Stop", 60 },
	{ "BeforeTool", "PreToolUse", 30 },
	{ "AfterTool", "PostToolUse", 5 },
};

static const struct {
	const char *tool, *ours;
} gemini_tools[] = {
	{ "run_shell_command", "Bash" },
	{ "write_file", "Write" },
	{ "replace", "Edit" },
	{ "read_file", "Read" },
};

/* --- its files ------------------------------------------------------------ */

static int
make_folder(const char *home, struct err *err)
{
	cleanup_free char *folder = file_join(home, FOLDER);
	struct stat st;
	int r = 0;

	if (lstat(folder, &st) == -1 || !S_ISDIR(st.st_mode))
		r = agent_clear_place(folder, err);
	return r == 0 ? file_mkdirs(folder, 0700, err) : r;
}

static int
gemini_write(const char *folder, const char *tree, struct err *err)
{
	(void)tree;
	return make_folder(folder, err);
}

static const char *const gemini_gone[] = { FOLDER "/.env",
	FOLDER "/trustedFolders.json", ".env", NULL };

/* Outside of a box its folder leads to the user's own files. */
static int
link_files(const char *folder, struct err *err)
{
	static const char *const names[] = { "oauth_creds.json",
		"google_accounts.json", "installation_id", "commands",
		"extensions", "policies", "skills", "agents", NULL };
	cleanup_free char *source = agent_source(&gemini_kind);

	for (size_t i = 0; source != NULL && names[i] != NULL; i++) {
		cleanup_free char *own =
		    xasprintf("%s/" FOLDER "/%s", source, names[i]);
		cleanup_free char *at =
		    xasprintf("%s/" FOLDER "/%s", folder, names[i]);
		int r = agent_clear_place(at, err);

		if (r < 0)
			return r;
		if (symlink(own, at) == -1)
			return err_errno(err, -errno, "cannot create %s", at);
	}
	return agent_write(&gemini_kind, folder, NULL, err);
}

/* --- launch --------------------------------------------------------------- */

static struct json_object *
member(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	if (json_object_is_type(value, json_type_object))
		return value;
	value = json_object_new_object();
	json_set(object, key, value);
	return value;
}

static void
add_hooks(struct json_object *settings, const struct agent_launch *launch)
{
	struct json_object *hooks = member(settings, "hooks");

	for (size_t i = 0; i < nitems(gemini_hooks); i++) {
		const char *event = gemini_hooks[i].event;
		struct json_object *hook = json_object_new_object();
		struct json_object *group = json_object_new_object();
		struct json_object *list = json_object_new_array();
		struct json_object *groups =
		    json_object_object_get(hooks, event);
		cleanup_buf struct buf command = BUF_INIT;

		/* The name of the event is ours: the words depend on it. */
		agent_hook_command(
		    &gemini_kind, launch, gemini_hooks[i].ours, &command);
		json_set_string(hook, "type", "command");
		json_set_string(hook, "name", "llmc");
		json_set_string(hook, "command", command.data);
		json_set_int(hook, "timeout", gemini_hooks[i].seconds * 1000);
		json_object_array_add(list, hook);
		json_set(group, "hooks", list);
		if (!json_object_is_type(groups, json_type_array)) {
			groups = json_object_new_array();
			json_set(hooks, event, groups);
		}
		json_object_array_add(groups, group);
	}
}

static void
add_server(struct json_object *settings, const struct agent_launch *launch)
{
	struct json_object *server = json_object_new_object();
	struct json_object *args = json_object_new_array();
	cleanup_strv char **words = NULL;

	agent_mcp_words(launch, &words);
	json_set_string(server, "command", words[0]);
	for (char **word = words + 1; *word != NULL; word++)
		json_object_array_add(args, json_object_new_string(*word));
	json_set(server, "args", args);
	json_set_int(server, "timeout", MCP_TOOL_TIMEOUT_MS);
	json_set_bool(server, "trust", true);
	json_set(member(settings, "mcpServers"), "llmc", server);
}

/* The user's settings, and what a session without dialogs needs. A box gets
 * only how to log in: the rest may have secrets. */
static struct json_object *
new_settings(bool boxed)
{
	cleanup_free char *source = agent_source(&gemini_kind);
	cleanup_free char *path =
	    source != NULL ? file_join(source, FOLDER "/settings.json") : NULL;
	struct json_object *user = NULL, *settings, *auth, *general, *none;
	const char *type = NULL;

	if (path != NULL)
		json_load(path, FILE_MAX, &user, NULL);
	if (!json_object_is_type(user, json_type_object)) {
		json_object_put(user);
		user = json_object_new_object();
	}
	auth = member(member(user, "security"), "auth");
	type = json_string_or(auth, "selectedType",
	    getenv("GEMINI_API_KEY") != NULL                ? "gemini-api-key" :
		getenv("GOOGLE_GENAI_USE_VERTEXAI") != NULL ? "vertex-ai" :
							      "oauth-personal");
	settings = boxed ? json_object_new_object() : json_object_get(user);
	auth = json_object_new_string(type);
	json_set(
	    member(member(settings, "security"), "auth"), "selectedType", auth);
	json_object_put(user);
	json_set_bool(member(member(settings, "security"), "folderTrust"),
	    "enabled", false);
	json_set_bool(member(settings, "hooksConfig"), "enabled", true);
	general = member(settings, "general");
	json_set_bool(general, "enableAutoUpdate", false);
	json_set_bool(general, "enableAutoUpdateNotification", false);
	json_set_bool(
	    member(settings, "privacy"), "usageStatisticsEnabled", false);
	/* Nobody would answer. */
	none = json_object_new_array();
	json_object_array_add(none, json_object_new_string("ask_user"));
	json_set(member(settings, "tools"), "exclude", none);
	return settings;
}

/* What is added to its instructions is a memory file beside the user's. */
static int
add_instructions(const struct agent_launch *launch, const char *home,
    struct json_object *settings, struct err *err)
{
	const char *text = agent_string(launch, "append_system_prompt");
	cleanup_free char *path = file_join(home, FOLDER "/" MEMORY);
	struct json_object *context = member(settings, "context");
	struct json_object *set = json_object_object_get(context, "fileName");
	struct json_object *names = json_object_new_array();

	if (json_object_is_type(set, json_type_array)) {
		json_object_put(names);
		names = json_object_get(set);
	} else {
		json_object_array_add(names,
		    json_object_new_string(
			json_string_or(context, "fileName", "GEMINI.md")));
	}
	json_object_array_add(names, json_object_new_string(MEMORY));
	json_set(context, "fileName", names);
	return text[0] == '\0' ?
	    agent_clear_place(path, err) :
	    agent_write_file(path, text, strlen(text), err);
}

/* It runs once for each prompt, without a terminal: on its screen, a usage
 * limit is a question that no hook tells of, and what is typed may be lost. */
static int
gemini_prepare(const struct agent_launch *launch, char ***argv, char ***env,
    struct err *err)
{
	const char *const before[] = { launch->llmc, "stream", "--hook", NULL };
	static const char *const flags[] = { "--skip-trust", "--approval-mode",
		"yolo", "--output-format", "stream-json", NULL };
	cleanup_free char *home =
	    box_agent_dir(launch->workspace, launch->worker, &gemini_kind);
	cleanup_free char *path = file_join(home, FOLDER "/settings.json");
	bool boxed = launch->sandboxed &&
	    box_mode_of(launch->settings, launch->worker) != BOX_OFF;
	cleanup_json struct json_object *settings = new_settings(boxed),
					*hook = NULL;
	cleanup_strv char **words = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	r = file_mkdirs(home, 0700, err);
	if (r == 0)
		r = make_folder(home, err);
	if (r == 0)
		r = add_instructions(launch, home, settings, err);
	add_hooks(settings, launch);
	if (launch->tools)
		add_server(settings, launch);
	json_print(settings, true, &text);
	if (r == 0 && !boxed)
		r = link_files(home, err);
	if (r == 0)
		r = agent_write_file(path, text.data, text.len, err);
	if (r < 0)
		return r;
	strv_take(env, xasprintf("%s=%s", gemini_kind.variable, home));
	strv_add(env, "GEMINI_CLI_NO_RELAUNCH=true");
	agent_hook_words(&gemini_kind, launch, "EVENT", &words);
	hook = strv_to_json(words);
	buf_clear(&text);
	json_print(hook, false, &text);
	strv_add_all(argv, before);
	strv_add(argv, text.data);
	if (launch->resume) {
		strv_add(argv, "--resume");
		strv_add(argv, launch->session);
	}
	strv_add(argv, "--");
	strv_add(argv, agent_string(launch, gemini_kind.command));
	strv_add_all(argv, flags);
	agent_add_model(agent_model(launch), argv);
	agent_add_extra(launch, argv);
	return 0;
}

/* --- hooks ---------------------------------------------------------------- */

/* The word that Claude Code has for it: limit.h knows these. */
static const char *
error_word(const char *text)
{
	static const struct {
		const char *part, *word;
	} words[] = {
		{ "quota", "rate_limit" },
		{ "RESOURCE_EXHAUSTED", "rate_limit" },
		{ "429", "rate_limit" },
		{ "high demand", "overloaded" },
		{ "UNAVAILABLE", "overloaded" },
		{ "API key", "authentication_failed" },
		{ "API_KEY", "authentication_failed" },
		{ "Auth method", "authentication_failed" },
		{ "UNAUTHENTICATED", "authentication_failed" },
		{ "PERMISSION_DENIED", "authentication_failed" },
		{ "NOT_FOUND", "model_not_found" },
		{ "INTERNAL", "server_error" },
		{ "fetch failed", "server_error" },
	};

	for (size_t i = 0; i < nitems(words); i++)
		if (strcasestr(text, words[i].part) != NULL)
			return words[i].word;
	return "unknown";
}

/* "Your quota will reset after 3h22m5s.", "Please retry in 86399.5s": how long
 * that is, in seconds; 0 = it does not say. */
static double
wait_in(const char *text)
{
	static const char *const marks[] = { "reset after ", "retry in ",
		"retry after " };
	const char *at = NULL;
	double all = 0, n;
	char *end;

	for (size_t i = 0; at == NULL && i < nitems(marks); i++) {
		at = strcasestr(text, marks[i]);
		if (at != NULL)
			at += strlen(marks[i]);
	}
	for (; at != NULL && isdigit((unsigned char)*at); at = end + 1) {
		n = strtod(at, &end);
		if (strncmp(end, "ms", 2) == 0)
			return all;
		all += *end == 'h' ? n * 3600 :
		    *end == 'm'    ? n * 60 :
		    *end == 's'    ? n :
				     0;
		if (*end == '\0')
			break;
	}
	return all;
}

/* With the time of a reset as limit.h reads it. */
static void
turn_failed(struct json_object *data)
{
	const char *text = json_string_or(data, "last_assistant_message", "");
	cleanup_buf struct buf words = BUF_INIT;
	double wait = wait_in(text);
	char when[64];
	struct tm tm;

	json_set_string(data, "error", error_word(text));
	if (wait < 1 || wait > WAIT_MAX_S ||
	    localtime_r(&(time_t){ clock_wall_ms() / 1000 + (time_t)wait },
		&tm) == NULL ||
	    strftime(when, sizeof when, "%b %e at %H:%M", &tm) == 0)
		return;
	buf_addf(&words, "%s (resets %s)", text, when);
	json_set_string(data, "last_assistant_message", words.data);
}

static const char *
gemini_event(const char *event, struct json_object *data)
{
	const char *tool = json_string_or(data, "tool_name", "");
	const char *dir, *cwd = json_string_or(data, "cwd", "");
	struct json_object *input = NULL;

	if (!json_object_is_type(data, json_type_object))
		return event;
	if (strcmp(event, "Stop") == 0)
		json_set_string(data, "last_assistant_message",
		    json_string_or(data, "prompt_response", ""));
	if (strcmp(event, "StopFailure") == 0 &&
	    json_string_or(data, "error", "")[0] == '\0')
		turn_failed(data);
	for (size_t i = 0; i < nitems(gemini_tools); i++) {
		if (strcmp(tool, gemini_tools[i].tool) != 0)
			continue;
		json_set_string(data, "tool_name", gemini_tools[i].ours);
		if (json_object_object_get_ex(data, "tool_input", &input) &&
		    (dir = json_string_or(input, "dir_path", NULL)) != NULL) {
			cleanup_free char *path =
			    dir[0] == '/' ? xstrdup(dir) : file_join(cwd, dir);

			json_set_string(data, "cwd", path);
		}
		return event;
	}
	if (strncmp(tool, "mcp_llmc_", 9) == 0) {
		cleanup_free char *name =
		    xasprintf(GUARD_LLMC_TOOLS "%s", tool + 9);

		json_set_string(data, "tool_name", name);
	}
	return event;
}

static struct json_object *
gemini_answer(const char *event, struct json_object *answer)
{
	struct json_object *own = json_object_new_object(), *output = NULL;
	const char *reason = json_string_or(answer, "reason", NULL);

	json_object_object_get_ex(answer, "hookSpecificOutput", &output);
	if (strcmp(event, "PreToolUse") == 0) {
		json_set_string(own, "decision",
		    json_string_or(output, "permissionDecision", "allow"));
		json_set_string(own, "reason",
		    json_string_or(output, "permissionDecisionReason", ""));
	} else if (strcmp(event, "Stop") == 0 &&
	    (reason != NULL || output != NULL)) {
		json_set_string(own, "decision", "block");
		json_set_string(own, "reason",
		    reason != NULL ?
			reason :
			json_string_or(output, "additionalContext", ""));
	} else {
		json_object_put(own);
		own = json_object_get(answer);
	}
	return own;
}

static const char *const gemini_variables[] = { "GEMINI_", "GOOGLE_", NULL };
static const char *const gemini_shared[] = { FOLDER "/commands",
	FOLDER "/extensions", FOLDER "/policies", FOLDER "/skills",
	FOLDER "/agents", NULL };

const struct agent_kind gemini_kind = {
	.name = "gemini",
	.command = "gemini_command",
	.tested = "0.61.0",
	.install = "install Gemini CLI (npm install -g @google/gemini-cli), "
		   "or: llmc config set defaults.gemini_command PATH",
	.log_in = "gemini",
	.can = AGENT_READY_HOOK | AGENT_STOP_BLOCKS | AGENT_ALLOWS |
	    AGENT_ERROR_HOOK | AGENT_BOXED,
	.start_ms = 60000, /* for its --version, on a slow machine */
	.prepare = gemini_prepare,
	.event = gemini_event,
	.answer = gemini_answer,
	.folder = "gemini",
	.homed = true,
	.variable = "GEMINI_CLI_HOME",
	.variables = gemini_variables,
	.home = "",
	.transcripts = FOLDER "/tmp",
	.write = gemini_write,
	.gone = gemini_gone,
	.memory = FOLDER "/GEMINI.md",
	.shared = gemini_shared,
	.login = FOLDER "/oauth_creds.json",
	.login_variable = "GEMINI_API_KEY",
};

/* --- its chat file -------------------------------------------------------- */

bool
gemini_can_resume(const char *id)
{
	const char *home = getenv(gemini_kind.variable);
	cleanup_free char *pattern =
	    xasprintf("%s/" FOLDER "/tmp/*/chats/session-*-%.*s.jsonl",
		home != NULL ? home : "", CHAT_ID, id);
	glob_t found;
	bool can = false;

	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; !can && i < found.gl_pathc; i++) {
		cleanup_buf struct buf text = BUF_INIT;

		can =
		    file_read(found.gl_pathv[i], CHAT_MAX, &text, NULL) == 0 &&
		    strstr(text.data, "\"type\":\"user\"") != NULL;
	}
	globfree(&found);
	return can;
}

bool
gemini_is_line(struct json_object *line)
{
	return json_object_object_get(line, "$set") != NULL ||
	    json_object_object_get(line, "projectHash") != NULL ||
	    (json_object_object_get(line, "content") != NULL &&
		json_object_object_get(line, "message") == NULL &&
		json_string_or(line, "id", NULL) != NULL);
}

static struct json_object *
add_block(struct json_object *blocks, const char *type)
{
	struct json_object *block = json_object_new_object();

	json_set_string(block, "type", type);
	json_object_array_add(blocks, block);
	return block;
}

/* A text, or parts: texts and what tools have answered. */
static void
add_parts(struct json_object *content, struct json_object *blocks)
{
	if (json_object_is_type(content, json_type_string) &&
	    json_object_get_string_len(content) > 0)
		json_set_string(add_block(blocks, "text"), "text",
		    json_object_get_string(content));
	for (size_t i = 0; json_object_is_type(content, json_type_array) &&
	     i < json_object_array_length(content);
	     i++) {
		struct json_object *part =
		    json_object_array_get_idx(content, i);
		struct json_object *done =
		    json_object_object_get(part, "functionResponse");
		struct json_object *response =
		    json_object_object_get(done, "response");
		const char *text = json_string_or(part, "text", NULL);
		const char *error = json_string_or(response, "error", NULL);

		if (done != NULL) {
			struct json_object *block =
			    add_block(blocks, "tool_result");

			json_set_string(block, "content",
			    error != NULL ?
				error :
				json_string_or(response, "output", ""));
			json_set_bool(block, "is_error", error != NULL);
		} else if (text != NULL) {
			json_set_string(
			    add_block(blocks, "text"), "text", text);
		}
	}
}

static int64_t
count_of(struct json_object *tokens, const char *key)
{
	int64_t count = json_int_or(tokens, key, 0);

	return count < 0 || count > INT32_MAX ? 0 : count;
}

/* What a request used. Its input includes what was read from the cache. */
static void
add_usage(struct json_object *tokens, struct json_object *message)
{
	struct json_object *usage = json_object_new_object();
	int64_t input = count_of(tokens, "input");
	int64_t cached = count_of(tokens, "cached");

	json_set_int(
	    usage, "input_tokens", input > cached ? input - cached : 0);
	json_set_int(usage, "cache_read_input_tokens", cached);
	json_set_int(usage, "output_tokens",
	    count_of(tokens, "output") + count_of(tokens, "thoughts"));
	json_set(message, "usage", usage);
}

struct json_object *
gemini_line(struct json_object *line)
{
	const char *type = json_string_or(line, "type", "");
	struct json_object *tokens = json_object_object_get(line, "tokens");
	struct json_object *calls = json_object_object_get(line, "toolCalls");
	struct json_object *own, *message, *blocks;
	bool user = strcmp(type, "user") == 0, said = false;

	if (!user && strcmp(type, "gemini") != 0)
		return NULL;
	own = json_object_new_object();
	message = json_object_new_object();
	blocks = json_object_new_array();
	json_set_string(own, "type", user ? "user" : "assistant");
	json_set_string(
	    own, "timestamp", json_string_or(line, "timestamp", ""));
	add_parts(json_object_object_get(line, "content"), blocks);
	for (size_t i = 0; json_object_is_type(calls, json_type_array) &&
	     i < json_object_array_length(calls);
	     i++)
		json_set_string(add_block(blocks, "tool_use"), "name",
		    json_string_or(
			json_object_array_get_idx(calls, i), "name", "?"));
	said = json_object_array_length(blocks) > 0;
	json_set(message, "content", blocks);
	json_set(own, "message", message);
	if (tokens != NULL) {
		json_set_string(
		    message, "id", json_string_or(line, "id", NULL));
		json_set_string(
		    message, "model", json_string_or(line, "model", NULL));
		add_usage(tokens, message);
	} else if (!said) {
		json_object_put(own);
		return NULL;
	}
	return own;
}
