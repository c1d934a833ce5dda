/* SPDX-License-Identifier: ISC */

/* What was put in the place of a worktree is not taken for it. */

#include "repo.h"
#include "git-private.h"

/* What nobody may change from a worktree that is not ours. */
#define PRECIOUS                                                               \
	"git status --short; git rev-parse HEAD main; git symbolic-ref HEAD; " \
	"cat a.txt; cat \"$B/other/file\"; git -C \"$B/other\" status --short"

static struct repo *
with_tree(void)
{
	struct repo *repo = repo_with_tree();

	repo_wt(repo, "echo work >w; git add w; git commit -qm work");
	repo_sh(repo,
	    "echo mine >>a.txt; echo mine >untracked; "
	    "git init -q -b main \"$B/other\"; cd \"$B/other\"; "
	    "echo theirs >file; git add file; git commit -qm theirs; "
	    "echo changed >>file");
	return repo;
}

/* Nothing is done there, whatever is asked for. */
static void
assert_refused(struct repo *repo, const char *words)
{
	const char *before = repo_sh(repo, PRECIOUS);
	cleanup_free char *gitdir = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    git_verify(repo->root, repo->dir, &gitdir, &err), -EUCLEAN);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
	ck_assert_ptr_null(gitdir);
	ck_assert_int_eq(repo_reset(repo), -EUCLEAN);
	ck_assert_int_eq(repo_facts(repo), -EUCLEAN);
	ck_assert_int_eq(repo_salvage(repo, "s1"), -EUCLEAN);
	ck_assert_int_eq(repo_squash(repo, "m"), -EUCLEAN);
	ck_assert_int_eq(repo_rebase(repo), -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, PRECIOUS), before);
}

TEST(a_worktree_is_accepted)
{
	cleanup_repo struct repo *repo = with_tree();
	cleanup_free char *gitdir = NULL, *main_dir = NULL;
	struct err err = { 0 };

	ck_assert_msg(git_verify(repo->root, repo->dir, &gitdir, &err) == 0,
	    "%s", err.msg);
	ck_assert_str_eq(
	    gitdir, repo_wt(repo, "git rev-parse --absolute-git-dir"));
	ck_assert_msg(git_verify(repo->root, repo->root, &main_dir, &err) == 0,
	    "%s", err.msg);
	ck_assert_str_eq(
	    main_dir, repo_sh(repo, "git rev-parse --absolute-git-dir"));
}

/* As worktree.useRelativePaths has them written. */
TEST(a_worktree_with_relative_pointers_is_accepted)
{
	cleanup_repo struct repo *repo = with_tree();
	cleanup_free char *gitdir = NULL;
	struct err err = { 0 };
	const char *own = repo_wt(repo,
	    "d=$(git rev-parse --absolute-git-dir); "
	    "echo \"gitdir: $(realpath --relative-to=. \"$d\")\" >.git; "
	    "realpath --relative-to=\"$d\" \"$PWD/.git\" >\"$d/gitdir\"; "
	    "echo \"$d\"");

	ck_assert_msg(git_verify(repo->root, repo->dir, &gitdir, &err) == 0,
	    "%s", err.msg);
	ck_assert_str_eq(gitdir, own);
	ck_assert_msg(repo_facts(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo->facts.ahead, 1);
	repo_wt(repo,
	    "touch -d '1 minute ago' \"$(git rev-parse --git-dir)/index.lock\"");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	repo_sh(repo, "git worktree add -q --detach \"$B/second\"");
	repo_wt(repo,
	    "echo 'gitdir: '\"$(realpath --relative-to=. "
	    "\"$R/.git/worktrees/second\")\" >.git");
	assert_refused(repo, "another working tree");
}

TEST(links_above_are_accepted)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *root = repo_sh(repo, "ln -s . \"$B/l\"; echo \"$B/l\"");
	cleanup_free char *dir =
	    xasprintf("%s%s", root, repo->dir + strlen(repo->base));
	cleanup_free char *gitdir = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    git_verify(repo->root, dir, &gitdir, &err) == 0, "%s", err.msg);
}

/* The root may be a worktree itself; then the main one is another. */
TEST(the_root_may_be_a_worktree_or_a_link)
{
	cleanup_repo struct repo *repo = with_tree();
	cleanup_free char *gitdir = NULL, *other = NULL, *linked = NULL;
	struct err err = { 0 };
	const char *link =
	    repo_sh(repo, "ln -s \"$R\" \"$B/l\"; echo \"$B/l\"");

	ck_assert_msg(git_verify(repo->dir, repo->root, &gitdir, &err) == 0,
	    "%s", err.msg);
	ck_assert_msg(
	    git_verify(repo->dir, repo->dir, &other, &err) == 0, "%s", err.msg);
	ck_assert_msg(
	    git_verify(link, link, &linked, &err) == 0, "%s", err.msg);
}

TEST(what_is_not_there_is_told_apart)
{
	cleanup_repo struct repo *repo = with_tree();
	cleanup_free char *gitdir = NULL;
	struct err err = { 0 };

	repo_sh(repo, "rm \"$W/.git\"");
	ck_assert_int_eq(
	    git_verify(repo->root, repo->dir, &gitdir, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "no .git"));
	repo_sh(repo, "rm -rf \"$W\"");
	ck_assert_int_eq(
	    git_verify(repo->root, repo->dir, &gitdir, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "does not exist"));
}

TEST(a_link_is_refused)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_sh(repo, "mv \"$W\" \"$W.moved\"; ln -s \"$W.moved\" \"$W\"");
	assert_refused(repo, "symbolic link");
	repo_sh(repo, "rm \"$W\"; ln -s \"$R\" \"$W\"");
	assert_refused(repo, "symbolic link");
	repo_sh(repo, "rm \"$W\"; ln -s \"$B/other\" \"$W\"");
	assert_refused(repo, "symbolic link");
	repo_sh(repo, "rm \"$W\"; >\"$W\"");
	assert_refused(repo, "a file");
}

TEST(a_second_repository_is_refused)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "rm .git; git init -q -b llmc/ann .; git add .; git commit -qm x");
	assert_refused(repo, "another repository");
	/* One that claims to belong to ours. */
	repo_wt(repo, "echo \"$R/.git\" >.git/commondir");
	assert_refused(repo, "another working tree");
	repo_wt(repo, "rm -rf .git; ln -s \"$B/other/.git\" .git");
	assert_refused(repo, "does not name");
	repo_wt(repo, "rm .git; ln -s \"$R/.git\" .git");
	assert_refused(repo, "does not name");
}

TEST(a_git_file_that_points_elsewhere_is_refused)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *own = repo_wt(repo, "cat .git");

	repo_wt(repo, "echo \"gitdir: $B/other/.git\" >.git");
	assert_refused(repo, "another repository");
	/* Its HEAD and index are the user's. */
	repo_wt(repo, "echo \"gitdir: $R/.git\" >.git");
	assert_refused(repo, "another working tree");
	/* Another worker's. */
	repo_sh(repo, "git worktree add -q \"$B/bob\" -b llmc/bob");
	repo_wt(repo, "cp \"$B/bob/.git\" .git");
	assert_refused(repo, "another working tree");
	/* A made-up one, with a configuration of its own. */
	setenv("OWN", own + strlen("gitdir: "), 1);
	repo_wt(repo,
	    "cp -r \"$OWN\" \"$B/fake\"; echo \"$R/.git\" >\"$B/fake/commondir\"; "
	    "echo \"gitdir: $B/fake\" >.git");
	assert_refused(repo, "another working tree");
	/* One that git does not list. */
	repo_wt(repo,
	    "mkdir \"$R/.git/mine\"; cp -r \"$OWN\" \"$R/.git/mine/w\"; "
	    "echo \"gitdir: $R/.git/mine/w\" >.git");
	assert_refused(repo, "another working tree");
	repo_wt(repo, "echo 'gitdir: /nowhere' >.git");
	assert_refused(repo, "broken");
	repo_wt(repo, "echo nonsense >.git");
	assert_refused(repo, "does not name");
	repo_wt(repo, "rm .git; mkfifo .git");
	assert_refused(repo, "does not name");
}

/* git would wait for a FIFO, and write through a link. */
static const char *const no_files[][2] = {
	{ "HEAD", "ln -s \"$B/other/file\" HEAD" },
	{ "HEAD", "mkdir HEAD" },
	{ "index", "ln -s \"$B/other/file\" index" },
	{ "index", "mkdir index" },
	{ "logs/HEAD", "ln -s \"$B/other/file\" logs/HEAD" },
	{ "logs/HEAD", "mkfifo logs/HEAD" },
	{ "logs/HEAD", "mv logs l; ln -s l logs" },
	{ "COMMIT_EDITMSG", "ln -s \"$B/other/file\" COMMIT_EDITMSG" },
	{ "config", "mkfifo config" },
};

TEST_ROWS(a_file_that_git_opens_is_a_file, nitems(no_files))
{
	cleanup_repo struct repo *repo = with_tree();
	const char *name = no_files[_i][0];
	cleanup_free char *words = xasprintf("%s in its git directory", name);

	setenv("NAME", name, 1);
	setenv("SCRIPT", no_files[_i][1], 1);
	repo_wt(repo,
	    "cd \"$(git rev-parse --git-dir)\"; rm -f \"$NAME\"; "
	    "eval \"$SCRIPT\"");
	assert_refused(repo, words);
}

/* The configuration cannot move the tree: GIT_WORK_TREE is stronger. */
TEST(core_worktree_has_no_effect)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *before;

	repo_wt(repo,
	    "git config extensions.worktreeConfig true; "
	    "git config --worktree core.worktree \"$B/other\"");
	before = repo_sh(repo, PRECIOUS);
	ck_assert_msg(repo_facts(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo->facts.changed, 0);
	repo_wt(repo, "echo left >left; echo more >>w");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_wt(repo, "ls; cat a.txt"), "a.txt\none");
	ck_assert_str_eq(repo_sh(repo, PRECIOUS), before);
}

/* Replaced while an operation runs: the next command finds it out. */
TEST(a_worktree_replaced_in_the_middle_is_refused)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *before;
	struct git_options options = { .root = repo->root, .run_hooks = true };

	repo_reopen(repo, &options);
	repo_sh(repo,
	    "printf '#!/bin/sh\\n[ -L \"$W\" ] || { mv \"$W\" \"$W.moved\"; "
	    "ln -s \"$B/other\" \"$W\"; }\\n' >.git/hooks/post-checkout; "
	    "chmod +x .git/hooks/post-checkout");
	repo_wt(repo, ">u");
	before = repo_sh(repo, PRECIOUS);
	/* The checkout is followed by a clean. */
	ck_assert_int_eq(repo_reset(repo), -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, PRECIOUS), before);
}
