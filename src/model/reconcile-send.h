/* SPDX-License-Identifier: ISC */

/* Private to reconcile*.c: messages to workers and to people, each recorded as
 * a dispatch of its assignment. */
#ifndef RECONCILE_SEND_H
#define RECONCILE_SEND_H

#include "nudge-text.h"
#include "reconcile-out.h"

struct reconcile_message {
	enum reconcile_kind kind;
	enum dispatch_mode mode;
	const char *code, *reason, *text;
	bool same; /* the last dispatch again, with its id */
};

/* Record the dispatch, and decide to send it. */
void
reconcile_send(struct reconcile_case *c, const struct reconcile_message *m);

/* One retry more: the next message has to wait. */
void reconcile_count_retry(struct reconcile_case *c);

/* Tell a person, and wait for one: assignment and node are blocked. */
void reconcile_escalate(
    struct reconcile_case *c, const char *code, const char *words);

/* To a session that there is, or to a fresh worker. */
enum dispatch_mode reconcile_mode(const struct reconcile_case *c);

/* Append the instruction; without one, the request for the status, which names
 * the node. */
void reconcile_instruction(const struct reconcile_case *c, struct buf *out);

/* For nudge-text.h. */
struct nudge_facts reconcile_text_facts(const struct reconcile_case *c);

#endif
