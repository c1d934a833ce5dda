/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "detection.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "outcome.h"
#include "oversight-abort.h"
#include "oversight-floor.h"
#include "remove-tree.h"
#include "serve.h"
#include "workspace.h"

#define EVIDENCE_MAX ((size_t)8 * 1024 * 1024)
#define TASKS_MAX    200 /* that there is evidence of */

/* --- evidence -------------------------------------------------------- */

static char *
folder(const struct oversight_floor *floor, const char *task)
{
	cleanup_free char *name = xasprintf("aborted/%s", task);

	return workspace_path(floor->core->workspace, name);
}

void
oversight_abort_keep_iterations(
    const struct oversight_floor *floor, const char *task)
{
	cleanup_free char *dir = folder(floor, task);
	cleanup_free char *copy = file_join(dir, "iterations.jsonl");
	cleanup_free char *name = xasprintf("iterations/%s.jsonl", task);
	cleanup_free char *file = workspace_path(floor->core->workspace, name);
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	if (!file_exists(file))
		return;
	if (file_read(file, EVIDENCE_MAX, &text, &err) < 0 ||
	    file_replace(copy, text.data, text.len, 0600, &err) < 0)
		log_debug("%s", err.msg);
}

static int
newest_first(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*b)->d_name, (*a)->d_name);
}

static void
prune(const struct oversight_floor *floor)
{
	cleanup_free char *dir =
	    workspace_path(floor->core->workspace, "aborted");
	struct dirent **list = NULL;
	int count = scandir(dir, &list, NULL, newest_first), kept = 0;

	for (int i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, list[i]->d_name);

		if (list[i]->d_name[0] != '.' && kept++ >= TASKS_MAX)
			remove_tree(path);
		free(list[i]);
	}
	free(list);
}

/* Before the worker forgets its session. */
static struct json_object *
evidence(const struct oversight_floor *floor, const struct task *t,
    const struct oversight_abort *how)
{
	struct json_object *json = json_object_new_object();
	const struct agent *agent =
	    t->worker != NULL ? fleet_find(floor->fleet, t->worker) : NULL;

	json_set_string(json, "task", t->id);
	json_set_string(json, "title", t->title);
	json_set_string(json, "worker", t->worker);
	json_set_string(json, "actor", how->actor);
	json_set_string(json, "reason", how->why);
	json_set_int(json, "at_ms", clock_wall_ms());
	if (agent != NULL && auto_task(agent) == t)
		json_set_string(
		    json, "transcript", agent->worker->session.transcript);
	json_set(json, "detection",
	    how->detection != NULL ? detection_to_json(how->detection) : NULL);
	return json;
}

/* What cannot be written is missing. */
static void
keep_evidence(const struct oversight_floor *floor, const char *task,
    struct json_object *json)
{
	cleanup_free char *dir = folder(floor, task);
	cleanup_free char *file = file_join(dir, "abort.json");
	struct err err = { 0 };

	if (file_mkdirs(dir, 0700, &err) < 0 ||
	    json_save(file, json, 0600, &err) < 0)
		log_debug("%s", err.msg);
	oversight_abort_keep_iterations(floor, task);
	prune(floor);
}

int
oversight_abort(struct oversight_floor *floor, struct task *t,
    const struct oversight_abort *how, struct err *err)
{
	cleanup_json struct json_object *json = evidence(floor, t, how);
	cleanup_free char *id = xstrdup(t->id);
	cleanup_free char *reason =
	    xasprintf("aborted by %s%s%s; the evidence is in .llmc/aborted/%s",
		how->actor, how->why != NULL ? ": " : "",
		how->why != NULL ? how->why : "", id);
	int r = outcome_drop(floor->mode, t, reason, err);

	if (r == 0)
		keep_evidence(floor, id, json);
	return r;
}

/* --- task.abort ------------------------------------------------------ */

/* By its id, or that of a worker. */
static struct task *
find_task(const struct oversight_floor *floor, const char *name)
{
	const struct agent *agent = fleet_find(floor->fleet, name);

	return agent != NULL ? auto_task(agent) :
			       state_task(&floor->core->state, name);
}

static void
on_abort(void *arg, struct server_call *call, struct json_object *params)
{
	struct oversight_floor *floor = arg;
	const char *name = json_string_or(params, "task", "");
	struct task *t = find_task(floor, name);
	struct oversight_abort how = { "a person",
		json_string_or(params, "reason", NULL), NULL };
	struct json_object *result;
	struct err err = { 0 };
	cleanup_free char *id = NULL;
	int r;

	if (t == NULL) {
		serve_refuse(call, API_UNKNOWN,
		    "%s is neither a worker with a task nor a task that is in "
		    "progress; type: llmc task list",
		    name);
		return;
	}
	id = xstrdup(t->id);
	r = oversight_abort(floor, t, &how, &err);
	if (r < 0) {
		serve_refuse(
		    call, r == -EBUSY ? API_BUSY : API_STATUS, "%s", err.msg);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "task", id);
	json_set_string(result, "status", "aborted");
	serve_reply(floor->core, call, result);
}

void
oversight_abort_register(struct oversight_floor *floor)
{
	serve_handle(floor->core, "task.abort", on_abort, floor);
}
