/* SPDX-License-Identifier: ISC */

/* The methods for goals and plans, and for delegation: parts of the table in
 * api.c, and for it only. */
#ifndef API_ROWS_H
#define API_ROWS_H

/* --- goals and plans --------------------------------------------------- */

/* None is for agents: they report with their updates. */

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
		API_PERSON, API_REACH_PERSON, &no_params,                        \
		&api_goal_status_result, ERRORS{ 0 } },                          \
	    { "overseer.goal.create",                                            \
		    "add a goal, with a plan or to be planned", API_ONESHOT,     \
		    API_PERSON, API_REACH_PERSON, &api_goal_create_params,       \
		    &api_goal_result, GOAL_ERRORS },                             \
	    { "overseer.goal.list",                                              \
		    "list the goals that are active or paused", API_ONESHOT,     \
		    API_PERSON, API_REACH_PERSON, &no_params,                    \
		    &api_goal_list_result, ERRORS{ API_FAILED, 0 } },            \
	    { "overseer.goal.show", "show a goal with its plan", API_ONESHOT,    \
		    API_PERSON, API_REACH_PERSON, &api_goal_params,              \
		    &api_goal_show_result, GOAL_ERRORS },                        \
	    { "overseer.goal.plan",                                              \
		    "give a goal a plan, or another one for what has not begun", \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_goal_plan_params, &api_goal_result, TREE_ERRORS },      \
	    { "overseer.plan.draft",                                             \
		    "make a plan for a goal, or keep one, without applying it",  \
		    API_ONESHOT | API_NAMED, API_PERSON, API_REACH_PERSON,       \
		    &api_plan_draft_params, &api_plan_draft_result,              \
		    ERRORS{ API_E_UNAUTHORIZED, API_E_NOT_FOUND,                 \
			API_E_INVALID_PLAN, API_E_CLOSED, API_E_STARTED,         \
			API_E_LIMIT, API_FAILED, 0 } },                          \
	    { "overseer.plan.apply",                                             \
		    "make a draft, or a plan that is given, the plan of its "    \
		    "goal, as far as it has not begun",                          \
		    API_ONESHOT | API_NAMED, API_PERSON, API_REACH_PERSON,       \
		    &api_plan_apply_params, &api_goal_result,                    \
		    ERRORS{ API_E_UNAUTHORIZED, API_E_NOT_FOUND,                 \
			API_E_INVALID_PLAN, API_E_CONFLICT, API_E_CLOSED,        \
			API_E_STARTED, API_E_CYCLE, API_E_LIMIT, API_FAILED,     \
			0 } },                                                   \
	    { "overseer.goal.update", "change what a goal says", API_ONESHOT,    \
		    API_PERSON, API_REACH_PERSON, &api_goal_update_params,       \
		    &api_goal_result,                                            \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_LIMIT,            \
			API_E_STARTED, API_E_ASSIGNED, API_E_LEVEL,              \
			API_CHANGED, API_FAILED, 0 } },                          \
	    { "overseer.goal.pause",                                             \
		    "begin nothing new of a goal; running turns finish",         \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_goal_move_params, &api_goal_result,                     \
		    GOAL_MOVE_ERRORS },                                          \
	    { "overseer.goal.resume", "continue a goal that is paused",          \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_goal_move_params, &api_goal_result,                     \
		    GOAL_MOVE_ERRORS },                                          \
	    { "overseer.goal.cancel",                                            \
		    "give a goal up; work in progress is salvaged",              \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_goal_move_params, &api_goal_result,                     \
		    GOAL_MOVE_ERRORS },                                          \
	    { "overseer.goal.archive",                                           \
		    "hide a goal that has ended from the lists", API_ONESHOT,    \
		    API_PERSON, API_REACH_PERSON, &api_goal_move_params,         \
		    &api_goal_result, GOAL_MOVE_ERRORS },                        \
	    { "overseer.work.list", "list the nodes of plans", API_ONESHOT,      \
		    API_PERSON, API_REACH_PERSON, &api_work_list_params,         \
		    &api_work_list_result, GOAL_ERRORS },                        \
	    { "overseer.work.show", "show a node of a plan", API_ONESHOT,        \
		    API_PERSON, API_REACH_PERSON, &api_work_params,              \
		    &api_work_show_result, GOAL_ERRORS },                        \
	    { "overseer.work.update",                                            \
		    "change the status or the priority of a node",               \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_work_update_params, &api_work_result,                   \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_TRANSITION,       \
			API_E_EVIDENCE, API_E_REASON, API_E_CHILDREN,            \
			API_E_ASSIGNED, API_FAILED, 0 } },                       \
	    { "overseer.work.add", "add a node to a plan", API_ONESHOT,          \
		    API_PERSON, API_REACH_PERSON, &api_work_add_params,          \
		    &api_work_result, TREE_ERRORS },                             \
	    { "overseer.work.split", "split a node into several", API_ONESHOT,   \
		    API_PERSON, API_REACH_PERSON, &api_work_split_params,        \
		    &api_work_result, TREE_ERRORS },                             \
	    { "overseer.work.merge", "merge several nodes into one",             \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_work_merge_params, &api_work_result, TREE_ERRORS },     \
	    { "overseer.work.move", "move a node to another place",              \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_work_move_params, &api_work_result, TREE_ERRORS },      \
	    { "overseer.work.assign", "say which worker gets a node",            \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                   \
		    &api_work_assign_params, &api_work_result,                   \
		    ERRORS{ API_E_UNKNOWN, API_E_CLOSED, API_E_ASSIGNED,         \
			API_E_CHILDREN, API_FAILED, 0 } },                       \
	    { "overseer.tick",                                                   \
		    "compare the plans with what is done, now, and step in",     \
		    0, API_PERSON, API_REACH_PERSON, &api_goal_tick_params,      \
		    &api_goal_tick_result, ERRORS{ API_FAILED, 0 } },            \
	    { "overseer.wake", "have a tick soon", 0, API_PERSON,                \
		    API_REACH_PERSON, &no_params, &nothing_result,               \
		    ERRORS{ API_FAILED, 0 } },

/* --- delegation -------------------------------------------------------- */

/* Those with API_TOOL are the tools of llmc mcp; the help is what the agent
 * reads. */

#define TEAM_TOOL(tool, reach, words, params, ...)                           \
	{                                                                    \
		"team." tool, words, API_TOOL, API_WORKER, reach, &(params), \
		    &api_team_answer, ERRORS                                 \
		{                                                            \
			__VA_ARGS__                                          \
		}                                                            \
	}

#define API_TEAM_ROWS                                                                     \
	TEAM_TOOL("report_progress", API_REACH_NOTHING,                                   \
	    "Report your progress. It returns at once; at most one "                      \
	    "report in 30 seconds and 100 in a run are kept.",                            \
	    api_team_progress_params, API_E_RATE, API_FAILED, 0),                         \
	    TEAM_TOOL("report_completion", API_REACH_NOTHING,                             \
		"Report how your work ended. Call it as your very last tool, "            \
		"when everything is committed.",                                          \
		api_team_completion_params, API_FAILED, 0),                               \
	    TEAM_TOOL("agent_spawn", API_REACH_SHARED,                                    \
		"Have other agents do parts of your task, each in a worktree "            \
		"of its own that starts from the default branch, at the same "            \
		"time; what they commit lands there by itself. Not for small "            \
		"tasks or steps that build on each other. Results come to you "           \
		"by themselves: with nothing else to do, end your turn. What is "         \
		"denied, do yourself.",                                                   \
		api_team_spawn_params, API_E_UNAUTHORIZED, API_E_INVALID_PLAN,            \
		API_E_NOT_FOUND, API_FAILED, 0),                                          \
	    TEAM_TOOL("agent_status", API_REACH_NOTHING,                                  \
		"See how the agents below you are doing: those that you "                 \
		"spawned, and those that they spawned; and how deep you are, "            \
		"and how deep agents may be. You need not poll: results "                 \
		"come by themselves.",                                                    \
		api_team_status_params, API_E_NOT_FOUND, API_FAILED, 0),                  \
	    TEAM_TOOL("mail_send", API_REACH_MESSAGE,                                     \
		"Send mail to your parent, to an agent that works for you, or "           \
		"to a person. It is recorded, and reaches the other session "             \
		"by itself; do not wait for it. Your result needs no mail: "              \
		"end with report_completion. Use kind instruction with ack_required for " \
		"what must be done, info for what is good to know, alert for "            \
		"what cannot wait. To ask a question and wait for its "                   \
		"answer, use request_orchestrator. At most 20 pieces in a "               \
		"minute.",                                                                \
		api_team_send_params, API_E_UNAUTHORIZED, API_E_NOT_FOUND,                \
		API_E_RATE, API_FAILED, 0),                                               \
	    TEAM_TOOL("mail_inbox", API_REACH_NOTHING,                                    \
		"Read your mail, the newest first. New mail reaches you by "              \
		"itself: use this to read what was cut or came earlier.",                 \
		api_team_inbox_params, API_E_NOT_FOUND, API_FAILED, 0),                   \
	    TEAM_TOOL("mail_ack", API_REACH_NOTHING,                                      \
		"Confirm mail that asks for it, when you have acted on it; "              \
		"it is given to you again until you do.",                                 \
		api_team_ack_params, API_E_NOT_FOUND, API_FAILED, 0),                     \
	    TEAM_TOOL("mail_reserve", API_REACH_SHARED,                                   \
		"Reserve files or folders that you are about to change, so "              \
		"that no other agent changes them. All of them or none are "              \
		"reserved, until you release them, their time is over, or "               \
		"your task ends. Reserve again to have them for longer. At "              \
		"most 10, all within the scope of your task, and never the whole "        \
		"repository.",                                                            \
		api_team_reserve_params, API_E_CONFLICT, API_E_INVALID_PLAN,              \
		API_E_UNAUTHORIZED, API_E_RATE, API_FAILED, 0),                           \
	    TEAM_TOOL("mail_release", API_REACH_NOTHING,                                  \
		"Release what you have reserved.", api_team_release_params,               \
		API_E_NOT_FOUND, API_E_INVALID_PLAN, API_FAILED, 0),                      \
	    TEAM_TOOL("mail_list_reservations", API_REACH_NOTHING,                        \
		"See what is reserved, and by whom.", api_team_no_params,                 \
		API_FAILED, 0),                                                           \
	    TEAM_TOOL("request_orchestrator", API_REACH_MESSAGE,                          \
		"Ask the agent that you work for a question, or without one a "           \
		"person, and wait for the answer: only what you cannot decide "           \
		"yourself, at most 5 in a minute. If the status is not resolved, "        \
		"decide yourself; a later answer comes as mail.",                         \
		api_team_request_params, API_E_RATE, API_E_UNAUTHORIZED,                  \
		API_FAILED, 0),                                                           \
	    TEAM_TOOL("respond_orchestrator_request", API_REACH_MESSAGE,                  \
		"Answer a question of an agent that works for you. It waits "             \
		"for you, so do it before anything else. The first answer "               \
		"counts.",                                                                \
		api_team_respond_params, API_E_NOT_FOUND, API_E_CONFLICT,                 \
		API_E_UNAUTHORIZED, API_FAILED, 0),                                       \
	    TEAM_TOOL("plan_review_needed", API_REACH_NOTHING,                            \
		"Say that your task cannot be done as it is planned, and "                \
		"why: its scope is too small, it depends on something that "              \
		"is missing, or it should be split. A person finds it in "                \
		"llmc asks; you go on with what can be done.",                            \
		api_team_review_params, API_E_NOT_FOUND, API_FAILED, 0),                  \
	    { "request.answer", "answer a question of an agent", API_ONESHOT,             \
		    API_PERSON, API_REACH_PERSON, &api_request_answer_params,             \
		    &api_request_result,                                                  \
		    ERRORS{                                                               \
			API_E_NOT_FOUND, API_E_CONFLICT, API_FAILED, 0 } },               \
	    { "mail.send", "send mail to an agent", API_ONESHOT, API_PERSON,              \
		    API_REACH_PERSON, &api_mail_send_params,                              \
		    &api_mail_sent_result,                                                \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "mail.deliver", "take mail for an agent from another host", 0,              \
		    API_PERSON, API_REACH_PERSON, &api_mail_deliver_params,               \
		    &api_mail_sent_result,                                                \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "mail.inbox", "list mail", API_ONESHOT, API_PERSON,                         \
		    API_REACH_PERSON, &api_mail_inbox_params,                             \
		    &api_mail_list_result,                                                \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "mail.show", "show one piece of mail", API_ONESHOT, API_PERSON,             \
		    API_REACH_PERSON, &api_mail_params, &api_mail_result,                 \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "mail.ack", "confirm mail that was sent to a person",                       \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                            \
		    &api_mail_params, &api_mail_result,                                   \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "reservation.list", "list what agents have reserved",                       \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON, &no_params,                \
		    &api_reservation_list_result, ERRORS{ API_FAILED, 0 } },              \
	    { "reservation.release", "release what an agent has reserved",                \
		    API_ONESHOT, API_PERSON, API_REACH_PERSON,                            \
		    &api_reservation_params, &api_reservation_result,                     \
		    ERRORS{ API_E_NOT_FOUND, API_FAILED, 0 } },                           \
	    { "team.tree", "show who spawned whom, and how they are doing",               \
		    API_ONESHOT, ALL, API_REACH_SIGHT, &no_params,                        \
		    &api_team_tree_result, ERRORS{ API_FAILED, 0 } },

#endif
