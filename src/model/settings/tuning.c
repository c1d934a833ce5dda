/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "tuning.h"

#define MINUTE ((int64_t)60 * 1000)
#define BLANKS " \n"
#define HOUR   (60 * MINUTE)

#define DEFAULTS                                                              \
	{                                                                     \
		.outage_limit = 6 * HOUR, .plan_tick = 2 * MINUTE,            \
		.plan_retries = 2, .slice = 10 * MINUTE, .slice_tools = 30,   \
		.daemon_start = MINUTE, .daemon_stop = MINUTE / 2,            \
		.same_failures = 5, .remediations = 20, .team_depth = 3,      \
		.answer_wait = 10 * MINUTE, .look_least = MINUTE, .trial = 1, \
		.admission = 1, .host_lease = 5 * MINUTE,                     \
		.host_beat = MINUTE / 3, .host_poll = MINUTE / 2,             \
	}

#define ROW(member)                                      \
	{                                                \
#member, offsetof(struct tuning, member) \
	}

static const struct {
	const char *name;
	size_t at;
} rows[] = {
	ROW(outage_limit),
	ROW(plan_tick),
	ROW(plan_retries),
	ROW(slice),
	ROW(slice_tools),
	ROW(expected_iterations),
	ROW(daemon_start),
	ROW(daemon_stop),
	ROW(same_failures),
	ROW(remediations),
	ROW(answer_wait),
	ROW(trial),
	ROW(admission),
	ROW(team_depth),
	ROW(host_lease),
	ROW(host_beat),
	ROW(host_poll),
	ROW(look_least),
};

struct tuning tuning = DEFAULTS;

/* One "name=number". */
static bool
set(struct tuning *numbers, const char *text, size_t len)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		size_t name = strlen(rows[i].name);
		cleanup_free char *number = NULL;

		if (len <= name || text[name] != '=' ||
		    strncmp(text, rows[i].name, name) != 0)
			continue;
		number = xstrndup(text + name + 1, len - name - 1);
		return text_parse_int(number, 0, 365 * 24 * HOUR,
		    (int64_t *)(void *)((char *)numbers + rows[i].at));
	}
	return false;
}

bool
tuning_read(const char *text)
{
	struct tuning numbers = DEFAULTS;
	bool good = true;

	for (; text != NULL && *(text += strspn(text, BLANKS)) != '\0';
	     text += strcspn(text, BLANKS))
		good &= set(&numbers, text, strcspn(text, BLANKS));
	tuning = numbers;
	return good;
}
