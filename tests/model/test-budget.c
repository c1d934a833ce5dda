/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "account.h"

static const struct budget nothing;

/* words NULL: not reached. */
static void
assert_reached(const struct budget *budget, const struct budget *granted,
    const struct budget *spent, const char *prefix, const char *words)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, ">");
	ck_assert_int_eq(budget_reached(budget, granted, spent, prefix, &out),
	    words != NULL);
	ck_assert_str_eq(out.data + 1, words != NULL ? words : "");
}

TEST(no_bound_is_never_reached)
{
	struct budget spent = { INT64_MAX, INT64_MAX, INT64_MAX, 1 << 30 };
	struct budget below = { -1, -1, -1, -1 };

	assert_reached(&nothing, &nothing, &spent, "task", NULL);
	assert_reached(&below, &nothing, &spent, "task", NULL);
}

TEST(each_bound_is_reached_by_itself_and_named)
{
	struct budget budget = { 1000000, 2500000, 3600000, 10 };

	assert_reached(&budget, &nothing,
	    &(struct budget){ 999999, 2499999, 3599999, 9 }, "task", NULL);
	assert_reached(&budget, &nothing, &(struct budget){ .tokens = 1204332 },
	    "task",
	    "1,204,332 tokens used of 1,000,000 tokens (budget.task_tokens)");
	assert_reached(&budget, &nothing, &(struct budget){ .cost = 2500000 },
	    "task", "$2.50 used of $2.50 (budget.task_cost)");
	assert_reached(&budget, &nothing, &(struct budget){ .turns = 10 },
	    "task", "10 turns used of 10 turns (budget.task_turns)");
	assert_reached(&budget, &nothing,
	    &(struct budget){ .time_ms = 3660000 }, "task",
	    "1h1m used of 1h (budget.task_time)");
	assert_reached(&budget, &nothing, &(struct budget){ .cost = 3000000 },
	    "day", "$3.00 used of $2.50 (budget.day_cost)");
	assert_reached(&budget, &nothing,
	    &(struct budget){ .tokens = 1000000, .turns = 11 }, "task",
	    "1,000,000 tokens used of 1,000,000 tokens (budget.task_tokens); "
	    "11 turns used of 10 turns (budget.task_turns)");
}

TEST(what_is_granted_comes_on_top)
{
	struct budget budget = { .tokens = 100, .cost = INT64_MAX, .turns = 1 };
	struct budget granted = { .tokens = 50, .cost = 5, .turns = 1 };

	assert_reached(&budget, &granted,
	    &(struct budget){
		.tokens = 149, .cost = INT64_MAX - 1, .turns = 1 },
	    "task", NULL);
	assert_reached(&budget, &granted, &(struct budget){ .tokens = 150 },
	    "task",
	    "150 tokens used of 150 tokens (budget.task_tokens and 50 tokens "
	    "granted)");
	/* Without a limit there is nothing to grant. */
	assert_reached(&nothing, &granted, &(struct budget){ .tokens = 999 },
	    "task", NULL);
}

TEST(another_day_begins_at_nothing)
{
	struct budget_day day = { 0 };

	budget_spend(&day, 20000, 10, 20);
	budget_spend(&day, 20000, 1, 2);
	ck_assert_int_eq(day.day, 20000);
	ck_assert_int_eq(day.tokens, 11);
	ck_assert_int_eq(day.cost, 22);
	day.tokens_allowed = 5;
	day.cost_allowed = 6;
	budget_spend(&day, 20000, 0, 0);
	ck_assert_int_eq(day.tokens_allowed, 5);
	budget_spend(&day, 20001, 0, 0);
	ck_assert_int_eq(day.day, 20001);
	ck_assert_int_eq(day.tokens, 0);
	ck_assert_int_eq(day.cost, 0);
	ck_assert_int_eq(day.tokens_allowed, 0);
	ck_assert_int_eq(day.cost_allowed, 0);
	budget_spend(&day, 20000, 7, 8); /* the time zone was changed */
	ck_assert_int_eq(day.day, 20000);
	ck_assert_int_eq(day.tokens, 7);
}

TEST(sums_end_at_the_largest_number_and_at_zero)
{
	struct budget_day day = { .day = 1, .tokens = INT64_MAX - 1 };

	budget_spend(&day, 1, 5, INT64_MAX);
	budget_spend(&day, 1, INT64_MAX, 1);
	ck_assert_int_eq(day.tokens, INT64_MAX);
	ck_assert_int_eq(day.cost, INT64_MAX);
	/* A cost that was estimated too high is taken back, no token is. */
	budget_spend(&day, 1, -5, -7);
	ck_assert_int_eq(day.tokens, INT64_MAX);
	ck_assert_int_eq(day.cost, INT64_MAX - 7);
	budget_spend(&day, 1, 0, INT64_MIN);
	ck_assert_int_eq(day.cost, 0);
}

TEST(costs_are_told_as_exact_as_it_is_worth)
{
	static const struct {
		int64_t cost;
		const char *words;
	} cases[] = {
		{ 0, "$0.00" },
		{ 1, "$0.000001" },
		{ 400, "$0.0004" },
		{ 4000, "$0.004" },
		{ 9999, "$0.009999" },
		{ 10000, "$0.01" },
		{ 12345, "$0.012" },
		{ 12500, "$0.013" },
		{ 250000, "$0.25" },
		{ 999499, "$0.999" },
		{ 999500, "$1.00" },
		{ 1000000, "$1.00" },
		{ 1250000, "$1.25" },
		{ 1254999, "$1.25" },
		{ 1255000, "$1.26" },
		{ 1999999, "$2.00" },
		{ 12345678900, "$12,345.68" },
		{ INT64_MAX, "$9,223,372,036,854.78" },
		{ -4000, "-$0.004" },
		{ INT64_MIN, "-$9,223,372,036,854.78" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf out = BUF_INIT;

		budget_add_cost(&out, cases[i].cost);
		ck_assert_str_eq(out.data, cases[i].words);
	}
}

TEST(tokens_are_told_in_groups)
{
	static const struct {
		int64_t tokens;
		const char *words;
	} cases[] = {
		{ 0, "0 tokens" },
		{ 1, "1 token" },
		{ 999, "999 tokens" },
		{ 1000, "1,000 tokens" },
		{ 1204332, "1,204,332 tokens" },
		{ -1000, "-1,000 tokens" },
		{ INT64_MIN, "-9,223,372,036,854,775,808 tokens" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf out = BUF_INIT;

		budget_add_tokens(&out, cases[i].tokens);
		ck_assert_str_eq(out.data, cases[i].words);
	}
}
