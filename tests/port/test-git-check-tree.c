/* SPDX-License-Identifier: ISC */

#include "repo-landing.h"

#define LOOK                                                              \
	"cd \"$B/check\"; git rev-parse HEAD; git symbolic-ref -q HEAD; " \
	"git status --short; ls -A | grep -v '^.git$'"

/* main has .gitignore (*.o), a.txt, d/t; "next" changes all of that. The
 * detached worktree is not there. */
static struct repo_landing *
without_tree(void)
{
	struct repo_landing *landing = repo_landing_new();

	repo_sh(landing->repo,
	    "git worktree remove --force \"$B/check\"; "
	    "mkdir d; echo t >d/t; echo '*.o' >.gitignore; git add .; "
	    "git commit -qm d; git checkout -q -b next; echo two >>a.txt; "
	    "git rm -q d/t; echo n >n; git add .; git commit -qm next; "
	    "git checkout -q main");
	return landing;
}

static void
check_out(struct repo_landing *landing, const struct git_check_tree *what)
{
	int r = repo_check_out(landing, what);

	ck_assert_msg(r == 0, "%s", landing->repo->msg);
}

static void
assert_at(struct repo_landing *landing, const char *name, const char *files)
{
	cleanup_free char *want =
	    xasprintf("git rev-parse %s; printf '%%s' '%s'", name, files);

	ck_assert_str_eq(
	    repo_sh(landing->repo, LOOK), repo_sh(landing->repo, want));
}

static const struct git_check_tree at_main = { .commit = "main" };
static const struct git_check_tree at_next = { .commit = "next" };

TEST(it_is_made_and_used_again)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;

	check_out(landing, &at_main);
	assert_at(landing, "main", ".gitignore\na.txt\nd");
	repo_trap(repo, 0, "");
	check_out(landing, &at_next);
	ck_assert_int_eq(repo_trap_count(repo), 5 + 1);
	repo_untrap(repo);
	assert_at(landing, "next", ".gitignore\na.txt\nn");
	/* What a check leaves behind goes, ignored or not. */
	repo_sh(repo,
	    "cd \"$B/check\"; echo x >>a.txt; git rm -q --cached n; "
	    "mkdir out; >out/u; >'u\nu'; >keep.o; git init -q nested; "
	    ">nested/f; ln -s a.txt link; git add link; "
	    "git checkout -q -b llmc/mine");
	check_out(landing, &at_main);
	assert_at(landing, "main", ".gitignore\na.txt\nd");
	ck_assert_str_eq(
	    repo_sh(repo, "cat \"$B/check/a.txt\" \"$B/check/d/t\""), "one\nt");
	ck_assert_str_eq(landing->modified, "");
	ck_assert_str_eq(landing->overlaid, "");
}

/* An earlier check cannot make git believe that a file is as in the commit. */
TEST(no_mark_in_the_index_hides_a_file)
{
	static const char *const poisons[] = {
		"git update-index --skip-worktree a.txt",
		"git update-index --assume-unchanged a.txt",
		"git rm -q --cached a.txt; echo a.txt >.gitignore",
		"echo a.txt >>\"$(git rev-parse --git-path info/exclude)\"; "
		"git rm -q --cached a.txt",
		"cp \"$(git rev-parse --git-dir)/index\" \"$B/old\"; git "
		"commit -qam evil; cp \"$B/old\" \"$(git rev-parse "
		"--git-dir)/index\"",
	};
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;

	check_out(landing, &at_main);
	for (size_t i = 0; i < nitems(poisons); i++) {
		cleanup_free char *script = xasprintf(
		    "cd \"$B/check\"; echo evil >a.txt; mkdir -p evil; "
		    "echo '* eol=crlf' >evil/.gitattributes; "
		    "echo '*' >evil/.gitignore; >evil.o; touch -r d/t a.txt; %s",
		    poisons[i]);

		repo_sh(repo, script);
		check_out(landing, &at_main);
		ck_assert_str_eq(
		    repo_sh(repo, "cat \"$B/check/a.txt\"; ls \"$B/check\""),
		    "one\na.txt\nd");
	}
}

/* What a setup made stays as long as it is as that left it. */
TEST(only_what_a_setup_made_is_kept)
{
	static const char *const changes[] = {
		"echo evil >m/a.o",
		"chmod +x m/a.o",
		"rm m/a.o",
		"touch -r m/a.o x; echo b >m/a.o; touch -r x m/a.o",
		"rm m/link; ln -s a.o m/link",
		"mv m x; ln -s x m",
	};
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	cleanup_free char *keep = xasprintf("%s/kept", repo->base);
	struct git_check_tree what = { .commit = "main", .keep = keep };

	check_out(landing, &at_main);
	for (size_t i = 0; i < nitems(changes); i++) {
		cleanup_free char *script =
		    xasprintf("cd \"$B/check\"; %s", changes[i]);

		repo_sh(repo,
		    "cd \"$B/check\"; mkdir m; echo a >m/a.o; "
		    "echo u >'m/u\nv'; ln -s nowhere m/link");
		ck_assert_int_eq(repo_keep(landing, keep), 0);
		repo_sh(
		    repo, "cd \"$B/check\"; >m/evil.o; >evil.o; touch m/a.o");
		what.commit = "next";
		check_out(landing, &what);
		ck_assert(landing->kept);
		ck_assert_str_eq(
		    repo_sh(repo,
			"cd \"$B/check\"; ls m | sort; cat m/a.o; ls *.o || :; "
			"git rev-parse HEAD"),
		    repo_sh(repo,
			"printf 'a.o\nlink\nu\nv\na\n'; "
			"git rev-parse next"));
		repo_sh(repo, script);
		what.commit = "main";
		check_out(landing, &what);
		ck_assert_msg(!landing->kept, "%s", changes[i]);
		assert_at(landing, "main", ".gitignore\na.txt\nd");
	}
	/* Files of a repository inside cannot be told. */
	repo_sh(repo, "cd \"$B/check\"; git init -q n; >n/f; >kept");
	ck_assert_int_eq(repo_keep(landing, keep), 0);
	check_out(landing, &what);
	ck_assert(!landing->kept);
	assert_at(landing, "main", ".gitignore\na.txt\nd");
}

TEST(what_a_check_did_to_its_judge_is_seen)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	const char *const paths[] = { "d", "a.txt", "none", NULL };

	check_out(landing, &at_main);
	repo_sh(repo, "cd \"$B/check\"; touch d/t; >d/new; echo x >.gitignore");
	ck_assert_int_eq(repo_compare(landing, "main", paths), 0);
	ck_assert_str_eq(landing->paths, "");
	repo_sh(repo,
	    "cd \"$B/check\"; echo x >d/t; rm a.txt; "
	    "git update-index --skip-worktree d/t a.txt");
	ck_assert_int_eq(repo_compare(landing, "main", paths), 0);
	ck_assert_str_eq(landing->paths, "a.txt|d/t|");
}

TEST(a_sparse_checkout_is_not_inherited)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;

	repo_sh(repo, "git sparse-checkout set --no-cone /a.txt");
	ck_assert_str_eq(repo_sh(repo, "ls -A | grep -v '^.git$'"), "a.txt");
	check_out(landing, &at_main);
	assert_at(landing, "main", ".gitignore\na.txt\nd");
	/* Nor by the git commands of a check. */
	ck_assert_str_eq(repo_sh(repo,
			     "cd \"$B/check\"; git config core.sparseCheckout; "
			     "git checkout -q next; git checkout -q --detach "
			     "main; ls"),
	    "false\na.txt\nd");
	/* Or switched on by one. */
	repo_sh(
	    repo, "cd \"$B/check\"; git sparse-checkout set --no-cone /a.txt");
	check_out(landing, &at_next);
	assert_at(landing, "next", ".gitignore\na.txt\nn");
	/* The user's is as it was. */
	ck_assert_str_eq(repo_sh(repo,
			     "git config core.sparseCheckout; "
			     "ls -A | grep -v '^.git$'"),
	    "true\na.txt");
}

TEST(hooks_do_not_run)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	struct git_options options = { .root = repo->root, .run_hooks = true };

	repo_reopen(repo, &options);
	check_out(landing, &at_main);
	repo_sh(repo,
	    "for h in post-checkout post-index-change; do "
	    "printf '#!/bin/sh\\n>>\"$B/ran\"\\n' >.git/hooks/$h; "
	    "chmod +x .git/hooks/$h; done");
	check_out(landing,
	    &(struct git_check_tree){ .commit = "next",
		.judge = "main",
		.protected_paths = (const char *[]){ "n", NULL } });
	ck_assert_str_eq(repo_sh(repo, "ls \"$B\" | grep ran; :"), "");
}

TEST(the_judge_is_that_of_the_branch)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	struct git_check_tree what = { .commit = "next",
		.judge = "main",
		.protected_paths =
		    (const char *[]){ "d", "n", ".gitignore", "same", NULL } };

	check_out(landing, &what);
	ck_assert_str_eq(landing->overlaid, "d/t|n|");
	ck_assert_str_eq(repo_sh(repo,
			     "cd \"$B/check\"; git rev-parse HEAD; ls; "
			     "cat a.txt d/t"),
	    repo_sh(
		repo, "git rev-parse next; printf 'a.txt\nd\none\ntwo\nt'"));
	/* Patterns are not names, and names are not patterns. */
	repo_sh(repo,
	    "git checkout -q next; echo o >'*'; echo x >x.c; git add .; "
	    "git commit -qm star; git checkout -q main");
	what.protected_paths = (const char *[]){ "[*]", NULL };
	check_out(landing, &what);
	ck_assert_str_eq(landing->overlaid, "*|");
	ck_assert_str_eq(repo_sh(repo, "ls \"$B/check\""), "a.txt\nn\nx.c");
	what.judge = NULL;
	check_out(landing, &what);
	ck_assert_str_eq(
	    repo_sh(repo, "ls \"$B/check\"; git -C \"$B/check\" status -s"),
	    "*\na.txt\nn\nx.c");
}

/* With the branch's .gitignore, other files are left over. */
TEST(a_judged_gitignore)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct git_check_tree what = { .commit = "next",
		.judge = "main",
		.protected_paths = (const char *[]){ ".gitignore", NULL } };

	repo_sh(landing->repo,
	    "git checkout -q next; echo cheat >>.gitignore; "
	    "git commit -qam ignore; git checkout -q main");
	check_out(landing, &at_next);
	repo_sh(landing->repo, "cd \"$B/check\"; >cheat; >keep.o");
	check_out(landing, &what);
	ck_assert_str_eq(landing->overlaid, ".gitignore|");
	ck_assert_str_eq(repo_sh(landing->repo, "ls \"$B/check\""), "a.txt\nn");
}

TEST(it_is_repaired)
{
	static const char *const damages[] = {
		"d=$(git -C \"$B/check\" rev-parse --git-dir); "
		">\"$d/index.lock\"; >\"$d/HEAD.lock\"",
		"cd \"$B/check\"; echo x >a.txt; git commit -qam x; "
		"git rebase -q next",
		"cd \"$B/check\"; echo x >a.txt; git commit -qam x; "
		"git merge -q next",
		"rm \"$B/check/.git\"",
		"rm -rf \"$B/check\"",
		"rm -rf \"$B/check\"; mkdir \"$B/check\"",
		"rm -rf \"$B/check\" .git/worktrees/check",
		"git worktree lock --reason initializing \"$B/check\"; "
		"printf '%040d\\n' 0 >"
		"\"$(git -C \"$B/check\" rev-parse --git-dir)/HEAD\"",
		"rm \"$(git -C \"$B/check\" rev-parse --git-dir)/index\"",
		"echo junk >\"$(git -C \"$B/check\" rev-parse --git-dir)/"
		"index\"",
	};
	cleanup_landing struct repo_landing *landing = without_tree();

	for (size_t i = 0; i < nitems(damages); i++) {
		cleanup_free char *text =
		    xasprintf("{ %s; } >/dev/null 2>&1 || :", damages[i]);

		check_out(landing, &at_main);
		repo_sh(landing->repo, text);
		check_out(landing, &at_next);
		assert_at(landing, "next", ".gitignore\na.txt\nn");
		ck_assert_str_eq(
		    repo_sh(landing->repo,
			"git -C \"$B/check\" status | grep rebas; "
			"git worktree list --porcelain | grep locked; :"),
		    "");
	}
}

TEST(a_repository_in_its_place_is_told)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;

	check_out(landing, &at_main);
	repo_sh(repo, "cd \"$B/check\"; rm .git; git init -q; echo my >my");
	ck_assert_int_eq(repo_check_out(landing, &at_next), -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, "cat \"$B/check/my\""), "my");
	repo_sh(repo, "mv \"$B/check\" \"$B/aside\"");
	check_out(landing, &at_next);
	assert_at(landing, "next", ".gitignore\na.txt\nn");
	repo_sh(repo,
	    "git worktree remove --force \"$B/check\"; mkdir \"$B/check\"; "
	    "echo my >\"$B/check/my\"");
	ck_assert_int_eq(repo_check_out(landing, &at_next), -EEXIST);
	ck_assert_str_eq(repo_sh(repo, "cat \"$B/check/my\""), "my");
}

/* git, with something that happens right after one of its commands. */
static int
check_out_beside(
    struct repo_landing *landing, const char *verb, const char *script)
{
	cleanup_free char *path = xstrdup(getenv("PATH")), *with = NULL;
	int r;

	setenv("VERB", verb, 1);
	setenv("SCRIPT", script, 1);
	repo_sh(landing->repo,
	    "mkdir -p \"$B/beside\"; { echo '#!/bin/sh'; "
	    "echo \"'$(command -v git)' \\\"\\$@\\\" || exit\"; "
	    "echo 'case \" $* \" in *\" $VERB \"*)"
	    " cd \"$B/check\"; PATH=$REAL; eval \"$SCRIPT\" ;; esac'; "
	    "} >\"$B/beside/git\"; chmod +x \"$B/beside/git\"");
	with = xasprintf("%s/beside:%s", landing->repo->base, path);
	setenv("REAL", path, 1);
	setenv("PATH", with, 1);
	r = repo_check_out(landing, &at_next);
	setenv("PATH", path, 1);
	return r;
}

TEST(whoever_else_writes_there_is_noticed)
{
	static const struct {
		const char *script, *named;
	} table[] = {
		{ ">stray", "(stray)" },
		{ "unset GIT_DIR GIT_WORK_TREE; git checkout -q -f --detach "
		  "main",
		    "" },
		{ "unset GIT_DIR GIT_WORK_TREE; echo s >a.txt; git add a.txt",
		    "(a.txt)" },
		{ "unset GIT_DIR GIT_WORK_TREE; git checkout -q -B mine",
		    "(mine)" },
	};
	cleanup_landing struct repo_landing *landing = without_tree();

	for (size_t i = 0; i < nitems(table); i++) {
		int r = check_out_beside(landing, "checkout", table[i].script);

		ck_assert_msg(
		    r == -EBUSY, "%zu: %d %s", i, r, landing->repo->msg);
		ck_assert_msg(
		    strstr(landing->repo->msg, table[i].named) != NULL, "%s",
		    landing->repo->msg);
		check_out(landing, &at_next);
	}
	/* A file that is ignored, or one that cannot be told from git's own. */
	ck_assert_int_eq(
	    check_out_beside(landing, "checkout", ">x.o; echo x >>a.txt"), 0);
	ck_assert_str_eq(landing->modified, "a.txt|");
}

/* A file that git takes for changed whenever it looks. */
TEST(line_ends_that_never_fit_are_no_obstacle)
{
	cleanup_landing struct repo_landing *landing = without_tree();

	repo_sh(landing->repo,
	    "printf 'x\\r\\n' >f.txt; git add f.txt; git commit -qm crlf; "
	    "echo '*.txt text eol=crlf' >.gitattributes; "
	    "git add .gitattributes; git commit -qm attributes");
	check_out(landing, &at_main);
	check_out(landing, &at_next);
	check_out(landing, &at_main);
	ck_assert_str_eq(
	    repo_sh(landing->repo, "od -c \"$B/check/f.txt\" | head -1"),
	    "0000000   x  \\r  \\n");
}

TEST(submodules_follow_where_they_are_populated)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	struct git_check_tree what = at_main;

	repo_sh(repo,
	    "git config --global protocol.file.allow always; "
	    "git init -q \"$B/lib\"; cd \"$B/lib\"; >l1; git add .; "
	    "git commit -qm l1; >l2; git add .; git commit -qm l2; cd \"$R\"; "
	    "git submodule --quiet add \"$B/lib\" lib 2>/dev/null; "
	    "git commit -qm two; "
	    "cd lib; git checkout -q HEAD~1; cd ..; git commit -qam one");
	check_out(landing, &what);
	ck_assert_str_eq(repo_sh(repo, "ls \"$B/check/lib\""), "");
	repo_sh(
	    repo, "cd \"$B/check\"; git submodule --quiet update --init 2>&1");
	ck_assert_str_eq(repo_sh(repo, "ls \"$B/check/lib\""), "l1");
	what.commit = "main~1";
	check_out(landing, &what);
	ck_assert_str_eq(repo_sh(repo, "ls \"$B/check/lib\""), "l1\nl2");
	/* One that the clone does not have. */
	repo_sh(repo,
	    "cd \"$B/lib\"; >l3; git add .; git commit -qm l3; cd \"$R/lib\"; "
	    "git pull -q origin HEAD; git checkout -q FETCH_HEAD; cd ..; "
	    "git commit -qam three");
	what.commit = "main";
	ck_assert_int_eq(repo_check_out(landing, &what), -EIO);
	ck_assert_ptr_nonnull(strstr(repo->msg, "lib"));
	what.fetch = true;
	check_out(landing, &what);
	ck_assert_str_eq(repo_sh(repo, "ls \"$B/check/lib\""), "l1\nl2\nl3");
}

/* Without the remote, at each commit anew, and without what a check left. */
TEST(submodules_of_the_users_checkout_are_there)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	struct git_check_tree what = at_main;
	struct git_options options = { 0 };

	what.submodules = true;
	/* No setting of git has a line break in its name. */
	repo->root = options.root =
	    repo_sh(repo, "mv \"$R\" \"$B/ma in\"; printf '%s/ma in' \"$B\"");
	repo_reopen(repo, &options);
	repo_sh(repo,
	    "git init -q \"$B/lib\"; cd \"$B/lib\"; >l1; git add .; "
	    "git commit -qm l1; >l2; git add .; git commit -qm l2; cd \"$R\"; "
	    "git -c protocol.file.allow=always -c "
	    "url.\"$B/lib\".insteadOf=https://example.invalid/lib submodule "
	    "--quiet add https://example.invalid/lib lib 2>/dev/null; "
	    "git commit -qm two; cd lib; "
	    "git checkout -q HEAD~1; cd ..; git commit -qam one; "
	    "mv \"$B/lib\" \"$B/gone\"");
	for (int i = 0; i < 4; i++) {
		what.commit = i % 2 == 0 ? "main" : "main~1";
		check_out(landing, &what);
		ck_assert_str_eq(repo_sh(repo,
				     "cd \"$B/check\"; git status --short; ls "
				     "lib; rm lib/l1; echo x >lib/l2; >lib/x"),
		    i % 2 == 0 ? "l1" : "l1\nl2");
	}
	/* A commit that only a worker has: it is for the check to complain. */
	repo_sh(repo,
	    "git clone -q \"$R/lib\" \"$B/other\"; cd \"$B/other\"; git commit "
	    "-q --allow-empty -m l3; git -C \"$R\" update-index --cacheinfo "
	    "160000,$(git rev-parse HEAD),lib; git -C \"$R\" commit -qm three");
	what.commit = "main";
	check_out(landing, &what);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$B/check\"; git status --short; ls lib"), "");
}

/* Killed after each of its commands, and asked again. */
TEST(killed_anywhere_it_is_finished_by_the_next)
{
	int calls = 0, nth = 1;

	do {
		cleanup_landing struct repo_landing *landing = without_tree();
		struct git_check_tree what = { .commit = "next",
			.judge = "main",
			.protected_paths = (const char *[]){ "n", NULL } };

		/* Two are names that the test resolves, which must succeed. */
		repo_trap(landing->repo, nth + 2, "after");
		repo_check_out(landing, &what);
		calls = repo_trap_count(landing->repo);
		repo_untrap(landing->repo);
		check_out(landing, &what);
		ck_assert_str_eq(repo_sh(landing->repo,
				     "cd \"$B/check\"; git status --short; ls"),
		    "D  n\na.txt");
	} while (calls >= nth++ + 2);
	ck_assert_int_gt(nth, 6);
}

static void
on_nothing(const struct git_checked_out *out, const struct err *err, void *arg)
{
	(void)out;
	(void)err;
	(void)arg;
	ck_abort_msg("answered after git_free()");
}

TEST(given_up_in_the_middle)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct repo *repo = landing->repo;
	struct git_options options = { .root = repo->root };
	struct git_check_tree what = { .commit = repo_sh(
					   repo, "git rev-parse main") };

	git_check_tree_prepare(
	    repo->git, landing->dir, &what, on_nothing, NULL);
	repo_reopen(repo, &options);
	check_out(landing, &at_main);
	git_check_tree_prepare(
	    repo->git, landing->dir, &what, on_nothing, NULL);
	repo_reopen(repo, &options);
}

TEST(a_missing_commit_is_told)
{
	cleanup_landing struct repo_landing *landing = without_tree();
	struct git_check_tree what = {
		.commit = "1111111111111111111111111111111111111111"
	};

	ck_assert_int_eq(repo_check_out(landing, &what), -ENOENT);
	check_out(landing, &at_main);
	ck_assert_int_eq(repo_check_out(landing, &what), -EIO);
	ck_assert_ptr_nonnull(strstr(landing->repo->msg, "git read-tree: "));
}
