/* SPDX-License-Identifier: ISC */

/* The rows of [team]: a part of settings-table.c, and for it only. */
#ifndef SETTINGS_TEAM_H
#define SETTINGS_TEAM_H

#define SETTINGS_TEAM_ROWS                                                     \
	{ .path = "team.enabled",                                              \
		.type = SETTING_BOOL,                                          \
		.fallback = "true",                                            \
		.help = "Let agents spawn other agents for parts of their "    \
			"tasks, if plan.enabled is true." },                   \
	    { .path = "team.max_depth",                                        \
		    .type = SETTING_INT,                                       \
		    .fallback = "3",                                           \
		    .min = 1,                                                  \
		    .max = 100,                                                \
		    .help = "How deep agents may spawn other agents: a "       \
			    "worker is at depth 1, and those that it spawns "  \
			    "at depth 2." },                                   \
	    { .path = "team.max_concurrent",                                   \
		    .type = SETTING_INT,                                       \
		    .fallback = "10",                                          \
		    .min = 0,                                                  \
		    .max = 1000,                                               \
		    .help = "How many agents that others spawned may be at "   \
			    "work; those that wait for others do not count, "  \
			    "and none of them counts in auto.concurrency." },  \
	    { .path = "team.max_children",                                     \
		    .type = SETTING_INT,                                       \
		    .fallback = "5",                                           \
		    .min = 1,                                                  \
		    .max = 1000,                                               \
		    .help = "How many of them may work for one agent." },      \
	    { .path = "team.allowed_roles",                                    \
		    .type = SETTING_LIST,                                      \
		    .fallback = "[]",                                          \
		    .help = "The roles that they may have, such as coder and " \
			    "reviewer; empty means every role." },             \
	    { .path = "team.provider_limits",                                  \
		    .type = SETTING_LIST,                                      \
		    .fallback = "[]",                                          \
		    .form = FORM_PROVIDER,                                     \
		    .help = "How many of them may use the models of a "        \
			    "provider (openai=1 for openai/...; a model "      \
			    "without one is of anthropic), or models whose "   \
			    "names begin with a word (claude-opus=2)." },      \
	{                                                                      \
		.path = "team.on_parent_end", .type = SETTING_CHOICE,          \
		.fallback = "\"cancel\"", .choices = parent_ends,              \
		.help = "What becomes of them when the agent that "            \
			"spawned them ends without its result: cancel (their " \
			"work is kept), or hand_over (to the agent above it)." \
	}

#endif
