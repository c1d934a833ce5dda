/* SPDX-License-Identifier: ISC */

/*
 * What the graph of a plan says: how long it takes at least, what that hangs
 * on, and what keeps most other work waiting. Pure; O(n log n).
 *
 * Only open nodes without children count, with their estimated effort
 * (plan-node.h; PLAN_INSIGHT_EFFORT if it does not say), in turns. Who waits
 * for whom is as in plan-progress.h.
 */
#ifndef PLAN_INSIGHTS_H
#define PLAN_INSIGHTS_H

#include "work-record.h"

struct json_object;
struct plan;
struct plan_node;
struct schema;

#define PLAN_INSIGHT_EFFORT 12 /* medium */
#define PLAN_INSIGHTS_MAX   10 /* entries of each list */
#define PLAN_INSIGHTS_TRIED                               \
	64 /* nodes whose waiters are counted: those with \
	    * the longest way behind them, or the most    \
	    * nodes that depend on them */

struct plan_insight {
	const struct plan_node *node;
	const char *id, *name; /* its */
	enum node_status status;
	int64_t effort;
	int64_t start; /* it can begin after so much effort by others */
	int64_t after; /* the longest way from its end to the end of all */
	int64_t slack; /* so much later changes nothing; 0: it is critical */
	size_t direct; /* nodes that depend on it, or on one above it */
	size_t waiting; /* open leaves that wait for it, at any distance; 0 if
			 * that was not counted */
	bool ready;
};

struct plan_insights {
	const char *goal; /* its id */
	int64_t version; /* of its plan */
	int64_t effort; /* of all open leaves */
	int64_t length; /* of the critical path */
	size_t open, ready, blocked; /* leaves */
	struct plan_insight *leaves; /* open ones, in the order of the plan */
	/* Indices into leaves. */
	size_t *path; /* the critical path, first node first */
	size_t path_count;
	size_t bottlenecks[PLAN_INSIGHTS_MAX]; /* critical, with others that
						* wait: by how many */
	size_t bottleneck_count;
	size_t blockers[PLAN_INSIGHTS_MAX]; /* by how many wait for it */
	size_t blocker_count;
};

void plan_insights(const struct plan *plan, struct plan_insights *ret_insights);
void plan_insights_release(struct plan_insights *insights);
#define cleanup_plan_insights __attribute__((cleanup(plan_insights_release)))

/* Owned by the caller. */
struct json_object *plan_insights_to_json(const struct plan_insights *insights);
extern const struct schema plan_insights_schema;

/* --- recommendations ------------------------------------------------- */

/*
 * What should be done about a plan, the most useful first, with a score and the
 * reasons. Only recommendations: nothing is changed. Pure; O(n log n).
 *
 *   start    a ready node: by its priority, whether it is critical, what waits
 *   unblock  a blocked node: the same
 *   split    a node that is large, or failed before, and has not begun
 *   merge    small siblings that have not begun
 *   reorder  a critical node that is ready, but has a lower priority than
 *            another ready one that is not
 */

enum recommend_kind {
	RECOMMEND_START,
	RECOMMEND_UNBLOCK,
	RECOMMEND_SPLIT,
	RECOMMEND_MERGE,
	RECOMMEND_REORDER,
	RECOMMEND_KIND_COUNT
};

extern const char *const recommend_kind_words[RECOMMEND_KIND_COUNT + 1];

#define RECOMMEND_MAX   20
#define RECOMMEND_LARGE 24 /* turns: this is to be split */
#define RECOMMEND_SMALL 3 /* this can be merged with others */

struct recommendation {
	enum recommend_kind kind;
	int score; /* 1 to 100 */
	char **nodes; /* ids */
	char **reasons;
	char *command; /* to type; NULL = auto mode does it by itself */
};

struct recommendations {
	struct recommendation *list;
	size_t count; /* at most RECOMMEND_MAX */
};

void
plan_recommend(const struct plan *plan, const struct plan_insights *insights,
    struct recommendations *ret_recommendations);
void recommendations_release(struct recommendations *recommendations);
#define cleanup_recommendations \
	__attribute__((cleanup(recommendations_release)))

extern const struct schema recommendation_schema;
/* An array; owned by the caller. */
struct json_object *
recommendations_to_json(const struct recommendations *recommendations);

#endif
