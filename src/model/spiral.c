/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "schema.h"
#include "spiral.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

#define SAME_LEAST 2 /* the first failure is always repaired */

/* Interrupted by a person or by the overseer's exit: not a real attempt. */
#define OUTCOME_UNFINISHED "interrupted"

static const char *const kind_words[] = {
	[SPIRAL_FAILURE] = "failure",
	[SPIRAL_STALL] = "stall",
	[SPIRAL_REMEDY] = "remedy",
	[SPIRAL_STOP] = "stop",
	[SPIRAL_GAVE_UP] = "gave_up",
	[SPIRAL_CLEAR] = "clear",
	[SPIRAL_START] = "start",
	[SPIRAL_KIND_COUNT] = NULL,
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct spiral_event, key, member, ##__VA_ARGS__)

#define MAY(key, member, words) \
	FIELD(key, member, .flags = SCHEMA_OMIT_UNSET, .help = (words))

static const struct schema_field fields[] = {
	FIELD("kind", kind, .flags = SCHEMA_REQUIRED, .words = kind_words),
	FIELD("at_ms", at_ms, .flags = SCHEMA_REQUIRED,
	    .help = "milliseconds since 1970"),
	FIELD("run_ms", run_ms, .help = "how long the daemon had run"),
	FIELD("took_ms", took_ms, .flags = SCHEMA_OPTIONAL,
	    .help = "duration of the remediation"),
	MAY("abrupt", abrupt, "it was killed, or its machine was"),
	MAY("signature", signature, NULL),
	MAY("class", class, "see autod(8)"),
	MAY("words", words, "reason, a sentence for people"),
	MAY("outcome", outcome, "of a remediation"),
	MAY("log", log, "file with the whole remediation"),
	MAY("cost_micros", cost,
	    "millionths of a dollar that the remediation has cost"),
};

const struct schema spiral_event_schema =
    SCHEMA_OF(struct spiral_event, fields);

/* Summary of the events so far. */
struct memory {
	bool tried; /* repaired, and no long run since then */
	int row; /* failures and stalls without a long run in between */
};

const char *
spiral_kind_name(enum spiral_kind kind)
{
	return kind_words[kind];
}

void
spiral_event_release(struct spiral_event *event)
{
	schema_release(&spiral_event_schema, event);
	memset(event, 0, sizeof *event);
}

struct json_object *
spiral_event_to_json(const struct spiral_event *event)
{
	struct json_object *json = schema_json(&spiral_event_schema, event);

	if (event->kind != SPIRAL_REMEDY)
		json_object_object_del(json, "took_ms");
	return json;
}

int
spiral_event_from_json(
    struct json_object *json, struct spiral_event *ret_event, struct err *err)
{
	struct spiral_event event = { 0 };
	int r;

	r = schema_read(&spiral_event_schema, json, "", &event, err);
	if (r < 0) {
		spiral_event_release(&event);
		return r;
	}
	*ret_event = event;
	return 0;
}

/* Only events after the last CLEAR count. */
static void
skip_cleared(const struct spiral_event **history, size_t *count)
{
	for (size_t i = *count; i > 0; i--) {
		if ((*history)[i - 1].kind != SPIRAL_CLEAR)
			continue;
		*history += i;
		*count -= i;
		return;
	}
}

/* What is still to come counts as now. */
static bool
is_within(int64_t at_ms, int64_t window_ms, int64_t now_ms)
{
	return now_ms - at_ms < window_ms;
}

static bool
is_failure(const struct spiral_event *event)
{
	return event->kind == SPIRAL_FAILURE || event->kind == SPIRAL_STALL;
}

static bool
is_run(const struct spiral_event *event)
{
	return is_failure(event) || event->kind == SPIRAL_STOP;
}

static void
remember(struct memory *memory, const struct spiral_event *event,
    const struct spiral_rules *rules)
{
	if (event->kind == SPIRAL_START ||
	    (is_run(event) && event->run_ms >= rules->cooldown_ms))
		*memory = (struct memory){ 0 };
	if (is_failure(event))
		memory->row++;
	if (event->kind == SPIRAL_REMEDY &&
	    (event->outcome == NULL ||
		strcmp(event->outcome, OUTCOME_UNFINISHED) != 0))
		memory->tried = true;
}

/* The number of failures (or stalls) with the signature of the last event,
 * including that one. */
static int
count_same(const struct spiral_event *history, size_t count,
    const struct spiral_rules *rules, int64_t now_ms)
{
	const struct spiral_event *last = &history[count - 1];
	int same = 1;

	if (last->signature == NULL)
		return same;
	for (size_t i = 0; i + 1 < count; i++) {
		if (history[i].kind == last->kind &&
		    history[i].signature != NULL &&
		    strcmp(history[i].signature, last->signature) == 0 &&
		    is_within(history[i].at_ms, rules->same_window_ms, now_ms))
			same++;
	}
	return same;
}

static int
count_repairs(const struct spiral_event *history, size_t count, int64_t now_ms)
{
	int repairs = 0;

	for (size_t i = 0; i < count; i++)
		if (history[i].kind == SPIRAL_REMEDY &&
		    is_within(history[i].at_ms, DAY_MS, now_ms))
			repairs++;
	return repairs;
}

/* The first restart is immediate. */
static int64_t
pause_ms(const struct spiral_rules *rules, int times)
{
	int64_t wait = times > 1 ? rules->delay_ms : 0;

	while (--times > 1 && wait > 0 && wait < rules->delay_max_ms)
		wait = wait > INT64_MAX / 2 ? INT64_MAX : wait * 2;
	return wait < rules->delay_max_ms ? wait : rules->delay_max_ms;
}

static bool
is_slow_spiral(const struct spiral_rules *rules, int same)
{
	return rules->same_max > 0 && rules->same_window_ms > 0 &&
	    same >= SAME_LEAST && same >= rules->same_max;
}

/* Is the last event an abrupt failure, and the only one for a while? It may be
 * an accident, which a repair could only make worse. One before a slow spiral
 * is repaired, so that a person is never asked before a repair was tried. */
static bool
is_accident(const struct spiral_event *history, size_t count,
    const struct spiral_rules *rules, int same)
{
	const struct spiral_event *last = &history[count - 1];

	if (last->kind != SPIRAL_FAILURE || !last->abrupt ||
	    is_slow_spiral(rules, same + 1))
		return false;
	for (size_t i = 0; i + 1 < count; i++)
		if (history[i].kind == SPIRAL_FAILURE && history[i].abrupt &&
		    is_within(history[i].at_ms, SPIRAL_ABRUPT_MS, last->at_ms))
			return false;
	return true;
}

struct spiral_decision
spiral_decide(const struct spiral_event *history, size_t count,
    const struct spiral_rules *rules, int64_t now_ms)
{
	struct spiral_decision decision = { .action = SPIRAL_RESTART };
	struct memory memory = { 0 };
	size_t last;
	bool failed;

	skip_cleared(&history, &count);
	for (size_t i = 0; i < count; i++)
		remember(&memory, &history[i], rules);
	for (last = count; last > 0 && !is_failure(&history[last - 1]);)
		last--;
	if (last == 0)
		return decision;
	failed = history[last - 1].kind == SPIRAL_FAILURE;
	decision.same = count_same(history, last, rules, now_ms);
	if (is_accident(history, last, rules, decision.same))
		return decision;
	if (failed && memory.tried)
		decision.why = "spiral";
	else if (is_slow_spiral(rules, decision.same))
		decision.why = "slow_spiral";
	else if (failed && rules->day_max > 0 &&
	    count_repairs(history, count, now_ms) >= rules->day_max)
		decision.why = "day_budget";
	if (decision.why != NULL) {
		decision.action = SPIRAL_END;
		return decision;
	}
	if (failed)
		decision.action = SPIRAL_REPAIR;
	decision.delay_ms = pause_ms(
	    rules, memory.row > decision.same ? memory.row : decision.same);
	return decision;
}

bool
spiral_is_over(
    const struct spiral_event *history, size_t count, struct buf *words)
{
	const struct spiral_event *event;

	skip_cleared(&history, &count);
	while (count > 0 && history[count - 1].kind != SPIRAL_GAVE_UP)
		count--;
	if (count == 0)
		return false;
	event = &history[count - 1];
	buf_adds(words, event->class != NULL ? event->class : "gave up");
	if (event->words != NULL)
		buf_addf(words, ": %s", event->words);
	return true;
}
