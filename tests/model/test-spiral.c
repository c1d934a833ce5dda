/* SPDX-License-Identifier: ISC */

#include "spiral-history.h"

TEST(first_failure_is_repaired_however_soon)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	assert_decision(history, SPIRAL_REPAIR, NULL);
}

TEST(failure_soon_after_a_repair_is_a_spiral)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, rules.cooldown_ms - 1, "b");
	assert_decision(history, SPIRAL_END, "spiral");
	ck_assert_int_eq(decide(history).delay_ms, 0);
}

TEST(run_as_long_as_the_cooldown_begins_anew)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, rules.cooldown_ms, "b");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	happen(history, SPIRAL_STOP, SOUND, NULL);
	happen(history, SPIRAL_FAILURE, 0, "c");
	assert_decision(history, SPIRAL_REPAIR, NULL);
}

TEST(short_run_that_a_person_stopped_does_not)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	repair(history, "completed");
	happen(history, SPIRAL_STOP, SHORT, NULL);
	happen(history, SPIRAL_FAILURE, SHORT, "b");
	assert_decision(history, SPIRAL_END, "spiral");
}

TEST(start_by_a_person_begins_anew)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	repair(history, "failed");
	happen(history, SPIRAL_START, 0, NULL);
	happen(history, SPIRAL_FAILURE, 0, "b");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	ck_assert_int_eq(decide(history).delay_ms, 0);
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, SHORT, "c");
	assert_decision(history, SPIRAL_END, "spiral");
}

TEST(stall_restarts_and_is_no_attempt)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_STALL, SHORT, NULL);
	assert_decision(history, SPIRAL_RESTART, NULL);
	happen(history, SPIRAL_FAILURE, 5 * SECOND, "a");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	happen(history, SPIRAL_STALL, SHORT, NULL);
	assert_decision(history, SPIRAL_RESTART, NULL);
	happen(history, SPIRAL_FAILURE, SHORT, "b");
	assert_decision(history, SPIRAL_END, "spiral");
}

TEST(interrupted_repair_is_no_attempt)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, 0, "a");
	repair(history, "interrupted");
	assert_decision(history, SPIRAL_REPAIR, NULL); /* again */
	ck_assert_int_eq(decide(history).same, 1);
	happen(history, SPIRAL_FAILURE, 0, "a");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "timed out");
	happen(history, SPIRAL_FAILURE, 0, "a");
	assert_decision(history, SPIRAL_END, "spiral");
}

/* --- restart first ----------------------------------------------------- */

static void
crash(struct history *history, int64_t run_ms, const char *signature)
{
	happen(history, SPIRAL_FAILURE, run_ms, signature)->abrupt = true;
}

TEST(abrupt_failure_is_restarted_at_once_and_the_second_repaired)
{
	cleanup_history struct history *history = history_new();

	crash(history, SHORT, "a");
	assert_decision(history, SPIRAL_RESTART, NULL);
	ck_assert_int_eq(decide(history).delay_ms, 0);
	/* Whatever the second one looks like. */
	crash(history, SPIRAL_ABRUPT_MS - 1, "b");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	crash(history, SHORT, "a");
	assert_decision(history, SPIRAL_END, "spiral");
}

TEST(abrupt_failure_is_an_accident_again_after_a_while)
{
	cleanup_history struct history *history = history_new();

	crash(history, SHORT, "a");
	crash(history, SPIRAL_ABRUPT_MS, "a");
	assert_decision(history, SPIRAL_RESTART, NULL);
	ck_assert_int_eq(decide(history).delay_ms, 0);
}

/* The decision does not change while a repair of it runs, or is interrupted. */
TEST(abrupt_failure_is_judged_by_when_it_happened)
{
	cleanup_history struct history *history = history_new();

	crash(history, SHORT, "a");
	crash(history, SHORT, "a");
	history->now_ms += 2 * SPIRAL_ABRUPT_MS;
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "interrupted");
	assert_decision(history, SPIRAL_REPAIR, NULL);
}

TEST(other_failure_soon_after_an_abrupt_one_is_repaired)
{
	cleanup_history struct history *history = history_new();

	crash(history, SHORT, "a");
	happen(history, SPIRAL_FAILURE, SHORT, "b");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	/* That was neither a repair of a crash nor its cause. */
	crash(history, SPIRAL_ABRUPT_MS, "a");
	assert_decision(history, SPIRAL_RESTART, NULL);
}

TEST(abrupt_failures_are_repaired_before_they_are_a_slow_spiral)
{
	cleanup_history struct history *history = history_new();

	for (int i = 1; i < rules.same_max - 1; i++) {
		crash(history, HOUR, "a");
		assert_decision(history, SPIRAL_RESTART, NULL);
	}
	crash(history, HOUR, "a");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	crash(history, HOUR, "a");
	assert_decision(history, SPIRAL_END, "slow_spiral");
}

TEST(abrupt_failure_before_a_clear_does_not_count)
{
	cleanup_history struct history *history = history_new();

	crash(history, SHORT, "a");
	happen(history, SPIRAL_CLEAR, 0, NULL);
	crash(history, SHORT, "a");
	assert_decision(history, SPIRAL_RESTART, NULL);
}

TEST(same_failure_again_and_again_is_a_slow_spiral)
{
	cleanup_history struct history *history = history_new();

	for (int i = 1; i < rules.same_max; i++) {
		happen(history, SPIRAL_FAILURE, SOUND, "a");
		ck_assert_int_eq(decide(history).same, i);
		assert_decision(history, SPIRAL_REPAIR, NULL);
		repair(history, "completed");
	}
	happen(history, SPIRAL_FAILURE, SOUND, "b");
	ck_assert_int_eq(decide(history).same, 1);
	assert_decision(history, SPIRAL_REPAIR, NULL);
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, SOUND, "a");
	assert_decision(history, SPIRAL_END, "slow_spiral");
	ck_assert_int_eq(decide(history).same, rules.same_max);
}

TEST(failure_out_of_the_window_is_forgotten)
{
	cleanup_history struct history *history = history_new();

	for (int i = 1; i < rules.same_max; i++) {
		happen(history, SPIRAL_FAILURE, SOUND, "a");
		repair(history, "completed");
	}
	happen(history, SPIRAL_FAILURE, rules.same_window_ms, "a");
	ck_assert_int_eq(decide(history).same, 1);
	assert_decision(history, SPIRAL_REPAIR, NULL);
}

TEST(clock_that_was_set_back_forgets_nothing)
{
	cleanup_history struct history *history = history_new();

	for (int i = 1; i < rules.same_max; i++) {
		happen(history, SPIRAL_FAILURE, SOUND, "a");
		repair(history, "completed");
	}
	history->now_ms -= 1000 * HOUR;
	happen(history, SPIRAL_FAILURE, SOUND, "a");
	assert_decision(history, SPIRAL_END, "slow_spiral");
}

TEST(stall_again_and_again_needs_a_person_too)
{
	cleanup_history struct history *history = history_new();

	for (int i = 1; i < rules.same_max; i++) {
		happen(history, SPIRAL_STALL, HOUR, "s");
		assert_decision(history, SPIRAL_RESTART, NULL);
	}
	/* Its signature does not count as a failure. */
	happen(history, SPIRAL_FAILURE, SOUND, "s");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	happen(history, SPIRAL_STALL, HOUR, "s");
	assert_decision(history, SPIRAL_END, "slow_spiral");
}

TEST(what_has_no_signature_is_never_the_same)
{
	cleanup_history struct history *history = history_new();

	for (int i = 0; i < 2 * rules.same_max; i++) {
		happen(history, SPIRAL_STALL, SHORT, NULL);
		assert_decision(history, SPIRAL_RESTART, NULL);
		ck_assert_int_eq(decide(history).same, 1);
	}
}

TEST(day_has_a_bound_of_repairs)
{
	cleanup_history struct history *history = history_new();

	for (int i = 0; i < rules.day_max; i++) {
		char signature[] = { (char)('a' + i), '\0' };

		happen(history, SPIRAL_FAILURE, SOUND, signature);
		assert_decision(history, SPIRAL_REPAIR, NULL);
		repair(history, i % 2 == 0 ? "completed" : "interrupted");
	}
	happen(history, SPIRAL_STALL, SOUND, NULL);
	assert_decision(history, SPIRAL_RESTART, NULL);
	happen(history, SPIRAL_FAILURE, SOUND, "z");
	assert_decision(history, SPIRAL_END, "day_budget");
	/* The first of them was a day ago. */
	history->events[history->count - 1].at_ms = history->now_ms =
	    history->events[1].at_ms + 24 * HOUR;
	assert_decision(history, SPIRAL_REPAIR, NULL);
}

TEST(bound_of_zero_is_none)
{
	cleanup_history struct history *history = history_new();
	struct spiral_rules free_rules = rules;
	struct spiral_decision decision;

	free_rules.same_max = 0;
	free_rules.day_max = 0;
	for (int i = 0; i < 50; i++) {
		happen(history, SPIRAL_FAILURE, SOUND, "a");
		decision = spiral_decide(history->events, history->count,
		    &free_rules, history->now_ms);
		ck_assert_int_eq(decision.action, SPIRAL_REPAIR);
		repair(history, "completed");
	}
	free_rules.same_max = 5;
	free_rules.same_window_ms = 0;
	happen(history, SPIRAL_FAILURE, SOUND, "a");
	decision = spiral_decide(
	    history->events, history->count, &free_rules, history->now_ms);
	ck_assert_int_eq(decision.action, SPIRAL_REPAIR);
}

TEST(strictest_bound_still_repairs_the_first)
{
	cleanup_history struct history *history = history_new();
	struct spiral_rules strict = rules;

	strict.same_max = 1;
	strict.day_max = 1;
	strict.cooldown_ms = 24 * HOUR;
	happen(history, SPIRAL_FAILURE, 0, "a");
	ck_assert_int_eq(
	    spiral_decide(history->events, 1, &strict, history->now_ms).action,
	    SPIRAL_REPAIR);
	strict.day_max = 0;
	happen(history, SPIRAL_FAILURE, 0, "a");
	ck_assert_int_eq(
	    spiral_decide(history->events, 2, &strict, history->now_ms).action,
	    SPIRAL_END);
}

TEST(clear_begins_anew)
{
	cleanup_history struct history *history = history_new();

	for (int i = 0; i < rules.same_max; i++) {
		happen(history, SPIRAL_FAILURE, SHORT, "a");
		repair(history, "completed");
	}
	happen(history, SPIRAL_FAILURE, SHORT, "a");
	assert_decision(history, SPIRAL_END, "spiral");
	happen(history, SPIRAL_CLEAR, 0, NULL);
	happen(history, SPIRAL_FAILURE, SHORT, "a");
	assert_decision(history, SPIRAL_REPAIR, NULL);
	ck_assert_int_eq(decide(history).same, 1);
	ck_assert_int_eq(decide(history).delay_ms, 0);
}

TEST(pauses_double_up_to_their_bound)
{
	static const int64_t wanted[] = { 0, 2, 4, 8, 16, 32, 60, 60, 60 };
	cleanup_history struct history *history = history_new();

	for (size_t i = 0; i < nitems(wanted); i++) {
		happen(history, SPIRAL_STALL, SHORT, NULL);
		ck_assert_int_eq(decide(history).delay_ms, wanted[i] * SECOND);
	}
	happen(history, SPIRAL_STALL, SOUND, NULL);
	ck_assert_int_eq(decide(history).delay_ms, 0);
}

TEST(pauses_grow_in_a_slow_spiral_too)
{
	cleanup_history struct history *history = history_new();

	happen(history, SPIRAL_FAILURE, SOUND, "a");
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, SOUND, "a");
	ck_assert_int_eq(decide(history).delay_ms, 2 * SECOND);
	repair(history, "completed");
	happen(history, SPIRAL_FAILURE, SOUND, "b");
	ck_assert_int_eq(decide(history).delay_ms, 0);
}

TEST(pause_never_overflows)
{
	cleanup_history struct history *history = history_new();
	struct spiral_rules patient = rules;

	patient.delay_ms = INT64_MAX / 3;
	patient.delay_max_ms = INT64_MAX;
	for (int i = 0; i < 70; i++)
		happen(history, SPIRAL_STALL, SHORT, NULL);
	ck_assert_int_eq(spiral_decide(history->events, history->count,
			     &patient, history->now_ms)
			     .delay_ms,
	    INT64_MAX);
	patient.delay_ms = 0;
	ck_assert_int_eq(spiral_decide(history->events, history->count,
			     &patient, history->now_ms)
			     .delay_ms,
	    0);
}

TEST(history_is_over_until_it_is_cleared)
{
	cleanup_history struct history *history = history_new();
	cleanup_buf struct buf words = BUF_INIT;
	struct spiral_event *event;

	ck_assert(!spiral_is_over(history->events, 0, &words));
	happen(history, SPIRAL_FAILURE, SHORT, "a");
	ck_assert(!spiral_is_over(history->events, history->count, &words));
	ck_assert_str_eq(words.data, "");
	event = happen(history, SPIRAL_GAVE_UP, 0, NULL);
	event->class = xstrdup("spiral");
	event->words = xstrdup("failed 10s after a repair");
	ck_assert(spiral_is_over(history->events, history->count, &words));
	ck_assert_str_eq(words.data, "spiral: failed 10s after a repair");
	happen(history, SPIRAL_STOP, 0, NULL);
	ck_assert(spiral_is_over(history->events, history->count, &words));
	happen(history, SPIRAL_CLEAR, 0, NULL);
	ck_assert(!spiral_is_over(history->events, history->count, &words));
	happen(history, SPIRAL_GAVE_UP, 0, NULL);
	buf_clear(&words);
	ck_assert(spiral_is_over(history->events, history->count, &words));
	ck_assert_str_eq(words.data, "gave up");
}

TEST(nothing_to_decide_about_restarts)
{
	cleanup_history struct history *history = history_new();

	assert_decision(history, SPIRAL_RESTART, NULL);
	happen(history, SPIRAL_FAILURE, 0, "a");
	happen(history, SPIRAL_CLEAR, 0, NULL);
	assert_decision(history, SPIRAL_RESTART, NULL);
}

TEST(event_comes_back_as_it_was)
{
	struct spiral_event event = { .kind = SPIRAL_REMEDY,
		.at_ms = START,
		.run_ms = 5,
		.signature = xstrdup("died: x"),
		.class = xstrdup("c"),
		.words = xstrdup("\xe2\x82\xac \"w\"\n"),
		.outcome = xstrdup("completed"),
		.took_ms = 7,
		.log = xstrdup("logs/remediation_1.txt") };
	struct spiral_event back = { 0 };

	reread(&event, &back);
	ck_assert_int_eq(back.kind, SPIRAL_REMEDY);
	ck_assert_int_eq(back.at_ms, START);
	ck_assert_int_eq(back.run_ms, 5);
	ck_assert_int_eq(back.took_ms, 7);
	ck_assert_str_eq(back.signature, event.signature);
	ck_assert_str_eq(back.class, event.class);
	ck_assert_str_eq(back.words, event.words);
	ck_assert_str_eq(back.outcome, event.outcome);
	ck_assert_str_eq(back.log, event.log);
	spiral_event_release(&back);
	spiral_event_release(&event);
	ck_assert_ptr_null(event.log);
}

TEST(every_kind_comes_back_without_texts)
{
	for (unsigned kind = 0; kind < SPIRAL_KIND_COUNT; kind++) {
		struct spiral_event event = { .kind = (enum spiral_kind)kind };
		struct spiral_event back = { .kind = SPIRAL_KIND_COUNT };

		reread(&event, &back);
		ck_assert_uint_eq(back.kind, kind);
		ck_assert_ptr_null(back.signature);
		ck_assert_ptr_null(back.log);
	}
}

TEST(malformed_event_is_refused_with_its_member)
{
	static const struct {
		const char *text, *member;
		int code;
	} wrong[] = {
		{ "[]", "object", -EINVAL },
		{ "{}", "kind", -ENOENT },
		{ "{\"kind\":\"failed\",\"at_ms\":1}", "kind", -EINVAL },
		{ "{\"kind\":\"stop\"}", "at_ms", -ENOENT },
		{ "{\"kind\":\"stop\",\"at_ms\":-1}", "at_ms", -EINVAL },
		{ "{\"kind\":\"stop\",\"at_ms\":1.5}", "at_ms", -EINVAL },
		{ "{\"kind\":\"stop\",\"at_ms\":1,\"run_ms\":-1}", "run_ms",
		    -EINVAL },
		{ "{\"kind\":\"stop\",\"at_ms\":1,\"took_ms\":\"x\"}",
		    "took_ms", -EINVAL },
		{ "{\"kind\":\"stop\",\"at_ms\":1,\"signature\":\"s\","
		  "\"words\":3}",
		    "words", -EINVAL },
	};

	for (size_t i = 0; i < nitems(wrong); i++) {
		cleanup_json struct json_object *json = NULL;
		struct spiral_event event = { .run_ms = 42 };
		struct err err = { 0 };

		ck_assert_int_eq(json_parse(wrong[i].text,
				     strlen(wrong[i].text), 1000, &json, NULL),
		    0);
		ck_assert_int_eq(
		    spiral_event_from_json(json, &event, &err), wrong[i].code);
		ck_assert_msg(
		    strstr(err.msg, wrong[i].member) != NULL, "%s", err.msg);
		ck_assert_int_eq(event.run_ms, 42);
	}
}

TEST(unknown_members_and_nulls_are_ignored)
{
	static const char text[] = "{\"kind\":\"clear\",\"at_ms\":1,\"new\":[],"
				   "\"words\":null,\"run_ms\":null}";
	cleanup_json struct json_object *json = NULL;
	struct spiral_event event = { 0 };

	ck_assert_int_eq(json_parse(text, strlen(text), 1000, &json, NULL), 0);
	ck_assert_int_eq(spiral_event_from_json(json, &event, NULL), 0);
	ck_assert_int_eq(event.kind, SPIRAL_CLEAR);
	ck_assert_ptr_null(event.words);
}

/* "fail@10", "remediate", ... of the vectors. */
static void
happen_word(struct history *history, const char *word)
{
	const char *at = strchr(word, '@');
	int64_t run = 0;

	if (at != NULL) {
		ck_assert(text_parse_int(at + 1, 0, 1 << 20, &run));
		run *= SECOND;
	}
	if (strcmp(word, "remediate") == 0)
		repair(history, "completed");
	else if (strcmp(word, "stall") == 0)
		happen(history, SPIRAL_STALL, run, NULL);
	else if (strncmp(word, "stopped", 7) == 0)
		happen(history, SPIRAL_STOP, run, NULL);
	else if (strncmp(word, "fail", 4) == 0)
		happen(history, SPIRAL_FAILURE, run, "a");
	else
		ck_abort_msg("what is \"%s\"?", word);
}

TEST_ROWS(spirals_are_those_of_the_original, unit_vectors() != NULL)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list, *row, *events;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(json_get_array(file, "", "spiral", &list, NULL), 0);
	ck_assert_uint_ge(json_object_array_length(list), 6);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		cleanup_history struct history *history = history_new();
		struct spiral_rules given = rules;
		struct spiral_decision decision;
		const char *wanted;

		row = json_object_array_get_idx(list, i);
		ck_assert_int_eq(
		    json_get_array(row, "", "events", &events, NULL), 0);
		for (size_t n = 0; n < json_object_array_length(events); n++)
			happen_word(history,
			    json_object_get_string(
				json_object_array_get_idx(events, n)));
		given.cooldown_ms = json_int_or(row, "cooldown", -1) * SECOND;
		wanted = json_string_or(row, "expect", "");
		decision = spiral_decide(
		    history->events, history->count, &given, history->now_ms);
		ck_assert_str_eq(decision.action == SPIRAL_REPAIR ?
			"remediate" :
			decision.why,
		    wanted);
	}
}
