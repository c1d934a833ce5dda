/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "hierarchy.h"

enum hierarchy_verdict
hierarchy_may_spawn(const struct hierarchy_place *place)
{
	if (place->depth < 0 || place->max_depth <= 0 ||
	    place->local_max_depth <= 0)
		return HIERARCHY_MALFORMED;
	if (place->depth >= place->max_depth)
		return HIERARCHY_GLOBAL_LIMIT;
	if (place->depth >= place->local_max_depth)
		return HIERARCHY_LOCAL_LIMIT;
	return HIERARCHY_ALLOW;
}

const char *
hierarchy_reason(enum hierarchy_verdict verdict)
{
	switch (verdict) {
	case HIERARCHY_ALLOW:
		return NULL;
	case HIERARCHY_MALFORMED:
		return "malformed";
	case HIERARCHY_GLOBAL_LIMIT:
		return "depth_limit_exceeded";
	case HIERARCHY_LOCAL_LIMIT:
		break;
	}
	return "local_limit_exceeded";
}

struct hierarchy_place
hierarchy_child(
    const struct hierarchy_place *parent, int requested, bool *ret_clamped)
{
	bool clamped = requested > parent->local_max_depth;
	int limit =
	    requested <= 0 || clamped ? parent->local_max_depth : requested;

	if (ret_clamped != NULL)
		*ret_clamped = clamped;
	return (struct hierarchy_place){ .depth = parent->depth + 1,
		.max_depth = parent->max_depth,
		.local_max_depth = limit };
}

struct hierarchy_place
hierarchy_root_worker(int max_depth)
{
	const struct hierarchy_place overseer = { 0, max_depth, max_depth };

	return hierarchy_child(&overseer, 0, NULL);
}

int
hierarchy_deepest(const struct hierarchy_place *place)
{
	int limit = place->local_max_depth < place->max_depth ?
	    place->local_max_depth :
	    place->max_depth;

	return limit > place->depth ? limit : place->depth;
}
