/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event-table.h"

#define INFO  LOG_LEVEL_INFO
#define WARN  LOG_LEVEL_WARN
#define ERROR LOG_LEVEL_ERROR
#define DEBUG LOG_LEVEL_DEBUG

/* A kind that only the log tells: its sentence there, and the fields beside
 * it. */
#define LOGGED(kind, severity, sentence, members, ...) \
	[EVENT_##kind] = { .level = (severity),        \
		.text = (sentence),                    \
		.fields = (members),                   \
		##__VA_ARGS__ }
/* One that auto.log has under this name, with the words that are shown of it
 * there. */
#define SHOWN(kind, severity, type, sentence, shown, members, ...) \
	[EVENT_##kind] = { .name = (type),                         \
		.level = (severity),                               \
		.text = (sentence),                                \
		.words = (shown),                                  \
		.fields = (members),                               \
		##__VA_ARGS__ }

#define NODE_IS(kind, status, words, ...)                                      \
	SHOWN(NODE_##kind, INFO, "work." status, "{node} of {goal} is " words, \
	    "{node} of {goal} is " words "[ by {actor}][: {reason}]",          \
	    "goal node from to actor reason", ##__VA_ARGS__)
#define ASSIGNMENT_IS(kind, status, ...)                                 \
	SHOWN(ASSIGNMENT_##kind, INFO, "assignment." status,             \
	    "{assignment} ({node} of {goal}) is " status,                \
	    "{assignment} ({node} of {goal}) is " status "[: {reason}]", \
	    "goal node assignment worker task from to reason", ##__VA_ARGS__)

/* The overseer acts on WARN and ERROR: use them only if a repair could help,
 * and name the class of the failure. Everything else is INFO. */
const struct event_row event_table[EVENT_KIND_COUNT] = {
	LOGGED(DAEMON_OWNS, INFO, "autod {text} is running for {path}",
	    "text path"),
	LOGGED(DAEMON_ENDS, INFO, "autod ends with status {status}", "status"),
	LOGGED(DAEMON_RESUMES, INFO,
	    "the last daemon did not shut down cleanly; continuing from "
	    "its last written state",
	    NULL),
	LOGGED(DAEMON_STOPPING, INFO, "stopping: {reason}", "reason"),
	LOGGED(SETTINGS_READ, INFO, "settings read again", NULL),
	LOGGED(SETTINGS_WRONG, INFO,
	    "the new settings are wrong, the old ones stay in effect: "
	    "{reason}",
	    "reason", .notice = NOTICE_SETTINGS),
	SHOWN(STATE_RECOVERED, INFO, "state_recovered",
	    "the state was damaged: {reason}",
	    "the state was damaged: {reason}", "reason", .colour = "1;31",
	    .notice = NOTICE_STATE),
	LOGGED(STATE_LACKS_WORKERS, INFO,
	    "{count} of the auto workers are missing in the state; "
	    "they are created again",
	    "count", .notice = NOTICE_STATE),
	LOGGED(STATE_UNWRITTEN, ERROR,
	    "the state cannot be written, everything waits until it "
	    "can: {reason}",
	    "reason", .notice = NOTICE_STATE, .failure = "state_unwritten"),
	LOGGED(SOCKET_GONE, INFO, "the socket {path} was removed: {reason}",
	    "path reason"),
	SHOWN(WEB_OPEN, INFO, "web_open", "the page is on {text}",
	    "the page is on {text}; its address: llmc web", "text"),
	SHOWN(WEB_FAILED, INFO, "web_failed", "{reason}", "{reason}", "reason",
	    .colour = "1;33", .notice = NOTICE_SETTINGS),
	SHOWN(WEB_DONE, INFO, "web_done", "by the page: {text}",
	    "by the page: {text}", "text"),
	SHOWN(REPORT_FAILED, INFO, "report_failed",
	    "the report {text} was not sent: {reason}",
	    "the report {text} was not sent: {reason}", "text reason",
	    .colour = "1;33", .notice = NOTICE_SETTINGS),
	SHOWN(FAILURE, ERROR, "failure", "{reason}",
	    "hard failure {class}[, worker {worker_name}]"
	    "[, task {task}][: {reason}]",
	    "class scope worker task reason", .colour = "1;31",
	    .notice = NOTICE_FAILURE),

	SHOWN(WORKER_MOVED, INFO, "worker_state_transition", "worker changes",
	    "{worker_name}: {from_state} -> {to_state}[: {reason}]",
	    "worker from to reason", .colour = "90"),
	LOGGED(WORKER_LOST, DEBUG, "{worker} loses its task: {reason}",
	    "worker reason"),
	LOGGED(ATTEMPT_FAILED, DEBUG,
	    "the attempt of {worker} at its task failed: {reason}",
	    "worker reason"),
	LOGGED(WORKER_GONE, DEBUG, "{worker} is removed", "worker"),
	LOGGED(WORKER_PARKED, INFO, "a worker waits for a person",
	    "worker reason", .notice = NOTICE_WORKER),
	LOGGED(COMPACTED, INFO,
	    "its conversation was compacted, and gets its task again",
	    "worker task"),
	LOGGED(AFRESH, INFO, "it goes on in another conversation: {reason}",
	    "worker task reason"),
	SHOWN(LOGIN_NEEDED, INFO, "login_needed",
	    "{worker} needs a person: {reason}",
	    "{worker_name} needs a person: {reason}", "worker reason",
	    .colour = "1;33", .notice = NOTICE_LOGIN),
	LOGGED(MOVE_REFUSED, ERROR, "{worker}: {reason}", "worker reason",
	    .failure = "bug"),
	LOGGED(WORK_FINISHED, DEBUG, "{worker} has finished", "worker",
	    .notice = NOTICE_REVIEW, .by_hand = true),
	LOGGED(WORK_FOUND, INFO, "work found on an idle worker", "worker"),
	LOGGED(WORK_LANDED_ELSEWHERE, INFO,
	    "its work is on the default branch already", "worker commit"),
	LOGGED(WORK_SALVAGED, INFO, "work salvaged", "worker task ref"),
	LOGGED(WORKTREE_GONE, INFO, "its worktree is gone and is created again",
	    "worker"),
	LOGGED(WORKTREE_BROKEN, INFO,
	    "its worktree is broken and is moved aside", "worker path"),
	LOGGED(LOCKS_REMOVED, INFO,
	    "git lock files that its git left behind are removed",
	    "worker reason"),
	LOGGED(LIMITS_MISSING, INFO,
	    "{worker}: limits are set that cannot be held: {reason}",
	    "worker reason"),
	LOGGED(SETUP_FAILED, INFO, "{worker}: {reason}", "worker reason",
	    .notice = NOTICE_WORKER, .by_hand = true),
	LOGGED(SUBMODULE_MISSING, INFO,
	    "{worker}: {reason}; type: git submodule update --init --recursive",
	    "worker reason"),
	LOGGED(PORT_BUSY, INFO,
	    "{worker}: another program listens on port {count}, which is its "
	    "own; other ports: llmc config set repo.port_base NUMBER",
	    "worker count"),
	LOGGED(TEARDOWN_FAILED, INFO, "{worker}: {reason}; it is removed",
	    "worker reason"),
	LOGGED(SETUP_FAILED_TOO, INFO, "{worker}: {reason}", "worker reason"),
	LOGGED(LEFTOVERS_STAY, INFO,
	    "{worker}: its uncommitted changes cannot be committed: "
	    "{reason}",
	    "worker reason", .notice = NOTICE_WORKER, .by_hand = true),
	SHOWN(HOST_REFUSED, INFO, "host_refused",
	    "{worker} asked for {text}, which is not in sandbox_hosts",
	    "{worker_name} asked for {text}, which is not in "
	    "sandbox_hosts",
	    "worker text"),
	LOGGED(
	    TURN_ENDED, DEBUG, "{worker}: its turn has ended", "worker task"),
	LOGGED(TURN_END_FAILED, INFO,
	    "{worker}: what its turn has left cannot be read: {reason}",
	    "worker reason", .notice = NOTICE_WORKER, .by_hand = true),
	LOGGED(GIT_FAILED, WARN, "{worker}: git: {reason}", "worker reason",
	    .failure = "worker_git"),

	LOGGED(LAUNCHING, INFO, "launching", "worker session resume"),
	LOGGED(LAUNCH_RETRIED, INFO,
	    "{worker}: no session, will try again: {reason}", "worker reason"),
	LOGGED(LAUNCH_FAILED, INFO,
	    "{worker}: the session cannot be started: {reason}",
	    "worker reason", .notice = NOTICE_WORKER, .by_hand = true),
	SHOWN(LAUNCH_UNBLOCKED, INFO, "launch_unblocked",
	    "{worker} can start now", "{worker_name} can start now", "worker"),
	LOGGED(ADOPTED, INFO, "running session adopted", "worker"),
	LOGGED(CLEARED, INFO,
	    "no longer waiting for what its lost session left", "worker"),
	LOGGED(PROMPT_SUBMITTED, INFO, "prompt submitted", "worker receipt"),
	LOGGED(PROMPT_NOT_TAKEN, INFO, "{worker}: {reason}", "worker reason"),
	LOGGED(AGENT_EXITED, INFO, "the agent exited on its own",
	    "worker status reason"),
	LOGGED(AGENT_CRASHES, INFO, "{worker}: {reason}", "worker reason",
	    .notice = NOTICE_WORKER, .by_hand = true),
	LOGGED(RESUME_IMPOSSIBLE, INFO, "its conversation cannot be resumed",
	    "worker session"),
	LOGGED(START_UNREPORTED, INFO,
	    "the start of its session was not reported: a new "
	    "session is started",
	    "worker"),
	LOGGED(AGENT_HUNG, INFO, "no sign of life: the session is restarted",
	    "worker"),
	LOGGED(SESSION_GONE, INFO,
	    "its tmux session is gone and is started again", "worker"),
	LOGGED(
	    SESSION_ORPHAN, INFO, "session without a worker ended", "session"),

	SHOWN(SENT_BACK, INFO, "sent_back", "sent back at the end of its turn",
	    "{worker_name} is sent back[ to {task}][: {reason}]",
	    "worker task reason", .colour = "33"),
	LOGGED(TURN_FAILED, INFO, "a turn failed", "worker error class text"),
	SHOWN(WAITING, INFO, "waiting", "waiting",
	    "[{worker_name} is ]waiting[ until {until_unix:time}]"
	    "[: {reason}]",
	    "worker reason until", .colour = "33"),
	LOGGED(LIMIT_OVER, INFO, "the limit is over", "worker"),
	SHOWN(STALL, INFO, "stall", "no sign of life",
	    "{worker_name} shows no sign of life[ in {task}]"
	    "[: {action}]",
	    "worker task action", .colour = "33"),
	LOGGED(STALL_GIVEN_UP, WARN,
	    "no sign of life, although it was interrupted and "
	    "restarted: the attempt is given up",
	    "worker task", .failure = "stall"),
	SHOWN(BUDGET, INFO, "budget", "paused at its budget",
	    "the budget of the {scope} is reached[ by {worker_name}]"
	    "[: {reason}]",
	    "scope worker task reason", .colour = "1;35",
	    .notice = NOTICE_BUDGET),
	SHOWN(OVERSIGHT, INFO, "oversight", "oversight found {class}: {action}",
	    "[{worker_name}: ]{class}, {action}[: {reason}]",
	    "worker task class action reason", .colour = "1;35"),
	SHOWN(COST_UNKNOWN, INFO, "cost_unknown", "{reason}",
	    "[{worker_name}: ]{reason}", "worker task reason", .colour = "33",
	    .notice = NOTICE_BUDGET),
	LOGGED(FLEET_PAUSED, INFO, "all workers pause: {reason}", "reason",
	    .notice = NOTICE_BUDGET),
	LOGGED(FLEET_RESUMED, INFO, "work continues", NULL),
	SHOWN(INTAKE_STOPPED, INFO, "intake_stopped",
	    "no more tasks are given out: {reason}", "{reason}", "reason",
	    .colour = "1;33", .notice = NOTICE_WORKER),
	SHOWN(HOOKS_CHANGED, INFO, "hooks_changed",
	    "the git hooks of this repository have changed: {reason}",
	    "the git hooks of this repository have changed: {reason}; "
	    "if that was not you, look at .git/config and .git/hooks",
	    "reason", .colour = "1;33", .notice = NOTICE_WORKER),

	LOGGED(
	    LANDING_ENDED, DEBUG, "a landing of {worker} has ended", "worker"),
	SHOWN(LANDING_QUEUED, INFO, "landing_queued", "waits to land",
	    "[{task} ][at {commit_sha:sha} ]waits to land"
	    "[ on {branch}][: {task_excerpt}]",
	    "worker task branch commit title", .colour = "90"),
	SHOWN(LANDINGS_BUILT, INFO, "landings_built",
	    "{count} landings on {branch} are built, and wait",
	    "{count} built on top of {branch}, waiting to land", "branch count",
	    .colour = "90"),
	SHOWN(LANDED, INFO, "accept_success", "landed",
	    "the work of {worker_name}[ on {task}] has landed"
	    "[ on {branch}][ as {commit_sha:sha}]"
	    "[; {ref:sha} has it already]"
	    "[, on a check that was {result}]",
	    "worker task branch commit ref result", .colour = "32"),
	SHOWN(REVERTED, INFO, "reverted", "reverted",
	    "{ref:sha} is taken back[ on {branch}]"
	    "[ by {commit_sha:sha}]",
	    "branch commit ref reason", .colour = "33"),
	SHOWN(NOT_LANDED, INFO, "accept_failure", "not landed",
	    "the work of {worker_name}[ on {task}]"
	    "[ at {commit_sha:sha}] has not landed[ on {branch}]"
	    "[: {error}]",
	    "worker task branch commit error", .colour = "31"),
	SHOWN(LANDING_WAITS, INFO, "landing_waits",
	    "landings on {branch} wait: {reason}",
	    "landings[ on {branch}] wait[: {reason}]", "branch reason",
	    .colour = "33"),
	SHOWN(CHECKOUT_HELD, INFO, "checkout_held",
	    "landings on {branch} still wait: {reason}; commit or "
	    "stash the changes",
	    "landings[ on {branch}] still wait[: {reason}]", "branch reason",
	    .colour = "1;33", .notice = NOTICE_CHECKOUT),
	SHOWN(BRANCH_CHOSEN, INFO, "branch_chosen",
	    "work lands on {branch} from now on; "
	    "repo.default_branch was not set",
	    "work lands on {branch} from now on", "branch"),
	SHOWN(BRANCH_WRONG, INFO, "branch_wrong", "{reason}", "{reason}",
	    "branch reason", .notice = NOTICE_BRANCH),
	SHOWN(BRANCH_TAKEN, INFO, "branch_taken",
	    "{branch} is checked out at {reason}: {worker} goes on "
	    "without it, and it follows the work again when something "
	    "else is checked out there",
	    "{branch} is checked out at {reason}: {worker_name} goes on "
	    "without it, and it follows the work again when "
	    "something else is checked out there",
	    "worker branch reason"),
	LOGGED(BRANCH_MOVED, DEBUG, "{branch} moves", "branch from to"),
	SHOWN(BRANCH_RED, INFO, "branch_red", "{branch} fails its own check",
	    "{branch} fails its own check[ at {commit_sha:sha}]",
	    "branch commit reason", .colour = "1;31", .notice = NOTICE_BRANCH),
	SHOWN(CHECKS_OVERTAKEN, INFO, "checks_overtaken",
	    "checks of {branch} are overtaken: {reason}",
	    "checks of {branch} are overtaken[: {reason}]", "branch reason",
	    .colour = "1;33", .notice = NOTICE_BRANCH),
	SHOWN(CHECK_BEGINS, INFO, "check_begins", "a check of {text} begins",
	    "a check of {text} begins", "text ref", .colour = "90"),
	SHOWN(CHECKED, INFO, "check", "check {result}",
	    "check {result}[: {reason}][ after {duration_ms:ms}]",
	    "result ref reason duration_ms", .colour = "90"),
	SHOWN(TESTS_WEAKENED, INFO, "tests_weakened",
	    "the work weakens tests: {reason}",
	    "[{worker_name}: ]the work weakens tests: {reason}",
	    "worker task reason", .colour = "33"),
	SHOWN(CHECK_FLAKY, INFO, "check_flaky",
	    "check_command contradicts itself on {count} % of the "
	    "trees",
	    "check_command contradicts itself on {count} % of the "
	    "trees",
	    "count", .colour = "33"),
	SHOWN(PUSHED, INFO, "pushed", "pushed",
	    "{branch} is pushed[ at {commit_sha:sha}]", "branch commit",
	    .colour = "32"),
	SHOWN(PUSH_FAILED, INFO, "push_failed", "push of {branch}: {reason}",
	    "the push of {branch}[ at {commit_sha:sha}] fails and is "
	    "tried again[: {reason}]",
	    "branch commit reason", .colour = "33", .notice = NOTICE_PUSH),
	SHOWN(ISSUE_TAKEN, INFO, "issue_taken", "issue #{key} is {task}",
	    "issue #{key} is {task}[: {task_excerpt}]", "key task title"),
	SHOWN(ISSUE_LEFT, INFO, "issue_left", "issue #{key} is left: {reason}",
	    "issue #{key} is not taken: {reason}", "key reason",
	    .colour = "33"),
	SHOWN(ISSUE_CHANGED, INFO, "issue_changed",
	    "issue #{key} ({task}) has changed: {reason}",
	    "issue #{key} ({task}) is not what was taken: {reason}",
	    "key task reason", .colour = "1;33"),
	SHOWN(ISSUE_LOST, INFO, "issue_lost",
	    "issue #{key} ({task}) was taken over",
	    "another llmc has taken issue #{key} over; {task} is dropped",
	    "key task", .colour = "33"),
	SHOWN(ISSUE_TOLD, INFO, "issue_told", "issue #{key} ({task}): {result}",
	    "issue #{key} says that {task} is {result}", "key task result"),
	SHOWN(ISSUE_NOT_TOLD, INFO, "issue_not_told",
	    "issue #{key} ({task}) cannot be updated: {reason}",
	    "issue #{key} cannot be updated with {task}: {reason}",
	    "key task reason", .colour = "33"),
	SHOWN(PULL, INFO, "pull_request", "{task}: {text}", "{task}: {text}",
	    "task text"),
	SHOWN(FORGE_AWAY, INFO, "forge_away", "the forge: {reason}",
	    "the forge does not answer, and is asked again: {reason}", "reason",
	    .colour = "33"),
	SHOWN(FORGE_REFUSES, INFO, "forge_refuses", "the forge: {reason}",
	    "the forge cannot be used: {reason}", "reason", .colour = "1;33",
	    .notice = NOTICE_SETTINGS),
	SHOWN(FORGE_BACK, INFO, "forge_back", "the forge answers again",
	    "the forge answers again about {text}", "text"),
	SHOWN(HOST_UP, INFO, "host_up", "the host {text} is up",
	    "the host {text} is up, and takes tasks of the fleet", "text",
	    .colour = "32"),
	SHOWN(HOST_LOST, INFO, "host_lost", "the host {text} is lost",
	    "the host {text} is lost; others get its tasks", "text",
	    .colour = "1;33"),
	SHOWN(HOSTS_AWAY, INFO, "fleet_away", "the fleet: {reason}",
	    "the database of the fleet does not answer, and is asked again: "
	    "{reason}",
	    "reason", .colour = "33"),
	SHOWN(HOSTS_REFUSED, INFO, "fleet_refuses", "the fleet: {reason}",
	    "this host cannot take part in the fleet: {reason}", "reason",
	    .colour = "1;33", .notice = NOTICE_SETTINGS),
	SHOWN(HOSTS_BACK, INFO, "fleet_back",
	    "the database of the fleet answers again",
	    "the database of the fleet answers {text} again", "text"),
	SHOWN(HOSTS_DOUBT, INFO, "fleet_doubt", "the fleet: {reason}",
	    "the database of the fleet: {reason}", "reason", .colour = "1;33"),
	SHOWN(HOSTS_TRUSTED, INFO, "fleet_trusted", "the fleet goes on: {text}",
	    "the database of the fleet is used again: {text}", "text",
	    .colour = "32"),
	SHOWN(HOSTS_FORGOT, INFO, "fleet_forgot",
	    "{text} has not read how {count} of its tasks ended",
	    "the host {text} has not read for 30 days how {count} of its tasks "
	    "ended: that is removed from the shared book",
	    "text count", .colour = "1;33"),
	SHOWN(HOSTS_MISSED, INFO, "fleet_missed",
	    "{count} events are not in the shared book",
	    "{count} events of this host are not in the shared book, which was "
	    "away for too long",
	    "count", .colour = "33"),
	SHOWN(TASK_CLAIMED, INFO, "task_claimed",
	    "this host has claimed {task} of {text}",
	    "this host has claimed {task} of {text}", "task text"),
	SHOWN(TASK_FENCED, INFO, "task_fenced", "{task}: {reason}",
	    "{task}: {reason}", "task reason", .colour = "1;33"),
	SHOWN(FOLLOWED, INFO, "followed", "{branch} follows origin",
	    "{branch} follows origin[ to {commit_sha:sha}]", "branch commit",
	    .colour = "32"),
	SHOWN(ORIGIN_AWAY, INFO, "origin_away", "origin is away: {reason}",
	    "origin is away, and is asked again[: {reason}]", "branch reason",
	    .colour = "33"),
	LOGGED(CLEANUP_FAILED, WARN,
	    "{worker}: landed on {branch}, but its worktree "
	    "cannot be reset: {reason}",
	    "worker branch commit reason", .failure = "cleanup"),

	SHOWN(AUTO_BEGINS, INFO, "daemon_startup",
	    "auto mode: {concurrency} at a time, tasks from the {text} "
	    "source",
	    "auto mode begins[ with {concurrency} at a time]",
	    "instance concurrency text", .colour = "1"),
	SHOWN(AUTO_ENDS, INFO, "daemon_shutdown", "auto mode ends: {reason}",
	    "auto mode ends[: {reason}]", "instance reason", .colour = "1"),
	SHOWN(AGENT_VERSION, INFO, "agent_version",
	    "the agent is Claude Code {text}",
	    "Claude Code {text}[, before {reason}]", "worker text reason",
	    .colour = "2"),
	SHOWN(TASK_ASSIGNED, INFO, "task_assigned", "task assigned",
	    "{worker_name} gets {task}[, attempt {attempt}]"
	    "[: {task_excerpt}]",
	    "worker task title attempt", .colour = "36"),
	SHOWN(TASK_COMPLETED, INFO, "task_completed", "work on a task ended",
	    "{worker_name} has ended its work on {task}[: {result}]",
	    "worker task result"),
	SHOWN(VERIFIED, INFO, "verification",
	    "the contract was checked: {result}",
	    "the work of {worker_name} on {task} was verified: "
	    "{result}[ ({reason})]",
	    "worker task result commit reason"),
	SHOWN(REVIEWED, INFO, "review", "the work was reviewed: {result}",
	    "{worker_name} has reviewed the work on {task}: "
	    "{result}[ ({reason})]",
	    "worker task result commit reason"),
	SHOWN(TASK_RETRY, INFO, "task_retry", "attempt failed",
	    "{task} will be tried again[ after attempt {attempt}][: "
	    "{reason}]",
	    "worker task reason attempt", .colour = "33"),
	SHOWN(TASK_PARKED, INFO, "task_parked", "{task} waits for a person",
	    "{task} waits for a person[: {reason}]", "worker task reason",
	    .colour = "1;33"),
	SHOWN(TASK_RESUMED, INFO, "task_resumed", "{task} goes on",
	    "{task} goes on[: {text}]", "task text"),
	SHOWN(PROGRESS, INFO, "progress", "progress",
	    "{worker_name} on {task}: {text}", "worker task text"),
	SHOWN(REPORTED, INFO, "reported", "report about the end of its work",
	    "{worker_name} reports on {task}[ ({status})]: {text}",
	    "worker task status text"),
	SHOWN(TASK_FINISHED, INFO, "task_finished", "task finished",
	    "{task} is finished: {outcome}[ ({reason})]",
	    "task outcome worker title commit reason", .colour = "1"),
	LOGGED(TASK_ORPHANED, INFO, "no worker has it: it waits again", "task"),
	LOGGED(TASK_TAKEN_ELSEWHERE, INFO, "another program took the task",
	    "task key"),
	LOGGED(
	    TASK_NOT_TAKEN, INFO, "a task cannot be taken yet", "task reason"),
	LOGGED(TASK_NOT_TOLD, INFO,
	    "{task}: its outcome cannot be reported to its source yet: "
	    "{reason}",
	    "task reason"),
	LOGGED(TASKS_GIVEN_BACK, INFO,
	    "tasks given back before anybody worked on them: {count}", "count"),
	LOGGED(TASKS_EXHAUSTED, INFO,
	    "no task is left; {done} done, {failed} failed{text}",
	    "done failed text"),
	SHOWN(QUARANTINE, INFO, "quarantine",
	    "tasks that cannot be used: {reason}",
	    "a task cannot be used[: {reason}]", "reason", .colour = "33",
	    .notice = NOTICE_TASK),
	SHOWN(POST_ACCEPT, INFO, "post_accept", "post_accept_command ended",
	    "post_accept_command[ for {task}][ at {commit_sha:sha}] "
	    "ended with status {exit_code}[ in {duration_ms:ms}]",
	    "task commit exit_code duration_ms"),
	LOGGED(POST_ACCEPT_FAILED, INFO, "{reason}", "reason",
	    .notice = NOTICE_BRANCH),

	SHOWN(GOAL_CREATED, INFO, "goal.created", "goal {goal}: {title}",
	    "goal {goal} is created: {task_excerpt}", "goal title actor"),
	SHOWN(GOAL_ACTIVE, INFO, "goal.active", "goal {goal} is active",
	    "goal {goal} is active[ by {actor}][: {reason}]",
	    "goal from to actor reason"),
	SHOWN(GOAL_PAUSED, INFO, "goal.paused", "goal {goal} is paused",
	    "goal {goal} is paused[ by {actor}][: {reason}]",
	    "goal from to actor reason"),
	SHOWN(GOAL_COMPLETED, INFO, "goal.completed",
	    "goal {goal} is completed",
	    "goal {goal} is completed[ by {actor}][: {reason}]",
	    "goal from to actor reason", .colour = "1;32",
	    .notice = NOTICE_GOAL),
	SHOWN(GOAL_CANCELLED, INFO, "goal.cancelled",
	    "goal {goal} is cancelled",
	    "goal {goal} is cancelled[ by {actor}][: {reason}]",
	    "goal from to actor reason"),
	SHOWN(GOAL_ARCHIVED, INFO, "goal.archived", "goal {goal} is archived",
	    "goal {goal} is archived[ by {actor}][: {reason}]",
	    "goal from to actor reason"),
	SHOWN(PLAN_GENERATED, INFO, "plan.generated",
	    "goal {goal} has a plan of {count} nodes, {text}",
	    "goal {goal} has a plan of {count} nodes[, {text}]",
	    "goal text count"),
	SHOWN(PLAN_FAILED, INFO, "plan.failed",
	    "goal {goal} has no plan: {reason}",
	    "goal {goal} has no plan: {reason}", "goal reason", .colour = "33",
	    .notice = NOTICE_GOAL),
	SHOWN(PLAN_DRAFTED, INFO, "plan.drafted",
	    "goal {goal} has a draft of {count} nodes, {text}; to "
	    "apply it: llmc goal plan apply GOAL",
	    "goal {goal} has a draft of {count} nodes[, {text}]",
	    "goal text count actor"),
	SHOWN(PLAN_CREATED, INFO, "plan.created", "goal {goal}: {text}",
	    "goal {goal}, version {count}: {text}[ by {actor}][: "
	    "{reason}]",
	    "goal count text actor reason"),
	SHOWN(PLAN_REVIEW_NEEDED, INFO, "plan.review_needed",
	    "the plan of goal {goal} needs a review: {reason}; to "
	    "change it: llmc goal edit GOAL",
	    "the plan of goal {goal} needs a review[ ({node})][ by "
	    "{actor}][: {reason}]",
	    "goal node worker count actor reason", .colour = "33",
	    .notice = NOTICE_GOAL),
	SHOWN(PLAN_UPDATED, INFO, "plan.updated", "goal {goal}: {text}",
	    "goal {goal}, version {count}: {text}[ by {actor}][: "
	    "{reason}]",
	    "goal count text actor reason"),
	NODE_IS(TODO, "todo", "todo", .colour = "90"),
	NODE_IS(QUEUED, "queued", "queued", .colour = "90"),
	NODE_IS(IN_PROGRESS, "in_progress", "in progress", .colour = "90"),
	NODE_IS(BLOCKED, "blocked", "blocked", .colour = "33"),
	SHOWN(NODE_DONE, INFO, "work.done", "{node} of {goal} is done",
	    "{node} of {goal} is done[ ({commit_sha:sha})][ by "
	    "{actor}][: {reason}]",
	    "goal node from to commit actor reason", .colour = "32"),
	NODE_IS(CANCELLED, "cancelled", "cancelled"),
	SHOWN(NODE_UPDATE, INFO, "work.update",
	    "{worker} on {node} of {goal}: {status}",
	    "[{worker_name} on ]{node} of {goal}[: {status}][: "
	    "{text}]",
	    "goal node assignment worker status text"),
	SHOWN(REQUEST, INFO, "request", "{worker} asks {to} ({ref})",
	    "[{worker_name} asks ]{to_state} ({ref})", "worker task ref to"),
	SHOWN(REQUEST_ENDED, INFO, "request.ended",
	    "the question {ref} is {result}",
	    "[{worker_name}: ]the question {ref} is {result}",
	    "worker task ref result"),
	SHOWN(GUARD_DENIED, INFO, "guard.denied", "{class}: {reason}",
	    "[{worker_name}: ]{class}: {reason}",
	    "worker task class reason count", .colour = "33"),
	ASSIGNMENT_IS(QUEUED, "queued", .colour = "90"),
	ASSIGNMENT_IS(DISPATCHED, "dispatched", .colour = "90"),
	ASSIGNMENT_IS(ACTIVE, "active", .colour = "90"),
	ASSIGNMENT_IS(STALLED, "stalled", .colour = "33"),
	ASSIGNMENT_IS(BLOCKED, "blocked", .colour = "33"),
	ASSIGNMENT_IS(DONE, "done", .colour = "32"),
	ASSIGNMENT_IS(CANCELLED, "cancelled"),
	SHOWN(ASSIGNMENT_DISPATCH, INFO, "assignment.dispatch",
	    "{assignment} ({node} of {goal}): {action}",
	    "{assignment} ({node} of {goal}): {action}[ to "
	    "{worker_name}][: {reason}]",
	    "goal node assignment dispatch worker task action reason"),
	SHOWN(ASSIGNMENT_ESCALATED, INFO, "assignment.escalated",
	    "a goal needs a person: {reason}; answer, and let it go "
	    "on, with: llmc goal node unblock {goal}/{node} --reason TEXT",
	    "{node} of {goal} needs a person[: {reason}]",
	    "goal node assignment dispatch worker task action reason",
	    .colour = "1;33", .notice = NOTICE_GOAL),
	SHOWN(ASSIGNMENT_REPLAN, INFO, "assignment.replan",
	    "{assignment} ({node} of {goal}) needs another plan: "
	    "{reason}",
	    "{assignment} ({node} of {goal}) needs another plan[: "
	    "{reason}]",
	    "goal node assignment worker task reason"),
	SHOWN(DISPATCH_ENDED, INFO, "dispatch.ended",
	    "dispatch {dispatch} of {assignment}: {result}",
	    "dispatch {dispatch} of {assignment}: {result}[: "
	    "{reason}]",
	    "goal node assignment dispatch action result "
	    "reason",
	    .colour = "90"),
	SHOWN(TICK, DEBUG, "overseer.tick",
	    "tick ({reason}): {count} decisions in {duration_ms} ms",
	    "tick[ ({reason})]: {count} decisions in "
	    "{duration_ms:ms}",
	    "count duration_ms reason", .colour = "90"),
	SHOWN(ACTION, INFO, "overseer.action",
	    "{assignment} ({node} of {goal}): {action}, because "
	    "{reason}",
	    "{assignment} ({node} of {goal}): {action}[, because "
	    "{reason}]",
	    "goal node assignment worker action reason"),
	SHOWN(STALLED, INFO, "overseer.stalled",
	    "{count} assignments are stalled: {text}",
	    "{count} assignments are stalled: {text}", "count text",
	    .colour = "33"),
	SHOWN(STORE_CLOSED, INFO, "store.closed",
	    "goals are off, workers go on: {reason}",
	    "goals are off[: {reason}]", "reason", .colour = "1;31",
	    .notice = NOTICE_STATE),
	SHOWN(STORE_UNWRITTEN, INFO, "store.unwritten",
	    "the book cannot be written, everything waits until it "
	    "can: {reason}",
	    "the book cannot be written; everything waits"
	    "[: {reason}]",
	    "reason", .colour = "1;31"), /* people: EVENT_STATE_UNWRITTEN */
	SHOWN(STORE_WRITTEN, INFO, "store.written",
	    "the book is written again after {duration_ms} ms; "
	    "{count} events were not kept",
	    "the book is written again after {duration_ms:ms}; "
	    "{count} events were not kept",
	    "duration_ms count"),
	SHOWN(STORE_REFUSED, INFO, "store.refused",
	    "a change of {goal} cannot be stored and was undone: "
	    "{reason}",
	    "a change of {goal} cannot be stored and was undone"
	    "[: {reason}]",
	    "goal reason", .colour = "1;31", .notice = NOTICE_STATE),

};

/* --- failures -------------------------------------------------------- */

#define DAEMON  FAILURE_SCOPE_DAEMON
#define FLEET   FAILURE_SCOPE_FLEET
#define WORKER  FAILURE_SCOPE_WORKER
#define TASK    FAILURE_SCOPE_TASK
#define LANDING FAILURE_SCOPE_LANDING
#define REPAIR  FAILURE_HELP_REPAIR
#define PERSON  FAILURE_HELP_PERSON
#define NOBODY  FAILURE_HELP_NOBODY

#define POOL_FIX "see .llmc/logs/task_pool.log and fix the command"
#define GIT_FIX  "see what git said: llmc log daemon --level warn"

const struct failure_class failure_classes[] = {
	{ "bug", DAEMON, REPAIR, "llmc contradicts itself",
	    "report it, with .llmc/logs/autod.log" },
	{ "state_unwritten", DAEMON, REPAIR,
	    "a file of .llmc cannot be written",
	    "make room on the disk, or restore the permissions of .llmc" },
	{ "state_overwritten", DAEMON, REPAIR,
	    "another program removed, replaced or overwrote llmc.db",
	    "see what is wrong with the state: llmc doctor" },
	{ "root_gone", DAEMON, PERSON,
	    "the folder .llmc was removed or replaced while the daemon ran",
	    "set it up again: llmc init, llmc doctor --rebuild" },
	{ "tmux", FLEET, REPAIR, "tmux does not answer",
	    "see what tmux said: llmc log daemon --level warn" },
	{ "task_pool_failed", FLEET, REPAIR, "the task pool command failed",
	    POOL_FIX },
	{ "task_pool_timeout", FLEET, REPAIR,
	    "the task pool command took too long", POOL_FIX },
	{ "task_pool_text", FLEET, REPAIR,
	    "the task pool command printed something that is no task",
	    POOL_FIX },
	{ "task_pool_claims", FLEET, REPAIR,
	    "the task pool command says that too many tasks are claimed",
	    POOL_FIX },
	{ "task_source", FLEET, REPAIR,
	    "the source of the tasks cannot be read",
	    "look at the folder of tasks: llmc doctor" },
	{ "outage", FLEET, NOBODY,
	    "the service did not answer for longer than 6 hours",
	    "wait until the service is available again" },
	{ "login", FLEET, PERSON, "an agent has lost its login or trust",
	    "type what the failure says; each kind of agent has a login of its "
	    "own" },
	{ "worker_error", WORKER, REPAIR,
	    "a worker of auto mode cannot continue", "see why: llmc status" },
	{ "worktree", WORKER, REPAIR, "a worktree cannot be made",
	    "see what is wrong with worktrees: llmc doctor" },
	{ "worker_git", WORKER, REPAIR, "git failed in a worktree", GIT_FIX },
	{ "cleanup", WORKER, REPAIR,
	    "a worktree cannot be reset after its work landed", GIT_FIX },
	{ "stall", TASK, REPAIR,
	    "a worker gave no sign of life, although it was restarted",
	    "see what it did: llmc task show" },
	{ "git", LANDING, REPAIR, "git failed", GIT_FIX },
	{ "git_lock", LANDING, REPAIR, "a git lock file stays", GIT_FIX },
	{ "landing_branch", LANDING, PERSON,
	    "the branch that work lands on is gone, or has another name",
	    "set repo.default_branch, or create the branch again" },
	{ "dirty_checkout", LANDING, REPAIR,
	    "uncommitted changes in the checkout stay",
	    "commit or stash the changes in your checkout" },
	{ "conflicts", LANDING, REPAIR,
	    "work conflicts with the branch again and again",
	    "see what happened: llmc log" },
	{ "check", LANDING, REPAIR, "auto.check_command gives no verdict",
	    "run the command by hand and fix it" },
	{ "red_branch", LANDING, REPAIR, "the branch fails its own check",
	    "fix the branch, or revert what broke it" },
	{ "post_accept", LANDING, REPAIR,
	    "post_accept_command fails on work that has landed",
	    "see .llmc/logs/post_accept.log and fix the default branch" },
	{ "revert", LANDING, REPAIR, "work that failed cannot be reverted",
	    GIT_FIX },
};

const size_t failure_class_count = nitems(failure_classes);

static const struct failure_class unknown = { "unknown", DAEMON, REPAIR,
	"an unknown failure", "see what happened: llmc log" };

const char *
failure_scope_name(enum failure_scope scope)
{
	static const char *const names[FAILURE_SCOPE_COUNT] = {
		[FAILURE_SCOPE_DAEMON] = "daemon",
		[FAILURE_SCOPE_FLEET] = "fleet",
		[FAILURE_SCOPE_WORKER] = "worker",
		[FAILURE_SCOPE_TASK] = "task",
		[FAILURE_SCOPE_LANDING] = "landing",
	};

	return names[scope];
}

const char *
failure_help_name(enum failure_help help)
{
	static const char *const names[FAILURE_HELP_COUNT] = {
		[FAILURE_HELP_REPAIR] = "repair",
		[FAILURE_HELP_PERSON] = "person",
		[FAILURE_HELP_NOBODY] = "nobody",
	};

	return names[help];
}

const struct failure_class *
failure_class_find(const char *name)
{
	for (size_t i = 0; name != NULL && i < failure_class_count; i++)
		if (strcmp(failure_classes[i].name, name) == 0)
			return &failure_classes[i];
	return &unknown;
}
