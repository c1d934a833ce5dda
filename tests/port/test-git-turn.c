/* SPDX-License-Identifier: ISC */

/*
 * A worktree becomes a clone and back: nothing is lost, also if the daemon is
 * killed before any of its steps, which are the git commands and what it does
 * to files itself; those are replaced below.
 */

#include "repo.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "git-worktree.h"

#define STEPS_MAX 200

/* --- steps on files ---------------------------------------------------- */

static int steps, kill_at; /* 0 = never */
static pid_t daemon_pid; /* dies with its helper */
static bool removing; /* of many, the first counts */

static void
step(bool removes)
{
	if (!(removes && removing) && ++steps == kill_at) {
		kill(daemon_pid, SIGKILL);
		raise(SIGKILL);
	}
	removing = removes;
}

int
mkdir(const char *path, mode_t mode)
{
	step(false);
	return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int
rename(const char *from, const char *to)
{
	step(false);
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
renameat2(
    int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	step(false);
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int
unlinkat(int dir, const char *path, int flags)
{
	step(true);
	return (int)syscall(SYS_unlinkat, dir, path, flags);
}

/* --- turns ------------------------------------------------------------- */

static void
done(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

static int
turn(struct repo *repo, bool clone)
{
	static const struct git_turn what = { .branch = "llmc/ann",
		.onto = "main",
		.keep = "refs/llmc/salvage/ann/s1-refs" };

	repo_begin(repo);
	if (clone)
		git_turn_to_clone(repo->git, repo->dir, &what, done, repo);
	else
		git_turn_to_worktree(repo->git, repo->dir, &what, done, repo);
	repo_wait(repo);
	return repo->code;
}

static int
set_stand(struct repo *repo, bool detached)
{
	repo_begin(repo);
	git_follow_set(repo->git, repo->dir, "llmc/ann", detached, done, repo);
	repo_wait(repo);
	return repo->code;
}

/* All that the worker has: commits, index, files. */
#define LOOK                                                      \
	"cd \"$W\"; git rev-parse HEAD; git status --porcelain; " \
	"git show :s; git show :a.txt; cat a.txt u; git log --format=%s"

#define WORK                                                    \
	"cd \"$W\"; echo w >w; git add w; git commit -qm w; "   \
	"echo two >>a.txt; git add a.txt; echo three >>a.txt; " \
	"echo s >s; git add s; echo u >u; rm w"

static struct repo *
with_work(bool clone)
{
	struct repo *repo = repo_new(false);

	repo->detached = repo->may_clone = true;
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_sh(repo, WORK);
	if (clone)
		ck_assert_msg(turn(repo, true) == 0, "%s", repo->msg);
	return repo;
}

static bool
is_clone(const struct repo *repo)
{
	cleanup_free char *path = xasprintf("%s/.git", repo->dir);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* In another process, which is killed at a step; what it had started ends by
 * itself. Returns whether it was killed. */
static bool
turn_and_die(struct repo *repo, bool clone, int nth)
{
	struct git_options options = { .root = repo->root };
	int status = 0;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		repo->loop = loop_new();
		repo->git = NULL;
		repo_reopen(repo, &options);
		steps = 0;
		kill_at = nth;
		daemon_pid = getpid();
		repo_trap_us();
		turn(repo, clone);
		_exit(repo->code != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		continue;
	return WIFSIGNALED(status);
}

/* The daemon starts again, and looks at what it finds. */
static void
go_on(struct repo *repo, bool clone, const char *before, int nth)
{
	ck_assert_msg(is_clone(repo) == clone || turn(repo, clone) == 0,
	    "%d: %s", nth, repo->msg);
	ck_assert_int_eq(is_clone(repo), clone);
	ck_assert_msg(strcmp(repo_sh(repo, LOOK), before) == 0, "%d: %s", nth,
	    repo_sh(repo, LOOK));
	ck_assert_msg(repo_facts(repo) == 0, "%d: %s", nth, repo->msg);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"),
	    repo_sh(repo, "git -C \"$W\" rev-parse HEAD"));
	repo_sh(repo, "git fsck --no-progress 2>&1");
}

/* And everything works afterwards. */
static void
there_and_back(struct repo *repo, bool clone, const char *before, int nth)
{
	go_on(repo, clone, before, nth);
	ck_assert_msg(turn(repo, !clone) == 0, "%d: %s", nth, repo->msg);
	go_on(repo, !clone, before, nth);
	ck_assert_msg(turn(repo, clone) == 0, "%d: %s", nth, repo->msg);
	go_on(repo, clone, before, nth);
	ck_assert_str_eq(
	    repo_sh(repo, "ls -d \"$W\".turning 2>/dev/null || :"), "");
	ck_assert_str_eq(
	    repo_sh(
		repo, "git worktree list --porcelain | grep -c '^worktree '"),
	    clone ? "1" : "2");
}

const int unit_timeout = 240; /* seconds, each */

/* _i: 0 = into a clone, 1 = back. */
TEST_ROWS(a_turn_that_is_killed_at_a_step_goes_on, 2)
{
	bool clone = _i == 0, killed = true;
	int nth = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (killed) {
		cleanup_repo struct repo *repo = with_work(!clone);
		const char *before = repo_sh(repo, LOOK);

		ck_assert_int_lt(++nth, STEPS_MAX);
		killed = turn_and_die(repo, clone, nth);
		there_and_back(repo, clone, before, nth);
	}
	ck_assert_int_gt(nth, 3);
}

/* The number of its commands. */
static int
count_gits(bool clone)
{
	cleanup_repo struct repo *repo = with_work(!clone);

	repo_trap(repo, 0, "");
	ck_assert_msg(turn(repo, clone) == 0, "%s", repo->msg);
	return repo_trap_count(repo);
}

TEST_ROWS(a_turn_that_is_killed_at_a_git_goes_on, 2)
{
	bool clone = _i == 0;
	int calls = count_gits(clone);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert_int_gt(calls, 3);
	for (int nth = 1; nth <= calls; nth++) {
		cleanup_repo struct repo *repo = with_work(!clone);
		const char *before = repo_sh(repo, LOOK);

		repo_trap(repo, nth, "orphan-after");
		turn_and_die(repo, clone, 0);
		repo_untrap(repo);
		there_and_back(repo, clone, before, nth);
	}
}

TEST(uncommitted_changes_survive_every_change_of_the_mode)
{
	cleanup_repo struct repo *repo = repo_new(false);
	const char *before;

	repo->detached = false;
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_sh(repo, WORK);
	before = repo_sh(repo, LOOK);
	repo->detached = repo->may_clone = true;
	ck_assert_msg(set_stand(repo, true) == 0, "%s", repo->msg);
	go_on(repo, false, before, 0);
	ck_assert_msg(turn(repo, true) == 0, "%s", repo->msg);
	go_on(repo, true, before, 0);
	ck_assert_msg(turn(repo, false) == 0, "%s", repo->msg);
	ck_assert_msg(set_stand(repo, false) == 0, "%s", repo->msg);
	repo->detached = false;
	go_on(repo, false, before, 0);
	ck_assert_str_eq(repo_sh(repo, "git -C \"$W\" symbolic-ref HEAD"),
	    "refs/heads/llmc/ann");
}

TEST(a_clone_in_a_rebase_says_what_to_type)
{
	cleanup_repo struct repo *repo = with_work(true);

	repo_sh(repo,
	    "cd \"$W\"; git stash -q; "
	    "! git rebase -q -x false HEAD~1 >/dev/null 2>&1");
	ck_assert_int_eq(turn(repo, false), -EBUSY);
	ck_assert_msg(strstr(repo->msg, "start over: llmc reset ann") != NULL,
	    "%s", repo->msg);
}
