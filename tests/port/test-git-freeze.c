/* SPDX-License-Identifier: ISC */

#include "repo-landing.h"

#define REF "git for-each-ref --format='%(objectname)' refs/llmc/queue"

static const char *const forbidden[] = { ".llmc/", "work trees", NULL };

/* Two commits on llmc/ann. */
static struct repo_landing *
with_work(void)
{
	struct repo_landing *landing = repo_landing_new();

	repo_wt(landing->repo,
	    "echo 2 >>a.txt; git commit -qam 'one\n\nbody\n'; "
	    "echo n >n; git add n; "
	    "GIT_AUTHOR_DATE='1500000000 +0100' "
	    "GIT_COMMITTER_DATE='1500000100 -0300' "
	    "git commit -q --author='B <b@x>' -m two");
	return landing;
}

static void
assert_frozen(struct repo_landing *landing, const struct git_freeze *what)
{
	int r = repo_freeze(landing, what);

	ck_assert_msg(r == 0, "%s", landing->repo->msg);
	ck_assert_msg(landing->frozen.refused == 0, "%x: %s %s",
	    landing->frozen.refused, landing->dirty, landing->forbidden);
	ck_assert_str_eq(repo_sh(landing->repo, REF),
	    repo_wt(landing->repo, "git rev-parse HEAD"));
	repo_sh(landing->repo, "git update-ref -d refs/llmc/queue/t1");
}

static void
assert_refused(struct repo_landing *landing, const struct git_freeze *what,
    unsigned refused)
{
	int r = repo_freeze(landing, what);

	ck_assert_msg(r == 0, "%s", landing->repo->msg);
	ck_assert_int_eq(landing->frozen.refused, refused);
	ck_assert_str_eq(repo_sh(landing->repo, REF), "");
}

/* The caller has looked already: only HEAD is compared. */
TEST(what_was_seen_clean_is_not_looked_at_again)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	cleanup_free char *head = xstrdup(repo_wt(repo, "git rev-parse HEAD"));
	struct git_freeze what = { .expected = head, .seen_clean = head };

	repo_attached_only();
	repo_wt(repo, "echo later >>a.txt");
	repo_trap(repo, 0, "");
	assert_frozen(landing, &what);
	ck_assert_int_eq(repo_trap_count(repo), 1 + 3);
	repo_untrap(repo);
	repo_wt(repo, "git checkout -q --detach");
	assert_refused(
	    landing, &what, GIT_FREEZE_OTHER_BRANCH | GIT_FREEZE_DIRTY);
	repo_wt(repo, "git checkout -q llmc/ann; git commit -qam more");
	assert_refused(landing, &what, GIT_FREEZE_MOVED);
}

/* The user drops what the worker began with: only the worker's own commits are
 * its work, and they are what lands. */
TEST(commits_that_were_dropped_do_not_come_back)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	struct git_candidate what = { .parent = "main", .head = "llmc/ann" };

	repo_sh(repo, "echo d >dropped; git add .; git commit -qm dropped");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	repo->task_base = repo_sh(repo, "git rev-parse main");
	repo_sh(repo,
	    "git reset -q --hard HEAD~1; echo m >m; git add m; "
	    "git commit -qm other");
	/* Nothing of its own. */
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 0);
	assert_refused(landing, &(struct git_freeze){ 0 }, GIT_FREEZE_NOTHING);
	/* What is left over is no part of a commit of somebody else. */
	repo_wt(repo, "echo w >w");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	repo_wt(repo, "echo v >v; git add v; git commit -qm own");
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	assert_frozen(landing, &(struct git_freeze){ 0 });
	ck_assert_str_eq(landing->messages, "left|own|");
	ck_assert_str_eq(landing->frozen.base, repo->task_base);
	what.base = repo->task_base;
	ck_assert_msg(repo_build(landing, &what) == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_LOST);
	/* So its worker rebases its own ones. */
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
	ck_assert(!repo->conflict);
	ck_assert_str_eq(repo_wt(repo, "git log --format=%s main..HEAD; ls"),
	    "own\nleft\na.txt\nm\nv\nw");
	repo->task_base = repo_sh(repo, "git rev-parse main");
	assert_frozen(landing, &(struct git_freeze){ 0 });
	ck_assert_str_eq(landing->messages, "left|own|");
	what.base = NULL;
	ck_assert_msg(repo_build(landing, &what) == 0, "%s", repo->msg);
	ck_assert_int_eq(landing->built.result, GIT_CANDIDATE_BUILT);
	/* A base that is nowhere any more says nothing. */
	repo->task_base = "0123456789012345678901234567890123456789";
	assert_frozen(landing, &(struct git_freeze){ 0 });
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_int_eq(repo->facts.ahead, 2);
	ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
}

TEST(all_that_the_queue_needs)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	struct git_frozen *frozen = &landing->frozen;
	cleanup_free char *date = NULL;

	repo_sh(repo, "echo z >z; git add z; git commit -qm later");
	repo_trap(repo, 0, "");
	assert_frozen(landing, &(struct git_freeze){ .forbidden = forbidden });
	/* And three of the assertion's own. */
	ck_assert_int_eq(repo_trap_count(repo), 2 + 3);
	repo_untrap(repo);
	ck_assert_str_eq(frozen->commit, repo_wt(repo, "git rev-parse HEAD"));
	ck_assert_str_eq(
	    frozen->tree, repo_wt(repo, "git rev-parse HEAD^{tree}"));
	ck_assert_str_eq(frozen->base, repo_wt(repo, "git rev-parse HEAD~2"));
	ck_assert_str_eq(
	    frozen->base_tree, repo_wt(repo, "git rev-parse HEAD~2^{tree}"));
	date = xasprintf("%lld", (long long)frozen->base_date);
	ck_assert_str_eq(date, repo_wt(repo, "git log -1 --format=%ct HEAD~2"));
	ck_assert_str_eq(frozen->branch, "llmc/ann");
	ck_assert_str_eq(
	    landing->author, "B|b@x|1500000000 +0100|1500000100 -0300");
	ck_assert_str_eq(landing->messages, "one\n\nbody|two|");
}

TEST(the_ref_stays_when_the_worker_goes_on)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	const char *head = repo_wt(repo, "git rev-parse HEAD");

	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	repo_wt(repo, "git commit -q --amend -m other; git reset -q --hard @~");
	ck_assert_str_eq(repo_sh(repo, REF), head);
	/* The next time it follows. */
	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	ck_assert_str_eq(
	    repo_sh(repo, REF), repo_wt(repo, "git rev-parse HEAD"));
	ck_assert_int_eq(repo_drop(landing, "refs/llmc/queue/t1"), 0);
	ck_assert_str_eq(repo_sh(repo, REF), "");
	ck_assert_int_eq(repo_drop(landing, "refs/llmc/queue/t1"), 0);
}

TEST(what_is_in_the_way)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	struct git_freeze what = { .forbidden = forbidden };

	repo_attached_only();
	repo_wt(repo, "git init -q nested; >nested/f");
	assert_frozen(landing, &what); /* another repository */
	repo_wt(repo, "echo x >>a.txt; >'u\nx'");
	assert_refused(landing, &what, GIT_FREEZE_DIRTY);
	ck_assert_str_eq(landing->dirty, "a.txt|u\nx|");
	repo_wt(repo, "git reset -q --hard; rm u*; git checkout -q -b other");
	assert_refused(landing, &what, GIT_FREEZE_OTHER_BRANCH);
	ck_assert_str_eq(landing->frozen.branch, "other");
	repo_wt(repo, "git checkout -q --detach");
	assert_refused(landing, &what, GIT_FREEZE_OTHER_BRANCH);
	ck_assert_str_eq(landing->frozen.branch, "");
	repo_wt(repo, "git checkout -q llmc/ann");
	what.expected = repo_wt(repo, "git rev-parse HEAD");
	assert_frozen(landing, &what);
	repo_wt(repo, "git commit -q --allow-empty -m more");
	assert_refused(landing, &what, GIT_FREEZE_MOVED);
	what.expected = NULL;
	repo_wt(
	    repo, "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -qi main");
	assert_refused(landing, &what,
	    GIT_FREEZE_REBASING | GIT_FREEZE_OTHER_BRANCH | GIT_FREEZE_NOTHING);
}

TEST(nothing_to_land)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	struct git_freeze what = { .forbidden = forbidden };

	assert_refused(landing, &what, GIT_FREEZE_NOTHING);
	ck_assert_str_eq(landing->frozen.base, landing->frozen.commit);
	ck_assert_str_eq(landing->author, "|||");
	repo_sh(repo, "git commit -q --allow-empty -m m");
	assert_refused(landing, &what, GIT_FREEZE_NOTHING);
	repo_wt(repo,
	    "git checkout -q --orphan o; git commit -qm o; "
	    "git checkout -q -B llmc/ann");
	assert_refused(landing, &what, GIT_FREEZE_UNRELATED);
	ck_assert_str_eq(landing->frozen.base, "");
	what.onto = "nosuch";
	ck_assert_int_eq(repo_freeze(landing, &what), -ENOENT);
	ck_assert_ptr_nonnull(strstr(repo->msg, "nosuch"));
	if (repo->detached)
		return; /* HEAD is detached again at a commit */
	repo_wt(repo, "git checkout -q --orphan unborn; git rm -rfq .");
	what.onto = "main";
	ck_assert_int_eq(repo_freeze(landing, &what), -ENOENT);
}

TEST(forbidden_paths_are_refused)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	struct git_freeze what = { .forbidden = forbidden };

	repo_wt(repo,
	    "mkdir .llmcx d d/.llmc; >.llmcx/f; >d/.llmc/f; git add .; "
	    "git commit -qm fine");
	assert_frozen(landing, &what);
	repo_wt(repo,
	    "mkdir .llmc; echo task >.llmc/t; >'work trees'; git add -f .; "
	    "git commit -qm evil");
	assert_refused(landing, &what, GIT_FREEZE_FORBIDDEN);
	ck_assert_str_eq(landing->forbidden, ".llmc/t|work trees|");
	/* In the middle of the commits is nothing that lands. */
	repo_wt(repo, "git rm -rq .llmc work*; git commit -qm away");
	assert_frozen(landing, &what);
	ck_assert_str_eq(landing->forbidden, "");
	repo_wt(
	    repo, "ln -s /etc .llmc; git add -f .llmc; git commit -qm link");
	assert_refused(landing, &what, GIT_FREEZE_FORBIDDEN);
	what.forbidden = (const char *[]){ "", "/", NULL };
	assert_frozen(landing, &what);
	ck_assert_str_eq(landing->protected_paths, "");
}

/* Other spellings of the same place, and ways into it and out of it. */
TEST(forbidden_paths_by_other_ways)
{
	static const struct {
		const char *work, *paths; /* "" = it may land */
	} table[] = {
		{ "mkdir .LLMC; >.LLMC/t", ".LLMC/t|" },
		{ ">'WORK trees'", "WORK trees|" },
		{ "ln -s a.txt .LLmc", ".LLmc|" },
		{ "mkdir .llmc; git mv a.txt .llmc/t", ".llmc/t|" },
		{ "git mv kept/f f", "" },
		{ "mv kept .llmc", ".llmc/f|" },
		{ "mkdir .llmc; git update-index --add --cacheinfo "
		  "160000,$(git rev-parse HEAD),.llmc",
		    ".llmc|" },
		{ ">.llmc.txt; >.llmc-x; mkdir -p d/.llmc; >d/.llmc/t", "" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_landing struct repo_landing *landing = with_work();
		struct repo *repo = landing->repo;
		struct git_freeze what = { .forbidden = forbidden };
		cleanup_free char *text =
		    xasprintf("mkdir kept; >kept/f; git add kept; git commit "
			      "-qm k; %s; git add -fA; git commit -qm w; git "
			      "status --short",
			table[i].work);

		repo_wt(repo, text);
		ck_assert_int_eq(repo_freeze(landing, &what), 0);
		ck_assert_str_eq(landing->forbidden, table[i].paths);
		ck_assert_int_eq(
		    (landing->frozen.refused & GIT_FREEZE_FORBIDDEN) != 0,
		    table[i].paths[0] != '\0');
	}
}

/* What the branch has there is nobody's to change, move away or remove. */
TEST(forbidden_paths_that_are_there_stay)
{
	static const char *const works[] = { "git mv .llmc/t t",
		"git rm -q .llmc/t", "echo x >.llmc/t", "chmod +x .llmc/t",
		"rm -r .llmc; ln -s d .llmc" };

	for (size_t i = 0; i < nitems(works); i++) {
		cleanup_landing struct repo_landing *landing =
		    repo_landing_new();
		cleanup_free char *text = xasprintf(
		    "git reset -q --hard main; %s; git add -fA; git commit "
		    "-qm w",
		    works[i]);

		repo_sh(landing->repo,
		    "mkdir .llmc; echo t >.llmc/t; git add -f .llmc; "
		    "git commit -qm t");
		repo_wt(landing->repo, text);
		assert_refused(landing,
		    &(struct git_freeze){ .forbidden = forbidden },
		    GIT_FREEZE_FORBIDDEN);
	}
}

/* A merge can hide a change that neither parent has. */
TEST(forbidden_paths_in_a_merge_are_refused)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	struct git_freeze what = { .forbidden = forbidden };

	repo_sh(repo, "echo z >z; git add z; git commit -qm later");
	repo_wt(repo,
	    "git merge -q --no-commit main; mkdir .llmc; >.llmc/t; "
	    "git add -f .llmc; git commit -qm merged");
	assert_refused(landing, &what, GIT_FREEZE_FORBIDDEN);
	ck_assert_str_eq(landing->forbidden, ".llmc/t|");
}

TEST(a_merge_of_the_branch_moves_the_base)
{
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	struct git_freeze what = { .forbidden = forbidden,
		.protected_paths = (const char *[]){ "z", NULL } };

	repo_sh(repo, "echo z >z; git add z; git commit -qm later");
	repo_wt(repo, "git merge -q -m merged main");
	assert_frozen(landing, &what);
	ck_assert_str_eq(
	    landing->frozen.base, repo_sh(repo, "git rev-parse main"));
	ck_assert_str_eq(landing->frozen.base_tree,
	    repo_sh(repo, "git rev-parse main^{tree}"));
	ck_assert_str_eq(landing->messages, "one\n\nbody|two|merged|");
	/* It was changed by somebody else. */
	ck_assert_str_eq(landing->protected_paths, "");
}

TEST(protected_paths_are_told)
{
	static const struct {
		const char *pattern, *paths;
	} table[] = {
		{ "Makefile", "Makefile|" },
		{ "**/Makefile", "Makefile|d/Makefile|" },
		{ "d", "d/Makefile|d/e/x.c|" },
		{ "d/", "d/Makefile|d/e/x.c|" },
		{ "d/*", "d/Makefile|" },
		{ "*.c", "" },
		{ "d/*.c", "" },
		{ "d/**/*.c", "d/e/x.c|" },
		{ "makefile", "" },
		{ ":(exclude)nothing", "" },
		{ "", "" },
		{ "n?", "n\xff|" },
	};
	cleanup_landing struct repo_landing *landing = with_work();

	repo_wt(landing->repo,
	    "mkdir -p d/e; >Makefile; >d/Makefile; >d/e/x.c; "
	    ">\"$(printf 'n\\377')\"; git add .; git commit -qm more");
	for (size_t i = 0; i < nitems(table); i++) {
		const char *patterns[] = { table[i].pattern, NULL };

		assert_frozen(landing,
		    &(struct git_freeze){
			.protected_paths = patterns, .forbidden = forbidden });
		ck_assert_msg(
		    strcmp(landing->protected_paths, table[i].paths) == 0,
		    "%s: %s", table[i].pattern, landing->protected_paths);
	}
}

/* git prints more than is read of it. */
TEST(tests_that_are_too_large_stop_nothing)
{
	cleanup_landing struct repo_landing *landing = with_work();

	repo_wt(landing->repo,
	    "mkdir tests; head -c 40000000 /dev/zero | tr '\\0' x | fold -w 999 >tests/data; git add .; git "
	    "commit -qm data");
	assert_frozen(landing, &(struct git_freeze){ .tests = true });
	ck_assert_str_eq(
	    landing->weakens, "it changes too much in tests to be looked at");
}

/* A submodule that .gitmodules has git ignore is a change all the same. */
TEST(submodules_are_not_ignored)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct git_freeze what = {
		.forbidden = (const char *const[]){ ".llmc", NULL },
		.protected_paths = (const char *const[]){ "ci/**", NULL },
	};

	repo_wt(landing->repo,
	    "for p in .llmc/x ci/y; do printf '[submodule \"%s\"]\npath = %s\n"
	    "ignore = all\nurl = .\n' $p $p >>.gitmodules; "
	    "git update-index --add --cacheinfo "
	    "160000,$(git rev-parse HEAD),$p; mkdir -p $p; done; "
	    "git add .gitmodules; git commit -qm submodules");
	ck_assert_int_eq(repo_freeze(landing, &what), 0);
	ck_assert(landing->frozen.refused & GIT_FREEZE_FORBIDDEN);
	ck_assert_str_eq(landing->forbidden, ".llmc/x|");
	ck_assert_str_eq(landing->protected_paths, "ci/y|");
}

/* A path that looks like the start of a commit in the log. */
TEST(names_that_hide_themselves)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct git_freeze what = {
		.protected_paths = (const char *const[]){ "*.sh", NULL },
	};

	repo_wt(landing->repo,
	    "for n in a b; do echo x >\"$(printf '\\1>%s.sh' $n)\"; done; "
	    "git add .; git commit -qm one; echo y >y; git add y; "
	    "git commit -qm two");
	ck_assert_msg(
	    repo_freeze(landing, &what) == 0, "%s", landing->repo->msg);
	ck_assert_str_eq(landing->protected_paths, "\1>a.sh|\1>b.sh|");
	ck_assert_str_eq(landing->messages, "one|two|");
}

TEST(a_date_in_the_future_is_today)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	int64_t now = clock_wall_ms() / 1000, date;

	repo_wt(landing->repo,
	    "echo x >x; git add x; GIT_COMMITTER_DATE='4070908800 +0530' "
	    "git commit -qm future");
	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	date = strtoll(strrchr(landing->author, '|') + 1, NULL, 10);
	ck_assert_int_ge(date, now);
	ck_assert_int_le(date, clock_wall_ms() / 1000);
	ck_assert_ptr_nonnull(strstr(strrchr(landing->author, '|'), " +0530"));
}

/* Hooks that the worker wrote, and a ref that needs git to be written. */
TEST(no_hook_of_the_tree_runs)
{
	cleanup_landing struct repo_landing *landing =
	    repo_landing_on(repo_new(true));
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git config core.hooksPath .husky; "
	    "git update-ref refs/llmc/queue/t1 main; "
	    "git symbolic-ref refs/llmc/queue/t1 refs/llmc/other");
	repo_wt(repo,
	    "echo x >x; git add x; git commit -qm x; mkdir .husky; "
	    "printf '#!/bin/sh\ntouch \"%s/ran-$(basename \"$0\")\"\n' "
	    "\"$B\" >.husky/reference-transaction; "
	    "chmod +x .husky/*; cp .husky/reference-transaction "
	    ".husky/pre-commit; cp -r .husky \"$R\"; "
	    "echo .husky >>\"$R/.git/info/exclude\"");
	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	ck_assert_int_eq(landing->frozen.refused, 0);
	ck_assert_int_eq(repo_drop(landing, "refs/llmc/queue/t1"), 0);
	repo_wt(repo, "echo left >left");
	ck_assert_msg(repo_leftovers(repo, "left") == 0, "%s", repo->msg);
	ck_assert_msg(repo_salvage(repo, "1") == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, "ls \"$B\" | grep ran; true"), "");
}

/* What a worker can write to have git read something else. */
TEST(replaced_objects_are_not_read)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_wt(repo,
	    "echo bad >f; git add f; git commit -qm bad; "
	    "git replace HEAD:f $(echo good | git hash-object -w --stdin)");
	ck_assert_int_eq(repo_check_out(landing,
			     &(struct git_check_tree){ .commit = "llmc/ann" }),
	    0);
	ck_assert_str_eq(repo_sh(repo, "cat \"$B/check/f\""), "bad");
	repo_wt(repo,
	    "git rev-parse HEAD >\"$R/.git/info/grafts\"; "
	    "git replace -d $(git replace -l) >/dev/null");
	ck_assert_int_eq(repo_freeze(landing, &(struct git_freeze){ 0 }), 0);
	ck_assert_int_eq(landing->frozen.refused, 0);
}

/* A commit of a worktree that has gone on in the meantime. */
TEST(what_was_saved_is_looked_at)
{
	static const char *const patterns[] = { "n", NULL };
	cleanup_landing struct repo_landing *landing = with_work();
	struct repo *repo = landing->repo;
	const char *base = repo_wt(repo, "git rev-parse main");
	const char *head = repo_wt(repo, "git rev-parse HEAD");
	struct git_freeze what = { .expected = head,
		.forbidden = forbidden,
		.protected_paths = patterns };

	repo_wt(repo,
	    "git update-ref refs/x/same HEAD; mkdir .llmc; >.llmc/t; "
	    "git add -f .llmc; git commit -qm x; git update-ref refs/x/more "
	    "HEAD; git commit -q --allow-empty -m y; "
	    "git update-ref refs/x/moved HEAD; git reset -q --hard main");
	ck_assert_int_eq(
	    repo_freeze_look(landing, base, "refs/x/same", &what), 0);
	ck_assert_int_eq(landing->frozen.refused, 0);
	ck_assert_str_eq(landing->frozen.commit, head);
	ck_assert_str_eq(landing->protected_paths, "n|");
	ck_assert_int_eq(
	    repo_freeze_look(landing, base, "refs/x/more", &what), 0);
	ck_assert_int_eq(landing->frozen.refused, GIT_FREEZE_FORBIDDEN);
	ck_assert_str_eq(landing->forbidden, ".llmc/t|");
	ck_assert_int_eq(
	    repo_freeze_look(landing, base, "refs/x/moved", &what), 0);
	ck_assert_int_eq(
	    landing->frozen.refused, GIT_FREEZE_FORBIDDEN | GIT_FREEZE_MOVED);
	ck_assert_int_eq(
	    repo_freeze_look(landing, base, "refs/x/none", &what), -ENOENT);
}
