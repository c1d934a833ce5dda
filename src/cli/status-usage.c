/* SPDX-License-Identifier: ISC */

#include "account.h"
#include "cli.h"
#include "daybook.h"
#include "json.h"
#include "schema.h"
#include "spent-view.h"
#include "status-usage.h"
#include "status.h"

#define DAY_MS (24 * 3600 * (int64_t)1000)

/* A day without any use costs nothing: that is known. */
struct json_object *
status_usage_day(const struct daybook_day *day)
{
	static const struct daybook_day none;
	struct json_object *json = json_object_new_object();

	if (day == NULL)
		day = &none;
	json_set_int(json, "attempts", day->attempts);
	spent_view_set(
	    json, usage_budget_tokens(&day->spent.usage), &day->spent);
	if (day->spent.usage.count == 0 && day->spent.cost == 0) {
		json_set_int(json, "cost_usd", 0);
		json_set_string(
		    json, "cost_source", cost_source_words[COST_ESTIMATE]);
	}
	return json;
}

void
status_usage_show(struct status *status)
{
	const struct daybook *days = &status->state.days;
	struct cli *cli = status->cli;
	struct json_object *list = json_object_new_array();
	const struct daybook_day *day =
	    daybook_find(days, status->now / DAY_MS);

	for (size_t i = 0; i < days->count; i++) {
		struct json_object *json = status_usage_day(&days->days[i]);

		json_set_int(json, "day_unix", days->days[i].day * 86400);
		json_object_array_add(list, json);
	}
	json_set(cli->result, "days", list);
	if (day != NULL &&
	    (day->spent.usage.count > 0 || day->spent.cost > 0) &&
	    !json_object_object_get_ex(cli->result, "auto", NULL)) {
		cleanup_json struct json_object *json = status_usage_day(day);

		buf_adds(&cli->text, "\nToday: ");
		spent_view_add(&cli->text, json);
		buf_addc(&cli->text, '\n');
	}
}

/* --- shapes ---------------------------------------------------------- */

static const struct schema_field day_fields[] = {
	SCHEMA_FIELD(struct daybook_day, "attempts", attempts,
	    .help = "at tasks, begun"),
	SCHEMA_IS("tokens", INT, "without those read from the cache"),
	SCHEMA_OR_NULL("cost_usd", NUMBER, "null: unknown"),
	SCHEMA_IS("cost_source", STRING, NULL, .choices = cost_source_words),
	SCHEMA_IS("usage", OBJECT, NULL, .of = &usage_schema),
};

const struct schema status_usage_day_shape =
    SCHEMA_OF(struct daybook_day, day_fields);

static const struct schema_field dated_fields[] = {
	SCHEMA_IS("day_unix", INT, "when the day began (UTC)"),
	SCHEMA_GROUP("", status_usage_day_shape, .flags = SCHEMA_FLAT),
};

const struct schema status_usage_shape =
    SCHEMA_OF(struct daybook_day, dated_fields);
