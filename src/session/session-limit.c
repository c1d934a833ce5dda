/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "limit.h"
#include "moment.h"
#include "session-limit.h"

int64_t
session_limit_look_ms(enum limit_class class, const char *text, int tries)
{
	int64_t now = clock_wall_ms(), named = 0;
	struct limit_reset reset = { 0 };

	if (limit_reset_parse(text, &reset)) {
		named = reset.at_ms;
		/* A minute that has begun is not over. */
		if (named == 0 && reset.hour >= 0)
			named = time_zone_next(
				    &(struct zone_time){ reset.month, reset.day,
					reset.hour, reset.minute, reset.zone },
				    now - LIMIT_MINUTE_MS) +
			    LIMIT_MINUTE_MS;
	}
	return limit_look_again_ms(
	    class, named, reset.at_ms > 0 || reset.month > 0, tries, now);
}
