/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "book-care.h"
#include "book-history.h"
#include "book.h"
#include "check-book.h"
#include "config.h"
#include "event.h"
#include "history.h"
#include "jsonl.h"
#include "lock.h"
#include "look-private.h"
#include "look.h"
#include "moment.h"
#include "remove-tree.h"
#include "report-make.h"
#include "root-mark.h"
#include "settings.h"
#include "state-book.h"
#include "state-upgrade.h"
#include "state.h"
#include "view-doc.h"
#include "view-row.h"
#include "work-span.h"
#include "workspace.h"

#define PARAMS_MAX ((size_t)16 * 1024 * 1024) /* with a view in them */

static int
print(struct json_object *json)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return file_write_all(STDOUT_FILENO, text.data, text.len) < 0 ? 1 : 0;
}

static int
fail(const struct err *err)
{
	fprintf(stderr, "autod: %s\n", err->msg);
	return 1;
}

/* There is no state: was there one? Settings that are wrong must not hide
 * it. */
static bool
is_lost(const struct workspace *workspace, struct err *err)
{
	cleanup_free char *worktrees = NULL;
	struct settings *settings = NULL;
	struct settings_problems problems = { 0 };

	if (config_load_with(workspace, NULL, &settings, &problems, NULL) == 0)
		settings_problems_release(&problems);
	worktrees = workspace_resolve(workspace,
	    settings != NULL ? settings_string(settings, "repo.worktree_dir") :
			       ".worktrees");
	settings_free(settings);
	return root_id_is_lost(workspace, worktrees, err);
}

int
look_read_state(
    const struct workspace *workspace, struct state *state, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	cleanup_free char *recovered = NULL;
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (r == 0)
		r = state_book_load(book, clock_wall_ms(), state, err);
	if (r == -ENOENT)
		r = state_upgrade_read(
		    workspace, clock_wall_ms(), state, &recovered, err);
	if (r == -ENOENT && is_lost(workspace, err))
		r = -ENODATA;
	book_close(book);
	return r;
}

static int
look_state(const struct workspace *workspace, struct json_object **ret_result,
    struct err *err)
{
	struct state state;
	int r;

	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r == 0)
		*ret_result = state_to_json(&state);
	else if (r == -ENOENT)
		*ret_result = json_object_new_object();
	state_release(&state);
	return r == -ENOENT ? 0 : r;
}

static int
find_tables(struct book *book, struct err *err)
{
	int64_t count = 0;
	int r = book_get_int(book,
	    "SELECT count(*) FROM sqlite_schema AS s WHERE s.name = 'alive'",
	    NULL, 0, &count, err);

	return r == 0 && count == 0 ? -ENOENT : r;
}

/* While there are files of the version before, and no daemon has put a state
 * into the book, one that has what is in the files: *ret_dir is to be
 * removed. */
static int
open_history(const struct workspace *workspace, struct book **ret_book,
    char **ret_dir, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	cleanup_free char *file = NULL;
	char dir[] = "/tmp/llmc-look-XXXXXX";
	int r = book_look(path, ret_book, err);

	if (r == 0)
		r = book_history_has_files(workspace) ?
		    state_book_find(*ret_book, err) :
		    find_tables(*ret_book, err);
	if (r != -ENOENT)
		return r;
	if (!state_upgrade_has_files(workspace) &&
	    !book_history_has_files(workspace) && is_lost(workspace, err))
		return -ENODATA;
	book_close(take_ptr(ret_book));
	if (mkdtemp(dir) == NULL)
		return err_errno(err, -errno, "%s", dir);
	*ret_dir = xstrdup(dir);
	file = file_join(dir, WORKSPACE_BOOK);
	r = book_open(file, ret_book, err);
	if (r == 0)
		r = book_history_open(*ret_book, err);
	if (r == 0)
		r = book_history_import(*ret_book, workspace, err);
	return r;
}

static int
look_history(const struct workspace *workspace, look_fn *fn,
    struct json_object **ret_result, struct err *err)
{
	cleanup_json struct json_object *params = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *dir = NULL;
	struct book *book = NULL;
	int r = file_read_fd(STDIN_FILENO, PARAMS_MAX, &text);

	if (r < 0)
		return err_errno(err, r, "standard input");
	r = json_parse(text.data, text.len, PARAMS_MAX, &params, err);
	if (r == 0)
		r = open_history(workspace, &book, &dir, err);
	if (r == 0) {
		*ret_result = fn(book, workspace, params, err);
		r = *ret_result != NULL ? 0 : -EIO;
	}
	book_close(book);
	if (dir != NULL)
		remove_tree(dir);
	return r;
}

int
look_run(const struct workspace *workspace, const char *name)
{
	static const struct {
		const char *name;
		look_fn *fn;
	} looks[] = {
		{ "asks", look_asks },
		{ "attempts", look_attempts },
		{ "goals", look_goals },
		{ "metrics", look_metrics },
		{ "report", look_report },
		{ "tally", look_tally },
		{ "tasks", look_tasks },
		{ "turns", look_turns },
		{ "view", look_view },
	};
	cleanup_json struct json_object *result = NULL;
	struct err err = { 0 };
	int r = err_set(&err, -EINVAL, "--look: there is no %s", name);

	if (strcmp(name, "state") == 0)
		r = look_state(workspace, &result, &err);
	for (size_t i = 0; i < nitems(looks); i++)
		if (strcmp(looks[i].name, name) == 0)
			r = look_history(workspace, looks[i].fn, &result, &err);
	return r < 0 ? fail(&err) : print(result);
}

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
	if (r == 0 && found->aside == NULL)
		r = keep_unreadable(book, &found->aside, err);
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
look_rebuild(const struct workspace *workspace)
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
	json_set_string(result, "aside", found.aside);
	state_release(&state);
	book_recovered_release(&found);
	return r < 0 ? fail(&err) : print(result);
}

/* Spans before the period tell which workers existed when it began. */
#define DAY_MS    (24 * 3600 * (int64_t)1000)
#define BEFORE_MS DAY_MS

/* What a report is made of. */
struct materials {
	struct json_object *ended, *repairs, *events;
	struct work_span *spans;
	size_t span_count, span_room;
};

/* --- spans ----------------------------------------------------------- */

static void
on_span(const struct work_span *span, void *arg)
{
	struct materials *files = arg;

	if (files->span_count == files->span_room) {
		files->span_room =
		    files->span_room == 0 ? 64 : files->span_room * 2;
		files->spans = xreallocarray(
		    files->spans, files->span_room, sizeof *files->spans);
	}
	files->spans[files->span_count++] = (struct work_span){
		.worker = xstrdup(span->worker),
		.use = span->use,
		.task = span->task != NULL ? xstrdup(span->task) : NULL,
		.attempt = span->attempt,
		.from_ms = span->from_ms,
		.to_ms = span->to_ms,
	};
}

/* --- events ---------------------------------------------------------- */

static bool
on_event(struct json_object *record, void *arg)
{
	struct materials *files = arg;
	struct json_object *event = NULL, *row;
	cleanup_buf struct buf words = BUF_INIT;
	const char *type;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0 ||
	    !moment_parse(json_string_or(record, "timestamp", ""), &at))
		return true;
	type = json_string_or(event, "type", "");
	if (strcmp(type, REPORT_EVENT_OVERSIGHT) != 0 &&
	    strcmp(type, REPORT_EVENT_CHECK) != 0)
		return true;
	event_words_of(event, &words);
	row = json_object_new_object();
	json_set_int(row, "at_ms", at);
	json_set_string(row, "type", type);
	json_set_string(
	    row, "worker", json_string_or(event, "worker_name", NULL));
	json_set_string(row, "task", json_string_or(event, "task", NULL));
	json_set_string(row, "result", json_string_or(event, "result", NULL));
	json_set_string(row, "class", json_string_or(event, "class", NULL));
	json_set_string(row, "action", json_string_or(event, "action", NULL));
	view_row_line(row, "words", words.data, VIEW_REASON_MAX);
	json_object_array_add(files->events, row);
	return true;
}

/* --- repairs --------------------------------------------------------- */

static void
read_repairs(const struct workspace *workspace, struct materials *files)
{
	struct history history = { 0 };

	if (history_load(workspace, &history, NULL) < 0)
		return;
	for (size_t i = 0; i < history.count; i++) {
		const struct spiral_event *event = &history.events[i];
		struct json_object *row = json_object_new_object();

		json_set_int(row, "at_ms", event->at_ms);
		json_set_string(row, "kind", spiral_kind_name(event->kind));
		json_set_string(row, "class", event->class);
		view_row_line(row, "words", event->words, VIEW_REASON_MAX);
		json_set_string(row, "outcome", event->outcome);
		json_set_int(row, "took_ms", event->took_ms);
		json_set(row, "cost_micros",
		    event->cost > 0 ? json_object_new_int64(event->cost) :
				      NULL);
		json_object_array_add(files->repairs, row);
	}
	history_release(&history);
}

/* --- all of them ----------------------------------------------------- */

static void
release(struct materials *files)
{
	json_object_put(files->ended);
	json_object_put(files->repairs);
	json_object_put(files->events);
	for (size_t i = 0; i < files->span_count; i++)
		work_span_release(&files->spans[i]);
	free(files->spans);
}

/* alive: the daemon that wrote the state runs. */
static int
load(struct book *book, const struct workspace *workspace,
    const struct state *state, bool alive, int64_t from_ms, int64_t now_ms,
    struct materials *files, struct err *err)
{
	cleanup_free char *log = workspace_path(workspace, "logs/auto.log");
	int r;

	*files = (struct materials){
		.ended = json_object_new_object(),
		.repairs = json_object_new_array(),
		.events = json_object_new_array(),
	};
	r = book_read_spans(book, from_ms - BEFORE_MS, on_span, files, err);
	if (r == 0 && (alive || state->daemon_running))
		book_open_spans(
		    book, workspace, state, alive, now_ms, on_span, files);
	if (r == 0)
		r = book_report_tasks(
		    book, from_ms, REPORT_ROWS_MAX, files->ended, err);
	jsonl_since(log, from_ms, on_event, files, NULL);
	read_repairs(workspace, files);
	return r;
}

/* What the state knows of the check command, as the member "check" of the
 * view's head: for when no daemon says it. */
static void
set_check(const struct state *state, const struct settings *settings,
    struct json_object *head)
{
	const char *command = settings_string(settings, "auto.check_command");
	const struct check_book *book = &state->landings.checks;
	const struct check_command *known;
	struct json_object *json;
	char key[CHECK_KEY_SIZE];

	if (command == NULL || *command == '\0')
		return;
	check_book_key(command, key);
	known = check_book_command(book, key);
	json = json_object_new_object();
	json_set_string(json, "command", command);
	json_set_int(json, "trees", known != NULL ? known->trees : 0);
	json_set_int(json, "flaky_trees", known != NULL ? known->flaky : 0);
	json_set_bool(json, "flaky_alarm", check_book_alarm(book, key));
	json_set(head, "check", json);
}

/* The row of a day, made if there is none. */
static struct json_object *
day_of(struct json_object *days, int64_t day)
{
	struct json_object *row;

	for (size_t i = 0; i < json_object_array_length(days); i++) {
		row = json_object_array_get_idx(days, i);
		if (json_int_or(row, "day", -1) == day)
			return row;
	}
	row = json_object_new_object();
	json_set_int(row, "day", day);
	json_set_string(row, "cost_source", cost_source_words[COST_REPORTED]);
	json_set_int(row, "tasks_micros", 0);
	json_set_int(row, "hand_micros", 0);
	json_set_int(row, "planner_micros", 0);
	json_object_array_add(days, row);
	return row;
}

/* The overseer writes down what a repair cost, and the next daemon books it:
 * add what none has booked yet to the days of the view's budget. */
static void
book_repairs(const struct materials *files, const struct state *state,
    struct json_object *budget)
{
	struct json_object *days = NULL;

	if (json_get_array(budget, "", "days", &days, NULL) < 0)
		return;
	for (size_t i = 0; i < json_object_array_length(files->repairs); i++) {
		struct json_object *repair =
		    json_object_array_get_idx(files->repairs, i);
		int64_t at = json_int_or(repair, "at_ms", 0);
		int64_t cost = json_int_or(repair, "cost_micros", 0);
		struct json_object *row;

		if (at <= state->repairs_ms || cost <= 0)
			continue;
		row = day_of(days, at / DAY_MS);
		json_set_int(row, "repairs_micros",
		    json_int_or(row, "repairs_micros", 0) + cost);
		json_set_int(row, "cost_micros",
		    json_int_or(row, "cost_micros", 0) + cost);
	}
}

static int
complete_view(const struct workspace *workspace, const struct materials *files,
    const struct state *state, struct json_object *view, struct err *err)
{
	struct settings *settings = NULL;
	int r = config_load_strict(workspace, &settings, err);

	if (r < 0)
		return r;
	set_check(state, settings, view_of(view, "head"));
	book_repairs(files, state, view_of(view, "budget"));
	settings_free(settings);
	return 0;
}

/* The period begins. False: there is no such run. */
static bool
choose(struct book *book, struct json_object *params, struct report_run *run,
    struct report_inputs *in)
{
	const char *wanted = json_string_or(params, "run", NULL);

	if (json_int_or(params, "since_ms", -1) >= 0) {
		in->from_ms = json_int_or(params, "since_ms", 0);
		return true;
	}
	if (wanted != NULL)
		run->wanted = xstrdup(wanted);
	book_find_run(book, run, NULL);
	if (wanted != NULL && !report_run_is_found(run))
		return false;
	in->run = run->id;
	in->first_run = run->first;
	in->from_ms = run->id != NULL ? run->from_ms : in->now_ms - DAY_MS;
	return true;
}

/* ... and ends. */
static void
close_period(
    const struct report_run *run, bool active, struct report_inputs *in)
{
	in->to_ms = in->now_ms;
	in->goes_on = true;
	if (run->id == NULL)
		return;
	in->goes_on = run->next_ms == 0 && active;
	in->to_ms = report_run_end(
	    run, in->spans, in->span_count, in->goes_on, in->now_ms);
}

static struct json_object *
make(struct book *book, const struct workspace *workspace,
    struct json_object *params, const struct report_run *run,
    struct report_inputs *in, struct err *err)
{
	struct json_object *report = NULL;
	bool live = json_bool_or(params, "live", false);
	struct materials files;
	struct state state;
	int r;

	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r < 0 && r != -ENOENT)
		return NULL;
	r = load(book, workspace, &state, live, in->from_ms, in->now_ms, &files,
	    err);
	if (r == 0 && !live)
		r = complete_view(workspace, &files, &state, in->view, err);
	if (r == 0) {
		in->ended = files.ended;
		in->repairs = files.repairs;
		in->events = files.events;
		in->spans = files.spans;
		in->span_count = files.span_count;
		close_period(run, json_bool_or(params, "active", false), in);
		report = report_make(in);
	}
	release(&files);
	state_release(&state);
	return report;
}

struct json_object *
look_report(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct report_inputs in = { .now_ms =
					json_int_or(params, "now_ms", 0) };
	struct report_run run = { 0 };
	struct json_object *view = NULL, *report;

	if (json_get_object(params, "", "view", &view, err) < 0)
		return NULL;
	in.view = view_complete(json_object_get(view));
	if (choose(book, params, &run, &in)) {
		report = make(book, workspace, params, &run, &in, err);
	} else {
		report = json_object_new_object();
		json_set_string(report, "unknown_run", run.last);
	}
	report_run_release(&run);
	json_object_put(in.view);
	return report;
}
