/* SPDX-License-Identifier: ISC */

/*
 * How a run of the overseer ends, and how the next one begins: which end of the
 * daemon is an end, what Ctrl-C leaves behind (nothing), who is told, and what
 * a later overseer remembers.
 */
#include "overrun.h"

/* The tmux server has ended, with all that it kept. */
static void
no_server(void)
{
	auto_wait_shell("! tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
			"list-sessions 2>/dev/null");
}

/* The only record of a remediation. */
static const char *
record(void)
{
	struct e2e_run *run = e2e_sh(fleet_root(),
	    "set -- .llmc/logs/remediation_*.txt; echo $#; cat \"$1\"");

	ck_assert_msg(run->status == 0 && strncmp(run->out, "1\n", 2) == 0,
	    "%s", e2e_shown(run->out));
	return run->out + 2;
}

static void
has(const char *text, const char *words)
{
	ck_assert_msg(text != NULL && strstr(text, words) != NULL,
	    "no \"%s\" in: %.1000s", words,
	    text != NULL ? e2e_shown(text) : "nothing");
}

/* A worker is in a turn, with a file that it has not committed. */
static int
work_begun(void)
{
	auto_task("a.md", "A\nfake: run echo half >half.txt\nfake: run %s",
	    auto_gate("work"));
	over_start();
	over_daemon(0);
	auto_wait_gate("work");
	return fleet_agent_pid("auto-1");
}

static void
work_is_kept(int agent)
{
	ck_assert(!over_alive(agent));
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/half.txt", fleet_worktree("auto-1"))),
	    "half\n");
	no_server();
}

/* --- what a repair may do ---------------------------------------------- */

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

/* It is the repair session by its process, not by what it says of itself. */
TEST(who_repairs_may_reset_but_not_land)
{
	const char *out = e2e_path("%s.repair", fleet_root());
	const char *stranger = "env -u LLMC_AGENT -u LLMC_WORKER -u LLMC_ROOT";
	int daemon;

	over_remedy(0,
	    "fake: run cd '%s'; { llmc doctor --repair --yes >/dev/null; echo doctor $?; "
	    "llmc reset auto-1 --yes; echo reset $?; %s llmc reset auto-1 "
	    "--yes; echo again $?; llmc config set auto.max_turns 7; echo set "
	    "$?; %s llmc accept auto-1 --force; echo accept $?; } >'%s' 2>&1",
	    fleet_root(), stranger, stranger, out);
	over_start();
	daemon = over_daemon(0);
	fleet_wait("auto-1", "idle");
	over_complain(daemon);
	ck_assert(over_recovers(0, OVER_COMPLAINT, daemon));
	has(e2e_read(out), "\nreset 0\n");
	has(e2e_read(out), "\nagain 0\n");
	has(e2e_read(out), "set 0\n");
	has(e2e_read(out), "agents may not run llmc accept");
	has(e2e_read(out), "accept 1\n");
	over_stop();
}

TEST(complaints_that_nobody_wants_to_know_of_are_no_failure)
{
	int daemon;

	auto_set("overseer.log_failure_level", "never");
	over_start();
	daemon = over_daemon(0);
	over_complain(daemon);
	/* The overseer has read the log again since. */
	auto_task("a.md", "fake: commit a.txt x");
	auto_wait_finished("landed", 1);
	ck_assert_int_eq(over_daemon(0), daemon);
	over_remembers("failure", NULL, 0);
	e2e_lacks(over_output(), OVER_COMPLAINT);
	over_stop();
}

/* --- which end is an end ----------------------------------------------- */

TEST(a_daemon_that_somebody_else_stops_is_a_failure)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	/* What another daemon declared is no excuse. */
	e2e_sh(fleet_root(),
	    "sed 's/\"pid\": *[0-9]*/\"pid\":1/; s/^}/,\"why\":\"x\"}/' "
	    ".llmc/daemon.json >.llmc/ended.json");
	ck_assert_int_eq(kill(daemon, SIGTERM), 0);
	ck_assert(over_recovers(0, "not because of the overseer", daemon));
	over_stop();
	over_remembers("failure", NULL, 1);
	over_remembers("stop", NULL, 1);
}

TEST(down_by_force_ends_it_with_a_record)
{
	int agent = work_begun();

	fleet_do("down", "--force", NULL);
	no_server(); /* not only later: also no dead panes */
	over_ends(OVER_STOPPED, "stopped with llmc down");
	work_is_kept(agent);
	over_remembers("failure", NULL, 0);
	over_remembers("stop", "llmc down", 1);
}

/* The daemon stops the overseer, which sees nothing of it until it is over. */
TEST(an_end_declared_before_it_was_seen_is_no_failed_start)
{
	e2e_script(e2e_path("%s/up.sh", unit_scratch()),
	    "#!/bin/sh\nover=$PPID me=$$\nkill -STOP $over\n"
	    "(until grep -q 'State:.Z' /proc/$me/status; do sleep 0.02; done\n"
	    "kill -CONT $over) >/dev/null 2>&1 &\n"
	    "exec llmc up --auto --until-empty\n");
	auto_set(
	    "overseer.daemon_command", e2e_path("'%s/up.sh'", unit_scratch()));
	auto_task("a.md", "A\nfake: commit work.txt x");
	ck_assert_int_eq(over_run(NULL), OVER_STOPPED);
	e2e_has(over_output(), "The daemon has ended: no task is left.");
	e2e_lacks(over_output(), "Failure");
	over_remembers("failure", NULL, 0);
	ck_assert_int_eq(auto_landed(), 1);
}

/* It was started from a console of another repository. */
TEST(the_daemon_has_the_options_and_nothing_of_the_console)
{
	const char *called = e2e_path("%s/called", unit_scratch());

	e2e_script(e2e_path("%s/up.sh", unit_scratch()),
	    e2e_path("#!/bin/sh\necho \"$* [$LLMC_KEEPER]\" >'%s'\n"
		     "exec llmc up --auto --until-empty \"$@\"\n",
		called));
	auto_set(
	    "overseer.daemon_command", e2e_path("'%s/up.sh'", unit_scratch()));
	ck_assert_int_eq(setenv("LLMC_KEEPER", "another/console1", 1), 0);
	ck_assert_int_eq(over_run("--concurrency", "2", "--post-accept-command",
			     "true", NULL),
	    OVER_STOPPED);
	ck_assert_str_eq(e2e_read(called),
	    "--concurrency 2 --post-accept-command true []\n");
}

/* --- nothing is left behind -------------------------------------------- */

TEST(ctrl_c_during_a_repair_ends_the_sessions_of_a_dead_daemon)
{
	int agent;

	over_remedy(0, "fake: run %s", auto_gate("repair"));
	agent = work_begun();
	over_kill_twice();
	auto_wait_gate("repair");
	ck_assert(over_alive(agent));
	over_signal(SIGINT);
	over_ends(OVER_STOPPED, "⚠ Remediation interrupted");
	e2e_has(over_output(), "Ended 1 session that the daemon had left");
	work_is_kept(agent);
	has(record(), "Outcome: interrupted (");
	over_remembers("remedy", "\"interrupted\"", 1);
	ck_assert_str_eq(over_member("state"), "Terminated");
}

TEST(a_second_ctrl_c_keeps_the_record_and_leaves_no_server)
{
	int agent;

	over_remedy(0, "fake: run touch \"$FLEET/deaf\"\nfake: hang hard");
	agent = work_begun();
	over_kill_twice();
	auto_wait_shell("[ -e \"$FLEET/deaf\" ]");
	over_signal(SIGINT);
	over_wait_says("Press Ctrl-C again");
	over_signal(SIGINT);
	over_ends(130, "⚠ Remediation interrupted");
	work_is_kept(agent);
	e2e_has(
	    record(), "Outcome: interrupted (the overseer was told to stop");
	has(record(), "You repair a test.");
	has(record(), "$FLEET/deaf");
	over_remembers("remedy", "\"interrupted\"", 1);
	ck_assert_str_eq(over_member("exit_status"), "130");
}

TEST(a_second_ctrl_c_ends_a_daemon_that_takes_its_time)
{
	int agent, daemon;

	agent = work_begun();
	daemon = fleet_daemon_pid();
	ck_assert_int_eq(kill(daemon, SIGSTOP), 0);
	over_signal(SIGTERM);
	over_wait_says("Press Ctrl-C again");
	over_signal(SIGINT);
	over_ends(130, "Stopping at once.");
	ck_assert(!over_alive(daemon));
	work_is_kept(agent);
	over_remembers("failure", NULL, 0);
}

TEST(down_without_a_daemon_ends_the_sessions)
{
	int agent = work_begun();
	struct e2e_run *run;

	over_kill9();
	fleet_kill(fleet_daemon_pid());
	ck_assert(over_alive(agent));
	run = fleet_do("down", NULL);
	e2e_has(run->out, "No daemon runs; the 1 session that one had left");
	work_is_kept(agent);
	fleet_fails("llmc overseer", "down", NULL);
}

/* What a person may type while the overseer repairs: each does what it says. */
TEST(up_and_down_during_a_repair)
{
	struct e2e_run *run;

	over_remedy(0, "fake: run %s", auto_gate("repair"));
	over_start();
	over_complain(over_daemon(0));
	auto_wait_gate("repair");
	auto_wait_shell("grep -q Remediating .llmc/overseer.json");
	run = e2e_llmc(fleet_root(), "up", "--detach", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "the overseer repairs the daemon");
	run = e2e_llmc(fleet_root(), "down", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "refused while an overseer runs");
	run = fleet_do("down", "--force", NULL);
	e2e_has(run->out, "the overseer has stopped");
	over_ends(OVER_STOPPED, "Remediation interrupted");
}

TEST(detached_it_returns_when_it_oversees)
{
	struct e2e_run *run =
	    e2e_llmc(fleet_root(), "overseer", "--detach", NULL);
	struct json_object *json;
	int pid;

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "The overseer is running");
	e2e_has(run->out, "Running");
	json = e2e_load(fleet_file("overseer.json"));
	pid = (int)json_int_or(json, "pid", 0);
	json_object_put(json);
	ck_assert(over_alive(pid));
	e2e_has(fleet_do("status", NULL)->out, "Running");
	/* Another one is refused, with its words. */
	run = e2e_llmc(fleet_root(), "overseer", "--detach", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "another overseer is running");
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	while (over_alive(pid) && !unit_is_late())
		poll(NULL, 0, 10); /* it is not our child */
	ck_assert(!over_alive(pid));
	e2e_has(fleet_do("status", NULL)->out, "Terminated");
}

/* --- who is told ------------------------------------------------------- */

TEST(a_person_is_told_why_a_repair_failed)
{
	struct json_object *told;
	const char *file = e2e_path("%s/told.json", unit_scratch()), *why;

	auto_pool("exit 7");
	over_hurry(5);
	auto_set("overseer.remediation_timeout", "10s");
	e2e_notify(fleet_root(),
	    e2e_path("cat >'%s.new'; mv '%s.new' '%s'", file, file, file));
	over_remedy(0, "fake: hang hard");
	over_start();
	over_ends(OVER_UNREPAIRED,
	    "⚠ Remediation issue: it took longer than "
	    "overseer.remediation_timeout");
	e2e_has(over_output(), "then: llmc overseer (no --clear is needed)\n");
	told = e2e_load(file); /* when it has ended, it has told */
	ck_assert_str_eq(auto_member(told, "root"), fleet_root());
	ck_assert_str_eq(
	    auto_member(told, "context.title"), "llmc overseer has stopped");
	why = auto_member(told, "context.reason");
	e2e_has(why, "could not be repaired");
	e2e_has(why, "\nexit status: 5\nfailure: ");
	e2e_has(why, "status 7");
	e2e_has(why, "\nevidence: ");
	ck_assert(e2e_exists(strstr(why, "\nevidence: ") + 11));
	json_object_put(told);
}

/* The daemon is dead by then. */
TEST(a_channel_gets_the_end_of_the_overseer)
{
	const char *config = fleet_file("config.toml");
	const char *file = e2e_path("%s/event", unit_scratch());
	struct json_object *event;

	auto_pool("exit 7");
	over_hurry(5);
	auto_set("overseer.remediation_timeout", "10s");
	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\ntype = \"command\"\n"
		     "command = \"cat >'%s.part'; mv '%s.part' '%s'\"\n"
		     "levels = [\"emergency\"]\n",
		e2e_read(config), file, file, file));
	over_remedy(0, "fake: hang hard");
	over_start();
	over_ends(OVER_UNREPAIRED, NULL);
	auto_wait_shell(e2e_path("test -s '%s'", file));
	event = e2e_load(file);
	ck_assert_str_eq(auto_member(event, "program"), "overseer");
	ck_assert_str_eq(auto_member(event, "level"), "emergency");
	/* No daemon has filed it: it is asked all the same. */
	e2e_has(e2e_llmc(fleet_root(), "asks", "--json", NULL)->out,
	    auto_member(event, "id"));
	json_object_put(event);
}

/* Somebody else writes to the checkout while it is repaired. */
TEST(a_log_that_grows_during_a_repair_is_no_failure)
{
	auto_pool("exit 7");
	auto_set("overseer.remediation_worktree", "false");
	e2e_write(e2e_path("%s/dev.log", fleet_root()), "before\n");
	over_remedy(0,
	    "fake: run echo more >>'%s/dev.log'; printf '#!/bin/sh\\n' "
	    ">'%s/pool.sh'\nfake: commit fix.txt mended",
	    fleet_root(), unit_scratch());
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	e2e_has(over_output(), "has been changed: dev.log; as they were");
	has(record(), "Outcome: completed (the agent finished; and 1 file");
	ck_assert_str_eq(
	    e2e_sh(fleet_root(),
		"git show $(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage/overseer):dev.log")
		->out,
	    "before\n");
}

TEST(the_record_has_all_that_was_said_and_done)
{
	const char *text;

	auto_pool("exit 7");
	over_remedy(0,
	    "GITHUB_TOKEN=ghp_%s\n"
	    "fake: say I look at the pool.\n"
	    "fake: run echo it is $((40 + 2)); printf '#!/bin/sh\\n' "
	    ">'%s/pool.sh'\nfake: commit fix.txt mended",
	    "0123456789abcdefghijklmnopqrstuvwxyz", unit_scratch());
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	e2e_lacks(
	    e2e_llmc(fleet_root(), "doctor", NULL)->out, ".worktrees/overseer");
	text = record();
	has(text, "Failure: failed: ");
	has(text, "Outcome: completed (the fix has landed)");
	has(text, "Duration: ");
	has(text, e2e_path("Where: %s/.worktrees/overseer\n", fleet_root()));
	has(text, "=== Prompt ===\n\n");
	has(text, "You repair a test.");
	has(text, "Seconds since");
	text = strstr(text, "=== Session ===");
	has(text, "I look at the pool.");
	has(text, "echo it is $((40 + 2))"); /* the call */
	has(text, "it is 42"); /* what it printed */
	text = strstr(text, "=== What changed ===");
	has(text, "+mended");
	ck_assert_ptr_null(strstr(record(), "ghp_0123"));
}

TEST(each_session_of_a_repair_is_in_its_record)
{
	auto_pool("exit 7");
	over_remedy(0,
	    "fake: say I begin.\n"
	    "fake: run [ -e '%s/once' ] || { touch '%s/once'; kill -9 $PPID; "
	    "}\nfake: run printf '#!/bin/sh\\n' >'%s/pool.sh'",
	    unit_scratch(), unit_scratch(), unit_scratch());
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	has(record(), "=== Session 1 of 2 ===");
	has(strstr(record(), "=== Session 1 of 2 ==="), "I begin.");
	has(strstr(record(), "=== Session 2 of 2 ==="), "I begin.");
}

/* Returns the daemon whose end is followed by a pause. */
static int
kill_until_it_waits(void)
{
	int daemon = 0;

	auto_set("overseer.remediate", "false");
	auto_tune("same_failures=0");
	over_start();
	for (int i = 0; i < 3; i++) {
		daemon = over_daemon(daemon);
		fleet_kill(daemon);
	}
	over_wait_says("Waiting 2s, until 20");
	return daemon;
}

TEST(who_asks_for_a_person_during_a_pause_is_heard)
{
	kill_until_it_waits();
	e2e_write(fleet_file("manual_intervention_needed_1.txt"),
	    "Turn the machine off.");
	over_ends(OVER_MANUAL, "Turn the machine off.");
}

TEST(a_pause_before_a_restart_says_why_and_until_when)
{
	int daemon = kill_until_it_waits();
	struct e2e_run *run;

	auto_wait_shell("\"$LLMC\" status | grep -q 'Waiting  pid .*until 20'");
	run = fleet_do("status", NULL);
	e2e_has(run->out, "it keeps failing.");
	over_daemon(daemon);
	ck_assert_str_eq(over_member("until_ms"), "0");
	over_stop();
	e2e_has(fleet_do("status", NULL)->out,
	    "\nOverseer: Terminated  exit status 0: stopped\n");
	/* Every line has its time. */
	ck_assert_int_ne(
	    e2e_sh(unit_scratch(),
		"sed '1,/Supervising/d' over.out | grep -v '^20[0-9-]* [0-9:]* '")
		->status,
	    0);
}

/* --- the next overseer -------------------------------------------------- */

static void
complain(int pid, int64_t wall_ms, const char *words)
{
	char stamp[CLOCK_STAMP_SIZE];
	FILE *log = fopen(fleet_file("logs/autod.log"), "ae");

	ck_assert_ptr_nonnull(log);
	clock_format_stamp(wall_ms, stamp);
	fprintf(log,
	    "{\"timestamp\":\"%s\",\"level\":\"WARN\",\"pid\":%d,"
	    "\"message\":\"%s\"}\n",
	    stamp, pid, words);
	ck_assert_int_eq(fclose(log), 0);
}

TEST(a_complaint_made_while_nobody_watched_is_found)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_kill9();
	/* An earlier process had the same pid. */
	complain(daemon, clock_wall_ms() - 3600000, "long ago");
	over_start();
	over_wait_says("Took over the running daemon");
	ck_assert_int_eq(over_daemon(0), daemon);
	over_kill9();
	complain(daemon, clock_wall_ms(), "unheard of");
	over_start();
	ck_assert(over_recovers(0, "unheard of", daemon));
	over_remembers("failure", "long ago", 0);
	over_stop();
}

TEST(what_a_killed_writer_left_is_removed)
{
	e2e_write(fleet_file(".overseer.json.a1B2c3.tmp"), "{");
	over_start();
	over_daemon(0);
	over_stop();
	ck_assert_str_eq(
	    e2e_sh(fleet_root(), "find .llmc -name '*.tmp'")->out, "");
}

/* The daemon has been repaired a moment ago. */
static int
repaired_once(void)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_complain(daemon);
	ck_assert(over_recovers(0, OVER_COMPLAINT, daemon));
	return over_daemon(daemon);
}

TEST(a_start_by_a_person_is_a_new_one)
{
	int daemon = repaired_once();

	over_stop();
	over_start();
	daemon = over_daemon(daemon);
	ck_assert_int_eq(kill(daemon, SIGTERM), 0);
	over_wait_says("Remediation complete. Restarting daemon");
	daemon = over_daemon(daemon);
	over_remembers("remedy", "\"completed\"", 2);
	/* Within the run, the second one is a spiral. */
	ck_assert_int_eq(kill(daemon, SIGTERM), 0);
	over_ends(OVER_SPIRAL, "a failure spiral");
	ck_assert_int_eq(over_run(NULL), OVER_SPIRAL);
}

TEST(a_start_after_a_crash_is_not)
{
	int daemon = repaired_once();

	over_kill9();
	over_start();
	over_wait_says("Took over");
	ck_assert_int_eq(over_daemon(0), daemon);
	over_complain(daemon);
	over_ends(OVER_SPIRAL, "a failure spiral");
}

TEST(after_a_repair_that_failed_the_next_failure_is_repaired)
{
	int daemon;

	auto_pool("exit 7");
	over_hurry(5);
	auto_set("overseer.remediation_timeout", "10s");
	over_remedy(0, "fake: hang hard");
	over_start();
	over_ends(OVER_UNREPAIRED, "could not be repaired");
	/* A person mends it. */
	e2e_script(e2e_path("%s/pool.sh", unit_scratch()), "#!/bin/sh\n");
	over_remedy(0, "fake: say I look.");
	auto_set("overseer.remediation_timeout", "300s");
	over_start();
	daemon = over_daemon(0);
	over_complain(daemon);
	over_wait_says("Remediation complete. Restarting daemon");
	over_daemon(daemon);
	over_stop();
}

/* It has instructions of its own; here they help nobody, and a person is told
 * only after the daemon was tried once more. */
TEST(without_a_prompt_it_repairs_all_the_same)
{
	auto_pool("exit 7");
	auto_set("overseer.remediation_prompt", "");
	over_start();
	over_ends(OVER_SPIRAL, "a failure spiral");
	ck_assert_int_eq(fleet_prompts("Find the cause and repair it."), 1);
	e2e_has(over_output(),
	    "Nothing was repaired: the agent changed nothing and wrote no "
	    "finding. The daemon is started once more.");
	over_remembers("remedy", "\"no fix\"", 1);
	over_remembers("failure", NULL, 2);
}

/* --- money --------------------------------------------------------------- */

/* Numbers behind that member in a file of .llmc. */
static const char *
numbers(const char *file, const char *member)
{
	return e2e_sh(fleet_root(),
	    e2e_path("sed -n 's/.*\"%s\": *\\([0-9]*\\).*/\\1/p' .llmc/%s",
		member, file))
	    ->out;
}

static const char *
booked(void)
{
	return e2e_sh(fleet_root(),
	    "\"$STATE\" | sed -n 's/.*\"cost_repair\": *\\([0-9]*\\).*/\\1/p'")
	    ->out;
}

TEST(what_a_repair_costs_is_booked_once)
{
	const char *cost;

	auto_pool("exit 7");
	over_remedy(
	    0, "fake: run printf '#!/bin/sh\\n' >'%s/pool.sh'", unit_scratch());
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	auto_wait_shell("\"$STATE\" | grep -q '\"cost_repair\": *[1-9]'");
	over_stop();
	cost = numbers("failures.jsonl", "cost_micros");
	ck_assert_int_gt(strtol(cost, NULL, 10), 0);
	ck_assert_str_eq(booked(), cost);
	/* It counts in the day's budget, and not again. */
	auto_set("budget.day_cost", "0.000001");
	over_start();
	over_daemon(0);
	auto_wait_logged("autod.log", "of $0.000001 (budget.day_cost)");
	over_stop();
	ck_assert_str_eq(booked(), cost);
}

/* --- in a sandbox ------------------------------------------------------ */

/* It can change its worktree only, and sees why it was called. */
static const char boxed_repair[] =
    "fake: run touch \"$HOME/../escaped\" \"$LLMC_ROOT/escaped\" "
    "\"$LLMC_ROOT/.llmc/escaped\" \"$LLMC_ROOT/.git/hooks/escaped\"; "
    "{ grep -c task_pool \"$LLMC_ROOT/.llmc/logs/autod.log\"; "
    "ls \"$LLMC_ROOT/.llmc/evidence\"; ls \"$LLMC_ROOT\"; } >seen.txt 2>&1; "
    "echo : >pool.sh; git add seen.txt; git commit -qam mended";

static void
repairs_in_a_box(const char *mode)
{
	static const char *const escaped[] = { "escaped", ".llmc/escaped",
		".git/hooks/escaped" };
	const char *root = fleet_root(), *seen;

	e2e_need_boxes("");
	e2e_write(fleet_prompt_log(), "");
	e2e_write(e2e_path("%s/pool.sh", root), "exit 7\n");
	e2e_sh(root, "git add pool.sh && git commit -qm pool");
	auto_set("auto.task_pool_command", "sh pool.sh");
	auto_set("defaults.sandbox", mode);
	auto_set(
	    "defaults.sandbox_write", e2e_path("[\"%s\"]", fleet_prompt_log()));
	auto_set("defaults.env", "[\"FAKE_CLAUDE_LOG\"]");
	auto_set("auto.check_command",
	    "touch \"$HOME/../checked\"; test -e seen.txt");
	over_remedy(0, "%s", boxed_repair);
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	ck_assert(!e2e_exists(e2e_path("%s/escaped", unit_scratch())));
	ck_assert(!e2e_exists(e2e_path("%s/checked", unit_scratch())));
	for (size_t i = 0; i < nitems(escaped); i++)
		ck_assert_msg(!e2e_exists(e2e_path("%s/%s", root, escaped[i])),
		    "%s", escaped[i]);
	seen = e2e_read(e2e_path("%s/seen.txt", root));
	ck_assert_int_gt(strtol(seen, NULL, 10), 0);
	e2e_lacks(seen, "No such file");
	e2e_lacks(seen, "pool.sh"); /* the user's checkout is hidden */
	has(record(), "Outcome: completed (the fix has landed)");
}

TEST(a_repair_is_in_a_sandbox_if_workers_are)
{
	repairs_in_a_box("worktree");
}

TEST(a_repair_is_in_a_strict_sandbox_if_workers_are)
{
	repairs_in_a_box("strict");
}
