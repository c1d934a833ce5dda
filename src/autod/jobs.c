/* SPDX-License-Identifier: ISC */

/* Jobs of autod in a process of their own, which may take long: on the book
 * (--store-task, --rebuild), and on the shared book of a fleet (--fleet). */

#include "base.h"

#include <signal.h>
#include <sys/prctl.h>

#include "api-work.h"
#include "autod-private.h"
#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "config.h"
#include "daily-copy.h"
#include "git-ask.h"
#include "loop.h"
#include "workspace.h"
#include "settings.h"
#include "shared.h"
#include "state-book.h"
#include "state.h"

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
	return err->code == -EUCLEAN ? STORE_TASK_DAMAGED : 1;
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

static int
run(const struct workspace *workspace, const struct store_task *task,
    struct json_object **ret_report, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	int r;

	if (strcmp(task->name, "check") == 0)
		return book_check(path, ret_report, err);
	if (strcmp(task->name, "copy") == 0) {
		cleanup_free char *to =
		    workspace_path(workspace, WORKSPACE_BOOK_COPY);

		return book_copy(path, to, err);
	}
	if (strcmp(task->name, "sql") == 0)
		return book_sql(path, task->sql != NULL ? task->sql : "",
		    API_SQL_MS, ret_report, err);
	if (strcmp(task->name, "export") != 0)
		return err_set(err, -EINVAL,
		    "unknown task %s: check, copy, export or sql", task->name);
	r = book_export(path, task->file, err);
	if (r < 0 || task->file == NULL)
		return r;
	*ret_report = json_object_new_object();
	json_set_string(*ret_report, "file", task->file);
	return 0;
}

int
store_task_run(const struct workspace *workspace, const struct store_task *task)
{
	cleanup_json struct json_object *report = NULL;
	struct err err = { 0 };
	int r = task->owner != NULL ? follow_owner(task->owner, &err) : 0;

	if (r >= 0)
		r = run(workspace, task, &report, &err);
	return r < 0 ? fail(&err) : report != NULL ? print(report) : 0;
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
		r = book_commit(book, err);
	}
	state_book_free(rows);
	book_close(book);
	return r == 0 ? root_id_keep(workspace, state->root_id, err) : r;
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

#define DEADLINE_MS (20 * 1000)

/* What every verb needs. */
struct place {
	const char *database;
	char *passfile;
	bool has_own_passfile; /* that the user has named */
	struct buf host;
	struct buf repository; /* the oldest of its first commits */
	char *known; /* where that is kept */
};

static int
find_place(const struct workspace *workspace, const struct settings *settings,
    struct place *place, struct err *err)
{
	static const char *const args[] = { "rev-list", "--max-parents=0",
		"HEAD", NULL };
	static const char *const shallow[] = { "rev-parse",
		"--is-shallow-repository", NULL };
	const char *passfile = settings_string(settings, "fleet.passfile");
	cleanup_buf struct buf roots = BUF_INIT, cut = BUF_INIT;
	const char *last;
	int r;

	place->database = settings_string(settings, "fleet.database");
	if (*place->database == '\0')
		return err_set(err, -EINVAL,
		    "this repository has no fleet; type: llmc config set "
		    "fleet.database postgresql://SERVER/DATABASE");
	place->has_own_passfile = *passfile != '\0';
	place->passfile = *passfile == '\0' ?
	    workspace_path(workspace, "fleet.pass") :
	    workspace_resolve(workspace, passfile);
	place->known = workspace_path(workspace, SHARED_REPOSITORY_FILE);
	shared_host_name(settings_string(settings, "fleet.host"), &place->host);
	r = git_ask(workspace->root, shallow, &cut, err);
	if (r == 0 && strcmp(cut.data, "true") == 0)
		return err_set(err, -EINVAL,
		    "this clone has only a part of the history, so nobody can "
		    "say whether it is of the same repository; type: git fetch "
		    "--unshallow");
	if (r == 0)
		r = git_ask(workspace->root, args, &roots, err);
	if (r != 0)
		return r < 0 ? r : -EIO;
	last = strrchr(roots.data, '\n');
	buf_adds(&place->repository, last != NULL ? last + 1 : roots.data);
	return 0;
}

/* --- as this host --------------------------------------------------------- */

struct visit {
	struct loop *loop;
	struct shared *shared;
	const struct fleet_task *task;
	const struct place *place;
	struct json_object *report;
	struct err *err;
	int r;
};

static void
end(struct visit *visit, int r)
{
	visit->r = r;
	loop_stop(visit->loop, 0);
}

static bool
is_good(struct visit *visit, const struct shared_answer *answer)
{
	if (answer->verdict != SHARED_DONE)
		end(visit, err_set(visit->err, -EIO, "%s", answer->words));
	return answer->verdict == SHARED_DONE;
}

static struct json_object *
words_of(const struct shared_rows *cans, const char *host)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < cans->count; i++)
		if (strcmp(shared_text(cans, i, "host"), host) == 0)
			json_object_array_add(list,
			    json_object_new_string(
				shared_text(cans, i, "word")));
	return list;
}

static void
on_hosts(const struct shared_answer *answer, void *arg)
{
	static const struct {
		const char *column, *name;
		bool is_text;
	} fields[] = {
		{ "host", "host", true },
		{ "nr", "nr", false },
		{ "state", "state", true },
		{ "draining", "draining", false },
		{ "lease_left", "leaseLeftMs", false },
		{ "seen_ago", "seenAgoMs", false },
		{ "version", "version", true },
		{ "slots", "slots", false },
		{ "claimed", "claimed", false },
		{ "ready", "ready", false },
	};
	struct visit *visit = arg;
	struct json_object *list = json_object_new_array();
	const struct shared_rows *rows = answer->of;

	json_set(visit->report, "hosts", list);
	if (!is_good(visit, answer))
		return;
	for (size_t i = 0; i < rows->count; i++) {
		struct json_object *host = json_object_new_object();

		for (size_t j = 0; j < nitems(fields); j++)
			if (shared_text(rows, i, fields[j].column) == NULL)
				continue;
			else if (fields[j].is_text)
				json_set_string(host, fields[j].name,
				    shared_text(rows, i, fields[j].column));
			else
				json_set_int(host, fields[j].name,
				    shared_int(rows, i, fields[j].column));
		json_set(host, "can",
		    words_of(&answer->of[1], shared_text(rows, i, "host")));
		json_object_array_add(list, host);
	}
	json_set_string(visit->report, "here", visit->place->host.data);
	end(visit, 0);
}

static void
on_drained(const struct shared_answer *answer, void *arg)
{
	struct visit *visit = arg;
	const char *host = visit->place->host.data;

	if (!is_good(visit, answer))
		return;
	json_set_string(visit->report, "host", host);
	json_set_bool(visit->report, "draining", !visit->task->undo);
	end(visit,
	    answer->of->count > 0 ?
		0 :
		err_set(visit->err, -ENOENT,
		    "the fleet has no host %s; llmc fleet hosts lists them",
		    host));
}

static void
on_left(const struct shared_answer *answer, void *arg)
{
	struct visit *visit = arg;
	const char *host = visit->place->host.data;

	if (!is_good(visit, answer))
		return;
	json_set_string(visit->report, "host", host);
	end(visit,
	    answer->of->count > 0 ?
		0 :
		err_set(visit->err, -EBUSY,
		    "%s still has tasks; type: llmc fleet drain %s, and leave "
		    "when llmc fleet hosts shows none",
		    host, host));
}

static void
on_hosts_before_leave(const struct shared_answer *answer, void *arg)
{
	struct visit *visit = arg;
	const struct shared_rows *rows = answer->of;
	bool is_there = false;

	if (!is_good(visit, answer))
		return;
	for (size_t i = 0; i < rows->count; i++) {
		const char *boot = shared_text(rows, i, "boot");

		if (strcmp(shared_text(rows, i, "host"),
			visit->place->host.data) != 0)
			continue;
		is_there = true;
		if (boot != NULL) {
			shared_ask(visit->shared,
			    &SHARED_CALL(SHARED_LEAVE, BOOK_T(boot)), 1,
			    DEADLINE_MS, on_left, visit);
			return;
		}
	}
	end(visit,
	    err_set(visit->err, -ENOENT,
		is_there ? "%s has never been up in this fleet" :
			   "%s is not in this fleet",
		visit->place->host.data));
}

static void
on_state(enum shared_state state, const char *words, void *arg)
{
	struct visit *visit = arg;
	const struct shared_call hosts[] = { SHARED_CALL0(SHARED_HOSTS),
		SHARED_CALL0(SHARED_HOST_CANS) };
	const struct fleet_task *task = visit->task;
	const char *verb = task->verb;

	if (state != SHARED_UP) {
		if (*words != '\0')
			end(visit, err_set(visit->err, -EIO, "%s", words));
	} else if (strcmp(verb, "hosts") == 0) {
		shared_ask(
		    visit->shared, hosts, 2, DEADLINE_MS, on_hosts, visit);
	} else if (strcmp(verb, "leave") == 0) {
		shared_ask(visit->shared, hosts, 1, DEADLINE_MS,
		    on_hosts_before_leave, visit);
	} else if (task->host != NULL &&
	    strcmp(task->host, visit->place->host.data) != 0) {
		end(visit,
		    err_set(visit->err, -EPERM,
			"a host drains itself; on %s, type: llmc fleet drain "
			"%s%s",
			task->host, task->host, task->undo ? " --undo" : ""));
	} else {
		shared_ask(visit->shared,
		    &SHARED_CALL(SHARED_DRAIN, BOOK_I(task->undo ? 0 : 1)), 1,
		    DEADLINE_MS, on_drained, visit);
	}
}

static int
visit_book(const struct fleet_task *task, const struct place *place,
    struct json_object *report, struct err *err)
{
	struct visit visit = { .loop = loop_new(),
		.task = task,
		.place = place,
		.report = report,
		.err = err };
	const struct shared_options options = { .loop = visit.loop,
		.database = place->database,
		.passfile = place->passfile,
		.host = place->host.data,
		.repository = place->repository.data,
		.state = on_state,
		.arg = &visit };
	int r = shared_new(&options, &visit.shared, err);

	if (r == 0) {
		loop_run(visit.loop);
		r = visit.r;
	}
	shared_free(visit.shared);
	loop_free(visit.loop);
	return r;
}

/* --- all verbs ------------------------------------------------------------ */

static int
fleet_run(const struct fleet_task *task, const struct place *place,
    struct json_object **ret, struct err *err)
{
	static const char *const owners[] = { "init", "migrate", "join",
		"check", NULL };
	static const char *const hosts[] = { "hosts", "drain", "leave", NULL };
	const struct shared_owner_task owner = { .verb = task->verb,
		.database = place->database,
		.owner = task->owner,
		.passfile = place->passfile,
		.renews = !place->has_own_passfile,
		.host = place->host.data,
		.repository = place->repository.data };
	int r;

	if (strv_has(owners, task->verb)) {
		r = shared_owner_run(&owner, ret, err);
		if (r == 0)
			json_set_string(*ret, "host", place->host.data);
		if (r == 0 && strcmp(task->verb, "join") == 0)
			r = file_replace(place->known, place->repository.data,
			    place->repository.len, 0600, err);
		return r;
	}
	if (!strv_has(hosts, task->verb))
		return err_set(err, -EINVAL,
		    "--fleet %s: expected init, migrate, join, check, hosts, "
		    "drain or leave",
		    task->verb);
	*ret = json_object_new_object();
	return visit_book(task, place, *ret, err);
}

int
fleet_task_run(const struct workspace *workspace, const struct fleet_task *task)
{
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	struct place place = { .host = BUF_INIT, .repository = BUF_INIT };
	struct settings *settings = NULL;
	struct err err = { 0 };
	int r = config_load_strict(workspace, &settings, &err);

	if (r == 0)
		r = find_place(workspace, settings, &place, &err);
	if (r == 0)
		r = fleet_run(task, &place, &report, &err);
	if (r == 0) {
		json_print(report, false, &line);
		buf_addc(&line, '\n');
		r = file_write_all(STDOUT_FILENO, line.data, line.len);
	} else {
		fprintf(stderr, "autod: %s\n", err.msg);
	}
	free(place.passfile);
	free(place.known);
	buf_release(&place.host);
	buf_release(&place.repository);
	settings_free(settings);
	return r == 0 ? 0 : 1;
}
