/* SPDX-License-Identifier: ISC */

/* Takes landed commits back: one more commit through the landing queue. */
#ifndef REVERT_H
#define REVERT_H

struct landing_item;
struct landings;
struct server_call;

/* Answers when the new commit is on the branch, or cannot be. commit: an id, 7
 * digits or more. */
void revert_begin(
    struct landings *landings, const char *commit, struct server_call *call);

/* Because something failed, and nobody waits for the answer: EVENT_REVERTED, or
 * the policy's not_reverted, says how it ended. */
struct revert_order {
	const char *commit; /* full id, on the branch */
	const char *restored; /* what the branch is to be again; NULL = as
			       * before this commit */
	int undoes; /* with that: commits of record->own */
	const char *title, *message; /* of the new commit */
	const char *why;
};

void
revert_enqueue(struct landings *landings, const struct revert_order *order);
/* Is such a revert of this commit in the queue? */
bool revert_is_queued(const struct landings *landings, const char *commit);

#endif
