/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "mem.h"
#include "serena-list.h"
#include "unit.h"

#define NEW "/w/new"

struct edit {
	const char *text, *want; /* want NULL: unchanged */
};

static void
assert_edits(const struct edit *edits, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		const struct edit *e = &edits[i];
		cleanup_buf struct buf out = BUF_INIT, again = BUF_INIT;
		struct err err = { 0 };
		int r =
		    serena_list_add(e->text, strlen(e->text), path, &out, &err);

		ck_assert_msg(r >= 0, "%s: %s", e->text, err.msg);
		ck_assert_msg((r == 1) == (e->want != NULL), "%s", e->text);
		if (r == 0) {
			ck_assert_uint_eq(out.len, 0);
			continue;
		}
		ck_assert_str_eq(out.data, e->want);
		ck_assert_int_eq(
		    serena_list_add(out.data, out.len, path, &again, NULL), 0);
	}
}

TEST(test_path_goes_behind_the_last_item)
{
	static const struct edit edits[] = {
		{ "a: 1\nprojects:\n- /a\n- /b\nz: 2\n",
		    "a: 1\nprojects:\n- /a\n- /b\n- /w/new\nz: 2\n" },
		/* The indentation of the list is kept. */
		{ "projects:\n    - /a\nz:\n  - /c\n",
		    "projects:\n    - /a\n    - /w/new\nz:\n  - /c\n" },
		/* Comments stay where they are. */
		{ "# one\nprojects: # two\n# three\n  - /a # four\n"
		  "  # five\n\n# six\nz: 2\n",
		    "# one\nprojects: # two\n# three\n  - /a # four\n"
		    "  - /w/new\n  # five\n\n# six\nz: 2\n" },
		{ "projects:\n- /a", "projects:\n- /a\n- /w/new" },
		{ "\"projects\":\n- /a\n", "\"projects\":\n- /a\n- /w/new\n" },
		{ "'projects' :\n-   /a\n",
		    "'projects' :\n-   /a\n- /w/new\n" },
		{ "---\nprojects:\n- /a\n",
		    "---\nprojects:\n- /a\n- /w/new\n" },
		{ "\xef\xbb\xbfprojects:\n- /a\n",
		    "\xef\xbb\xbfprojects:\n- /a\n- /w/new\n" },
		/* An item of more than one line. */
		{ "projects:\n- /a long\n  path\n- 'b\n  # c'\nz: 1\n",
		    "projects:\n- /a long\n  path\n- 'b\n  # c'\n- /w/new\n"
		    "z: 1\n" },
		{ "projects:\n-\n  /a\n", "projects:\n-\n  /a\n- /w/new\n" },
	};

	assert_edits(edits, nitems(edits), NEW);
}

TEST(test_line_ends_of_the_file_are_used)
{
	static const struct edit edits[] = {
		{ "a: 1\r\nprojects:\r\n  - /a\r\nz: 2\r\n",
		    "a: 1\r\nprojects:\r\n  - /a\r\n  - /w/new\r\nz: 2\r\n" },
		{ "projects: []\r\n", "projects: \r\n- /w/new\r\n" },
		{ "a: 1\r\n", "a: 1\r\nprojects:\r\n- /w/new\r\n" },
		{ "projects:\r\n- /w/new\r\n", NULL },
	};

	assert_edits(edits, nitems(edits), NEW);
}

TEST(test_empty_list_becomes_a_block)
{
	static const struct edit edits[] = {
		{ "projects: []\nz: 1\n", "projects: \n- /w/new\nz: 1\n" },
		{ "projects: [ ] # none\n", "projects:  # none\n- /w/new\n" },
		{ "projects: [\n  ]\nz: 1\n", "projects: \n- /w/new\nz: 1\n" },
		{ "projects:\nz: 1\n", "projects:\n- /w/new\nz: 1\n" },
		{ "projects:", "projects:\n- /w/new" },
		{ "projects: ~\n", "projects: \n- /w/new\n" },
		{ "projects: null # c\n", "projects:  # c\n- /w/new\n" },
	};

	assert_edits(edits, nitems(edits), NEW);
}

TEST(test_list_in_brackets_is_kept_in_brackets)
{
	static const struct edit edits[] = {
		{ "projects: [/a]\n", "projects: [/a, /w/new]\n" },
		{ "projects: [ /a, '/b' ] # c\n",
		    "projects: [ /a, '/b', /w/new ] # c\n" },
		{ "projects: [/a,]\n", "projects: [/a, /w/new]\n" },
		{ "projects: [\n  /a, # x\n  \"/b\"\n]\nz: 1\n",
		    "projects: [\n  /a, # x\n  \"/b\", /w/new\n]\nz: 1\n" },
		{ "projects: [/a, \"/w/new\"]\n", NULL },
	};

	assert_edits(edits, nitems(edits), NEW);
}

TEST(test_missing_list_is_made_at_the_end)
{
	static const struct edit edits[] = {
		{ "", "projects:\n- /w/new\n" },
		{ "# nothing yet\n", "# nothing yet\nprojects:\n- /w/new\n" },
		{ "a: 1", "a: 1\nprojects:\n- /w/new\n" },
		/* Other occurrences of that word are not the list. */
		{ "my_projects:\n- /a\nb:\n  projects:\n  - /w/new\n",
		    "my_projects:\n- /a\nb:\n  projects:\n  - /w/new\n"
		    "projects:\n- /w/new\n" },
		{ "a: |\n  projects:\n  - /w/new\n",
		    "a: |\n  projects:\n  - /w/new\nprojects:\n- /w/new\n" },
		{ "# projects:\n# - /w/new\na: 1\n",
		    "# projects:\n# - /w/new\na: 1\nprojects:\n- /w/new\n" },
		{ "projects:x: 1\n", "projects:x: 1\nprojects:\n- /w/new\n" },
	};

	assert_edits(edits, nitems(edits), NEW);
}

TEST(test_path_is_added_once_however_it_is_written)
{
	static const struct edit edits[] = {
		{ "projects:\n- /w/new\n", NULL },
		{ "projects:\n- /a\n- /w/new # mine\n- /b\n", NULL },
		{ "projects:\n- '/w/new'\n", NULL },
		{ "projects:\n-   \"/w/new\"   # c\n", NULL },
		{ "projects:\n- \"\\x2fw\\u002Fn\\x65w\"\n", NULL },
		{ "projects:\n- \"/w\\\n  /new\"\n", NULL },
		{ "projects:\n- /w/new/\n", NULL },
		{ "projects:\n- /w/new#2\n",
		    "projects:\n- /w/new#2\n- /w/new\n" },
		{ "projects:\n- /w/new2\n- /w/ne\n",
		    "projects:\n- /w/new2\n- /w/ne\n- /w/new\n" },
	};
	static const struct edit slashed[] = {
		{ "projects:\n- /w/new\n", NULL },
	};

	assert_edits(edits, nitems(edits), NEW);
	assert_edits(slashed, nitems(slashed), "/w/new//");
}

TEST(test_odd_path_is_quoted_and_found_again)
{
	static const struct edit blank[] = {
		{ "projects: []\n", "projects: \n- \"/a b: c # 'd'\"\n" },
		{ "projects:\n- '/a b: c # ''d'''\n", NULL },
		{ "projects: [x]\n", "projects: [x, \"/a b: c # 'd'\"]\n" },
	};
	static const struct edit folded[] = {
		{ "projects:\n- /a\n  b\n", NULL },
		{ "projects:\n- \"/a\n    b\"\n", NULL },
		{ "projects:\n- '/a  \r\n    b'\n", NULL },
		{ "projects:\n- /a\n\n  b\n",
		    "projects:\n- /a\n\n  b\n- \"/a b\"\n" },
	};
	static const struct edit control[] = {
		{ "", "projects:\n- \"/a\\nb\\\"\\\\\xc3\xa9\"\n" },
		{ "projects:\n- \"/a\n\n  b\\\"\\\\\\u00e9\"\n", NULL },
	};

	assert_edits(blank, nitems(blank), "/a b: c # 'd'");
	assert_edits(folded, nitems(folded), "/a b");
	assert_edits(control, nitems(control), "/a\nb\"\\\xc3\xa9");
}

TEST(test_what_is_not_understood_is_refused_with_its_line)
{
	static const struct edit bad[] = {
		{ "{projects: []}\n", "line 1: " },
		{ "- /a\n", "line 1: " },
		{ "a: 1\n  \nnonsense\n", "line 3: " },
		{ "  projects:\n  - /a\n", "line 1: " },
		{ "a: 1\n...\n", "line 2: " },
		{ "a: 1\n---\nprojects: []\n", "line 2: " },
		{ "--- {}\n", "line 1: " },
		{ "text # a: 1\n", "line 1: " },
		{ "\"a: 1\n  b\"\n", "line 1: " },
		{ "projects: []\nprojects: []\n", "line 2: " },
		{ "a: 1\nprojects: /a\n", "line 2: " },
		{ "projects: {}\n", "line 1: " },
		{ "projects: &x\n- /a\n", "line 1: " },
		{ "projects: nullx\n", "line 1: " },
		{ "projects: null\n- /a\n", "line 1: " },
		{ "projects:\n  a: 1\n", "line 2: " },
		{ "projects:\n- a: 1\n", "line 2: " },
		{ "projects:\n- /a\n- - /b\n", "line 3: " },
		{ "projects:\n- |\n  /a\n", "line 2: " },
		{ "projects:\n-\n", "line 2: " },
		{ "projects:\n- \"/a\n", "line 2: " },
		{ "projects:\n- \"/\\q\"\n", "line 2: " },
		{ "projects:\n- \"\\x\x10\x10\"\n", "line 2: " },
		{ "projects:\n- \"/a\" b\n", "line 2: " },
		{ "projects:\n  - /a\n - /b\n", "line 3: " },
		{ "projects:\n- /a\n\t- /b\n", "line 3: " },
		{ "projects: [[/a]]\n", "line 1: " },
		{ "projects: [/a\n", "line 1: " },
		{ "projects: ['/a' '/b']\n", "line 1: " },
		{ "projects: [,]\n", "line 1: " },
		{ "projects: [] x\n", "line 1: " },
	};

	for (size_t i = 0; i < nitems(bad); i++) {
		cleanup_buf struct buf out = BUF_INIT;
		struct err err = { 0 };
		int r = serena_list_add(
		    bad[i].text, strlen(bad[i].text), NEW, &out, &err);

		ck_assert_msg(r == -EINVAL, "%s: %d", bad[i].text, r);
		ck_assert_msg(
		    strncmp(err.msg, bad[i].want, strlen(bad[i].want)) == 0,
		    "%s: %s", bad[i].text, err.msg);
		ck_assert_uint_eq(out.len, 0);
	}
}

TEST(test_bytes_that_yaml_cannot_hold_are_refused)
{
	static const char nul[] = "a: 1\0\n", lone[] = "a: 1\rprojects:\n",
			  last[] = "\r\n\r";
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_int_eq(
	    serena_list_add(nul, sizeof nul - 1, NEW, &out, NULL), -EINVAL);
	ck_assert_int_eq(
	    serena_list_add(lone, sizeof lone - 1, NEW, &out, NULL), -EINVAL);
	ck_assert_int_eq(
	    serena_list_add(last, sizeof last - 1, NEW, &out, NULL), -EINVAL);
	ck_assert_int_eq(serena_list_add("", 0, "", &out, NULL), -EINVAL);
	ck_assert_int_eq(serena_list_add("", 0, "/\xff", &out, NULL), -EINVAL);
	ck_assert_uint_eq(out.len, 0);
}

TEST(test_name_is_set_and_the_rest_kept)
{
	static const struct edit edits[] = {
		{ "", "project_name: \"llmc-ann\"\n" },
		{ "project_name: llmc-ann\n", NULL },
		{ "languages: [c]\nproject_name: 'llmc-ann' # x\n", NULL },
		{ "languages: [c]\nproject_name: \"root\" # x\nz: 1\n",
		    "languages: [c]\nproject_name: \"llmc-ann\" # x\nz: 1\n" },
		{ "project_name: a\n  b\nz: 1\n",
		    "project_name: \"llmc-ann\"\nz: 1\n" },
		{ "language: c\r\n",
		    "language: c\r\nproject_name: \"llmc-ann\"\r\n" },
		/* Not a mapping, or not a name that could be a string. */
		{ "{}\n", "project_name: \"llmc-ann\"\n" },
		{ "project_name: [a]\nz: 1\n", "project_name: \"llmc-ann\"\n" },
		{ "project_name:\n", "project_name: \"llmc-ann\"\n" },
	};

	for (size_t i = 0; i < nitems(edits); i++) {
		const struct edit *e = &edits[i];
		cleanup_buf struct buf out = BUF_INIT, again = BUF_INIT;
		int r =
		    serena_name_set(e->text, strlen(e->text), "llmc-ann", &out);

		ck_assert_msg(r == (e->want != NULL), "%s", e->text);
		if (r == 0)
			continue;
		ck_assert_str_eq(out.data, e->want);
		ck_assert_int_eq(
		    serena_name_set(out.data, out.len, "llmc-ann", &again), 0);
	}
}
