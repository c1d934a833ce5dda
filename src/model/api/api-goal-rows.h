/* SPDX-License-Identifier: ISC */

/* The methods for goals and plans: a part of the table in api.c, and for it
 * only. None is for agents: they report with their updates. */
#ifndef API_GOAL_ROWS_H
#define API_GOAL_ROWS_H

#define GOAL_ERRORS                          \
	ERRORS                               \
	{                                    \
		API_E_UNKNOWN, API_FAILED, 0 \
	}
#define GOAL_MOVE_ERRORS                                       \
	ERRORS                                                 \
	{                                                      \
		API_E_UNKNOWN, API_E_TRANSITION, API_FAILED, 0 \
	}
#define TREE_ERRORS                                                        \
	ERRORS                                                             \
	{                                                                  \
		API_E_UNKNOWN, API_E_CLOSED, API_E_EXISTS, API_E_STARTED,  \
		    API_E_ASSIGNED, API_E_CYCLE, API_E_LEVEL, API_E_LIMIT, \
		    API_E_CHILDREN, API_E_TRANSITION, API_FAILED, 0        \
	}

#define API_GOAL_ROWS                                                            \
	{ "overseer.status", "report how all goals are doing", API_ONESHOT,      \
		API_PERSON, &no_params, &api_goal_status_result,                 \
		ERRORS{ 0 } },                                                   \
	    { "overseer.goal.create",                                            \
		    "add a goal, with a plan or to be planned", API_ONESHOT,     \
		    API_PERSON, &api_goal_create_params, &api_goal_result,       \
		    GOAL_ERRORS },                                               \
	    { "overseer.goal.list",                                              \
		    "list the goals that are active or paused", API_ONESHOT,     \
		    API_PERSON, &no_params, &api_goal_list_result,               \
		    ERRORS{ API_FAILED, 0 } },                                   \
	    { "overseer.goal.show", "show a goal with its plan", API_ONESHOT,    \
		    API_PERSON, &api_goal_params, &api_goal_show_result,         \
		    GOAL_ERRORS },                                               \
	    { "overseer.goal.plan",                                              \
		    "give a goal a plan, or another one for what has not begun", \
		    API_ONESHOT, API_PERSON, &api_goal_plan_params,              \
		    &api_goal_result, TREE_ERRORS },                             \
	    { "overseer.plan.draft",                                             \
		    "make a plan for a goal, or keep one, without applying it",  \
		    API_ONESHOT | API_NAMED, API_PERSON,                         \
		    &api_plan_draft_params, &api_plan_draft_result,              \
		    ERRORS{ API_E_UNAUTHORIZED, API_E_NOT_FOUND,                 \
			API_E_INVALID_PLAN, API_E_CLOSED, API_E_STARTED,         \
			API_E_LIMIT, API_FAILED, 0 } },                          \
	    { "overseer.plan.apply",                                             \
		    "make a draft, or a plan that is given, the plan of its "    \
		    "goal, as far as it has not begun",                          \
		    API_ONESHOT | API_NAMED, API_PERSON,                         \
		    &api_plan_apply_params, &api_goal_result,                    \
		    ERRORS{ API_E_UNAUTHORIZED, API_E_NOT_FOUND,                 \
			API_E_INVALID_PLAN, API_E_CONFLICT, API_E_CLOSED,        \
			API_E_STARTED, API_E_CYCLE, API_E_LIMIT, API_FAILED,     \
			0 } },                                                   \
	    { "overseer.goal.update", "change what a goal says", API_ONESHOT,    \
		    API_PERSON, &api_goal_update_params, &api_goal_result,       \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_LIMIT,            \
			API_E_STARTED, API_E_ASSIGNED, API_E_LEVEL,              \
			API_CHANGED, API_FAILED, 0 } },                          \
	    { "overseer.goal.pause",                                             \
		    "begin nothing new of a goal; running turns finish",         \
		    API_ONESHOT, API_PERSON, &api_goal_move_params,              \
		    &api_goal_result, GOAL_MOVE_ERRORS },                        \
	    { "overseer.goal.resume", "continue a goal that is paused",          \
		    API_ONESHOT, API_PERSON, &api_goal_move_params,              \
		    &api_goal_result, GOAL_MOVE_ERRORS },                        \
	    { "overseer.goal.cancel",                                            \
		    "give a goal up; work in progress is salvaged",              \
		    API_ONESHOT, API_PERSON, &api_goal_move_params,              \
		    &api_goal_result, GOAL_MOVE_ERRORS },                        \
	    { "overseer.goal.archive",                                           \
		    "hide a goal that has ended from the lists", API_ONESHOT,    \
		    API_PERSON, &api_goal_move_params, &api_goal_result,         \
		    GOAL_MOVE_ERRORS },                                          \
	    { "overseer.work.list", "list the nodes of plans", API_ONESHOT,      \
		    API_PERSON, &api_work_list_params, &api_work_list_result,    \
		    GOAL_ERRORS },                                               \
	    { "overseer.work.show", "show a node of a plan", API_ONESHOT,        \
		    API_PERSON, &api_work_params, &api_work_show_result,         \
		    GOAL_ERRORS },                                               \
	    { "overseer.work.update",                                            \
		    "change the status or the priority of a node",               \
		    API_ONESHOT, API_PERSON, &api_work_update_params,            \
		    &api_work_result,                                            \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_TRANSITION,       \
			API_E_EVIDENCE, API_E_REASON, API_E_CHILDREN,            \
			API_FAILED, 0 } },                                       \
	    { "overseer.work.add", "add a node to a plan", API_ONESHOT,          \
		    API_PERSON, &api_work_add_params, &api_work_result,          \
		    TREE_ERRORS },                                               \
	    { "overseer.work.split", "split a node into several", API_ONESHOT,   \
		    API_PERSON, &api_work_split_params, &api_work_result,        \
		    TREE_ERRORS },                                               \
	    { "overseer.work.merge", "merge several nodes into one",             \
		    API_ONESHOT, API_PERSON, &api_work_merge_params,             \
		    &api_work_result, TREE_ERRORS },                             \
	    { "overseer.work.move", "move a node to another place",              \
		    API_ONESHOT, API_PERSON, &api_work_move_params,              \
		    &api_work_result, TREE_ERRORS },                             \
	    { "overseer.work.assign", "say which worker gets a node",            \
		    API_ONESHOT, API_PERSON, &api_work_assign_params,            \
		    &api_work_result,                                            \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_ASSIGNED,         \
			API_E_CHILDREN, API_FAILED, 0 } },                       \
	    { "overseer.tick",                                                   \
		    "compare the plans with what is done, now, and step in",     \
		    0, API_PERSON, &api_goal_tick_params,                        \
		    &api_goal_tick_result, ERRORS{ API_FAILED, 0 } },            \
	    { "overseer.wake", "have a tick soon", 0, API_PERSON, &no_params,    \
		    &nothing_result, ERRORS{ API_FAILED, 0 } },

#endif
