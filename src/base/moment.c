/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <time.h>

#include "moment.h"

bool
moment_parse(const char *stamp, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	const char *end = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ms = 0, unit = 100;

	if (end == NULL)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ms += (*end - '0') * unit;
	if (strcmp(end, "Z") != 0)
		return false;
	*ret_ms = (int64_t)timegm(&tm) * 1000 + ms;
	return true;
}

bool
moment_parse_compact(const char *name, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	const char *end = strptime(name, "%Y%m%dT%H%M%SZ", &tm);

	if (end == NULL || (*end != '\0' && *end != '-'))
		return false;
	*ret_ms = (int64_t)timegm(&tm) * 1000;
	return true;
}

/* False for a year that no struct tm can hold. */
static bool
to_local(int64_t wall_ms, struct tm *ret_tm)
{
	time_t seconds = (time_t)(wall_ms / 1000);

	return localtime_r(&seconds, ret_tm) != NULL;
}

void
moment_add(struct buf *out, int64_t wall_ms)
{
	struct tm tm;
	char text[64];

	if (to_local(wall_ms, &tm) &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) > 0)
		buf_adds(out, text);
	else
		buf_adds(out, "?");
}

void
moment_add_age(struct buf *out, int64_t ms)
{
	text_add_duration(out, ms > 0 ? ms / 1000 * 1000 : 0);
}
