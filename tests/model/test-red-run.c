/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <json-c/json.h>

#include "check-book.h"
#include "landing-record.h"
#include "schema.h"

/* A commit "b" has the tree "B" and the task "t". */
static void
add(struct red_run *run, char parent, char commit, bool of_task)
{
	char names[4][2] = { { commit }, { (char)(commit - 'a' + 'A') },
		{ parent }, { (char)(parent - 'a' + 'A') } };
	char task[] = "t";

	red_run_add(run,
	    &(struct red_commit){ .commit = names[0],
		.tree = names[1],
		.parent = names[2],
		.parent_tree = names[3],
		.task = of_task ? task : NULL });
}

static void
expect(const struct red_run *run, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < run->count; i++)
		buf_addf(&text, "%s", run->list[i].commit);
	ck_assert_str_eq(text.data, want);
}

TEST(a_run_has_commits_of_tasks_only)
{
	struct red_run run = { 0 };

	add(&run, 'p', 'a', true);
	add(&run, 'a', 'b', true);
	expect(&run, "ab");
	/* A person committed something in between. */
	add(&run, 'q', 'c', true);
	expect(&run, "c");
	/* A pick, or a commit that takes others back. */
	add(&run, 'c', 'd', false);
	expect(&run, "");
	add(&run, 'd', 'e', true);
	expect(&run, "e");
	red_run_release(&run);
}

TEST(a_run_is_bounded)
{
	struct red_run run = { 0 };
	char parent[16] = "c0", commit[16], word[] = "x";

	for (int i = 1; i <= RED_RUN_MAX + 5; i++) {
		snprintf(commit, sizeof commit, "c%d", i);
		red_run_add(&run,
		    &(struct red_commit){ commit, word, parent, word, word });
		memcpy(parent, commit, sizeof parent);
	}
	ck_assert_uint_eq(run.count, RED_RUN_MAX);
	ck_assert_str_eq(run.list[0].commit, "c6");
	ck_assert_str_eq(run.list[RED_RUN_MAX - 1].commit, commit);
	red_run_release(&run);
}

/* As it is in the record of landings. */
static const struct schema_field own[] = {
	SCHEMA_PARTS(struct red_run, "own", SLOTS, list, count,
	    red_commit_schema, .max = RED_RUN_MAX),
};
static const struct schema schema = SCHEMA_OF(struct red_run, own);

TEST(a_run_is_written_and_read)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_json struct json_object *wrong =
	    json_tokener_parse("{\"own\": [{\"commit\": \"a\"}]}");
	struct red_run run = { 0 }, copy = { 0 };
	struct err err = { 0 };

	add(&run, 'p', 'a', true);
	add(&run, 'a', 'b', true);
	json = schema_json(&schema, &run);
	ck_assert_int_eq(schema_read(&schema, json, "", &copy, &err), 0);
	expect(&copy, "ab");
	ck_assert_str_eq(copy.list[1].parent_tree, "A");
	ck_assert_str_eq(copy.list[1].task, "t");
	red_run_release(&copy);
	ck_assert_int_eq(schema_read(&schema, wrong, "", &copy, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "own[0]"));
	red_run_release(&copy);
	red_run_release(&run);
}

static const struct row {
	const char *run; /* oldest first; the first one is a person's */
	char tip;
	const char *passed, *failed; /* trees */
	size_t want;
} rows[] = {
	{ "p", 'p', "", "P", 0 },
	/* The newest one is a person's, whatever is below it. */
	{ "pab", 'q', "AB", "Q", 0 },
	/* Back to the last one that passed. */
	{ "pabc", 'c', "PAB", "C", 1 },
	{ "pabc", 'c', "PA", "C", 2 },
	/* It passed once and fails now: that is no place to go back to. */
	{ "pabc", 'c', "CBA", "CB", 2 },
	/* The command is new: nothing is known of it. */
	{ "pabc", 'c', "", "C", 3 },
	/* Never beyond the first of them. */
	{ "pabc", 'c', "", "CBAP", 3 },
};

static void
note(struct check_book *book, const char *trees, enum check_verdict verdict)
{
	for (; *trees != '\0'; trees++)
		check_book_note(book, (const char[]){ *trees, '\0' }, "k",
		    verdict, 1, 1, 0);
}

TEST_ROWS(how_many_are_taken_back, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct check_book book = { 0 };
	struct red_run run = { 0 };

	for (const char *p = row->run; p[1] != '\0'; p++)
		add(&run, p[0], p[1], true);
	note(&book, row->passed, CHECK_PASSED);
	note(&book, row->failed, CHECK_FAILED);
	ck_assert_uint_eq(
	    red_run_length(&run, (const char[]){ row->tip, '\0' }, &book, "k"),
	    row->want);
	schema_release(&check_book_schema, &book);
	red_run_release(&run);
}
