/* SPDX-License-Identifier: ISC */

/* What new worktrees need besides git: files, a command, Serena. */
#include <netinet/in.h>
#include <sys/socket.h>

#include "autorun.h"

static const char *stub; /* a program that listens */

void
unit_before(void)
{
	stub = getenv("LLMC_STUB_API"); /* the environment is cleared */
	fleet_begin();
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
	    "your checkout of main: .gitignore; work that touches";
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

static const char *
shown(const char *worker)
{
	return e2e_llmc(fleet_root(), "status", worker, NULL)->out;
}

/* The same port and the same name in three workers at once would collide. */
TEST(workers_have_places_of_their_own)
{
	const char *all;

	auto_set("auto.concurrency", "3");
	auto_set("repo.port_base", "26000");
	auto_set("auto.check_command",
	    "echo check $LLMC_WORKER $LLMC_INDEX $LLMC_PORT $DB "
	    ">>\"$FLEET/all\"; test -d \"$LLMC_TMPDIR\" && test ! -e "
	    "\"$LLMC_TMPDIR/seen-$LLMC_CHECK_SLOT\" && touch "
	    "\"$LLMC_TMPDIR/seen-$LLMC_CHECK_SLOT\" || test -z "
	    "\"$LLMC_CHECK_SLOT\"");
	auto_set("repo.setup_command",
	    "echo setup $LLMC_WORKER $LLMC_INDEX >>\"$FLEET/all\"");
	fleet_do("config", "set", "defaults.env",
	    "[\"FAKE_CLAUDE_LOG\", \"FLEET\", \"DB=app_{index}\"]", NULL);
	for (int i = 0; i < 3; i++)
		auto_task(e2e_path("%d.md", i),
		    "fake: run echo $LLMC_WORKER $LLMC_INDEX $LLMC_PORT $DB "
		    ">>\"$FLEET/all\"; (setsid '%s' --port "
		    "$LLMC_PORT &) >/dev/null 2>&1; n=0; until curl -s "
		    "127.0.0.1:$LLMC_PORT >/dev/null || [ $n -ge 6000 ]; do "
		    "n=$((n + 1)); sleep 0.05; done; "
		    "touch \"$FLEET/at-$LLMC_INDEX\"; n=0; while [ $(ls "
		    "\"$FLEET\"/at-* | wc -l) -lt 3 ] && [ $n -lt 6000 ]; do "
		    "n=$((n + 1)); sleep 0.05; done\nfake: commit %d.txt x",
		    stub, i);
	auto_up(NULL);
	auto_wait_finished("landed", 3);
	all = e2e_read(e2e_path("%s/all", unit_scratch()));
	for (int i = 1; i <= 3; i++) {
		int port = 26000 + 20 * i;

		e2e_has(all, e2e_path("setup auto-%d %d\n", i, i));
		e2e_has(
		    all, e2e_path("\nauto-%d %d %d app_%d\n", i, i, port, i));
		e2e_has(all,
		    e2e_path("check auto-%d %d %d app_%d\n", i, i, port, i));
		/* In a session of its own, and still that of the worker. */
		e2e_has(shown(e2e_path("auto-%d", i)),
		    e2e_path("listens on %d", port));
	}
	e2e_has(all, "check check-1 201 30020 app_201\n");
	/* The number stays, and is free again when its worker is gone. */
	auto_drain();
	auto_no_complaints();
	fleet_do("nuke", "auto-2", "--yes", NULL);
	ck_assert(!file_exists(e2e_path("%s/.llmc/tmp/2", fleet_root())));
	ck_assert(file_exists(e2e_path("%s/.llmc/tmp/3", fleet_root())));
	fleet_do("add", "ann", NULL);
	auto_up(NULL);
	fleet_wait("auto-3", "idle");
	e2e_has(shown("auto-3"), "26060");
	e2e_has(shown("ann"), "26040");
	ck_assert_ptr_null(strstr(shown("auto-3"), "listens on"));
	auto_drain();
}

/* Once in each worktree and slot, not once for each task. */
TEST(a_lock_file_that_changes_sets_all_up_again)
{
	auto_set("auto.concurrency", "2");
	auto_set("auto.check_command", "cmp lock build/lock");
	auto_set("repo.setup_command",
	    "pwd >>\"$FLEET/setups\"; mkdir -p build; cp lock build/lock");
	fleet_do("config", "set", "repo.setup_when", "[\"lock\"]", NULL);
	e2e_write(e2e_path("%s/lock", fleet_root()), "1\n");
	e2e_git(fleet_root(), "add", "lock", NULL);
	e2e_git(fleet_root(), "commit", "-q", "-m", "Lock", NULL);
	auto_task("a.md", "fake: commit a.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	fleet_wait("auto-1", "idle");
	fleet_wait("auto-2", "idle");
	ck_assert_int_eq(setups(), 2);
	/* The agent changes it: its own worktree follows before it is checked,
	 * the other one when it begins. */
	auto_task("b.md",
	    "fake: run echo 2 >lock; git commit -qam 'Lock 2'; cp lock "
	    "build/lock");
	auto_wait_finished("landed", 2);
	for (int i = 0; i < 4; i++)
		auto_task(e2e_path("c%d.md", i),
		    "fake: run cmp lock build/lock && sleep 0.3\nfake: commit "
		    "c%d.txt x",
		    i);
	auto_wait_finished("landed", 6);
	auto_drain();
	auto_no_complaints();
	for (int i = 1; i <= 2; i++)
		e2e_expect(
		    e2e_sh(NULL,
			e2e_path("test $(grep -c auto-%d$ \"$FLEET/setups\") "
				 "-eq 2",
			    i)),
		    0, NULL);
}

/* It is removed all the same. */
TEST(what_a_worker_made_is_torn_down)
{
	struct e2e_run *run;

	auto_set("repo.teardown_command",
	    "echo $LLMC_WORKER $LLMC_INDEX >\"$FLEET/gone\"; exit 3");
	fleet_up();
	fleet_add("ann");
	run = e2e_llmc(fleet_root(), "nuke", "ann", "--yes", NULL);
	e2e_expect(run, 0, "ann: repo.teardown_command exited with status 3");
	e2e_has(run->out, "Removed ann");
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/gone", unit_scratch())), "ann 1\n");
	ck_assert(!file_exists(fleet_worktree("ann")));
}

TEST(a_port_that_another_program_has_is_shown)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(27025),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* If it cannot be had, another program has it. */
	if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
		ck_assert_int_eq(listen(fd, 1), 0);
	auto_set("repo.port_base", "27000");
	fleet_up();
	fleet_add("ann");
	fleet_wait("ann", "idle");
	e2e_has(shown("ann"), "port 27025 is used by another program");
	ck_assert_int_eq(auto_logged("autod.log", "listens on port 27025"), 1);
}

static const char *
asks(void)
{
	return e2e_llmc(fleet_root(), "asks", NULL)->out;
}

/* One ask for all, and all go on when it works for one. */
TEST(a_setup_that_works_for_one_is_tried_by_all)
{
	auto_set("repo.setup_command", "test -e \"$FLEET/ok\"");
	fleet_up();
	fleet_do("add", "ann", NULL);
	fleet_wait("ann", "error");
	fleet_do("add", "bob", NULL);
	fleet_wait("bob", "error");
	e2e_has(asks(), "ann and 1 more: repo.setup_command");
	e2e_write(e2e_path("%s/ok", unit_scratch()), "");
	fleet_add("cyd");
	fleet_wait("ann", "idle");
	fleet_wait("bob", "idle");
	e2e_lacks(asks(), "repo.setup_command");
}
