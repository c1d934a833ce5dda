/* SPDX-License-Identifier: ISC */

/*
 * The command line around the overseer: what it passes on, and what it refuses
 * while an overseer runs. The overseer is replaced by files, a held lock and a
 * tmux session.
 */
#include "fleet.h"
#include "overseer-world.h"
#include "shown.h"

/* --- llmc overseer --------------------------------------------------- */

const int unit_timeout = 120; /* seconds, each */

TEST_IN(shown_setup, options_are_checked_before_anything_starts)
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

/* Next to a copy of llmc, an overseer that records how it was called. */
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

TEST_IN(shown_setup, options_are_passed_on_and_the_exit_status_is_the_overseers)
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

TEST_IN(shown_setup, clearing_is_remembered)
{
	struct json_object *json;

	e2e_expect(e2e_llmc(shown_root, "overseer", "--clear",
		       "more disk\033[1m", NULL),
	    0, NULL);
	json = shown_json("log failures", NULL, NULL);
	ck_assert_str_eq(
	    shown_member(json_object_object_get(json, "cleared"), "words"),
	    "more disk\033[1m");
	e2e_has(shown_must("log failures", NULL, NULL)->out,
	    "No failures since the last --clear.\n");
	e2e_has(
	    shown_must("log failures", NULL, NULL)->out, "more disk\\x1b[1m");
}

TEST_IN(shown_setup, shells_complete_it)
{
	const char *words = e2e_llmc(
	    shown_root, "completion", "words", "--", "overseer", "--", NULL)
				->out;

	e2e_has(words, "--task-pool-command\t");
	e2e_has(words, "--clear\t");
	e2e_has(words, "--detach\t");
	e2e_has(e2e_llmc(shown_root, "completion", "words", "--", "log", "fail",
		    NULL)
		    ->out,
	    "failures\t");
}

/* --- protection ------------------------------------------------------ */

TEST_IN(shown_setup, down_and_nuke_all_are_refused_while_an_overseer_lives)
{
	int lock = overseer_world_lock(shown_root);

	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1, "Ctrl-C");
	e2e_lacks(e2e_llmc(shown_root, "down", NULL)->err, "kill");
	overseer_world_write(shown_root, "Running", true, "");
	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1,
	    e2e_path("kill %d", (int)getpid()));
	e2e_json_error(e2e_llmc(shown_root, "--json", "down", NULL), 1,
	    "overseen", "--force");
	e2e_json_error(
	    e2e_llmc(shown_root, "--json", "nuke", "--all", "--yes", NULL), 1,
	    "overseen", "nuke --all --force");
	e2e_has(e2e_llmc(shown_root, "nuke", "--all", "--force", "--yes", NULL)
		    ->out,
	    "There are no workers");
	/* No daemon runs, so this is the result of --force. */
	e2e_expect(e2e_llmc(shown_root, "down", "--force", NULL), 1, "llmc up");
	close(lock);
	e2e_expect(e2e_llmc(shown_root, "down", NULL), 1, "llmc overseer");
	e2e_has(e2e_llmc(shown_root, "nuke", "--all", "--yes", NULL)->out,
	    "There are no workers");
}

TEST_IN(shown_setup, a_worker_may_not_repair_and_who_repairs_may)
{
	static const char *const both[][2] = { { "down", NULL },
		{ "nuke", "x" }, { "accept", "x" }, { "pick", "x" },
		{ "resume", NULL }, { "doctor trust", NULL },
		{ "overseer", NULL } };
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
	ck_assert(e2e_exists(shown_file("llmc.db"))); /* rebuilt */
	/* Anyone may look. */
	e2e_env("LLMC_WORKER=auto-1");
	e2e_has(e2e_llmc(shown_root, "doctor", NULL)->out, "ok    state");
	shown_must("log failures", NULL, NULL);
}

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

/* The daemon has patrolled for sessions without a worker, and ended one. */
static void
wait_for_patrol(void)
{
	start_session("ghost", "worker");
	while (has_session("ghost"))
		ck_assert_msg(!unit_is_late(), "there is no patrol");
}

TEST(its_session_can_be_looked_at)
{
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
		ck_assert_msg(!unit_is_late(), "its words do not come");
}

TEST(no_command_ends_its_session)
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

TEST(down_by_force_ends_the_daemon_of_an_overseer)
{
	int lock;

	fleet_begin();
	fleet_up();
	lock = overseer_world_lock(fleet_root());
	overseer_world_write(fleet_root(), "Running", true, "");
	fleet_fails("Ctrl-C", "down", NULL);
	ck_assert_int_gt(fleet_daemon_pid(), 0);
	fleet_do("down", "--force", NULL);
	fleet_fails("llmc up", "down", "--force", NULL);
	close(lock);
}
