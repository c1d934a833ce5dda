/* SPDX-License-Identifier: ISC */

/* The JSON record of a task: one table for reading and writing. */

#include "base.h"
#include "schema.h"
#include "task-json.h"
#include "task-run.h"
#include "task.h"
#include "word.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct task, key, member, ##__VA_ARGS__)

/* In the order of struct task; every member but the id may be missing. The
 * priority, the history and what was spent are read and written by hand. */
static const struct schema_field fields[] = {
	FIELD("id", id),
	FIELD("source", source),
	FIELD("key", key),
	FIELD("title", title),
	FIELD("text", text),
	FIELD("maker", maker, .flags = SCHEMA_OMIT_UNSET),
	FIELD("sandbox", sandbox, .flags = SCHEMA_OMIT_UNSET),
	FIELD("label", label),
	FIELD("step", step, .words = task_step_words),
	FIELD("outcome", outcome, .words = task_outcome_words),
	FIELD("ask", ask, .words = ask_kind_words, .flags = SCHEMA_OMIT_UNSET),
	FIELD("worker", worker),
	FIELD("attempts", attempts),
	FIELD("attempts_allowed", attempts_allowed, .flags = SCHEMA_OMIT_UNSET),
	FIELD("avoid", avoid, .flags = SCHEMA_OMIT_UNSET),
	FIELD("turns", turns),
	FIELD("turns_before", turns_before),
	FIELD("nudges", nudges),
	FIELD("fixes", fixes),
	FIELD("created_ms", created_ms, .flags = SCHEMA_CLAMP),
	FIELD("assigned_ms", assigned_ms, .flags = SCHEMA_CLAMP),
	FIELD("finished_ms", finished_ms, .flags = SCHEMA_CLAMP),
	FIELD("tokens", tokens),
	FIELD("tokens_allowed", tokens_allowed),
	FIELD("cost_allowed", cost_allowed),
	FIELD("time_allowed_ms", time_allowed_ms),
	FIELD("turns_allowed", turns_allowed),
	FIELD("from", from),
	FIELD("base", base),
	FIELD("kept", kept),
	FIELD("lines_known", lines_known),
	FIELD("lines_added", lines_added),
	FIELD("lines_removed", lines_removed),
	FIELD("commit", commit),
	FIELD("move", move),
	FIELD("place", place),
	FIELD("held_by", held_by),
	FIELD("landed_before", landed_before),
	FIELD("run_id", run_id),
	FIELD("abort_why", abort_why),
	FIELD("abort_user", abort_user),
	FIELD("dropped", dropped, .flags = SCHEMA_OMIT_UNSET),
	FIELD("conversation", conversation, .flags = SCHEMA_OMIT_UNSET),
	FIELD("transcript", transcript, .flags = SCHEMA_OMIT_UNSET),
	FIELD("advice", advice),
	FIELD("reason", reason),
	FIELD("last_words", last_words),
};

const struct schema task_table = { .fields = fields, .count = nitems(fields) };

static struct json_object *
priority_to_json(const void *member)
{
	return json_object_new_string(
	    priority_name(*(const enum priority *)member));
}

/* Older records have a number, as task files do. */
static int
priority_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	enum priority *priority = member;
	unsigned word = PRIORITY_NORMAL;
	int r;

	if (json_object_is_type(json, json_type_int)) {
		*priority = priority_from_number(json_object_get_int64(json));
		return 0;
	}
	if (!json_object_is_type(json, json_type_string))
		return err_set(err, -EINVAL, "%s: expected a string, found %s",
		    at, json_type_words(json));
	r = word_parse(
	    json_object_get_string(json), at, priority_words, &word, err);
	if (r == 0)
		*priority = (enum priority)word;
	return r;
}

static struct json_object *
history_to_json(const void *member)
{
	return json_object_get(((const struct task *)member)->history);
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

/* Copy entry by entry: the document keeps its own, and the number of entries is
 * limited. */
static int
history_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	cleanup_buf struct buf item = BUF_INIT;
	int r = 0;

	if (!json_object_is_type(json, json_type_array))
		return err_set(err, -EINVAL, "%s: expected an array, found %s",
		    at, json_type_words(json));
	for (size_t i = 0; r == 0 && i < json_object_array_length(json); i++) {
		buf_clear(&item);
		json_path_index(&item, at, i);
		r = get_entry(
		    json_object_array_get_idx(json, i), item.data, member, err);
	}
	return r;
}

static void
history_release(void *member)
{
	json_object_put(take_ptr(&((struct task *)member)->history));
}

static const struct schema_own priority_own = {
	.size = sizeof(enum priority),
	.to_json = priority_to_json,
	.from_json = priority_from_json,
};
static const struct schema_own history_own = {
	.to_json = history_to_json,
	.from_json = history_from_json,
	.release = history_release,
};

static const struct schema plain = SCHEMA_OF(struct task, fields);

static const struct schema_field all[] = {
	SCHEMA_GROUP("", plain, .flags = SCHEMA_FLAT),
	SCHEMA_PART(
	    struct task, "", STRUCT, spent, spent_schema, .flags = SCHEMA_FLAT),
	SCHEMA_OWN(struct task, "priority", priority, SCHEMA_STRING,
	    priority_own, .words = priority_words),
	{ .name = "history",
	    .is_member = true,
	    .type = SCHEMA_ARRAY,
	    .own = &history_own },
	SCHEMA_PART(struct task, "run", POINTER, run, task_run_schema,
	    .flags = SCHEMA_OMIT_UNSET),
};

const struct schema task_schema = SCHEMA_OF(struct task, all);

struct json_object *
task_to_json(const struct task *task)
{
	return schema_json(&task_schema, task);
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
	r = schema_read(&task_schema, json, at, task, &words);
	if (r < 0) {
		task_free(task);
		return err_set(err, -EINVAL, "%s", words.msg);
	}
	/* Repair combinations that do not fit together, since the file may have
	 * been edited by hand: a task without a worker, or without an outcome,
	 * waits. */
	if ((task->step == TASK_ASSIGNED && task->worker == NULL) ||
	    (task->step == TASK_SETTLING && task->outcome == OUTCOME_NONE))
		task->step = TASK_WAITING;
	*ret_task = task;
	return 0;
}
