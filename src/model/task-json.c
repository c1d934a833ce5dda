/* SPDX-License-Identifier: ISC */

/* The record of a task, and the words in it: one table, read in both
 * directions. */

#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "task.h"
#include "text.h"
#include "word.h"

#define PRIORITY_MAX 4

static const char *const outcome_words[] = {
	[OUTCOME_NONE] = "none",
	[OUTCOME_LANDED] = "landed",
	[OUTCOME_NO_CHANGES] = "no_changes",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_ABORTED] = "aborted",
	[OUTCOME_DEAD_LETTER] = "dead-letter",
	[OUTCOME_COUNT] = NULL,
};

const char *
task_outcome_name(enum task_outcome outcome)
{
	return outcome_words[outcome];
}

bool
task_outcome_parse(const char *name, enum task_outcome *ret_outcome)
{
	unsigned index = 0;

	if (!word_find(outcome_words, name, &index))
		return false;
	*ret_outcome = (enum task_outcome)index;
	return true;
}

enum field_type {
	FIELD_STRING, /* char * */
	FIELD_COUNT, /* int, not negative */
	FIELD_PRIORITY, /* int, brought into its range */
	FIELD_SUM, /* int64_t, not negative */
	FIELD_TIME, /* int64_t; before 1970 = never */
	FIELD_STEP,
	FIELD_OUTCOME,
	FIELD_HISTORY, /* struct json_object * */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
};

#define AT(member) offsetof(struct task, member)

/* In the order of struct task; each member but the id may be missing. */
static const struct field fields[] = {
	{ "id", FIELD_STRING, AT(id) },
	{ "source", FIELD_STRING, AT(source) },
	{ "key", FIELD_STRING, AT(key) },
	{ "title", FIELD_STRING, AT(title) },
	{ "text", FIELD_STRING, AT(text) },
	{ "label", FIELD_STRING, AT(label) },
	{ "priority", FIELD_PRIORITY, AT(priority) },
	{ "step", FIELD_STEP, AT(step) },
	{ "outcome", FIELD_OUTCOME, AT(outcome) },
	{ "worker", FIELD_STRING, AT(worker) },
	{ "attempts", FIELD_COUNT, AT(attempts) },
	{ "turns", FIELD_COUNT, AT(turns) },
	{ "turns_before", FIELD_COUNT, AT(turns_before) },
	{ "nudges", FIELD_COUNT, AT(nudges) },
	{ "fixes", FIELD_COUNT, AT(fixes) },
	{ "created_ms", FIELD_TIME, AT(created_ms) },
	{ "assigned_ms", FIELD_TIME, AT(assigned_ms) },
	{ "finished_ms", FIELD_TIME, AT(finished_ms) },
	{ "tokens", FIELD_SUM, AT(tokens) },
	{ "tokens_allowed", FIELD_SUM, AT(tokens_allowed) },
	{ "cost", FIELD_SUM, AT(cost) },
	{ "cost_allowed", FIELD_SUM, AT(cost_allowed) },
	{ "time_allowed_ms", FIELD_SUM, AT(time_allowed_ms) },
	{ "turns_allowed", FIELD_COUNT, AT(turns_allowed) },
	{ "commit", FIELD_STRING, AT(commit) },
	{ "reason", FIELD_STRING, AT(reason) },
	{ "last_words", FIELD_STRING, AT(last_words) },
	{ "history", FIELD_HISTORY, AT(history) },
};

/* One member, seen as what its field says it is. */
union member {
	void *at;
	char **string;
	int *count;
	int64_t *sum;
	enum task_step *step;
	enum task_outcome *outcome;
	struct json_object **history;
};

static void
set_member(struct json_object *json, const struct field *field, union member m)
{
	const char *key = field->key;

	switch (field->type) {
	case FIELD_STRING:
		json_set_string(json, key, *m.string);
		break;
	case FIELD_COUNT:
	case FIELD_PRIORITY:
		json_set_int(json, key, *m.count);
		break;
	case FIELD_SUM:
	case FIELD_TIME:
		json_set_int(json, key, *m.sum);
		break;
	case FIELD_STEP:
		json_set_string(json, key, task_step_name(*m.step));
		break;
	case FIELD_OUTCOME:
		json_set_string(json, key, task_outcome_name(*m.outcome));
		break;
	case FIELD_HISTORY:
		json_set(json, key, json_object_get(*m.history));
		break;
	}
}

struct json_object *
task_to_json(const struct task *task)
{
	struct json_object *json = json_object_new_object();
	struct task view = *task; /* the same members, without const */

	for (size_t i = 0; i < nitems(fields); i++)
		set_member(json, &fields[i],
		    (union member){ .at = (char *)&view + fields[i].offset });
	return json;
}

static int
get_entry(struct json_object *entry, const char *at, struct task *task,
    struct err *err)
{
	const char *what = NULL, *detail = NULL;
	int64_t at_unix = 0;
	int r;

	r = json_get_int(
	    entry, at, "at_unix", 0, INT64_MAX / 1000, &at_unix, err);
	if (r == 0)
		r = json_get_string(entry, at, "what", &what, err);
	if (r < 0)
		return -EINVAL;
	r = json_get_string(entry, at, "detail", &detail, err);
	if (r < 0 && r != -ENOENT)
		return r;
	task_note(task, what, detail, at_unix * 1000);
	return 0;
}

/* Entry by entry: the document keeps its own, and no more come in than a task
 * may have. */
static int
get_history(struct json_object *json, const char *at, struct task *task,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *list = NULL;
	int r;

	r = json_get_array(json, at, "history", &list, err);
	if (r < 0)
		return r;
	json_path_key(&path, at, "history");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		r = get_entry(
		    json_object_array_get_idx(list, i), item.data, task, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
get_number(struct json_object *json, const char *at, const struct field *field,
    union member m, struct err *err)
{
	bool is_int =
	    field->type == FIELD_COUNT || field->type == FIELD_PRIORITY;
	bool is_sum = field->type == FIELD_COUNT || field->type == FIELD_SUM;
	int64_t number = 0;
	int r;

	r = json_get_int(json, at, field->key, is_sum ? 0 : INT64_MIN,
	    field->type == FIELD_COUNT ? INT_MAX : INT64_MAX, &number, err);
	if (r < 0)
		return r;
	if (number < 0)
		number = 0;
	if (field->type == FIELD_PRIORITY && number > PRIORITY_MAX)
		number = PRIORITY_MAX;
	if (is_int)
		*m.count = (int)number;
	else
		*m.sum = number;
	return 0;
}

static int
get_member(struct json_object *json, const char *at, const struct field *field,
    struct task *task, struct err *err)
{
	union member m = { .at = (char *)task + field->offset };
	const char *string = NULL;
	unsigned word = 0;
	int r = 0;

	switch (field->type) {
	case FIELD_STRING:
		r = json_get_string(json, at, field->key, &string, err);
		if (r == 0)
			xstrset(m.string, string);
		return r;
	case FIELD_COUNT:
	case FIELD_PRIORITY:
	case FIELD_SUM:
	case FIELD_TIME:
		return get_number(json, at, field, m, err);
	case FIELD_STEP:
		r = word_get(json, at, field->key, task_step_words, &word, err);
		if (r == 0)
			*m.step = (enum task_step)word;
		return r;
	case FIELD_OUTCOME:
		r = word_get(json, at, field->key, outcome_words, &word, err);
		if (r == 0)
			*m.outcome = (enum task_outcome)word;
		return r;
	case FIELD_HISTORY:
		return get_history(json, at, task, err);
	}
	return r;
}

/* Members that only make sense together, where a file was edited by hand: a
 * task that nobody has, or that ended nohow, is to be done. */
static void
mend(struct task *task)
{
	if ((task->step == TASK_ASSIGNED && task->worker == NULL) ||
	    (task->step == TASK_SETTLING && task->outcome == OUTCOME_NONE))
		task->step = TASK_WAITING;
}

int
task_from_json(struct json_object *json, const char *at, struct task **ret_task,
    struct err *err)
{
	struct task *task;
	struct err words = { 0 };
	const char *id = NULL;
	int r;

	r = json_get_string(json, at, "id", &id, &words);
	if (r == 0 && !text_is_name(id))
		r = err_set(&words, -EINVAL, "%s%sid: not a task's id", at,
		    *at == '\0' ? "" : ".");
	if (r < 0)
		return err_set(err, -EINVAL, "%s", words.msg);
	task = task_new(
	    id, NULL, NULL, NULL, json_string_or(json, "text", NULL), 0);
	for (size_t i = 0; i < nitems(fields); i++) {
		r = get_member(json, at, &fields[i], task, &words);
		if (r < 0 && r != -ENOENT) {
			task_free(task);
			return err_set(err, -EINVAL, "%s", words.msg);
		}
	}
	mend(task);
	*ret_task = task;
	return 0;
}
