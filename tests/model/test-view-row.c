/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "behaviour.h"
#include "schema.h"
#include "task.h"
#include "view.h"
#include "worker.h"

#define NOW ((int64_t)1700000000 * 1000)

static const char *
text_of(struct json_object *row, const char *key)
{
	return json_string_or(row, key, "-");
}

static bool
is_null(struct json_object *row, const char *key)
{
	struct json_object *value = row;

	return json_object_object_get_ex(row, key, &value) && value == NULL;
}

/* --- members --------------------------------------------------------- */

TEST(a_text_is_cut_between_characters)
{
	cleanup_json struct json_object *row = json_object_new_object();

	view_row_text(row, "short", "abc", 3);
	view_row_text(row, "cut", "ab\xc3\xa4", 3);
	view_row_text(row, "none", NULL, 3);
	ck_assert_str_eq(text_of(row, "short"), "abc");
	ck_assert_str_eq(text_of(row, "cut"), "ab");
	ck_assert(is_null(row, "none"));
}

TEST(a_moment_is_in_seconds_and_never_is_null)
{
	cleanup_json struct json_object *row = json_object_new_object();

	view_row_moment(row, "at", NOW + 999);
	view_row_moment(row, "never", 0);
	ck_assert_int_eq(json_int_or(row, "at", 0), NOW / 1000);
	ck_assert(is_null(row, "never"));
}

/* --- workers --------------------------------------------------------- */

static const struct {
	const char *name, *mode;
} modes[] = {
	{ "adam", "hand" },
	{ "auto-1", "auto" },
	{ "team-1", "team" },
};

TEST_ROWS(the_mode_follows_from_the_name, nitems(modes))
{
	struct worker *w = worker_new(modes[_i].name, NOW);
	cleanup_json struct json_object *row = view_row_worker(w, NULL);

	ck_assert_str_eq(text_of(row, "mode"), modes[_i].mode);
	schema_free(&worker_table, w);
}

TEST(a_worker_by_hand_shows_its_prompt_and_reason_on_a_line)
{
	struct worker *w = worker_new("adam", NOW);
	cleanup_json struct json_object *row = NULL;

	xstrset(&w->prompt, "Add a flag\n\nMore about it");
	xstrset(&w->reason, "it failed:\n\tno space\n");
	row = view_row_worker(w, NULL);
	ck_assert_str_eq(text_of(row, "title"), "Add a flag More about it");
	ck_assert_str_eq(text_of(row, "reason"), "it failed: no space");
	ck_assert_str_eq(text_of(row, "remark"), "it failed: no space");
	ck_assert(!json_object_object_get_ex(row, "attempt", NULL));
	ck_assert_str_eq(text_of(row, "status"), "offline");
	ck_assert_int_eq(json_int_or(row, "since_unix", 0), NOW / 1000);
	schema_free(&worker_table, w);
}

TEST(a_worker_with_a_task_shows_what_it_cost)
{
	struct worker *w = worker_new("auto-1", NOW);
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	cleanup_json struct json_object *row = NULL, *priced = NULL;

	xstrset(&w->prompt, "the prompt");
	task->attempts = 2;
	task->turns = 3;
	row = view_row_worker(w, task);
	ck_assert_str_eq(text_of(row, "title"), "A title");
	ck_assert_int_eq(json_int_or(row, "attempt", 0), 2);
	ck_assert_int_eq(json_int_or(row, "turns", 0), 3);
	/* Unknown is not 0. */
	ck_assert(is_null(row, "cost_micros"));
	ck_assert_str_eq(text_of(row, "cost_source"), "unknown");
	task->spent.cost = 410000;
	priced = view_row_worker(w, task);
	ck_assert_int_eq(json_int_or(priced, "cost_micros", 0), 410000);
	ck_assert_str_eq(text_of(priced, "cost_source"), "reported");
	task_free(task);
	schema_free(&worker_table, w);
}

TEST(a_remark_tells_what_to_do)
{
	struct worker *w = worker_new("auto-1", NOW);
	cleanup_buf struct buf remark = BUF_INIT;

	view_row_remark(w, &remark);
	ck_assert_str_eq(remark.data, "");
	xstrset(&w->health, "stuck");
	view_row_remark(w, &remark);
	ck_assert_str_eq(remark.data,
	    "oversight says stuck; look at it with: llmc task iterations auto-1");
	buf_clear(&remark);
	xstrset(&w->finding, "Stuck: the same failure 5 times");
	view_row_remark(w, &remark);
	ck_assert_str_eq(remark.data,
	    "oversight says stuck: Stuck: the same failure 5 times; look at it "
	    "with: llmc task iterations auto-1");
	buf_clear(&remark);
	w->on_hold = true;
	view_row_remark(w, &remark);
	ck_assert_str_eq(
	    remark.data, "on hold; continue with: llmc resume auto-1");
	buf_clear(&remark);
	w->status = WORKER_WORKING;
	view_row_remark(w, &remark);
	ck_assert_ptr_nonnull(
	    strstr(remark.data, "pauses at the end of its turn"));
	buf_clear(&remark);
	w->status = WORKER_PAUSED;
	w->over_budget = w->blocked = true;
	xstrset(&w->reason, "R");
	view_row_remark(w, &remark);
	ck_assert_msg(strncmp(remark.data, "R (paused for: ", 15) == 0, "%s",
	    remark.data);
	schema_free(&worker_table, w);
}

TEST(a_worker_in_error_tells_how_to_go_on)
{
	struct worker *w = worker_new("adam", NOW);
	cleanup_buf struct buf remark = BUF_INIT;

	w->status = WORKER_ERROR;
	xstrset(&w->reason, "no disk");
	view_row_remark(w, &remark);
	ck_assert_str_eq(remark.data,
	    "no disk; when the cause is gone, start over with: llmc reset adam");
	buf_clear(&remark);
	xstrset(&w->reason, "type: llmc reset adam");
	view_row_remark(w, &remark);
	ck_assert_str_eq(remark.data, "type: llmc reset adam");
	schema_free(&worker_table, w);
}

TEST(what_oversight_found_is_shown_in_words)
{
	cleanup_json struct json_object *row = NULL;
	struct detection d;

	detection_init(&d, DETECTION_STUCK, SEVERITY_HIGH);
	xstrset(&d.message, "the same error three times");
	row = view_row_oversight(&d, "warn", 7);
	ck_assert_str_eq(text_of(row, "detection"), "stuck");
	ck_assert_str_eq(text_of(row, "severity"), "high");
	ck_assert_str_eq(text_of(row, "message"), "the same error three times");
	ck_assert_str_eq(text_of(row, "intervention"), "warn");
	ck_assert_int_eq(json_int_or(row, "iteration", 0), 7);
	detection_release(&d);
}

/* --- tasks ----------------------------------------------------------- */

static struct json_object *
entry(int at)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "at_unix", at);
	json_set_string(json, "what", "w");
	json_set_string(json, "detail", "d");
	return json;
}

TEST(a_task_shows_the_end_of_its_history)
{
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	cleanup_json struct json_object *row = NULL;
	struct json_object *list;

	for (int i = 1; i <= 10; i++)
		json_object_array_add(task->history, entry(i));
	task->turns_before = 4;
	task->turns = 2;
	row = view_row_task(task);
	list = json_object_object_get(row, "history");
	ck_assert_uint_eq(json_object_array_length(list), VIEW_HISTORY);
	ck_assert_int_eq(
	    json_int_or(json_object_array_get_idx(list, 0), "at_unix", 0), 5);
	ck_assert_int_eq(json_int_or(row, "turns", 0), 6);
	ck_assert(!json_object_object_get_ex(row, "outcome", NULL));
	task_free(task);
}

TEST(a_task_that_has_ended_tells_how)
{
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	cleanup_json struct json_object *row = NULL, *held = NULL;

	task->outcome = OUTCOME_LANDED;
	task->finished_ms = NOW + 5000;
	xstrset(&task->held_by, "beef");
	held = view_row_task(task);
	ck_assert_str_eq(text_of(held, "commit"), "beef");
	xstrset(&task->commit, "cafe");
	task->finished_ms = NOW - 1; /* the clock was set back */
	row = view_row_task(task);
	ck_assert_str_eq(text_of(row, "commit"), "cafe");
	ck_assert_str_eq(text_of(row, "outcome"), "landed");
	ck_assert_int_eq(json_int_or(held, "wall_ms", -1), 5000);
	ck_assert_int_eq(json_int_or(row, "wall_ms", -1), 0);
	task_free(task);
}

TEST(a_row_is_bounded_whatever_the_task_has)
{
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	cleanup_free char *words = xcalloc(1, 100001);
	cleanup_json struct json_object *row = NULL, *brief = NULL;
	struct json_object *list = json_object_new_array();
	struct json_object *report;

	memset(words, 'x', 100000);
	xstrset(&task->key, words);
	xstrset(&task->reason, words);
	xstrset(&task->last_words, words);
	task->attempts = 1;
	report = task->attempt.report = json_object_new_object();
	json_set_string(report, "summary", words);
	json_set_int(report, "n", 7);
	json_object_array_add(list, json_object_new_string(words));
	json_set(report, "artifacts", list);
	row = view_row_task(task);
	ck_assert_uint_lt(strlen(json_object_to_json_string_ext(row, 0)), 4096);
	report = json_object_object_get(row, "completion");
	ck_assert_uint_eq(strlen(text_of(report, "summary")), VIEW_WORDS_MAX);
	ck_assert_int_eq(json_int_or(report, "n", 0), 7);
	brief = view_row_task_brief(task);
	ck_assert_uint_lt(
	    strlen(json_object_to_json_string_ext(brief, 0)), 1536);
	task_free(task);
}

/* --- has it changed? ------------------------------------------------- */

/* Another value of the same type; the words are those of steps, outcomes and
 * priorities. */
static struct json_object *
other_value(struct json_object *value)
{
	static const char *const pairs[][2] = { { "assigned", "parked" },
		{ "landed", "failed" }, { "normal", "high" },
		{ "none", "budget" } };
	const char *text = json_object_get_string(value);

	if (json_object_is_type(value, json_type_boolean))
		return json_object_new_boolean(!json_object_get_boolean(value));
	if (json_object_is_type(value, json_type_int))
		return json_object_new_int64(
		    json_object_get_int64(value) + 5000);
	for (size_t i = 0; i < nitems(pairs); i++)
		if (strcmp(text, pairs[i][0]) == 0)
			return json_object_new_string(pairs[i][1]);
	return json_object_new_string("other");
}

static void
fill_texts(struct json_object *record, struct json_object *empty)
{
	json_object_object_foreach(empty, key, value)
	{
		if (value == NULL &&
		    strcmp(key, "held_by") != 0) /* the commit is shown */
			json_set_string(record, key, "text");
	}
}

/* A task with a value in each member. The caller owns it. */
static struct json_object *
full_record(void)
{
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	cleanup_json struct json_object *empty = NULL;
	struct json_object *record;

	task->step = TASK_ASSIGNED;
	task->outcome = OUTCOME_LANDED;
	task->finished_ms = NOW + 60000;
	task->lines_known = true;
	usage_add(&task->spent.usage, "m", USAGE_OUTPUT, 1);
	empty = task_to_json(task);
	record = task_to_json(task);
	fill_texts(record, empty);
	task_free(task);
	return record;
}

static struct task *
read_task(struct json_object *record)
{
	struct task *task = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    task_from_json(record, "", &task, &err) == 0, "%s", err.msg);
	return task;
}

/* Of one member: a row that differs has another mark. */
static bool
expect_mark(
    struct json_object *record, const char *key, struct json_object *value)
{
	cleanup_json struct json_object *other = NULL, *row = NULL, *now = NULL;
	struct task *before = read_task(record), *after;
	bool shown;

	ck_assert_int_eq(json_object_deep_copy(record, &other, NULL), 0);
	json_set(other, key, other_value(value));
	after = read_task(other);
	row = view_row_task(before);
	now = view_row_task(after);
	shown = !json_object_equal(row, now);
	ck_assert_msg(
	    !shown || view_row_task_mark(before) != view_row_task_mark(after),
	    "%s", key);
	task_free(before);
	task_free(after);
	return shown;
}

TEST(whatever_a_row_shows_changes_its_mark)
{
	cleanup_json struct json_object *record = full_record();
	int shown = 0;

	json_object_object_foreach(record, key, value)
	{
		if (value != NULL &&
		    !json_object_is_type(value, json_type_array) &&
		    !json_object_is_type(value, json_type_object))
			shown += expect_mark(record, key, value);
	}
	ck_assert_int_ge(shown, 20);
}

TEST(tokens_and_history_change_a_mark)
{
	struct task *task =
	    task_new("t1", "folder", "a.md", "A title", "text", NOW);
	uint64_t first, second;

	first = view_row_task_mark(task);
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(view_row_task_mark(task), first);
	json_object_array_add(task->history, entry(3));
	second = view_row_task_mark(task);
	ck_assert_uint_ne(second, first);
	usage_add(&task->spent.usage, "m", USAGE_OUTPUT, 1);
	ck_assert_uint_ne(view_row_task_mark(task), second);
	task_free(task);
}
