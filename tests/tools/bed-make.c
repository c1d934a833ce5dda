/* SPDX-License-Identifier: ISC */

#include "bed.h"
#include "bed-private.h"

#define API_KEY "dummy-key-for-tests-0123456789"

#define API_KEY_VARIABLE ("ANTHROPIC_API_KEY=" API_KEY)

static const char *const bed_events[] = { "SessionStart", "SessionEnd",
	"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
	"PostToolBatch", "PermissionRequest", "Notification", "Stop",
	"StopFailure", "SubagentStart", "SubagentStop", "PreCompact",
	"PostCompact" };

/* The caller's own session must not leak into the agent's. */
static const char *const bed_foreign[] = { "ANTHROPIC_", "CLAUDE", "AI_AGENT",
	"DISABLE_", "FAKE_CLAUDE_", "GIT_", "TMUX", "HOOK_RECORD" };

static const char *const bed_environment[] = {
	"DISABLE_TELEMETRY=1",
	"DISABLE_AUTOUPDATER=1",
	"DISABLE_ERROR_REPORTING=1",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
	"CLAUDE_CODE_NO_FLICKER=0",
	"CLAUDE_CODE_MAX_RETRIES=2",
	"IS_SANDBOX=1",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=Agent",
	"GIT_AUTHOR_EMAIL=agent@example.invalid",
	"GIT_COMMITTER_NAME=Agent",
	"GIT_COMMITTER_EMAIL=agent@example.invalid",
	API_KEY_VARIABLE,
	/* A hook that searches for leaks at its end takes seconds. */
	"ASAN_OPTIONS=detect_leaks=0",
	"LC_ALL=C.UTF-8",
};

static void
bed_env_add(struct bed *bed, char *edit)
{
	bed->env =
	    xreallocarray(bed->env, bed->env_count + 2, sizeof(*bed->env));
	bed->env[bed->env_count++] = edit;
	bed->env[bed->env_count] = NULL;
}

static void
bed_env_foreign(struct bed *bed)
{
	for (char **entry = environ; *entry != NULL; entry++)
		for (size_t i = 0; i < nitems(bed_foreign); i++)
			if (strncmp(*entry, bed_foreign[i],
				strlen(bed_foreign[i])) == 0)
				bed_env_add(bed,
				    xstrndup(*entry, strcspn(*entry, "=")));
}

static void
bed_write_json(const char *path, struct json_object *json)
{
	ck_assert_int_eq(json_save(path, json, 0600, NULL), 0);
	json_object_put(json);
}

/* Prevents every first-run dialog. */
static void
bed_write_home(struct bed *bed)
{
	cleanup_free char *path = file_join(bed->home, ".claude.json");
	struct json_object *json = json_object_new_object(), *list, *part;
	const char *key = API_KEY;

	json_set_bool(json, "hasCompletedOnboarding", true);
	list = json_object_new_array();
	json_object_array_add(
	    list, json_object_new_string(key + strlen(key) - 20));
	part = json_object_new_object();
	json_set(part, "approved", list);
	json_set(part, "rejected", json_object_new_array());
	json_set(json, "customApiKeyResponses", part);
	part = json_object_new_object();
	json_set_bool(part, "hasTrustDialogAccepted", true);
	list = json_object_new_object();
	json_set(list, bed->repo, part);
	json_set(json, "projects", list);
	bed_write_json(path, json);
}

/* Use the recorder for every event. */
static void
bed_write_settings(struct bed *bed)
{
	static const char *const off[] = { "promptSuggestionEnabled",
		"spinnerTipsEnabled", "autoMemoryEnabled" };
	static const char *const on[] = { "skipDangerousModePermissionPrompt",
		"disableAgentView", "disableRemoteControl" };
	cleanup_buf struct buf text = BUF_INIT;
	const char *recorder = getenv("LLMC_HOOK_RECORDER");

	ck_assert_msg(recorder != NULL, "LLMC_HOOK_RECORDER is not set");
	buf_addc(&text, '{');
	for (size_t i = 0; i < nitems(on); i++)
		buf_addf(&text, "\"%s\":true,", on[i]);
	for (size_t i = 0; i < nitems(off); i++)
		buf_addf(&text, "\"%s\":false,", off[i]);
	buf_adds(&text, "\"hooks\":{");
	for (size_t i = 0; i < nitems(bed_events); i++) {
		buf_addf(&text,
		    "%s\"%s\":[{\"hooks\":[{\"type\":\"command\","
		    "\"timeout\":30,\"command\":",
		    i > 0 ? "," : "", bed_events[i]);
		text_add_json(&text, recorder, strlen(recorder));
		buf_addf(&text, ",\"args\":[\"%s\"]}]}]", bed_events[i]);
	}
	buf_adds(&text, "}}");
	ck_assert_int_eq(
	    file_replace(bed->settings, text.data, text.len, 0600, NULL), 0);
}

static char *
bed_mkdir(struct bed *bed, const char *name)
{
	char *path = file_join(bed->dir, name);

	ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
	return path;
}

static void
bed_kill_servers(struct bed *bed)
{
	free(bed_run(bed, NULL,
	    "tmux -L bed kill-server; tmux -L api kill-server; true", NULL));
}

/* A test that fails cannot clean up: its servers end when it ends. */
static void
bed_start_server(struct bed *bed, const char *name)
{
	cleanup_free char *command =
	    xasprintf("tmux -L %s -f /dev/null new-session -d -s guard "
		      "'tail --pid=%d -s 0.2 -f /dev/null; tmux kill-server'",
		name, (int)getpid());

	free(bed_shell(bed, command));
}

static bool
bed_has_port(struct bed *bed, const void *arg)
{
	cleanup_buf struct buf text = BUF_INIT;

	(void)arg;
	return file_read(bed_path(bed, "port"), BED_FILE_MAX, &text, NULL) ==
	    0 &&
	    text.len > 0 && text.data[text.len - 1] == '\n';
}

/* In its own tmux server: the agent's server takes its environment from the
 * process that starts it. */
static void
bed_start_api(struct bed *bed, const char *api)
{
	cleanup_buf struct buf inner = BUF_INIT, command = BUF_INIT,
			       text = BUF_INIT;

	bed_start_server(bed, "api");
	buf_adds(&inner, "exec ");
	text_add_shell(&inner, api);
	buf_adds(&inner, " >");
	text_add_shell(&inner, bed_path(bed, "port"));
	buf_adds(&command, "tmux -L api -f /dev/null new-session -d -s api");
	buf_addc(&command, ' ');
	text_add_shell(&command, inner.data);
	free(bed_shell(bed, command.data));
	bed_until(bed, bed_has_port, NULL, "the start of the stub API");
	ck_assert_int_eq(
	    file_read(bed_path(bed, "port"), BED_FILE_MAX, &text, NULL), 0);
	bed_env_add(bed,
	    xasprintf("ANTHROPIC_BASE_URL=http://127.0.0.1:%d",
		(int)strtol(text.data + strlen("PORT "), NULL, 10)));
}

struct bed *
bed_new(const char *agent, const char *api, const char *const *env)
{
	struct bed *bed = xcalloc(1, sizeof(*bed));
	static int serial;

	bed->agent = agent;
	bed->pane = (struct procref)PROCREF_INIT;
	bed->events = json_object_new_array();
	bed->dir = xasprintf("%s/bed%d", unit_scratch(), ++serial);
	bed->home = bed_mkdir(bed, "home");
	bed->repo = bed_mkdir(bed, "repo");
	bed->record = bed_mkdir(bed, "record");
	bed->settings = file_join(bed->dir, "settings.json");
	bed_env_foreign(bed);
	for (size_t i = 0; i < nitems(bed_environment); i++)
		bed_env_add(bed, xstrdup(bed_environment[i]));
	bed_env_add(bed, xasprintf("HOME=%s", bed->home));
	bed_env_add(bed, xasprintf("TMPDIR=%s", bed->dir));
	bed_env_add(bed, xasprintf("TMUX_TMPDIR=%s", bed->dir));
	bed_env_add(bed, xasprintf("HOOK_RECORD=%s", bed->record));
	for (; env != NULL && *env != NULL; env++)
		bed_env_add(bed, xstrdup(*env));
	bed_write_home(bed);
	bed_write_settings(bed);
	free(bed_shell(bed,
	    "git init -q -b main . && git commit -q --allow-empty -m Start"));
	if (api != NULL)
		bed_start_api(bed, api);
	bed_start_server(bed, "bed");
	return bed;
}

void
bed_free(struct bed *bed)
{
	bed_kill_servers(bed);
	/* Did it ignore the hangup of its terminal? */
	if (bed->started && bed_alive(bed))
		bed_until(bed, bed_is_gone, NULL, "the end of the process");
	procref_release(&bed->pane);
	json_object_put(bed->events);
	for (size_t i = 0; i < bed->env_count; i++)
		free(bed->env[i]);
	free(bed->env);
	free(bed->dir);
	free(bed->home);
	free(bed->repo);
	free(bed->record);
	free(bed->settings);
	free(bed->path);
	free(bed->ended);
	free(bed);
}

void
bed_cleanup(struct bed **bed)
{
	bed_free(*bed);
}
