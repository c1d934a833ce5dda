/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-shape.h"
#include "api-work.h"
#include "diff.h"
#include "event.h"
#include "landing-list.h"
#include "landing-record.h"
#include "plan-goal.h"
#include "plan-file.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "reconcile.h"
#include "review.h"
#include "why.h"
#include "work-record.h"

#define COUNT(member, words) SCHEMA_MAY(member, INT, words)
#define WORDS(member, words)                                                  \
	{                                                                     \
		.name = (member), .type = SCHEMA_LIST, .size = PLAN_LINE_MAX, \
		.max = 100, .flags = SCHEMA_OPTIONAL, .help = (words)         \
	}
#define RECORDS                                                               \
	{                                                                     \
		.name = "events", .type = SCHEMA_ARRAY, .of = &event_records, \
		.help = "the oldest is first"                                 \
	}

static const struct schema event_records = { .fields = &event_record_schema };

/* --- jobs ------------------------------------------------------------ */

const struct schema api_store_file_params =
    API_OBJECT(SCHEMA_IS("file", STRING, "its whole path"));

const struct schema api_store_sql_params =
    API_OBJECT(SCHEMA_IS("sql", STRING, "one SELECT, in SQLite's SQL"));

/* The cells of one row. */
static const struct schema cell = { SCHEMA_FIELDS{ { .type = SCHEMA_ANY } } };
static const struct schema row = {
	SCHEMA_FIELDS{ { .type = SCHEMA_ARRAY, .of = &cell } },
};

static const struct schema report =
    API_OBJECT(SCHEMA_MAY("ok", BOOL, "check: nothing is wrong"),
	COUNT("records",
	    "check: goals, nodes, assignments, "
	    "crystallizations, mail, requests and reservations"),
	COUNT("events", "check"),
	WORDS("problems", "check: what is wrong, the first 100"),
	SCHEMA_MAY("file", STRING, "export: that was written"),
	WORDS("columns", "sql: their names"),
	{ .name = "rows",
	    .type = SCHEMA_ARRAY,
	    .of = &row,
	    .flags = SCHEMA_OPTIONAL,
	    .help = "sql: a list of values each" },
	SCHEMA_MAY("truncated", BOOL, "sql: there are more rows"));

const struct schema_field api_store_result = RESULT(report);

/* --- events ---------------------------------------------------------- */

const struct schema api_events_params =
    API_OBJECT(SCHEMA_MAY("goal", STRING,
		   "only of this goal: its id, or a part of it that no other "
		   "has"),
	WORDS("workers", "only about one of these workers"),
	WORDS("tasks", "only about one of these tasks"),
	WORDS("kinds", "only of one of these types"),
	SCHEMA_MAY("lines", INT, "how many at most; the newest", .min = 1,
	    .max = API_EVENTS_MAX),
	SCHEMA_MAY("before", INT, "only older ones than in that answer",
	    .min = 1, .max = INT64_MAX));

static const struct schema page = API_OBJECT(RECORDS,
    SCHEMA_MAY("before", INT, "there are older ones: ask again with this"));

const struct schema_field api_events_result = RESULT(page);

/* --- why ------------------------------------------------------------- */

const struct schema api_why_params = API_OBJECT(SCHEMA_IS("subject", STRING,
    "an assignment, a worker, a task, or a node of a plan (its "
    "id, or GOAL/NODE)"));

static const struct schema reasons = API_OBJECT(
    SCHEMA_IS("subject", STRING, NULL),
    { .name = "kind",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "assignment", "worker", "task",
	    "node", NULL },
	.help = "what it is" },
    SCHEMA_MAY("assignment", STRING,
	"the one that the answers are about; absent if it has "
	"none"),
    SCHEMA_MAY("goal", STRING, NULL), SCHEMA_MAY("goal_title", STRING, NULL),
    SCHEMA_MAY("node", STRING, NULL), SCHEMA_MAY("worker", STRING, NULL),
    SCHEMA_MAY("task", STRING, NULL),
    SCHEMA_MAY("status", STRING, "of the assignment"),
    SCHEMA_MAY(
	"now", STRING, "what is true now: the status, or as what it landed"),
    SCHEMA_MAY("stalled", STRING, "is it stalled, and why?"),
    SCHEMA_MAY("dispatch", STRING, "what was sent last, and was it received?"),
    SCHEMA_MAY("backoff", STRING, "which back-off is active?"),
    SCHEMA_MAY("progress", STRING, "what shows progress?"),
    SCHEMA_IS("chain", LIST, "what happened, in words; the newest is last",
	.size = PLAN_LINE_MAX),
    RECORDS);

const struct schema_field api_why_result = RESULT(reasons);

#define SEEN                                                             \
	SCHEMA_MAY("commit", STRING,                                     \
	    "the worker's commit that the caller has seen, 7 digits or " \
	    "more; if its HEAD is another one, the call fails (changed)")

const struct schema api_landing_accept_params = API_OBJECT(WORKER,
    SCHEMA_MAY("force", BOOL,
	"also land the work of a worker that is paused or made no "
	"commit, with uncommitted changes"),
    SEEN);

const struct schema api_landing_review_params = API_OBJECT(WORKER,
    SCHEMA_MAY("force", BOOL, "review the work whatever the worker's status"));

static const struct schema comment = API_OBJECT(
    SCHEMA_MAY("file", STRING, "if absent, it is about all of the work"),
    SCHEMA_MAY("line", INT, "if absent, it is about all of the file", .min = 1,
	.max = INT32_MAX),
    MAY_WORD("side", ((const char *const[]){ "old", "new", NULL }),
	"old: the line is one that was removed"),
    SCHEMA_MAY("code", STRING, "the line itself, to find it by"),
    SCHEMA_IS("text", STRING, NULL));

const struct schema api_landing_reject_params = API_OBJECT(WORKER,
    SCHEMA_MAY("text", STRING,
	"what the agent is told; may be absent if there are comments"),
    MAY_LIST("comments", comment, COMMENTS_MAX, "on lines of the change"),
    SENDER, SEEN);

const struct schema api_landing_pick_params = API_OBJECT(WORKER, SEEN);

const struct schema api_landing_revert_params = API_OBJECT(
    SCHEMA_IS("commit", STRING, "the commit to take back, 7 digits or more"));

#define LANDING_COMMIT                                                    \
	{                                                                 \
		.name = "commit_sha", .type = SCHEMA_STRING,              \
		.flags = SCHEMA_NULLABLE,                                 \
		.help = "what landed; empty when it had already landed, " \
			"null when nothing did"                           \
	}
#define LANDING_BRANCH \
	SCHEMA_IS("landing_branch", STRING, "the branch that work lands on")
#define LANDING_MESSAGE                                          \
	{                                                        \
		.name = "commit_message", .type = SCHEMA_STRING, \
		.flags = SCHEMA_NULLABLE                         \
	}
#define LANDING_CONFLICT                             \
	SCHEMA_IS("needs_conflict_resolution", BOOL, \
	    "the worker resolves a conflict first")
#define LANDING_BEFORE \
	SCHEMA_IS("already_incorporated", BOOL, "it had already landed")

/* Of an item; what it does not have is added by the handler. */
#define ITEM(key, member, ...) \
	SCHEMA_FIELD(struct landing_item, key, member, ##__VA_ARGS__)
#define ITEM_HAS(key, member, words) \
	ITEM(key, member, .flags = SCHEMA_REQUIRED, .help = (words))

static const struct schema_field accepted_fields[] = {
	ITEM("worker", worker,
	    .help = "null: the work has none any more, and was named by its "
		    "task"),
	LANDING_COMMIT,
	ITEM("head_sha", head,
	    .help = "the worker's commit that was accepted; null when it is "
		    "not known"),
	LANDING_BRANCH,
	ITEM("commit_message", message),
	{ .name = "status",
	    .type = SCHEMA_STRING,
	    .choices = (const char *const[]){ "idle", "rebasing", NULL } },
	ITEM("needs_conflict_resolution", conflict,
	    .help = "the worker resolves a conflict first"),
	ITEM("already_incorporated", incorporated,
	    .help = "it had already landed"),
	SCHEMA_IS("proposed", BOOL,
	    "it becomes a pull request (auto.land), and has not landed"),
};

const struct schema api_landing_accepted =
    SCHEMA_OF(struct landing_item, accepted_fields);
const struct schema_field api_landing_accept_result =
    RESULT(api_landing_accepted);

static const struct schema rebased = API_OBJECT(RESULT_WORKER, LANDING_COMMIT,
    LANDING_BRANCH, LANDING_MESSAGE,
    { .name = "status",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "needs_review", "rebasing", NULL } },
    LANDING_CONFLICT, LANDING_BEFORE);

const struct schema_field api_landing_rebase_result = RESULT(rebased);

/* For finished work the result of rebasing it, else (forced) of messaging it;
 * with the commit to look at. */
static const struct schema reviewed = API_OBJECT(RESULT_WORKER,
    SCHEMA_OR_NULL("commit_sha", STRING,
	"the commit to review, its HEAD; null during a "
	"conflict"),
    LANDING_BRANCH,
    SCHEMA_MAY("uncommitted_files", INT,
	"files with changes that are in none of its commits"),
    SCHEMA_MAY_OR_NULL("commit_message", STRING, NULL),
    { .name = "status",
	.type = SCHEMA_STRING,
	.flags = SCHEMA_OPTIONAL,
	.choices = (const char *const[]){ "needs_review", "rebasing", NULL },
	.help = "status of finished work after the rebase" },
    SCHEMA_MAY("needs_conflict_resolution", BOOL,
	"the worker resolves a conflict first"),
    SCHEMA_MAY("already_incorporated", BOOL, NULL),
    SCHEMA_MAY("message_sent", BOOL, NULL),
    SCHEMA_MAY(
	"previous_status", STRING, "status of unfinished work, with force"),
    SCHEMA_MAY("new_status", STRING, "the same"));

const struct schema_field api_landing_review_result = RESULT(reviewed);

const struct schema api_review_get_params = API_OBJECT(
    SCHEMA_MAY("worker", STRING, "whose change"),
    SCHEMA_MAY("task", STRING, "instead: of its worker, or what it landed as"),
    SCHEMA_MAY("file", STRING, "only this one, and all of it"),
    SCHEMA_MAY("context", INT, "lines around a change; if absent, 3", .min = 0,
	.max = 1000));

static const struct schema review_got =
    API_OBJECT(SCHEMA_OR_NULL("worker", STRING, "null: the task has landed"),
	SCHEMA_OR_NULL("task", STRING, NULL), SCHEMA_IS("title", STRING, NULL),
	SCHEMA_IS("status", STRING, "of the worker, or landed"),
	SCHEMA_IS("finished", BOOL,
	    "it is shown as it would land, without what is not committed; else "
	    "everything, as it is now"),
	SCHEMA_OR_NULL("branch", STRING, "of the worker"), LANDING_BRANCH,
	SCHEMA_IS("commit", STRING,
	    "what worker.accept and worker.reject take for this"),
	SCHEMA_IS("base", STRING, "the commit that it is compared with"),
	SCHEMA_IS("message", STRING, "of the commit"),
	SCHEMA_IS("uncommitted_files", INT, NULL),
	SCHEMA_IS("conflicts", LIST,
	    "files that conflict with the landing branch; then it is compared "
	    "with where it began"),
	SCHEMA_MAY("weakens", STRING, "what it does to tests"),
	SCHEMA_IS("files", ROWS, NULL, .of = &diff_file_schema),
	SCHEMA_IS("more_files", INT, "that are not listed"));

const struct schema_field api_review_get_result = RESULT(review_got);

const struct schema api_screen_get_params = API_OBJECT(WORKER);

static const struct schema screen = API_OBJECT(RESULT_WORKER,
    SCHEMA_IS("status", STRING, NULL), SCHEMA_OR_NULL("task", STRING, NULL),
    SCHEMA_IS("text", STRING, "what is on it, line by line"));

const struct schema_field api_screen_get_result = RESULT(screen);

const struct schema api_replay_get_params =
    API_OBJECT(SCHEMA_IS("task", STRING, "such as t17, or a worker"),
	SCHEMA_MAY("from", INT, "the number of the first entry, from 0",
	    .min = 0, .max = INT32_MAX));

static const struct schema replayed =
    API_OBJECT(SCHEMA_OR_NULL("task", STRING, "null: a worker's task by hand"),
	SCHEMA_OR_NULL("title", STRING, NULL),
	SCHEMA_OR_NULL("outcome", STRING, "null: it has not ended"),
	SCHEMA_IS("from", INT, NULL),
	SCHEMA_IS("total", INT, "entries that there are"),
	SCHEMA_IS("entries", ROWS, NULL, .of = &replay_entry_schema),
	SCHEMA_IS("gone", LIST, "conversations that are not there any more"));

const struct schema_field api_replay_get_result = RESULT(replayed);

static const struct schema rejected = API_OBJECT(RESULT_WORKER,
    SCHEMA_IS("message_sent", BOOL, NULL), RESULT_BEFORE, RESULT_AFTER,
    SCHEMA_OR_NULL("commit_sha", STRING,
	"the worker's commit that was rejected; null when "
	"the caller named none"));

const struct schema_field api_landing_reject_result = RESULT(rejected);

static const struct schema_field picked_fields[] = {
	ITEM_HAS("worker", worker, NULL),
	SCHEMA_IS("success", BOOL, "true"),
	SCHEMA_IS("commit_sha", STRING,
	    "what landed; empty when it had already landed"),
	ITEM_HAS("head_sha", picked_head,
	    "the worker's last commit, which is part of it"),
	LANDING_BRANCH,
	ITEM("uncommitted_files", uncommitted,
	    .help = "files with uncommitted changes, which are part of it"),
	ITEM_HAS("salvage", words, "ref that keeps its work as it was"),
};

const struct schema api_landing_picked =
    SCHEMA_OF(struct landing_item, picked_fields);
const struct schema_field api_landing_pick_result = RESULT(api_landing_picked);

static const struct schema_field reverted_fields[] = {
	ITEM_HAS("commit_sha", commit, "the new commit"),
	ITEM_HAS("reverted_sha", head, "what it takes back"),
	LANDING_BRANCH,
	ITEM_HAS("commit_message", message, "of the new commit"),
};

const struct schema api_landing_reverted =
    SCHEMA_OF(struct landing_item, reverted_fields);
const struct schema_field api_landing_revert_result =
    RESULT(api_landing_reverted);

const struct schema_field api_landing_list_result = RESULT(landing_list_schema);

#define GOAL                                                      \
	SCHEMA_MAY("goal", STRING,                                \
	    "id of its goal, or a part of it; needed if several " \
	    "goals have a node of that id")
#define NODE SCHEMA_IS("node", STRING, "its id, such as T1.2")
#define REASON(words)                                                          \
	{                                                                      \
		.name = "reason", .type = SCHEMA_STRING, .max = PLAN_TEXT_MAX, \
		.flags = SCHEMA_OPTIONAL, .help = (words)                      \
	}
#define PLACE                                                                 \
	{                                                                     \
		.name = "place", .type = SCHEMA_INT, .min = 1, .max = 100000, \
		.flags = SCHEMA_OPTIONAL,                                     \
		.help = "among its siblings, from 1; if absent, the last"     \
	}

/* --- parameters for nodes of plans ----------------------------------- */

const struct schema api_work_params = API_OBJECT(GOAL, NODE);

const struct schema api_work_list_params =
    API_OBJECT(SCHEMA_MAY("goal", STRING, "only of this goal"),
	SCHEMA_MAY("all", BOOL,
	    "nodes that are done or cancelled, and those with "
	    "children, too"));

const struct schema api_work_update_params = API_OBJECT(GOAL, NODE,
    { .name = "status",
	.type = SCHEMA_STRING,
	.flags = SCHEMA_OPTIONAL,
	.choices = (const char *const[]){ "done", "blocked", "queued",
	    "cancelled", NULL },
	.help = "queued: it is not blocked any more" },
    { .name = "priority",
	.type = SCHEMA_STRING,
	.flags = SCHEMA_OPTIONAL,
	.choices = (const char *const[]){ "urgent", "high", "normal", "low",
	    "inherited", NULL },
	.help = "inherited: that of the node above it" },
    SCHEMA_MAY("evidence", OBJECT, "what shows that it is done",
	.of = &plan_evidence_schema),
    REASON("why; done without evidence, and blocked, need it"));

const struct schema api_work_add_params = API_OBJECT(GOAL,
    SCHEMA_MAY("parent", STRING,
	"node that it goes below; if absent, it is a phase of "
	"the goal"),
    SCHEMA_IS("name", STRING, "in a few words", .min = 1, .max = PLAN_NAME_MAX),
    SCHEMA_MAY("id", STRING, "if absent, the next free one"),
    SCHEMA_MAY("objective", STRING, "what it is for"),
    API_PLAN_LIST("acceptance", "what can be verified when it is done"),
    API_PLAN_LIST("depends_on", "ids of nodes that must be done before"),
    SCHEMA_MAY("priority", STRING, "if absent, that of its parent",
	.choices = priority_words),
    PLACE, REASON("why it is added"));

const struct schema api_work_split_params = API_OBJECT(GOAL, NODE,
    SCHEMA_IS("names", LIST, "one for each part", .min = 1,
	.max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX),
    REASON("why it is split"));

const struct schema api_work_merge_params = API_OBJECT(GOAL,
    SCHEMA_IS("nodes", LIST, "ids; all become part of the first", .min = 2,
	.max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX),
    SCHEMA_MAY("name", STRING, "if absent, that of the first"),
    REASON("why they are merged"));

const struct schema api_work_move_params = API_OBJECT(GOAL, NODE,
    SCHEMA_MAY(
	"parent", STRING, "node that it goes below; if absent, the one it has"),
    PLACE, REASON("why it is moved"));

const struct schema api_work_assign_params = API_OBJECT(GOAL, NODE,
    SCHEMA_IS(
	"worker", STRING, "the one that gets it; one that a person drives"),
    SCHEMA_MAY("recovery", STRING,
	"what is done when it has stalled; if absent, as "
	"the plan says",
	.choices = recovery_policy_words),
    REASON("why"));

/* --- results about nodes of plans ------------------------------------ */

#define RESULT_GOAL SCHEMA_IS("goal", STRING, "id of its goal")
#define RESULT_NODE SCHEMA_IS("node", STRING, "its id")
#define RESULT_STATUS                                    \
	{                                                \
		.name = "status", .type = SCHEMA_STRING, \
		.choices = node_status_words             \
	}
const struct schema api_work_changed = API_OBJECT(RESULT_GOAL, RESULT_NODE,
    RESULT_STATUS, SCHEMA_IS("version", INT, "of the plan"),
    SCHEMA_IS("text", STRING, "what was changed"),
    SCHEMA_IS("changed", LIST,
	"ids of all nodes that were changed or added; the "
	"first 128",
	.size = PLAN_LINE_MAX),
    SCHEMA_IS("goal_status", STRING, NULL, .choices = goal_status_words));

const struct schema_field api_work_result = RESULT(api_work_changed);

static const struct schema entry = API_OBJECT(RESULT_GOAL, RESULT_NODE,
    SCHEMA_IS("kind", STRING, NULL, .choices = node_kind_words),
    SCHEMA_IS("name", STRING, NULL), RESULT_STATUS,
    SCHEMA_IS("priority", STRING, "its own, or that of what is above it",
	.choices = priority_words),
    SCHEMA_IS("ready", BOOL, "it can be worked on now"),
    SCHEMA_OR_NULL("worker", STRING, "who works on it"),
    SCHEMA_OR_NULL("task", STRING, "the task of auto mode"),
    SCHEMA_IS(
	"note", STRING, "what blocks it, who works on it, what it waits for"));

const struct schema api_work_listed =
    API_OBJECT(SCHEMA_IS("nodes", ROWS, NULL, .of = &entry));

const struct schema_field api_work_list_result = RESULT(api_work_listed);

const struct schema api_work_shown =
    API_OBJECT(SCHEMA_IS("record", OBJECT, NULL, .of = &plan_node_schema),
	SCHEMA_IS("note", STRING,
	    "what blocks it, who works on it, what it waits for"),
	SCHEMA_IS("ready", BOOL, "it can be worked on now"),
	SCHEMA_IS("summary", OBJECT, "of everything below it",
	    .of = &plan_summary_schema),
	SCHEMA_OR_NULL(
	    "assignment", OBJECT, "the open one", .of = &plan_work_schema));

const struct schema_field api_work_show_result = RESULT(api_work_shown);

/* --- parameters for goals ----------------------------------------- */

#define GOAL_NAME                 \
	SCHEMA_IS("goal", STRING, \
	    "its id, or four letters or more of it that no other has")
#define PRIORITY                                                         \
	{                                                                \
		.name = "priority", .type = SCHEMA_STRING,               \
		.choices = priority_words, .flags = SCHEMA_OPTIONAL,     \
		.help = "how soon its work is wanted; if absent, normal" \
	}

#define DEFINITION                                                           \
	MAY_TEXT("problem", PLAN_TEXT_MAX, "what is to be solved"),          \
	    API_PLAN_LIST(                                                   \
		"success_criteria", "what can be verified when it is done"), \
	    API_PLAN_LIST("constraints", "what must hold"),                  \
	    API_PLAN_LIST("non_goals", "what it is not about"),              \
	    API_PLAN_LIST("tags", "words for people"),                       \
	    MAY_TEXT("owner", PLAN_NAME_MAX, "who answers for it"), PRIORITY

#define PLAN                                                             \
	MAY_TEXT("plan", PLAN_FILE_MAX,                                  \
	    "phases, tasks and subtasks, as JSON or Markdown (the text " \
	    "of a plan file)")

const struct schema api_goal_create_params = {
	SCHEMA_FIELDS{
	    MAY_TEXT("title", PLAN_NAME_MAX, "if absent, as the plan says"),
	    DEFINITION,
	    PLAN,
	    SCHEMA_MAY("from_session", STRING,
		"name of the worker whose session it came up in"),
	    SCHEMA_MAY(
		"draft", BOOL, "without a plan: the planner only drafts one"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_update_params = {
	SCHEMA_FIELDS{
	    GOAL_NAME,
	    MAY_TEXT("title", PLAN_NAME_MAX, "its new title"),
	    DEFINITION,
	    MAY_TEXT("text", PLAN_FILE_MAX,
		"instead of the members above: the goal and its plan as "
		"Markdown, as llmc goal edit shows them; what is different "
		"is changed"),
	    SCHEMA_MAY("before", STRING,
		"the hash of the text that was edited, without comments; "
		"refused if it is another one by now"),
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why it is changed"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_plan_params = {
	SCHEMA_FIELDS{
	    GOAL_NAME,
	    PLAN,
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
	    SCHEMA_END,
	},
};

#define CALLER                       \
	SCHEMA_MAY("worker", STRING, \
	    "whose session it is; the daemon says so, not the caller")

const struct schema api_plan_draft_params = {
	SCHEMA_FIELDS{
	    CALLER,
	    GOAL_NAME,
	    PLAN,
	    MAY_TEXT("reason", PLAN_TEXT_MAX,
		"why there is another one; without it and without a plan, "
		"the draft that there is for this version is shown"),
	    SCHEMA_END,
	},
};

const struct schema api_plan_apply_params = {
	SCHEMA_FIELDS{
	    CALLER,
	    GOAL_NAME,
	    PLAN,
	    SCHEMA_MAY("version", INT,
		"of the plan that it replaces; if absent, the one "
		"that the draft was made for",
		.min = 0, .max = INT64_MAX),
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why there is another plan"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_params = {
	SCHEMA_FIELDS{
	    GOAL_NAME,
	    SCHEMA_END,
	},
};

const struct schema api_goal_move_params = {
	SCHEMA_FIELDS{
	    GOAL_NAME,
	    MAY_TEXT("reason", PLAN_TEXT_MAX, "why"),
	    SCHEMA_END,
	},
};

const struct schema api_goal_tick_params = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY(
		"dry_run", BOOL, "only say what would be done; change nothing"),
	    SCHEMA_END,
	},
};

/* --- results about goals ------------------------------------------ */

#define GOAL_ID SCHEMA_IS("goal", STRING, "its id")
#define GOAL_STATUS                                      \
	{                                                \
		.name = "status", .type = SCHEMA_STRING, \
		.choices = goal_status_words             \
	}
#define RESULT_SUMMARY                                                \
	{                                                             \
		.name = "summary", .type = SCHEMA_OBJECT,             \
		.of = &plan_summary_schema, .flags = SCHEMA_NULLABLE, \
		.help = "null: its plan cannot be read"               \
	}

const struct schema api_goal_changed = {
	SCHEMA_FIELDS{
	    GOAL_ID,
	    SCHEMA_IS("title", STRING, NULL),
	    GOAL_STATUS,
	    SCHEMA_IS("version", INT, "of its plan"),
	    SCHEMA_IS("nodes", INT, "of its plan; 0: it has none yet"),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_result = RESULT(api_goal_changed);

const struct schema api_plan_drafted = {
	SCHEMA_FIELDS{
	    GOAL_ID,
	    SCHEMA_IS("version", INT, "of its plan now"),
	    { .name = "state",
		.type = SCHEMA_STRING,
		.choices =
		    (const char *const[]){ "none", "asked", "ready", NULL },
		.help = "asked: the planner makes it" },
	    SCHEMA_OR_NULL("base", INT, "the version that it was made for"),
	    SCHEMA_OR_NULL("made_ms", INT, NULL),
	    SCHEMA_OR_NULL("actor", STRING, "who made it"),
	    SCHEMA_OR_NULL("how", STRING, NULL),
	    SCHEMA_OR_NULL("why", STRING, NULL),
	    SCHEMA_OR_NULL("record", OBJECT,
		"the goal with the nodes that it would have",
		.of = &plan_goal_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_plan_draft_result = RESULT(api_plan_drafted);

const struct schema api_goal_entry = {
	SCHEMA_FIELDS{
	    GOAL_ID,
	    SCHEMA_IS("number", INT, "17: g17 names it"),
	    SCHEMA_IS("title", STRING, NULL),
	    GOAL_STATUS,
	    SCHEMA_IS("priority", STRING, NULL, .choices = priority_words),
	    SCHEMA_IS("tags", LIST, NULL, .size = PLAN_LINE_MAX),
	    SCHEMA_IS("version", INT, "of its plan"),
	    SCHEMA_IS("created_ms", INT, NULL),
	    SCHEMA_OR_NULL("ended_ms", INT, NULL),
	    RESULT_SUMMARY,
	    SCHEMA_END,
	},
};

static const struct schema api_goal_listed = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("goals", ROWS, NULL, .of = &api_goal_entry),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_list_result = RESULT(api_goal_listed);

const struct schema api_goal_shown = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("record", OBJECT, NULL, .of = &plan_goal_schema),
	    SCHEMA_IS("summary", OBJECT, NULL, .of = &plan_summary_schema),
	    SCHEMA_IS(
		"assignments", ROWS, "open ones", .of = &plan_work_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_show_result = RESULT(api_goal_shown);

static const struct schema goal_counts = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("active", INT, NULL),
	    SCHEMA_IS("paused", INT, NULL),
	    SCHEMA_END,
	},
};

static const struct schema assignment_counts = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("queued", INT, NULL),
	    SCHEMA_IS("dispatched", INT, NULL),
	    SCHEMA_IS("active", INT, NULL),
	    SCHEMA_IS("stalled", INT, NULL),
	    SCHEMA_IS("blocked", INT, NULL),
	    SCHEMA_END,
	},
};

static const struct schema status = {
	SCHEMA_FIELDS{
	    { .name = "state",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "off", "open", "safe", NULL },
		.help =
		    "safe: the records of goals cannot be used, and nothing is "
		    "planned" },
	    SCHEMA_OR_NULL(
		"reason", STRING, "why it is not open, and what to type"),
	    SCHEMA_IS("enabled", BOOL, "the setting plan.enabled"),
	    SCHEMA_IS("goals", OBJECT, NULL, .of = &goal_counts),
	    SCHEMA_IS("summary", OBJECT, "of all open goals together",
		.of = &plan_summary_schema),
	    SCHEMA_IS("assignments", OBJECT, NULL, .of = &assignment_counts),
	    SCHEMA_IS("stalled", ROWS,
		"assignments that are stalled or blocked; the "
		"first 100",
		.of = &plan_work_schema),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_status_result = RESULT(status);

static const struct schema decision = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("kind", STRING, NULL, .choices = reconcile_kind_words),
	    SCHEMA_IS("code", STRING, "why, in one word"),
	    SCHEMA_IS("reason", STRING, "why, in a sentence"),
	    SCHEMA_IS("goal", STRING, NULL),
	    SCHEMA_IS("node", STRING, NULL),
	    SCHEMA_IS("assignment", STRING, NULL),
	    SCHEMA_OR_NULL("worker", STRING, NULL),
	    SCHEMA_OR_NULL("dispatch", STRING, "id of what is sent"),
	    SCHEMA_OR_NULL("text", STRING, "what is sent"),
	    SCHEMA_END,
	},
};

static const struct schema ticked = {
	SCHEMA_FIELDS{
	    SCHEMA_OR_NULL("gate", STRING, "why nothing was decided"),
	    SCHEMA_IS("decisions", ROWS, NULL, .of = &decision),
	    SCHEMA_END,
	},
};

const struct schema_field api_goal_tick_result = RESULT(ticked);
