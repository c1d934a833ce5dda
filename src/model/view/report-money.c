/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "account.h"
#include "budget.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "report-money.h"
#include "schema.h"

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

struct money {
	int64_t total, landed, not_landed, open, hand, planner, repairs;
	int64_t elsewhere, estimated, per_landed, unknown;
	struct json_object *days;
};

#define MONEY(key, member, words, ...) \
	SCHEMA_FIELD(struct money, key, member, .help = (words), ##__VA_ARGS__)
#define DAY(key, kind, words, ...)                                     \
	{                                                              \
		.name = (key), .type = SCHEMA_##kind, .help = (words), \
		##__VA_ARGS__                                          \
	}

static const struct schema day = {
	SCHEMA_FIELDS{
	    DAY("day", INT, "since 1970, UTC"),
	    DAY("cost_micros", INT, NULL, .flags = SCHEMA_NULLABLE),
	    DAY("cost_source", STRING, NULL),
	    DAY("tasks_micros", INT, "what of it tasks cost"),
	    DAY("hand_micros", INT, "and workers of a person"),
	    DAY("planner_micros", INT, NULL),
	    DAY("repairs_micros", INT, NULL),
	    SCHEMA_END,
	},
};
static const struct schema days_schema = {
	.fields =
	    &(const struct schema_field){ .type = SCHEMA_OBJECT, .of = &day },
};

static const struct schema_field money_fields[] = {
	MONEY("total_micros", total,
	    "of all rows that follow; millionths of a dollar"),
	MONEY("landed_micros", landed, "of those in landed"),
	MONEY("not_landed_micros", not_landed, "of those in not_landed"),
	MONEY("open_micros", open, "of those in open, so far"),
	MONEY("hand_micros", hand,
	    "of workers of a person, on the days of the report"),
	MONEY("planner_micros", planner, "of the planner, on those days"),
	MONEY("repairs_micros", repairs, "of repairs of llmc, on those days"),
	MONEY("elsewhere_micros", elsewhere,
	    "what was spent on those days beside the total: on tasks that are "
	    "not in the report; less than zero: tasks of the report cost "
	    "something on other days",
	    .min = INT64_MIN),
	MONEY(
	    "estimated_micros", estimated, "what of the total is an estimate"),
	MONEY("per_landed_micros", per_landed,
	    "the total for each task that landed", .flags = SCHEMA_UNKNOWN),
	MONEY("unknown", unknown, "tasks whose cost is not known"),
	SCHEMA_AS(struct money, "days", ARRAY, days, .of = &days_schema,
	    .flags = SCHEMA_REQUIRED, .help = "what all workers spent, by day"),
};

const struct schema report_money_schema = SCHEMA_OF(struct money, money_fields);

struct json_object *
report_money(struct json_object *landed, struct json_object *not_landed,
    struct json_object *open, struct json_object *budget, int64_t from_ms,
    int64_t to_ms)
{
	struct sums a = sum(landed), b = sum(not_landed), c = sum(open);
	struct parts parts = { 0 };
	cleanup_json struct json_object *days =
	    days_of(budget, from_ms, to_ms, &parts);
	size_t count = count_landed(landed);
	struct money money = {
		.total = a.cost + b.cost + c.cost + parts.hand + parts.planner +
		    parts.repairs,
		.landed = a.cost,
		.not_landed = b.cost,
		.open = c.cost,
		.hand = parts.hand,
		.planner = parts.planner,
		.repairs = parts.repairs,
		.estimated = a.estimated + b.estimated + c.estimated,
		.per_landed = -1,
		.unknown = a.unknown + b.unknown + c.unknown,
		.days = days,
	};

	if (json_object_array_length(days) > 0)
		money.elsewhere = parts.all - money.total;
	if (count > 0)
		money.per_landed = money.total / (int64_t)count;
	return schema_json(&report_money_schema, &money);
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
