/* SPDX-License-Identifier: ISC */

/* llmc store, llmc why and llmc events with goals, while no daemon runs and
 * beside one. */
#include <stdlib.h>
#include <string.h>

#include "e2e.h"
#include "mem.h"

static const char *root;

static void
make_goal(void)
{
	root = e2e_workspace("a b");
	e2e_guard(root, "");
	e2e_expect(
	    e2e_llmc(root, "config", "set", "plan.enabled", "true", NULL), 0,
	    NULL);
	e2e_write(e2e_path("%s/plan.md", root),
	    "## One\n### First\nAcceptance:\n- it works\n### Second\n"
	    "Acceptance:\n- it works too\n");
	e2e_expect(e2e_llmc(root, "goal", "create", "--title", "Ship it",
		       "--plan-file", "plan.md", NULL),
	    0, NULL);
}

static struct e2e_run *
store(const char *verb, const char *arg)
{
	return e2e_llmc(root, "store", verb, arg, NULL);
}

static void
start_daemon(void)
{
	e2e_expect(e2e_llmc(root, "up", "--detach", NULL), 0, NULL);
}

static void
stop_daemon(void)
{
	e2e_expect(e2e_llmc(root, "down", NULL), 0, NULL);
}

static void
has_goal(void)
{
	struct e2e_run *run = e2e_llmc(root, "goal", "list", NULL);

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
}

/* --- export and import ------------------------------------------------- */

START_TEST(an_export_is_imported_without_loss)
{
	struct e2e_run *run;

	make_goal();
	e2e_expect(store("export", "one.json"), 0, NULL);
	run = store("export", NULL);
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, e2e_read(e2e_path("%s/one.json", root)));
	e2e_expect(store("import", "one.json"), 1, "llmc down");
	e2e_sh(root, "rm .llmc/store.db*");
	e2e_expect(store("import", "one.json"), 0, NULL);
	has_goal();
	e2e_expect(store("export", "two.json"), 0, NULL);
	ck_assert_str_eq(e2e_read(e2e_path("%s/one.json", root)),
	    e2e_read(e2e_path("%s/two.json", root)));
	ck_assert_str_eq(
	    e2e_sh(root, "ls .llmc | grep store-export || true")->out, "");
}
END_TEST

START_TEST(wrong_input_is_refused_with_words)
{
	make_goal();
	e2e_expect(store("import", NULL), 2, "llmc store import FILE");
	e2e_expect(store("frobnicate", NULL), 2, "no such subcommand");
	e2e_expect(e2e_llmc(root, "store", "compact", "--before", "x", NULL), 2,
	    "takes an age");
	e2e_expect(e2e_llmc(root, "store", "check", "--before", "1d", NULL), 2,
	    "takes no --before");
	e2e_expect(store("export", "none/x.json"), 1, "none/x.json");
	e2e_sh(root, "rm .llmc/store.db*");
	e2e_expect(store("import", "none.json"), 1, "none.json");
	e2e_write(e2e_path("%s/new.json", root), "{\"version\": 99}\n");
	e2e_expect(store("import", "new.json"), 1, "version 1 only");
	e2e_write(e2e_path("%s/bad.json", root), "{\"version\": 1, ");
	e2e_expect(store("import", "bad.json"), 1, "bad.json: byte ");
	e2e_json_error(
	    e2e_llmc(root, "--json", "store", "import", "bad.json", NULL), 1,
	    "failed", "bad.json");
}
END_TEST

START_TEST(a_store_of_a_newer_llmc_is_left_as_it_is)
{
	struct e2e_run *run;

	make_goal();
	/* The version is at byte 60. */
	e2e_sh(root,
	    "printf '\\0\\0\\377\\377' | dd of=.llmc/store.db bs=1 seek=60 "
	    "conv=notrunc 2>/dev/null; cp .llmc/store.db kept");
	e2e_expect(e2e_llmc(root, "goal", "list", NULL), 1, "newer");
	e2e_expect(store("export", "x.json"), 1, "newer");
	e2e_expect(store("import", "plan.md"), 1, "newer");
	e2e_expect(store("recover", NULL), 1, "nothing to recover");
	run = store("check", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->out, "newer");
	e2e_expect(e2e_sh(root, "cmp kept .llmc/store.db"), 0, NULL);
}
END_TEST

/* --- long jobs ---------------------------------------------------------- */

/* A fifo in the place of the file that is written waits for a reader. */
START_TEST(a_job_is_stopped_at_its_deadline_and_the_caller_is_told)
{
	make_goal();
	e2e_sh(root, "mkfifo out.json.part");
	e2e_hurry(600);
	e2e_expect(store("export", "out.json"), 1,
	    "stopped because it took more than 30 minutes");
	e2e_env("LLMC_TIME_SCALE");
	has_goal();
}
END_TEST

START_TEST(on_a_terminal_a_long_job_tells_for_how_long)
{
	struct e2e_run *run;

	make_goal();
	if (e2e_sh(root, "script -qec true /dev/null")->status != 0)
		return;
	e2e_sh(root, "mkfifo out.json.part");
	/* The reader comes when most of the second line is there. */
	run = e2e_sh(root,
	    "script -qec '\"$LLMC\" store export out.json' /dev/null | "
	    "{ head -c 60; cat out.json.part >/dev/null & cat; wait; }");
	e2e_has(run->out, "writing the store of goals: 1 s");
	run = e2e_sh(root, "script -qec '\"$LLMC\" store check' /dev/null");
	e2e_lacks(run->out, "checking the store of goals:");
}
END_TEST

/* --- damage ------------------------------------------------------------- */

/* The end of the file is missing. */
#define CUT                                                           \
	"f=.llmc/store.db; size=$(wc -c <\"$f\"); dd "                \
	"if=\"$f\" of=\"$f.new\" bs=4096 count=$((size / 4096 - 2)) " \
	"2>/dev/null; mv \"$f.new\" \"$f\""

static void
recovers(void)
{
	struct e2e_run *run = e2e_llmc(root, "goal", "list", NULL);

	e2e_expect(run, 1, "llmc store recover");
	e2e_expect(store("check", NULL), 1, "llmc store recover");
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/store.db", root)));
	run = store("recover", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "store.corrupt-");
	has_goal();
	e2e_expect(store("check", NULL), 0, NULL);
	e2e_expect(store("recover", NULL), 1, "with something in it");
}

START_TEST(a_damaged_store_means_safe_mode_until_it_is_recovered)
{
	make_goal();
	e2e_sh(root, CUT);
	recovers();
}
END_TEST

START_TEST(a_daemon_recovers_its_store_and_plans_again)
{
	struct e2e_run *run;

	make_goal();
	e2e_sh(root, CUT);
	start_daemon();
	recovers();
	e2e_expect(e2e_sh(root,
		       "\"${LLMC%/*}/../autod/autod\" --store-task import "
		       "--file plan.md"),
	    1, "type: llmc store import");
	run = e2e_llmc(root, "why", "T1.1", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
	stop_daemon();
	has_goal();
}
END_TEST

START_TEST(safe_mode_survives_a_restart_and_says_so)
{
	make_goal();
	e2e_sh(root, CUT);
	start_daemon();
	stop_daemon();
	start_daemon();
	e2e_expect(
	    e2e_llmc(root, "goal", "list", NULL), 1, "llmc store recover");
	e2e_expect(e2e_llmc(root, "status", NULL), 0, NULL);
	stop_daemon();
	/* It may also be given up. */
	e2e_sh(root, "mv .llmc/store.corrupt-* .");
	e2e_expect(e2e_llmc(root, "goal", "list", NULL), 0, NULL);
}
END_TEST

/* --- looking ------------------------------------------------------------ */

START_TEST(why_and_events_tell_of_a_goal)
{
	struct json_object *json;
	struct e2e_run *run;

	make_goal();
	run = e2e_llmc(root, "why", "T1.1", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "T1.1 is queued");
	json = e2e_json(e2e_llmc(root, "--json", "why", "T1.1", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "kind", ""), "node");
	e2e_expect(e2e_llmc(root, "why", "nobody", NULL), 1,
	    "nothing is known about nobody");
	run = e2e_llmc(root, "events", "--goal", "goal_", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
	e2e_expect(e2e_llmc(root, "events", "--goal", "nope", NULL), 1,
	    "there is no goal nope");
	/* The store has them without the log too, and once with it. */
	run = e2e_llmc(root, "events", "--json", NULL);
	e2e_json(run, 0);
	e2e_sh(root, "rm .llmc/logs/auto.log*");
	ck_assert_str_eq(
	    e2e_llmc(root, "events", "--json", NULL)->out, run->out);
	json = e2e_json(e2e_llmc(root, "--json", "store", "compact", "--before",
			    "0s", NULL),
	    0);
	ck_assert_int_eq(json_int_or(json, "removed", -1), 0);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("store");
	const TTest *const all[] = { an_export_is_imported_without_loss,
		wrong_input_is_refused_with_words,
		a_store_of_a_newer_llmc_is_left_as_it_is,
		a_job_is_stopped_at_its_deadline_and_the_caller_is_told,
		on_a_terminal_a_long_job_tells_for_how_long,
		a_damaged_store_means_safe_mode_until_it_is_recovered,
		a_daemon_recovers_its_store_and_plans_again,
		safe_mode_survives_a_restart_and_says_so,
		why_and_events_tell_of_a_goal, NULL };

	for (size_t i = 0; all[i] != NULL; i++) {
		TCase *tc = tcase_create(all[i]->name);

		tcase_set_timeout(tc, 60);
		tcase_add_test(tc, all[i]);
		suite_add_tcase(suite, tc);
	}
	return suite;
}
