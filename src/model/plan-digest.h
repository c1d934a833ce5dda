/* SPDX-License-Identifier: ISC */

/* All open goals in a few lines, for llmc status: bounded, whatever the plans.
 * Pure. */
#ifndef PLAN_DIGEST_H
#define PLAN_DIGEST_H

struct json_object;
struct plan_set;
struct schema;

#define PLAN_DIGEST_GOALS 20 /* that are listed */
#define PLAN_DIGEST_TITLE 80 /* bytes of a title */

/* set NULL: goals are off for this reason. The caller owns the object. */
struct json_object *plan_digest(const struct plan_set *set, const char *reason);

extern const struct schema plan_digest_shape;

#endif
