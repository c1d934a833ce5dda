/* SPDX-License-Identifier: ISC */

/*
 * What a worker prepares for the daemon's git to do: each is first tried with a
 * plain git, where it must work, or the test would prove nothing.
 */

#include "repo.h"

#define GITDIR "\"$(cat \"$B/gitdir\")\""
/* A configuration whose filter leaves a mark, for files that are "evil". */
#define PROGRAM                                                          \
	"printf '#!/bin/sh\\n>\"%s/ran\"\\ncat\\n' \"$B\" >\"$B/cmd\"; " \
	"chmod +x \"$B/cmd\"; "
#define EVIL "printf '[filter \"evil\"]\\n\\tclean = \\\"%s/cmd\\\"\\n' \"$B\""

static struct repo *
with_tree(void)
{
	struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "git rev-parse --absolute-git-dir >\"$B/gitdir\"; " PROGRAM
	    "echo '* filter=evil' >.gitattributes; echo w >w; git add .; "
	    "git commit -qm work; sleep 0; echo W >w; touch -d @1 w");
	return repo;
}

static bool
has_run(struct repo *repo)
{
	return strcmp(
		   repo_sh(repo, "rm \"$B/ran\" 2>/dev/null && echo yes || :"),
		   "yes") == 0;
}

/* Whatever the daemon asks for. */
static void
ask_all(struct repo *repo)
{
	repo_facts(repo);
	repo_conflicts(repo);
	repo_salvage(repo, "s1");
	repo_leftovers(repo, "left");
	repo_squash(repo, "m");
	repo_rebase(repo);
	repo_abort(repo);
	repo_reset(repo);
}

TEST(a_filter_through_the_git_file_does_not_run)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "cp -r " GITDIR " \"$B/fake\"; cp \"$R/.git/config\" \"$B/cfg\"; "
	    "mkdir \"$B/common\"; cp -r \"$R/.git/objects\" \"$R/.git/refs\" "
	    "\"$R/.git/HEAD\" \"$B/common\"; " EVIL " >\"$B/common/config\"; "
	    "echo \"$B/common\" >\"$B/fake/commondir\"; "
	    "echo \"gitdir: $B/fake\" >.git; git status -s >/dev/null");
	ck_assert(has_run(repo));
	ask_all(repo);
	ck_assert(!has_run(repo));
}

TEST(a_filter_through_commondir_does_not_run)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "mkdir \"$B/common\"; cp -r \"$R/.git/objects\" \"$R/.git/refs\" "
	    "\"$R/.git/HEAD\" \"$B/common\"; " EVIL " >\"$B/common/config\"; "
	    "echo \"$B/common\" >" GITDIR "/commondir; "
	    "git status -s >/dev/null");
	ck_assert(has_run(repo));
	ask_all(repo);
	ck_assert(!has_run(repo));
}

/* Between the check and the start of git it is changed: GIT_COMMON_DIR is
 * stronger. */
TEST(a_commondir_that_changes_too_late_has_no_effect)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *command =
	    "mkdir \"$B/common\"; cp -r \"$R/.git/objects\" \"$R/.git/refs\" "
	    "\"$R/.git/HEAD\" \"$B/common\"; " EVIL " >\"$B/common/config\"; "
	    "echo \"$B/common\" >" GITDIR "/commondir; "
	    "export GIT_DIR=" GITDIR " GIT_WORK_TREE=\"$W\"; "
	    "git status -s >/dev/null";

	repo_wt(repo, command);
	ck_assert(has_run(repo));
	repo_wt(repo,
	    "export GIT_DIR=" GITDIR " GIT_WORK_TREE=\"$W\" "
	    "GIT_COMMON_DIR=\"$R/.git\"; git status -s >/dev/null");
	ck_assert(!has_run(repo));
}

/* git itself removes such a tree, with all that was not saved. */
TEST(what_is_refused_is_not_removed)
{
	static const char *const table[] = {
		"git config extensions.worktreeConfig true; "
		"git config --worktree core.pager less",
		"mv " GITDIR "/index \"$B/index\"; ln -s \"$B/index\" " GITDIR
		"/index",
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = with_tree();

		repo_wt(repo, table[i]);
		ck_assert_int_eq(repo_remove(repo), -EUCLEAN);
		ck_assert_str_eq(repo_wt(repo, "cat w"), "W");
	}
}

TEST(a_filter_in_config_worktree_does_not_run)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "git config extensions.worktreeConfig true; " EVIL " >" GITDIR
	    "/config.worktree; git status -s >/dev/null");
	ck_assert(has_run(repo));
	ask_all(repo);
	ck_assert(!has_run(repo));
	ck_assert_int_eq(repo_facts(repo), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(repo->msg, "config.worktree"));
	/* What `git sparse-checkout` writes is fine, and what is the user's. */
	repo_wt(repo,
	    "printf '[core]\\n\\tsparseCheckout = false\\n' >" GITDIR
	    "/config.worktree");
	ck_assert_msg(repo_facts(repo) == 0, "%s", repo->msg);
	repo_sh(repo,
	    EVIL " >.git/config.worktree; cp .git/config.worktree " GITDIR);
	ck_assert_msg(repo_facts(repo) == 0, "%s", repo->msg);
}

/* A rebase that stopped, with a command in what is left to do. */
#define STOP                                                          \
	"git checkout -q -- .; echo x >>a.txt; git commit -qam one; " \
	"echo y >y; git add y; git commit -qm two; "
#define PLANT                                     \
	"echo \"exec >\\\"$B/ran\\\"\" >>" GITDIR \
	"/rebase-merge/git-rebase-todo; "

TEST(a_command_in_a_rebase_does_not_run)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo, STOP);
	repo_sh(repo, "echo other >>a.txt; git commit -qam against");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	repo_wt(repo,
	    PLANT
	    "echo both >a.txt; git add a.txt; cp -r " GITDIR
	    " \"$B/saved\"; GIT_EDITOR=: git rebase --continue >/dev/null "
	    "2>&1");
	ck_assert(has_run(repo));
	/* The same once more, for the daemon. */
	repo_wt(repo,
	    "git reset -q --hard ORIG_HEAD; ! git rebase -q main >/dev/null "
	    "2>&1; " PLANT "echo both >a.txt; git add a.txt");
	ask_all(repo);
	ck_assert_int_eq(repo->code, 0);
	ck_assert(!has_run(repo));
}

/* rerere has resolved what the rebase stopped at, so the daemon goes on. */
TEST(a_command_planted_while_rerere_helps_does_not_run)
{
	cleanup_repo struct repo *repo = with_tree();
	cleanup_free char *path = NULL;
	const char *quick;

	if (repo->boxed)
		unit_skip("rerere does not help in a box");
	repo_sh(repo, "git config rerere.enabled true");
	repo_wt(repo, STOP);
	repo_sh(repo, "echo other >>a.txt; git commit -qam against");
	repo_wt(repo,
	    "! git rebase -q main >/dev/null 2>&1; echo both >a.txt; "
	    "git add a.txt; GIT_EDITOR=: git rebase --continue >/dev/null 2>&1; "
	    "git reset -q --hard ORIG_HEAD");
	/* When git looks at the conflict, the worker is quick. */
	quick = repo_sh(repo,
	    "mkdir \"$B/quick\"; cat >\"$B/quick/git\" <<'EOF'\n"
	    "#!/bin/sh\n"
	    "todo=\"$(cat \"$B/gitdir\")/rebase-merge/git-rebase-todo\"\n"
	    "[ -e \"$todo\" ] && ! grep -q ran \"$todo\" &&\n"
	    "\techo 'exec >\"$B/ran\"; true' >>\"$todo\" && >\"$B/planted\"\n"
	    "PATH=${PATH#*:} exec git \"$@\"\n"
	    "EOF\n"
	    "chmod +x \"$B/quick/git\"; printf %s \"$B/quick:$PATH\"");
	path = xstrdup(getenv("PATH"));
	setenv("PATH", quick, 1);
	repo_rebase(repo);
	setenv("PATH", path, 1);
	ck_assert_msg(repo->code == 0, "%s", repo->msg);
	ck_assert(!repo->conflict);
	repo_sh(repo, "rm \"$B/planted\"");
	ck_assert_str_eq(
	    repo_wt(repo, "git log --format=%s main..llmc/ann; cat a.txt"),
	    "two\none\nwork\nboth");
	ck_assert(!has_run(repo));
}

/* The state of a rebase names another branch, which would be "put back". */
TEST(a_rebase_does_not_move_another_branch)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *before = repo_sh(repo, "git rev-parse main");

	repo_sh(repo, "git checkout -q --detach");
	repo_wt(repo,
	    STOP "! git rebase -q -x false HEAD~1 >/dev/null 2>&1; "
		 "echo refs/heads/main >" GITDIR "/rebase-merge/head-name; "
		 "cp -r " GITDIR "/rebase-merge \"$B/state\"; "
		 "git rebase --abort");
	ck_assert_str_ne(repo_sh(repo, "git rev-parse main"), before);
	repo_sh(repo, "git update-ref refs/heads/main HEAD");
	for (int i = 0; i < 3; i++) {
		repo_wt(repo,
		    "git checkout -q --detach; cp -r \"$B/state\" " GITDIR
		    "/rebase-merge; echo dirty >>w");
		ck_assert_msg((i == 0        ? repo_abort(repo) :
				      i == 1 ? repo_rebase(repo) :
					       repo_reset(repo)) == 0,
		    "%s", repo->msg);
		ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), before);
		ck_assert_int_eq(repo_facts(repo), 0);
		ck_assert_str_eq(repo->facts.branch, "llmc/ann");
	}
}

TEST(head_of_another_branch_is_not_written_to)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *before = repo_sh(repo, "git rev-parse main");

	repo_sh(repo, "git checkout -q --detach");
	repo_wt(repo,
	    "git checkout -q -- .; echo 'ref: refs/heads/main' >" GITDIR
	    "/HEAD; git reset -q --hard llmc/ann");
	ck_assert_str_ne(repo_sh(repo, "git rev-parse main"), before);
	repo_sh(repo, "git update-ref refs/heads/main HEAD");
	repo_wt(repo, "echo more >more");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(repo->msg, "type: llmc reset ann"));
	ck_assert_int_eq(repo_rebase(repo), -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), before);
	/* The advice helps. */
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), before);
	ck_assert_int_eq(repo_facts(repo), 0);
	ck_assert_str_eq(repo->facts.branch, "llmc/ann");
}

TEST(a_branch_that_is_another_name_of_main_is_not_written_to)
{
	cleanup_repo struct repo *repo = with_tree();
	const char *before = repo_sh(repo, "git rev-parse main");

	repo_sh(repo, "git checkout -q --detach");
	repo_wt(repo,
	    "git checkout -q -- .; git checkout -q --detach; git symbolic-ref "
	    "refs/heads/llmc/ann refs/heads/main");
	repo_sh(repo,
	    "git update-ref refs/heads/llmc/ann \"$(git -C \"$W\" rev-parse "
	    "HEAD)\"");
	ck_assert_str_ne(repo_sh(repo, "git rev-parse main"), before);
	repo_sh(repo,
	    "git symbolic-ref refs/heads/llmc/ann refs/heads/main; "
	    "git update-ref --no-deref refs/heads/main HEAD; "
	    "echo 'ref: refs/heads/llmc/ann' >" GITDIR "/HEAD");
	repo_sh(repo, "cd \"$W\"; git reset -q; echo more >more");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), before);
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"), before);
	ck_assert_str_eq(
	    repo_sh(
		repo, "git symbolic-ref -q refs/heads/llmc/ann || echo none"),
	    "none");
}

/* git would wait for them, and so would everything behind it. */
TEST(what_is_no_file_is_not_opened)
{
	static const char *const names[] = { "HEAD", "index" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_repo struct repo *repo = with_tree();
		cleanup_free char *make = xasprintf(
		    "cd " GITDIR "; mv %s kept; mkfifo %s", names[i], names[i]);

		repo_sh(repo, make);
		ck_assert_int_eq(repo_facts(repo), -EUCLEAN);
		ck_assert_ptr_nonnull(strstr(repo->msg, names[i]));
		/* What lists all worktrees does not wait either. */
		ck_assert_msg(
		    repo_remove(repo) == 0 || repo->code != -ETIMEDOUT, "%s",
		    repo->msg);
		repo_sh(repo, "git worktree list >/dev/null");
	}
}

TEST(git_runs_in_no_repository_inside_that_could_run_a_program)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "git checkout -q -- .; git clone -q \"$R\" n 2>/dev/null; cd n; "
	    "echo '* filter=evil' >.git/info/attributes; " EVIL
	    " >>.git/config; git status -s >/dev/null; touch -d @1 a.txt; "
	    "git status -s >/dev/null");
	ck_assert(has_run(repo));
	ck_assert_int_eq(repo_remove(repo), -ENOTEMPTY);
	ck_assert_ptr_nonnull(strstr(repo->msg, "settings of its own"));
	ck_assert(!has_run(repo));
}
