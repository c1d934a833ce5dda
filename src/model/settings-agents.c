/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "settings-agents.h"

const struct setting settings_agent_keys[] = {
	{ .path = SETTINGS_AGENT "description",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "What the agent is good at, in a sentence. Agents that may "
		    "start others read it." },
	{ .path = SETTINGS_AGENT "model",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Model of the agent; empty means the one of the worker "
		    "that runs it." },
	{ .path = SETTINGS_AGENT "thinking",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .form = FORM_EFFORT,
	    .help = "How hard the agent thinks." },
	{ .path = SETTINGS_AGENT "tags",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Words and short phrases that llmc agents suggest looks "
		    "for in a task. Case does not matter; one with less than "
		    "three letters is ignored." },
	{ .path = SETTINGS_AGENT "cost_tier",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .form = FORM_COST,
	    .help = "What the agent costs, compared with the others." },
	{ .path = SETTINGS_AGENT "typical_latency",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "How long the agent usually takes, such as 90s." },
	{ .path = SETTINGS_AGENT "notes",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "What else whoever chooses the agent should know." },
	{ .path = SETTINGS_AGENT "tools",
	    .type = SETTING_LIST,
	    .fallback = "[\"*\"]",
	    .form = FORM_TOOL,
	    .help = "Tools that the agent has; [\"*\"] is every tool. "
		    "report_progress and report_completion of llmc need not "
		    "be named." },
};

const size_t settings_agent_key_count = nitems(settings_agent_keys);
