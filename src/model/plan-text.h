/* SPDX-License-Identifier: ISC */

/* The bounds of what the records of a plan hold, and what all of them need to
 * keep to these. Pure. */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include "schema.h"

#define PLAN_ID_MAX          64 /* bytes */
#define PLAN_NAME_MAX        512
#define PLAN_LINE_MAX        4096 /* an entry of a list, a short text */
#define PLAN_TEXT_MAX        8192 /* a text; a summary */
#define PLAN_INSTRUCTION_MAX 16384
#define PLAN_LIST_MAX        200 /* entries */

/* NULL, empty, or blanks only. */
bool plan_blank(const char *s);

/* Replace an owned string by a copy of at most max bytes, cut between
 * characters; NULL clears it. The text may be the old string. */
void plan_cut(char **to, const char *text, size_t max);

/* Is the string in the list? NULL is empty. */
bool plan_has(char *const *list, const char *s);

/* Replace an owned list by a copy of another one; an empty one becomes NULL. */
void plan_set_list(char ***to, char *const *from);

/* Fields of these records. */
#define PLAN_MUST(owner, key, member, ...) \
	SCHEMA_FIELD(                      \
	    owner, key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)
#define PLAN_MAY(owner, key, member, ...) \
	SCHEMA_FIELD(                     \
	    owner, key, member, .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)
/* What earlier versions kept, and nobody read: old records may have it. */
#define PLAN_GONE(key)                                    \
	{                                                 \
		.name = (key), .type = SCHEMA_ANY,        \
		.flags = SCHEMA_OPTIONAL | SCHEMA_PRIVATE \
	}
#define PLAN_LIST(owner, key, member) \
	PLAN_MAY(                     \
	    owner, key, member, .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX)
#define PLAN_MOMENT(owner, key, member) \
	PLAN_MAY(owner, key, member,    \
	    .help = "milliseconds since 1970; absent: never")

#endif
