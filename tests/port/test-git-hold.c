/* SPDX-License-Identifier: ISC */

/*
 * A branch that is held for a move: when it counts as held, when as moved, and
 * that no hook of the user's holds it for long.
 */

#include "repo.h"
#include "git-private.h"

#define SCALE 5

struct held {
	struct repo *repo;
	struct git_hold *hold;
};

/* The branch shall move from its commit to the next one. */
static void
start(struct held *held, const char *setup)
{
	struct git_hold_spec spec = { .branch = "main", .reason = "test" };
	struct err err = { 0 };
	int r;

	memset(held, 0, sizeof *held);
	held->repo = repo_new(true);
	repo_sh(held->repo,
	    "git tag onto; git checkout -q --detach; echo two >>a.txt; "
	    "git commit -qam w1; git tag id; git checkout -q main");
	repo_trap(held->repo, 0, "");
	repo_sh(held->repo, setup);
	spec.dir = held->repo->root;
	spec.old_id = repo_sh(held->repo, "git rev-parse onto");
	spec.new_id = repo_sh(held->repo, "git rev-parse id");
	r = git_hold_new(held->repo->git, &spec, &held->hold, &err);
	ck_assert_msg(r == 0, "%s", err.msg);
}

static void
finish(struct held *held)
{
	git_hold_free(held->hold);
	repo_free(held->repo);
}

static const char *
tip(struct held *held)
{
	return repo_sh(held->repo, "git log -1 --format=%s main");
}

/* A hook that does that in one of its states. */
#define HOOK(state, does)                                          \
	"printf '#!/bin/sh\\n[ $1 != " state " ] || " does "\\n' " \
	">.git/hooks/reference-transaction; "                      \
	"chmod +x .git/hooks/reference-transaction"

/* A git of which only update-ref is none. */
#define STAND_IN                                            \
	"cat >\"$B/trap/git\" <<'E'\n#!/bin/sh\n"           \
	"case \"$*\" in *--stdin) read a; read b; read c; " \
	"echo start: ok; echo prepare: ok; exit 0;; esac\n" \
	"PATH=$TRAP_PATH; exec git \"$@\"\nE\n"

void
unit_begin(void)
{
	unit_hurry(SCALE);
}

TEST(a_held_branch_moves_or_stays)
{
	struct held held;

	start(&held, "");
	ck_assert(git_hold_prepare(held.hold));
	ck_assert_str_eq(
	    repo_sh(held.repo, "ls .git/HEAD.lock"), ".git/HEAD.lock");
	ck_assert(git_hold_commit(held.hold));
	ck_assert_str_eq(tip(&held), "w1");
	finish(&held);

	start(&held, "");
	ck_assert(git_hold_prepare(held.hold));
	git_hold_abort(held.hold);
	ck_assert_str_eq(tip(&held), "first");
	finish(&held);
}

TEST(a_branch_that_has_moved_is_not_held)
{
	struct held held;

	start(&held, "git commit -q --allow-empty -m meanwhile");
	ck_assert(!git_hold_prepare(held.hold));
	ck_assert_str_eq(tip(&held), "meanwhile");
	finish(&held);
}

/* The word comes when git has been told to let go. */
TEST(a_late_word_does_not_count)
{
	struct held held;

	start(&held, HOOK("prepared", "sleep 2.2"));
	ck_assert(!git_hold_prepare(held.hold));
	ck_assert_ptr_nonnull(
	    strstr(git_hold_complaint(held.hold), "within 10 s"));
	ck_assert_str_eq(tip(&held), "first");
	finish(&held);
}

/* It exits with 0 and has moved nothing. */
TEST(only_its_word_says_that_the_branch_has_moved)
{
	struct held held;

	start(&held, STAND_IN);
	ck_assert(git_hold_prepare(held.hold));
	ck_assert(!git_hold_commit(held.hold));
	ck_assert_str_ne(git_hold_complaint(held.hold), "");
	finish(&held);
}

/* After the move, and after it was given up. */
TEST(a_hook_that_does_not_end_is_ended)
{
	struct held held;

	start(&held, HOOK("committed", "sleep 40"));
	ck_assert(git_hold_prepare(held.hold));
	git_hold_commit(held.hold);
	ck_assert_str_eq(tip(&held), "w1");
	finish(&held);

	start(&held, HOOK("aborted", "sleep 40"));
	ck_assert(git_hold_prepare(held.hold));
	git_hold_abort(held.hold);
	ck_assert_str_eq(tip(&held), "first");
	finish(&held);
}
