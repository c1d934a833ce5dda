/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/prctl.h>

#include "api-work.h"
#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "lock.h"
#include "root-mark.h"
#include "state-book.h"
#include "state-upgrade.h"
#include "state.h"
#include "autod-private.h"
#include "workspace.h"

static int
print(struct json_object *report)
{
	cleanup_buf struct buf line = BUF_INIT;

	json_print(report, false, &line);
	buf_addc(&line, '\n');
	return file_write_all(STDOUT_FILENO, line.data, line.len) < 0 ? 1 : 0;
}

static int
fail(const struct err *err)
{
	fprintf(stderr, "autod: %s\n", err->msg);
	return 1;
}

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
		    "the daemon has the book; type: llmc doctor store %s",
		    name);
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
	struct err err = { 0 };
	int lock = task->owner != NULL ? follow_owner(task->owner, &err) :
					 take_lock(workspace, task->name, &err);
	int r = lock;

	if (r >= 0)
		r = run(workspace, task, &report, &err);
	r = r < 0 ? fail(&err) : report != NULL ? print(report) : 0;
	if (lock > 0)
		close(lock);
	return r;
}

/* --- a new state -------------------------------------------------------- */

/* What llmc could not read, it could not keep for a person either. */
static int
keep_unreadable(struct book *book, char **ret_kept, struct err *err)
{
	struct state old;
	int64_t rows = 0;
	int r;

	state_init(&old);
	r = state_book_load(book, clock_wall_ms(), &old, NULL);
	state_release(&old);
	/* Without an id there is no state, but there may be its workers. */
	if (r == -ENOENT)
		r = book_get_int(book,
		    "SELECT (SELECT count(*) FROM worker) + "
		    "(SELECT count(*) FROM task)",
		    NULL, 0, &rows, NULL);
	return r == 0 && rows == 0 ?
	    0 :
	    book_keep(book, clock_wall_ms(), ret_kept, err);
}

static int
write_state(const struct workspace *workspace, const struct state *state,
    struct book_recovered *found, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	struct state_book *rows = NULL;
	struct book *book = NULL;
	int r = book_open_or_recover(path, clock_wall_ms(), &book, found, err);

	if (r == 0)
		r = state_book_new(book, &rows, err);
	if (r == 0)
		r = book_history_open(book, err);
	if (r == 0 && found->damaged == NULL)
		r = keep_unreadable(book, &found->damaged, err);
	if (r == 0) {
		state_book_clear(rows);
		state_book_put(rows, state);
		r = book_history_import(book, workspace, err);
	}
	if (r == 0)
		r = book_commit(book, err);
	state_book_free(rows);
	book_close(book);
	if (r == 0)
		r = root_id_keep(workspace, state->root_id, err);
	if (r == 0)
		state_upgrade_move(workspace);
	if (r == 0)
		book_history_imported(workspace);
	return r;
}

int
store_rebuild(const struct workspace *workspace)
{
	cleanup_free char *path = workspace_path(workspace, "state.lock");
	cleanup_json struct json_object *result = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct book_recovered found = { 0 };
	struct state state;
	struct err err = { 0 };
	cleanup_fd int lock = lock_try(path, &err);
	int r;

	if (lock < 0)
		return fail(&err);
	r = file_read_fd(STDIN_FILENO, STATE_SIZE_MAX, &text);
	if (r < 0)
		err_errno(&err, r, "standard input");
	else
		r = state_parse(
		    text.data, text.len, clock_wall_ms(), &state, &err);
	if (r < 0)
		return fail(&err);
	r = write_state(workspace, &state, &found, &err);
	json_set_string(result, "damaged", found.damaged);
	state_release(&state);
	book_recovered_release(&found);
	return r < 0 ? fail(&err) : print(result);
}
