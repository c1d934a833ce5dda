/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "event.h"
#include "json.h"
#include "mem.h"

/* The name of a field in the log and in auto.log. Some differ, because the
 * names in auto.log are older and must not change. */
static const struct field {
	const char *name, *file_name;
	size_t offset;
	bool number;
} fields[] = {
	{ "worker", "worker_name", offsetof(struct event, worker), false },
	{ "task", "task", offsetof(struct event, task), false },
	{ "reason", "reason", offsetof(struct event, reason), false },
	{ "from", "from_state", offsetof(struct event, from), false },
	{ "to", "to_state", offsetof(struct event, to), false },
	{ "session", "session", offsetof(struct event, session), false },
	{ "receipt", "receipt", offsetof(struct event, receipt), false },
	{ "resume", "resume", offsetof(struct event, resume), false },
	{ "status", "status", offsetof(struct event, status), false },
	{ "text", "text", offsetof(struct event, text), false },
	{ "error", "error", offsetof(struct event, error), false },
	{ "class", "class", offsetof(struct event, class), false },
	{ "commit", "commit_sha", offsetof(struct event, commit), false },
	{ "branch", "branch", offsetof(struct event, branch), false },
	{ "title", "task_excerpt", offsetof(struct event, title), false },
	{ "outcome", "outcome", offsetof(struct event, outcome), false },
	{ "result", "result", offsetof(struct event, result), false },
	{ "action", "action", offsetof(struct event, action), false },
	{ "scope", "scope", offsetof(struct event, scope), false },
	{ "ref", "ref", offsetof(struct event, ref), false },
	{ "path", "path", offsetof(struct event, path), false },
	{ "key", "key", offsetof(struct event, key), false },
	{ "instance", "instance_id", offsetof(struct event, instance), false },
	{ "attempt", "attempt", offsetof(struct event, attempt), true },
	{ "until", "until_unix", offsetof(struct event, until_unix), true },
	{ "exit_code", "exit_code", offsetof(struct event, exit_code), true },
	{ "duration_ms", "duration_ms", offsetof(struct event, duration_ms),
	    true },
	{ "concurrency", "concurrency", offsetof(struct event, concurrency),
	    true },
	{ "count", "count", offsetof(struct event, count), true },
	{ "done", "done", offsetof(struct event, done), true },
	{ "failed", "failed", offsetof(struct event, failed), true },
};

#define INFO  LOG_LEVEL_INFO
#define WARN  LOG_LEVEL_WARN
#define ERROR LOG_LEVEL_ERROR
#define DEBUG LOG_LEVEL_DEBUG

/* The overseer acts on WARN and ERROR: use them only if a repair could help.
 * Everything else is INFO. */
static const struct event_row rows[EVENT_KIND_COUNT] = {
	[EVENT_DAEMON_OWNS] = { .level = INFO,
	    .text = "autod {text} is running for {path}",
	    .fields = "text path" },
	[EVENT_DAEMON_ENDS] = { .level = INFO,
	    .text = "autod ends with status {status}",
	    .fields = "status" },
	[EVENT_DAEMON_RESUMES] = { .level = INFO,
	    .text =
		"the last daemon did not shut down cleanly; continuing from "
		"its last written state" },
	[EVENT_DAEMON_STOPPING] = { .level = INFO,
	    .text = "stopping: {reason}",
	    .fields = "reason" },
	[EVENT_SETTINGS_READ] = { .level = INFO,
	    .text = "settings read again" },
	[EVENT_SETTINGS_WRONG] = { .level = WARN,
	    .text = "the new settings are wrong, the old ones stay in effect: "
		    "{reason}",
	    .fields = "reason" },
	[EVENT_STATE_RECOVERED] = { .level = WARN,
	    .text = "state.json was damaged, its backup is used: {reason}",
	    .fields = "reason" },
	[EVENT_STATE_LACKS_WORKERS] = { .level = WARN,
	    .text = "{count} of the auto workers are missing in state.json; "
		    "they are created again",
	    .fields = "count" },
	[EVENT_STATE_FOREIGN] = { .level = INFO,
	    .text = "another program changed state.json; it is written back" },
	[EVENT_STATE_FOREIGN_LACKS] = { .level = WARN,
	    .text = "another program changed state.json, which {reason}; it is "
		    "written back",
	    .fields = "reason" },
	[EVENT_STATE_UNWRITTEN] = { .level = ERROR,
	    .text = "the state cannot be written, everything waits until it "
		    "can: {reason}",
	    .fields = "reason" },
	[EVENT_FAILURE] = { .name = "failure",
	    .level = ERROR,
	    .text = "{reason}",
	    .words = "hard failure {class}[, worker {worker_name}]"
		     "[, task {task}][: {reason}]",
	    .colour = "1;31",
	    .fields = "class worker task reason" },

	[EVENT_WORKER_MOVED] = { .name = "worker_state_transition",
	    .level = INFO,
	    .text = "worker changes",
	    .words = "{worker_name}: {from_state} -> {to_state}[: {reason}]",
	    .colour = "90",
	    .fields = "worker from to reason" },
	[EVENT_WORKER_LOST] = { .level = DEBUG,
	    .text = "{worker} loses its task: {reason}",
	    .fields = "worker reason" },
	[EVENT_ATTEMPT_FAILED] = { .level = DEBUG,
	    .text = "the attempt of {worker} at its task failed: {reason}",
	    .fields = "worker reason" },
	[EVENT_WORKER_GONE] = { .level = DEBUG,
	    .text = "{worker} is removed",
	    .fields = "worker" },
	[EVENT_WORKER_PARKED] = { .level = WARN,
	    .text = "a worker waits for a person",
	    .fields = "worker reason" },
	[EVENT_MOVE_REFUSED] = { .level = ERROR,
	    .text = "{worker}: {reason}",
	    .fields = "worker reason" },
	[EVENT_WORK_FINISHED] = { .level = DEBUG,
	    .text = "{worker} has finished",
	    .fields = "worker" },
	[EVENT_WORK_FOUND] = { .level = INFO,
	    .text = "work found on an idle worker",
	    .fields = "worker" },
	[EVENT_WORK_LANDED_ELSEWHERE] = { .level = INFO,
	    .text = "its work is on the default branch already",
	    .fields = "worker" },
	[EVENT_WORK_SALVAGED] = { .level = INFO,
	    .text = "work salvaged",
	    .fields = "worker ref" },
	[EVENT_WORKTREE_GONE] = { .level = INFO,
	    .text = "its worktree is gone and is created again",
	    .fields = "worker" },
	[EVENT_WORKTREE_BROKEN] = { .level = INFO,
	    .text = "its worktree is broken and is moved aside",
	    .fields = "worker path" },
	[EVENT_LOCKS_REMOVED] = { .level = INFO,
	    .text = "git lock files that its git left behind are removed",
	    .fields = "worker reason" },
	[EVENT_SETUP_FAILED] = { .level = ERROR,
	    .text = "{worker}: {reason}",
	    .fields = "worker reason" },
	[EVENT_LEFTOVERS_STAY] = { .level = WARN,
	    .text = "{worker}: its uncommitted changes cannot be committed: "
		    "{reason}",
	    .fields = "worker reason" },
	[EVENT_GIT_FAILED] = { .level = WARN,
	    .text = "{worker}: git: {reason}",
	    .fields = "worker reason" },

	[EVENT_LAUNCHING] = { .level = INFO,
	    .text = "launching",
	    .fields = "worker session resume" },
	[EVENT_LAUNCH_RETRIED] = { .level = INFO,
	    .text = "{worker}: no session, will try again: {reason}",
	    .fields = "worker reason" },
	[EVENT_LAUNCH_FAILED] = { .level = ERROR,
	    .text = "{worker}: the session cannot be started: {reason}",
	    .fields = "worker reason" },
	[EVENT_ADOPTED] = { .level = INFO,
	    .text = "running session adopted",
	    .fields = "worker" },
	[EVENT_PROMPT_SUBMITTED] = { .level = INFO,
	    .text = "prompt submitted",
	    .fields = "worker receipt" },
	[EVENT_PROMPT_NOT_TAKEN] = { .level = INFO,
	    .text = "{worker}: {reason}",
	    .fields = "worker reason" },
	[EVENT_AGENT_EXITED] = { .level = INFO,
	    .text = "the agent exited on its own",
	    .fields = "worker status" },
	[EVENT_AGENT_CRASHES] = { .level = ERROR,
	    .text = "{worker}: {reason}",
	    .fields = "worker reason" },
	[EVENT_RESUME_IMPOSSIBLE] = { .level = INFO,
	    .text = "its conversation cannot be resumed",
	    .fields = "worker session" },
	[EVENT_START_UNREPORTED] = { .level = INFO,
	    .text = "the start of its session was not reported: a new "
		    "session is started",
	    .fields = "worker" },
	[EVENT_AGENT_HUNG] = { .level = INFO,
	    .text = "no sign of life: the session is restarted",
	    .fields = "worker" },
	[EVENT_SESSION_GONE] = { .level = INFO,
	    .text = "its tmux session is gone and is started again",
	    .fields = "worker" },
	[EVENT_SESSION_ORPHAN] = { .level = INFO,
	    .text = "session without a worker ended",
	    .fields = "session" },

	[EVENT_SENT_BACK] = { .name = "sent_back",
	    .level = INFO,
	    .text = "sent back at the end of its turn",
	    .words = "{worker_name} is sent back[ to {task}][: {reason}]",
	    .colour = "33",
	    .fields = "worker task reason" },
	[EVENT_TURN_FAILED] = { .level = INFO,
	    .text = "a turn failed",
	    .fields = "worker error class text" },
	[EVENT_WAITING] = { .name = "waiting",
	    .level = INFO,
	    .text = "waiting",
	    .words = "[{worker_name} is ]waiting[ until {until_unix:time}]"
		     "[: {reason}]",
	    .colour = "33",
	    .fields = "worker reason until" },
	[EVENT_LIMIT_OVER] = { .level = INFO,
	    .text = "the limit is over",
	    .fields = "worker" },
	[EVENT_STALL] = { .name = "stall",
	    .level = INFO,
	    .text = "no sign of life",
	    .words = "{worker_name} shows no sign of life[ in {task}]"
		     "[: {action}]",
	    .colour = "33",
	    .fields = "worker task action" },
	[EVENT_STALL_GIVEN_UP] = { .level = WARN,
	    .text = "no sign of life, although it was interrupted and "
		    "restarted: the attempt is given up",
	    .fields = "worker task" },
	[EVENT_BUDGET] = { .name = "budget",
	    .level = INFO,
	    .text = "paused at its budget",
	    .words = "the budget of the {scope} is reached[ by {worker_name}]"
		     "[: {reason}]",
	    .colour = "1;35",
	    .fields = "scope worker task reason" },
	[EVENT_FLEET_PAUSED] = { .level = INFO,
	    .text = "all workers pause: {reason}",
	    .fields = "reason" },
	[EVENT_FLEET_RESUMED] = { .level = INFO,
	    .text = "a new day: work continues" },

	[EVENT_LANDING_ENDED] = { .level = DEBUG,
	    .text = "a landing of {worker} has ended",
	    .fields = "worker" },
	[EVENT_LANDING_QUEUED] = { .name = "landing_queued",
	    .level = INFO,
	    .text = "waits to land",
	    .words = "[{task} ][at {commit_sha:sha} ]waits to land"
		     "[ on {branch}][: {task_excerpt}]",
	    .colour = "90",
	    .fields = "worker task branch commit title" },
	[EVENT_LANDINGS_BUILT] = { .name = "landings_built",
	    .level = INFO,
	    .text = "{count} landings on {branch} are built, and wait",
	    .words = "{count} built on top of {branch}, waiting to land",
	    .colour = "90",
	    .fields = "branch count" },
	[EVENT_LANDED] = { .name = "accept_success",
	    .level = INFO,
	    .text = "landed",
	    .words = "the work of {worker_name}[ on {task}] has landed"
		     "[ on {branch}][ as {commit_sha:sha}]",
	    .colour = "32",
	    .fields = "worker task branch commit" },
	[EVENT_REVERTED] = { .name = "reverted",
	    .level = INFO,
	    .text = "reverted",
	    .words = "{ref:sha} is taken back[ on {branch}]"
		     "[ by {commit_sha:sha}]",
	    .colour = "33",
	    .fields = "branch commit ref reason" },
	[EVENT_NOT_LANDED] = { .name = "accept_failure",
	    .level = INFO,
	    .text = "not landed",
	    .words = "the work of {worker_name}[ on {task}]"
		     "[ at {commit_sha:sha}] has not landed[ on {branch}]"
		     "[: {error}]",
	    .colour = "31",
	    .fields = "worker task branch commit error" },
	[EVENT_LANDING_WAITS] = { .name = "landing_waits",
	    .level = INFO,
	    .text = "landings on {branch} wait: {reason}",
	    .words = "landings[ on {branch}] wait[: {reason}]",
	    .colour = "33",
	    .fields = "branch reason" },
	[EVENT_BRANCH_CHOSEN] = { .name = "branch_chosen",
	    .level = INFO,
	    .text = "work lands on {branch} from now on; "
		    "repo.default_branch was not set",
	    .words = "work lands on {branch} from now on",
	    .fields = "branch" },
	[EVENT_BRANCH_WRONG] = { .name = "branch_wrong",
	    .level = WARN,
	    .text = "{reason}",
	    .words = "{reason}",
	    .fields = "branch reason" },
	[EVENT_BRANCH_MOVED] = { .level = DEBUG,
	    .text = "{branch} moves",
	    .fields = "branch from to" },
	[EVENT_BRANCH_RED] = { .name = "branch_red",
	    .level = WARN,
	    .text = "{branch} fails its own check",
	    .words = "{branch} fails its own check[ at {commit_sha:sha}]",
	    .colour = "1;31",
	    .fields = "branch commit reason" },
	[EVENT_CHECK_BEGINS] = { .name = "check_begins",
	    .level = INFO,
	    .text = "a check of {text} begins",
	    .words = "a check of {text} begins",
	    .colour = "90",
	    .fields = "text ref" },
	[EVENT_CHECKED] = { .name = "check",
	    .level = INFO,
	    .text = "check {result}",
	    .words = "check {result}[: {reason}][ after {duration_ms:ms}]",
	    .colour = "90",
	    .fields = "result ref reason duration_ms" },
	[EVENT_CHECK_FLAKY] = { .name = "check_flaky",
	    .level = WARN,
	    .text = "check_command contradicts itself on {count} % of the "
		    "trees",
	    .words = "check_command contradicts itself on {count} % of the "
		     "trees",
	    .colour = "33",
	    .fields = "count" },
	[EVENT_PUSHED] = { .name = "pushed",
	    .level = INFO,
	    .text = "pushed",
	    .words = "{branch} is pushed[ at {commit_sha:sha}]",
	    .colour = "32",
	    .fields = "branch commit" },
	[EVENT_PUSH_FAILED] = { .name = "push_failed",
	    .level = WARN,
	    .text = "push of {branch}: {reason}",
	    .words = "the push of {branch}[ at {commit_sha:sha}] fails and is "
		     "tried again[: {reason}]",
	    .colour = "33",
	    .fields = "branch commit reason" },
	[EVENT_CLEANUP_FAILED] = { .level = WARN,
	    .text = "{worker}: landed on {branch}, but its worktree "
		    "cannot be reset: {reason}",
	    .fields = "worker branch commit reason" },

	[EVENT_AUTO_BEGINS] = { .name = "daemon_startup",
	    .level = INFO,
	    .text = "auto mode: {concurrency} at a time, tasks from the {text} "
		    "source",
	    .words = "auto mode begins[ with {concurrency} at a time]",
	    .colour = "1",
	    .fields = "instance concurrency text" },
	[EVENT_AUTO_ENDS] = { .name = "daemon_shutdown",
	    .level = INFO,
	    .text = "auto mode ends: {reason}",
	    .words = "auto mode ends[: {reason}]",
	    .colour = "1",
	    .fields = "instance reason" },
	[EVENT_TASK_ASSIGNED] = { .name = "task_assigned",
	    .level = INFO,
	    .text = "task assigned",
	    .words = "{worker_name} gets {task}[, attempt {attempt}]"
		     "[: {task_excerpt}]",
	    .colour = "36",
	    .fields = "worker task title attempt" },
	[EVENT_TASK_COMPLETED] = { .name = "task_completed",
	    .level = INFO,
	    .text = "work on a task ended",
	    .words = "{worker_name} has ended its work on {task}[: {result}]",
	    .fields = "worker task result" },
	[EVENT_TASK_RETRY] = { .name = "task_retry",
	    .level = INFO,
	    .text = "attempt failed",
	    .words = "{task} will be tried again[ after attempt {attempt}][: "
		     "{reason}]",
	    .colour = "33",
	    .fields = "worker task reason attempt" },
	[EVENT_TASK_FINISHED] = { .name = "task_finished",
	    .level = INFO,
	    .text = "task finished",
	    .words = "{task} is finished: {outcome}[ ({reason})]",
	    .colour = "1",
	    .fields = "task outcome worker title commit reason" },
	[EVENT_TASK_ORPHANED] = { .level = INFO,
	    .text = "no worker has it: it waits again",
	    .fields = "task" },
	[EVENT_TASK_TAKEN_ELSEWHERE] = { .level = INFO,
	    .text = "another program took the task",
	    .fields = "task key" },
	[EVENT_TASK_NOT_TAKEN] = { .level = INFO,
	    .text = "a task cannot be taken yet",
	    .fields = "task reason" },
	[EVENT_TASK_NOT_TOLD] = { .level = INFO,
	    .text = "{task}: its outcome cannot be reported to its source yet: "
		    "{reason}",
	    .fields = "task reason" },
	[EVENT_TASKS_GIVEN_BACK] = { .level = INFO,
	    .text = "tasks given back before anybody worked on them: {count}",
	    .fields = "count" },
	[EVENT_TASKS_EXHAUSTED] = { .level = INFO,
	    .text = "no task is left; {done} done, {failed} failed{text}",
	    .fields = "done failed text" },
	[EVENT_QUARANTINE] = { .name = "quarantine",
	    .level = INFO,
	    .text = "tasks that cannot be used: {reason}",
	    .words = "a task cannot be used[: {reason}]",
	    .colour = "33",
	    .fields = "reason" },
	[EVENT_POST_ACCEPT] = { .name = "post_accept",
	    .level = INFO,
	    .text = "post_accept_command ended",
	    .words = "post_accept_command[ for {task}][ at {commit_sha:sha}] "
		     "ended with status {exit_code}[ in {duration_ms:ms}]",
	    .fields = "task commit exit_code duration_ms" },
	[EVENT_POST_ACCEPT_FAILED] = { .level = INFO,
	    .text = "{reason}",
	    .fields = "reason" },
};

const struct event_row *
event_row(enum event_kind kind)
{
	return &rows[kind];
}

const struct event_row *
event_row_named(const char *name)
{
	for (size_t i = 0; i < nitems(rows); i++)
		if (rows[i].name != NULL && strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static const struct field *
find_field(const char *name, size_t len)
{
	for (size_t i = 0; i < nitems(fields); i++)
		if (strlen(fields[i].name) == len &&
		    memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

/* The value as text, in `number` if it is a number; NULL = not given. */
static const char *
value_of(const struct event *event, const struct field *field, char number[24])
{
	const char *at = (const char *)event + field->offset;

	if (!field->number)
		return *(const char *const *)(const void *)at;
	snprintf(
	    number, 24, "%lld", (long long)*(const int64_t *)(const void *)at);
	return number;
}

void
event_text(const struct event *event, struct buf *out)
{
	const char *text = rows[event->kind].text, *value;
	const struct field *field;
	char number[24];
	size_t len;

	for (; *text != '\0'; text += len) {
		if (*text != '{') {
			len = strcspn(text, "{");
			buf_add(out, text, len);
			continue;
		}
		len = strcspn(text, "}") + 1;
		field = find_field(text + 1, len - 2);
		value = field != NULL ? value_of(event, field, number) : NULL;
		buf_adds(out, value != NULL ? value : "");
	}
}

static bool
is_in_text(const char *text, const struct field *field)
{
	cleanup_free char *mark = xasprintf("{%s}", field->name);

	return strstr(text, mark) != NULL;
}

/* The first field of the list; advances the list. */
static const struct field *
next_field(const char **list)
{
	const struct field *field;
	size_t len;

	if (*list == NULL || **list == '\0')
		return NULL;
	len = strcspn(*list, " ");
	field = find_field(*list, len);
	*list += len + strspn(*list + len, " ");
	return field;
}

void
event_fields(const struct event *event, event_field_fn *fn, void *arg)
{
	const struct event_row *row = &rows[event->kind];
	const char *list = row->fields, *value;
	const struct field *field;
	char number[24];

	while ((field = next_field(&list)) != NULL) {
		value = value_of(event, field, number);
		if (value != NULL && !is_in_text(row->text, field))
			fn(field->name, value, arg);
	}
}

struct json_object *
event_record(const struct event *event, const char *timestamp)
{
	const struct event_row *row = &rows[event->kind];
	const char *list = row->fields, *value;
	struct json_object *record, *json;
	const struct field *field;
	char number[24];

	if (row->name == NULL)
		return NULL;
	record = json_object_new_object();
	json = json_object_new_object();
	json_set_string(record, "timestamp", timestamp);
	json_set_string(record, "level", log_level_name(row->level));
	json_set_string(json, "type", row->name);
	while ((field = next_field(&list)) != NULL) {
		value = value_of(event, field, number);
		if (value != NULL)
			json_set_string(json, field->file_name, value);
	}
	json_set(record, "event", json);
	return record;
}
