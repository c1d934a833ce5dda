/* SPDX-License-Identifier: ISC */

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
#ifndef PLAN_RECOMMEND_H
#define PLAN_RECOMMEND_H

struct json_object;
struct schema;
struct plan;
struct plan_insights;

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
