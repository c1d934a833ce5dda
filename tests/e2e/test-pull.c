/* SPDX-License-Identifier: ISC */

/* A pull brings other settings while programs run: they run nothing before a
 * person accepts them. */
#include "overrun.h"

#define CHANGED "is tracked by git and has changed"

/* git overwrites files that it ignores. */
static void
pull_settings(void)
{
	const char *root = fleet_root(), *up = unit_path("up");
	const char *config = e2e_path("%s/.llmc/config.toml", root);
	const char *text = e2e_read(config);

	e2e_git(root, "clone", "-q", ".", up, NULL);
	e2e_dir("up/.llmc");
	e2e_write(e2e_path("%s/.llmc/config.toml", up),
	    e2e_path("%s\n[workers.eve]\nagent_command = \"false\"\n", text));
	e2e_git(up, "add", "-f", ".llmc", NULL);
	e2e_git(up, "-c", "user.name=x", "-c", "user.email=x@example.invalid",
	    "commit", "-q", "-m", "Settings", NULL);
	e2e_git(root, "pull", "-q", up, "HEAD", NULL);
	e2e_has(e2e_read(config), "workers.eve");
}

static void
wait_read(int times)
{
	auto_wait_shell(e2e_path(
	    "[ \"$(grep -c 'settings read again' .llmc/logs/autod.log)\" -ge %d ]",
	    times));
}

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

TEST(the_daemon_keeps_what_was_accepted)
{
	int before, refused;

	fleet_up();
	fleet_add("adam");
	before = auto_logged("autod.log", "settings read again");
	pull_settings();
	auto_wait_logged("autod.log", CHANGED);
	ck_assert_int_eq(
	    auto_logged("autod.log", "settings read again"), before);
	refused = auto_logged("autod.log", CHANGED);
	/* What ends something needs no other settings. */
	fleet_do("status", NULL);
	fleet_do("pause", "adam", NULL);
	fleet_do("stop", "adam", NULL);
	fleet_fails(CHANGED, "add", "eve", NULL);
	/* Accepted; and so is what llmc itself changes. */
	fleet_do("init", NULL);
	wait_read(before + 1);
	fleet_do("config", "set", "auto.max_turns", "40", NULL);
	wait_read(before + 2);
	ck_assert_int_eq(auto_logged("autod.log", CHANGED), refused);
	fleet_do("add", "eve", NULL);
}

TEST(a_daemon_that_has_changed_settings_can_be_ended)
{
	fleet_up();
	pull_settings();
	auto_wait_logged("autod.log", CHANGED);
	fleet_do("down", NULL);
	fleet_fails(CHANGED, "down", NULL);
	fleet_fails(CHANGED, "status", NULL);
}

TEST(the_overseer_repairs_no_settings)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	pull_settings();
	auto_wait_logged("autod.log", CHANGED);
	fleet_kill(daemon);
	over_ends(OVER_UNREPAIRED, CHANGED);
	over_remembers("remedy", NULL, 0);
}
