/* SPDX-License-Identifier: ISC */

/*
 * What shows that work was done: anchors, not the things themselves. And an
 * override: somebody said so instead. Pure. Everything is owned; NULL and
 * zeroes = nothing.
 */
#ifndef PLAN_EVIDENCE_H
#define PLAN_EVIDENCE_H

#include "plan-text.h"

struct err;
struct json_object;

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
