/* SPDX-License-Identifier: ISC */

/* Salvage saves a gigabyte at once and no more; git reads all of it, which
 * takes longer than all other tests of salvage. */
#include "repo.h"

#define REF "refs/llmc/salvage/ann/s1"

TEST(what_is_too_much_is_left_out)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo->leave = true;
	repo_wt(repo,
	    "truncate -s 60G a.txt; truncate -s 250M b1 b2 b3 b4 b5; echo u >u");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo,
		"git log -1 --format=%b " REF " | grep '^Left out'; "
		"git ls-tree --name-only " REF "; git show " REF ":a.txt"),
	    "Left out: a.txt is too big for the repository\n"
	    "Left out: b5 is more than can be saved at once\n"
	    "a.txt\nb1\nb2\nb3\nb4\nu\none");
}
