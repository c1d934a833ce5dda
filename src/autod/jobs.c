/* SPDX-License-Identifier: ISC */

/* What a person does with tasks: add one, try one again, drop one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "rpc.h"
#include "server.h"
#include "source.h"
#include "workspace.h"

/* NULL (and the call answered) when it cannot be had. */
static struct source *
open_source(struct daemon *d, struct server_call *call)
{
	struct err err = { 0 };
	struct source *source = supply_source(d->pilot, &err);

	if (source == NULL)
		server_fail(call, METHOD_FAILED, err.msg, NULL);
	return source;
}

/* Why the source did not: -ENOTSUP is no fault of the task's name. */
static void
answer_refused(struct server_call *call, int r, const struct err *err)
{
	server_fail(call, r == -ENOTSUP ? METHOD_FAILED : METHOD_UNKNOWN,
	    err->msg, NULL);
}

static void
answer(struct daemon *d, struct server_call *call, const char *task,
    const char *status)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "task", task);
	json_set_string(result, "status", status);
	daemon_reply(d, call, result);
}

void
jobs_add(struct daemon *d, struct server_call *call, struct json_object *params)
{
	struct source *source = open_source(d, call);
	cleanup_free char *key = NULL, *path = NULL;
	struct json_object *result;
	struct err err = { 0 };

	if (source == NULL)
		return;
	if (source_add(source, json_string_or(params, "text", ""), &key, &path,
		&err) < 0) {
		server_fail(call, METHOD_FAILED, err.msg, NULL);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "task", key);
	json_set_string(result, "path", path);
	d->pilot->hungry = true;
	pilot_look(d);
	daemon_reply(d, call, result);
}

/* --- retry ----------------------------------------------------------- */

struct search {
	const char *id;
	struct task *found;
};

static bool
is_it(struct json_object *record, void *arg)
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
find_filed(const struct daemon *d, const char *id)
{
	cleanup_free char *file = workspace_path(d->workspace, "tasks.jsonl");
	struct search search = { .id = id };

	jsonl_last(file, 0, is_it, &search, NULL);
	return search.found;
}

/* Does its source itself keep it, so that it can be tried again there? */
static bool
is_in_source(const struct task *t)
{
	enum source_type type;

	return source_type_parse(t->source, &type) &&
	    (source_type_flags(type) & SOURCE_EDITABLE) != 0;
}

/* A finished one is given a new number and begins anew; the folder's file, if
 * it is one of those, is ours again. */
static void
retry_filed(struct daemon *d, struct server_call *call, const struct task *old)
{
	cleanup_free char *id = NULL;
	struct task *t;

	if (old->outcome == OUTCOME_LANDED) {
		server_fail(call, METHOD_STATUS,
		    "it has landed; write a new task instead", NULL);
		return;
	}
	id = state_task_id(&d->state);
	t = task_new(
	    id, old->source, old->key, old->title, old->text, clock_wall_ms());
	xstrset(&t->label, old->label);
	t->priority = old->priority;
	task_take(t, clock_wall_ms());
	task_note(t, "tried again by a person; before it was", old->id,
	    clock_wall_ms());
	state_add_task(&d->state, t);
	daemon_changed(d);
	pilot_look(d);
	answer(d, call, id, "waiting");
}

void
jobs_retry(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "task", "");
	struct task *old = find_filed(d, name);
	struct source *source;
	struct err err = { 0 };
	int r;

	if (old != NULL && !is_in_source(old)) {
		retry_filed(d, call, old);
		task_free(old);
		return;
	}
	source = open_source(d, call);
	if (source != NULL) {
		r = source_retry(source, old != NULL ? old->key : name, &err);
		if (r < 0) {
			answer_refused(call, r, &err);
		} else {
			d->pilot->hungry = true;
			pilot_look(d);
			answer(d, call, old != NULL ? old->key : name, "todo");
		}
	}
	task_free(old);
}

/* --- drop ------------------------------------------------------------ */

static void
drop_open(struct daemon *d, struct server_call *call, struct task *t)
{
	struct agent *agent =
	    t->worker != NULL ? agent_find(d, t->worker) : NULL;
	cleanup_free char *id = xstrdup(t->id);

	if (t->step == TASK_LANDED || t->step == TASK_SETTLING) {
		server_fail(call, METHOD_STATUS, "it has landed already", NULL);
		return;
	}
	if (t->step == TASK_ASSIGNED && agent != NULL &&
	    pilot_task(agent) == t) {
		if (agent->operating || agent->phase == AGENT_ENDING) {
			server_fail(call, METHOD_BUSY,
			    "something is being done to its worker; try again "
			    "in a moment",
			    NULL);
			return;
		}
		pilot_clear_worker(agent);
	}
	settle_task(d, t, OUTCOME_ABORTED, "dropped by a person");
	answer(d, call, id, "aborted");
}

void
jobs_drop(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const char *name = json_string_or(params, "task", "");
	struct task *t = state_task(&d->state, name);
	struct source *source;
	struct err err = { 0 };
	int r;

	if (t == NULL && supply_source(d->pilot, &err) != NULL)
		t = state_task_by_key(
		    &d->state, source_kind(d->pilot->source), name);
	if (t != NULL) {
		drop_open(d, call, t);
		return;
	}
	source = open_source(d, call);
	if (source == NULL)
		return;
	r = source_drop(source, name, &err);
	if (r < 0)
		answer_refused(call, r, &err);
	else
		answer(d, call, name, "dropped");
}
