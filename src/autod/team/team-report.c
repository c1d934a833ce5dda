/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "agent.h"
#include "agent-report.h"
#include "attempt.h"
#include "auto.h"
#include "book-history.h"
#include "emit.h"
#include "persist.h"
#include "serve.h"
#include "server.h"
#include "task.h"
#include "team-private.h"
#include "turn-policy.h"

/* The attempt that a call is about; NULL: the call was refused. */
static struct task_attempt *
attempt_of(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct agent **ret_agent,
    struct task **ret_task)
{
	*ret_task = NULL;
	*ret_agent = team_floor_speaker(floor, call, params, ret_task);
	if (*ret_agent == NULL)
		return NULL;
	if (*ret_task == NULL) {
		serve_refuse(call, API_FAILED,
		    "you have no task that a report could be about; say it in "
		    "your last message");
		return NULL;
	}
	return &(*ret_task)->attempt;
}

/* --- progress ---------------------------------------------------------- */

/* Is the caller to come later, or not at all? Then it has its answer. */
static bool
is_refused(
    const struct task_attempt *attempt, struct server_call *call, int64_t now)
{
	int64_t wait = 0;

	switch (progress_report_rate(
	    attempt->progress_count, attempt->progress_ms, now, &wait)) {
	case PROGRESS_TOO_SOON:
		serve_refuse(call, API_E_RATE,
		    "one report in %d seconds is kept, and the next one in %d; "
		    "go on with your work",
		    PROGRESS_EVERY_MS / 1000, (int)((wait + 999) / 1000));
		return true;
	case PROGRESS_USED_UP:
		serve_refuse(call, API_E_RATE,
		    "%d reports were kept, and no more are in this run; go on "
		    "with your work",
		    PROGRESS_COUNT_MAX);
		return true;
	case PROGRESS_ACCEPTED:
		break;
	}
	return false;
}

static void
answer_progress(const struct task_attempt *attempt, struct server_call *call)
{
	struct json_object *answer = json_object_new_object();

	json_set_bool(answer, "accepted", true);
	json_set_int(answer, "reportsLeft",
	    PROGRESS_COUNT_MAX - attempt->progress_count);
	server_reply(call, answer);
}

static void
on_progress(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "call", NULL);
	cleanup_json struct json_object *said = NULL;
	int64_t now = clock_wall_ms();
	struct err err = { 0 };
	struct agent *agent;
	struct task *task;
	struct task_attempt *attempt =
	    attempt_of(floor, call, params, &agent, &task);
	double percent;
	const char *phase;
	cleanup_free char *run = NULL;
	cleanup_free char *text = NULL;
	cleanup_buf struct buf data = BUF_INIT;

	if (attempt == NULL)
		return;
	agent->worker->activity_ms = now;
	/* The same call once more: its answer was lost with a daemon. */
	if (text_is(id, attempt->progress_call)) {
		answer_progress(attempt, call);
		return;
	}
	if (progress_report_from_args(params, &said, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	if (is_refused(attempt, call, now))
		return;
	json_object_put(attempt->progress);
	attempt->progress = progress_report_latest(said, now);
	attempt->progress_count++;
	attempt->progress_ms = now;
	xstrset(&attempt->progress_call, id);
	answer_progress(attempt, call);
	persist_changed(floor->core);
	/* The record of the run has the last one without its numbers, the event
	 * all of each. */
	percent = progress_report_percent(task->attempt.progress);
	phase = json_string_or(said, "phase", "");
	run = task_attempt_id(task);
	text = isnan(percent) ? xstrdup(phase) :
				xasprintf("%s (%.0f%%)", phase, percent);
	json_set_string(said, "runId", run);
	json_print(said, false, &data);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_PROGRESS,
		.worker = task->worker,
		.task = task->id,
		.text = text,
		.data = data.data });
}

/* --- the end ----------------------------------------------------------- */

static void
on_completion(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct json_object *said = NULL, *answer;
	struct err err = { 0 };
	struct agent *agent;
	struct task *task;
	struct task_attempt *attempt =
	    attempt_of(floor, call, params, &agent, &task);

	if (attempt == NULL)
		return;
	agent->worker->activity_ms = clock_wall_ms();
	if (completion_report_from_args(params, &said, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	turn_policy_reported(floor->mode, task, said, true);
	answer = json_object_new_object();
	json_set_bool(answer, "recorded", true);
	json_set_string(answer, "next",
	    "End your turn now. If you use another tool, report again "
	    "afterwards.");
	serve_reply(floor->core, call, answer);
}

/* The hooks of tools are only signs of life, and not saved at once; but that
 * another tool came after the report must not be forgotten. */
void
team_report_tool_used(void *arg, struct agent *agent, const char *tool)
{
	const struct team_floor *floor = arg;
	struct task_attempt *attempt = &auto_task(agent)->attempt;
	const char *name = completion_report_tool(tool);

	/* Only the call itself is a report: on_completion(). */
	if (strcmp(name, COMPLETION_TOOL) == 0)
		return;
	if (text_is(attempt->last_tool, name))
		return;
	if (text_is(attempt->last_tool, COMPLETION_TOOL))
		persist_changed(floor->core);
	else
		persist_note(floor->core);
	xstrset(&attempt->last_tool, name);
}

void
team_report_task_text(const struct task *task, struct buf *out)
{
	report_prompt(out,
	    task_is_spawned(task) || task->launch.report_only ||
		json_bool_or(
		    task->launch.contract, "requireCompletionReport", false),
	    task->launch.progress_reporting);
}

/* --- records of runs ---------------------------------------------------- */

static void
write_records(struct book *book, struct json_object *ended)
{
	struct err err = { 0 };

	json_object_object_foreach(ended, id, record)
	{
		if (book_file_attempt(book, record, &err) < 0)
			log_debug("%s is not recorded: %s", id, err.msg);
	}
}

/* Into the book, with the task that does not have them any more. */
void
team_report_files(void *arg, struct task *task)
{
	const struct team_floor *floor = arg;

	if (task->attempt.ended == NULL)
		return;
	write_records(floor->core->book, task->attempt.ended);
	json_object_put(take_ptr(&task->attempt.ended));
	if (task->step == TASK_SETTLING) {
		struct spent rest = perf_record_spent(task);
		cleanup_free char *last = task_attempt_id(task);

		book_charge_attempt(floor->core->book, last, &rest);
		task_attempt_spent(task);
	}
	persist_changed(floor->core);
}

void
team_report_file_all(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		team_report_files(floor, state->tasks[i]);
}

/* --- life --------------------------------------------------------------- */

void
team_report_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.report_progress", on_progress, floor);
	serve_handle(
	    floor->core, "team.report_completion", on_completion, floor);
}
