/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "acceptance.h"

#define NAMES_MAX    3 /* tests named in a sentence */
#define NAME_MAX_LEN 80 /* bytes of one */
#define TESTS_MAX    2000 /* lines that are compared */

const char *const test_guard_words[TEST_GUARD_COUNT + 1] = {
	[TEST_GUARD_OFF] = "off",
	[TEST_GUARD_NOTE] = "note",
	[TEST_GUARD_ASK] = "ask",
};

const char *const test_guard_pathspecs[] = { ":(top,icase,glob)**/*test*",
	":(top,icase,glob)**/*test*/**", ":(top,icase,glob)**/*spec*",
	":(top,icase,glob)**/*spec*/**", NULL };

/* How a test begins, after blanks. */
static const char *const declarations[] = { "def test", "async def test",
	"func Test", "it(", "it.each", "test(", "test.each", "TEST(", "TEST_F(",
	"TEST_P(", "TEST_ROWS(", "START_TEST(", "TEST_CASE(",
	"BOOST_AUTO_TEST_CASE(", "#[test]", "#[tokio::test]", "@Test", "[Fact",
	"[Theory", "[Test", "it \"", "it '", "test \"", "test '",
	"public function test", "function test", NULL };

/* What keeps a test, or the others, from running. */
static const char *const skips[] = { "@pytest.mark.skip", "@unittest.skip",
	"pytest.skip(", ".skipTest(", "@pytest.mark.xfail", "it.skip(",
	"test.skip(", "describe.skip(", "it.only(", "test.only(",
	"describe.only(", "it.todo(", "test.todo(", "xit(", "xdescribe(",
	"xtest(", "t.Skip(", "t.Skipf(", "t.SkipNow(", "#[ignore", "@Disabled",
	"@Ignore", "GTEST_SKIP(", "[Ignore", "markTestSkipped(", NULL };

bool
test_guard_is_test(const char *path)
{
	static const char *const folders[] = { "test", "tests", "__tests__",
		"spec", "specs", NULL };
	static const char *const begins[] = { "test_", "test-", "Test", NULL };
	static const char *const ends[] = { "_test", "-test", ".test", ".spec",
		"_spec", "Test", "Tests", "Spec", NULL };
	const char *slash;
	size_t len;

	while ((slash = strchr(path, '/')) != NULL) {
		len = (size_t)(slash - path);
		for (size_t i = 0; folders[i] != NULL; i++)
			if (strlen(folders[i]) == len &&
			    strncasecmp(folders[i], path, len) == 0)
				return true;
		path = slash + 1;
	}
	for (size_t i = 0; begins[i] != NULL; i++)
		if (text_begins(path, begins[i]))
			return true;
	slash = strrchr(path, '.');
	len = slash != NULL ? (size_t)(slash - path) : strlen(path);
	for (size_t i = 0; ends[i] != NULL; i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strncmp(path + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

static bool
begins_test(const char *line)
{
	for (size_t i = 0; declarations[i] != NULL; i++)
		if (strncmp(line, declarations[i], strlen(declarations[i])) ==
		    0)
			return true;
	return false;
}

static bool
has_skip(const char *line)
{
	for (size_t i = 0; skips[i] != NULL; i++) {
		const char *found = strstr(line, skips[i]);

		if (found != NULL &&
		    (found == line || !isalnum((unsigned char)found[-1]) ||
			!isalnum((unsigned char)skips[i][0])))
			return true;
	}
	return false;
}

/* "test_x" of "def test_x(self):", "adds" of "it('adds', ...": what is between
 * the first quotes or parentheses, else the last word before one. */
static void
add_name(const char *line, struct buf *out)
{
	const char *open = strpbrk(line, "'\"`(");
	const char *name = line, *end = line + strcspn(line, "({:");

	if (open != NULL && *open == '(' && open[1] != '\0' &&
	    strchr("'\"`", open[1]) != NULL)
		open++;
	if (open != NULL && *open != '(') {
		name = open + 1;
		end = name + strcspn(name, "'\"`");
	} else if (open != NULL &&
	    (text_begins(line, "TEST") || text_begins(line, "START_") ||
		text_begins(line, "BOOST_"))) {
		name = open + 1;
		end = name + strcspn(name, ")");
	} else if (open != NULL) {
		while (end > name && end[-1] == ' ')
			end--;
		for (const char *p = name; p < end; p++)
			if (*p == ' ')
				name = p + 1;
	}
	text_add_visible(out, name,
	    text_cut(name, (size_t)(end - name), NAME_MAX_LEN), false);
}

struct gone {
	char *line, *path;
};

/* Forget the test that is on this line, if it was seen on the other side. */
static bool
drop(struct gone *list, size_t *count, const char *line)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(list[i].line, line) != 0)
			continue;
		free(list[i].line);
		free(list[i].path);
		list[i] = list[--*count];
		return true;
	}
	return false;
}

static void
keep(struct gone *list, size_t *count, const char *line, const char *path)
{
	if (*count == TESTS_MAX)
		return;
	list[*count].line = xstrdup(line);
	list[(*count)++].path = xstrdup(path != NULL ? path : "");
}

void
test_guard_read(const char *diff, size_t len, struct buf *out)
{
	cleanup_free struct gone *gone = xcalloc(TESTS_MAX, sizeof *gone),
				 *new = xcalloc(TESTS_MAX, sizeof *new);
	cleanup_free char *path = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	size_t gone_count = 0, new_count = 0, removed;
	int64_t skipped = 0;
	bool test = false, hunk = false;

	while (len > 0) {
		const char *end = memchr(diff, '\n', len);
		size_t used = end != NULL ? (size_t)(end - diff) : len;
		const char *text;
		char side;

		buf_clear(&line);
		buf_add(&line, diff, used);
		diff += used + (end != NULL);
		len -= used + (end != NULL);
		side = line.len > 0 ? line.data[0] : '\0';
		if (text_begins(line.data, "diff ")) {
			hunk = test = false;
		} else if (side == '@') {
			hunk = true;
		} else if (!hunk && (side == '-' || side == '+') &&
		    line.len > 6) {
			/* "--- a/x", "+++ b/x"; the other is /dev/null */
			text = line.data + 4;
			if (text_begins(text, "a/") ||
			    text_begins(text, "b/")) {
				xstrset(&path, text + 2);
				test |= test_guard_is_test(path);
			}
		} else if (hunk && test && (side == '-' || side == '+')) {
			text = line.data + 1 + strspn(line.data + 1, " \t");
			if (has_skip(text))
				skipped += side == '+' ? 1 : -1;
			if (!begins_test(text))
				continue;
			if (side == '-' && !drop(new, &new_count, text))
				keep(gone, &gone_count, text, path);
			else if (side == '+' && !drop(gone, &gone_count, text))
				keep(new, &new_count, text, path);
		}
	}
	/* As many new ones as old ones: they were renamed, or rewritten. */
	removed = gone_count > new_count ? gone_count - new_count : 0;
	if (removed > 0) {
		buf_addf(out, "it removes %zu test%s (", removed,
		    removed == 1 ? "" : "s");
		for (size_t i = 0; i < removed && i < NAMES_MAX; i++) {
			buf_adds(out, i > 0 ? ", " : "");
			text_add_visible(out, gone[i].path,
			    text_cut(gone[i].path, strlen(gone[i].path),
				NAME_MAX_LEN),
			    false);
			buf_adds(out, ": ");
			add_name(gone[i].line, out);
		}
		buf_adds(out, removed > NAMES_MAX ? ", ...)" : ")");
	}
	if (skipped > 0)
		buf_addf(out, "%s %" PRId64 " test%s",
		    removed > 0 ? " and skips" : "it skips", skipped,
		    skipped == 1 ? "" : "s");
	while (gone_count > 0)
		drop(gone, &gone_count, gone[0].line);
	while (new_count > 0)
		drop(new, &new_count, new[0].line);
}

/* What stands before or after the number of tests, by test program. */
static const struct {
	const char *before, *after;
	bool sums; /* it is printed for each part of the tests */
} counts[] = {
	{ "test result: ok. ", " passed", true }, /* cargo */
	{ "Tests run: ", ",", false }, /* JUnit */
	{ "Ran ", " test", false }, /* unittest */
	{ "tests failed out of ", "", false }, /* ctest */
	{ "Ok: ", "", false }, /* meson */
	{ "# pass ", "", false }, /* node */
	{ "OK (", " test", false }, /* PHPUnit */
	{ "", " passed", false }, /* pytest, jest, vitest */
	{ "", " examples,", false }, /* RSpec */
	{ "", " tests,", false }, /* bats, ExUnit */
};

int64_t
test_guard_count(const char *output)
{
	int64_t found = 0;
	size_t by = nitems(counts);

	for (const char *line = output; *line != '\0';
	     line += strcspn(line, "\n"), line += *line == '\n') {
		size_t len = strcspn(line, "\n");

		for (size_t i = 0; i < nitems(counts) && i <= by; i++) {
			const char *before = counts[i].before;
			const char *after = counts[i].after, *digits, *at;
			size_t length;

			if (*before != '\0') {
				at = memmem(line, len, before, strlen(before));
				if (at == NULL)
					continue;
				digits = at + strlen(before);
				digits += strspn(digits, " ");
			} else {
				at = memmem(line, len, after, strlen(after));
				if (at == NULL)
					continue;
				for (digits = at; digits > line &&
				     isdigit((unsigned char)digits[-1]);)
					digits--;
			}
			length = strspn(digits, "0123456789");
			if (length == 0 || length > 9 ||
			    !text_begins(digits + length, after))
				continue;
			found = (counts[i].sums && by == i ? found : 0) +
			    strtoll(digits, NULL, 10);
			by = i;
			break;
		}
	}
	return found;
}

/* --- is it still what was seen --------------------------------------- */

bool
inspection_is_id(const char *text)
{
	size_t len = strlen(text);

	return len >= 7 && len <= 64 && strspn(text, "0123456789abcdef") == len;
}

static bool
is_moved(const struct inspection *in)
{
	return !text_begins(in->head, in->seen);
}

static bool
is_elsewhere(const struct inspection *in)
{
	return in->branch != NULL &&
	    (in->rebasing || strcmp(in->checked_out, in->branch) != 0);
}

static bool
is_dirty(const struct inspection *in)
{
	return in->clean && in->dirty > 0;
}

bool
inspection_holds(const struct inspection *in)
{
	return !is_moved(in) && !is_elsewhere(in) && !is_dirty(in);
}

/* "3 files: a, b, c" */
static void
add_files(struct buf *out, const char *const *files, size_t count)
{
	buf_addf(out, "%zu file%s", count, count == 1 ? "" : "s");
	buf_adds(out, count > 0 ? ": " : "");
	text_add_names(out, files, count, INSPECTION_NAMES);
}

static void
add_move(const struct inspection *in, struct buf *out)
{
	buf_addf(out, "HEAD was %.7s, now %s%.7s", in->seen,
	    in->head[0] == '\0' ? "there is no commit" : "", in->head);
	if (!in->known)
		return;
	if (in->commits == 0) {
		buf_adds(out, " (no new commit)");
		return;
	}
	buf_addf(
	    out, " (%d commit%s, ", in->commits, in->commits == 1 ? "" : "s");
	add_files(out, in->files, in->file_count);
	buf_addc(out, ')');
}

void
inspection_sentence(const struct inspection *in, struct buf *out)
{
	const char *before = ": ";

	buf_addf(out, "the work of %s is not ", in->worker);
	if (in->reviewed)
		buf_adds(out, "what you reviewed");
	else
		buf_addf(out, "exactly commit %.7s", in->seen);
	if (is_elsewhere(in)) {
		buf_adds(out, before);
		if (in->rebasing)
			buf_adds(out, "a rebase is in progress");
		else if (in->checked_out[0] == '\0')
			buf_addf(out, "no branch is checked out, instead of %s",
			    in->branch);
		else
			buf_addf(out, "%s is checked out, instead of %s",
			    in->checked_out, in->branch);
		buf_addf(out, " in %s", in->worktree);
		before = "; ";
	}
	if (is_moved(in)) {
		buf_adds(out, before);
		add_move(in, out);
		before = "; ";
	}
	if (is_dirty(in)) {
		buf_adds(out, before);
		buf_adds(out, "there are uncommitted changes in ");
		add_files(out, in->uncommitted, in->uncommitted_count);
	}
	buf_adds(out, "; ");
	if (is_elsewhere(in) && in->rebasing)
		buf_adds(out, "finish or abort the rebase, then ");
	else if (is_elsewhere(in))
		buf_addf(out, "check out %s there, then ", in->branch);
	buf_addf(out, "review it again with: llmc review %s", in->worker);
}
