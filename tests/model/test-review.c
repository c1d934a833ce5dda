/* SPDX-License-Identifier: ISC */

/* Comments on finished work, and what follows from an agent's review of it. */

#include "unit.h"
#include "agent-report.h"
#include "review.h"

#define HEAD  "1111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222"

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &json, NULL), 0);
	return json;
}

TEST(a_line_names_file_and_line_or_neither)
{
	static const char *const rows[][2] = {
		{ "src/a.c:12: off by one",
		    "{\"file\":\"src/a.c\",\"line\":12,\"text\":\"off by one\"}" },
		{ "`a.py:3-7` - leaks",
		    "{\"file\":\"a.py\",\"line\":3,\"text\":\"leaks\"}" },
		{ "**src/a.c:12:5**: x",
		    "{\"file\":\"src/a.c\",\"line\":12,\"text\":\"x\"}" },
		{ "README.md: too long",
		    "{\"file\":\"README.md\",\"text\":\"too long\"}" },
		{ "a/b \xe2\x80\x94 gone",
		    "{\"file\":\"a/b\",\"text\":\"gone\"}" },
		{ "No test covers it.", "{\"text\":\"No test covers it.\"}" },
		{ "Note: it is slow", "{\"text\":\"Note: it is slow\"}" },
		{ "a.c:99999999999: x", "{\"text\":\"a.c:99999999999: x\"}" },
		{ " \t", NULL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *found =
		    comment_from_line(rows[i][0]);
		cleanup_json struct json_object *expect =
		    rows[i][1] != NULL ? parse(rows[i][1]) : NULL;

		ck_assert_msg(json_object_equal(found, expect), "%s: %s",
		    rows[i][0], json_object_to_json_string(found));
	}
}

TEST(comments_become_the_words_of_a_turn)
{
	cleanup_json struct json_object *said = parse(
	    "[{\"file\":\"a.c\",\"line\":3,\"text\":\" one\\ntwo\\u0007 \","
	    "\"code\":\"\\tif (a)\\u001b\\n\"},"
	    "{\"file\":\"b.c\",\"line\":9,\"side\":\"old\",\"text\":\"why?\"},"
	    "{\"file\":\"c.c\",\"text\":\"all of it\"},{\"text\":\"slow\"}]");
	cleanup_json struct json_object *list = NULL;
	cleanup_buf struct buf out = BUF_INIT;
	struct err err = { 0 };

	ck_assert_msg(
	    comments_read(said, "comments", &list, &err) == 0, "%s", err.msg);
	comments_text(list, "0123456789abcdef", &out);
	ck_assert_str_eq(out.data,
	    "Comments on commit 0123456789ab, with the line numbers of what "
	    "would land. If other work has landed meanwhile, yours differ: "
	    "find a line by its text.\n"
	    "- a.c:3: one\n  two\n  The line: if (a)\n- b.c:9 (before your change): why?\n"
	    "- c.c: all of it\n- slow\n");
}

TEST(wrong_comments_are_refused_with_where)
{
	static const char *const rows[][2] = {
		{ "{}", "comments: expected a list" },
		{ "[3]", "comments[0]: expected an object" },
		{ "[{\"file\":\"a\"}]", "text" },
		{ "[{\"text\":\"x\"},{\"text\":\" \"}]", "comments[1].text" },
		{ "[{\"text\":\"x\",\"line\":-1}]", "line" },
		{ "[{\"text\":\"x\",\"side\":\"up\"}]", "comments[0].side" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *said = parse(rows[i][0]);
		cleanup_json struct json_object *list = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(
		    comments_read(said, "comments", &list, &err), -EINVAL);
		ck_assert_ptr_null(list);
		ck_assert_msg(
		    strstr(err.msg, rows[i][1]) != NULL, "%s", err.msg);
	}
}

/* Every state with every answer to "is it this commit, and open?". */
TEST(each_state_has_one_step)
{
	static const struct {
		enum review_state state;
		int rounds, tries;
		bool open;
		enum review_step same, other; /* for HEAD, for OTHER */
	} rows[] = {
		{ REVIEW_NONE, 0, 0, false, REVIEW_BEGIN, REVIEW_BEGIN },
		{ REVIEW_OPEN, 0, 0, true, REVIEW_WAIT, REVIEW_BEGIN },
		/* Somebody dropped its task. */
		{ REVIEW_OPEN, 0, 0, false, REVIEW_BEGIN, REVIEW_BEGIN },
		{ REVIEW_APPROVED, 2, 0, false, REVIEW_LAND, REVIEW_BEGIN },
		{ REVIEW_FINDINGS, 0, 0, false, REVIEW_BACK, REVIEW_BEGIN },
		{ REVIEW_FINDINGS, 1, 0, false, REVIEW_BACK, REVIEW_BEGIN },
		{ REVIEW_FINDINGS, 2, 0, false, REVIEW_ASK, REVIEW_BEGIN },
		{ REVIEW_FAILED, 0, 1, false, REVIEW_BEGIN, REVIEW_BEGIN },
		{ REVIEW_FAILED, 0, 2, false, REVIEW_ASK, REVIEW_BEGIN },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct task *t = task_new("t1", "files", "k", NULL, "x", 1);

		t->attempt.review = rows[i].state;
		t->attempt.review_of = xstrdup(HEAD);
		t->attempt.review_rounds = rows[i].rounds;
		t->attempt.review_tries = rows[i].tries;
		ck_assert_int_eq(
		    review_next(t, true, HEAD, rows[i].open), rows[i].same);
		ck_assert_int_eq(
		    review_next(t, true, OTHER, rows[i].open), rows[i].other);
		ck_assert_int_eq(
		    review_next(t, true, NULL, rows[i].open), REVIEW_BEGIN);
		ck_assert_int_eq(
		    review_next(t, false, HEAD, rows[i].open), REVIEW_LAND);
		task_free(t);
	}
}

TEST(a_report_decides)
{
	static const struct {
		const char *report; /* NULL = none */
		enum review_state state;
		const char *findings;
	} rows[] = {
		{ "{\"verdict\":\"approve\",\"summary\":\"ok\"}",
		    REVIEW_APPROVED, "" },
		{ "{\"verdict\":\"findings\",\"findings\":[{\"text\":\"x\"}]}",
		    REVIEW_FINDINGS, "- x\n" },
		/* The list is stronger than the word. */
		{ "{\"verdict\":\"approve\",\"findings\":[{\"text\":\"x\"}]}",
		    REVIEW_FINDINGS, "- x\n" },
		{ "{\"verdict\":\"findings\",\"summary\":\"it is wrong\"}",
		    REVIEW_FINDINGS, "- it is wrong\n" },
		{ "{\"verdict\":\"findings\"}", REVIEW_FAILED, "" },
		{ "{\"summary\":\"looks good\",\"status\":\"complete\"}",
		    REVIEW_FAILED, "" },
		{ NULL, REVIEW_FAILED, "" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct task *t = task_new("t1", "files", "k", NULL, "x", 1);
		cleanup_json struct json_object *report =
		    rows[i].report != NULL ? parse(rows[i].report) : NULL;
		cleanup_buf struct buf out = BUF_INIT;

		review_begin(t, HEAD);
		ck_assert(!review_end(t, OTHER, report, NULL));
		ck_assert_int_eq(t->attempt.review, REVIEW_OPEN);
		ck_assert(review_end(t, HEAD, report, "why"));
		ck_assert_int_eq(t->attempt.review, rows[i].state);
		ck_assert_int_eq(
		    t->attempt.review_tries, rows[i].state == REVIEW_FAILED);
		review_findings(t, &out);
		ck_assert_str_eq(out.data, rows[i].findings);
		/* Once. */
		ck_assert(!review_end(t, HEAD, NULL, NULL));
		task_free(t);
	}
}

TEST(the_last_message_can_have_the_verdict)
{
	static const char *const rows[][2] = {
		{ "I read it.\n\nverdict: approve\n",
		    "{\"verdict\":\"approve\"}" },
		{ "**Verdict:** Approve.\nFindings: none\n",
		    "{\"verdict\":\"approve\"}" },
		{ "verdict: findings\nfindings:\n- a.c:1: x\n- y\n",
		    "{\"verdict\":\"findings\",\"findings\":[{\"file\":\"a.c\","
		    "\"line\":1,\"text\":\"x\"},{\"text\":\"y\"}]}" },
		/* The findings of others are no report. */
		{ "Findings:\n- the cache is cold\n", NULL },
		{ "summary: done\nVerdict: it works\nFindings: two\n",
		    "{\"summary\":\"done\\nVerdict: it works\\nFindings: "
		    "two\"}" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *found =
		    completion_report_from_text(rows[i][0], strlen(rows[i][0]));
		cleanup_json struct json_object *expect =
		    rows[i][1] != NULL ? parse(rows[i][1]) : NULL;

		ck_assert_msg(json_object_equal(found, expect), "%s",
		    json_object_to_json_string(found));
	}
}

TEST(the_task_of_a_reviewer_has_diff_and_task)
{
	struct task *of = task_new("t7", "files", "k", NULL, "Add a flag", 1);
	cleanup_buf struct buf diff = BUF_INIT;
	cleanup_free char *id = NULL;
	const char *commit = NULL;
	struct task *t;

	for (int i = 0; i < 3000; i++)
		buf_addf(&diff, "+line %d of a file that is long\n", i);
	buf_adds(&diff, "diff --git a/src/last.c b/src/last.c\n+x\n");
	t = review_task_new(
	    "t8", of, HEAD, diff.data, diff.len, "codex", true, 1);
	id = review_task(t, &commit);
	ck_assert_str_eq(id, "t7");
	ck_assert_str_eq(commit, HEAD);
	ck_assert_ptr_null(review_task(of, &commit));
	ck_assert_ptr_nonnull(strstr(t->text, "| Add a flag"));
	ck_assert_ptr_nonnull(strstr(t->text, "+line 1 of"));
	ck_assert_ptr_nonnull(strstr(t->text, "- src/last.c\n"));
	ck_assert_uint_lt(strlen(t->text), 80 * 1024);
	ck_assert_str_eq(t->launch.agent, "codex");
	ck_assert(t->launch.read_only && t->launch.tools_scoped);
	task_free(t);
	task_free(of);
}
