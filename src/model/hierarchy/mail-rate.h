/* SPDX-License-Identifier: ISC */

/* How much mail agents send: who has sent how many pieces of late. Pure; times
 * are wall clock milliseconds. */
#ifndef MAIL_RATE_H
#define MAIL_RATE_H

#include <stddef.h>
#include <stdint.h>

#define MAIL_RATE_MAX 20 /* pieces of a sender ... */
#define MAIL_RATE_MS  (60 * 1000) /* ... in this time */

/* All zero at first. */
struct mail_rate {
	struct mail_sent *list;
	size_t count, room;
};

void mail_rate_release(struct mail_rate *rate);

/* Mail of this sender was made then. What is too old at now_ms, or newer than
 * it, is forgotten. */
void mail_rate_add(
    struct mail_rate *rate, const char *from, int64_t ms, int64_t now_ms);
size_t
mail_rate_count(const struct mail_rate *rate, const char *from, int64_t now_ms);

#endif
