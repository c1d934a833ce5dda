/* SPDX-License-Identifier: ISC */

/* Private to reconcile*.c: one run of the tick, and what it gives. */
#ifndef RECONCILE_OUT_H
#define RECONCILE_OUT_H

#include "reconcile.h"

struct reconcile_run {
	struct plan_set *set;
	const struct reconcile_telemetry *telemetry;
	const struct reconcile_config *config;
	int64_t now_ms;
	struct reconcile_result *result;
};

/* One assignment in it. */
struct reconcile_case {
	struct reconcile_run *run;
	struct plan_assignment *assignment;
	struct plan *plan; /* NULL = it belongs to no plan */
	struct plan_node *node; /* NULL the same */
	const struct reconcile_facts *facts; /* never NULL */
	bool may_dispatch; /* nothing is busy, the goal is active, and there is
			    * room for a decision */
};

/* The assignment's record was changed. */
void reconcile_touch(struct reconcile_case *c);
/* Where the changes of its plan are collected; NULL if it has none. */
struct plan_changes *reconcile_changes(struct reconcile_case *c);

/* An event about the assignment. Takes data (may be NULL). */
void reconcile_tell(
    struct reconcile_case *c, const char *type, struct json_object *data);

/* The same about a node, or (node_id NULL) a goal. */
void reconcile_tell_node(struct reconcile_result *out, const char *type,
    const char *goal_id, const char *node_id, struct json_object *data);
/* Data for an event: keys and strings, then NULL; a string that is NULL is left
 * out. */
struct json_object *
reconcile_data(const char *key, ...) __attribute__((sentinel));

/* A decision about the assignment; strings are copied, those but code may be
 * NULL. With a dispatch_id the mode counts. */
struct reconcile_words {
	const char *code, *reason, *text, *dispatch_id;
	enum dispatch_mode mode;
};
void reconcile_decide(struct reconcile_case *c, enum reconcile_kind kind,
    const struct reconcile_words *words);

/* Takes the crystallization and puts it into the set, unless its id is there
 * already. */
void
reconcile_add_crystal(struct reconcile_run *run, struct plan_crystal *crystal);

#endif
