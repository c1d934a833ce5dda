/* SPDX-License-Identifier: ISC */

/* What the last landed tasks have cost, by kind: what others are compared with.
 * Tasks of one kind come from the same source, for the same card or role. One
 * that waits for others, or whose turns mail begins, is compared with nothing
 * and nothing with it. */
#ifndef OVERSIGHT_COSTS_H
#define OVERSIGHT_COSTS_H

#include <stdbool.h>
#include <stddef.h>

struct book;
struct cost_kind;
struct task;

/* Zeroes are the beginning. */
struct oversight_costs {
	struct cost_kind *kinds;
	size_t count;
	bool loaded;
};

/* Can what it uses be compared? */
bool oversight_costs_counts(const struct task *task);

/* Of the last tasks that are filed, once: it takes some milliseconds. */
void oversight_costs_load(struct oversight_costs *costs, struct book *book);
/* One more has landed. */
void
oversight_costs_add(struct oversight_costs *costs, const struct task *task);
/* US dollars; NAN = too few of its kind are known. */
double oversight_costs_estimate(
    const struct oversight_costs *costs, const struct task *task);
void oversight_costs_release(struct oversight_costs *costs);

#endif
