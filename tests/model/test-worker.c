/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "schema.h"
#include "worker.h"

/* --- worker ------------------------------------------------------------ */

#define NOW 1000000

static void
cleanup_worker_fn(struct worker **worker)
{
	schema_free(&worker_table, *worker);
}
#define cleanup_worker __attribute__((cleanup(cleanup_worker_fn)))

static struct worker *
worker_at(enum worker_status status)
{
	struct worker *worker = worker_new("auto-1", 5);

	worker->status = status;
	return worker;
}

static void
move(struct worker *worker, enum worker_status to, const char *reason)
{
	ck_assert_int_eq(worker_transition(worker, to, reason, NOW, NULL), 0);
	ck_assert_int_eq(worker->status, to);
}

/* Columns in the order of the rows: idle, starting, working, needs_review,
 * reviewing, rejected, rebasing, no_changes, accepting, paused, limited, error,
 * offline, waiting. */
static const char *const wanted_table[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = /*         */ ". S W N . . b . . P L E O .",
	[WORKER_STARTING] = /*     */ "I . W N v r b 0 . P L E O .",
	[WORKER_WORKING] = /*      */ "I S . N . . b 0 A P L E O w",
	[WORKER_NEEDS_REVIEW] = /* */ "I S . . v r b . A P L E O .",
	[WORKER_REVIEWING] = /*    */ "I S . N . r b . . P L E O w",
	[WORKER_REJECTED] = /*     */ "I S . N . . b 0 . P L E O w",
	[WORKER_REBASING] = /*     */ ". S W N . r b . A P L E O w",
	[WORKER_NO_CHANGES] = /*   */ "I S W . . . b . A P L E O .",
	[WORKER_ACCEPTING] = /*    */ "I . . N . . b . . . . E O .",
	[WORKER_PAUSED] = /*       */ "I S W N v r b 0 A P . E O w",
	[WORKER_LIMITED] = /*      */ "I S W N v r b 0 A P L E O w",
	[WORKER_ERROR] = /*        */ "I S . N . . b . . . . E O .",
	[WORKER_OFFLINE] = /*      */ "I S . . . . b . . P L E O .",
	[WORKER_WAITING] = /*      */ "I S W . . . b . . P . E O .",
};

TEST(table_is_the_one_that_was_agreed)
{
	static const char letters[] = "ISWNvrb0APLEOw";

	printf("# %-13sI S W N v r b 0 A P L E O w\n", "from \\ to");
	for (unsigned from = 0; from < WORKER_STATUS_COUNT; from++) {
		cleanup_buf struct buf row = BUF_INIT;

		for (unsigned to = 0; to < WORKER_STATUS_COUNT; to++)
			buf_addf(&row, "%s%c", to > 0 ? " " : "",
			    worker_status_may((enum worker_status)from,
				(enum worker_status)to) ?
				letters[to] :
				'.');
		printf("# %-13s%s\n",
		    worker_status_name((enum worker_status)from), row.data);
		ck_assert_str_eq(row.data, wanted_table[from]);
	}
	fflush(stdout);
}

TEST(original_transitions_hold)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list, *row;
	enum worker_status from, to;
	size_t count;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(
	    json_get_array(file, "", "transitions", &list, NULL), 0);
	count = json_object_array_length(list);
	ck_assert_uint_eq(count, 81);
	for (size_t i = 0; i < count; i++) {
		row = json_object_array_get_idx(list, i);
		ck_assert(worker_status_parse(
		    json_string_or(row, "from", ""), &from));
		ck_assert(
		    worker_status_parse(json_string_or(row, "to", ""), &to));
		ck_assert_msg(worker_status_may(from, to) ==
			json_bool_or(row, "allow", false),
		    "%s to %s", worker_status_name(from),
		    worker_status_name(to));
	}
}

TEST(auto_names_are_as_in_the_original)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list, *row;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(json_get_array(file, "", "is_auto", &list, NULL), 0);
	ck_assert_uint_gt(json_object_array_length(list), 0);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		row = json_object_array_get_idx(list, i);
		ck_assert_int_eq(worker_is_auto(json_object_get_string(
				     json_object_array_get_idx(row, 0))),
		    json_object_get_boolean(json_object_array_get_idx(row, 1)));
	}
}

/* Every status that can be reached from one, including itself. */
static unsigned
reach(unsigned from)
{
	unsigned seen = 1u << from, before = 0;

	while (seen != before) {
		before = seen;
		for (unsigned s = 0; s < WORKER_STATUS_COUNT; s++)
			for (unsigned to = 0; to < WORKER_STATUS_COUNT; to++)
				if ((before & 1u << s) != 0 &&
				    worker_status_may((enum worker_status)s,
					(enum worker_status)to))
					seen |= 1u << to;
	}
	return seen;
}

TEST(every_status_is_reached_from_every_other)
{
	for (unsigned from = 0; from < WORKER_STATUS_COUNT; from++)
		ck_assert_uint_eq(reach(from), (1u << WORKER_STATUS_COUNT) - 1);
}

TEST(what_is_no_status_may_nothing)
{
	ck_assert(!worker_status_may(WORKER_IDLE, WORKER_STATUS_COUNT));
	ck_assert(!worker_status_may(WORKER_STATUS_COUNT, WORKER_IDLE));
	ck_assert(!worker_status_may((enum worker_status) - 1, WORKER_IDLE));
}

TEST(names_parse_back)
{
	enum worker_status status;

	for (unsigned i = 0; i < WORKER_STATUS_COUNT; i++) {
		ck_assert(worker_status_parse(
		    worker_status_name((enum worker_status)i), &status));
		ck_assert_uint_eq(status, i);
	}
	status = WORKER_ERROR;
	ck_assert(!worker_status_parse("", &status));
	ck_assert(!worker_status_parse("Idle", &status));
	ck_assert(!worker_status_parse("idle ", &status));
	ck_assert_int_eq(status, WORKER_ERROR);
	ck_assert_str_eq(prompt_step_name(PROMPT_CLEARING), "clearing");
	ck_assert(worker_is_auto("auto-1"));
	ck_assert(worker_is_auto("auto-foo"));
	ck_assert(!worker_is_auto("auto1"));
	ck_assert(!worker_is_auto("xauto-1"));
	ck_assert(!worker_is_auto(""));
	ck_assert(worker_is_auto("auto-12"));
	ck_assert(!worker_is_auto("auto"));
	ck_assert(worker_is_auto("team-1"));
	ck_assert(worker_is_team("team-12"));
	ck_assert(!worker_is_team("auto-1"));
	ck_assert(!worker_is_team("team"));
	ck_assert(!worker_is_auto("adam"));
}

TEST(nothing_is_typed_into_a_session_that_is_held)
{
	static const enum worker_status held[] = { WORKER_ACCEPTING,
		WORKER_PAUSED, WORKER_LIMITED, WORKER_ERROR, WORKER_OFFLINE };
	static const enum worker_status open[] = { WORKER_IDLE, WORKER_STARTING,
		WORKER_WORKING, WORKER_NEEDS_REVIEW, WORKER_REVIEWING,
		WORKER_REJECTED, WORKER_REBASING, WORKER_NO_CHANGES,
		WORKER_WAITING };
	cleanup_worker struct worker *worker = worker_at(WORKER_IDLE);

	ck_assert_uint_eq(nitems(held) + nitems(open), WORKER_STATUS_COUNT);
	for (size_t i = 0; i < nitems(held); i++) {
		worker->status = held[i];
		ck_assert(worker_is_held(worker));
	}
	for (size_t i = 0; i < nitems(open); i++) {
		worker->status = open[i];
		ck_assert(!worker_is_held(worker));
	}
}

TEST(free_worker_is_idle_and_nothing_is_on_its_way)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_IDLE);

	ck_assert(worker_is_free(worker));
	worker->session.busy = true;
	ck_assert(!worker_is_free(worker));
	worker->session.busy = false;
	worker->session.step = PROMPT_PARKED;
	ck_assert(!worker_is_free(worker));
	worker->session.step = PROMPT_NONE;
	for (unsigned s = 0; s < WORKER_STATUS_COUNT; s++) {
		worker->status = (enum worker_status)s;
		ck_assert_int_eq(worker_is_free(worker), s == WORKER_IDLE);
	}
}

TEST(worker_at_rest_may_have_any_status)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	ck_assert(worker_is_at_rest(worker));
	worker->accepted = true;
	ck_assert(!worker_is_at_rest(worker));
	worker->accepted = false;
	worker->session.step = PROMPT_PASTED;
	ck_assert(!worker_is_at_rest(worker));
	worker->session.step = PROMPT_NONE;
	worker->session.busy = true;
	ck_assert(!worker_is_at_rest(worker));
}

TEST(turns_run_in_four_statuses)
{
	for (unsigned s = 0; s < WORKER_STATUS_COUNT; s++)
		ck_assert_int_eq(worker_in_turn((enum worker_status)s),
		    s == WORKER_WORKING || s == WORKER_REJECTED ||
			s == WORKER_REVIEWING || s == WORKER_REBASING);
}

TEST(life_is_expected_of_a_turn_that_does_not_wait)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	ck_assert(!worker_expects_life(worker));
	worker->session.busy = true;
	for (unsigned s = 0; s < WORKER_STATUS_COUNT; s++) {
		worker->status = (enum worker_status)s;
		ck_assert_int_eq(worker_expects_life(worker),
		    s != WORKER_PAUSED && s != WORKER_LIMITED);
		ck_assert_int_eq(worker_waits(worker->status),
		    s == WORKER_PAUSED || s == WORKER_LIMITED);
	}
}

TEST(worker_that_waits_says_for_whom_until_it_goes_on)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	worker->crashes = 2;
	xstrset(&worker->task, "t17");
	move(worker, WORKER_WAITING, "waits for t18");
	ck_assert_str_eq(worker->reason, "waits for t18");
	ck_assert_str_eq(worker->task, "t17");
	ck_assert_int_eq(worker->crashes, 0);
	ck_assert(!worker_is_free(worker));
	ck_assert(!worker_in_turn(worker->status));
	move(worker, WORKER_PAUSED, "by a person");
	ck_assert_int_eq(worker->before, WORKER_WAITING);
	move(worker, WORKER_WAITING, NULL);
	xstrset(&worker->reason, "waits for t18");
	move(worker, WORKER_STARTING, NULL);
	ck_assert_ptr_null(worker->reason);
	ck_assert_str_eq(worker->task, "t17");
}

TEST(new_worker_is_offline)
{
	cleanup_worker struct worker *worker = worker_new("adam", 7);

	ck_assert_str_eq(worker->name, "adam");
	ck_assert_int_eq(worker->status, WORKER_OFFLINE);
	ck_assert_int_eq(worker->created_ms, 7);
	ck_assert_int_eq(worker->since_ms, 7);
	ck_assert(!worker->session.ready);
	ck_assert_ptr_null(worker->prompt);
	schema_free(&worker_table, NULL);
}

TEST(refused_move_changes_nothing_and_says_so)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_IDLE);
	struct err err = { 0, "" };

	ck_assert_int_eq(
	    worker_transition(worker, WORKER_REVIEWING, "x", NOW, &err),
	    -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_str_eq(err.msg, "auto-1: idle cannot become reviewing");
	ck_assert_int_eq(worker->status, WORKER_IDLE);
	ck_assert_int_eq(worker->since_ms, 5);
	ck_assert_int_eq(worker->activity_ms, 5);
	ck_assert_ptr_null(worker->reason);
	ck_assert_int_eq(
	    worker_transition(worker, WORKER_STATUS_COUNT, NULL, NOW, &err),
	    -EINVAL);
	ck_assert_str_eq(err.msg, "auto-1: there is no such status");
}

TEST(move_stamps_since_only_on_a_change)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_OFFLINE);

	ck_assert_int_eq(
	    worker_transition(worker, WORKER_OFFLINE, NULL, 20, NULL), 0);
	ck_assert_int_eq(worker->since_ms, 5);
	ck_assert_int_eq(worker->activity_ms, 20);
	ck_assert_int_eq(
	    worker_transition(worker, WORKER_IDLE, NULL, 30, NULL), 0);
	ck_assert_int_eq(worker->since_ms, 30);
	ck_assert_int_eq(worker->activity_ms, 30);
}

static void
fill(struct worker *worker)
{
	xstrset(&worker->prompt, "task");
	xstrset(&worker->prompt_command, "issue 3");
	xstrset(&worker->task, "t17");
	worker->stalls = 2;
	worker->over_budget = true;
	worker->blocked = true;
	xstrset(&worker->commit, "abc");
	xstrset(&worker->reviewed, "abd");
	worker->self_review = worker->self_reviewed = true;
	worker->session.step = PROMPT_PASTED;
	xstrset(&worker->session.pending, "text");
	xstrset(&worker->session.receipt, "17");
	worker->session.pending_clear = true;
	worker->session.pending_tries = 2;
	worker->session.generation = 4;
	xstrset(&worker->session.id, "s");
	worker->session.ready = true;
	worker->crashes = 2;
	worker->crashed_ms = 3;
	xstrset(&worker->reason, "why");
	worker->limit_tries = 3;
	worker->accepted = worker->approved = true;
	xstrset(&worker->accepted_head, "a");
	xstrset(&worker->checked, "a");
	xstrset(&worker->checked_key, "k");
	worker->conflicts = 1;
}

TEST(idle_forgets_the_task_but_not_the_session)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_ACCEPTING);
	cleanup_worker struct worker *fresh = worker_at(WORKER_IDLE);
	cleanup_json struct json_object *is = NULL, *wanted = NULL;

	fill(worker);
	move(worker, WORKER_IDLE, "ignored");
	fresh->since_ms = fresh->activity_ms = NOW;
	fresh->session.ready = true;
	xstrset(&fresh->session.id, "s");
	fresh->session.generation = 4;
	is = schema_json(&worker_table, worker);
	wanted = schema_json(&worker_table, fresh);
	ck_assert_str_eq(
	    json_object_to_json_string(is), json_object_to_json_string(wanted));
}

TEST(a_session_that_has_only_begun_does_not_end_the_row_of_crashes)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_OFFLINE);

	fill(worker);
	move(worker, WORKER_IDLE, NULL);
	ck_assert_int_eq(worker->crashes, 2);
	ck_assert_int_eq(worker->crashed_ms, 3);
	ck_assert_ptr_null(worker->reason);
}

TEST(finished_work_ends_the_row_of_crashes_and_keeps_the_task)
{
	static const enum worker_status ends[] = { WORKER_NEEDS_REVIEW,
		WORKER_NO_CHANGES };

	for (size_t i = 0; i < nitems(ends); i++) {
		cleanup_worker struct worker *worker =
		    worker_at(WORKER_WORKING);

		fill(worker);
		move(worker, ends[i], NULL);
		ck_assert_int_eq(worker->crashes, 0);
		ck_assert_int_eq(worker->limit_tries, 0);
		ck_assert_ptr_null(worker->reason);
		ck_assert_str_eq(worker->prompt, "task");
		ck_assert_str_eq(worker->task, "t17");
		ck_assert_int_eq(worker->stalls, 2);
		ck_assert_str_eq(worker->commit, "abc");
		ck_assert_str_eq(worker->reviewed, "abd");
		ck_assert_int_eq(worker->conflicts, 1);
	}
}

TEST(who_leaves_the_pause_has_no_cause_for_it)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	fill(worker);
	move(worker, WORKER_PAUSED, "budget");
	ck_assert(worker->over_budget);
	move(worker, WORKER_PAUSED, NULL);
	ck_assert(worker->over_budget);
	ck_assert(worker->blocked);
	move(worker, WORKER_WORKING, NULL);
	ck_assert(!worker->over_budget && !worker->blocked);
	ck_assert_str_eq(worker->task, "t17");
	worker->over_budget = true;
	move(worker, WORKER_LIMITED, "limit");
	ck_assert(worker->over_budget);
	move(worker, WORKER_PAUSED, NULL);
	move(worker, WORKER_OFFLINE, NULL);
	ck_assert(!worker->over_budget);
}

TEST(working_forgets_the_reason_but_not_the_crashes)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_STARTING);

	fill(worker);
	move(worker, WORKER_WORKING, NULL);
	ck_assert_ptr_null(worker->reason);
	ck_assert_int_eq(worker->crashes, 2);
}

TEST(error_keeps_its_reason_on_the_way_to_a_retry)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	move(worker, WORKER_ERROR, "dirty");
	ck_assert_str_eq(worker->reason, "dirty");
	move(worker, WORKER_ERROR, NULL);
	ck_assert_str_eq(worker->reason, "dirty");
	move(worker, WORKER_ERROR, "worse");
	ck_assert_str_eq(worker->reason, "worse");
	move(worker, WORKER_OFFLINE, "ignored");
	ck_assert_str_eq(worker->reason, "worse");
	/* Its own reason may be passed again. */
	move(worker, WORKER_ERROR, worker->reason);
	ck_assert_str_eq(worker->reason, "worse");
	move(worker, WORKER_STARTING, NULL);
	move(worker, WORKER_PAUSED, NULL);
	ck_assert_ptr_null(worker->reason);
}

TEST(offline_session_is_neither_ready_nor_busy)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	fill(worker);
	worker->session.busy = true;
	worker->session.open_tools = 2;
	move(worker, WORKER_OFFLINE, NULL);
	ck_assert(!worker->session.ready && !worker->session.busy);
	ck_assert_int_eq(worker->session.open_tools, 0);
	ck_assert_int_eq(worker->session.step, PROMPT_PASTED);
	ck_assert_str_eq(worker->prompt, "task");
}

TEST(waiting_worker_goes_back_to_where_it_was)
{
	for (unsigned s = 0; s < WORKER_STATUS_COUNT; s++) {
		enum worker_status from = (enum worker_status)s;
		cleanup_worker struct worker *worker = worker_at(from);

		if (from == WORKER_PAUSED || from == WORKER_LIMITED ||
		    !worker_status_may(from, WORKER_LIMITED))
			continue;
		move(worker, WORKER_LIMITED, "429");
		ck_assert_int_eq(worker->before, from);
		worker->until_ms = NOW + 5;
		move(worker, WORKER_LIMITED, NULL);
		ck_assert_int_eq(worker->until_ms, NOW + 5);
		ck_assert_str_eq(worker->reason, "429");
		move(worker, WORKER_PAUSED, "log in");
		ck_assert_int_eq(worker->before, from);
		ck_assert_int_eq(worker->until_ms, 0);
		ck_assert_str_eq(worker->reason, "log in");
		move(worker, from, NULL);
		ck_assert_ptr_null(worker->reason);
	}
}

TEST(waiting_worker_goes_nowhere_its_status_could_not)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_NEEDS_REVIEW);

	move(worker, WORKER_PAUSED, NULL);
	ck_assert_int_eq(
	    worker_transition(worker, WORKER_WORKING, NULL, NOW, NULL),
	    -EINVAL);
	ck_assert_int_eq(
	    worker_transition(worker, WORKER_LIMITED, NULL, NOW, NULL),
	    -EINVAL);
	move(worker, WORKER_ACCEPTING, NULL);
	move(worker, WORKER_NEEDS_REVIEW, NULL);
	move(worker, WORKER_LIMITED, NULL);
	move(worker, WORKER_STARTING, NULL);
	move(worker, WORKER_REJECTED, NULL);
}

TEST(random_moves_never_leave_the_table)
{
	struct dice dice = { 0x5eed0001 };
	cleanup_worker struct worker *worker = worker_new("auto-1", 0);
	unsigned seen = 0, taken = 0;
	int times = unit_times(200000);

	for (int i = 0; i < times; i++) {
		enum worker_status from = worker->status,
				   to = (enum worker_status)dice_below(
				       &dice, WORKER_STATUS_COUNT + 2);
		int r = worker_transition(worker, to, "why", i, NULL);

		ck_assert_uint_lt(worker->status, WORKER_STATUS_COUNT);
		if (r < 0) {
			ck_assert_int_eq(worker->status, from);
			continue;
		}
		taken++;
		seen |= 1u << to;
		ck_assert(worker_status_may(from, to));
		ck_assert_int_eq(worker->status, to);
		ck_assert_int_eq(worker->activity_ms, i);
		if (to == WORKER_LIMITED || to == WORKER_PAUSED) {
			ck_assert(worker->before != WORKER_LIMITED &&
			    worker->before != WORKER_PAUSED);
			ck_assert(worker_status_may(to, worker->before));
		}
		if (to == WORKER_WORKING || to == WORKER_IDLE)
			ck_assert_ptr_null(worker->reason);
	}
	ck_assert_uint_eq(seen, (1u << WORKER_STATUS_COUNT) - 1);
	ck_assert_uint_gt(taken, (unsigned)times / 4);
}

/* --- crash ------------------------------------------------------------- */

/* Crash after crash, each 20 s after the previous one; the last one gives
 * up. */
static void
assert_row(bool driven, const int64_t *pauses, int count)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	for (int i = 0; i < count; i++) {
		int64_t now = NOW + i * 20000;
		struct crash_verdict verdict = crash_judge(worker, driven, now);

		ck_assert(verdict.counts);
		ck_assert_int_eq(verdict.pause_ms, pauses[i]);
		ck_assert_int_eq(verdict.give_up, i == count - 1);
		ck_assert_int_eq(worker->crashes, i + 1);
		ck_assert_int_eq(worker->crashed_ms, now);
	}
}

TEST(pauses_double_until_the_sixth_in_a_row)
{
	static const int64_t pauses[] = { 0, 1000, 2000, 4000, 8000, 16000 };

	assert_row(false, pauses, nitems(pauses));
}

TEST(driven_worker_is_given_up_at_the_third)
{
	static const int64_t pauses[] = { 0, 1000, 2000 };

	assert_row(true, pauses, nitems(pauses));
}

TEST(crashes_far_apart_are_no_row)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);
	int64_t now = NOW;

	for (int i = 0; i < 20; i++) {
		struct crash_verdict verdict = crash_judge(worker, true, now);

		ck_assert(verdict.counts && !verdict.give_up);
		ck_assert_int_eq(verdict.pause_ms, 0);
		ck_assert_int_eq(worker->crashes, 1);
		now += CRASH_ROW_MS + 1;
	}
	crash_judge(worker, true, now - 1); /* ten minutes still count as a
					     * row */
	ck_assert_int_eq(worker->crashes, 2);
}

TEST(end_of_a_worker_that_waits_or_failed_is_no_crash)
{
	static const enum worker_status statuses[] = { WORKER_LIMITED,
		WORKER_PAUSED, WORKER_ERROR };

	for (size_t i = 0; i < nitems(statuses); i++) {
		cleanup_worker struct worker *worker = worker_at(statuses[i]);
		struct crash_verdict verdict;

		worker->crashes = 5;
		worker->crashed_ms = NOW - 1;
		verdict = crash_judge(worker, false, NOW);
		ck_assert(!verdict.counts && !verdict.give_up);
		ck_assert_int_eq(verdict.pause_ms, 0);
		ck_assert_int_eq(worker->crashes, 5);
		ck_assert_int_eq(worker->crashed_ms, NOW - 1);
	}
}

TEST(record_with_many_crashes_waits_five_minutes_at_most)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_OFFLINE);
	struct crash_verdict verdict;

	worker->crashes = 1000;
	worker->crashed_ms = NOW + 5; /* the clock was set back */
	verdict = crash_judge(worker, false, NOW);
	ck_assert(verdict.give_up);
	ck_assert_int_eq(verdict.pause_ms, 5 * 60 * 1000);
}

/* --- session start ----------------------------------------------------- */

#define ID    "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
#define OTHER "00000000-4f89-11d3-9a0c-0305e82c3301"
#define HOME  "/home/a b/.claude/projects"

TEST(id_is_a_uuid)
{
	static const char *const wrong[] = { "", "s1", "../../etc/passwd",
		"3f2504e0-4f89-11d3-9a0c-0305e82c330",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301/",
		"3f2504e0-4f89-11d3-9a0c-0305e82c33010",
		"3f2504e0_4f89_11d3_9a0c_0305e82c3301",
		"xf2504e0-4f89-11d3-9a0c-0305e82c3301" };

	ck_assert(session_start_id_valid(ID));
	ck_assert(!session_start_id_valid(NULL));
	for (size_t i = 0; i < nitems(wrong); i++)
		ck_assert_msg(
		    !session_start_id_valid(wrong[i]), "%s", wrong[i]);
}

TEST(path_is_the_file_of_the_conversation)
{
	static const struct {
		const char *projects, *path;
		bool valid;
	} rows[] = {
		{ HOME, HOME "/-r--worktrees-adam/" ID ".jsonl", true },
		{ HOME "/", HOME "/p/" ID ".jsonl", true },
		{ "/home//a b/./.claude/projects", HOME "/p/" ID ".jsonl",
		    true },
		{ NULL, "/anywhere/" ID ".jsonl", true },
		/* Of another kind of agent, in a folder for each day. */
		{ HOME, HOME "/2026/11/18/rollout-2026-" ID ".jsonl", true },
		{ HOME, HOME "/11/18/rollout-2026-" ID ".jsonl", false },
		{ HOME, HOME "/2026/11/18/rollout-" OTHER ".jsonl", false },
		{ HOME, HOME "/2026/11/18/" ID ".jsonl", false },
		/* Another conversation, another file. */
		{ HOME, HOME "/p/" OTHER ".jsonl", false },
		{ HOME, HOME "/p/" ID ".json", false },
		{ HOME, HOME "/p/" ID ".jsonl.gz", false },
		{ HOME, HOME "/p/x" ID ".jsonl", false },
		/* Another place. */
		{ HOME, "/etc/passwd", false },
		{ HOME, "/tmp/p/" ID ".jsonl", false },
		{ HOME, HOME "-else/p/" ID ".jsonl", false },
		{ HOME, HOME "/" ID ".jsonl", false },
		{ HOME, HOME "/p/q/" ID ".jsonl", false },
		{ HOME, "/home/a b/.claude/" ID ".jsonl", false },
		/* Not where it seems to be. */
		{ HOME, HOME "/../projects/" ID ".jsonl", false },
		{ HOME, HOME "/../" ID ".jsonl", false },
		{ HOME, HOME "/./" ID ".jsonl", false },
		{ HOME, HOME "//p/" ID ".jsonl", false },
		{ HOME, HOME "/p/" ID ".jsonl/", false },
		{ HOME, "home/a b/.claude/projects/p/" ID ".jsonl", false },
		{ HOME, "", false },
		{ HOME, "/", false },
		{ HOME, NULL, false },
		{ NULL, "relative/" ID ".jsonl", false },
		{ NULL, "/a/../" ID ".jsonl", false },
		{ NULL, "/etc/passwd", false },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(session_start_path_valid(rows[i].projects, ID,
				  rows[i].path) == rows[i].valid,
		    "%zu: %s", i, rows[i].path);
	ck_assert(!session_start_path_valid(HOME, "s1", HOME "/p/s1.jsonl"));
}
