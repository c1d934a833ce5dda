/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent-kind.h"
#include "claude.h"
#include "command-guard.h"
#include "hook-event.h"
#include "id.h"
#include "mcp.h"
#include "preflight.h"
#include "settings.h"
#include "setup.h"
#include "workspace.h"

#define MILLION 1000000

static void
claude_add_flag(char ***argv, const char *flag, const char *value)
{
	strv_add(argv, flag);
	strv_add(argv, value);
}

/* Claude Code refuses a schema that names the draft it is written in. */
static void
schema_text(struct json_object *schema, struct buf *out)
{
	cleanup_json struct json_object *copy = NULL;

	json_object_deep_copy(schema, &copy, NULL);
	json_object_object_del(copy, "$schema");
	json_print(copy, false, out);
}

char **
claude_print_argv(const struct agent_print *print)
{
	const struct settings *s = print->settings;
	cleanup_buf struct buf schema = BUF_INIT;
	char **argv = NULL;

	schema_text(print->schema, &schema);
	strv_add(&argv, settings_string(s, "defaults.agent_command"));
	strv_add(&argv, "-p");
	claude_add_flag(&argv, "--output-format", "json");
	claude_add_flag(&argv, "--json-schema", schema.data);
	/* What is not allowed is refused without a question. */
	claude_add_flag(&argv, "--permission-mode", "dontAsk");
	claude_add_flag(&argv, "--tools", "Read,Grep,Glob");
	strv_add(&argv, "--strict-mcp-config");
	strv_add(&argv, "--no-session-persistence");
	/* It runs outside of every box: what has landed is read, and nothing of
	 * it is run. */
	if (settings_bool(s, "defaults.isolate")) {
		claude_add_flag(&argv, "--setting-sources", "");
	} else {
		claude_add_flag(&argv, "--setting-sources", "user");
		claude_add_flag(&argv, "--add-dir", print->dir);
	}
	agent_add_model(print->model, &argv);
	if (print->max_cost > 0) {
		strv_add(&argv, "--max-budget-usd");
		strv_take(&argv,
		    xasprintf("%" PRId64 ".%06" PRId64,
			print->max_cost / MILLION, print->max_cost % MILLION));
	}
	return argv;
}

#define FILE_MAX (64 * 1024 * 1024)
#define KEY_TAIL 20 /* the program keeps only that many bytes of a key */

char *
claude_home_file(void)
{
	const char *home = getenv("HOME"), *set = getenv("CLAUDE_CONFIG_DIR");
	cleanup_free char *dir = agent_source(&claude_kind), *old = NULL;

	if (dir == NULL)
		return NULL;
	old = file_join(dir, ".config.json");
	if (file_exists(old))
		return take_ptr(&old);
	return file_join(
	    set != NULL && set[0] != '\0' ? set : home, ".claude.json");
}

static int
load(const char *file, struct json_object **ret_json, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_load(file, FILE_MAX, &json, err);

	if (r < 0)
		return r;
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object, found %s",
		    file, json_type_words(json));
	*ret_json = take_ptr(&json);
	return 0;
}

static const char *
key_tail(const char *key)
{
	size_t len = strlen(key);

	return len > KEY_TAIL ? key + len - KEY_TAIL : key;
}

/* The object in this member; created if it is missing or not an object. */
static struct json_object *
object_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (json_object_object_get_ex(object, key, &member) &&
	    json_object_is_type(member, json_type_object))
		return member;
	member = json_object_new_object();
	json_set(object, key, member);
	return member;
}

static struct json_object *
find_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &member))
		return NULL;
	return member;
}

static bool
list_has(struct json_object *list, const char *word)
{
	if (!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (json_object_is_type(item, json_type_string) &&
		    strcmp(json_object_get_string(item), word) == 0)
			return true;
	}
	return false;
}

/* Has the user said yes or no to this key? If no, the program does not use it,
 * and asks no more. */
static bool
key_is_answered(struct json_object *json, const char *api_key)
{
	struct json_object *responses =
	    find_member(json, "customApiKeyResponses");

	return list_has(
		   find_member(responses, "approved"), key_tail(api_key)) ||
	    list_has(find_member(responses, "rejected"), key_tail(api_key));
}

unsigned
claude_home_check(
    const char *file, const char *root, const char *api_key, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *project;
	unsigned problems = 0;
	int r = load(file, &json, err);

	if (r < 0 && r != -ENOENT)
		return CLAUDE_FILE_BROKEN;
	if (!json_bool_or(json, "hasCompletedOnboarding", false))
		problems |= CLAUDE_NOT_ONBOARDED;
	project = find_member(find_member(json, "projects"), root);
	if (!json_bool_or(project, "hasTrustDialogAccepted", false))
		problems |= CLAUDE_NOT_TRUSTED;
	if (api_key != NULL && api_key[0] != '\0' &&
	    !key_is_answered(json, api_key))
		problems |= CLAUDE_KEY_UNKNOWN;
	return problems;
}

static void
approve_key(struct json_object *json, const char *api_key)
{
	struct json_object *responses, *approved = NULL;

	if (api_key == NULL || api_key[0] == '\0' ||
	    key_is_answered(json, api_key))
		return;
	responses = object_member(json, "customApiKeyResponses");
	approved = find_member(responses, "approved");
	if (!json_object_is_type(approved, json_type_array)) {
		approved = json_object_new_array();
		json_set(responses, "approved", approved);
	}
	json_object_array_add(
	    approved, json_object_new_string(key_tail(api_key)));
}

int
claude_home_trust(const char *file, const char *root, const char *api_key,
    bool onboarding, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = load(file, &json, err);

	if (r == -ENOENT)
		json = json_object_new_object();
	else if (r < 0)
		return r;
	json_set_bool(object_member(object_member(json, "projects"), root),
	    "hasTrustDialogAccepted", true);
	approve_key(json, api_key);
	if (onboarding)
		json_set_bool(json, "hasCompletedOnboarding", true);
	return json_save(file, json, 0600, err);
}

/* Tools of our own, allowed without a question. */
static const char *const own_tools[] = { "mcp__llmc__*", NULL };

/* The hooks we use, and how long Claude lets each run, in seconds. SessionEnd
 * has a very short time by default, so it is set too. PreToolUse has much more
 * than it needs: a tool whose guard was too slow is not used. */
static const struct {
	const char *event;
	int timeout;
} claude_hooks[] = {
	{ "SessionStart", 30 },
	{ "SessionEnd", 5 },
	{ "UserPromptSubmit", 10 },
	{ "PreToolUse", 30 },
	{ "PostToolUse", 5 },
	{ "PostToolUseFailure", 5 },
	{ "PermissionRequest", 10 },
	{ "PermissionDenied", 10 },
	{ "Elicitation", 10 },
	{ "Notification", 10 },
	{ "Stop", 60 },
	{ "StopFailure", 10 },
	{ "SubagentStop", 5 },
	{ "PreCompact", 5 },
};

static void
add_tools(char ***argv, const struct agent_launch *launch, const char *flag,
    const char *key, const char *const *always, char *const *more)
{
	cleanup_buf struct buf joined = BUF_INIT;
	const char *const *items;
	size_t count = agent_list(launch, key, &items);

	for (; always != NULL && *always != NULL; always++)
		buf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", *always);
	for (size_t i = 0; i < count; i++)
		buf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", items[i]);
	for (; more != NULL && *more != NULL; more++)
		buf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", *more);
	if (joined.len > 0)
		claude_add_flag(argv, flag, joined.data);
}

static bool
claude_is_boxed(const struct agent_launch *launch)
{
	return launch->sandboxed &&
	    strcmp(agent_string(launch, "sandbox"), "off") != 0;
}

static bool
keeps_memory(const struct agent_launch *launch)
{
	return agent_choice(launch)->limited && !agent_bool(launch, "isolate");
}

/* A hook or a server in a file that it can write would be a tool that it was
 * not given. The files of the user, such as a helper for keys, it can write
 * in a box only. CLAUDE.md belongs to the project's settings; it is read again
 * as that of another folder (see claude_env()). */
static const char *
setting_sources(const struct agent_launch *launch)
{
	bool boxed = claude_is_boxed(launch);
	bool memory = keeps_memory(launch);

	if (agent_bool(launch, "isolate"))
		return "";
	if (launch->repair || (memory && !boxed))
		return "user";
	return memory ? "" : NULL; /* all */
}

static void
add_isolation(char ***argv, const struct agent_launch *launch)
{
	const char *sources = setting_sources(launch);

	if (sources == NULL)
		return;
	claude_add_flag(argv, "--setting-sources", sources);
	strv_add(argv, "--strict-mcp-config");
	if (keeps_memory(launch))
		claude_add_flag(argv, "--add-dir", launch->cwd);
}

char **
claude_argv(const struct agent_launch *launch)
{
	cleanup_free char *settings = agent_path(launch, "settings.json");
	cleanup_free char *servers = agent_path(launch, "mcp.json");
	const char *mode = agent_mode(launch);
	const struct launch_choice *choice = agent_choice(launch);
	const char *model = agent_model(launch);
	const char *extra = agent_string(launch, "append_system_prompt");
	char **argv = NULL;

	strv_add(&argv, agent_string(launch, "agent_command"));
	claude_add_flag(&argv, launch->resume ? "--resume" : "--session-id",
	    launch->session);
	claude_add_flag(&argv, "--settings", settings);
	if (launch->tools)
		claude_add_flag(&argv, "--mcp-config", servers);
	claude_add_flag(&argv, "--permission-mode", mode);
	agent_add_model(model, &argv);
	if (choice->thinking != NULL && strcmp(choice->thinking, "off") != 0)
		claude_add_flag(&argv, "--effort", choice->thinking);
	if (extra[0] != '\0')
		claude_add_flag(&argv, "--append-system-prompt", extra);
	add_isolation(&argv, launch);
	if (choice->tools != NULL)
		claude_add_flag(&argv, "--tools", choice->tools);
	add_tools(&argv, launch, "--allowedTools", "allowed_tools",
	    launch->tools ? own_tools : NULL, NULL);
	add_tools(&argv, launch, "--disallowedTools", "disallowed_tools",
	    claude_denied_tools, choice->deny);
	agent_add_extra(launch, &argv);
	return argv;
}

char **
claude_env(const struct agent_launch *launch)
{
	int64_t subagents = agent_int(launch, "subagents");
	char **env = NULL;

	/* Classic rendering: scrollback works, and bracketed paste is asked
	 * for before SessionStart. */
	strv_add(&env, "CLAUDE_CODE_NO_FLICKER=0");
	/* A version that changes under a fleet changes its hooks and tools. */
	strv_add(&env, "DISABLE_AUTOUPDATER=1");
	/* It would take the keys out of what the agent runs, but also end the
	 * permission mode that was chosen: then nothing may be run unasked. */
	strv_add(&env, "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=0");
	strv_add(&env, "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=0");
	if (subagents > 0)
		strv_take(&env,
		    xasprintf("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS=%" PRId64,
			subagents));
	if (launch->tools)
		strv_take(&env,
		    xasprintf("MCP_TOOL_TIMEOUT=%d", MCP_TOOL_TIMEOUT_MS));
	if (agent_choice(launch)->thinking != NULL &&
	    strcmp(agent_choice(launch)->thinking, "off") == 0)
		strv_add(&env, "MAX_THINKING_TOKENS=0");
	if (keeps_memory(launch))
		strv_add(
		    &env, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1");
	if (launch->max_turns > 0)
		strv_take(&env,
		    xasprintf("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=%d",
			launch->max_turns + 1));
	if (geteuid() == 0 && agent_bool(launch, "allow_root") &&
	    strcmp(agent_mode(launch), "bypassPermissions") == 0)
		strv_add(&env, "IS_SANDBOX=1");
	return env;
}

/* {"hooks":[{"type":"command","command":...,"args":[...],"timeout":N}]}; with
 * args there is no shell in between, and nothing to quote. */
static struct json_object *
hook_json(const struct agent_launch *launch, const char *event, int timeout)
{
	struct json_object *hook = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *entry = json_object_new_object();
	struct json_object *entries = json_object_new_array();
	cleanup_strv char **words = NULL;

	agent_hook_words(&claude_kind, launch, event, &words);
	json_set_string(hook, "type", "command");
	json_set_string(hook, "command", words[0]);
	json_set(hook, "args", strv_to_json(words + 1));
	/* Otherwise a tool is used if its guard does not start, fails or takes
	 * too long. */
	if (launch->guarded && strcmp(event, "PreToolUse") == 0)
		json_set_string(hook, "onFailure", "block");
	json_set_int(hook, "timeout", timeout);
	json_object_array_add(list, hook);
	json_set(entry, "hooks", list);
	json_object_array_add(entries, entry);
	return entries;
}

#define STATUS_MAX (1024 * 1024)

/* The status line that the session would have without us; NULL = none. */
static struct json_object *
own_status_line(const struct agent_launch *launch)
{
	const char *sources = setting_sources(launch);
	cleanup_free char *user = agent_source(&claude_kind);
	const struct {
		const char *dir, *name;
	} files[] = { { launch->cwd, ".claude/settings.local.json" },
		{ launch->cwd, ".claude/settings.json" },
		{ user, "settings.json" } };

	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_free char *file = NULL;
		cleanup_json struct json_object *json = NULL;
		struct json_object *line;

		if (files[i].dir == NULL ||
		    (sources != NULL &&
			(*sources == '\0' || files[i].dir != user)))
			continue;
		file = file_join(files[i].dir, files[i].name);
		if (json_load(file, STATUS_MAX, &json, NULL) == 0 &&
		    json_object_object_get_ex(json, "statusLine", &line) &&
		    json_string_or(line, "command", NULL) != NULL)
			return json_object_get(line);
	}
	return NULL;
}

/* Who makes a status line is told how full the context and the usage windows of
 * the account are. Ours prints nothing, and passes that on to the one that the
 * session would have otherwise. Its command has no args: a shell reads it. */
static struct json_object *
status_line(const struct agent_launch *launch)
{
	struct json_object *line = own_status_line(launch);
	const char *own = json_string_or(line, "command", NULL);
	cleanup_buf struct buf command = BUF_INIT;

	if (line == NULL)
		line = json_object_new_object();
	if (own != NULL)
		buf_adds(&command, "llmc=$(cat); printf %s \"$llmc\" | ");
	text_add_shell(&command, launch->llmc);
	buf_addf(&command, " hook %s --worker %s --generation %llu --socket ",
	    HOOK_EVENT_STATUS, launch->worker,
	    (unsigned long long)launch->generation);
	text_add_shell(&command, launch->socket);
	if (own != NULL)
		buf_addf(&command, "; printf %%s \"$llmc\" | (%s\n)", own);
	json_set_string(line, "type", "command");
	json_set_string(line, "command", command.data);
	return line;
}

/* What its commands do not do (defaults.refuse_commands), as rules of Claude
 * Code, which reads them as a shell does, and denies in every permission mode;
 * command-guard.h has what no rule can say. A "*" is any text. */
static const struct {
	enum command_rule rule;
	const char *pattern;
} refusals[] = {
	{ COMMAND_PUSH, "git push:*" },
	{ COMMAND_PUSH, "git -C * push" },
	{ COMMAND_PUSH, "git -C * push *" },
	{ COMMAND_PUSH, "git -c * push" },
	{ COMMAND_PUSH, "git -c * push *" },
	{ COMMAND_PUSH, "sh -c *git push*" },
	{ COMMAND_PUSH, "bash -c *git push*" },
	{ COMMAND_PUSH, "bash -lc *git push*" },
	{ COMMAND_PUSH, "eval *git push*" },
	{ COMMAND_CONFIG, "git config --global *" },
	{ COMMAND_CONFIG, "git config --system *" },
	{ COMMAND_ROOT, "sudo:*" },
	{ COMMAND_ROOT, "*/sudo *" },
	{ COMMAND_ROOT, "su:*" },
	{ COMMAND_ROOT, "doas:*" },
	{ COMMAND_ROOT, "pkexec:*" },
	{ COMMAND_KILL, "pkill:*" },
	{ COMMAND_KILL, "killall:*" },
};

static struct json_object *
denied(const struct agent_launch *launch)
{
	struct json_object *list = json_object_new_array();
	cleanup_json struct json_object *value = NULL;
	const char *const *words, *const *paths;
	unsigned rule, line = 0, rules = 0;
	size_t count = agent_list(launch, "refuse_commands", &words);

	for (size_t i = 0; i < count; i++)
		if (word_find(command_rule_words, words[i], &rule))
			rules |= 1U << rule;
	/* It sees no processes of others in a box. */
	if (claude_is_boxed(launch))
		rules &= ~(1U << COMMAND_KILL);
	for (size_t i = 0; i < nitems(refusals); i++) {
		cleanup_free char *text =
		    xasprintf("Bash(%s)", refusals[i].pattern);

		if (rules & (1U << refusals[i].rule))
			json_object_array_add(
			    list, json_object_new_string(text));
	}
	/* As the policy has them: a list of the user's own. */
	settings_list(launch->settings, "repo.protected_paths", &paths);
	if (!(rules & (1U << COMMAND_PROTECTED)) ||
	    !settings_value(
		launch->settings, "repo.protected_paths", &value, &line) ||
	    line == 0)
		return list;
	for (; *paths != NULL; paths++) {
		cleanup_free char *file =
		    xasprintf("Edit(/%s/%s)", launch->cwd, *paths);
		cleanup_free char *folder =
		    xasprintf("Edit(/%s/%s/**)", launch->cwd, *paths);

		json_object_array_add(list, json_object_new_string(file));
		json_object_array_add(list, json_object_new_string(folder));
	}
	return list;
}

/* Its file tools write into the worktree only, in every permission mode; what
 * a box lets it write to, and its own temporary folder, are open to them too.
 * Commands are not held by this. */
static struct json_object *
fence(const struct agent_launch *launch)
{
	struct json_object *permissions = json_object_new_object();
	struct json_object *more = json_object_new_array();
	cleanup_free char *tmpdir =
	    workplace_tmpdir(launch->workspace, launch->index);
	const char *const *paths;
	size_t count = agent_list(launch, "sandbox_write", &paths);

	json_set_bool(
	    permissions, "blockWritesOutsideWorkingDirectories", true);
	for (size_t i = 0; i < count; i++)
		json_object_array_add(more, json_object_new_string(paths[i]));
	json_object_array_add(more,
	    json_object_new_string(claude_is_boxed(launch) ? "/tmp" : tmpdir));
	json_set(permissions, "additionalDirectories", more);
	json_set(permissions, "deny", denied(launch));
	return permissions;
}

struct json_object *
claude_settings(const struct agent_launch *launch)
{
	static const char *const unset[] = { "CLAUDE_CODE_RETRY_WATCHDOG",
		"CLAUDE_CODE_RESUME_INTERRUPTED_TURN" };
	struct json_object *settings = json_object_new_object();
	struct json_object *hooks = json_object_new_object();
	struct json_object *env = json_object_new_object();

	/* Turn off what would ask a person, or interfere with our prompts. */
	json_set_bool(settings, "skipDangerousModePermissionPrompt", true);
	json_set_bool(settings, "disableAgentView", true);
	json_set_bool(settings, "disableRemoteControl", true);
	json_set_bool(settings, "promptSuggestionEnabled", false);
	json_set_bool(settings, "spinnerTipsEnabled", false);
	json_set_int(settings, "feedbackSurveyRate", 0);
	json_set_string(settings, "crossSessionInbound", "refuse");
	/* A workflow starts dozens of agents that no budget sees coming. */
	json_set_bool(settings, "disableWorkflows", true);
	/* Notes that sessions leave for each other reach some workers and not
	 * others, by their sandbox, and no person reviews them. */
	json_set_bool(settings, "autoMemoryEnabled", false);
	if (!launch->repair)
		json_set(settings, "permissions", fence(launch));
	/* llmc decides alone when to go on after a limit, or a crash: the
	 * user's own settings could have it otherwise. */
	json_set_bool(settings, "autoContinueAtUsageLimit", false);
	for (size_t i = 0; i < nitems(unset); i++)
		json_set_string(env, unset[i], "0");
	json_set(settings, "env", env);
	/* Otherwise a file in the worktree could turn the guard off. */
	json_set_bool(settings, "disableAllHooks", false);
	for (size_t i = 0; i < nitems(claude_hooks); i++)
		json_set(hooks, claude_hooks[i].event,
		    hook_json(launch, claude_hooks[i].event,
			claude_hooks[i].timeout));
	json_set(settings, "hooks", hooks);
	json_set(settings, "statusLine", status_line(launch));
	return settings;
}

/* Likewise the file for --mcp-config: the server of llmc's tools. */
static struct json_object *
claude_mcp(const struct agent_launch *launch)
{
	struct json_object *file = json_object_new_object();
	struct json_object *servers = json_object_new_object();
	struct json_object *server = json_object_new_object();
	cleanup_strv char **words = NULL;

	agent_mcp_words(launch, &words);
	json_set_string(server, "type", "stdio");
	json_set_string(server, "command", words[0]);
	json_set(server, "args", strv_to_json(words + 1));
	json_set(servers, "llmc", server);
	json_set(file, "mcpServers", servers);
	return file;
}

static int
claude_prepare(const struct agent_launch *launch, char ***argv, char ***env,
    struct err *err)
{
	cleanup_free char *settings = agent_path(launch, "settings.json");
	cleanup_free char *servers = agent_path(launch, "mcp.json");
	cleanup_json struct json_object *hooks = claude_settings(launch);
	cleanup_json struct json_object *tools = claude_mcp(launch);
	cleanup_strv char **words = claude_argv(launch);
	cleanup_strv char **set = claude_env(launch);
	int r = json_save(settings, hooks, 0600, err);

	if (r == 0 && launch->tools)
		r = json_save(servers, tools, 0600, err);
	strv_add_all(argv, strv_const(words));
	strv_add_all(env, strv_const(set));
	return r;
}

/* The same without a terminal: it talks JSON, and llmc stream is in between. */
static int
headless_prepare(const struct agent_launch *launch, char ***argv, char ***env,
    struct err *err)
{
	const char *const before[] = { launch->llmc, "stream", "--", NULL };
	static const char *const flags[] = { "-p", "--verbose",
		"--output-format", "stream-json", "--input-format",
		"stream-json", NULL };
	cleanup_strv char **words = NULL;
	int r = claude_prepare(launch, &words, env, err);

	strv_add_all(argv, before);
	strv_add(argv, words[0]);
	strv_add_all(argv, flags);
	strv_add_all(argv, strv_const(words + 1));
	return r;
}

#define COPY_MAX (4 * 1024 * 1024)
#define HOME_MAX (64 * 1024 * 1024)

static const char *const claude_shared[] = { "agents", "commands", "skills",
	"output-styles", "rules", NULL };

static int
write_json(const char *path, struct json_object *json, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return agent_write_file(path, text.data, text.len, err);
}

static struct json_object *
load_object(const char *file, size_t max)
{
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, max, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return json_object_new_object();
	return take_ptr(&json);
}

static void
keep(struct json_object *from, struct json_object *to, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_object_get_ex(from, key, &value))
		json_set(to, key, json_object_get(value));
}

/* --- .claude.json ---------------------------------------------------- */

static int
write_home(
    const char *folder, const char *tree, const char *api_key, struct err *err)
{
	static const char *const kept[] = { "hasCompletedOnboarding",
		"lastOnboardingVersion", "customApiKeyResponses",
		"oauthAccount", "userID", "theme", "installMethod",
		"bypassPermissionsModeAccepted" };
	cleanup_free char *own = claude_home_file();
	cleanup_free char *file = file_join(folder, ".claude.json");
	cleanup_json struct json_object *user =
	    own != NULL ? load_object(own, HOME_MAX) : json_object_new_object();
	cleanup_json struct json_object *json = json_object_new_object();
	int r;

	for (size_t i = 0; i < nitems(kept); i++)
		keep(user, json, kept[i]);
	/* A new version is installed outside of boxes only. */
	json_set_bool(json, "autoUpdates", false);
	r = write_json(file, json, err);
	return r < 0 ? r : claude_home_trust(file, tree, api_key, true, err);
}

/* The id of a login; a key has none. */
static char *
claude_account(void)
{
	cleanup_free char *file = claude_home_file();
	const char *key = getenv("ANTHROPIC_API_KEY");
	cleanup_json struct json_object *user =
	    file != NULL ? load_object(file, HOME_MAX) : NULL;
	struct json_object *login = NULL;
	const char *id = NULL;
	char hash[17];

	if (user != NULL && json_object_is_type(user, json_type_object) &&
	    json_object_object_get_ex(user, "oauthAccount", &login))
		id = json_string_or(login, "accountUuid", NULL);
	if (id == NULL || *id == '\0' || (key != NULL && *key != '\0'))
		return NULL;
	id_hash(id, hash, 16);
	return xasprintf("claude:%s", hash);
}

/* --- settings.json, CLAUDE.md ---------------------------------------- */

static int
write_settings(const char *folder, const char *source, struct err *err)
{
	cleanup_free char *from = file_join(source, "settings.json");
	cleanup_free char *to = file_join(folder, "settings.json");
	cleanup_json struct json_object *json = load_object(from, COPY_MAX);

	json_object_object_del(json, "enabledPlugins");
	json_object_object_del(json, "extraKnownMarketplaces");
	return write_json(to, json, err);
}

/* The folder that Claude Code has in a worker's box is made from the user's
 * own, so that no dialog opens. It does not get other projects, the history, or
 * MCP servers and plugins, which may have secrets with them. */
static int
claude_box_write(const char *folder, const char *tree, struct err *err)
{
	cleanup_free char *source = agent_source(&claude_kind);
	int r = write_home(folder, tree, getenv("ANTHROPIC_API_KEY"), err);

	if (r == 0 && source != NULL)
		r = write_settings(folder, source, err);
	return r;
}

/* --- the first dialogs ---------------------------------------------------- */

static enum preflight_answer
answer(bool yes)
{
	return yes ? PREFLIGHT_YES : PREFLIGHT_NO;
}

/* Is there a login that a strict sandbox gets? A program that prints a key is
 * one of the user's own settings. */
static bool
has_key(void)
{
	static const char *const names[] = { "ANTHROPIC_API_KEY",
		"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN" };
	cleanup_free char *source = agent_source(&claude_kind);
	cleanup_free char *file =
	    source != NULL ? file_join(source, "settings.json") : NULL;
	cleanup_json struct json_object *json = NULL;

	for (size_t i = 0; i < nitems(names); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && value[0] != '\0')
			return true;
	}
	return file != NULL && json_load(file, COPY_MAX, &json, NULL) == 0 &&
	    json_string_or(json, "apiKeyHelper", NULL) != NULL;
}

/* Is it a login of a subscription, which each session renews in that file? */
static bool
has_login_file(void)
{
	cleanup_free char *source = agent_source(&claude_kind);
	cleanup_free char *file =
	    source != NULL ? file_join(source, claude_kind.login) : NULL;

	return file != NULL && access(file, F_OK) == 0 && !has_key();
}

static void
claude_look(const struct workspace *ws, bool boxed, bool strict,
    struct preflight_facts *facts)
{
	cleanup_free char *file = boxed ? NULL : claude_home_file();
	struct err err = { 0 };
	unsigned found;

	facts->needs_key = strict && !has_key();
	facts->login_file = !strict && has_login_file();
	/* In a sandbox it has a file of its own, which llmc prepares. */
	if (file == NULL)
		return;
	found = claude_home_check(
	    file, ws->root, getenv("ANTHROPIC_API_KEY"), &err);
	if (found & CLAUDE_FILE_BROKEN) {
		facts->home_error = xstrdup(err.msg);
		return;
	}
	facts->onboarded = answer(!(found & CLAUDE_NOT_ONBOARDED));
	facts->trusted = answer(!(found & CLAUDE_NOT_TRUSTED));
	facts->key_approved = answer(!(found & CLAUDE_KEY_UNKNOWN));
}

/* It opens no dialogs. */
static void
headless_look(const struct workspace *ws, bool boxed, bool strict,
    struct preflight_facts *facts)
{
	(void)ws;
	(void)boxed;
	facts->needs_key = strict && !has_key();
	facts->login_file = !strict && has_login_file();
}

/* CLAUDE.md belongs to the project's settings, which are not loaded: it is read
 * as that of another folder. */
static const char *const print_env[] = {
	"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1", NULL
};

#define CLAUDE_CAN                                                            \
	(AGENT_OWN_ID | AGENT_READY_HOOK | AGENT_STOP_BLOCKS | AGENT_ALLOWS | \
	    AGENT_ERROR_HOOK | AGENT_SCOPES | AGENT_MODES | AGENT_ISOLATES |  \
	    AGENT_ASKED | AGENT_BOXED | AGENT_THINKS)
#define CLAUDE_KIND                                                            \
	.command = "agent_command",                                            \
	.install = "install Claude Code (npm install -g "                      \
		   "@anthropic-ai/claude-code, with Node 22 or newer: with "   \
		   "an older one npm installs 2.1.197), or set another "       \
		   "program: llmc config set defaults.agent_command PROGRAM",  \
	.tested = "2.1.328", .oldest = "2.1.314",                              \
	.log_in = "claude auth login", .print = claude_print_argv,             \
	.print_env = print_env, .transcripts = "projects", .folder = "claude", \
	.variable = "CLAUDE_CONFIG_DIR", .home = "/.claude",                   \
	.write = claude_box_write, .memory = "CLAUDE.md",                      \
	.shared = claude_shared, .login = ".credentials.json",                 \
	.account = claude_account, .login_variable = "CLAUDE_CODE_OAUTH_TOKEN"

const struct agent_kind claude_kind = {
	CLAUDE_KIND,
	.name = "claude",
	.can = CLAUDE_CAN | AGENT_STATUS | AGENT_QUEUES,
	.marks_pastes = true,
	.prepare = claude_prepare,
	.state_file = claude_home_file,
	.look = claude_look,
};

const struct agent_kind claude_headless_kind = {
	CLAUDE_KIND,
	.name = "claude-headless",
	.can = CLAUDE_CAN,
	.prepare = headless_prepare,
	.look = headless_look,
};
