/* SPDX-License-Identifier: ISC */

/* The chain of the landing queue: the entries in order, each on top of the one
 * before it, as far as they are built; and what the checks say of each step. */
#ifndef LANDING_CHAIN_H
#define LANDING_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "landing-plan.h"

enum landing_verdict {
	LANDING_OPEN, /* not judged, or not often enough */
	LANDING_PASS,
	LANDING_FAIL,
};

/* Steps are the links that change something, counted from 1; 0 is the base. */
struct landing_chain {
	size_t steps[LANDING_WINDOW_MAX + 1]; /* index of the link */
	int count;
	bool complete; /* nothing has to be built first */
	size_t build; /* otherwise: this entry on top of the last step */
	bool building; /* a build is running */
};

/* Fills links, order, places and red of the plan. */
void landing_chain_make(const struct landing_facts *facts,
    struct landing_plan *plan, struct landing_chain *ret_chain);

const char *landing_chain_tree(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_chain *chain,
    int step);

/* One failure is enough to look for its cause below the step; but to blame the
 * step itself, CHECK_BOOK_BLAME failures are needed. */
enum landing_verdict landing_chain_verdict(
    const struct landing_facts *facts, const char *tree, bool blame);

#endif
