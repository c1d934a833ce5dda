/* SPDX-License-Identifier: ISC */

/* The folder .llmc, or the socket in it, is removed while programs use it. */
#include "overrun.h"

static char *settings; /* of the world, for another .llmc */

void
unit_before(void)
{
	over_begin();
	e2e_notify(fleet_root(), e2e_path("cat >>'%s/told'", unit_scratch()));
	settings = xstrdup(e2e_read(fleet_file("config.toml")));
	auto_task(
	    "a.md", "A\nfake: write work.txt x\nfake: run %s", auto_gate("a"));
}

void
unit_after(void)
{
	free(settings);
	over_end();
}

/* Twice: a daemon that is just writing may be in the way. */
static void
remove_folder(void)
{
	e2e_expect(e2e_sh(fleet_root(), "rm -rf .llmc || rm -rf .llmc"), 0, "");
}

static void
set_up_again(void)
{
	remove_folder();
	fleet_do("init", NULL);
	e2e_write(fleet_file("config.toml"), settings);
	fleet_do("doctor", "--rebuild", "--yes", NULL);
}

/* A child of the daemon looks like it until it has called exec. */
static void
wait_daemons(int count)
{
	int pid;

	while (over_count_daemons(&pid) != count)
		poll(NULL, 0, 10);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_daemon_without_its_folder_ends_with_words)
{
	int agent;

	auto_up(NULL);
	auto_wait_gate("a");
	agent = fleet_agent_pid("auto-1");
	remove_folder();
	ck_assert_int_eq(auto_wait_exit(), 73);
	e2e_has(auto_output(), "was removed or replaced");
	e2e_has(e2e_read(e2e_path("%s/told", unit_scratch())),
	    "was removed or replaced");
	/* It wrote nothing there; the agents are gone, the work is not. */
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", fleet_root())));
	ck_assert(!over_alive(agent));
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/work.txt", fleet_worktree("auto-1"))), "x\n");
	set_up_again();
	auto_up(NULL);
	wait_daemons(1);
	auto_drain();
}

/* It could not look while it was stopped. */
TEST(a_daemon_that_was_replaced_leaves_the_other_alone)
{
	int old, now;

	fleet_up();
	old = fleet_daemon_pid();
	ck_assert_int_eq(kill(old, SIGSTOP), 0);
	set_up_again();
	fleet_up();
	now = fleet_daemon_pid();
	ck_assert_int_ne(now, old);
	fleet_add("adam");
	ck_assert_int_eq(kill(old, SIGCONT), 0);
	while (over_alive(old))
		poll(NULL, 0, 10); /* until it has noticed */
	ck_assert_int_eq(fleet_daemon_pid(), now);
	fleet_start("adam", "fake: commit work.txt x");
	fleet_wait("adam", "needs_review");
	wait_daemons(1);
}

TEST(an_overseer_does_not_repair_it)
{
	over_remedy(0, "fake: run touch repaired");
	over_start();
	over_daemon(0);
	auto_wait_gate("a");
	remove_folder();
	ck_assert_int_eq(over_wait_exit(), OVER_UNREPAIRED);
	e2e_has(over_output(), "No repair can help");
	e2e_has(over_output(), "llmc init");
	wait_daemons(0);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc", fleet_root())));
	ck_assert(!e2e_exists(e2e_path("%s/repaired", fleet_root())));
}

TEST(a_removed_socket_is_made_again)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	ck_assert_int_eq(remove(fleet_file("autod.sock")), 0);
	auto_wait_logged("autod.log", "it listens again");
	fleet_do("add", "adam", NULL);
	auto_open_gate("a");
	/* Something in its place is left alone until it is gone. */
	ck_assert_int_eq(remove(fleet_file("autod.sock")), 0);
	e2e_write(fleet_file("autod.sock"), "text");
	auto_wait_logged("autod.log", "is not a socket");
	ck_assert_int_eq(remove(fleet_file("autod.sock")), 0);
	auto_wait_shell("[ -S .llmc/autod.sock ]");
	fleet_do("add", "eve", NULL);
	over_undisturbed(daemon);
	over_stop();
}
