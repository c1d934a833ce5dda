/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "ask-record.h"
#include "schema.h"

#define NOW  INT64_C(1800000000000)
#define HOUR INT64_C(3600000)

static struct ask_draft
draft(void)
{
	return (struct ask_draft){ .kind = ASK_BUDGET,
		.level = ESCALATION_WARNING,
		.key = "task/t3",
		.title = "a budget is reached",
		.words = "it has used 5 dollars",
		.task = "t3" };
}

TEST(an_ask_says_what_to_type)
{
	static const struct {
		enum ask_kind kind;
		bool stays;
		const char *node, *command, *expected;
	} rows[] = {
		{ ASK_QUESTION, false, NULL, NULL, "llmc answer a12 TEXT" },
		{ ASK_BLOCKED, false, NULL, NULL, "llmc answer a12 TEXT" },
		{ ASK_BUDGET, false, NULL, NULL, "llmc answer a12 --yes" },
		{ ASK_FAILURE, false, NULL, NULL, "llmc answer a12 TEXT" },
		/* Its task has ended: nobody can be told anything. */
		{ ASK_FAILURE, true, NULL, NULL, "llmc answer a12 --yes" },
		{ ASK_BLOCKED, true, "T1", NULL, "llmc answer a12 TEXT" },
		{ ASK_BLOCKED, false, NULL, "git status", "git status" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct ask_draft d = draft();
		cleanup_buf struct buf text = BUF_INIT;
		struct ask *ask;

		d.kind = rows[i].kind;
		d.stays = rows[i].stays;
		d.node = rows[i].node;
		d.command = rows[i].command;
		ask = ask_new(&d, 12, NOW);
		ask_command(ask, &text);
		ck_assert_str_eq(text.data, rows[i].expected);
		ask_free(ask);
	}
}

TEST(it_is_found_by_whatever_it_is_about)
{
	static const char *const names[] = { "a12", "t3", "auto-1", "R_1",
		"task/t3" };
	struct ask_draft d = draft();
	struct ask *ask;

	d.worker = "auto-1";
	d.question = "R_1";
	ask = ask_new(&d, 12, NOW);
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_int_gt(ask_named(ask, names[i]), 0);
	ck_assert_int_eq(ask_named(ask, "a1"), 0);
	ck_assert_int_eq(ask_named(ask, "t"), 0);
	ask_free(ask);
	d.goal = "goal_7";
	d.node = "T1.2";
	ask = ask_new(&d, 12, NOW);
	ck_assert_int_gt(ask_named(ask, "goal_7/T1.2"), ask_named(ask, "T1.2"));
	ck_assert_int_gt(ask_named(ask, "T1.2"), 0);
	ck_assert_int_eq(ask_named(ask, "T1.1"), 0);
	ask_free(ask);
}

TEST(an_update_says_whether_anything_is_new)
{
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);
	const char *const options[] = { "yes", "no", NULL };

	ck_assert(!ask_update(ask, &d));
	d.words = "it has used 6 dollars";
	ck_assert(ask_update(ask, &d));
	ck_assert(!ask_update(ask, &d));
	d.options = options;
	ck_assert(ask_update(ask, &d));
	ck_assert(!ask_update(ask, &d));
	d.options = NULL;
	ck_assert(ask_update(ask, &d));
	ck_assert_str_eq(ask->words, "it has used 6 dollars");
	ask_free(ask);
}

TEST(what_nobody_answers_is_said_again_after_longer_and_longer)
{
	static const int64_t gaps[] = { 1, 4, 24, 24 };
	struct ask_draft d = draft();
	struct ask *ask = ask_new(&d, 1, NOW);

	for (size_t i = 0; i < nitems(gaps); i++) {
		int64_t due = ask->said_ms + gaps[i] * HOUR;

		ck_assert(!ask_is_due(ask, due - 1));
		ck_assert(ask_is_due(ask, due));
		ask->said_ms = due;
		ask->count++;
	}
	ask->kind = ASK_TOLD;
	ck_assert(!ask_is_due(ask, ask->said_ms + 100 * HOUR));
	ask_free(ask);
}

TEST(its_texts_hide_keys_and_it_survives_json)
{
	struct ask_draft d = draft();
	cleanup_json struct json_object *json = NULL, *again = NULL;
	struct ask *ask, *copy;

	d.words = "TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz is wrong";
	ask = ask_new(&d, 7, NOW);
	ck_assert_ptr_null(strstr(ask->words, "0123456789abcdef"));
	json = schema_json(&ask_schema, ask);
	copy = schema_make(&ask_schema, json, "", NULL);
	ck_assert_ptr_nonnull(copy);
	again = schema_json(&ask_schema, copy);
	ck_assert(json_object_equal(json, again));
	ck_assert_str_eq(copy->id, "a7");
	ask_free(copy);
	ask_free(ask);
}
