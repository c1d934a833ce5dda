/* SPDX-License-Identifier: ISC */

/* review.get: what a worker has changed, as it would land, or, of a worker that
 * has not finished, as it is now; and of a task that has landed, what did. It
 * changes nothing. */

#include "base.h"
#include "agent.h"
#include "book-history.h"
#include "git-candidate.h"
#include "git-facts.h"
#include "landing-private.h"
#include "rpc.h"
#include "serve.h"
#include "task.h"
#include "workspace.h"

#define AT_ONCE_MAX   16 /* the others are told to ask again */
#define CONTEXT_USUAL 3

struct review_get {
	TAILQ_ENTRY(review_get) entry;
	struct landings *landings;
	struct server_call *call;
	struct json_object *answer;
	char *dir, *file;
	int context;
};

static void
get_free(struct review_get *get)
{
	TAILQ_REMOVE(&get->landings->reviews, get, entry);
	get->landings->review_count--;
	json_object_put(get->answer);
	free(get->dir);
	free(get->file);
	free(get);
}

static void
get_fail(struct review_get *get, const struct err *err)
{
	serve_refuse(get->call, API_FAILED, "%s", err->msg);
	get_free(get);
}

static void
on_diff(struct json_object *answer, const struct err *err, void *arg)
{
	struct review_get *get = arg;

	if (err == NULL) {
		json_object_object_foreach(answer, key, value)
		    json_set(get->answer, key, json_object_get(value));
		serve_show(get->call, take_ptr(&get->answer));
		get_free(get);
	} else {
		get_fail(get, err);
	}
}

static void
ask_diff(struct review_get *get, const char *onto, const char *commit,
    const char *tree)
{
	const struct git_diff what = { .onto = onto,
		.commit = commit,
		.tree = tree,
		.file = get->file,
		.context = get->context };

	json_set_string(get->answer, "commit", commit);
	git_diff_read(get->landings->core->git, get->dir, &what, on_diff, get);
}

/* snapshot: NULL for finished work, of which only the commit counts. */
static void
on_looked(const struct git_facts *facts, const struct git_snapshot *snapshot,
    const struct err *err, void *arg)
{
	struct review_get *get = arg;
	bool finished = json_bool_or(get->answer, "finished", false);

	if (err != NULL || facts == NULL) {
		get_fail(get, err);
		return;
	}
	json_set_int(get->answer, "uncommitted_files",
	    facts->changed + facts->untracked);
	ask_diff(get, core_branch(get->landings->core), facts->head,
	    finished || snapshot == NULL ? NULL : snapshot->tree);
}

static void
get_worker(struct review_get *get, const struct worker *w)
{
	struct core *core = get->landings->core;
	bool finished = w->status == WORKER_NEEDS_REVIEW;
	const struct task *task = state_task(&core->state, w->task);
	cleanup_buf struct buf title = BUF_INIT;

	if (task != NULL)
		buf_adds(&title, task->title);
	else if (w->prompt != NULL)
		text_add_words(&title, w->prompt,
		    text_cut(
			w->prompt, strcspn(w->prompt, "\n"), TASK_TITLE_MAX));
	json_set_string(get->answer, "worker", w->name);
	json_set_string(get->answer, "task", w->task);
	json_set_string(get->answer, "title", title.data);
	json_set_string(get->answer, "status", worker_status_name(w->status));
	json_set_bool(get->answer, "finished", finished);
	json_set_string(get->answer, "branch", w->branch);
	get->dir = xstrdup(w->worktree);
	git_snapshot(core->git, get->dir, core_branch(core),
	    finished ? NULL : "", on_looked, get);
}

static void
get_landed(struct review_get *get, const struct task *task)
{
	cleanup_free char *before = xasprintf("%s^", task->commit);

	json_set_string(get->answer, "worker", NULL);
	json_set_string(get->answer, "task", task->id);
	json_set_string(get->answer, "title", task->title);
	json_set_string(get->answer, "status", "landed");
	json_set_bool(get->answer, "finished", true);
	json_set_string(get->answer, "branch", NULL);
	json_set_int(get->answer, "uncommitted_files", 0);
	get->dir = xstrdup(get->landings->core->workspace->root);
	ask_diff(get, before, task->commit, NULL);
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct landings *landings = arg;
	struct core *core = landings->core;
	const char *worker = json_string_or(params, "worker", NULL);
	const char *name = json_string_or(params, "task", NULL);
	const struct task *task = NULL;
	struct task *filed = NULL;
	struct agent *agent;
	struct review_get *get;

	if (worker == NULL && name == NULL) {
		serve_refuse(
		    call, RPC_INVALID_PARAMS, "name a worker or a task");
		return;
	}
	if (worker != NULL)
		name = NULL;
	if (name != NULL)
		task = state_task(&core->state, name);
	if (name != NULL && task == NULL)
		task = filed = book_find_task(core->book, name);
	if (task != NULL && task->commit == NULL)
		worker = task->worker;
	agent = fleet_find(landings->fleet, worker);
	if (name != NULL && task == NULL)
		serve_refuse(call, API_UNKNOWN,
		    "there is no task %s; see: llmc task list", name);
	else if (name == NULL && agent == NULL)
		fleet_refuse_unknown(landings->fleet, call, worker);
	else if (agent == NULL && task->commit == NULL)
		serve_refuse(call, API_STATUS,
		    "no worker has task %s, and it has not landed", task->id);
	else if (agent != NULL && agent->worker->worktree == NULL)
		serve_refuse(call, API_STATUS, "%s has no worktree", worker);
	else if (landings->review_count >= AT_ONCE_MAX)
		serve_refuse(call, API_BUSY,
		    "%d others look at changes just now; try again in a "
		    "moment",
		    AT_ONCE_MAX);
	else {
		get = xcalloc(1, sizeof *get);
		get->landings = landings;
		get->call = call;
		get->answer = json_object_new_object();
		xstrset(&get->file, json_string_or(params, "file", NULL));
		get->context =
		    (int)json_int_or(params, "context", CONTEXT_USUAL);
		json_set_string(
		    get->answer, "landing_branch", core_branch(core));
		TAILQ_INSERT_TAIL(&landings->reviews, get, entry);
		landings->review_count++;
		if (agent != NULL)
			get_worker(get, agent->worker);
		else
			get_landed(get, task);
	}
	task_free(filed);
}

void
review_get_register(struct landings *landings)
{
	TAILQ_INIT(&landings->reviews);
	serve_handle(landings->core, "review.get", on_get, landings);
}

void
review_get_release(struct landings *landings)
{
	struct review_get *get;

	while ((get = TAILQ_FIRST(&landings->reviews)) != NULL) {
		serve_refuse(get->call, API_BUSY, "the daemon is stopping");
		get_free(get);
	}
}
