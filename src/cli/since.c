/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "mem.h"
#include "moment.h"
#include "since.h"
#include "text.h"

#define DAY_LEN 10 /* "2026-01-31" */

bool
since_parse(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	cleanup_free char *stamp = NULL;
	int64_t age = 0;

	if (text_parse_duration(text, &age)) {
		*ret_ms = now_ms - age;
		return true;
	}
	stamp = strlen(text) == DAY_LEN ? xasprintf("%sT00:00:00.000Z", text) :
					  xstrdup(text);
	return moment_parse(stamp, ret_ms);
}
