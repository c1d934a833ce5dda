/* SPDX-License-Identifier: ISC */

#include "spiral-history.h"

/* A story, word by word: KIND@RUN/SIGNATURE happens after the daemon has run
 * for so long, "remediate/OUTCOME" is a repair, and "later@" and "back@" move
 * the clock. "=WORD" is what is decided then, "delay@" when it starts again,
 * and "same@" how many failures are alike. */
static void
tell(struct history *history, const char *story)
{
	static const char *const kinds[] = { [SPIRAL_START] = "start",
		[SPIRAL_STOP] = "stopped",
		[SPIRAL_FAILURE] = "fail",
		[SPIRAL_STALL] = "stall",
		[SPIRAL_CLEAR] = "clear" };
	cleanup_free char *copy = xstrdup(story);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " ")) != NULL) {
		char *about = word, *number;
		struct spiral_decision decision = decide(history);
		int64_t ms = 0;
		size_t kind = 0;

		strsep(&about, "/");
		number = word;
		strsep(&number, "@");
		ck_assert_msg(
		    number == NULL || text_parse_duration(number, &ms), "%s",
		    story);
		while (kind < nitems(kinds) && !text_is(kinds[kind], word))
			kind++;
		if (kind < nitems(kinds))
			happen(history, (enum spiral_kind)kind, ms, about);
		else if (strcmp(word, "crash") == 0)
			happen(history, SPIRAL_FAILURE, ms, about)->abrupt =
			    true;
		else if (strcmp(word, "remediate") == 0)
			repair(history, about != NULL ? about : "completed");
		else if (strcmp(word, "later") == 0)
			history->now_ms += ms;
		else if (strcmp(word, "back") == 0)
			history->now_ms -= ms;
		else if (strcmp(word, "delay") == 0)
			ck_assert_msg(decision.delay_ms == ms, "%s: %" PRId64,
			    story, decision.delay_ms);
		else if (strcmp(word, "same") == 0)
			ck_assert_msg(decision.same * SECOND == ms, "%s: %d",
			    story, decision.same);
		else
			ck_assert_msg(*word == '=' &&
				strcmp(word + 1,
				    decision.action == SPIRAL_REPAIR ?
					"remediate" :
					decision.action == SPIRAL_RESTART ?
					"restart" :
					decision.why) == 0,
			    "%s: not %s", story, word);
	}
}

#define FOUR(words) words " " words " " words " " words
#define ABRUPT      "10m" /* SPIRAL_ABRUPT_MS */

static const char *const stories[] = {
	"=restart",
	"fail@0/a clear =restart",
	/* The first one is repaired, however soon. */
	"fail@0/a =remediate",
	"fail@0/a remediate fail@59999ms/b =spiral delay@0",
	/* A run as long as the cooldown begins anew, */
	"fail@0/a remediate fail@60/b =remediate remediate stopped@120 "
	"fail@0/c =remediate",
	/* a short one that a person has stopped does not. */
	"fail@0/a remediate stopped@10 fail@10/b =spiral",
	"fail@0/a remediate/failed start fail@0/b =remediate delay@0 "
	"remediate fail@10/c =spiral",
	FOUR(
	    "fail@10/a remediate") " fail@10/a =spiral clear fail@10/a =remediate same@1 delay@0",
	/* A restart after a stall is no attempt, nor is a repair that was
	 * interrupted. */
	"stall@10 =restart fail@5/a =remediate remediate stall@10 =restart "
	"fail@10/b =spiral",
	"fail@0/a remediate/interrupted =remediate same@1 fail@0/a =remediate "
	"remediate/failed fail@0/a =spiral",
	/* An abrupt end: restarted at once, and whatever the second one looks
	 * like, it is repaired. */
	"crash@10/a =restart delay@0 crash@599999ms/b =remediate remediate "
	"crash@10/a =spiral",
	"crash@10/a crash@" ABRUPT "/a =restart delay@0",
	/* It counts when it happened, not while a repair of it runs. */
	"crash@10/a crash@10/a later@20m =remediate remediate/interrupted "
	"=remediate",
	/* That was neither a repair of a crash nor its cause. */
	"crash@10/a fail@10/b =remediate remediate crash@" ABRUPT "/a =restart",
	"crash@1h/a =restart crash@1h/a =restart crash@1h/a =restart "
	"crash@1h/a =remediate remediate crash@1h/a =slow_spiral",
	"crash@10/a clear crash@10/a =restart",
	/* The same again and again. */
	"fail@120/a same@1 =remediate remediate fail@120/a same@2 =remediate "
	"remediate fail@120/a same@3 =remediate remediate fail@120/a same@4 "
	"=remediate remediate fail@120/b same@1 =remediate remediate "
	"fail@120/a =slow_spiral same@5",
	FOUR("fail@120/a remediate") " fail@24h/a same@1 =remediate",
	/* The clock was set back: nothing is forgotten. */
	FOUR("fail@120/a remediate") " back@1000h fail@120/a =slow_spiral",
	/* The signature of a stall does not count as that of a failure; what
	 * has none is never the same. */
	FOUR(
	    "stall@1h/s =restart") " fail@120/s =remediate stall@1h/s =slow_spiral",
	FOUR("stall@10 =restart same@1") " " FOUR("stall@10 =restart same@1"),
	/* Pauses double up to their bound. */
	"stall@10 delay@0 stall@10 delay@2 stall@10 delay@4 stall@10 delay@8 "
	"stall@10 delay@16 stall@10 delay@32 stall@10 delay@60 stall@10 "
	"delay@60 stall@120 delay@0",
	"fail@120/a remediate fail@120/a delay@2 remediate fail@120/b delay@0",
};

TEST_ROWS(a_story_is_decided_at_each_step, nitems(stories))
{
	cleanup_history struct history *history = history_new();

	tell(history, stories[_i]);
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
	/* The first of them was almost a day ago, then a day. */
	history->events[history->count - 1].at_ms = history->now_ms =
	    history->events[1].at_ms + 24 * HOUR - 1;
	assert_decision(history, SPIRAL_END, "day_budget");
	history->events[history->count - 1].at_ms = ++history->now_ms;
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

TEST(spirals_are_those_of_the_original)
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
			tell(history,
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

/* --- random histories: what no sequence of events may lead to -------- */

/* The next event of a random history: the overseer acts as it would, with
 * people and clock changes in between. */
static void
live(struct dice *dice, struct history *history)
{
	static const char *const outcomes[] = { "completed", "completed",
		"gave up", "timed out", "session died" };
	static const char *const signatures[] = { "a", "b", "c" };
	static const int64_t runs[] = { 0, SHORT, 60 * SECOND - 1, 60 * SECOND,
		SOUND, HOUR, 30 * HOUR };
	int64_t run = runs[dice_below(dice, nitems(runs))];
	const char *signature = signatures[dice_below(dice, 3)];

	switch (dice_below(dice, 8)) {
	case 0:
		happen(history, SPIRAL_STALL, run, NULL);
		return;
	case 1:
		happen(history, SPIRAL_STOP, run, NULL);
		return;
	case 2:
		if (dice_below(dice, 4) == 0)
			happen(history, SPIRAL_CLEAR, 0, NULL);
		return;
	default:
		happen(history, SPIRAL_FAILURE, run, signature);
	}
	if (decide(history).action == SPIRAL_REPAIR)
		repair(history, outcomes[dice_below(dice, nitems(outcomes))]);
	else
		happen(history, SPIRAL_GAVE_UP, 0, NULL);
}

/* Is there a long run or a reset by a person between the failure at i and the
 * repair before it, or no repair at all? */
static bool
is_anew(const struct history *history, size_t i)
{
	if (history->events[i].run_ms >= rules.cooldown_ms)
		return true;
	while (i-- > 0) {
		const struct spiral_event *event = &history->events[i];

		if (event->kind == SPIRAL_CLEAR)
			return true;
		if (event->kind == SPIRAL_REMEDY)
			return false;
		if (event->kind != SPIRAL_GAVE_UP &&
		    event->run_ms >= rules.cooldown_ms)
			return true;
	}
	return true;
}

static bool
is_bounded(const char *why)
{
	return why != NULL &&
	    (strcmp(why, "slow_spiral") == 0 || strcmp(why, "day_budget") == 0);
}

TEST(random_lives_repair_first_and_never_twice_inside_the_cooldown)
{
	unsigned repaired = 0, ended = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (int i = 0; i < 60; i++)
			live(&dice, history);
		for (size_t i = 0; i < history->count; i++) {
			const struct spiral_event *event = &history->events[i];
			struct spiral_decision decision = spiral_decide(
			    history->events, i + 1, &rules, event->at_ms);

			if (event->kind != SPIRAL_FAILURE)
				continue;
			ck_assert_int_ne(decision.action, SPIRAL_RESTART);
			if (!is_anew(history, i))
				ck_assert_str_eq(decision.why, "spiral");
			else if (!is_bounded(decision.why))
				ck_assert_int_eq(
				    decision.action, SPIRAL_REPAIR);
			repaired += decision.action == SPIRAL_REPAIR;
			ended += decision.action == SPIRAL_END;
		}
	}
	/* Both must happen, or the test shows nothing. */
	ck_assert_uint_gt(repaired, 1000);
	ck_assert_uint_gt(ended, 1000);
}

TEST(first_failure_after_a_clear_is_always_repaired)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (unsigned i = dice_below(&dice, 60); i > 0; i--)
			live(&dice, history);
		happen(history, SPIRAL_CLEAR, 0, NULL);
		while (dice_coin(&dice)) {
			bool stops = dice_coin(&dice);

			happen(history, stops ? SPIRAL_STOP : SPIRAL_STALL,
			    dice_below(&dice, 2) * SOUND, NULL);
		}
		happen(history, SPIRAL_FAILURE, 0, "a");
		assert_decision(history, SPIRAL_REPAIR, NULL);
	}
}

/* The number of repairs before the overseer gives up on a daemon that always
 * fails at the same place, after runs of up to run_max. */
static int
repairs_before_the_end(struct dice *dice, const struct spiral_rules *given,
    const char *signature, int64_t run_max)
{
	cleanup_history struct history *history = history_new();

	for (int repairs = 0; repairs < HISTORY_MAX / 2 - 1; repairs++) {
		happen(history, SPIRAL_FAILURE,
		    (int64_t)(dice_next(dice) % (uint64_t)run_max), signature);
		if (spiral_decide(
			history->events, history->count, given, history->now_ms)
			.action == SPIRAL_END)
			return repairs;
		repair(history, dice_coin(dice) ? "completed" : "interrupted");
	}
	return -1;
}

TEST(daemon_that_always_fails_at_the_same_place_ends)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		struct spiral_rules given = rules;
		int repairs;

		given.cooldown_ms = dice_below(&dice, 3) * 60 * SECOND;
		given.same_max = 1 + (int)dice_below(&dice, 8);
		given.day_max = 0;
		repairs = repairs_before_the_end(
		    &dice, &given, "a", given.same_window_ms / 10);
		ck_assert_int_ge(repairs, 1);
		ck_assert_int_le(
		    repairs, given.same_max > 2 ? given.same_max - 1 : 1);
		/* The failures are not recognised as the same: the daily limit
		 * stops it. */
		given.day_max = 1 + (int)dice_below(&dice, 30);
		repairs =
		    repairs_before_the_end(&dice, &given, NULL, 24 * HOUR / 40);
		ck_assert_int_ge(repairs, 1);
		ck_assert_int_le(repairs, given.day_max);
	}
}

static int
repairs_between(const struct history *history, int64_t from_ms, int64_t to_ms)
{
	int repairs = 0;

	for (size_t i = 0; i < history->count; i++)
		repairs += history->events[i].kind == SPIRAL_REMEDY &&
		    history->events[i].at_ms > from_ms &&
		    history->events[i].at_ms <= to_ms;
	return repairs;
}

TEST(no_window_has_more_repairs_than_its_bound_whatever_the_runs)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (int i = 0; i < 150; i++) {
			happen(history, SPIRAL_FAILURE,
			    (int64_t)(dice_next(&dice) % (uint64_t)(12 * HOUR)),
			    "a");
			if (decide(history).action != SPIRAL_REPAIR)
				break;
			repair(history, "completed");
			ck_assert_int_lt(
			    repairs_between(history,
				history->now_ms - 24 * HOUR, history->now_ms),
			    rules.same_max);
		}
	}
}

TEST(replayed_from_the_file_the_decisions_are_the_same)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();
		cleanup_history struct history *again = history_new();

		for (int i = 0; i < 60; i++)
			live(&dice, history);
		for (size_t i = 0; i < history->count; i++) {
			struct spiral_decision first, second;
			int64_t now = history->events[i].at_ms;

			reread(&history->events[i], &again->events[i]);
			again->count++;
			first =
			    spiral_decide(history->events, i + 1, &rules, now);
			second =
			    spiral_decide(again->events, i + 1, &rules, now);
			ck_assert_int_eq(first.action, second.action);
			ck_assert_int_eq(first.delay_ms, second.delay_ms);
			ck_assert_int_eq(first.same, second.same);
			ck_assert_ptr_eq(first.why, second.why);
		}
	}
}
