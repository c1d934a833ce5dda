/* SPDX-License-Identifier: ISC */

/* The rows of [plan] and [planner]: a part of settings-table.c, and for it
 * only. */
#ifndef SETTINGS_PLAN_H
#define SETTINGS_PLAN_H

#define SETTINGS_PLAN_ROWS                                                     \
	{ .path = "plan.enabled",                                              \
		.type = SETTING_BOOL,                                          \
		.fallback = "true",                                            \
		.flags = SETTING_RESTART,                                      \
		.help =                                                        \
		    "Work on goals: hand their ready nodes to auto workers, "  \
		    "and look after those that make no progress." },           \
	    { .path = "plan.tick_every",                                       \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"2m\"",                                      \
		    .min = 100,                                                \
		    .max = 24 * HOUR,                                          \
		    .help = "How often the assignments of all goals are "      \
			    "checked." },                                      \
	    { .path = "plan.idle_after",                                       \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"15m\"",                                     \
		    .min = 100,                                                \
		    .max = 7 * 24 * HOUR,                                      \
		    .help =                                                    \
			"An assignment without any activity for this long is " \
			"stalled." },                                          \
	    { .path = "plan.max_retries",                                      \
		    .type = SETTING_INT,                                       \
		    .fallback = "2",                                           \
		    .min = 0,                                                  \
		    .max = 100,                                                \
		    .help =                                                    \
			"How many times a stalled assignment is asked for "    \
			"its status before its recovery policy applies, "      \
			"which is to tell a person." },                        \
	    { .path = "plan.min_resend_interval",                              \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"5m\"",                                      \
		    .min = 0,                                                  \
		    .max = 24 * HOUR,                                          \
		    .help =                                                    \
			"The shortest time between two messages to the same "  \
			"assignment." },                                       \
	    { .path = "plan.backoff_base",                                     \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"2m\"",                                      \
		    .min = 100,                                                \
		    .max = 24 * HOUR,                                          \
		    .help = "How long to wait after a message to a stalled "   \
			    "assignment; doubled with each one." },            \
	    { .path = "plan.backoff_max",                                      \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"30m\"",                                     \
		    .min = 100,                                                \
		    .max = 7 * 24 * HOUR,                                      \
		    .help = "The longest of these waits." },                   \
	    { .path = "plan.allow_agents",                                     \
		    .type = SETTING_LIST,                                      \
		    .fallback = "[\"main\"]",                                  \
		    .help =                                                    \
			"Workers that may get work from goals: names, main "   \
			"for all auto workers, or * for every worker." },      \
	    { .path = "plan.allow_cross_agent",                                \
		    .type = SETTING_BOOL,                                      \
		    .fallback = "false",                                       \
		    .help =                                                    \
			"Also send messages to the workers of allow_agents "   \
			"that a person drives." },                             \
                                                                               \
	    { .path = "planner.command",                                       \
		    .type = SETTING_STRING,                                    \
		    .fallback = "\"\"",                                        \
		    .flags = SETTING_RUNS,                                     \
		    .help =                                                    \
			"Shell command that gets a prompt on standard input "  \
			"and prints the plan as JSON; empty means "            \
			"defaults.agent_command with -p." },                   \
	    { .path = "planner.model",                                         \
		    .type = SETTING_STRING,                                    \
		    .fallback = "\"\"",                                        \
		    .help =                                                    \
			"Model for the planner; empty means the agent's own "  \
			"default." },                                          \
	    { .path = "planner.max_phases",                                    \
		    .type = SETTING_INT,                                       \
		    .fallback = "5",                                           \
		    .min = 1,                                                  \
		    .max = 100,                                                \
		    .help = "Phases that a plan of the planner may have." },   \
	    { .path = "planner.max_tasks",                                     \
		    .type = SETTING_INT,                                       \
		    .fallback = "7",                                           \
		    .min = 1,                                                  \
		    .max = 100,                                                \
		    .help = "Tasks that each of its phases may have." },       \
	    { .path = "planner.max_subtasks",                                  \
		    .type = SETTING_INT,                                       \
		    .fallback = "7",                                           \
		    .min = 0,                                                  \
		    .max = 100,                                                \
		    .help = "Subtasks that each of its tasks may have." },     \
	    { .path = "planner.max_repair_attempts",                           \
		    .type = SETTING_INT,                                       \
		    .fallback = "2",                                           \
		    .min = 0,                                                  \
		    .max = 10,                                                 \
		    .help =                                                    \
			"How many times the planner may correct an answer "    \
			"that is not valid." },                                \
	    { .path = "planner.timeout",                                       \
		    .type = SETTING_DURATION,                                  \
		    .fallback = "\"5m\"",                                      \
		    .min = 100,                                                \
		    .max = 24 * HOUR,                                          \
		    .help = "How long one answer of the planner may take." },  \
	{                                                                      \
		.path = "planner.max_cost", .type = SETTING_AMOUNT,            \
		.fallback = "1", .min = 0, .max = 1000000000000,               \
		.help = "US dollars that one answer of the planner may cost; " \
			"0 = no limit."                                        \
	}

#endif
