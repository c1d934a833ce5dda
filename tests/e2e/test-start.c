/* SPDX-License-Identifier: ISC */

/* llmc start, given before a worker is ready: it waits for one that is on its
 * way, and for no other. */
#include "fleet.h"

#define GO "../go" /* seen from the root: the setup of a worktree may end */

static void
begin_and_up(void)
{
	fleet_begin();
	fleet_up();
}

/* A fleet whose worktrees are ready when a file is there. */
void
unit_before(void)
{
	fleet_begin();
	fleet_do("config", "set", "repo.setup_command",
	    e2e_path("until [ -e '%s/" GO "' ]; do sleep 0.02; done; "
		     "! grep -q fail '%s/" GO "'",
		fleet_root(), fleet_root()),
	    NULL);
	fleet_up();
}

static void
let_go(const char *how)
{
	e2e_write(e2e_path("%s/" GO, fleet_root()), how);
}

const int unit_timeout = 120; /* seconds, each */

TEST_IN(fleet_begin, the_first_steps_of_the_manual_can_be_pasted)
{
	e2e_expect(e2e_sh(fleet_root(),
		       "\"$LLMC\" up --detach && \"$LLMC\" add adam && "
		       "\"$LLMC\" start --prompt 'fake: commit a.txt a'"),
	    0, NULL);
	fleet_wait("adam", "needs_review");
}

/* The name of a worker needs no option. */
TEST_IN(begin_and_up, a_worker_is_named_by_its_name_alone)
{
	struct e2e_run *run;

	fleet_add("adam");
	fleet_add("eve");
	run = fleet_do("start", "eve", "--prompt", "fake: say x", NULL);
	e2e_has(run->out, "eve has the task");
	e2e_expect(e2e_llmc(fleet_root(), "start", "adam", "--worker", "eve",
		       "--prompt", "x", NULL),
	    2, "name one worker");
	e2e_expect(e2e_llmc(fleet_root(), "start", "Add a flag", NULL), 2,
	    "llmc start --prompt TEXT");
}

TEST(two_starts_get_two_workers)
{
	fleet_do("add", "adam", NULL);
	fleet_do("add", "eve", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "\"$LLMC\" start --prompt 'fake: say one' & one=$!\n"
		       "\"$LLMC\" start --prompt 'fake: say two' & two=$!\n"
		       "echo >" GO "\n"
		       "wait $one && wait $two"),
	    0, NULL);
	fleet_wait("adam", "no_changes");
	fleet_wait("eve", "no_changes");
	ck_assert_int_eq(fleet_prompts("say one"), 1);
	ck_assert_int_eq(fleet_prompts("say two"), 1);
}

TEST(who_gave_up_gets_nothing_started)
{
	fleet_do("add", "adam", NULL);
	/* The second one is still there when adam is ready. */
	e2e_expect(
	    e2e_sh(fleet_root(),
		"timeout -s INT 0.5 \"$LLMC\" start --prompt 'fake: say "
		"first'\n"
		"\"$LLMC\" start --prompt 'fake: say second' & second=$!\n"
		"echo >" GO "\n"
		"wait $second"),
	    0, NULL);
	fleet_wait("adam", "no_changes");
	ck_assert_int_eq(fleet_prompts("say first"), 0);
	ck_assert_int_eq(fleet_prompts("say second"), 1);
}

TEST(a_worker_that_fails_on_its_way_is_not_waited_for)
{
	struct e2e_run *run;

	fleet_do("add", "adam", NULL);
	let_go("fail");
	run = e2e_llmc(fleet_root(), "start", "--prompt", "fake: say x", NULL);
	e2e_expect(run, 1, "no worker is free: adam is error: ");
}

TEST(a_worker_whose_setup_takes_too_long_is_not_waited_for)
{
	fleet_do("config", "set", "repo.setup_timeout", "1s", NULL);
	fleet_do("add", "adam", NULL);
	fleet_fails("adam is error", "start", "--prompt", "fake: say x", NULL);
}

TEST(a_worker_that_works_is_not_waited_for)
{
	let_go("");
	fleet_add("adam");
	fleet_start("adam", "fake: sleep 60000");
	fleet_fails("no worker is free: adam is ", "start", "--prompt",
	    "fake: say x", NULL);
}

TEST(a_daemon_that_stops_refuses_it)
{
	struct e2e_run *run;

	fleet_do("add", "adam", NULL);
	run = e2e_sh(fleet_root(),
	    "\"$LLMC\" start --prompt 'fake: say x' & start=$!\n"
	    "\"$LLMC\" wait adam --until idle --timeout 300ms\n"
	    "\"$LLMC\" down >/dev/null; wait $start");
	e2e_expect(run, 1, "the daemon is stopping");
	e2e_has(run->err, "timed out: adam is in offline");
}
