/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mail-rate.h"
#include "mem.h"

struct mail_sent {
	char *from;
	int64_t ms;
};

void
mail_rate_release(struct mail_rate *rate)
{
	for (size_t i = 0; i < rate->count; i++)
		free(rate->list[i].from);
	free(rate->list);
	*rate = (struct mail_rate){ 0 };
}

static bool
is_recent(int64_t ms, int64_t now_ms)
{
	return ms <= now_ms && now_ms - ms < MAIL_RATE_MS;
}

void
mail_rate_add(
    struct mail_rate *rate, const char *from, int64_t ms, int64_t now_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < rate->count; i++)
		if (is_recent(rate->list[i].ms, now_ms))
			rate->list[count++] = rate->list[i];
		else
			free(rate->list[i].from);
	rate->count = count;
	if (!is_recent(ms, now_ms))
		return;
	if (rate->count == rate->room) {
		rate->room = rate->room * 2 + 16;
		rate->list =
		    xreallocarray(rate->list, rate->room, sizeof *rate->list);
	}
	rate->list[rate->count++] =
	    (struct mail_sent){ .from = xstrdup(from), .ms = ms };
}

size_t
mail_rate_count(const struct mail_rate *rate, const char *from, int64_t now_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < rate->count; i++)
		count += is_recent(rate->list[i].ms, now_ms) &&
		    strcmp(rate->list[i].from, from) == 0;
	return count;
}
