/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-worktree.h"
#include "loop.h"

/* Salvage does not save them, and they would go with the worktree. */
TEST(repositories_inside_are_not_removed)
{
	static const struct {
		const char *make, *named, *away;
	} table[] = {
		{ "git init -q n", "n/.git has no copy elsewhere", "rm -r n" },
		{ "mkdir -p build/x; git init -q build/x/y",
		    "build/x/y/.git has no copy", "rm -r build" },
		{ "git init -q 'build/\n\"'", "cannot be read", "rm -r build" },
		{ "git clone -q \"$B/lib\" n; cd n; git commit -q "
		  "--allow-empty -m my",
		    "n/.git has commits that no remote has",
		    "git -C n push -q origin HEAD:refs/heads/my" },
		{ "git clone -q \"$B/lib\" n; cd n; echo x >l; git stash -q",
		    "no remote has", "git -C n stash drop -q" },
		{ "git submodule --quiet update --init; cd lib; "
		  "git checkout -q --detach; git commit -q --allow-empty "
		  "-m my",
		    "modules/lib has commits that no remote has",
		    "git -C lib checkout -q origin/main" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = repo_new(false);
		const char *before;

		repo_sh(repo,
		    "git config --global protocol.file.allow always; "
		    "echo build >.git/info/exclude; git init -q -b main "
		    "\"$B/lib\"; cd \"$B/lib\"; >l; git add l; "
		    "git commit -qm l; cd \"$R\"; git submodule --quiet add "
		    "\"$B/lib\" lib; git commit -qm sub");
		ck_assert_int_eq(repo_add(repo), 0);
		repo_wt(repo, table[i].make);
		before = repo_wt(repo, "find . | sort | cksum");
		ck_assert_int_eq(repo_remove(repo), -ENOTEMPTY);
		ck_assert_msg(
		    strstr(repo->msg, table[i].named) != NULL, "%s", repo->msg);
		ck_assert_str_eq(
		    repo_wt(repo, "find . | sort | cksum"), before);
		repo_wt(repo, table[i].away);
		ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
		ck_assert(!file_exists(repo->dir));
	}
}

TEST(a_worktree_whose_index_is_broken_can_be_removed)
{
	cleanup_repo struct repo *repo = repo_new(false);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "echo junk >\"$(git rev-parse --git-dir)/index\"; "
	    "git init -q n");
	ck_assert_int_eq(repo_remove(repo), -ENOTEMPTY);
	repo_wt(repo, "rm -r n");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
}

/* --- submodules ------------------------------------------------------- */

/* Its remote is on no network at all. */
#define AT_HOST                                                    \
	"git -c protocol.file.allow=always -c "                    \
	"url.\"$B/lib\".insteadOf=https://example.invalid/lib -c " \
	"url.\"$B/nest\".insteadOf=https://example.invalid/nest "

static void
submodules_done(const struct err *err, void *arg)
{
	struct repo *repo = arg;

	repo->code = err != NULL ? err->code : 0;
	snprintf(
	    repo->msg, sizeof repo->msg, "%s", err != NULL ? err->msg : "");
	loop_stop(repo->loop, 0);
}

static int
submodules(struct repo *repo)
{
	git_submodules(repo->git, repo->dir, submodules_done, repo);
	loop_run(repo->loop);
	return repo->code;
}

TEST(submodules_come_from_the_users_own_clones)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_options options = { 0 };

	/* No setting of git has a line break in its name. */
	repo->root = options.root =
	    repo_sh(repo, "mv \"$R\" \"$B/ma in\"; printf '%s/ma in' \"$B\"");
	repo_reopen(repo, &options);
	repo_sh(repo,
	    "git init -q -b main \"$B/nest\"; cd \"$B/nest\"; echo n >n; git "
	    "add n; git commit -qm n; git init -q -b main \"$B/lib\"; cd "
	    "\"$B/lib\"; echo one >l; git add l; git commit -qm l; " AT_HOST
	    "submodule --quiet add https://example.invalid/nest a/nest; git "
	    "commit -qm nest; cd \"$R\"; " AT_HOST
	    "submodule --quiet add https://example.invalid/lib lib; " AT_HOST
	    "submodule --quiet update --init --recursive; git commit -qm sub; "
	    "mv \"$B/lib\" \"$B/gone\"; mv \"$B/nest\" \"$B/gone\"");
	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_msg(submodules(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_wt(repo,
			     "cat lib/l lib/a/nest/n; git status --short; git "
			     "-C lib config remote.origin.url"),
	    "one\nn\nhttps://example.invalid/lib");
	/* The pointer moves, to a commit that only a remote branch has. */
	repo_sh(repo,
	    "cd lib; git checkout -q --detach; echo two >l; git commit -qam 2; "
	    "git update-ref refs/remotes/origin/x HEAD; cd ..; git commit -qam "
	    "move");
	repo_wt(repo, "git reset -q --hard main");
	ck_assert_msg(submodules(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_wt(repo, "cat lib/l; git status --short"), "two");
	/* One that nobody has here is told in words, and soon. */
	repo_sh(repo, "rm -rf .git/modules/lib/modules");
	repo_wt(repo,
	    "rm -rf lib \"$(git rev-parse --git-dir)/modules\"; git checkout "
	    "-q .; mkdir -p lib");
	ck_assert_int_eq(submodules(repo), -ENODATA);
	ck_assert_msg(
	    strstr(repo->msg, "the submodule lib cannot be had") != NULL, "%s",
	    repo->msg);
	/* All of it has a copy elsewhere. */
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
}

/* As git does it: a new worktree has the patterns of the user's checkout. */
TEST(a_sparse_checkout_is_taken_over)
{
	cleanup_repo struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "mkdir in out; >in/x; >out/y; git add in out; git commit -qm two; "
	    "git sparse-checkout set --cone in");
	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_str_eq(repo_wt(repo, "ls; git status --short"), "a.txt\nin");
}
