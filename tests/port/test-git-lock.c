/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-private.h"

/* What a worker does, and what happens on main in the meantime. */
#define WORK      "echo w >w.txt; git add .; git commit -qm w"
#define ELSEWHERE "echo m >m.txt; git add .; git commit -qm m"
#define GIT_DIR   "\"$(git rev-parse --git-dir)\""

#define SOMEBODY 65534

/* It runs when it has answered, and its input, open for writing too, never
 * ends. */
#define RUNNING_GIT(dir)                                           \
	"in=" dir "/in out=" dir "/out; mkfifo \"$in\" \"$out\"; " \
	"setsid timeout 120 git cat-file --batch-check <>\"$in\" " \
	">\"$out\" 2>/dev/null & echo $! >" dir "/group; "         \
	"echo HEAD >\"$in\"; read -r answer <\"$out\""

static struct repo *
with_tree(void)
{
	struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	repo_sh(repo, ELSEWHERE);
	return repo;
}

static const char *const locks[] = { "HEAD.lock", "index.lock" };

void
unit_begin(void)
{
	unit_hurry(10);
}

/* git checks out `onto` before it finds that it cannot move HEAD. */
TEST(a_rebase_that_meets_a_lock_takes_nothing_back)
{
	for (size_t i = 0; i < nitems(locks); i++) {
		cleanup_repo struct repo *repo = with_tree();
		/* So that it does not look stale. */
		cleanup_free char *make =
		    xasprintf("touch -d '1 hour' " GIT_DIR "/%s", locks[i]);

		repo_wt(repo, make);
		ck_assert_msg(
		    repo_rebase(repo) == -EBUSY, "%s: %s", locks[i], repo->msg);
		repo_wt(repo, "rm " GIT_DIR "/*.lock");
		ck_assert_str_eq(
		    repo_wt(repo, "git status --porcelain; cat w.txt"), "w");
		ck_assert_msg(repo_rebase(repo) == 0, "%s", repo->msg);
		ck_assert_str_eq(repo_wt(repo, "cat w.txt m.txt"), "w\nm");
	}
}

/* The agent was killed, and its git with it. */
TEST(a_lock_that_nobody_holds_is_taken_away)
{
	for (size_t i = 0; i < nitems(locks); i++) {
		cleanup_repo struct repo *repo = with_tree();
		cleanup_free char *make = xasprintf(
		    "touch -d '1 minute ago' " GIT_DIR "/%s", locks[i]);

		repo_wt(repo, make);
		ck_assert_msg(
		    repo_rebase(repo) == 0, "%s: %s", locks[i], repo->msg);
		ck_assert_str_eq(repo_wt(repo, "cat w.txt m.txt"), "w\nm");
		repo_wt(repo, make);
		ck_assert_msg(
		    repo_reset(repo) == 0, "%s: %s", locks[i], repo->msg);
	}
}

/* Where a reset checks nothing out, git does not complain of the lock. */
TEST(a_reset_leaves_no_lock_of_the_index)
{
	static const char *const works[] = {
		":",
		"echo two >>a.txt; git commit -qam w1; git -C \"$R\" merge -q "
		"--squash llmc/ann >/dev/null; git -C \"$R\" commit -qm landed"
	};

	for (size_t i = 0; i < nitems(works); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_attached_only();
		repo_wt(repo, works[i]);
		repo_wt(repo, "touch -d '1 minute ago' " GIT_DIR "/index.lock");
		ck_assert_msg(
		    repo_reset_clean(repo, repo_wt(repo, "git rev-parse HEAD"),
			repo_sh(repo, "git rev-parse main")) == 0,
		    "%s", repo->msg);
		repo_wt(repo, "! test -e " GIT_DIR "/index.lock");
	}
}

TEST(a_lock_stays_while_a_git_runs_there)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_wt(repo,
	    "touch -d '1 minute ago' " GIT_DIR
	    "/HEAD.lock; " RUNNING_GIT(GIT_DIR));
	ck_assert_int_eq(repo_rebase(repo), -EBUSY);
	ck_assert_str_eq(
	    repo_wt(repo, "cd " GIT_DIR " && ls *.lock"), "HEAD.lock");
	repo_wt(repo, "kill -- -$(cat " GIT_DIR "/group)");
}

/* Others run git, too: a server, a cron job of root. */
TEST(a_git_of_another_user_elsewhere_does_not_keep_a_lock)
{
	const char *dir = unit_path("w"), *lock = unit_path("g/HEAD.lock");
	cleanup_free char *complaint =
	    xasprintf("Unable to create '%s': File exists.", lock);
	cleanup_free char *make =
	    xasprintf("umask 022; cd '%s'; chmod 755 .; mkdir w g; "
		      "echo 'gitdir: %s' >w/.git; "
		      "touch -d '1 minute ago' g/HEAD.lock; chown -R %d g",
		unit_scratch(), unit_path("g"), SOMEBODY);
	cleanup_repo struct repo *repo = NULL;
	bool seen, removed;

	if (geteuid() != 0)
		unit_skip("only root can have a process of another user");
	repo = with_tree();
	repo_sh(repo, RUNNING_GIT("\"$B\""));
	repo_sh(repo, make);
	ck_assert_int_eq(seteuid(SOMEBODY), 0);
	seen = access(lock, F_OK) == 0;
	removed = git_lock_remove_dead(dir, complaint);
	ck_assert_int_eq(seteuid(0), 0);
	repo_sh(repo, "kill -- -$(cat \"$B/group\")");
	if (!seen)
		unit_skip("TMPDIR is closed to other users");
	ck_assert(removed);
}

static void
on_written(const struct git_answer *answer, void *arg)
{
	struct repo *repo = arg;

	ck_assert_msg(answer->status == 0, "%s", answer->complaint);
	repo_answered(repo, answer->err);
}

/* The daemon was killed while its git wrote one. The user's own git, which may
 * run for hours, writes none of them. */
TEST(a_lock_of_our_own_ref_is_taken_away)
{
	static const char *const args[] = { "update-ref", "--no-deref",
		"refs/llmc/task/t1", "main", NULL };
	struct git_command update = { .args = args };
	cleanup_repo struct repo *repo = with_tree();

	repo_sh(repo,
	    "mkdir -p .git/refs/llmc/task; "
	    "touch -d '1 minute ago' .git/refs/llmc/task/t1.lock; " RUNNING_GIT(
		"\"$B\""));
	repo_begin(repo);
	git_run(git_queue(repo->git, repo->root), &update, on_written, repo);
	repo_wait(repo);
	ck_assert_str_eq(repo_sh(repo,
			     "git log -1 --format=%s refs/llmc/task/t1; "
			     "kill -- -$(cat \"$B/group\")"),
	    "m");
}

/* A lock of the user: its owner may come back. */
TEST(a_lock_of_the_main_tree_stays)
{
	cleanup_repo struct repo *repo = with_tree();

	repo_sh(repo, "touch -d '1 hour ago' .git/index.lock; git tag id main");
	repo_sh(repo,
	    "git commit-tree -p main -m x main: | "
	    "xargs git tag -f id");
	ck_assert_int_eq(repo_land(repo, "main", "id", false), GIT_LAND_HELD);
	ck_assert_str_eq(
	    repo_sh(repo, "ls .git/index.lock"), ".git/index.lock");
}
