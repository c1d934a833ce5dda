/* SPDX-License-Identifier: ISC */

/* The history of a daemon for the tests of spirals: what happened, and when. */
#ifndef SPIRAL_HISTORY_H
#define SPIRAL_HISTORY_H

#include "unit.h"
#include "remedy.h"

#define SECOND ((int64_t)1000)
#define HOUR   (3600 * SECOND)
#define START  (INT64_C(1766502000) * SECOND)
#define SOUND  (120 * SECOND) /* a run longer than the cooldown */
#define SHORT  (10 * SECOND)

#define HISTORY_MAX 400

static const struct spiral_rules rules = {
	.cooldown_ms = 60 * SECOND,
	.same_max = 5,
	.same_window_ms = 24 * HOUR,
	.day_max = 20,
	.delay_ms = 2 * SECOND,
	.delay_max_ms = 60 * SECOND,
};

struct history {
	struct spiral_event events[HISTORY_MAX];
	size_t count;
	int64_t now_ms;
};

static inline struct history *
history_new(void)
{
	struct history *history = xcalloc(1, sizeof *history);

	history->now_ms = START;
	return history;
}

static inline void
history_free(struct history **history)
{
	for (size_t i = 0; i < (*history)->count; i++)
		spiral_event_release(&(*history)->events[i]);
	free(*history);
}
#define cleanup_history __attribute__((cleanup(history_free)))

/* The daemon ran for run_ms, then that happened. */
static inline struct spiral_event *
happen(struct history *history, enum spiral_kind kind, int64_t run_ms,
    const char *signature)
{
	struct spiral_event *event = &history->events[history->count++];

	ck_assert_uint_le(history->count, HISTORY_MAX);
	history->now_ms += run_ms;
	*event = (struct spiral_event){ .kind = kind,
		.at_ms = history->now_ms,
		.run_ms = run_ms,
		.signature = signature == NULL ? NULL : xstrdup(signature) };
	return event;
}

static inline void
repair(struct history *history, const char *outcome)
{
	struct spiral_event *event = happen(history, SPIRAL_REMEDY, 0, NULL);

	history->now_ms += 30 * SECOND;
	event->at_ms = history->now_ms;
	event->took_ms = 30 * SECOND;
	event->outcome = xstrdup(outcome);
}

static inline struct spiral_decision
decide(const struct history *history)
{
	return spiral_decide(
	    history->events, history->count, &rules, history->now_ms);
}

static inline void
assert_decision(
    const struct history *history, enum spiral_action action, const char *why)
{
	struct spiral_decision decision = decide(history);

	ck_assert_int_eq(decision.action, action);
	if (why == NULL)
		ck_assert_ptr_null(decision.why);
	else
		ck_assert_str_eq(
		    decision.why == NULL ? "-" : decision.why, why);
}

/* The event as it is read back from its file. */
static inline void
reread(const struct spiral_event *event, struct spiral_event *ret_event)
{
	cleanup_json struct json_object *json = spiral_event_to_json(event);
	cleanup_json struct json_object *back = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	json_print(json, false, &text);
	ck_assert_int_eq(
	    json_parse(text.data, text.len, text.len, &back, &err), 0);
	ck_assert_msg(
	    spiral_event_from_json(back, ret_event, &err) == 0, "%s", err.msg);
}

#endif
