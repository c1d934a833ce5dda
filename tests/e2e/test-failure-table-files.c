/* SPDX-License-Identifier: ISC */

/* The failure table, rows 20 to 23: state, settings, socket, permissions. */
#include "enclave.h"
#include "overrun.h"

static void
finish(void)
{
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("work.txt: x", NULL);
}

static const char *
in_root(const char *name)
{
	return e2e_path("%s/.llmc/%s", fleet_root(), name);
}

/* Nothing can be read of it: the daemon cannot even start. The record of an old
 * failure must not be used for this one. */
START_TEST(a_corrupt_state_is_rebuilt)
{
	int daemon;

	over_remedy(_i, "fake: run llmc doctor --rebuild --yes");
	over_start();
	daemon = over_daemon(0);
	auto_wait_state("workers.auto-1.status", "idle");
	over_stop();
	e2e_write(in_root("llmc.db"), "nonsense");
	e2e_write(in_root("failure.json"), "{\"class\":\"of old\"}");
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	if (!over_recovers(_i, "start_failed", daemon)) {
		ck_assert_int_eq(auto_landed(), 0);
		return;
	}
	over_remembers("failure", "of old", 0);
	e2e_has(over_output(), "did not become ready");
	finish();
}
END_TEST

/* A test suite that the workers run writes to this root, several times. */
START_TEST(a_state_that_a_test_overwrites_is_repaired)
{
	const char *book = in_root("llmc.db");

	e2e_skip_sandboxed("a worker in a box cannot write the state");
	over_culprit(e2e_path("for i in 1 2 3 4 5 6 7 8; do echo "
			      "nothing >'%s.t' && mv '%s.t' '%s'; "
			      "sleep 0.1; done",
	    book, book, book));
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_remedy(_i, "%s", over_remove_culprit());
	over_start();
	if (over_recovers(_i, "\"state_overwritten\"", 0))
		finish();
	else
		ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

START_TEST(broken_settings_are_repaired)
{
	static const char toml_error[] =
	    "expected ']' after the table's name, found 'B'";
	/* That is what was repaired. */
	static const char toml_remedy[] = "expected after the table's name";
	const char *config = in_root("config.toml"), *good;
	int daemon;

	over_remedy(
	    _i, "fake: run sed -i /BROKEN/d \"$LLMC_ROOT/.llmc/config.toml\"");
	over_start();
	daemon = over_daemon(0);
	good = e2e_read(config);
	e2e_write(config, e2e_path("%s\n[auto BROKEN\n", good));
	auto_wait_logged("autod.log", "the old ones stay in effect");
	over_undisturbed(daemon);
	fleet_kill(daemon);
	if (_i) {
		over_recovers(_i, toml_error, daemon);
		over_remembers("failure", toml_error, 2);
		return;
	}
	over_wait_says("Remediation complete. Restarting");
	over_daemon(daemon);
	over_remembers("failure", toml_error, 1);
	over_remembers("remedy", toml_remedy, 1);
	ck_assert_int_ge(fleet_prompts(toml_error), 1);
	e2e_lacks(e2e_read(config), "BROKEN");
	auto_task("a.md", "A\nfake: commit work.txt x");
	finish();
}
END_TEST

/* First only its name is removed: hook events are spooled until it is there
 * again. Then the next daemon cannot bind it, which is the only failure. */
START_TEST(a_dead_socket_is_done_without_then_repaired)
{
	int daemon;

	over_remedy(_i, "fake: run rm -r \"$LLMC_ROOT/.llmc/autod.sock\"");
	auto_task(
	    "a.md", "A\nfake: commit work.txt x\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	/* The one of its hooks. */
	auto_wait_shell("rm $(find .llmc/run/auto-1 -type s)");
	auto_open_gate("a");
	auto_wait_finished("landed", 1);
	/* Filed and saved: one that is only filed is filed again. */
	auto_wait_shell("\"$STATE\" | tr -d '[:space:]' | "
			"grep -qF '\"tasks\":[]'");
	auto_wait_logged("autod.log", "it listens again");
	over_undisturbed(daemon);
	over_stop();
	/* A sandbox of another test, which hides all sockets that it sees, may
	 * have made an empty file where ours was. */
	remove(in_root("autod.sock"));
	ck_assert_int_eq(
	    file_mkdirs(in_root("autod.sock/in the way"), 0755, NULL), 0);
	over_start();
	if (!over_recovers(_i, "autod.sock exists and is not a socket", 0)) {
		over_remembers("failure", NULL, 2);
		ck_assert_int_eq(auto_landed(), 1);
		return;
	}
	over_remembers("failure", NULL, 1);
	ck_assert(!e2e_exists(in_root("autod.sock/in the way")));
	auto_task("b.md", "B\nfake: commit more.txt x");
	auto_wait_finished("landed", 2);
	over_stop();
	auto_history("work.txt: x", "more.txt: x", NULL);
}
END_TEST

START_TEST(permissions_are_repaired)
{
	const char *why = enclave_obey_modes();
	int daemon;

	if (why != NULL)
		unit_skip(why);
	over_remedy(_i, "fake: run chmod 700 \"$LLMC_ROOT/.llmc\"");
	auto_task(
	    "a.md", "A\nfake: commit work.txt x\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	ck_assert_int_eq(chmod(in_root(""), 0500), 0);
	auto_open_gate("a");
	if (_i == 0) {
		ck_assert(over_recovers(_i, "Permission denied", daemon));
		finish();
		return;
	}
	/* Nothing can be recorded there either, but it was counted. */
	over_ends(OVER_SPIRAL, "Permission denied");
	ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "20", a_corrupt_state_is_rebuilt },
		{ "20a", a_state_that_a_test_overwrites_is_repaired },
		{ "21", broken_settings_are_repaired },
		{ "22", a_dead_socket_is_done_without_then_repaired },
		{ "23", permissions_are_repaired },
	};

	return over_suite("failure-table-files", tests, nitems(tests));
}
