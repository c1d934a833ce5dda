/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-effort.h"

#include <strings.h>

static const struct {
	const char *word;
	int64_t iterations;
} table[] = {
	{ "xs", 3 },
	{ "trivial", 3 },
	{ "tiny", 3 },
	{ "s", 6 },
	{ "small", 6 },
	{ "low", 6 },
	{ "m", 12 },
	{ "medium", 12 },
	{ "moderate", 12 },
	{ "l", 24 },
	{ "large", 24 },
	{ "high", 24 },
	{ "xl", 48 },
	{ "huge", 48 },
};

int64_t
plan_effort_iterations(const char *effort)
{
	const char *fault = NULL;
	int64_t number;

	if (effort == NULL)
		return -1;
	for (size_t i = 0; i < nitems(table); i++)
		if (strcasecmp(effort, table[i].word) == 0)
			return table[i].iterations;
	number = strtonum(effort, 1, PLAN_EFFORT_MAX, &fault);
	return fault == NULL ? number : -1;
}
