/* SPDX-License-Identifier: ISC */

/*
 * What is shown about the overseer: llmc log failures, llmc status and llmc
 * doctor. The overseer is replaced by files and a held lock.
 */
#include "overseer-world.h"
#include "shown.h"

/* --- llmc log failures --------------------------------------------------- */

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

TEST_IN(shown_setup, without_a_history_there_is_no_failure)
{
	struct json_object *json = shown_json("log failures", NULL, NULL);

	ck_assert_str_eq(shown_must("log failures", NULL, NULL)->out,
	    "No failures are recorded.\n");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "failures")),
	    0);
	ck_assert_ptr_null(json_object_object_get(json, "over"));
	ck_assert(!e2e_exists(shown_file("failures.jsonl")));
	e2e_expect(e2e_llmc(shown_root, "log", "failures", "x", NULL), 2,
	    "unexpected argument");
}

TEST_IN(shown_setup, the_same_failures_are_told_together_the_newest_last)
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
	out = shown_must("log failures", NULL, NULL)->out;
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
	/* It changes nothing. */
	ck_assert_str_eq(e2e_read(shown_file("failures.jsonl")), before);
}

TEST_IN(shown_setup, failures_are_all_there_for_programs)
{
	struct json_object *json, *groups, *group, *done;

	append_failures(died);
	append_failures(repaired);
	append_failures(source);
	append_failures(died_again);
	append_failures(gave_up);
	json = shown_json("log failures", NULL, NULL);
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

TEST_IN(shown_setup, what_was_cleared_is_shown_when_asked_for)
{
	const char *out;

	append_failures(died);
	append_failures(gave_up);
	append_failures(
	    "{\"kind\":\"clear\"," AT("40") ",\"words\":\"more memory\"}\n");
	out = shown_must("log failures", NULL, NULL)->out;
	e2e_has(out, "No failures since");
	e2e_has(out, "more memory");
	e2e_has(out, "llmc log failures --all");
	e2e_lacks(out, "signal 9");
	e2e_lacks(out, "will not start");
	out = shown_must("log failures", "--all", NULL)->out;
	e2e_has(out, "signal 9");
	e2e_has(out, "more memory");
	e2e_lacks(out, "--all");
	append_failures(source);
	out = shown_must("log failures", NULL, NULL)->out;
	e2e_has(out, "no folder\n  1 time");
	e2e_lacks(out, "signal 9");
}

TEST_IN(shown_setup, a_repair_outlives_the_memory_of_its_failure)
{
	struct json_object *json;

	append_failures(repaired);
	append_failures(
	    "{\"kind\":\"stall\"," AT("50") ",\"run_ms\":3600000}\n");
	e2e_has(shown_must("log failures", NULL, NULL)->out,
	    "died\n  older than the history\n");
	e2e_has(shown_must("log failures", NULL, NULL)->out,
	    "stall\n  1 time: 2026-01-31 ");
	e2e_has(shown_must("log failures", NULL, NULL)->out,
	    "after a run of 1h (a stall: restarted)\n");
	json = json_object_object_get(
	    shown_json("log failures", NULL, NULL), "failures");
	ck_assert_int_eq(
	    json_int_or(json_object_array_get_idx(json, 0), "count", -1), 0);
}

/* --- llmc status ----------------------------------------------------- */

static struct json_object *
overseer_json(void)
{
	return json_object_object_get(
	    shown_json("status", NULL, NULL), "overseer");
}

TEST_IN(shown_setup, status_without_an_overseer_does_not_speak_of_it)
{
	e2e_lacks(shown_must("status", NULL, NULL)->out, "OVERSEER");
	ck_assert_ptr_null(overseer_json());
	/* Nor if its file is broken. */
	e2e_write(shown_file("overseer.json"), "{");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "OVERSEER");
	e2e_write(shown_file("overseer.json"), "[1]");
	ck_assert_ptr_null(overseer_json());
}

TEST_IN(shown_setup, status_tells_how_the_overseer_is)
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
	int lock = overseer_world_lock(shown_root);

	overseer_world_write(shown_root, "Running", true, more);
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

TEST_IN(shown_setup, status_tells_what_is_being_repaired)
{
	static const char more[] =
	    ",\"attempt\":2,\"failure\":\"the daemon died\",\"daemon\":null";
	int lock = overseer_world_lock(shown_root);
	const char *out;

	overseer_world_write(shown_root, "Remediating", true, more);
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "Remediating  pid ");
	e2e_has(out, "\nRemediation attempt 2\nFailure: the daemon died\n");
	ck_assert_int_eq(json_int_or(overseer_json(), "attempt", 0), 2);
	overseer_world_write(shown_root, "Running", true, more);
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "\nLast failure: the daemon died\n");
	e2e_lacks(out, "attempt");
	close(lock);
}

TEST_IN(shown_setup, an_overseer_that_vanished_is_not_running)
{
	struct json_object *json;
	const char *out;

	/* The same pid, but not the same process. */
	overseer_world_write(shown_root, "Running", false,
	    ",\"daemon\":{\"pid\":77,\"started_unix\":1}");
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "\nnot running (it crashed or was killed)\n");
	e2e_has(out, "\nNEEDS YOU\n");
	e2e_lacks(out, "Nothing needs you");
	e2e_has(out, "-> start it again");
	e2e_lacks(out, "pid 77");
	json = overseer_json();
	ck_assert(!json_bool_or(json, "active", true));
	ck_assert_str_eq(shown_member(json, "state"), "not running");
	ck_assert_str_eq(shown_member(json, "registered_state"), "Running");
	ck_assert_ptr_null(json_object_object_get(json, "daemon"));
	ck_assert_ptr_null(json_object_object_get(json, "pid"));
	/* Alive, but without the lock: the pid belongs to another process
	 * now. */
	overseer_world_write(shown_root, "Remediating", true, "");
	e2e_has(shown_must("status", NULL, NULL)->out, "not running (it");
}

TEST_IN(shown_setup, an_overseer_that_has_not_registered_is_starting)
{
	int lock = overseer_world_lock(shown_root);

	e2e_has(shown_must("status", NULL, NULL)->out,
	    "OVERSEER\n--------\nStarting\n");
	/* What an earlier one wrote is ignored. */
	overseer_world_write(shown_root, "Terminated", false,
	    ",\"exit_status\":3,\"failure\":\"old\",\"events\":[\"old\"]");
	e2e_has(shown_must("status", NULL, NULL)->out, "--\nStarting\n");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "old");
	ck_assert_str_eq(shown_member(overseer_json(), "state"), "Starting");
	close(lock);
}

static const char *
status_after(int exit_status)
{
	overseer_world_write(shown_root, "Terminated", false,
	    e2e_path(
		",\"exit_status\":%d,\"failure\":\"it died\"", exit_status));
	ck_assert_int_eq(
	    json_int_or(overseer_json(), "exit_status", -1), exit_status);
	return shown_must("status", NULL, NULL)->out;
}

TEST_IN(shown_setup, each_end_is_told_with_what_to_type)
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
	e2e_has(out,
	    "-> see llmc log failures, fix the cause, then: llmc overseer\n");
	e2e_has(out, "not running  start it with: llmc overseer\n");
	e2e_has(e2e_llmc(shown_root, NULL)->out,
	    "\nNeeds you: overseer: it ended: a failure could not");
	e2e_expect(e2e_llmc(shown_root, "resume", NULL), 1,
	    "start it with: llmc overseer --detach\n");
	e2e_has(status_after(130), "exit status 130: forced to stop");
	e2e_has(status_after(99), "exit status 99: unknown reason");
}

/* --- llmc doctor ----------------------------------------------------- */

static const char *
doctor(void)
{
	return e2e_llmc(shown_root, "doctor", NULL)->out;
}

TEST_IN(shown_setup, doctor_does_without_a_remediation_prompt)
{
	struct state state;

	shown_fill_state(&state);
	shown_save(&state);
	e2e_has(doctor(), "ok    remediation a repair has built-in");
	e2e_expect(e2e_llmc(shown_root, "config", "set",
		       "overseer.remediation_prompt", "Look at x.", NULL),
	    0, NULL);
	e2e_has(doctor(), "ok    remediation overseer.remediation_prompt is");
}

TEST_IN(shown_setup, doctor_tells_what_keeps_an_overseer_from_starting)
{
	int lock;

	e2e_lacks(doctor(), "oversight");
	e2e_lacks(doctor(), "manual");
	overseer_world_write(shown_root, "Running", false, "");
	e2e_has(doctor(), "warn  oversight   overseer.json says \"Running\"");
	overseer_world_write(shown_root, "Terminated", false, "");
	e2e_lacks(doctor(), "oversight");
	lock = overseer_world_lock(shown_root);
	e2e_has(doctor(), "ok    oversight   running, but not");
	overseer_world_write(shown_root, "Remediating", true, "");
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

TEST_IN(shown_setup, doctor_knows_a_state_that_is_not_this_roots)
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

TEST_IN(shown_setup, doctor_takes_the_overseers_worktree_for_no_workers)
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
