/* SPDX-License-Identifier: ISC */

/*
 * All configuration keys. A new key needs one row here and code that uses it;
 * the example file and the manual are generated from this table (`llmc config
 * doc`), and a test checks that they match.
 */
#include "base.h"
#include "forge.h"
#include "notice.h"
#include "place.h"
#include "settings-table.h"
#include "thresholds.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   ((int64_t)60 * MINUTE)

static const char *const red_actions[] = { "fix", "revert", "stop", NULL };

static const char *const land_modes[] = { "tip", "each", NULL };
static const char *const overtaken[] = { "wait", "land", NULL };

static const char *const sandbox_modes[] = { "off", "worktree", "strict",
	NULL };

static const char *const dirty_checkouts[] = { "wait", "overlap", NULL };

static const char *const post_accept_failures[] = { "shutdown", "continue",
	"revert", "fix", NULL };

static const char *const log_failure_levels[] = { "warn", "error", "never",
	NULL };

static const char *const permission_modes[] = { "bypassPermissions",
	"acceptEdits", "dontAsk", "plan", "auto", "default", NULL };

static const char *const test_guards[] = { "off", "note", "ask", NULL };

static const char *const upstreams[] = { "off", "follow", "push", NULL };

static const char *const lands[] = { "branch", "pull-request", NULL };

static const char *const forge_kinds[] = { "origin", "github", "gitea", NULL };

static const char *const merges[] = { "person", "when-green", NULL };

static const char *const web_modes[] = { "view", "work", NULL };

static const char *const paces[] = { "off", "even", NULL };

const struct setting settings_table[] = {
	{ "repo.default_branch", SETTING_STRING, NULL,
	    .help = "Branch that work lands on. llmc init sets it, or else "
		    "the first daemon; it does not follow what is checked "
		    "out later.",
	    .derived =
		"the branch of origin/HEAD, else the branch that is checked out",
	    .flags = SETTING_RESTART },
	{ "repo.worktree_dir", SETTING_PATH, "\".worktrees\"",
	    .help = "Folder of the workers' worktrees; a relative path "
		    "starts at the top of the repository.",
	    .flags = SETTING_RESTART },
	{ "repo.branch_prefix", SETTING_STRING, "\"llmc/\"",
	    .help = "Prefix of the workers' branches; the name of the "
		    "worker follows it.",
	    .flags = SETTING_RESTART },
	{ "repo.dirty_checkout", SETTING_CHOICE, "\"overlap\"",
	    .help = "Which uncommitted changes in your checkout of the "
		    "default branch make a landing wait: only changes to "
		    "files that it changes too, as with git itself "
		    "(overlap), or any (wait).",
	    .choices = dirty_checkouts },
	{ "repo.upstream", SETTING_CHOICE, "\"off\"",
	    .help = "What the default branch has to do with its branch at "
		    "origin: nothing (off), it follows what others push "
		    "(follow), or that, and what lands is pushed (push). llmc "
		    "init sets follow where the branch has an upstream. The "
		    "hosts of a fleet (fleet.database) always push.",
	    .choices = upstreams },
	{ "repo.fetch_every", SETTING_DURATION, "\"5m\"",
	    .help = "How often to look at origin if repo.upstream is not "
		    "off; also before a task begins (at most once a minute) "
		    "and before work lands.",
	    .min = 1 * MINUTE, .max = 24 * HOUR },
	{ "repo.run_hooks", SETTING_BOOL, "true",
	    .help = "Run the hooks in the repository's own hooks folder "
		    "when llmc runs git. core.hooksPath is not followed." },
	{ "repo.protected_paths", SETTING_LIST,
	    "[\"**/.claude\", \"**/.claude/**\", \"**/.mcp.json\", "
	    "\"**/.husky\", \"**/.husky/**\", \"**/.githooks\", "
	    "\"**/.githooks/**\", \"**/.gitattributes\"]",
	    .help = "Paths that only a person may change: work that touches "
		    "them waits for llmc accept, and is checked with these "
		    "files as they are on the landing branch. The default "
		    "is what makes agents and git run programs; a list of "
		    "your own replaces it, and agents are refused to write "
		    "what it names (defaults.refuse_commands). Patterns as in "
		    "git's pathspecs with (top,glob)." },

	{ "repo.copy_files", SETTING_LIST, "[]",
	    .help = "Files, folders or patterns to copy from the root into "
		    "each new worktree, because git does not track them." },
	{ "repo.setup_command", SETTING_STRING, "\"\"",
	    .help = "Shell command to run once in each new worktree, and again "
		    "when a file of setup_when changes.",
	    .flags = SETTING_RUNS },
	{ "repo.setup_when", SETTING_LIST, "[]",
	    .help = "Files, such as lock files, with whose contents "
		    "setup_command has to run again in a worktree." },
	{ "repo.setup_timeout", SETTING_DURATION, "\"10m\"",
	    .help = "How long setup_command, or teardown_command, may take.",
	    .min = 1 * SECOND, .max = 24 * HOUR },
	{ "repo.seed_from", SETTING_LIST, "[]",
	    .help = "Folders that setup_command makes, such as node_modules, "
		    "to copy into a new worktree before it runs." },
	{ "repo.teardown_command", SETTING_STRING, "\"\"",
	    .help = "Shell command to run in a worker's worktree before it is "
		    "removed.",
	    .flags = SETTING_RUNS },
	{ "repo.port_base", SETTING_INT, "20000",
	    .help = "Each worker has 20 ports of its own from LLMC_PORT, "
		    "which is port_base + 20 times its number. Another "
		    "repository on this machine needs another one.",
	    .min = 1024, .max = PLACE_PORT_HIGHEST },

	{ "defaults.agent", SETTING_CHOICE, "\"claude\"",
	    .help = "Kind of agent that a worker runs; llmc doctor --agents "
		    "says what each can do. A card or a task may name "
		    "another one. Repairs are done by claude.",
	    .choices = agent_kind_words },
	{ "defaults.agent_command", SETTING_STRING, "\"claude\"",
	    .help =
		"Program of the kinds claude and claude-headless: a name to find on PATH, or "
		"a path.",
	    .flags = SETTING_RUNS },
	{ "defaults.codex_command", SETTING_STRING, "\"codex\"",
	    .help = "The same for the kind codex.", .flags = SETTING_RUNS },
	{ "defaults.opencode_command", SETTING_STRING, "\"opencode\"",
	    .help = "The same for the kind opencode.", .flags = SETTING_RUNS },
	{ "defaults.gemini_command", SETTING_STRING, "\"gemini\"",
	    .help = "The same for the kind gemini.", .flags = SETTING_RUNS },
	{ "defaults.model", SETTING_STRING, "\"\"",
	    .help = "Model for the agent; empty means the agent's own "
		    "default." },
	{ "defaults.permission_mode", SETTING_CHOICE, "\"bypassPermissions\"",
	    .help = "What the agent may do without asking; an unattended "
		    "worker has nobody to ask.",
	    .choices = permission_modes },
	{ "defaults.allow_root", SETTING_BOOL, "false",
	    .help = "Let root run agents with bypassPermissions, which "
		    "Claude Code refuses otherwise: they may do anything to "
		    "this machine." },
	{ "defaults.allowed_tools", SETTING_LIST, "[]",
	    .help = "Tools that the agent may use without asking." },
	{ "defaults.disallowed_tools", SETTING_LIST, "[]",
	    .help = "Tools that the agent may not use, in addition to those "
		    "that ask a person." },
	{ "defaults.refuse_commands", SETTING_LIST,
	    "[\"git-push\", \"git-config\", \"rm-outside\", \"sudo\", "
	    "\"kill-others\", \"protected-files\"]",
	    .help = "What the agent's shell commands may not do, with and "
		    "without a sandbox: push; change git's settings for the "
		    "user or the machine; rm -r outside of the worktree and "
		    "the folders for temporary files; sudo; end processes of "
		    "others; write protected files. Claude Code holds this "
		    "by its own rules; of other kinds only rm -r, kill, and "
		    "tools that write. A guard rail, not a wall.",
	    .form = FORM_COMMAND_RULE },
	{ "defaults.append_system_prompt", SETTING_STRING, "\"\"",
	    .help = "Text added to the agent's system prompt." },
	{ "defaults.extra_args", SETTING_LIST, "[]",
	    .help = "More arguments for the agent, passed on unchanged." },
	{ "defaults.isolate", SETTING_BOOL, "false",
	    .help = "Ignore the user's and the project's own agent "
		    "settings, hooks and MCP servers." },
	{ "defaults.role_prompt", SETTING_STRING, "\"\"",
	    .help = "Text to put before every task." },
	{ "defaults.fresh_at", SETTING_INT, "0",
	    .help = "When a turn ends, the work on a task of auto mode is "
		    "not finished, and at least this percentage of the "
		    "context window is used, it goes on in a new "
		    "conversation, with the task, the last words and the "
		    "state of the worktree, before Claude Code would compact "
		    "it. 0 = never.",
	    .min = 0, .max = 100 },
	{ "defaults.excluded_from_pool", SETTING_BOOL, "false",
	    .help = "llmc start chooses this worker only when it is named." },
	{ "defaults.self_review", SETTING_BOOL, "false",
	    .help = "Have the agent review its own work before a person "
		    "does." },
	{ "defaults.start_timeout", SETTING_DURATION, "\"1m\"",
	    .help = "How long an agent may take to report that its session "
		    "has started. The kind opencode has at least two "
		    "minutes, gemini one.",
	    .min = 100, .max = HOUR },

	{ "defaults.subagents", SETTING_INT, "0",
	    .help = "Subagents that a session may run at the same time; 0 = "
		    "as many as Claude Code allows, which is 20.",
	    .min = 0, .max = 1000 },
	{ "defaults.sandbox", SETTING_CHOICE, "\"off\"",
	    .help = "What a worker can reach: everything that you can "
		    "(off), a clone of its own (worktree), or that and the "
		    "network only to sandbox_hosts (strict).",
	    .choices = sandbox_modes },
	{ "defaults.sandbox_read", SETTING_LIST, "[]",
	    .help = "More paths that a sandboxed worker can read.",
	    .form = FORM_PLACE },
	{ "defaults.sandbox_write", SETTING_LIST, "[]",
	    .help = "More paths that a sandboxed worker can change.",
	    .form = FORM_PLACE },
	{ "defaults.env", SETTING_LIST, "[]",
	    .help = "More environment variables for a worker and its checks, "
		    "with and without a sandbox: a name passes on what the "
		    "daemon has (llmc doctor shows what does not reach them), "
		    "NAME=VALUE sets it, with {index}, {port}, {worker} and "
		    "{tmpdir} replaced.",
	    .form = FORM_VARIABLE },
	{ "defaults.sandbox_hosts", SETTING_LIST, "[\"api.anthropic.com\"]",
	    .help = "Hosts that a worker with sandbox strict can connect "
		    "to; without a port, port 443. The API must be among "
		    "them; the host of ANTHROPIC_BASE_URL always is.",
	    .form = FORM_HOST },
	{ "defaults.user_namespace", SETTING_BOOL, "true",
	    .help = "Keep the session of a worker without a sandbox in a "
		    "user namespace, unless root runs it: nothing that it "
		    "starts can outlive it, but sudo does not work in it, "
		    "and ssh refuses settings that root owns. If false, it "
		    "is kept as commands are." },
	{ "defaults.memory_max", SETTING_STRING, "\"\"",
	    .help = "Memory that a worker and all it starts may use, such "
		    "as 4G; empty = no limit.",
	    .form = FORM_SIZE },
	{ "defaults.tasks_max", SETTING_INT, "0",
	    .help = "Processes and threads that a worker may have; 0 = no "
		    "limit.",
	    .min = 0, .max = 1000000 },
	{ "defaults.cpu_weight", SETTING_INT, "0",
	    .help = "A worker's share of the processors against others, "
		    "from 1 to 10000 (100 is normal); 0 = not set.",
	    .min = 0, .max = 10000 },

	{ "daemon.patrol_interval", SETTING_DURATION, "\"30s\"",
	    .help = "How often the daemon checks that its workers and their "
		    "sessions are as it expects; at least sixteen times in "
		    "overseer.stall_timeout.",
	    .min = 100, .max = HOUR },

	{ "auto.concurrency", SETTING_INT, "1",
	    .help = "Number of workers that llmc up --auto keeps busy "
		    "(auto-1, auto-2, ...).",
	    .min = 1, .max = 100, .flags = SETTING_RESTART },
	{ "auto.task_pool_command", SETTING_STRING, "\"\"",
	    .help = "Shell command that prints the next task; no output, or "
		    "exit status 4, means that there is none now.",
	    .flags = SETTING_RESTART | SETTING_RUNS },
	{ "auto.task_pool_timeout", SETTING_DURATION, "\"5m\"",
	    .help = "How long task_pool_command may take.", .min = 100,
	    .max = 24 * HOUR, .flags = SETTING_RESTART },
	{ "auto.task_list", SETTING_PATH, "\"\"",
	    .help = "Folder of Claude Code task files to take tasks from, "
		    "if task_pool_command is not set.",
	    .flags = SETTING_RESTART },
	{ "auto.tasks_dir", SETTING_PATH, "\".llmc/tasks\"",
	    .help = "Folder of plain text tasks (todo, doing, done, "
		    "failed), if neither of the above is set.",
	    .flags = SETTING_RESTART },
	{ "auto.source", SETTING_CHOICE, "\"local\"",
	    .help = "Where tasks come from: local (only as the three above "
		    "say), or also the issues of github or gitea that have "
		    "the label llmc (see FORGES and [forge]).",
	    .choices = forge_dialect_words, .flags = SETTING_RESTART },
	{ "auto.land", SETTING_CHOICE, "\"branch\"",
	    .help = "Where finished work goes: on the default branch (branch), "
		    "or into a pull request of its own at origin's forge "
		    "(pull-request); then the default branch only follows "
		    "origin (see FORGES and [forge]).",
	    .choices = lands, .flags = SETTING_RESTART },
	{ "auto.max_attempts", SETTING_INT, "3",
	    .help = "How many times a task is tried before it is given up "
		    "and reported.",
	    .min = 1, .max = 100 },
	{ "auto.max_turns", SETTING_INT, "20",
	    .help = "Turns that one attempt may take, including those in "
		    "which the agent is sent back; those that begin with "
		    "mail do not count.",
	    .min = 1, .max = 1000 },
	{ "auto.require_commit", SETTING_BOOL, "false",
	    .help = "A task is not done without a commit." },
	{ "auto.check_command", SETTING_STRING, "\"\"",
	    .help = "Shell command that must succeed in the worktree before "
		    "work lands; if it fails, the agent gets its output. "
		    "\"none\" means that nothing is checked, on purpose: "
		    "llmc up --auto does not start while this is empty. "
		    "Before the first task it must pass on the landing branch "
		    "as it is.",
	    .flags = SETTING_RUNS | SETTING_NONE },
	{ "auto.check_slots", SETTING_INT, "1",
	    .help = "Checks of the landing queue that may run at the same "
		    "time, each in a worktree of its own; LLMC_CHECK_SLOT "
		    "tells check_command which one.",
	    .min = 1, .max = 32, .flags = SETTING_RESTART },
	{ "auto.land_mode", SETTING_CHOICE, "\"tip\"",
	    .help = "What must pass check_command before the landing branch "
		    "moves: where it moves to (tip), or each commit on the "
		    "way (each).",
	    .choices = land_modes },
	{ "auto.overtaken", SETTING_CHOICE, "\"wait\"",
	    .help = "What counts when others move the landing branch while "
		    "check_command runs: the work is merged with what came "
		    "and checked again (wait), or the result stands for that "
		    "merge (land). It stands only where the merge has no "
		    "conflict, what came changes no file of the work, and "
		    "each of its commits is a person's or has passed itself. "
		    "What lands so is marked in llmc report, and the branch "
		    "is checked next.",
	    .choices = overtaken },
	{ "auto.on_red", SETTING_CHOICE, "\"fix\"",
	    .help = "What to do when the landing branch itself fails "
		    "check_command: add a task that fixes it (fix), take "
		    "the tasks' commits back that it ends with (revert), or "
		    "stop. Other commits are never taken back: if the "
		    "newest one was not landed by a task, revert is the "
		    "same as stop.",
	    .choices = red_actions },
	{ "auto.test_guard", SETTING_CHOICE, "\"note\"",
	    .help = "What to do about work that removes or skips tests, or "
		    "with which fewer tests run: nothing (off), point it out "
		    "in the log, llmc review and llmc report (note), or have "
		    "it wait for llmc accept (ask). It goes by the words of "
		    "common test programs.",
	    .choices = test_guards },
	{ "auto.review", SETTING_STRING, "\"\"",
	    .help = "Another agent reviews finished work before it lands: a "
		    "kind of agent (defaults.agent) or a card (agents.NAME); "
		    "empty means none. It is to read only (codex, opencode "
		    "and gemini are held to it by a sandbox only), and "
		    "approves the commit or lists findings. Those go back to "
		    "the author, twice at most; then the work waits for llmc "
		    "accept. What it costs is part of the task." },
	{ "auto.check_timeout", SETTING_DURATION, "\"30m\"",
	    .help = "How long check_command may take; post_accept_command "
		    "may take twice as long.",
	    .min = 100, .max = 24 * HOUR },
	{ "auto.post_accept_command", SETTING_STRING, "\"\"",
	    .help = "Shell command to run in the root after each landing; "
		    "the next landing waits for it. If any worker has a "
		    "sandbox, it runs in the strictest of them, in a "
		    "worktree of the landed commit.",
	    .flags = SETTING_RUNS },
	{ "auto.on_post_accept_failure", SETTING_CHOICE, "\"shutdown\"",
	    .help = "What to do when post_accept_command fails: stop "
		    "everything, continue, revert the commit, or add a task "
		    "that fixes it.",
	    .choices = post_accept_failures },
	{ "auto.worker_stall_timeout", SETTING_DURATION, "\"30m\"",
	    .help = "A worker with a task that shows no sign of life for "
		    "this long is interrupted, then restarted, then its "
		    "attempt is given up. While a tool is running, four "
		    "times this long. Never longer than three quarters of "
		    "overseer.stall_timeout.",
	    .min = 100, .max = 24 * HOUR },
	{ "auto.hours", SETTING_STRING, "\"\"",
	    .help = "When auto mode works, in local time, such as "
		    "\"22:00-07:00\" or \"12:00-13:00, 18:00-24:00\"; empty "
		    "means always. At the end of these hours the turns in "
		    "progress are finished; then the work waits and goes on "
		    "by itself.",
	    .form = FORM_HOURS },
	{ "auto.sandbox_required", SETTING_BOOL, "false",
	    .help = "Start no worker whose sandbox is off." },

	{ "budget.task_tokens", SETTING_INT, "0",
	    .help = "Tokens for one task and the agents that are spawned for "
		    "it, unless the spawn gives them a budget of their own; "
		    "0 = no limit. At the limit the task is parked, with its "
		    "work, until llmc task retry, and its worker does another "
		    "one.",
	    .min = 0, .max = 1000000000000 },
	{ "budget.task_cost", SETTING_AMOUNT, "0",
	    .help = "US dollars for one task, counted in the same way, and "
		    "estimated from [prices] while it works; 0 = no limit.",
	    .min = 0, .max = 1000000000000 },
	{ "budget.task_turns", SETTING_INT, "0",
	    .help = "Turns for one task in all its attempts; 0 = no limit.",
	    .min = 0, .max = 1000000 },
	{ "budget.task_time", SETTING_DURATION, "\"0s\"",
	    .help = "Time for one attempt at a task, without the time that "
		    "it waits for agents that it has spawned; 0s = no limit.",
	    .min = 0, .max = 30 * 24 * HOUR },
	{ "budget.day_tokens", SETTING_INT, "0",
	    .help = "Tokens for all auto workers in a day; 0 = no limit. At "
		    "the limit, all of them pause until the next day or "
		    "llmc resume.",
	    .min = 0, .max = 1000000000000 },
	{ "budget.day_cost", SETTING_AMOUNT, "0",
	    .help = "US dollars for all auto workers, planners and repairs "
		    "in a day, estimated from [prices] while they work; 0 = "
		    "no limit.",
	    .min = 0, .max = 1000000000000 },

	{ "budget.reserve", SETTING_INT, "0",
	    .help = "Percent of the budget of a day, and of the usage "
		    "windows of your Claude subscription (5 hours, 7 days), "
		    "that are kept for you: no task begins when the rest is "
		    "used. Tasks in progress go on. A window that Claude Code "
		    "has not reported is not known, and holds up nothing.",
	    .min = 0, .max = 95 },
	{ "budget.pace", SETTING_CHOICE, "\"off\"",
	    .help = "Spread these evenly over their time, and within "
		    "auto.hours (even): a task waits while more is used than "
		    "the time that has passed allows. Or not (off).",
	    .choices = paces },

	{ "plan.enabled", SETTING_BOOL, "true",
	    .help = "Work on goals: hand their ready nodes to auto workers, "
		    "and look after those that make no progress.",
	    .flags = SETTING_RESTART },
	{ "plan.allow_agents", SETTING_LIST, "[\"main\"]",
	    .help = "Workers that may get work from goals: main for all auto "
		    "workers, names of workers that a person drives, or * "
		    "for every worker." },

	{ "planner.command", SETTING_STRING, "\"\"",
	    .help = "Shell command that gets a prompt on standard input and "
		    "prints the plan as JSON; empty means "
		    "defaults.agent_command with -p.",
	    .flags = SETTING_RUNS },
	{ "planner.model", SETTING_STRING, "\"\"",
	    .help = "Model for the planner; empty means the agent's own "
		    "default." },
	{ "planner.timeout", SETTING_DURATION, "\"5m\"",
	    .help = "How long one answer of the planner may take.", .min = 100,
	    .max = 24 * HOUR },

	{ "oversight.mode", SETTING_CHOICE, "\"act\"",
	    .help = "What is done where the work of auto workers goes in "
		    "circles: act steps in, observe only records what it "
		    "would do, off does not look.",
	    .choices = oversight_mode_words },
	{ "oversight.profile", SETTING_CHOICE, "\"default\"",
	    .help = "How soon: default, strict (earlier), exploratory "
		    "(later), or ci (as soon as any coverage is lost).",
	    .choices = thresholds_profile_words },
	{ "oversight.thresholds", SETTING_LIST, "[]",
	    .help = "Thresholds that differ from the profile, such as "
		    "stuck.sameErrorCount=4.",
	    .form = FORM_THRESHOLD },
	{ "oversight.test_command", SETTING_STRING, "\"\"",
	    .help = "Shell command that tests the work at the end of a "
		    "turn, in the worktree and within auto.check_timeout; "
		    "empty means that the results of landing checks are "
		    "used.",
	    .flags = SETTING_RUNS },

	{ "team.enabled", SETTING_BOOL, "true",
	    .help = "Let agents spawn other agents for parts of their "
		    "tasks, if plan.enabled is true." },
	{ "team.max_concurrent", SETTING_INT, "10",
	    .help = "How many agents that others spawned may be at work; "
		    "those that wait for others do not count, and none of "
		    "them counts in auto.concurrency.",
	    .min = 0, .max = 1000 },
	{ "team.allowed_roles", SETTING_LIST, "[]",
	    .help = "The roles that they may have, such as coder and "
		    "reviewer; empty means every role." },

	{ "web.enabled", SETTING_BOOL, "false",
	    .help = "Serve a live page on 127.0.0.1, for you alone: llmc "
		    "web prints its address with a secret token." },
	{ "web.mode", SETTING_CHOICE, "\"view\"", .choices = web_modes,
	    .help = "view: the page only shows. work: who has its address may "
		    "also do there what you do with llmc: answer, pause, "
		    "retry, drop and add tasks and goals, accept, send back, "
		    "revert. An agent without a sandbox can read the token "
		    "and do the same." },
	{ "web.origin", SETTING_STRING, "\"\"",
	    .help = "A second address of that page, such as "
		    "https://llmc.example.org, where a program of yours "
		    "(tailscale serve, a reverse proxy) speaks TLS for it. "
		    "Who comes there logs in once, with an address that llmc "
		    "web prints, and keeps a cookie.",
	    .form = FORM_ORIGIN },
	{ "web.listen", SETTING_STRING, "\"127.0.0.1\"",
	    .help = "IPv4 address that the page listens on. One that is not "
		    "127.0.0.1 needs web.origin, since only what speaks TLS "
		    "may be reached from elsewhere.",
	    .form = FORM_ADDRESS },
	{ "web.port", SETTING_INT, "0",
	    .help = "Port of that page. 0 means a free one, which only the "
		    "overseer keeps over restarts of the daemon. A port "
		    "that is chosen here can be taken by another user of "
		    "the machine while neither of them runs; he could then "
		    "leave a page of his in your browser.",
	    .min = 0, .max = 65535 },

	{ "overseer.remediation_prompt", SETTING_STRING, "\"\"",
	    .help = "What the repair agent should know about the project, "
		    "its usual problems, and how to fix them; if empty, it "
		    "gets general advice." },
	{ "overseer.daemon_command", SETTING_STRING, "\"llmc up --auto\"",
	    .help = "Shell command that starts the daemon; the options of "
		    "llmc overseer are appended to it.",
	    .flags = SETTING_RUNS },
	{ "overseer.heartbeat_timeout", SETTING_DURATION, "\"30s\"",
	    .help = "A heartbeat older than this means that the daemon "
		    "hangs.",
	    .min = 7 * SECOND, .max = HOUR },
	{ "overseer.stall_timeout", SETTING_DURATION, "\"1h\"",
	    .help = "Auto mode is stalled when tasks are assigned, but for "
		    "this long none is started or finished and no worker "
		    "shows a sign of life.",
	    .min = 1 * SECOND, .max = 7 * 24 * HOUR },
	{ "overseer.log_failure_level", SETTING_CHOICE, "\"warn\"",
	    .help = "Lines of this level and above in autod.log count as "
		    "failures.",
	    .choices = log_failure_levels },
	{ "overseer.remediation_timeout", SETTING_DURATION, "\"30m\"",
	    .help = "How long a remediation may take.", .min = 1 * SECOND,
	    .max = 24 * HOUR },
	{ "overseer.remediation_worktree", SETTING_BOOL, "true",
	    .help = "Repair in a worktree of its own and land the fix; if "
		    "false, and no worker has a sandbox, repair in your "
		    "checkout." },
	{ "overseer.remediate", SETTING_BOOL, "true",
	    .help = "Run a remediation after a failure; if false, the "
		    "daemon is only restarted." },
	{ "overseer.restart_cooldown", SETTING_DURATION, "\"1m\"",
	    .help = "A failure sooner than this after a remediation is a "
		    "failure spiral.",
	    .min = 0, .max = 24 * HOUR },

	{ "forge.url", SETTING_STRING, "\"\"",
	    .help = "Address of the API of the forge (auto.source), "
		    "https://...; \"\" means that of the server that the "
		    "remote origin is on.",
	    .flags = SETTING_RESTART },
	{ "forge.repo", SETTING_STRING, "\"\"",
	    .help = "The repository there, OWNER/NAME; \"\" means as the "
		    "remote origin says.",
	    .flags = SETTING_RESTART },
	{ "forge.token_file", SETTING_PATH, "\"\"",
	    .help = "File with the token for the forge, which nobody else may "
		    "read (mode 600); \"\" means that gh auth token is asked.",
	    .flags = SETTING_RESTART },
	{ "forge.trusted", SETTING_LIST, "[]",
	    .help = "Logins whose issues and labels count even if the forge "
		    "does not say that they may write to the repository." },

	{ "forge.kind", SETTING_CHOICE, "\"origin\"",
	    .help = "What the forge is, for pull requests while auto.source "
		    "is local: github, gitea, or github if the remote origin "
		    "is at github.com (origin).",
	    .choices = forge_kinds, .flags = SETTING_RESTART },
	{ "forge.merge", SETTING_CHOICE, "\"person\"",
	    .help = "Who merges a pull request of llmc: a person, or llmc "
		    "when all its checks have passed and nobody wants a "
		    "change (when-green).",
	    .choices = merges },
	{ "forge.pull_requests_open", SETTING_INT, "3",
	    .help = "Pull requests of llmc that may be open at the same time; "
		    "finished work beyond that waits in the landing queue.",
	    .min = 1, .max = 100 },
	{ "forge.draft", SETTING_BOOL, "false",
	    .help = "Open pull requests as drafts." },
	{ "forge.labels", SETTING_LIST, "[]",
	    .help = "Labels for new pull requests." },

	{ "fleet.database", SETTING_STRING, "\"\"",
	    .help = "The shared book of several hosts that work on this "
		    "repository: postgresql://SERVER/DATABASE or "
		    "service=NAME; \"\" means that this host works alone "
		    "(see FLEETS).",
	    .flags = SETTING_RESTART },
	{ "fleet.passfile", SETTING_PATH, "\"\"",
	    .help = "File with the password for the server, in the format of "
		    "PostgreSQL's .pgpass, which nobody else may read (mode "
		    "600). \"\" means .llmc/fleet.pass, which llmc fleet join "
		    "writes.",
	    .flags = SETTING_RESTART },
	{ "fleet.host", SETTING_STRING, "\"\"",
	    .help = "Name of this host in the fleet; two clones on one machine "
		    "need two names. \"\" means the name of the machine.",
	    .flags = SETTING_RESTART },
	{ "fleet.ssh", SETTING_STRING, "\"\"",
	    .help = "How people reach this host by ssh, for commands with "
		    "HOST:WORKER or HOST:ASK on another one: USER@MACHINE. "
		    "\"\" means this user and the name of the machine.",
	    .flags = SETTING_RESTART },
	{ "fleet.capabilities", SETTING_LIST, "[]",
	    .help = "Words for what this host has, beyond what llmc finds: a "
		    "task that wants a word runs only on hosts with it.",
	    .flags = SETTING_RESTART },

	{ "people.report_command", SETTING_STRING, "\"\"",
	    .help = "Shell command to run with the report of a run when it "
		    "has ended (see NOTIFICATIONS).",
	    .flags = SETTING_RUNS },
	{ "people.report_at", SETTING_STRING, "\"\"",
	    .help = "Time of day at which to run report_command with the "
		    "report of the last 24 hours, too: \"07:00\". \"\" "
		    "means at the end of a run only.",
	    .form = FORM_DAYTIME },

	{ "tmux.command", SETTING_STRING, "\"tmux\"",
	    .help = "The tmux program: a name to find on PATH, or a path.",
	    .flags = SETTING_RESTART | SETTING_RUNS },
	{ "tmux.socket", SETTING_STRING, NULL,
	    .help = "Name of the tmux server's socket (tmux -L NAME).",
	    .derived = "llmc- and a hash of the repository's path",
	    .flags = SETTING_RESTART },
};

const size_t settings_table_count =
    sizeof settings_table / sizeof settings_table[0];

/* --- cards of agents -------------------------------------------------- */

const char *const agent_kind_or_none[] = { "", "claude", "claude-headless",
	"codex", "opencode", "gemini", NULL };

const struct setting settings_agent_keys[] = {
	{ SETTINGS_AGENT "description", SETTING_STRING, "\"\"",
	    .help = "What the agent is good at, in a sentence. Agents that "
		    "may start others read it." },
	{ SETTINGS_AGENT "agent", SETTING_CHOICE, "\"\"",
	    .help = "Its kind; empty means the one of the worker that runs "
		    "it (defaults.agent).",
	    .choices = agent_kind_or_none },
	{ SETTINGS_AGENT "model", SETTING_STRING, "\"\"",
	    .help = "Model of the agent; empty means the one of the worker "
		    "that runs it." },
	{ SETTINGS_AGENT "thinking", SETTING_STRING, "\"\"",
	    .help = "How hard the agent thinks.", .form = FORM_EFFORT },
	{ SETTINGS_AGENT "tags", SETTING_LIST, "[]",
	    .help = "Words and short phrases that llmc goal agents suggest "
		    "looks for in a task. Case does not matter; one with "
		    "less than three letters is ignored." },
	{ SETTINGS_AGENT "cost_tier", SETTING_STRING, "\"\"",
	    .help = "What the agent costs, compared with the others.",
	    .form = FORM_COST },
	{ SETTINGS_AGENT "typical_latency", SETTING_STRING, "\"\"",
	    .help = "How long the agent usually takes, such as 90s." },
	{ SETTINGS_AGENT "notes", SETTING_STRING, "\"\"",
	    .help = "What else one should know to choose the agent." },
	{ SETTINGS_AGENT "tools", SETTING_LIST, "[\"*\"]",
	    .help = "Tools that the agent has; [\"*\"] is every tool. "
		    "report_progress and report_completion of llmc need not "
		    "be named.",
	    .form = FORM_TOOL },
};

const size_t settings_agent_key_count = nitems(settings_agent_keys);

/* --- numbers that only tests replace ---------------------------------- */

#define BLANKS " \n"

#define DEFAULTS                                                              \
	{                                                                     \
		.outage_limit = 6 * HOUR, .login_probe = 3 * MINUTE,          \
		.login_ask = 15 * MINUTE, .plan_tick = 2 * MINUTE,            \
		.plan_retries = 2, .slice = 10 * MINUTE, .slice_tools = 30,   \
		.daemon_start = MINUTE, .daemon_stop = MINUTE / 2,            \
		.same_failures = 5, .remediations = 20, .team_depth = 3,      \
		.answer_wait = 10 * MINUTE, .look_least = MINUTE, .trial = 1, \
		.admission = 1, .host_lease = 5 * MINUTE,                     \
		.host_beat = MINUTE / 3, .host_poll = MINUTE / 2,             \
	}

#define ROW(member)                                      \
	{                                                \
#member, offsetof(struct tuning, member) \
	}

static const struct {
	const char *name;
	size_t at;
} rows[] = {
	ROW(outage_limit),
	ROW(login_probe),
	ROW(login_ask),
	ROW(plan_tick),
	ROW(plan_retries),
	ROW(slice),
	ROW(slice_tools),
	ROW(expected_iterations),
	ROW(daemon_start),
	ROW(daemon_stop),
	ROW(same_failures),
	ROW(remediations),
	ROW(answer_wait),
	ROW(trial),
	ROW(admission),
	ROW(team_depth),
	ROW(host_lease),
	ROW(host_beat),
	ROW(host_poll),
	ROW(look_least),
};

struct tuning tuning = DEFAULTS;

/* One "name=number". */
static bool
set(struct tuning *numbers, const char *text, size_t len)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		size_t name = strlen(rows[i].name);
		cleanup_free char *number = NULL;

		if (len <= name || text[name] != '=' ||
		    strncmp(text, rows[i].name, name) != 0)
			continue;
		number = xstrndup(text + name + 1, len - name - 1);
		return text_parse_int(number, 0, 365 * 24 * HOUR,
		    (int64_t *)(void *)((char *)numbers + rows[i].at));
	}
	return false;
}

bool
tuning_read(const char *text)
{
	struct tuning numbers = DEFAULTS;
	bool good = true;

	for (; text != NULL && *(text += strspn(text, BLANKS)) != '\0';
	     text += strcspn(text, BLANKS))
		good &= set(&numbers, text, strcspn(text, BLANKS));
	tuning = numbers;
	return good;
}
