/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "team-known.h"

struct team_known_id {
	TAILQ_ENTRY(team_known_id) entry;
	char id[];
};

void
team_known_init(struct team_known *known, size_t max)
{
	TAILQ_INIT(&known->list);
	known->max = max;
}

static void
drop(struct team_known *known, struct team_known_id *one)
{
	TAILQ_REMOVE(&known->list, one, entry);
	strmap_remove(&known->by_id, one->id);
	known->count--;
	free(one);
}

void
team_known_clear(struct team_known *known)
{
	struct team_known_id *one;

	while ((one = TAILQ_FIRST(&known->list)) != NULL)
		drop(known, one);
	strmap_release(&known->by_id);
}

void
team_known_add(struct team_known *known, const char *id, bool first)
{
	size_t size = strlen(id) + 1;
	struct team_known_id *one;

	if (team_known_has(known, id))
		return;
	one = xmalloc(sizeof *one + size);
	memcpy(one->id, id, size);
	strmap_add(&known->by_id, one->id, one);
	if (first)
		TAILQ_INSERT_HEAD(&known->list, one, entry);
	else
		TAILQ_INSERT_TAIL(&known->list, one, entry);
	if (known->count++ >= known->max)
		drop(known, TAILQ_FIRST(&known->list));
}

void
team_known_remove(struct team_known *known, const char *id)
{
	struct team_known_id *one = strmap_get(&known->by_id, id);

	if (one != NULL)
		drop(known, one);
}

bool
team_known_has(const struct team_known *known, const char *id)
{
	return strmap_get(&known->by_id, id) != NULL;
}
