/* SPDX-License-Identifier: ISC */

#include "ready-work.h"

TEST(squash_is_one_commit_on_top)
{
	cleanup_repo struct repo *repo = repo_new(false);
	const char *head;

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "echo 2 >>a.txt; git commit -qam w1; echo 3 >>a.txt; "
	    "GIT_AUTHOR_NAME='\xc3\x84nn <x>' git commit -qam w2 "
	    "--date='2001-02-03T04:05:06+0200'");
	head = repo_wt(repo, "git rev-parse HEAD");
	ck_assert_msg(
	    repo_squash(repo, "Message\n\nBody") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo->text, repo_sh(repo, "git rev-parse refs/llmc/landing/ann"));
	ck_assert_str_eq(repo_wt(repo, "git rev-parse HEAD"), head);
	ck_assert_str_eq(repo_sh(repo,
			     "git log --format='%an %aI|%cn|%B' "
			     "main..refs/llmc/landing/ann; git cat-file blob "
			     "refs/llmc/landing/ann:a.txt"),
	    "\xc3\x84nn x 2001-02-03T04:05:06+02:00|C O Mitter|Message\n\nBody"
	    "\none\n2\n3");
}

TEST(squash_twice_is_the_same_commit)
{
	cleanup_repo struct repo *repo = ready_work(false);
	cleanup_free char *first = xstrdup(repo->text);

	repo_sh(repo, "git update-ref -d refs/llmc/landing/ann");
	ck_assert_int_eq(repo_squash(repo, "Do it\n"), 0);
	ck_assert_str_eq(repo->text, first);
	ck_assert_int_eq(repo_squash(repo, "Do it better\n"), 0);
	ck_assert_str_ne(repo->text, first);
}

TEST(squash_of_nothing_is_already_incorporated)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_int_eq(repo_squash(repo, "m"), 0);
	ck_assert_str_eq(repo->text, "");
	repo_wt(repo, "git commit -q --allow-empty -m nothing");
	ck_assert_int_eq(repo_squash(repo, "m"), 0);
	ck_assert_str_eq(repo->text, "");
	repo_wt(repo, "git reset -q --hard main");
	repo_sh(repo, "echo >>a.txt; git commit -qam more");
	ck_assert_int_eq(repo_squash(repo, "m"), 0);
	ck_assert_str_eq(repo->text, "");
}

TEST(squash_never_undoes_what_others_landed)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "echo >>z.txt; git commit -qam others");
	ck_assert_int_eq(repo_squash(repo, "m"), -ESTALE);
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert_int_eq(repo_squash(repo, "m"), 0);
	ck_assert_int_eq(repo_squash(repo, " \n"), -EINVAL);
}

TEST(without_a_checkout_only_the_ref_moves)
{
	static const char *const elsewhere[] = { "git checkout -q -b mine",
		"git checkout -q --detach" };

	for (size_t i = 0; i < nitems(elsewhere); i++) {
		cleanup_repo struct repo *repo = ready_work(false);

		repo_sh(repo, elsewhere[i]);
		repo_sh(repo, "echo dirt >>a.txt; mkdir d; echo u >d/new.txt");
		ready_lands(repo, false);
		ck_assert_str_eq(repo_sh(repo,
				     "cat a.txt d/new.txt old.txt; "
				     "git status --short"),
		    "one\ndirt\nu\nold\n M a.txt\n?? d/");
		ready_lands(repo, false); /* already landed */
	}
}

TEST(a_checkout_goes_along)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "echo u >untracked; touch a.txt z.txt");
	ready_lands(repo, false);
	ck_assert_str_eq(
	    repo_sh(repo, READY_SHOW), READY_LANDED "\n?? untracked");
	ck_assert_str_eq(
	    repo_sh(repo, "git reflog -1 --format=%gs"), "llmc: landed");
	ready_lands(repo, false);
}

TEST(another_worktree_with_the_branch_goes_along)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo,
	    "git checkout -q --detach; "
	    "git worktree add -q \"$B/x y\" main");
	ready_lands(repo, false);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$B/x y\"; " READY_SHOW), READY_LANDED);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt"), "one");
}

TEST(a_moved_branch_is_told)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "echo >>z.txt; git commit -qam others");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_MOVED);
	ck_assert_ptr_nonnull(strstr(repo->text, "main is at "));
	repo_sh(repo, "git checkout -q --detach");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_MOVED);
}

TEST(landed_below_later_commits_is_landed)
{
	cleanup_repo struct repo *repo = ready_work(false);

	ready_lands(repo, false);
	repo_sh(repo, "echo >>z.txt; git commit -qam later; echo d >>a.txt");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
}

TEST(a_landing_only_goes_forward)
{
	cleanup_repo struct repo *repo = ready_work(false);

	ck_assert_int_eq(repo_land(repo, "onto", "onto~1", false), GIT_LANDED);
	repo_sh(repo,
	    "git checkout -q --orphan o; git commit -qm o; "
	    "git tag o; git checkout -q main");
	ck_assert_int_eq(repo_land(repo, "onto", "o", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -EINVAL);
}

TEST(unknown_names_fail)
{
	cleanup_repo struct repo *repo = ready_work(false);

	ck_assert_int_eq(
	    repo_land(repo, "onto", "nope", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -ENOENT);
	ck_assert_int_eq(repo_land(repo, "nope", "id", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -ENOENT);
	repo_sh(repo, "git branch -m trunk");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "no branch main"));
}

/* One hook may refuse; of those that come afterwards none runs. */
TEST(the_users_hooks_run_where_wanted)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		cleanup_repo struct repo *repo = ready_work(wanted != 0);

		repo_sh(repo,
		    "for h in reference-transaction post-merge post-checkout "
		    "post-index-change; do printf '#!/bin/sh\\n"
		    "echo %s $1 >>\"$B/ran\"\\n' $h >.git/hooks/$h; "
		    "chmod +x .git/hooks/$h; done");
		ready_lands(repo, false);
		ck_assert_str_eq(
		    repo_sh(repo, "cat \"$B/ran\" 2>/dev/null || :"),
		    wanted ? "reference-transaction prepared\n"
			     "reference-transaction committed" :
			     "");
	}
}
