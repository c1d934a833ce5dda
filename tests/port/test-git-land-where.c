/* SPDX-License-Identifier: ISC */

/*
 * Where the landing branch is checked out: in which tree, under which name, and
 * what a person is doing there. A landing finds each of these checkouts, or
 * waits and says which one it cannot move.
 */

#include <string.h>

#include "mem.h"
#include "repo.h"
#include "unit.h"

/* The landing: a.txt changed. */
static struct repo *
ready(void)
{
	struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "git tag onto; git checkout -q --detach; echo two >>a.txt; "
	    "git commit -qam w1; git tag id; git checkout -q main");
	return repo;
}

static void
assert_waits(struct repo *repo, const char *named)
{
	enum git_land_result result = repo_land(repo, "onto", "id", true);

	ck_assert_msg(result == GIT_LAND_DIRTY, "%d %s", result, repo->msg);
	ck_assert_msg(
	    strstr(repo->text, named) != NULL, "%s: %s", named, repo->text);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse onto"));
}

static void
assert_lands(struct repo *repo)
{
	enum git_land_result result = repo_land(repo, "onto", "id", true);

	ck_assert_msg(
	    result == GIT_LANDED, "%d %s %s", result, repo->text, repo->msg);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse id"));
}

/* A power cut can leave it empty. */
START_TEST(a_worktree_with_a_damaged_git_file_waits)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q \"$B/x\" main; "
	    "cp \"$B/x/.git\" \"$B/kept\"; : >\"$B/x/.git\"");
	assert_waits(repo, "git worktree repair");
	repo_sh(repo, "cp \"$B/kept\" \"$B/x/.git\"");
	assert_lands(repo);
}
END_TEST

/* HEAD stays on the branch, and the tree may be clean. */
START_TEST(commits_that_are_applied_one_by_one_wait)
{
	static const struct {
		const char *begin, *named, *end;
	} doings[] = {
		{ "git am -q \"$B\"/mail/*", "git am", "git am --abort" },
		{ "git cherry-pick side", "a cherry-pick is",
		    "git cherry-pick --abort" },
		{ "git cherry-pick side side~1; git reset -q; "
		  "git checkout -q .; rm -f .git/CHERRY_PICK_HEAD",
		    "a cherry-pick or revert", "git cherry-pick --quit" },
		{ "git revert side", "a revert", "git revert --abort" },
	};

	for (size_t i = 0; i < nitems(doings); i++) {
		cleanup_repo struct repo *repo = ready();
		cleanup_free char *begin = xasprintf(
		    "git checkout -q -b side onto; echo s >a.txt; "
		    "git commit -qam s1; echo t >a.txt; git commit -qam s2; "
		    "git format-patch -q -o \"$B/mail\" -1; "
		    "git checkout -q main; { %s; } >/dev/null 2>&1 || :",
		    doings[i].begin);

		repo_sh(repo, begin);
		assert_waits(repo, doings[i].named);
		repo_sh(repo, doings[i].end);
		assert_lands(repo);
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-land-where");

	unit_case(s, "where",
	    (const TTest *[]){ a_worktree_with_a_damaged_git_file_waits,
		commits_that_are_applied_one_by_one_wait, NULL });
	return s;
}
