/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "backoff.h"

#define SECOND 1000
#define HOUR   (3600 * SECOND)

const struct backoff backoff_dirty = { 60 * SECOND, HOUR, 10 };
const struct backoff backoff_git = { SECOND, 30 * SECOND, 6 };
const struct backoff backoff_outage = { 30 * SECOND, 900 * SECOND, 0 };
const struct backoff backoff_usage = { 300 * SECOND, HOUR, 0 };
const struct backoff backoff_crash = { SECOND, 300 * SECOND, 0 };

bool
backoff_next(const struct backoff *backoff, int tries, int64_t *ret_wait_ms)
{
	int64_t wait = backoff->first_ms;

	if (backoff->tries_max > 0 && tries >= backoff->tries_max)
		return false;
	while (tries-- > 0 && wait < backoff->max_ms)
		wait = wait > backoff->max_ms / 2 ? backoff->max_ms : wait * 2;
	*ret_wait_ms = wait < backoff->max_ms ? wait : backoff->max_ms;
	return true;
}
