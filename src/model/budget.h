/* SPDX-License-Identifier: ISC */

/* What may be spent on a task and in a day, and when that is reached. Costs are
 * millionths of a dollar; 0 = no bound. */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

struct budget {
	int64_t tokens, cost, time_ms;
	int turns;
};

/* Has `spent` reached `budget`, more being granted? Then the words say what,
 * how much, and the setting's name ("budget.task_tokens"): appended to words.
 * prefix is "task" or "day". */
bool budget_reached(const struct budget *budget, const struct budget *granted,
    const struct budget *spent, const char *prefix, struct buf *words);

/* What a fleet spent on one day. */
struct budget_day {
	int64_t day; /* days since 1970 in the machine's zone, by the caller */
	int64_t tokens, cost;
	int64_t tokens_allowed, cost_allowed; /* granted for this day */
};

/* Add to it; another day begins at nothing. */
void budget_spend(
    struct budget_day *day, int64_t today, int64_t tokens, int64_t cost);

/* "$1.25", "$0.004"; "1,204,332 tokens". Appended. */
void budget_add_cost(struct buf *out, int64_t cost);
void budget_add_tokens(struct buf *out, int64_t tokens);

#endif
