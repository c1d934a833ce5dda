/* SPDX-License-Identifier: ISC */

/* What people and scripts type, with a daemon and without. */
#include "fleet.h"

/* The JSON output of a command, which must match its schema. */
static struct json_object *
json_of(int status, const char *command, const char *first, const char *second)
{
	const char *args[6] = { "--json", command, first, second, NULL };

	return e2e_json(e2e_llmcv(fleet_root(), args), status);
}

static const char *
member(struct json_object *value, const char *key)
{
	return json_string_or(value, key, "(none)");
}

/* Run the command in a script on its own terminal; its output. */
static struct e2e_run *
on_terminal(const char *input, const char *command)
{
	return e2e_sh(fleet_root(),
	    e2e_path("export TERM=xterm; printf '%s' | "
		     "script -qec \"\\\"$LLMC\\\" %s\" /dev/null",
		input, command));
}

const int unit_timeout = 90; /* seconds, each */

static void
begin_adam(void)
{
	fleet_begin();
	fleet_up();
	fleet_add("adam");
}

/* --- without a daemon ------------------------------------------------ */

TEST(status_reads_only)
{
	struct json_object *json, *workers;
	struct e2e_run *run;

	run = fleet_do("status", NULL);
	e2e_has(run->out, "not running");
	e2e_has(run->out, "llmc add NAME");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/llmc.db", fleet_root())));
	fleet_do("add", "adam", NULL);
	json = json_of(0, "status", NULL, NULL);
	workers = json_object_object_get(json, "workers");
	ck_assert_uint_eq(json_object_array_length(workers), 1);
	ck_assert_str_eq(
	    member(json_object_array_get_idx(workers, 0), "status"), "offline");
	e2e_has(fleet_do("status", NULL)->out, "1 worker: 1 offline");
}

TEST(add_writes_settings_and_takes_them_back)
{
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());
	const char *before;

	fleet_do("add", "adam", "--model", "opus", "--role-prompt",
	    "say \"hi\"\nand more", "--self-review", NULL);
	ck_assert_str_eq(
	    fleet_do("config", "get", "workers.adam.model", NULL)->out,
	    "opus\n");
	ck_assert_str_eq(
	    fleet_do("config", "get", "workers.adam.role_prompt", NULL)->out,
	    "say \"hi\"\nand more\n");
	before = e2e_read(config);
	fleet_fails("already", "add", "adam", "--model", "haiku", NULL);
	fleet_fails("lower case", "add", "Adam", "--model", "haiku", NULL);
	fleet_fails("reserved", "add", "console1", "--model", "haiku", NULL);
	fleet_fails(
	    "--concurrency N", "add", "auto-x", "--model", "haiku", NULL);
	/* Something else is where its worktree would be. */
	e2e_sh(fleet_root(), "mkdir .worktrees/eve; date >.worktrees/eve/x");
	fleet_fails("", "add", "eve", "--model", "haiku", NULL);
	ck_assert_str_eq(e2e_read(config), before);
	json_of(0, "add", "carl", NULL);
}

/* What comes after a NUL byte would be lost. */
TEST(a_nul_byte_in_a_prompt_is_refused)
{
	static const char *const calls[] = {
		"start --worker adam --prompt-file nul.txt",
		"start --worker adam --prompt-cmd 'cat nul.txt'",
		"message adam - <nul.txt",
		"task add - <nul.txt",
	};
	struct e2e_run *run;

	fleet_do("add", "adam", NULL);
	e2e_sh(fleet_root(), "printf 'do this\\0but not that' >nul.txt");
	for (size_t i = 0; i < nitems(calls); i++) {
		run = e2e_sh(fleet_root(), e2e_path("\"$LLMC\" %s", calls[i]));
		ck_assert_int_eq(run->status, 1);
		e2e_has(run->err, "NUL byte");
	}
}

TEST(commands_say_that_no_daemon_runs)
{
	static const char *const calls[][5] = { { "start", "--prompt", "x" },
		{ "start" }, { "message", "adam", "x" },
		{ "landing", "rebase", "adam" },
		{ "review", "adam", "--force" },
		{ "wait", "adam", "--until=idle" }, { "resume" }, { "down" } };

	fleet_do("add", "adam", NULL);
	for (size_t i = 0; i < nitems(calls); i++) {
		const char *args[6] = { "--json", calls[i][0], calls[i][1],
			calls[i][2] };

		fleet_fails(
		    "llmc up", calls[i][0], calls[i][1], calls[i][2], NULL);
		e2e_json_error(e2e_llmcv(fleet_root(), args), 1, "no_daemon",
		    "start it with: llmc up --detach");
	}
	fleet_fails("no session", "peek", "adam", NULL);
	fleet_fails("no session", "attach", "adam", NULL);
}

TEST(what_is_lost_is_asked_about)
{
	struct e2e_run *run;

	fleet_do("add", "adam", NULL);
	fleet_fails("--yes", "nuke", "adam", NULL);
	fleet_fails("--yes", "reset", "adam", NULL);
	fleet_fails("--yes", "reset", "--all", NULL);
	e2e_json_error(e2e_llmc(fleet_root(), "--json", "nuke", "--all", NULL),
	    1, "not_confirmed", "--yes");
	e2e_expect(e2e_llmc(fleet_root(), "nuke", NULL), 2, "name the worker");
	e2e_expect(e2e_llmc(fleet_root(), "nuke", "adam", "--all", NULL), 2,
	    "not both");
	run = on_terminal("n\\n", "nuke adam");
	e2e_has(run->out, "[y/N]");
	e2e_has(run->out, "nothing was done");
	ck_assert_int_eq(run->status, 1);
	ck_assert_str_eq(fleet_status("adam"), "offline");
	run = on_terminal("y\\n", "nuke adam");
	e2e_has(run->out, "Removed adam");
	ck_assert_int_eq(run->status, 0);
	fleet_fails("there is no worker adam", "nuke", "adam", NULL);
}

TEST(trust_adds_and_keeps_the_rest)
{
	const char *home = e2e_dir("other home");
	const char *file = e2e_path("%s/.claude.json", home);
	struct json_object *json;

	e2e_env(e2e_path("HOME=%s", home));
	e2e_write(file, "{\"theme\":\"dark\",\"n\":3}\n");
	json = json_of(0, "doctor trust", NULL, NULL);
	ck_assert(json_bool_or(json, "changed", false));
	ck_assert(json_bool_or(json, "trusted", false));
	ck_assert(!json_bool_or(json, "onboarded", true));
	e2e_has(e2e_read(file), "\"theme\": \"dark\"");
	e2e_has(e2e_read(file), "hasTrustDialogAccepted");
	e2e_lacks(e2e_read(file), "hasCompletedOnboarding");
	json = json_of(0, "doctor trust", "--onboarding", NULL);
	ck_assert(json_bool_or(json, "onboarded", false));
	e2e_has(fleet_do("doctor", "trust", NULL)->out, "needs no change");
	e2e_write(file, "{\"theme\":");
	fleet_fails("was not changed", "doctor", "trust", NULL);
	ck_assert_str_eq(e2e_read(file), "{\"theme\":");
	e2e_env("HOME");
	fleet_fails("HOME", "doctor", "trust", NULL);
}

TEST(rebuild_makes_a_state_from_worktrees)
{
	const char *book = e2e_path("%s/.llmc/llmc.db", fleet_root());
	struct json_object *json;

	fleet_do("add", "adam", NULL);
	fleet_do("add", "eve", NULL);
	e2e_sh(fleet_worktree("eve"),
	    "date >new && git add new && git commit -qm 'By eve'");
	e2e_write(book, "broken");
	fleet_fails("is damaged", "status", NULL);
	fleet_fails("--yes", "doctor", "--rebuild", NULL);
	json = json_of(0, "doctor", "--rebuild", "--yes");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "repairs")),
	    2);
	ck_assert_str_eq(fleet_status("adam"), "offline");
	ck_assert_str_eq(fleet_status("eve"), "needs_review");
	e2e_expect(e2e_sh(fleet_root(),
		       "cat .llmc/llmc.corrupt-*.db | grep -q broken"),
	    0, NULL);
	fleet_do("accept", "eve", NULL);
	e2e_has(fleet_log(), "By eve");
}

TEST(repair_brings_a_worktree_back)
{
	fleet_do("add", "adam", NULL);
	e2e_sh(fleet_worktree("adam"),
	    "date >new && git add new && git commit -qm 'By adam'");
	e2e_sh(fleet_root(), "rm -rf .worktrees/adam");
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out, "is missing");
	fleet_do("doctor", "--repair", "--yes", NULL);
	ck_assert(e2e_exists(e2e_path("%s/.git", fleet_worktree("adam"))));
	/* Its commits are not lost. */
	e2e_has(fleet_do("landing", "salvage", "list", NULL)->out, "adam/");
	e2e_env("LLMC_AGENT=1");
	fleet_fails("this is a worker's session", "doctor", "--repair", NULL);
}

TEST(consoles_are_sessions_of_their_own)
{
	struct json_object *json = json_of(0, "attach console", NULL, NULL);

	ck_assert_str_eq(member(json, "name"), "console1");
	ck_assert_str_eq(member(json, "session"), "llmc-console1");
	ck_assert(json_bool_or(json, "created", false));
	e2e_has(member(json, "attach"), "attach -t '=llmc-console1'");
	json = json_of(0, "attach console", "console1", NULL);
	ck_assert(!json_bool_or(json, "created", true));
	e2e_has(
	    fleet_do("attach", "console", NULL)->out, "console2 is running");
	fleet_fails("not a valid name", "attach", "console", "adam", NULL);
	json_of(0, "attach", "console2", NULL);
	fleet_fails("no terminal", "attach", "console2", NULL);
	e2e_env("TMUX=/nowhere,1,0");
	fleet_fails("another tmux", "attach", "console2", NULL);
	fleet_fails(
	    "This removes console2: session.", "nuke", "console2", NULL);
	e2e_has(fleet_do("nuke", "console2", "--yes", NULL)->out, "Removed");
	fleet_fails("llmc-console1", "attach", "console2", NULL);
}

/* The environment of the agent, once `llmc pane` has executed it. */
static const char agent_environment[] =
    "pid=$(tmux -L \"$(\"$LLMC\" config get tmux.socket)\" list-panes "
    "-t =llmc-console1 -F '#{pane_pid}'); "
    "while tr '\\0' ' ' </proc/$pid/cmdline | grep -q 'llmc pane '; do "
    "sleep 0.1; done; "
    "tr '\\0' '\\n' </proc/$pid/environ";

/* Opened from inside an agent: the new agent must not think that it is a
 * child. Of other variables it gets what is listed. */
TEST(a_consoles_agent_is_nobodys_child)
{
	const char *got;

	e2e_env("CLAUDECODE=1");
	e2e_env("CLAUDE_CODE_SESSION_ID=theirs");
	e2e_env("CLAUDE_CODE_ENTRYPOINT=cli");
	e2e_env("FAVOURITE=kept");
	e2e_env("FORGE_TOKEN=hidden");
	fleet_do("config", "set", "defaults.env", "[\"FAVOURITE\"]", NULL);
	fleet_do("attach", "console", NULL);
	got = e2e_sh(fleet_root(), agent_environment)->out;
	e2e_has(got, "FAVOURITE=kept");
	e2e_lacks(got, "FORGE_TOKEN");
	e2e_lacks(got, "CLAUDECODE=");
	e2e_lacks(got, "CLAUDE_CODE_SESSION_ID=");
	e2e_lacks(got, "CLAUDE_CODE_ENTRYPOINT=");
}

TEST(completion_knows_commands_and_workers)
{
	static const char *const checks[][2] = {
		{ "llmc sta", "status start" },
		{ "llmc wai", "wait" },
		{ "llmc he", "help" },
		{ "llmc help goal pl", "plan" },
		{ "llmc doctor schema goal ti", "tick" },
		{ "llmc goal plan ins", "insights" },
		{ "llmc --root . log --kind task_ret", "task_retry" },
		{ "llmc answer --y", "--yes" },
		{ "llmc reset --a", "--all" },
		{ "llmc landing salvage r", "restore" },
		{ "llmc landing salvage drop ad", "adam/20260131T081530Z-t17" },
		{ "llmc landing salvage show ad", "adam/20260131T081530Z-t17" },
		{ "llmc peek ad", "adam" },
		{ "llmc start --worker ev", "eve" },
		{ "llmc start ev", "eve" },
		{ "llmc config doc auto.max_tu", "auto.max_turns" },
		{ "llmc wait adam --until needs", "needs_review" },
		{ "llmc --root . log daemon --level d", "debug" },
		{ "llmc config get auto.max_tu", "auto.max_turns" },
		{ "llmc config set auto.max_tu", "auto.max_turns" },
		{ "llmc task edit my-", "my-task.md" },
		{ "llmc log --task my-", "my-task.md" },
		{ "llmc log --kind task_ret", "task_retry" },
		{ "llmc pause ad", "adam" },
		{ "llmc stop ev", "eve" },
	};

	fleet_do("add", "adam", NULL);
	fleet_do("add", "eve", NULL);
	e2e_git(fleet_root(), "update-ref",
	    "refs/llmc/salvage/adam/20260131T081530Z-t17", "HEAD", NULL);
	e2e_sh(fleet_root(),
	    "mkdir -p .llmc/tasks/todo; echo x "
	    ">.llmc/tasks/todo/my-task.md");
	for (size_t i = 0; i < nitems(checks); i++) {
		struct e2e_run *run = e2e_sh(fleet_root(),
		    e2e_path("PATH=\"$(dirname \"$LLMC\"):$PATH\" bash -c '"
			     "eval \"$(llmc completion bash)\"; "
			     "COMP_WORDS=(%s); "
			     "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
			     "_llmc; echo ${COMPREPLY[*]}'",
			checks[i][0]));

		e2e_expect(run, 0, NULL);
		ck_assert_str_eq(run->out, e2e_path("%s\n", checks[i][1]));
	}
	e2e_has(fleet_do("completion", "zsh", NULL)->out, "#compdef llmc");
	e2e_has(fleet_do("completion", "fish", NULL)->out, "complete -c llmc");
	e2e_has(fleet_do("completion", "words", "--", "sta", NULL)->out,
	    "status\tshow the daemon, the overseer and the workers\n");
	ck_assert_str_eq(fleet_do("completion", "words", "--", "task", "add",
			     "--file", "x", NULL)
			     ->out,
	    ":\n");
}

/* --- with a daemon --------------------------------------------------- */

TEST_IN(begin_adam, tasks_come_from_anywhere)
{
	fleet_fails("status 3: why", "start", "--prompt-cmd",
	    "echo why >&2; exit 3", NULL);
	fleet_fails("printed nothing", "start", "--prompt-cmd", "true", NULL);
	fleet_fails("No such file", "start", "--prompt-file", "nope", NULL);
	fleet_fails("empty", "start", "--prompt", " \n", NULL);
	fleet_fails("no worker nobody; the workers are: adam", "start",
	    "--worker", "nobody", "--prompt", "x", NULL);
	fleet_fails("no worker is free: no name of a worker begins with z",
	    "start", "--prefix", "z", "--prompt", "x", NULL);
	e2e_expect(e2e_llmc(fleet_root(), "start", "--prompt", "x",
		       "--prompt-cmd", "y", NULL),
	    2, "cannot be combined");
	fleet_fails("your own checkout", "start", "--prompt",
	    e2e_path("see @\"%s/README\"", fleet_root()), NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "echo 'fake: commit a.txt 1' | "
		       "\"$LLMC\" start --prompt-file - >/dev/null"),
	    0, NULL);
	fleet_wait("adam", "needs_review");
	fleet_fails("no worker is free: adam is needs_review", "start",
	    "--prompt", "x", NULL);
	fleet_do("accept", "adam", NULL);
	fleet_do("start", "--prompt-cmd", "echo 'fake: commit b.txt 2'", NULL);
	fleet_wait("adam", "needs_review");
}

TEST(an_editor_writes_tasks_and_loses_none)
{
	const char *editor = e2e_path("%s/editor", unit_scratch());
	struct e2e_run *run;

	e2e_script(editor,
	    "#!/bin/sh\n"
	    "printf '# a heading\\nfake: commit a.txt 1\\n' | "
	    "cat - \"$1\" >\"$1.new\" && mv \"$1.new\" \"$1\"\n");
	e2e_env(e2e_path("EDITOR=%s", editor));
	fleet_up();
	fleet_add("adam");
	run = on_terminal("", "start");
	ck_assert_msg(run->status == 0, "%s", run->out);
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_prompts("# a heading"), 1);
	ck_assert_int_eq(fleet_prompts(">8"), 0);
	/* No worker is free: the text is kept. */
	run = on_terminal("", "start");
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->out, "your text is saved in");
	e2e_has(e2e_sh(fleet_root(), "cat .llmc/drafts/*")->out, "a heading");
	e2e_env("EDITOR=true");
	run = on_terminal("", "reject --worker adam");
	e2e_has(run->out, "the text is empty");
	e2e_env("EDITOR=false");
	run = on_terminal("", "message adam");
	e2e_has(run->out, "nothing was sent");
}

TEST_IN(begin_adam, verdicts_mean_the_last_review)
{
	struct json_object *json;

	fleet_add("eve");
	fleet_fails("no worker is waiting", "review", NULL);
	fleet_fails("llmc review", "accept", NULL);
	fleet_start("eve", "fake: commit b.txt 2");
	fleet_wait("eve", "needs_review");
	fleet_start("adam", "fake: commit a.txt 1");
	fleet_wait("adam", "needs_review");
	/* The one that has waited longest. */
	json = json_of(0, "review", NULL, NULL);
	ck_assert_str_eq(member(json, "worker"), "eve");
	json = json_of(0, "reject", "fake: commit c.txt 3", NULL);
	ck_assert_str_eq(member(json, "worker"), "eve");
	ck_assert_str_eq(member(json, "new_status"), "rejected");
	fleet_wait("eve", "needs_review");
	e2e_has(fleet_do("review", "adam", NULL)->out, "+1");
	json = json_of(0, "accept", NULL, NULL);
	ck_assert_str_eq(member(json, "worker"), "adam");
	ck_assert_str_eq(member(json, "status"), "idle");
	/* What the answer says is already in the state. */
	ck_assert_str_eq(fleet_status("adam"), "idle");
	e2e_expect(e2e_llmc(fleet_root(), "review", "--interface", "x", NULL),
	    2, "git, difftastic or vscode");
	e2e_expect(
	    e2e_llmc(fleet_root(), "accept", "--force", NULL), 2, "name");
	fleet_fails("adam is idle", "accept", "adam", NULL);
	fleet_fails("adam is idle", "message", "adam", "x", NULL);
}

TEST_IN(begin_adam, conflicts_are_listed)
{
	struct json_object *json, *files;

	fleet_add("eve");
	fleet_start("adam", "fake: commit same.txt 1");
	fleet_start("eve", "fake: commit same.txt 2");
	fleet_wait("adam", "needs_review");
	fleet_wait("eve", "needs_review");
	json = json_of(0, "landing rebase", "eve", NULL);
	ck_assert(json_bool_or(json, "success", false));
	fleet_do("accept", "adam", NULL);
	json = json_of(0, "landing rebase", "eve", NULL);
	ck_assert(!json_bool_or(json, "success", true));
	files = json_object_object_get(json, "conflicts");
	ck_assert_uint_eq(json_object_array_length(files), 1);
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(files, 0)),
	    "same.txt");
}

TEST_IN(begin_adam, what_is_taken_can_be_brought_back)
{
	struct json_object *json, *list;
	const char *ref;

	e2e_has(fleet_do("landing", "salvage", "list", NULL)->out, "Nothing");
	fleet_start("adam", "fake: commit a.txt 1");
	fleet_wait("adam", "needs_review");
	json = json_of(0, "pick", "adam", NULL);
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
	e2e_write(e2e_path("%s/dirt.txt", fleet_worktree("adam")), "dirt\n");
	json = json_of(0, "reset", "adam", "--yes");
	ref = member(json, "salvage");
	e2e_has(ref, "refs/llmc/salvage/adam/");
	list = json_of(0, "landing salvage", "list", NULL);
	ck_assert_uint_ge(json_object_array_length(list), 1);
	e2e_has(
	    fleet_do("landing", "salvage", "show", ref, NULL)->out, "+dirt");
	json = json_of(0, "landing salvage", "show", ref);
	fleet_do(
	    "landing", "salvage", "restore", ref, "--branch", "back", NULL);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "show", "back:dirt.txt", NULL), "dirt\n");
	fleet_fails("already", "landing", "salvage", "restore", ref, "--branch",
	    "back", NULL);
	fleet_fails("salvage list", "landing", "salvage", "show", "nope", NULL);
	e2e_expect(e2e_llmc(fleet_root(), "landing", "salvage", "burn", NULL),
	    2, "restore");
}

TEST(waiting_ends)
{
	struct json_object *json;
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	json = e2e_json(e2e_llmc(fleet_root(), "--json", "wait", "adam",
			    "--until", "error,idle", NULL),
	    0);
	ck_assert_str_eq(member(json, "status"), "idle");
	json = e2e_json(e2e_llmc(fleet_root(), "--json", "wait", "adam",
			    "--until", "error", "--timeout", "50ms", NULL),
	    1);
	ck_assert(!json_bool_or(json, "reached", true));
	fleet_fails(
	    "no worker nobody", "wait", "nobody", "--until", "idle", NULL);
	e2e_expect(
	    e2e_llmc(fleet_root(), "wait", "adam", "--until", "idel", NULL), 2,
	    "did you mean \"idle\"?");
	run = e2e_sh(fleet_root(),
	    "\"$LLMC\" wait adam --until error --timeout 30s & "
	    "\"$LLMC\" nuke adam --yes >/dev/null; wait $!");
	e2e_expect(run, 1, "adam has been removed");
}

TEST(the_log_is_shown_and_followed)
{
	struct json_object *json;
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_add("eve");
	json = json_of(0, "log daemon", "--worker", "eve");
	ck_assert_uint_ge(json_object_array_length(json), 2);
	run = fleet_do("log", "daemon", "--worker", "adam", "-n", "1", NULL);
	e2e_has(run->out, " INFO  worker changes");
	e2e_has(run->out, "to=idle");
	ck_assert_ptr_eq(strchr(run->out, '\n'), strrchr(run->out, '\n'));
	run = e2e_llmc(fleet_root(), "log", "daemon", "--level", "error", NULL);
	e2e_expect(run, 0, "no matching records");
	e2e_expect(
	    e2e_llmc(fleet_root(), "log", "daemon", "--level", "loud", NULL), 2,
	    "no such level");
	e2e_expect(e2e_llmc(fleet_root(), "log", "daemon", "-n", NULL), 2,
	    "--lines needs a value: N");
	e2e_expect(e2e_llmc(fleet_root(), "log", "daemon", "-nx", NULL), 2,
	    "--lines takes a number");
	e2e_expect(e2e_llmc(fleet_root(), "log", "daemon", "-q", NULL), 2,
	    "-q: no such option");
	/* It ends when nobody reads any more. */
	run = e2e_sh(fleet_root(),
	    "( until grep -q to=offline seen 2>/dev/null; do "
	    "\"$LLMC\" reset eve --yes >/dev/null; done ) & "
	    "\"$LLMC\" log daemon -f --worker eve -n0 | "
	    "sed -u /to=offline/q | tee seen; wait");
	e2e_has(run->out, "to=offline");
	/* Although nothing more happens. */
	e2e_expect(
	    e2e_sh(fleet_root(),
		"for log in 'log daemon' log; do timeout 20 sh -c "
		"\"\\\"\\$LLMC\\\" $log -f -n1 | head -n 1\" || exit; done"),
	    0, NULL);
}

TEST(a_client_can_be_nested_in_another_tmux)
{
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	e2e_env("TMUX=/nowhere/other,1,0");
	fleet_fails("add --nested", "attach", "adam", NULL);
	run = on_terminal("n\\n", "attach adam");
	e2e_has(run->out, "Attach inside of it?");
	e2e_has(run->out, "Ctrl-b Ctrl-b d");
	e2e_has(run->out, "nothing was done");
	e2e_env("TMUX");
	/* The client of a pane in a server of our own. */
	run = e2e_sh(fleet_root(),
	    "ours=$(\"$LLMC\" config get tmux.socket)\n"
	    "tmux -L \"$ours-outer\" -f /dev/null new-session -d -x 80 -y 24 "
	    "\"'$LLMC' attach adam --nested\"\n"
	    "for i in $(seq 1000); do\n"
	    "  found=$(tmux -L \"$ours\" list-clients -F '#{session_name}')\n"
	    "  [ -z \"$found\" ] || break; sleep 0.02\n"
	    "done\n"
	    "echo \"client of $found\"\n"
	    "tmux -L \"$ours-outer\" kill-server");
	e2e_has(run->out, "client of llmc-adam\n");
}

TEST_IN(begin_adam, a_screen_is_peeked_at)
{
	struct json_object *json, *lines;

	fleet_start("adam", "fake: say hello from the screen");
	fleet_wait("adam", "no_changes");
	json = json_of(0, "peek", "--lines", "100");
	ck_assert_str_eq(member(json, "worker"), "adam");
	e2e_has(fleet_do("peek", "adam", "--lines", "100", NULL)->out,
	    "hello from the screen");
	json = json_of(0, "peek", "--lines", "2");
	lines = json_object_object_get(json, "lines");
	ck_assert_uint_eq(json_object_array_length(lines), 2);
	e2e_expect(
	    e2e_llmc(fleet_root(), "peek", "--lines", "0", NULL), 2, "from 1");
}

TEST(status_tells_how_to_look_inside)
{
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	/* Its hook may report the start before tmux reports the pane. */
	e2e_expect(e2e_sh(fleet_root(),
		       "for i in $(seq 100); do \"$LLMC\" status | "
		       "grep -q attach && exit; sleep 0.1; done; exit 1"),
	    0, NULL);
	run = fleet_do("status", NULL);
	e2e_has(run->out, "running  pid ");
	e2e_has(run->out, "attach -t '=llmc-adam'\n");
	json_of(0, "status", NULL, NULL);
	fleet_do("down", NULL);
	e2e_lacks(fleet_do("status", NULL)->out, "attach -t");
}

/* What a killed daemon has left is not what happens. */
TEST(status_shows_nobody_working_without_a_daemon)
{
	struct json_object *json, *workers;
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: sleep 60000");
	fleet_wait("adam", "working");
	e2e_has(fleet_do("status", NULL)->out, "1 worker: 1 working\n");
	fleet_kill(fleet_daemon_pid());
	run = fleet_do("status", NULL);
	e2e_has(run->out, "1 worker: 1 offline\n");
	e2e_has(run->out, "adam: was working when the daemon ended\n");
	json = json_of(0, "status", NULL, NULL);
	workers = json_object_object_get(json, "workers");
	ck_assert_str_eq(
	    member(json_object_array_get_idx(workers, 0), "status"), "offline");
	fleet_up();
	fleet_wait("adam", "working");
	/* Goals are begun or ended with the daemon; a limit is not. */
	e2e_has(fleet_do("config", "set", "plan.enabled", "true", NULL)->out,
	    "after a restart: llmc down, then llmc up --detach\n");
	e2e_has(fleet_do("config", "set", "auto.max_turns", "50", NULL)->out,
	    "no restart is needed");
}

void
unit_before(void)
{
	fleet_begin();
}
