/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api-store.h"
#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "plan-book.h"
#include "plan-floor.h"
#include "rpc.h"
#include "serve.h"
#include "sibling.h"
#include "store-jobs.h"
#include "workspace.h"

#define REPORT_MAX RPC_LINE_MAX

struct kind {
	const char *method, *name;
	bool replaces; /* the plans */
};

static const struct kind kinds[] = {
	{ "overseer.store.check", "check", false },
	{ "overseer.store.export", "export", false },
	{ "overseer.store.import", "import", true },
	{ "overseer.store.sql", "sql", false },
};

struct slot {
	struct store_jobs *jobs;
	const struct kind *kind;
};

struct store_jobs {
	struct plan_floor *floor;
	struct slot slots[nitems(kinds)];
	struct loop_call *begin;
	/* The job under way: */
	struct server_call *call; /* NULL = none */
	const struct kind *kind;
	char *file, *sql;
	struct child *child;
	bool closed; /* the plans, until it has ended */
	struct json_object *report; /* NULL = it failed */
	struct err err;
};

static void
job_clear(struct store_jobs *jobs)
{
	jobs->call = NULL;
	free(take_ptr(&jobs->file));
	free(take_ptr(&jobs->sql));
	json_object_put(take_ptr(&jobs->report));
}

/* --- the end --------------------------------------------------------- */

/* What it printed: a line of JSON, or "autod: what is wrong". */
static struct json_object *
read_report(const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *report = NULL;
	const char *words;

	if (child_succeeded(result)) {
		child_output_text(&result->out, &text);
		json_parse(text.data, text.len, REPORT_MAX, &report, err);
		return report;
	}
	if (result->timed_out) {
		err_set(err, API_FAILED,
		    "it was stopped because it took more than %d minutes; the "
		    "book is as before",
		    (int)(API_STORE_JOB_MS / 60000));
		return NULL;
	}
	child_output_text(&result->err, &text);
	buf_truncate(&text, strcspn(text.data, "\n"));
	words = text.data;
	if (strncmp(words, "autod: ", strlen("autod: ")) == 0)
		words += strlen("autod: ");
	if (!result->exited || words[0] == '\0') {
		buf_clear(&text);
		child_result_describe(result, &text);
		words = text.data;
	}
	err_set(err, API_FAILED, "%s", words);
	return NULL;
}

/* The next call finds the plans as they are now. */
static void
job_ended(struct store_jobs *jobs)
{
	const struct plan_floor *floor = jobs->floor;

	if (jobs->closed) {
		plan_floor_open(jobs->floor);
		if (jobs->report != NULL && floor->state == PLAN_SAFE) {
			json_object_put(take_ptr(&jobs->report));
			err_set(&jobs->err, API_FAILED, "%s", floor->why);
		}
	}
	if (jobs->report == NULL)
		serve_fail(floor->core, jobs->call, API_FAILED, jobs->err.msg);
	else
		serve_reply(floor->core, jobs->call, take_ptr(&jobs->report));
	job_clear(jobs);
}

static void
on_child(const struct child_result *result, void *arg)
{
	struct store_jobs *jobs = arg;

	jobs->child = NULL;
	jobs->report = read_report(result, &jobs->err);
	job_ended(jobs);
}

/* --- the begin ------------------------------------------------------- */

static int
spawn(struct store_jobs *jobs, struct err *err)
{
	cleanup_free char *autod = sibling_find("autod");
	cleanup_free char *owner = xasprintf("%d", (int)getpid());
	const char *argv[12] = { autod, "--root",
		jobs->floor->core->workspace->root, "--store-task",
		jobs->kind->name, "--owner", owner };
	int n = 7;

	if (autod == NULL)
		return err_set(err, API_FAILED,
		    "cannot find autod; install it with: make install");
	if (jobs->file != NULL) {
		argv[n++] = "--file";
		argv[n++] = jobs->file;
	}
	if (jobs->sql != NULL) {
		argv[n++] = "--sql";
		argv[n++] = jobs->sql;
	}
	return child_spawn(jobs->floor->core->loop,
	    &(struct child_spec){ .argv = argv,
		.output_max = REPORT_MAX,
		.deadline_ms = API_STORE_JOB_MS },
	    on_child, jobs, &jobs->child, err);
}

/* In a pass of its own: what the plans wrote is committed then. */
static void
job_begin(void *arg)
{
	struct store_jobs *jobs = arg;

	/* The child says that there are goals, and they stay open. */
	jobs->closed =
	    jobs->kind->replaces && !plan_book_has_goals(jobs->floor);
	if (jobs->closed)
		plan_floor_close(jobs->floor);
	if (spawn(jobs, &jobs->err) < 0)
		job_ended(jobs);
}

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	const struct slot *slot = arg;
	struct store_jobs *jobs = slot->jobs;
	const char *file = json_string_or(params, "file", NULL);
	const char *sql = json_string_or(params, "sql", NULL);

	if (jobs->call != NULL) {
		serve_refuse(call, API_BUSY,
		    "a %s of the book is under way; try again when it has "
		    "ended",
		    jobs->kind->name);
		return;
	}
	if (file != NULL && file[0] != '/') {
		serve_refuse(call, API_FAILED,
		    "%s: the path of the file must begin with /", file);
		return;
	}
	jobs->call = call;
	jobs->kind = slot->kind;
	jobs->file = file != NULL ? xstrdup(file) : NULL;
	jobs->sql = sql != NULL ? xstrdup(sql) : NULL;
	loop_call_request(jobs->begin);
}

struct store_jobs *
store_jobs_new(struct plan_floor *floor)
{
	struct store_jobs *jobs = xcalloc(1, sizeof *jobs);

	jobs->floor = floor;
	jobs->begin = loop_call_new(floor->core->loop, job_begin, jobs);
	for (size_t i = 0; i < nitems(kinds); i++) {
		jobs->slots[i] = (struct slot){ jobs, &kinds[i] };
		serve_handle(
		    floor->core, kinds[i].method, on_call, &jobs->slots[i]);
	}
	return jobs;
}

void
store_jobs_free(struct store_jobs *jobs)
{
	if (jobs == NULL)
		return;
	if (jobs->child != NULL)
		child_abandon(jobs->child);
	if (jobs->call != NULL)
		serve_refuse(jobs->call, API_FAILED,
		    "the daemon ended before the %s of the book was done",
		    jobs->kind->name);
	job_clear(jobs);
	loop_call_free(jobs->begin);
	free(jobs);
}
