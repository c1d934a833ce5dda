/* SPDX-License-Identifier: ISC */

/*
 * Landings beside a user who switches, commits, edits and stashes in the same
 * checkout: nothing that landed is taken back, nothing of it gets into a commit
 * of the user's, and no edit of the user's is lost. RACE_LANDINGS landings
 * (60), RACE_SEED.
 */

#include "repo.h"

#define LANDINGS   60
#define TRIES      200
#define LANDING_MS 5000 /* at most, on average */

/* Whatever fails because of a lock is tried again, as a person does. The user's
 * input ends with us, however that happens, and ends all that the user runs. */
static const char user_text[] =
    "exec 3<&0; (read -r end <&3; kill -KILL 0) &\n"
    "export GIT_AUTHOR_NAME=User\n"
    "s=$RACE_SEED n=0\n"
    "next() { s=$(((s * 1103515245 + 12345) % 2147483648)); "
    "r=$((s / 65536 % $1)); }\n"
    "try() { t=0; while [ $t -lt 40 ]; do t=$((t + 1)); "
    "\"$@\" >>\"$B/user.log\" 2>&1 && return 0; sleep 0.03; done; "
    "echo \"gave up: $*\" >>\"$B/user.log\"; return 1; }\n"
    "edit() { n=$((n + 1)); echo edit-$n. >>\"$1\" && "
    "echo edit-$n. >>\"$B/edits\"; }\n"
    "while [ ! -e \"$B/stop\" ]; do\n"
    "	next 7\n"
    "	case $r in\n"
    "	0) try git switch -q side ;;\n"
    "	1 | 2) try git switch -q main ;;\n"
    "	3 | 4) edit user.txt; try git commit -qam \"user $n\" ;;\n"
    "	5) edit notes.txt; try git stash -q && try git stash pop -q ;;\n"
    "	6) try git switch -q -c t$n; edit user.txt; "
    "try git commit -qam \"tmp $n\"; try git switch -q main ;;\n"
    "	esac\n"
    "done\n"
    "git diff --quiet HEAD || try git commit -qam \"user $n\"\n"
    "try git switch -q main\n";

static void
user_ended(const struct child_result *result, void *arg)
{
	int *ended = arg;

	*ended = child_succeeded(result) ? 1 : -1;
}

static void
look(void *arg)
{
	struct repo *repo = arg;

	loop_stop(repo->loop, 0);
}

static int64_t
number_of(const char *name, int64_t fallback)
{
	const char *text = getenv(name);
	int64_t number;

	return text != NULL && text_parse_int(text, 1, 1000000, &number) ?
	    number :
	    fallback;
}

static int
landing_count(void)
{
	return (int)number_of("RACE_LANDINGS", LANDINGS);
}

static int64_t
deadline_ms(void)
{
	return (int64_t)(LANDINGS + landing_count()) * LANDING_MS;
}

/* A commit with one more file, on top of the branch as it is. */
static const char *
build(struct repo *repo, int i)
{
	cleanup_free char *text = xasprintf(
	    "export GIT_INDEX_FILE=\"$B/build\"; git read-tree main^{tree} && "
	    "b=$(echo landed %d | git hash-object -w --stdin) && "
	    "git update-index --add --cacheinfo 100644,$b,land/%d && "
	    "git tag -f onto main >/dev/null && git tag -f id $(git commit-tree "
	    "-p onto -m 'land %d' $(git write-tree)) >/dev/null",
	    i, i, i);

	return repo_sh(repo, text);
}

static int answers[GIT_LAND_FAILED + 1]; /* of all tries */

static void
land_one(struct repo *repo, int i)
{
	for (int tries = 0; tries < TRIES; tries++) {
		enum git_land_result result;

		build(repo, i);
		result =
		    repo_land(repo, "refs/tags/onto", "refs/tags/id", true);
		ck_assert_msg(result != GIT_LAND_FAILED, "%s", repo->msg);
		answers[result]++;
		if (result == GIT_LANDED)
			return;
	}
	ck_abort_msg("%d did not land: %s", i, repo->text);
}

static void
assert_all_is_there(struct repo *repo, int landings)
{
	cleanup_free char *expected = xasprintf("%d", landings);

	/* The user's commits have nothing of a landing in them. */
	ck_assert_str_eq(repo_sh(repo,
			     "git log --branches --author=User --name-status "
			     "--format=%s -- land"),
	    "");
	ck_assert_str_eq(
	    repo_sh(repo, "git ls-tree --name-only main land/ | wc -l"),
	    expected);
	/* Nor has the tree, which follows the branch it is on. */
	ck_assert_str_eq(repo_sh(repo, "git status --porcelain -- land"), "");
	ck_assert_str_eq(
	    repo_sh(repo, "git symbolic-ref HEAD"), "refs/heads/main");
	ck_assert_str_eq(
	    repo_sh(repo,
		"(git log --branches -p -- user.txt notes.txt; git stash list "
		"-p; cat user.txt notes.txt) >\"$B/all\"; while read -r e; do "
		"grep -q -- \"$e\" \"$B/all\" || echo \"$e\"; done "
		"<\"$B/edits\""),
	    "");
	ck_assert_str_eq(
	    repo_sh(repo, "find .git -name '*.lock' -o -name 'llmc*index*'"),
	    "");
}

static void
report(struct repo *repo)
{
	printf("# %d landings: 0 reverted, 0 strays; the branch had moved %d "
	       "times, was dirty %d, held %d; the user: %s\n",
	    answers[GIT_LANDED], answers[GIT_LAND_MOVED],
	    answers[GIT_LAND_DIRTY] + answers[GIT_LAND_BUSY],
	    answers[GIT_LAND_HELD],
	    repo_sh(repo,
		"echo $(git log --branches --author=User --format=%H | wc -l) "
		"commits, $(wc -l <\"$B/edits\") edits, $(git reflog HEAD | "
		"grep -c checkout:) switches, gave up $(grep -c '^gave up' "
		"\"$B/user.log\") times"));
	fflush(stdout);
}

START_TEST(beside_a_user_nothing_is_lost)
{
	cleanup_repo struct repo *repo = repo_new(false);
	int landings = landing_count(), ended = 0, life[2];
	struct child_spec spec = { .shell = user_text,
		.cwd = repo->root,
		.deadline_ms = deadline_ms() };
	cleanup_free char *seed =
	    xasprintf("%d", (int)number_of("RACE_SEED", 1));
	struct err err = { 0 };

	setenv("RACE_SEED", seed, 1);
	repo_sh(repo,
	    ">user.txt; >notes.txt; >\"$B/edits\"; git add .; "
	    "git commit -qm files; git branch side");
	ck_assert_int_eq(pipe2(life, O_CLOEXEC), 0);
	spec.stdin_fd = life[0];
	ck_assert_msg(
	    child_spawn(repo->loop, &spec, user_ended, &ended, NULL, &err) == 0,
	    "%s", err.msg);
	for (int i = 1; i <= landings; i++)
		land_one(repo, i);
	repo_sh(repo, ">\"$B/stop\"");
	while (ended == 0) {
		struct loop_timer *timer =
		    loop_after(repo->loop, 20, look, repo);

		loop_run(repo->loop);
		loop_timer_free(timer);
	}
	ck_assert_int_eq(ended, 1);
	close(life[0]);
	close(life[1]);
	assert_all_is_there(repo, landings);
	report(repo);
}
END_TEST

/* On a busy machine: it has read HEAD before the branch moves, and writes it
 * four seconds later. */
static const char slow_hook[] =
    "cat >.git/hooks/reference-transaction <<'E'\n"
    "#!/bin/sh\n"
    "[ \"$1\" = prepared ] && grep -q refs/heads/slow || exit 0\n"
    "main=$(git rev-parse main); >\"$B/read\"\n"
    "while [ $(git rev-parse main) = $main ]; do :; done\n"
    "end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do :; done\n"
    "E\n"
    "chmod +x .git/hooks/reference-transaction; >user.txt; git add .; "
    "git commit -qm files; setsid sh -c 'git switch -q -c slow; "
    ">\"$B/there\"' >/dev/null 2>&1 </dev/null & "
    "while [ ! -e \"$B/read\" ]; do sleep 0.01; done";

START_TEST(a_slow_switch_takes_nothing_along)
{
	cleanup_repo struct repo *repo = repo_new(false);

	repo_sh(repo, slow_hook);
	build(repo, 1);
	ck_assert_int_eq(
	    repo_land(repo, "refs/tags/onto", "refs/tags/id", true),
	    GIT_LANDED);
	ck_assert_str_eq(
	    repo_sh(repo,
		"while [ ! -e \"$B/there\" ]; do sleep 0.01; done; "
		"git symbolic-ref --short HEAD; git status --porcelain"),
	    "slow");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-race");
	TCase *race = tcase_create("race");

	unit_set_timeout(race, (double)deadline_ms() / 1000);
	tcase_add_test(race, beside_a_user_nothing_is_lost);
	tcase_add_test(race, a_slow_switch_takes_nothing_along);
	suite_add_tcase(s, race);
	return s;
}
