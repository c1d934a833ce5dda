/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "fleet-pattern.h"

#include "progress-private.h"

/* In any case of letters. */
static const char *const shared[] = { "no space left", "enospc", "disk quota",
	"read-only file system", "input/output error", "too many open files",
	"cannot allocate memory", "could not resolve host", "enotfound",
	"eai_again", "temporary failure in name resolution",
	"name or service not known", "no such host", "network is unreachable",
	"no route to host", "connection refused", "econnrefused",
	"connection reset", "econnreset", "connection timed out", "etimedout",
	"certificate", "unauthorized", "authentication", "not logged in",
	"invalid api key", "credential", "permission denied (publickey",
	"command not found", "executable file not found", "no such program" };

bool
fleet_pattern_is_shared(const char *error)
{
	for (size_t i = 0; i < nitems(shared); i++)
		if (strcasestr(error, shared[i]) != NULL)
			return true;
	return false;
}

size_t
fleet_pattern_see(struct fleet_pattern *fleet, uint64_t signature,
    const char *worker, int64_t now_ms)
{
	uint64_t who = behaviour_hash(worker, strlen(worker));
	struct fleet_sighting *own = NULL;
	size_t workers = 1;
	bool told = false;

	for (size_t i = 0; i < FLEET_PATTERN_KEPT; i++) {
		struct fleet_sighting *s = &fleet->seen[i];

		if (s->worker == 0 || s->signature != signature ||
		    now_ms - s->at_ms > FLEET_PATTERN_MS)
			continue;
		told = told || s->told;
		if (s->worker == who)
			own = s;
		else
			workers++;
	}
	if (own == NULL)
		own = &fleet->seen[fleet->next++ % FLEET_PATTERN_KEPT];
	*own = (struct fleet_sighting){ signature, who, now_ms,
		told || workers >= FLEET_PATTERN_WORKERS };
	return !told && workers >= FLEET_PATTERN_WORKERS ? workers : 0;
}
