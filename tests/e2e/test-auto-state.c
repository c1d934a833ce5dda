/* SPDX-License-Identifier: ISC */

/* A state that another program writes, and workers that are taken away. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "autorun.h"
#include "mem.h"
#include "scenarios.h"

#define OTHER_ID "00000000-0000-4000-8000-000000000000"

static void
begin(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
}

static void
drop_worker(struct json_object *state, const char *name)
{
	json_object_object_del(json_object_object_get(state, "workers"), name);
}

/* In the end everything is done. */
static void
run_to_the_end(void)
{
	int status = auto_run("--until-empty", NULL);

	ck_assert_msg(
	    status == 0, "status %d: %s", status, e2e_shown(auto_output()));
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("landed"), 1);
}

/* --- overwritten during a run ------------------------------------ */

enum damage {
	DAMAGE_OTHER_ROOT,
	DAMAGE_NO_WORKERS,
	DAMAGE_NONSENSE,
	DAMAGE_COUNT
};

static const struct {
	const char *class, *words;
} damages[DAMAGE_COUNT] = {
	[DAMAGE_OTHER_ROOT] = { "state_overwritten", "another root id" },
	[DAMAGE_NO_WORKERS] = { "state_overwritten", "0 of 1 auto workers" },
	[DAMAGE_NONSENSE] = { "state_corrupt", "damaged by another program" },
};

static void
do_damage(struct json_object *state, enum damage damage)
{
	if (damage == DAMAGE_OTHER_ROOT)
		json_set_string(state, "root_id", OTHER_ID);
	drop_worker(state, "auto-1");
	if (damage == DAMAGE_NONSENSE)
		e2e_write(e2e_path("%s/.llmc/state.json", fleet_root()),
		    "{ \"workers\": [");
	else
		auto_put_state(state);
}

/* If the daemon is just writing, it overwrites ours and there is nothing to
 * find: repeat until it was found. */
static void
damage_until_found(enum damage damage)
{
	const char *file = e2e_path("%s/.llmc/state.json", fleet_root());

	while (auto_failure() == NULL) {
		struct json_object *state = json_tokener_parse(e2e_read(file));

		if (auto_member(state, "workers.auto-1")[0] != '\0')
			do_damage(state, damage);
		json_object_put(state);
		poll(NULL, 0, 10); /* waits for the daemon */
	}
}

START_TEST(a_state_that_was_overwritten_stops_the_run)
{
	struct json_object *before, *after;

	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	auto_wait_gate("a");
	before = auto_state();
	damage_until_found((enum damage)_i);
	ck_assert_int_eq(auto_wait_exit(), 1);
	auto_failed(damages[_i].class, damages[_i].words);
	/* What was in memory is in the file again. */
	after = auto_state();
	ck_assert_str_eq(
	    auto_member(after, "root_id"), auto_member(before, "root_id"));
	ck_assert_str_eq(auto_member(after, "workers.auto-1.task"), "t1");
	auto_open_gate("a");
	run_to_the_end();
}
END_TEST

START_TEST(a_state_that_lost_some_workers_is_told_of)
{
	struct json_object *state;

	auto_set("auto.concurrency", "2");
	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	fleet_wait("auto-2", "idle");
	auto_wait_gate("a");
	while (auto_logged("autod.log", "lacks 1 of 2 auto workers") == 0) {
		state = auto_state();
		if (auto_member(state, "workers.auto-2")[0] != '\0') {
			drop_worker(state, "auto-2");
			auto_put_state(state);
		}
		poll(NULL, 0, 10); /* as above */
	}
	ck_assert_int_eq(auto_logged("autod.log", "\"level\":\"WARN\""), 1);
	auto_wait_state("workers.auto-2.status", "idle");
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_history("a.txt: x", NULL);
}
END_TEST

START_TEST(a_state_that_was_removed_is_written_again)
{
	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	auto_wait_gate("a");
	remove(e2e_path("%s/.llmc/state.json", fleet_root()));
	auto_wait_shell("[ -s .llmc/state.json ]");
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* --- found at the start ------------------------------------------- */

/* A run that has ended, with a task that is not done yet. */
static struct json_object *
ended(void)
{
	auto_set("auto.concurrency", "2");
	auto_up(NULL);
	fleet_wait("auto-1", "idle");
	fleet_wait("auto-2", "idle");
	auto_drain();
	auto_task("a.md", "fake: commit a.txt x");
	return auto_state();
}

/* The daemon does not start with it, and does not change it. */
static void
check_refused(struct json_object *wrong, const char *words)
{
	struct json_object *good = auto_state();
	const char *file = e2e_path("%s/.llmc/state.json", fleet_root());
	const char *text;

	auto_put_state(wrong);
	text = e2e_read(file);
	ck_assert_int_eq(auto_run(NULL), 1);
	e2e_has(auto_output(), words);
	e2e_has(auto_output(), "doctor --rebuild");
	ck_assert_str_eq(e2e_read(file), text);
	auto_no_sessions();
	auto_put_state(good);
	run_to_the_end();
}

START_TEST(a_state_of_another_root_is_refused)
{
	struct json_object *state = ended();

	json_set_string(state, "root_id", OTHER_ID);
	check_refused(state, "belongs to another root");
}
END_TEST

START_TEST(a_state_that_lost_all_its_workers_is_refused)
{
	struct json_object *state = ended();

	drop_worker(state, "auto-1");
	drop_worker(state, "auto-2");
	check_refused(state, "lists 2 auto workers and has none of them");
}
END_TEST

START_TEST(workers_that_are_missing_are_made_again)
{
	struct json_object *state = ended();

	drop_worker(state, "auto-1");
	auto_put_state(state);
	auto_up(NULL);
	fleet_wait("auto-1", "idle,working,starting");
	auto_wait_finished("landed", 1);
	auto_drain();
	ck_assert_int_eq(
	    auto_logged("autod.log", "1 of the auto workers are missing"), 1);
	auto_no_complaints();
}
END_TEST

/* What a person does is not damage. */
START_TEST(workers_that_a_person_removed_are_made_again)
{
	json_object_put(ended());
	fleet_do("nuke", "--all", "--yes", NULL);
	run_to_the_end();
	auto_no_complaints();
}
END_TEST

/* Not a new beginning: what was known is lost, and that is said. */
START_TEST(a_state_that_was_lost_is_said)
{
	static const char *const lost[] = {
		"rm -f .llmc/state.json .llmc/state.json.bak",
		"rm -f .llmc/state.json .llmc/state.json.bak .llmc/root_id"
	};
	struct json_object *good = ended();

	for (size_t i = 0; i < nitems(lost); i++) {
		e2e_expect(e2e_sh(fleet_root(), lost[i]), 0, NULL);
		ck_assert_int_eq(auto_run(NULL), 1);
		e2e_has(auto_output(), "state.json and its backup are gone");
		e2e_has(auto_output(), "llmc doctor --rebuild");
		ck_assert(
		    !e2e_exists(e2e_path("%s/.llmc/state.json", fleet_root())));
		e2e_expect(
		    e2e_llmc(fleet_root(), "add", "adam", NULL), 1, "are gone");
		auto_put_state(good);
	}
	run_to_the_end();
}
END_TEST

/* --- something else in the place of a file ------------------------ */

/* What another program has put there is neither written through nor waited
 * for: the daemon says what is in its way, or does without the file. */
START_TEST(nothing_in_our_folder_leads_elsewhere)
{
	static const char script[] =
	    "set -eu; echo theirs >victim\n"
	    "for f in state.json state.lock daemon.json tmux.conf root_id "
	    "auto.heartbeat.new logs/autod.log logs/autod.stderr\n"
	    "do for kind in 'ln -s ../victim' mkfifo mkdir\n"
	    "do	rm -rf keep; cp -a .llmc keep; rm -rf .llmc/$f\n"
	    "	case $kind$f in ln*/*) kind='ln -s ../../victim';; esac\n"
	    "	$kind .llmc/$f\n"
	    "	out=$(timeout 5 \"$L\" up --detach 2>&1) || case $? in\n"
	    "	124) echo \"$f, $kind: no answer\"; exit 1;;\n"
	    "	*) case $out in *\"/$f\"*) ;;\n"
	    "	*) echo \"$f, $kind: $out\"; exit 1;; esac;; esac\n"
	    "	timeout 10 \"$L\" down >/dev/null 2>&1 || [ $? != 124 ]\n"
	    "	[ \"$(cat victim)\" = theirs ] || "
	    "{ echo \"$f, $kind: written\"; exit 1; }\n"
	    "	rm -rf .llmc; mv keep .llmc\n"
	    "done; done";

	json_object_put(ended());
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("L='%s'; %s", e2e_llmc_path(), script)),
	    0, NULL);
}
END_TEST

START_TEST(the_heartbeat_is_private)
{
	auto_up(NULL);
	fleet_wait("auto-1", "idle");
	auto_wait_shell("[ -s .llmc/auto.heartbeat ]");
	auto_wait_shell("[ $(stat -c %a .llmc/auto.heartbeat) = 600 ]");
	auto_drain();
}
END_TEST

/* --- taken away in the middle of a task ---------------------------- */

static void
take_away(const char *command)
{
	struct json_object *task;

	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	auto_wait_gate("a");
	fleet_do(command, "auto-1", "--yes", NULL);
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_salvaged("auto-1", "a.txt");
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("task_assigned", "\"attempt\":\"1\""), 2);
	task = json_tokener_parse(
	    e2e_read(e2e_path("%s/.llmc/tasks.jsonl", fleet_root())));
	ck_assert_str_eq(auto_member(task, "attempts"), "1");
	json_object_put(task);
}

START_TEST(the_task_of_a_worker_that_is_reset_waits_again)
{
	take_away("reset");
}
END_TEST

START_TEST(a_worker_that_is_nuked_is_made_again)
{
	take_away("nuke");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("auto-state");
	const TTest *const all[] = { a_state_that_lost_some_workers_is_told_of,
		a_state_that_was_removed_is_written_again,
		a_state_of_another_root_is_refused,
		a_state_that_lost_all_its_workers_is_refused,
		a_state_that_was_lost_is_said,
		nothing_in_our_folder_leads_elsewhere, the_heartbeat_is_private,
		workers_that_are_missing_are_made_again,
		workers_that_a_person_removed_are_made_again,
		the_task_of_a_worker_that_is_reset_waits_again,
		a_worker_that_is_nuked_is_made_again };
	TCase *tc = tcase_create("overwritten");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_loop_test(
	    tc, a_state_that_was_overwritten_stops_the_run, 0, DAMAGE_COUNT);
	suite_add_tcase(s, tc);
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
