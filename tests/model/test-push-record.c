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
	    "\"reason\":null,\"next_unix\":null,\"away_unix\":null,"
	    "\"since_unix\":null}");
	xstrset(&push.unpushed, "b");
	push_record_done(&push, "a", "a");
	ck_assert_str_eq(push.unpushed, "b");
	push_record_done(&push, "b", "b");
	ck_assert_int_eq(push_record_wait_ms(&push, NOW), -1);
	assert_json(&push,
	    "{\"state\":\"done\",\"commit_sha\":\"b\",\"tries\":0,"
	    "\"reason\":null,\"next_unix\":null,\"away_unix\":null,"
	    "\"since_unix\":null}");
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
	    "\"reason\":\"no route\",\"next_unix\":1030,\"away_unix\":null,"
	    "\"since_unix\":null}");
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

/* --- when to look ------------------------------------------------------- */

#define MINUTE (INT64_C(60) * 1000)

TEST(origin_is_looked_at_when_that_is_due)
{
	static const struct {
		enum look_why why;
		int64_t looked_ms, next_ms, want;
		bool held;
	} rows[] = {
		/* At once when this daemon has not looked yet. */
		{ LOOK_REGULAR, 0, 0, 0, false },
		{ LOOK_TASK, 0, 0, 0, false },
		{ LOOK_LANDING, 0, 0, 0, false },
		{ LOOK_REGULAR, NOW, 0, 5 * MINUTE, false },
		{ LOOK_REGULAR, NOW - MINUTE, 0, 4 * MINUTE, false },
		{ LOOK_REGULAR, NOW - 6 * MINUTE, 0, 0, false },
		/* For tasks, once a minute. */
		{ LOOK_TASK, NOW - MINUTE + 1, 0, -1, false },
		{ LOOK_TASK, NOW - MINUTE, 0, 0, false },
		/* For a landing always, unless it was just done. */
		{ LOOK_LANDING, NOW - LOOK_LANDING_MS, 0, 0, false },
		{ LOOK_LANDING, NOW - LOOK_LANDING_MS + 1, 0, -1, false },
		/* An origin that is away is not waited for. */
		{ LOOK_REGULAR, NOW - 6 * MINUTE, NOW + MINUTE, MINUTE, false },
		{ LOOK_TASK, NOW - 6 * MINUTE, NOW + MINUTE, -1, false },
		{ LOOK_LANDING, NOW - 6 * MINUTE, NOW + MINUTE, -1, false },
		{ LOOK_LANDING, NOW - 6 * MINUTE, NOW + MINUTE, 0, true },
		/* The clock was set back. */
		{ LOOK_REGULAR, NOW + 90 * MINUTE, 0, 0, false },
		{ LOOK_TASK, NOW + 90 * MINUTE, 0, 0, false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct push_record push = { .looked_ms = rows[i].looked_ms,
			.next_ms = rows[i].next_ms,
			.held = rows[i].held };

		ck_assert_msg(push_record_look_ms(&push, rows[i].why,
				  5 * MINUTE, NOW) == rows[i].want,
		    "row %zu", i);
	}
}

/* --- what follows a push ------------------------------------------------ */

TEST(an_answer_says_what_becomes_of_the_landing)
{
	struct push_record push = { 0 };
	char *words;

	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_OK, "", NOW), PUSH_THEN_LAND);
	ck_assert_ptr_null(push_record_asks(&push, UPSTREAM_PUSH, "main"));
	/* Four times it is built again, then a person is asked. */
	for (int i = 1; i < PUSH_REJECTED_MAX; i++)
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_REJECTED, "moved", NOW),
		    PUSH_THEN_REBUILD);
	ck_assert(!push.held);
	ck_assert_int_eq(push_record_answer(&push, PUSH_REJECTED, "moved", NOW),
	    PUSH_THEN_HOLD);
	ck_assert(push.held && push_record_has_failed(&push));
	ck_assert_int_gt(push_record_wait_ms(&push, NOW), 0);
	words = push_record_asks(&push, UPSTREAM_PUSH, "main");
	/* What it names can be typed. */
	ck_assert_ptr_nonnull(
	    strstr(words, "llmc config set auto.land pull-request"));
	ck_assert_ptr_nonnull(
	    strstr(words, "(llmc config set repo.upstream follow)"));
	free(words);
	/* Where nothing is pushed, nobody is asked about it. */
	ck_assert_ptr_null(push_record_asks(&push, UPSTREAM_FOLLOW, "main"));
	ck_assert(push_record_let_go(&push) && !push.held);
	ck_assert(!push_record_let_go(&push));
	ck_assert_int_eq(push.tries + push.rejected, 0);
	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_OK, "", NOW), PUSH_THEN_LAND);
	ck_assert(!push.held && push.rejected == 0 && push.tries == 0);
	/* A rule of origin is no race: at once. */
	ck_assert_int_eq(
	    push_record_answer(&push, PUSH_REFUSED, "protected", NOW),
	    PUSH_THEN_HOLD);
	push_record_done(&push, "a", "a");
	ck_assert(!push.held);
	/* Without an answer nothing lands; a person is asked if that stays. */
	for (int i = 1; i <= 3; i++) {
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_UNKNOWN, "hung up", NOW + i),
		    PUSH_THEN_HOLD);
		ck_assert(push.held && push.away_ms == NOW + 1);
		words = push_record_asks(&push, UPSTREAM_PUSH, "main");
		ck_assert((words != NULL) == (i == 3));
		free(words);
	}
	push_record_done(&push, "a", "a");
	/* Since when it is away is since the first time. */
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(
		    push_record_answer(&push, PUSH_AWAY, "no route", NOW + i),
		    PUSH_THEN_LATER);
	ck_assert_int_eq(push.away_ms, NOW);
	assert_json(&push,
	    "{\"state\":\"away\",\"commit_sha\":\"a\",\"tries\":3,"
	    "\"reason\":\"no route\",\"next_unix\":1120,\"away_unix\":1000,"
	    "\"since_unix\":null}");
	push_record_reached(&push);
	ck_assert_int_eq(push.away_ms, 0);
	release(&push);
}

TEST(a_checkout_in_the_way_is_an_ask_after_a_while)
{
	char why[] = "x";
	struct push_record push = { .blocked = why, .blocked_ms = NOW };
	int64_t then = NOW + FOLLOW_PATIENCE_MS;

	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_PUSH, then - 1));
	ck_assert_ptr_nonnull(push_record_blocks(&push, UPSTREAM_PUSH, then));
	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_OFF, then));
	push.blocked = NULL;
	ck_assert_ptr_null(push_record_blocks(&push, UPSTREAM_PUSH, then));
}

TEST(a_branch_that_has_diverged_has_three_ways_on)
{
	struct push_record push = { 0 };
	cleanup_free char *words = NULL;

	xstrset(&push.ours, "1111111111111111");
	xstrset(&push.theirs, "2222222222222222");
	words = push_record_asks(&push, UPSTREAM_FOLLOW, "trunk");
	ck_assert_ptr_nonnull(strstr(words, "trunk is at 111111111111 here"));
	ck_assert_ptr_nonnull(strstr(words, "at 222222222222 at origin"));
	ck_assert_ptr_nonnull(strstr(words, "git rebase 222222222222"));
	ck_assert_ptr_nonnull(strstr(words, "git merge 222222222222"));
	ck_assert_ptr_nonnull(strstr(words, "git reset --keep 222222222222"));
	free(push.ours);
	free(push.theirs);
}
