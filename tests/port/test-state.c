/* SPDX-License-Identifier: ISC */

#include "id.h"
#include "unit.h"
#include "state.h"
#include "worker.h"

#define NOW   INT64_C(1700000000000)
#define OTHER "00000000-0000-4000-8000-000000000000"

static char *
text_of(const struct state *state)
{
	cleanup_json struct json_object *json = state_to_json(state);
	struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return buf_take(&text);
}

static void
parse(const char *text, struct state *ret_state)
{
	struct err err = { 0, "" };

	ck_assert_msg(
	    state_parse(text, strlen(text), NOW, ret_state, &err) == 0, "%s",
	    err.msg);
}

static struct task *
add_task(struct state *state, const char *source, const char *key)
{
	cleanup_free char *id = state_task_id(state);
	struct task *task = task_new(id, source, key, NULL, "Mend it.\n", NOW);

	state_add_task(state, task);
	return task;
}

/* Every member differs from its initial value. */
static void
fill(struct state *state)
{
	struct task *task;

	state_init(state);
	state_auto_set_workers(state, 2);
	state_add(state, worker_new("auto-1", NOW));
	state_add(state, worker_new("auto-2", NOW));
	add_task(state, "folder", "b.md");
	task = add_task(state, "command", "7");
	task_take(task, NOW);
	task_assign(task, "auto-1", NOW);
	task_note(task, "assigned", "auto-1 \xc3\xa4", NOW);
	add_task(state, "folder", "a.md");
	state->auto_mode = true;
	state->last_task_completion_unix = 1;
	state->last_task_assignment_unix = 2;
	state->source_repo_dirty_retry_after_unix = 3;
	state->source_repo_dirty_backoff_secs = 4;
	state->source_repo_dirty_retry_count = 5;
	state->today = (struct budget_day){ 6, 7, 8, 9, 10, 0, 0 };
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		state->outcomes[i] = (uint64_t)(100 + i);
	state->errors = 11;
	state->paused = xstrdup("the day's budget is spent");
	state->outage_since_unix = 12;
}

TEST(workers_are_sorted_and_found)
{
	static const char *const names[] = { "m", "a", "z", "auto-10", "auto-2",
		"b" };
	ended_by(state_release) struct state state;

	state_init(&state);
	for (size_t i = 0; i < nitems(names); i++)
		state_add(&state, worker_new(names[i], NOW));
	for (size_t i = 1; i < state.count; i++)
		ck_assert_str_lt(
		    state.workers[i - 1]->name, state.workers[i]->name);
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_str_eq(state_find(&state, names[i])->name, names[i]);
	ck_assert_ptr_null(state_find(&state, "auto"));
	state_remove(&state, "auto");
	ck_assert_uint_eq(state.count, nitems(names));
	for (size_t i = 0; i < nitems(names); i++) {
		state_remove(&state, names[i]);
		ck_assert_ptr_null(state_find(&state, names[i]));
		ck_assert_uint_eq(state.count, nitems(names) - 1 - i);
	}
}

/* Whatever the file says: no number twice, none without ports of its own. */
TEST(each_worker_has_a_number_of_its_own)
{
	static const int before[] = { 3, 0, 3, 5000, 201, -7, 1 };
	static const int after[] = { 3, 2, 4, 5, 6, 7, 1 };
	ended_by(state_release) struct state state;

	state_init(&state);
	for (size_t i = 0; i < nitems(before); i++) {
		struct worker *w =
		    worker_new((char[]){ (char)('a' + i), '\0' }, NOW);

		w->index = before[i];
		state_add(&state, w);
	}
	ck_assert(state_give_indexes(&state));
	for (size_t i = 0; i < nitems(after); i++)
		ck_assert_int_eq(state.workers[i]->index, after[i]);
	ck_assert(!state_give_indexes(&state));
}

TEST(unknown_members_are_kept)
{
	static const char text[] =
	    "{\"receipts\":3,\"from_the_future\":{\"a\":[1,2.5,null]},"
	    "\"nothing\":null,\"workers\":{},\"auto_mode\":true,"
	    "\"auto_modes\":[1],\"tasks\":[],\"plan\":{\"tasks\":null}}";
	cleanup_json struct json_object *json = NULL;
	struct json_object *value;
	ended_by(state_release) struct state state;

	parse(text, &state);
	ck_assert_int_eq(json_object_object_length(state.rest), 4);
	json = state_to_json(&state);
	ck_assert(json_object_object_get_ex(json, "from_the_future", &value));
	ck_assert_str_eq(
	    json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN),
	    "{\"a\":[1,2.5,null]}");
	ck_assert(json_object_object_get_ex(json, "nothing", NULL));
	ck_assert(json_object_object_get_ex(json, "auto_modes", NULL));
	ck_assert(json_object_object_get_ex(json, "plan", NULL));
	ck_assert_int_eq(json_int_or(json, "receipts", 0), 3);
	ck_assert(json_bool_or(json, "auto_mode", false));
}

TEST(everything_comes_back)
{
	cleanup_free char *want = NULL, *found = NULL;
	struct state a, b;

	fill(&a);
	want = text_of(&a);
	parse(want, &b);
	found = text_of(&b);
	ck_assert_str_eq(want, found);
	ck_assert_ptr_null(b.rest);
	ck_assert_uint_eq(b.task_count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(b.tasks[i]->id, a.tasks[i]->id);
	ck_assert_str_eq(b.tasks[1]->worker, "auto-1");
	ck_assert_int_eq(b.tasks[1]->step, TASK_ASSIGNED);
	ck_assert_uint_eq(b.task_ids, 3);
	ck_assert(b.auto_mode);
	ck_assert_str_eq(b.auto_workers[0], "auto-1");
	ck_assert_str_eq(b.auto_workers[1], "auto-2");
	ck_assert_ptr_null(b.auto_workers[2]);
	ck_assert_int_eq(b.last_task_completion_unix, 1);
	ck_assert_int_eq(b.last_task_assignment_unix, 2);
	ck_assert_int_eq(b.source_repo_dirty_retry_after_unix, 3);
	ck_assert_int_eq(b.source_repo_dirty_backoff_secs, 4);
	ck_assert_int_eq(b.source_repo_dirty_retry_count, 5);
	ck_assert_mem_eq(&b.today, &a.today, sizeof a.today);
	ck_assert_mem_eq(b.outcomes, a.outcomes, sizeof a.outcomes);
	ck_assert_uint_eq(b.errors, 11);
	ck_assert_str_eq(b.paused, a.paused);
	ck_assert_int_eq(b.outage_since_unix, 12);
	state_release(&a);
	state_release(&b);
}

/* Other programs read these. */
TEST(the_names_in_the_file_are_fixed)
{
	static const struct {
		const char *key, *value;
	} rows[] = {
		{ "auto_mode", "true" },
		{ "auto_workers", "[\"auto-1\",\"auto-2\"]" },
		{ "last_task_completion_unix", "1" },
		{ "last_task_assignment_unix", "2" },
		{ "source_repo_dirty_retry_after_unix", "3" },
		{ "source_repo_dirty_backoff_secs", "4" },
		{ "source_repo_dirty_retry_count", "5" },
		{ "task_ids", "3" },
		{ "today",
		    "{\"day\":6,\"tokens\":7,\"cost\":8,"
		    "\"tokens_allowed\":9,\"cost_allowed\":10}" },
		{ "outcomes",
		    "{\"landed\":101,\"no_changes\":102,\"failed\":103,"
		    "\"aborted\":104,\"dead-letter\":105}" },
		{ "errors", "11" },
		{ "paused", "\"the day's budget is spent\"" },
		{ "outage_since_unix", "12" },
	};
	cleanup_json struct json_object *json = NULL;
	struct json_object *value = NULL;
	ended_by(state_release) struct state state;

	fill(&state);
	json = state_to_json(&state);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		ck_assert_msg(
		    json_object_object_get_ex(json, rows[i].key, &value), "%s",
		    rows[i].key);
		json_print(value, false, &text);
		ck_assert_str_eq(text.data, rows[i].value);
	}
}

TEST(what_is_missing_or_null_is_nothing)
{
	static const char *const texts[] = {
		"{}",
		"{\"tasks\":null,\"task_ids\":null,\"auto_mode\":null,"
		"\"auto_workers\":null,"
		"\"last_task_completion_unix\":null,"
		"\"last_task_assignment_unix\":null,"
		"\"source_repo_dirty_retry_after_unix\":null,"
		"\"source_repo_dirty_backoff_secs\":null,"
		"\"source_repo_dirty_retry_count\":null,\"today\":null,"
		"\"outcomes\":null,\"errors\":null,\"paused\":null,"
		"\"outage_since_unix\":null}",
		"{\"tasks\":[],\"auto_workers\":[],\"today\":{}}",
		"{\"today\":{\"day\":null},\"outcomes\":{\"landed\":null}}",
	};
	struct state state, empty;

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_free char *found = NULL, *want = NULL;

		parse(texts[i], &state);
		ck_assert(id_uuid_valid(state.root_id));
		state_init(&empty);
		memcpy(empty.root_id, state.root_id, sizeof empty.root_id);
		found = text_of(&state);
		want = text_of(&empty);
		ck_assert_str_eq(found, want);
		ck_assert_ptr_null(state.auto_workers);
		ck_assert_ptr_null(state.rest);
		state_release(&state);
		state_release(&empty);
	}
}

TEST(never_is_written_as_null)
{
	static const char *const keys[] = { "last_task_completion_unix",
		"last_task_assignment_unix",
		"source_repo_dirty_retry_after_unix",
		"source_repo_dirty_backoff_secs",
		"source_repo_dirty_retry_count", "outage_since_unix",
		"paused" };
	cleanup_json struct json_object *json = NULL;
	struct json_object *value;
	ended_by(state_release) struct state state;

	state_init(&state);
	json = state_to_json(&state);
	for (size_t i = 0; i < nitems(keys); i++) {
		value = json;
		ck_assert(json_object_object_get_ex(json, keys[i], &value));
		ck_assert_ptr_null(value);
	}
}

TEST(complaints_name_the_member)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "[]", "expected an object" },
		{ "{\"root_id\":\"x\"}", "root_id: expected a UUID" },
		{ "{\"root_id\":5}", "root_id: expected a string" },
		{ "{\"receipts\":-1}", "receipts: expected an integer" },
		{ "{\"receipts\":1.5}", "receipts: expected an integer" },
		{ "{\"last_reviewed\":[]}", "last_reviewed: " },
		{ "{\"daemon_running\":1}", "daemon_running: " },
		{ "{\"workers\":5}", "workers: expected an object" },
		{ "{\"workers\":{\"adam\":null}}", "workers.adam" },
		{ "{\"workers\":{\"adam\":{}}}", "workers.adam.name" },
		{ "{\"workers\":{\"adam\":{\"name\":\"eve\"}}}",
		    "workers.adam.name: expected the same name as its key" },
		{ "{\"workers\":{\"adam\":{\"name\":\"adam\","
		  "\"status\":\"dancing\"}}}",
		    "workers.adam.status" },
		{ "{\"workers\":{\"../x\":{\"name\":\"../x\"}}}",
		    "workers.../x" },
		{ "{\"auto_mode\":1}", "auto_mode: expected a boolean" },
		{ "{\"last_task_completion_unix\":\"1\"}",
		    "last_task_completion_unix: expected an integer" },
		{ "{\"last_task_assignment_unix\":-1}",
		    "last_task_assignment_unix: expected an integer from 0" },
		{ "{\"source_repo_dirty_retry_after_unix\":1.5}",
		    "source_repo_dirty_retry_after_unix: " },
		{ "{\"source_repo_dirty_backoff_secs\":[]}",
		    "source_repo_dirty_backoff_secs: " },
		{ "{\"source_repo_dirty_retry_count\":2147483648}",
		    "source_repo_dirty_retry_count: expected an integer from 0 "
		    "to 2147483647" },
		{ "{\"task_ids\":-1}", "task_ids: " },
		{ "{\"task_ids\":9223372036854775808}", "task_ids: " },
		{ "{\"errors\":{}}", "errors: " },
		{ "{\"paused\":true}", "paused: expected a string" },
		{ "{\"outage_since_unix\":false}", "outage_since_unix: " },
		{ "{\"today\":[]}", "today: expected an object" },
		{ "{\"today\":{\"day\":\"x\"}}", "today.day: " },
		{ "{\"today\":{\"tokens\":-1}}", "today.tokens: " },
		{ "{\"today\":{\"cost\":0.5}}", "today.cost: " },
		{ "{\"today\":{\"tokens_allowed\":{}}}",
		    "today.tokens_allowed: " },
		{ "{\"today\":{\"cost_allowed\":[]}}", "today.cost_allowed: " },
		{ "{\"outcomes\":[]}", "outcomes: expected an object" },
		{ "{\"outcomes\":{\"landed\":-1}}", "outcomes.landed: " },
		{ "{\"outcomes\":{\"dead-letter\":\"\"}}",
		    "outcomes.dead-letter: " },
		{ "{\"auto_workers\":{}}", "auto_workers: expected an array" },
		{ "{\"auto_workers\":[\"auto-1\",2]}",
		    "auto_workers[1]: expected a string, found " },
		{ "{\"auto_workers\":[null]}",
		    "auto_workers[0]: expected a string, found " },
		{ "{\"auto_workers\":[\"../x\"]}",
		    "auto_workers[0]: not a worker's name" },
		{ "{\"days\":{}}", "days: expected an array" },
		{ "{\"days\":[null]}", "days[0]" },
		{ "{\"days\":[{\"cost\":1}]}", "days[0].day" },
		{ "{\"days\":[{\"day\":1,\"usage\":[]}]}",
		    "days[0].usage: expected an object" },
		{ "{\"accounts\":{}}", "accounts: expected an array" },
		{ "{\"accounts\":[7]}", "accounts[0]" },
		{ "{\"accounts\":[{}]}", "accounts[0].transcript" },
		{ "{\"accounts\":[{\"transcript\":\"/t\",\"filed\":3}]}",
		    "accounts[0].filed: expected an object" },
		{ "{\"tasks\":{}}", "tasks: expected an array" },
		{ "{\"tasks\":[null]}", "tasks[0]" },
		{ "{\"tasks\":[{\"id\":\"t1\"},{}]}", "tasks[1].id" },
		{ "{\"tasks\":[{\"id\":\"t1\",\"step\":\"asleep\"}]}",
		    "tasks[0].step: " },
		{ "{\"tasks\":[{\"id\":\"t1\",\"attempts\":\"x\"}]}",
		    "tasks[0].attempts: " },
		{ "{\"tasks\":[{\"id\":\"t1\"},{\"id\":\"t2\"},"
		  "{\"id\":\"t1\"}]}",
		    "tasks[2].id: another task has this id" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0, "" };
		struct state state;

		ck_assert_msg(state_parse(rows[i].text, strlen(rows[i].text),
				  NOW, &state, &err) == -EINVAL,
		    "%s", rows[i].text);
		ck_assert_int_eq(err.code, -EINVAL);
		ck_assert_msg(
		    strncmp(err.msg, rows[i].words, strlen(rows[i].words)) == 0,
		    "%s: %s", rows[i].text, err.msg);
	}
}

TEST(the_largest_numbers_survive)
{
	cleanup_free char *want = NULL, *found = NULL;
	struct state a, b;

	state_init(&a);
	a.task_ids = a.errors = a.outcomes[OUTCOME_LANDED] = INT64_MAX;
	a.last_task_completion_unix = a.today.cost = INT64_MAX;
	a.source_repo_dirty_retry_count = INT32_MAX;
	want = text_of(&a);
	parse(want, &b);
	found = text_of(&b);
	ck_assert_str_eq(want, found);
	state_release(&a);
	state_release(&b);
}

TEST(tasks_are_found_and_keep_their_order)
{
	cleanup_free char *id = NULL;
	ended_by(state_release) struct state state;
	struct task *b;

	state_init(&state);
	add_task(&state, "folder", "a");
	b = add_task(&state, "folder", "b");
	add_task(&state, "files", "b");
	ck_assert_str_eq(state.tasks[0]->id, "t1");
	ck_assert_ptr_eq(state_task(&state, "t2"), b);
	ck_assert_ptr_eq(state_task_by_key(&state, "folder", "b"), b);
	ck_assert_ptr_null(state_task(&state, "t4"));
	ck_assert_ptr_null(state_task(&state, "t"));
	ck_assert_ptr_null(state_task_by_key(&state, "folder", "c"));
	ck_assert_ptr_null(state_task_by_key(&state, "command", "a"));
	state_remove_task(&state, "t9");
	ck_assert_uint_eq(state.task_count, 3);
	state_remove_task(&state, b->id);
	ck_assert_uint_eq(state.task_count, 2);
	ck_assert_ptr_null(state_task(&state, "t2"));
	ck_assert_str_eq(state.tasks[0]->id, "t1");
	ck_assert_str_eq(state.tasks[1]->id, "t3");
	id = state_task_id(&state);
	ck_assert_str_eq(id, "t4"); /* an id is never reused */
	state_remove_task(&state, "t3");
	state_remove_task(&state, "t1");
	ck_assert_uint_eq(state.task_count, 0);
}

TEST(a_task_without_source_and_key_is_in_nobodys_way)
{
	ended_by(state_release) struct state state;

	parse("{\"tasks\":[{\"id\":\"t1\"},{\"id\":\"t2\",\"source\":\"folder\""
	      "},{\"id\":\"t3\",\"source\":\"folder\",\"key\":\"a\"}]}",
	    &state);
	ck_assert_str_eq(state_task_by_key(&state, "folder", "a")->id, "t3");
}

TEST(a_new_id_avoids_those_that_are_there)
{
	cleanup_free char *id = NULL;
	ended_by(state_release) struct state state;

	parse("{\"task_ids\":1,\"tasks\":[{\"id\":\"t3\"},{\"id\":\"t2\"}]}",
	    &state);
	id = state_task_id(&state);
	ck_assert_str_eq(id, "t4");
	ck_assert_uint_eq(state.task_ids, 4);
}

TEST(auto_workers_are_replaced)
{
	ended_by(state_release) struct state state;

	state_init(&state);
	state_auto_set_workers(&state, 3);
	ck_assert_str_eq(state.auto_workers[2], "auto-3");
	ck_assert_ptr_null(state.auto_workers[3]);
	state_auto_set_workers(&state, 1);
	ck_assert_str_eq(state.auto_workers[0], "auto-1");
	ck_assert_ptr_null(state.auto_workers[1]);
	state_auto_set_workers(&state, 0);
	ck_assert_ptr_null(state.auto_workers);
}

TEST(a_name_is_taken_off_the_list)
{
	ended_by(state_release) struct state state;

	state_init(&state);
	strv_remove(state.auto_workers, "auto-1");
	ck_assert_ptr_null(state.auto_workers);
	state_auto_set_workers(&state, 3);
	strv_remove(state.auto_workers, "auto-2");
	strv_remove(state.auto_workers, "adam");
	ck_assert_str_eq(state.auto_workers[0], "auto-1");
	ck_assert_str_eq(state.auto_workers[1], "auto-3");
	ck_assert_ptr_null(state.auto_workers[2]);
	strv_remove(state.auto_workers, "auto-1");
	strv_remove(state.auto_workers, "auto-3");
	ck_assert_ptr_null(state.auto_workers[0]);
	/* A state that lists no workers has lost none. */
	ck_assert_int_eq(state_check(&state, NULL, NULL, NULL), 0);
}

TEST(a_whole_state_of_this_root_passes)
{
	struct state state;
	int missing = -1;

	fill(&state);
	ck_assert_int_eq(state_check(&state, state.root_id, &missing, NULL), 0);
	ck_assert_int_eq(missing, 0);
	ck_assert_int_eq(state_check(&state, NULL, NULL, NULL), 0);
	state_release(&state);
	/* Without auto workers there is nothing to lose. */
	state_init(&state);
	missing = -1;
	ck_assert_int_eq(state_check(&state, NULL, &missing, NULL), 0);
	ck_assert_int_eq(missing, 0);
	state_release(&state);
}

TEST(the_state_of_another_root_is_refused)
{
	struct err err = { 0, "" };
	ended_by(state_release) struct state state;
	int missing = -1;

	fill(&state);
	ck_assert_int_eq(state_check(&state, OTHER, &missing, &err), -ESTALE);
	ck_assert_int_eq(err.code, -ESTALE);
	ck_assert_int_eq(missing, -1);
	ck_assert_ptr_nonnull(strstr(err.msg, state.root_id));
	ck_assert_ptr_nonnull(strstr(err.msg, OTHER));
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc doctor --rebuild"));
}

TEST(lost_auto_workers_are_counted_and_all_lost_is_refused)
{
	struct err err = { 0, "" };
	ended_by(state_release) struct state state;
	int missing = -1;

	fill(&state);
	state_remove(&state, "auto-1");
	state_add(&state, worker_new("adam", NOW));
	ck_assert_int_eq(state_check(&state, NULL, &missing, &err), 0);
	ck_assert_int_eq(missing, 1);
	state_remove(&state, "auto-2");
	ck_assert_int_eq(state_check(&state, NULL, &missing, &err), -ENODATA);
	ck_assert_int_eq(err.code, -ENODATA);
	ck_assert_int_eq(missing, 1);
	ck_assert_ptr_nonnull(strstr(err.msg, "2 auto workers"));
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc doctor --rebuild"));
}
