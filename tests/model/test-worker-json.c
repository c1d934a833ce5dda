/* SPDX-License-Identifier: ISC */

/* The record of a worker in state.json. */

#include "member-dice.h"
#include "schema.h"
#include "worker.h"

#define NOW 1000000

static void
cleanup_worker_fn(struct worker **worker)
{
	schema_free(&worker_table, *worker);
}
#define cleanup_worker __attribute__((cleanup(cleanup_worker_fn)))

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	return json;
}

static struct worker *
load(const char *text)
{
	cleanup_json struct json_object *json = parse(text);
	struct worker *worker = NULL;
	struct err err = { 0, "" };
	int r = worker_from_json(json, "workers.auto-1", NOW, &worker, &err);

	ck_assert_msg(r == 0, "%s", err.msg);
	ck_assert_str_eq(err.msg, "");
	return worker;
}

static void
assert_refused(const char *text, const char *words)
{
	cleanup_json struct json_object *json = parse(text);
	struct worker *worker = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(
	    worker_from_json(json, "w", NOW, &worker, &err), -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_ptr_null(worker);
	ck_assert_int_eq(
	    worker_from_json(json, "w", NOW, &worker, NULL), -EINVAL);
}

TEST(missing_members_take_their_defaults)
{
	cleanup_worker struct worker *worker = load(
	    "{\"name\":\"a\",\"prompt\":null,\"colour\":\"red\",\"sticky\":true}");
	cleanup_worker struct worker *fresh = worker_new("a", NOW);
	cleanup_json struct json_object *one =
	    schema_json(&worker_table, worker);
	cleanup_json struct json_object *other =
	    schema_json(&worker_table, fresh);

	ck_assert(json_object_equal(one, other));
}

/* llmc status reads that of every worker. */
TEST(what_is_unset_is_not_written)
{
	cleanup_worker struct worker *worker = worker_new("adam", NOW);
	cleanup_json struct json_object *json =
	    schema_json(&worker_table, worker);

	ck_assert_int_eq(json_object_object_length(json), 8);
	ck_assert(!json_object_object_get_ex(json, "task", NULL));
	ck_assert_int_eq(json_int_or(json, "since_ms", 0), NOW);
}

TEST(record_names_what_is_wrong)
{
	assert_refused("{}", "w.name: missing");
	assert_refused("[]", "w: expected an object, found an array");
	assert_refused(
	    "{\"name\":3}", "w.name: expected a string, found a number");
	assert_refused("{\"name\":\"../x\"}", "w.name: not a worker's name");
	assert_refused("{\"name\":\"a\",\"status\":\"wroking\"}",
	    "w.status: \"wroking\" is not a valid value; did you mean "
	    "\"working\"?");
	assert_refused("{\"name\":\"a\",\"step\":\"\\u001b[2J\"}",
	    "w.step: \"\\x1b[2J\" is not a valid value");
	assert_refused("{\"name\":\"a\",\"accepted\":\"yes\"}",
	    "w.accepted: expected a boolean, found a string");
	assert_refused("{\"name\":\"a\",\"crashes\":-1}",
	    "w.crashes: expected an integer from 0 to 2147483647, found -1");
	assert_refused("{\"name\":\"a\",\"stalls\":-1}",
	    "w.stalls: expected an integer from 0 to 2147483647, found -1");
	assert_refused("{\"name\":\"a\",\"checked_ms\":-1}",
	    "w.checked_ms: expected an integer from 0 to "
	    "9223372036854775807, found -1");
	assert_refused("{\"name\":\"a\",\"checked_ms\":0.5}",
	    "w.checked_ms: expected an integer, found 0.5");
	assert_refused("{\"name\":\"a\",\"over_budget\":\"yes\"}",
	    "w.over_budget: expected a boolean, found a string");
	assert_refused("{\"name\":\"a\",\"task\":17}",
	    "w.task: expected a string, found a number");
	assert_refused("{\"name\":\"a\",\"since_ms\":\"now\"}",
	    "w.since_ms: expected an integer, found a string");
	assert_refused("{\"name\":\"a\",\"pane\":[]}",
	    "w.pane: expected an object, found an array");
	assert_refused("{\"name\":\"a\",\"ready\":1}",
	    "w.ready: expected a boolean, found a number");
	assert_refused("{\"name\":\"a\",\"prompt\":{}}",
	    "w.prompt: expected a string, found an object");
}

TEST(times_are_clamped_but_deadlines_are_not)
{
	cleanup_worker struct worker *worker =
	    load("{\"name\":\"a\",\"since_ms\":9000000000,\"activity_ms\":-5,"
		 "\"created_ms\":17,\"crashed_ms\":1000001,"
		 "\"pending_since_ms\":9223372036854775807,"
		 "\"until_ms\":9000000000}");

	ck_assert_int_eq(worker->since_ms, NOW);
	ck_assert_int_eq(worker->activity_ms, 0);
	ck_assert_int_eq(worker->created_ms, 17);
	ck_assert_int_eq(worker->crashed_ms, NOW);
	ck_assert_int_eq(worker->session.pending_since_ms, NOW);
	ck_assert_int_eq(worker->until_ms, 9000000000);
}

TEST(members_that_contradict_each_other_are_mended)
{
	cleanup_worker struct worker *worker =
	    load("{\"name\":\"a\",\"status\":\"limited\",\"before\":\"error\","
		 "\"step\":\"pasted\",\"pending\":\"x\"}");
	cleanup_worker struct worker *other =
	    load("{\"name\":\"a\",\"status\":\"limited\","
		 "\"before\":\"paused\",\"step\":\"parked\","
		 "\"pending\":\"x\",\"receipt\":\"1\"}");

	ck_assert_int_eq(worker->before, WORKER_OFFLINE);
	ck_assert_int_eq(worker->session.step, PROMPT_NONE);
	ck_assert_ptr_null(worker->session.pending);
	ck_assert_int_eq(other->before, WORKER_OFFLINE);
	ck_assert_int_eq(other->session.step, PROMPT_PARKED);
	ck_assert_int_eq(
	    worker_transition(other, WORKER_OFFLINE, NULL, NOW, NULL), 0);
}

#define TEXT(m)    MEMBER(struct worker, TEXT, m, 0)
#define BOOL(m)    MEMBER(struct worker, BOOL, m, 0)
#define COUNT(m)   MEMBER(struct worker, COUNT, m, 0)
#define SUM(m)     MEMBER(struct worker, SUM, m, 0)
#define TIME(m)    MEMBER(struct worker, TIME, m, 0)
#define WORD(m, n) MEMBER(struct worker, WORD, m, n)

static const struct member members[] = { TEXT(branch), TEXT(worktree),
	TEXT(prompt), TEXT(prompt_command), TEXT(task), TEXT(commit),
	TEXT(reviewed), TEXT(session.pending), TEXT(session.receipt),
	TEXT(session.id), TEXT(session.transcript), TEXT(reason),
	TEXT(accepted_head), TEXT(checked), TEXT(checked_key), TIME(since_ms),
	TIME(activity_ms), TIME(created_ms), TIME(crashed_ms),
	TIME(session.pending_since_ms), SUM(session.history_ms), SUM(until_ms),
	SUM(checked_ms), SUM(session.generation), BOOL(on_hold),
	BOOL(over_budget), BOOL(detached), BOOL(blocked), BOOL(self_review),
	BOOL(self_reviewed), BOOL(session.pending_clear), BOOL(session.ready),
	BOOL(session.busy), BOOL(accepted), BOOL(approved), COUNT(stalls),
	COUNT(session.pending_tries), COUNT(session.pending_refused),
	COUNT(session.open_tools), COUNT(crashes), COUNT(limit_tries),
	COUNT(conflicts), WORD(status, WORKER_STATUS_COUNT),
	WORD(before, WORKER_STATUS_COUNT), WORD(after, WORKER_STATUS_COUNT),
	WORD(session.step, PROMPT_STEP_COUNT) };

/* What fits together: other records are repaired when they are read. */
static void
roll(struct dice *dice, struct worker *w)
{
	member_roll(dice, members, nitems(members), w, NOW);
	w->blocked = w->status == WORKER_PAUSED && w->blocked;
	if (w->session.pending == NULL || w->session.receipt == NULL)
		w->session.step = PROMPT_NONE;
	while (!worker_status_may(w->before, WORKER_PAUSED) ||
	    worker_waits(w->before))
		w->before =
		    (enum worker_status)dice_below(dice, WORKER_STATUS_COUNT);
	if (dice_coin(dice)) {
		w->session.pane = json_object_new_object();
		json_set_int(w->session.pane, "pid", dice_below(dice, 99999));
	}
}

TEST(random_records_come_back_identical)
{
	struct dice dice = { 0x5eed0002 };

	for (int i = 0; i < unit_times(3000); i++) {
		cleanup_worker struct worker *worker = worker_new("a-1", NOW);
		cleanup_worker struct worker *again = NULL;
		cleanup_json struct json_object *json = NULL, *read = NULL,
						*second = NULL;
		cleanup_buf struct buf text = BUF_INIT, other = BUF_INIT;

		roll(&dice, worker);
		json = schema_json(&worker_table, worker);
		json_print(json, true, &text);
		ck_assert_int_eq(
		    json_parse(text.data, text.len, text.len, &read, NULL), 0);
		ck_assert_int_eq(
		    worker_from_json(read, "", NOW, &again, NULL), 0);
		ck_assert_str_eq(worker->name, again->name);
		member_assert_same(members, nitems(members), worker, again);
		ck_assert_int_eq(json_object_equal(
				     worker->session.pane, again->session.pane),
		    1);
		second = schema_json(&worker_table, again);
		json_print(second, true, &other);
		ck_assert_str_eq(text.data, other.data);
	}
}
