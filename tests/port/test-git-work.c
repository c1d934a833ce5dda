/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-private.h"
#include "git-worktree.h"
#include "loop.h"

/* What a worker does, and what happens on main in the meantime. */
#define WORK      "echo two >>a.txt; echo new >new.txt; git add .; git commit -qm w1"
#define ELSEWHERE "echo e >else.txt; git add .; git commit -qm elsewhere"
#define AGAINST   "echo other >>a.txt; git add .; git commit -qm against"

/* How many commits of main are missing in its branch. */
static const char *
missing(struct repo *repo)
{
	return repo_wt(repo, "git rev-list --count HEAD..main");
}

TEST(facts_of_a_fresh_worktree)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.head, repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(repo->facts.onto, repo->facts.head);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_int_eq(repo->facts.ahead, 0);
	ck_assert_int_eq(repo->facts.changed + repo->facts.untracked, 0);
	ck_assert(!repo->facts.rebasing);
}

static struct loop_timer *again;

static void
interrupt(void *arg)
{
	struct repo *repo = arg;

	git_interrupt(repo->git, repo->dir);
	loop_timer_set(&again, repo->loop, 10, interrupt, repo);
}

/* Git would wait for whoever writes to it. */
TEST(what_runs_in_a_folder_that_was_moved_away_is_ended)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, "mkfifo .gitignore");
	interrupt(repo);
	ck_assert_int_lt(repo_facts(repo), 0);
	loop_timer_free(take_ptr(&again));
}

TEST(facts_count_what_lies_about)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "echo x >>a.txt; echo s >staged; git add staged; mkdir d; "
	    "echo 1 >d/1; echo 2 >'d/n\nl'; echo '*.o' >.gitignore; >i.o; "
	    "git init -q nested; >nested/file");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed, 2);
	ck_assert_int_eq(repo->facts.untracked, 3);
	ck_assert_int_eq(repo->facts.conflicts, 0);
}

TEST(facts_tell_how_far_ahead)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_attached_only();
	repo_wt(repo, WORK "; git commit -q --allow-empty -m w2");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	repo_sh(repo, ELSEWHERE);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	repo_wt(repo, "git checkout -q --detach");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.branch, "");
	/* A tag of the same name does not count. */
	repo_sh(repo, "git tag main llmc/ann");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	ck_assert_str_eq(
	    repo->facts.onto, repo_sh(repo, "git rev-parse heads/main"));
}

TEST(facts_see_a_rebase_and_its_conflicts)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	repo_sh(repo, AGAINST);
	repo_wt(repo, "! git rebase -q main 2>/dev/null");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert(repo->facts.rebasing);
	ck_assert_int_eq(repo->facts.conflicts, 1);
	ck_assert_str_eq(repo->facts.branch, "");
	ck_assert_int_eq(repo_conflicts(repo), 0);
	ck_assert_str_eq(repo->text, "a.txt|");
	ck_assert_int_eq(repo_abort(repo), 0);
	ck_assert_int_eq(repo_conflicts(repo), 0);
	ck_assert_str_eq(repo->text, "");
}

TEST(facts_of_what_is_not_there)
{
	cleanup_repo struct repo *repo = repo_new_empty();

	ck_assert_int_eq(repo_facts(repo), -ENOENT);
	ck_assert_int_eq(repo_conflicts(repo), -ENOENT);
	repo->dir = repo->root;
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.head, "");
	ck_assert_str_eq(repo->facts.onto, "");
	ck_assert_str_eq(repo->facts.branch, "main");
	repo_sh(repo,
	    "git checkout -q -b other; git commit -q --allow-empty "
	    "-m x");
	ck_assert_int_eq(repo_facts(repo), -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "main"));
}

TEST(conflicts_name_every_file_once)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, "echo w >'b\nc'; echo w >d; git add .; git commit -qm w");
	repo_sh(repo, "echo m >'b\nc'; echo m >d; git add .; git commit -qm m");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	ck_assert_int_eq(repo_conflicts(repo), 0);
	ck_assert_str_eq(repo->text, "b\nc|d|");
}

TEST(add_makes_branch_and_folder)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_attached_only();
	ck_assert_str_eq(repo_wt(repo, "git symbolic-ref HEAD; cat a.txt"),
	    "refs/heads/llmc/ann\none");
	repo_wt(repo, WORK);
	ck_assert_int_eq(repo_add(repo), 0); /* again: unchanged */
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 1);
}

TEST(add_takes_a_branch_that_exists)
{
	cleanup_repo struct repo *repo = repo_new(false);

	repo_sh(repo, "git branch llmc/ann; " ELSEWHERE);
	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_str_eq(missing(repo), "1");
}

TEST(add_repairs_what_is_half_there)
{
	static const char *const damage[] = {
		"rm -rf \"$W\"",
		"rm -rf \"$W\"; mkdir \"$W\"",
		"rm \"$W/.git\"",
		"git worktree remove -f \"$W\"; mkdir \"$W\"",
		"git worktree lock \"$W\"; rm -rf \"$W\"",
		"git worktree move \"$W\" \"$B/x\"; rm -rf \"$B/x\"",
		/* Killed in the middle. */
		("rm \"$W/a.txt\"; d=$(git -C \"$W\" rev-parse --git-dir); "
		 "rm \"$d/index\"; echo initializing >\"$d/locked\""),
	};

	for (size_t i = 0; i < nitems(damage); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_sh(repo, damage[i]);
		ck_assert_msg(
		    repo_add(repo) == 0, "%s: %s", damage[i], repo->msg);
		ck_assert_int_eq(repo_facts(repo), 0);
		ck_assert_str_eq(repo->facts.branch, "llmc/ann");
		ck_assert_msg(repo->facts.changed == 0, "%s", damage[i]);
		ck_assert_str_eq(repo_wt(repo, "cat a.txt"), "one");
	}
}

TEST(add_keeps_its_hands_off_other_things)
{
	static const char *const other[] = {
		"mkdir -p \"$W\"; echo precious >\"$W/file\"",
		"mkdir -p \"$(dirname \"$W\")\"; echo precious >\"$W\"",
		"git init -q \"$W\"; echo precious >\"$W/file\"",
		"git clone -q . \"$W\"; echo precious >\"$W/file\"",
	};

	for (size_t i = 0; i < nitems(other); i++) {
		cleanup_repo struct repo *repo = repo_new(false);

		repo_sh(repo, other[i]);
		ck_assert_int_eq(repo_add(repo), -EEXIST);
		ck_assert_int_eq(repo_remove(repo), -EEXIST);
		ck_assert_str_eq(repo_sh(repo,
				     "cat \"$W/file\" 2>/dev/null || "
				     "cat \"$W\""),
		    "precious");
	}
}

TEST(add_refuses_the_users_tree_and_a_branch_in_use)
{
	cleanup_repo struct repo *repo = repo_new(false);
	const char *dir = repo->dir;

	repo_sh(repo, "git worktree add -q \"$B/x\" -b llmc/ann");
	ck_assert_int_eq(repo_add(repo), -EBUSY);
	ck_assert_ptr_nonnull(strstr(repo->msg, "/x"));
	ck_assert_int_eq(repo_remove(repo), 0); /* git keeps the branch */
	repo_sh(repo, "git rev-parse --verify -q llmc/ann");
	repo_sh(repo, "git worktree lock \"$B/x\"; rm -r \"$B/x\"");
	ck_assert_int_eq(repo_add(repo), -EBUSY); /* on a disk that is not
						   * mounted? */
	repo_sh(repo, "git worktree unlock \"$B/x\"");
	ck_assert_int_eq(repo_add(repo), 0);
	repo->dir = repo->root;
	ck_assert_int_eq(repo_add(repo), -EEXIST);
	ck_assert_int_eq(repo_remove(repo), -EINVAL);
	repo->dir = dir;
}

TEST(add_needs_a_commit)
{
	cleanup_repo struct repo *repo = repo_new_empty();

	ck_assert_int_eq(repo_add(repo), -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "git commit --allow-empty"));
	repo_sh(repo, "git commit -q --allow-empty -m x; git branch -m trunk");
	ck_assert_int_eq(repo_add(repo), -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "no branch or commit main"));
}

TEST(a_name_with_a_line_break_is_refused)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	ck_assert_int_eq(
	    repo_land(repo, "main\nmain", "main", false), GIT_LAND_FAILED);
	ck_assert_int_eq(repo->code, -EINVAL);
}

TEST(remove_takes_folder_registration_and_branch)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    WORK "; echo dirt >>a.txt; echo u >u; "
		 "git worktree lock .");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
	ck_assert(!file_exists(repo->dir));
	ck_assert_str_eq(
	    repo_sh(repo,
		"git worktree list --porcelain | grep -c ^worktree; "
		"git branch --list 'llmc/*'"),
	    "1");
	ck_assert_int_eq(repo_remove(repo), 0);
}

TEST(remove_finishes_what_was_begun)
{
	static const char *const damage[] = {
		"rm -rf \"$W\"",
		"rm \"$W/.git\" \"$W/a.txt\"",
		"rm -rf \"$W\"; mkdir \"$W\"",
		"git worktree remove \"$W\"",
		"git worktree remove \"$W\"; git branch -qD llmc/ann",
	};

	for (size_t i = 0; i < nitems(damage); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, "echo u >u; git add u; git commit -qm u");
		repo_sh(repo, damage[i]);
		ck_assert_msg(
		    repo_remove(repo) == 0, "%s: %s", damage[i], repo->msg);
		ck_assert(!file_exists(repo->dir));
		ck_assert_str_eq(
		    repo_sh(repo,
			"git worktree list --porcelain | grep -c ^worktree; "
			"git branch --list 'llmc/*'"),
		    "1");
	}
}

TEST(reset_goes_back_to_the_start)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "echo '*.o' >.git-ignore-me; git config core.excludesFile "
	    "\"$B/ignore\"; echo '*.o' >\"$B/ignore\"");
	repo_wt(repo,
	    WORK "; echo d >>a.txt; mkdir u; >u/u; >keep.o; "
		 "git init -q nested; >nested/file");
	repo_sh(repo, ELSEWHERE);
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.head, repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_int_eq(repo->facts.changed + repo->facts.untracked, 0);
	ck_assert_str_eq(
	    repo_wt(repo, "ls"), "a.txt\nelse.txt\nkeep.o\nnested");
}

/* A worktree that was clean: what is different by now is kept. */
TEST(reset_of_a_clean_worktree_loses_nothing)
{
	static const char *const changes[] = { "echo mine >else.txt",
		"echo mine >>a.txt; git commit -qam more",
		"git checkout -q --detach",
		"! git rebase -q -x false HEAD~1 >/dev/null 2>&1",
		"echo mine >>new.txt" };

	repo_attached_only();
	for (size_t i = 0; i < nitems(changes); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();
		cleanup_free char *head =
		    xstrdup(repo_wt(repo, WORK "; git rev-parse HEAD"));
		const char *before;

		repo_sh(repo, ELSEWHERE);
		repo_wt(repo, changes[i]);
		before = repo_wt(repo, "cat * | cksum");
		ck_assert_msg(repo_reset_clean(repo, head, NULL) == 0, "%s: %s",
		    changes[i], repo->msg);
		ck_assert_ptr_nonnull(strstr(repo->text, "refs/llmc/salvage/"));
		ck_assert_str_eq(missing(repo), "0");
		ck_assert_str_eq(repo_wt(repo, "git status --porcelain; ls"),
		    "a.txt\nelse.txt");
		repo_sh(repo,
		    "git branch mine $(git for-each-ref "
		    "--format='%(refname)' refs/llmc/salvage)");
		repo_wt(repo, "git checkout -q --detach mine");
		ck_assert_str_eq(repo_wt(repo, "cat * | cksum"), before);
	}
}

/* Of many commits, where the first one was dropped by hand. */
TEST(reset_of_a_clean_worktree_ends_a_pick)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	cleanup_free char *head = xstrdup(repo_wt(repo,
	    WORK "; mkdir \"$(git rev-parse --git-dir)/sequencer\"; "
		 "git rev-parse HEAD"));

	repo_sh(repo, ELSEWHERE);
	ck_assert_msg(repo_reset_clean(repo, head, NULL) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_wt(repo, "ls \"$(git rev-parse --git-dir)\" | grep seq || :"),
	    "");
}

TEST(reset_tells_of_a_branch_that_was_moved_meanwhile)
{
	cleanup_repo struct repo *repo = repo_new(true);

	repo_attached_only();
	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, WORK);
	repo_sh(repo,
	    ELSEWHERE "; printf '#!/bin/sh\\ngit update-ref "
		      "refs/heads/llmc/ann main~1\\n' "
		      ">.git/hooks/post-checkout; "
		      "chmod +x .git/hooks/post-checkout");
	ck_assert_int_eq(repo_reset(repo), -EIO);
	ck_assert_ptr_nonnull(strstr(repo->msg, "by another process"));
}

TEST(reset_of_a_clean_worktree_takes_one_git)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	cleanup_free char *head =
	    xstrdup(repo_wt(repo, WORK "; git rev-parse HEAD"));

	repo_attached_only();
	repo_sh(repo, ELSEWHERE);
	repo_wt(repo, ">untracked");
	repo_trap(repo, 0, "");
	ck_assert_msg(repo_reset_clean(repo, head, NULL) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	/* Where it is already, even without. */
	ck_assert_int_eq(repo_reset_clean(repo, head, NULL), 0);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	repo_untrap(repo);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.head, repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_str_eq(repo_wt(repo, "ls"), "a.txt\nelse.txt\nuntracked");
}

/* Only the branch moves where the files are the same. */
TEST(reset_to_the_same_tree_leaves_the_files)
{
	static const char look[] =
	    "stat -c '%n %i %Z' * \"$(git rev-parse --git-dir)/index\"";
	cleanup_repo struct repo *repo = repo_with_tree();
	cleanup_free char *head =
	    xstrdup(repo_wt(repo, WORK "; git rev-parse HEAD"));
	cleanup_free char *same = xstrdup(repo_sh(repo,
	    "git merge -q --squash llmc/ann >/dev/null; "
	    "git commit -qm landed; git rev-parse main"));
	const char *before = repo_wt(repo, look);

	repo_attached_only();
	repo_trap(repo, 0, "");
	ck_assert_msg(repo_reset_clean(repo, head, same) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	repo_untrap(repo);
	ck_assert_str_eq(repo_wt(repo, look), before);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.head, same);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_int_eq(repo->facts.changed + repo->facts.untracked, 0);
	/* The branch has moved on since. */
	repo_wt(repo, "git reset -q --hard llmc/ann@{1}");
	repo_sh(repo, ELSEWHERE);
	ck_assert_msg(repo_reset_clean(repo, head, same) == 0, "%s", repo->msg);
	ck_assert_str_eq(missing(repo), "0");
	ck_assert_str_eq(
	    repo_wt(repo, "git status --porcelain; ls else.txt"), "else.txt");
}

TEST(reset_ends_whatever_is_in_progress)
{
	static const char *const states[] = {
		"! git rebase -q main 2>/dev/null",
		"! git rebase -q --apply main 2>/dev/null",
		"! git merge -q main >/dev/null 2>&1",
		"! git cherry-pick main~1 main >/dev/null 2>&1",
		"git format-patch -q -1 main --stdout >\"$B/p\"; "
		"! git am -q \"$B/p\" >/dev/null 2>&1",
		"git checkout -q --detach",
		"git checkout -q -b mine",
		"mkdir \"$(git rev-parse --git-dir)/rebase-merge\"",
		"d=$(git rev-parse --git-dir); >\"$d/index.lock\"; "
		"touch -d '1 hour ago' \"$d/index.lock\"",
		"git checkout -q --orphan empty",
	};

	for (size_t i = 0; i < nitems(states); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK);
		repo_sh(repo, AGAINST "; echo more >>a.txt; git commit -qam m");
		repo_wt(repo, states[i]);
		ck_assert_msg(
		    repo_reset(repo) == 0, "%s: %s", states[i], repo->msg);
		ck_assert_int_eq(repo_facts(repo), 0);
		ck_assert_str_eq(repo->facts.branch, "llmc/ann");
		ck_assert_str_eq(repo->facts.head, repo->facts.onto);
		ck_assert(!repo->facts.rebasing);
		ck_assert_int_eq(repo->facts.changed, 0);
		ck_assert_int_eq(repo_reset(repo), 0);
	}
}

TEST(reset_never_moves_a_branch_under_another_checkout)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK "; git checkout -q --detach");
	repo_sh(repo, "git checkout -q llmc/ann");
	/* One that works with HEAD detached goes on without its branch. */
	ck_assert_int_eq(
	    repo_reset(repo), getenv("REPO_DETACHED") != NULL ? 0 : -EBUSY);
	ck_assert_str_eq(
	    repo_sh(repo, "git status --porcelain; git branch --show-current"),
	    "llmc/ann");
}

TEST(reset_needs_a_worktree)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_sh(repo, "echo mine >>a.txt; rm \"$W/.git\"");
	ck_assert_int_eq(repo_reset(repo), -ENOENT);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt"), "one\nmine");
}

TEST(rebase_goes_on_top)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK "; git commit -q --allow-empty -m w2");
	ck_assert_int_eq(repo_rebase(repo), 0); /* nothing to do */
	repo_sh(repo, ELSEWHERE);
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(!repo->conflict);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	ck_assert_str_eq(missing(repo), "0");
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
}

TEST(rebase_leaves_a_conflict_for_the_worker)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	repo_sh(repo, AGAINST "; git config advice.mergeConflict false");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(repo->conflict);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert(repo->facts.rebasing);
	/* If called again, it starts again. */
	repo_wt(repo, "echo junk >a.txt");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	repo_wt(repo,
	    "echo both >a.txt; git add a.txt; "
	    "GIT_EDITOR=: git rebase --continue >/dev/null 2>&1");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(!repo->conflict);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert_str_eq(missing(repo), "0");
}

TEST(rebase_takes_what_rerere_knows)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	if (repo->boxed)
		unit_skip("rerere does not help in a box");
	repo_sh(repo, "git config rerere.enabled true");
	repo_wt(repo, WORK);
	repo_sh(repo, AGAINST);
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	repo_wt(repo,
	    "echo both >a.txt; git add a.txt; "
	    "GIT_EDITOR=: git rebase --continue >/dev/null 2>&1; "
	    "git reset -q --hard ORIG_HEAD; echo l >>new.txt; "
	    "git commit -qam w2");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert_msg(!repo->conflict, "%s", repo_wt(repo, "git status"));
	ck_assert_str_eq(repo_wt(repo,
			     "cat a.txt new.txt; git log --format=%s "
			     "main..llmc/ann"),
	    "both\nnew\nl\nw2\nw1");
}

TEST(a_rebase_that_cannot_is_an_error_and_leaves_nothing)
{
	static const char *const ways[] = { "echo dirt >>a.txt",
		"echo in-the-way >else.txt" };

	for (size_t i = 0; i < nitems(ways); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK);
		repo_sh(repo, ELSEWHERE);
		repo_wt(repo, ways[i]);
		ck_assert_int_eq(repo_rebase(repo), -EIO);
		ck_assert_ptr_nonnull(strstr(repo->msg, "git rebase: "));
		ck_assert_int_eq(repo_facts(repo), 0);
		ck_assert(!repo->facts.rebasing);
		ck_assert_str_eq(repo->facts.branch, "llmc/ann");
		ck_assert_int_eq(repo->facts.ahead, 1);
	}
}

TEST(a_rebase_stopped_by_a_file_in_the_way_is_taken_back)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	/* Its second pick finds an ignored file in the way; that is not a
	 * conflict. */
	repo_wt(repo,
	    WORK "; mkdir sub; echo s >sub/s; git add .; git commit "
		 "-qm w2; git rm -rq sub; git commit -qm w3; "
		 "mkdir sub; echo mine >sub/s");
	repo_sh(repo, ELSEWHERE);
	ck_assert_int_eq(repo_rebase(repo), -EIO);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert(!repo->facts.rebasing);
	ck_assert_int_eq(repo->facts.ahead, 3);
	ck_assert_str_eq(repo_wt(repo, "cat sub/s"), "mine");
}

TEST(abort_repairs_a_broken_rebase)
{
	static const char *const states[] = {
		":",
		"! git rebase -q main 2>/dev/null",
		"! git rebase -q --apply main 2>/dev/null",
		"! git rebase -q main 2>/dev/null; "
		"rm \"$(git rev-parse --git-dir)/rebase-merge/orig-head\"",
		"mkdir \"$(git rev-parse --git-dir)/rebase-apply\"",
		"git format-patch -q -1 main --stdout >\"$B/p\"; "
		"! git am -q \"$B/p\" >/dev/null 2>&1",
	};

	for (size_t i = 0; i < nitems(states); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK);
		repo_sh(repo, AGAINST);
		repo_wt(repo, states[i]);
		ck_assert_msg(
		    repo_abort(repo) == 0, "%s: %s", states[i], repo->msg);
		ck_assert_int_eq(repo_facts(repo), 0);
		ck_assert(!repo->facts.rebasing);
		ck_assert_str_eq(repo->facts.branch, "llmc/ann");
		ck_assert_int_eq(repo->facts.ahead, 1);
		ck_assert_msg(repo->facts.changed == 0, "%s", states[i]);
	}
}

TEST(forks_are_the_trees_where_the_work_began)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	char *first, *want;

	ck_assert_int_eq(repo_forks(repo), 0);
	ck_assert_str_eq(repo->text, "");
	first = xstrdup(repo_sh(repo, "git rev-parse main^{tree}"));
	repo_wt(repo, WORK);
	repo_sh(repo, ELSEWHERE);
	ck_assert_int_eq(repo_forks(repo), 0);
	want = xasprintf("%s|", first);
	ck_assert_str_eq(repo->text, want);
	/* After a merge, where that was made from. */
	free(want);
	repo_wt(repo, "git merge -q -m m main");
	want = xasprintf("%s|", repo_sh(repo, "git rev-parse main^{tree}"));
	ck_assert_int_eq(repo_forks(repo), 0);
	ck_assert_ptr_nonnull(strstr(repo->text, want));
	free(want);
	free(first);
	repo->dir = repo->base;
	ck_assert_int_eq(repo_forks(repo), -ENOENT);
}

TEST(operations_on_one_worktree_keep_their_order)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_salvage what = { .worker = "ann",
		.branch = "llmc/ann",
		.onto = "main",
		.stamp = "s" };

	/* Freed in the middle of one, with another waiting: everything is
	 * released. */
	git_worktree_add(repo->git, repo->dir, "llmc/ann", "main", NULL, NULL);
	git_remove(repo->git, repo->dir, &what, NULL, NULL);
	git_land(repo->git, "main", "main", "main", NULL, false, NULL, NULL);
	git_free(take_ptr(&repo->git));
}

TEST(a_hanging_git_ends_an_operation)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	struct git_options options = { .root = repo->root, .deadline_ms = 300 };

	repo_reopen(repo, &options);
	repo_trap(repo, 1, "hang");
	ck_assert_int_eq(repo_facts(repo), -ETIMEDOUT);
	ck_assert_int_eq(repo_facts(repo), 0);
}

/* Each time behind another of its gits; the daemon lives. */
TEST(a_helper_that_is_killed_is_run_again)
{
	int calls = 99;

	for (int nth = 1; nth <= calls; nth++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK);
		repo_trap(repo, nth, "orphan-after");
		ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
		calls = repo_trap_count(repo);
		repo_untrap(repo);
		ck_assert_str_eq(repo_sh(repo,
				     "ls -d \"$W\" 2>/dev/null; "
				     "git branch --list llmc/ann"),
		    "");
	}
	ck_assert_int_gt(calls, 3);
	for (int nth = 1; nth <= calls; nth++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK);
		repo_trap(repo, nth, "orphan-after");
		ck_assert_msg(
		    repo_land(repo, "main", "llmc/ann", false) == GIT_LANDED,
		    "%d: %s %s", nth, repo->text, repo->msg);
		calls = repo_trap_count(repo);
		repo_untrap(repo);
		ck_assert_str_eq(
		    repo_sh(repo,
			"git diff --stat llmc/ann; find .git -name '*.lock'"),
		    "");
	}
}

TEST(the_log_of_a_daemon_names_the_gits_of_its_helpers)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	cleanup_free char *path = file_join(repo->base, "log");
	cleanup_buf struct buf text = BUF_INIT;
	struct log_options options = { .path = path, .level = LOG_LEVEL_DEBUG };

	ck_assert_int_eq(log_open(&options), 0);
	ck_assert_int_eq(repo_facts(repo), 0);
	log_close();
	ck_assert_int_eq(file_read(path, 1 << 20, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "run git status in "));
}

/* One after the other, as for each file of a big change. */
TEST(many_texts_of_an_operation_take_no_time)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_op *op =
	    git_op_new(sizeof *op, repo->git, repo->root, NULL, NULL, NULL);
	int64_t began = clock_mono_ms();

	for (int i = 0; i < 300000; i++)
		git_op_text(op, "%d", i);
	ck_assert_int_lt(clock_mono_ms() - began, 5000);
	git_op_begin(op, false);
	git_free(take_ptr(&repo->git));
}
