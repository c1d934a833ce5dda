/* SPDX-License-Identifier: ISC */

/* The bounds of what the records of a plan hold, and what all of them need to
 * keep to these. Pure. */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include "schema.h"

struct err;
struct json_object;

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
/* Fields that earlier versions wrote: old records may have them, they are not
 * used. */
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

/* --- evidence -------------------------------------------------------- */

/*
 * What shows that work was done: anchors, not the things themselves. And an
 * override: a person said so instead. Pure. Everything is owned; NULL and
 * zeroes = nothing.
 */

struct plan_evidence {
	char **files_touched;
	char **commands_run; /* without secrets: the caller masks them */
	char **tests_run; /* with their results */
	char **commits;
	char **prs;
	char **issues;
	char **external_refs;
};

/* Is there anything? NULL is nothing. */
bool plan_evidence_any(const struct plan_evidence *evidence);

/* Add what is not there yet, as far as the bounds allow. */
void plan_evidence_merge(
    struct plan_evidence *evidence, const struct plan_evidence *more);

/* Reading refuses unknown keys: -EINVAL, *ret is unchanged then. */
int plan_evidence_from_json(struct json_object *json, const char *at,
    struct plan_evidence *ret, struct err *err);

void plan_evidence_release(struct plan_evidence *evidence);

extern const struct schema plan_evidence_schema;

/* Why a status does not follow from the rules. */
struct plan_override {
	char *actor; /* NULL = there is no override */
	char *reason;
	int64_t at_ms;
};

/* API_E_REASON without an actor or a reason. */
int plan_override_set(struct plan_override *override, const char *actor,
    const char *reason, int64_t now_ms, struct err *err);

void plan_override_release(struct plan_override *override);

extern const struct schema plan_override_schema;

#endif
