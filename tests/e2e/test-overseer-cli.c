/* SPDX-License-Identifier: ISC */

/*
 * The command line around the overseer: what is passed on to it, what is shown
 * of it, what is refused while it lives. The overseer itself is played by
 * files, a held lock and a session in tmux.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "fleet.h"
#include "lock.h"
#include "mem.h"
#include "procref.h"
#include "shown.h"
#include "worker.h"

/* --- an overseer that is none ---------------------------------------- */

static int
hold_lock(const char *root)
{
	int fd = lock_try(e2e_path("%s/.llmc/overseer.lock", root), NULL);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* overseer.json, of this process or of one that is gone; `more` has further
 * members, with a comma first. */
static void
write_overseer(
    const char *root, const char *state, bool alive, const char *more)
{
	struct procref self = PROCREF_INIT;
	struct json_object *json;

	ck_assert_int_eq(procref_set_self(&self), 0);
	if (!alive)
		self.start_time++;
	json = procref_to_json(&self);
	procref_release(&self);
	e2e_write(e2e_path("%s/.llmc/overseer.json", root),
	    e2e_path("{\"pid\":%lld,\"start_time\":%lld,\"boot_id\":\"%s\","
		     "\"start_time_unix\":%lld,\"instance_id\":\"i-1\","
		     "\"version\":\"1\",\"state\":\"%s\"%s}",
		(long long)json_int_or(json, "pid", 0),
		(long long)json_int_or(json, "start_time", 0),
		json_string_or(json, "boot_id", ""),
		(long long)clock_wall_ms() / 1000 - 125, state, more));
	json_object_put(json);
}

static struct json_object *
overseer_json(void)
{
	return json_object_object_get(
	    shown_json("status", NULL, NULL), "overseer");
}

/* --- llmc overseer --------------------------------------------------- */

START_TEST(options_are_checked_before_anything_starts)
{
	static const char *const counts[] = { "0", "101", "x", "" };

	for (size_t i = 0; i < nitems(counts); i++)
		e2e_expect(e2e_llmc(shown_root, "overseer", "--concurrency",
			       counts[i], NULL),
		    2, "from 1 to 100");
	e2e_expect(
	    e2e_llmc(shown_root, "overseer", "--clear=", NULL), 2, "a reason");
	e2e_expect(e2e_llmc(shown_root, "overseer", "--clear", NULL), 2,
	    "needs a value");
	e2e_expect(e2e_llmc(shown_root, "overseer", "--clear", "done",
		       "--concurrency", "2", NULL),
	    2, "combined with --concurrency");
	e2e_expect(e2e_llmc(shown_root, "overseer", "word", NULL), 2,
	    "unexpected argument");
	ck_assert(!e2e_exists(shown_file("overseer.lock")));
}
END_TEST

/* Beside a copy of llmc, an overseer that writes down how it was called. */
static const char *
other_llmc(void)
{
	const char *dir = e2e_dir("it's other");

	e2e_sh(shown_root, e2e_path("cp \"$LLMC\" \"%s/llmc\"", dir));
	e2e_script(e2e_path("%s/overseer", dir),
	    "#!/bin/sh\nfor word; do printf '<%s>\\n' \"$word\"; done "
	    ">called\nexit 4\n");
	return e2e_path("%s/llmc", dir);
}

START_TEST(options_are_passed_on_and_the_exit_status_is_the_overseers)
{
	const char *llmc = other_llmc();
	const char *called = e2e_path("%s/called", shown_root);
	struct e2e_run *run = e2e_sh(shown_root,
	    e2e_path("\"%s\" overseer --task-pool-command 'echo \"$HOME\" "
		     "'\\''a  b'\\''' --concurrency=7 --post-accept-command= ",
		llmc));

	ck_assert_int_eq(run->status, 4);
	ck_assert_str_eq(e2e_read(called),
	    e2e_path("<--root>\n<%s>\n<--concurrency>\n<7>\n"
		     "<--task-pool-command>\n<echo \"$HOME\" 'a  b'>\n"
		     "<--post-accept-command>\n<>\n",
		shown_root));
	run = e2e_sh(
	    shown_root, e2e_path("\"%s\" overseer --clear 'more  disk'", llmc));
	ck_assert_int_eq(run->status, 4);
	ck_assert_str_eq(e2e_read(called),
	    e2e_path("<--root>\n<%s>\n<--clear>\n<more  disk>\n", shown_root));
}
END_TEST

START_TEST(clearing_is_remembered)
{
	struct json_object *json;

	e2e_expect(e2e_llmc(shown_root, "overseer", "--clear",
		       "more disk\033[1m", NULL),
	    0, NULL);
	json = shown_json("failures", NULL, NULL);
	ck_assert_str_eq(
	    shown_member(json_object_object_get(json, "cleared"), "words"),
	    "more disk\033[1m");
	e2e_has(shown_must("failures", NULL, NULL)->out,
	    "No failures since the last --clear.\n");
	e2e_has(shown_must("failures", NULL, NULL)->out, "more disk\\x1b[1m");
}
END_TEST

START_TEST(shells_complete_it)
{
	const char *bash = shown_must("completion", "bash", NULL)->out;

	e2e_has(bash,
	    "\toverseer)\n\t\tflags+=' --concurrency --task-pool-command "
	    "--post-accept-command --clear'\n\t\t;;\n");
	e2e_has(bash, "\tfailures)\n\t\tflags+=' --all'\n");
	e2e_has(shown_must("completion", "fish", NULL)->out, "-a overseer -d");
	e2e_has(shown_must("completion", "zsh", NULL)->out, "failures");
}
END_TEST

/* --- llmc failures --------------------------------------------------- */

static void
append_failures(const char *lines)
{
	const char *path = shown_file("failures.jsonl");

	e2e_write(path,
	    e2e_path("%s%s", e2e_exists(path) ? e2e_read(path) : "", lines));
}

/* 2026-01-31 08:00:00 UTC, and later. */
#define AT(seconds) "\"at_ms\":17698464" seconds "000"

static const char died[] = "{\"kind\":\"failure\"," AT(
    "00") ",\"run_ms\":90000,"
	  "\"signature\":\"died\",\"words\":\"the daemon "
	  "died (signal 9)\\nand more\"}\n";
static const char repaired[] = "{\"kind\":\"remedy\"," AT(
    "10") ",\"took_ms\":62000,\"signature\":\"died\","
	  "\"outcome\":\"completed\",\"words\":\"the agent ended its work\","
	  "\"log\":\"/x/remediation_1.txt\"}\n";
static const char source[] = "{\"kind\":\"failure\"," AT(
    "20") ",\"run_ms\":0,\"signature\":\"source\","
	  "\"class\":\"task_source\",\"words\":\"no folder\"}\n";
static const char died_again[] = "{\"kind\":\"failure\"," AT(
    "30") ",\"run_ms\":5000,\"signature\":\"died\","
	  "\"words\":\"the daemon died (signal 11)\"}\n";
static const char gave_up[] =
    "{\"kind\":\"gave_up\"," AT("31") ",\"signature\":\"died\",\"words\":"
				      "\"A failure spiral\\nof many words\"}\n";

START_TEST(without_a_history_there_is_no_failure)
{
	struct json_object *json = shown_json("failures", NULL, NULL);

	ck_assert_str_eq(shown_must("failures", NULL, NULL)->out,
	    "No failures are recorded.\n");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "failures")),
	    0);
	ck_assert_ptr_null(json_object_object_get(json, "over"));
	ck_assert(!e2e_exists(shown_file("failures.jsonl")));
	e2e_expect(e2e_llmc(shown_root, "failures", "x", NULL), 2,
	    "unexpected argument");
}
END_TEST

START_TEST(the_same_failures_are_told_together_the_newest_last)
{
	const char *before, *out;

	e2e_env("TZ=XXX-1");
	append_failures(died);
	append_failures("no event\n{\"kind\":\"no such\"}\n");
	append_failures(repaired);
	append_failures(source);
	append_failures(died_again);
	append_failures(gave_up);
	before = e2e_read(shown_file("failures.jsonl"));
	out = shown_must("failures", NULL, NULL)->out;
	ck_assert_str_eq(out,
	    "no folder\n"
	    "  1 time: 2026-01-31 09:00:20, after a run of 0s\n"
	    "\n"
	    "the daemon died (signal 11)\n"
	    "  2 times: first 2026-01-31 09:00:00, last 2026-01-31 09:00:30, "
	    "after a run of 5s\n"
	    "  2026-01-31 09:00:10  remediation completed after 1m2s: the "
	    "agent ended its work\n"
	    "                       /x/remediation_1.txt\n"
	    "  2026-01-31 09:00:31  the overseer gave up: A failure spiral\n"
	    "\n"
	    "The overseer will not start again. Fix the cause, then: llmc "
	    "overseer --clear \"what was done\"\n");
	/* A pure read. */
	ck_assert_str_eq(e2e_read(shown_file("failures.jsonl")), before);
}
END_TEST

START_TEST(failures_are_all_there_for_programs)
{
	struct json_object *json, *groups, *group, *done;

	append_failures(died);
	append_failures(repaired);
	append_failures(source);
	append_failures(died_again);
	append_failures(gave_up);
	json = shown_json("failures", NULL, NULL);
	groups = json_object_object_get(json, "failures");
	ck_assert_uint_eq(json_object_array_length(groups), 2);
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "events")),
	    5);
	e2e_has(shown_member(json, "over"), "A failure spiral");
	group = json_object_array_get_idx(groups, 0);
	ck_assert_str_eq(shown_member(group, "class"), "task_source");
	group = json_object_array_get_idx(groups, 1);
	ck_assert_str_eq(shown_member(group, "signature"), "died");
	ck_assert_int_eq(json_int_or(group, "count", 0), 2);
	ck_assert_int_eq(
	    json_int_or(group, "first_ms", 0), INT64_C(1769846400000));
	ck_assert_int_eq(
	    json_int_or(group, "last_ms", 0), INT64_C(1769846430000));
	ck_assert_int_eq(json_int_or(group, "last_run_ms", 0), 5000);
	done = json_object_object_get(group, "done");
	ck_assert_uint_eq(json_object_array_length(done), 2);
	done = json_object_array_get_idx(done, 0);
	ck_assert_str_eq(shown_member(done, "outcome"), "completed");
	ck_assert_int_eq(json_int_or(done, "took_ms", 0), 62000);
	ck_assert_str_eq(shown_member(done, "log"), "/x/remediation_1.txt");
}
END_TEST

START_TEST(what_was_cleared_is_shown_when_asked_for)
{
	const char *out;

	append_failures(died);
	append_failures(gave_up);
	append_failures(
	    "{\"kind\":\"clear\"," AT("40") ",\"words\":\"more memory\"}\n");
	out = shown_must("failures", NULL, NULL)->out;
	e2e_has(out, "No failures since");
	e2e_has(out, "more memory");
	e2e_has(out, "llmc failures --all");
	e2e_lacks(out, "signal 9");
	e2e_lacks(out, "will not start");
	out = shown_must("failures", "--all", NULL)->out;
	e2e_has(out, "signal 9");
	e2e_has(out, "more memory");
	e2e_lacks(out, "--all");
	append_failures(source);
	out = shown_must("failures", NULL, NULL)->out;
	e2e_has(out, "no folder\n  1 time");
	e2e_lacks(out, "signal 9");
}
END_TEST

START_TEST(a_repair_outlives_the_memory_of_its_failure)
{
	struct json_object *json;

	append_failures(repaired);
	append_failures(
	    "{\"kind\":\"stall\"," AT("50") ",\"run_ms\":3600000}\n");
	e2e_has(shown_must("failures", NULL, NULL)->out,
	    "died\n  older than the history\n");
	e2e_has(shown_must("failures", NULL, NULL)->out,
	    "stall\n  1 time: 2026-01-31 ");
	e2e_has(shown_must("failures", NULL, NULL)->out,
	    "after a run of 1h (a stall: restarted)\n");
	json = json_object_object_get(
	    shown_json("failures", NULL, NULL), "failures");
	ck_assert_int_eq(
	    json_int_or(json_object_array_get_idx(json, 0), "count", -1), 0);
}
END_TEST

/* --- llmc status ----------------------------------------------------- */

START_TEST(status_without_an_overseer_does_not_speak_of_it)
{
	e2e_lacks(shown_must("status", NULL, NULL)->out, "OVERSEER");
	ck_assert_ptr_null(overseer_json());
	/* Nor of one whose file is broken. */
	e2e_write(shown_file("overseer.json"), "{");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "OVERSEER");
	e2e_write(shown_file("overseer.json"), "[1]");
	ck_assert_ptr_null(overseer_json());
}
END_TEST

START_TEST(status_tells_how_the_overseer_is)
{
	const char *more =
	    e2e_path(",\"attempt\":0,\"failure\":null,\"exit_status\":-1,"
		     "\"daemon\":{\"pid\":77,\"started_unix\":%lld,"
		     "\"adopted\":true,\"instance_id\":\"i-2\"},"
		     "\"events\":[\"one\",\"two\",\"three\",\"four\",\"five\","
		     "\"six\\nand more\\u001b[1m\"]",
		(long long)shown_now() - 65);
	struct json_object *json;
	const char *out;
	int lock = hold_lock(shown_root);

	write_overseer(shown_root, "Running", true, more);
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "the overseer is handling it");
	e2e_has(out,
	    e2e_path(
		"OVERSEER\n--------\nRunning  pid %d  up 2m", (int)getpid()));
	e2e_has(out, "\nDaemon: pid 77  up 1m");
	e2e_has(out, ", taken over\n  two\n  three\n  four\n  five\n  six\n");
	e2e_lacks(out, "ailure");
	e2e_lacks(out, "->");
	json = overseer_json();
	ck_assert(json_bool_or(json, "active", false));
	ck_assert_int_eq(json_int_or(json, "pid", 0), getpid());
	ck_assert_int_ge(json_int_or(json, "uptime_secs", 0), 125);
	ck_assert_ptr_null(json_object_object_get(json, "exit_status"));
	json = json_object_object_get(json, "daemon");
	ck_assert_int_eq(json_int_or(json, "pid", 0), 77);
	ck_assert(json_bool_or(json, "adopted", false));
	ck_assert(!json_bool_or(json, "told_to_end", true));
	close(lock);
}
END_TEST

START_TEST(status_tells_what_is_being_repaired)
{
	static const char more[] =
	    ",\"attempt\":2,\"failure\":\"the daemon died\",\"daemon\":null";
	int lock = hold_lock(shown_root);
	const char *out;

	write_overseer(shown_root, "Remediating", true, more);
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "Remediating  pid ");
	e2e_has(out, "\nRemediation attempt 2\nFailure: the daemon died\n");
	ck_assert_int_eq(json_int_or(overseer_json(), "attempt", 0), 2);
	write_overseer(shown_root, "Running", true, more);
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "\nLast failure: the daemon died\n");
	e2e_lacks(out, "attempt");
	close(lock);
}
END_TEST

START_TEST(an_overseer_that_vanished_is_not_running)
{
	struct json_object *json;
	const char *out;

	/* The same pid, but not the same process. */
	write_overseer(shown_root, "Running", false,
	    ",\"daemon\":{\"pid\":77,\"started_unix\":1}");
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "\nnot running (it crashed or was killed)\n");
	e2e_has(out, "-> start it again");
	e2e_lacks(out, "pid 77");
	json = overseer_json();
	ck_assert(!json_bool_or(json, "active", true));
	ck_assert_str_eq(shown_member(json, "state"), "not running");
	ck_assert_str_eq(shown_member(json, "registered_state"), "Running");
	ck_assert_ptr_null(json_object_object_get(json, "daemon"));
	ck_assert_ptr_null(json_object_object_get(json, "pid"));
	/* Alive, but without the lock: the number is another's now. */
	write_overseer(shown_root, "Remediating", true, "");
	e2e_has(shown_must("status", NULL, NULL)->out, "not running (it");
}
END_TEST

START_TEST(an_overseer_that_has_not_registered_is_starting)
{
	int lock = hold_lock(shown_root);

	e2e_has(shown_must("status", NULL, NULL)->out,
	    "OVERSEER\n--------\nStarting\n");
	/* What an earlier one wrote is not believed. */
	write_overseer(shown_root, "Terminated", false,
	    ",\"exit_status\":3,\"failure\":\"old\",\"events\":[\"old\"]");
	e2e_has(shown_must("status", NULL, NULL)->out, "--\nStarting\n");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "old");
	ck_assert_str_eq(shown_member(overseer_json(), "state"), "Starting");
	close(lock);
}
END_TEST

static const char *
status_after(int exit_status)
{
	write_overseer(shown_root, "Terminated", false,
	    e2e_path(
		",\"exit_status\":%d,\"failure\":\"it died\"", exit_status));
	ck_assert_int_eq(
	    json_int_or(overseer_json(), "exit_status", -1), exit_status);
	return shown_must("status", NULL, NULL)->out;
}

START_TEST(each_end_is_told_with_what_to_type)
{
	const char *manual =
	    shown_file("manual_intervention_needed_20260131.txt");
	const char *out = status_after(0);

	e2e_has(out, "Terminated  exit status 0: stopped\n");
	e2e_lacks(out, "it died");
	e2e_lacks(out, "->");
	append_failures(gave_up);
	out = status_after(3);
	e2e_has(out, "exit status 3: a failure spiral\nLast failure: it died");
	e2e_has(out, "llmc overseer --clear \"what was done\"");
	append_failures(
	    "{\"kind\":\"clear\"," AT("40") ",\"words\":\"done\"}\n");
	e2e_has(status_after(3), "-> it has been cleared; start with: llmc");
	e2e_has(status_after(4), "-> the file is gone; start with: llmc");
	e2e_write(manual, "The disk is full.\n");
	e2e_write(shown_file("manual_intervention_needed_2027.txt"), "later");
	out = status_after(4);
	e2e_has(out, "exit status 4: a person is needed");
	e2e_has(out, e2e_path("-> do what %s says", manual));
	ck_assert_str_eq(
	    shown_member(overseer_json(), "manual_intervention"), manual);
	out = status_after(5);
	e2e_has(out, "exit status 5: the failure could not be repaired");
	e2e_has(
	    out, "-> see llmc failures, fix the cause, then: llmc overseer\n");
	e2e_has(status_after(130), "exit status 130: forced to stop");
	e2e_has(status_after(99), "exit status 99: unknown reason");
}
END_TEST

/* --- protection ------------------------------------------------------ */

START_TEST(down_and_nuke_all_are_refused_while_an_overseer_lives)
{
	int lock = hold_lock(shown_root);

	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1, "Ctrl-C");
	e2e_lacks(e2e_llmc(shown_root, "down", NULL)->err, "kill");
	write_overseer(shown_root, "Running", true, "");
	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1,
	    e2e_path("kill %d", (int)getpid()));
	e2e_json_error(e2e_llmc(shown_root, "--json", "down", NULL), 1,
	    "overseen", "--force");
	e2e_json_error(
	    e2e_llmc(shown_root, "--json", "nuke", "--all", "--yes", NULL), 1,
	    "overseen", "Ctrl-C");
	/* No daemon runs: that is what --force comes to. */
	e2e_expect(e2e_llmc(shown_root, "down", "--force", NULL), 1, "llmc up");
	close(lock);
	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1, "llmc up");
	e2e_has(e2e_llmc(shown_root, "nuke", "--all", "--yes", NULL)->out,
	    "There are no workers");
}
END_TEST

START_TEST(a_worker_may_not_repair_and_who_repairs_may)
{
	static const char *const both[][2] = { { "down", NULL },
		{ "nuke", "x" }, { "accept", "x" }, { "pick", "x" },
		{ "resume", NULL }, { "trust", NULL }, { "overseer", NULL } };
	static const char *const mending[][2] = { { "reset", "nobody" },
		{ "doctor", "--repair" }, { "doctor", "--rebuild" } };

	e2e_env("LLMC_AGENT=1");
	for (size_t i = 0; i < 3; i++) {
		static const char *const workers[] = { "LLMC_WORKER",
			"LLMC_WORKER=auto-1", "LLMC_WORKER=overseer" };

		e2e_env(workers[i]);
		for (size_t j = 0; j < nitems(both); j++)
			e2e_expect(
			    e2e_llmc(shown_root, both[j][0], both[j][1], NULL),
			    1, "a worker's session");
		for (size_t j = 0; i < 2 && j < nitems(mending); j++)
			e2e_expect(e2e_llmc(shown_root, mending[j][0],
				       mending[j][1], NULL),
			    1, "a worker's session");
	}
	e2e_lacks(e2e_llmc(shown_root, "reset", "nobody", "--yes", NULL)->err,
	    "a worker's session");
	for (size_t j = 1; j < nitems(mending); j++)
		e2e_lacks(e2e_llmc(shown_root, mending[j][0], mending[j][1],
			      "--yes", NULL)
			      ->err,
		    "a worker's session");
	ck_assert(e2e_exists(shown_file("state.json"))); /* rebuilt */
	/* To look is anybody's. */
	e2e_env("LLMC_WORKER=auto-1");
	e2e_has(e2e_llmc(shown_root, "doctor", NULL)->out, "ok    state");
	shown_must("failures", NULL, NULL);
}
END_TEST

/* --- llmc doctor ----------------------------------------------------- */

static const char *
doctor(void)
{
	return e2e_llmc(shown_root, "doctor", NULL)->out;
}

START_TEST(doctor_asks_for_a_remediation_prompt_where_auto_mode_is_used)
{
	struct state state;

	e2e_has(doctor(), "ok    remediation not set up");
	shown_fill_state(&state);
	shown_save(&state);
	e2e_has(doctor(), "warn  remediation");
	e2e_has(
	    doctor(), "llmc config set overseer.remediation_prompt \"...\"\n");
	e2e_expect(e2e_llmc(shown_root, "config", "set",
		       "overseer.remediation_prompt", "Look at x.", NULL),
	    0, NULL);
	e2e_has(doctor(), "ok    remediation overseer.remediation_prompt is");
}
END_TEST

START_TEST(doctor_tells_what_keeps_an_overseer_from_starting)
{
	int lock;

	e2e_lacks(doctor(), "oversight");
	e2e_lacks(doctor(), "manual");
	write_overseer(shown_root, "Running", false, "");
	e2e_has(doctor(), "warn  oversight   overseer.json says \"Running\"");
	write_overseer(shown_root, "Terminated", false, "");
	e2e_lacks(doctor(), "oversight");
	lock = hold_lock(shown_root);
	e2e_has(doctor(), "ok    oversight   running, but not");
	write_overseer(shown_root, "Remediating", true, "");
	e2e_has(doctor(),
	    e2e_path("ok    oversight   running (pid %d): Remediating",
		(int)getpid()));
	close(lock);
	e2e_write(shown_file("manual_intervention_needed_1.txt"), "x");
	e2e_has(doctor(), "fail  manual ");
	append_failures(gave_up);
	e2e_has(doctor(), "fail  failures    the overseer will not start");
	e2e_has(doctor(), "A failure spiral\n");
	append_failures(
	    "{\"kind\":\"clear\"," AT("40") ",\"words\":\"done\"}\n");
	e2e_lacks(doctor(), "fail  failures");
}
END_TEST

START_TEST(doctor_knows_a_state_that_is_not_this_roots)
{
	struct state state;
	struct e2e_run *run;

	shown_fill_state(&state);
	shown_save(&state);
	e2e_has(doctor(), "ok    state");
	e2e_write(
	    shown_file("root_id"), "00000000-0000-4000-8000-000000000000\n");
	e2e_has(doctor(), "fail  state");
	e2e_has(doctor(),
	    "-> create a new one from the worktrees: llmc doctor "
	    "--rebuild\n");
	run = e2e_llmc(shown_root, "doctor", "--rebuild", "--yes", NULL);
	e2e_has(run->out, "ok    state");
}
END_TEST

START_TEST(doctor_takes_the_overseers_worktree_for_no_workers)
{
	e2e_git(shown_root, "worktree", "add", "-q", "-b", "llmc/overseer",
	    ".worktrees/overseer", NULL);
	e2e_git(shown_root, "worktree", "add", "-q", "-b", "llmc/eve",
	    ".worktrees/eve", NULL);
	e2e_has(e2e_llmc(shown_root, "doctor", "--rebuild", "--yes", NULL)->out,
	    "with 1 worker\n");
	e2e_lacks(doctor(), ".worktrees/overseer");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "llmc/overseer");
}
END_TEST

/* --- its session ----------------------------------------------------- */

static struct e2e_run *
tmux(const char *words)
{
	return e2e_sh(fleet_root(),
	    e2e_path("tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
		     "-f /dev/null %s",
		words));
}

static void
start_session(const char *name, const char *role)
{
	e2e_expect(tmux(e2e_path("new-session -d -s llmc-%s "
				 "'echo words of the repair; exec sleep 600' "
				 "\\; set-option @llmc_role %s "
				 "\\; set-option @llmc_worker %s "
				 "\\; set-option -F @llmc_pane '#{pane_id}'",
		       name, role, name)),
	    0, NULL);
}

static bool
has_session(const char *name)
{
	return tmux(e2e_path("has-session -t =llmc-%s", name))->status == 0;
}

/* The daemon has looked for sessions without a worker, and ended one. */
static void
wait_for_patrol(void)
{
	int64_t end = clock_mono_ms() + 30000;

	start_session("ghost", "worker");
	while (has_session("ghost"))
		ck_assert_msg(clock_mono_ms() < end, "there is no patrol");
}

START_TEST(its_session_can_be_looked_at)
{
	int64_t end = clock_mono_ms() + 30000;
	struct json_object *json;

	fleet_begin();
	fleet_fails("no remediation is running", "peek", "overseer", NULL);
	fleet_fails("there is no session", "attach", "overseer", NULL);
	start_session("overseer", "overseer");
	json = e2e_json(
	    e2e_llmc(fleet_root(), "--json", "attach", "overseer", NULL), 0);
	e2e_has(shown_member(json, "attach"), "attach -t '=llmc-overseer'");
	fleet_fails("no terminal", "attach", "overseer", NULL);
	json = e2e_json(
	    e2e_llmc(fleet_root(), "--json", "peek", "overseer", NULL), 0);
	ck_assert_str_eq(shown_member(json, "worker"), "overseer");
	while (strstr(fleet_do("peek", "overseer", "--lines", "3", NULL)->out,
		   "words of the repair\n") == NULL)
		ck_assert_msg(clock_mono_ms() < end, "its words do not come");
}
END_TEST

START_TEST(no_command_ends_its_session)
{
	fleet_begin();
	fleet_up();
	fleet_add("adam");
	start_session("overseer", "overseer");
	wait_for_patrol();
	fleet_fails("reserved", "add", "overseer", NULL);
	fleet_fails("overseer", "nuke", "overseer", "--yes", NULL);
	fleet_fails("overseer", "nuke", "llmc-overseer", "--yes", NULL);
	fleet_fails("overseer", "reset", "overseer", "--yes", NULL);
	e2e_llmc(fleet_root(), "doctor", "--repair", "--yes", NULL);
	e2e_lacks(e2e_llmc(fleet_root(), "doctor", NULL)->out, "llmc-overseer");
	fleet_do("reset", "--all", "--yes", NULL);
	fleet_wait("adam", "idle");
	ck_assert(has_session("overseer"));
	fleet_do("nuke", "--all", "--yes", NULL);
	fleet_do("down", NULL);
	ck_assert(has_session("overseer"));
}
END_TEST

START_TEST(down_by_force_ends_the_daemon_of_an_overseer)
{
	int lock;

	fleet_begin();
	fleet_up();
	lock = hold_lock(fleet_root());
	write_overseer(fleet_root(), "Running", true, "");
	fleet_fails("Ctrl-C", "down", NULL);
	ck_assert_int_gt(fleet_daemon_pid(), 0);
	fleet_do("down", "--force", NULL);
	fleet_fails("llmc up", "down", "--force", NULL);
	close(lock);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("overseer-cli");
	const TTest *const files[] = {
		options_are_checked_before_anything_starts,
		options_are_passed_on_and_the_exit_status_is_the_overseers,
		clearing_is_remembered, shells_complete_it,
		without_a_history_there_is_no_failure,
		the_same_failures_are_told_together_the_newest_last,
		failures_are_all_there_for_programs,
		what_was_cleared_is_shown_when_asked_for,
		a_repair_outlives_the_memory_of_its_failure,
		status_without_an_overseer_does_not_speak_of_it,
		status_tells_how_the_overseer_is,
		status_tells_what_is_being_repaired,
		an_overseer_that_vanished_is_not_running,
		an_overseer_that_has_not_registered_is_starting,
		each_end_is_told_with_what_to_type,
		down_and_nuke_all_are_refused_while_an_overseer_lives,
		a_worker_may_not_repair_and_who_repairs_may,
		doctor_asks_for_a_remediation_prompt_where_auto_mode_is_used,
		doctor_tells_what_keeps_an_overseer_from_starting,
		doctor_knows_a_state_that_is_not_this_roots,
		doctor_takes_the_overseers_worktree_for_no_workers, NULL
	};
	const TTest *const fleets[] = { its_session_can_be_looked_at,
		no_command_ends_its_session,
		down_by_force_ends_the_daemon_of_an_overseer, NULL };

	for (size_t i = 0; files[i] != NULL; i++) {
		TCase *tc = tcase_create(files[i]->name);

		tcase_set_timeout(tc, 60);
		tcase_add_checked_fixture(tc, shown_setup, NULL);
		tcase_add_test(tc, files[i]);
		suite_add_tcase(s, tc);
	}
	for (size_t i = 0; fleets[i] != NULL; i++) {
		TCase *tc = tcase_create(fleets[i]->name);

		tcase_set_timeout(tc, 120);
		tcase_add_checked_fixture(tc, NULL, fleet_end);
		tcase_add_test(tc, fleets[i]);
		suite_add_tcase(s, tc);
	}
	return s;
}
