/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "state-auto.h"
#include "state.h"
#include "strv.h"
#include "task-json.h"
#include "text.h"
#include "worker.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct state, key, member, ##__VA_ARGS__)

/* Other programs read some of these too, so the names are fixed. */
static const struct schema_field fields[] = {
	FIELD("task_ids", task_ids),
	FIELD("auto_mode", auto_mode),
	FIELD("run_ids", run_ids),
	FIELD("run_id", run_id),
	FIELD("run_key", run_key),
	FIELD("run_ms", run_ms),
	FIELD("repairs_ms", repairs_ms),
	FIELD("source_waits", source_waits),
	FIELD("last_task_completion_unix", last_task_completion_unix,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("last_task_assignment_unix", last_task_assignment_unix,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("source_repo_dirty_retry_after_unix",
	    source_repo_dirty_retry_after_unix, .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("source_repo_dirty_backoff_secs", source_repo_dirty_backoff_secs,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("source_repo_dirty_retry_count", source_repo_dirty_retry_count,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("errors", errors),
	FIELD("paused", paused),
	FIELD("outage_since_unix", outage_since_unix,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("goals", goals),
	FIELD("counters", counters),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

static const struct schema_field today_fields[] = {
	FIELD("day", today.day),
	FIELD("tokens", today.tokens),
	FIELD("cost", today.cost),
	FIELD("tokens_allowed", today.tokens_allowed),
	FIELD("cost_allowed", today.cost_allowed),
};
static const struct schema today_schema = { .fields = today_fields,
	.count = nitems(today_fields) };

/* --- accounts -------------------------------------------------------- */

struct account *
state_auto_account(
    const struct state *state, const char *transcript, int64_t from_ms)
{
	for (size_t i = 0; i < state->account_count; i++) {
		struct account *account = state->accounts[i];

		if (account->from_ms == from_ms &&
		    strcmp(account->transcript, transcript) == 0)
			return account;
	}
	return NULL;
}

void
state_auto_add_account(struct state *state, struct account *account)
{
	state->accounts = xreallocarray(state->accounts,
	    state->account_count + 1, sizeof(struct account *));
	state->accounts[state->account_count++] = account;
}

void
state_auto_remove_account(struct state *state, struct account *account)
{
	size_t i = 0;

	while (state->accounts[i] != account)
		i++;
	state->account_count--;
	memmove(state->accounts + i, state->accounts + i + 1,
	    (state->account_count - i) * sizeof(struct account *));
	account_free(account);
}

/* --- writing --------------------------------------------------------- */

static struct json_object *
outcomes_to_json(const struct state *state)
{
	struct json_object *json = json_object_new_object();

	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		json_set_int(json, task_outcome_name((enum task_outcome)i),
		    (int64_t)state->outcomes[i]);
	return json;
}

static struct json_object *
tasks_to_json(const struct state *state)
{
	struct json_object *json = json_object_new_array();

	for (size_t i = 0; i < state->task_count; i++)
		json_object_array_add(json, task_to_json(state->tasks[i]));
	return json;
}

static struct json_object *
accounts_to_json(const struct state *state)
{
	struct json_object *json = json_object_new_array();

	for (size_t i = 0; i < state->account_count; i++)
		json_object_array_add(
		    json, account_to_json(state->accounts[i]));
	return json;
}

void
state_auto_members_to_json(const struct state *state, struct json_object *json)
{
	struct json_object *today = json_object_new_object();

	schema_add(&schema, state, json);
	schema_add(&today_schema, state, today);
	json_set(json, "today", today);
	json_set(json, "outcomes", outcomes_to_json(state));
	json_set(json, "auto_workers", strv_to_json(state->auto_workers));
}

void
state_auto_rows_to_json(const struct state *state, struct json_object *json)
{
	json_set(json, "tasks", tasks_to_json(state));
	json_set(json, "days", daybook_to_json(&state->days));
	json_set(json, "accounts", accounts_to_json(state));
}

/* --- reading --------------------------------------------------------- */

/* A member may be missing, but not have another type. */
static int
optional(int r)
{
	return r == -ENOENT ? 0 : r;
}

static int
parse_today(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *today = NULL;
	int r;

	r = json_get_object(json, "", "today", &today, err);
	if (r < 0)
		return optional(r);
	return schema_read(&today_schema, today, "today", state, err);
}

static int
parse_outcomes(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *outcomes = NULL;
	int64_t number;
	int r;

	r = json_get_object(json, "", "outcomes", &outcomes, err);
	if (r < 0)
		return optional(r);
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
		number = 0;
		r = optional(json_get_int(outcomes, "outcomes",
		    task_outcome_name((enum task_outcome)i), 0, INT64_MAX,
		    &number, err));
		if (r < 0)
			return r;
		state->outcomes[i] = (uint64_t)number;
	}
	return 0;
}

static int
parse_workers(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *list = NULL, *item;
	int r;

	r = json_get_array(json, "", "auto_workers", &list, err);
	if (r < 0)
		return optional(r);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		item = json_object_array_get_idx(list, i);
		if (!json_object_is_type(item, json_type_string))
			return err_set(err, -EINVAL,
			    "auto_workers[%zu]: expected a string, found %s", i,
			    json_type_words(item));
		if (!text_is_name(json_object_get_string(item)))
			return err_set(err, -EINVAL,
			    "auto_workers[%zu]: not a worker's name", i);
	}
	if (json_object_array_length(list) > 0)
		state->auto_workers = strv_from_json(list);
	return 0;
}

static int
parse_task(struct json_object *json, size_t index, struct state *state,
    struct err *err)
{
	cleanup_buf struct buf at = BUF_INIT;
	struct task *task = NULL;
	int r;

	json_path_index(&at, "tasks", index);
	r = task_from_json(json, at.data, &task, err);
	if (r < 0)
		return r;
	if (state_task(state, task->id) != NULL) {
		task_free(task);
		return err_set(
		    err, -EINVAL, "%s.id: another task has this id", at.data);
	}
	state_add_task(state, task);
	return 0;
}

static int
parse_tasks(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *list = NULL;
	size_t count;
	int r;

	r = json_get_array(json, "", "tasks", &list, err);
	if (r < 0)
		return optional(r);
	count = json_object_array_length(list);
	for (size_t i = 0; i < count && r == 0; i++)
		r = parse_task(
		    json_object_array_get_idx(list, i), i, state, err);
	return r;
}

static int
parse_days(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *list = NULL;
	int r;

	r = json_get_array(json, "", "days", &list, err);
	if (r < 0)
		return optional(r);
	return daybook_from_json(list, "days", &state->days, err);
}

static int
parse_accounts(struct json_object *json, struct state *state, struct err *err)
{
	struct json_object *list = NULL;
	int r;

	r = json_get_array(json, "", "accounts", &list, err);
	if (r < 0)
		return optional(r);
	for (size_t i = 0; i < json_object_array_length(list) && r == 0; i++) {
		cleanup_buf struct buf at = BUF_INIT;
		struct account *account = NULL;

		json_path_index(&at, "accounts", i);
		r = account_from_json(
		    json_object_array_get_idx(list, i), at.data, &account, err);
		if (r == 0)
			state_auto_add_account(state, account);
	}
	return r;
}

static int64_t
amount(struct json_object *record, const char *key)
{
	int64_t number = json_int_or(record, key, 0);

	return number > 0 ? number : 0;
}

/* A daemon that had no accounts noted in the worker's record what it had booked
 * of its conversation. */
static void
open_accounts(struct json_object *json, struct state *state)
{
	struct json_object *workers = NULL, *record = NULL;

	json_object_object_get_ex(json, "workers", &workers);
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		const struct session_record *s = &w->session;
		struct account *account;

		if (s->transcript == NULL ||
		    !json_object_object_get_ex(workers, w->name, &record) ||
		    strcmp(json_string_or(record, "usage_transcript", ""),
			s->transcript) != 0 ||
		    state_auto_account(state, s->transcript, s->history_ms) !=
			NULL)
			continue;
		account = account_new(s->transcript, s->history_ms, w->name);
		xstrset(&account->task, w->task);
		account->known_tokens = amount(record, "usage_tokens");
		account->known_cost = amount(record, "usage_cost");
		state_auto_add_account(state, account);
	}
}

int
state_auto_from_json(
    struct json_object *json, struct state *state, struct err *err)
{
	int r;

	r = schema_read(&schema, json, "", state, err);
	if (r == 0)
		r = parse_today(json, state, err);
	if (r == 0)
		r = parse_outcomes(json, state, err);
	if (r == 0)
		r = parse_workers(json, state, err);
	if (r == 0)
		r = parse_tasks(json, state, err);
	if (r == 0)
		r = parse_days(json, state, err);
	if (r == 0)
		r = parse_accounts(json, state, err);
	if (r == 0)
		open_accounts(json, state);
	return r;
}

void
state_auto_release(struct state *state)
{
	for (size_t i = 0; i < state->account_count; i++)
		account_free(state->accounts[i]);
	free(state->accounts);
	state->accounts = NULL;
	state->account_count = 0;
	daybook_release(&state->days);
	for (size_t i = 0; i < state->task_count; i++)
		task_free(state->tasks[i]);
	free(state->tasks);
	state->tasks = NULL;
	state->task_count = 0;
	strv_clear(&state->auto_workers);
	free(take_ptr(&state->paused));
	free(take_ptr(&state->run_id));
	free(take_ptr(&state->run_key));
	json_object_put(take_ptr(&state->goals));
	json_object_put(take_ptr(&state->counters));
}

void
state_auto_set_workers(struct state *state, int count)
{
	strv_clear(&state->auto_workers);
	for (int i = 1; i <= count; i++)
		strv_take(&state->auto_workers, xasprintf("auto-%d", i));
}

void
state_auto_unlist_worker(struct state *state, const char *name)
{
	strv_remove(state->auto_workers, name);
}
