/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "mem.h"
#include "repo.h"
#include "unit.h"

/* The landing: a.txt changed, d/new.txt added, old.txt removed. */
#define WORK                                                                  \
	"echo two >>a.txt; mkdir d; echo new >d/new.txt; git rm -q old.txt; " \
	"git add .; git commit -qm w1"
#define LANDED "one\ntwo\nnew"
#define SHOW   "cat a.txt d/new.txt; ls old.txt 2>/dev/null; git status --short"

/* A repository with squashed work that is ready to land; its id is in text. */
static struct repo *
ready(bool run_hooks)
{
	struct repo *repo = repo_new(run_hooks);

	repo_sh(repo,
	    "echo old >old.txt; echo z >z.txt; git add .; "
	    "git commit -qm second; git tag onto");
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_wt(repo, WORK);
	ck_assert_msg(repo_squash(repo, "Do it\n") == 0, "%s", repo->msg);
	repo_sh(repo, "git tag id refs/llmc/landing/ann");
	return repo;
}

static void
assert_landed(struct repo *repo, bool overlap)
{
	enum git_land_result result = repo_land(repo, "onto", "id", overlap);

	ck_assert_msg(
	    result == GIT_LANDED, "%d %s %s", result, repo->text, repo->msg);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse id"));
}

/* It waits, says what for, and has changed nothing. */
static void
assert_waits(struct repo *repo, bool overlap, const char *named)
{
	const char *before = repo_sh(repo,
	    "git status --short --ignored; "
	    "git rev-parse main; "
	    "cksum a.txt .git/index 2>&1 || :");
	enum git_land_result result = repo_land(repo, "onto", "id", overlap);

	ck_assert_msg(result ==
		(strstr(named, "another git") != NULL ? GIT_LAND_HELD :
							GIT_LAND_DIRTY),
	    "%d %s", result, repo->msg);
	ck_assert_msg(
	    strstr(repo->text, named) != NULL, "%s: %s", named, repo->text);
	ck_assert_str_eq(repo_sh(repo,
			     "git status --short --ignored; "
			     "git rev-parse main; "
			     "cksum a.txt .git/index 2>&1 || :"),
	    before);
}

START_TEST(squash_is_one_commit_on_top)
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
END_TEST

START_TEST(squash_twice_is_the_same_commit)
{
	cleanup_repo struct repo *repo = ready(false);
	cleanup_free char *first = xstrdup(repo->text);

	repo_sh(repo, "git update-ref -d refs/llmc/landing/ann");
	ck_assert_int_eq(repo_squash(repo, "Do it\n"), 0);
	ck_assert_str_eq(repo->text, first);
	ck_assert_int_eq(repo_squash(repo, "Do it better\n"), 0);
	ck_assert_str_ne(repo->text, first);
}
END_TEST

START_TEST(squash_of_nothing_is_already_incorporated)
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
END_TEST

START_TEST(squash_never_undoes_what_others_landed)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "echo >>z.txt; git commit -qam others");
	ck_assert_int_eq(repo_squash(repo, "m"), -ESTALE);
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert_int_eq(repo_squash(repo, "m"), 0);
	ck_assert_int_eq(repo_squash(repo, " \n"), -EINVAL);
}
END_TEST

START_TEST(without_a_checkout_only_the_ref_moves)
{
	static const char *const elsewhere[] = { "git checkout -q -b mine",
		"git checkout -q --detach" };

	for (size_t i = 0; i < nitems(elsewhere); i++) {
		cleanup_repo struct repo *repo = ready(false);

		repo_sh(repo, elsewhere[i]);
		repo_sh(repo, "echo dirt >>a.txt; mkdir d; echo u >d/new.txt");
		assert_landed(repo, false);
		ck_assert_str_eq(repo_sh(repo,
				     "cat a.txt d/new.txt old.txt; "
				     "git status --short"),
		    "one\ndirt\nu\nold\n M a.txt\n?? d/");
		assert_landed(repo, false); /* already landed */
	}
}
END_TEST

START_TEST(a_checkout_goes_along)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "echo u >untracked; touch a.txt z.txt");
	assert_landed(repo, false);
	ck_assert_str_eq(repo_sh(repo, SHOW), LANDED "\n?? untracked");
	ck_assert_str_eq(
	    repo_sh(repo, "git reflog -1 --format=%gs"), "llmc: landed");
	assert_landed(repo, false);
}
END_TEST

START_TEST(another_worktree_with_the_branch_goes_along)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo,
	    "git checkout -q --detach; "
	    "git worktree add -q \"$B/x y\" main");
	assert_landed(repo, false);
	ck_assert_str_eq(repo_sh(repo, "cd \"$B/x y\"; " SHOW), LANDED);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt"), "one");
}
END_TEST

START_TEST(any_change_waits_or_only_an_overlapping_one)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "echo mine >>z.txt");
	assert_waits(repo, false, "z.txt");
	assert_landed(repo, true);
	ck_assert_str_eq(repo_sh(repo, SHOW), LANDED "\n M z.txt");
}
END_TEST

START_TEST(changes_in_the_way_wait)
{
	static const struct {
		const char *text, *named;
	} ways[] = {
		{ "echo mine >>a.txt", "a.txt" },
		{ "echo mine >>a.txt; git add a.txt", "a.txt" },
		/* Staged, but no longer in the file. */
		{ "echo mine >>a.txt; git add a.txt; git show id:a.txt >a.txt",
		    "a.txt" },
		{ "rm a.txt", "a.txt" },
		{ "chmod +x a.txt", "a.txt" },
		{ "echo mine >>old.txt", "old.txt" },
		{ "mkdir d; echo mine >d/new.txt", "d/new.txt" },
		{ "mkdir d; echo mine >d/new.txt; git add d", "d/new.txt" },
		{ "mkdir d; ln -s x d/new.txt", "d/new.txt" },
		{ "mkdir -p d/new.txt; >d/new.txt/u", "d/new.txt" },
		{ "echo mine >d", ": d" },
		{ "mkdir e; ln -s e d", ": d" },
		{ "echo mine >d; git add d", ": d" },
		{ "echo d/ >.git/info/exclude; mkdir d; echo mine >d/new.txt",
		    "d/new.txt" },
		{ "git rm -q a.txt; mkdir a.txt; >a.txt/u", "a.txt" },
	};

	for (size_t i = 0; i < nitems(ways); i++) {
		cleanup_repo struct repo *repo = ready(false);

		repo_sh(repo, ways[i].text);
		assert_waits(repo, true, ways[i].named);
		assert_waits(repo, false, ways[i].named);
		repo_sh(repo, "git reset -q --hard; git clean -fdxq");
		assert_landed(repo, false);
		ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
	}
}
END_TEST

START_TEST(many_files_in_the_way_are_named_in_short)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "for i in 1 2 3 4 5 6 7; do >\"f$i\n\"; done; git add .");
	assert_waits(repo, false, "7 files block the landing in ");
	ck_assert_ptr_nonnull(strstr(repo->text, "f1\\x0a, f2"));
	ck_assert_ptr_nonnull(strstr(repo->text, "f5\\x0a, ..."));
}
END_TEST

START_TEST(an_empty_folder_is_not_in_the_way)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "mkdir -p d/new.txt");
	assert_landed(repo, false);
	ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
}
END_TEST

/* What a git that was killed in the middle of its fast-forward leaves, and what
 * a user with the same changes has. */
START_TEST(a_landing_killed_in_the_middle_is_finished)
{
	static const char *const states[] = {
		/* Files and index are updated, the ref is not. */
		"git read-tree -m -u onto id",
		/* Only files. */
		"git read-tree -m -u onto id; git read-tree onto",
		/* Some of the files. */
		"git show id:a.txt >a.txt",
		"rm old.txt",
		"mkdir d; git show id:d/new.txt >d/new.txt; rm old.txt",
		"git show id:a.txt >a.txt; git add a.txt",
	};

	for (size_t i = 0; i < nitems(states); i++) {
		for (int overlap = 0; overlap < 2; overlap++) {
			cleanup_repo struct repo *repo = ready(false);

			repo_sh(repo, states[i]);
			assert_landed(repo, overlap != 0);
			ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
			ck_assert_str_eq(
			    repo_sh(
				repo, "ls .git | grep -c 'landing[.]' || :"),
			    "0");
		}
	}
}
END_TEST

START_TEST(a_moved_branch_is_told)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "echo >>z.txt; git commit -qam others");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_MOVED);
	ck_assert_ptr_nonnull(strstr(repo->text, "main is at "));
	repo_sh(repo, "git checkout -q --detach");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_MOVED);
}
END_TEST

START_TEST(landed_below_later_commits_is_landed)
{
	cleanup_repo struct repo *repo = ready(false);

	assert_landed(repo, false);
	repo_sh(repo, "echo >>z.txt; git commit -qam later; echo d >>a.txt");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
}
END_TEST

START_TEST(a_landing_only_goes_forward)
{
	cleanup_repo struct repo *repo = ready(false);

	ck_assert_int_eq(repo_land(repo, "onto", "onto~1", false), GIT_LANDED);
	repo_sh(repo,
	    "git checkout -q --orphan o; git commit -qm o; "
	    "git tag o; git checkout -q main");
	ck_assert_int_eq(repo_land(repo, "onto", "o", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -EINVAL);
}
END_TEST

START_TEST(unknown_names_fail)
{
	cleanup_repo struct repo *repo = ready(false);

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
END_TEST

START_TEST(what_the_user_is_doing_waits)
{
	static const struct {
		const char *text, *named;
	} doings[] = {
		{ "git checkout -q -b side onto~1; echo s >s; git add s; "
		  "git commit -qm s; git checkout -q main; "
		  "git merge -q --no-ff --no-commit side",
		    "merge" },
		{ "git checkout -q -b side onto~1; echo s >a.txt; git add .; "
		  "git commit -qm s; git checkout -q main; "
		  "git rebase -q --exec false onto~1 2>/dev/null || :",
		    "rebase of the branch" },
		{ "git worktree add -qf \"$B/twice\" main", "twice" },
		{ ">.git/index.lock", "another git" },
	};

	for (size_t i = 0; i < nitems(doings); i++) {
		cleanup_repo struct repo *repo = ready(false);

		repo_sh(repo, doings[i].text);
		assert_waits(repo, true, doings[i].named);
	}
}
END_TEST

START_TEST(a_held_ref_waits)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "git checkout -q --detach; >.git/refs/heads/main.lock");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_HELD);
	ck_assert_ptr_nonnull(
	    strstr(repo->text, "another git process holds a lock"));
	repo_sh(repo, "rm .git/refs/heads/main.lock");
	assert_landed(repo, false);
}
END_TEST

/* git updates the files before it finds that it cannot move the ref. */
START_TEST(a_held_ref_leaves_the_checkout_as_it_was)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, ">.git/refs/heads/main.lock");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_HELD);
	ck_assert_ptr_nonnull(
	    strstr(repo->text, "another git process holds a lock"));
	ck_assert_str_eq(repo_sh(repo, "git status --short"), "");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse onto"));
	repo_sh(repo, "rm .git/refs/heads/main.lock");
	assert_landed(repo, false);
}
END_TEST

/* One hook may refuse; of those that come afterwards none runs. */
START_TEST(the_users_hooks_run_where_wanted)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		cleanup_repo struct repo *repo = ready(wanted != 0);

		repo_sh(repo,
		    "for h in reference-transaction post-merge post-checkout "
		    "post-index-change; do printf '#!/bin/sh\\n"
		    "echo %s $1 >>\"$B/ran\"\\n' $h >.git/hooks/$h; "
		    "chmod +x .git/hooks/$h; done");
		assert_landed(repo, false);
		ck_assert_str_eq(
		    repo_sh(repo, "cat \"$B/ran\" 2>/dev/null || :"),
		    wanted ? "reference-transaction prepared\n"
			     "reference-transaction committed" :
			     "");
	}
}
END_TEST

START_TEST(a_branch_checked_out_meanwhile_comes_along)
{
	cleanup_repo struct repo *repo = ready(true);

	/* A reference hook acts as a user who was faster. */
	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q --detach \"$B/x\"; "
	    "printf '#!/bin/sh\\n"
	    "[ $1 = prepared ] && [ ! -e \"$B/once\" ] || exit 0\\n"
	    ">\"$B/once\"; unset GIT_DIR; cd \"$B/x\"; "
	    "git symbolic-ref HEAD refs/heads/main\\n' "
	    ">.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	assert_landed(repo, false);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$B/x\"; git symbolic-ref HEAD; " SHOW),
	    "refs/heads/main\n" LANDED);
}
END_TEST

/* They are nowhere else. */
START_TEST(a_branch_checked_out_meanwhile_keeps_its_ignored_files)
{
	cleanup_repo struct repo *repo = ready(true);

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q --detach \"$B/x\"; "
	    "echo d >>.git/info/exclude; mkdir \"$B/x/d\"; "
	    "echo mine >\"$B/x/d/new.txt\"; printf '#!/bin/sh\\n"
	    "[ $1 = prepared ] && [ ! -e \"$B/once\" ] || exit 0\\n"
	    ">\"$B/once\"; unset GIT_DIR; cd \"$B/x\"; "
	    "git symbolic-ref HEAD refs/heads/main\\n' "
	    ">.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_DIRTY);
	ck_assert_ptr_nonnull(strstr(repo->text, "d/new.txt"));
	ck_assert_str_eq(
	    repo_sh(repo, "cat \"$B/x/d/new.txt\"; git rev-parse main"),
	    repo_sh(repo, "echo mine; git rev-parse onto"));
}
END_TEST

START_TEST(a_branch_checked_out_meanwhile_with_changes_is_given_back)
{
	cleanup_repo struct repo *repo = ready(true);

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q --detach \"$B/x\"; "
	    "echo mine >>\"$B/x/a.txt\"; printf '#!/bin/sh\\n"
	    "[ $1 = prepared ] && [ ! -e \"$B/once\" ] || exit 0\\n"
	    ">\"$B/once\"; unset GIT_DIR; cd \"$B/x\"; "
	    "git symbolic-ref HEAD refs/heads/main\\n' "
	    ">.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_DIRTY);
	ck_assert_str_eq(
	    repo_sh(
		repo, "cd \"$B/x\"; git status --short; git rev-parse main"),
	    repo_sh(repo, "echo ' M a.txt'; git rev-parse onto"));
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-land");

	unit_case(s, "squash",
	    (const TTest *[]){ squash_is_one_commit_on_top,
		squash_twice_is_the_same_commit,
		squash_of_nothing_is_already_incorporated,
		squash_never_undoes_what_others_landed, NULL });
	unit_case(s, "land",
	    (const TTest *[]){ without_a_checkout_only_the_ref_moves,
		a_checkout_goes_along,
		another_worktree_with_the_branch_goes_along,
		a_moved_branch_is_told, landed_below_later_commits_is_landed,
		a_landing_only_goes_forward, unknown_names_fail,
		the_users_hooks_run_where_wanted, NULL });
	unit_case(s, "in the way",
	    (const TTest *[]){ any_change_waits_or_only_an_overlapping_one,
		changes_in_the_way_wait,
		many_files_in_the_way_are_named_in_short,
		an_empty_folder_is_not_in_the_way,
		a_landing_killed_in_the_middle_is_finished,
		what_the_user_is_doing_waits, a_held_ref_waits,
		a_held_ref_leaves_the_checkout_as_it_was,
		a_branch_checked_out_meanwhile_comes_along,
		a_branch_checked_out_meanwhile_keeps_its_ignored_files,
		a_branch_checked_out_meanwhile_with_changes_is_given_back,
		NULL });
	return s;
}
