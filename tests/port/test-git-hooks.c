/* SPDX-License-Identifier: ISC */

/* Which hooks run on the way of work to the branch, and which never do. */

#include "repo-landing.h"

static void
on_answer(const struct git_answer *answer, void *arg)
{
	struct repo *repo = arg;

	snprintf(repo->text, sizeof repo->text, "%s", answer->complaint);
	repo_answered(repo, NULL);
}

/* A worker can write what lies in a tree. */
TEST(hooks_in_a_tree_never_run)
{
	static const struct {
		const char *setup;
		bool runs;
	} table[] = {
		{ "mv \"$B/h\" .git/hooks/pre-push", true },
		{ "mv \"$B/h\" .git/hooks/pre-push; "
		  "git config core.hooksPath .hooks",
		    true },
		{ "mv \"$B/h\" .hooks/pre-push; "
		  "git config core.hooksPath .hooks",
		    false },
		{ "mv \"$B/h\" .hooks/pre-push; "
		  "git config core.hooksPath \"$R/.hooks\"",
		    false },
		{ "mv \"$B/h\" .hooks/pre-push; rm -rf .git/hooks; "
		  "ln -s ../.hooks .git/hooks",
		    false },
		{ "mv \"$B/h\" .hooks/pre-push; "
		  "ln -s ../../.hooks/pre-push .git/hooks/pre-push",
		    false },
	};
	struct git_command command = { .args =
					   (const char *[]){ "push", "--quiet",
					       "origin", "main", NULL } };

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = repo_new(true);

		repo_sh(repo,
		    "git init -q --bare \"$B/o\"; git remote add origin "
		    "\"$B/o\"; mkdir -p .hooks .git/hooks; "
		    "printf '#!/bin/sh\\necho no >&2; exit 1\\n' >\"$B/h\"; "
		    "chmod +x \"$B/h\"");
		repo_sh(repo, table[i].setup);
		repo_begin(repo);
		git_run(git_queue(repo->git, repo->root), &command, on_answer,
		    repo);
		repo_wait(repo);
		ck_assert_msg((repo->text[0] != '\0') == table[i].runs,
		    "%zu: %s", i, repo->text);
	}
}

/* Every hook there is, in the folder that $H names; each writes down its name
 * and what it is told. */
#define RECORD                                                                 \
	"mkdir -p \"$H\"; for h in applypatch-msg pre-applypatch "             \
	"post-applypatch pre-commit pre-merge-commit prepare-commit-msg "      \
	"commit-msg post-commit pre-rebase post-checkout post-merge pre-push " \
	"reference-transaction post-rewrite pre-auto-gc post-index-change "    \
	"sendemail-validate; do printf '#!/bin/sh\\necho %s $1 "               \
	">>\"$B/ran\"\\n' $h >\"$H/$h\"; chmod +x \"$H/$h\"; done; "

/* From the worker's commit to the branch: freeze, build, check, land. */
static const char *
go_the_way(const char *setup, bool run_hooks)
{
	struct git_options options = { .run_hooks = run_hooks };
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	struct git_check_tree what = { .judge = "main",
		.protected_paths = (const char *[]){ "n", NULL } };
	cleanup_free char *text = xasprintf("%s%s", setup, RECORD);

	options.root = repo->root;
	repo_reopen(repo, &options);
	repo_wt(repo, "echo n >n; git add n; git commit -qm w; git tag work");
	repo_sh(repo, "echo m >m; git add m; git commit -qm m; git tag onto");
	repo_sh(repo, text);
	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	ck_assert_int_eq(
	    repo_build(landing,
		&(struct git_candidate){ .parent = "main", .head = "work" }),
	    0);
	what.commit = landing->built.commit;
	ck_assert_int_eq(repo_check_out(landing, &what), 0);
	ck_assert_int_eq(
	    repo_land(repo, "onto", landing->built.commit, false), GIT_LANDED);
	ck_assert_str_eq(
	    repo_sh(repo, "cat n m; git log -1 --format=%s"), "n\nm\nLand it");
	return repo_sh(repo, "cat \"$B/ran\" 2>/dev/null || :");
}

TEST(one_hook_runs_at_a_landing)
{
	static const struct {
		const char *setup;
		bool wanted, runs;
	} table[] = {
		{ "H=.git/hooks; ", true, true },
		{ "H=.git/hooks; ", false, false },
		{ "H=$B/h; git config core.hooksPath \"$H\"; ", true, false },
		{ "H=.hooks; git config core.hooksPath .hooks; "
		  "echo .hooks >.git/info/exclude; ",
		    true, false },
		{ "H=.hooks; rm -r .git/hooks; ln -s ../.hooks .git/hooks; "
		  "echo .hooks >.git/info/exclude; ",
		    true, false },
	};

	for (size_t i = 0; i < nitems(table); i++)
		ck_assert_str_eq(go_the_way(table[i].setup, table[i].wanted),
		    table[i].runs ? "reference-transaction prepared\n"
				    "reference-transaction committed" :
				    "");
}
