/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "errtext.h"
#include "fleet.h"
#include "intake.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "scheduler.h"
#include "serve.h"
#include "source.h"
#include "task-commands.h"
#include "task-json.h"
#include "workspace.h"

/* NULL if it cannot be opened; the call is answered then. */
static struct source *
open_source(struct auto_mode *mode, struct server_call *call)
{
	struct err err = { 0 };
	struct source *source = intake_source(mode, &err);

	if (source == NULL)
		serve_refuse(call, API_FAILED, "%s", err.msg);
	return source;
}

/* Answer with the source's error: -ENOTSUP is not about the task's name. */
static void
refuse(struct server_call *call, const struct err *err)
{
	serve_refuse(call, err->code == -ENOTSUP ? API_FAILED : API_UNKNOWN,
	    "%s", err->msg);
}

static void
answer(struct auto_mode *mode, struct server_call *call, const char *task,
    const char *status)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "task", task);
	json_set_string(result, "status", status);
	serve_reply(mode->core, call, result);
}

/* --- add ------------------------------------------------------------- */

static void
on_add(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	struct source *source = open_source(mode, call);
	cleanup_free char *key = NULL, *path = NULL;
	struct json_object *result;
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_add(source, json_string_or(params, "text", ""), &key, &path,
		&err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "task", key);
	json_set_string(result, "path", path);
	intake_changed(mode);
	serve_reply(mode->core, call, result);
}

/* --- retry ----------------------------------------------------------- */

struct search {
	const char *id;
	struct task *found;
};

static bool
on_record(struct json_object *record, void *arg)
{
	struct search *search = arg;
	struct task *t = NULL;

	if (strcmp(json_string_or(record, "id", ""), search->id) != 0 ||
	    task_from_json(record, "", &t, NULL) < 0)
		return true;
	task_free(search->found); /* the newest record counts */
	search->found = t;
	return true;
}

static struct task *
find_filed(const struct core *core, const char *id)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "tasks.jsonl");
	struct search search = { .id = id };

	jsonl_last(file, 0, on_record, &search, NULL);
	return search.found;
}

/* Can it be tried again in its source? */
static bool
is_in_source(const struct task *t)
{
	enum source_type type;

	return source_type_parse(t->source, &type) &&
	    (source_type_flags(type) & SOURCE_EDITABLE) != 0;
}

/* A finished task gets a new id and starts over. */
static void
retry_filed(
    struct auto_mode *mode, struct server_call *call, const struct task *old)
{
	struct state *state = &mode->core->state;
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct task *t;

	if (old->outcome == OUTCOME_LANDED) {
		serve_refuse(call, API_STATUS,
		    "it has landed; write a new task instead");
		return;
	}
	id = state_task_id(state);
	t = task_new(id, old->source, old->key, old->title, old->text, now);
	xstrset(&t->label, old->label);
	t->priority = old->priority;
	task_take(t, now);
	task_note(t, "retried by a person; it was", old->id, now);
	state_add_task(state, t);
	persist_changed(mode->core);
	scheduler_look(mode);
	answer(mode, call, id, "waiting");
}

static void
retry_in_source(
    struct auto_mode *mode, struct server_call *call, const char *key)
{
	struct source *source = open_source(mode, call);
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_retry(source, key, &err) < 0) {
		refuse(call, &err);
		return;
	}
	intake_changed(mode);
	answer(mode, call, key, "todo");
}

static void
on_retry(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const char *name = json_string_or(params, "task", "");
	struct task *old = find_filed(mode->core, name);

	if (old != NULL && !is_in_source(old))
		retry_filed(mode, call, old);
	else
		retry_in_source(mode, call, old != NULL ? old->key : name);
	task_free(old);
}

/* --- drop ------------------------------------------------------------ */

static void
drop_ours(struct auto_mode *mode, struct server_call *call, struct task *t)
{
	struct agent *agent =
	    t->worker != NULL ? fleet_find(mode->fleet, t->worker) : NULL;
	cleanup_free char *id = xstrdup(t->id);

	if (t->step == TASK_LANDED || t->step == TASK_SETTLING) {
		serve_refuse(call, API_STATUS, "it has landed already");
		return;
	}
	if (t->step == TASK_ASSIGNED && agent != NULL &&
	    auto_task(agent) == t) {
		if (agent_is_taken(agent)) {
			serve_refuse(call, API_BUSY,
			    "another operation on its worker is in progress; "
			    "try again in a moment");
			return;
		}
		outcome_clear_worker(agent);
	}
	outcome_settle(mode, t, OUTCOME_ABORTED, "dropped by a person");
	answer(mode, call, id, "aborted");
}

static void
drop_in_source(
    struct auto_mode *mode, struct server_call *call, const char *key)
{
	struct source *source = open_source(mode, call);
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_drop(source, key, &err) < 0)
		refuse(call, &err);
	else
		answer(mode, call, key, "dropped");
}

static void
on_drop(void *arg, struct server_call *call, struct json_object *params)
{
	struct auto_mode *mode = arg;
	const struct state *state = &mode->core->state;
	const char *name = json_string_or(params, "task", "");
	struct task *t = state_task(state, name);

	if (t == NULL && intake_source(mode, NULL) != NULL)
		t = state_task_by_key(state, source_kind(mode->source), name);
	if (t != NULL)
		drop_ours(mode, call, t);
	else
		drop_in_source(mode, call, name);
}

void
task_commands_register(struct auto_mode *mode)
{
	serve_handle(mode->core, "task.add", on_add, mode);
	serve_handle(mode->core, "task.retry", on_retry, mode);
	serve_handle(mode->core, "task.drop", on_drop, mode);
}
