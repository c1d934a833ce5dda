/* SPDX-License-Identifier: ISC */

/* A book that another program replaces, a state that cannot be right, and
 * workers that are taken away. */
#include "autorun.h"
#include "filed.h"

#define OTHER_ID "00000000-0000-4000-8000-000000000000"

void
unit_before(void)
{
	fleet_begin();
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

/* --- replaced during a run ------------------------------------ */

const int unit_timeout = 120; /* seconds, each */

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
	const char *text;

	auto_put_state(wrong);
	text = e2e_sh(fleet_root(), "\"$STATE\"")->out;
	ck_assert_int_eq(auto_run(NULL), 1);
	e2e_has(auto_output(), words);
	e2e_has(auto_output(), "doctor --rebuild");
	ck_assert_str_eq(e2e_sh(fleet_root(), "\"$STATE\"")->out, text);
	auto_no_sessions();
	auto_put_state(good);
	run_to_the_end();
}

TEST(a_state_of_another_root_is_refused)
{
	struct json_object *state = ended();

	json_set_string(state, "root_id", OTHER_ID);
	check_refused(state, "belongs to another root");
}

TEST(a_state_that_lost_all_its_workers_is_refused)
{
	struct json_object *state = ended();

	drop_worker(state, "auto-1");
	drop_worker(state, "auto-2");
	check_refused(state, "lists 2 auto workers and has none of them");
}

TEST(workers_that_are_missing_are_made_again)
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

/* What a person does is not damage. */
TEST(workers_that_a_person_removed_are_made_again)
{
	json_object_put(ended());
	fleet_do("nuke", "--all", "--yes", NULL);
	run_to_the_end();
	auto_no_complaints();
}

/* Whoever looks, with no daemon: not as if nothing had ever been here. */
static void
check_lookers(void)
{
	static const char *const lookers[] = { "status", "task list", "report",
		"top", "report stats", "task iterations auto-1", "why auto-1",
		"report metrics", "nuke --all --yes", "doctor store check",
		"doctor store export", "doctor store sql 'SELECT 1'",
		"doctor" };

	for (size_t i = 0; i < nitems(lookers); i++) {
		const struct e2e_run *got = e2e_sh(fleet_root(),
		    e2e_path("\"%s\" %s 2>&1", e2e_llmc_path(), lookers[i]));

		ck_assert_msg(strstr(got->out, "llmc.db is gone") != NULL &&
			strstr(got->out, "llmc doctor --rebuild") != NULL,
		    "llmc %s: %s", lookers[i], got->out);
		ck_assert_int_eq(got->status, 1);
	}
}

/* Not a new beginning: what was known is lost, and that is said. */
TEST(a_state_that_was_lost_is_said)
{
	static const char *const lost[] = { "rm -f .llmc/llmc.db*",
		"rm -f .llmc/llmc.db* .llmc/root_id" };
	struct json_object *good = ended();

	for (size_t i = 0; i < nitems(lost); i++) {
		e2e_expect(e2e_sh(fleet_root(), lost[i]), 0, NULL);
		ck_assert_int_eq(auto_run(NULL), 1);
		e2e_has(auto_output(), "llmc.db is gone");
		e2e_has(auto_output(), "llmc doctor --rebuild");
		ck_assert(
		    !e2e_exists(e2e_path("%s/.llmc/llmc.db", fleet_root())));
		e2e_expect(
		    e2e_llmc(fleet_root(), "add", "adam", NULL), 1, "is gone");
		check_lookers();
		auto_put_state(good);
	}
	run_to_the_end();
}

/* --- something else in the place of a file ------------------------ */

/* What another program has put there is neither written through nor waited
 * for: the daemon says what is in its way, or does without the file. */
TEST(nothing_in_our_folder_leads_elsewhere)
{
	static const char script[] =
	    "set -eu; echo theirs >victim\n"
	    "for f in llmc.db panes.json state.lock daemon.json tmux.conf root_id "
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

TEST(the_heartbeat_is_private)
{
	auto_up(NULL);
	fleet_wait("auto-1", "idle");
	auto_wait_shell("[ -s .llmc/auto.heartbeat ]");
	auto_wait_shell("[ $(stat -c %a .llmc/auto.heartbeat) = 600 ]");
	auto_drain();
}

/* What the overseer has to know of the work. */
TEST(the_heartbeat_says_who_is_expected_to_work)
{
	struct json_object *beat, *state;

	auto_set("auto.concurrency", "2");
	auto_set("overseer.heartbeat_timeout", "7s");
	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	fleet_wait("auto-2", "idle");
	auto_wait_gate("a");
	auto_wait_shell("grep -q '\"auto-1 working task t1 since ' "
			".llmc/auto.heartbeat");
	beat = auto_heartbeat();
	state = auto_state();
	ck_assert_str_eq(auto_member(beat, "expected"), "[ \"auto-1\" ]");
	ck_assert_str_eq(auto_member(beat, "activity_unix"),
	    auto_member(state, "last_task_assignment_unix"));
	json_object_put(beat);
	json_object_put(state);
	fleet_do("pause", "auto-1", NULL);
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	auto_wait_shell("grep -q '\"expected\":\\[\\]' .llmc/auto.heartbeat");
	auto_drain();
}

/* --- taken away in the middle of a task ---------------------------- */

TEST(a_worker_that_is_nuked_is_made_again)
{
	struct json_object *task;

	auto_task("a.md", "fake: commit a.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	auto_wait_gate("a");
	fleet_do("nuke", "auto-1", "--yes", NULL);
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_salvaged("auto-1", "a.txt");
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("task_assigned", "\"attempt\":\"1\""), 2);
	task = filed_last(fleet_root());
	ck_assert_str_eq(auto_member(task, "attempts"), "1");
	json_object_put(task);
}
