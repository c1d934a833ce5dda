/* SPDX-License-Identifier: ISC */

/* What a person does with tasks: add one, try one again, drop one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "rpc.h"
#include "server.h"
#include "settings.h"
#include "source.h"
#include "workspace.h"

/* The folder of the folder source, NULL (and the call answered) when another
 * one is in use. */
static char *
folder(struct daemon *d, struct server_call *call)
{
	struct err err = { 0 };
	struct source *source = supply_source(d->pilot, &err);
	const char *kind = source != NULL ? source_kind(source) : "";

	if (source == NULL) {
		server_fail(call, METHOD_FAILED, err.msg, NULL);
		return NULL;
	}
	if (strcmp(kind, "folder") == 0)
		return workspace_resolve(d->workspace,
		    settings_string(d->settings, "auto.tasks_dir"));
	server_fail(call, METHOD_FAILED,
	    strcmp(kind, "command") == 0 ?
		"tasks come from auto.task_pool_command; add them there" :
		"tasks come from the files of auto.task_list; add them there",
	    NULL);
	return NULL;
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
	cleanup_free char *where = folder(d, call);
	cleanup_free char *key = NULL, *todo = NULL, *path = NULL;
	struct json_object *result;
	struct err err = { 0 };

	if (where == NULL)
		return;
	if (source_folder_add(
		where, json_string_or(params, "text", ""), &key, &err) < 0) {
		server_fail(call, METHOD_FAILED, err.msg, NULL);
		return;
	}
	todo = file_join(where, "todo");
	path = file_join(todo, key);
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
	t->step = TASK_WAITING;
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
	cleanup_free char *where = NULL;
	struct err err = { 0 };
	int r;

	if (old != NULL && strcmp(old->source, "folder") != 0) {
		retry_filed(d, call, old);
		task_free(old);
		return;
	}
	where = folder(d, call);
	if (where != NULL) {
		r = source_folder_retry(
		    where, old != NULL ? old->key : name, &err);
		if (r < 0) {
			server_fail(call, METHOD_UNKNOWN, err.msg, NULL);
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
	cleanup_free char *where = NULL;
	struct err err = { 0 };

	if (t == NULL && supply_source(d->pilot, &err) != NULL)
		t = state_task_by_key(
		    &d->state, source_kind(d->pilot->source), name);
	if (t != NULL) {
		drop_open(d, call, t);
		return;
	}
	where = folder(d, call);
	if (where == NULL)
		return;
	if (source_folder_drop(where, name, &err) < 0)
		server_fail(call, METHOD_UNKNOWN, err.msg, NULL);
	else
		answer(d, call, name, "dropped");
}
