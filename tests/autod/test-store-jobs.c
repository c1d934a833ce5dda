/* SPDX-License-Identifier: ISC */

/* Jobs on the store beside a running daemon (overseer.store.*), safe mode, and
 * what overseer.events and overseer.why read from it. */
#include "plan-world.h"
#include "book.h"

/* The jobs need the real autod. */
static void
begin(const char *plan)
{
	cleanup_free char *autod = xstrdup(getenv("LLMC_AUTOD"));
	cleanup_free char *path = NULL;

	*strrchr(autod, '/') = '\0';
	path = xasprintf("%s:%s", autod, getenv("PATH"));
	setenv("PATH", path, 1);
	plan_world_begin(plan, NULL);
	plan_world_live();
}

#define must(method, params) plan_world_must(method, params)

#define refused(method, params, code, words) \
	plan_world_refused(method, params, code, words)

static char *
file_params(const char *file)
{
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_free char *path =
	    file_join(auto_world.core->workspace->root, file);

	json_set_string(params, "file", path);
	return xstrdup(json_object_to_json_string(params));
}

/* --- jobs ------------------------------------------------------------- */

TEST(a_check_and_an_export_run_beside_the_open_book)
{
	cleanup_free char *params = NULL;
	struct json_object *report;

	begin(NULL);
	plan_world_goal("goal_a", 2);
	report = must("overseer.store.check", "{}");
	ck_assert(json_bool_or(report, "ok", false));
	ck_assert_int_ge(json_int_or(report, "records", 0), 4);
	params = file_params("out.json");
	must("overseer.store.export", params);
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	refused("overseer.store.export", "{\"file\":\"out.json\"}", API_FAILED,
	    "must begin with /");
	refused("overseer.store.export", "{\"file\":\"/proc/none/x\"}",
	    API_FAILED, "/proc/none/x");
}

TEST(one_job_at_a_time)
{
	struct floor_call *first;

	begin(NULL);
	first = floor_world_ask("overseer.store.check", "{}");
	refused("overseer.store.check", "{}", API_BUSY, "under way");
	ck_assert_ptr_null(floor_world_answer(first));
	must("overseer.store.check", "{}");
}

/* --- reading ----------------------------------------------------------- */

TEST(events_of_a_goal_come_as_the_log_has_them)
{
	struct json_object *result, *events = NULL, *event = NULL;

	begin(NULL);
	plan_world_goal("goal_a", 1);
	plan_world_goal("goal_b", 1);
	plan_world_work_all();
	plan_world_settle();
	result = must("overseer.events",
	    "{\"goal\":\"goal_a\",\"kinds\":[\"work.done\"]}");
	json_object_object_get_ex(result, "events", &events);
	ck_assert_uint_eq(json_object_array_length(events), 2);
	json_object_object_get_ex(
	    json_object_array_get_idx(events, 0), "event", &event);
	ck_assert_str_eq(json_string_or(event, "goal", ""), "goal_a");
	ck_assert_str_eq(json_string_or(event, "type", ""), "work.done");
	result = must("overseer.events", "{\"lines\":1}");
	ck_assert_int_gt(json_int_or(result, "before", 0), 1);
	refused("overseer.events", "{\"goal\":\"nope\"}", API_E_UNKNOWN,
	    "there is no goal nope");
}

/* The loop does not wait for a search through the whole history. */
TEST(a_call_for_events_looks_at_a_part_of_them)
{
	struct json_object *result, *events = NULL;
	int64_t before = 0, found = 0;
	int calls = 0;

	begin(NULL);
	for (int i = 0; i < 2500; i++)
		book_add_event(plan_world.floor->core->book,
		    &(struct book_event){
			.type = i == 0 ? "rare" : "often", .worker = "w" },
		    NULL);
	do {
		cleanup_free char *params =
		    xasprintf("{\"workers\":[\"w\"],\"kinds\":[\"rare\"],"
			      "\"before\":%lld}",
			(long long)(before > 0 ? before : INT64_MAX));

		result = must("overseer.events", params);
		json_object_object_get_ex(result, "events", &events);
		found += (int64_t)json_object_array_length(events);
		before = json_int_or(result, "before", 0);
		calls++;
	} while (before > 0);
	ck_assert_int_eq(found, 1);
	ck_assert_int_eq(calls, 3);
}

static void
says(struct json_object *result, const char *key, const char *words)
{
	const char *text = json_string_or(result, key, NULL);

	ck_assert_msg(text != NULL && strstr(text, words) != NULL, "%s: %s",
	    key, text != NULL ? text : "absent");
}

TEST(why_answers_for_an_assignment_its_node_its_task_and_its_worker)
{
	cleanup_free char *params = NULL;
	struct json_object *result, *chain = NULL;
	const char *id;

	begin(NULL);
	plan_world_goal("goal_a", 1);
	plan_world_work_all();
	plan_world_settle();
	id = plan_world_worked()->work.id;
	params = xasprintf("{\"subject\":\"%s\"}", id);
	result = must("overseer.why", params);
	says(result, "kind", "assignment");
	says(result, "status", "done");
	says(result, "stalled", "no, it is done");
	says(result, "dispatch", "it was received");
	says(result, "backoff", "none");
	json_object_object_get_ex(result, "chain", &chain);
	ck_assert_uint_gt(json_object_array_length(chain), 0);
	result = must("overseer.why", "{\"subject\":\"T1.1\"}");
	says(result, "kind", "node");
	says(result, "now", "done: landed as ");
	says(result, "assignment", id);
	says(must("overseer.why", "{\"subject\":\"goal_a/T1.1\"}"),
	    "assignment", id);
	result = must("overseer.why", "{\"subject\":\"t1\"}");
	says(result, "kind", "task");
	says(result, "assignment", id);
	result = must("overseer.why", "{\"subject\":\"auto-1\"}");
	says(result, "kind", "worker");
	says(result, "assignment", id);
	refused("overseer.why", "{\"subject\":\"nothing\"}", API_E_UNKNOWN,
	    "nothing is known about nothing");
	refused("overseer.why", "{\"subject\":\"A_nothing\"}", API_E_UNKNOWN,
	    "nothing is known about A_nothing");
}

TEST(a_node_is_that_of_the_open_goal_or_of_the_only_one)
{
	begin(NULL);
	plan_world_goal("goal_a", 1);
	plan_world_work_all();
	plan_world_settle();
	plan_world_reopen(); /* it has ended: only the store has it */
	plan_world_live();
	says(must("overseer.why", "{\"subject\":\"T1.1\"}"), "goal", "goal_a");
	says(must("overseer.why", "{\"subject\":\"t1\"}"), "now", "done");
	plan_world_goal("goal_b", 1);
	says(must("overseer.why", "{\"subject\":\"T1.1\"}"), "goal", "goal_b");
	must("overseer.goal.cancel", "{\"goal\":\"goal_b\"}");
	refused("overseer.why", "{\"subject\":\"T1.1\"}", API_E_UNKNOWN,
	    "2 goals have a node T1.1; type: llmc why goal_b/T1.1, or llmc why "
	    "goal_a/T1.1");
	plan_world_goal("goal_c", 1);
	plan_world_goal("goal_d", 1);
	refused("overseer.why", "{\"subject\":\"T1.1\"}", API_E_UNKNOWN,
	    "type: llmc why goal_d/T1.1, or llmc why goal_c/T1.1");
}
