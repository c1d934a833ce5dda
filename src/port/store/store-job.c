/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "store-check.h"
#include "store-compact.h"
#include "store-export.h"
#include "store-import.h"
#include "store-job.h"
#include "store-recover.h"

typedef int job_fn(const struct store_job *job, struct json_object **ret_report,
    struct err *err);

static int
need_file(const struct store_job *job, struct err *err)
{
	return job->file != NULL ?
	    0 :
	    err_set(err, -EINVAL, "%s needs a file", job->task);
}

static int
run_check(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	return store_check(job->path, ret_report, err);
}

/* The old file stays until the new one is complete. */
static int
export_to_file(const struct store_job *job, struct err *err)
{
	cleanup_free char *part = xasprintf("%s.part", job->file);
	cleanup_fd int fd =
	    open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r;

	if (fd == -1)
		return err_errno(err, -errno, "%s", part);
	r = store_export(job->path, fd, err);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", part);
	if (r == 0 && rename(part, job->file) == -1)
		r = err_errno(err, -errno, "%s", job->file);
	if (r < 0)
		unlink(part);
	return r;
}

static int
run_export(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	int r;

	if (job->file == NULL)
		return store_export(job->path, STDOUT_FILENO, err);
	r = export_to_file(job, err);
	if (r == 0) {
		*ret_report = json_object_new_object();
		json_set_string(*ret_report, "file", job->file);
	}
	return r;
}

static int
run_import(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	struct store_counts counts = { 0, 0 };
	int r = need_file(job, err);

	if (r == 0)
		r = store_import(job->path, job->file, &counts, err);
	if (r < 0)
		return r;
	*ret_report = json_object_new_object();
	json_set_int(*ret_report, "records", (int64_t)counts.records);
	json_set_int(*ret_report, "events", (int64_t)counts.events);
	return 0;
}

static int
run_recover(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	struct store_recovered got = { 0, 0, 0, 0 };
	int r = need_file(job, err);

	if (r == 0)
		r = store_recover(job->path, job->file, &got, err);
	if (r < 0)
		return r;
	*ret_report = json_object_new_object();
	json_set_int(*ret_report, "records", (int64_t)got.records);
	json_set_int(*ret_report, "events", (int64_t)got.events);
	json_set_int(*ret_report, "refused", (int64_t)got.refused);
	json_set_int(*ret_report, "gaps", (int64_t)got.gaps);
	return 0;
}

static int
run_compact(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	struct store_compacted done = { 0, 0, 0 };
	int r = store_compact(job->path, job->before_ms, &done, err);

	if (r < 0)
		return r;
	*ret_report = json_object_new_object();
	json_set_int(*ret_report, "removed", (int64_t)done.removed);
	json_set_int(*ret_report, "milestones", (int64_t)done.milestones);
	json_set_int(*ret_report, "ended", (int64_t)done.records);
	return 0;
}

static const struct {
	const char *name;
	job_fn *run;
} tasks[] = {
	{ "check", run_check },
	{ "export", run_export },
	{ "import", run_import },
	{ "recover", run_recover },
	{ "compact", run_compact },
};

int
store_job_run(const struct store_job *job, struct json_object **ret_report,
    struct err *err)
{
	*ret_report = NULL;
	for (size_t i = 0; i < nitems(tasks); i++) {
		if (strcmp(job->task, tasks[i].name) == 0)
			return tasks[i].run(job, ret_report, err);
	}
	return err_set(err, -EINVAL,
	    "unknown task %s: check, export, import, recover or compact",
	    job->task);
}
