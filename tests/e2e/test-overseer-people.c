/* SPDX-License-Identifier: ISC */

/* What people are told. What no repair can help: under an overseer the fleet
 * keeps running and nothing is repaired. */
#include "overrun.h"

/* Notices are appended to a file, one per line. */
void
unit_before(void)
{
	over_begin();
	e2e_notify(fleet_root(),
	    e2e_path("cat >'%s'.$$; cat '%s'.$$ >>'%s'", e2e_scratch("told"),
		e2e_scratch("told"), e2e_scratch("told")));
}

/* Also what no person has to do anything about. */
static void
tell_everything(void)
{
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());

	e2e_write(config,
	    e2e_path("%slevels = [\"info\", \"warning\", \"critical\", "
		     "\"emergency\"]\n",
		e2e_read(config)));
}

static void
wait_told(const char *class, const char *words)
{
	auto_wait_shell(e2e_path("grep '\"class\":\"%s\"' '%s' | grep -qF '%s'",
	    class, e2e_scratch("told"), words));
}

/* A task lands as if nothing had happened. */
static void
goes_on(int daemon, int landed)
{
	auto_task("later.md", "Later\nfake: commit later.txt x");
	auto_wait_finished("landed", landed);
	over_undisturbed(daemon);
	over_stop();
	auto_no_complaints();
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_login_for_a_worker_driven_by_hand)
{
	int daemon;

	/* It is tried again before people are told. */
	auto_tune("login_probe=500 login_ask=1000");
	auto_ails("fake: fail 401 Please run /login");
	over_start();
	daemon = over_daemon(0);
	fleet_add("adam");
	fleet_start("adam", "Do it");
	fleet_wait("adam", "paused");
	e2e_has(fleet_do("status", NULL)->out, "or just wait");
	wait_told("login", "\"worker\":\"adam\"");
	auto_ails("");
	goes_on(daemon, 1);
}

TEST(a_typo_in_the_settings)
{
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());
	const char *good;
	int daemon;

	over_start();
	daemon = over_daemon(0);
	good = e2e_read(config);
	e2e_write(config, e2e_path("%s\n[auto\n", good));
	wait_told("settings", "the old ones stay in effect");
	e2e_write(config, good);
	auto_wait_logged("autod.log", "settings read again");
	goes_on(daemon, 1);
}

TEST(a_push_that_fails)
{
	int daemon;

	e2e_git(
	    fleet_root(), "remote", "add", "origin", "/no/such/place", NULL);
	auto_set("repo.upstream", "push");
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	wait_told("push", "/no/such/place");
	goes_on(daemon, 2);
}

/* --- without an overseer ---------------------------------------------- */

TEST(a_failure_without_an_overseer)
{
	auto_pool("exit 7");
	ck_assert_int_eq(auto_run(NULL), 1);
	wait_told("failure", "exit status 7");
	wait_told("failure", "\"program\":\"autod\"");
	e2e_lacks(e2e_read(e2e_scratch("told")), "\"class\":\"end\"");
}

TEST(a_task_that_fails_and_the_end_of_the_run)
{
	tell_everything();
	auto_set("auto.max_attempts", "1");
	auto_ails("fake: fail 400 too odd");
	auto_task("a.md", "A");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	wait_told("task", "too odd");
	wait_told("end", "tasks: 0 done, 1 failed");
}

TEST(a_repair_that_begins)
{
	tell_everything();
	over_remedy(0, "fake: run true");
	over_start();
	over_complain(over_daemon(0));
	wait_told("repair", OVER_COMPLAINT);
	over_stop();
}
