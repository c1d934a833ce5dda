/* SPDX-License-Identifier: ISC */

/* The landing queue with a check: what surrounds the decisions of
 * landing-plan.h. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "landing-record.h"
#include "landing-world.h"
#include "landing.h"
#include "queue.h"
#include "unit.h"

static struct landing_record *
record_of(struct landing_world *world)
{
	return &world->floor.core->state.landings;
}

static void
begin(struct landing_world *world, const char *settings)
{
	landing_world_begin(world, settings);
	floor_world_errands(&world->floor);
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
	struct landing_world world;

	begin(&world, SETUP);
	floor_world_sh(&world.floor, "echo made >.git/info/exclude");
	landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_work(&world, "eve", "needs", "more");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	ck_assert_ptr_null(landing_world_accept(&world, "eve"));
	landing_world_main(&world, "by eve,by adam,first,");
	landing_world_end(&world);
}

TEST(work_that_breaks_the_setup_does_not_land)
{
	struct landing_world world;
	const char *said;

	begin(&world,
	    "setup_command = \"test ! -e bad || { echo no; exit 3; }\"\n"
	    "[auto]\ncheck_command = \"true\"\n");
	landing_world_work(&world, "adam", "bad", "two");
	said = landing_world_accept(&world, "adam");
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_nonnull(strstr(said, "it fails auto.check_command"));
	landing_world_main(&world, "first,");
	landing_world_end(&world);
}

/* --- slots ------------------------------------------------------------ */

#define WAIT "check_command = \"until test -e ../../go; do sleep 0.05; done\"\n"

static bool
is_gone(void *arg)
{
	struct landing_world *world = arg;

	return floor_world_sh(&world->floor, "ls .llmc/checks/run-2")[0] ==
	    '\0';
}

static bool
runs_twice(void *arg)
{
	struct landing_world *world = arg;

	return floor_world_sh(&world->floor,
		   "ls .llmc/checks/run-1/*.pid .llmc/checks/run-2/*.pid "
		   "2>/dev/null | sed -n 2p")[0] != '\0';
}

/* A check in a slot that no longer exists would run without a deadline. */
TEST(checks_end_with_their_slots)
{
	struct landing_world world;

	begin(&world, "[auto]\ncheck_slots = 2\n" WAIT);
	landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_work(&world, "eve", "c.txt", "three");
	floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_call(&world.floor, "worker.accept", "eve", "");
	floor_world_wait(&world.floor, runs_twice, &world);
	floor_world_sh(&world.floor,
	    "sed -i 's/check_slots = 2/check_slots = 1/' .llmc/config.toml");
	landing_world_reopen(&world);
	floor_world_wait(&world.floor, is_gone, &world);
	floor_world_sh(&world.floor, "touch .llmc/go");
	floor_world_wait_status(&world.floor,
	    fleet_find(world.floor.fleet, "adam"), WORKER_OFFLINE);
	landing_world_main(&world, "by eve,by adam,first,");
	landing_world_end(&world);
}

/* --- the branch ------------------------------------------------------- */

TEST(a_branch_that_is_gone)
{
	struct landing_world world;
	struct agent *adam;

	begin(&world, "[auto]\n" WAIT);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	floor_world_call(&world.floor, "worker.accept", "adam", "");
	landing_world_wait(&world, adam, "queued");
	floor_world_settle(&world.floor);
	floor_world_sh(&world.floor, "git branch -m main other");
	landing_world_reopen(&world);
	adam = fleet_find(world.floor.fleet, "adam");
	floor_world_wait_status(&world.floor, adam, WORKER_NEEDS_REVIEW);
	ck_assert_ptr_nonnull(
	    strstr(adam->worker->reason, "cannot read the branch main"));
	floor_world_sh(
	    &world.floor, "git branch -m other main; touch .llmc/go");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	landing_world_main(&world, "by adam,first,");
	landing_world_end(&world);
}

static bool
is_red(void *arg)
{
	return record_of(arg)->red_told != NULL;
}

static bool
is_told(void *arg)
{
	(void)arg;
	return access(unit_path("told"), F_OK) == 0;
}

/* So that it is told of again if it gets red again. */
TEST(a_branch_is_red_until_it_is_fixed)
{
	struct landing_world world;
	struct floor_call *call;

	setenv("TOLD", unit_path("told"), 1);
	begin(&world,
	    "[people]\nnotify_command = \"cat >$TOLD.part; mv $TOLD.part "
	    "$TOLD\"\n[auto]\ncheck_command = \"test -e pass\"\n");
	landing_world_work(&world, "adam", "b.txt", "two");
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_wait(&world.floor, is_red, &world);
	floor_world_wait(&world.floor, is_told, &world);
	ck_assert_ptr_nonnull(strstr(floor_world_sh(&world.floor, "cat $TOLD"),
	    "main itself fails its check at"));
	landing_world_meanwhile(&world, "pass", "it");
	queue_base_changed(world.landings->queue);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_ptr_null(record_of(&world)->red_told);
	landing_world_end(&world);
}
