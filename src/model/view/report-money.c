/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "account.h"
#include "budget.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "report-money.h"

#define DAY_MS (24 * 3600 * (int64_t)1000)

struct sums {
	int64_t cost, estimated, unknown;
};

static bool
is_estimate(struct json_object *row)
{
	return strcmp(json_string_or(row, "cost_source", ""),
		   cost_source_words[COST_ESTIMATE]) == 0;
}

/* A task that nobody began has cost nothing. */
static struct sums
sum(struct json_object *list)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		int64_t cost = json_int_or(row, "cost_micros", -1);

		if (cost < 0) {
			sums.unknown += json_int_or(row, "attempts", 0) > 0;
			continue;
		}
		sums.cost += cost;
		if (is_estimate(row))
			sums.estimated += cost;
	}
	return sums;
}

static size_t
count_landed(struct json_object *list)
{
	size_t count = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++)
		count +=
		    strcmp(json_string_or(json_object_array_get_idx(list, i),
			       "outcome", ""),
			"landed") == 0;
	return count;
}

/* What was spent on the days of the period; parts: all of it, and what was not
 * spent on tasks. */
struct parts {
	int64_t all, hand, planner, repairs;
};

static struct json_object *
day_row(struct json_object *from)
{
	static const char *const members[] = { "day", "cost_micros",
		"cost_source", "tasks_micros", "hand_micros", "planner_micros",
		"repairs_micros" };
	struct json_object *row = json_object_new_object();

	for (size_t i = 0; i < nitems(members); i++)
		json_set(row, members[i],
		    json_object_get(json_object_object_get(from, members[i])));
	return row;
}

static struct json_object *
days_of(struct json_object *budget, int64_t from_ms, int64_t to_ms,
    struct parts *parts)
{
	struct json_object *days = NULL, *list = json_object_new_array();

	json_get_array(budget, "", "days", &days, NULL);
	for (size_t i = 0; days != NULL && i < json_object_array_length(days);
	     i++) {
		struct json_object *row = json_object_array_get_idx(days, i);
		int64_t day = json_int_or(row, "day", -1);

		if (day < from_ms / DAY_MS || day > to_ms / DAY_MS)
			continue;
		parts->hand += json_int_or(row, "hand_micros", 0);
		parts->planner += json_int_or(row, "planner_micros", 0);
		parts->repairs += json_int_or(row, "repairs_micros", 0);
		parts->all += json_int_or(row, "hand_micros", 0) +
		    json_int_or(row, "planner_micros", 0) +
		    json_int_or(row, "repairs_micros", 0) +
		    json_int_or(row, "tasks_micros", 0);
		json_object_array_add(list, day_row(row));
	}
	return list;
}

struct json_object *
report_money(struct json_object *landed, struct json_object *not_landed,
    struct json_object *open, struct json_object *budget, int64_t from_ms,
    int64_t to_ms)
{
	struct json_object *json = json_object_new_object();
	struct sums a = sum(landed), b = sum(not_landed), c = sum(open);
	struct parts parts = { 0 };
	struct json_object *days = days_of(budget, from_ms, to_ms, &parts);
	size_t count = count_landed(landed);
	int64_t total = a.cost + b.cost + c.cost + parts.hand + parts.planner +
	    parts.repairs;

	json_set_int(json, "total_micros", total);
	json_set_int(json, "landed_micros", a.cost);
	json_set_int(json, "not_landed_micros", b.cost);
	json_set_int(json, "open_micros", c.cost);
	json_set_int(json, "hand_micros", parts.hand);
	json_set_int(json, "planner_micros", parts.planner);
	json_set_int(json, "repairs_micros", parts.repairs);
	json_set_int(json, "elsewhere_micros",
	    json_object_array_length(days) > 0 ? parts.all - total : 0);
	json_set_int(
	    json, "estimated_micros", a.estimated + b.estimated + c.estimated);
	json_set(json, "per_landed_micros",
	    count > 0 ? json_object_new_int64(total / (int64_t)count) : NULL);
	json_set_int(json, "unknown", a.unknown + b.unknown + c.unknown);
	json_set(json, "days", days);
	return json;
}

void
report_money_add(struct buf *out, struct json_object *row)
{
	int64_t cost = json_int_or(row, "cost_micros", -1);

	if (cost < 0) {
		buf_adds(out, json_int_or(row, "attempts", 1) > 0 ? "?" : "-");
		return;
	}
	budget_add_cost(out, cost);
	if (is_estimate(row))
		buf_adds(out, " est.");
}
