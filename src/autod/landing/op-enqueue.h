/* SPDX-License-Identifier: ISC */

/* Freezes a worker's commit and puts it into the landing queue. */
#ifndef OP_ENQUEUE_H
#define OP_ENQUEUE_H

#include "git-freeze.h"

struct agent;
struct core;
struct err;
struct landings;
struct server_call;
struct worker;

struct freeze_rules {
	struct git_freeze what;
	const char *forbidden[3]; /* what.forbidden */
	char worktrees[PATH_MAX];
};

/* Only the paths. */
void freeze_rules_paths(struct freeze_rules *rules, const struct core *core);

/* expected: the commit that HEAD must be, NULL = any. Everything is borrowed;
 * rules must stay where it is. */
void freeze_rules_init(struct freeze_rules *rules, const struct core *core,
    const struct worker *worker, const char *expected);

/* Say why it is refused (enum git_freeze_refusal, not 0). -ESTALE if HEAD is
 * not the expected commit, otherwise -EPERM: the worker must change something.
 */
int freeze_rules_refuse(const struct core *core, const struct worker *worker,
    const char *expected, const struct git_frozen *frozen, unsigned refused,
    struct err *err);

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
