/* SPDX-License-Identifier: ISC */

/*
 * OpenCode instead of Claude Code, as far as llmc sees it: the commands that
 * our plugins would run, and the folder of what they write. It runs no plugin.
 */
#include "fake.h"

#define FILE_MAX (1024 * 1024)

/* {"EVENT": ["llmc", "hook", ...]} after "const hooks = ". */
static struct json_object *
read_commands(const char *path)
{
	static const char mark[] = "const hooks = ";
	struct json_object *commands = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	char *at;

	if (file_read(path, FILE_MAX, &text, NULL) == 0 &&
	    (at = strstr(text.data, mark)) != NULL) {
		at += strlen(mark);
		json_parse(at, strcspn(at, "\n"), FILE_MAX, &commands, NULL);
	}
	return commands;
}

/* As the hook of an event in the settings of Claude Code. */
static void
add_hook(struct json_object *hooks, const char *event,
    struct json_object *commands, const char *name)
{
	struct json_object *words = NULL, *groups = NULL;
	struct json_object *group = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *hook = json_object_new_object();
	struct json_object *args = json_object_new_array();

	json_get_array(commands, "", name, &words, NULL);
	for (size_t i = 1; words != NULL && i < json_object_array_length(words);
	     i++)
		json_object_array_add(
		    args, json_object_get(json_object_array_get_idx(words, i)));
	json_set_string(hook, "type", "command");
	if (words != NULL)
		json_set_string(hook, "command",
		    json_object_get_string(
			json_object_array_get_idx(words, 0)));
	json_set(hook, "args", args);
	json_object_array_add(list, hook);
	json_set(group, "hooks", list);
	if (!json_object_object_get_ex(hooks, event, &groups)) {
		groups = json_object_new_array();
		json_set(hooks, event, groups);
	}
	json_object_array_add(groups, group);
}

static struct json_object *
read_servers(struct json_object *config)
{
	struct json_object *mcp = NULL, *llmc = NULL, *words = NULL;
	struct json_object *servers = json_object_new_object();
	struct json_object *list = json_object_new_object();
	struct json_object *server = json_object_new_object();
	struct json_object *args = json_object_new_array();

	json_set(servers, "mcpServers", list);
	if (json_get_object(config, "", "mcp", &mcp, NULL) == 0 &&
	    json_get_object(mcp, "", "llmc", &llmc, NULL) == 0 &&
	    json_bool_or(llmc, "enabled", false) &&
	    json_get_array(llmc, "", "command", &words, NULL) == 0) {
		for (size_t i = 1; i < json_object_array_length(words); i++)
			json_object_array_add(args,
			    json_object_get(
				json_object_array_get_idx(words, i)));
		json_set_string(server, "type", "stdio");
		json_set_string(server, "command",
		    json_object_get_string(
			json_object_array_get_idx(words, 0)));
		json_set(server, "args", json_object_get(args));
		json_set(list, "llmc", json_object_get(server));
	}
	json_object_put(args);
	json_object_put(server);
	return servers;
}

void
fake_opencode_options(struct fake_options *options, int argc, char **argv)
{
	static const struct {
		const char *event, *name;
	} rows[] = {
		{ "SessionStart", "AgentReady" },
		{ "UserPromptSubmit", "ConversationNamed" },
		{ "UserPromptSubmit", "UserPromptSubmit" },
		{ "PreToolUse", "PreToolUse" },
		{ "PostToolUse", "PostToolUse" },
		{ "Stop", "Stop" },
		{ "StopFailure", "StopFailure" },
	};
	static struct buf settings = BUF_INIT, servers = BUF_INIT;
	static char folder[PATH_MAX];
	const char *given = getenv("OPENCODE_CONFIG_CONTENT"), *path;
	const char *home = getenv("HOME"), *set = getenv("XDG_DATA_HOME");
	cleanup_json struct json_object *config = NULL, *commands = NULL,
					*tools = NULL,
					*own = json_object_new_object();
	struct json_object *hooks = json_object_new_object(), *plugins = NULL;

	json_set(own, "hooks", hooks);
	if (given == NULL ||
	    json_parse(given, strlen(given), FILE_MAX, &config, NULL) < 0 ||
	    json_get_array(config, "", "plugin", &plugins, NULL) < 0)
		return;
	path = json_object_get_string(json_object_array_get_idx(plugins, 0));
	commands = read_commands(path + strlen("file://"));
	for (size_t i = 0; i < nitems(rows); i++)
		add_hook(hooks, rows[i].event, commands, rows[i].name);
	tools = read_servers(config);
	json_print(own, false, &settings);
	json_print(tools, false, &servers);
	snprintf(folder, sizeof folder, "%s%s/llmc",
	    set != NULL      ? set :
		home != NULL ? home :
			       "",
	    set != NULL ? "" : "/.local/share");
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--session") == 0)
			options->resume = argv[i + 1];
	options->opencode = true;
	options->settings = settings.data;
	options->servers = servers.data;
	options->folder = folder;
	options->mode = "bypassPermissions";
	options->sources = "";
	options->llmc_allowed = options->bash_allowed = true;
}
