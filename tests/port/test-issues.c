/* SPDX-License-Identifier: ISC */

/* Events as issues and comments: Gitea and GitHub. */
#include "http-world.h"
#include "channel.h"
#include "courier.h"
#include "notice.h"
#include "message.h"
#include "settings.h"

#define TOKEN "tok-0123456789"
#define MORE  "repo = \"me/work\"\ntoken_env = \"LLMC_TEST_TOKEN\"\n"

static const char *const types[] = { "gitea", "github" };

struct scene {
	struct http_world *w;
	struct settings *settings;
	struct courier *courier;
	size_t sent;
};

static struct scene
begin(int type)
{
	struct scene s = { .w = http_world_new() };

	setenv("LLMC_TEST_TOKEN", TOKEN, 1);
	s.settings = http_world_settings(s.w, types[type], MORE);
	s.courier = http_world_courier(s.w, s.settings, "autod");
	return s;
}

static void
end(struct scene *s)
{
	courier_free(s->courier);
	settings_free(s->settings);
	http_world_free(s->w);
}

static bool
all_done(void *arg)
{
	const struct scene *s = arg;

	return http_world_done(s->w) == s->sent &&
	    http_world_waiting(s->w) == 0;
}

/* From another process each time: events of one are merged. */
static void
tell(struct scene *s, const char *signature)
{
	courier_free(s->courier);
	s->courier = http_world_courier(s->w, s->settings, "autod");
	courier_put(s->courier,
	    &(struct escalation){ .level = ESCALATION_CRITICAL,
		.title = "work is stuck",
		.text = "why",
		.signature = signature,
		.worker = "adam" });
	s->sent++;
	http_world_until(s->w, all_done, s);
}

static struct json_object *
issue(const struct scene *s, size_t i)
{
	return json_object_array_get_idx(s->w->issues, i);
}

void
unit_begin(void)
{
	unit_hurry(10);
}

TEST_ROWS(a_failure_is_one_issue_and_later_events_are_comments, 2)
{
	ended_by(end) struct scene s = begin(_i);
	struct json_object *labels = NULL, *first;

	tell(&s, "a");
	tell(&s, "a");
	tell(&s, "b");
	tell(&s, "a");
	ck_assert_uint_eq(json_object_array_length(s.w->issues), 2);
	ck_assert_uint_eq(json_object_array_length(s.w->comments), 2);
	ck_assert_uint_eq(json_object_array_length(s.w->labels), 3);
	ck_assert_str_eq(json_string_or(issue(&s, 0), "title", ""),
	    "llmc CRITICAL: work is stuck (adam)");
	json_object_object_get_ex(issue(&s, 0), "labels", &labels);
	ck_assert_uint_eq(json_object_array_length(labels), 3);
	first = json_object_array_get_idx(labels, 0);
	if (_i == 0)
		ck_assert_int_eq(json_object_get_int64(first), 100);
	else
		ck_assert_str_eq(json_object_get_string(first), "llmc");
	ck_assert_str_eq(s.w->seen[0].authorization,
	    _i == 0 ? "token " TOKEN : "Bearer " TOKEN);
	ck_assert_uint_eq(
	    http_world_seen(s.w, "POST", "/issues/1/comments"), 2);
	ck_assert_ptr_nonnull(
	    strstr(s.w->seen[0].uri, "/repos/me/work/labels"));
	ck_assert_int_eq(strstr(s.w->seen[0].uri, "/api/v1/") != NULL, _i == 0);
}

TEST_ROWS(a_closed_issue_is_opened_again, 2)
{
	ended_by(end) struct scene s = begin(_i);

	tell(&s, "a");
	json_set_string(issue(&s, 0), "state", "closed");
	tell(&s, "a");
	ck_assert_uint_eq(json_object_array_length(s.w->issues), 1);
	ck_assert_str_eq(json_string_or(issue(&s, 0), "state", ""), "open");
}

/* --- one event, sent twice -------------------------------------------- */

static char id[] = "01ARZ3NDEKTSV4RRFFQ69G5FAV", at[] = "2026", title[] = "t",
	    signature[] = "a", why[] = "why";

struct attempt {
	struct scene *s;
	bool over;
	enum delivery_state state;
	char reason[256], ref[64];
	int64_t retry_ms;
};

static void
on_delivered(const struct deliver_result *result, void *arg)
{
	struct attempt *a = arg;

	a->over = true;
	a->state = result->state;
	a->retry_ms = result->retry_after_ms;
	strlcpy(a->reason, result->reason != NULL ? result->reason : "",
	    sizeof a->reason);
	strlcpy(a->ref, result->ref != NULL ? result->ref : "", sizeof a->ref);
}

static bool
is_over(void *arg)
{
	const struct attempt *a = arg;

	return a->over;
}

static struct attempt
deliver(struct scene *s, const struct message *record)
{
	struct attempt a = { .s = s };

	deliver_start(s->w->loop, s->w->root, s->w->root,
	    channel_find(settings_channels(s->settings), "x"), record,
	    on_delivered, &a);
	http_world_until(s->w, is_over, &a);
	return a;
}

static struct message
sample(void)
{
	return (struct message){ .id = id,
		.timestamp = at,
		.title = title,
		.text = why,
		.signature = signature,
		.level = ESCALATION_CRITICAL,
		.count = 1 };
}

/* As after a death between the sending and its note. */
TEST_ROWS(an_event_that_has_arrived_is_not_repeated, 2)
{
	ended_by(end) struct scene s = begin(_i);
	struct message record = sample();
	char other[] = "01ARZ3NDEKTSV4RRFFQ69G5FAW";
	struct attempt a;

	a = deliver(&s, &record);
	ck_assert_int_eq(a.state, DELIVERY_SENT);
	ck_assert_str_eq(a.ref, "#1");
	a = deliver(&s, &record);
	ck_assert_int_eq(a.state, DELIVERY_SENT);
	ck_assert_uint_eq(json_object_array_length(s.w->issues), 1);
	ck_assert_uint_eq(json_object_array_length(s.w->comments), 0);
	record.id = other;
	deliver(&s, &record);
	json_set_int(issue(&s, 0), "comments", 1);
	deliver(&s, &record);
	ck_assert_uint_eq(json_object_array_length(s.w->comments), 1);
}

/* One that somebody else has written, with the right label. */
TEST_ROWS(an_issue_of_others_is_not_taken, 2)
{
	ended_by(end) struct scene s = begin(_i);
	struct message record = sample();
	cleanup_buf struct buf body = BUF_INIT;
	struct json_object *theirs = json_object_new_object();

	message_issue_body(&record, &body);
	buf_adds(&body, "\nquoted by a person");
	json_set_string(theirs, "body", body.data);
	json_set_int(theirs, "number", 1);
	json_object_array_add(s.w->issues, theirs);
	deliver(&s, &record);
	ck_assert_uint_eq(json_object_array_length(s.w->issues), 2);
}

static const struct {
	enum http_mood mood;
	const char *words;
} moods[] = {
	{ HTTP_500, "answered 500" },
	{ HTTP_429, "answered 429: slow down" },
	{ HTTP_HTML, "is url that of its API?" },
	{ HTTP_HANGS, "stopped after" },
	{ HTTP_REDIRECT, "answered 302" },
	{ HTTP_DENIES, "check the token" },
	{ HTTP_ECHOES, "bad: " },
	{ HTTP_RAW, "curl" },
	{ HTTP_HALF, "curl" },
	{ HTTP_CLOSES, "curl" },
	{ HTTP_ENDLESS, "curl" },
	{ HTTP_REFUSES, "curl" },
};

/* Each for both types. What the server repeats of a token is hidden. */
TEST_ROWS(a_server_that_fails_is_named_with_what_to_do, 2 * nitems(moods))
{
	ended_by(end) struct scene s = begin(_i % 2);
	struct message record = sample();
	struct attempt a;

	s.w->mood = moods[_i / 2].mood;
	settings_free(s.settings);
	s.settings = http_world_settings(s.w, types[_i % 2], MORE);
	a = deliver(&s, &record);
	ck_assert_int_eq(a.state, DELIVERY_WAITING);
	ck_assert_msg(
	    strstr(a.reason, moods[_i / 2].words) != NULL, "%s", a.reason);
	ck_assert_msg(strstr(a.reason, TOKEN) == NULL, "%s", a.reason);
	ck_assert_int_eq(a.retry_ms,
	    moods[_i / 2].mood == HTTP_429 ? (int64_t)120 * 1000 : -1);
}
