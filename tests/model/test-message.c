/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "ask.h"
#include "channel.h"
#include "notice.h"
#include "message.h"

#define ID  "01ARZ3NDEKTSV4RRFFQ69G5FAV"
#define NOW INT64_C(1766502000000)

static char name[] = "ops", other[] = "desk";
static struct channel rows[] = {
	{ .name = name,
	    .type = CHANNEL_WEBHOOK,
	    .levels = 0xf,
	    .enabled = true },
	{ .name = other,
	    .type = CHANNEL_DESKTOP,
	    .levels = 8,
	    .enabled = true },
};
static const struct channel_list channels = { rows, nitems(rows) };

static struct message *
make(const struct escalation *what)
{
	return message_new(
	    what, &channels, ID, "2026-01-01T00:00:00.000Z", "/r", "autod", 0);
}

TEST(a_record_comes_back_as_it_was)
{
	static const char *const options[] = { "yes", "no", NULL };
	cleanup_json struct json_object *detection = json_object_new_object();
	cleanup_json struct json_object *json = NULL, *again = NULL;
	struct escalation what = { .level = ESCALATION_EMERGENCY,
		.event = "D_1",
		.title = "a\nb",
		.text = "why\nso",
		.signature = "s",
		.worker = "adam",
		.task = "t",
		.goal = "goal_1",
		.node = "T1.2",
		.iteration = 7,
		.intervention = "abort",
		.options = options,
		.detection = detection };
	struct message *record = make(&what), *copy = NULL;

	json_set_string(detection, "type", "stuck");
	message_add(record, &what);
	delivery_begin(&record->deliveries[0], NOW);
	delivery_failed(&record->deliveries[0], "no", 5, NOW);
	delivery_end(&record->deliveries[1], DELIVERY_SENT, NULL, "#3");
	json = message_to_json(record);
	ck_assert_int_eq(message_from_json(json, &copy, NULL), 0);
	again = message_to_json(copy);
	ck_assert(json_object_equal(json, again));
	ck_assert_str_eq(copy->title, "a b");
	ck_assert_str_eq(copy->text, "why\nso");
	ck_assert_int_eq(copy->count, 2);
	ck_assert_str_eq(copy->earlier[0], "why");
	ck_assert_str_eq(copy->event, "D_1");
	ck_assert_uint_eq(copy->delivery_count, 2);
	ck_assert_str_eq(json_string_or(copy->detection, "type", ""), "stuck");
	message_free(record);
	message_free(copy);
}

TEST(only_channels_that_take_the_level_wait)
{
	struct escalation what = { .level = ESCALATION_INFO, .title = "t" };
	struct message *record = make(&what);
	struct channel_list none = { rows + 1, 1 };

	ck_assert_uint_eq(record->delivery_count, 1);
	ck_assert_str_eq(record->deliveries[0].channel, "ops");
	message_free(record);
	ck_assert_ptr_null(
	    message_new(&what, &none, ID, "2026", "/r", "autod", 0));
}

TEST(keys_and_passwords_do_not_get_into_it)
{
	struct escalation what = { .title = "t",
		.text = "token=hunter2secretvalue",
		.level = ESCALATION_INFO };
	struct message *record = make(&what);

	ck_assert_ptr_null(strstr(record->text, "hunter2"));
	message_free(record);
}

TEST(long_texts_are_cut_between_characters)
{
	cleanup_free char *text = xmalloc(MESSAGE_TEXT_MAX + 10);
	struct escalation what = { .title = "t", .text = text };
	struct message *record;

	for (size_t i = 0; i < MESSAGE_TEXT_MAX + 8; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	text[MESSAGE_TEXT_MAX + 8] = '\0';
	record = make(&what);
	ck_assert_uint_le(strlen(record->text), MESSAGE_TEXT_MAX);
	ck_assert_uint_eq(strlen(record->text) % 3, 0);
	message_free(record);
}

TEST(tries_wait_longer_and_come_to_an_end)
{
	struct delivery d = { .channel = name };
	int64_t now = NOW, wait, before = 0, sum = 0;
	int tries = 0;

	for (; d.state == DELIVERY_WAITING; tries++) {
		delivery_begin(&d, now);
		wait = delivery_wait_ms(&d, now);
		ck_assert_int_ge(wait, before);
		before = wait;
		delivery_failed(&d, "refused", -1, now);
		now += wait;
		sum += wait;
	}
	ck_assert_int_eq(tries, DELIVERY_TRIES_MAX);
	ck_assert_int_eq(d.state, DELIVERY_FAILED);
	ck_assert_int_gt(sum, INT64_C(12) * 3600 * 1000);
	free(d.reason);
}

TEST(a_server_says_when_and_a_clock_that_jumps_does_not_matter)
{
	struct delivery d = { .channel = name };

	delivery_begin(&d, NOW);
	delivery_failed(&d, "429", 600 * 1000, NOW);
	ck_assert_int_eq(delivery_wait_ms(&d, NOW), 600 * 1000);
	/* Not for ever, whatever it says. */
	delivery_failed(&d, "429", INT64_MAX / 2, NOW);
	ck_assert_int_eq(delivery_wait_ms(&d, NOW), INT64_C(24) * 3600 * 1000);
	/* The clock was set back by a month. */
	ck_assert_int_eq(
	    delivery_wait_ms(&d, NOW - INT64_C(30) * 24 * 3600 * 1000), 0);
	free(d.reason);
}

TEST(what_a_person_has_seen_is_not_sent_any_more)
{
	struct escalation what = { .level = ESCALATION_EMERGENCY,
		.title = "t" };
	struct message *record = make(&what);

	delivery_end(&record->deliveries[0], DELIVERY_SENT, NULL, NULL);
	ck_assert(!message_is_done(record));
	message_end(record, DELIVERY_SKIPPED, "seen");
	ck_assert(message_is_done(record));
	ck_assert_int_eq(record->deliveries[0].state, DELIVERY_SENT);
	ck_assert_int_eq(record->deliveries[1].state, DELIVERY_SKIPPED);
	message_free(record);
}

/* --- what nobody was told ------------------------------------------------ */

#define MIN INT64_C(60000)

/* An ask of t1, and a message that tells it, both made at at_ms. */
static struct ask *
ask_of(const char *task, int64_t at_ms)
{
	return ask_new(&(struct ask_draft){ .kind = ASK_FAILURE,
			   .key = "k",
			   .title = "t",
			   .task = task,
			   .stays = true },
	    1, at_ms);
}

static struct message *
told(const char *task, int64_t at_ms)
{
	struct message *m = make(&(struct escalation){
	    .level = ESCALATION_EMERGENCY, .title = "t", .task = task });

	m->at_ms = at_ms;
	return m;
}

/* The try that begins then, and fails a second later. */
static void
try_fails(struct message *m, size_t i, int64_t at_ms)
{
	delivery_begin(&m->deliveries[i], at_ms);
	delivery_failed(&m->deliveries[i], "no luck", -1, at_ms + 1000);
}

/* "since minutes: why (channel)", or "" if all is well. The messages are the
 * newest first. */
static const char *
untold_at(struct message *const *messages, size_t count, struct ask *ask,
    int64_t now_ms)
{
	static char text[200];
	struct message_untold untold = { 0 };
	size_t i = 0;

	while (i < count &&
	    message_untold_add(
		&untold, messages[i], &ask, 1, &channels, now_ms))
		i++;
	text[0] = '\0';
	if (untold.since_ms > 0)
		snprintf(text, sizeof text, "%" PRId64 ": %s (%s)",
		    (untold.since_ms - NOW) / MIN, untold.why, untold.channel);
	message_untold_release(&untold);
	return text;
}

TEST(a_message_that_is_under_way_is_not_untold)
{
	struct ask *ask = ask_of("t1", NOW);
	struct message *m = told("t1", NOW);

	delivery_end(&m->deliveries[1], DELIVERY_SKIPPED, "no desktop", NULL);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW), "");
	/* The first try hangs; a queue before it may be long. */
	delivery_begin(&m->deliveries[0], NOW);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 10 * MIN), "");
	try_fails(m, 0, NOW);
	m->deliveries[0].attempts = 1;
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 20000), "");
	/* The second one is begun, and works. */
	delivery_begin(&m->deliveries[0], NOW + 30000);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 60000), "");
	delivery_end(&m->deliveries[0], DELIVERY_SENT, NULL, NULL);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 10 * MIN), "");
	message_free(m);
	/* One that waited for the end of a pause. */
	m = told("t1", NOW);
	delivery_end(&m->deliveries[1], DELIVERY_SKIPPED, "no desktop", NULL);
	try_fails(m, 0, NOW + MIN);
	delivery_begin(&m->deliveries[0], NOW + MIN + 30000);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + MIN + 59000), "");
	message_free(m);
	ask_free(ask);
}

TEST(one_that_failed_on_all_channels_is_untold)
{
	struct ask *ask = ask_of("t1", NOW), *another = ask_of("t2", NOW);
	struct message *m = told("t1", NOW);

	try_fails(m, 0, NOW);
	try_fails(m, 0, NOW + 30000);
	try_fails(m, 0, NOW + 90000);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 91000), "");
	try_fails(m, 1, NOW + 60000); /* once, long ago */
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 91000), "");
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 2 * MIN),
	    "0: ops: no luck; desk: no luck (ops)");
	ck_assert_str_eq(untold_at(&m, 1, another, NOW + 2 * MIN), "");
	delivery_end(&m->deliveries[1], DELIVERY_SKIPPED, "no desktop", NULL);
	ck_assert_str_eq(
	    untold_at(&m, 1, ask, NOW + 91000), "0: ops: no luck (ops)");
	/* A person who has looked was not told by a channel all the same. */
	ask_told(ask, ASK_SEEN, NOW + 10 * MIN);
	ck_assert_str_eq(
	    untold_at(&m, 1, ask, NOW + 11 * MIN), "0: ops: no luck (ops)");
	delivery_end(&m->deliveries[0], DELIVERY_FAILED, "given up", NULL);
	ck_assert_str_eq(
	    untold_at(&m, 1, ask, NOW + 99 * MIN), "0: ops: given up (ops)");
	rows[0].enabled = false;
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 99 * MIN), "");
	rows[0].enabled = true;
	ask_close(ask, ASK_RESOLVED, NOW + 99 * MIN);
	ck_assert_str_eq(untold_at(&m, 1, ask, NOW + 99 * MIN), "");
	message_free(m);
	ask_free(ask);
	ask_free(another);
}

/* It was made before its ask, which follows from the state. */
TEST(a_message_tells_of_an_ask_that_follows_at_once)
{
	struct message *m = told("t1", NOW);
	struct ask *ask = ask_of("t1", NOW + 1);

	ck_assert(message_tells(m, ask));
	ask->created_ms = NOW + MIN;
	ck_assert(!message_tells(m, ask));
	message_free(m);
	ask_free(ask);
}

TEST(what_gets_through_ends_it)
{
	struct ask *ask = ask_of("t1", NOW);
	struct message *m[3]; /* the newest first */

	for (int i = 0; i < 3; i++) {
		m[i] = told("t1", NOW + (2 - i) * MIN);
		delivery_end(
		    &m[i]->deliveries[1], DELIVERY_SKIPPED, "no desktop", NULL);
		try_fails(m[i], 0, NOW);
	}
	delivery_failed(&m[0]->deliveries[0], "the last", -1, NOW);
	ck_assert_str_eq(
	    untold_at(m, 3, ask, NOW + 9 * MIN), "0: ops: the last (ops)");
	/* Since the one in the middle. */
	delivery_end(&m[1]->deliveries[0], DELIVERY_SENT, NULL, NULL);
	ck_assert_str_eq(
	    untold_at(m, 3, ask, NOW + 9 * MIN), "2: ops: the last (ops)");
	/* That one was sent when the newest had failed already. */
	ask_told(ask, "ops", NOW + 3 * MIN);
	ck_assert_str_eq(untold_at(m, 3, ask, NOW + 9 * MIN), "");
	for (int i = 0; i < 3; i++)
		message_free(m[i]);
	ask_free(ask);
}

#define GOOD                                                                  \
	"\"id\":\"" ID "\",\"timestamp\":\"t\",\"level\":\"info\",\"title\":" \
	"\"t\",\"signature\":\"s\""

static const struct {
	const char *text, *words;
} wrong[] = {
	{ "{}", "id" },
	{ "{" GOOD "}", "channels" },
	{ "{" GOOD ",\"channels\":{}}", "channels" },
	{ "{" GOOD ",\"channels\":[],\"colour\":1}", "colour" },
	{ "{" GOOD ",\"channels\":[{\"channel\":\"a\"}]}", "state" },
	{ "{" GOOD ",\"channels\":[{\"channel\":\"../a\",\"state\":\"sent\"}]}",
	    "not a name" },
	{ "{" GOOD ",\"channels\":[{\"channel\":\"a\",\"state\":\"sent\"},"
	  "{\"channel\":\"a\",\"state\":\"sent\"}]}",
	    "twice" },
	{ "{" GOOD ",\"count\":0,\"channels\":[]}", "count" },
	{ "{\"id\":\"../../x\",\"timestamp\":\"t\",\"level\":\"info\","
	  "\"title\":\"t\",\"signature\":\"s\",\"channels\":[]}",
	    "ULID" },
};

TEST_ROWS(what_is_no_record_is_refused, nitems(wrong))
{
	cleanup_json struct json_object *json = NULL;
	struct message *record = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(json_parse(wrong[_i].text, strlen(wrong[_i].text),
			     MESSAGE_FILE_MAX, &json, NULL),
	    0);
	ck_assert_int_lt(message_from_json(json, &record, &err), 0);
	ck_assert_msg(strstr(err.msg, wrong[_i].words) != NULL, "%s", err.msg);
}

TEST_ROWS(
    every_class_of_notices_has_a_level_and_a_signature, NOTICE_CLASS_COUNT - 1)
{
	cleanup_buf struct buf signature = BUF_INIT;
	struct notice n = { .class = (enum notice_class)(_i + 1),
		.worker = "adam",
		.why = "so" };
	static const enum escalation_level levels[NOTICE_CLASS_COUNT] = {
		[NOTICE_FAILURE] = ESCALATION_EMERGENCY,
		[NOTICE_LOGIN] = ESCALATION_CRITICAL,
		[NOTICE_WORKER] = ESCALATION_WARNING,
		[NOTICE_TASK] = ESCALATION_WARNING,
		[NOTICE_BUDGET] = ESCALATION_WARNING,
		[NOTICE_BRANCH] = ESCALATION_CRITICAL,
		[NOTICE_CHECK] = ESCALATION_WARNING,
		[NOTICE_CHECKOUT] = ESCALATION_WARNING,
		[NOTICE_PUSH] = ESCALATION_WARNING,
		[NOTICE_SETTINGS] = ESCALATION_WARNING,
		[NOTICE_STATE] = ESCALATION_CRITICAL,
		[NOTICE_GOAL] = ESCALATION_WARNING,
		/* The others inform. */
	};
	struct escalation what;

	ck_assert_ptr_null(notice_name(NOTICE_NONE));
	escalation_of_notice(&n, &signature, &what);
	ck_assert_ptr_nonnull(what.class);
	ck_assert_str_eq(what.class, notice_name(n.class));
	ck_assert_int_eq(what.level, levels[n.class]);
	ck_assert_ptr_nonnull(what.title);
	/* One login serves all workers. */
	ck_assert_int_eq(
	    strstr(what.signature, "adam") != NULL, n.class != NOTICE_LOGIN);
	n.signature = "boom";
	escalation_of_notice(&n, &signature, &what);
	ck_assert_ptr_nonnull(strstr(what.signature, "boom"));
	ck_assert_ptr_null(strstr(what.signature, "adam"));
}
