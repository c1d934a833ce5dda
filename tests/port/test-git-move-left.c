/* SPDX-License-Identifier: ISC */

/*
 * What is left of a landing that failed or was cut off while the files moved:
 * who may write the index meanwhile, and whose files are whose afterwards.
 */

#include <sys/mman.h>

#include "repo.h"

#define LOOK_MS 20

/* a.txt changed, d/new.txt added, old.txt removed. */
static struct repo *
ready(bool run_hooks)
{
	struct repo *repo = repo_new(run_hooks);

	repo_sh(repo,
	    "echo old >old.txt; git add .; git commit -qm second; "
	    "git tag onto; git checkout -q --detach; echo two >>a.txt; "
	    "mkdir d; echo new >d/new.txt; git rm -q old.txt; git add .; "
	    "git commit -qm w1; git tag id; git checkout -q main");
	return repo;
}

#define SHOW                                                                 \
	"cat a.txt; ls d/new.txt old.txt 2>/dev/null; git status --short; "  \
	"find .git -name '*.lock' -o -name '*.llmc' -o -name 'llmc*index'; " \
	"git log --format=%s -1 main"
#define BEFORE "one\nold.txt\nsecond"
#define LANDED "one\ntwo\nd/new.txt\nw1"

/* A git that does more than it should; $N is how many times it was called for
 * what the pattern matches. */
static void
stand_in_git(struct repo *repo, const char *pattern, const char *does)
{
	cleanup_free char *text = xasprintf(
	    "cat >\"$B/trap/git\" <<'E'\n#!/bin/sh\nPATH=$TRAP_PATH\n"
	    "case \"$*\" in %s) echo >>\"$B/calls\"; N=$(wc -l <\"$B/calls\")\n"
	    "%s\n;; esac\nexec git \"$@\"\nE\n",
	    pattern, does);

	repo_trap(repo, 0, "");
	repo_sh(repo, text);
}

struct awaited {
	struct repo *repo;
	char *path;
	struct loop_timer *timer;
};

static void
look_for(void *arg)
{
	struct awaited *awaited = arg;

	if (file_exists(awaited->path))
		loop_stop(awaited->repo->loop, 0);
	else
		loop_timer_restart(awaited->timer, LOOK_MS);
}

/* Run the loop until that file of $B exists. */
static void
run_until(struct repo *repo, const char *name)
{
	struct awaited awaited = { .repo = repo,
		.path = file_join(repo->base, name) };

	awaited.timer = loop_after(repo->loop, LOOK_MS, look_for, &awaited);
	loop_run(repo->loop);
	loop_timer_free(awaited.timer);
	free(awaited.path);
}

static void
not_told(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	(void)result;
	(void)detail;
	(void)places;
	(void)err;
	(void)arg;
	ck_abort_msg("a landing that was cut off has told its end");
}

/* A daemon that has no time to wait for it. */
TEST(a_landing_that_is_cut_off_keeps_the_index_locked)
{
	cleanup_repo struct repo *repo = ready(false);
	struct git_options options = { .root = repo->root };

	stand_in_git(repo, "*read-tree*",
	    ">\"$B/reading\"; while [ ! -e \"$B/go\" ]; do sleep 0.05; done; "
	    "git \"$@\"; >\"$B/read\"; exit");
	git_land(repo->git, "main", "onto", "id", NULL, false, not_told, NULL);
	run_until(repo, "reading");
	repo_reopen(repo, &options);
	repo_untrap(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "ls .git/index.lock; git rev-parse main"),
	    repo_sh(repo, "echo .git/index.lock; git rev-parse onto"));
	repo_sh(repo, ">\"$B/go\"");
	run_until(repo, "read");
	ck_assert_str_eq(repo_sh(repo, "ls .git/index.lock d/new.txt"),
	    ".git/index.lock\nd/new.txt");
	ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, SHOW), BEFORE);
}

/* A rebase has read where the branch is, and finds the index locked. What
 * landed now would be gone when it is aborted. */
TEST(a_rebase_that_begins_while_files_move_holds_the_landing)
{
	cleanup_repo struct repo *repo = ready(false);

	stand_in_git(repo, "*read-tree*",
	    "[ $N -gt 1 ] || { mkdir \"$R/.git/rebase-merge\"; "
	    "echo refs/heads/main >\"$R/.git/rebase-merge/head-name\"; }");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_BUSY);
	ck_assert_msg(strstr(repo->text, "a rebase of the branch") != NULL,
	    "%s", repo->text);
	repo_untrap(repo);
	ck_assert_str_eq(repo_sh(repo, SHOW), BEFORE);
	repo_sh(repo, "rm -r .git/rebase-merge");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
}

/* The same of a branch that is not checked out. */
TEST(a_branch_whose_rebase_begins_meanwhile_goes_back)
{
	cleanup_repo struct repo *repo = ready(true);

	repo_sh(repo,
	    "git checkout -q --detach; printf '#!/bin/sh\n"
	    "[ $1 = prepared ] && [ ! -e \"$B/once\" ] || exit 0\n"
	    ">\"$B/once\"; unset GIT_DIR; cd \"$R/.git\"; "
	    "mkdir rebase-merge; "
	    "echo refs/heads/main >rebase-merge/head-name; "
	    "git rev-parse main >rebase-merge/orig-head\n' "
	    ">.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_BUSY);
	ck_assert_msg(strstr(repo->text, "a rebase of the branch") != NULL,
	    "%s", repo->text);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse main"),
	    repo_sh(repo, "git rev-parse onto"));
	repo_sh(repo, "rm -r .git/rebase-merge");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
}

/* Stopped while it holds the locks, or just behind the move. */
TEST(a_landing_that_is_cut_off_leaves_no_lock_for_nothing)
{
	static const struct {
		const char *does, *shown;
	} rows[] = {
		{ ">\"$B/there\"; exec cat >\"$B/orders\"", BEFORE },
		{ "git \"$@\"; >\"$B/there\"; exec sleep 1", LANDED },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_repo struct repo *repo = ready(false);
		struct git_options options = { .root = repo->root };

		stand_in_git(repo, "*--stdin*", rows[i].does);
		git_land(repo->git, "main", "onto", "id", NULL, false, not_told,
		    NULL);
		run_until(repo, "there");
		repo_reopen(repo, &options);
		repo_untrap(repo);
		ck_assert_str_eq(repo_sh(repo, SHOW), rows[i].shown);
		ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
		ck_assert_str_eq(repo_sh(repo, SHOW), rows[i].shown);
	}
}

/* Its helper is killed each time, before the files move, in the middle, and
 * behind the move. */
TEST(a_landing_that_is_always_killed_waits_for_the_next)
{
	static const struct {
		const char *pattern, *does, *left;
	} rows[] = {
		{ "*--stdin*", "kill -KILL $PPID; exit", "second" },
		{ "*read-tree*", "kill -KILL $PPID; exit",
		    ".git/index.lock\nsecond" },
		{ "*",
		    "case $* in *--stdin*) git \"$@\"; >\"$B/moved\";; esac\n"
		    "[ ! -e \"$B/moved\" ] || { kill -KILL $PPID; exit; }",
		    "w1" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_repo struct repo *repo = ready(false);

		stand_in_git(repo, rows[i].pattern, rows[i].does);
		ck_assert_int_eq(
		    repo_land(repo, "onto", "id", false), GIT_LAND_HELD);
		ck_assert_msg(
		    strstr(repo->text, "helper") != NULL, "%s", repo->text);
		repo_untrap(repo);
		ck_assert_str_eq(repo_sh(repo,
				     "find .git -name '*.lock'; "
				     "git log --format=%s -1 main"),
		    rows[i].left);
		ck_assert_int_eq(
		    repo_land(repo, "onto", "id", false), GIT_LANDED);
		ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
	}
}

/* A user who writes the index in the middle would have the files of the one
 * commit in the index of the other. */
TEST(a_landing_that_fails_keeps_the_index_locked_until_it_is_undone)
{
	cleanup_repo struct repo *repo = ready(false);

	/* The gits behind the one that fails, + for those under the lock. */
	stand_in_git(repo, "*",
	    "for v in $*; do case $v in diff|[a-z]*-[a-z]*|status) break;; "
	    "esac; done\n"
	    "[ -e \"$R/.git/index.lock\" ] && v=$v+\n"
	    "echo $v >>\"$B/log\"\n"
	    "[ \"$v\" != read-tree+ ] || [ -e \"$B/failed\" ] || "
	    "{ >\"$B/failed\"; >\"$B/log\"; git \"$@\"; exit 128; }");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	repo_untrap(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "grep -v '+$' \"$B/log\""), "merge-base");
	ck_assert_str_eq(repo_sh(repo, "head -1 \"$B/log\""), "diff-tree+");
	ck_assert_str_eq(repo_sh(repo, SHOW), BEFORE);
}

/* Its git waits for a hook that does not end. */
TEST(a_git_of_a_killed_landing_is_ended)
{
	cleanup_repo struct repo *repo = ready(true);
	struct git_options options = { .root = repo->root, .run_hooks = true };
	pid_t pid;

	repo_sh(repo,
	    "printf '#!/bin/sh\\n[ $1 != prepared ] || { >\"$B/hangs\"; "
	    "exec sleep 50; }\\n' >.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		repo->loop = loop_new();
		repo->git = git_new(repo->loop, &options);
		repo_land(repo, "onto", "id", false);
		_exit(0);
	}
	run_until(repo, "hangs");
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	repo_sh(repo, "rm .git/hooks/reference-transaction");
	ck_assert_msg(repo_land(repo, "onto", "id", false) == GIT_LANDED,
	    "%s %s", repo->text, repo->msg);
	ck_assert_str_eq(repo_sh(repo, SHOW), LANDED);
}

/* A git that is killed while it writes, or for which the disk is full. big.txt
 * is longer than one piece of it. */
static struct repo *
with_big_file(void)
{
	struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "seq 30000 >big.txt; git add .; git commit -qm second; "
	    "git tag onto; git checkout -q --detach; seq 5 40000 >big.txt; "
	    "echo two >>a.txt; seq 9000 >n.txt; git add .; git commit -qm w1; "
	    "git tag id; git checkout -q main");
	return repo;
}

/* The file as the git left it that wrote the landing's version. */
static const char *const partial_files[] = {
	"head -c 70000 big.txt >\"$B/x\"; cat \"$B/x\" >big.txt",
	": >big.txt",
	"rm big.txt",
	"head -c 100 n.txt >\"$B/x\"; cat \"$B/x\" >n.txt",
	"rm n.txt",
};

TEST_ROWS(a_file_that_a_git_was_writing_is_written_again, nitems(partial_files))
{
	cleanup_repo struct repo *repo = with_big_file();
	cleanup_free char *does = xasprintf(
	    "[ $N -gt 1 ] || { git \"$@\"; cd \"$R\"; %s; kill -KILL $$; }",
	    partial_files[_i]);

	stand_in_git(repo, "*read-tree*", does);
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	repo_untrap(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "git status --short; ls"), "a.txt\nbig.txt");
	ck_assert_msg(repo_land(repo, "onto", "id", false) == GIT_LANDED,
	    "%s %s", repo->text, repo->msg);
}

/* A shorter file with other words in it is the user's. */
TEST(a_file_that_the_user_has_cut_and_changed_stays)
{
	cleanup_repo struct repo *repo = with_big_file();

	stand_in_git(repo, "*read-tree*",
	    "[ $N -gt 1 ] || { git \"$@\"; cd \"$R\"; "
	    "seq 5 400 >big.txt; echo mine >>big.txt; kill -KILL $$; }");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	repo_untrap(repo);
	ck_assert_str_eq(repo_sh(repo, "git status --short; tail -1 big.txt"),
	    " M big.txt\nmine");
}

/* The landing locks the branch, and is killed before it moves a file. */
TEST(a_users_file_with_the_landed_content_stays)
{
	cleanup_repo struct repo *repo = ready(false);
	struct git_options options = { .root = repo->root };

	repo_sh(repo, "mkdir d; echo new >d/new.txt; echo two >>a.txt");
	stand_in_git(repo, "*--stdin*",
	    ">\"$B/holding\"; while [ ! -e \"$B/go\" ]; do sleep 0.05; done");
	git_land(repo->git, "main", "onto", "id", NULL, true, not_told, NULL);
	run_until(repo, "holding");
	repo_reopen(repo, &options);
	repo_sh(repo, ">\"$B/go\"");
	repo_untrap(repo);
	ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, SHOW),
	    "one\ntwo\nd/new.txt\nold.txt\n M a.txt\n?? d/\nsecond");
}

static int *syncs; /* of the helper, too */

/* In the place of libc's: how often the claim is put on disk. */
int
fdatasync(int fd)
{
	char link[64], path[4096] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) > 0 &&
	    strstr(path, "/llmc-landing") != NULL && syncs != NULL)
		++*syncs;
	return fsync(fd);
}

TEST(the_claim_is_on_disk_before_a_file_moves)
{
	cleanup_repo struct repo *repo = ready(false);

	syncs = mmap(NULL, sizeof *syncs, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(syncs, MAP_FAILED);
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_int_eq(*syncs, 1);
}

/* The landing is cut off with its files moved. */
static void
cut_off(struct repo *repo)
{
	struct git_options options = { .root = repo->root };

	stand_in_git(repo, "*read-tree*",
	    "git \"$@\"; >\"$B/read\"; "
	    "exec sleep 1");
	git_land(repo->git, "main", "onto", "id", NULL, true, not_told, NULL);
	run_until(repo, "read");
	repo_reopen(repo, &options);
	repo_untrap(repo);
}

/* A user has removed the lock that was left, and staged something. */
TEST(what_the_user_has_staged_since_stays_and_the_rest_is_settled)
{
	static const struct {
		const char *does, *shown;
	} rows[] = {
		{ "echo mine >a.txt; git add a.txt; echo more >>a.txt",
		    "mine\nmore\nold.txt\nMM a.txt\nsecond" },
		{ "git rm -q --cached a.txt; echo own >a.txt",
		    "own\nold.txt\nD  a.txt\n?? a.txt\nsecond" },
		{ "for i in 1 2 3; do printf '100644 %s %d\\tu\\n' "
		  "$(echo $i | git hash-object -w --stdin) $i; done | "
		  "git update-index --index-info; echo u >u",
		    "one\nold.txt\nUU u\nsecond" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_repo struct repo *repo = ready(false);

		cut_off(repo);
		repo_sh(repo, "rm .git/index.lock");
		repo_sh(repo, rows[i].does);
		ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
		ck_assert_str_eq(repo_sh(repo, SHOW), rows[i].shown);
	}
}

/* The disk is full, say. */
TEST(what_cannot_be_settled_now_is_settled_later)
{
	cleanup_repo struct repo *repo = ready(false);

	cut_off(repo);
	stand_in_git(repo, "*read-tree*", "echo full >&2; exit 128");
	ck_assert_int_eq(repo_settle(repo), -EIO);
	ck_assert_ptr_nonnull(strstr(repo->msg, "full"));
	repo_untrap(repo);
	ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo, SHOW), BEFORE);
}
