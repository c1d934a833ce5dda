/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "quota.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MIN   1440
#define DAY_MS    (DAY_MIN * MINUTE_MS)
#define BLOCK_MIN 15 /* no zone changes its offset within such a block */
#define BLOCK_MS  (BLOCK_MIN * MINUTE_MS)
#define WHOLE     1000 /* of a window or budget: thousandths */
#define SAME_MS   (5 * MINUTE_MS) /* two reports of one reset may differ */

const char *const window_words[WINDOW_COUNT + 1] = { "five_hour", "seven_day",
	NULL };
const int64_t window_ms[WINDOW_COUNT] = { 5 * 60 * MINUTE_MS, 7 * DAY_MS };

const char *const quota_hold_words[QUOTA_HOLD_COUNT + 1] = { "open", "hours",
	"machine", "reserve", "pace", NULL };

/* --- windows ------------------------------------------------------------ */

bool
window_is_known(const struct window *w, int64_t now_ms)
{
	/* Reported in the future: the clock was wrong, and so are both. */
	return w->seen_ms > 0 && w->seen_ms <= now_ms + SAME_MS &&
	    w->resets_ms > now_ms;
}

int
context_read(struct json_object *context)
{
	struct json_object *used = NULL;
	double percent;

	if (!json_object_is_type(context, json_type_object) ||
	    !json_object_object_get_ex(context, "used_percentage", &used) ||
	    (!json_object_is_type(used, json_type_int) &&
		!json_object_is_type(used, json_type_double)))
		return -1;
	percent = json_object_get_double(used);
	return isfinite(percent) && percent >= 0 && percent <= 1000 ?
	    (int)percent :
	    -1;
}

bool
windows_read(struct json_object *limits, int64_t now_ms, struct window *windows)
{
	bool changed = false;

	for (int i = 0; i < WINDOW_COUNT; i++) {
		struct window *w = &windows[i];
		struct json_object *one = NULL, *used = NULL;
		int64_t resets, thousandths;
		double percent;

		if (!json_object_is_type(limits, json_type_object) ||
		    !json_object_object_get_ex(limits, window_words[i], &one) ||
		    !json_object_is_type(one, json_type_object) ||
		    !json_object_object_get_ex(one, "used_percentage", &used) ||
		    (!json_object_is_type(used, json_type_int) &&
			!json_object_is_type(used, json_type_double)))
			continue;
		percent = json_object_get_double(used);
		resets = json_int_or(one, "resets_at", 0);
		if (!isfinite(percent) || percent < 0 || percent > 1000 ||
		    resets <= now_ms / 1000 ||
		    resets > (now_ms + window_ms[i] + DAY_MS) / 1000)
			continue;
		resets *= 1000;
		thousandths = (int64_t)(percent * 10);
		/* One that ends at another time is another account's. */
		if (window_is_known(w, now_ms) &&
		    llabs(resets - w->resets_ms) <= SAME_MS &&
		    thousandths <= w->used)
			continue;
		*w = (struct window){ thousandths, resets, now_ms };
		changed = true;
	}
	return changed;
}

int64_t
windows_wrap_up(
    const struct window *windows, int64_t excused_ms, int64_t now_ms)
{
	int64_t nearest = 0;

	for (int i = 0; i < WINDOW_COUNT; i++) {
		const struct window *w = &windows[i];

		if (window_is_known(w, now_ms) && w->used >= WINDOW_NEAR &&
		    (nearest == 0 || w->resets_ms < nearest))
			nearest = w->resets_ms;
	}
	return nearest > excused_ms + SAME_MS ? nearest : 0;
}

/* --- hours -------------------------------------------------------------- */

/* "22:00", and a colon in the middle; 24:00 is the end of the day. */
static bool
take_minute(const char **s, int *ret)
{
	int hour, minute;

	for (int i = 0; i < 5; i++)
		if (i == 2 ? (*s)[i] != ':' : (*s)[i] < '0' || (*s)[i] > '9')
			return false;
	hour = ((*s)[0] - '0') * 10 + (*s)[1] - '0';
	minute = ((*s)[3] - '0') * 10 + (*s)[4] - '0';
	*s += 5;
	*ret = hour * 60 + minute;
	return minute < 60 && *ret <= DAY_MIN;
}

bool
hours_parse(const char *text, struct hours *ret_hours)
{
	struct hours hours = { 0 };
	const char *s = text + strspn(text, " ");
	bool more = *s != '\0';

	while (more) {
		int from, to;

		if (hours.count == HOURS_MAX || !take_minute(&s, &from) ||
		    *s++ != '-' || !take_minute(&s, &to) || from == to ||
		    from == DAY_MIN)
			return false;
		hours.ranges[hours.count].from = from;
		hours.ranges[hours.count++].to = to;
		s += strspn(s, " ");
		more = *s == ',';
		if (more)
			s += 1 + strspn(s + 1, " ");
		else if (*s != '\0')
			return false;
	}
	*ret_hours = hours;
	return true;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Of the local day; the minute is within the block whose offset this is. */
static bool
is_open_at(const struct hours *hours, int64_t local_min)
{
	int minute = (int)(local_min - floor_div(local_min, DAY_MIN) * DAY_MIN);

	for (size_t i = 0; i < hours->count; i++) {
		int from = hours->ranges[i].from, to = hours->ranges[i].to;

		if (from < to ? minute >= from && minute < to :
				minute >= from || minute < to)
			return true;
	}
	return hours->count == 0;
}

static int64_t
local_minute(zone_fn *zone, int64_t now_ms)
{
	int64_t block = floor_div(now_ms, BLOCK_MS) * BLOCK_MS;

	return floor_div(
	    floor_div(now_ms, 1000) + zone(floor_div(block, 1000)), 60);
}

bool
hours_open(const struct hours *hours, zone_fn *zone, int64_t now_ms)
{
	return hours->count == 0 ||
	    is_open_at(hours, local_minute(zone, now_ms));
}

int64_t
hours_next(const struct hours *hours, zone_fn *zone, int64_t now_ms, bool open)
{
	int64_t at = floor_div(now_ms, MINUTE_MS) * MINUTE_MS;
	int64_t end = at + 8 * DAY_MS, local = 0;

	for (bool first = true; at < end; first = false) {
		if (first || floor_div(at, BLOCK_MS) * BLOCK_MS == at)
			local = local_minute(zone, at);
		if (is_open_at(hours, local) == open)
			return at > now_ms ? at : now_ms;
		at += MINUTE_MS;
		local++;
	}
	return -1;
}

/* Is this minute of the day inside of the block that begins there? */
static bool
cuts(int64_t local_min, int minute)
{
	int64_t from = minute - local_min;

	from -= floor_div(from, DAY_MIN) * DAY_MIN;
	return from > 0 && from < BLOCK_MIN;
}

int64_t
hours_span(
    const struct hours *hours, zone_fn *zone, int64_t from_ms, int64_t to_ms)
{
	int64_t sum = 0, at = from_ms, next;

	if (hours->count == 0 || to_ms <= from_ms)
		return to_ms > from_ms ? to_ms - from_ms : 0;
	while (at < to_ms) {
		int64_t block = floor_div(at, BLOCK_MS) * BLOCK_MS;
		int64_t local = local_minute(zone, block);

		bool open = is_open_at(hours, local);
		bool same = true;

		/* Does the whole block belong to the same side? */
		for (size_t i = 0; i < hours->count; i++)
			same = same && !cuts(local, hours->ranges[i].from) &&
			    !cuts(local, hours->ranges[i].to);
		for (int i = 0; i < BLOCK_MIN; i += same ? BLOCK_MIN : 1) {
			int64_t begin = block + i * MINUTE_MS;

			next = same ? block + BLOCK_MS : begin + MINUTE_MS;
			if (next > at && begin < to_ms &&
			    (same ? open : is_open_at(hours, local + i)))
				sum += (next < to_ms ? next : to_ms) -
				    (begin > at ? begin : at);
		}
		at = block + BLOCK_MS;
	}
	return sum;
}

/* --- judging ------------------------------------------------------------ */

/* Something that may be used up within a time. */
struct allowance {
	const char *name;
	int64_t used; /* thousandths */
	int64_t begins_ms, ends_ms;
};

static size_t
collect(const struct quota_facts *f, struct allowance list[WINDOW_COUNT + 2])
{
	static const char *const names[WINDOW_COUNT] = { "the 5 hour window",
		"the 7 day window" };
	int64_t tomorrow = f->day_begins_ms + DAY_MS;
	size_t count = 0;

	for (int i = 0; i < WINDOW_COUNT; i++) {
		const struct window *w = &f->windows[i];

		if (window_is_known(w, f->now_ms))
			list[count++] = (struct allowance){ names[i], w->used,
				w->resets_ms - window_ms[i], w->resets_ms };
	}
	if (f->day.cost > 0)
		list[count++] = (struct allowance){ "budget.day_cost",
			(int64_t)((double)f->spent.cost / (double)f->day.cost *
			    WHOLE),
			f->day_begins_ms, tomorrow };
	if (f->day.tokens > 0)
		list[count++] = (struct allowance){ "budget.day_tokens",
			(int64_t)((double)f->spent.tokens /
			    (double)f->day.tokens * WHOLE),
			f->day_begins_ms, tomorrow };
	return count;
}

/* When has so much of the time within the hours passed that this much may be
 * used? By halves: the span grows with its end. */
static int64_t
reached_at(const struct quota_facts *f, const struct allowance *a,
    int64_t whole_ms, int64_t most)
{
	double wanted = (double)a->used / (double)most * (double)whole_ms;
	int64_t low = f->now_ms, high = a->ends_ms;

	while (high - low > MINUTE_MS) {
		int64_t middle = low + (high - low) / 2;

		if ((double)hours_span(
			&f->hours, f->zone, a->begins_ms, middle) >= wanted)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static bool
is_short(const struct machine *m, struct buf *why)
{
	if (m->memory_free >= 0 && m->memory_free < MACHINE_MEMORY)
		buf_addf(why, "only %" PRId64 " MB of memory are free",
		    m->memory_free >> 20);
	else if (m->memory_full >= MACHINE_STALL && m->memory_free >= 0 &&
	    m->memory_free < 4 * MACHINE_MEMORY)
		buf_addf(why,
		    "memory is short: all stood still for %d%% of "
		    "the last seconds",
		    m->memory_full);
	else if (m->disk_free >= 0 && m->disk_free < MACHINE_DISK)
		buf_addf(why, "only %" PRId64 " MB of the disk are free",
		    m->disk_free >> 20);
	else if (m->cpus > 0 && m->load / 100 >= m->cpus * MACHINE_LOAD &&
	    (m->cpu_some < 0 || m->cpu_some >= MACHINE_BUSY))
		buf_addf(
		    why, "the load is %d with %d CPUs", m->load / 100, m->cpus);
	else
		return false;
	return true;
}

enum quota_hold
quota_judge(const struct quota_facts *f, int64_t *ret_until_ms, struct buf *why)
{
	struct allowance list[WINDOW_COUNT + 2];
	size_t count = collect(f, list);
	int64_t most = WHOLE * (100 - f->reserve) / 100, until;

	*ret_until_ms = 0;
	if (!hours_open(&f->hours, f->zone, f->now_ms)) {
		buf_adds(why, "it is outside of auto.hours");
		until = hours_next(&f->hours, f->zone, f->now_ms, true);
		*ret_until_ms = until > 0 ? until : 0;
		return QUOTA_HOURS;
	}
	if (f->running > 0 && is_short(&f->machine, why))
		return QUOTA_MACHINE;
	for (size_t i = 0; f->reserve > 0 && i < count; i++) {
		if (list[i].used < most)
			continue;
		buf_addf(why,
		    "%" PRId64 "%% of %s are used, and budget.reserve keeps "
		    "%d%% for you",
		    list[i].used / 10, list[i].name, f->reserve);
		*ret_until_ms = list[i].ends_ms;
		return QUOTA_RESERVE;
	}
	for (size_t i = 0; f->even && i < count; i++) {
		const struct allowance *a = &list[i];
		int64_t whole =
		    hours_span(&f->hours, f->zone, a->begins_ms, a->ends_ms);
		int64_t passed =
		    hours_span(&f->hours, f->zone, a->begins_ms, f->now_ms);

		if (whole <= 0 ||
		    (double)a->used * (double)whole <=
			(double)passed * (double)most)
			continue;
		buf_addf(why,
		    "%" PRId64 "%% of %s are used, which is ahead of "
		    "budget.pace",
		    a->used / 10, a->name);
		*ret_until_ms = reached_at(f, a, whole, most);
		return QUOTA_PACE;
	}
	return QUOTA_OPEN;
}
