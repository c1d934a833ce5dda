/* SPDX-License-Identifier: ISC */

#include "repo.h"

#define WORK "echo two >>a.txt; echo new >new.txt; git add .; git commit -qm w1"
#define REF  "refs/llmc/salvage/ann/s1"

/* Everything that salvage must not change. */
#define UNTOUCHED                                                        \
	"git status --porcelain=v2 --branch | cksum; "                   \
	"d=$(git rev-parse --git-dir); cksum <\"$d/index\"; ls \"$d\"; " \
	"find . -path ./nested -prune -o -type f -print0 | sort -z | "   \
	"xargs -0 cksum; git rev-parse HEAD llmc/ann"

TEST(nothing_to_save_is_no_ref)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->text, "");
	repo_sh(repo, "git commit -q --allow-empty -m ahead");
	repo_wt(repo,
	    "touch a.txt; git config core.excludesFile \"$B/i\"; echo "
	    "x >\"$B/i\"; >x; git init -q nested");
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo_sh(repo, "git for-each-ref refs/llmc"), "");
}

/* In the usual case one look is enough, and the caller is told of it. */
TEST(a_clean_worktree_takes_one_git)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_trap(repo, 0, "");
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	repo_untrap(repo);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo->clean, repo_wt(repo, "git rev-parse HEAD"));
	/* Its commits are saved as they are. */
	repo_wt(repo, WORK);
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_str_eq(repo->text, REF);
	ck_assert_str_eq(repo->clean, repo_wt(repo, "git rev-parse HEAD"));
	ck_assert_str_eq(repo->clean, repo_sh(repo, "git rev-parse " REF));
	repo_wt(repo, ">new-file");
	ck_assert_int_eq(repo_salvage(repo, "s2"), 0);
	ck_assert_str_eq(repo->clean, "");
	if (repo->detached)
		return; /* HEAD is on no branch for long */
	repo_wt(repo, "rm new-file; git checkout -q -b other");
	ck_assert_int_eq(repo_salvage(repo, "s3"), 0);
	ck_assert_str_eq(repo->clean, "");
}

TEST(salvage_saves_all_and_touches_nothing)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *before;

	repo_wt(repo, WORK);
	repo_wt(repo,
	    "echo staged >st; git add st; echo 3 >>a.txt; mkdir d; "
	    "echo u >'d/u\n\xc3\xa9'; ln -s nowhere link; rm new.txt; "
	    "printf '#!/bin/sh\\n' >run; chmod +x run; "
	    "git init -q nested; >nested/f");
	before = repo_wt(repo, UNTOUCHED);
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->text, REF);
	ck_assert_str_eq(repo_wt(repo, UNTOUCHED), before);
	ck_assert_str_eq(
	    repo_sh(repo, "git ls-tree -rz --name-only " REF " | tr '\\0' '|'"),
	    "a.txt|d/u\n\xc3\xa9|link|run|st|");
	ck_assert_str_eq(
	    repo_sh(repo,
		"git cat-file blob " REF ":a.txt; git rev-parse " REF
		"^ ; git ls-tree " REF " run | cut -c1-6"),
	    repo_sh(repo,
		"printf 'one\\ntwo\\n3\\n'; git rev-parse llmc/ann; "
		"echo 100755"));
	/* And back again. */
	ck_assert_int_eq(repo_reset(repo), 0);
	repo_wt(repo, "git merge -q --ff-only " REF);
	ck_assert_str_eq(repo_wt(repo, "cat st"), "staged");
}

TEST(commits_alone_are_saved_as_they_are)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_str_eq(repo->text, REF);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse " REF),
	    repo_sh(repo, "git rev-parse llmc/ann"));
}

TEST(in_a_rebase_the_branch_is_saved_with_head)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *before;

	repo_wt(repo, WORK "; echo x >x; git add x; git commit -qm w2");
	repo_sh(repo, "echo other >>a.txt; git commit -qam against");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	repo_wt(repo, "echo half-resolved >a.txt");
	before = repo_wt(repo, UNTOUCHED);
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_wt(repo, UNTOUCHED), before);
	ck_assert_str_eq(
	    repo_sh(repo,
		"git cat-file blob " REF ":a.txt; git rev-list " REF
		" | grep -c $(git rev-parse llmc/ann)"),
	    "half-resolved\n1");
	ck_assert_int_eq(repo_reset(repo), 0);
	ck_assert_str_eq(
	    repo_sh(repo,
		"git log --format=%s --no-merges main.." REF " | grep -c w2"),
	    "1");
}

TEST(the_same_stamp_again_loses_nothing)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *first, *second;

	repo_wt(repo, "echo 1 >u");
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	first = repo_sh(repo, "git rev-parse " REF);
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_str_eq(repo->text, REF);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse " REF), first);
	repo_wt(repo, "echo 2 >u");
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	second = repo_sh(repo, "git rev-parse " REF);
	ck_assert_str_ne(second, first);
	ck_assert_str_eq(
	    repo_sh(
		repo, "git cat-file blob " REF ":u; git rev-parse " REF "^2"),
	    repo_sh(repo, "echo 2; git rev-parse " REF "^2"));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse " REF "^2"), first);
	/* It was killed after the reset, before that was recorded: still
	 * saved. */
	ck_assert_int_eq(repo_reset(repo), 0);
	ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
	ck_assert_str_eq(repo->text, REF);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse " REF), second);
}

TEST(salvage_needs_no_name_lock_or_index)
{
	static const char *const damage[] = {
		":",
		"echo junk >\"$(git rev-parse --git-dir)/index\"",
		"rm \"$(git rev-parse --git-dir)/index\"",
		">\"$(git rev-parse --git-dir)/index.lock\"",
		">\"$(git rev-parse --git-dir)/llmc-salvage.index.lock\"; "
		"echo junk >\"$(git rev-parse --git-dir)/llmc-salvage.index\"",
		"git config user.useConfigOnly true; git config core.safecrlf "
		"true; git config core.autocrlf input; printf 'a\\r\\n' >cr",
	};

	for (size_t i = 0; i < nitems(damage); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, "echo u >u; echo 2 >>a.txt");
		repo_wt(repo, damage[i]);
		unsetenv("GIT_AUTHOR_NAME");
		unsetenv("GIT_AUTHOR_EMAIL");
		unsetenv("GIT_COMMITTER_NAME");
		unsetenv("GIT_COMMITTER_EMAIL");
		ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s: %s",
		    damage[i], repo->msg);
		ck_assert_str_eq(repo->text, REF);
		ck_assert_str_eq(repo_sh(repo,
				     "git cat-file blob " REF ":u; "
				     "git cat-file blob " REF ":a.txt"),
		    "u\none\n2");
		ck_assert_str_eq(
		    repo_wt(repo,
			"ls \"$(git rev-parse --git-dir)\" | grep -c "
			"salvage || :"),
		    "0");
	}
}

TEST(an_unborn_branch_can_be_saved)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "git checkout -q --orphan o; git rm -rfq .; echo u >u; "
	    "git add u");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, "git ls-tree --name-only " REF), "u");
}

TEST(what_cannot_be_saved_is_an_error)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	ck_assert_int_eq(repo_salvage(repo, "a..b"), 0); /* nothing to save */
	repo_wt(repo, "echo u >u");
	ck_assert_int_eq(repo_salvage(repo, "a..b"), -EIO);
	repo_sh(repo, "rm -rf \"$W\"");
	ck_assert_int_eq(repo_salvage(repo, "s1"), -ENOENT);
}

#define LEFT "git log -1 --format=%b " REF " | grep '^Left out'; "

/* Of a checkout that stays as it is, the rest is saved. */
TEST(what_cannot_be_read_is_left_out)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	if (!repo_obey_modes())
		return;
	repo->leave = true;
	repo_wt(repo,
	    "echo 2 >>a.txt; echo s >secret; chmod 0 a.txt secret; echo u >u");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo,
		LEFT "git ls-tree --name-only " REF "; git show " REF ":a.txt"),
	    "Left out: a.txt cannot be read\n"
	    "Left out: secret cannot be read\na.txt\nu\none");
	repo->leave = false;
	ck_assert_int_eq(repo_salvage(repo, "s2"), -EFBIG);
	ck_assert_ptr_nonnull(strstr(repo->msg, "cannot be read"));
}

TEST(a_folder_that_is_no_worktree_is_told_apart)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, "echo nonsense >.git");
	ck_assert_int_eq(repo_salvage(repo, "1"), -EUCLEAN);
}

TEST(locks_of_a_killed_git_are_removed)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "echo u >u; d=$(git rev-parse --git-dir); >\"$d/index.lock\"; "
	    ">\"$d/HEAD.lock\"; >\"$R/.git/refs/heads/llmc/ann.lock\"; "
	    ">\"$R/.git/index.lock\"");
	ck_assert_int_eq(repo_reset(repo), -EBUSY);
	ck_assert_msg(repo_unlock(repo) == 0, "%s", repo->msg);
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	/* There may be none, and the user's locks stay. */
	ck_assert_int_eq(repo_unlock(repo), 0);
	ck_assert_str_eq(
	    repo_sh(repo, "find .git -name '*.lock'"), ".git/index.lock");
}

TEST(leftovers_go_into_the_last_commit)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	ck_assert_int_eq(repo_leftovers(repo, "left"), 0); /* nothing */
	repo_wt(repo,
	    "echo l >'l\n1'; echo 3 >>a.txt; git rm -q new.txt; "
	    "git init -q nested; >nested/f");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed + repo->facts.untracked, 0);
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert_str_eq(repo_wt(repo,
			     "git log -1 --format=%s; git ls-tree -rz "
			     "--name-only HEAD | tr '\\0' '|'"),
	    "w1\na.txt|l\n1|");
	/* Reverting everything leaves an empty commit, not an error. */
	repo_wt(repo, "git checkout -q main -- . ; rm l*");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
}

TEST(leftovers_alone_are_a_commit_with_the_message)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_sh(repo, "git config commit.cleanup strip");
	repo_wt(repo, "echo l >l");
	ck_assert_msg(repo_leftovers(repo, "Task\n\n# not a comment") == 0,
	    "%s", repo->msg);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 1);
	ck_assert_str_eq(
	    repo_wt(repo, "git log -1 --format=%B"), "Task\n\n# not a comment");
}

TEST(leftovers_wait_for_rebase_and_conflict)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	repo_sh(repo, "echo other >>a.txt; git commit -qam against");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EBUSY);
	ck_assert_int_eq(repo_abort(repo), 0);
	repo_wt(repo, "! git merge -q main >/dev/null 2>&1");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EBUSY);
	repo_wt(repo, "echo both >a.txt; git add a.txt");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_wt(repo, "git rev-list --parents -1 HEAD | wc -w"), "3");
}

TEST(without_a_name_the_error_says_what_to_type)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_sh(repo, "git config user.useConfigOnly true");
	repo_wt(repo, "echo l >l");
	unsetenv("GIT_AUTHOR_NAME");
	unsetenv("GIT_AUTHOR_EMAIL");
	unsetenv("GIT_COMMITTER_NAME");
	unsetenv("GIT_COMMITTER_EMAIL");
	unsetenv("EMAIL");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -ENOKEY);
	ck_assert_ptr_nonnull(
	    strstr(repo->msg, "git config --global user.name"));
	ck_assert_int_eq(repo_rebase(repo), -ENOKEY);
	repo_sh(repo, "git config user.name N; git config user.email n@e.org");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
}

TEST(a_hook_that_says_no_is_heard)
{
	cleanup_repo struct repo *repo = repo_new(true);

	ck_assert_int_eq(repo_add(repo), 0);
	repo_sh(repo,
	    "printf '#!/bin/sh\\necho style: bad >&2; exit 1\\n' "
	    ">.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
	repo_wt(repo, "echo l >l");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EIO);
	ck_assert_str_eq(repo->msg, "git commit: style: bad");
}

TEST(line_ends_of_a_crlf_repository_stay)
{
	cleanup_repo struct repo *repo = repo_new_empty();

	repo_sh(repo,
	    "git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' "
	    ">t; git add t 2>/dev/null; git commit -qm t");
	ck_assert_int_eq(repo_add(repo), 0);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed, 0);
	repo_wt(repo, "printf 'c\\r\\n' >>t; printf 'n\\n' >n");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed + repo->facts.untracked, 0);
	ck_assert_str_eq(
	    repo_wt(repo, "git cat-file blob HEAD:t | od -An -c | tr -d ' '"),
	    "a\\nb\\nc\\n");
	ck_assert_int_eq(repo_reset(repo), 0);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed, 0);
}

TEST(submodules_are_not_in_the_way)
{
	cleanup_repo struct repo *repo = repo_new_empty();

	repo_sh(repo,
	    "git init -q \"$B/lib\"; cd \"$B/lib\"; >l; git add l; "
	    "git commit -qm l; cd \"$R\"; "
	    "git -c protocol.file.allow=always submodule --quiet add "
	    "\"$B/lib\" lib; git commit -qm sub; "
	    "git config submodule.recurse true");
	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "git -c protocol.file.allow=always submodule --quiet "
	    "update --init 2>/dev/null; echo dirt >lib/dirt; "
	    "echo l >l");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.changed, 0);
	ck_assert_int_eq(repo->facts.untracked, 1);
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert_msg(repo_squash(repo, "m") == 0, "%s", repo->msg);
	ck_assert_int_eq(
	    repo_land(repo, "main", repo->text, false), GIT_LANDED);
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_remove(repo), -ENOTEMPTY);
	repo_wt(repo, "rm lib/dirt");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
}
