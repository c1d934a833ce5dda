/* SPDX-License-Identifier: ISC */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "json.h"
#include "mem.h"
#include "proxy-request.h"
#include "refusals.h"

#define TELL_MS 500

struct told {
	struct proxy_target target;
	int64_t at_ms; /* 0 = never */
};

struct refusals {
	char *worker, *socket;
	struct told list[REFUSALS_KEPT];
	int64_t minute_ms; /* when the running minute began */
	int in_minute;
};

struct refusals *
refusals_new(const char *worker, const char *socket)
{
	struct refusals *refusals = xcalloc(1, sizeof *refusals);

	refusals->worker = xstrdup(worker);
	refusals->socket = xstrdup(socket);
	return refusals;
}

/* The entry of this target, or the oldest one. */
static struct told *
find(struct refusals *refusals, const struct proxy_target *target)
{
	struct told *oldest = &refusals->list[0];

	for (size_t i = 0; i < REFUSALS_KEPT; i++) {
		struct told *told = &refusals->list[i];

		if (told->at_ms != 0 && told->target.port == target->port &&
		    strcmp(told->target.host, target->host) == 0)
			return told;
		if (told->at_ms < oldest->at_ms)
			oldest = told;
	}
	oldest->at_ms = 0;
	return oldest;
}

static bool
has_time(struct refusals *refusals, int64_t now)
{
	if (refusals->minute_ms == 0 ||
	    now - refusals->minute_ms >= REFUSALS_MINUTE_MS) {
		refusals->minute_ms = now;
		refusals->in_minute = 0;
	}
	return refusals->in_minute++ < REFUSALS_A_MINUTE;
}

void
refusals_add(struct refusals *refusals, const struct proxy_target *target)
{
	int64_t now = clock_mono_ms() + 1; /* never 0 */
	struct told *told = find(refusals, target);
	cleanup_json struct json_object *params = NULL;

	if (refusals->socket[0] == '\0' ||
	    (told->at_ms != 0 && now - told->at_ms < REFUSALS_AGAIN_MS) ||
	    !has_time(refusals, now))
		return;
	params = json_object_new_object();
	json_set_string(params, "worker", refusals->worker);
	json_object_object_add(
	    params, "host", json_object_new_string(target->host));
	json_object_object_add(
	    params, "port", json_object_new_int((int)target->port));
	if (client_call(refusals->socket, REFUSALS_METHOD, params, TELL_MS,
		false, NULL, NULL, NULL) < 0)
		return;
	told->target = *target;
	told->at_ms = now;
}
