/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api-store.h"
#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "serve.h"
#include "sibling.h"
#include "store-jobs.h"
#include "workspace.h"

#define REPORT_MAX (1024 * 1024)

struct kind {
	const char *method, *name;
	bool replaces; /* the store */
};

static const struct kind kinds[] = {
	{ "overseer.store.check", "check", false },
	{ "overseer.store.export", "export", false },
	{ "overseer.store.import", "import", true },
	{ "overseer.store.recover", "recover", true },
	{ "overseer.store.compact", "compact", false },
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
	char *file;
	int64_t before_ms;
	struct child *child;
	/* It has ended; the book is being opened: */
	bool opening;
	struct json_object *report; /* NULL = it failed */
	struct err err;
};

static void
job_clear(struct store_jobs *jobs)
{
	jobs->call = NULL;
	jobs->opening = false;
	free(take_ptr(&jobs->file));
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
		    "store of goals is as before",
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

/* The next call finds the book as it is now. */
static void
job_end(struct store_jobs *jobs)
{
	if (jobs->report == NULL)
		serve_fail(
		    jobs->floor->core, jobs->call, API_FAILED, jobs->err.msg);
	else
		serve_reply(
		    jobs->floor->core, jobs->call, take_ptr(&jobs->report));
	job_clear(jobs);
}

static void
job_ended(struct store_jobs *jobs)
{
	if (jobs->kind->replaces) {
		jobs->opening = true;
		plan_floor_open(jobs->floor);
	} else {
		job_end(jobs);
	}
}

static void
on_child(const struct child_result *result, void *arg)
{
	struct store_jobs *jobs = arg;

	jobs->child = NULL;
	jobs->report = read_report(result, &jobs->err);
	job_ended(jobs);
}

void
store_jobs_opened(struct store_jobs *jobs)
{
	if (!jobs->opening)
		return;
	if (jobs->report != NULL && jobs->floor->state == PLAN_SAFE) {
		json_object_put(take_ptr(&jobs->report));
		err_set(&jobs->err, API_FAILED, "%s", jobs->floor->why);
	}
	job_end(jobs);
}

/* --- the begin ------------------------------------------------------- */

static int
spawn(struct store_jobs *jobs, struct err *err)
{
	cleanup_free char *autod = sibling_find("autod");
	cleanup_free char *before = xasprintf("%" PRId64, jobs->before_ms);
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
	if (jobs->before_ms > 0) {
		argv[n++] = "--before";
		argv[n++] = before;
	}
	return child_spawn(jobs->floor->core->loop,
	    &(struct child_spec){ .argv = argv,
		.output_max = REPORT_MAX,
		.deadline_ms = API_STORE_JOB_MS },
	    on_child, jobs, &jobs->child, err);
}

/* In a pass of its own: the book may be in a call to the store. */
static void
job_begin(void *arg)
{
	struct store_jobs *jobs = arg;

	if (jobs->kind->replaces)
		plan_floor_close(jobs->floor);
	if (spawn(jobs, &jobs->err) < 0)
		job_ended(jobs);
}

/* A job that reads needs a store; if there is none, the call is refused with
 * the reason. */
static bool
has_store(struct store_jobs *jobs, struct server_call *call)
{
	cleanup_free char *path =
	    workspace_path(jobs->floor->core->workspace, "store.db");

	return file_exists(path) || plan_call_begin(jobs->floor, call);
}

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	const struct slot *slot = arg;
	struct store_jobs *jobs = slot->jobs;
	const char *file = json_string_or(params, "file", NULL);
	int64_t age = json_int_or(params, "older_than", API_COMPACT_AFTER);

	if (jobs->call != NULL) {
		serve_refuse(call, API_BUSY,
		    "a %s of the store of goals is under way; try again when "
		    "it has ended",
		    jobs->kind->name);
		return;
	}
	if (file != NULL && file[0] != '/') {
		serve_refuse(call, API_FAILED,
		    "%s: the path of the file must begin with /", file);
		return;
	}
	if (!slot->kind->replaces && !has_store(jobs, call))
		return;
	if (slot->kind->replaces && jobs->floor->state == PLAN_OPENING) {
		serve_refuse(call, API_BUSY,
		    "the store of goals is being opened; try again in a "
		    "moment");
		return;
	}
	jobs->call = call;
	jobs->kind = slot->kind;
	jobs->file = file != NULL ? xstrdup(file) : NULL;
	jobs->before_ms = strcmp(slot->kind->name, "compact") == 0 ?
	    clock_wall_ms() - age * 1000 :
	    0;
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
		    "the daemon ended before the %s of the store of goals was "
		    "done",
		    jobs->kind->name);
	job_clear(jobs);
	loop_call_free(jobs->begin);
	free(jobs);
}
