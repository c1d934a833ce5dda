/* SPDX-License-Identifier: ISC */

/* The record of a worker in state.json. */

#include "unit.h"
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

static void
roll_string(struct dice *dice, char **member)
{
	static const char *const pieces[] = { "a", "\"", "\\", "\n", "\t",
		"\x01", "\x7f", "/", "\xc3\xa9", "\xf0\x9f\xa4\x96", "{}", " ",
		"\xe2\x80\xa8" };
	cleanup_buf struct buf text = BUF_INIT;

	if (dice_below(dice, 4) == 0)
		return;
	dice_text(dice, pieces, nitems(pieces), 64, &text);
	xstrset(member, text.data);
}

static enum worker_status
roll_status(struct dice *dice)
{
	return (enum worker_status)dice_below(dice, WORKER_STATUS_COUNT);
}

static int64_t
roll_time(struct dice *dice)
{
	return (int64_t)(dice_next(dice) % (NOW + 1));
}

static void
roll_task(struct dice *dice, struct worker *w)
{
	roll_string(dice, &w->branch);
	roll_string(dice, &w->worktree);
	w->status = roll_status(dice);
	w->since_ms = roll_time(dice);
	w->activity_ms = roll_time(dice);
	w->created_ms = roll_time(dice);
	roll_string(dice, &w->prompt);
	roll_string(dice, &w->prompt_command);
	roll_string(dice, &w->task);
	w->on_hold = dice_coin(dice);
	w->stalls = (int)(dice_next(dice) >> 33);
	w->over_budget = dice_coin(dice);
	w->detached = dice_coin(dice);
	w->blocked = w->status == WORKER_PAUSED && dice_coin(dice);
	w->session.history_ms = (int64_t)(dice_next(dice) >> 1);
	roll_string(dice, &w->commit);
	roll_string(dice, &w->reviewed);
	w->self_review = dice_coin(dice);
	w->self_reviewed = dice_coin(dice);
	roll_string(dice, &w->session.pending);
	roll_string(dice, &w->session.receipt);
	if (w->session.pending != NULL && w->session.receipt != NULL)
		w->session.step =
		    (enum prompt_step)dice_below(dice, PROMPT_STEP_COUNT);
	w->session.pending_clear = dice_coin(dice);
	w->session.pending_since_ms = roll_time(dice);
	w->session.pending_tries = (int)(dice_next(dice) >> 33);
	w->session.pending_refused = (int)(dice_next(dice) >> 33);
	w->after = roll_status(dice);
}

static void
roll_session(struct dice *dice, struct worker *w)
{
	w->session.generation = dice_next(dice) >> 1;
	roll_string(dice, &w->session.id);
	roll_string(dice, &w->session.transcript);
	if (dice_coin(dice)) {
		w->session.pane = json_object_new_object();
		json_set_int(w->session.pane, "pid", dice_below(dice, 99999));
	}
	w->session.ready = dice_coin(dice);
	w->session.busy = dice_coin(dice);
	w->session.open_tools = (int)(dice_next(dice) >> 33);
	w->crashes = (int)(dice_next(dice) >> 33);
	w->crashed_ms = roll_time(dice);
	roll_string(dice, &w->reason);
	do {
		w->before = roll_status(dice);
	} while (!worker_status_may(w->before, WORKER_PAUSED) ||
	    w->before == WORKER_PAUSED || w->before == WORKER_LIMITED);
	w->until_ms = (int64_t)(dice_next(dice) >> 1);
	w->limit_tries = (int)(dice_next(dice) >> 33);
	w->accepted = dice_coin(dice);
	w->approved = dice_coin(dice);
	roll_string(dice, &w->accepted_head);
	roll_string(dice, &w->checked);
	roll_string(dice, &w->checked_key);
	w->checked_ms = (int64_t)(dice_next(dice) >> 1);
	w->conflicts = (int)(dice_next(dice) >> 33);
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Member by member: a record that swaps two of them would print the same. */
static void
assert_same(const struct worker *a, const struct worker *b)
{
	ck_assert(same_text(a->name, b->name));
	ck_assert(same_text(a->branch, b->branch));
	ck_assert(same_text(a->worktree, b->worktree));
	ck_assert(same_text(a->prompt, b->prompt));
	ck_assert(same_text(a->prompt_command, b->prompt_command));
	ck_assert(same_text(a->task, b->task));
	ck_assert(same_text(a->commit, b->commit));
	ck_assert(same_text(a->reviewed, b->reviewed));
	ck_assert(same_text(a->session.pending, b->session.pending));
	ck_assert(same_text(a->session.receipt, b->session.receipt));
	ck_assert(same_text(a->session.id, b->session.id));
	ck_assert(same_text(a->session.transcript, b->session.transcript));
	ck_assert(same_text(a->reason, b->reason));
	ck_assert(same_text(a->checked, b->checked));
	ck_assert(same_text(a->checked_key, b->checked_key));
	ck_assert_int_eq(a->checked_ms, b->checked_ms);
	ck_assert_int_eq(a->status, b->status);
	ck_assert_int_eq(a->since_ms, b->since_ms);
	ck_assert_int_eq(a->activity_ms, b->activity_ms);
	ck_assert_int_eq(a->created_ms, b->created_ms);
	ck_assert_int_eq(a->on_hold, b->on_hold);
	ck_assert_int_eq(a->stalls, b->stalls);
	ck_assert_int_eq(a->over_budget, b->over_budget);
	ck_assert_int_eq(a->detached, b->detached);
	ck_assert_int_eq(a->blocked, b->blocked);
	ck_assert_int_eq(a->session.history_ms, b->session.history_ms);
	ck_assert_int_eq(a->self_review, b->self_review);
	ck_assert_int_eq(a->self_reviewed, b->self_reviewed);
	ck_assert_int_eq(a->session.step, b->session.step);
	ck_assert_int_eq(a->session.pending_clear, b->session.pending_clear);
	ck_assert_int_eq(
	    a->session.pending_since_ms, b->session.pending_since_ms);
	ck_assert_int_eq(a->session.pending_tries, b->session.pending_tries);
	ck_assert_int_eq(
	    a->session.pending_refused, b->session.pending_refused);
	ck_assert_int_eq(a->after, b->after);
	ck_assert_int_eq(a->session.ready, b->session.ready);
	ck_assert_int_eq(a->session.busy, b->session.busy);
	ck_assert_int_eq(a->session.open_tools, b->session.open_tools);
	ck_assert_int_eq(a->crashes, b->crashes);
	ck_assert_int_eq(a->crashed_ms, b->crashed_ms);
	ck_assert_int_eq(a->before, b->before);
	ck_assert_int_eq(a->until_ms, b->until_ms);
	ck_assert_int_eq(a->limit_tries, b->limit_tries);
	ck_assert_int_eq(a->accepted, b->accepted);
	ck_assert_int_eq(a->approved, b->approved);
	ck_assert(same_text(a->accepted_head, b->accepted_head));
	ck_assert_int_eq(a->conflicts, b->conflicts);
	ck_assert_uint_eq(a->session.generation, b->session.generation);
	ck_assert_int_eq(
	    json_object_equal(a->session.pane, b->session.pane), 1);
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

		roll_task(&dice, worker);
		roll_session(&dice, worker);
		json = schema_json(&worker_table, worker);
		json_print(json, true, &text);
		ck_assert_int_eq(
		    json_parse(text.data, text.len, text.len, &read, NULL), 0);
		ck_assert_int_eq(
		    worker_from_json(read, "", NOW, &again, NULL), 0);
		assert_same(worker, again);
		second = schema_json(&worker_table, again);
		json_print(second, true, &other);
		ck_assert_str_eq(text.data, other.data);
	}
}
