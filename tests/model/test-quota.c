/* SPDX-License-Identifier: ISC */

/* When a new task may begin; the week at the end plays windows, tasks and a
 * person against the rule. */
#include "unit.h"
#include "quota.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define NOW    (INT64_C(20000) * DAY) /* midnight, UTC */

/* Clocks are set forward at 02:00 of the second day, and back at 03:00 of the
 * fourth one. */
static int64_t
zone(int64_t unix_s)
{
	int64_t ms = unix_s * 1000 - NOW;

	return ms >= DAY + HOUR && ms < 3 * DAY + HOUR ? 7200 : 3600;
}

static int64_t
utc(int64_t unix_s)
{
	(void)unix_s;
	return 0;
}

TEST(hours_are_ranges_of_the_day)
{
	static const struct {
		const char *text;
		int count; /* -1 = refused */
	} rows[] = { { "", 0 }, { "  ", 0 }, { "22:00-07:00", 1 },
		{ "12:00-13:00, 18:00-24:00", 2 },
		{ "00:00-00:01,00:02-00:03", 2 }, { "22:00", -1 },
		{ "22-7", -1 }, { "22:00-22:00", -1 }, { "24:00-01:00", -1 },
		{ "22:00-24:01", -1 }, { "22:60-23:00", -1 },
		{ "22:00-07:00,", -1 }, { ",22:00-07:00", -1 },
		{ "22:00-07:00 x", -1 }, { "9:00-10:00", -1 },
		{ "1:00-2:00,1:00-2:00,1:00-2:00", -1 } };

	for (size_t i = 0; i < nitems(rows); i++) {
		struct hours hours = { 7, { { 0, 0 } } };

		ck_assert_msg(
		    hours_parse(rows[i].text, &hours) == (rows[i].count >= 0),
		    "%s", rows[i].text);
		ck_assert_uint_eq(hours.count,
		    rows[i].count >= 0 ? (size_t)rows[i].count : 7);
	}
}

TEST(hours_follow_the_clocks_on_the_wall)
{
	/* Of day 0 (UTC+1) to day 4; at is in hours. */
	static const struct {
		const char *text;
		double at, opens, closes;
	} rows[] = { { "22:00-07:00", 0, 0, 6 }, { "22:00-07:00", 6, 21, 6 },
		{ "22:00-07:00", 12, 21, 12 },
		/* The night is an hour shorter: it ends at 05:00 UTC. */
		{ "22:00-07:00", 21, 21, 24 + 5 },
		/* And one that is longer. */
		{ "22:00-07:00", 68, 68, 72 + 6 },
		/* A time that is skipped is open for nobody, until tomorrow. */
		{ "02:15-02:45", 24, 48 + 0.25, 24 },
		/* One that comes twice is open twice. */
		{ "02:15-02:45", 72, 72 + 0.25, 72 },
		{ "02:15-02:45", 72.75, 73.25, 72.75 },
		{ "06:00-06:01, 12:30-24:00", 6, 11.5, 6 } };

	for (size_t i = 0; i < nitems(rows); i++) {
		int64_t at = NOW + (int64_t)(rows[i].at * (double)HOUR);
		struct hours hours;

		ck_assert(hours_parse(rows[i].text, &hours));
		ck_assert_int_eq(hours_next(&hours, zone, at, true) - NOW,
		    (int64_t)(rows[i].opens * (double)HOUR));
		ck_assert_int_eq(hours_next(&hours, zone, at, false) - NOW,
		    (int64_t)(rows[i].closes * (double)HOUR));
		ck_assert(hours_open(&hours, zone, at) ==
		    (rows[i].opens <= rows[i].at));
	}
}

TEST(a_span_is_the_sum_of_its_open_minutes)
{
	struct dice dice = { 0x5eed0101 };
	struct hours hours;

	ck_assert(hours_parse("", &hours));
	ck_assert_int_eq(hours_span(&hours, zone, NOW, NOW + DAY), DAY);
	ck_assert_int_eq(hours_next(&hours, zone, NOW, false), -1);
	ck_assert(hours_parse("22:00-07:00, 12:07-12:08", &hours));
	ck_assert_int_eq(
	    hours_span(&hours, zone, NOW, NOW + DAY), 9 * HOUR + MINUTE);
	for (int i = 0; i < 50; i++) {
		int64_t from = NOW + dice_below(&dice, 5 * DAY / 1000) * 1000;
		int64_t to = from + dice_below(&dice, DAY / 1000) * 1000;
		int64_t sum = 0, step;

		for (int64_t at = from; at < to; at = step) {
			step = (at / MINUTE + 1) * MINUTE;
			step = step < to ? step : to;
			sum += hours_open(&hours, zone, at) ? step - at : 0;
		}
		ck_assert_int_eq(hours_span(&hours, zone, from, to), sum);
	}
}

static bool
reads(struct window *windows, const char *text)
{
	cleanup_json struct json_object *json = json_tokener_parse(text);

	return windows_read(json, NOW, windows);
}

TEST(a_context_is_as_full_as_is_said)
{
	static const struct {
		const char *text;
		int percent;
	} rows[] = { { "{\"used_percentage\":81.9}", 81 },
		{ "{\"used_percentage\":0}", 0 },
		{ "{\"used_percentage\":null}", -1 },
		{ "{\"used_percentage\":\"90\"}", -1 },
		{ "{\"used_percentage\":-1}", -1 },
		{ "{\"used_percentage\":1e99}", -1 }, { "{}", -1 },
		{ "[90]", -1 }, { "null", -1 } };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(rows[i].text);

		ck_assert_int_eq(context_read(json), rows[i].percent);
	}
}

/* Once in a window, that of the nearest reset. */
TEST(a_window_that_is_nearly_used_excuses_once)
{
	static const struct {
		int64_t used[WINDOW_COUNT], resets_h[WINDOW_COUNT];
		int64_t excused_h, want_h;
	} rows[] = { { { 929, 929 }, { 3, 50 }, 0, 0 },
		{ { 930, 0 }, { 3, 50 }, 0, 3 },
		{ { 1000, 940 }, { 3, 50 }, 0, 3 },
		{ { 1000, 940 }, { 3, 50 }, 3, 0 },
		{ { 1000, 940 }, { 3, 2 }, 0, 2 },
		{ { 100, 940 }, { 8, 50 }, 3, 50 },
		{ { 990, 940 }, { 8, 50 }, 3, 8 },
		{ { 990, 0 }, { -1, 50 }, 0, 0 } };

	for (size_t i = 0; i < nitems(rows); i++) {
		struct window w[WINDOW_COUNT];

		for (int k = 0; k < WINDOW_COUNT; k++)
			w[k] = (struct window){ rows[i].used[k],
				NOW + rows[i].resets_h[k] * HOUR, NOW };
		/* Two reports of one reset differ a little. */
		ck_assert_int_eq(windows_wrap_up(w,
				     rows[i].excused_h == 0 ?
					 0 :
					 NOW + rows[i].excused_h * HOUR - 1000,
				     NOW),
		    rows[i].want_h == 0 ? 0 : NOW + rows[i].want_h * HOUR);
	}
}

TEST(windows_are_what_is_reported_last_of_each)
{
	struct window w[WINDOW_COUNT] = { 0 };
	const long long reset = NOW / 1000 + 7200;
	cleanup_free char *first = xasprintf(
	    "{\"five_hour\":{\"used_percentage\":42.5,\"resets_at\":%lld},"
	    "\"seven_day\":{\"used_percentage\":13,\"resets_at\":%lld}}",
	    reset, reset + 86400);
	cleanup_free char *late = xasprintf(
	    "{\"five_hour\":{\"used_percentage\":40,\"resets_at\":%lld}}",
	    reset + 1);
	cleanup_free char *next = xasprintf(
	    "{\"five_hour\":{\"used_percentage\":1,\"resets_at\":%lld}}",
	    reset + 3600);
	static const char *const refused[] = { "null", "[]", "{}",
		"{\"five_hour\":7}", "{\"five_hour\":{}}",
		"{\"five_hour\":{\"used_percentage\":\"7\",\"resets_at\":9}}",
		"{\"five_hour\":{\"used_percentage\":7,\"resets_at\":9}}",
		"{\"five_hour\":{\"used_percentage\":-1,\"resets_at\":"
		"1728003600}}",
		"{\"five_hour\":{\"used_percentage\":1e99,\"resets_at\":"
		"1728003600}}",
		"{\"five_hour\":{\"used_percentage\":7,\"resets_at\":"
		"9999999999}}" };

	ck_assert(!window_is_known(&w[WINDOW_FIVE_HOUR], NOW));
	for (size_t i = 0; i < nitems(refused); i++)
		ck_assert_msg(!reads(w, refused[i]), "%s", refused[i]);
	ck_assert(reads(w, first));
	ck_assert(!reads(w, first));
	ck_assert_int_eq(w[WINDOW_FIVE_HOUR].used, 425);
	ck_assert_int_eq(w[WINDOW_SEVEN_DAY].used, 130);
	ck_assert(!reads(w, late)); /* another session knew less */
	ck_assert(reads(w, next)); /* another window */
	ck_assert_int_eq(w[WINDOW_FIVE_HOUR].used, 10);
	ck_assert(reads(w, late)); /* of another account, which ends earlier */
	ck_assert_int_eq(w[WINDOW_FIVE_HOUR].used, 400);
	/* The clock was set back: a year of waiting would be wrong. */
	ck_assert(!window_is_known(&w[WINDOW_SEVEN_DAY], NOW - 24 * HOUR));
	ck_assert(!window_is_known(&w[WINDOW_FIVE_HOUR], NOW + 6 * HOUR));
	ck_assert(window_is_known(&w[WINDOW_SEVEN_DAY], NOW + 6 * HOUR));
}

TEST(what_keeps_a_task_back_is_said_with_its_end)
{
	static const struct machine fine = { -1, -1, -1, -1, 2, 700 };
	const struct {
		const char *hours;
		int reserve;
		bool even;
		int64_t used5, used7, cost; /* of 1000 */
		struct machine machine;
		size_t running;
		enum quota_hold hold;
		int64_t until; /* hours from now */
		const char *words;
	} rows[] = {
		/* The defaults keep nothing back, whatever is used. */
		{ "", 0, false, 1000, 1000, 2000, fine, 4, QUOTA_OPEN, 0, "" },
		{ "08:00-09:00", 0, false, 0, 0, 0, fine, 0, QUOTA_HOURS, 7,
		    "outside of auto.hours" },
		{ "", 20, false, 799, 799, 799, fine, 1, QUOTA_OPEN, 0, "" },
		{ "", 20, false, 800, 0, 0, fine, 1, QUOTA_RESERVE, 4,
		    "80% of the 5 hour window are used, and budget.reserve "
		    "keeps 20% for you" },
		{ "", 20, false, 0, 900, 0, fine, 1, QUOTA_RESERVE, 84,
		    "90% of the 7 day window" },
		{ "", 20, false, 0, 0, 810, fine, 1, QUOTA_RESERVE, 24,
		    "81% of budget.day_cost" },
		{ "", 0, true, 200, 500, 0, fine, 1, QUOTA_OPEN, 0, "" },
		{ "", 0, true, 400, 500, 0, fine, 1, QUOTA_PACE, 1,
		    "40% of the 5 hour window are used, which is ahead of" },
		{ "", 50, true, 200, 0, 0, fine, 1, QUOTA_PACE, 1, "pace" },
		{ "", 0, false, 0, 0, 0, { 100 << 20, -1, -1, -1, 2, 0 }, 1,
		    QUOTA_MACHINE, 0, "100 MB of memory" },
		{ "", 0, false, 0, 0, 0, { -1, 100 << 20, -1, -1, 2, 0 }, 1,
		    QUOTA_MACHINE, 0, "100 MB of the disk" },
		{ "", 0, false, 0, 0, 0, { 1000 << 20, -1, 60, -1, 2, 0 }, 1,
		    QUOTA_MACHINE, 0, "memory is short" },
		{ "", 0, false, 0, 0, 0, { -1, -1, -1, -1, 2, 5000 }, 1,
		    QUOTA_MACHINE, 0, "the load is 50 with 2 CPUs" },
		{ "", 0, false, 0, 0, 0, { -1, -1, -1, 90, 2, 5000 }, 1,
		    QUOTA_MACHINE, 0, "the load is 50 with 2 CPUs" },
		/* Another container at its limit; tasks that hang in a mount,
		 * or a container with two of many CPUs. */
		{ "", 0, false, 0, 0, 0, { (int64_t)8 << 30, -1, 99, -1, 2, 0 },
		    1, QUOTA_OPEN, 0, "" },
		{ "", 0, false, 0, 0, 0, { -1, -1, -1, 20, 2, 20000 }, 1,
		    QUOTA_OPEN, 0, "" },
		/* Something always runs, and builds are no reason. */
		{ "", 0, false, 0, 0, 0, { 1, 1, 99, 99, 2, 9900 }, 0,
		    QUOTA_OPEN, 0, "" },
		{ "", 0, false, 0, 0, 0, { -1, -1, 5, 30, 2, 1500 }, 4,
		    QUOTA_OPEN, 0, "" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct window windows[WINDOW_COUNT] = {
			{ rows[i].used5, NOW + 4 * HOUR, NOW },
			{ rows[i].used7, NOW + 84 * HOUR, NOW },
		};
		struct quota_facts facts = { .now_ms = NOW,
			.zone = zone,
			.reserve = rows[i].reserve,
			.even = rows[i].even,
			.windows = windows,
			.day.cost = 1000,
			.spent.cost = rows[i].cost,
			.day_begins_ms = NOW,
			.machine = rows[i].machine,
			.running = rows[i].running };
		cleanup_buf struct buf why = BUF_INIT;
		int64_t until = -1;

		buf_adds(&why, "");
		ck_assert(hours_parse(rows[i].hours, &facts.hours));
		ck_assert_msg(quota_judge(&facts, &until, &why) == rows[i].hold,
		    "row %zu: %s", i, why.data);
		ck_assert_msg(
		    llabs(until -
			(rows[i].hold == QUOTA_OPEN || rows[i].until == 0 ?
				0 :
				NOW + rows[i].until * HOUR)) <= MINUTE,
		    "row %zu: until %lld", i, (long long)(until - NOW));
		ck_assert_msg(strstr(why.data, rows[i].words) != NULL,
		    "row %zu: %s", i, why.data);
	}
}

/* --- a week ------------------------------------------------------------- */

#define WORKERS  2
#define TASK_MAX 40 /* thousandths of the 5 hour window */
#define TO_WEEK  12 /* that many 5 hour windows are one of 7 days */

struct week {
	struct dice dice;
	int reserve;
	bool even, person;
	const char *hours;
	/* What has been used, exactly: in thousandths of 1000 of a window. */
	int64_t used[WINDOW_COUNT], ours[WINDOW_COUNT];
	int64_t begun[WINDOW_COUNT]; /* of each window */
	int64_t left[WORKERS], rate[WORKERS]; /* of a task */
	struct window reported[WINDOW_COUNT];
	int64_t tasks, worst; /* ahead of the line, thousandths */
};

static void
use(struct week *w, int64_t amount, bool ours)
{
	for (int i = 0; i < WINDOW_COUNT; i++) {
		int64_t part =
		    i == WINDOW_FIVE_HOUR ? amount : amount / TO_WEEK;

		w->used[i] += part;
		w->ours[i] += ours ? part : 0;
	}
}

static void
minute(struct week *w, int64_t now)
{
	struct quota_facts facts = { .now_ms = now,
		.zone = utc,
		.reserve = w->reserve,
		.even = w->even,
		.windows = w->reported,
		.machine = { -1, -1, -1, -1, -1, -1 } };
	int64_t most = 10 * (100 - w->reserve) * 1000;
	bool busy = false;

	ck_assert(hours_parse(w->hours, &facts.hours));
	for (int i = 0; i < WINDOW_COUNT; i++)
		if (now >= w->begun[i] + window_ms[i]) {
			w->begun[i] = now;
			w->used[i] = w->ours[i] = 0;
		}
	if (w->person && dice_below(&w->dice, 60) == 0)
		use(w, dice_below(&w->dice, 20000), false);
	for (int i = 0; i < WORKERS; i++) {
		cleanup_buf struct buf why = BUF_INIT;
		int64_t until, before;

		if (w->left[i] <= 0 &&
		    quota_judge(&facts, &until, &why) == QUOTA_OPEN) {
			w->left[i] =
			    (10 + dice_below(&w->dice, TASK_MAX - 9)) * 1000;
			w->rate[i] =
			    w->left[i] / (5 + dice_below(&w->dice, 11)) + 1;
			w->tasks++;
		}
		before = w->left[i];
		if (before <= 0)
			continue;
		busy = true;
		w->left[i] -= w->rate[i];
		use(w, w->left[i] < 0 ? before : w->rate[i], true);
	}
	/* Only a session that works learns what is used. */
	for (int i = 0; busy && i < WINDOW_COUNT; i++)
		w->reported[i] = (struct window){ w->used[i] / 1000,
			w->begun[i] + window_ms[i], now };
	for (int i = 0; i < WINDOW_COUNT; i++) {
		int64_t passed =
		    hours_span(&facts.hours, utc, w->begun[i], now + MINUTE);
		int64_t whole = hours_span(
		    &facts.hours, utc, w->begun[i], w->begun[i] + window_ms[i]);
		int64_t line = !w->even || whole == 0 ?
		    most :
		    (int64_t)((double)most * (double)passed / (double)whole);
		int64_t ahead = (w->used[i] - line) / 1000;

		/* A person may use the reserve: that is what it is for. */
		if (ahead > w->worst && !w->person)
			w->worst = ahead;
		if (w->person)
			ck_assert_int_le(
			    w->ours[i], most + WORKERS * TASK_MAX * 1000);
	}
}

static void
play(struct week *w)
{
	w->hours = w->hours != NULL ? w->hours : "";
	for (int i = 0; i < WINDOW_COUNT; i++)
		w->begun[i] = NOW;
	for (int64_t now = NOW; now < NOW + 7 * DAY - MINUTE; now += MINUTE)
		minute(w, now);
}

/* Tasks in progress go on: what they may use beyond the line is at most one
 * task for each worker. */
TEST(a_week_leaves_the_reserve_to_the_person)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct week alone = { .dice = { seed }, .reserve = 20 };
		struct week shared = alone;

		play(&alone);
		ck_assert_int_le(alone.worst, WORKERS * TASK_MAX);
		/* And what may be used is used. */
		ck_assert_int_ge(alone.used[WINDOW_SEVEN_DAY], 790 * 1000);
		shared.person = true;
		play(&shared);
		ck_assert_int_gt(shared.tasks, 100);
	}
}

TEST(an_even_pace_is_kept_within_a_tenth_all_week)
{
	static const char *const hours[] = { "", "22:00-07:00" };

	for (unsigned seed = 1; seed <= 4; seed++) {
		struct week w = { .dice = { seed },
			.reserve = 20,
			.even = true,
			.hours = hours[seed == 1] };

		play(&w);
		ck_assert_int_le(w.worst, 80);
		ck_assert_int_ge(w.used[WINDOW_SEVEN_DAY], 720 * 1000);
		ck_assert_int_le(w.used[WINDOW_SEVEN_DAY], 880 * 1000);
	}
}
