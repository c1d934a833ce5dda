/* SPDX-License-Identifier: ISC */

/* The worktree that candidates are built in. */
#include "repo.h"
#include "git-candidate.h"

static void
on_ready(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

static int
prepare(struct repo *repo, struct git_merge_place *place, bool attributes)
{
	const char *tip = repo_sh(repo, "git rev-parse main");

	if (place->dir == NULL)
		place->dir = repo_sh(repo, "printf '%s/merge' \"$R\"");
	repo_begin(repo);
	git_merge_place_prepare(
	    repo->git, place, tip, attributes, on_ready, repo);
	repo_wait(repo);
	return repo->code;
}

static const char *
files(struct repo *repo)
{
	return repo_sh(repo,
	    "cd merge; find . -type f ! -name .git | LC_ALL=C sort | "
	    "xargs grep -H .; true");
}

TEST(has_the_attributes_of_the_commit)
{
	cleanup_repo struct repo *repo = repo_new(true);
	struct git_merge_place place = { 0 };

	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_str_eq(files(repo), "");
	repo_sh(repo,
	    "mkdir -p d/e; echo '* a' >.gitattributes; "
	    "echo '* b' >d/e/.gitattributes; echo no >d/x.gitattributes; "
	    "git add d .gitattributes; git commit -qm attributes; "
	    "printf '#!/bin/sh\\nexit 1\\n' >.git/hooks/post-checkout; "
	    "chmod +x .git/hooks/post-checkout");
	ck_assert_int_eq(prepare(repo, &place, false), 0);
	ck_assert_str_eq(files(repo), "");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_str_eq(
	    files(repo), "./.gitattributes:* a\n./d/e/.gitattributes:* b");
	repo_sh(repo,
	    "git rm -qr d; echo '* c' >.gitattributes; "
	    "git commit -qam others; touch merge/stray");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_str_eq(files(repo), "./.gitattributes:* c");
	repo_sh(repo, "git rm -q .gitattributes; git commit -qm none");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_str_eq(files(repo), "");
}

TEST(costs_little)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_merge_place place = { 0 };

	repo_sh(repo,
	    "echo '* a' >.gitattributes; git add .gitattributes; "
	    "git commit -qm attributes");
	repo_trap(repo, 0, "before");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_int_eq(repo_trap_count(repo), 3);
	repo_trap(repo, 0, "before");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_int_eq(repo_trap_count(repo), 1); /* the test's own */
	repo_sh(repo, "echo b >b; git add b; git commit -qm b");
	repo_trap(repo, 0, "before");
	ck_assert_int_eq(prepare(repo, &place, false), 0);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	ck_assert_int_eq(repo_trap_count(repo), 3);
	repo_untrap(repo);
	ck_assert_str_eq(files(repo), "./.gitattributes:* a");
}

static const char *const breaks[] = {
	"mv \"$R\" \"$R-old\"; cp -r \"$R-old\" \"$R\"; "
	"sed -i s,/merge/,-old/merge/, .git/worktrees/merge/gitdir; "
	"sed -i s,/.git/,-old/.git/, merge/.git",
	"mv \"$R\" \"$R-new\"; mv \"$R-new\" \"$R\"; "
	"sed -i s,/merge/,-gone/merge/, .git/worktrees/merge/gitdir; "
	"sed -i s,/.git/,-gone/.git/, merge/.git",
	"rm -r merge",
	"rm merge/.git",
	"rm -r .git/worktrees/merge",
	"rm -r merge; ln -s . merge",
	"rm merge/.git; git init -q merge",
	": >merge/.git",
};

/* Another daemon, in a repository that was moved or copied, or whose worktree
 * somebody broke. */
TEST_ROWS(is_repaired, nitems(breaks))
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_merge_place place = { 0 };

	repo_sh(repo,
	    "echo '* a' >.gitattributes; git add .gitattributes; "
	    "git commit -qm attributes");
	ck_assert_int_eq(prepare(repo, &place, true), 0);
	repo_sh(repo, breaks[_i]);
	if (_i % 2 == 0)
		place.attributes[0] = '\0';
	ck_assert_msg(prepare(repo, &place, true) == 0, "%s", repo->msg);
	ck_assert_str_eq(files(repo), "./.gitattributes:* a");
	ck_assert_str_eq(repo_sh(repo, "cat a.txt"),
	    repo_sh(repo, "git cat-file blob main:a.txt"));
	ck_assert_int_eq(prepare(repo, &place, true), 0);
}
