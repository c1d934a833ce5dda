/* SPDX-License-Identifier: ISC */

/* What git says about a working tree: what has happened since a commit, its
 * files as one tree, and how many lines a commit adds. */

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

/* --- snapshots ----------------------------------------------------------- */

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

/* --- lines --------------------------------------------------------------- */

static void
on_lines(int64_t added, int64_t removed, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	repo->called = true;
	loop_stop(repo->loop, 0);
	repo->code = err != NULL ? err->code : 0;
	snprintf(repo->text, sizeof repo->text, "+%" PRId64 " -%" PRId64, added,
	    removed);
}

static void
ask(struct repo *repo, const char *base, const char *commit)
{
	repo->called = false;
	git_lines_read(repo->git, repo->dir, base, commit, on_lines, repo);
	repo_wait(repo);
}

TEST(lines_of_a_commit_are_added_up)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "printf '1\n2\n3\n' >'a b'; git add .; git commit -qm one; "
	    "printf '1\n4\n5\n6\n' >'a b'; printf 'x\n' >\"$(printf 'n\nl')\"; "
	    "printf '\\000\n\\000\n' >bin; git add .; git commit -qm two");
	ask(repo, "HEAD~1", "HEAD");
	ck_assert_int_eq(repo->code, 0);
	ck_assert_str_eq(repo->text, "+4 -2");
	ask(repo, "HEAD", "HEAD");
	ck_assert_str_eq(repo->text, "+0 -0");
	/* No program that the repository names is run. */
	repo_wt(repo,
	    "git config diff.external 'touch ran;'; "
	    "git config diff.d.textconv 'touch ran;'; "
	    "echo '* diff=d' >.gitattributes");
	ask(repo, "HEAD~1", "HEAD");
	ck_assert_str_eq(repo->text, "+4 -2");
	repo_wt(repo, "[ ! -e ran ]");
}

TEST(a_commit_that_is_not_there_is_an_error)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	ask(repo, "HEAD", "0123456789012345678901234567890123456789");
	ck_assert_int_lt(repo->code, 0);
}

TEST(what_is_no_number_is_passed_over)
{
	static const char text[] = "1\t2\ta\0-\t-\tb\0x\ty\tc\0-5\t1\td\0"
				   "3\0\0"
				   "9999999999999999999\t1\te\0"
				   "4\t5\tf";
	int64_t added = -1, removed = -1;

	git_lines_sum(text, sizeof text, &added, &removed);
	ck_assert_int_eq(added, 5);
	ck_assert_int_eq(removed, 7);
}
