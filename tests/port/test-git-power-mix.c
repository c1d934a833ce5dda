/* SPDX-License-Identifier: ISC */

/*
 * The power fails during a landing. What was written since the last sync is on
 * disk or not, each piece by itself: a sample of the combinations is made
 * (UNIT_WHOLE: every one), and the next landing must find the repository whole
 * and end as if nothing had happened.
 *
 * A stand-in for sync(1) keeps a copy of the repository as it is at each sync.
 */

#include "repo.h"

/* What a landing writes between its two syncs, from the later copy. */
static const char *const pieces[] = {
	/* git syncs the branch itself, after the first sync of ours. */
	"cp -p \"$F/.git/refs/heads/main\" .git/refs/heads/main",
	"cp -p \"$F/.git/index\" .git/index",
	"cp -p \"$F/a.txt\" a.txt",
	"mkdir d; cp -p \"$F/d/new.txt\" d/new.txt",
	"rm old.txt",
	"echo llmc landing 1 >.git/index.lock",
	/* Of a file only a part, or not even its name. */
	"head -c 2 a.txt >\"$B/part\"; cat \"$B/part\" >a.txt",
	"rm a.txt",
};

#define SYNC                                                              \
	"mkdir -p \"$B/trap\"; cat >\"$B/trap/sync\" <<'E'\n"             \
	"#!/bin/sh\n"                                                     \
	"n=1; [ ! -e \"$B/copy1\" ] || n=2; cp -a \"$R\" \"$B/copy$n\"\n" \
	"E\n"                                                             \
	"chmod +x \"$B/trap/sync\""

#define SHOW                                                     \
	"cat a.txt; ls d/new.txt old.txt 2>/dev/null; "          \
	"git status --short; find .git -name '*.lock' -o -name " \
	"'llmc*index'; git log --format=%s main"

#define SAMPLE 16 /* of the 256 combinations */

static unsigned
odd(unsigned bits)
{
	return (unsigned)__builtin_parity(bits);
}

/* The n-th combination. In the sample any three pieces are seen in all their
 * eight combinations. */
static unsigned
combination(unsigned n)
{
	if (getenv("UNIT_WHOLE") != NULL)
		return n;
	return n | odd(n & 7) << 4 | odd(n & 11) << 5 | odd(n & 13) << 6 |
	    odd(n & 14) << 7;
}

static void
restore(struct repo *repo, unsigned mask)
{
	cleanup_buf struct buf text = BUF_INIT;

	/* The claim is on disk before the first file moves. */
	buf_adds(&text,
	    "F=\"$B/copy2\"; cd \"$B\"; rm -rf \"$R\"; "
	    "cp -a copy1 \"$R\"; cd \"$R\"; "
	    "cp -p \"$F/.git/llmc-landing\" .git/llmc-landing; ");
	for (size_t i = 0; i < nitems(pieces); i++)
		if ((mask & 1u << i) != 0)
			buf_addf(&text, "%s; ", pieces[i]);
	repo_sh(repo, text.data);
}

/* A repository with the two copies of a landing. */
static struct repo *
recorded(void)
{
	struct repo *repo = repo_new(false);

	repo_sh(repo,
	    "echo old >old.txt; git add .; git commit -qm second; "
	    "git tag onto");
	ck_assert_msg(repo_add(repo) == 0, "%s", repo->msg);
	repo_wt(repo,
	    "echo two >>a.txt; mkdir d; echo new >d/new.txt; "
	    "git rm -q old.txt; git add .; git commit -qm w1; git tag id");
	repo_sh(repo, SYNC);
	repo_trap(repo, 0, "");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	repo_untrap(repo);
	return repo;
}

START_TEST(whatever_is_on_disk_the_next_landing_is_right)
{
	cleanup_repo struct repo *repo = recorded();

	/* Four combinations in one repository. */
	for (unsigned i = 0; i < 4; i++) {
		unsigned mask = combination((unsigned)_i * 4 + i);

		restore(repo, mask);
		repo_sh(repo, "git fsck --connectivity-only 2>&1");
		ck_assert_msg(
		    repo_land(repo, "onto", "id", false) == GIT_LANDED,
		    "%u: %s %s", mask, repo->text, repo->msg);
		ck_assert_str_eq(repo_sh(repo, SHOW),
		    "one\ntwo\nd/new.txt\nw1\nsecond\nfirst");
	}
}
END_TEST

/* All but the branch, and all with it. */
START_TEST(what_the_user_has_edited_since_stays)
{
	cleanup_repo struct repo *repo = recorded();
	unsigned all = 0x3f; /* but for the damage */

	restore(repo, all & ~1u);
	repo_sh(repo, "echo mine >>a.txt");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LAND_DIRTY);
	ck_assert_ptr_nonnull(strstr(repo->text, "a.txt"));
	ck_assert_str_eq(repo_sh(repo, SHOW),
	    "one\ntwo\nmine\nold.txt\n M a.txt\nsecond\nfirst");
	restore(repo, all);
	repo_sh(repo, "echo mine >>a.txt; rm d/new.txt");
	ck_assert_int_eq(repo_land(repo, "onto", "id", false), GIT_LANDED);
	ck_assert_str_eq(repo_sh(repo, SHOW),
	    "one\ntwo\nmine\nd/new.txt\n M a.txt\nw1\nsecond\nfirst");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("git-power-mix");
	TCase *power = tcase_create("power");
	int all = getenv("UNIT_WHOLE") != NULL ? 1 << nitems(pieces) : SAMPLE;

	unit_set_timeout(power, 60);
	tcase_add_loop_test(
	    power, whatever_is_on_disk_the_next_landing_is_right, 0, all / 4);
	tcase_add_test(power, what_the_user_has_edited_since_stays);
	suite_add_tcase(s, power);
	return s;
}
