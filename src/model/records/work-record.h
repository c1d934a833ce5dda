/* SPDX-License-Identifier: ISC */

/* What the records of tasks and of plans have in common: priority, bounds,
 * evidence, the statuses of goals, nodes and assignments, how an agent is
 * launched, and the places in the repository that it may write to. Pure. */
#ifndef WORK_RECORD_H
#define WORK_RECORD_H

#include <stdbool.h>

#include "schema.h"

struct err;
struct json_object;

/* --- priority ---------------------------------------------------------- */

/* How soon a task is wanted. Inside one priority, the older one is first. */

enum priority {
	PRIORITY_URGENT, /* before everything, even what is being checked */
	PRIORITY_HIGH,
	PRIORITY_NORMAL, /* the default */
	PRIORITY_LOW,
	PRIORITY_COUNT
};

const char *priority_name(enum priority priority); /* "urgent" */
bool priority_parse(const char *name, enum priority *ret_priority);

/* For reading records (json.h), NULL terminated. */
extern const char *const priority_words[PRIORITY_COUNT + 1];

/* The priority that a number of Claude Code's task files means: 0 is urgent, 1
 * and 2 are high, 3 is normal (their default), 4 is low. Numbers outside of
 * that count as the nearest one. Back, high is 1. */
enum priority priority_from_number(int64_t number);
int priority_to_number(enum priority priority);

/* For sorting: negative if the first comes first. */
int priority_compare(enum priority a, enum priority b);

/* --- bounds ---------------------------------------------------------- */

/* Of what the records of a plan hold, and what keeps to them. */

#define PLAN_ID_MAX          64 /* bytes */
#define PLAN_NAME_MAX        512
#define PLAN_LINE_MAX        4096 /* an entry of a list, a short text */
#define PLAN_TEXT_MAX        8192 /* a text; a summary */
#define PLAN_INSTRUCTION_MAX 16384
#define PLAN_LIST_MAX        200 /* entries */

/* NULL, empty, or blanks only. */
bool plan_blank(const char *s);

/* Replace an owned string by a copy of at most max bytes, cut between
 * characters; NULL clears it. The text may be the old string. */
void plan_cut(char **to, const char *text, size_t max);

/* Is the string in the list? NULL is empty. */
bool plan_has(char *const *list, const char *s);

/* Replace an owned list by a copy of another one; an empty one becomes NULL. */
void plan_set_list(char ***to, char *const *from);

/* Fields of these records. */
#define PLAN_MUST(owner, key, member, ...) \
	SCHEMA_FIELD(                      \
	    owner, key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)
#define PLAN_MAY(owner, key, member, ...) \
	SCHEMA_FIELD(                     \
	    owner, key, member, .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)
#define PLAN_LIST(owner, key, member) \
	PLAN_MAY(                     \
	    owner, key, member, .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX)
#define PLAN_MOMENT(owner, key, member) \
	PLAN_MAY(owner, key, member,    \
	    .help = "milliseconds since 1970; absent: never")

/* --- evidence -------------------------------------------------------- */

/*
 * What shows that work was done: anchors, not the things themselves. And an
 * override: a person said so instead. Pure. Everything is owned; NULL and
 * zeroes = nothing.
 */

struct plan_evidence {
	char **files_touched;
	char **commands_run; /* without secrets: the caller masks them */
	char **tests_run; /* with their results */
	char **commits;
	char **prs;
	char **issues;
	char **external_refs;
};

/* Is there anything? NULL is nothing. */
bool plan_evidence_any(const struct plan_evidence *evidence);

/* Add what is not there yet, as far as the bounds allow. */
void plan_evidence_merge(
    struct plan_evidence *evidence, const struct plan_evidence *more);

/* Reading refuses unknown keys: -EINVAL, *ret is unchanged then. */
int plan_evidence_from_json(struct json_object *json, const char *at,
    struct plan_evidence *ret, struct err *err);

void plan_evidence_release(struct plan_evidence *evidence);

extern const struct schema plan_evidence_schema;

/* Why a status does not follow from the rules. */
struct plan_override {
	char *actor; /* NULL = there is no override */
	char *reason;
	int64_t at_ms;
};

/* API_E_REASON without an actor or a reason. */
int plan_override_set(struct plan_override *override, const char *actor,
    const char *reason, int64_t now_ms, struct err *err);

void plan_override_release(struct plan_override *override);

extern const struct schema plan_override_schema;

/* --- statuses ------------------------------------------------------------ */

/*
 * The statuses of goals, plan nodes and assignments: their words, and tables of
 * which may follow which. Pure. A move that a table forbids is refused with
 * API_E_TRANSITION (api-error.h).
 */

enum goal_status {
	GOAL_ACTIVE,
	GOAL_PAUSED, /* running turns finish, nothing new begins */
	GOAL_COMPLETED, /* every phase is done; a revert opens it again */
	GOAL_CANCELLED,
	GOAL_ARCHIVED, /* no longer listed; final */
	GOAL_STATUS_COUNT
};

enum node_status {
	NODE_TODO, /* not ready: something it depends on is not done */
	NODE_QUEUED, /* ready, waits for a worker */
	NODE_IN_PROGRESS,
	NODE_BLOCKED, /* waits for a person or something outside */
	NODE_DONE, /* completed and accepted; a revert opens it again */
	NODE_CANCELLED, /* final */
	NODE_STATUS_COUNT
};

enum assignment_status {
	ASSIGNMENT_QUEUED, /* nothing has been dispatched */
	ASSIGNMENT_DISPATCHED, /* sent; perhaps not received */
	ASSIGNMENT_ACTIVE, /* progress was seen since the last dispatch */
	ASSIGNMENT_STALLED, /* no progress for too long */
	ASSIGNMENT_BLOCKED, /* waits for a person or something outside */
	ASSIGNMENT_DONE, /* final */
	ASSIGNMENT_CANCELLED, /* final */
	ASSIGNMENT_STATUS_COUNT
};

/* What is done about work whose attempts have all failed, or, of a worker that
 * a person drives, that has stalled and does not answer. */
enum recovery_policy {
	RECOVERY_RESEND_LAST, /* a person is asked; messages to a worker are
			       * the instruction again */
	RECOVERY_NUDGE, /* the same; messages ask how far it is */
	RECOVERY_REPLAN, /* the planner plans it anew */
	RECOVERY_REASSIGN, /* another worker tries it */
	RECOVERY_ESCALATE, /* a person is asked */
	RECOVERY_RETRY, /* the same */
	RECOVERY_UNSET, /* the same */
};

/* For reading records (json.h), NULL terminated. */
extern const char *const goal_status_words[GOAL_STATUS_COUNT + 1];
extern const char *const node_status_words[NODE_STATUS_COUNT + 1];
extern const char *const assignment_status_words[ASSIGNMENT_STATUS_COUNT + 1];
extern const char *const recovery_policy_words[RECOVERY_UNSET + 1];

const char *goal_status_name(enum goal_status status); /* "active" */
const char *node_status_name(enum node_status status);
const char *assignment_status_name(enum assignment_status status);

/* Nothing follows by itself: neither done (completed), cancelled nor
 * archived. */
bool goal_status_open(enum goal_status status);
bool node_status_open(enum node_status status);
bool assignment_status_open(enum assignment_status status);

/* May the second follow the first? A status does not follow itself. False for
 * invalid ones. */
bool goal_status_may(enum goal_status from, enum goal_status to);
bool node_status_may(enum node_status from, enum node_status to);
bool
assignment_status_may(enum assignment_status from, enum assignment_status to);

/* 0, or API_E_TRANSITION with a message that names the object and what may
 * follow instead. */
int goal_status_check(const char *id, enum goal_status from,
    enum goal_status to, struct err *err);
int node_status_check(const char *id, enum node_status from,
    enum node_status to, struct err *err);
int assignment_status_check(const char *id, enum assignment_status from,
    enum assignment_status to, struct err *err);

/* --- launch ------------------------------------------------------------ */

/*
 * How the agent of a task is launched, who asked for it and below whom it
 * stands, and what must be there when it ends. That of a node of a plan becomes
 * its task's. Pure; all strings, lists and objects are owned. NULL and 0 = as
 * its agent or worker is set.
 */

struct task_launch {
	/* Its place in the tree. */
	char *actor; /* NULL: that of task_actor() */
	char *parent; /* task id of its parent; NULL = it was not spawned */
	char *parent_actor;
	char *root_actor; /* the root of its tree */
	int depth, max_depth, local_max_depth; /* 0 = not asked for */
	char *goal; /* of its children, if it is no node of a goal */

	char *role, *label;
	char *agent; /* the name of a card, [agents.<name>] */
	char *model, *thinking;
	int timeout_s; /* of an attempt */
	char **tools_allow, **tools_deny;
	bool tools_scoped; /* tools_allow counts, even if it is empty */
	char **required_tools; /* it waits for a person if one is missing */
	char **wants; /* words that its host must have (hosts-rules.h) */
	char **confined_by; /* workers of the agents above it, whose settings
			     * limit it too */
	/* As the host has it that spawned it, where that is another one: no
	 * more than this. NULL, 0 = as here. */
	char *permission_mode;
	int64_t budget_tokens, budget_cost, budget_ms;
	int budget_turns;
	bool own_budget; /* what it spends does not count for its parent's */
	char **scope_paths; /* that it may write to; NULL = everywhere */
	bool read_only; /* it changes nothing: its worktree is read-only in a
			 * box */
	bool progress_reporting; /* its prompt asks for it */
	bool allow_partial; /* a report that it has done a part lands, too */
	bool report_only; /* its result is what it says at the end, and no
			   * commit: that was asked for, or it has no tool
			   * that changes files */

	char *recovery; /* of a task without a plan: "reassign", ...; NULL = it
			 * has failed with its last attempt */
	struct json_object *contract;
};

extern const struct schema task_launch_schema;

/* --- places ---------------------------------------------------------- */

/*
 * Places in a repository: files, and folders with all that is in them, relative
 * to its top ("src/api", "docs/"; "." is everything). A place with * ? or [ is
 * a pattern; its * matches slashes too. Compared by whole names: "src" covers
 * "src/a.c" and not "src2".
 */

/* The place in its shortest form, without "./", "//", "a/.." and a slash at the
 * end; "" is the top. Owned by the caller. NULL: it is absolute, or leads out
 * of the repository. */
char *scope_path_normal(const char *place);

/* Is the file, in its shortest form, at or below this place? A place that is
 * not in the repository covers nothing. */
bool scope_path_covers(const char *place, const char *file);

/* Is it in one of these places (NULL terminated, may be NULL)? */
bool scope_path_in(char *const *places, const char *file);

/* Is all that this place, in its shortest form (NULL = it has none), can mean
 * in one of these? A pattern is if it is one of them, or below one that is no
 * pattern. */
bool scope_path_within(char *const *places, const char *place);

/* Does one of two places, in their shortest form, cover the other? Patterns
 * are taken as names. */
bool scope_path_meets(const char *a, const char *b);

#endif
