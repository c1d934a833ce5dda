/* SPDX-License-Identifier: ISC */

/*
 * A landing whose process is killed before and after its own changes to the git
 * directory, and before and after the gits it runs: the next landing ends as if
 * nothing had happened. Every fourth of these points is tried in each test, a
 * different fourth in each (UNIT_WHOLE: every one). And what else moves a
 * branch: submodules, hooks, batches.
 */

#include <dlfcn.h>
#include <sys/mman.h>

#include "repo.h"

#define POINTS_MAX 60
#define STRIDE     4

/* A daemon that dies at the n-th call of these, before it or behind it, its own
 * or its helper's; 0 = never. */
static int die_at, *die_count;
static bool die_behind;
static pid_t daemon_pid;

static void
die(bool behind)
{
	if (die_at > 0 && behind == die_behind && *die_count == die_at) {
		kill(daemon_pid, SIGKILL);
		raise(SIGKILL);
	}
}

static void *
next_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (symbol == NULL)
		abort();
	return symbol;
}

/* In the place of libc's: the program's own come first. */
#define IN_PLACE_OF(name, parameters, arguments)      \
	int name parameters                           \
	{                                             \
		int(*real) parameters;                \
		int r;                                \
                                                      \
		*(void **)&real = next_symbol(#name); \
		if (die_count != NULL)                \
			++*die_count;                 \
		die(false);                           \
		r = real arguments;                   \
		die(true);                            \
		return r;                             \
	}
IN_PLACE_OF(link, (const char *from, const char *to), (from, to))
IN_PLACE_OF(rename, (const char *from, const char *to), (from, to))
IN_PLACE_OF(unlink, (const char *path), (path))

#define SETUP                                                                  \
	"echo old >old.txt; echo z >z.txt; git add .; git commit -qm second; " \
	"git tag onto"
/* a.txt changed, d/new.txt added, old.txt removed; and another one. */
#define WORK                                                                   \
	"echo two >>a.txt; mkdir d; echo new >d/new.txt; git rm -q old.txt; "  \
	"git add .; git commit -qm w1; git tag id; git reset -q --hard onto; " \
	"echo other >z.txt; git commit -qam w2; git tag id2"
#define SHOW                                                              \
	"cat a.txt z.txt mine; ls d/new.txt old.txt 2>/dev/null; "        \
	"git status --short; find .git -name '*.lock' -o -name '*.llmc' " \
	"-o -name 'llmc*index'; git log --format=%s -2 main"

static struct repo *
ready(bool run_hooks)
{
	struct repo *repo = repo_new(run_hooks);

	repo_sh(repo, SETUP);
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_wt(repo, WORK);
	repo_sh(repo, "echo mine >mine");
	return repo;
}

/* Land in a process of its own, which dies at that point. False if it lived to
 * the end. */
static bool
land_and_die(struct repo *repo, int at, bool behind)
{
	struct git_options options = { .root = repo->root };
	int status;
	pid_t pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		repo->loop = loop_new();
		repo->git = git_new(repo->loop, &options);
		die_count = mmap(NULL, sizeof *die_count,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(die_count, MAP_FAILED);
		die_at = at;
		die_behind = behind;
		daemon_pid = getpid();
		repo_trap_us();
		repo_land(repo, "onto", "id", false);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status);
}

/* Which of the points are tried: the first, and how far to the next. */
static int
first_point(int test)
{
	return getenv("UNIT_WHOLE") != NULL ? 1 : 1 + test % STRIDE;
}

static int
next_point(int at)
{
	return at + (getenv("UNIT_WHOLE") != NULL ? 1 : STRIDE);
}

struct killing {
	const char *where; /* shell before it, "" = the tree is on main */
	const char *landed; /* after the same one, after another one */
	const char *other;
};

static const struct killing killings[] = {
	{ "", "one\ntwo\nz\nmine\nd/new.txt\n?? mine\nw1\nsecond",
	    "one\nother\nmine\nold.txt\n?? mine\nw2\nsecond" },
	{ "git checkout -q --detach",
	    "one\nz\nmine\nold.txt\n?? mine\nw1\nsecond",
	    "one\nz\nmine\nold.txt\n?? mine\nw2\nsecond" },
};

/* The other one lands if the first had not by then. */
static void
land_next(struct repo *repo, const struct killing *k, bool same)
{
	bool first = strcmp(repo_sh(repo, "git rev-parse main"),
			 repo_sh(repo, "git rev-parse id")) == 0;
	enum git_land_result result =
	    repo_land(repo, "onto", same ? "id" : "id2", false);

	if (first && !same) {
		ck_assert_int_eq(result, GIT_LAND_MOVED);
		same = true;
	} else {
		ck_assert_msg(result == GIT_LANDED, "%d %s %s", result,
		    repo->text, repo->msg);
	}
	ck_assert_str_eq(repo_sh(repo, SHOW), same ? k->landed : k->other);
}

/* mode: of the git at which it dies, which lives on for a moment and ends on
 * its own; NULL = at steps of its own, before or behind them. */
static void
kill_at(const struct killing *k, const char *mode, bool behind, int test)
{
	bool died = true, same = false;
	int at;

	for (at = first_point(test); died; at = next_point(at)) {
		cleanup_repo struct repo *repo = ready(false);

		repo_sh(repo, k->where);
		if (mode != NULL)
			repo_trap(repo, at, mode);
		died = land_and_die(repo, mode != NULL ? 0 : at, behind);
		if (mode != NULL)
			repo_untrap(repo);
		land_next(repo, k, same = !same);
		ck_assert_int_lt(at, POINTS_MAX);
	}
	ck_assert_int_gt(at, mode != NULL ? 3 : 4);
}

const int unit_timeout = 120; /* seconds, each */

TEST_ROWS(killed_at_its_own_steps, 4)
{
	kill_at(&killings[_i & 1], NULL, (_i & 2) != 0, _i);
}

/* A daemon that starts has nothing to land yet. */
TEST(what_was_left_is_settled_without_a_landing)
{
	cleanup_repo struct repo *repo = ready(false);
	const char *before = repo_sh(repo, SHOW);
	bool died = true;

	for (int at = 1; died; at++) {
		died = land_and_die(repo, at, true);
		ck_assert_msg(repo_settle(repo) == 0, "%s", repo->msg);
		if (strcmp(repo_sh(repo, SHOW), killings[0].landed) == 0)
			repo_sh(repo, "git reset -q --hard onto");
		ck_assert_str_eq(repo_sh(repo, SHOW), before);
	}
	repo_trap(repo, 0, "");
	ck_assert_int_eq(repo_settle(repo), 0);
	ck_assert_int_eq(repo_trap_count(repo), 0);
}

/* Between our look at the tree and the lock on HEAD. */
TEST(a_user_who_leaves_the_branch_first_keeps_the_files)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_sh(repo, "git branch side");
	repo_meanwhile(
	    repo, "*--stdin*", "git symbolic-ref HEAD refs/heads/side");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	repo_untrap(repo);
	ck_assert_str_eq(repo_sh(repo, SHOW), killings[1].landed);
}

/* A git that had read HEAD before the branch moved, and writes it then. */
TEST(a_user_who_leaves_the_branch_last_keeps_the_files)
{
	cleanup_repo struct repo *repo = ready(true);

	repo_sh(repo,
	    "git branch side; printf '#!/bin/sh\\n"
	    "[ $1 = committed ] && [ ! -e \"$B/once\" ] || exit 0\\n"
	    ">\"$B/once\"; unset GIT_DIR GIT_WORK_TREE; cd \"$R\"; "
	    "git symbolic-ref HEAD refs/heads/side\\n' "
	    ">.git/hooks/reference-transaction; "
	    "chmod +x .git/hooks/reference-transaction");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo, SHOW), killings[1].landed);
}

TEST_ROWS(killed_at_its_gits, 4)
{
	kill_at(&killings[_i & 1],
	    (_i & 2) != 0 ? "orphan-before" : "orphan-after", false, _i);
}

/* Git itself is killed, and we live. */
TEST(a_git_that_is_killed_is_settled)
{
	static const char *const modes[] = { "before", "after" };

	for (size_t m = 0; m < nitems(modes); m++) {
		int calls = POINTS_MAX;

		for (int at = first_point((int)m * 2); at <= calls;
		     at = next_point(at)) {
			cleanup_repo struct repo *repo = ready(false);

			repo_trap(repo, at, modes[m]);
			repo_land(repo, "onto", "id", false);
			calls = repo_trap_count(repo);
			repo_untrap(repo);
			land_next(repo, &killings[0], false);
		}
	}
}

TEST(four_gits_are_enough)
{
	cleanup_repo struct repo *repo = ready(false);
	cleanup_free char *onto = xstrdup(repo_sh(repo, "git rev-parse onto"));
	const char *id = repo_sh(repo, "git rev-parse id");

	repo_trap(repo, 0, "");
	ck_assert_int_eq(repo_land(repo, onto, id, false), GIT_LANDED);
	ck_assert_int_eq(repo_trap_count(repo), 4);
}

TEST(many_commits_move_at_once)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_wt(repo,
	    "git reset -q --hard id; for i in 1 2 3; do echo $i >n$i; "
	    "git add .; git commit -qm n$i; done; git rm -q n2; "
	    "git commit -qm gone; git tag -f id >/dev/null");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo, "ls; git status --short"),
	    "a.txt\nd\nmine\nn1\nn3\nz.txt\n?? mine");
}

/* --- on disk ----------------------------------------------------------- */

/* A sync(1) that says what the branch was at, and fails at that call. */
static void
stand_in_sync(struct repo *repo, const char *fails)
{
	cleanup_free char *text =
	    xasprintf("mkdir -p \"$B/trap\"; cat >\"$B/trap/sync\" <<'E'\n"
		      "#!/bin/sh\n"
		      "echo \"$1 $(git -C \"$R\" log -1 --format=%%s main)\" "
		      ">>\"$B/synced\"\n"
		      "[ $(wc -l <\"$B/synced\") -ne %s ]\nE\n"
		      "chmod +x \"$B/trap/sync\"",
		fails);

	repo_sh(repo, text);
	repo_trap(repo, 0, "");
}

TEST(objects_are_on_disk_before_the_branch_and_it_before_the_word)
{
	cleanup_repo struct repo *repo = ready(false);

	stand_in_sync(repo, "0");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	repo_untrap(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "cat \"$B/synced\""), "-f second\n-- w1");
}

TEST(what_is_not_on_disk_has_not_landed)
{
	cleanup_repo struct repo *repo = ready(false);

	stand_in_sync(repo, "1");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	ck_assert_str_eq(
	    repo_sh(repo, "git log -1 --format=%s main"), "second");
	land_next(repo, &killings[0], true);
}

/* That the branch has moved is true, whatever the disk says. */
TEST(what_has_landed_is_told_even_if_the_disk_fails_then)
{
	static const char *const fails[] = { "2",
		"2 ] && [ $(wc -l "
		"<\"$B/synced\") -ne 3" };

	for (size_t i = 0; i < nitems(fails); i++) {
		cleanup_repo struct repo *repo = ready(false);

		stand_in_sync(repo, fails[i]);
		ck_assert_msg(
		    repo_land(repo, "onto", "id", false) == GIT_LANDED, "%s",
		    repo->msg);
		ck_assert_str_eq(repo_sh(repo, "cat \"$B/synced\""),
		    "-f second\n-- w1\n-f w1");
		ck_assert_str_eq(
		    repo_sh(repo, "[ -s .git/llmc-landing ]; echo $?"),
		    i == 1 ? "0" : "1");
		repo_untrap(repo);
		land_next(repo, &killings[0], true);
		ck_assert_str_eq(
		    repo_sh(repo, "[ -s .git/llmc-landing ]; echo $?"), "1");
	}
}

/* A user who leaves the branch takes the new files away. */
TEST(what_is_gone_by_then_need_not_be_on_disk)
{
	cleanup_repo struct repo *repo = ready(false);

	repo_use_disk();
	stand_in_sync(repo, "0");
	repo_sh(repo,
	    "echo '[ \"$1\" = -f ] || rm -f \"$R/d/new.txt\"; "
	    "PATH=$TRAP_PATH; exec sync \"$@\"' >>\"$B/trap/sync\"");
	ck_assert_msg(repo_land(repo, "onto", "id", false) == GIT_LANDED, "%s",
	    repo->msg);
	repo_untrap(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "cut -d' ' -f1 \"$B/synced\""), "-f\n--\n--");
}

/* --- hooks ------------------------------------------------------------ */

#define REFUSE                                                             \
	"printf '#!/bin/sh\\necho never >&2; [ $1 != prepared ]\\n' >%s; " \
	"chmod +x %s; "

static void
refuse_from(struct repo *repo, const char *file, const char *more)
{
	cleanup_free char *text = xasprintf(
	    "mkdir -p \"$(dirname %s)\"; " REFUSE "%s", file, file, file, more);

	repo_sh(repo, text);
}

TEST(a_hook_that_refuses_leaves_nothing_half_done)
{
	cleanup_repo struct repo *repo = ready(true);
	const char *before = repo_sh(repo, SHOW "; cksum .git/index");

	refuse_from(repo, ".git/hooks/reference-transaction", "");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_FAILED);
	ck_assert_ptr_nonnull(strstr(repo->msg, "hook"));
	ck_assert_str_eq(repo_sh(repo, SHOW "; cksum .git/index"), before);
	repo_sh(repo, "rm .git/hooks/reference-transaction");
	land_next(repo, &killings[0], true);
}

/* A worker could have written it. */
TEST(a_hook_inside_the_tree_never_runs)
{
	static const struct {
		const char *file, *more;
	} hooks[] = {
		{ ".hooks/reference-transaction",
		    "git config core.hooksPath .hooks" },
		{ ".hooks/reference-transaction",
		    "rm -r .git/hooks; ln -s ../.hooks .git/hooks" },
		{ ".hooks/reference-transaction",
		    "ln -s ../../.hooks/reference-transaction .git/hooks/" },
		{ ".hooks/post-index-change",
		    "git config core.hooksPath .hooks" },
	};

	for (size_t i = 0; i < nitems(hooks); i++) {
		cleanup_repo struct repo *repo = ready(true);

		refuse_from(repo, hooks[i].file, hooks[i].more);
		ck_assert_msg(
		    repo_land(repo, "onto", "id", false) == GIT_LANDED,
		    "%zu: %s", i, repo->msg);
	}
}

/* --- submodules ------------------------------------------------------- */

/* sub is at its first commit in onto, at its second in id. */
static struct repo *
with_submodule(void)
{
	struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "git config --global protocol.file.allow always; "
	    "git init -q -b main \"$B/lib\"; cd \"$B/lib\"; echo 1 >l; "
	    "git add l; git commit -qm l1; cd \"$R\"; "
	    "git submodule --quiet add \"$B/lib\" sub; git commit -qm sub; "
	    "git tag onto; cd \"$B/lib\"; echo 2 >l; git commit -qam l2; "
	    "cd \"$R/sub\"; git fetch -q; n=$(git rev-parse origin/main); "
	    "git checkout -q --detach; cd ..; git worktree add -q --detach "
	    "\"$B/x\"; cd \"$B/x\"; git update-index --cacheinfo "
	    "160000,$n,sub; git commit -qm bump; git tag id; "
	    "echo 3 >>a.txt; git commit -qam next; git tag next");
	return repo;
}

TEST(a_landed_submodule_goes_along)
{
	cleanup_repo struct repo *repo = with_submodule();

	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo, "git status --short; cat sub/l"), "2");
}

TEST(a_submodule_with_a_life_of_its_own_stays_and_blocks_nothing)
{
	cleanup_repo struct repo *repo = with_submodule();

	repo_sh(repo,
	    "cd sub; git switch -q -c mine; echo own >l; git commit -qam own; "
	    "echo dirt >>l");
	ck_assert_msg(repo_land(repo, "onto", "id", false) == GIT_LANDED,
	    "%s %s", repo->text, repo->msg);
	ck_assert_msg(repo_land(repo, "id", "next", false) == GIT_LANDED,
	    "%s %s", repo->text, repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo, "cat sub/l; git -C sub branch --show-current"),
	    "own\ndirt\nmine");
}

TEST(a_submodule_that_is_removed_keeps_its_files)
{
	cleanup_repo struct repo *repo = with_submodule();

	repo_sh(repo,
	    "cd \"$B/x\"; git reset -q --hard onto; git rm -q --cached sub; "
	    "git commit -qm gone; git tag -f id >/dev/null; cd \"$R\"; "
	    "cd sub; echo own >l; git commit -qam own");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo,
			     "cat sub/l; git -C sub log -1 --format=%s; "
			     "git ls-files sub"),
	    "own\nown");
}
