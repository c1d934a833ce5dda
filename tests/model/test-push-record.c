/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "backoff.h"
#include "landing-record.h"

#define NOW INT64_C(1000000)

static void
release(struct push_record *push)
{
	free(push->unpushed);
	free(push->pushed);
	free(push->reason);
}

static void
assert_json(const struct push_record *push, const char *want)
{
	cleanup_json struct json_object *json = push_record_json(push);
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_ptr_nonnull(json);
	json_print(json, false, &text);
	ck_assert_str_eq(text.data, want);
}

TEST(from_a_landing_to_the_remote)
{
	struct push_record push = { 0 };

	ck_assert_ptr_null(push_record_json(&push));
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), -1);
	xstrset(&push.unpushed, "a");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), 0);
	assert_json(&push,
	    "{\"state\":\"waiting\",\"commit_sha\":\"a\",\"tries\":0,"
	    "\"reason\":null,\"next_unix\":null}");
	xstrset(&push.unpushed, "b");
	push_record_done(&push, "a", "a");
	ck_assert_str_eq(push.unpushed, "b");
	push_record_done(&push, "b", "b");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), -1);
	assert_json(&push,
	    "{\"state\":\"done\",\"commit_sha\":\"b\",\"tries\":0,"
	    "\"reason\":null,\"next_unix\":null}");
	release(&push);
}

TEST(failures_are_further_and_further_apart)
{
	struct push_record push = { 0 };
	int64_t last = 0;

	xstrset(&push.unpushed, "a");
	push_record_failed(&push, "no route", NOW);
	ck_assert(push_record_has_failed(&push));
	assert_json(&push,
	    "{\"state\":\"failed\",\"commit_sha\":\"a\",\"tries\":1,"
	    "\"reason\":\"no route\",\"next_unix\":1030}");
	for (int i = 0; i < 20; i++) {
		int64_t ms = push_record_wait_ms(&push, NOW);

		ck_assert_int_ge(ms, last);
		last = ms;
		push_record_failed(&push, "no route", NOW);
	}
	ck_assert_int_eq(last, backoff_outage.max_ms);
	/* Later, and with a clock that was set back. */
	ck_assert_int_eq(push_record_wait_ms(&push, NOW + 2 * last), 0);
	ck_assert_int_eq(push_record_wait_ms(&push, 0), last);
	push_record_done(&push, "a", "a");
	ck_assert(!push_record_has_failed(&push));
	xstrset(&push.unpushed, "b");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), 0);
	release(&push);
}
