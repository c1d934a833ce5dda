/* SPDX-License-Identifier: ISC */

/* Freezes a worker's commit and puts it into the landing queue. */
#ifndef OP_ENQUEUE_H
#define OP_ENQUEUE_H

struct agent;
struct core;
struct landings;
struct server_call;

/* The worker is accepting, and no operation is running on it. If it was
 * accepted without a commit that HEAD must be (worker->accepted_head),
 * leftovers are committed first. */
void op_enqueue(
    struct landings *landings, struct agent *agent, struct server_call *call);

/* The ref that holds the frozen commit of an item; the caller frees. */
char *op_enqueue_ref(const char *item);
/* The same for what was built of it last, on top of others. */
#define OP_ENQUEUE_BUILT ".built"
char *op_enqueue_built_ref(const char *item);
/* Remove both. */
void op_enqueue_drop_ref(struct core *core, const char *item);

#endif
