/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-facts.h"

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
