/* SPDX-License-Identifier: ISC */

#include "repo.h"

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
