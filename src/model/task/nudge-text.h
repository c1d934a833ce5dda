/* SPDX-License-Identifier: ISC */

/*
 * Texts for a worker on a node of a plan: how to report, a request for its
 * status, and the request that follows a reply without an update. Everything is
 * appended to the caller's buf.
 *
 * The same facts give the same text.
 */
#ifndef NUDGE_TEXT_H
#define NUDGE_TEXT_H

struct buf;

/* Strings may be NULL if unknown. */
struct nudge_facts {
	const char *goal_id;
	const char *goal_title;
	const char *node_id;
	const char *node_name;
};

/* How to report: the fenced block, its key and members. */
void nudge_text_contract(const struct nudge_facts *facts, struct buf *out);

/* Ask for Status, Next and Blockers, or DONE with evidence, and for the
 * update. */
void nudge_text_status(const struct nudge_facts *facts, struct buf *out);

/* After a reply without a valid update. why: what is wrong with it
 * (update_find()); NULL = there was none. */
void nudge_text_follow_up(
    const struct nudge_facts *facts, const char *why, struct buf *out);

/* In front of the instruction, when a person has unblocked the node. words:
 * what they said; NULL = nothing. */
void nudge_text_unblocked(const char *words, struct buf *out);

/* For a person: what needs one, why, and what to type afterwards. */
void nudge_text_escalation(
    const struct nudge_facts *facts, const char *reason, struct buf *out);

#endif
