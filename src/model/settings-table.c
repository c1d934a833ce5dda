/* SPDX-License-Identifier: ISC */

/*
 * All configuration keys. A new key needs one row here and code that uses it;
 * the example file and the manual are generated from this table (`llmc config
 * doc`), and a test checks that they match.
 */
#include "base.h"
#include "notice.h"
#include "settings-table.h"
#include "oversight-config.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   ((int64_t)60 * MINUTE)

static const char *const red_actions[] = { "fix", "revert", "stop", NULL };

static const char *const land_modes[] = { "tip", "each", NULL };

static const char *const sandbox_modes[] = { "off", "worktree", "strict",
	NULL };

static const char *const dirty_checkouts[] = { "wait", "overlap", NULL };

static const char *const post_accept_failures[] = { "shutdown", "continue",
	"revert", "fix", NULL };

static const char *const log_failure_levels[] = { "warn", "error", "never",
	NULL };

static const char *const parent_ends[] = { "cancel", "hand_over", NULL };

static const char *const permission_modes[] = { "bypassPermissions",
	"acceptEdits", "dontAsk", "plan", "auto", "default", NULL };

const struct setting settings_table[] = {
	{ .path = "repo.default_branch",
	    .type = SETTING_STRING,
	    .derived =
		"the branch of origin/HEAD, else the branch that is checked "
		"out",
	    .flags = SETTING_RESTART,
	    .help = "Branch that work lands on. llmc init sets it, or else "
		    "the first daemon; it does not follow what is checked out "
		    "later." },
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
	    .help = "Prefix of the workers' branches; the name of the worker "
		    "follows it." },
	{ .path = "repo.dirty_checkout",
	    .type = SETTING_CHOICE,
	    .fallback = "\"wait\"",
	    .choices = dirty_checkouts,
	    .help = "Which uncommitted changes in your checkout of the "
		    "default branch make a landing wait: any (wait), or only "
		    "changes to the same files (overlap)." },
	{ .path = "repo.push",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Push the default branch to origin after a landing. "
		    "Landings do not wait for it; a push that fails is tried "
		    "again, and llmc status shows it." },
	{ .path = "repo.run_hooks",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Run the hooks in the repository's own hooks folder when "
		    "llmc runs git. core.hooksPath is not followed." },
	{ .path = "repo.strip_attribution",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Remove the agent's attribution lines from landed commit "
		    "messages." },
	{ .path = "repo.max_conflicts",
	    .type = SETTING_INT,
	    .fallback = "3",
	    .min = 0,
	    .max = 100,
	    .help = "How many times a worker is asked to resolve a conflict "
		    "before a person is." },

	{ .path = "repo.copy_files",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Files, folders or patterns to copy from the root into "
		    "each new worktree, because git does not track them." },
	{ .path = "repo.setup_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command to run once in each new worktree." },
	{ .path = "repo.setup_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"10m\"",
	    .min = 1 * SECOND,
	    .max = 24 * HOUR,
	    .help = "How long setup_command may take." },

	{ .path = "defaults.agent_command",
	    .type = SETTING_STRING,
	    .fallback = "\"claude\"",
	    .flags = SETTING_RUNS,
	    .help = "Program that a worker runs: a name to find on PATH, or a "
		    "path." },
	{ .path = "defaults.model",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help =
		"Model for the agent; empty means the agent's own default." },
	{ .path = "defaults.permission_mode",
	    .type = SETTING_CHOICE,
	    .fallback = "\"bypassPermissions\"",
	    .choices = permission_modes,
	    .help = "What the agent may do without asking; an unattended "
		    "worker has nobody to ask." },
	{ .path = "defaults.allow_root",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Let root run agents with bypassPermissions, which Claude "
		    "Code refuses otherwise: they may do anything to this "
		    "machine." },
	{ .path = "defaults.allowed_tools",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Tools that the agent may use without asking." },
	{ .path = "defaults.disallowed_tools",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "Tools that the agent may not use, in addition to those "
		    "that ask a person." },
	{ .path = "defaults.append_system_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Text added to the agent's system prompt." },
	{ .path = "defaults.extra_args",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "More arguments for the agent, passed on unchanged." },
	{ .path = "defaults.isolate",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Ignore the user's and the project's own agent settings, "
		    "hooks and MCP servers." },
	{ .path = "defaults.role_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Text to put before every task." },
	{ .path = "defaults.excluded_from_pool",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "llmc start chooses this worker only when it is named." },
	{ .path = "defaults.self_review",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help =
		"Have the agent review its own work before a person does." },
	{ .path = "defaults.self_review_prompt",
	    .type = SETTING_STRING,
	    .fallback =
		"\"Review your last commit as a strict reviewer would. Fix "
		"what you find and amend the commit.\"",
	    .help = "Prompt for that review." },
	{ .path = "defaults.start_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"15s\"",
	    .min = 100,
	    .max = HOUR,
	    .help = "How long an agent may take to report that its session "
		    "has started." },

	{ .path = "defaults.sandbox",
	    .type = SETTING_CHOICE,
	    .fallback = "\"off\"",
	    .choices = sandbox_modes,
	    .help = "What a worker can reach: everything that you can (off), "
		    "a clone of its own (worktree), or that and the network "
		    "only to sandbox_hosts (strict)." },
	{ .path = "defaults.sandbox_read",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .form = FORM_PLACE,
	    .help = "More paths that a sandboxed worker can read." },
	{ .path = "defaults.sandbox_write",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .form = FORM_PLACE,
	    .help = "More paths that a sandboxed worker can change." },
	{ .path = "defaults.sandbox_env",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .form = FORM_VARIABLE,
	    .help =
		"More environment variables that reach a sandboxed worker." },
	{ .path = "defaults.sandbox_hosts",
	    .type = SETTING_LIST,
	    .fallback = "[\"api.anthropic.com\"]",
	    .form = FORM_HOST,
	    .help = "Hosts that a worker with sandbox strict can connect to; "
		    "without a port, port 443. The API must be among them; "
		    "the host of ANTHROPIC_BASE_URL always is." },
	{ .path = "defaults.user_namespace",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Keep the session of a worker without a sandbox in a user "
		    "namespace, unless root runs it: nothing that it starts "
		    "can outlive it, but sudo does not work in it, and ssh "
		    "refuses settings that root owns. If false, it is kept as "
		    "commands are." },
	{ .path = "defaults.memory_max",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .form = FORM_SIZE,
	    .help = "Memory that a worker and all it starts may use, such as "
		    "4G; empty = no limit." },
	{ .path = "defaults.tasks_max",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000,
	    .help = "Processes and threads that a worker may have; 0 = no "
		    "limit." },
	{ .path = "defaults.cpu_weight",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 10000,
	    .help = "A worker's share of the processors against others, from "
		    "1 to 10000 (100 is normal); 0 = not set." },

	{ .path = "daemon.patrol_interval",
	    .type = SETTING_DURATION,
	    .fallback = "\"30s\"",
	    .min = 100,
	    .max = HOUR,
	    .help = "How often the daemon checks that its workers and their "
		    "sessions are as it expects; at least sixteen times in "
		    "overseer.stall_timeout." },

	{ .path = "auto.concurrency",
	    .type = SETTING_INT,
	    .fallback = "1",
	    .min = 1,
	    .max = 100,
	    .flags = SETTING_RESTART,
	    .help = "Number of workers that llmc up --auto keeps busy "
		    "(auto-1, auto-2, ...)." },
	{ .path = "auto.task_pool_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RESTART | SETTING_RUNS,
	    .help = "Shell command that prints the next task; no output, or "
		    "exit status 4, means that there is none now." },
	{ .path = "auto.task_pool_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"5m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .flags = SETTING_RESTART,
	    .help = "How long task_pool_command may take." },
	{ .path = "auto.task_list",
	    .type = SETTING_PATH,
	    .fallback = "\"\"",
	    .flags = SETTING_RESTART,
	    .help = "Folder of Claude Code task files to take tasks from, if "
		    "task_pool_command is not set." },
	{ .path = "auto.tasks_dir",
	    .type = SETTING_PATH,
	    .fallback = "\".llmc/tasks\"",
	    .flags = SETTING_RESTART,
	    .help = "Folder of plain text tasks (todo, doing, done, failed), "
		    "if neither of the above is set." },
	{ .path = "auto.max_attempts",
	    .type = SETTING_INT,
	    .fallback = "3",
	    .min = 1,
	    .max = 100,
	    .help = "How many times a task is tried before it is given up and "
		    "reported." },
	{ .path = "auto.max_turns",
	    .type = SETTING_INT,
	    .fallback = "10",
	    .min = 1,
	    .max = 1000,
	    .help = "Turns that one attempt may take, including those in "
		    "which the agent is sent back; those that begin with mail "
		    "do not count." },
	{ .path = "auto.require_commit",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "A task is not done without a commit." },
	{ .path = "auto.check_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command that must succeed in the worktree before "
		    "work lands; if it fails, the agent gets its output." },
	{ .path = "auto.check_slots",
	    .type = SETTING_INT,
	    .fallback = "1",
	    .min = 1,
	    .max = 32,
	    .flags = SETTING_RESTART,
	    .help = "Checks of the landing queue that may run at the same "
		    "time, each in a worktree of its own; LLMC_CHECK_SLOT "
		    "tells check_command which one." },
	{ .path = "auto.land_mode",
	    .type = SETTING_CHOICE,
	    .fallback = "\"tip\"",
	    .choices = land_modes,
	    .help = "What must pass check_command before the landing branch "
		    "moves: where it moves to (tip), or each commit on the "
		    "way (each)." },
	{ .path = "auto.on_red",
	    .type = SETTING_CHOICE,
	    .fallback = "\"fix\"",
	    .choices = red_actions,
	    .help = "What to do when the landing branch itself fails "
		    "check_command: add a task that fixes it (fix), take the "
		    "tasks' commits back that it ends with (revert), or stop. "
		    "Other commits are never taken back: if the newest one "
		    "was not landed by a task, revert is the same as stop." },
	{ .path = "auto.protected_paths",
	    .type = SETTING_LIST,
	    .fallback = "[\"**/.claude\", \"**/.claude/**\", "
			"\"**/.mcp.json\", \"**/.husky\", "
			"\"**/.husky/**\", \"**/.githooks\", "
			"\"**/.githooks/**\", \"**/.gitattributes\"]",
	    .help = "Paths that only a person may change: work that touches "
		    "them waits for llmc accept, and is checked with these "
		    "files as they are on the landing branch. The default is "
		    "what makes agents and git run programs; a list of your "
		    "own replaces it. Patterns as in git's pathspecs with "
		    "(top,glob)." },
	{ .path = "auto.check_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"30m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "How long check_command may take." },
	{ .path = "auto.post_accept_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command to run in the root after each landing; the "
		    "next landing waits for it. If any worker has a sandbox, "
		    "it runs in the strictest of them, in a worktree of the "
		    "landed commit." },
	{ .path = "auto.post_accept_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"1h\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "How long post_accept_command may take." },
	{ .path = "auto.on_post_accept_failure",
	    .type = SETTING_CHOICE,
	    .fallback = "\"shutdown\"",
	    .choices = post_accept_failures,
	    .help = "What to do when post_accept_command fails: stop "
		    "everything, continue, revert the commit, or add a task "
		    "that fixes it." },
	{ .path = "auto.worker_stall_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"30m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "A worker with a task that shows no sign of life for this "
		    "long is interrupted, then restarted, then its attempt is "
		    "given up. While a tool is running, four times this long. "
		    "Never longer than three quarters of "
		    "overseer.stall_timeout." },
	{ .path = "auto.sandbox_required",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Start no worker whose sandbox is off." },
	{ .path = "auto.outage_limit",
	    .type = SETTING_DURATION,
	    .fallback = "\"6h\"",
	    .min = 1 * SECOND,
	    .max = 30 * 24 * HOUR,
	    .help = "How long the service may be unavailable before a person "
		    "is needed." },

	{ .path = "budget.task_tokens",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000000000,
	    .help = "Tokens for one task; 0 = no limit. At the limit the task "
		    "is parked, with its work, until llmc task retry, and its "
		    "worker does another one." },
	{ .path = "budget.task_cost",
	    .type = SETTING_AMOUNT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000000000,
	    .help = "US dollars for one task, estimated from [prices] while "
		    "it works; 0 = no limit." },
	{ .path = "budget.task_turns",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000,
	    .help = "Turns for one task in all its attempts; 0 = no limit." },
	{ .path = "budget.task_time",
	    .type = SETTING_DURATION,
	    .fallback = "\"0s\"",
	    .min = 0,
	    .max = 30 * 24 * HOUR,
	    .help = "Time for one attempt at a task, without the time that it "
		    "waits for agents that it has spawned; 0s = no limit." },
	{ .path = "budget.day_tokens",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000000000,
	    .help = "Tokens for all auto workers in a day; 0 = no limit. At "
		    "the limit, all of them pause until the next day or llmc "
		    "resume." },
	{ .path = "budget.day_cost",
	    .type = SETTING_AMOUNT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000000000,
	    .help = "US dollars for all auto workers, planners and repairs in "
		    "a day, estimated from [prices] while they work; 0 = no "
		    "limit." },

	{ .path = "plan.enabled",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .flags = SETTING_RESTART,
	    .help = "Work on goals: hand their ready nodes to auto workers, "
		    "and look after those that make no progress." },
	{ .path = "plan.tick_every",
	    .type = SETTING_DURATION,
	    .fallback = "\"2m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "How often the assignments of all goals are checked. One "
		    "without any activity for seven and a half times as "
		    "long is stalled." },
	{ .path = "plan.max_retries",
	    .type = SETTING_INT,
	    .fallback = "2",
	    .min = 0,
	    .max = 100,
	    .help = "How many times a stalled assignment is asked for its "
		    "status before its recovery policy applies, which is to "
		    "tell a person." },
	{ .path = "plan.allow_agents",
	    .type = SETTING_LIST,
	    .fallback = "[\"main\"]",
	    .help = "Workers that may get work from goals: names, main for "
		    "all auto workers, or * for every worker." },
	{ .path = "plan.allow_cross_agent",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Also send messages to the workers of allow_agents that a "
		    "person drives." },

	{ .path = "planner.command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command that gets a prompt on standard input and "
		    "prints the plan as JSON; empty means "
		    "defaults.agent_command with -p." },
	{ .path = "planner.model",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "Model for the planner; empty means the agent's own "
		    "default." },
	{ .path = "planner.timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"5m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "How long one answer of the planner may take." },

	{ .path = "oversight.mode",
	    .type = SETTING_CHOICE,
	    .fallback = "\"act\"",
	    .choices = oversight_mode_words,
	    .help = "What is done where the work of auto workers goes in "
		    "circles: act steps in, observe only records what it "
		    "would do, off does not look." },
	{ .path = "oversight.profile",
	    .type = SETTING_CHOICE,
	    .fallback = "\"default\"",
	    .choices = thresholds_profile_words,
	    .help = "How soon: default, strict (earlier), exploratory "
		    "(later), or ci (as soon as any coverage is lost)." },
	{ .path = "oversight.thresholds",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .form = FORM_THRESHOLD,
	    .help = "Thresholds that differ from the profile, such as "
		    "stuck.sameErrorCount=4." },
	{ .path = "oversight.slice",
	    .type = SETTING_DURATION,
	    .fallback = "\"10m\"",
	    .min = 100,
	    .max = 24 * HOUR,
	    .help = "A longer turn is looked at in parts: one ends after this "
		    "time, or after oversight.slice_tools. The session is "
		    "told of it after its next tool, or by an interruption if "
		    "no tool ends within a slice, or within three for a "
		    "warning." },
	{ .path = "oversight.slice_tools",
	    .type = SETTING_INT,
	    .fallback = "30",
	    .min = 1,
	    .max = 10000,
	    .help = "Tool calls after which a part of a long turn ends at the "
		    "latest." },
	{ .path = "oversight.test_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command that tests the work at the end of a turn, "
		    "in the worktree and within auto.check_timeout; empty "
		    "means that the results of landing checks are used." },
	{ .path = "oversight.coverage_pattern",
	    .type = SETTING_STRING,
	    .form = FORM_COVERAGE,
	    .fallback = "\"\"",
	    .help = "Extended regular expression whose first group is the "
		    "coverage in percent, in the output of the tests; empty "
		    "means that coverage is not known." },
	{ .path = "oversight.expected_iterations",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 1000000,
	    .help = "How many turns, or parts of long ones, a task should "
		    "need; 0 means that the effort of a plan's node says so: "
		    "a number, or xs (3), s (6), m (12), l (24), xl (48)." },

	{ .path = "team.enabled",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Let agents spawn other agents for parts of their tasks, "
		    "if plan.enabled is true." },
	{ .path = "team.max_depth",
	    .type = SETTING_INT,
	    .fallback = "3",
	    .min = 1,
	    .max = 100,
	    .help = "How deep agents may spawn other agents: a worker is at "
		    "depth 1, and those that it spawns at depth 2." },
	{ .path = "team.max_concurrent",
	    .type = SETTING_INT,
	    .fallback = "10",
	    .min = 0,
	    .max = 1000,
	    .help = "How many agents that others spawned may be at work; "
		    "those that wait for others do not count, and none of "
		    "them counts in auto.concurrency." },

	{ .path = "team.allowed_roles",
	    .type = SETTING_LIST,
	    .fallback = "[]",
	    .help = "The roles that they may have, such as coder and "
		    "reviewer; empty means every role." },
	{ .path = "team.on_parent_end",
	    .type = SETTING_CHOICE,
	    .fallback = "\"cancel\"",
	    .choices = parent_ends,
	    .help = "What becomes of them when the agent that spawned them "
		    "ends without its result: cancel (their work is kept), "
		    "or hand_over (to the agent above it)." },

	{ .path = "web.enabled",
	    .type = SETTING_BOOL,
	    .fallback = "false",
	    .help = "Serve a live page on 127.0.0.1, for you alone: llmc web "
		    "prints its address with a secret token. Nothing can be "
		    "changed there." },
	{ .path = "web.port",
	    .type = SETTING_INT,
	    .fallback = "0",
	    .min = 0,
	    .max = 65535,
	    .help = "Port of that page. 0 means a free one, which only the "
		    "overseer keeps over restarts of the daemon. A port that "
		    "is chosen here can be taken by another user of the "
		    "machine while neither of them runs; he could then leave "
		    "a page of his in your browser." },

	{ .path = "overseer.remediation_prompt",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .help = "What the repair agent should know about the project, its "
		    "usual problems, and how to fix them; if empty, it gets "
		    "general advice." },
	{ .path = "overseer.daemon_command",
	    .type = SETTING_STRING,
	    .fallback = "\"llmc up --auto\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command that starts the daemon; the options of "
		    "llmc overseer are appended to it." },
	{ .path = "overseer.start_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"1m\"",
	    .min = 1 * SECOND,
	    .max = HOUR,
	    .help = "How long the daemon may take to become ready." },
	{ .path = "overseer.heartbeat_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"30s\"",
	    .min = 7 * SECOND,
	    .max = HOUR,
	    .help =
		"A heartbeat older than this means that the daemon hangs." },
	{ .path = "overseer.stall_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"1h\"",
	    .min = 1 * SECOND,
	    .max = 7 * 24 * HOUR,
	    .help = "Auto mode is stalled when tasks are assigned, but for "
		    "this long none is started or finished and no worker "
		    "shows a sign of life." },
	{ .path = "overseer.stop_grace",
	    .type = SETTING_DURATION,
	    .fallback = "\"30s\"",
	    .min = 100,
	    .max = HOUR,
	    .help =
		"Time from SIGTERM to SIGKILL when the daemon is stopped." },
	{ .path = "overseer.log_failure_level",
	    .type = SETTING_CHOICE,
	    .fallback = "\"warn\"",
	    .choices = log_failure_levels,
	    .help = "Lines of this level and above in autod.log count as "
		    "failures." },
	{ .path = "overseer.remediation_timeout",
	    .type = SETTING_DURATION,
	    .fallback = "\"30m\"",
	    .min = 1 * SECOND,
	    .max = 24 * HOUR,
	    .help = "How long a remediation may take." },
	{ .path = "overseer.remediation_worktree",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Repair in a worktree of its own and land the fix; if "
		    "false, and no worker has a sandbox, repair in your "
		    "checkout." },
	{ .path = "overseer.remediate",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Run a remediation after a failure; if false, the daemon "
		    "is only restarted." },
	{ .path = "overseer.restart_cooldown",
	    .type = SETTING_DURATION,
	    .fallback = "\"1m\"",
	    .min = 0,
	    .max = 24 * HOUR,
	    .help = "A failure sooner than this after a remediation is a "
		    "failure spiral." },
	{ .path = "overseer.same_failure_max",
	    .type = SETTING_INT,
	    .fallback = "5",
	    .min = 0,
	    .max = 1000,
	    .help = "A person is needed when the same failure happens this "
		    "many times within same_failure_window; 0 = never." },
	{ .path = "overseer.same_failure_window",
	    .type = SETTING_DURATION,
	    .fallback = "\"24h\"",
	    .min = 1 * SECOND,
	    .max = 30 * 24 * HOUR,
	    .help = "Time window of same_failure_max." },
	{ .path = "overseer.remediations_per_day",
	    .type = SETTING_INT,
	    .fallback = "20",
	    .min = 0,
	    .max = 10000,
	    .help = "Remediations in 24 hours before a person is needed; 0 = "
		    "no limit." },

	{ .path = "history.days",
	    .type = SETTING_INT,
	    .fallback = "365",
	    .min = 1,
	    .max = 36500,
	    .help = "How long ended tasks, runs, events, goals that have "
		    "ended, and mail and questions that are not open are "
		    "kept. If .llmc/llmc.db has more than 4 GB, the oldest go "
		    "first, whatever this says." },

	{ .path = "people.notify_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command to run when a person should know "
		    "something, with or without an overseer; it gets the "
		    "details as JSON on standard input (see NOTIFICATIONS)." },
	{ .path = "people.notify_on",
	    .type = SETTING_LIST,
	    .choices = notice_names,
	    .fallback = "[\"failure\", \"login\", \"worker\", \"task\", "
			"\"budget\", \"branch\", \"check\", "
			"\"checkout\", \"push\", \"settings\", \"state\", "
			"\"goal\"]",
	    .help = "What to run notify_command for." },
	{ .path = "people.answer_wait",
	    .type = SETTING_DURATION,
	    .fallback = "\"10m\"",
	    .max = 24 * HOUR,
	    .help = "How long a worker waits for your answer to its agent's "
		    "question before it gets another task; with your answer, "
		    "the task goes on in the same conversation. 0s means as "
		    "long as the agent waits." },
	{ .path = "people.report_command",
	    .type = SETTING_STRING,
	    .fallback = "\"\"",
	    .flags = SETTING_RUNS,
	    .help = "Shell command to run with the report of a run when it "
		    "has ended (see NOTIFICATIONS)." },
	{ .path = "people.report_at",
	    .type = SETTING_STRING,
	    .form = FORM_DAYTIME,
	    .fallback = "\"\"",
	    .help = "Time of day at which to run report_command with the "
		    "report of the last 24 hours, too: \"07:00\". \"\" means "
		    "at the end of a run only." },

	{ .path = "tmux.command",
	    .type = SETTING_STRING,
	    .fallback = "\"tmux\"",
	    .flags = SETTING_RESTART | SETTING_RUNS,
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
	    .help = "Lines of scrollback kept for a worker's screen." },
};

const size_t settings_table_count =
    sizeof settings_table / sizeof settings_table[0];
