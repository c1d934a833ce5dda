/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-facts.h"

static char tree[GIT_ID_SIZE];

static struct git_facts facts;

static void
on_snapshot(const struct git_facts *found, const struct git_snapshot *snapshot,
    const struct err *err, void *arg)
{
	struct repo *repo = arg;
	cleanup_buf struct buf text = BUF_INIT;

	repo_answered(repo, err);
	loop_stop(repo->loop, 0);
	if (err != NULL)
		return;
	facts = *found;
	snprintf(tree, sizeof tree, "%s", snapshot->tree);
	if (!snapshot->compared)
		buf_adds(&text, "not compared");
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct git_snapshot_change *c = &snapshot->changes[i];

		buf_addf(&text, "%s%s %.4s;", c->path, c->own ? "" : " (main)",
		    c->blob[0] != '\0' ? c->blob : "gone");
	}
	snprintf(repo->text, sizeof repo->text, "%s", text.data);
}

static const char *
snapshot(struct repo *repo, const char *before)
{
	repo_begin(repo);
	git_snapshot(repo->git, repo->dir, "main", before, on_snapshot, repo);
	repo_wait(repo);
	ck_assert_msg(repo->code == 0, "%s", repo->msg);
	return repo->text;
}

/* "1\n" is d00491, "2\n" 0cfbf0, "3\n" 00750e. */
TEST(uncommitted_files_count_and_nothing_is_touched)
{
	cleanup_repo struct repo *repo = repo_new(false);
	char first[GIT_ID_SIZE];

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "echo 1 >one; git add one; git commit -qm one; echo 2 >two; "
	    "echo 3 >one; rm a.txt; echo x >.gitignore; touch x");
	repo_wt(repo, "git status --porcelain >\"$B/before\"");
	ck_assert_str_eq(snapshot(repo, ""),
	    ".gitignore 587b;a.txt gone;one 0075;two 0cfb;");
	memcpy(first, tree, sizeof first);
	repo_wt(repo, "git status --porcelain | cmp - \"$B/before\"");
	repo_wt(repo, "! ls $(git rev-parse --git-dir) | grep snapshot");
	/* The same again, and what changes then. */
	ck_assert_str_eq(snapshot(repo, first), "");
	ck_assert_str_eq(tree, first);
	repo_wt(repo, "echo 1 >one; rm two");
	ck_assert_str_eq(snapshot(repo, first), "one d004;two (main) gone;");
}

TEST(a_clean_tree_is_that_of_its_commit)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "echo 1 >one; git add one; git commit -qm one");
	ck_assert_str_eq(snapshot(repo, ""), "one d004;");
	ck_assert_str_eq(tree, repo_wt(repo, "git rev-parse HEAD^{tree}"));
	ck_assert(facts.lines_known);
	ck_assert_int_eq(facts.lines_added, 1);
	/* As the first commit alone, but for what is gone again. */
	repo_wt(repo,
	    "printf '1\\n2\\n' >two; git add two; git commit -qm two; "
	    "git commit -q --allow-empty -m empty; git rm -q one; "
	    "git commit -qm three");
	ck_assert_str_eq(snapshot(repo, ""), "two 1191;");
	ck_assert_str_eq(tree, repo_wt(repo, "git rev-parse HEAD^{tree}"));
	ck_assert_int_eq(facts.ahead, 4);
	ck_assert_int_eq(facts.lines_added, 2);
	ck_assert_int_eq(facts.lines_removed, 0);
	/* A merge has two parents. */
	repo_sh(repo, "echo 2 >three; git add three; git commit -qm three");
	repo_wt(repo, "git merge -q --no-edit main");
	ck_assert_str_eq(snapshot(repo, ""), "two 1191;");
	ck_assert_int_eq(facts.ahead, 5);
	/* Nothing is its own. */
	repo_wt(repo, "git reset -q --hard main");
	ck_assert_str_eq(snapshot(repo, ""), "");
	ck_assert_int_eq(facts.ahead, 0);
}

/* Names that look like something else in what git prints. */
TEST(a_commit_without_changes_and_odd_names)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "git commit -q --allow-empty -m empty");
	ck_assert_str_eq(snapshot(repo, ""), "");
	ck_assert_int_eq(facts.ahead, 1);
	repo_wt(repo,
	    "git reset -q --hard HEAD^; echo 1 >'>x'; echo 1 >\"7	7	y\"; "
	    "git add -A; git commit -qm odd");
	ck_assert_str_eq(snapshot(repo, ""), "7\t7\ty d004;>x d004;");
	ck_assert_int_eq(facts.ahead, 1);
	ck_assert_int_eq(facts.lines_added, 2);
}

TEST(what_came_from_the_branch_is_not_its_own)
{
	cleanup_repo struct repo *repo = repo_new(false);
	char first[GIT_ID_SIZE];

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "echo 1 >one; git add one; git commit -qm one");
	snapshot(repo, "");
	memcpy(first, tree, sizeof first);
	repo_sh(repo, "echo 2 >two; git add two; git commit -qm two");
	repo_wt(repo, "git rebase -q main; echo 3 >one");
	ck_assert_str_eq(snapshot(repo, first), "one 0075;two (main) 0cfb;");
}

TEST(an_earlier_tree_may_be_gone)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_str_eq(
	    snapshot(repo, "1234567890123456789012345678901234567890"),
	    "not compared");
	ck_assert_str_eq(tree, repo_wt(repo, "git rev-parse HEAD^{tree}"));
}

TEST(a_conflict_is_no_obstacle)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "echo 1 >one; git add one; git commit -qm one");
	repo_sh(repo, "echo 2 >one; git add one; git commit -qm two");
	repo_wt(repo, "! git rebase -q main 2>/dev/null; echo 3 >one");
	ck_assert_str_eq(snapshot(repo, ""), "one 0075;");
}
