/* SPDX-License-Identifier: ISC */

/*
 * What workers and auto mode must do with every other kind of agent. Two
 * programs for each: the fake agent as that kind, and the real one on a stub of
 * its API. LLMC_TEST_KIND says which: codex, codex-real. With the real one, the
 * kind claude is the fake agent.
 */
#include "asked.h"
#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

#define REAL "-real"

static const char *url; /* of the stub; NULL = the agent is not real */

static void
begin_headless(void)
{
	fleet_begin_real();
	/* Nothing was answered in its dialogs. */
	e2e_sh(unit_scratch(), "rm -f home/.claude.json");
}

#define CODEX_STUB                                                  \
	"{name=\"stub\",base_url=\"%s/v1\",wire_api=\"responses\"," \
	"supports_websockets=false,request_max_retries=0,"          \
	"stream_max_retries=0,requires_openai_auth=true}"

/* With a login, as after `codex login --with-api-key`. */
static void
begin_codex(void)
{
	url = fleet_begin_stubbed();
	e2e_dir("home/.codex");
	e2e_write(e2e_path("%s/home/.codex/auth.json", unit_scratch()),
	    "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"" FLEET_API_KEY
	    "\"}");
	e2e_write(e2e_path("%s/home/.codex/config.toml", unit_scratch()),
	    e2e_path(
		"model_provider = \"stub\"\n[model_providers]\nstub = " CODEX_STUB
		"\n",
		url));
}

/* A box has no settings of the user; its other programs are beside its folder.
 */
static void
box_codex(void)
{
	const char *program =
	    e2e_setting(fleet_root(), "defaults.codex_command");
	const char *stub = e2e_path(CODEX_STUB, url);
	struct json_object *args = json_object_new_array();

	if (url == NULL)
		return;
	e2e_set(fleet_root(), "defaults.sandbox_read",
	    e2e_path("[\"%.*s\"]",
		(int)(strstr(program, "/bin/codex") - program), program));
	json_object_array_add(args, json_object_new_string("-c"));
	json_object_array_add(
	    args, json_object_new_string("model_provider=stub"));
	json_object_array_add(args, json_object_new_string("-c"));
	json_object_array_add(args,
	    json_object_new_string(e2e_path("model_providers.stub=%s", stub)));
	e2e_set(fleet_root(), "defaults.extra_args",
	    json_object_to_json_string_ext(
		args, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(args);
}

/* It would install packages, if it did not see that it has. */
static void
begin_opencode(void)
{
	const char *folder =
	    e2e_path("%s/home/.config/opencode", unit_scratch());

	url = fleet_begin_stubbed();
	e2e_set(fleet_root(), "defaults.model", "anthropic/claude-sonnet-4-5");
	e2e_env("ANTHROPIC_API_KEY=" FLEET_API_KEY);
	e2e_env("OPENCODE_DISABLE_MODELS_FETCH=1");
	e2e_dir("home/.config/opencode/node_modules");
	e2e_write(e2e_path("%s/package-lock.json", folder),
	    "{\"packages\":{\"\":{\"dependencies\":"
	    "{\"@opencode-ai/plugin\":\"*\"}}}}");
	e2e_write(e2e_path("%s/opencode.json", folder),
	    e2e_path("{\"provider\":{\"anthropic\":{\"options\":"
		     "{\"baseURL\":\"%s/v1\"}}}}",
		url));
}

/* What the user has set is not there, but what the repository has is. */
static void
box_opencode(void)
{
	const char *program =
	    e2e_setting(fleet_root(), "defaults.opencode_command");

	if (url == NULL)
		return;
	e2e_set(fleet_root(), "defaults.sandbox_read",
	    e2e_path("[\"%.*s\"]",
		(int)(strstr(program, "/bin/opencode") - program), program));
	e2e_sh(fleet_root(),
	    e2e_path("cp '%s/home/.config/opencode/opencode.json' . && git add "
		     "opencode.json && git commit -qm settings",
		unit_scratch()));
}

static void
begin_gemini(void)
{
	url = fleet_begin_stubbed();
	e2e_set(fleet_root(), "defaults.model", "gemini-2.5-pro");
	e2e_env("GEMINI_API_KEY=" FLEET_API_KEY);
	e2e_env(e2e_path("GOOGLE_GEMINI_BASE_URL=%s", url));
	e2e_dir("home/.gemini");
	e2e_write(e2e_path("%s/home/.gemini/settings.json", unit_scratch()),
	    "{\"general\":{\"maxAttempts\":1}}");
}

/* Its program is a link to one of many files. */
static void
box_gemini(void)
{
	const char *program =
	    e2e_setting(fleet_root(), "defaults.gemini_command");

	if (url != NULL)
		e2e_set(fleet_root(), "defaults.sandbox_read",
		    e2e_path("[\"%.*s\"]",
			(int)(strstr(program, "/.bin/") - program), program));
}

static const struct kind {
	const char *name; /* as in the settings */
	const char *command; /* the setting with its program */
	const char *files; /* where its conversations are, in scratch */
	bool modes; /* it has more than bypassPermissions */
	bool queues; /* a message reaches it in its turn */
	void (*box)(void); /* what it needs more in a sandbox */
	bool boxed; /* it runs in one */
	bool streamed; /* it has no terminal: llmc stream */
	bool database; /* its conversations are in one, if it is real */
	const char *title, *real; /* the real one, and its name in
				   * tests/tools/real-agent.sh */
	void (*begin)(void);
	int patience; /* with the real one; 0 = as much as with others */
} kinds[] = {
	{ .name = "claude-headless",
	    .command = "defaults.agent_command",
	    .files = "home/.claude/projects/*",
	    .modes = true,
	    .boxed = true,
	    .streamed = true,
	    .title = "Claude Code",
	    .real = "claude",
	    .begin = begin_headless },
	{ .name = "codex",
	    .command = "defaults.codex_command",
	    .files = "home/.codex/sessions/*/*/*",
	    .queues = true,
	    .boxed = true,
	    .box = box_codex,
	    .title = "Codex",
	    .real = "codex",
	    .begin = begin_codex },
	{ .name = "opencode",
	    .command = "defaults.opencode_command",
	    .files = "home/.local/share/llmc/projects/*",
	    .boxed = true,
	    .box = box_opencode,
	    .database = true,
	    .title = "OpenCode",
	    .real = "opencode",
	    .begin = begin_opencode,
	    .patience = 4 },
	{ .name = "gemini",
	    .command = "defaults.gemini_command",
	    .files = "*/.llmc/box/*/gemini/.gemini/tmp/*/chats",
	    .boxed = true,
	    .streamed = true,
	    .box = box_gemini,
	    .title = "Gemini CLI",
	    .real = "gemini",
	    .begin = begin_gemini,
	    .patience = 2 },
}, *kind;

static const char *program; /* of the real one; NULL = the fake one */

static void
begin_auto(void)
{
	if (program != NULL)
		kind->begin();
	else
		fleet_begin();
	e2e_set(fleet_root(), kind->command,
	    program != NULL ?
		program :
		e2e_setting(fleet_root(), "defaults.agent_command"));
	e2e_set(fleet_root(), "defaults.agent", kind->name);
}

static void
begin(void)
{
	begin_auto();
	fleet_up();
}

static const char *
reason(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *words =
	    e2e_path("%s", json_string_or(record, "reason", ""));

	json_object_put(record);
	return words;
}

START_TEST(three_tasks_in_a_row_are_three_conversations)
{
	auto_task("a", "fake: commit a.txt x");
	auto_task("b", "fake: commit b.txt x");
	auto_task("c", "fake: commit c.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 4);
	ck_assert_str_eq(e2e_sh(unit_scratch(),
			     e2e_path("ls %s/*.jsonl | wc -l", kind->files))
			     ->out,
	    "3\n");
}
END_TEST

/* The real Claude Code with a screen has to be trusted first. */
static void
beside_claude(void)
{
	e2e_set(fleet_root(), "defaults.agent", "claude");
	if (program != NULL && strcmp(kind->name, "claude-headless") == 0)
		fleet_do("doctor", "trust", "--onboarding", NULL);
}

/* Each in a conversation of its own, by a worker of its kind. */
START_TEST(tasks_name_their_kinds)
{
	beside_claude();
	fleet_up();
	fleet_fails("there is no agent smith", "task", "add", "--agent",
	    "smith", "fake: commit a.txt x", NULL);
	fleet_do(
	    "task", "add", "--agent", kind->name, "fake: commit a.txt x", NULL);
	fleet_do("task", "add", "fake: commit b.txt x", NULL);
	fleet_do(
	    "task", "add", "--agent", kind->name, "fake: commit c.txt x", NULL);
	fleet_do("down", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 4);
	e2e_has(e2e_sh(unit_scratch(), e2e_path("ls %s", kind->files))->out,
	    ".jsonl");
	e2e_has(e2e_sh(unit_scratch(), "ls home/.claude/projects/*")->out,
	    ".jsonl");
}
END_TEST

START_TEST(two_kinds_land_together)
{
	beside_claude();
	e2e_set(fleet_root(), "workers.eve.agent", kind->name);
	fleet_up();
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_start("eve", "fake: commit b.txt x");
	fleet_wait("adam", "needs_review");
	fleet_wait("eve", "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_do("accept", "eve", NULL);
	ck_assert_int_eq(fleet_commits(), 3);
}
END_TEST

/* It says nothing of a prompt in its turn, and is not ended for that. */
START_TEST(a_message_waits_for_the_end_of_a_long_turn)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam", "fake: run sleep 20\nfake: commit a.txt x");
	fleet_wait("adam", "working");
	fleet_wait_prompt("fake: run sleep");
	agent = fleet_agent_pid("adam");
	fleet_do("message", "adam", "hello there", NULL);
	fleet_wait_prompt("hello there");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	ck_assert_int_eq(fleet_prompts("hello there"), 1);
}
END_TEST

/* All that the API was asked for, once each. */
START_TEST(what_its_subagents_use_is_counted)
{
	e2e_write(fleet_usage_file(), "1000 200 0 0 0\n");
	auto_task(
	    "a.md", "Task-A\nfake: agent Greet the user\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_ge(fleet_prompts("Greet the user"), 1);
	ck_assert_str_eq(
	    e2e_path(
		"%d\n", (int)json_int_or(asked_task("t1"), "tokens", 0) / 1200),
	    e2e_sh(unit_scratch(),
		e2e_path("grep -c '\"status\":200' '%s'", fleet_prompt_log()))
		->out);
}
END_TEST

/* Also with the user's login. */
START_TEST(a_sandbox_holds_it)
{
	e2e_need_boxes("");
	fleet_box("worktree");
	if (kind->box != NULL)
		kind->box();
	fleet_up();
	fleet_add("adam");
	fleet_start(
	    "adam", "fake: run touch ../../escaped\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	ck_assert(!e2e_exists(e2e_path("%s/escaped", fleet_root())));
}
END_TEST

START_TEST(a_sandbox_is_refused)
{
	e2e_need_boxes("");
	fleet_box("worktree");
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused,error");
	e2e_has(reason("adam"), "cannot run in a sandbox");
	e2e_has(fleet_do("doctor", "--agents", NULL)->out, "no sandbox");
}
END_TEST

START_TEST(what_it_cannot_do_is_refused)
{
	e2e_set(fleet_root(), "defaults.permission_mode", "plan");
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused,error");
	e2e_has(
	    reason("adam"), e2e_path("%s has no permission_mode", kind->name));
}
END_TEST

START_TEST(the_kinds_are_listed)
{
	struct e2e_run *run = fleet_do("doctor", "--agents", NULL);

	e2e_has(run->out, "ok    claude ");
	e2e_has(run->out, e2e_path("ok    %s ", kind->name));
	e2e_has(run->out, "no permission_mode but bypassPermissions");
}
END_TEST

/* A person who looks at it reads words, and what is typed is a prompt. */
START_TEST(its_stream_is_shown_in_words)
{
	fleet_add("adam");
	fleet_start("adam", "fake: say these are words\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_do("peek", "adam", NULL)->out, "these are words");
	e2e_lacks(fleet_do("peek", "adam", NULL)->out, "\"type\"");
	e2e_expect(e2e_sh(fleet_root(),
		       "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
		       "send-keys -t '=llmc-adam:' 'typed by hand' Enter"),
	    0, NULL);
	fleet_wait_prompt("typed by hand");
}
END_TEST

Suite *
unit_suite(void)
{
	const char *name = getenv("LLMC_TEST_KIND");
	const char *real = name != NULL ? strstr(name, REAL) : NULL;
	size_t len;
	Suite *s;

	for (size_t i = 0; name != NULL && i < nitems(kinds); i++) {
		len = strlen(kinds[i].name);
		if (strncmp(name, kinds[i].name, len) == 0 &&
		    (name[len] == '\0' || name + len == real))
			kind = &kinds[i];
	}
	if (kind == NULL)
		unit_skip_all("LLMC_TEST_KIND names no kind of agent");
	if (real != NULL)
		program = scenarios_need(kind->title, kind->real);
	scenarios_kept_elsewhere = real != NULL && kind->database;
	if (real != NULL && kind->patience > 0)
		fleet_patience = kind->patience;
	s = suite_create(name);
	scenarios_of_agent();
	scenarios_add_test(
	    s, begin_auto, three_tasks_in_a_row_are_three_conversations);
	scenarios_add_test(s, begin_auto, tasks_name_their_kinds);
	scenarios_add_test(s, begin_auto, two_kinds_land_together);
	scenarios_add_test(s, begin_auto,
	    kind->boxed ? a_sandbox_holds_it : a_sandbox_is_refused);
	if (!kind->queues)
		scenarios_add_test(
		    s, begin, a_message_waits_for_the_end_of_a_long_turn);
	if (!kind->modes)
		scenarios_add_test(s, begin, what_it_cannot_do_is_refused);
	if (program == NULL)
		scenarios_add_test(s, begin_auto, the_kinds_are_listed);
	if (kind->streamed)
		scenarios_add_test(s, begin, its_stream_is_shown_in_words);
	if (program != NULL && strcmp(kind->name, "opencode") == 0)
		scenarios_add_test(
		    s, begin_auto, what_its_subagents_use_is_counted);
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	return s;
}
