/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "acceptance.h"

#define SEEN  "abc1234000000000000000000000000000000000"
#define OTHER "def5678000000000000000000000000000000000"

static const char *const names[] = { "a", "b\n", "c", "d", "e", "f", "g" };

/* Everything is as it was seen. */
static struct inspection
same(void)
{
	return (struct inspection){
		.worker = "adam",
		.worktree = "/w",
		.seen = SEEN,
		.reviewed = true,
		.branch = "llmc/adam",
		.clean = true,
		.head = SEEN,
		.checked_out = "llmc/adam",
	};
}

static void
assert_sentence(const struct inspection *in, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert(!inspection_holds(in));
	inspection_sentence(in, &text);
	ck_assert_str_eq(text.data, want);
}

TEST(ids_are_hexadecimal)
{
	static const char *const bad[] = { "", "abc123", "ABC1234", "--abcdef",
		"HEAD~1..", "abc1234 ", SEEN SEEN };

	ck_assert(inspection_is_id("abc1234"));
	ck_assert(inspection_is_id(SEEN));
	for (size_t i = 0; i < nitems(bad); i++)
		ck_assert_msg(!inspection_is_id(bad[i]), "%s", bad[i]);
}

TEST(what_was_seen_holds)
{
	struct inspection in = same();

	ck_assert(inspection_holds(&in));
	in.seen = "abc1234"; /* shortened */
	ck_assert(inspection_holds(&in));
	/* What nobody asks about does not count. */
	in.clean = false;
	in.dirty = 2;
	in.branch = NULL;
	in.checked_out = "";
	in.rebasing = true;
	ck_assert(inspection_holds(&in));
}

TEST(a_head_that_moved)
{
	struct inspection in = same();

	in.head = OTHER;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: HEAD was abc1234, now "
	    "def5678; review it again with: llmc review adam");
	in.known = true;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: HEAD was abc1234, now "
	    "def5678 (no new commit); review it again with: llmc review adam");
	in.commits = 2;
	in.files = names;
	in.file_count = 1;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: HEAD was abc1234, now "
	    "def5678 (2 commits, 1 file: a); review it again with: llmc review "
	    "adam");
	in.commits = 1;
	in.file_count = nitems(names);
	in.reviewed = false;
	assert_sentence(&in,
	    "the work of adam is not exactly commit abc1234: HEAD was abc1234, "
	    "now def5678 (1 commit, 7 files: a, b\\x0a, c, d, e and 2 more); "
	    "review it again with: llmc review adam");
	in.known = false;
	in.head = "";
	assert_sentence(&in,
	    "the work of adam is not exactly commit abc1234: HEAD was abc1234, "
	    "now there is no commit; review it again with: llmc review adam");
}

TEST(uncommitted_changes)
{
	struct inspection in = same();

	in.dirty = 3;
	in.uncommitted = names + 2;
	in.uncommitted_count = 3;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: there are uncommitted "
	    "changes in 3 files: c, d, e; review it again with: llmc review "
	    "adam");
	in.dirty = 0; /* gone by the time the names were read */
	ck_assert(inspection_holds(&in));
}

TEST(another_branch)
{
	struct inspection in = same();

	in.checked_out = "mine";
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: mine is checked out, "
	    "instead of llmc/adam in /w; check out llmc/adam there, then "
	    "review it again with: llmc review adam");
	in.checked_out = "";
	in.head = OTHER;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: no branch is checked "
	    "out, instead of llmc/adam in /w; HEAD was abc1234, now def5678; "
	    "check out llmc/adam there, then review it again with: llmc review "
	    "adam");
	in.head = SEEN;
	in.rebasing = true;
	assert_sentence(&in,
	    "the work of adam is not what you reviewed: a rebase is in "
	    "progress in /w; finish or abort the rebase, then review it again "
	    "with: llmc review adam");
}
