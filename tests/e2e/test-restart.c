/* SPDX-License-Identifier: ISC */

/*
 * llmc restart: programs are replaced under running workers. No turn is lost,
 * nothing counts as a failure, and whatever is killed meanwhile, there is one
 * daemon.
 */
#include "child.h"
#include "overrun.h"

#define WORKERS 8
#define LOOK_MS 5
#define ONE_MS  20000

const int unit_timeout = 180; /* seconds, each */

/* Copies of the programs, which can be replaced, and lie as in a build. */
void
unit_before(void)
{
	const char *dir = unit_path("programs");
	const char *const argv[] = { "sh", "-c",
		"mkdir \"$1\" && cd \"$(dirname \"$LLMC_BIN\")/..\" && for p "
		"in cli/llmc autod/autod overseer/overseer keeper/keeper; do "
		"mkdir \"$1/${p%/*}\" && cp $p \"$1/$p\"; done",
		"sh", dir, NULL };
	cleanup_child_result struct child_result result;
	struct child_spec spec = { .argv = argv, .deadline_ms = ONE_MS };
	struct err err = { 0 };

	ck_assert_int_eq(child_run(&spec, &result, &err), 0);
	ck_assert(child_succeeded(&result));
	setenv("PROGRAMS", dir, 1);
	setenv("LLMC_BIN", e2e_path("%s/cli/llmc", dir), 1);
	over_begin();
}

/* One daemon, that answers. */
static int
one_daemon(void)
{
	int found = 0;

	while (over_count_daemons(&found) != 1 ||
	    e2e_llmc(fleet_root(), "status", NULL)->status != 0) {
		ck_assert_msg(!unit_is_late(), "there is not one daemon");
		poll(NULL, 0, LOOK_MS);
	}
	return found;
}

static void
upgrade(void)
{
	struct e2e_run *run = e2e_sh(NULL,
	    "cd \"$PROGRAMS\" && for p in */*; do cp $p .new && mv .new $p; "
	    "done");

	e2e_expect(run, 0, NULL);
}

static void
eight_tasks(void)
{
	auto_set("auto.concurrency", "8");
	for (int i = 0; i < WORKERS; i++)
		auto_task(e2e_path("t%d.md", i),
		    "T%d\nfake: run %s\nfake: commit t%d.txt x", i,
		    auto_gate(e2e_path("g%d", i)), i);
}

static void
all_land(void)
{
	auto_wait_finished("landed", WORKERS);
	ck_assert_int_eq(auto_landed(), WORKERS);
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(
		    fleet_prompts(e2e_path("fake: commit t%d.txt", i)), 1);
}

/* Some turns end while the daemon is being replaced. */
static void
restart_under_workers(int count)
{
	for (int i = 0; i < WORKERS; i++)
		auto_wait_gate(e2e_path("g%d", i));
	for (int i = 0; i < count; i++) {
		if (i % 6 == 5 && i / 6 < WORKERS)
			auto_open_gate(e2e_path("g%d", i / 6));
		fleet_do("restart", NULL);
	}
	for (int i = 0; i < WORKERS; i++)
		auto_open_gate(e2e_path("g%d", i));
}

TEST(no_turn_is_lost)
{
	int daemon, count = unit_times(50);

	eight_tasks();
	auto_up(NULL);
	daemon = fleet_daemon_pid();
	restart_under_workers(count);
	all_land();
	ck_assert_int_eq(fleet_daemon_pid(), daemon);
	auto_no_complaints();
	auto_drain();
}

TEST(the_overseer_takes_it_for_no_failure)
{
	int daemon;

	eight_tasks();
	over_start();
	daemon = over_daemon(0);
	restart_under_workers(10);
	all_land();
	over_undisturbed(daemon);
	over_stop();
}

TEST(the_overseer_is_replaced_too)
{
	struct e2e_run *run;
	int daemon, overseer;

	auto_set("web.enabled", "true");
	over_start();
	daemon = over_daemon(0);
	overseer = over_pid();
	run = fleet_do("restart", NULL);
	ck_assert_ptr_null(strstr(run->out, "The overseer"));
	for (int i = 1; i <= 3; i++) {
		const char *address = fleet_do("web", NULL)->out;

		upgrade();
		e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
		    "llmc restart");
		run = fleet_do("restart", NULL);
		e2e_has(run->out, "The overseer");
		ck_assert_str_eq(over_member("restarts"), e2e_path("%d", i));
		ck_assert_ptr_null(
		    strstr(e2e_llmc(fleet_root(), "doctor", NULL)->out,
			"llmc restart"));
		ck_assert_str_eq(fleet_do("web", NULL)->out, address);
	}
	ck_assert_int_eq(over_pid(), overseer);
	over_undisturbed(daemon);
	/* It still supervises. */
	fleet_kill(daemon);
	daemon = over_daemon(daemon);
	ck_assert_int_eq(one_daemon(), daemon);
	over_stop();
}

/* Killed some time after a restart begins: llmc, the daemon, the overseer. */
TEST_ROWS(whatever_is_killed_there_is_one_daemon, 3)
{
	int count = unit_times(40), victim;
	cleanup_free char *kill = NULL, *script = NULL;

	auto_set("overseer.remediate", "false");
	auto_set("overseer.restart_cooldown", "0s");
	auto_tune("same_failures=0"); /* kills of the daemon are some */
	over_start();
	over_daemon(0);
	for (int i = 0; i < count; i++) {
		upgrade();
		victim = _i == 1 ? fleet_daemon_pid() : over_pid();
		free(kill);
		free(script);
		kill = _i == 0 ? xstrdup("$r") : xasprintf("%d", victim);
		script = xasprintf("\"$LLMC\" restart >/dev/null 2>&1 & r=$!\n"
				   "sleep 0.%03d\nkill -9 %s 2>/dev/null\n"
				   "wait $r 2>/dev/null; :",
		    i * 40 % 400, kill);
		ck_assert_int_eq(e2e_sh(fleet_root(), script)->status, 0);
		if (_i == 2) {
			over_wait_exit();
			over_start();
			over_wait_says("Supervising");
		} else if (_i == 1) {
			over_daemon(victim);
		}
		one_daemon();
		ck_assert(!over_has_ended());
	}
	over_stop();
}

TEST(without_a_daemon_it_says_how_to_start_one)
{
	fleet_fails("no daemon is running", "restart", NULL);
}

TEST(wrong_settings_change_nothing)
{
	int daemon;

	fleet_up();
	daemon = fleet_daemon_pid();
	e2e_expect(
	    e2e_sh(fleet_root(), "echo 'x = [' >>.llmc/config.toml"), 0, NULL);
	fleet_fails("config.toml:", "restart", NULL);
	ck_assert_int_eq(fleet_daemon_pid(), daemon);
	fleet_do("status", NULL);
}

TEST(a_program_that_does_not_run_changes_nothing)
{
	int daemon;

	fleet_up();
	daemon = fleet_daemon_pid();
	e2e_expect(
	    e2e_sh(NULL,
		"cd \"$PROGRAMS/autod\" && printf '#!/bin/sh\\nexit 3\\n' "
		">.new && chmod +x .new && mv .new autod"),
	    0, NULL);
	fleet_fails("nothing was changed", "restart", NULL);
	ck_assert_int_eq(fleet_daemon_pid(), daemon);
	fleet_do("status", NULL);
}
