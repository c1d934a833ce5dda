/* SPDX-License-Identifier: ISC */

/* Landings that something is in the way of. */

#include "ready-work.h"

TEST(any_change_waits_or_only_an_overlapping_one)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "echo mine >>z.txt");
	ready_waits(repo, false, "z.txt");
	ready_lands(repo, true);
	ck_assert_str_eq(repo_sh(repo, READY_SHOW), READY_LANDED "\n M z.txt");
}

TEST(changes_in_the_way_wait)
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
		cleanup_repo struct repo *repo = ready_work(false);

		repo_sh(repo, ways[i].text);
		ready_waits(repo, true, ways[i].named);
		ready_waits(repo, false, ways[i].named);
		repo_sh(repo, "git reset -q --hard; git clean -fdxq");
		ready_lands(repo, false);
		ck_assert_str_eq(repo_sh(repo, READY_SHOW), READY_LANDED);
	}
}

/* git takes the folder of a submodule as it is, with all that is in it. */
TEST(a_staged_file_where_a_submodule_comes_waits)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_sh(repo, "git tag onto");
	repo_wt(repo,
	    "mkdir sub; git update-index --add --cacheinfo "
	    "160000,$(git rev-parse HEAD),sub; git commit -qm w1");
	ck_assert_msg(repo_squash(repo, "Do it\n") == 0, "%s", repo->msg);
	repo_sh(repo,
	    "git tag id refs/llmc/landing/ann; "
	    "mkdir sub; echo mine >sub/f; git add sub/f");
	ready_waits(repo, true, "sub/f");
	repo_sh(repo, "git rm -qf sub/f");
	ready_lands(repo, true);
}

TEST(many_files_in_the_way_are_named_in_short)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "for i in 1 2 3 4 5 6 7; do >\"f$i\n\"; done; git add .");
	ready_waits(repo, false, "7 files block the landing in ");
	ck_assert_ptr_nonnull(strstr(repo->text, "f1\\x0a, f2"));
	ck_assert_ptr_nonnull(strstr(repo->text, "f5\\x0a, ..."));
}

static bool
is_place(const struct repo *repo, const char *dir, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	for (size_t i = 0; i < strv_count(repo->places); i++)
		if (strcmp(repo->places[i], path) == 0)
			return true;
	return false;
}

/* Of the checkout that has the branch, and not of all files there are. */
TEST(what_tells_of_the_end_is_listed)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo,
	    "git checkout -q --detach; git worktree add -q \"$B/x\" main; "
	    "cd \"$B/x\"; mkdir d; echo mine >d/new.txt");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_DIRTY);
	ck_assert(is_place(repo, repo->base, "x/d/new.txt"));
	ck_assert(!is_place(repo, repo->base, "x/a.txt"));
	ck_assert(is_place(repo, repo->root, ".git/worktrees/x/index"));
	ck_assert(!is_place(repo, repo->root, ".git/index"));
	repo_sh(repo,
	    "cd \"$B/x\"; for i in $(seq 200); do >f$i; done; git add f*");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_DIRTY);
	ck_assert_uint_ge(strv_count(repo->places), 64);
	ck_assert_uint_le(strv_count(repo->places), 80);
}

TEST(an_empty_folder_is_not_in_the_way)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "mkdir -p d/new.txt");
	ready_lands(repo, false);
	ck_assert_str_eq(repo_sh(repo, READY_SHOW), READY_LANDED);
}

/* What a git that was killed in the middle of its fast-forward leaves, and what
 * a user with the same changes has. */
TEST(a_landing_killed_in_the_middle_is_finished)
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
			cleanup_repo struct repo *repo = ready_work(false);

			repo_sh(repo, states[i]);
			ready_lands(repo, overlap != 0);
			ck_assert_str_eq(
			    repo_sh(repo, READY_SHOW), READY_LANDED);
			ck_assert_str_eq(
			    repo_sh(
				repo, "ls .git | grep -c 'landing[.]' || :"),
			    "0");
		}
	}
}

TEST(what_the_user_is_doing_waits)
{
	static const struct {
		const char *text, *named;
	} doings[] = {
		{ "git checkout -q -b side onto~1; echo s >s; git add s; "
		  "git commit -qm s; git checkout -q main; "
		  "git merge -q --no-ff --no-commit side",
		    "a merge is in progress" },
		{ "git checkout -q -b side onto~1; echo s >a.txt; git add .; "
		  "git commit -qm s; git checkout -q main; "
		  "git rebase -q --exec false onto~1 2>/dev/null || :",
		    "rebase of the branch is in progress" },
		{ "git worktree add -qf \"$B/twice\" main", "twice" },
		{ ">.git/index.lock", "another git" },
	};

	for (size_t i = 0; i < nitems(doings); i++) {
		cleanup_repo struct repo *repo = ready_work(false);

		repo_sh(repo, doings[i].text);
		ready_waits(repo, true, doings[i].named);
	}
}

TEST(a_held_ref_waits)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, "git checkout -q --detach; >.git/refs/heads/main.lock");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_HELD);
	ck_assert_ptr_nonnull(
	    strstr(repo->text, "another git process holds a lock"));
	repo_sh(repo, "rm .git/refs/heads/main.lock");
	ready_lands(repo, false);
}

/* git updates the files before it finds that it cannot move the ref. */
TEST(a_held_ref_leaves_the_checkout_as_it_was)
{
	cleanup_repo struct repo *repo = ready_work(false);

	repo_sh(repo, ">.git/refs/heads/main.lock");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_HELD);
	ck_assert_ptr_nonnull(
	    strstr(repo->text, "another git process holds a lock"));
	ck_assert_str_eq(repo_sh(repo, "git status --short"), "");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse onto"));
	repo_sh(repo, "rm .git/refs/heads/main.lock");
	ready_lands(repo, false);
}

/* The main tree leaves the branch, and a reference hook acts as a user who was
 * faster: another tree is put on it. */
#define APART \
	"git checkout -q --detach; git worktree add -q --detach \"$B/x\"; "
#define FASTER                                                   \
	"printf '#!/bin/sh\\n"                                   \
	"[ $1 = prepared ] && [ ! -e \"$B/once\" ] || exit 0\\n" \
	">\"$B/once\"; unset GIT_DIR; cd \"$B/x\"; "             \
	"git symbolic-ref HEAD refs/heads/main\\n' "             \
	">.git/hooks/reference-transaction; "                    \
	"chmod +x .git/hooks/reference-transaction"

TEST(a_branch_checked_out_meanwhile_comes_along)
{
	cleanup_repo struct repo *repo = ready_work(true);

	repo_sh(repo, APART FASTER);
	ready_lands(repo, false);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$B/x\"; git symbolic-ref HEAD; " READY_SHOW),
	    "refs/heads/main\n" READY_LANDED);
}

/* They are nowhere else. */
TEST(a_branch_checked_out_meanwhile_keeps_its_ignored_files)
{
	cleanup_repo struct repo *repo = ready_work(true);

	repo_sh(repo,
	    APART "echo d >>.git/info/exclude; mkdir \"$B/x/d\"; "
		  "echo mine >\"$B/x/d/new.txt\"; " FASTER);
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_DIRTY);
	ck_assert_ptr_nonnull(strstr(repo->text, "d/new.txt"));
	ck_assert_str_eq(
	    repo_sh(repo, "cat \"$B/x/d/new.txt\"; git rev-parse main"),
	    repo_sh(repo, "echo mine; git rev-parse onto"));
}

TEST(a_branch_checked_out_meanwhile_with_changes_is_given_back)
{
	cleanup_repo struct repo *repo = ready_work(true);

	repo_sh(repo, APART "echo mine >>\"$B/x/a.txt\"; " FASTER);
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_DIRTY);
	ck_assert_str_eq(
	    repo_sh(
		repo, "cd \"$B/x\"; git status --short; git rev-parse main"),
	    repo_sh(repo, "echo ' M a.txt'; git rev-parse onto"));
}
