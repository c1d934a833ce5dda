/* SPDX-License-Identifier: ISC */

/*
 * Every operation is killed right after each of its git commands, then run
 * again: the second run must reach the same result. A sample of the commands is
 * taken, the first and the last among them (UNIT_WHOLE: every one).
 */

#include "repo.h"

#define CALLS_MAX   40
#define SAMPLE_STEP 3

struct scenario {
	const char *root, *tree; /* shell, for the set-up; NULL = nothing */
	bool without_tree;
	int (*run)(struct repo *repo);
	const char *look; /* shell, in the main tree */
	const char *want;
};

static int
run_salvage(struct repo *repo)
{
	return repo_salvage(repo, "s1");
}

static int
run_leftovers(struct repo *repo)
{
	return repo_leftovers(repo, "left");
}

static int
run_squash(struct repo *repo)
{
	return repo_squash(repo, "m");
}

static int
run_land(struct repo *repo)
{
	if (repo_land(repo, "main~0", "id", false) == GIT_LAND_DIRTY)
		return -1;
	/* Landed by the first run: main has moved. */
	return repo->code;
}

/* As by default. */
static int
run_land_overlap(struct repo *repo)
{
	if (repo_land(repo, "main~0", "id", true) == GIT_LAND_DIRTY)
		return -1;
	return repo->code;
}

static void
prepare(struct repo *repo, const struct scenario *scenario)
{
	if (!scenario->without_tree)
		ck_assert_int_eq(repo_add(repo), 0);
	if (scenario->tree != NULL)
		repo_wt(repo, scenario->tree);
	if (scenario->root != NULL)
		repo_sh(repo, scenario->root);
}

/* False if the operation has fewer commands. */
static bool
kill_after(const struct scenario *scenario, int nth)
{
	cleanup_repo struct repo *repo = repo_new(false);
	int first, calls;

	prepare(repo, scenario);
	repo_trap(repo, nth, "after");
	first = scenario->run(repo);
	calls = repo_trap_count(repo);
	repo_untrap(repo);
	ck_assert_msg(scenario->run(repo) == 0, "%d: %s", nth, repo->msg);
	ck_assert_msg(
	    strcmp(repo_sh(repo, scenario->look), scenario->want) == 0,
	    "%d: %s", nth, repo_sh(repo, scenario->look));
	if (calls >= nth)
		return true;
	ck_assert_int_eq(first, 0);
	return false;
}

/* The number of its commands, when nothing is killed. */
static int
count_calls(const struct scenario *scenario)
{
	cleanup_repo struct repo *repo = repo_new(false);

	prepare(repo, scenario);
	repo_trap(repo, 0, "");
	ck_assert_msg(scenario->run(repo) == 0, "%s", repo->msg);
	return repo_trap_count(repo);
}

static void
kill_everywhere(const struct scenario *scenario)
{
	int calls = count_calls(scenario);
	int step = getenv("UNIT_WHOLE") != NULL ? 1 : SAMPLE_STEP;

	ck_assert_int_gt(calls, 0);
	ck_assert_int_lt(calls, CALLS_MAX);
	for (int nth = 1; nth < calls; nth += step)
		ck_assert(kill_after(scenario, nth));
	ck_assert(kill_after(scenario, calls));
	ck_assert(!kill_after(scenario, calls + 1));
}

/* The file as it was saved, once or more often. */
#define SAVED(file)                                                          \
	"for r in $(git for-each-ref --format='%(refname)' "                 \
	"refs/llmc/salvage); do git cat-file blob $r:" file " 2>/dev/null; " \
	"done | sort -u"
#define WORK "echo two >>a.txt; echo n >n; git add .; git commit -qm w1"

TEST(add)
{
	kill_everywhere(&(struct scenario){
	    .without_tree = true,
	    .run = repo_add,
	    .look = "git -C \"$W\" status --short --branch; "
		    "cat \"$W/a.txt\"",
	    .want = "## llmc/ann\none",
	});
}

TEST(add_after_damage)
{
	kill_everywhere(&(struct scenario){
	    .root = "rm -rf \"$W\"; mkdir \"$W\"",
	    .run = repo_add,
	    .look = "git -C \"$W\" status --short --branch; "
		    "cat \"$W/a.txt\"",
	    .want = "## llmc/ann\none",
	});
}

TEST(remove_both)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; echo dirt >dirt",
	    .run = repo_remove,
	    .look = "git worktree list --porcelain | grep -c ^worktree; "
		    "ls \"$W\" 2>/dev/null; git branch --list 'llmc/*'; " SAVED(
			"dirt"),
	    .want = "1\ndirt",
	});
}

TEST(salvage)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; echo dirt >>a.txt; echo u >u",
	    .run = run_salvage,
	    .look = "r=refs/llmc/salvage/ann/s1; git ls-tree -r --name-only "
		    "$r; git cat-file blob $r:a.txt; git log -1 --format=%s "
		    "$r^; git -C \"$W\" status --short; "
		    "ls .git/worktrees/*/llmc* 2>/dev/null || :",
	    .want = "a.txt\nn\nu\none\ntwo\ndirt\nw1\n M a.txt\n?? u",
	});
}

TEST(leftovers)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; echo dirt >>a.txt; echo u >u",
	    .run = run_leftovers,
	    .look = "git log --format=%s main..llmc/ann; git cat-file blob "
		    "llmc/ann:u; git -C \"$W\" status --short",
	    .want = "w1\nu",
	});
}

TEST(rebase)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; echo 3 >>n; git commit -qam w2",
	    .root = "echo e >e; git add e; git commit -qm else",
	    .run = repo_rebase,
	    .look = "git log --format=%s llmc/ann; git -C \"$W\" status "
		    "--short --branch",
	    .want = "w2\nw1\nelse\nfirst\n## llmc/ann",
	});
}

TEST(rebase_over_a_stale_one)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; d=$(git rev-parse --git-dir)/rebase-merge; "
			 "mkdir \"$d\"; echo refs/heads/llmc/ann "
			 ">\"$d/head-name\"",
	    .root = "echo e >e; git add e; git commit -qm else",
	    .run = repo_rebase,
	    .look = "git log --format=%s llmc/ann; git -C \"$W\" status "
		    "--short --branch",
	    .want = "w1\nelse\nfirst\n## llmc/ann",
	});
}

TEST(reset)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; git checkout -q --detach; echo u >u",
	    .root = "echo other >>a.txt; git commit -qam against; "
		    "cd \"$W\"; git checkout -q llmc/ann; "
		    "! git rebase -q main >/dev/null 2>&1",
	    .run = repo_reset,
	    .look = "git log --format=%s llmc/ann; git -C \"$W\" status "
		    "--short --branch; " SAVED("u"),
	    .want = "against\nfirst\n## llmc/ann\nu",
	});
}

TEST(squash)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK,
	    .run = run_squash,
	    .look = "git log --format=%s refs/llmc/landing/ann; "
		    "git cat-file blob refs/llmc/landing/ann:n",
	    .want = "m\nfirst\nn",
	});
}

#define LAND_LOOK "git log --format=%s main; git status --short; cat a.txt"

TEST(land_with_a_checkout)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; git tag id",
	    .root = "git show id:n >n", /* and a file that already exists */
	    .run = run_land,
	    .look = LAND_LOOK,
	    .want = "w1\nfirst\none\ntwo",
	});
}

/* Beside what a user has staged and changed since. */
TEST(land_with_a_changed_checkout)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; git tag id",
	    .root = "echo 1 >d; git add d; echo 2 >>d",
	    .run = run_land_overlap,
	    .look = LAND_LOOK "; cat d; git show :d",
	    .want = "w1\nfirst\nAM d\none\ntwo\n1\n2\n1",
	});
}

TEST(land_without_a_checkout)
{
	kill_everywhere(&(struct scenario){
	    .tree = WORK "; git tag id",
	    .root = "git checkout -q --detach",
	    .run = run_land,
	    .look = LAND_LOOK,
	    .want = "w1\nfirst\none",
	});
}
