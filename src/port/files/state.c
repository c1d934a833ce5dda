/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "account.h"
#include "ask.h"
#include "id.h"
#include "place.h"
#include "schema.h"
#include "state.h"
#include "task.h"
#include "version.h"
#include "worker.h"
#include "workspace.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct state, key, member, ##__VA_ARGS__)

static const struct schema_field today_fields[] = {
	FIELD("day", today.day),
	FIELD("tokens", today.tokens),
	FIELD("cost", today.cost),
	FIELD("tokens_allowed", today.tokens_allowed),
	FIELD("cost_allowed", today.cost_allowed),
};
static const struct schema today_schema = SCHEMA_OF(struct state, today_fields);

static const struct schema_field window_fields[] = {
	FIELD("five_hour", windows[WINDOW_FIVE_HOUR].used),
	FIELD("five_hour_resets_ms", windows[WINDOW_FIVE_HOUR].resets_ms),
	FIELD("five_hour_seen_ms", windows[WINDOW_FIVE_HOUR].seen_ms),
	FIELD("seven_day", windows[WINDOW_SEVEN_DAY].used),
	FIELD("seven_day_resets_ms", windows[WINDOW_SEVEN_DAY].resets_ms),
	FIELD("seven_day_seen_ms", windows[WINDOW_SEVEN_DAY].seen_ms),
};
static const struct schema windows_schema =
    SCHEMA_OF(struct state, window_fields);

static const struct schema_field outcome_fields[] = {
	FIELD("landed", outcomes[OUTCOME_LANDED]),
	FIELD("no_changes", outcomes[OUTCOME_NO_CHANGES]),
	FIELD("failed", outcomes[OUTCOME_FAILED]),
	FIELD("aborted", outcomes[OUTCOME_ABORTED]),
	FIELD("dead-letter", outcomes[OUTCOME_DEAD_LETTER]),
};
_Static_assert(
    nitems(outcome_fields) == OUTCOME_COUNT - 1, "a counter for every outcome");
static const struct schema outcomes_schema =
    SCHEMA_OF(struct state, outcome_fields);

/* Other programs read some of these too, so the names are fixed. */
static const struct schema_field member_fields[] = {
	FIELD("receipts", receipts),
	FIELD("last_reviewed", last_reviewed),
	FIELD("daemon_running", daemon_running),
	FIELD("task_ids", task_ids),
	FIELD("goal_ids", goal_ids),
	FIELD("auto_mode", auto_mode),
	FIELD("run_ids", run_ids),
	FIELD("run_id", run_id),
	FIELD("run_key", run_key),
	FIELD("agent_version", agent_version),
	FIELD("agent_version_run", agent_version_run),
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
	FIELD("source_repo_dirty_reason", source_repo_dirty_reason),
	FIELD("landed_elsewhere", elsewhere),
	FIELD("errors", errors),
	FIELD("paused", paused),
	FIELD("forge", forge),
	FIELD("held", held),
	FIELD("held_until_ms", held_until_ms, .flags = SCHEMA_ZERO_IS_NULL),
	SCHEMA_GROUP("windows", windows_schema),
	FIELD("outage_since_unix", outage_since_unix,
	    .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("goals", goals),
	FIELD("counters", counters),
	SCHEMA_GROUP("today", today_schema),
	SCHEMA_GROUP("outcomes", outcomes_schema),
	FIELD("auto_workers", auto_workers),
};

static int
check_members(void *record, const char *at, struct err *err)
{
	const struct state *state = record;

	(void)at;
	for (size_t i = 0; i < strv_count(state->auto_workers); i++)
		if (!text_is_name(state->auto_workers[i]))
			return err_set(err, -EINVAL,
			    "auto_workers[%zu]: not a worker's name", i);
	return 0;
}

static const struct schema members_schema =
    SCHEMA_OF(struct state, member_fields, .check = check_members);

static struct json_object *
tasks_to_json(const void *member)
{
	const struct state *state = member;
	struct json_object *json = json_object_new_array();

	for (size_t i = 0; i < state->task_count; i++)
		json_object_array_add(json, task_to_json(state->tasks[i]));
	return json;
}

static int
tasks_from_json(
    struct json_object *list, const char *at, void *member, struct err *err)
{
	struct state *state = member;
	int r = 0;

	if (!json_object_is_type(list, json_type_array))
		return err_set(err, -EINVAL, "%s: expected an array, found %s",
		    at, json_type_words(list));
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		cleanup_buf struct buf path = BUF_INIT;
		struct task *task = NULL;

		json_path_index(&path, at, i);
		r = task_from_json(
		    json_object_array_get_idx(list, i), path.data, &task, err);
		if (r == 0 && state_task(state, task->id) != NULL) {
			task_free(task);
			r = err_set(err, -EINVAL,
			    "%s.id: another task has this id", path.data);
		} else if (r == 0) {
			state_add_task(state, task);
		}
	}
	return r;
}

static void
tasks_release(void *member)
{
	struct state *state = member;

	for (size_t i = 0; i < state->task_count; i++)
		task_free(state->tasks[i]);
	free(state->tasks);
}

static const struct schema_own tasks_own = {
	.to_json = tasks_to_json,
	.from_json = tasks_from_json,
	.release = tasks_release,
};

/* Each is a row of its own in the book. */
static const struct schema_field row_fields[] = {
	SCHEMA_PART(
	    struct state, "landings", STRUCT, landings, landing_record_schema),
	{ .name = "tasks",
	    .is_member = true,
	    .type = SCHEMA_ARRAY,
	    .own = &tasks_own },
	SCHEMA_PARTS(
	    struct state, "days", ROWS, days.days, days.count, daybook_schema),
	SCHEMA_PARTS(struct state, "accounts", POINTERS, accounts,
	    account_count, account_schema),
	SCHEMA_PARTS(
	    struct state, "asks", POINTERS, asks, ask_count, ask_schema),
};

static int
check_rows(void *record, const char *at, struct err *err)
{
	struct state *state = record;

	(void)at;
	(void)err;
	daybook_sort(&state->days);
	return 0;
}

static const struct schema rows_schema =
    SCHEMA_OF(struct state, row_fields, .check = check_rows);

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
	schema_free(&account_schema, account);
}

void
state_auto_set_workers(struct state *state, int count)
{
	strv_clear(&state->auto_workers);
	for (int i = 1; i <= count; i++)
		strv_take(&state->auto_workers, xasprintf("auto-%d", i));
}

void
state_init(struct state *state)
{
	memset(state, 0, sizeof *state);
	id_uuid(state->root_id);
}

void
state_release(struct state *state)
{
	for (size_t i = 0; i < state->count; i++)
		schema_free(&worker_table, state->workers[i]);
	free(state->workers);
	schema_release(&members_schema, state);
	schema_release(&rows_schema, state);
	json_object_put(state->rest);
	memset(state, 0, sizeof *state);
}

/* The index of the worker, or where it would have to be inserted. */
static size_t
state_place(const struct state *state, const char *name, bool *ret_found)
{
	size_t low = 0, high = state->count, middle;
	int order;

	*ret_found = false;
	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(state->workers[middle]->name, name);
		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct worker *
state_find(const struct state *state, const char *name)
{
	bool found;
	size_t at = state_place(state, name, &found);

	return found ? state->workers[at] : NULL;
}

void
state_add(struct state *state, struct worker *worker)
{
	bool found;
	size_t at = state_place(state, worker->name, &found);

	if (found)
		fatalx("two workers named %s", worker->name);
	state->workers = xreallocarray(
	    state->workers, state->count + 1, sizeof(struct worker *));
	memmove(state->workers + at + 1, state->workers + at,
	    (state->count - at) * sizeof(struct worker *));
	state->workers[at] = worker;
	state->count++;
}

bool
state_give_indexes(struct state *state)
{
	cleanup_free int *taken = xcalloc(state->count + 1, sizeof *taken);
	bool given = false;

	for (size_t i = 0; i < state->count; i++) {
		taken[i] = state->workers[i]->index;
		if (taken[i] > PLACE_INDEX_MAX || place_is_slot(taken[i]))
			taken[i] = 0;
		for (size_t j = 0; j < i; j++)
			if (taken[j] == taken[i])
				taken[i] = 0;
	}
	for (size_t i = 0; i < state->count; i++) {
		if (taken[i] > 0)
			continue;
		taken[i] = place_lowest(taken, state->count);
		state->workers[i]->index = taken[i];
		given = true;
	}
	return given;
}

void
state_remove(struct state *state, const char *name)
{
	bool found;
	size_t at = state_place(state, name, &found);

	if (!found)
		return;
	schema_free(&worker_table, state->workers[at]);
	state->count--;
	memmove(state->workers + at, state->workers + at + 1,
	    (state->count - at) * sizeof(struct worker *));
}

char *
state_task_id(struct state *state)
{
	char *id = NULL;

	/* A file edited by hand may have a task ahead of its counter. */
	do {
		free(id);
		id = xasprintf("t%" PRIu64 "%s%s", ++state->task_ids,
		    state->host != NULL ? "-" : "",
		    state->host != NULL ? state->host : "");
	} while (state_task(state, id) != NULL);
	return id;
}

struct task *
state_task(const struct state *state, const char *id)
{
	for (size_t i = 0; id != NULL && i < state->task_count; i++)
		if (strcmp(state->tasks[i]->id, id) == 0)
			return state->tasks[i];
	return NULL;
}

bool
state_has_queue(const struct state *state)
{
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->step == TASK_WAITING)
			return true;
	return state->source_waits;
}

struct task *
state_task_named(const struct state *state, const char *word, struct err *err)
{
	struct task *found = NULL, *other = NULL;
	int best = 0;

	for (size_t i = 0; i < state->task_count; i++) {
		struct task *t = state->tasks[i];
		int fits = task_named(t->id, t->source, t->key, word);

		if (fits == 0 || fits < best)
			continue;
		other = fits == best ? found : NULL;
		found = t;
		best = fits;
	}
	if (found == NULL)
		err_set(err, -ENOENT, "no task in progress is called %s", word);
	else if (other != NULL)
		err_set(err, -EINVAL,
		    "%s may be %s (%s) or %s (%s); type one of these ids", word,
		    other->id, other->key, found->id, found->key);
	return other == NULL ? found : NULL;
}

struct task *
state_task_by_key(
    const struct state *state, const char *source, const char *key)
{
	for (size_t i = 0; i < state->task_count; i++) {
		struct task *task = state->tasks[i];

		if (task->source != NULL && task->key != NULL &&
		    strcmp(task->source, source) == 0 &&
		    strcmp(task->key, key) == 0)
			return task;
	}
	return NULL;
}

void
state_add_task(struct state *state, struct task *task)
{
	if (state_task(state, task->id) != NULL)
		fatalx("two tasks with the id %s", task->id);
	state->tasks = xreallocarray(
	    state->tasks, state->task_count + 1, sizeof(struct task *));
	state->tasks[state->task_count++] = task;
}

void
state_remove_task(struct state *state, const char *id)
{
	size_t at = 0;

	while (at < state->task_count && strcmp(state->tasks[at]->id, id) != 0)
		at++;
	if (at == state->task_count)
		return;
	task_free(state->tasks[at]);
	state->task_count--;
	memmove(state->tasks + at, state->tasks + at + 1,
	    (state->task_count - at) * sizeof(struct task *));
}

void
state_add_ask(struct state *state, struct ask *ask)
{
	state->asks = xreallocarray(
	    state->asks, state->ask_count + 1, sizeof(struct ask *));
	state->asks[state->ask_count++] = ask;
	if (ask->nr > state->ask_ids)
		state->ask_ids = ask->nr;
}

struct ask *
state_ask(const struct state *state, const char *key)
{
	for (size_t i = 0; i < state->ask_count; i++)
		if (strcmp(state->asks[i]->key, key) == 0)
			return state->asks[i];
	return NULL;
}

struct ask *
state_ask_named(const struct state *state, const char *typed)
{
	struct ask *found = NULL;
	bool clear = true;
	int best = 0;

	for (size_t i = 0; i < state->ask_count; i++) {
		int named = ask_named(state->asks[i], typed);

		if (named == 0 || named < best)
			continue;
		clear = named > best || named == ASK_NAMED_BEST;
		found = named > best ? state->asks[i] : found;
		best = named;
	}
	return clear ? found : NULL;
}

void
state_take_ask(struct state *state, const struct ask *ask)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->ask_count; i++)
		if (state->asks[i] != ask)
			state->asks[kept++] = state->asks[i];
	state->ask_count = kept;
}

int
state_check(const struct state *state, const char *root_id, int *ret_missing,
    struct err *err)
{
	int listed = 0, missing = 0;

	if (root_id != NULL && strcmp(root_id, state->root_id) != 0)
		return err_set(err, -ESTALE,
		    "the state belongs to another root (its id is %s, here it "
		    "is %s); restore the right llmc.db, or run: llmc doctor "
		    "--rebuild",
		    state->root_id, root_id);
	for (char **name = state->auto_workers; name != NULL && *name != NULL;
	     name++) {
		listed++;
		if (state_find(state, *name) == NULL)
			missing++;
	}
	if (listed > 0 && missing == listed)
		return err_set(err, -ENODATA,
		    "the state lists %d auto worker%s and has none of them: "
		    "restore the right llmc.db, or run: llmc doctor --rebuild",
		    listed, listed == 1 ? "" : "s");
	if (ret_missing != NULL)
		*ret_missing = missing;
	return 0;
}

static void
copy_members(struct json_object *from, struct json_object *to)
{
	struct json_object_iter it;

	json_object_object_foreachC(from, it)
	{
		json_set(to, it.key, json_object_get(it.val));
	}
}

struct json_object *
state_members_to_json(const struct state *state)
{
	struct json_object *json = json_object_new_object(), *landings;
	struct landing_record record = state->landings;

	record.count = 0;
	landings = schema_json(&landing_record_schema, &record);
	json_object_object_del(landings, "items");
	json_set_string(json, "root_id", state->root_id);
	json_set(json, "landings", landings);
	schema_add(&members_schema, state, json);
	if (state->rest != NULL)
		copy_members(state->rest, json);
	return json;
}

struct json_object *
state_to_json(const struct state *state)
{
	struct json_object *json = state_members_to_json(state);
	struct json_object *workers = json_object_new_object();

	for (size_t i = 0; i < state->count; i++)
		json_set(workers, state->workers[i]->name,
		    schema_json(&worker_table, state->workers[i]));
	json_set(json, "workers", workers);
	schema_add(&rows_schema, state, json);
	return json;
}

static int
parse_root_id(struct json_object *json, struct state *state, struct err *err)
{
	const char *root_id = NULL;
	int r = json_get_string(json, "", "root_id", &root_id, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!id_uuid_valid(root_id))
		return err_set(err, -EINVAL, "root_id: expected a UUID");
	strlcpy(state->root_id, root_id, sizeof state->root_id);
	return 0;
}

static int
parse_worker(const char *name, struct json_object *json, int64_t now_ms,
    struct state *state, struct err *err)
{
	cleanup_buf struct buf at = BUF_INIT;
	struct worker *worker = NULL;
	int r;

	json_path_key(&at, "workers", name);
	r = worker_from_json(json, at.data, now_ms, &worker, err);
	if (r < 0)
		return r;
	if (strcmp(worker->name, name) != 0) {
		schema_free(&worker_table, worker);
		return err_set(err, -EINVAL,
		    "%s.name: expected the same name as its key", at.data);
	}
	state_add(state, worker);
	return 0;
}

static int
parse_workers(struct json_object *json, int64_t now_ms, struct state *state,
    struct err *err)
{
	struct json_object *workers = NULL;
	struct json_object_iter it;
	int r;

	r = json_get_object(json, "", "workers", &workers, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_object_object_foreachC(workers, it)
	{
		r = parse_worker(it.key, it.val, now_ms, state, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Keep the members that only a newer version knows. */
static void
keep_rest(struct json_object *json, struct state *state)
{
	static const struct state nothing;
	cleanup_json struct json_object *known = state_to_json(&nothing);
	cleanup_json struct json_object *rest = json_object_new_object();
	struct json_object_iter it;

	copy_members(json, rest);
	json_object_object_foreachC(known, it)
	{
		json_object_object_del(rest, it.key);
	}
	if (json_object_object_length(rest) > 0)
		state->rest = json_object_get(rest);
}

int
state_from_json(struct json_object *json, int64_t now_ms,
    struct state *ret_state, struct err *err)
{
	struct state state;
	int r;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "expected an object, found %s",
		    json_type_words(json));
	state_init(&state);
	r = parse_root_id(json, &state, err);
	if (r == 0)
		r = parse_workers(json, now_ms, &state, err);
	if (r == 0)
		r = schema_read(&members_schema, json, "", &state, err);
	if (r == 0)
		r = schema_read(&rows_schema, json, "", &state, err);
	if (r < 0) {
		state_release(&state);
		/* -ENOENT from a missing member also means that it is
		 * malformed. */
		if (err != NULL)
			err->code = -EINVAL;
		return -EINVAL;
	}
	keep_rest(json, &state);
	*ret_state = state;
	return 0;
}

int
state_parse(const char *bytes, size_t len, int64_t now_ms,
    struct state *ret_state, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_parse(bytes, len, STATE_SIZE_MAX, &json, err);

	return r < 0 ? r : state_from_json(json, now_ms, ret_state, err);
}

/* A damaged book that was put aside by a daemon that was then killed is read by
 * the next one. */
static bool
has_damaged_book(const struct workspace *workspace)
{
	cleanup_dir DIR *dir = opendir(workspace->dir);
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		if (text_begins(name, "llmc.corrupt-") ||
		    text_begins(name, "llmc.db."))
			return true;
	return false;
}

bool
state_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err)
{
	cleanup_free char *book = workspace_path(workspace, WORKSPACE_BOOK);

	return !file_exists(book) && !has_damaged_book(workspace) &&
	    root_id_is_lost(workspace, worktrees, err);
}
