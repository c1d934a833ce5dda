/* SPDX-License-Identifier: ISC */

/* Private to reconcile.c: how an assignment, its node and its goal change, and
 * what replies and results mean for them; what a tick has decided. */
#ifndef RECONCILE_WORK_H
#define RECONCILE_WORK_H

#include "reconcile.h"

/* A tick. */
struct reconcile_run {
	struct plan_set *set;
	const struct reconcile_telemetry *telemetry;
	const struct reconcile_config *config;
	int64_t now_ms;
	struct reconcile_result *result;
};

/* One assigned node in it. */
struct reconcile_case {
	struct reconcile_run *run;
	struct plan *plan;
	struct plan_node *node;
	const struct reconcile_facts *facts; /* never NULL */
	bool may_dispatch; /* nothing is busy, the goal is active, and there is
			    * room for a decision */
};

/* The work on the node was changed. */
void reconcile_touch(struct reconcile_case *c);

/* Where the changes of its plan are collected. */
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

/* --- how an assignment changes ---------------------------------------- */

/* Move the assignment, with an event; false if the table forbids it, or it is
 * there already. code and reason say why (may be NULL). */
bool reconcile_move(struct reconcile_case *c, enum assignment_status to,
    const char *code, const char *reason);

/* The node is being worked on: in_progress, over the statuses before it. */
void reconcile_work_begin(struct reconcile_case *c);

/* There was a sign of life at that moment: the next update is due later, and
 * retries begin anew, unless it is only talk. */
void reconcile_progress(struct reconcile_case *c, int64_t at_ms);

/* How long it may be silent: its own, or the configured time. */
int64_t reconcile_idle_ms(
    const struct plan_work *work, const struct reconcile_config *config);

struct reconcile_message {
	enum reconcile_kind kind;
	enum dispatch_mode mode;
	const char *code, *reason, *text;
	bool same; /* the last dispatch again, with its id */
};

/* Record the dispatch, and decide to send it. */
void
reconcile_send(struct reconcile_case *c, const struct reconcile_message *m);

/* Tell a person, and wait for one: assignment and node are blocked. */
void reconcile_escalate(
    struct reconcile_case *c, const char *code, const char *words);

/* For the texts of prompt.h. */
struct nudge_facts
reconcile_text_facts(const struct plan_set *set, const struct plan_node *node);

/* Each returns true if the assignment needs nothing else in this tick: its goal
 * or its node has ended; its result was accepted; its update says that it is
 * blocked; its attempt failed or its worker is lost; its turn ended with a
 * question. */
bool reconcile_closed(struct reconcile_case *c);
bool reconcile_accepted(struct reconcile_case *c);
bool reconcile_updated(struct reconcile_case *c);
bool reconcile_failed(struct reconcile_case *c);
bool reconcile_asked(struct reconcile_case *c);

/* At the end of a tick: queue what became ready, and write the events and the
 * crystallizations of nodes and goals that changed. */
void reconcile_work_finish(struct reconcile_run *run);

#endif
