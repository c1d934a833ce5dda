/* SPDX-License-Identifier: ISC */

/* The landing branch: chosen once, whatever is checked out. */
#include "landing-world.h"
#include "landing-record.h"
#include "landing-private.h"

#define CONFIG ".llmc/config.toml"

/* --- the choice ------------------------------------------------------- */

static void
assert_branch(const char *branch)
{
	ck_assert_str_eq(core_branch(floor_world.core), branch);
}

TEST(an_old_setup_gets_its_branch_once)
{
	landing_world_begin(NULL);
	floor_world_sh("sed -i /default_branch/d " CONFIG);
	landing_world_reopen();
	assert_branch("main");
	ck_assert_str_eq(floor_world_sh("grep default_branch " CONFIG),
	    "default_branch = \"main\"");
	floor_world_sh("git checkout -q -b other");
	landing_world_reopen();
	assert_branch("main");
}

TEST(a_change_waits_for_a_restart)
{
	landing_world_begin(NULL);
	floor_world_sh(
	    "git branch other; sed -i 's/\"main\"/\"other\"/' " CONFIG);
	floor_world_accept();
	life_reload(floor_world.core);
	assert_branch("main");
	landing_world_reopen();
	assert_branch("other");
}

/* There is none to choose, and one that is not there: no reason not to run. */
TEST(without_a_branch)
{
	landing_world_begin(NULL);
	floor_world_sh(
	    "git checkout -q --detach; sed -i /default_branch/d " CONFIG);
	landing_world_reopen();
	assert_branch("");
	ck_assert_str_eq(
	    floor_world_sh("grep -c default_branch " CONFIG " || :"), "0");
	floor_world_sh("git checkout -q main");
	landing_world_reopen();
	assert_branch("main");
}

/* --- what is checked out ---------------------------------------------- */

static const struct where_row {
	const char *script;
	const char *there; /* where the work is then; NULL = in no tree */
} where_rows[] = {
	{ ":", "b.txt" },
	{ "git checkout -q --detach", NULL },
	{ "git checkout -q -b mine", NULL },
	{ "git checkout -q -b mine; git worktree add -q .llmc/held main",
	    ".llmc/held/b.txt" },
	{ "git checkout -q --detach; git worktree add -q .llmc/held main",
	    ".llmc/held/b.txt" },
};

TEST_ROWS(work_lands_whatever_is_checked_out, nitems(where_rows))
{
	const struct where_row *row = &where_rows[_i];

	landing_world_begin(NULL);
	floor_world_sh(row->script);
	landing_world_reopen();
	landing_world_work("adam", "b.txt", "two");
	ck_assert_ptr_null(landing_world_accept("adam"));
	landing_world_main("by adam,first,");
	ck_assert_str_eq(floor_world_sh("ls b.txt .llmc/held/b.txt 2>&- || :"),
	    row->there != NULL ? row->there : "");
	if (row->there != NULL && row->there[0] == '.')
		ck_assert_str_eq(
		    floor_world_sh("git -C .llmc/held status --porcelain"), "");
}

/* --- the journal ------------------------------------------------------ */

static const struct journal_row {
	const char *old; /* how the branch of the journal is made */
	const char *main; /* what lands on the one of today */
} journal_rows[] = {
	{ "git branch old llmc/adam", "first," },
	{ "git branch old main", "by adam,first," },
	{ ":", "by adam,first," }, /* it is gone */
};

/* The journal is of a daemon with another landing branch. */
TEST_ROWS(a_move_of_another_branch_is_settled, nitems(journal_rows))
{
	const struct journal_row *row = &journal_rows[_i];
	struct landing_record *record;
	cleanup_free char *before = NULL;
	bool arrived = strcmp(row->main, "first,") == 0;

	landing_world_begin(arrived ? "upstream = \"push\"\n" : NULL);
	record = &floor_world.core->state.landings;
	landing_world.may_not_begin = true;
	landing_world_work("adam", "b.txt", "two");
	floor_world_call("worker.accept", "adam", "");
	landing_world_wait(NULL, "queued");
	floor_world_settle();
	floor_world_sh(row->old);
	before = xstrdup(floor_world_sh("git rev-parse --verify -q old || :"));
	xstrset(&record->branch, "old");
	xstrset(&record->from, floor_world_sh("git rev-parse main"));
	xstrset(&record->to, floor_world_sh("git rev-parse llmc/adam"));
	xstrset(&record->items[0]->commit, record->to);
	landing_world.may_not_begin = false;
	queue_look(landing_world.landings->queue);
	floor_world_until(!landings_busy(landing_world.landings));
	landing_world_main(row->main);
	landing_world_told("landed adam; ended adam landed; ");
	ck_assert_ptr_null(record->branch);
	ck_assert_ptr_null(record->push.unpushed); /* not the new branch */
	ck_assert_str_eq(
	    floor_world_sh("git rev-parse --verify -q old || :"), before);
}
