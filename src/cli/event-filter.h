/* SPDX-License-Identifier: ISC */

/* Which events a person wants to see: about these workers, these tasks, this
 * goal, of these kinds. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include <stdbool.h>

#include "cli.h"

struct json_object;

/* Each list ends with NULL; an empty one excludes nothing. Strings are
 * borrowed. */
struct event_filter {
	const char *workers[CLI_GIVEN_MAX + 1];
	const char *tasks[CLI_GIVEN_MAX + 1];
	const char *kinds[CLI_GIVEN_MAX + 1];
	const char *goal; /* its id or a part of it, NULL = any */
};

/* Is the record of auto.log wanted? filter: a struct event_filter. */
bool event_filter_wants(struct json_object *record, const void *filter);

/* Is there a kind of that name? */
bool event_filter_is_kind(const char *name);
/* All of them, with blanks between them; appended. */
void event_filter_add_kinds(struct buf *out);

#endif
