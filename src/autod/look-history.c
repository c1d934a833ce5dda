/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "book-history.h"
#include "book.h"
#include "config.h"
#include "eyes-history.h"
#include "look-private.h"
#include "look.h"
#include "metrics-state.h"
#include "metrics-text.h"
#include "oversight-report.h"
#include "plan-view.h"
#include "settings.h"
#include "state.h"
#include "view-row.h"
#include "word.h"
#include "work-span.h"
#include "workspace.h"

#define ASKS_MAX 500 /* that are listed */

/* --- lists --------------------------------------------------------------- */

static void
add(struct json_object *list, struct json_object *record)
{
	json_object_array_add(list, json_object_get(record));
}

static bool
on_task(struct json_object *record, int64_t filed, void *arg)
{
	(void)filed;
	add(arg, record);
	return true;
}

struct json_object *
look_tasks(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct book_tasks which = {
		.name = json_string_or(params, "name", NULL),
		.limit = (size_t)json_int_or(params, "limit", 0),
		.brief = json_bool_or(params, "brief", false),
	};
	struct json_object *list = json_object_new_array();

	(void)workspace;
	if (book_read_tasks(book, &which, on_task, list, err) == 0)
		return list;
	json_object_put(list);
	return NULL;
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

struct json_object *
look_goals(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct goals goals = { book, json_object_new_array(), err, 0 };
	int r =
	    book_read_bodies(book, BOOK_GOAL, NULL, NULL, on_goal, &goals, err);

	(void)workspace;
	(void)params;
	if (r == 0 && goals.r == 0)
		return goals.list;
	json_object_put(goals.list);
	return NULL;
}

static bool
on_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	add(arg, record);
	return true;
}

struct json_object *
look_turns(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *list = json_object_new_array();

	(void)workspace;
	if (book_read_turns(book, json_string_or(params, "task", ""), 0,
		on_turn, list, err) == 0)
		return list;
	json_object_put(list);
	return NULL;
}

static void
on_attempt(struct json_object *record, void *arg)
{
	add(arg, record);
}

struct json_object *
look_attempts(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *list = json_object_new_array();

	(void)workspace;
	if (book_read_attempts(book, json_int_or(params, "since_ms", 0),
		json_int_or(params, "now_ms", 0), on_attempt, list, err) == 0)
		return list;
	json_object_put(list);
	return NULL;
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

struct json_object *
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

/* --- the view
 * ----------------------------------------------------------------- */

static bool
on_ended(const struct task *task, int64_t filed, void *arg)
{
	(void)filed;
	json_set(arg, task->id, view_row_task(task));
	return true;
}

struct json_object *
look_view(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct json_object *json = json_object_new_object();
	struct json_object *rows = json_object_new_object();

	(void)workspace;
	(void)params;
	json_set(json, "ended", rows);
	if (book_each_task(book,
		&(struct book_tasks){
		    .limit = EYES_ENDED_MAX, .oldest_first = true },
		on_ended, rows, err) < 0) {
		json_object_put(json);
		return NULL;
	}
	return json;
}

/* --- asks --------------------------------------------------------------- */

struct json_object *
look_asks(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	(void)workspace;
	(void)params;
	return book_list_asks(book, ASKS_MAX, err);
}

/* --- metrics ----------------------------------------------------------------
 */

static void
on_span(const struct work_span *span, void *arg)
{
	struct metrics *m = arg;

	m->uses[span->use] += span->to_ms - span->from_ms;
}

/* Of a daemon that was killed, the next one counts what goes on. */
struct json_object *
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
		    book, workspace, &state, false, now, on_span, &m);
		m.beat_s = book_beat_ms(workspace) / 1000;
	}
	metrics_text(&m, &text);
	state_release(&state);
	settings_free(settings);
	json = json_object_new_object();
	json_set_string(json, "text", text.data);
	return json;
}
