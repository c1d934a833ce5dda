/* SPDX-License-Identifier: ISC */

/* How much a task and a day may cost, and when that is reached. Costs are in
 * millionths of a dollar; 0 = no limit. */
#ifndef BUDGET_H
#define BUDGET_H

struct buf;

struct budget {
	int64_t tokens, cost, time_ms;
	int turns;
};

/* Has `spent` reached `budget` plus what was granted? If so, append the reason:
 * what was reached, how much, and the setting ("budget.task_tokens"). prefix is
 * "task" or "day". */
bool budget_reached(const struct budget *budget, const struct budget *granted,
    const struct budget *spent, const char *prefix, struct buf *words);

/* What the fleet spent on one day. */
struct budget_day {
	int64_t day; /* days since 1970 in local time, set by the caller */
	int64_t tokens, cost;
	int64_t tokens_allowed, cost_allowed; /* granted for this day */
};

/* Add to it; a new day starts at zero. A cost below zero takes back what was
 * estimated too high. */
void budget_spend(
    struct budget_day *day, int64_t today, int64_t tokens, int64_t cost);

/* "$1.25", "$0.004"; "1,204,332 tokens". Appended. */
void budget_add_cost(struct buf *out, int64_t cost);
void budget_add_tokens(struct buf *out, int64_t tokens);

#endif
