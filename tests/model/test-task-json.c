/* SPDX-License-Identifier: ISC */

/* The record of a task. */

#include "member-dice.h"
#include "task.h"

#define NOW 1766502000000

static void
cleanup_task_fn(struct task **task)
{
	task_free(*task);
}
#define cleanup_task __attribute__((cleanup(cleanup_task_fn)))

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	return json;
}

static struct task *
load(const char *text)
{
	cleanup_json struct json_object *json = parse(text);
	struct task *task = NULL;
	struct err err = { 0, "" };
	int r = task_from_json(json, "tasks[0]", &task, &err);

	ck_assert_msg(r == 0, "%s", err.msg);
	ck_assert_str_eq(err.msg, "");
	return task;
}

static void
assert_refused(const char *text, const char *words)
{
	cleanup_json struct json_object *json = parse(text);
	struct task *task = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(task_from_json(json, "t", &task, &err), -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_ptr_null(task);
	ck_assert_int_eq(task_from_json(json, "t", &task, NULL), -EINVAL);
}

TEST(missing_members_take_their_defaults)
{
	cleanup_task struct task *task =
	    load("{\"id\":\"t7\",\"worker\":null,\"colour\":\"red\"}");
	cleanup_task struct task *fresh =
	    task_new("t7", NULL, NULL, NULL, NULL, 0);
	cleanup_json struct json_object *one = task_to_json(task);
	cleanup_json struct json_object *other = task_to_json(fresh);

	ck_assert(json_object_equal(one, other));
	ck_assert_str_eq(task->title, "t7");
	ck_assert_int_eq(task->priority, PRIORITY_NORMAL);
}

TEST(missing_title_comes_from_the_text)
{
	cleanup_task struct task *task =
	    load("{\"id\":\"t7\",\"text\":\"# Mend it\\nnow\"}");

	ck_assert_str_eq(task->title, "Mend it");
}

TEST(record_names_what_is_wrong)
{
	assert_refused("{}", "t.id: missing");
	assert_refused("[]", "t: expected an object, found an array");
	assert_refused("{\"id\":7}", "t.id: expected a string, found a number");
	assert_refused("{\"id\":\"\"}", "t.id: not a task's id");
	assert_refused("{\"id\":\"../t1\"}", "t.id: not a task's id");
	assert_refused("{\"id\":\"t1\",\"step\":\"wating\"}",
	    "t.step: \"wating\" is not a valid value; did you mean \"waiting\"?");
	assert_refused("{\"id\":\"t1\",\"outcome\":\"\\u001b[2J\"}",
	    "t.outcome: \"\\x1b[2J\" is not a valid value");
	assert_refused("{\"id\":\"t1\",\"text\":[]}",
	    "t.text: expected a string, found an array");
	assert_refused("{\"id\":\"t1\",\"attempts\":-1}",
	    "t.attempts: expected an integer from 0 to 2147483647, found -1");
	assert_refused("{\"id\":\"t1\",\"tokens\":-1}",
	    "t.tokens: expected an integer from 0 to 9223372036854775807, "
	    "found -1");
	assert_refused("{\"id\":\"t1\",\"cost\":\"2\"}",
	    "t.cost: expected an integer, found a string");
	assert_refused("{\"id\":\"t1\",\"priority\":\"hihg\"}",
	    "t.priority: \"hihg\" is not a valid value; did you mean \"high\"?");
	assert_refused("{\"id\":\"t1\",\"priority\":1.5}",
	    "t.priority: expected a string, found a number");
	assert_refused("{\"id\":\"t1\",\"created_ms\":true}",
	    "t.created_ms: expected an integer, found a boolean");
}

TEST(history_is_looked_into)
{
	assert_refused("{\"id\":\"t1\",\"history\":{}}",
	    "t.history: expected an array, found an object");
	assert_refused("{\"id\":\"t1\",\"history\":[3]}",
	    "t.history[0]: expected an object, found a number");
	assert_refused("{\"id\":\"t1\",\"history\":[{\"what\":\"x\"}]}",
	    "t.history[0].at_unix: missing");
	assert_refused(
	    "{\"id\":\"t1\",\"history\":[{\"at_unix\":1,\"what\":\"x\"},"
	    "{\"at_unix\":1}]}",
	    "t.history[1].what: missing");
	assert_refused("{\"id\":\"t1\",\"history\":[{\"at_unix\":1,\"what\":"
		       "\"x\",\"detail\":1}]}",
	    "t.history[0].detail: expected a string, found a number");
}

/* How it is launched and what its attempt does, as versions wrote it that had
 * a record for both: nothing of it is lost. */
TEST(launch_and_attempt_are_kept_as_one_object)
{
	static const char run[] =
	    "{\"actor\":\"a\",\"parent\":\"t1\",\"parent_actor\":\"b\","
	    "\"depth\":1,\"max_depth\":3,\"local_max_depth\":2,"
	    "\"goal\":\"g1\",\"role\":\"r\",\"label\":\"l\",\"agent\":\"c\","
	    "\"model\":\"m\",\"thinking\":\"high\",\"timeout_s\":9,"
	    "\"tools_allow\":[\"Read\"],\"tools_deny\":[\"Bash\"],"
	    "\"tools_scoped\":true,\"required_tools\":[\"Read\"],"
	    "\"confined_by\":[\"eve\"],\"scope_paths\":[\"src\"],"
	    "\"progress_reporting\":true,\"report_only\":true,"
	    "\"recovery\":\"retry\",\"contract\":{\"x\":1},\"base\":\"c0\","
	    "\"verification\":\"running\",\"verified\":{\"y\":1},"
	    "\"retry_of\":\"t2-1\",\"last_tool\":\"Edit\","
	    "\"report\":{\"z\":1},\"report_by_tool\":true,"
	    "\"progress\":{\"p\":1},\"progress_count\":4,"
	    "\"progress_ms\":5,\"progress_call\":\"6\",\"started_ms\":7,"
	    "\"spent_before\":{\"s\":1},\"ended\":{\"t2-1\":{}},"
	    "\"announced\":true,\"has_spawned\":true,\"lost\":[\"g1/T2\"],"
	    "\"untold\":[\"u\"],\"rebase_due\":true,"
	    "\"children_landed\":true,\"timed_out\":true,\"by_mail\":true,"
	    "\"mail_turns\":8,\"waiting_ms\":9,\"waited_ms\":10,"
	    "\"read_only\":true,\"review\":\"findings\","
	    "\"review_of\":\"c2\",\"review_said\":{\"findings\":[]},"
	    "\"review_rounds\":1,\"review_tries\":2,\"review_why\":\"w\","
	    "\"scope_checked\":\"c1\",\"violations\":11}";
	cleanup_free char *text = xasprintf("{\"id\":\"t2\",\"run\":%s}", run);
	cleanup_task struct task *task = load(text);
	cleanup_json struct json_object *json = task_to_json(task);
	cleanup_json struct json_object *want = parse(run);

	ck_assert_str_eq(task->launch.scope_paths[0], "src");
	ck_assert_int_eq(task->attempt.verification, VERIFICATION_RUNNING);
	ck_assert(json_object_equal(json_object_object_get(json, "run"), want));
}

TEST(numbers_are_brought_into_their_range)
{
	cleanup_task struct task *task =
	    load("{\"id\":\"t1\",\"created_ms\":-5}");

	ck_assert_int_eq(task->created_ms, 0);
}

TEST(priority_is_a_word)
{
	static const struct {
		const char *json;
		enum priority priority;
	} rows[] = {
		{ "\"urgent\"", PRIORITY_URGENT },
		{ "\"low\"", PRIORITY_LOW },
		{ "null", PRIORITY_NORMAL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *text =
		    xasprintf("{\"id\":\"t1\",\"priority\":%s}", rows[i].json);
		cleanup_task struct task *task = load(text);
		cleanup_json struct json_object *json = task_to_json(task);

		ck_assert_int_eq(task->priority, rows[i].priority);
		ck_assert_str_eq(json_string_or(json, "priority", ""),
		    priority_name(rows[i].priority));
	}
}

TEST(members_that_contradict_each_other_are_mended)
{
	cleanup_task struct task *orphan =
	    load("{\"id\":\"t1\",\"step\":\"assigned\"}");
	cleanup_task struct task *open =
	    load("{\"id\":\"t1\",\"step\":\"settling\"}");
	cleanup_task struct task *good = load(
	    "{\"id\":\"t1\",\"step\":\"settling\",\"outcome\":\"aborted\"}");

	ck_assert_int_eq(orphan->step, TASK_WAITING);
	ck_assert_int_eq(open->step, TASK_WAITING);
	ck_assert_int_eq(good->step, TASK_SETTLING);
}

TEST(history_is_the_tasks_own_and_bounded)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	cleanup_task struct task *task = NULL;

	buf_adds(&text, "{\"id\":\"t1\",\"history\":[");
	for (int i = 0; i < 100; i++)
		buf_addf(&text, "%s{\"at_unix\":%d,\"what\":\"x\"}",
		    i > 0 ? "," : "", i);
	buf_adds(&text, "]}");
	json = parse(text.data);
	ck_assert_int_eq(task_from_json(json, "", &task, NULL), 0);
	ck_assert_uint_eq(
	    json_object_array_length(task->history), TASK_HISTORY_MAX);
	task_note(task, "more", NULL, NOW);
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "history")),
	    100);
}

#define TEXT(m)    MEMBER(struct task, TEXT, m, 0)
#define BOOL(m)    MEMBER(struct task, BOOL, m, 0)
#define COUNT(m)   MEMBER(struct task, COUNT, m, 0)
#define SUM(m)     MEMBER(struct task, SUM, m, 0)
#define WORD(m, n) MEMBER(struct task, WORD, m, n)

static const struct member members[] = { TEXT(source), TEXT(key), TEXT(title),
	TEXT(text), TEXT(label), TEXT(worker), TEXT(commit), TEXT(from),
	TEXT(move), TEXT(landed_before), TEXT(reason), TEXT(last_words),
	BOOL(kept), COUNT(place), COUNT(attempts), COUNT(turns),
	COUNT(turns_before), COUNT(nudges), COUNT(fixes), COUNT(turns_allowed),
	SUM(created_ms), SUM(assigned_ms), SUM(finished_ms), SUM(tokens),
	SUM(tokens_allowed), SUM(spent.cost), SUM(spent.estimated),
	SUM(spent.unpriced), SUM(cost_allowed), SUM(time_allowed_ms),
	WORD(priority, PRIORITY_COUNT), WORD(step, TASK_STEP_COUNT),
	WORD(outcome, OUTCOME_COUNT) };

/* What fits together: other records are repaired when they are read. */
static void
roll(struct dice *dice, struct task *t)
{
	member_roll(dice, members, nitems(members), t, NOW);
	while ((t->step == TASK_ASSIGNED && t->worker == NULL) ||
	    (t->step == TASK_SETTLING && t->outcome == OUTCOME_NONE))
		t->step = (enum task_step)dice_below(dice, TASK_STEP_COUNT);
	usage_add(&t->spent.usage, "claude-x", USAGE_CACHE_WRITE_1H,
	    (int64_t)(dice_next(dice) >> 33));
	t->spent.usage.tool_calls = (int64_t)(dice_next(dice) >> 33);
	for (unsigned n = dice_below(dice, 5); n > 0; n--)
		task_note(t, "step", dice_coin(dice) ? "why" : NULL, NOW);
}

TEST(random_records_come_back_identical)
{
	struct dice dice = { 0x5eed0003 };

	for (int i = 0; i < unit_times(3000); i++) {
		cleanup_task struct task *task =
		    task_new("t9", NULL, NULL, NULL, NULL, NOW);
		cleanup_task struct task *again = NULL;
		cleanup_json struct json_object *json = NULL, *read = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		roll(&dice, task);
		json = task_to_json(task);
		json_print(json, false, &text);
		ck_assert_int_eq(
		    json_parse(text.data, text.len, text.len, &read, NULL), 0);
		ck_assert_int_eq(task_from_json(read, "", &again, NULL), 0);
		ck_assert_str_eq(task->id, again->id);
		member_assert_same(members, nitems(members), task, again);
		ck_assert_mem_eq(
		    &task->spent, &again->spent, sizeof task->spent);
		ck_assert_int_eq(
		    json_object_equal(task->history, again->history), 1);
	}
}
