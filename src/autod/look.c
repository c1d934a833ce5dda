/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "book-history.h"
#include "book.h"
#include "check-book.h"
#include "config.h"
#include "ladder.h"
#include "show.h"
#include "autod-private.h"
#include "metrics.h"
#include "workspace.h"
#include "settings.h"
#include "source.h"
#include "state-book.h"
#include "state.h"
#include "version.h"
#include "view-state.h"
#include "view.h"
#include "worker.h"

#define PARAMS_MAX ((size_t)16 * 1024 * 1024) /* with a view in them */

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

/* --- lists --------------------------------------------------------------- */

/* NULL if it could not be read. */
static struct json_object *
given(struct json_object *answer, int r)
{
	if (r < 0)
		json_object_put(take_ptr(&answer));
	return answer;
}

static bool
on_task(struct json_object *record, int64_t filed, void *arg)
{
	(void)filed;
	json_object_array_add(arg, json_object_get(record));
	return true;
}

/* Those that a worker has come first. */
static int
add_open(const struct workspace *workspace, struct json_object *list,
    struct err *err)
{
	struct state state;
	int r;

	state_init(&state);
	r = look_read_state(workspace, &state, err);
	for (int waiting = 0; waiting < 2; waiting++)
		for (size_t i = 0; i < state.task_count; i++)
			if ((state.tasks[i]->step <= TASK_WAITING) ==
			    (waiting == 1))
				json_object_array_add(
				    list, task_to_json(state.tasks[i]));
	state_release(&state);
	return r == -ENOENT ? 0 : r;
}

/* {"name" | "limit", "brief", "open"}: records of ended tasks, the newest
 * first; with "open", {"open", "ended"}. */
static struct json_object *
look_tasks(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct book_tasks which = {
		.name = json_string_or(params, "name", NULL),
		.limit = (size_t)json_int_or(params, "limit", 0),
		.brief = json_bool_or(params, "brief", false),
	};
	struct json_object *list = json_object_new_array(), *both, *open;
	int r = book_read_tasks(book, &which, on_task, list, err);

	if (!json_bool_or(params, "open", false))
		return given(list, r);
	both = json_object_new_object();
	open = json_object_new_array();
	json_set(both, "open", open);
	json_set(both, "ended", list);
	return given(both, r < 0 ? r : add_open(workspace, open, err));
}

/* {}: the goals that have ended, as overseer.goal.list has the others. */
static struct json_object *
look_goals(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *list = json_object_new_array();

	(void)workspace;
	(void)params;
	return given(list, look_read_goals(book, false, list, err));
}

static bool
on_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	json_object_array_add(arg, json_object_get(record));
	return true;
}

/* {"task"}: what oversight recorded of it, oldest first. */
static struct json_object *
look_turns(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *list = json_object_new_array();

	(void)workspace;
	return given(list,
	    book_read_turns(book, json_string_or(params, "task", ""), 0,
		on_turn, list, err));
}

static void
on_attempt(struct json_object *record, void *arg)
{
	json_object_array_add(arg, json_object_get(record));
}

/* {"since_ms", "now_ms"}: records of attempts (attempt.h), oldest first. */
static struct json_object *
look_attempts(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *list = json_object_new_array();

	(void)workspace;
	return given(list,
	    book_read_attempts(book, json_int_or(params, "since_ms", 0),
		json_int_or(params, "now_ms", 0), on_attempt, list, err));
}

/* --- what the turns add up to --------------------------------------------- */

struct counter {
	struct book *book;
	struct oversight_tally *tally;
	char *task; /* that is being counted */
	bool stopped; /* it was paused or aborted */
	enum severity burn, regression; /* of the iteration before */
	bool regressed_once; /* ... and not before that */
};

static void
count_check(struct counter *c, struct json_object *check)
{
	struct json_object *list = json_member(check, "detections");
	enum severity now[DETECTION_TYPES] = { SEVERITY_NONE };
	enum severity regression;
	size_t count = json_length(list);

	c->tally->iterations++;
	for (size_t i = 0; i < count; i++) {
		struct json_object *d = json_object_array_get_idx(list, i);
		unsigned type, severity;

		if (word_get(d, "", "type", detection_type_words, &type, NULL) <
			0 ||
		    word_get(
			d, "", "severity", severity_words, &severity, NULL) < 0)
			continue;
		c->tally->detections[type][severity]++;
		now[type] = (enum severity)severity;
	}
	regression = now[DETECTION_REGRESSION];
	if (c->burn == SEVERITY_NONE &&
	    now[DETECTION_RESOURCE_BURN] == SEVERITY_CRITICAL)
		c->tally->burns_late++;
	if (regression == SEVERITY_NONE && c->regressed_once)
		c->tally->regressions_brief++;
	c->regressed_once =
	    regression != SEVERITY_NONE && c->regression == SEVERITY_NONE;
	c->burn = now[DETECTION_RESOURCE_BURN];
	c->regression = regression;
}

/* The task is done with; the next one is another. */
static void
begin_task(struct counter *c, const char *task)
{
	struct task *ended =
	    c->stopped ? book_find_task(c->book, c->task) : NULL;

	c->tally->tasks_stopped += c->stopped;
	c->tally->tasks_stopped_landed +=
	    ended != NULL && ended->outcome == OUTCOME_LANDED;
	task_free(ended);
	xstrset(&c->task, task);
	c->stopped = c->regressed_once = false;
	c->burn = c->regression = SEVERITY_NONE;
}

static bool
on_counted(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	struct counter *c = arg;
	struct json_object *act = json_member(record, "intervention");
	struct json_object *outcome = json_member(record, "outcome");
	unsigned level, type, how;

	(void)seq;
	if (!text_is(c->task, task))
		begin_task(c, task);
	if (json_member(record, "iteration") != NULL)
		count_check(c, json_member(record, "check"));
	if (act != NULL &&
	    word_get(act, "", "level", progress_step_words, &level, NULL) ==
		0) {
		c->tally->interventions[level]++;
		c->stopped = c->stopped || level >= STEP_PAUSE;
	}
	if (outcome != NULL &&
	    word_get(outcome, "", "type", detection_type_words, &type, NULL) ==
		0 &&
	    word_get(outcome, "", "outcome", progress_outcome_words, &how,
		NULL) == 0)
		oversight_tally_outcome(c->tally, (enum detection_type)type,
		    (enum progress_outcome)how);
	return true;
}

/* What all of that adds up to: {"report", "text"}. */
static struct json_object *
look_tally(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct oversight_tally tally = { 0 };
	struct counter c = { .book = book, .tally = &tally };
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json;
	int r = book_read_turns(book, NULL, 0, on_counted, &c, err);

	(void)workspace;
	(void)params;
	begin_task(&c, NULL);
	if (r < 0)
		return NULL;
	oversight_report_text(&tally, &text);
	json = json_object_new_object();
	json_set(json, "report", oversight_report_json(&tally));
	json_set_string(json, "text", text.data);
	return json;
}

/* --- asks --------------------------------------------------------------- */

/* The last asks (ask.h), open and ended, oldest first. */
static struct json_object *
look_asks(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	(void)workspace;
	(void)params;
	return book_list_asks(book, LOOK_ASKS_MAX, err);
}

/* --- metrics ---------------------------------------------------------------
 */

static void
history_on_span(const struct work_span *span, void *arg)
{
	struct metrics *m = arg;

	m->uses[span->use] += span->to_ms - span->from_ms;
}

/* {"now_ms"}: what is measured while no daemon answers: {"text"}. Of a daemon
 * that was killed, the next one counts what goes on. */
static struct json_object *
look_metrics(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct metrics m = { .version = LLMC_VERSION };
	int64_t now = json_int_or(params, "now_ms", 0);
	cleanup_buf struct buf text = BUF_INIT;
	struct settings *settings = NULL;
	struct json_object *json;
	struct state state;
	int r;

	if (config_load_strict(workspace, &settings, err) < 0)
		return NULL;
	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r < 0 && r != -ENOENT) {
		settings_free(settings);
		return NULL;
	}
	metrics_state_fill(&state, settings, now, &m);
	if (state.daemon_running) { /* it was killed */
		book_open_spans(
		    book, workspace, &state, false, now, history_on_span, &m);
		m.beat_s = book_beat_ms(workspace) / 1000;
	}
	metrics_text(&m, &text);
	state_release(&state);
	settings_free(settings);
	json = json_object_new_object();
	json_set_string(json, "text", text.data);
	return json;
}

/* --- the view ----------------------------------------------------------- */

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

static bool
on_ended(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	json_set(arg, task->id, view_row_task(task));
	return true;
}

/* A daemon that was killed has left the statuses of its workers in the state.
 * Their sessions may go on, but nothing attends to them. */
static void
set_offline(struct state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		struct worker *w = state->workers[i];

		if (!worker_in_turn(w->status) &&
		    w->status != WORKER_STARTING &&
		    w->status != WORKER_ACCEPTING &&
		    w->status != WORKER_WAITING)
			continue;
		free(w->reason);
		w->reason = xasprintf("was %s when the daemon ended",
		    worker_status_name(w->status));
		w->status = WORKER_OFFLINE;
	}
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

struct json_object *
look_view(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	cleanup_free char *lock = workspace_path(workspace, "overseer.lock");
	cleanup_free char *dir = NULL;
	bool alive = json_bool_or(params, "alive", false);
	struct json_object *sections = NULL, *view = NULL;
	struct settings *settings = NULL;
	struct settings_problems problems;
	struct view_files *files;
	struct source_todo *todo;
	struct state state;
	int r;

	if (config_load_with(workspace, NULL, &settings, &problems, err) < 0)
		return NULL;
	settings_problems_release(&problems);
	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r == 0 || r == -ENOENT) {
		json_get_array(params, "", "sections", &sections, NULL);
		if (!alive)
			set_offline(&state);
		view = view_new();
		view_state_fill(&state, settings, NULL, sections, view);
		view_state_alone(&state, settings, workspace, view);
		set_check(&state, settings, view_of(view, "head"));
		files = view_files_new(workspace);
		view_files_fill(files, view);
		view_files_free(files);
		json_set_bool(view_of(view, "head"), "daemon_gone",
		    !alive && state.daemon_running && lock_is_held(lock) != 1);
		if (view_wants(sections, "ended") &&
		    open_history(workspace, &book, &dir, NULL) == 0)
			book_each_task(book,
			    &(struct book_tasks){
				.limit = SHOW_ENDED_MAX, .oldest_first = true },
			    on_ended, view_of(view, "ended"), NULL);
		if (view_wants(sections, "todo")) {
			todo = source_todo_new();
			source_todo_fill(todo, settings, workspace, view);
			source_todo_free(todo);
		}
		if (view_wants(sections, VIEW_EVENTS))
			json_set(
			    view, VIEW_EVENTS, view_files_events(workspace));
		view_needs(view);
		view_keep(view, sections);
	}
	book_close(book);
	if (dir != NULL)
		remove_tree(dir);
	state_release(&state);
	settings_free(settings);
	return view;
}

/* --- all of them -------------------------------------------------------- */

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
	if (r == 0 && fn != look_view)
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
		{ "charts", look_charts },
		{ "goals", look_goals },
		{ "metrics", look_metrics },
		{ "report", look_report },
		{ "tally", look_tally },
		{ "tasks", look_tasks },
		{ "turns", look_turns },
		{ "view", look_view },
	};
	cleanup_json struct json_object *result = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct state state;
	int r = err_set(&err, -EINVAL, "--look: there is no %s", name);

	if (strcmp(name, "state") == 0) {
		state_init(&state);
		r = look_read_state(workspace, &state, &err);
		result =
		    r == 0 ? state_to_json(&state) : json_object_new_object();
		state_release(&state);
		r = r == -ENOENT ? 0 : r;
	}
	for (size_t i = 0; i < nitems(looks); i++)
		if (strcmp(looks[i].name, name) == 0)
			r = look_history(workspace, looks[i].fn, &result, &err);
	if (r < 0) {
		fprintf(stderr, "autod: %s\n", err.msg);
		return 1;
	}
	/* People read the state; what is long is read by programs only. */
	json_print(result, strcmp(name, "charts") != 0, &text);
	return file_write_all(STDOUT_FILENO, text.data, text.len) < 0 ? 1 : 0;
}
