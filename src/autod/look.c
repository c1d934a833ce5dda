/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "book-history.h"
#include "book.h"
#include "check-book.h"
#include "config.h"
#include "event.h"
#include "show.h"
#include "history.h"
#include "jsonl.h"
#include "lock.h"
#include "look.h"
#include "metrics.h"
#include "moment.h"
#include "oversight-report.h"
#include "plan-floor.h"
#include "remove-tree.h"
#include "report.h"
#include "root-mark.h"
#include "settings.h"
#include "source.h"
#include "state-book.h"
#include "state-upgrade.h"
#include "state.h"
#include "version.h"
#include "view-state.h"
#include "view.h"
#include "word.h"
#include "worker.h"
#include "workspace.h"

#define PARAMS_MAX ((size_t)16 * 1024 * 1024) /* with a view in them */

/*
 * What is asked of the book about what has ended: each takes its parameters as
 * an object and returns its answer, owned by the caller, or NULL with err.
 * These read only, in a process of their own, so they may take their time.
 */
typedef struct json_object *
look_fn(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err);

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

/* Until a daemon has made the book, the state of the version before. -ENOENT:
 * there is none yet. -ENODATA with words: there was one (root-mark.h). */
static int
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

#define ASKS_MAX 500 /* that are listed */

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

struct goals {
	struct book *book;
	struct json_object *list;
	struct err *err;
	int r;
};

static bool
on_node(const struct book_record *record, void *arg)
{
	struct json_object *node = NULL;

	if (json_parse(record->body, strlen(record->body), BOOK_BODY_MAX, &node,
		NULL) == 0)
		json_object_array_add(arg, node);
	return true;
}

/* One goal after the other: their nodes are not all in memory. */
static bool
on_goal(const struct book_record *record, void *arg)
{
	struct goals *goals = arg;
	cleanup_json struct json_object *goal = NULL;
	cleanup_json struct json_object *nodes = json_object_new_array();
	struct json_object *entry;

	if (json_parse(record->body, strlen(record->body), BOOK_GOAL_MAX, &goal,
		NULL) < 0)
		return true;
	goals->r = book_read_bodies(goals->book, BOOK_NODE, record->goal_id,
	    NULL, on_node, nodes, goals->err);
	entry = goals->r == 0 ? plan_view_ended(goal, nodes) : NULL;
	if (entry != NULL)
		json_object_array_add(goals->list, entry);
	return goals->r == 0;
}

/* {}: the goals that have ended, as overseer.goal.list has the others. */
static struct json_object *
look_goals(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct goals goals = { book, json_object_new_array(), err, 0 };
	int r =
	    book_read_bodies(book, BOOK_GOAL, NULL, NULL, on_goal, &goals, err);

	(void)workspace;
	(void)params;
	return given(goals.list, r < 0 ? r : goals.r);
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

/* {"since_ms", "now_ms"}: records of attempts (perf-record.h), oldest first. */
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
	struct json_object *list = json_object_object_get(check, "detections");
	enum severity now[DETECTION_TYPES] = { SEVERITY_NONE };
	enum severity regression;
	size_t count = json_object_is_type(list, json_type_array) ?
	    json_object_array_length(list) :
	    0;

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
	struct json_object *act =
	    json_object_object_get(record, "intervention");
	struct json_object *outcome = json_object_object_get(record, "outcome");
	unsigned level, type, how;

	(void)seq;
	if (c->task == NULL || strcmp(c->task, task) != 0)
		begin_task(c, task);
	if (json_object_object_get(record, "iteration") != NULL)
		count_check(c, json_object_object_get(record, "check"));
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

/* The last asks (ask-record.h), open and ended, oldest first. */
static struct json_object *
look_asks(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	(void)workspace;
	(void)params;
	return book_list_asks(book, ASKS_MAX, err);
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

/* {"alive", "sections"}: the view (view.h) as far as the book and the files
 * tell it. alive: a daemon runs, but does not answer. Without a book, which
 * only the ended tasks need. */
static struct json_object *
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

/* --- the report --------------------------------------------------------- */

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

	json_get_object(record, "", "event", &event, NULL);
	if (!view_is(event, "type", REPORT_EVENT_OVERSIGHT) &&
	    !view_is(event, "type", REPORT_EVENT_CHECK))
		return true;
	row = view_row_event(record, 0);
	if (row == NULL)
		return true;
	json_object_object_del(row, "n");
	json_object_object_del(row, "level");
	view_pick(row, event,
	    (const char *const[]){ "result", "class", "action", NULL });
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
		struct json_object *row = view_repair_row(event);

		json_object_object_del(row, "at_unix");
		json_set_int(row, "at_ms", event->at_ms);
		json_set(row, "cost_micros",
		    event->cost > 0 ? json_object_new_int64(event->cost) :
				      NULL);
		json_object_array_add(files->repairs, row);
	}
	history_release(&history);
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

static struct json_object *
make(struct book *book, const struct workspace *workspace,
    struct json_object *params, const struct report_run *run,
    struct report_inputs *in, struct err *err)
{
	struct json_object *report = NULL;
	bool live = json_object_object_get_ex(params, "view", NULL);
	struct materials files;
	struct state state;
	int r;

	state_init(&state);
	r = look_read_state(workspace, &state, err);
	if (r < 0 && r != -ENOENT)
		return NULL;
	r = load(book, workspace, &state, live, in->from_ms, in->now_ms, &files,
	    err);
	if (r == 0) {
		if (!live)
			book_repairs(
			    &files, &state, view_of(in->view, "budget"));
		in->ended = files.ended;
		in->repairs = files.repairs;
		in->events = files.events;
		in->spans = files.spans;
		in->span_count = files.span_count;
		in->to_ms = in->now_ms;
		in->goes_on = true;
		if (run->id != NULL) {
			in->goes_on = run->next_ms == 0 &&
			    json_bool_or(params, "active", false);
			in->to_ms = report_run_end(run, in->spans,
			    in->span_count, in->goes_on, in->now_ms);
		}
		report = report_make(in);
	}
	json_object_put(files.ended);
	json_object_put(files.repairs);
	json_object_put(files.events);
	for (size_t i = 0; i < files.span_count; i++)
		work_span_release(&files.spans[i]);
	free(files.spans);
	state_release(&state);
	return report;
}

/* {"view" | "alive", "active", "now_ms", "since_ms" | "run"}: the report
 * (report.h). view: of a daemon; active: the last run goes on.
 * {"unknown_run": the last one or null} if there is no such run. */
static struct json_object *
look_report(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct report_inputs in = { .now_ms =
					json_int_or(params, "now_ms", 0) };
	struct report_run run = { 0 };
	struct json_object *view = NULL, *report;

	if (json_object_object_get_ex(params, "view", &view))
		in.view = view_complete(json_object_get(view));
	else
		in.view = look_view(NULL, workspace, params, err);
	if (in.view == NULL)
		return NULL;
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
	json_print(result, true, &text);
	return file_write_all(STDOUT_FILENO, text.data, text.len) < 0 ? 1 : 0;
}
