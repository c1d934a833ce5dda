/* SPDX-License-Identifier: ISC */

/* Random values for property tests, the same ones for the same seed. */
#ifndef DICE_H
#define DICE_H

#include "base.h"

struct dice {
	uint64_t state; /* not 0 */
};

static inline uint64_t
dice_next(struct dice *dice)
{
	uint64_t x = dice->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	dice->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 to count - 1. */
static inline unsigned
dice_below(struct dice *dice, unsigned count)
{
	return (unsigned)((dice_next(dice) >> 33) % count);
}

static inline bool
dice_coin(struct dice *dice)
{
	return dice_below(dice, 2) == 1;
}

/* Up to max bytes, made of random pieces. */
static inline void
dice_text(struct dice *dice, const char *const *pieces, unsigned count,
    size_t max, struct buf *out)
{
	for (unsigned left = dice_below(dice, 12); left > 0 && out->len < max;
	     left--)
		buf_adds(out, pieces[dice_below(dice, count)]);
}

#endif
