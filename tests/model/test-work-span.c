/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "metrics.h"

static const struct {
	const char *status;
	bool queue, outage;
	const char *use;
} uses[] = {
	{ "working", false, false, "working" },
	{ "starting", false, false, "working" },
	{ "accepting", false, false, "landing" },
	{ "rebasing", false, false, "conflict" },
	{ "waiting", false, false, "waiting" },
	{ "limited", false, false, "limited" },
	{ "limited", false, true, "outage" },
	{ "paused", false, true, "paused" },
	{ "needs_review", true, false, "landing" },
	{ "no_changes", false, false, "landing" },
	{ "error", false, false, "error" },
	{ "offline", true, false, "offline" },
	{ "idle", false, false, "idle" },
	{ "idle", true, false, "idle_queue" },
	{ "idle", true, true, "idle_queue" },
	{ "waiting for you", false, false, "person" },
	{ "of a later version", false, false, "offline" },
};

TEST_ROWS(a_status_tells_what_the_time_was_used_for, nitems(uses))
{
	ck_assert_str_eq(work_use_words[work_use_of(uses[_i].status, false,
			     uses[_i].queue, uses[_i].outage)],
	    uses[_i].use);
}

TEST(only_work_of_a_person_waits_for_one)
{
	/* Nor does the queue wait for a worker of a person's. */
	ck_assert_int_eq(work_use_of("idle", true, true, false), WORK_IDLE);
	ck_assert_int_eq(
	    work_use_of("needs_review", true, true, false), WORK_PERSON);
	ck_assert_int_eq(
	    work_use_of("no_changes", true, false, false), WORK_PERSON);
	ck_assert_int_eq(
	    work_use_of("accepting", true, false, false), WORK_LANDING);
}

TEST(a_span_is_read)
{
	cleanup_json struct json_object *json = json_tokener_parse(
	    "{\"worker\": \"auto-1\", \"use\": \"conflict\", \"task\": \"t1\", "
	    "\"attempt\": 2, \"from_ms\": 10, \"to_ms\": 30}");
	struct work_span back;

	ck_assert(work_span_from_json(json, &back));
	ck_assert_str_eq(back.worker, "auto-1");
	ck_assert_str_eq(back.task, "t1");
	ck_assert_int_eq(back.use, WORK_CONFLICT);
	ck_assert_int_eq(back.attempt, 2);
	ck_assert_int_eq(back.from_ms, 10);
	ck_assert_int_eq(back.to_ms, 30);
	work_span_release(&back);
	json_object_object_del(json, "task");
	ck_assert(work_span_from_json(json, &back));
	ck_assert_ptr_null(back.task);
	work_span_release(&back);
}

static const char *const none[] = {
	"[]",
	"\"text\"",
	"{}",
	"{\"worker\": \"a\", \"use\": \"idle\"}",
	"{\"worker\": \"a\", \"use\": \"nothing\", \"from_ms\": 1, "
	"\"to_ms\": 2}",
	"{\"worker\": 1, \"use\": \"idle\", \"from_ms\": 1, \"to_ms\": 2}",
	"{\"worker\": \"a\", \"use\": \"idle\", \"from_ms\": 3, \"to_ms\": "
	"2}",
	"{\"worker\": \"a\", \"use\": \"idle\", \"from_ms\": -3, \"to_ms\": "
	"2}",
	"{\"worker\": \"a\", \"use\": \"idle\", \"from_ms\": \"1\", "
	"\"to_ms\": 2}",
};

TEST_ROWS(what_is_no_span_is_refused, nitems(none))
{
	cleanup_json struct json_object *json = json_tokener_parse(none[_i]);
	struct work_span span;

	ck_assert(!work_span_from_json(json, &span));
}
