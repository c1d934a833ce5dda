/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "acceptance.h"

TEST(a_test_is_known_by_its_path)
{
	static const char *const tests[] = { "tests/a.c", "src/test/A.java",
		"test_a.py", "pkg/a_test.go", "ui/a.test.ts", "ui/a.spec.js",
		"x/__tests__/a.js", "spec/a.rb", "src/ATest.java",
		"Tests/x.txt" };
	static const char *const others[] = { "src/a.c", "latest/a.py",
		"contest.go", "attest.ts", "inspect.js", "protest/a",
		"src/aspect.rb", "README" };

	for (size_t i = 0; i < nitems(tests); i++)
		ck_assert_msg(test_guard_is_test(tests[i]), "%s", tests[i]);
	for (size_t i = 0; i < nitems(others); i++)
		ck_assert_msg(!test_guard_is_test(others[i]), "%s", others[i]);
}

#define FILE(path)                                                      \
	"diff --git a/" path " b/" path "\n--- a/" path "\n+++ b/" path \
	"\n@@ -1 +1 @@\n"
#define GONE(path)                                                     \
	"diff --git a/" path " b/" path "\ndeleted file mode 100644\n" \
	"--- a/" path "\n+++ /dev/null\n@@ -1 +0,0 @@\n"

TEST(a_diff_that_weakens_tests_is_pointed_out)
{
	/* words "" = nothing is weakened. */
	static const struct {
		const char *diff, *words;
	} rows[] = {
		/* healthy */
		{ "", "" },
		{ FILE("tests/a.py") "+def test_new():\n+    assert f()\n",
		    "" },
		{ FILE("tests/a.py") "-def test_old():\n+def test_better():\n",
		    "" },
		{ FILE("tests/a.py") "-def test_a():\n" FILE(
		      "tests/b.py") "+def test_a():\n",
		    "" },
		{ FILE("tests/b.py") "+def test_a():\n" FILE(
		      "tests/z.py") "-def test_a():\n",
		    "" },
		{ FILE("src/a.py") "-def test_helper():\n", "" },
		{ FILE("src/parser.c") "+\tskip_test(\n", "" },
		{ FILE("tests/a.py") "-@pytest.mark.skip\n def test_a():\n",
		    "" },
		{ FILE("tests/a.js") "-  it('a', f)\n+  it('a', g)\n", "" },
		{ FILE("tests/a.js") "+exit(1)\n+  commit('only')\n", "" },
		{ FILE("tests/a.c") "--- a/x\n+++ b/x\n", "" },
		/* weakened */
		{ FILE("tests/a.py") "-def test_x():\n-    assert f()\n",
		    "it removes 1 test (tests/a.py: test_x)" },
		{ GONE("pkg/a_test.go") "-func TestA(t *testing.T) {\n"
					"-func TestB(t *testing.T) {\n",
		    "it removes 2 tests (pkg/a_test.go: TestA, "
		    "pkg/a_test.go: TestB)" },
		{ FILE("ui/a.spec.js") "-  it('adds two', f)\n"
				       "+  xit('adds two', f)\n",
		    "it removes 1 test (ui/a.spec.js: adds two) and skips 1 "
		    "test" },
		{ FILE(
		      "tests/a.py") "+@unittest.skip('later')\n def test_a()\n",
		    "it skips 1 test" },
		{ FILE("tests/t.c") "-TEST(a_rule)\n-{\n",
		    "it removes 1 test (tests/t.c: a_rule)" },
		{ FILE("tests/a.js") "+describe.only('x', f)\n",
		    "it skips 1 test" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf out = BUF_INIT;

		test_guard_read(rows[i].diff, strlen(rows[i].diff), &out);
		ck_assert_msg(
		    strcmp(out.len > 0 ? out.data : "", rows[i].words) == 0,
		    "%s: %s", rows[i].diff, out.len > 0 ? out.data : "");
	}
}

TEST(the_number_of_tests_that_ran_is_read)
{
	static const struct {
		const char *output;
		int64_t count;
	} rows[] = {
		{ "", 0 },
		{ "all good\n", 0 },
		{ "===== 12 passed, 1 skipped in 0.2s =====\n", 12 },
		{ "Ran 7 tests in 0.1s\n\nOK\n", 7 },
		{ "Test Suites: 2 passed, 2 total\nTests: 9 passed, 9 total\n",
		    9 },
		{ "test result: ok. 3 passed; 0 failed\n\ntest result: ok. 4 "
		  "passed; 0 failed\n",
		    7 },
		{ "Ok:                 21  \nFail:               0\n", 21 },
		{ "100% tests passed, 0 tests failed out of 5\n", 5 },
		{ "Tests run: 2, Failures: 0\nTests run: 8, Failures: 0\n", 8 },
		{ "4 examples, 0 failures\n", 4 },
		{ "# tests 6\n# pass 6\n", 6 },
		{ "OK (11 tests, 20 assertions)\n", 11 },
		{ "99999999999999999999 passed\n", 0 },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(test_guard_count(rows[i].output) == rows[i].count,
		    "%s: %d", rows[i].output,
		    (int)test_guard_count(rows[i].output));
}

/* --- is it still what was seen --------------------------------------- */

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
	for (int i = 0; i < 2; i++) {
		assert_sentence(&in,
		    "the work of adam is not what you reviewed: a rebase is in "
		    "progress in /w; finish or abort the rebase, then review "
		    "it again with: llmc review adam");
		in.checked_out = in.branch; /* nothing is applied yet */
	}
}
