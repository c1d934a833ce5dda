/* SPDX-License-Identifier: ISC */

/* The landing queue with a check: what surrounds the decisions of
 * landing-plan.h. */
#include "landing-world.h"
#include "landing-private.h"
#include "landing-record.h"

static struct landing_record *
record_of(void)
{
	return &floor_world.core->state.landings;
}

static void
begin(const char *settings)
{
	landing_world_begin(settings);
	floor_world_errands();
}

/* --- the setup of the check's worktree -------------------------------- */

/* The command needs what setup made of the file "needs". */
#define SETUP                                                         \
	"setup_command = \"cat needs >made 2>/dev/null || echo none " \
	">made\"\n"                                                   \
	"[auto]\ncheck_command = \"test \\\"$(cat made)\\\" = "       \
	"\\\"$(cat needs || echo none)\\\"\"\n"

TEST(nobody_is_blamed_for_an_old_setup)
{
	begin(SETUP);
	floor_world_sh("echo made >.git/info/exclude");
	landing_world_work("adam", "b.txt", "two");
	landing_world_work("eve", "needs", "more");
	ck_assert_ptr_null(landing_world_accept("adam"));
	ck_assert_ptr_null(landing_world_accept("eve"));
	landing_world_main("by eve,by adam,first,");
}

/* Once for each content of the file, and from the start. */
TEST(a_slot_is_set_up_again_for_another_lock_file)
{
	begin("setup_when = [\"lock\"]\n"
	      "setup_command = \"cat lock >made; echo $LLMC_INDEX "
	      ">>../../setups; test ! -e old && touch old\"\n"
	      "[auto]\ncheck_command = \"cmp made lock\"\n");
	floor_world_sh("printf 'made\\nold\\n' >.git/info/exclude; echo 1 "
		       ">lock; git add lock; git commit -qm lock");
	landing_world_work("adam", "b.txt", "two");
	ck_assert_ptr_null(landing_world_accept("adam"));
	landing_world_work("bob", "c.txt", "three");
	ck_assert_ptr_null(landing_world_accept("bob"));
	ck_assert_str_eq(floor_world_sh("cat .llmc/setups"), "201");
	landing_world_work("eve", "lock", "more");
	ck_assert_ptr_null(landing_world_accept("eve"));
	ck_assert_str_eq(floor_world_sh("cat .llmc/setups"), "201\n201");
	landing_world_main("by eve,by bob,by adam,lock,first,");
}

TEST(work_that_breaks_the_setup_does_not_land)
{
	const char *said;

	begin("setup_command = \"test ! -e bad || { echo no; exit 3; }\"\n"
	      "[auto]\ncheck_command = \"true\"\n");
	landing_world_work("adam", "bad", "two");
	said = landing_world_accept("adam");
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_nonnull(strstr(said, "it fails auto.check_command"));
	landing_world_main("first,");
}

/* --- slots ------------------------------------------------------------ */

#define WAIT "check_command = \"until test -e ../../go; do sleep 0.05; done\"\n"

/* A check in a slot that no longer exists would run without a deadline. */
TEST(checks_end_with_their_slots)
{
	begin("[auto]\ncheck_slots = 2\n" WAIT);
	landing_world_work("adam", "b.txt", "two");
	landing_world_work("eve", "c.txt", "three");
	floor_world_call("worker.accept", "adam", "");
	floor_world_call("worker.accept", "eve", "");
	floor_world_until(
	    floor_world_sh(
		"ls .llmc/checks/run-1/*.pid .llmc/checks/run-2/*.pid "
		"2>/dev/null | sed -n 2p")[0] != '\0');
	floor_world_sh(
	    "sed -i 's/check_slots = 2/check_slots = 1/' .llmc/config.toml");
	landing_world_reopen();
	floor_world_until(floor_world_sh("ls .llmc/checks/run-2")[0] == '\0');
	floor_world_sh("touch .llmc/go");
	floor_world_wait_status(
	    fleet_find(floor_world.fleet, "adam"), WORKER_OFFLINE);
	landing_world_main("by eve,by adam,first,");
}

/* --- the branch ------------------------------------------------------- */

TEST(a_branch_that_is_gone)
{
	struct agent *adam;

	begin("[auto]\n" WAIT);
	adam = landing_world_work("adam", "b.txt", "two");
	floor_world_call("worker.accept", "adam", "");
	landing_world_wait(adam, "queued");
	floor_world_settle();
	floor_world_sh("git branch -m main other");
	landing_world_reopen();
	adam = fleet_find(floor_world.fleet, "adam");
	floor_world_wait_status(adam, WORKER_NEEDS_REVIEW);
	ck_assert_ptr_nonnull(
	    strstr(adam->worker->reason, "cannot read the branch main"));
	floor_world_sh("git branch -m other main; touch .llmc/go");
	ck_assert_ptr_null(landing_world_accept("adam"));
	landing_world_main("by adam,first,");
}

/* So that it is told of again if it gets red again. */
TEST(a_branch_is_red_until_it_is_fixed)
{
	struct floor_call *call;

	setenv("TOLD", unit_path("told"), 1);
	begin(
	    "[people.channels.told]\ntype = \"command\"\ncommand = "
	    "\"cat >$TOLD.part; mv $TOLD.part $TOLD\"\n[auto]\ncheck_command = \"test -e pass\"\n");
	landing_world_work("adam", "b.txt", "two");
	call = floor_world_call("worker.accept", "adam", "");
	floor_world_until(record_of()->red_told != NULL);
	floor_world_until(access(unit_path("told"), F_OK) == 0);
	ck_assert_ptr_nonnull(strstr(
	    floor_world_sh("cat $TOLD"), "main itself fails its check at"));
	landing_world_meanwhile("pass", "it");
	queue_base_changed(landing_world.landings->queue);
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_ptr_null(record_of()->red_told);
}
