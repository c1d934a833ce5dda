/* SPDX-License-Identifier: ISC */

/* What a process inside a worker's session may not do, whatever it says it is:
 * real daemon, real tmux, commands that the agent runs. Each is proved beside a
 * person, who may. */
#include "fleet.h"
#include "orphans.h"
#include "workspace.h"

/* Without what a session is told about itself. */
#define STRANGER "env -u LLMC_AGENT -u LLMC_WORKER -u LLMC_ROOT "

static int outputs;

/* Run this in the session of a worker that is idle; what it prints. */
static const char *
run_inside(const char *worker, const char *command)
{
	const char *out = e2e_path("%s.out%d", fleet_root(), outputs++);

	fleet_start(worker,
	    e2e_path("fake: run cd '%s' && { %s; } >'%s' 2>&1; "
		     "echo status $? >>'%s'\n",
		fleet_root(), command, out, out));
	fleet_wait(worker, "no_changes");
	return e2e_read(out);
}

static void
rest(const char *worker)
{
	fleet_do("reset", worker, "--yes", NULL);
	fleet_wait(worker, "idle");
}

/* The same, and it is idle again. */
static const char *
inside(const char *worker, const char *command)
{
	const char *out = run_inside(worker, command);

	rest(worker);
	return out;
}

static const char *
llmc(const char *prefix, const char *words)
{
	return e2e_path("%s'%s' %s", prefix, e2e_llmc_path(), words);
}

const int unit_timeout = 120; /* seconds, each */

TEST(agents_are_not_people_by_leaving_out_a_variable)
{
	static const char *const refused[] = { "accept adam --force",
		"config set auto.check_command true",
		"config unset auto.check_command", "init", "down",
		"nuke adam --yes", "reset adam --yes", "overseer",
		"doctor --repair --yes", "attach console" };
	const char *out;

	e2e_skip_sandboxed("its box has neither this repository nor autod");
	fleet_add("adam");
	fleet_do("config", "set", "auto.check_command", "false", NULL);
	for (size_t i = 0; i < nitems(refused); i++) {
		out = inside("adam", llmc(STRANGER, refused[i]));
		e2e_has(out, "this is a worker's session");
		e2e_has(out, "status 1");
	}
	/* Nor by being the one who repairs. */
	out = inside("adam", llmc("env LLMC_WORKER=overseer ", "reset adam"));
	e2e_has(out, "this is a worker's session");
	e2e_has(fleet_do("config", "get", "auto.check_command", NULL)->out,
	    "false");
	/* A person is not refused. */
	fleet_do("config", "set", "auto.check_command", "true", NULL);
}

/* The daemon itself refuses: the command does not ask whose it is. */
TEST(daemon_asks_the_kernel)
{
	const char *out;

	e2e_skip_sandboxed("its box has neither this repository nor autod");
	fleet_add("adam");
	out = inside("adam", llmc(STRANGER, "task add 'at the people'"));
	e2e_has(out, "task.add is refused: this is the session of adam");
	e2e_has(out, "a person can, in a terminal outside of it");
	e2e_lacks(fleet_do("task", "list", NULL)->out, "at the people");
	/* At its own socket it has its own tools. */
	out = inside("adam", llmc("", "task add 'at its own'"));
	e2e_has(out, "status 0");
	e2e_has(fleet_do("task", "list", NULL)->out, "at its own");
	/* Reading is for all. */
	e2e_has(inside("adam", llmc(STRANGER, "landing")), "status 0");
	fleet_do("task", "add", "by a person", NULL);
}

static const char *
forged(const char *socket, const char *event, const char *worker)
{
	int64_t generation = json_int_or(fleet_worker(worker), "generation", 0);

	return e2e_path("echo '{}' | " STRANGER
			"'%s' hook %s --worker %s --generation %lld "
			"--socket '%s/.llmc/%s'",
	    e2e_llmc_path(), event, worker, (long long)generation, fleet_root(),
	    socket);
}

TEST(agents_report_for_themselves_only)
{
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("eve", "fake: hang\n");
	fleet_wait("eve", "working");
	inside("adam", forged("run/eve/sock", "Stop", "eve"));
	ck_assert_str_eq(fleet_status("eve"), "working");
	inside("adam", forged("run/adam/sock", "Stop", "eve"));
	ck_assert_str_eq(fleet_status("eve"), "working");
	inside("adam", forged("autod.sock", "Stop", "eve"));
	ck_assert_str_eq(fleet_status("eve"), "working");
	/* The same from a process of no session, at the people's socket. */
	e2e_expect(
	    e2e_sh(fleet_root(), forged("autod.sock", "Stop", "eve")), 0, NULL);
	ck_assert_str_eq(fleet_status("eve"), "working");
	/* The event would have ended its turn: at its socket, and by a process
	 * that is not another session's, it does. */
	e2e_expect(e2e_sh(fleet_root(), forged("run/eve/sock", "Stop", "eve")),
	    0, NULL);
	fleet_wait("eve", "no_changes");
}

#define ID "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

/* What the daemon reads as the conversation of adam after its session said
 * this. */
static const char *
transcript_after(const char *path)
{
	int64_t generation = json_int_or(fleet_worker("adam"), "generation", 0);
	const char *command = e2e_path(
	    "echo '{\"source\":\"clear\",\"session_id\":\"" ID
	    "\",\"transcript_path\":\"%s\"}' | '%s' hook SessionStart --worker "
	    "adam --generation %lld --socket '%s/.llmc/run/adam/sock'",
	    path, e2e_llmc_path(), (long long)generation, fleet_root());

	run_inside("adam", command);
	return json_string_or(fleet_worker("adam"), "transcript", "");
}

TEST(agents_cannot_have_a_file_read)
{
	const char *projects, *link, *own;

	fleet_add("adam");
	projects = json_string_or(fleet_worker("adam"), "projects", "");
	link = e2e_path("%s.elsewhere/" ID ".jsonl", fleet_root());
	e2e_lacks(transcript_after("/etc/passwd"), "passwd");
	rest("adam");
	e2e_lacks(transcript_after(link), ID);
	rest("adam");
	e2e_lacks(
	    transcript_after(e2e_path("%s/p/../../../" ID ".jsonl", projects)),
	    ID);
	rest("adam");
	/* That is one that Claude Code could have written. */
	own = e2e_path("%s/p/" ID ".jsonl", projects);
	ck_assert_str_eq(transcript_after(own), own);
}

static void
wait_for_file(const char *path, const char *words)
{
	while (!e2e_exists(path) || strstr(e2e_read(path), words) == NULL) {
		ck_assert_msg(!unit_is_late(), "no %s", path);
		poll(NULL, 0, 20); /* a file of another program */
	}
}

static const char *
autod(void)
{
	const char *path = e2e_llmc_path();

	return e2e_path(
	    "%.*s/../autod/autod", (int)(strrchr(path, '/') - path), path);
}

TEST(nor_while_no_daemon_runs)
{
	const char *out = e2e_path("%s.out", fleet_root());
	const char *go = e2e_path("%s.go", fleet_root());
	const char *request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			      "\"worker.nuke\",\"params\":{\"worker\":"
			      "\"adam\"}}";

	e2e_skip_sandboxed("its box has neither this repository nor autod");
	fleet_add("adam");
	e2e_write(e2e_path("%s.request", fleet_root()), request);
	fleet_start("adam",
	    e2e_path("fake: run while [ ! -e '%s' ]; do sleep 0.05; done; "
		     "{ " STRANGER "'%s' nuke adam --yes; " STRANGER
		     "'%s' --root '%s' --oneshot <'%s.request'; " STRANGER
		     "'%s' --root '%s'; "
		     "} >'%s' 2>&1; echo over >>'%s'\n",
		go, e2e_llmc_path(), autod(), fleet_root(), fleet_root(),
		autod(), fleet_root(), out, out));
	fleet_wait("adam", "working");
	fleet_kill(fleet_daemon_pid());
	e2e_write(go, "");
	wait_for_file(out, "over");
	e2e_has(e2e_read(out), "agents may not run llmc nuke");
	e2e_has(e2e_read(out),
	    "worker.nuke is refused: this is the session of adam");
	e2e_has(e2e_read(out),
	    "agents may not start autod; this is the session of adam");
	fleet_up();
	fleet_wait("adam", "working,no_changes");
}

/* What a worker has written runs there, below the daemon. */
TEST(nor_in_a_setup_command)
{
	const char *out = e2e_path("%s.out", fleet_root());

	e2e_skip_sandboxed("its box has no socket of the daemon");
	fleet_do("config", "set", "repo.setup_command",
	    e2e_path("{ '%s' config set auto.check_command true; "
		     "env -i '%s' pause; echo over; } >'%s' 2>&1",
		e2e_llmc_path(), e2e_llmc_path(), out),
	    NULL);
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt a\n");
	fleet_wait("adam", "needs_review");
	e2e_has(e2e_read(out), "agents may not change settings");
	e2e_has(e2e_read(out), "agents may not run llmc pause");
	e2e_has(e2e_read(out), "over");
}

/* In the foreground too: a shell there would put it into the background. */
TEST(no_daemon_is_left_in_a_console)
{
	const struct workspace workspace = {
		.root = (char *)(uintptr_t)fleet_root()
	};
	cleanup_free char *mark = orphans_mark(&workspace, "console1");

	e2e_expect(e2e_sh(fleet_root(),
		       "LLMC_KEEPER=another/console1 \"$LLMC\" up --detach"),
	    1, "a daemon is already running");
	fleet_do("down", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("LLMC_KEEPER=%s \"$LLMC\" up --detach", mark)),
	    1, "the daemon would end with this console, console1");
	e2e_expect(
	    e2e_sh(fleet_root(), e2e_path("LLMC_KEEPER=%s \"$LLMC\" up", mark)),
	    1, "type in a terminal outside of it: llmc up --detach");
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("LLMC_KEEPER=%s \"$LLMC\" overseer", mark)),
	    1, "the overseer would end with this console");
	fleet_up();
}

/* Started in a console of another repository, which ends what is its own. */
TEST(what_a_daemon_starts_is_not_the_consoles)
{
	const char *out = e2e_path("%s.out", fleet_root());

	fleet_do("config", "set", "repo.setup_command",
	    e2e_path("echo \"[$LLMC_KEEPER]\" >'%s'", out), NULL);
	fleet_do("down", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "LLMC_KEEPER=another/console1 \"$LLMC\" up --detach"),
	    0, NULL);
	fleet_add("adam");
	fleet_wait("adam", "idle");
	ck_assert_str_eq(e2e_read(out), "[]\n");
}

/* As on the host of a container in which the daemon runs. All of it ends with
 * the first process in there. */
TEST(a_person_outside_of_the_daemons_container_is_told_so)
{
	const char *dir = e2e_workspace("contained");
	struct e2e_run *run;

	if (e2e_sh(NULL, "unshare -pf --mount-proc true")->status != 0)
		unit_skip("no pid namespace can be made here");
	run = e2e_sh(dir,
	    "mkfifo ready && exec 3<>ready\n"
	    "unshare -pf --kill-child --mount-proc sh -c '\"$LLMC\" up "
	    "--detach >ready 2>&1; exec tail -f /dev/null' 2>/dev/null 3>&- &\n"
	    "first=$!; read line <&3; echo \"$line\"\n"
	    "inside=$(cat /proc/$first/task/$first/children)\n"
	    "\"$LLMC\" pause 2>&1; echo \"status $?\"\n"
	    "nsenter -t $inside -p -m --wd=\"$PWD\" \"$LLMC\" pause 2>&1\n"
	    "echo \"status $?\"; exec 2>/dev/null\n"
	    "kill -KILL $inside; wait $first; true\n");
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "The daemon is running");
	e2e_has(run->out,
	    "the daemon runs in a pid namespace that you are not "
	    "in, such as a container");
	e2e_has(run->out, "status 1\n");
	e2e_has(run->out, "status 0\n");
}

/* Removed and replaced sockets are bound again; a worker's goes with it. */
TEST(sockets_come_back_and_go)
{
	const char *dir = e2e_path("%s/.llmc/run/adam", fleet_root());

	e2e_skip_sandboxed(
	    "a box keeps the folder that was there at its start");
	fleet_add("adam");
	e2e_expect(e2e_sh(fleet_root(),
		       "[ \"$(stat -c %a .llmc/run/adam)\" = 700 ] && "
		       "rm -r .llmc/run/adam"),
	    0, NULL);
	while (!e2e_exists(e2e_path("%s/sock", dir))) {
		ck_assert(!unit_is_late());
		poll(NULL, 0, 20); /* a file of another program */
	}
	fleet_start("adam", "fake: commit a.txt a\n");
	fleet_wait("adam", "needs_review");
	fleet_do("nuke", "adam", "--yes", NULL);
	ck_assert(!e2e_exists(dir));
}

void
unit_before(void)
{
	fleet_begin();
	fleet_up();
}
