/* SPDX-License-Identifier: ISC */

/* What lies uncommitted where a repair works is not lost. */

#include "repair-world.h"

#define SAVED                                     \
	"git for-each-ref --format='%(refname)' " \
	"refs/llmc/salvage/overseer"

/* Of the user, before the repair. */
static const char mine[] =
    "echo mine >>a.txt; echo staged >s.txt; git add s.txt; "
    "echo later >>s.txt; echo u >u.txt; git config user.name u; git config "
    "user.email u@e.org";

/* The number of files is the same, or smaller, in each of these. */
TEST(a_repair_that_throws_work_away_has_failed)
{
	static const struct {
		const char *what, *named;
	} table[] = {
		{ "git checkout -q -- a.txt; echo x >x.txt",
		    "1 file that was not committed has been thrown away: "
		    "a.txt;" },
		{ "git stash -q -u",
		    "3 files that were not committed have been thrown away: "
		    "a.txt, s.txt, u.txt;" },
		{ "git reset -q --hard; git clean -qfd", "3 files that were" },
		{ "rm u.txt", "thrown away: u.txt;" },
		{ "rm u.txt; echo more >>a.txt",
		    "thrown away: u.txt; 1 file that was not committed has "
		    "been changed: a.txt;" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *restored = NULL;

		world_begin(false);
		repo_sh(w.repo, mine);
		restored = xstrdup(repo_sh(
		    w.repo, "git status --porcelain; cat a.txt s.txt u.txt"));
		world_work();
		/* Nothing was touched. */
		ck_assert_str_eq(repo_sh(w.repo,
				     "git status --porcelain; "
				     "cat a.txt s.txt u.txt"),
		    restored);
		repo_sh(w.repo, table[i].what);
		world_finds();
		free(world_stops());
		world_until_over();
		ck_assert_int_eq(w.outcome, REPAIR_FAILED);
		ck_assert_msg(strstr(w.words.data, table[i].named) != NULL,
		    "%s: %s", table[i].what, w.words.data);
		ck_assert_ptr_nonnull(
		    strstr(w.words.data, repo_sh(w.repo, SAVED)));
		ck_assert_str_eq(
		    repo_sh(w.repo,
			"s=$(" SAVED "); git show $s:a.txt $s:s.txt "
			"$s:u.txt; git show $s^2:s.txt"),
		    "one\nmine\nstaged\nlater\nu\nstaged");
		world_end();
	}
}

TEST(a_repair_that_leaves_it_alone_is_completed)
{
	world_begin(false);
	repo_sh(w.repo, mine);
	world_work();
	repo_sh(w.repo,
	    "echo fix >fix.txt; git add fix.txt; "
	    "git commit -q -m fix fix.txt; touch a.txt u.txt");
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, "the agent finished");
}

/* Editors, logs and databases write while a repair runs. */
TEST(a_file_that_somebody_wrote_is_told_and_no_failure)
{
	cleanup_free char *file = xasprintf("%s/told.json", unit_scratch());
	cleanup_free char *command =
	    xasprintf("cat >'%s.new'; mv '%s.new' '%s'", file, file, file);
	cleanup_buf struct buf told = BUF_INIT;

	world_begin(false);
	world_notify(command);
	repo_sh(w.repo, mine);
	world_work();
	repo_sh(w.repo, "echo more >>a.txt; echo other >u.txt");
	world_finds();
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_COMPLETED);
	ck_assert_ptr_nonnull(strstr(w.words.data,
	    WORLD_FOUND
	    "; and 2 files that were not committed have been "
	    "changed: a.txt, u.txt; as they were, they are kept as refs/"));
	ck_assert_str_eq(
	    repo_sh(w.repo, "s=$(" SAVED "); git show $s:a.txt $s:u.txt"),
	    "one\nmine\nu");
	world_end(); /* waits for the command */
	ck_assert_int_eq(file_read(file, 65536, &told, NULL), 0);
	ck_assert_ptr_nonnull(strstr(told.data, "a.txt, u.txt"));
	ck_assert_ptr_nonnull(strstr(told.data, "salvage"));
}

/* A clean checkout needs no ref. */
TEST(nothing_uncommitted_is_no_ref)
{
	world_begin(false);
	world_work();
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
	ck_assert_str_eq(repo_sh(w.repo, SAVED), "");
}

/* However it ends, the person is told. */
TEST(one_that_gives_up_is_compared_too)
{
	world_begin(false);
	repo_sh(w.repo, mine);
	world_work();
	repo_sh(w.repo,
	    "rm u.txt; echo help >.llmc/manual_intervention_needed_x.txt");
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_GAVE_UP);
	ck_assert_ptr_nonnull(strstr(w.words.data,
	    "a person is needed; and 1 file that was not committed has been "
	    "thrown away: u.txt"));
}

TEST(without_a_way_to_save_a_person_is_told)
{
	cleanup_free char *file = xasprintf("%s/told.json", unit_scratch());
	cleanup_free char *command =
	    xasprintf("cat >'%s.new'; mv '%s.new' '%s'", file, file, file);
	cleanup_buf struct buf told = BUF_INIT;

	world_begin(false);
	world_notify(command);
	repo_sh(w.repo, mine);
	repo_sh(w.repo, "mkdir -p .git/refs/llmc; >.git/refs/llmc/salvage");
	world_work();
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
	ck_assert_str_eq(repo_sh(w.repo, "cat a.txt"), "one\nmine");
	world_end(); /* waits for the command */
	ck_assert_int_eq(file_read(file, 65536, &told, NULL), 0);
	ck_assert_ptr_nonnull(strstr(told.data, "cannot be saved"));
}

/* A big file cannot be saved, and is no reason to leave all else broken. */
TEST(a_big_file_is_left_out)
{
	world_begin(false);
	repo_sh(w.repo, "truncate -s 60G big; echo u >u.txt");
	world_work();
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
	ck_assert_str_eq(
	    repo_sh(w.repo, "git ls-tree --name-only $(" SAVED "); ls"),
	    "a.txt\nu.txt\na.txt\nbig\nu.txt");
}

/* The fix of an earlier repair that could not land. */
TEST(the_worktree_of_repairs_is_saved_before_the_next)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo,
	    "cd .worktrees/overseer; echo fixed >fixed.txt; git add fixed.txt; "
	    "git commit -qm fix; echo half >half.txt; cd ../..; "
	    "echo in-the-way >fixed.txt");
	repair_stop(&w.o, true);
	ck_assert_ptr_null(w.o.repair);
	world_agent_exits();
	world_agent();
	repair_begin(&w.o, world_repaired);
	world_until_step("work");
	ck_assert_str_eq(
	    repo_sh(w.repo,
		"s=$(" SAVED "); git show $s:fixed.txt $s:half.txt; "
		"ls .worktrees/overseer"),
	    "fixed\nhalf\na.txt");
	repair_stop(&w.o, true);
}

TEST(it_can_be_ended_while_it_saves_and_compares)
{
	for (int i = 0; i < 4; i++) {
		bool drop = i % 2 == 1, compare = i / 2 == 1;

		world_begin(false);
		repo_sh(w.repo, mine);
		world_agent();
		repair_begin(&w.o, world_repaired);
		if (compare) {
			world_until_step("work");
			world_agent_ready();
			world_finds();
			free(world_stops());
		}
		world_until_step(compare ? "compare" : "keep");
		ck_assert_ptr_nonnull(w.o.repair);
		repair_stop(&w.o, drop);
		if (!drop)
			world_until_over();
		ck_assert_ptr_null(w.o.repair);
		ck_assert_int_eq(w.told, 1);
		world_end();
	}
}
