/* SPDX-License-Identifier: ISC */

#include "ready-work.h"

#define WORK                                                                  \
	"echo two >>a.txt; mkdir d; echo new >d/new.txt; git rm -q old.txt; " \
	"git add .; git commit -qm w1"

struct repo *
ready_work(bool run_hooks)
{
	struct repo *repo = repo_new(run_hooks);

	repo_sh(repo,
	    "echo old >old.txt; echo z >z.txt; git add .; "
	    "git commit -qm second; git tag onto");
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_wt(repo, WORK);
	ck_assert_msg(repo_squash(repo, "Do it\n") == 0, "%s", repo->msg);
	repo_sh(repo, "git tag id refs/llmc/landing/ann");
	return repo;
}

void
ready_lands(struct repo *repo, bool overlap)
{
	enum git_land_result result = repo_land(repo, "onto", "id", overlap);

	ck_assert_msg(
	    result == GIT_LANDED, "%d %s %s", result, repo->text, repo->msg);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse id"));
}

void
ready_waits(struct repo *repo, bool overlap, const char *named)
{
	const char *before = repo_sh(repo,
	    "git status --short --ignored; "
	    "git rev-parse main; "
	    "cksum a.txt .git/index 2>&1 || :");
	enum git_land_result result = repo_land(repo, "onto", "id", overlap);

	ck_assert_msg(result ==
		(strstr(named, "another git") != NULL        ? GIT_LAND_HELD :
			strstr(named, "in progress") != NULL ? GIT_LAND_BUSY :
							       GIT_LAND_DIRTY),
	    "%d %s", result, repo->msg);
	ck_assert_msg(
	    strstr(repo->text, named) != NULL, "%s: %s", named, repo->text);
	ck_assert_str_eq(repo_sh(repo,
			     "git status --short --ignored; "
			     "git rev-parse main; "
			     "cksum a.txt .git/index 2>&1 || :"),
	    before);
}
