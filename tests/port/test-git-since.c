/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-facts.h"

static void
on_since(const struct git_since *since, const struct err *err, void *arg)
{
	struct repo *repo = arg;
	cleanup_buf struct buf text = BUF_INIT;

	repo->called = true;
	loop_stop(repo->loop, 0);
	repo->code = err != NULL ? err->code : 0;
	if (err != NULL) {
		snprintf(repo->msg, sizeof repo->msg, "%s", err->msg);
		return;
	}
	buf_addf(&text, "%s%d", since->known ? "" : "unknown ", since->commits);
	for (size_t i = 0; i < since->file_count; i++)
		buf_addf(&text, " %s", since->files[i]);
	buf_adds(&text, " |");
	for (size_t i = 0; i < since->uncommitted_count; i++)
		buf_addf(&text, " %s", since->uncommitted[i]);
	snprintf(repo->text, sizeof repo->text, "%s", text.data);
}

static void
assert_since(struct repo *repo, const char *commit, const char *want)
{
	repo->called = false;
	git_since_read(repo->git, repo->dir, commit, "main", on_since, repo);
	repo_wait(repo);
	ck_assert_msg(repo->code == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->text, want);
}

TEST(commits_and_files_since)
{
	cleanup_repo struct repo *repo = repo_new(false);
	const char *seen;

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "echo 1 >one; git add .; git commit -qm one");
	seen = repo_wt(repo, "git rev-parse HEAD");
	assert_since(repo, seen, "0 |");
	repo_wt(repo,
	    "echo 2 >two; echo 3 >three; git add .; git commit -qm two; "
	    "echo 4 >two; git mv one moved; git add .; git commit -qm three");
	assert_since(repo, seen, "2 moved one three two |");
	assert_since(repo, repo_wt(repo, "git rev-parse --short=7 HEAD~1"),
	    "1 moved one two |");
	/* What came from the branch is not new. */
	repo_sh(repo, "echo e >else; git add .; git commit -qm elsewhere");
	repo_wt(repo, "git rebase -q main");
	assert_since(repo, seen, "3 moved one three two |");
	/* Going back adds nothing. */
	seen = repo_wt(repo, "git rev-parse HEAD");
	repo_wt(repo, "git reset -q --hard HEAD~1");
	assert_since(repo, seen, "0 |");
}

static void
on_own(const char *const *list, size_t count, const struct err *err, void *arg)
{
	struct repo *repo = arg;
	cleanup_buf struct buf text = BUF_INIT;

	repo->called = true;
	loop_stop(repo->loop, 0);
	repo->code = err != NULL ? err->code : 0;
	for (size_t i = 0; i < count; i++)
		buf_addf(&text, "%s;", list[i]);
	snprintf(repo->text, sizeof repo->text, "%s", text.data);
}

static void
assert_own(struct repo *repo, const char *commit, int code, const char *want)
{
	repo->called = false;
	git_since_own(repo->git, repo->dir, commit, "main", on_own, repo);
	repo_wait(repo);
	ck_assert_int_eq(repo->code, code);
	ck_assert_str_eq(repo->text, want);
}

TEST(a_commit_would_change_its_own_files)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *first = NULL;

	ck_assert_int_eq(repo_add(repo), 0);
	assert_own(repo, repo_wt(repo, "git rev-parse HEAD"), 0, "");
	repo_wt(repo,
	    "mkdir d; echo 1 >'d/with blank'; git mv a.txt moved; echo 2 >two; "
	    "git add .; git commit -qm one");
	first = xstrdup(repo_wt(repo, "git rev-parse HEAD"));
	assert_own(repo, first, 0, "a.txt;d/with blank;moved;two;");
	/* What was taken back is not changed. */
	repo_wt(repo, "git rm -q two; git commit -qm two");
	assert_own(repo, repo_wt(repo, "git rev-parse HEAD"), 0,
	    "a.txt;d/with blank;moved;");
	/* Neither is what came from the branch; a merge can hide nothing. */
	repo_sh(repo, "echo e >else; git add .; git commit -qm elsewhere");
	repo_wt(repo,
	    "git merge -q --no-commit main; echo m >hidden; git add .; "
	    "git commit -qm merged");
	assert_own(repo, repo_wt(repo, "git rev-parse HEAD"), 0,
	    "a.txt;d/with blank;hidden;moved;");
	/* It is that commit, wherever HEAD is. */
	assert_own(repo, first, 0, "a.txt;d/with blank;moved;two;");
	/* One with no past is compared with the branch. */
	assert_own(repo,
	    repo_wt(repo, "git commit-tree -m alone 'HEAD^{tree}'"), 0,
	    "a.txt;d/with blank;hidden;moved;");
	assert_own(repo, "0123456789012345678901234567890123456789", -EIO, "");
}

TEST(uncommitted_files_are_listed)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "echo x >>a.txt; mkdir d; echo 1 >'d/with blank'; echo s >staged; "
	    "git add staged; git init -q nested; >nested/file");
	assert_since(repo, repo_wt(repo, "git rev-parse HEAD"),
	    "0 | a.txt d/with blank staged");
}

TEST(an_unknown_commit_is_no_error)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo, "echo x >>a.txt");
	assert_since(repo, "0123456789", "unknown 0 | a.txt");
}

TEST(no_such_branch)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo->called = false;
	git_since_read(
	    repo->git, repo->dir, "0123456789", "gone", on_since, repo);
	repo_wait(repo);
	ck_assert_int_eq(repo->code, -ENOENT);
}
