/* SPDX-License-Identifier: ISC */

/*
 * Lines of logs and of the history of failures: an accepted line is written and
 * read back unchanged, and leads to the same decision; messages and signatures
 * are short and valid.
 */

#include "fuzz.h"
#include "health.h"
#include "remedy.h"

#define NOW         INT64_C(1766502000000)
#define HISTORY_MAX 32

static const struct spiral_rules rules = { 60000, 5, 86400000, 20, 1000,
	60000 };

struct history {
	struct spiral_event events[HISTORY_MAX], again[HISTORY_MAX];
	size_t count;
};

static void
check_line(const char *line)
{
	cleanup_buf struct buf message = BUF_INIT, signature = BUF_INIT;

	if (!health_read_line(line, "warn", 1, NULL, &message)) {
		check(message.len == 0);
		return;
	}
	check(message.len > 0 && message.len <= HEALTH_MESSAGE_MAX);
	check(text_utf8_valid(message.data, message.len));
	health_signature(HEALTH_COMPLAINED, NULL, message.data, &signature);
	check(signature.len < 256);
	check(text_utf8_valid(signature.data, signature.len));
}

static void
take_event(const char *line, struct history *history)
{
	cleanup_json struct json_object *json = NULL, *first = NULL;
	cleanup_json struct json_object *second = NULL;
	struct spiral_event *event = &history->events[history->count];
	struct spiral_event *again = &history->again[history->count];

	if (json_parse(line, strlen(line), 65536, &json, NULL) < 0 ||
	    spiral_event_from_json(json, event, NULL) < 0)
		return;
	first = spiral_event_to_json(event);
	check(spiral_event_from_json(first, again, NULL) == 0);
	second = spiral_event_to_json(again);
	check(json_object_equal(first, second));
	history->count++;
}

static void
check_history(const struct history *history)
{
	cleanup_buf struct buf words = BUF_INIT, again = BUF_INIT;
	struct spiral_decision a, b;

	a = spiral_decide(history->events, history->count, &rules, NOW);
	b = spiral_decide(history->again, history->count, &rules, NOW);
	check(a.action == b.action && a.why == b.why && a.same == b.same);
	check(a.action < SPIRAL_ACTION_COUNT);
	check((a.action == SPIRAL_END) == (a.why != NULL));
	check(a.delay_ms == b.delay_ms && a.delay_ms >= 0);
	check(a.delay_ms <= rules.delay_max_ms);
	check(spiral_is_over(history->events, history->count, &words) ==
	    spiral_is_over(history->again, history->count, &again));
	check(strcmp(words.data, again.data) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_buf struct buf signature = BUF_INIT;
	struct history history = { .count = 0 };
	char *line, *rest = text;

	health_signature(HEALTH_DIED, "c", text, &signature);
	check(signature.len < 256);
	check(text_utf8_valid(signature.data, signature.len));
	while ((line = strsep(&rest, "\n")) != NULL) {
		check_line(line);
		if (history.count < HISTORY_MAX)
			take_event(line, &history);
	}
	check_history(&history);
	for (size_t i = 0; i < history.count; i++) {
		spiral_event_release(&history.events[i]);
		spiral_event_release(&history.again[i]);
	}
	return 0;
}
