/* SPDX-License-Identifier: ISC */

#include "repo-landing.h"

#define NOWHERE "1111111111111111111111111111111111111111"

/* main and llmc/ann each changed another file. */
static struct repo_landing *
apart(void)
{
	struct repo_landing *landing = repo_landing_new();

	repo_wt(landing->repo, "echo ann >>a.txt; git commit -qam ann");
	repo_sh(landing->repo, "echo z >z; git add z; git commit -qm later");
	return landing;
}

static const char *
show(struct repo_landing *landing, const char *format)
{
	cleanup_free char *text =
	    xasprintf("git log -1 --date=raw --format='%s' %s", format,
		landing->built.commit);

	return repo_sh(landing->repo, text);
}

TEST(without_others_it_is_the_worker_s_tree)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	struct git_candidate what = { .parent = "main",
		.head = "llmc/ann",
		.message = "Subject\n\nBody\n",
		.parent_date = 1 };

	repo_wt(repo, "echo ann >>a.txt; git commit -qam ann");
	what.head_tree = repo_sh(repo, "git rev-parse llmc/ann^{tree}");
	what.base_tree = repo_sh(repo, "git rev-parse main^{tree}");
	what.committer_date = "1700000000 +0545";
	repo_trap(repo, 0, "");
	ck_assert_msg(repo_build(landing, &what) == 0, "%s", repo->msg);
	/* And three names resolved by the test. */
	ck_assert_int_eq(repo_trap_count(repo), 1 + 3);
	repo_untrap(repo);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(landing->built.tree, what.head_tree);
	ck_assert_int_eq(landing->built.date, 1700000000);
	ck_assert_str_eq(show(landing, "%T %P"),
	    repo_sh(repo,
		"echo $(git rev-parse "
		"llmc/ann^{tree} main)"));
	ck_assert_str_eq(show(landing, "%an|%ae|%ad|%cn|%ce|%cd|%G?|%B"),
	    "Ann|ann@example.org|1600000000 +0100|C O Mitter|"
	    "committer@example.org|1700000000 +0545|N|Subject\n\nBody");
}

TEST(both_sides_are_in_it)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_candidate what = {
		.parent = "main", .head = "llmc/ann", .parent_date = 1
	};

	repo_trap(repo, 0, "");
	ck_assert_msg(repo_build(landing, &what) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_trap_count(repo), 4 + 3);
	repo_untrap(repo);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(show(landing, "%T"), landing->built.tree);
	repo_sh(repo, "git merge -q llmc/ann");
	ck_assert_str_eq(
	    landing->built.tree, repo_sh(repo, "git rev-parse main^{tree}"));
}

/* Asked again after a restart, with another clock. */
TEST(the_same_input_is_the_same_commit)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_options options = { .root = repo->root };
	char first[GIT_ID_SIZE];

	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	memcpy(first, landing->built.commit, sizeof first);
	repo_reopen(repo, &options);
	setenv("GIT_COMMITTER_DATE", "1111111111 +0000", 1);
	setenv("GIT_AUTHOR_DATE", "1111111111 +0000", 1);
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	unsetenv("GIT_COMMITTER_DATE");
	unsetenv("GIT_AUTHOR_DATE");
	ck_assert_str_eq(landing->built.commit, first);
}

TEST(dates_never_go_back)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	repo_sh(repo,
	    "GIT_COMMITTER_DATE='1650000000 +0100' "
	    "git commit -q --allow-empty -m new");
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_str_eq(
	    show(landing, "%ad|%cd"), "1600000000 +0100|1650000000 -0200");
	ck_assert_int_eq(landing->built.date, 1650000000);
	/* As the caller says, where it knows. */
	what.parent_date = 1650000001;
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_str_eq(show(landing, "%cd"), "1650000001 -0200");
}

TEST(what_the_parent_has_is_the_same)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_candidate what = { .parent = "llmc/ann~1",
		.head = "llmc/ann" };

	repo_sh(repo, "git cherry-pick llmc/ann >/dev/null");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_SAME);
	ck_assert_str_eq(
	    landing->built.commit, repo_sh(repo, "git rev-parse main"));
	/* Made and taken back, with nobody else. */
	repo_wt(repo, "git revert --no-edit HEAD");
	what.head_tree = repo_sh(repo, "git rev-parse llmc/ann^{tree}");
	what.base_tree = repo_sh(repo, "git rev-parse llmc/ann~2^{tree}");
	what.parent = "llmc/ann~2";
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_SAME);
}

/* This is a merge: a change that the work made and undid stays as others made
 * it. */
TEST(what_was_made_and_undone_is_no_change)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	repo_sh(repo, "git cherry-pick llmc/ann >/dev/null");
	repo_wt(
	    repo, "git revert --no-edit HEAD; >n; git add n; git commit -qm n");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(
	    repo_sh(repo, "git show $ID:a.txt; git ls-tree --name-only $ID"),
	    "one\nann\na.txt\nn\nz");
}

TEST(conflicts_are_named)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	repo_wt(
	    repo, "echo ann >z; mkdir d; >d/x; git add .; git commit -qm z");
	repo_sh(repo, "echo b >>a.txt; git commit -qam b");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_CONFLICT);
	ck_assert_str_eq(landing->paths, "a.txt|z|");
	ck_assert_str_eq(landing->built.commit, "");
	ck_assert_str_eq(landing->built.tree, "");
}

TEST(a_missing_commit_is_no_conflict)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	ck_assert_int_eq(repo_build(landing,
			     &(struct git_candidate){ .parent = "main",
				 .head = NOWHERE,
				 .base = "main",
				 .parent_date = 1 }),
	    -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, NOWHERE));
	ck_assert_int_eq(
	    repo_build(landing,
		&(struct git_candidate){
		    .parent = NOWHERE, .head = "llmc/ann", .base = "main" }),
	    -ENOENT);
}

TEST(bad_input_is_told)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	what.message = " \n";
	ck_assert_int_eq(repo_build(landing, &what), -EINVAL);
	what.message = "m";
	what.committer_date = "yesterday";
	ck_assert_int_eq(repo_build(landing, &what), -EINVAL);
}

TEST(git_must_know_who_commits)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	repo_sh(landing->repo, "git config user.useConfigOnly true");
	unsetenv("GIT_COMMITTER_NAME");
	unsetenv("GIT_COMMITTER_EMAIL");
	ck_assert_int_eq(repo_build(landing, &what), -ENOKEY);
	ck_assert_ptr_nonnull(strstr(landing->repo->msg, "user.name"));
}

/* Build it with a git whose merge-tree does that instead. */
static int
build_with(struct repo_landing *landing, const char *merge_tree,
    const struct git_candidate *what)
{
	cleanup_free char *path = xstrdup(getenv("PATH"));
	cleanup_free char *with = NULL;
	int r;

	setenv("DOES", merge_tree, 1);
	repo_sh(landing->repo,
	    "mkdir -p \"$B/old\"; { echo '#!/bin/sh'; "
	    "echo 'case \" $* \" in *\" merge-tree \"*) eval \"$DOES\" ;; esac'; "
	    "echo \"exec '$(command -v git)' \\\"\\$@\\\"\"; } >\"$B/old/git\"; "
	    "chmod +x \"$B/old/git\"");
	with = xasprintf("%s/old:%s", landing->repo->base, path);
	setenv("PATH", with, 1);
	r = repo_build(landing, what);
	setenv("PATH", path, 1);
	return r;
}

TEST(an_old_git_is_told)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	ck_assert_int_eq(build_with(landing, "exit 129", &what), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(landing->repo->msg, "2.38"));
	what.head = "main";
	what.revert = true;
	ck_assert_int_eq(build_with(landing, "exit 129", &what), -ENOTSUP);
}

TEST(a_git_that_fails_is_told)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    build_with(
			landing, "echo 'fatal: no luck' >&2; exit 128", &what),
		    -EIO);
		ck_assert_ptr_nonnull(strstr(landing->repo->msg, "no luck"));
		ck_assert_int_eq(build_with(landing, "exit 0", &what), -ENOENT);
		ck_assert_ptr_nonnull(strstr(landing->repo->msg, "merge-tree"));
		what.head = "main";
		what.revert = true;
	}
}

/* The user took a commit off the branch that the work was based on: the merge
 * would bring it back. */
TEST(what_was_dropped_is_not_brought_back)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_candidate what = {
		.parent = "main", .head = "llmc/ann", .base = "llmc/ann~1"
	};

	repo_wt(
	    repo, "git reset -q --hard main; >w; git add w; git commit -qm w");
	repo_sh(
	    repo, "git reset -q --hard @~; >o; git add o; git commit -qm o");
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_LOST);
	ck_assert_str_eq(landing->built.commit, "");
}

TEST(a_rename_by_others_is_followed)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	repo_sh(repo, "mkdir d; git mv a.txt d/b.txt; git commit -qm moved");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(repo_sh(repo,
			     "git show $ID:d/b.txt; "
			     "git ls-tree -r --name-only $ID"),
	    "one\nann\nd/b.txt\nz");
}

/* What the work changed has another name by now, which the rules are for. */
TEST(rules_hold_for_a_new_name)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;
	struct git_candidate what = {
		.parent = "main",
		.head = "llmc/ann",
		.forbidden = (const char *const[]){ "d", NULL },
	};

	repo_sh(repo, "mkdir d; git mv a.txt d/b.txt; git commit -qm moved");
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_REFUSED);
	ck_assert_str_eq(landing->paths, "d/b.txt|");
	what.forbidden = NULL;
	what.protected_paths = (const char *const[]){ "d/*", NULL };
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(landing->protected_paths, "d/b.txt|");
	what.protected_paths = (const char *const[]){ "a.txt", NULL };
	ck_assert_int_eq(repo_build(landing, &what), 0);
	ck_assert_str_eq(landing->protected_paths, "");
}

TEST(a_rename_by_the_work_is_kept)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_wt(repo, "git mv a.txt b.txt; git commit -qm moved");
	repo_sh(repo, "echo two >>a.txt; git commit -qam two");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(
	    repo_sh(repo, "git show $ID:b.txt; git ls-tree --name-only $ID"),
	    "one\ntwo\nb.txt");
}

TEST(a_file_added_to_a_renamed_folder_is_a_conflict)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "mkdir d; echo x >d/x; echo y >d/y; git add .; git commit -qm d");
	repo_wt(repo,
	    "git reset -q --hard main; >d/n; git add .; git commit -qm n");
	repo_sh(repo, "git mv d e; git commit -qm moved");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_CONFLICT);
	ck_assert_str_eq(landing->paths, "e/n|");
}

/* Three at once are the same as one after the other. */
TEST(a_chain_is_the_same_as_one_by_one)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	char parent[GIT_ID_SIZE] = "main";

	repo_sh(repo,
	    "seq 1 30 >f; git add f; git commit -qm f; git branch serial; "
	    "for n in 1 2 3; do git branch w$n; done; "
	    "git checkout -q w1; sed -i s/^3$/three/ f; git commit -qam 1; "
	    "git checkout -q w2; git mv f g; git commit -qm 2; "
	    "git checkout -q w3; sed -i s/^25$/x/ f; echo w3 >n; git add .; "
	    "git commit -qm 3; git checkout -q serial");
	for (int i = 1; i <= 3; i++) {
		cleanup_free char *head = xasprintf("w%d", i);
		cleanup_free char *land =
		    xasprintf("git merge -q --squash w%d >/dev/null; "
			      "git commit -qm %d; git rev-parse HEAD^{tree}",
			i, i);

		repo_expect_build(landing, parent, head, GIT_CANDIDATE_BUILT);
		memcpy(parent, landing->built.commit, sizeof parent);
		ck_assert_str_eq(landing->built.tree, repo_sh(repo, land));
	}
}

/* --- reverts ---------------------------------------------------------- */

static int
revert(struct repo_landing *landing, const char *parent, const char *commit)
{
	return repo_build(landing,
	    &(struct git_candidate){
		.parent = parent, .head = commit, .revert = true });
}

TEST(a_landed_commit_is_undone)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "echo bad >>a.txt; >bad; git add .; git commit -qm bad; "
	    "git tag bad; >z; git add z; git commit -qm z");
	ck_assert_msg(revert(landing, "main", "bad") == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(repo_sh(repo,
			     "git show $ID:a.txt; git ls-tree --name-only $ID; "
			     "git rev-parse $ID^"),
	    repo_sh(repo, "printf 'one\\na.txt\\nz\\n'; git rev-parse main"));
	/* Undone already: on top of that one. */
	ck_assert_int_eq(revert(landing, "$ID", "bad"), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_SAME);
	/* Renamed since. */
	repo_sh(repo, "git mv a.txt b.txt; git commit -qm moved");
	ck_assert_int_eq(revert(landing, "main", "bad"), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(repo_sh(repo, "git show $ID:b.txt"), "one");
}

/* Files that it removed come back, modes too. */
TEST(removals_and_modes_are_undone)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "echo old >old; echo z >z; git add .; git commit -qm second; "
	    "git tag good; mkdir d; echo new >d/new; git rm -q old; "
	    "chmod +x z; git add .; git commit -qm bad");
	ck_assert_msg(revert(landing, "main", "main") == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(
	    landing->built.tree, repo_sh(repo, "git rev-parse good^{tree}"));
}

/* A person did it, and more followed; or there was nothing in it. */
TEST(what_is_undone_already_is_the_same)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "echo bad >>a.txt; git commit -qam bad; git tag bad; "
	    "git revert --no-edit bad >/dev/null; >z; git add z; "
	    "git commit -qm z; git commit -q --allow-empty -m empty");
	ck_assert_int_eq(revert(landing, "main", "bad"), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_SAME);
	ck_assert_int_eq(revert(landing, "main", "main"), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_SAME);
}

TEST(of_a_merge_all_that_it_brought_is_undone)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git merge -q llmc/ann; git tag m; "
	    "git commit -q --allow-empty -m more");
	ck_assert_msg(revert(landing, "main", "m") == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(
	    landing->built.tree, repo_sh(repo, "git rev-parse m^1^{tree}"));
}

/* Of several commits, in one step. */
TEST(an_earlier_commit_is_restored)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	struct git_candidate what = {
		.parent = "main", .head = "bad", .base = "good", .revert = true
	};

	repo_sh(repo,
	    "git tag good; echo x >>a.txt; >x; git add .; git commit -qm x; "
	    "echo y >>a.txt; git commit -qam y; git tag bad");
	ck_assert_msg(repo_build(landing, &what) == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	ck_assert_str_eq(
	    landing->built.tree, repo_sh(repo, "git rev-parse good^{tree}"));
	/* What came later stays. */
	repo_sh(repo, ">z; git add z; git commit -qm z");
	ck_assert_int_eq(repo_build(landing, &what), 0);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(
	    repo_sh(repo, "git show $ID:a.txt; git ls-tree --name-only $ID"),
	    "one\na.txt\nz");
}

TEST(what_cannot_be_undone_is_told)
{
	cleanup_landing struct repo_landing *landing = apart();
	struct repo *repo = landing->repo;

	repo_sh(repo, "echo y >>z; git commit -qam y");
	ck_assert_int_eq(revert(landing, "main", "main~1"), 0);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_CONFLICT);
	ck_assert_str_eq(landing->paths, "z|");
	ck_assert_int_eq(revert(landing, "main", "llmc/ann"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "not an ancestor"));
	ck_assert_int_eq(revert(landing, "main", "main~2"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(repo->msg, "no parent"));
}
