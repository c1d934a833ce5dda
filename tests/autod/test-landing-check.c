/* SPDX-License-Identifier: ISC */

/* The checks of the landing queue: what a result counts for, and worktrees that
 * are none any more. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "box-probe.h"
#include "check-book.h"
#include "landing-world.h"
#include "landing.h"
#include "mem.h"
#include "unit.h"

#define JUDGED                                    \
	"[auto]\nprotected_paths = [\"judge\"]\n" \
	"check_command = \"echo ran >>../../ran; sh ./judge\"\n"

/* With the real llmc, which runs errands. */
static void
begin(struct landing_world *world, const char *settings)
{
	landing_world_begin(world, settings);
	floor_world_sh(&world->floor, "rm \"$B/bin/llmc\"");
}

static const struct check_book *
book_of(const struct landing_world *world)
{
	return &world->floor.core->state.landings.checks;
}

static struct floor_call *
accept(struct landing_world *world, const char *worker)
{
	return floor_world_call(
	    &world->floor, "worker.accept", worker, ",\"force\":true");
}

static int
checks_run(struct landing_world *world)
{
	return (int)strlen(floor_world_sh(&world->floor,
	    "cd .llmc; [ ! -e ran ] || tr -d '\\n' <ran | tr -d an; "
	    "rm -f ran"));
}

/* A result with the judge of the branch is none for the tree itself, or with
 * another judge. */
TEST(a_result_counts_for_one_judge)
{
	struct landing_world world;
	const struct check_book *book;
	const char *tree, *error;

	begin(&world, JUDGED);
	landing_world_meanwhile(&world, "judge", "test ! -e b.txt");
	landing_world_work(&world, "adam", "b.txt", "two");
	floor_world_wt(&world.floor, "adam",
	    "echo true >judge; git add judge; git commit -qm judge");
	tree =
	    floor_world_wt(&world.floor, "adam", "git rev-parse HEAD^{tree}");
	error = floor_world_answer(&world.floor, accept(&world, "adam"));
	ck_assert_msg(
	    error != NULL && strstr(error, "fails") != NULL, "%s", error);
	/* Twice, and the branch itself. */
	ck_assert_int_eq(checks_run(&world), 3);
	/* With another judge on the branch, it is judged again. */
	landing_world_meanwhile(&world, "judge", "true");
	error = floor_world_answer(&world.floor, accept(&world, "adam"));
	ck_assert_msg(error == NULL, "%s", error);
	ck_assert_int_eq(checks_run(&world), 1);
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "git rev-parse main^{tree}"), tree);
	book = book_of(&world);
	for (size_t i = 0; i < book->count; i++)
		ck_assert_str_ne(book->results[i].tree, tree);
	landing_world_end(&world);
}

/* Work on top of such work is checked with it, and without it after that has
 * landed. */
TEST(a_result_with_others_counts_with_them)
{
	struct landing_world world;
	struct floor_call *calls[2];
	const char *error;

	begin(&world, JUDGED);
	landing_world_meanwhile(&world, "judge", "test ! -e c.txt");
	landing_world_work(&world, "adam", "b.txt", "two");
	floor_world_wt(&world.floor, "adam",
	    "echo true >judge; git add judge; git commit -qm judge");
	landing_world_work(&world, "eve", "c.txt", "three");
	world.may_not_begin = true;
	calls[0] = accept(&world, "adam");
	calls[1] = accept(&world, "eve");
	landing_world_wait(&world, NULL, "queued");
	world.may_not_begin = false;
	landings_kick(world.landings);
	error = floor_world_answer(&world.floor, calls[0]);
	ck_assert_msg(error == NULL, "%s", error);
	error = floor_world_answer(&world.floor, calls[1]);
	ck_assert_msg(error == NULL, "%s", error);
	landing_world_main(&world, "by eve,by adam,meanwhile,first,");
	landing_world_end(&world);
}

static const char *const broken_rows[] = {
	"rm 1/.git; git init -q 1",
	"mv 1 x; ln -s ../.. 1",
	"mv 1 x; ln -s x 1",
	"rm -r 1; mkdir 1; git -C .. worktree prune",
	"rm -r 1; echo file >1",
};

TEST_ROWS(a_broken_worktree_is_made_anew, nitems(broken_rows))
{
	struct landing_world world;
	cleanup_free char *text = xasprintf("cd .llmc/checks; %s; echo my >>%s",
	    broken_rows[_i], _i == 4 ? "1" : "1/my");
	const char *error;

	begin(&world, "[auto]\ncheck_command = \"true\"\n");
	landing_world_work(&world, "adam", "b.txt", "two");
	error = floor_world_answer(&world.floor, accept(&world, "adam"));
	ck_assert_msg(error == NULL, "%s", error);
	floor_world_sh(&world.floor, text);
	landing_world_work(&world, "eve", "c.txt", "three");
	error = floor_world_answer(&world.floor, accept(&world, "eve"));
	ck_assert_msg(error == NULL, "%s", error);
	ck_assert_str_eq(floor_world_sh(&world.floor,
			     "cd .llmc/checks; cat 1.broken/my 2>/dev/null || "
			     "sed -n '$p' 1.broken; ls 1/c.txt; "
			     "git status --short -uno"),
	    "my\n1/c.txt");
	landing_world_end(&world);
}

/* A check writes the settings of a submodule, which a plain git obeys when the
 * next one is prepared. */
TEST(a_filter_that_a_check_leaves_does_not_run_outside)
{
	struct landing_world world;
	const char *error;

	if (box_probe_run(NULL) < 0)
		unit_skip("bubblewrap cannot make a box here");
	begin(&world,
	    "[defaults]\nagent_command = \"agent\"\nsandbox = \"worktree\"\n"
	    "[auto]\ncheck_command = \"true\"\n");
	floor_world_sh(&world.floor,
	    "git config --global protocol.file.allow always; "
	    "git init -q \"$B/lib\"; cd \"$B/lib\"; >l1; git add .; "
	    "git commit -qm l1; >l2; git add .; git commit -qm l2; "
	    "cd \"$R\"; git submodule --quiet add \"$B/lib\" lib "
	    "2>/dev/null; cd lib; git checkout -q HEAD~1; cd ..; "
	    "git add lib; git commit -qm sub");
	landing_world_work(&world, "adam", "b.txt", "two");
	error = floor_world_answer(&world.floor, accept(&world, "adam"));
	ck_assert_msg(error == NULL, "%s", error);
	floor_world_sh(&world.floor,
	    "cd .llmc/checks/1; git submodule --quiet update --init 2>&1; "
	    "cd lib; D=$(git rev-parse --absolute-git-dir); "
	    "git config filter.evil.smudge \">'$B/ran'; cat\"; "
	    "mkdir -p \"$D/info\"; echo '* filter=evil' "
	    ">\"$D/info/attributes\"");
	landing_world_work(&world, "eve", "c.txt", "three");
	floor_world_wt(&world.floor, "eve",
	    "git update-index --cacheinfo 160000,"
	    "$(git -C \"$B/lib\" rev-parse HEAD),lib; git commit -qm l2");
	error = floor_world_answer(&world.floor, accept(&world, "eve"));
	ck_assert_msg(error == NULL, "%s", error);
	/* The submodule may be left out of a tree that was made anew. */
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "ls \"$B\" | grep ran || :"), "");
	landing_world_end(&world);
}

TEST(a_rebase_that_finds_no_worktree_puts_its_worker_aside)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_meanwhile(&world, "b.txt", "theirs");
	floor_world_wt(&world.floor, "adam", "rm .git; git init -q");
	call = floor_world_call(&world.floor, "worker.rebase", "adam", "");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(&world.floor, call), "is not a worktree"));
	floor_world_wait_status(&world.floor, adam, WORKER_PAUSED);
	landing_world_end(&world);
}

/* However the setting is written. */
static const char *const folder_rows[] = {
	"worktree_dir = \"./w//t/\"\n",
	"worktree_dir = \"x/../W/T\"\n",
};

TEST_ROWS(the_folder_of_the_worktrees_never_lands, nitems(folder_rows))
{
	struct landing_world world;
	const char *error;

	begin(&world, folder_rows[_i]);
	landing_world_work(&world, "adam", "b.txt", "two");
	floor_world_wt(&world.floor, "adam",
	    "mkdir -p w/t; echo x >w/t/x; git add -f w; git commit -qm w");
	error = floor_world_answer(&world.floor, accept(&world, "adam"));
	ck_assert_msg(error != NULL &&
		strstr(error, "must not land on main: w/t/x") != NULL,
	    "%s", error);
	landing_world_end(&world);
}
