/* SPDX-License-Identifier: ISC */

/*
 * How deep agents may stand below each other. The overseer has depth 0. Pure.
 *
 *   child.depth           = parent.depth + 1
 *   child.max_depth       = parent.max_depth
 *   child.local_max_depth = the smaller one of its parent's and of what was
 *                           asked for
 *
 * A child whose local_max_depth is below its own depth is a leaf: it is made,
 * and may have no children.
 */
#ifndef HIERARCHY_H
#define HIERARCHY_H

/* The place of an agent in the tree. */
struct hierarchy_place {
	int depth;
	int max_depth; /* of the whole tree */
	int local_max_depth; /* of what is below this agent */
};

enum hierarchy_verdict {
	HIERARCHY_ALLOW,
	HIERARCHY_MALFORMED, /* no place of a tree */
	HIERARCHY_GLOBAL_LIMIT,
	HIERARCHY_LOCAL_LIMIT,
};

/* May an agent at this place have children? */
enum hierarchy_verdict hierarchy_may_spawn(const struct hierarchy_place *place);
/* The code of a denial: "depth_limit_exceeded" (of the tree),
 * "local_limit_exceeded", "malformed"; NULL = allowed. */
const char *hierarchy_reason(enum hierarchy_verdict verdict);

/* The greatest depth of an agent below this place, or its own depth. */
int hierarchy_deepest(const struct hierarchy_place *place);

/* The place of its child. requested: the local limit that was asked for, 0 or
 * less = that of the parent. ret_clamped (may be NULL): more was asked for than
 * the parent has. */
struct hierarchy_place hierarchy_child(
    const struct hierarchy_place *parent, int requested, bool *ret_clamped);

/* The place of an agent that nobody spawned: directly below the overseer. */
struct hierarchy_place hierarchy_root_worker(int max_depth);

#endif
