/* SPDX-License-Identifier: ISC */

/* Members of a record that are rolled by dice, and compared one by one: a
 * record that swaps two of them would print the same. */
#ifndef MEMBER_DICE_H
#define MEMBER_DICE_H

#include "unit.h"

struct member {
	enum member_kind {
		MEMBER_TEXT,
		MEMBER_BOOL,
		MEMBER_COUNT, /* int */
		MEMBER_SUM, /* 64 bits */
		MEMBER_TIME, /* the same, up to now */
		MEMBER_WORD /* of an enum */
	} kind;
	size_t at;
	unsigned words;
};

#define MEMBER(owner, type, member, n)                    \
	{                                                 \
		MEMBER_##type, offsetof(owner, member), n \
	}

/* NULL, or a text that is hard to print. */
static inline void
member_roll_text(struct dice *dice, char **member)
{
	static const char *const pieces[] = { "a", "\"", "\\", "\n", "\t",
		"\x01", "\x7f", "/", "\xc3\xa9", "\xf0\x9f\xa4\x96", "{}", " ",
		"\xe2\x80\xa8" };
	cleanup_buf struct buf text = BUF_INIT;

	if (dice_below(dice, 4) == 0)
		return;
	dice_text(dice, pieces, nitems(pieces), 64, &text);
	xstrset(member, text.data);
}

static inline void
member_roll(struct dice *dice, const struct member *members, size_t count,
    void *record, int64_t now_ms)
{
	for (const struct member *m = members; m < members + count; m++) {
		void *at = (char *)record + m->at;

		switch (m->kind) {
		case MEMBER_TEXT:
			member_roll_text(dice, at);
			break;
		case MEMBER_BOOL:
			*(bool *)at = dice_coin(dice);
			break;
		case MEMBER_COUNT:
			*(int *)at = (int)(dice_next(dice) >> 33);
			break;
		case MEMBER_SUM:
			*(int64_t *)at = (int64_t)(dice_next(dice) >> 1);
			break;
		case MEMBER_TIME:
			*(int64_t *)at =
			    (int64_t)(dice_next(dice) % ((uint64_t)now_ms + 1));
			break;
		case MEMBER_WORD:
			*(unsigned *)at = dice_below(dice, m->words);
			break;
		}
	}
}

static inline void
member_assert_same(
    const struct member *members, size_t count, const void *a, const void *b)
{
	static const size_t sizes[] = { [MEMBER_BOOL] = sizeof(bool),
		[MEMBER_COUNT] = sizeof(int),
		[MEMBER_SUM] = sizeof(int64_t),
		[MEMBER_TIME] = sizeof(int64_t),
		[MEMBER_WORD] = sizeof(unsigned) };

	for (const struct member *m = members; m < members + count; m++) {
		const void *one = (const char *)a + m->at;
		const void *other = (const char *)b + m->at;

		ck_assert_msg(m->kind == MEMBER_TEXT ?
			text_same(*(char *const *)one, *(char *const *)other) :
			memcmp(one, other, sizes[m->kind]) == 0,
		    "the member at %zu", m->at);
	}
}

#endif
