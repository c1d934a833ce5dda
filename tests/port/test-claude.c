/* SPDX-License-Identifier: ISC */

#include "claude-world.h"
#include "config.h"
#include "workspace.h"
#include "settings.h"
#include "agent-card.h"

#define NOBODY 65534
#define ALLOW  "[defaults]\nallow_root = true\n"
#define BYPASS                                     \
	"[defaults]\npermission_mode = \"plan\"\n" \
	"[workers.ann]\npermission_mode = \"bypassPermissions\"\n"

static size_t
list_count(char **list, const char *word)
{
	size_t count = 0;

	for (size_t i = 0; list[i] != NULL; i++)
		count += strcmp(list[i], word) == 0;
	return count;
}

/* The word after the flag, which appears at most once; NULL: no flag. */
static const char *
flag(char **argv, const char *name)
{
	ck_assert_uint_le(list_count(argv, name), 1);
	for (size_t i = 0; argv[i] != NULL; i++)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return NULL;
}

static char *
joined(char **list)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; list[i] != NULL; i++)
		buf_addf(&text, "%s[%s]", i > 0 ? " " : "", list[i]);
	return buf_take(&text);
}

/* --- argument vector ------------------------------------------------- */

TEST(defaults_give_the_least_arguments)
{
	cleanup_strv char **argv = NULL;
	cleanup_free char *text = NULL, *want = NULL;
	cleanup_buf struct buf denied = BUF_INIT;

	claude_world_begin("");
	argv = claude_argv(&w.launch);
	text = joined(argv);
	for (size_t i = 0; claude_denied_tools[i] != NULL; i++)
		buf_addf(
		    &denied, "%s%s", i > 0 ? "," : "", claude_denied_tools[i]);
	want = xasprintf("[claude] [--session-id] [%s] [--settings] "
			 "[%s/sessions/ann/settings.json] [--permission-mode] "
			 "[bypassPermissions] [--disallowedTools] [%s]",
	    w.launch.session, w.workspace.dir, denied.data);
	ck_assert_str_eq(text, want);
}

/* Every key of [defaults]: how it appears in a launch, or what else uses it. */
static const struct {
	const char *key;
	const char *value; /* as TOML; NULL: not used for the launch */
	const char *shows; /* in the joined argument vector */
} keys[] = {
	{ "agent_command", "\"/opt/an agent\"", "[/opt/an agent] [--" },
	/* Of another kind: test-codex.c. */
	{ "agent", NULL, NULL },
	{ "codex_command", NULL, NULL },
	{ "opencode_command", NULL, NULL },
	{ "gemini_command", NULL, NULL },
	{ "model", "\"opus\"", " [--model] [opus]" },
	{ "permission_mode", "\"acceptEdits\"",
	    " [--permission-mode] [acceptEdits]" },
	{ "allow_root", NULL, NULL }, /* in the environment */
	{ "allowed_tools", "[\"Read\", \"Bash(git log:*)\"]",
	    " [--allowedTools] [Read,Bash(git log:*)]" },
	{ "disallowed_tools", "[\"WebFetch\", \"Task\"]",
	    ",propose_skills,WebFetch,Task]" },
	{ "refuse_commands", NULL, NULL }, /* in the settings and policy */
	{ "subagents", NULL, NULL }, /* in the environment */
	{ "append_system_prompt", "\"Two\\nlines, \\\"quoted\\\" ü\"",
	    " [--append-system-prompt] [Two\nlines, \"quoted\" ü]" },
	{ "extra_args", "[\"--effort\", \"\", \"a b\"]",
	    "] [--effort] [] [a b]" },
	{ "isolate", "true", " [--setting-sources] [] [--strict-mcp-config]" },
	{ "role_prompt", NULL, NULL },
	{ "fresh_at", NULL, NULL },
	{ "excluded_from_pool", NULL, NULL },
	{ "self_review", NULL, NULL },
	{ "start_timeout", NULL, NULL },
	{ "sandbox", NULL, NULL }, /* before the argument vector */
	{ "sandbox_read", NULL, NULL },
	{ "sandbox_write", NULL, NULL },
	{ "env", NULL, NULL },
	{ "sandbox_hosts", NULL, NULL },
	{ "user_namespace", NULL, NULL }, /* test-user-namespace.c */
	{ "memory_max", NULL, NULL },
	{ "tasks_max", NULL, NULL },
	{ "cpu_weight", NULL, NULL },
};

static void
expect_shown(const char *section, size_t i, bool shown)
{
	cleanup_free char *config =
	    xasprintf("[%s]\n%s = %s\n", section, keys[i].key, keys[i].value);
	cleanup_strv char **argv = NULL;
	cleanup_free char *text = NULL;

	claude_world_begin(config);
	argv = claude_argv(&w.launch);
	text = joined(argv);
	ck_assert_msg((strstr(text, keys[i].shows) != NULL) == shown,
	    "%s: %s in %s", config, keys[i].shows, text);
}

TEST(each_key_shows_for_all_and_for_one)
{
	for (size_t i = 0; i < nitems(keys); i++) {
		if (keys[i].value == NULL)
			continue;
		expect_shown("defaults", i, true);
		expect_shown("workers.ann", i, true);
		expect_shown("workers.bob", i, false);
	}
}

TEST(no_key_of_the_table_is_forgotten)
{
	size_t found = 0;

	for (size_t i = 0; i < settings_table_count; i++) {
		const char *path = settings_table[i].path;
		bool known = false;

		if (strncmp(path, "defaults.", 9) != 0)
			continue;
		for (size_t k = 0; k < nitems(keys); k++)
			known |= strcmp(keys[k].key, path + 9) == 0;
		ck_assert_msg(known, "%s: does a launch show it?", path);
		found++;
	}
	ck_assert_uint_eq(found, nitems(keys));
}

TEST(own_value_of_a_worker_goes_before_the_default)
{
	cleanup_strv char **argv = NULL, **other = NULL;

	claude_world_begin(
	    "[defaults]\nmodel = \"opus\"\nisolate = true\n"
	    "extra_args = [\"--default\"]\nallowed_tools = [\"Read\"]\n"
	    "[workers.ann]\nmodel = \"haiku\"\nisolate = false\n"
	    "extra_args = []\nallowed_tools = [\"Edit\"]\n");
	argv = claude_argv(&w.launch);
	ck_assert_str_eq(flag(argv, "--model"), "haiku");
	ck_assert_str_eq(flag(argv, "--allowedTools"), "Edit");
	ck_assert_ptr_null(flag(argv, "--setting-sources"));
	ck_assert_ptr_null(flag(argv, "--strict-mcp-config"));
	ck_assert_uint_eq(list_count(argv, "--default"), 0);
	w.launch.worker = "bob";
	other = claude_argv(&w.launch);
	ck_assert_str_eq(flag(other, "--model"), "opus");
	ck_assert_str_eq(flag(other, "--allowedTools"), "Read");
	ck_assert_str_eq(flag(other, "--setting-sources"), "");
	ck_assert_uint_eq(list_count(other, "--default"), 1);
}

TEST(what_a_run_is_given_goes_before_the_settings)
{
	cleanup_strv char **argv = NULL, **env = NULL, **off = NULL;
	char model[] = "haiku", high[] = "high", no[] = "off";
	char tools[] = "Read,Edit", bash[] = "Bash", plan[] = "plan";
	char *deny[] = { bash, NULL };
	struct launch_choice choice = { .model = model,
		.thinking = high,
		.tools = tools,
		.deny = deny,
		.permission_mode = plan };
	size_t len;

	claude_world_begin("[defaults]\nmodel = \"opus\"\n");
	w.launch.choice = &choice;
	w.launch.resume = true; /* also then */
	argv = claude_argv(&w.launch);
	ck_assert_str_eq(flag(argv, "--model"), "haiku");
	ck_assert_str_eq(flag(argv, "--effort"), "high");
	ck_assert_str_eq(flag(argv, "--tools"), "Read,Edit");
	len = strlen(flag(argv, "--disallowedTools"));
	ck_assert_str_eq(
	    flag(argv, "--disallowedTools") + len - strlen(",Bash"), ",Bash");
	ck_assert_str_eq(flag(argv, "--permission-mode"), "plan");
	choice.thinking = no;
	off = claude_argv(&w.launch);
	env = claude_env(&w.launch);
	ck_assert_ptr_null(flag(off, "--effort"));
	ck_assert_uint_eq(list_count(env, "MAX_THINKING_TOKENS=0"), 1);
}

/* With what it reads of the project, and of the user where it cannot write. */
TEST(a_limited_run_reads_no_settings_that_it_can_write)
{
	static const struct {
		const char *config;
		bool limited;
		const char *sources;
		bool memory;
	} cases[] = {
		{ "", false, NULL, false },
		{ "", true, "user", true },
		{ "[defaults]\nsandbox = \"worktree\"\n", true, "", true },
		{ "[defaults]\nisolate = true\n", true, "", false },
		{ "[defaults]\nisolate = true\n", false, "", false },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct launch_choice choice = { .limited = cases[i].limited };
		cleanup_strv char **argv = NULL, **env = NULL;
		bool isolated = cases[i].sources != NULL;

		claude_world_begin(cases[i].config);
		w.launch.choice = &choice;
		w.launch.sandboxed = true;
		argv = claude_argv(&w.launch);
		env = claude_env(&w.launch);
		ck_assert_pstr_eq(
		    flag(argv, "--setting-sources"), cases[i].sources);
		ck_assert_uint_eq(
		    list_count(argv, "--strict-mcp-config"), isolated);
		ck_assert_pstr_eq(flag(argv, "--add-dir"),
		    cases[i].memory ? w.launch.cwd : NULL);
		ck_assert_uint_eq(list_count(env,
				      "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_"
				      "CLAUDE_MD=1"),
		    cases[i].memory);
	}
}

/* Whatever has landed there. */
TEST(a_repair_loads_nothing_of_the_repository)
{
	static const struct {
		const char *config, *sources;
	} cases[] = {
		{ "", "user" },
		{ "[defaults]\nsandbox = \"worktree\"\n", "user" },
		{ "[defaults]\nisolate = true\n", "" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_strv char **argv = NULL;

		claude_world_begin(cases[i].config);
		w.launch.sandboxed = w.launch.repair = true;
		argv = claude_argv(&w.launch);
		ck_assert_pstr_eq(
		    flag(argv, "--setting-sources"), cases[i].sources);
		ck_assert_uint_eq(list_count(argv, "--strict-mcp-config"), 1);
		ck_assert_ptr_null(flag(argv, "--add-dir"));
	}
}

/* Neither does what only reads, at the root. */
TEST(a_question_loads_nothing_of_the_repository)
{
	cleanup_json struct json_object *schema = json_object_new_object();
	cleanup_strv char **argv = NULL;

	claude_world_begin("");
	argv = claude_print_argv(
	    &(struct agent_print){ .settings = w.launch.settings,
		.dir = "/src/p",
		.model = "",
		.schema = schema });
	ck_assert_str_eq(flag(argv, "--setting-sources"), "user");
	ck_assert_uint_eq(list_count(argv, "--strict-mcp-config"), 1);
	ck_assert_str_eq(flag(argv, "--add-dir"), "/src/p");
}

TEST(empty_own_value_takes_a_default_away)
{
	cleanup_strv char **argv = NULL;

	claude_world_begin(
	    "[defaults]\nmodel = \"opus\"\nappend_system_prompt = \"x\"\n"
	    "[workers.ann]\nmodel = \"\"\nappend_system_prompt = \"\"\n");
	argv = claude_argv(&w.launch);
	ck_assert_ptr_null(flag(argv, "--model"));
	ck_assert_ptr_null(flag(argv, "--append-system-prompt"));
}

TEST(session_is_new_or_resumed)
{
	cleanup_strv char **fresh = NULL, **resumed = NULL;

	claude_world_begin("");
	fresh = claude_argv(&w.launch);
	ck_assert_str_eq(flag(fresh, "--session-id"), w.launch.session);
	ck_assert_ptr_null(flag(fresh, "--resume"));
	w.launch.resume = true;
	resumed = claude_argv(&w.launch);
	ck_assert_str_eq(flag(resumed, "--resume"), w.launch.session);
	ck_assert_ptr_null(flag(resumed, "--session-id"));
}

TEST(denied_tools_cannot_be_given_back)
{
	cleanup_strv char **argv = NULL;
	/* They wait for a person, or leave the worktree. */
	static const char *const always[] = { "AskUserQuestion",
		"EnterPlanMode", "ExitPlanMode", "EnterWorktree",
		"ExitWorktree", "ScheduleWakeup", "CronCreate", "SendMessage",
		"ListAgents", "Workflow", "RemoteTrigger", "Artifact",
		"Projects", "SendUserFile", "PushNotification", "SetGoal" };
	const char *denied;

	claude_world_begin("[defaults]\ndisallowed_tools = [\"Task\"]\n"
			   "[workers.ann]\ndisallowed_tools = []\n"
			   "allowed_tools = [\"AskUserQuestion\"]\n");
	argv = claude_argv(&w.launch);
	denied = flag(argv, "--disallowedTools");
	ck_assert_ptr_nonnull(denied);
	ck_assert_ptr_null(strstr(denied, ",Task"));
	for (size_t i = 0; i < nitems(always); i++)
		ck_assert_ptr_nonnull(strstr(denied, always[i]));
}

/* The flags for tools take as many words as they find. */
TEST(tools_are_one_word)
{
	cleanup_strv char **argv = NULL;
	size_t last = 0;

	claude_world_begin("[defaults]\nallowed_tools = [\"A\", \"B\"]\n");
	argv = claude_argv(&w.launch);
	while (argv[last + 1] != NULL)
		last++;
	ck_assert_str_eq(argv[last - 1], "--disallowedTools");
	ck_assert_str_eq(argv[last - 3], "--allowedTools");
	ck_assert_str_eq(argv[last - 2], "A,B");
}

/* --- environment ----------------------------------------------------- */

TEST(environment_names_the_worker)
{
	static const char *const names[] = { "LLMC_ROOT=", "LLMC_WORKER=ann\"",
		"LLMC_AGENT=1\"", "CLAUDE_CODE_NO_FLICKER=0\"" };
	cleanup_free char *launcher = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	claude_world_begin("");
	launcher = claude_world_prepare();
	ck_assert_int_eq(file_read(launcher, 1 << 20, &text, NULL), 0);
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_msg(
		    strstr(text.data, names[i]) != NULL, "%s", names[i]);
}

TEST(block_cap_is_above_the_turns)
{
	cleanup_strv char **plain = NULL, **capped = NULL;
	cleanup_free char *text = NULL;

	claude_world_begin("");
	plain = claude_env(&w.launch);
	text = joined(plain);
	ck_assert_ptr_null(strstr(text, "BLOCK_CAP"));
	w.launch.max_turns = 20;
	capped = claude_env(&w.launch);
	ck_assert_uint_eq(
	    list_count(capped, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=21"), 1);
}

static size_t
sandboxed(const char *config)
{
	cleanup_strv char **env = NULL;

	claude_world_begin(config);
	env = claude_env(&w.launch);
	return list_count(env, "IS_SANDBOX=1");
}

TEST(only_root_that_may_bypass_says_sandbox)
{
	static const char edits[] =
	    ALLOW "[workers.ann]\npermission_mode = \"acceptEdits\"\n";
	bool root = geteuid() == 0;

	ck_assert_uint_eq(sandboxed(ALLOW), root ? 1 : 0);
	ck_assert_uint_eq(
	    sandboxed(BYPASS "allow_root = true\n"), root ? 1 : 0);
	ck_assert_uint_eq(sandboxed(edits), 0);
	/* Not before a person allows it. */
	ck_assert_uint_eq(sandboxed(""), 0);
	ck_assert_uint_eq(sandboxed(BYPASS), 0);
}

TEST(another_user_that_bypasses_says_nothing)
{
	bool root = geteuid() == 0;

	ck_assert_int_eq(chmod(unit_scratch(), 0777), 0);
	if (root)
		ck_assert_int_eq(seteuid(NOBODY), 0);
	ck_assert_uint_eq(sandboxed(ALLOW), 0);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
}

/* --- settings file --------------------------------------------------- */

static struct json_object *
only_hook(struct json_object *settings, const char *event)
{
	struct json_object *hooks, *list, *inner;

	ck_assert(json_get_object(settings, "", "hooks", &hooks, NULL) == 0);
	ck_assert(json_get_array(hooks, "", event, &list, NULL) == 0);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	ck_assert(json_get_array(json_object_array_get_idx(list, 0), "",
		      "hooks", &inner, NULL) == 0);
	ck_assert_uint_eq(json_object_array_length(inner), 1);
	return json_object_array_get_idx(inner, 0);
}

static const char *
word(struct json_object *args, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(args, i));
}

TEST(hooks_say_whose_and_which_launch)
{
	static const char *const events[] = { "SessionStart", "SessionEnd",
		"UserPromptSubmit", "PreToolUse", "PostToolUse",
		"PostToolUseFailure", "PermissionRequest", "PermissionDenied",
		"Elicitation", "Notification", "Stop", "StopFailure",
		"SubagentStop", "PreCompact" };
	cleanup_json struct json_object *settings = NULL;
	cleanup_free char *spool = NULL, *policy = NULL;

	claude_world_begin("");
	w.launch.guarded = true;
	spool = run_dir_spool(&w.workspace, w.launch.worker);
	policy = policy_file_path(&w.workspace, w.launch.worker);
	settings = claude_settings(&w.launch);
	for (size_t i = 0; i < nitems(events); i++) {
		const char *const want[] = { "hook", events[i], "--worker",
			"ann", "--generation", "18446744073709551615",
			"--socket", w.launch.socket, "--spool", spool };
		struct json_object *hook = only_hook(settings, events[i]);
		struct json_object *args;

		ck_assert_str_eq(json_string_or(hook, "type", ""), "command");
		ck_assert_str_eq(
		    json_string_or(hook, "command", ""), w.launch.llmc);
		ck_assert(json_get_array(hook, "", "args", &args, NULL) == 0);
		/* Only tools are judged. */
		if (strcmp(events[i], "PreToolUse") == 0) {
			ck_assert_str_eq(word(args, nitems(want)), "--policy");
			ck_assert_str_eq(word(args, nitems(want) + 1), policy);
			ck_assert_str_eq(
			    json_string_or(hook, "onFailure", ""), "block");
			ck_assert_int_ge(json_int_or(hook, "timeout", 0), 30);
		} else {
			ck_assert_uint_eq(
			    json_object_array_length(args), nitems(want));
			ck_assert(
			    json_object_object_get(hook, "onFailure") == NULL);
		}
		for (size_t k = 0; k < nitems(want); k++)
			ck_assert_str_eq(word(args, k), want[k]);
		ck_assert_int_gt(json_int_or(hook, "timeout", 0), 0);
	}
	ck_assert_int_eq(json_object_object_length(
			     json_object_object_get(settings, "hooks")),
	    (int)nitems(events));
}

/* The rules of the settings file, with a blank between them. */
static const char *
denied(const char *config)
{
	static char text[2048];
	cleanup_json struct json_object *settings = NULL;
	struct json_object *list;

	claude_world_begin(config);
	settings = claude_settings(&w.launch);
	list = json_member(json_member(settings, "permissions"), "deny");
	text[0] = '\0';
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		strlcat(text,
		    json_object_get_string(json_object_array_get_idx(list, i)),
		    sizeof text);
		strlcat(text, " ", sizeof text);
	}
	return text;
}

TEST(commands_that_a_worker_does_not_run_are_rules)
{
	const char *rules = denied("");
	cleanup_free char *file = NULL;

	ck_assert_ptr_nonnull(strstr(rules, "Bash(git push:*) "));
	ck_assert_ptr_nonnull(strstr(rules, "Bash(sudo:*) "));
	ck_assert_ptr_nonnull(strstr(rules, "Bash(pkill:*) "));
	ck_assert_ptr_null(strstr(rules, "Edit("));
	ck_assert_str_eq(
	    denied("[defaults]\nrefuse_commands = [\"rm-outside\"]\n"), "");
	rules = denied("[repo]\nprotected_paths = [\"golden\"]\n");
	file = xasprintf("Edit(/%s/golden) Edit(/%s/golden/**) ", w.launch.cwd,
	    w.launch.cwd);
	ck_assert_ptr_nonnull(strstr(rules, file));
}

TEST(settings_preempt_what_asks_a_person)
{
	cleanup_json struct json_object *settings = NULL;

	claude_world_begin("");
	settings = claude_settings(&w.launch);
	ck_assert(
	    json_bool_or(settings, "skipDangerousModePermissionPrompt", false));
	ck_assert(json_bool_or(settings, "disableAgentView", false));
	ck_assert(json_bool_or(settings, "disableRemoteControl", false));
	ck_assert(!json_bool_or(settings, "promptSuggestionEnabled", true));
	ck_assert(!json_bool_or(settings, "spinnerTipsEnabled", true));
	ck_assert_int_eq(json_int_or(settings, "feedbackSurveyRate", 1), 0);
	ck_assert_str_eq(
	    json_string_or(settings, "crossSessionInbound", ""), "refuse");
	ck_assert(!json_bool_or(settings, "autoContinueAtUsageLimit", true));
	ck_assert_str_eq(json_string_or(json_member(settings, "env"),
			     "CLAUDE_CODE_RETRY_WATCHDOG", ""),
	    "0");
	ck_assert(!json_bool_or(settings, "disableAllHooks", true));
	ck_assert(json_bool_or(settings, "disableWorkflows", false));
	ck_assert(!json_bool_or(settings, "autoMemoryEnabled", true));
}

TEST(file_tools_stay_inside)
{
	cleanup_json struct json_object *settings = NULL, *repair = NULL;
	struct json_object *permissions, *more;

	claude_world_begin("[defaults]\nsandbox_write = [\"/cache\"]\n");
	settings = claude_settings(&w.launch);
	ck_assert_int_eq(
	    json_get_object(settings, "", "permissions", &permissions, NULL),
	    0);
	ck_assert(json_bool_or(
	    permissions, "blockWritesOutsideWorkingDirectories", false));
	ck_assert_int_eq(json_get_array(permissions, "",
			     "additionalDirectories", &more, NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(more), 2);
	ck_assert_str_eq(word(more, 0), "/cache");
	ck_assert_ptr_nonnull(strstr(word(more, 1), "/tmp/0"));
	/* A repair is of the machine too. */
	w.launch.repair = true;
	repair = claude_settings(&w.launch);
	ck_assert_ptr_null(json_object_object_get(repair, "permissions"));
}

TEST(what_would_change_under_a_fleet_is_turned_off)
{
	static const char *const words[] = { "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=0",
		"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=0" };
	cleanup_strv char **env = NULL, **few = NULL;

	claude_world_begin("");
	env = claude_env(&w.launch);
	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_uint_eq(list_count(env, words[i]), 1);
	for (size_t i = 0; env[i] != NULL; i++)
		ck_assert_ptr_null(strstr(env[i], "CONCURRENT_SUBAGENTS"));
	claude_world_begin("[defaults]\nsubagents = 3\n");
	few = claude_env(&w.launch);
	ck_assert_uint_eq(
	    list_count(few, "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS=3"), 1);
}

/* The user's own is not lost: it gets the same, and what it prints counts. */
TEST_ROWS(a_status_line_is_chained, 4)
{
	static const struct {
		const char *config, *file, *text, *printed;
	} rows[] = {
		{ "", "home/settings.json",
		    "{\"statusLine\":{\"type\":\"command\",\"padding\":2,"
		    "\"command\":\"tr a-z A-Z # loud\"}}",
		    "{\"IT'S %S\": 1}" },
		{ "", "home/settings.json", "{\"statusLine\":[]}", "" },
		{ "", "tree/.claude/settings.json",
		    "{\"statusLine\":{\"command\":\"wc -c\"}}", "14\n" },
		{ "[defaults]\nisolate = true\n", "home/settings.json",
		    "{\"statusLine\":{\"command\":\"echo lost\"}}", "" },
	};
	cleanup_free char *home = file_join(unit_scratch(), "home");
	cleanup_free char *tree = file_join(unit_scratch(), "tree/.claude");
	cleanup_free char *file = file_join(unit_scratch(), rows[_i].file);
	cleanup_free char *cwd = file_join(unit_scratch(), "tree");
	cleanup_free char *script = NULL;
	cleanup_json struct json_object *settings = NULL;
	struct json_object *line;
	cleanup_free char *out = file_join(home, "printed");
	cleanup_buf struct buf printed = BUF_INIT;
	pid_t child;

	ck_assert_int_eq(file_mkdirs(home, 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(tree, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(file, rows[_i].text,
			     strlen(rows[_i].text), 0600, NULL),
	    0);
	setenv("CLAUDE_CONFIG_DIR", home, 1);
	claude_world_begin(rows[_i].config);
	w.launch.cwd = cwd;
	w.launch.llmc = "false";
	settings = claude_settings(&w.launch);
	line = json_object_object_get(settings, "statusLine");
	ck_assert_int_eq(json_int_or(line, "padding", 0), _i == 0 ? 2 : 0);
	script =
	    xasprintf("printf %%s '{\"it'\\''s %%s\": 1}' | { %s\n} >printed",
		json_string_or(line, "command", ""));
	child = fork();
	if (child == 0) {
		if (chdir(home) == 0)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(file_read(out, 4096, &printed, NULL), 0);
	ck_assert_str_eq(printed.data, rows[_i].printed);
	unsetenv("CLAUDE_CONFIG_DIR");
}

/* --- files ----------------------------------------------------------- */

static void
expect_private(const char *path, mode_t mode)
{
	struct stat st;

	ck_assert_msg(stat(path, &st) == 0, "%s", path);
	ck_assert_uint_eq(st.st_mode & 0777, mode);
}

TEST(files_are_for_the_user_alone)
{
	cleanup_free char *launcher = NULL, *dir = NULL, *settings = NULL;
	mode_t old = umask(0);

	claude_world_begin("");
	launcher = claude_world_prepare();
	umask(old);
	dir = file_join(w.workspace.dir, "sessions/ann");
	settings = file_join(dir, "settings.json");
	expect_private(dir, 0700);
	expect_private(settings, 0600);
	expect_private(launcher, 0600);
}

TEST(settings_file_is_the_one_that_is_named)
{
	cleanup_json struct json_object *json = NULL, *want = NULL;
	cleanup_free char *launcher = NULL;
	cleanup_strv char **argv = NULL;

	claude_world_begin("");
	launcher = claude_world_prepare();
	argv = claude_argv(&w.launch);
	want = claude_settings(&w.launch);
	ck_assert_int_eq(
	    json_load(flag(argv, "--settings"), 1 << 20, &json, NULL), 0);
	ck_assert(json_object_equal(json, want));
}

TEST(a_worker_gets_a_server_of_tools_about_which_nobody_is_asked)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *launcher = NULL;
	cleanup_strv char **argv = NULL, **env = NULL;
	struct json_object *servers, *server, *args;

	claude_world_begin(
	    "[defaults]\nisolate = true\nallowed_tools = [\"Read\"]\n");
	w.launch.tools = w.launch.guarded = true;
	launcher = claude_world_prepare();
	argv = claude_argv(&w.launch);
	env = claude_env(&w.launch);
	ck_assert_str_eq(flag(argv, "--allowedTools"), "mcp__llmc__*,Read");
	ck_assert_uint_eq(list_count(argv, "--strict-mcp-config"), 1);
	ck_assert_uint_eq(list_count(env, "MCP_TOOL_TIMEOUT=3900000"), 1);
	expect_private(flag(argv, "--mcp-config"), 0600);
	ck_assert_int_eq(
	    json_load(flag(argv, "--mcp-config"), 1 << 20, &json, NULL), 0);
	ck_assert_int_eq(
	    json_get_object(json, "", "mcpServers", &servers, NULL), 0);
	ck_assert_int_eq(json_object_object_length(servers), 1);
	ck_assert_int_eq(
	    json_get_object(servers, "", "llmc", &server, NULL), 0);
	ck_assert_str_eq(json_string_or(server, "type", ""), "stdio");
	ck_assert_str_eq(json_string_or(server, "command", ""), w.launch.llmc);
	/* The tools say it themselves, and only a few of them: mcp.c. */
	ck_assert_ptr_null(json_object_object_get(server, "alwaysLoad"));
	ck_assert_int_eq(json_get_array(server, "", "args", &args, NULL), 0);
	ck_assert_uint_eq(json_object_array_length(args), 9);
	ck_assert_str_eq(word(args, 0), "mcp");
	ck_assert_str_eq(word(args, 1), "--socket");
	ck_assert_str_eq(word(args, 2), w.launch.socket);
	ck_assert_str_eq(word(args, 3), "--worker");
	ck_assert_str_eq(word(args, 4), "ann");
	ck_assert_str_eq(word(args, 5), "--generation");
	ck_assert_str_eq(word(args, 7), "--policy");
	ck_assert_ptr_nonnull(strstr(word(args, 8), "/run/ann/policy.json"));
}

TEST(a_repair_has_no_tools_of_ours)
{
	cleanup_free char *launcher = NULL, *file = NULL;
	cleanup_strv char **argv = NULL, **env = NULL;

	claude_world_begin("");
	launcher = claude_world_prepare();
	argv = claude_argv(&w.launch);
	env = claude_env(&w.launch);
	ck_assert_ptr_null(flag(argv, "--mcp-config"));
	ck_assert_ptr_null(flag(argv, "--allowedTools"));
	ck_assert_uint_eq(list_count(env, "MCP_TOOL_TIMEOUT=3900000"), 0);
	file = file_join(w.workspace.dir, "sessions/ann/mcp.json");
	ck_assert(!file_exists(file));
}

TEST(next_launch_replaces_the_files)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *first = NULL, *second = NULL;
	struct json_object *argv;

	claude_world_begin("");
	first = claude_world_prepare();
	w.launch.resume = true;
	second = claude_world_prepare();
	ck_assert_str_eq(first, second);
	ck_assert_int_eq(json_load(second, 1 << 22, &json, NULL), 0);
	ck_assert(json_get_array(json, "", "argv", &argv, NULL) == 0);
	ck_assert_str_eq(word(argv, 1), "--resume");
}

TEST(launch_that_cannot_be_written_is_an_error)
{
	cleanup_free char *file = NULL;
	struct err err = { 0 };
	char *launcher = NULL;

	claude_world_begin("");
	w.launch.worker = "blocked";
	file = file_join(w.workspace.dir, "sessions/blocked");
	w.launch.worker = "blocked/settings.json";
	free(claude_world_prepare()); /* creates a directory of that name */
	w.launch.worker = "blocked";
	ck_assert_int_lt(agent_prepare(&w.launch, &launcher, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, file));
	ck_assert_ptr_null(launcher);
}

/* A daemon that was started by an agent, or by one of its hooks. */
TEST(another_session_is_not_handed_on)
{
	static const char *const names[] = { "CLAUDECODE", "CLAUDE_PID",
		"CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR",
		"CLAUDE_ENV_FILE", "CLAUDE_CODE_ENTRYPOINT" };
	cleanup_free char *launcher = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < nitems(names); i++)
		setenv(names[i], "of-another", 1);
	setenv("CLAUDECODE_MINE", "kept-one", 1);
	claude_world_begin("[defaults]\nenv = [\"CLAUDECODE_MINE\"]\n");
	launcher = claude_world_prepare();
	for (size_t i = 0; i < nitems(names); i++)
		unsetenv(names[i]);
	unsetenv("CLAUDECODE_MINE");
	ck_assert_int_eq(file_read(launcher, 1 << 22, &text, NULL), 0);
	ck_assert_ptr_null(strstr(text.data, "of-another"));
	ck_assert_ptr_nonnull(strstr(text.data, "CLAUDECODE_MINE=kept-one"));
}
