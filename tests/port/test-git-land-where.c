/* SPDX-License-Identifier: ISC */

/*
 * Where the landing branch is checked out: in which tree, under which name, and
 * what a person is doing there. A landing finds each of these checkouts, or
 * waits and says which one it cannot move.
 */

#include "repo.h"

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

#define STOPPED "git rebase -q --exec false --root; "

static void
assert_held(struct repo *repo, enum git_land_result expected, const char *named)
{
	enum git_land_result result = repo_land(repo, "onto", "id", true);

	ck_assert_msg(result == expected, "%d %s", result, repo->msg);
	ck_assert_msg(
	    strstr(repo->text, named) != NULL, "%s: %s", named, repo->text);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse onto"));
}

static void
assert_waits(struct repo *repo, const char *named)
{
	assert_held(repo, GIT_LAND_DIRTY, named);
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
TEST(a_worktree_with_a_damaged_git_file_waits)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q \"$B/x\" main; "
	    "cp \"$B/x/.git\" \"$B/kept\"; : >\"$B/x/.git\"");
	assert_waits(repo, "git worktree repair");
	repo_sh(repo, "cp \"$B/kept\" \"$B/x/.git\"");
	assert_lands(repo);
}

/* The tree may be clean, and HEAD on the branch, next to it or elsewhere. */
TEST(what_a_user_has_not_finished_waits)
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
		{ "git merge --no-commit --no-ff side", "a merge",
		    "git merge --abort" },
		{ STOPPED "git checkout -q main", "a rebase of the branch",
		    "git rebase --abort" },
		{ STOPPED "git checkout -q other", "a rebase of the branch",
		    "git rebase --abort" },
		{ "git checkout -q other; echo o >a.txt; git commit -qam o; "
		  "git rebase -q --apply side; git checkout -qf main",
		    "a rebase is", "git rebase --quit" },
		{ "git bisect start", "a bisect is", "git bisect reset" },
		{ "git bisect start side main", "a bisect of the branch",
		    "git bisect reset" },
	};

	for (size_t i = 0; i < nitems(doings); i++) {
		cleanup_repo struct repo *repo = ready();
		cleanup_free char *begin = xasprintf(
		    "git branch other; git checkout -q -b side onto; "
		    "echo s >a.txt; git commit -qam s1; echo t >a.txt; git commit -qam s2; "
		    "git format-patch -q -o \"$B/mail\" -1; "
		    "git checkout -q main; { %s; } >/dev/null 2>&1 || :",
		    doings[i].begin);

		repo_sh(repo, begin);
		assert_held(repo, GIT_LAND_BUSY, doings[i].named);
		repo_sh(repo, doings[i].end);
		assert_lands(repo);
	}
}

/* Moving it would move what it leads to. */
TEST(a_branch_that_is_a_symbolic_reference_is_refused)
{
	static const char *const kinds[] = {
		"git symbolic-ref refs/heads/main refs/heads/trunk",
		"ln -sf refs/heads/trunk .git/refs/heads/main",
	};

	for (size_t i = 0; i < nitems(kinds); i++) {
		cleanup_repo struct repo *repo = ready();

		repo_sh(repo, "git checkout -q -b trunk");
		repo_sh(repo, kinds[i]);
		ck_assert_int_eq(
		    repo_land(repo, "onto", "id", true), GIT_LAND_FAILED);
		ck_assert_msg(strstr(repo->msg, "refs/heads/trunk") != NULL,
		    "%s", repo->msg);
		ck_assert_str_eq(repo_sh(repo, "git rev-parse trunk"),
		    repo_sh(repo, "git rev-parse onto"));
	}
}

TEST(a_checkout_by_another_name_waits)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo,
	    "git symbolic-ref refs/heads/alias refs/heads/main; "
	    "git symbolic-ref HEAD refs/heads/alias");
	assert_waits(repo, "by another name");
	repo_sh(repo, "git symbolic-ref HEAD refs/heads/main");
	assert_lands(repo);
}

/* core.preferSymlinkRefs */
TEST(a_head_that_is_a_link_is_a_checkout)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo, "ln -sf refs/heads/main .git/HEAD");
	assert_lands(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "git status --short; cat a.txt"), "one\ntwo");
}

/* As git 2.48 writes it with worktree.useRelativePaths. */
TEST(a_worktree_with_a_relative_path_goes_along)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q \"$B/x\" main; "
	    "printf '../../../../x/.git\\n' >.git/worktrees/x/gitdir; "
	    "cd \"$B/x\"; git status --short");
	assert_lands(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$B/x\"; git status --short; cat a.txt"),
	    "one\ntwo");
}

TEST(a_locked_worktree_that_is_not_there_waits)
{
	cleanup_repo struct repo *repo = ready();

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q --lock \"$B/x\" "
	    "main; mv \"$B/x\" \"$B/unmounted\"");
	assert_waits(repo, "/x");
	repo_sh(repo, "mv \"$B/unmounted\" \"$B/x\"");
	assert_lands(repo);
	ck_assert_str_eq(repo_sh(repo, "cd \"$B/x\"; git status --short"), "");
}

/* It neither makes the others wait nor has its files moved under it. */
TEST(a_worker_on_the_branch_is_taken_off_it)
{
	cleanup_repo struct repo *repo = ready();
	cleanup_free char *folder = xasprintf("%s/work trees", repo->base);
	const char *const own[] = { folder, NULL };
	struct git_options options = { .root = repo->root, .own = own };

	ck_assert_int_eq(repo_add(repo), 0);
	repo_sh(repo, "git checkout -q -b mine");
	repo_wt(repo, "git switch -q main; echo dirt >>a.txt; echo n >n");
	repo_reopen(repo, &options);
	assert_lands(repo);
	ck_assert_str_eq(
	    repo_wt(repo, "cat a.txt; git status --short --branch"),
	    "one\ndirt\n## HEAD (no branch)\n M a.txt\n?? n");

	/* It moves the branch itself. */
	repo_wt(repo,
	    "git switch -q -f main; git reset -q --hard onto; echo own >n; "
	    "git add n; git commit -qm own");
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_MOVED);
}

static void
on_landed(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	(void)places;
	repo->landed = result;
	strlcpy(repo->text, detail, sizeof repo->text);
	repo_answered(repo, err);
}

TEST(a_branch_with_a_long_name_lands)
{
	cleanup_repo struct repo *repo = ready();
	cleanup_free char *branch = xasprintf("%0200d/%0200d", 1, 2);
	cleanup_free char *text = xasprintf("git branch -m '%s'", branch);

	repo_sh(repo, text);
	repo_begin(repo);
	git_land(repo->git, branch, "onto", "id", NULL, false, on_landed, repo);
	repo_wait(repo);
	ck_assert_msg(
	    repo->landed == GIT_LANDED, "%s %s", repo->text, repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo, "git status --short; cat a.txt"), "one\ntwo");
}
