/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "account.h"
#include "schema.h"

#define MODEL "claude-opus-5-5" /* $4 for a million tokens of input */

static const struct usage_report no_report;

/* One million of them cost four dollars. */
static struct usage
input(int64_t tokens)
{
	struct usage usage = { 0 };

	usage_add(&usage, MODEL, USAGE_INPUT, tokens);
	return usage;
}

static struct usage_report
report_of(int64_t cost, int64_t tokens)
{
	return (struct usage_report){
		.given = true, .cost = cost, .usage = input(tokens)
	};
}

static bool
update(struct account *a, int64_t tokens, const struct usage_report *report,
    struct spent *change)
{
	struct usage total = input(tokens);

	return account_update(a, &total, report, NULL, change);
}

TEST(a_file_that_is_read_again_adds_nothing)
{
	struct account *a = account_new("/t", 0, "auto-1");
	struct spent change;

	ck_assert(!update(a, 0, &no_report, &change));
	ck_assert(update(a, 1000, &no_report, &change));
	ck_assert_int_eq(change.cost, 4000);
	ck_assert_int_eq(usage_budget_tokens(&change.usage), 1000);
	ck_assert_int_eq(spent_source(&a->spent), COST_ESTIMATE);
	ck_assert(!update(a, 400, &no_report, &change));
	ck_assert(!update(a, 1000, &no_report, &change));
	ck_assert(update(a, 1500, &no_report, &change));
	ck_assert_int_eq(change.cost, 2000);
	schema_free(&account_schema, a);
}

TEST(the_reported_cost_replaces_the_estimate)
{
	struct account *a = account_new("/t", 0, "auto-1");
	struct usage_report report = report_of(3900, 1000);
	struct spent change, task = { 0 };

	update(a, 1000, &no_report, &change);
	spent_add(&task, &change);
	ck_assert(update(a, 1000, &report, &change));
	ck_assert_int_eq(change.cost, -100);
	ck_assert_int_eq(change.estimated, -4000);
	spent_add(&task, &change);
	ck_assert_int_eq(task.cost, 3900);
	ck_assert_int_eq(spent_source(&task), COST_REPORTED);
	/* The same line again, after a restart. */
	ck_assert(!update(a, 1000, &report, &change));
	/* The conversation goes on. */
	ck_assert(update(a, 1500, &report, &change));
	ck_assert_int_eq(change.cost, 2000);
	spent_add(&task, &change);
	ck_assert_int_eq(task.cost, 5900);
	ck_assert_int_eq(spent_source(&task), COST_ESTIMATE);
	schema_free(&account_schema, a);
}

/* A process that was killed has not reported what it used; the one that resumes
 * the conversation begins to count anew. */
TEST(a_report_that_covers_a_part_is_completed)
{
	struct account *a = account_new("/t", 0, "auto-1");
	struct usage_report report = report_of(4000, 1000);
	struct spent change;

	update(a, 3000, &report, &change);
	ck_assert_int_eq(a->spent.cost, 4000 + 8000);
	ck_assert_int_eq(a->spent.estimated, 8000);
	/* More than was seen: calls that are in no file. */
	report = report_of(20000, 5000);
	update(a, 3000, &report, &change);
	ck_assert_int_eq(a->spent.cost, 20000);
	ck_assert_int_eq(a->spent.estimated, 0);
	/* One that does not say. */
	report = (struct usage_report){ .given = true, .cost = 7 };
	update(a, 3000, &report, &change);
	ck_assert_int_eq(a->spent.cost, 7);
	schema_free(&account_schema, a);
}

/* Tokens that have a price cost something, whatever a process that resumed the
 * conversation and ended at once reports. */
TEST(an_empty_report_leaves_the_estimate)
{
	const struct usage_report empty = { .given = true };
	struct account *a = account_new("/t", 0, "auto-1");
	struct spent change;

	update(a, 460, &no_report, &change);
	ck_assert(!update(a, 460, &empty, &change));
	ck_assert_int_eq(a->spent.cost, 1840);
	ck_assert_int_eq(a->spent.estimated, 1840);
	ck_assert_int_eq(spent_source(&a->spent), COST_ESTIMATE);
	schema_free(&account_schema, a);
}

TEST(a_report_about_more_than_this_conversation_is_not_used)
{
	struct account *a = account_new("/t", 12345, "auto-1");
	struct usage_report report = report_of(900000, 100000);
	struct spent change;

	update(a, 1000, &report, &change);
	ck_assert_int_eq(a->spent.cost, 4000);
	ck_assert_int_eq(spent_source(&a->spent), COST_ESTIMATE);
	schema_free(&account_schema, a);
	a = account_new("/t", 0, "auto-1");
	report.incomplete = true;
	update(a, 1000, &report, &change);
	ck_assert_int_eq(a->spent.cost, 4000);
	schema_free(&account_schema, a);
}

TEST(a_cost_without_a_price_is_unknown)
{
	struct account *a = account_new("/t", 0, "auto-1");
	struct usage total = input(1000);
	struct usage_report report = { .given = true, .cost = 9000 };
	struct spent change, nothing = { 0 };

	ck_assert_int_eq(spent_source(&nothing), COST_UNKNOWN);
	usage_add(&total, "stub", USAGE_OUTPUT, 5);
	ck_assert(account_update(a, &total, &no_report, NULL, &change));
	ck_assert_int_eq(change.unpriced, 5);
	ck_assert_int_eq(change.cost, 4000);
	ck_assert_int_eq(spent_source(&a->spent), COST_UNKNOWN);
	/* Until the agent says it. */
	report.usage = total;
	ck_assert(account_update(a, &total, &report, NULL, &change));
	ck_assert_int_eq(change.unpriced, -5);
	ck_assert_int_eq(spent_source(&a->spent), COST_REPORTED);
	ck_assert_int_eq(a->spent.cost, 9000);
	schema_free(&account_schema, a);
}

TEST(accounts_come_back)
{
	struct account *a = account_new("/t", 7, "auto-1"), *again = NULL;
	struct usage_report report = report_of(4000, 1000);
	cleanup_json struct json_object *json = NULL;
	struct spent change;

	xstrset(&a->task, "t3");
	a->day = 20000;
	update(a, 3000, &report, &change);
	a->filed.cost = 17;
	json = schema_json(&account_schema, a);
	again = schema_make(&account_schema, json, "a", NULL);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(again->transcript, "/t");
	ck_assert_str_eq(again->worker, "auto-1");
	ck_assert_str_eq(again->task, "t3");
	ck_assert_int_eq(again->from_ms, 7);
	ck_assert_int_eq(again->day, 20000);
	ck_assert_mem_eq(&again->spent, &a->spent, sizeof a->spent);
	ck_assert_mem_eq(&again->filed, &a->filed, sizeof a->filed);
	ck_assert(again->report.given && !again->report.incomplete);
	ck_assert_int_eq(again->report.cost, a->report.cost);
	ck_assert_mem_eq(
	    &again->report.usage, &a->report.usage, sizeof a->report.usage);
	schema_free(&account_schema, a);
	schema_free(&account_schema, again);
}

TEST(an_account_without_a_file_is_refused)
{
	cleanup_json struct json_object *json = json_object_new_object();
	struct err err = { 0 };

	ck_assert_ptr_null(schema_make(&account_schema, json, "a", &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "a.transcript"));
}

TEST(old_days_are_dropped)
{
	struct daybook book = { 0 };

	for (int64_t day = 100; day < 100 + 2 * DAYBOOK_DAYS; day++)
		daybook_day(&book, day)->attempts = day;
	ck_assert_uint_eq(book.count, DAYBOOK_DAYS);
	ck_assert_int_eq(book.days[0].day, 100 + DAYBOOK_DAYS);
	ck_assert_int_eq(
	    book.days[DAYBOOK_DAYS - 1].attempts, 99 + 2 * DAYBOOK_DAYS);
	/* A late correction of a day that is gone. */
	ck_assert_ptr_eq(daybook_day(&book, 100), &book.days[0]);
	ck_assert_uint_eq(book.count, DAYBOOK_DAYS);
	daybook_release(&book);
}

TEST(days_are_in_order_whatever_comes_first)
{
	struct daybook book = { 0 };

	daybook_day(&book, 5);
	daybook_day(&book, 3);
	daybook_day(&book, 4);
	daybook_day(&book, 3);
	ck_assert_uint_eq(book.count, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(book.days[i].day, 3 + i);
	daybook_release(&book);
}

/* The story: a report after midnight about what was used before it, too. */
TEST(a_correction_reaches_the_days_before)
{
	const struct spent used[] = {
		{ .cost = 100, .estimated = 100 },
		{ .cost = 10, .estimated = 10 },
		{ .cost = -15, .estimated = -110 },
	};
	struct daybook book = { 0 };

	daybook_add(&book, 3, DAYBOOK_TASK, &used[0]);
	daybook_add(&book, 4, DAYBOOK_TASK, &used[1]);
	daybook_add(&book, 5, DAYBOOK_TASK, &used[1]);
	daybook_add(&book, 4, DAYBOOK_TASK, &used[2]);
	ck_assert_int_eq(book.days[0].spent.cost, 95);
	ck_assert_int_eq(book.days[0].spent.estimated, 0);
	ck_assert_int_eq(book.days[1].spent.cost, 0);
	ck_assert_int_eq(book.days[1].spent.estimated, 0);
	ck_assert_int_eq(book.days[2].spent.cost, 10);
	ck_assert_int_eq(book.days[2].spent.estimated, 10);
	daybook_release(&book);
}

/* What is not a task's has a sum of its own, also when it is corrected. */
TEST(the_kinds_of_a_day_add_up)
{
	const struct spent up = { .cost = 100 }, down = { .cost = -30 };
	struct daybook book = { 0 };

	daybook_add(&book, 3, DAYBOOK_HAND, &up);
	daybook_add(&book, 4, DAYBOOK_TASK, &up);
	daybook_add(&book, 4, DAYBOOK_PLANNER, &up);
	daybook_add(&book, 4, DAYBOOK_HAND, &down);
	daybook_add(&book, 4, DAYBOOK_TASK, &down);
	ck_assert_int_eq(book.days[0].spent.cost, 70);
	ck_assert_int_eq(book.days[0].cost_of[DAYBOOK_HAND], 70);
	ck_assert_int_eq(book.days[1].spent.cost, 170);
	ck_assert_int_eq(book.days[1].cost_of[DAYBOOK_PLANNER], 100);
	ck_assert_int_eq(daybook_task_cost(&book.days[1]), 70);
	daybook_release(&book);
}
