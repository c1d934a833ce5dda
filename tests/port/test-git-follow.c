/* SPDX-License-Identifier: ISC */

/* A worktree whose HEAD is detached, and the branch that follows it. */

#include "repo.h"
#include "git-private.h"

/* Without the branch following at once, as repo_wt() does it. */
#define IN_TREE "cd \"$W\"; "
#define COMMIT  "echo more >>w; git add w; git commit -qm more; "
#define IDS     "git rev-parse llmc/ann; git -C \"$W\" rev-parse HEAD"

static void
set_done(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

static int
set_stand(struct repo *repo, bool detached)
{
	repo_begin(repo);
	/* As the daemon does it: said before it is detached, and no more only
	 * after it is attached. */
	if (detached)
		repo->detached = true;
	git_follow_set(
	    repo->git, repo->dir, "llmc/ann", detached, set_done, repo);
	repo_wait(repo);
	if (repo->code == 0)
		repo->detached = detached;
	return repo->code;
}

static struct repo *
with_tree(bool detached)
{
	struct repo *repo = repo_new(false);

	repo->detached = detached;
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	return repo;
}

static bool
is_followed(struct repo *repo)
{
	const char *ids = repo_sh(repo, IDS);
	size_t len = strcspn(ids, "\n");

	return strncmp(ids, ids + len + 1, len) == 0;
}

static const char *
symref(struct repo *repo)
{
	return repo_sh(
	    repo, IN_TREE "git symbolic-ref -q HEAD || echo detached");
}

TEST(a_tree_is_detached_and_attached_again)
{
	cleanup_repo struct repo *repo = with_tree(false);

	repo_sh(repo, IN_TREE COMMIT "echo left >left; echo s >s; git add s");
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert(is_followed(repo));
	ck_assert_str_eq(
	    repo_sh(repo, IN_TREE "git status -s"), "A  s\n?? left");
	repo_sh(repo, IN_TREE COMMIT);
	ck_assert(!is_followed(repo));
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	repo_sh(repo, IN_TREE COMMIT);
	/* Nothing is lost on the way back. */
	ck_assert_msg(set_stand(repo, false) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "refs/heads/llmc/ann");
	ck_assert_str_eq(repo_sh(repo, "git log --format=%s main..llmc/ann"),
	    "more\nmore\nmore");
	ck_assert_str_eq(repo_sh(repo, IN_TREE "git status -s"), "?? left");
	ck_assert_int_eq(set_stand(repo, false), 0);
}

/* In a box a worker can switch to a branch, but not commit to it. */
TEST(a_tree_on_another_branch_is_detached_where_it_is)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, "git branch other; git commit -q --allow-empty -m m");
	repo_sh(repo, IN_TREE COMMIT);
	ck_assert_msg(repo_follow(repo) == 0, "%s", repo->msg);
	repo_sh(repo, IN_TREE "git checkout -q other; echo left >left");
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert_str_eq(repo_sh(repo, "git -C \"$W\" rev-parse HEAD"),
	    repo_sh(repo, "git rev-parse other"));
	ck_assert_str_eq(repo_sh(repo, IN_TREE "git status -s"), "?? left");
	/* What it had committed before can be found. */
	ck_assert_msg(repo_follow(repo) == 0, "%s", repo->msg);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(
	    repo_sh(repo, "git log -1 --format=%s llmc/ann@{1}"), "more");
}

TEST(a_tree_on_a_branch_without_commit_is_detached_at_its_own)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, IN_TREE "git checkout -q --orphan none");
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert(is_followed(repo));
	ck_assert_str_eq(repo_sh(repo, IN_TREE "git status -s"), "");
}

TEST(a_tree_on_a_branch_in_a_rebase_is_detached)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo,
	    "git branch other; " IN_TREE COMMIT
	    "! git rebase -q -x false HEAD~1 >/dev/null 2>&1; "
	    "echo 'ref: refs/heads/other' >\"$(git rev-parse "
	    "--git-dir)/HEAD\"");
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "detached");
}

TEST(a_tree_on_another_branch_is_not_attached)
{
	cleanup_repo struct repo *repo = with_tree(false);

	repo_sh(repo, "git branch other; " IN_TREE "git checkout -q other");
	ck_assert_int_eq(set_stand(repo, false), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(repo->msg, "switch llmc/ann"));
	ck_assert_str_eq(symref(repo), "refs/heads/other");
}

/* The daemon was killed between the commit and this. */
TEST(a_commit_is_followed_whenever_somebody_looks)
{
	cleanup_repo struct repo *repo = with_tree(true);
	struct git_options options = { .root = repo->root };
	const char *old = repo_sh(repo, "git rev-parse llmc/ann");

	ck_assert_str_eq(symref(repo), "detached");
	repo_sh(repo, IN_TREE COMMIT);
	repo_reopen(repo, &options);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert(is_followed(repo));
	/* What a worker leaves behind can be found again. */
	repo_sh(repo, IN_TREE "git commit -q --amend -m other");
	ck_assert_msg(repo_follow(repo) == 0, "%s", repo->msg);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann@{2}"), old);
	ck_assert_str_eq(
	    repo_sh(repo, "git log -1 --format=%s llmc/ann@{1}"), "more");
	/* Once only. */
	repo_trap(repo, 0, "");
	ck_assert_int_eq(repo_follow(repo), 0);
	ck_assert_int_eq(repo_trap_count(repo), 0);
	repo_untrap(repo);
}

TEST(a_commit_that_is_not_whole_is_not_followed)
{
	static const char *const damage[] = {
		/* a file's contents are gone */
		"id=$(git rev-parse HEAD:w); rm -f \"$R/.git/objects/$(echo "
		"$id | cut -c1-2)/$(echo $id | cut -c3-)\"",
		/* or are another's */
		"id=$(git rev-parse HEAD:w); o=$(git rev-parse HEAD:a.txt); "
		"p() { echo \"$R/.git/objects/$(echo $1 | cut -c1-2)/$(echo "
		"$1 | cut -c3-)\"; }; cp -f \"$(p $o)\" \"$(p $id)\"",
		/* no commit at all */
		"id=$(git rev-parse HEAD:); echo $id >\"$(git rev-parse "
		"--git-dir)/HEAD\"",
		"echo 1234567890123456789012345678901234567890 "
		">\"$(git rev-parse --git-dir)/HEAD\"",
	};

	for (size_t i = 0; i < nitems(damage); i++) {
		cleanup_repo struct repo *repo = with_tree(true);
		const char *old = repo_sh(repo, "git rev-parse llmc/ann");
		cleanup_free char *script =
		    xasprintf(IN_TREE COMMIT "%s", damage[i]);

		repo_sh(repo, script);
		ck_assert_msg(repo_follow(repo) == -EIO, "%s", damage[i]);
		ck_assert_ptr_nonnull(strstr(repo->msg, "llmc reset ann"));
		ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"), old);
	}
}

/* The work goes on without it. */
TEST(a_branch_that_is_checked_out_follows_when_it_is_left)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, "git checkout -q llmc/ann; " IN_TREE COMMIT);
	ck_assert_msg(repo_follow(repo) == 0, "%s", repo->msg);
	ck_assert(!is_followed(repo));
	ck_assert_str_eq(repo_sh(repo, "git status -s"), "");
	repo_sh(repo, "git checkout -q main");
	ck_assert_msg(repo_follow(repo) == 0, "%s", repo->msg);
	ck_assert(is_followed(repo));
}

/* Two trees on one branch: each undoes what the other commits. */
TEST(a_branch_that_is_checked_out_elsewhere_is_not_attached)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, "git checkout -q llmc/ann");
	ck_assert_int_eq(set_stand(repo, false), -EBUSY);
	ck_assert_ptr_nonnull(strstr(repo->msg, "switch --detach"));
	ck_assert_str_eq(symref(repo), "detached");
	repo_sh(repo, "git switch -q --detach");
	ck_assert_msg(set_stand(repo, false) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "refs/heads/llmc/ann");
}

TEST(a_head_that_is_put_on_a_branch_is_detached)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *moved;

	moved = repo_sh(
	    repo, "git commit -q --allow-empty -m m; git rev-parse main");
	repo_sh(repo,
	    IN_TREE "echo 'ref: refs/heads/main' >\"$(git rev-parse "
		    "--git-dir)/HEAD\"");
	ck_assert_msg(repo_facts(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert(is_followed(repo));
	/* What it does from here on is its own. */
	repo_sh(repo, IN_TREE COMMIT);
	ck_assert_int_eq(repo_follow(repo), 0);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), moved);
}

/* Conflicts are given to the worker, who goes on by itself. */
TEST(a_rebase_is_finished_by_the_worker)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *old;

	repo_sh(repo, IN_TREE "echo w >>a.txt; git commit -qam work");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(repo->conflict);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert(repo->facts.rebasing);
	old = repo_sh(repo, "git rev-parse llmc/ann");
	repo_sh(repo,
	    IN_TREE "echo both >a.txt; git add a.txt; "
		    "GIT_EDITOR=: git rebase --continue >/dev/null 2>&1");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"), old);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(
	    repo_sh(repo, "git log --format=%s -2 llmc/ann"), "work\nmain");
}

/* In a box git leaves CHERRY_PICK_HEAD behind, which is then in the way. */
TEST(nothing_of_a_rebase_stays_behind)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *noted = IN_TREE "cd \"$(git rev-parse --git-dir)\"; "
				    "ls CHERRY_PICK_HEAD REBASE_HEAD 2>&1 | "
				    "grep -c '^[A-Z]' || :";

	repo_sh(repo, IN_TREE "echo w >>a.txt; git commit -qam work");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, noted), "1");
	repo_sh(repo,
	    IN_TREE "d=\"$(git rev-parse --git-dir)\"; echo both >a.txt; "
		    "git add a.txt; id=$(git rev-parse REBASE_HEAD); "
		    "GIT_EDITOR=: git rebase --continue >/dev/null 2>&1; "
		    "echo $id >\"$d/CHERRY_PICK_HEAD\"; "
		    "echo $id >\"$d/REBASE_HEAD\"");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo_sh(repo, noted), "0");
}

TEST(a_commit_picked_during_a_rebase_stays_noted)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *picked = IN_TREE "cd \"$(git rev-parse --git-dir)\"; "
				     "cat CHERRY_PICK_HEAD 2>&1 || :";
	const char *id;

	repo_sh(repo, IN_TREE "echo w >>a.txt; git commit -qam work");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(repo->conflict);
	id = repo_sh(repo,
	    IN_TREE "d=\"$(git rev-parse --git-dir)\"; git rev-parse HEAD | "
		    "tee \"$d/CHERRY_PICK_HEAD\"");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo_sh(repo, picked), id);
	/* The one of the rebase itself does not. */
	repo_sh(repo,
	    IN_TREE "cd \"$(git rev-parse --git-dir)\"; "
		    "cp REBASE_HEAD CHERRY_PICK_HEAD");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_ptr_nonnull(strstr(repo_sh(repo, picked), "No such file"));
}

TEST(a_rebase_without_conflict_moves_the_branch)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, IN_TREE COMMIT);
	repo_sh(repo, "echo m >m; git add m; git commit -qm main");
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(!repo->conflict);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(
	    repo_sh(repo, "git log --format=%s -2 llmc/ann"), "more\nmain");
	/* One that is aborted leaves it. */
	repo_sh(repo,
	    IN_TREE COMMIT "! git rebase -q -x false HEAD~1 >/dev/null 2>&1");
	ck_assert_msg(repo_abort(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	ck_assert(is_followed(repo));
}

TEST(a_rebase_goes_on_in_the_other_way)
{
	cleanup_repo struct repo *repo = with_tree(false);
	const char *old;

	repo_sh(repo, IN_TREE "echo w >>a.txt; git commit -qam work");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	old = repo_sh(repo, "git rev-parse llmc/ann");
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	repo_sh(repo,
	    IN_TREE "echo both >a.txt; git add a.txt; "
		    "GIT_EDITOR=: git rebase --continue >/dev/null 2>&1");
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"), old);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert(is_followed(repo));
}

TEST(a_reset_saves_what_was_not_followed)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *head;

	head = repo_sh(repo, IN_TREE COMMIT "echo u >u; git rev-parse HEAD");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert(is_followed(repo));
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"),
	    repo_sh(repo, "git rev-parse main"));
	setenv("REF", repo->text, 1);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse $REF^1"), head);
	ck_assert_str_eq(repo_sh(repo, "git show $REF:u"), "u");
}

TEST(a_reset_goes_without_a_branch_that_is_checked_out)
{
	cleanup_repo struct repo *repo = with_tree(true);
	const char *old;

	old = repo_sh(repo,
	    IN_TREE COMMIT "git -C \"$R\" checkout -q llmc/ann; git -C "
			   "\"$R\" rev-parse HEAD");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, IN_TREE "git rev-parse HEAD"),
	    repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"), old);
	ck_assert_str_eq(repo_sh(repo, "git status -s"), "");
}

TEST(commits_outlive_a_folder_that_is_deleted)
{
	cleanup_repo struct repo *repo = with_tree(true);

	repo_sh(repo, IN_TREE COMMIT "rm -rf \"$W\"");
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(symref(repo), "detached");
	ck_assert_str_eq(
	    repo_sh(repo, "git log --format=%s main..llmc/ann"), "more");
	ck_assert(is_followed(repo));
	repo_sh(repo, IN_TREE COMMIT "rm -rf \"$W\"");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
	setenv("REF", repo->text, 1);
	ck_assert_str_eq(
	    repo_sh(repo, "git log --format=%s main..$REF"), "more\nmore");
}
