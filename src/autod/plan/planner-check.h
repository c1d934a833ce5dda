/* SPDX-License-Identifier: ISC */

/* Is an answer of the planner one that can be used here and now? */
#ifndef PLANNER_CHECK_H
#define PLANNER_CHECK_H

#include <stddef.h>

struct plan;
struct planner_result;
struct settings;

struct planner_answer {
	const char *text;
	size_t len;
	int repairs; /* how often it was asked again before */
};

/* As planner_judge(). plan: that of the goal now. node_id: the node that is to
 * be divided, NULL = it is a whole new plan; the other nodes that have started
 * must stay as they are. */
void planner_check_plan(const struct settings *settings,
    const struct plan *plan, const char *node_id,
    const struct planner_answer *answer, struct planner_result *ret_result);

#endif
