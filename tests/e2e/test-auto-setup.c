/* SPDX-License-Identifier: ISC */

/* What new worktrees need besides git: files, a command, Serena. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
	e2e_write(e2e_path("%s/.gitignore", fleet_root()), "/.env\n/build\n");
	e2e_git(fleet_root(), "add", ".gitignore", NULL);
	e2e_git(fleet_root(), "commit", "-q", "-m", "Ignore", NULL);
}

static void
run_to_the_end(void)
{
	int status = auto_run("--until-empty", NULL);

	ck_assert_msg(
	    status == 0, "status %d: %s", status, e2e_shown(auto_output()));
}

const int unit_timeout = 120; /* seconds, each */

TEST(files_that_git_does_not_keep_are_there)
{
	e2e_write(e2e_path("%s/.env", fleet_root()), "secret\n");
	fleet_do("config", "set", "repo.copy_files", "[\".env\", \"nowhere\"]",
	    NULL);
	for (int i = 0; i < 2; i++)
		auto_task(e2e_path("%d.md", i),
		    "fake: run cat .env >%d.txt && git add %d.txt && git "
		    "commit -q -m 'Env %d'",
		    i, i, i);
	run_to_the_end();
	auto_no_complaints();
	auto_history("Env 0", "Env 1", NULL);
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(
		    e2e_read(e2e_path("%s/%d.txt", fleet_root(), i)),
		    "secret\n");
	ck_assert_str_eq(e2e_git(fleet_root(), "ls-files", ".env", NULL), "");
}

static int
setups(void)
{
	const char *text = e2e_read(e2e_path("%s/setups", unit_scratch()));
	int count = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		count++;
	return count;
}

TEST(a_worktree_is_set_up_once)
{
	auto_set("repo.setup_command",
	    "pwd >>\"$FLEET/setups\"; mkdir -p build; echo tools >build/tools");
	for (int i = 0; i < 2; i++)
		auto_task(e2e_path("%d.md", i),
		    "fake: run grep -q tools build/tools && echo x >%d.txt && "
		    "git add . && git commit -q -m 'Built %d'",
		    i, i);
	run_to_the_end();
	auto_no_complaints();
	auto_history("Built 0", "Built 1", NULL);
	ck_assert_int_eq(setups(), 1);
	e2e_has(e2e_read(e2e_path("%s/setups", unit_scratch())),
	    ".worktrees/auto-1");
	/* Not by the next daemon either, but in another worktree. */
	run_to_the_end();
	ck_assert_int_eq(setups(), 1);
	fleet_do("nuke", "auto-1", "--yes", NULL);
	auto_up(NULL);
	fleet_wait("auto-1", "idle");
	ck_assert_int_eq(setups(), 2);
	auto_drain();
}

TEST(a_setup_that_fails_stops_the_run)
{
	struct json_object *failure;

	auto_set("repo.setup_command", "echo no compiler here >&2; exit 4");
	auto_task("a.md", "fake: commit a.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("worker_error", "no compiler here");
	failure = auto_failure();
	ck_assert_str_eq(auto_member(failure, "worker"), "auto-1");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 0);
	ck_assert_str_eq(auto_folder("todo"), "a.md\n");
	auto_set("repo.setup_command", "true");
	run_to_the_end();
	auto_history("a.txt: x", NULL);
}

TEST(serena_has_a_project_for_each_worktree)
{
	const char *folder = e2e_path("%s/.serena", getenv("HOME"));
	const char *list = e2e_path("%s/serena_config.yml", folder);
	const char *text;

	e2e_expect(e2e_sh(NULL, e2e_path("mkdir -p '%s'", folder)), 0, NULL);
	e2e_write(list, "# mine\nprojects:\n- /elsewhere\n");
	auto_set("repo.setup_command",
	    e2e_path("'%s'", e2e_source("contrib/serena-setup.sh")));
	auto_set("auto.concurrency", "2");
	for (int i = 0; i < 2; i++)
		auto_task(e2e_path("%d.md", i),
		    "fake: run cp .serena/project.yml %d.yml && git add -A && "
		    "git commit -q -m 'Project %d'",
		    i, i);
	auto_up(NULL);
	fleet_wait("auto-2", "idle,starting,working");
	auto_wait_finished("landed", 2);
	auto_drain();
	auto_no_complaints();
	text = e2e_read(list);
	e2e_has(text, "# mine\n");
	e2e_has(text, "- /elsewhere\n");
	e2e_has(text, ".worktrees/auto-1");
	e2e_has(text, ".worktrees/auto-2");
	e2e_has(e2e_read(e2e_path(
		    "%s/.serena/project.yml", fleet_worktree("auto-2"))),
	    "llmc-auto-2-"); /* and the repository */
	/* It has its own, which git ignores. */
	e2e_has(e2e_read(e2e_path("%s/0.yml", fleet_root())), "llmc-auto-");
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "ls-files", ".serena", NULL), "");
}

/* It starts all the same. */
TEST(the_start_tells_of_a_dirty_checkout)
{
	static const char hint[] =
	    "your checkout of main: .gitignore; no work lands";
	struct e2e_run *run;

	run_to_the_end();
	e2e_lacks(auto_output(), "your checkout");
	e2e_write(e2e_path("%s/.gitignore", fleet_root()), "/mine\n");
	run_to_the_end();
	e2e_has(auto_output(), hint);
	run = e2e_llmc(fleet_root(), "up", "--auto", "--detach", NULL);
	e2e_expect(run, 0, hint);
	e2e_lacks(run->out, "your checkout");
	fleet_do("down", NULL);
	run =
	    e2e_llmc(fleet_root(), "--json", "up", "--auto", "--detach", NULL);
	ck_assert_str_eq(run->err, "");
	/* Only auto mode lands by itself. */
	fleet_do("down", NULL);
	run = e2e_llmc(fleet_root(), "up", "--detach", NULL);
	e2e_expect(run, 0, NULL);
	e2e_lacks(run->err, "your checkout");
}

/* Neither by its own environment nor by that of tmux, nor through what it
 * wrote and a check runs. */
TEST(nothing_secret_of_the_daemon_reaches_a_worker)
{
	const char *of[] = { "agent", "tmux", "check" };
	const char *doctor;

	e2e_env("FORGE_TOKEN=hidden-one");
	e2e_env("LLMC_FORGE_TOKEN=hidden-two");
	auto_set("auto.check_command", "env >\"$FLEET/check.env\"");
	auto_task("1.md",
	    "fake: run env >\"$FLEET/agent.env\"; { tmux show-environment -g; "
	    "tmux show-environment; } >\"$FLEET/tmux.env\"; echo x >1.txt && "
	    "git add . && git commit -q -m 'Looked'");
	run_to_the_end();
	auto_history("Looked", NULL);
	for (size_t i = 0; i < nitems(of); i++) {
		const char *env =
		    e2e_read(e2e_path("%s/%s.env", unit_scratch(), of[i]));

		e2e_lacks(env, "hidden-");
		if (strcmp(of[i], "tmux") != 0 ||
		    strcmp(e2e_sandbox(), "off") == 0)
			e2e_has(env, "PATH=");
	}
	doctor = e2e_llmc(fleet_root(), "doctor", NULL)->out;
	e2e_has(doctor, "FORGE_TOKEN, LLMC_FORGE_TOKEN");
	e2e_lacks(doctor, "hidden-");
}
