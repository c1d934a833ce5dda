/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "agent.h"
#include "auto.h"
#include "book-history.h"
#include "jsonl.h"
#include "outcome.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "persist.h"
#include "remove-tree.h"
#include "serve.h"
#include "worker-op.h"
#include "workspace.h"

#define EVIDENCE_MAX ((size_t)8 * 1024 * 1024)
#define TASKS_MAX    200 /* that there is evidence of */
#define CHECKS_MAX   50 /* of all workers that are looked at */

/* --- evidence -------------------------------------------------------- */

static bool
on_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	struct buf *text = arg;

	(void)task;
	(void)seq;
	json_print(record, false, text);
	buf_addc(text, '\n');
	return text->len < EVIDENCE_MAX;
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
    const char *user, const char *why)
{
	struct json_object *json = json_object_new_object();
	const struct agent *agent =
	    t->worker != NULL ? fleet_find(floor->fleet, t->worker) : NULL;

	json_set_string(json, "task", t->id);
	json_set_string(json, "title", t->title);
	json_set_string(json, "worker", t->worker);
	json_set_string(json, "actor", "a person");
	json_set_string(json, "user", user);
	json_set_string(json, "reason", why);
	json_set_int(json, "at_ms", clock_wall_ms());
	if (agent != NULL && auto_task(agent) == t)
		json_set_string(
		    json, "transcript", agent->worker->session.transcript);
	return json;
}

/* Its last checks in its worktree. */
struct checks {
	const char *task;
	struct buf text;
};

static bool
on_check(struct json_object *record, void *arg)
{
	struct checks *checks = arg;

	if (strcmp(json_string_or(record, "task", ""), checks->task) == 0) {
		buf_adds(&checks->text,
		    json_object_to_json_string_ext(
			record, JSON_C_TO_STRING_PLAIN));
		buf_addc(&checks->text, '\n');
	}
	return true;
}

/* What cannot be written is missing. */
static void
keep(const char *dir, const char *name, const struct buf *text)
{
	cleanup_free char *file = file_join(dir, name);
	struct err err = { 0 };

	if (text->len > 0 &&
	    file_replace(file, text->data, text->len, 0600, &err) < 0)
		log_debug("%s", err.msg);
}

static void
keep_evidence(const struct oversight_floor *floor, const char *task,
    struct json_object *json)
{
	const struct workspace *workspace = floor->core->workspace;
	cleanup_free char *name = xasprintf("aborted/%s", task);
	cleanup_free char *dir = workspace_path(workspace, name);
	cleanup_free char *file = file_join(dir, "abort.json");
	cleanup_free char *log = workspace_path(workspace, "logs/check.log");
	cleanup_buf struct buf turns = BUF_INIT;
	struct checks checks = { .task = task };
	struct err err = { 0 };

	if (file_mkdirs(dir, 0700, &err) < 0 ||
	    json_save(file, json, 0600, &err) < 0)
		log_debug("%s", err.msg);
	if (book_read_turns(floor->core->book, task, 0, on_turn, &turns, &err) <
	    0)
		log_debug("%s", err.msg);
	else
		keep(dir, "iterations.jsonl", &turns);
	buf_init(&checks.text);
	jsonl_last(log, CHECKS_MAX, on_check, &checks, NULL);
	keep(dir, "checks.jsonl", &checks.text);
	buf_release(&checks.text);
	prune(floor);
}

/* As outcome_drop(). The task may be gone on success. */
static int
abort_task(struct oversight_floor *floor, struct task *t, const char *user,
    const char *why, struct err *err)
{
	cleanup_json struct json_object *json = evidence(floor, t, user, why);
	cleanup_free char *id = xstrdup(t->id);
	cleanup_buf struct buf reason = BUF_INIT;
	int r;

	buf_adds(&reason, "aborted by a person");
	if (user != NULL)
		buf_addf(&reason, " (%s)", user);
	if (why != NULL)
		buf_addf(&reason, ": %s", why);
	buf_addf(&reason, "; the evidence is in .llmc/aborted/%s", id);
	r = outcome_drop(floor->mode, t, reason.data, err);
	if (r == 0)
		keep_evidence(floor, id, json);
	return r;
}

/* --- task.abort ------------------------------------------------------ */

/* The task knows that it is to be aborted; this is who waits for it. */
struct abort_wait {
	LIST_ENTRY(abort_wait) entry;
	struct server_call *call;
	char *task;
};

static void
wait_free(struct abort_wait *wait)
{
	LIST_REMOVE(wait, entry);
	free(wait->task);
	free(wait);
}

static void
refuse_unknown(const struct oversight_floor *floor, struct server_call *call,
    const char *name)
{
	struct task *filed;

	if (fleet_find(floor->fleet, name) != NULL) {
		serve_refuse(call, API_STATUS,
		    "%s has no task of auto mode; to free it, type: llmc reset "
		    "%s",
		    name, name);
		return;
	}
	filed = book_find_task(floor->core->book, name);
	if (filed != NULL)
		serve_refuse(call, API_STATUS, "%s has ended already: %s", name,
		    task_outcome_name(filed->outcome));
	else
		serve_refuse(call, API_UNKNOWN,
		    "%s is neither a worker nor a task that is in progress; "
		    "type: llmc task list; one that is not taken is "
		    "removed with: llmc task drop %s",
		    name, name);
	task_free(filed);
}

/* Answer those who wait for this task. err: NULL = it is aborted. */
static void
answer(struct oversight_floor *floor, const char *task, const struct err *err)
{
	struct abort_wait *wait, *next;
	struct json_object *result;

	for (wait = LIST_FIRST(&floor->aborts); wait != NULL; wait = next) {
		next = LIST_NEXT(wait, entry);
		if (strcmp(wait->task, task) != 0)
			continue;
		if (err != NULL) {
			serve_refuse(wait->call, API_STATUS,
			    "%s is not aborted: %s", task, err->msg);
		} else {
			result = json_object_new_object();
			json_set_string(result, "task", task);
			json_set_string(result, "status", "aborted");
			serve_reply(floor->core, wait->call, result);
		}
		wait_free(wait);
	}
}

static void
settle_one(struct oversight_floor *floor, struct task *t)
{
	cleanup_free char *id = xstrdup(t->id);
	cleanup_free char *why = xstrdup(t->abort_why);
	cleanup_free char *user =
	    t->abort_user != NULL ? xstrdup(t->abort_user) : NULL;
	struct err err = { 0 };
	int r = abort_task(floor, t, user, why[0] != '\0' ? why : NULL, &err);

	if (r == -EBUSY) {
		struct agent *agent = t->worker != NULL ?
		    fleet_find(floor->fleet, t->worker) :
		    NULL;

		/* What may last long is not waited for. */
		if (agent != NULL && auto_task(agent) == t &&
		    agent->op != NULL && agent->op->op.kind->yields &&
		    !agent->op->op.cancelled)
			operation_cancel(&agent->op->op, "its task is aborted");
		return;
	}
	t = state_task(&floor->core->state, id);
	if (t != NULL) {
		xstrset(&t->abort_why, NULL);
		xstrset(&t->abort_user, NULL);
		persist_changed(floor->core);
	}
	answer(floor, id, r < 0 ? &err : NULL);
}

void
oversight_abort_settle(struct oversight_floor *floor)
{
	const struct state *state = &floor->core->state;
	cleanup_strv char **ids = NULL;
	struct abort_wait *wait, *next;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->abort_why != NULL)
			strv_add(&ids, state->tasks[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		struct task *t = state_task(state, *id);

		if (t != NULL && t->abort_why != NULL)
			settle_one(floor, t);
	}
	for (wait = LIST_FIRST(&floor->aborts); wait != NULL; wait = next) {
		next = LIST_NEXT(wait, entry);
		if (state_task(state, wait->task) != NULL)
			continue;
		refuse_unknown(floor, wait->call, wait->task);
		wait_free(wait);
	}
}

static void
on_abort(void *arg, struct server_call *call, struct json_object *params)
{
	struct oversight_floor *floor = arg;
	const char *name = json_string_or(params, "task", "");
	const char *why = json_string_or(params, "reason", NULL);
	const char *user = json_string_or(params, "user", NULL);
	struct task *t;
	struct abort_wait *wait;
	const struct agent *agent = fleet_find(floor->fleet, name);

	/* By whatever names it, or that of a worker. */
	t = agent != NULL ? auto_task(agent) :
			    core_task_named(floor->core, name, NULL);
	if (t == NULL) {
		refuse_unknown(floor, call, name);
		return;
	}
	xstrset(&t->abort_why, why != NULL ? why : "");
	xstrset(&t->abort_user, user);
	persist_changed(floor->core);
	wait = xcalloc(1, sizeof *wait);
	wait->call = call;
	wait->task = xstrdup(t->id);
	LIST_INSERT_HEAD(&floor->aborts, wait, entry);
	oversight_abort_settle(floor);
}

void
oversight_abort_stop(struct oversight_floor *floor)
{
	struct abort_wait *wait;

	while ((wait = LIST_FIRST(&floor->aborts)) != NULL) {
		serve_refuse(wait->call, API_STATUS,
		    "%s is not aborted yet: the daemon is stopping; the next "
		    "one does it",
		    wait->task);
		wait_free(wait);
	}
}

void
oversight_abort_register(struct oversight_floor *floor)
{
	serve_handle(floor->core, "task.abort", on_abort, floor);
}
