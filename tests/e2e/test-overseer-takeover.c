/* SPDX-License-Identifier: ISC */

/*
 * How an overseer takes over: a daemon that is adopted or left alone; an
 * overseer that is killed or stopped, and a second one.
 */
#include "overrun.h"

#define LOOK_MS 3

/* A child of a daemon looks like one until it executes another program. */
static void
one_daemon(int pid)
{
	int found = 0, count;

	while ((count = over_count_daemons(&found)) > 1 && !unit_is_late())
		poll(NULL, 0, LOOK_MS);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(found, pid);
}

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

TEST(a_daemon_that_is_well_is_taken_over)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_kill9();
	one_daemon(daemon);
	over_start();
	over_wait_says("Took over the running daemon");
	ck_assert_int_eq(over_daemon(0), daemon);
	over_undisturbed(daemon);
	/* Its exit is still noticed, though it is not a child. */
	auto_set("overseer.remediate", "false");
	over_signal(SIGHUP);
	fleet_kill(daemon);
	over_wait_says("its status is not known");
	one_daemon(over_daemon(daemon));
	over_stop();
}

TEST(both_killed_is_a_fresh_start)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_kill9();
	fleet_kill(daemon);
	over_start();
	daemon = over_daemon(daemon);
	one_daemon(daemon);
	over_undisturbed(daemon);
	over_stop();
}

/* A browser that has it open finds it again. */
TEST(the_page_is_at_the_same_address_after_a_repair)
{
	const char *address;
	int daemon;

	auto_set("web.enabled", "true");
	over_remedy(0, "fake: say There is nothing to repair.");
	over_start();
	daemon = over_daemon(0);
	address = fleet_do("web", NULL)->out;
	fleet_kill(daemon);
	daemon = over_daemon(daemon);
	ck_assert_str_eq(fleet_do("web", NULL)->out, address);
	over_complain(daemon);
	ck_assert(over_recovers(0, OVER_COMPLAINT, daemon));
	ck_assert_str_eq(fleet_do("web", NULL)->out, address);
	e2e_expect(e2e_sh(NULL,
		       e2e_path("curl -s -f --noproxy '*' -o /dev/null '%.*s'",
			   (int)strcspn(address, "#"), address)),
	    0, NULL);
	over_stop();
}

/* Like a laptop that is closed and opened again. */
TEST(a_stopped_overseer_judges_nobody_when_it_wakes)
{
	int daemon, overseer;

	over_hurry(3);
	over_start();
	daemon = over_daemon(0);
	overseer = over_pid();
	ck_assert_int_eq(kill(overseer, SIGSTOP), 0);
	ck_assert_int_eq(kill(daemon, SIGSTOP), 0);
	poll(NULL, 0, 5500); /* longer than heartbeat_timeout: there is no
			      * event */
	ck_assert_int_eq(kill(overseer, SIGCONT), 0);
	poll(NULL, 0, 1000); /* the daemon wakes later */
	ck_assert_int_eq(kill(daemon, SIGCONT), 0);
	poll(NULL, 0, 1500); /* one check, and it has nothing to report */
	over_undisturbed(daemon);
	over_stop();
}

TEST(a_second_overseer_is_refused)
{
	struct e2e_run *run;
	int daemon;

	over_start();
	daemon = over_daemon(0);
	run = e2e_llmc(fleet_root(), "overseer", NULL);
	ck_assert_int_eq(run->status, OVER_REFUSED);
	e2e_has(run->err, "another overseer is running");
	over_undisturbed(daemon);
	one_daemon(daemon);
	over_stop();
}

TEST(two_overseers_at_once_are_one)
{
	struct e2e_run *run = e2e_sh(fleet_root(),
	    "\"$LLMC\" overseer >one.out 2>&1 & a=$!\n"
	    "\"$LLMC\" overseer >two.out 2>&1 & b=$!\n"
	    "n=0; until grep -q 'daemon is running' one.out two.out && "
	    "grep -q 'another overseer' one.out two.out || "
	    "[ $n -gt 1500 ]; do sleep 0.1; n=$((n + 1)); done\n"
	    "kill -TERM $a $b 2>/dev/null\n"
	    "wait $a; x=$?; wait $b; echo $((x + $?))");

	ck_assert_str_eq(run->out, "6\n"); /* one stopped, one refused */
}

static void
refused(void)
{
	over_start();
	ck_assert_int_eq(over_wait_exit(), OVER_REFUSED);
}

TEST(a_strangers_lock_is_refused_with_words)
{
	const char *lock = e2e_path("%s/.llmc/state.lock", fleet_root());
	cleanup_fd int fd = lock_try(lock, NULL);

	over_hurry(5);
	ck_assert_int_ge(fd, 0);
	refused();
	e2e_has(over_output(), "its registration cannot be read");
	e2e_has(over_output(), "llmc down");
	over_remembers("failure", NULL, 0);
}

TEST(a_registration_of_anothers_is_not_believed)
{
	const char *lock = e2e_path("%s/.llmc/state.lock", fleet_root());
	const char *file = e2e_path("%s/.llmc/daemon.json", fleet_root());
	cleanup_fd int fd = lock_try(lock, NULL);
	struct procref ref = PROCREF_INIT;
	struct json_object *json;
	struct err err = { 0 };

	over_hurry(5);
	ck_assert_int_ge(fd, 0);
	/* Ourselves: alive, of this boot, but not a daemon. */
	ck_assert_int_eq(procref_set_self(&ref), 0);
	json = procref_to_json(&ref);
	json_set_string(json, "instance_id", "made-up");
	json_set_bool(json, "auto", true);
	ck_assert_msg(json_save(file, json, 0600, &err) == 0, "%s", err.msg);
	refused();
	e2e_has(over_output(), "its heartbeat is that of another");
	procref_release(&ref);
	json_object_put(json);
	remove(file);
}

TEST(a_daemon_of_people_is_left_alone)
{
	int daemon;

	fleet_up();
	daemon = fleet_daemon_pid();
	refused();
	e2e_has(over_output(), "not in auto mode");
	one_daemon(daemon);
}

TEST(a_daemon_that_was_told_to_end_is_not_called_dead)
{
	int64_t end;
	int daemon;

	auto_task("a.md", "A\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a"); /* so it takes time to stop */
	over_signal(SIGTERM);
	/* The message comes before the intent is saved, and the next overseer
	 * relies on the intent. */
	end = clock_mono_ms() + 20000;
	while (strcmp(over_member("daemon.told_to_end"), "true") != 0) {
		ck_assert_msg(clock_mono_ms() < end, "the intent is not told");
		poll(NULL, 0, 5);
	}
	over_kill9();
	over_start();
	auto_open_gate("a");
	one_daemon(over_daemon(daemon));
	over_remembers("failure", NULL, 0);
	over_stop();
}

/* One failure and one repair of it. The overseer is killed after it has written
 * how that ended, and before it has written what it does next: by its
 * registration, it is repairing. Another one starts. */
static void
killed_after_repair(void)
{
	struct e2e_run *run;

	over_remembers("failure", NULL, 1);
	over_remembers("remedy", NULL, 1);
	run = e2e_sh(fleet_root(),
	    "sed -i 's/\"state\": \"[A-Z][a-z]*\"/\"state\": "
	    "\"Remediating\"/' .llmc/overseer.json");
	ck_assert_int_eq(run->status, 0);
	ck_assert_str_eq(over_member("state"), "Remediating");
	over_start();
}

TEST(a_repaired_failure_is_not_counted_or_repaired_again)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_complain(daemon);
	daemon = over_daemon(daemon);
	over_kill9();
	fleet_kill(daemon);
	killed_after_repair();
	one_daemon(over_daemon(0));
	e2e_has(over_output(), "Remediation complete. Restarting daemon");
	over_remembers("failure", NULL, 1);
	over_remembers("remedy", NULL, 1);
	over_stop();
}

TEST(a_failure_that_no_repair_helped_is_not_repaired_again)
{
	auto_pool("exit 7");
	over_hurry(5);
	auto_set("overseer.remediation_timeout", "10s");
	over_remedy(0, "fake: hang hard");
	over_start();
	over_ends(OVER_UNREPAIRED, "The failure could not be repaired");
	killed_after_repair();
	over_ends(OVER_SPIRAL, "a failure spiral");
	over_remembers("failure", NULL, 2);
	over_remembers("remedy", NULL, 1);
}

/* Otherwise one that is killed again and again would repair for ever. */
TEST(a_repair_that_a_kill_cut_short_counts_for_the_day)
{
	auto_pool("exit 7");
	over_hurry(5);
	auto_tune("remediations=1");
	over_remedy(0, "fake: hang hard");
	over_start();
	while (strcmp(over_member("state"), "Remediating") != 0) {
		ck_assert_msg(!unit_is_late(), "no repair");
		poll(NULL, 0, 5); /* a file of another program */
	}
	over_kill9();
	over_start();
	over_ends(OVER_SPIRAL, "limit of remediations per day is reached");
	over_remembers("failure", NULL, 1);
	over_remembers("remedy", "\"interrupted\"", 1);
}
