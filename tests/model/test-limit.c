/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "limit.h"
#include "quota.h"

#define MINUTE 60000

static void
assert_class(const char *error, const char *text, enum limit_class wanted)
{
	ck_assert_msg(limit_classify(error, text) == wanted,
	    "%s, \"%s\": wanted %s, got %s", error == NULL ? "-" : error,
	    text == NULL ? "-" : text, limit_class_name(wanted),
	    limit_class_name(limit_classify(error, text)));
}

static const struct {
	const char *error, *text;
	enum limit_class class;
} notices[] = {
	/* Error words outrank the text. */
	{ "rate_limit", NULL, LIMIT_USAGE },
	{ "rate_limit", "API Error: Request rejected (429) \xc2\xb7 ...",
	    LIMIT_USAGE },
	{ "server_error", "API Error: 529 Overloaded", LIMIT_OUTAGE },
	{ "server_error", "you've hit your limit", LIMIT_OUTAGE },
	{ "overloaded", "", LIMIT_OUTAGE },
	{ "authentication_failed", "API Error: 403", LIMIT_AUTH },
	{ "billing_error", NULL, LIMIT_AUTH },
	{ "model_not_found", NULL, LIMIT_AUTH },
	/* Other error words leave it to the text. */
	{ "unknown", NULL, LIMIT_NONE },
	{ "unknown", "API Error: 400 bad", LIMIT_NONE },
	{ "unknown", "429 too many requests", LIMIT_USAGE },
	{ "unknown", "502", LIMIT_OUTAGE },
	{ "unknown", "(401)", LIMIT_AUTH },
	{ "unknown", "took 1500 ms, 5000 more", LIMIT_NONE },
	{ "invalid_request",
	    "Context limit reached \xc2\xb7 /compact or /clear to continue",
	    LIMIT_NONE },
	{ "something_new", "Overloaded", LIMIT_OUTAGE },
	/* Notices of a login. */
	{ NULL, "OAuth token has expired", LIMIT_AUTH },
	{ NULL, "Please run /login", LIMIT_AUTH },
	{ NULL, "Invalid API key \xc2\xb7 Please run /login", LIMIT_AUTH },
	{ NULL, "API Error: 401 {...}", LIMIT_AUTH },
	{ NULL, "Credit balance is too low", LIMIT_AUTH },
	/* Warnings ahead of the limit. */
	{ NULL, "90% of your usage limit", LIMIT_NEAR },
	{ NULL, "You've used 92% of your weekly limit", LIMIT_NEAR },
	{ NULL, "usage is at 95%", LIMIT_NEAR },
	{ NULL, "5 messages remaining", LIMIT_NEAR },
	{ NULL, "1 message left", LIMIT_NEAR },
	{ NULL, "Approaching usage limit \xc2\xb7 resets at 7pm", LIMIT_NEAR },
	{ NULL, "10% of your usage limit", LIMIT_NONE },
	{ NULL, "usage is at 20%", LIMIT_NONE },
	{ NULL, "500 messages remaining", LIMIT_NONE },
	{ NULL, "5% of usage", LIMIT_NONE },
	/* Notices of a usage limit. */
	{ NULL, "You've hit your limit \xc2\xb7 resets 7pm (Asia/Tokyo)",
	    LIMIT_USAGE },
	{ NULL, "You\xe2\x80\x99ve hit your weekly limit", LIMIT_USAGE },
	{ NULL, "You're out of extra usage \xc2\xb7 resets 9pm", LIMIT_USAGE },
	{ NULL, "Claude AI usage limit reached|1766502000", LIMIT_USAGE },
	{ NULL, "5-hour limit reached \xe2\x88\x99 resets 3am", LIMIT_USAGE },
	{ NULL, "Claude usage limit reached. Your limit will reset at 7pm",
	    LIMIT_USAGE },
	{ NULL, "API Error: Rate limit reached", LIMIT_USAGE },
	{ NULL, "API Error: 429 {\"type\":\"error\"}", LIMIT_USAGE },
	{ NULL, "This request would exceed your organization's rate limit",
	    LIMIT_USAGE },
	/* Notices of an outage. */
	{ NULL, "API Error: 500 internal server error", LIMIT_OUTAGE },
	{ NULL, "API Error: 503", LIMIT_OUTAGE },
	{ NULL, "529 Overloaded \xc2\xb7 Retrying in 8s \xc2\xb7 attempt 5/10",
	    LIMIT_OUTAGE },
	{ NULL, "Overloaded", LIMIT_OUTAGE },
	{ NULL, "API Error: Connection error.", LIMIT_OUTAGE },
	{ NULL, "connect ECONNREFUSED 127.0.0.1:443", LIMIT_OUTAGE },
	{ NULL, "read ECONNRESET", LIMIT_OUTAGE },
	{ NULL, "getaddrinfo EAI_AGAIN api.anthropic.com", LIMIT_OUTAGE },
	{ NULL, "API Error: Request timed out", LIMIT_OUTAGE },
	{ NULL, "Unable to connect to API", LIMIT_OUTAGE },
};

TEST_ROWS(a_notice_has_one_class, nitems(notices))
{
	assert_class(notices[_i].error, notices[_i].text, notices[_i].class);
}

TEST(what_only_looks_like_a_notice_is_none)
{
	cleanup_buf struct buf text = BUF_INIT;

	assert_class(NULL, NULL, LIMIT_NONE);
	assert_class(NULL, "", LIMIT_NONE);
	assert_class(NULL, "the 500 error page", LIMIT_NONE);
	assert_class(NULL, "Working on implementing quota scan", LIMIT_NONE);
	assert_class(NULL, "Resets 11:30pm (America/New_York)", LIMIT_NONE);
	assert_class(NULL, "Renamed 429 files", LIMIT_NONE);
	buf_adds(&text, "rate limit reached");
	while (text.len < LIMIT_NOTICE_MAX)
		buf_addc(&text, '.');
	assert_class(NULL, text.data, LIMIT_USAGE);
	buf_addc(&text, '.');
	assert_class(NULL, text.data, LIMIT_NONE);
	assert_class("unknown", text.data, LIMIT_USAGE);
}

static void
assert_reset(const char *text, int month, int day, int hour, int minute,
    const char *zone, const char *words)
{
	struct limit_reset reset;

	ck_assert_msg(limit_reset_parse(text, &reset), "%s", text);
	ck_assert_int_eq(reset.month, month);
	ck_assert_int_eq(reset.day, day);
	ck_assert_int_eq(reset.hour, hour);
	ck_assert_int_eq(reset.minute, minute);
	ck_assert_str_eq(reset.zone, zone);
	ck_assert_str_eq(reset.words, words);
	ck_assert_int_eq(reset.at_ms, 0);
}

TEST(reset_as_a_time_of_day)
{
	assert_reset("You've hit your limit \xc2\xb7 resets 7pm "
		     "(America/Los_Angeles)",
	    0, 0, 19, 0, "America/Los_Angeles", "7pm (America/Los_Angeles)");
	assert_reset("resets 9pm", 0, 0, 21, 0, "", "9pm");
	assert_reset("Resets 11:30pm (America/New_York)", 0, 0, 23, 30,
	    "America/New_York", "11:30pm (America/New_York)");
	assert_reset(
	    "Your limit will reset at 12 AM.", 0, 0, 0, 0, "", "12 AM");
	assert_reset("resets: 12pm", 0, 0, 12, 0, "", "12pm");
	assert_reset("resets 07:05", 0, 0, 7, 5, "", "07:05");
	assert_reset("resets 19:00 (UTC)", 0, 0, 19, 0, "UTC", "19:00 (UTC)");
	assert_reset("reset the box; resets 1am", 0, 0, 1, 0, "", "1am");
}

TEST(reset_with_a_date)
{
	assert_reset("weekly limit reached \xc2\xb7 resets Oct 9 at 5:30pm "
		     "(Europe/Berlin)",
	    10, 9, 17, 30, "Europe/Berlin", "Oct 9 at 5:30pm (Europe/Berlin)");
	assert_reset(
	    "resets December 31, 1am", 12, 31, 1, 0, "", "December 31, 1am");
	assert_reset("resets on Jan 1, 10am", 1, 1, 10, 0, "", "Jan 1, 10am");
}

TEST(reset_as_an_absolute_time)
{
	static const char *const texts[] = { "resets at 1766502000",
		"Claude AI usage limit reached|1766502000",
		"resets 1766502000000" };
	struct limit_reset reset;

	for (size_t i = 0; i < nitems(texts); i++) {
		ck_assert(limit_reset_parse(texts[i], &reset));
		ck_assert_int_eq(reset.at_ms, 1766502000000);
		ck_assert_int_eq(reset.hour, -1);
		ck_assert_int_eq(strncmp(reset.words, "1766502000", 10), 0);
	}
}

TEST(reset_that_cannot_be_read_is_none)
{
	static const char *const texts[] = { "", "reset", "resets", "resets 7",
		"resets 25:00", "resets 13pm", "resets 0am", "resets 7:60pm",
		"resets 7pmx", "resets soon", "resets Oct 32 at 5pm",
		"resets Oct", "resets at 12345", "resets at 99999999999999999",
		"7pm (UTC)", "resets 7:", "resets 007pm" };
	struct limit_reset reset = { .hour = 42 };

	for (size_t i = 0; i < nitems(texts); i++)
		ck_assert_msg(
		    !limit_reset_parse(texts[i], &reset), "%s", texts[i]);
	ck_assert_int_eq(reset.hour, 42);
}

TEST(zone_is_never_a_path_to_elsewhere)
{
	static const char *const zones[] = { "../../etc/passwd", "/etc/passwd",
		"", "a b", "UTC", "Etc/GMT+5" };
	struct limit_reset reset;

	for (size_t i = 0; i < nitems(zones); i++) {
		cleanup_free char *text =
		    xasprintf("resets 7pm (%s)", zones[i]);

		ck_assert(limit_reset_parse(text, &reset));
		ck_assert_str_eq(reset.zone, i < 4 ? "" : zones[i]);
		ck_assert_int_eq(reset.hour, 19);
	}
	/* Too long for a zone, and not closed. */
	ck_assert(
	    limit_reset_parse("resets 7pm (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)",
		&reset));
	ck_assert_str_eq(reset.zone, "");
	ck_assert(limit_reset_parse("resets 7pm (UTC", &reset));
	ck_assert_str_eq(reset.zone, "");
	ck_assert_str_eq(reset.words, "7pm");
}

TEST(backoff_doubles_up_to_its_bound)
{
	static const int64_t outage[] = { 30000, 60000, 120000, 240000, 480000,
		900000, 900000 };
	static const int64_t usage[] = { 5 * MINUTE, 10 * MINUTE, 20 * MINUTE,
		40 * MINUTE, 60 * MINUTE, 60 * MINUTE };

	for (size_t i = 0; i < nitems(outage); i++)
		ck_assert_int_eq(
		    limit_backoff_ms(LIMIT_OUTAGE, (int)i), outage[i]);
	for (size_t i = 0; i < nitems(usage); i++)
		ck_assert_int_eq(
		    limit_backoff_ms(LIMIT_USAGE, (int)i), usage[i]);
	ck_assert_int_eq(limit_backoff_ms(LIMIT_OUTAGE, -1), 30000);
	ck_assert_int_eq(limit_backoff_ms(LIMIT_USAGE, 2147483647), 3600000);
	ck_assert_int_eq(limit_backoff_ms(LIMIT_NONE, 3), 0);
	ck_assert_int_eq(limit_backoff_ms(LIMIT_NEAR, 3), 0);
	ck_assert_int_eq(limit_backoff_ms(LIMIT_AUTH, 3), 0);
}

TEST(random_notices_give_well_formed_answers)
{
	static const char *const pieces[] = { "resets ", "at ", "7", "pm", ":",
		"30", "(", "UTC", ")", "Oct ", "1766502000", "limit reached|",
		"% of your ", "limit", " messages remaining", "API Error", "/",
		"500", " ", "\xc2\xb7" };
	struct dice dice = { 0x5eed0003 };
	int parsed = 0, times = unit_times(100000);

	for (int i = 0; i < times; i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct limit_reset reset;

		dice_text(&dice, pieces, nitems(pieces), 200, &text);
		ck_assert_uint_lt(
		    limit_classify(
			dice_coin(&dice) ? "unknown" : NULL, text.data),
		    LIMIT_CLASS_COUNT);
		if (!limit_reset_parse(text.data, &reset))
			continue;
		parsed++;
		ck_assert((reset.at_ms > 0) == (reset.hour == -1));
		ck_assert_int_le(reset.hour, 23);
		ck_assert_int_le(reset.minute, 59);
		ck_assert_ptr_nonnull(strstr(text.data, reset.words));
		ck_assert((reset.month == 0) == (reset.day == 0));
		ck_assert_ptr_null(strchr(reset.zone, '.'));
	}
	ck_assert_int_gt(parsed, times / 1000);
}

static enum limit_class
class_named(const char *name)
{
	for (unsigned i = 0; i < LIMIT_CLASS_COUNT; i++)
		if (strcmp(limit_class_name((enum limit_class)i), name) == 0)
			return (enum limit_class)i;
	ck_abort_msg("no class is called %s", name);
}

TEST(vectors_hold)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path =
	    xasprintf("%s/usage_limit_text.json", unit_vectors());
	struct json_object *list, *row;
	struct limit_reset reset;
	const char *text, *words;
	enum limit_class wanted;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(json_get_array(file, "", "vectors", &list, NULL), 0);
	ck_assert_uint_ge(json_object_array_length(list), 12);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		row = json_object_array_get_idx(list, i);
		wanted = class_named(json_string_or(row, "class", "?"));
		text = json_string_or(row, "text", NULL);
		if (text == NULL)
			continue; /* of a stream, which no session has */
		assert_class(NULL, text, wanted);
		words = json_string_or(row, "resets", NULL);
		ck_assert_int_eq(
		    limit_reset_parse(text, &reset), words != NULL);
		if (words != NULL)
			ck_assert_str_eq(reset.words, words);
	}
}

TEST(api_error_vectors_hold)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list, *row, *entry;
	const char *expect;
	enum limit_class wanted;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(json_get_array(file, "", "api_error", &list, NULL), 0);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		row = json_object_array_get_idx(list, i);
		ck_assert_int_eq(
		    json_get_object(row, "", "entry", &entry, NULL), 0);
		expect = json_string_or(row, "expect", "");
		wanted = strcmp(expect, "server") == 0 ? LIMIT_OUTAGE :
		    strcmp(expect, "rate_limit") == 0  ? LIMIT_USAGE :
							 LIMIT_NONE;
		assert_class(json_bool_or(entry, "isApiErrorMessage", false) ?
			"unknown" :
			NULL,
		    json_string_or(entry, "text", NULL), wanted);
	}
}

TEST(a_reset_far_away_has_just_passed)
{
	const int64_t hour = 3600000, now = 1000000 * hour;
	const int64_t later = now + limit_backoff_ms(LIMIT_USAGE, 0);

	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, now + 5 * hour, false, 0, now),
	    now + 5 * hour);
	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, now + 12 * hour, false, 0, now),
	    now + 12 * hour);
	ck_assert_int_eq(limit_look_again_ms(
			     LIMIT_USAGE, now + 12 * hour + 1, false, 0, now),
	    later);
	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, now + 100 * hour, true, 0, now),
	    now + 100 * hour);
	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, now + 300 * hour, true, 0, now),
	    later);
	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, now - 1, true, 0, now), later);
	ck_assert_int_eq(
	    limit_look_again_ms(LIMIT_USAGE, 0, false, 0, now), later);
}

/* The minute that a message names, its end, and what the windows of the account
 * say of it. */
TEST_ROWS(a_window_names_the_second_of_a_reset, 6)
{
	static const int64_t by = 100 * MINUTE;
	static const struct {
		int64_t five, seven, exact;
	} rows[] = {
		{ 0, 0, by }, /* not known */
		{ by - MINUTE, 0, by - MINUTE }, /* at :00 */
		{ by - 19000, 0, by - 19000 },
		{ by - 1000, by + 500 * MINUTE, by - 1000 },
		{ by + 70000, by - 30000, by - 30000 }, /* weekly */
		{ by - MINUTE - 1, by, by }, /* in other minutes */
	};
	const struct window windows[WINDOW_COUNT] = {
		{ .resets_ms = rows[_i].five },
		{ .resets_ms = rows[_i].seven },
	};

	ck_assert_int_eq(limit_sharpen_ms(by, windows), rows[_i].exact);
	/* What is exact stays so. */
	ck_assert_int_eq(
	    limit_sharpen_ms(rows[_i].exact, windows), rows[_i].exact);
}

/* Nobody goes on before the reset, and no two of twenty at once; all within a
 * minute. */
TEST(workers_go_on_one_after_another)
{
	for (int i = 1; i <= 20; i++) {
		ck_assert_int_ge(limit_delay_ms(i), 2000);
		ck_assert_int_lt(limit_delay_ms(i), MINUTE);
		if (i > 1)
			ck_assert_int_ge(
			    limit_delay_ms(i), limit_delay_ms(i - 1) + 1000);
	}
	ck_assert_int_eq(limit_delay_ms(0), limit_delay_ms(1));
	ck_assert_int_eq(limit_delay_ms(21), limit_delay_ms(1));
}
