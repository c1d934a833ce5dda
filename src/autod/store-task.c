/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/prctl.h>

#include "api-work.h"
#include "book-care.h"
#include "lock.h"
#include "store-task.h"
#include "workspace.h"

/* The daemon that started this has the lock. With it the job ends too: the next
 * one loads its plans. */
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

	/* A daemon that does not know of it would not load the plans. */
	if (strcmp(name, "import") != 0)
		return 0;
	r = lock_try(path, err);
	if (r == -EAGAIN)
		return err_set(err, r,
		    "the daemon has the book; type: llmc store %s", name);
	return r;
}

static int
run(const struct workspace *workspace, const struct store_task *task,
    struct json_object **ret_report, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	size_t records = 0, events = 0;
	int r;

	if (strcmp(task->name, "check") == 0)
		return book_check(path, ret_report, err);
	if (strcmp(task->name, "sql") == 0)
		return book_sql(path, task->sql != NULL ? task->sql : "",
		    API_SQL_MS, ret_report, err);
	if (strcmp(task->name, "export") == 0) {
		r = book_export(path, task->file, err);
		if (r < 0 || task->file == NULL)
			return r;
		*ret_report = json_object_new_object();
		json_set_string(*ret_report, "file", task->file);
		return 0;
	}
	if (strcmp(task->name, "import") != 0)
		return err_set(err, -EINVAL,
		    "unknown task %s: check, export, import or sql",
		    task->name);
	if (task->file == NULL)
		return err_set(err, -EINVAL, "import needs a file");
	r = book_import(path, task->file, &records, &events, err);
	if (r < 0)
		return r;
	*ret_report = json_object_new_object();
	json_set_int(*ret_report, "records", (int64_t)records);
	json_set_int(*ret_report, "events", (int64_t)events);
	return 0;
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
