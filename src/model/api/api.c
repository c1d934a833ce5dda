/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-rows.h"
#include "api-shape.h"
#include "api-team.h"
#include "api-work.h"
#include "api.h"
#include "ask.h"
#include "charts.h"
#include "event.h"
#include "hook-event.h"
#include "rpc.h"
#include "schema.h"
#include "work-record.h"

#define TASK                      \
	SCHEMA_IS("task", STRING, \
	    "its number such as t17, or its name at its source")

/* --- parameters ------------------------------------------------------ */

static const struct schema api_task_add_params = API_OBJECT(
    SCHEMA_IS("text", STRING, "the task"),
    SCHEMA_MAY("priority", STRING, "if absent, as the text says, else normal",
	.choices = priority_words),
    SCHEMA_MAY("agent", STRING, "a kind of agents, or one of [agents]"),
    SCHEMA_MAY("wants", STRING,
	"words for what its host must have, with commas between them"),
    SENDER);

static const struct schema api_task_from_params = API_OBJECT(
    SCHEMA_IS("issue", STRING, "its number, or the address of its page"));

static const struct schema api_task_params = API_OBJECT(TASK, SENDER);

static const struct schema api_task_abort_params =
    API_OBJECT(SCHEMA_IS("task", STRING,
		   "its number such as t17, or the worker that has it"),
	SCHEMA_MAY("reason", STRING, "for the record"),
	SCHEMA_MAY("user", STRING, "who asks, for the record"));

static const struct schema api_task_priority_params = API_OBJECT(TASK,
    SCHEMA_IS(
	"priority", STRING, "how soon it is wanted", .choices = priority_words),
    SENDER);

static const struct schema api_task_edit_params = API_OBJECT(TASK,
    SCHEMA_IS("before", STRING,
	"the text that was edited; refused if it is another one "
	"now"),
    SCHEMA_IS("text", STRING, "the new text"), SENDER);

/* --- results --------------------------------------------------------- */

static const struct schema api_task_added =
    API_OBJECT(SCHEMA_IS("task", STRING, "its name at its source"),
	SCHEMA_IS("path", STRING, "path of its file"));
static const struct schema_field api_task_add_result = RESULT(api_task_added);

static const struct schema api_task_from =
    API_OBJECT(SCHEMA_IS("task", STRING, "its number such as t17"));
static const struct schema_field api_task_from_result = RESULT(api_task_from);

#define RESULT_TASK SCHEMA_IS("task", STRING, "its number or its name")

static const struct schema retried = API_OBJECT(RESULT_TASK,
    { .name = "status",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "waiting", "todo", NULL } });
static const struct schema_field api_task_retry_result = RESULT(retried);

static const struct schema dropped = API_OBJECT(RESULT_TASK,
    { .name = "status",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "aborted", "dropped", NULL },
	.help = "aborted: it was in progress or waited for a worker" });
static const struct schema_field api_task_drop_result = RESULT(dropped);

static const struct schema aborted = API_OBJECT(RESULT_TASK,
    { .name = "status",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "aborted", NULL } });
static const struct schema_field api_task_abort_result = RESULT(aborted);

static const struct schema prioritized = API_OBJECT(RESULT_TASK,
    SCHEMA_IS("priority", STRING, NULL, .choices = priority_words));
static const struct schema_field api_task_priority_result = RESULT(prioritized);

static const struct schema edited = API_OBJECT(RESULT_TASK);
static const struct schema_field api_task_edit_result = RESULT(edited);

#define WAIT_MAX_MS (7 * 24 * 3600 * (int64_t)1000)
#define ERRORS      (const enum api_error[])

/* --- parameters ------------------------------------------------------ */

static const struct schema no_params = API_NOTHING;

static const struct schema worker_params = API_OBJECT(WORKER);

static const struct schema reset_params = API_OBJECT(WORKER,
    SCHEMA_MAY("failed", STRING,
	"why the attempt at its task failed; if absent, the "
	"attempt does not count"));

static const struct schema message_params = API_OBJECT(
    WORKER, SCHEMA_IS("text", STRING, "what the agent is told"), SENDER);

static const struct schema start_params =
    API_OBJECT(SCHEMA_MAY("worker", STRING, "if absent, the first free worker"),
	SCHEMA_MAY("prefix", STRING,
	    "choose a free worker whose name begins with this"),
	SCHEMA_IS("prompt", STRING, "the task"),
	SCHEMA_MAY("prompt_command", STRING,
	    "the shell command that printed the task"),
	SCHEMA_MAY("self_review", BOOL,
	    "the agent reviews its own work first; if absent, as in "
	    "the worker's settings"),
	SENDER);

static const struct schema wait_params = API_OBJECT(WORKER,
    SCHEMA_IS("until", STRING, "one status, or several separated by commas"),
    SCHEMA_IS("timeout_ms", INT, NULL, .min = 1, .max = WAIT_MAX_MS));

static const struct schema resume_params =
    API_OBJECT(SCHEMA_MAY("worker", STRING,
		   "or a task that is parked; if absent, everything that is "
		   "paused or parked"),
	SCHEMA_MAY("note", STRING, "what the worker is told"));

static const struct schema ask_end_params = API_OBJECT(
    SCHEMA_IS("ask", STRING, "its id"),
    SCHEMA_MAY("answer", STRING, "that was given; if absent, it is dismissed"),
    SCHEMA_MAY("user", STRING, "who answers, for the record"));

static const struct schema ask_seen_params =
    API_OBJECT(SCHEMA_IS("asks", LIST, "their ids"));

const struct schema api_ask_ended = API_OBJECT(SCHEMA_IS("ask", STRING, NULL),
    SCHEMA_IS("status", STRING, "open: what it is about is still so",
	.choices = ask_end_words));
static const struct schema_field ask_end_result = RESULT(api_ask_ended);

static const struct schema pause_params =
    API_OBJECT(SCHEMA_MAY("worker", STRING, "if absent, every worker"));

static const struct schema stop_params =
    API_OBJECT(SCHEMA_MAY("now", BOOL, "end the sessions at once"),
	SCHEMA_MAY("keep", BOOL,
	    "leave the sessions as they are to the next daemon, which "
	    "is about to start"),
	SCHEMA_MAY("again", BOOL,
	    "with keep: go on as the program that is on disk now"));

static const struct schema view_params =
    API_OBJECT(SCHEMA_MAY("sections", LIST, "only these; else all of it"));

static const struct schema charts_params = API_OBJECT(
    SCHEMA_MAY("from_ms", INT, "else from the beginning of the run", .min = 0),
    SCHEMA_MAY("to_ms", INT, "with from_ms; else until now", .min = 0),
    SCHEMA_MAY("worker", STRING, "only its time"));

static const struct schema refused_params = API_OBJECT(WORKER,
    SCHEMA_IS("host", STRING, "that sandbox_hosts does not have", .min = 1,
	.max = 253),
    SCHEMA_IS("port", INT, "of it", .min = 1, .max = 65535));

/* --- results --------------------------------------------------------- */

static const struct schema nothing = API_NOTHING;

static const struct schema_field nothing_result = {
	.type = SCHEMA_OBJECT,
	.flags = SCHEMA_NULLABLE,
	.of = &nothing,
	.help = "null: success is the whole answer",
};

static const struct schema decision =
    API_OBJECT(SCHEMA_IS("decision", STRING, "block: the turn continues"),
	SCHEMA_IS("reason", STRING, "what the agent is told"));

static const struct schema_field hook_result = {
	.type = SCHEMA_OBJECT,
	.flags = SCHEMA_NULLABLE,
	.of = &decision,
	.help = "passed on to the agent unchanged; null: nothing to say",
};

static const struct schema api_added =
    API_OBJECT(RESULT_WORKER, SCHEMA_IS("branch", STRING, NULL),
	SCHEMA_IS("worktree_path", STRING, NULL));
static const struct schema_field add_result = RESULT(api_added);

#define RESULT_SALVAGE               \
	SCHEMA_IS("salvage", STRING, \
	    "ref that keeps its work; empty when there was none")

static const struct schema nuked = API_OBJECT(RESULT_WORKER, RESULT_SALVAGE,
    SCHEMA_MAY("warning", STRING, "repo.teardown_command has failed"));
static const struct schema_field nuke_result = RESULT(nuked);

static const struct schema tried = API_OBJECT(RESULT_WORKER, RESULT_SALVAGE,
    SCHEMA_MAY("warning", STRING, "repo.teardown_command has failed"),
    SCHEMA_MAY("failed", STRING, "why it could not work there"));
static const struct schema_field try_result = RESULT(tried);

static const struct schema reset =
    API_OBJECT(RESULT_WORKER, RESULT_BEFORE, RESULT_AFTER, RESULT_SALVAGE);
static const struct schema_field reset_result = RESULT(reset);

static const struct schema started = API_OBJECT(RESULT_WORKER,
    { .name = "status",
	.type = SCHEMA_STRING,
	.choices = (const char *const[]){ "starting", NULL } },
    SCHEMA_IS("self_review_enabled", BOOL, NULL),
    SCHEMA_IS("worktree_path", STRING, NULL),
    SCHEMA_IS("branch", STRING, NULL));
static const struct schema_field start_result = RESULT(started);

static const struct schema sent = API_OBJECT(RESULT_WORKER,
    SCHEMA_IS("message_sent", BOOL, NULL), RESULT_BEFORE, RESULT_AFTER);
static const struct schema_field message_result = RESULT(sent);

static const struct schema waited = API_OBJECT(RESULT_WORKER,
    SCHEMA_IS(
	"status", STRING, "status at the end; \"gone\" when it was removed"),
    SCHEMA_IS("reached", BOOL, "false: timed out, or the worker was removed"));
static const struct schema_field wait_result = RESULT(waited);

static const struct schema resume_change = API_OBJECT(RESULT_WORKER,
    SCHEMA_IS("cleared", LIST,
	"reasons that are gone: person, budget, oversight, "
	"trust"),
    SCHEMA_IS("left", LIST, "reasons for which it stays paused"));

const struct schema api_resumed =
    API_OBJECT(SCHEMA_IS("resumed", LIST, "workers that continue"),
	SCHEMA_IS("changes", ROWS, "the workers that were paused for a reason",
	    .of = &resume_change),
	SCHEMA_IS("message", STRING, "a sentence for people"));
static const struct schema_field resume_result = RESULT(api_resumed);

static const struct schema paused =
    API_OBJECT(SCHEMA_IS("paused", LIST, "workers that take no new task"),
	SCHEMA_IS("message", STRING, "sentences for people"));
static const struct schema_field pause_result = RESULT(paused);

static const struct schema stopped =
    API_OBJECT(RESULT_WORKER, RESULT_BEFORE, RESULT_AFTER);
static const struct schema_field worker_stop_result = RESULT(stopped);

const struct schema api_info =
    API_OBJECT(SCHEMA_IS("version", STRING, NULL), SCHEMA_IS("pid", INT, NULL),
	SCHEMA_IS("instance_id", STRING, "new with each start"),
	SCHEMA_IS("lag_ms", INT, "longest delay of its loop"),
	SCHEMA_IS("turns", INT, "passes of its loop so far"),
	SCHEMA_IS("workers", INT, "number of workers"),
	SCHEMA_IS("auto", BOOL, "it is in auto mode"),
	SCHEMA_IS("restarts", INT, "with llmc restart, of this process"));
static const struct schema_field info_result = RESULT(api_info);

static const struct schema_field stop_result = {
	.type = SCHEMA_INT,
	.help = "process id of the daemon, which exits soon after",
};

static const struct schema view = {
	SCHEMA_FIELDS{
	    SCHEMA_END,
	},
	.open = true, /* its sections: view.h */
	.help = "objects and maps of rows, by section",
};
static const struct schema_field view_result = RESULT(view);

static const struct schema web_params =
    API_OBJECT(SCHEMA_MAY("code", BOOL, "make one for a login at web.origin"));

static const struct schema web =
    API_OBJECT(SCHEMA_IS("enabled", BOOL, "by the settings"),
	SCHEMA_IS("listen", STRING, "web.listen"),
	SCHEMA_IS("origin", STRING, "web.origin"),
	SCHEMA_IS("mode", STRING, "web.mode"),
	SCHEMA_MAY("port", INT, "where it listens, if it is open"),
	SCHEMA_MAY("code", STRING, "for one login, within ten minutes"),
	SCHEMA_MAY("reason", STRING, "why it cannot be opened"));
static const struct schema_field web_result = RESULT(web);

static const struct schema metrics = API_OBJECT(
    SCHEMA_IS("text", STRING, "in the exposition format of Prometheus"));
static const struct schema_field metrics_result = RESULT(metrics);

static const struct schema view_notification =
    API_OBJECT(SCHEMA_IS("seq", INT, "one more with each change"),
	SCHEMA_MAY("view", OBJECT, "of a snapshot", .of = &view),
	SCHEMA_MAY(
	    "change", OBJECT, "of a change: set, unset, events", .of = &view));
static const struct schema_field view_message = RESULT(view_notification);

/* --- the methods ----------------------------------------------------- */

/* Nothing that lands, takes work away, spends, or stops the daemon is for
 * agents. */
#define AGENTS  (API_PERSON | API_REPAIR | API_WORKER)
#define ALL     (AGENTS | API_READER)
#define REPAIRS (API_PERSON | API_REPAIR)

const struct api_method api_methods[] = {
	{ "hook.event", "report an event of a worker's session",
	    API_OWN | API_STOPPING, API_WORKER, API_REACH_NOTHING,
	    &hook_event_schema, &hook_result, ERRORS{ 0 } },
	{ "worker.add", "create a worker, with its branch and its worktree",
	    API_ONESHOT, REPAIRS, API_REACH_PERSON, &worker_params, &add_result,
	    ERRORS{ API_FAILED, 0 } },
	{ "worker.try",
	    "make the place of the first worker as its start would, and "
	    "remove it; only if there is no worker",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &no_params, &try_result,
	    ERRORS{ API_STATUS, API_FAILED, 0 } },
	{ "worker.nuke",
	    "remove a worker, its worktree and its branch; its work is "
	    "salvaged",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &worker_params,
	    &nuke_result, ERRORS{ API_UNKNOWN, API_BUSY, API_FAILED, 0 } },
	{ "worker.reset",
	    "reset a worker to the default branch, without a task; its work is "
	    "salvaged",
	    API_ONESHOT, REPAIRS, API_REACH_PERSON, &reset_params,
	    &reset_result, ERRORS{ API_UNKNOWN, API_BUSY, API_FAILED, 0 } },
	{ "worker.start",
	    "give a task to a free worker, or to one that is about to be free",
	    API_SENT, AGENTS, API_REACH_FREE, &start_params, &start_result,
	    ERRORS{ API_UNKNOWN, API_STATUS, API_FAILED, 0 } },
	{ "worker.pause",
	    "let a worker finish its turn and take no new task until "
	    "auto.resume",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &pause_params,
	    &pause_result, ERRORS{ API_UNKNOWN, 0 } },
	{ "worker.stop",
	    "end the session of a worker, and keep its task and its work",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &worker_params,
	    &worker_stop_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_FAILED, 0 } },
	{ "worker.message", "send a worker a message about its task", API_SENT,
	    AGENTS, API_REACH_WORKER, &message_params, &message_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, 0 } },
	{ "worker.reject", "send finished work back with reasons", API_SENT,
	    AGENTS, API_REACH_WORK, &api_landing_reject_params,
	    &api_landing_reject_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_CHANGED, API_FAILED,
		0 } },
	{ "worker.accept",
	    "land a worker's work on the default branch, as one commit",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON,
	    &api_landing_accept_params, &api_landing_accept_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_FAILED, API_CHANGED,
		0 } },
	{ "worker.rebase",
	    "rebase a worker's finished work onto the default branch", 0,
	    AGENTS, API_REACH_WORK, &worker_params, &api_landing_rebase_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_FAILED, 0 } },
	{ "worker.review",
	    "rebase finished work for a review; accept and reject then apply "
	    "to it",
	    0, AGENTS, API_REACH_WORK, &api_landing_review_params,
	    &api_landing_review_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_FAILED, 0 } },
	{ "review.get",
	    "show what a worker has changed, as it would land, or what a task "
	    "landed as",
	    0, REPAIRS, API_REACH_PERSON, &api_review_get_params,
	    &api_review_get_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_FAILED, 0 } },
	{ "screen.get", "show what is on a worker's screen", 0, REPAIRS,
	    API_REACH_PERSON, &api_screen_get_params, &api_screen_get_result,
	    ERRORS{ API_UNKNOWN, API_STATUS, 0 } },
	{ "replay.get", "show how the work on a task went", 0, REPAIRS,
	    API_REACH_PERSON, &api_replay_get_params, &api_replay_get_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_FAILED, 0 } },
	{ "worker.pick", "land a worker's current work, whatever its status",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &api_landing_pick_params,
	    &api_landing_pick_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_FAILED, API_CHANGED, 0 } },
	{ "worker.wait", "wait until a worker reaches a status", 0, ALL,
	    API_REACH_SIGHT, &wait_params, &wait_result,
	    ERRORS{ API_UNKNOWN, API_FAILED, 0 } },
	{ "landing.list", "show the landing queue", 0, ALL, API_REACH_SIGHT,
	    &no_params, &api_landing_list_result, ERRORS{ 0 } },
	{ "landing.revert",
	    "take a landed commit back with a new one, through the landing "
	    "queue",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON,
	    &api_landing_revert_params, &api_landing_revert_result,
	    ERRORS{ API_UNKNOWN, API_FAILED, 0 } },
	{ "task.add", "add a task to the folder of tasks",
	    API_ONESHOT | API_SENT, AGENTS, API_REACH_SHARED,
	    &api_task_add_params, &api_task_add_result,
	    ERRORS{ API_FAILED, 0 } },
	{ "task.from", "take an issue of the forge as a task", 0, API_PERSON,
	    API_REACH_PERSON, &api_task_from_params, &api_task_from_result,
	    ERRORS{ API_BUSY, API_FAILED, 0 } },
	{ "task.edit", "change the text of a task that waits or has failed",
	    API_ONESHOT | API_SENT, AGENTS, API_REACH_TASK,
	    &api_task_edit_params, &api_task_edit_result,
	    ERRORS{ API_UNKNOWN, API_STATUS, API_CHANGED, API_FAILED, 0 } },
	{ "task.priority", "change how soon a task is wanted",
	    API_ONESHOT | API_SENT, AGENTS, API_REACH_TASK,
	    &api_task_priority_params, &api_task_priority_result,
	    ERRORS{ API_UNKNOWN, API_STATUS, API_FAILED, 0 } },
	{ "task.retry", "do a task again that failed or has landed",
	    API_ONESHOT | API_SENT, AGENTS, API_REACH_TASK, &api_task_params,
	    &api_task_retry_result,
	    ERRORS{ API_UNKNOWN, API_STATUS, API_FAILED, 0 } },
	{ "task.drop", "remove a task", API_ONESHOT | API_SENT, AGENTS,
	    API_REACH_TASK, &api_task_params, &api_task_drop_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, API_FAILED, 0 } },
	{ "task.abort", "end a task that goes wrong", 0, API_PERSON,
	    API_REACH_PERSON, &api_task_abort_params, &api_task_abort_result,
	    ERRORS{ API_UNKNOWN, API_BUSY, API_STATUS, 0 } },
	{ "auto.resume",
	    "let what is paused continue: workers, and all of auto mode", 0,
	    API_PERSON, API_REACH_PERSON, &resume_params, &resume_result,
	    ERRORS{ API_UNKNOWN, 0 } },
	{ "fleet.events", "what happened on the other hosts of the fleet", 0,
	    API_PERSON, API_REACH_PERSON, &no_params, &api_events_result,
	    ERRORS{ 0 } },
	{ "daemon.info", "report who the daemon is and how it is doing", 0, ALL,
	    API_REACH_NOTHING, &no_params, &info_result, ERRORS{ 0 } },
	{ "daemon.reload", "read the settings again", 0, API_PERSON,
	    API_REACH_PERSON, &no_params, &nothing_result,
	    ERRORS{ API_FAILED, 0 } },
	{ "daemon.stop", "stop the daemon", API_STOPPING | API_EARLY,
	    API_PERSON, API_REACH_PERSON, &stop_params, &stop_result,
	    ERRORS{ API_BUSY, API_FAILED, 0 } },
	{ "view.get", "everything that is shown, as it is now", API_STOPPING,
	    REPAIRS, API_REACH_PERSON, &view_params, &view_result,
	    ERRORS{ 0 } },
	{ "view.follow",
	    "the same and what changes of it: first \"snapshot\", then a "
	    "\"change\" for each change",
	    API_STREAM, REPAIRS, API_REACH_PERSON, &no_params, &view_message,
	    ERRORS{ 0 } },
	{ "metrics.get", "what is measured, as text for Prometheus", 0, REPAIRS,
	    API_REACH_PERSON, &no_params, &metrics_result, ERRORS{ 0 } },
	{ "charts.get", "what the pictures of a period are drawn from", 0,
	    REPAIRS, API_REACH_PERSON, &charts_params, &charts_shape,
	    ERRORS{ API_BUSY, API_FAILED, 0 } },
	{ "web.get", "whether the page is open, and where", 0, API_PERSON,
	    API_REACH_PERSON, &web_params, &web_result, ERRORS{ 0 } },
	{ "events.follow",
	    "report what happens from now on: first \"following\" with the "
	    "offset in logs/auto.log, then an \"event\" for each record",
	    API_STREAM, ALL, API_REACH_SIGHT, &no_params, &event_record_schema,
	    ERRORS{ 0 } },
	{ "sandbox.refused",
	    "report a host that a worker's sandbox did not let it reach",
	    API_OWN, API_WORKER, API_REACH_NOTHING, &refused_params,
	    &nothing_result, ERRORS{ 0 } },
	{ "ask.end",
	    "note the answer to an ask, or that nothing is to be done about it",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &ask_end_params,
	    &ask_end_result, ERRORS{ 0 } },
	{ "ask.seen", "note that a person has seen these asks", 0, API_PERSON,
	    API_REACH_PERSON, &ask_seen_params, &nothing_result, ERRORS{ 0 } },
	API_GOAL_ROWS{ "overseer.store.check", "look for damage in the book",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &no_params,
	    &api_store_result, ERRORS{ API_FAILED, 0 } },
	{ "overseer.store.export",
	    "write all goals, and what happened, to a file", API_ONESHOT,
	    API_PERSON, API_REACH_PERSON, &api_store_file_params,
	    &api_store_result, ERRORS{ API_FAILED, 0 } },
	{ "overseer.store.sql", "answer a query in SQL", API_ONESHOT,
	    API_PERSON | API_REPAIR, API_REACH_PERSON, &api_store_sql_params,
	    &api_store_result, ERRORS{ API_FAILED, 0 } },
	{ "overseer.events", "report what happened, from the book", API_ONESHOT,
	    API_PERSON, API_REACH_PERSON, &api_events_params,
	    &api_events_result, ERRORS{ API_E_UNKNOWN, API_FAILED, 0 } },
	{ "overseer.why", "tell why something of a plan is where it is",
	    API_ONESHOT, API_PERSON, API_REACH_PERSON, &api_why_params,
	    &api_why_result, ERRORS{ API_E_UNKNOWN, API_FAILED, 0 } },

	API_TEAM_ROWS{ NULL, NULL, 0, 0, 0, NULL, NULL, NULL },
};

/* Which kin a method reaches, without a sandbox and out of one. */
#define KIN(kin) (1U << API_KIN_##kin)
#define FAMILY   (KIN(SELF) | KIN(CHILD) | KIN(PARENT))
#define LETTERS  (KIN(CHILD) | KIN(PARENT) | KIN(PERSON))
#define EVERYONE (~0U)

static const struct {
	unsigned free, boxed;
} reaches[API_REACH_COUNT] = {
	[API_REACH_NOTHING] = { EVERYONE, EVERYONE },
	[API_REACH_FREE] = { EVERYONE, KIN(FREE) | KIN(CHILD) },
	[API_REACH_WORKER] = { EVERYONE, FAMILY },
	[API_REACH_WORK] = { EVERYONE, KIN(CHILD) },
	[API_REACH_TASK] = { KIN(SELF), KIN(SELF) },
	[API_REACH_MESSAGE] = { LETTERS, LETTERS },
	[API_REACH_SIGHT] = { EVERYONE, FAMILY },
	[API_REACH_SHARED] = { EVERYONE, EVERYONE },
};

const char *const api_caller_words[] = { "person", "repair", "worker", "reader",
	NULL };

const struct api_method *
api_find(const char *name)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

static const struct {
	enum api_error code;
	const char *word;
} error_words[] = {
	{ API_FAILED, "failed" },
	{ API_BUSY, "busy" },
	{ API_UNKNOWN, "unknown" },
	{ API_STATUS, "wrong_status" },
	{ API_CHANGED, "changed" },
	{ API_REFUSED, "refused" },
	{ API_E_TRANSITION, "E_TRANSITION" },
	{ API_E_EVIDENCE, "E_EVIDENCE" },
	{ API_E_REASON, "E_REASON" },
	{ API_E_UNKNOWN, "E_UNKNOWN" },
	{ API_E_EXISTS, "E_EXISTS" },
	{ API_E_STARTED, "E_STARTED" },
	{ API_E_CYCLE, "E_CYCLE" },
	{ API_E_LEVEL, "E_LEVEL" },
	{ API_E_LIMIT, "E_LIMIT" },
	{ API_E_CLOSED, "E_CLOSED" },
	{ API_E_ASSIGNED, "E_ASSIGNED" },
	{ API_E_CHILDREN, "E_CHILDREN" },
	{ API_E_UNAUTHORIZED, "E_UNAUTHORIZED" },
	{ API_E_INVALID_PLAN, "E_INVALID_PLAN" },
	{ API_E_CONFLICT, "E_CONFLICT" },
	{ API_E_NOT_FOUND, "E_NOT_FOUND" },
	{ API_E_RATE, "E_RATE" },
};

/* NULL = not one of ours. */
static const char *
error_name(int code)
{
	for (size_t i = 0; i < nitems(error_words); i++)
		if ((int)error_words[i].code == code)
			return error_words[i].word;
	return NULL;
}

const char *
api_error_word(const struct api_method *method, int code)
{
	const char *name = error_name(code);

	if (code == API_UNKNOWN) {
		/* What the method did not find: the first thing that it is
		 * given. */
		for (const struct schema_field *f = method->params->fields;
		     f->name != NULL; f++)
			if (strcmp(f->name, "task") == 0)
				return "no_such_task";
			else if (strcmp(f->name, "worker") == 0)
				break;
			else if (strcmp(f->name, "commit") == 0)
				return "no_such_commit";
		return "no_such_worker";
	}
	if (code == RPC_INVALID_PARAMS)
		return "bad_value";
	return name != NULL ? name : error_name(API_FAILED);
}

unsigned
caller_rank(const struct caller *caller)
{
	if (caller->unknown)
		return API_READER;
	if (caller->socket_of != NULL)
		return caller->session == NULL ||
			strcmp(caller->session, caller->socket_of) == 0 ?
		    API_WORKER :
		    API_READER;
	if (caller->session == NULL)
		return API_PERSON;
	return strcmp(caller->session, CALLER_REPAIR) == 0 ? API_REPAIR :
							     API_READER;
}

/* Whose own calls it may make: at a worker's socket that worker's. */
static const char *
own_name(const struct caller *caller, bool life)
{
	if (caller->unknown)
		return life ? caller->socket_of : NULL;
	return caller_rank(caller) == API_WORKER ? caller->socket_of : NULL;
}

static int
refuse(const struct caller *caller, const char *method, struct err *err)
{
	if (caller->outside)
		return err_set(err, -EPERM,
		    "%s is refused: the daemon runs in a pid namespace that "
		    "you are not in, such as a container, and cannot tell you "
		    "from an agent; type it in there: docker exec, podman "
		    "exec, or nsenter -t PID -a",
		    method);
	if (caller->unknown)
		return err_set(err, -EPERM,
		    "%s is refused: the process that called ended before it "
		    "was known whose it is; let it wait for the answer",
		    method);
	if (caller->session == NULL && caller->socket_of == NULL)
		return err_set(err, -EPERM,
		    "%s is refused: only the hooks of a worker's session call "
		    "it",
		    method);
	return err_set(err, -EPERM,
	    "%s is refused: this is the session of %s, and agents may not do "
	    "that; a person can, in a terminal outside of it",
	    method,
	    caller->session != NULL ? caller->session : caller->socket_of);
}

bool
caller_is_anybody(const struct api_method *method)
{
	const unsigned all = API_PERSON | API_REPAIR | API_WORKER | API_READER;

	return !(method->flags & API_OWN) && (method->callers & all) == all;
}

int
caller_check(const struct caller *caller, const struct api_method *method,
    const char *worker, bool life, struct err *err)
{
	const char *own = own_name(caller, life);

	if (!(method->flags & API_OWN))
		return method->callers & caller_rank(caller) ?
		    0 :
		    refuse(caller, method->name, err);
	if (own == NULL)
		return refuse(caller, method->name, err);
	if (worker == NULL || strcmp(own, worker) != 0)
		return err_set(err, -EPERM,
		    "%s is refused: this is the session of %s, which reports "
		    "nothing for %s",
		    method->name, own, worker != NULL ? worker : "others");
	return 0;
}

/* A target that is not the caller's to reach. */
static int
refuse_kin(const struct api_method *method, const char *worker,
    const struct api_target *target, struct err *err)
{
	switch (method->reach) {
	case API_REACH_TASK:
		return err_set(err, -EPERM,
		    "%s was not added by %s, and agents change only tasks that "
		    "they have added; a person can, in a terminal outside of "
		    "this session",
		    target->name, worker);
	case API_REACH_MESSAGE:
		return err_set(err, -EPERM,
		    "you may write to your parent, to agents that work for "
		    "you, and to \"person\"; %s is none of these",
		    target->name);
	case API_REACH_FREE:
		return err_set(err, -EPERM,
		    "%s has a task already, and it is not from %s; a worker in "
		    "a sandbox gives tasks only to workers that have none",
		    target->name, worker);
	case API_REACH_SIGHT:
		return err_set(err, -EPERM,
		    "%s is refused: it tells of %s, and a worker in a sandbox "
		    "is told only of its own; a person can see it, in a "
		    "terminal outside of this session",
		    method->name, target->name);
	default:
		return err_set(err, -EPERM,
		    "%s is refused: %s does not work for %s%s, and a worker in "
		    "a sandbox reaches only its own; a person can, in a "
		    "terminal outside of this session",
		    method->name, target->name, worker,
		    method->reach == API_REACH_WORKER ?
			", nor gave it its task" :
			"");
	}
}

int
caller_reaches(const struct api_method *method, const char *worker,
    enum box_mode box, const struct api_target *target, struct err *err)
{
	bool boxed = box != BOX_OFF;
	unsigned kin =
	    boxed ? reaches[method->reach].boxed : reaches[method->reach].free;

	if (method->reach == API_REACH_PERSON)
		return err_set(
		    err, -EPERM, "%s is refused to agents", method->name);
	if (!(kin & 1U << target->kin))
		return refuse_kin(method, worker, target, err);
	if (method->reach == API_REACH_NOTHING ||
	    method->reach == API_REACH_SHARED)
		return 0;
	if (target->box < box)
		return err_set(err, -EPERM,
		    "%s is refused: the sandbox of %s is less strict than that "
		    "of this session; a person can, in a terminal outside of "
		    "it",
		    method->name, target->name);
	if (boxed && target->waits)
		return err_set(err, -EPERM,
		    "%s is refused: %s waits for a person, whom a worker in a "
		    "sandbox does not answer for",
		    method->name, target->name);
	return 0;
}
