/* SPDX-License-Identifier: ISC */

/* The repository in a box: what git can do there, and what cannot be done to
 * what others need. */
#include "box-world.h"
#include "repo.h"

/* Of bob's HEAD nothing is seen in this box, so what only he has is garbage
 * there. */
TEST(nobody_packs_or_collects_what_others_need)
{
	static const char *const ways[] = { "git repack -a -d -q",
		"git gc --prune=now",
		"git repack -A -d -q --unpack-unreachable",
		"git maintenance run --task=incremental-repack",
		"rm -f \"$(git rev-parse --git-common-dir)\"/objects/pack/*" };

	box_world_need();
	box_world_begin(WORKTREE);
	repo_sh(w.repo,
	    "cd .worktrees/bob; echo b >b; git add b; git commit -qm b; "
	    "cd ../..; git repack -a -d -q");
	for (size_t i = 0; i < nitems(ways); i++) {
		box_world_run(ways[i]);
		repo_sh(w.repo,
		    "git -C .worktrees/bob cat-file -e HEAD:b && git fsck");
	}
}

/* Objects that are missing there are fetched into a pack. */
TEST(a_partial_clone_gets_packs)
{
	box_world_need();
	box_world_begin(WORKTREE);
	fails(">\"$(git rev-parse --git-path objects/pack)/x\"");
	repo_sh(w.repo, ">.git/objects/pack/pack-1.promisor");
	works(">\"$(git rev-parse --git-path objects/pack)/x\"");
}

/* Also what has not been touched: git asks git-lfs. */
TEST(files_in_lfs_are_committed_in_a_box)
{
	box_world_need();
	box_world_begin_lfs(WORKTREE);
	repo_sh(w.repo,
	    "git lfs track '*.bin' >/dev/null; echo 1 >1.bin; git add .; "
	    "git commit -qm lfs; git -C .worktrees/ann checkout -q main~0");
	works("touch 1.bin && git status && echo 2 >2.bin && git add . && "
	      "git commit -qm more && rm 1.bin && git checkout 1.bin");
	repo_sh(w.repo,
	    "git merge -q \"$(git -C .worktrees/ann rev-parse HEAD)\"; "
	    "test \"$(cat 2.bin)\" = 2; git lfs fsck");
	/* Nothing else is opened in its place. */
	repo_sh(w.repo, "rm -r .git/lfs; mkdir x; ln -s ../x .git/lfs");
	fails(">\"$(git rev-parse --git-common-dir)/lfs/f\"");
}

TEST(much_is_fetched_in_a_box)
{
	box_world_need();
	box_world_begin(WORKTREE);
	repo_sh(w.repo, "git config transfer.fsckObjects true");
	works(
	    "git init -q other && cd other && "
	    "for i in $(seq 150); do echo $i >$i || exit; done && "
	    "git add . && git -c user.name=a -c user.email=a@b commit -qm o && "
	    "cd .. && git fetch -q ./other HEAD && "
	    "git cat-file -e FETCH_HEAD:150");
}

/* As git worktree add --relative-paths writes them. */
#define RELATIVE                                                    \
	"D=$(git -C .worktrees/ann rev-parse --absolute-git-dir); " \
	"N=${D##*/}; "                                              \
	"echo \"gitdir: ../../.git/worktrees/$N\" "                 \
	">.worktrees/ann/.git; "                                    \
	"echo ../../../.worktrees/ann/.git >\"$D/gitdir\""

TEST(relative_pointers_are_accepted)
{
	box_world_need();
	box_world_begin(WORKTREE);
	repo_sh(w.repo, RELATIVE);
	works("echo 1 >one; git add one; git commit -qm one");
}

TEST(a_changed_git_file_is_refused)
{
	static const char *const changes[] = {
		"echo 'gitdir: /etc' >.worktrees/ann/.git",
		"echo \"gitdir: $R/.git/worktrees/bob\" >.worktrees/ann/.git",
		"echo 'gitdir: ../../.git/worktrees/bob' >.worktrees/ann/.git",
		/* A link that the worker could change afterwards. */
		"ln -s ../.. .worktrees/ann/up; "
		"echo 'gitdir: up/.git/worktrees/ann' >.worktrees/ann/.git",
		"mkdir -p x/y; ln -s ../../x/y .worktrees/ann/up; " RELATIVE
		"; echo \"gitdir: up/../../.git/worktrees/$N\" "
		">.worktrees/ann/.git",
		RELATIVE "; echo ../../../.worktrees/bob/.git >\"$D/gitdir\"",
		"rm .worktrees/ann/.git; ln -s ../bob/.git .worktrees/ann/.git",
		"echo /etc >.git/worktrees/ann1/commondir",
		"ln -s /etc/passwd .git/worktrees/ann1/config.worktree",
	};

	for (size_t i = 0; i < nitems(changes); i++) {
		struct box box = { 0 };
		struct err err = { 0 };

		box_world_need();
		box_world_begin(WORKTREE);
		ck_assert_int_eq(box_prepare(&w.spec, &box, &err), 0);
		box_release(&box);
		repo_sh(w.repo,
		    "N=$(git -C .worktrees/ann rev-parse --git-dir); "
		    "test -e .git/worktrees/ann1 || "
		    "ln -s \"$N\" .git/worktrees/ann1; "
		    "rm -f .git/worktrees/ann1/config.worktree");
		repo_sh(w.repo, changes[i]);
		ck_assert_msg(
		    box_prepare(&w.spec, &box, &err) < 0, "%s", changes[i]);
		ck_assert_str_ne(err.msg, "");
		box_world_end();
	}
}
