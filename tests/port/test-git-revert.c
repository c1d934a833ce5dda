/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "file.h"
#include "git-revert.h"
#include "mem.h"
#include "repo.h"
#include "unit.h"

#define LATER "echo y >>z.txt; git commit -qam later"

/* The commit to revert is tagged bad: it adds a line and a file, removes a file
 * and makes one executable. */
static struct repo *
landed(void)
{
	struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "echo old >old.txt; echo z >z.txt; git add .; "
	    "git commit -qm second; "
	    "echo two >>a.txt; mkdir d; echo new >d/new.txt; "
	    "git rm -q old.txt; chmod +x z.txt; git add .; "
	    "git commit -qm bad; git tag bad");
	return repo;
}

static int
revert(struct repo *repo, const char *commit, bool overlap)
{
	return repo_revert(repo, commit, "Take it back\n", overlap);
}

/* The tip reverts it, and is the commit that was returned. */
static void
assert_reverted(struct repo *repo, bool overlap)
{
	ck_assert_msg(revert(repo, "bad", overlap) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->text, repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(repo_sh(repo,
			     "git cat-file blob main:a.txt; "
			     "git ls-tree -r --name-only main; "
			     "git ls-tree main z.txt | cut -c1-6"),
	    "one\na.txt\nold.txt\nz.txt\n100644");
}

/* It fails with this code and these words, and has changed nothing. */
static void
assert_refused(
    struct repo *repo, const char *commit, int code, const char *words)
{
	static const char look[] =
	    "git status --short --ignored; git for-each-ref; "
	    "cksum a.txt .git/index 2>&1 || :";
	const char *before = repo_sh(repo, look);
	int r = revert(repo, commit, false);

	ck_assert_msg(r == code, "%d: %s", r, repo->msg);
	ck_assert_msg(strstr(repo->msg, words) != NULL, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, look), before);
}

START_TEST(the_tip_is_taken_back_and_the_checkout_goes_along)
{
	cleanup_repo struct repo *repo = landed();

	assert_reverted(repo, false);
	ck_assert_str_eq(repo_sh(repo,
			     "git log --format='%s|%an|%cn' -1 main; "
			     "cat a.txt old.txt; ls; test -x z.txt || "
			     "echo plain; git status --short"),
	    "Take it back|A U Thor|C O Mitter\none\nold\na.txt\nold.txt\n"
	    "z.txt\nplain");
}
END_TEST

START_TEST(later_commits_stay)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, LATER "; sed -i 1izero a.txt; git commit -qam above");
	ck_assert_msg(revert(repo, "bad", false) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo, "git log --format=%s main; cat a.txt z.txt; ls"),
	    "Take it back\nabove\nlater\nbad\nsecond\nfirst\n"
	    "zero\none\nz\ny\na.txt\nold.txt\nz.txt");
	ck_assert_str_eq(repo_sh(repo, "git status --short"), "");
}
END_TEST

START_TEST(without_a_checkout_only_the_ref_moves)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, "git checkout -q --detach");
	assert_reverted(repo, false);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt; ls d; git status --short"),
	    "one\ntwo\nnew.txt");
}
END_TEST

START_TEST(a_conflict_changes_nothing_and_is_named)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, "echo three >>a.txt; git commit -qam more");
	assert_refused(repo, "bad", -EEXIST, "conflict with it in a.txt");
	repo_sh(repo, "echo more >>d/new.txt; git commit -qam yet");
	assert_refused(
	    repo, "bad", -EEXIST, "conflict with it in a.txt and 1 more");
}
END_TEST

START_TEST(what_is_undone_already_is_left)
{
	cleanup_repo struct repo *repo = landed();
	const char *tip;

	assert_reverted(repo, false);
	tip = repo_sh(repo, "git rev-parse main");
	ck_assert_int_eq(revert(repo, "bad", false), 0);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), tip);
	/* A person reverted it, and more commits followed; local changes do not
	 * matter if there is nothing to do. */
	repo_sh(repo,
	    "git reset -q --hard bad; git revert --no-edit bad >/dev/null; " LATER
	    "; echo dirt >>a.txt");
	ck_assert_int_eq(revert(repo, "bad", false), 0);
	ck_assert_str_eq(repo->text, "");
}
END_TEST

START_TEST(a_commit_without_effect_is_undone_already)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, "git commit -q --allow-empty -m empty; git tag -f bad");
	ck_assert_int_eq(revert(repo, "bad", false), 0);
	ck_assert_str_eq(repo->text, "");
}
END_TEST

START_TEST(a_merge_is_taken_back_to_its_first_parent)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo,
	    "git checkout -q -b side HEAD~1; echo s >s; git add s; "
	    "git commit -qm side; git checkout -q main; "
	    "git merge -q --no-ff -m merge side; git tag merge; " LATER);
	ck_assert_msg(revert(repo, "merge", false) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo, "git diff --name-only bad main"), "z.txt");
}
END_TEST

START_TEST(names_that_are_not_there_are_told)
{
	cleanup_repo struct repo *repo = landed();

	assert_refused(repo, "nope", -ENOENT, "no commit nope");
	assert_refused(repo, "b\nad", -EINVAL, "line break");
	repo_sh(repo,
	    "git checkout -q -b side; git commit -q --allow-empty -m s; "
	    "git tag side1; git checkout -q main");
	assert_refused(repo, "side1", -ENOENT, "in main");
	repo_sh(repo, "git branch -m trunk");
	assert_refused(repo, "bad", -ENOENT, "no branch main");
}
END_TEST

START_TEST(the_first_commit_of_all_cannot_be_taken_back)
{
	cleanup_repo struct repo *repo = landed();

	assert_refused(repo, "bad~2", -EINVAL, "no parent");
}
END_TEST

START_TEST(a_checkout_with_changes_is_waited_for)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, "echo mine >>a.txt");
	assert_refused(repo, "bad", -EBUSY, "a.txt");
	/* With overlap, changes of other files do not matter. */
	repo_sh(repo,
	    "git checkout -q a.txt; echo f >f; git add f; "
	    "git commit -qm f; echo mine >>f");
	assert_refused(repo, "bad", -EBUSY, "f");
	ck_assert_msg(revert(repo, "bad", true) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt f; git status --short"),
	    "one\nf\nmine\n M f");
	/* A file that would be overwritten is always in the way. */
	repo_sh(repo,
	    "git checkout -q f; git reset -q --hard bad; "
	    "echo mine >old.txt");
	assert_refused(repo, "bad", -EBUSY, "old.txt");
}
END_TEST

START_TEST(what_the_user_is_doing_is_waited_for)
{
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, ">.git/index.lock");
	assert_refused(repo, "bad", -EBUSY, "another git");
	repo_sh(repo,
	    "rm .git/index.lock; git checkout -q --detach; "
	    ">.git/refs/heads/main.lock");
	assert_refused(repo, "bad", -EBUSY, "another git process holds a lock");
	repo_sh(repo, "rm .git/refs/heads/main.lock");
	assert_reverted(repo, false);
}
END_TEST

/* Put a git in front of the real one in PATH that runs `text` first. */
static void
stand_in(struct repo *repo, const char *text)
{
	cleanup_free char *folder = file_join(repo->base, "bin");
	cleanup_free char *program = file_join(folder, "git");
	cleanup_free char *path = NULL;
	cleanup_buf struct buf script = BUF_INIT;

	buf_addf(&script,
	    "#!/bin/sh\nPATH=${PATH#*:}\nall=\" $* \"\n%s\nexec git \"$@\"\n",
	    text);
	ck_assert_int_eq(file_mkdirs(folder, 0755, NULL), 0);
	ck_assert_int_eq(
	    file_replace(program, script.data, script.len, 0755, NULL), 0);
	ck_assert_int_eq(chmod(program, 0755), 0);
	path = xasprintf("%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
}

static void
real_again(void)
{
	const char *path = getenv("PATH");
	cleanup_free char *rest = xstrdup(strchr(path, ':') + 1);

	setenv("PATH", rest, 1);
}

START_TEST(a_branch_that_moves_meanwhile_is_told)
{
	cleanup_repo struct repo *repo = landed();

	/* Someone commits while the tree is being made. */
	stand_in(repo,
	    "case $all in *' merge-tree '*) git -C \"$R\" commit -q "
	    "--allow-empty -m quicker;; esac");
	ck_assert_int_eq(revert(repo, "bad", false), -EBUSY);
	real_again();
	ck_assert_ptr_nonnull(strstr(repo->msg, "main is at "));
	ck_assert_str_eq(
	    repo_sh(repo, "git log -1 --format=%s main"), "quicker");
	assert_reverted(repo, false);
}
END_TEST

START_TEST(a_git_that_is_too_old_is_told)
{
	cleanup_repo struct repo *repo = landed();

	stand_in(repo,
	    "case $all in *' merge-tree '*) echo 'usage: git merge-tree "
	    "<base-tree> <branch1> <branch2>' >&2; exit 129;; esac");
	assert_refused(repo, "bad", -ENOTSUP, "git 2.38 or newer");
	real_again();
}
END_TEST

START_TEST(a_git_that_fails_is_told)
{
	cleanup_repo struct repo *repo = landed();

	stand_in(repo,
	    "case $all in *' merge-tree '*) echo 'fatal: no luck' >&2; "
	    "exit 128;; esac");
	assert_refused(repo, "bad", -EIO, "no luck");
	real_again();
	stand_in(repo, "case $all in *' merge-tree '*) exit 0;; esac");
	assert_refused(repo, "bad", -EPROTO, "merge-tree");
	real_again();
}
END_TEST

START_TEST(whose_commit_it_is_must_be_known)
{
	static const char *const people[] = { "GIT_AUTHOR_NAME",
		"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME",
		"GIT_COMMITTER_EMAIL" };
	cleanup_repo struct repo *repo = landed();

	repo_sh(repo, "git config user.useConfigOnly true");
	for (size_t i = 0; i < nitems(people); i++)
		unsetenv(people[i]);
	assert_refused(repo, "bad", -ENOKEY, "git config --global user.name");
	repo_sh(repo, "git config user.name N; git config user.email e@x");
	assert_reverted(repo, false);
	ck_assert_str_eq(
	    repo_sh(repo, "git log -1 --format='%an %ae' main"), "N e@x");
}
END_TEST

START_TEST(a_message_must_say_something)
{
	cleanup_repo struct repo *repo = landed();

	ck_assert_int_eq(repo_revert(repo, "bad", " \n", false), -EINVAL);
	ck_assert_ptr_nonnull(strstr(repo->msg, "without a message"));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse bad"));
}
END_TEST

static void
never(const char *id, const struct err *err, void *arg)
{
	(void)id;
	(void)err;
	(void)arg;
	ck_abort_msg("called after git_free()");
}

static void
look(void *arg)
{
	struct repo *repo = arg;
	cleanup_free char *mark = file_join(repo->base, "here");

	if (file_exists(mark))
		loop_stop(repo->loop, 0);
}

START_TEST(freed_in_the_middle_nobody_is_called)
{
	/* While the commit is made, and while it lands. */
	static const char *const texts[] = {
		"case $all in *' merge-tree '*) >\"$B/here\"; "
		"exec tail -f /dev/null;; esac",
		"case $all in *' read-tree '*) >\"$B/here\"; "
		"exec tail -f /dev/null;; esac",
	};

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_repo struct repo *repo = landed();
		struct git_options options = { .root = repo->root };
		struct loop_timer *timer =
		    loop_every(repo->loop, 10, look, repo);

		stand_in(repo, texts[i]);
		git_revert(repo->git, "main", "bad", "m", false, never, NULL);
		loop_run(repo->loop);
		loop_timer_free(timer);
		repo_reopen(repo, &options);
		real_again();
		ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
		    repo_sh(repo, "git rev-parse bad"));
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-revert");

	unit_case(s, "taken back",
	    (const TTest *[]){
		the_tip_is_taken_back_and_the_checkout_goes_along,
		later_commits_stay, without_a_checkout_only_the_ref_moves,
		what_is_undone_already_is_left,
		a_commit_without_effect_is_undone_already,
		a_merge_is_taken_back_to_its_first_parent, NULL });
	unit_case(s, "not taken back",
	    (const TTest *[]){ a_conflict_changes_nothing_and_is_named,
		names_that_are_not_there_are_told,
		the_first_commit_of_all_cannot_be_taken_back,
		a_checkout_with_changes_is_waited_for,
		what_the_user_is_doing_is_waited_for,
		a_branch_that_moves_meanwhile_is_told,
		a_git_that_is_too_old_is_told, a_git_that_fails_is_told,
		whose_commit_it_is_must_be_known, a_message_must_say_something,
		freed_in_the_middle_nobody_is_called, NULL });
	return s;
}
