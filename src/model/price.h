/* SPDX-License-Identifier: ISC */

/* What tokens cost. Prices are in millionths of a dollar for a million tokens;
 * a model that no row names has no known price: it is never guessed. */
#ifndef PRICE_H
#define PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "usage.h"

struct price {
	char model[USAGE_MODEL_SIZE]; /* a name, or a pattern: * and ? */
	int64_t of[USAGE_KINDS];
};

/* The prices of the API on this day, compiled in. */
#define PRICE_AS_OF "2026-11-15"
extern const struct price price_defaults[];
extern const size_t price_defaults_count;

/* A person's own rows, which come before the defaults. */
struct price_list {
	struct price *rows; /* owned */
	size_t count;
};

/* The row for a model, NULL = unknown: the one with the most characters that
 * are not wildcards, a name before a pattern, an own row before a default. own
 * may be NULL. */
const struct price *price_find(const struct price_list *own, const char *model);

/* What this costs: millionths of a dollar, rounded once, and the number of
 * tokens whose price is not known, which are not part of it. */
struct price_sum {
	int64_t cost;
	int64_t unpriced;
};
struct price_sum
price_of(const struct price_list *own, const struct usage *usage);

#endif
