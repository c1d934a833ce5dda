/* SPDX-License-Identifier: ISC */

/*
 * Every configuration key there is. A new key is one row here and a use
 * elsewhere; the example file and the manual are made from it
 * (`llmc config doc`), and a test holds them together.
 */
#include "settings.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

static const char *const dirty_checkouts[] = { "wait", "overlap", NULL };

static const char *const permission_modes[] = { "bypassPermissions",
	"acceptEdits", "dontAsk", "plan", "auto", "default", NULL };

const struct setting settings_table[] = {
	{ .path = "repo.default_branch",
	    .type = SETTING_STRING,
	    .derived =
		"the branch that origin/HEAD names, else the one that is "
		"checked out",
	    .help = "Branch that work lands on." },
	{ .path = "repo.worktree_dir",
	    .type = SETTING_PATH,
	    .fallback = "\".worktrees\"",
	    .flags = SETTING_RESTART,
	    .help = "Folder of the workers' worktrees; a relative path starts "
		    "at the top of the repository." },
	{ .path = "repo.branch_prefix",
	    .type = SETTING_STRING,
	    .fallback = "\"llmc/\"",
	    .flags = SETTING_RESTART,
	    .help = "Put before a worker's name to name its branch." },
	{ .path = "repo.dirty_checkout",
	    .type = SETTING_CHOICE,
	    .fallback = "\"wait\"",
	    .choices = dirty_checkouts,
	    .help = "When your checkout of the default branch has changes, a "
		    "landing waits; with overlap only when it touches the "
		    "same files." },
	{ .path = "repo.push",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Push the default branch to origin after a landing." },
	{ .path = "repo.run_hooks",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Run the repository's git hooks in commits that llmc "
		    "makes." },
	{ .path = "repo.strip_attribution",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Take the agent's attribution lines out of landed commit "
		    "messages." },
	{ .path = "repo.max_conflicts",
	    .type = SETTING_INT,
	    .fallback = "3",
	    .min = 0,
	    .max = 100,
	    .help = "How often a worker is asked to resolve a conflict before "
		    "a person is." },

	{ .path = "defaults.agent_command",
	    .type = SETTING_STRING,
	    .fallback = "\"claude\"",
	    .help = "Program a worker runs: a name to find on PATH, or a "
		    "path." },
	{ .path = "defaults.model",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Model given to the agent; empty leaves the choice to "
		    "it." },
	{ .path = "defaults.permission_mode",
	    .type = SETTING_CHOICE,
	    .fallback = "\"bypassPermissions\"",
	    .choices = permission_modes,
	    .help =
		"What the agent may do without asking; an unattended worker "
		"has nobody to ask." },
	{ .path = "defaults.allowed_tools",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Tools the agent may use without asking." },
	{ .path = "defaults.disallowed_tools",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Tools taken from the agent, besides those that ask a "
		    "person." },
	{ .path = "defaults.append_system_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Text added to the agent's system prompt." },
	{ .path = "defaults.extra_args",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Further arguments for the agent, as they are." },
	{ .path = "defaults.isolate",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Leave out the user's and the project's own agent "
		    "settings, hooks and MCP servers." },
	{ .path = "defaults.role_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Text put before every task." },
	{ .path = "defaults.excluded_from_pool",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Not chosen by llmc start without a name." },
	{ .path = "defaults.self_review",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Have the agent look over its work before a person does." },
	{ .path = "defaults.self_review_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"Look over your last commit as a strict reviewer "
			"would. Mend what you find and amend the commit.\"",
	    .help = "What it is told then." },
	{ .path = "defaults.hang_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"30m\"",
	    .min = 1 * SECOND,
	    .max = 24 * HOUR,
	    .help = "No sign of life of any kind for this long means that a "
		    "working agent hangs." },
	{ .path = "defaults.start_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"15s\"",
	    .min = 100,
	    .max = HOUR,
	    .help = "How long an agent may take to report that its session "
		    "has begun." },

	{ .path = "daemon.patrol_interval",
	    .type = SETTING_DURATION,
	    .fallback = "\"30s\"",
	    .min = 100,
	    .max = HOUR,
	    .help = "How often the daemon compares what it knows with what "
		    "there is." },

	{ .path = "tmux.command",
	    .type = SETTING_STRING,
	    .fallback = "\"tmux\"",
	    .flags = SETTING_RESTART,
	    .help = "The tmux program: a name to find on PATH, or a path." },
	{ .path = "tmux.socket",
	    .type = SETTING_STRING,
	    .derived = "llmc- and a hash of the repository's path",
	    .flags = SETTING_RESTART,
	    .help = "Name of the tmux server's socket (tmux -L NAME)." },
	{ .path = "tmux.columns",
	    .type = SETTING_INT,
	    .fallback = "120",
	    .min = 20,
	    .max = 1000,
	    .help = "Width of a worker's screen while nobody is attached." },
	{ .path = "tmux.rows",
	    .type = SETTING_INT,
	    .fallback = "40",
	    .min = 5,
	    .max = 1000,
	    .help = "Height of a worker's screen while nobody is attached." },
	{ .path = "tmux.history_limit",
	    .type = SETTING_INT,
	    .fallback = "20000",
	    .min = 0,
	    .max = 1000000,
	    .flags = SETTING_RESTART,
	    .help = "Lines of a worker's screen kept to scroll back." },
};

const size_t settings_count = sizeof settings_table / sizeof settings_table[0];
