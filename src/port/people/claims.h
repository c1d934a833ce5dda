/* SPDX-License-Identifier: ISC */

/* The entries of an outbox that a process holds, each once, for as long as
 * something of it is sent. */
#ifndef CLAIMS_H
#define CLAIMS_H

#include <sys/queue.h>

struct outbox_entry;

struct claim {
	LIST_ENTRY(claim) link;
	struct outbox_entry *entry;
	int sendings;
};

LIST_HEAD(claims, claim);

/* NULL = it is not held. */
struct claim *claims_find(const struct claims *claims, const char *id);
/* The one that is held, or a new one, or what outbox_claim() says. */
int claims_take(struct claims *claims, const char *dir, const char *id,
    struct claim **ret_claim);
/* Nothing while something of it is sent. */
void claim_release(struct claim *claim);

#endif
