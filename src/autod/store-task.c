/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "store-aside.h"
#include "store-job.h"
#include "store-task.h"
#include "text.h"
#include "workspace.h"

/* These put another file in the place of the store: nobody may have it open. */
static bool
needs_lock(const char *name)
{
	return strcmp(name, "import") == 0 || strcmp(name, "recover") == 0;
}

/* The daemon that started this has the lock, and has closed the store. With it
 * the job ends too: the next one opens the store. */
static int
follow_owner(const char *owner, struct err *err)
{
	int64_t pid;

	if (!text_parse_int(owner, 1, INT32_MAX, &pid))
		return err_set(err, -EINVAL, "--owner takes a process id");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != (pid_t)pid)
		return err_set(
		    err, -ESRCH, "the daemon that wanted this has ended");
	return 0;
}

/* A descriptor, 0 = not needed. */
static int
take_lock(const struct workspace *workspace, const char *name, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "state.lock");
	int r;

	if (!needs_lock(name))
		return 0;
	r = lock_try(path, err);
	if (r == -EAGAIN)
		return err_set(err, r,
		    "the daemon has the store of goals; type: llmc store %s",
		    name);
	return r;
}

/* Of a damaged store, everything is moved first. */
static int
find_damaged(const char *path, char **ret_file, struct err *err)
{
	if (!file_exists(path))
		store_aside(path, clock_wall_ms(), NULL, NULL);
	*ret_file = store_aside_newest(path);
	return *ret_file != NULL ?
	    0 :
	    err_set(err, -ENOENT,
		"no damaged store of goals was moved aside, so there is "
		"nothing to recover; to look for damage, type: llmc store "
		"check");
}

static int
run(const struct workspace *workspace, const struct store_task *task,
    struct json_object **ret_report, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "store.db");
	cleanup_free char *damaged = NULL;
	struct store_job job = {
		.task = task->name, .path = path, .file = task->file
	};
	int r = 0;

	if (task->before != NULL &&
	    !text_parse_int(task->before, 0, INT64_MAX, &job.before_ms))
		return err_set(
		    err, -EINVAL, "--before takes milliseconds since 1970");
	if (strcmp(task->name, "recover") == 0 && task->file == NULL) {
		r = find_damaged(path, &damaged, err);
		job.file = damaged;
	}
	if (r == 0)
		r = store_job_run(&job, ret_report, err);
	if (r == -EEXIST)
		err_set(err, r,
		    "there is a store of goals with something in it; to "
		    "replace it, type: llmc down, and move %s elsewhere",
		    path);
	if (r == -EUCLEAN && damaged != NULL)
		err_set(err, r,
		    "nothing can be read of %s; if you have an export, type: "
		    "llmc store import FILE; otherwise move it elsewhere, to "
		    "begin without goals",
		    damaged);
	if (r == 0 && damaged != NULL)
		json_set_string(*ret_report, "file", damaged);
	return r;
}

int
store_task_run(const struct workspace *workspace, const struct store_task *task)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	struct err err = { 0 };
	int lock = task->owner != NULL ? follow_owner(task->owner, &err) :
					 take_lock(workspace, task->name, &err);
	int r = lock;

	if (r >= 0)
		r = run(workspace, task, &report, &err);
	if (r < 0) {
		fprintf(stderr, "autod: %s\n", err.msg);
	} else if (report != NULL) {
		json_print(report, false, &line);
		buf_addc(&line, '\n');
		r = file_write_all(STDOUT_FILENO, line.data, line.len);
	}
	if (lock > 0)
		close(lock);
	return r < 0 ? 1 : 0;
}
