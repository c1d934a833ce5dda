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
	/* What was only observed was not done. */
	if (act != NULL &&
	    strcmp(json_string_or(act, "by", ""), "observe") != 0 &&
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

/* --- metrics ------------------------------------------------------ */

static void
history_on_span(const struct work_span *span, void *arg)
{
	struct metrics *m = arg;

	m->uses[span->use] += span->to_ms - span->from_ms;
}

/* {"now_ms", "alive"}: what is measured while no daemon answers: {"text"}. Of a
 * daemon that was killed, the next one counts what goes on. */
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
	if (state.daemon_running) { /* it was killed */
		book_open_spans(
		    book, workspace, &state, false, now, history_on_span, &m);
		m.beat_s = book_beat_ms(workspace) / 1000;
	}
	if (!json_bool_or(params, "alive", false))
		look_set_offline(&state);
	metrics_state_fill(&state, settings, now, &m);
	metrics_text(&m, &text);
	state_release(&state);
	settings_free(settings);
	json = json_object_new_object();
	json_set_string(json, "text", text.data);
	return json;
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
		r = look_open_history(workspace, &book, &dir, err);
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
