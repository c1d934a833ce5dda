/* SPDX-License-Identifier: ISC */

/* Every kind of event, and every class of failures that an event names: one row
 * each. */
#ifndef EVENT_TABLE_H
#define EVENT_TABLE_H

#include "notice.h"

enum event_kind {
	/* The daemon. */
	EVENT_DAEMON_OWNS, /* path: the root; text: version */
	EVENT_DAEMON_ENDS, /* status */
	EVENT_DAEMON_RESUMES, /* the last one did not shut down cleanly */
	EVENT_DAEMON_STOPPING, /* reason; once, before anything is stopped */
	EVENT_SETTINGS_READ,
	EVENT_SETTINGS_WRONG, /* reason */
	EVENT_STATE_RECOVERED, /* reason */
	EVENT_STATE_LACKS_WORKERS, /* count */
	EVENT_STATE_UNWRITTEN, /* reason */
	EVENT_SOCKET_GONE, /* path, reason: what follows */
	EVENT_WEB_OPEN, /* text: address and port */
	EVENT_WEB_FAILED, /* reason */
	EVENT_WEB_DONE, /* text: what a person did at the page */
	EVENT_REPORT_FAILED, /* text: of what, reason, receipt */
	EVENT_FAILURE, /* class, scope, worker, task, reason */
	/* A worker. */
	EVENT_WORKER_MOVED, /* worker, from, to, reason */
	EVENT_WORKER_LOST, /* worker, reason: it lost its task */
	EVENT_ATTEMPT_FAILED, /* worker, reason: at its task; it is reset */
	EVENT_WORKER_GONE, /* worker: it no longer exists */
	EVENT_WORKER_PARKED, /* worker, reason: it waits for a person */
	EVENT_COMPACTED, /* worker, task */
	EVENT_AFRESH, /* worker, task, reason: in another conversation */
	EVENT_LOGIN_NEEDED, /* worker, reason: a login, or trust in a folder */
	EVENT_MOVE_REFUSED, /* worker, reason: a bug in this program */
	EVENT_WORK_FINISHED, /* worker: committed, needs_review */
	EVENT_WORK_FOUND, /* worker: unexpected commits of an idle worker */
	EVENT_WORK_LANDED_ELSEWHERE, /* worker: a person merged it */
	EVENT_WORK_SALVAGED, /* worker, task if it is of one, ref */
	EVENT_WORKTREE_GONE, /* worker */
	EVENT_WORKTREE_BROKEN, /* worker, path: moved aside */
	EVENT_LOCKS_REMOVED, /* worker, reason */
	EVENT_LIMITS_MISSING, /* worker, reason */
	EVENT_SETUP_FAILED, /* worker, reason */
	EVENT_SUBMODULE_MISSING, /* worker, reason */
	EVENT_PORT_BUSY, /* worker, count: the port */
	EVENT_TEARDOWN_FAILED, /* worker, reason */
	EVENT_SETUP_FAILED_TOO, /* worker, reason: after that of another one */
	EVENT_LEFTOVERS_STAY, /* worker, reason: they cannot be committed */
	EVENT_HOST_REFUSED, /* worker, text: a host that sandbox_hosts lacks */
	EVENT_TURN_ENDED, /* worker, task, text: its last message */
	EVENT_TURN_END_FAILED, /* worker, reason */
	EVENT_GIT_FAILED, /* worker, reason */
	/* Its session. */
	EVENT_LAUNCHING, /* worker, session, resume */
	EVENT_LAUNCH_RETRIED, /* worker, reason */
	EVENT_LAUNCH_FAILED, /* worker, reason */
	EVENT_LAUNCH_UNBLOCKED, /* worker: the login of EVENT_LOGIN_NEEDED is
				 * there */
	EVENT_ADOPTED, /* worker */
	EVENT_CLEARED, /* worker: what a lost session left is gone, or cannot be
			* ended; not for those found at the start */
	EVENT_PROMPT_SUBMITTED, /* worker, receipt */
	EVENT_PROMPT_NOT_TAKEN, /* worker, reason */
	EVENT_AGENT_EXITED, /* worker, status, reason */
	EVENT_AGENT_CRASHES, /* worker, reason */
	EVENT_RESUME_IMPOSSIBLE, /* worker, session */
	EVENT_START_UNREPORTED, /* worker */
	EVENT_AGENT_HUNG, /* worker */
	EVENT_SESSION_GONE, /* worker */
	EVENT_SESSION_ORPHAN, /* session */
	/* A turn. */
	EVENT_SENT_BACK, /* worker, task, reason */
	EVENT_TURN_FAILED, /* worker, error, class, text */
	EVENT_WAITING, /* worker, reason, until_unix */
	EVENT_LIMIT_OVER, /* worker */
	EVENT_STALL, /* worker, task, action */
	EVENT_STALL_GIVEN_UP, /* worker, task */
	EVENT_BUDGET, /* scope, worker, task, reason */
	EVENT_OVERSIGHT, /* worker, task, class: what was found, action: what
			  * is done, reason */
	EVENT_COST_UNKNOWN, /* worker, task, reason */
	EVENT_FLEET_PAUSED, /* reason */
	EVENT_FLEET_RESUMED,
	EVENT_INTAKE_STOPPED, /* reason */
	EVENT_HOOKS_CHANGED, /* reason */
	/* Landing. */
	EVENT_LANDING_ENDED, /* worker, task, landing: for upper floors */
	EVENT_LANDING_QUEUED, /* worker, task, branch, title */
	EVENT_LANDINGS_BUILT, /* branch, count: items that wait now */
	EVENT_LANDED, /* worker, task, branch, commit (NULL: nothing to land);
		       * to: the commit that the branch moved to; count: its
		       * place in that move; result: "overtaken", if it was
		       * not checked as it lands */
	EVENT_REVERTED, /* branch, commit; ref: the commit it takes back;
			 * reason: what failed, NULL = a person wants it */
	EVENT_NOT_LANDED, /* worker, task, branch, commit: its own; error */
	EVENT_LANDING_WAITS, /* worker, reason: for another git command */
	EVENT_CHECKOUT_HELD, /* branch, reason: it waits for a long time */
	EVENT_BRANCH_CHOSEN, /* branch: the setting was empty */
	EVENT_BRANCH_WRONG, /* branch, reason: nothing can land on it */
	EVENT_BRANCH_TAKEN, /* worker, branch, reason: where it is checked out
			     */
	EVENT_BRANCH_MOVED, /* branch; from, to: commits */
	EVENT_BRANCH_RED, /* branch, commit, reason: it fails its own check */
	EVENT_CHECKS_OVERTAKEN, /* branch, reason */
	EVENT_CHECK_BEGINS, /* text: of what; ref: the tree */
	EVENT_CHECKED, /* result, ref: the tree, reason, duration_ms */
	EVENT_TESTS_WEAKENED, /* worker, task, reason: acceptance.h */
	EVENT_CHECK_FLAKY, /* count: percent of the trees */
	EVENT_PUSHED, /* branch, commit */
	EVENT_PUSH_FAILED, /* branch, commit, reason; the first time */
	EVENT_ISSUE_TAKEN, /* key: its number; task, title */
	EVENT_ISSUE_LEFT, /* key, reason: it is not taken */
	EVENT_ISSUE_CHANGED, /* key, task, reason: what is not as it was */
	EVENT_ISSUE_LOST, /* key, task: another claim has replaced ours */
	EVENT_ISSUE_TOLD, /* key, task, result: the issue says so now */
	EVENT_ISSUE_NOT_TOLD, /* key, task, reason: that part is left out */
	EVENT_PULL, /* task, text: how it stands with its pull request */
	EVENT_FORGE_AWAY, /* reason; the first time */
	EVENT_FORGE_REFUSES, /* reason; the first time */
	EVENT_FORGE_BACK, /* text: the repository */
	EVENT_HOST_UP, /* text: our name in the fleet */
	EVENT_HOST_LOST, /* text: the host */
	EVENT_HOSTS_AWAY, /* reason: of the database; the first time */
	EVENT_HOSTS_REFUSED, /* the same, until a person does something */
	EVENT_HOSTS_BACK, /* text: our name */
	EVENT_HOSTS_DOUBT, /* reason: its server may have lost commits */
	EVENT_HOSTS_TRUSTED, /* text: what was done about that */
	EVENT_HOSTS_FORGOT, /* text: a host, count: of its tasks */
	EVENT_HOSTS_MISSED, /* count: events */
	EVENT_TASK_CLAIMED, /* task, text: its owner */
	EVENT_TASK_FENCED, /* task, reason: it is another host's */
	EVENT_FOLLOWED, /* branch, commit: that origin has */
	EVENT_ORIGIN_AWAY, /* branch, reason; the first time */
	EVENT_CLEANUP_FAILED, /* worker, branch, commit, reason */
	/* Auto mode and its tasks. */
	EVENT_AUTO_BEGINS, /* instance, concurrency, text: the source */
	EVENT_AUTO_ENDS, /* instance, reason */
	EVENT_AGENT_VERSION, /* worker, text: the version of Claude Code; once
			      * in a run, and when it changes */
	EVENT_TASK_ASSIGNED, /* worker, task, title, attempt */
	EVENT_TASK_COMPLETED, /* worker, task, result */
	EVENT_VERIFIED, /* worker, task, result, commit, reason */
	EVENT_REVIEWED, /* worker, task, result, commit, reason: by another
			 * agent */
	EVENT_TASK_RETRY, /* worker, task, reason, attempt */
	EVENT_PROGRESS, /* worker, task, text: how far it is, as it says */
	EVENT_REPORTED, /* worker, task, status, text: how its work ended, as it
			 * says */
	EVENT_TASK_PARKED, /* task, worker, reason: it waits for a person */
	EVENT_TASK_RESUMED, /* task, text: what a person said who let it go on
			     */
	EVENT_TASK_FINISHED, /* task, outcome, worker, title, commit, reason */
	EVENT_TASK_ORPHANED, /* task: no worker has it */
	EVENT_TASK_TAKEN_ELSEWHERE, /* task, key */
	EVENT_TASK_NOT_TAKEN, /* task, reason */
	EVENT_TASK_NOT_TOLD, /* task, reason: its source was not updated */
	EVENT_TASKS_GIVEN_BACK, /* count */
	EVENT_TASKS_EXHAUSTED, /* done, failed, text: what happens next */
	EVENT_QUARANTINE, /* reason */
	EVENT_POST_ACCEPT, /* task, commit, exit_code, duration_ms */
	EVENT_POST_ACCEPT_FAILED, /* reason: auto mode continues */
	/* Goals: each with goal; what has no list here has from, to, actor and
	 * reason. The statuses are in the order of work-record.h. */
	EVENT_GOAL_CREATED, /* title, actor */
	EVENT_GOAL_ACTIVE,
	EVENT_GOAL_PAUSED,
	EVENT_GOAL_COMPLETED,
	EVENT_GOAL_CANCELLED,
	EVENT_GOAL_ARCHIVED,
	EVENT_PLAN_GENERATED, /* text: by what; count: nodes */
	EVENT_PLAN_FAILED, /* reason: there is no plan */
	EVENT_PLAN_DRAFTED, /* text: by what; count: nodes; actor */
	EVENT_PLAN_CREATED, /* count: version (1), text: what, actor, reason */
	EVENT_PLAN_UPDATED, /* the same, with a later version */
	EVENT_PLAN_REVIEW_NEEDED, /* node, worker, count: version, actor,
				   * reason */
	/* A node of its plan: the same, and node. */
	EVENT_NODE_TODO,
	EVENT_NODE_QUEUED,
	EVENT_NODE_IN_PROGRESS,
	EVENT_NODE_BLOCKED,
	EVENT_NODE_DONE, /* commit too */
	EVENT_NODE_CANCELLED,
	EVENT_NODE_UPDATE, /* worker, status, text: an accepted update */
	/* An assignment: goal, node, assignment, worker, task, from, to,
	 * reason. */
	EVENT_ASSIGNMENT_QUEUED,
	EVENT_ASSIGNMENT_DISPATCHED,
	EVENT_ASSIGNMENT_ACTIVE,
	EVENT_ASSIGNMENT_STALLED,
	EVENT_ASSIGNMENT_BLOCKED,
	EVENT_ASSIGNMENT_DONE,
	EVENT_ASSIGNMENT_CANCELLED,
	EVENT_ASSIGNMENT_DISPATCH, /* dispatch, action too: it is intended */
	EVENT_ASSIGNMENT_ESCALATED, /* the same */
	EVENT_ASSIGNMENT_REPLAN,
	EVENT_DISPATCH_ENDED, /* dispatch, action, result, reason */
	/* Agents that work together. */
	EVENT_REQUEST, /* worker, task, ref: the question, to: an actor, or
			* "a person"; what it says is for them alone */
	EVENT_REQUEST_ENDED, /* worker, task, ref, result */
	EVENT_GUARD_DENIED, /* worker, task, class: guard, reason, count */
	/* The tick. */
	EVENT_TICK, /* count: decisions, duration_ms, reason: who wanted it */
	EVENT_ACTION, /* goal, node, assignment, worker, action, reason */
	EVENT_STALLED, /* count: newly stalled assignments, text: which */
	/* The book, and the plans in it. */
	EVENT_STORE_CLOSED, /* reason: goals are off */
	EVENT_STORE_UNWRITTEN, /* reason */
	EVENT_STORE_WRITTEN, /* again: duration_ms, count: events not kept */
	EVENT_STORE_REFUSED, /* goal, reason */
	EVENT_KIND_COUNT
};

struct event_row {
	const char *name; /* in auto.log; NULL: not recorded there */
	enum log_level level; /* DEBUG: mainly for the upper floors */
	/* The sentence for the log; {field} is replaced by a field, by its log
	 * name. */
	const char *text;
	/* The text for people; {member} is a member of the record in auto.log.
	 * Text in brackets is omitted if a member in it is missing. {x:sha} is
	 * shortened, {x:ms} is a duration, {x:time} a point in time. NULL if
	 * name is. */
	const char *words;
	const char *colour; /* SGR, NULL = the level's */
	const char *fields; /* log names, in order, separated by blanks */
	const char *failure; /* its class; only of WARN and ERROR, but
			      * for EVENT_FAILURE, which has its own */
	enum notice_class notice; /* for a person, with the reason */
	bool by_hand; /* only of workers that people drive: auto mode raises
		       * a failure for its own */
};

extern const struct event_row event_table[EVENT_KIND_COUNT];

/* --- failures -------------------------------------------------------- */

/*
 * The classes of failures: what is affected, who can help, and what a person
 * can do. A failure that ends the daemon is raised with a class
 * (core/life.h); an event that is logged as WARN or ERROR names one, because
 * the overseer acts on such lines too. docs/failures.md lists this table.
 */

/* What cannot go on because of it. */
enum failure_scope {
	FAILURE_SCOPE_DAEMON,
	FAILURE_SCOPE_FLEET,
	FAILURE_SCOPE_WORKER,
	FAILURE_SCOPE_TASK,
	FAILURE_SCOPE_LANDING,
	FAILURE_SCOPE_COUNT
};

enum failure_help {
	FAILURE_HELP_REPAIR, /* of the project, or of llmc */
	FAILURE_HELP_PERSON,
	FAILURE_HELP_NOBODY, /* it has to pass */
	FAILURE_HELP_COUNT
};

struct failure_class {
	const char *name; /* one word */
	enum failure_scope scope;
	enum failure_help help;
	const char *what; /* happened */
	const char *fix; /* what a person does about it */
};

extern const struct failure_class failure_classes[];
extern const size_t failure_class_count;

/* The daemon's exit status for the class root_gone: there is no folder for a
 * record. */
#define FAILURE_EXIT_ROOT_GONE 73

const char *failure_scope_name(enum failure_scope scope);
const char *failure_help_name(enum failure_help help);

/* The row of a class. A name that is not in the table, from another version or
 * NULL, gets a row for unknown failures, which a repair looks at. */
const struct failure_class *failure_class_find(const char *name);

#endif
