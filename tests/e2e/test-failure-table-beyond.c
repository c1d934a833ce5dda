/* SPDX-License-Identifier: ISC */

/* Failures that are not in the table of the design. */
#include "enclave.h"
#include "overrun.h"

#define TASK    "A\nfake: commit work.txt x"
#define WAIT_MS 60000
#define BEAT_MS 200

START_TEST(a_killed_tmux_server_is_started_again)
{
	struct e2e_run *run;
	int daemon;

	auto_task("a.md", TASK "\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	run = e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" display-message "
	    "-p '#{pid}'");
	ck_assert_int_eq(run->status, 0);
	fleet_kill((int)strtol(run->out, NULL, 10));
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_finish();
}
END_TEST

START_TEST(a_missing_program_is_repaired)
{
	const char *program = e2e_path("%s/my llmc", unit_scratch());

	auto_set(
	    "overseer.daemon_command", e2e_path("'%s' up --auto", program));
	auto_task("a.md", TASK);
	over_remedy(_i, "fake: run ln -s '%s' '%s'", e2e_llmc_path(), program);
	over_start();
	if (over_recovers(_i, "start_failed", 0))
		over_finish();
	else
		ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

/* The prompt names the file. */
START_TEST(a_repair_that_gives_up_needs_a_person)
{
	auto_pool("exit 7");
	over_remedy(0,
	    "fake: run echo 'The pool is not mine.' >$LLMC_ROOT/.llmc/"
	    "manual_intervention_needed_1.txt");
	over_start();
	over_ends(OVER_MANUAL, "The pool is not mine.");
	over_remembers("remedy", "\"gave up\"", 1);
	ck_assert_int_ge(
	    fleet_prompts(fleet_file("remedy/manual_intervention_needed_")), 1);
	ck_assert_int_eq(over_run(NULL), OVER_MANUAL);
	e2e_has(over_output(), "manual_intervention_needed_1.txt");
	remove(fleet_file("manual_intervention_needed_1.txt"));
	auto_pool(
	    "[ -e \"$POOL/o\" ] || { touch \"$POOL/o\"; echo 'fake: commit "
	    "work.txt x'; }");
	over_start();
	over_daemon(0);
	over_finish();
}
END_TEST

/* Beats in the daemon's name, but no sign of life after this moment. */
static void
beat_until_stalled(void)
{
	const char *file = fleet_file("auto.heartbeat");
	int64_t begun = clock_mono_ms(), now = begun;
	char text[256];

	for (int i = 0; strstr(over_output(), "Failure (stalled)") == NULL;
	     i++, now = clock_mono_ms()) {
		ck_assert_msg(now - begun < WAIT_MS, "no stall: %s",
		    e2e_shown(over_output()));
		snprintf(text, sizeof text,
		    "{\"instance_id\":\"%s\",\"sequence\":%d,"
		    "\"monotonic_ms\":%lld,\"sign_monotonic_ms\":%lld,"
		    "\"expected\":[\"auto-1\"],\"activity_unix\":1}\n",
		    over_instance(), 1000000 + i, (long long)now,
		    (long long)begun);
		e2e_write(file, text);
		poll(NULL, 0, BEAT_MS);
	}
}

/* No repair: the worker is reset, its work saved, its task assigned again. The
 * attempt counts, and the next one is told. */
START_TEST(a_stall_resets_the_worker)
{
	int daemon;

	auto_set("overseer.stall_timeout", "8s");
	auto_ails("fake: sleep 60000");
	auto_task("a.md", TASK);
	over_start();
	daemon = over_daemon(0);
	fleet_wait("auto-1", "working");
	ck_assert_int_eq(mkdir(fleet_file("auto.heartbeat.new"), 0700), 0);
	beat_until_stalled();
	rmdir(fleet_file("auto.heartbeat.new"));
	auto_ails("");
	ck_assert_int_ne(over_daemon(daemon), daemon);
	auto_wait_finished("landed", 1);
	over_remembers("stall", NULL, 1);
	over_remembers("remedy", NULL, 0);
	e2e_lacks(over_output(), "remediation");
	auto_salvaged("auto-1", "work.txt");
	ck_assert_int_eq(auto_events("task_assigned", "\"attempt\":\"2\""), 1);
	ck_assert_int_eq(fleet_prompts("there is no progress"), 1);
	over_finish();
}
END_TEST

/* --- a reused pid ------------------------------------------------------- */

static void
reuse(void)
{
	int daemon;

	over_begin();
	over_start();
	daemon = over_daemon(0);
	over_kill9();
	fleet_kill(daemon);
	ck_assert(enclave_take_pid(daemon));
	auto_task("a.md", TASK);
	over_start();
	ck_assert_int_ne(over_daemon(0), daemon);
	over_finish();
	ck_assert(over_alive(daemon));
	over_end();
}

/* Overseer and daemon are killed; another process gets the daemon's pid. */
START_TEST(a_stranger_with_the_daemons_pid_is_left_alone)
{
	const char *why;

	over_end(); /* of the fixture: pids differ inside */
	why = enclave_run(reuse);
	if (why != NULL)
		unit_skip(why);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "+3", a_killed_tmux_server_is_started_again },
		{ "+4", a_missing_program_is_repaired },
		{ "+5", a_repair_that_gives_up_needs_a_person },
		{ "+6", a_stall_resets_the_worker },
		{ "+7", a_stranger_with_the_daemons_pid_is_left_alone },
	};

	return over_suite("failure-table-beyond", tests, nitems(tests));
}
