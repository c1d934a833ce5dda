/* SPDX-License-Identifier: ISC */

/* What has landed is kept, and found again when it is no longer on the branch:
 * but not what a user has rewritten. */

#include "repo.h"

#include "git-landed.h"

#define NOW 2000000000

static struct git_landed_spec spec;
static struct buf told = BUF_INIT;

static void
on_landed_looked(
    const struct git_landed *landed, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	ck_assert_msg(err == NULL, "%s", err != NULL ? err->msg : "");
	buf_clear(&told);
	for (size_t i = 0; i < landed->lost_count; i++)
		buf_addf(
		    &told, "%s:%s,", landed->lost[i].id, landed->lost[i].title);
	for (size_t i = 0; landed->let_go != NULL && landed->let_go[i] != NULL;
	     i++)
		buf_addf(&told, "-%.7s,", landed->let_go[i]);
	loop_stop(repo->loop, 0);
}

/* The ids of what is lost, with the titles. */
static const char *
what_is_lost(struct repo *repo)
{
	spec.branch = "main";
	spec.trailer = "Llmc-Task";
	git_landed_look(repo->git, &spec, on_landed_looked, repo);
	loop_run(repo->loop);
	return told.data;
}

/* Land tasks t1 to t<count>, each a commit with a file of its own, dated a
 * second after the one before. */
static struct repo *
land_tasks(int count)
{
	struct repo *repo = repo_new(false);

	memset(&spec, 0, sizeof spec);
	for (int i = 1; i <= count; i++) {
		cleanup_free char *text = xasprintf(
		    "git tag -f onto main >/dev/null; "
		    "git checkout -q --detach; echo %d >%d.txt; git add .; "
		    "export GIT_COMMITTER_DATE=@%d GIT_AUTHOR_DATE=@%d; "
		    "git commit -qm 'work %d' -m 'Llmc-Task: t%d'; "
		    "git tag -f id >/dev/null; git checkout -q main; "
		    "git rev-parse id",
		    i, i, NOW + i, NOW + i, i, i);
		cleanup_free char *keep =
		    xasprintf("t%d %s", i, repo_sh(repo, text));
		const char *const list[] = { keep, NULL };

		repo->keep = list;
		ck_assert_int_eq(
		    repo_land(repo, "onto", "id", false), GIT_LANDED);
		repo->keep = NULL;
	}
	ck_assert_str_eq(what_is_lost(repo), "");
	return repo;
}

#define REFS "git for-each-ref --format='%(refname:lstrip=3)' refs/llmc/landed"

TEST(what_has_landed_is_kept_by_a_ref)
{
	cleanup_repo struct repo *repo = land_tasks(2);
	cleanup_free char *keep =
	    xasprintf("t2 %s", repo_sh(repo, "git rev-parse id"));
	const char *const list[] = { keep, NULL };

	ck_assert_str_eq(repo_sh(repo, REFS), "t1\nt2");
	ck_assert_str_eq(repo_sh(repo, "git rev-parse refs/llmc/landed/t1"),
	    repo_sh(repo, "git rev-parse main~1"));
	/* The one before may have been killed once the branch had moved. */
	repo_sh(repo, "git update-ref -d refs/llmc/landed/t2");
	repo->keep = list;
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	repo->keep = NULL;
	ck_assert_str_eq(repo_sh(repo, REFS), "t1\nt2");
}

/* What does not land is not kept. */
TEST(what_did_not_land_is_not_kept)
{
	cleanup_repo struct repo *repo = land_tasks(1);
	const char *const list[] = {
		"t9 1111111111111111111111111111111111111111", NULL
	};

	repo_sh(repo,
	    "git tag -f onto main >/dev/null; git checkout -q --detach; "
	    "echo 9 >a.txt; git commit -qam 9; git tag -f id >/dev/null; "
	    "git checkout -q main; echo mine >a.txt");
	repo->keep = list;
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_DIRTY);
	repo->keep = NULL;
	ck_assert_str_eq(repo_sh(repo, REFS), "t1");
}

static const struct {
	const char *does, *lost;
} moves[] = {
	{ "git reset -q --hard main~2", "t2:work 2,t3:work 3," },
	{ "git reset -q --hard main~2; echo u >u; git add u; git commit -qm u",
	    "t2:work 2,t3:work 3," },
	{ "git rebase -q --onto main~2 main~1", "t2:work 2," },
	/* They are back, or have never been away. */
	{ "git reset -q --hard main~2; echo u >u; git add u; git commit -qm u;"
	  "git cherry-pick refs/llmc/landed/t2 refs/llmc/landed/t3 >/dev/null",
	    "" },
	{ "git commit -q --amend -m other --reset-author", "" },
	{ "echo more >>3.txt; git commit -q -a --amend -C HEAD", "" },
	{ "git rebase -q --root --exec 'git commit -q --amend --no-edit "
	  "--reset-author --date=@1'",
	    "" },
	{ "git revert --no-edit main~1 >/dev/null", "" },
	/* One with the same task by somebody else is another one. */
	{ "git reset -q --hard main~1; echo x >x; git add x; "
	  "git commit -qm x -m 'Llmc-Task: t3'",
	    "t3:work 3," },
};

TEST_ROWS(a_users_move_of_the_branch_is_looked_at, nitems(moves))
{
	cleanup_repo struct repo *repo = land_tasks(3);

	repo_sh(repo, moves[_i].does);
	ck_assert_str_eq(what_is_lost(repo), moves[_i].lost);
}

TEST(what_is_let_go_is_not_lost)
{
	cleanup_repo struct repo *repo = land_tasks(3);
	cleanup_free char *id = xstrdup(repo_sh(repo, "git rev-parse main~1"));
	cleanup_free char *expected = xasprintf("t3:work 3,-%.7s,", id);
	const char *const list[] = { id, NULL };

	repo_sh(repo, "git reset -q --hard main~2");
	spec.let_go = list;
	ck_assert_str_eq(what_is_lost(repo), expected);
	repo_sh(repo, "git merge -q --ff-only refs/llmc/landed/t3");
	ck_assert_str_eq(what_is_lost(repo), "");
}

/* Of another landing branch. */
TEST(what_landed_before_is_not_looked_for)
{
	cleanup_repo struct repo *repo = land_tasks(3);

	repo_sh(repo, "git reset -q --hard main~3");
	spec.since_s = NOW + 2;
	ck_assert_str_eq(what_is_lost(repo), "t2:work 2,t3:work 3,");
}

/* A worker may write refs. */
TEST(a_ref_that_a_shell_would_run_is_not_named)
{
	cleanup_repo struct repo *repo = land_tasks(1);

	repo_sh(repo,
	    "git update-ref 'refs/llmc/landed/x;reboot' "
	    "$(git commit-tree -m x 'main^{tree}')");
	ck_assert_str_eq(what_is_lost(repo), "");
}

TEST(old_refs_go_but_not_the_last_ones)
{
	cleanup_repo struct repo *repo = land_tasks(3);

	/* Older ones, of the same commits. */
	repo_sh(repo,
	    "for i in $(seq 201); do echo create refs/llmc/landed/x$i main~3; "
	    "done | git update-ref --stdin; "
	    "git update-ref refs/llmc/landed/lost $(git commit-tree -m lost "
	    "-p main~3 $(git write-tree))");
	spec.old_s = NOW;
	ck_assert_str_eq(what_is_lost(repo), "lost:lost,");
	ck_assert_str_eq(repo_sh(repo, REFS " | wc -l"), "200");
	ck_assert_str_eq(
	    repo_sh(repo, REFS " | grep -v x"), "lost\nt1\nt2\nt3");
}
