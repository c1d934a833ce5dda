/* SPDX-License-Identifier: ISC */

/* The ids of the newest records, open or ended; the oldest is forgotten when
 * there are too many. All zero but for team_known_init() at first. */
#ifndef TEAM_KNOWN_H
#define TEAM_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "strmap.h"

struct team_known_id;
TAILQ_HEAD(team_known_list, team_known_id);

struct team_known {
	struct team_known_list list; /* the oldest first */
	struct strmap by_id;
	size_t count, max;
};

void team_known_init(struct team_known *known, size_t max);
void team_known_clear(struct team_known *known);

/* first: it is older than all that are known. */
void team_known_add(struct team_known *known, const char *id, bool first);
void team_known_remove(struct team_known *known, const char *id);
bool team_known_has(const struct team_known *known, const char *id);

#endif
