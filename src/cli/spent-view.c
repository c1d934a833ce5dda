/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "account.h"
#include "budget.h"
#include "buf.h"
#include "json.h"
#include "spent-view.h"
#include "taskbook.h"
#include "text.h"

#define DOLLAR 1000000

void
spent_view_set(
    struct json_object *json, int64_t tokens, const struct spent *spent)
{
	enum cost_source source = spent_source(spent);

	json_set_int(json, "tokens", tokens);
	json_set(json, "cost_usd",
	    source != COST_UNKNOWN ? taskbook_dollars(spent->cost) : NULL);
	json_set_string(json, "cost_source", cost_source_words[source]);
	json_set(json, "usage", usage_to_json(&spent->usage));
}

static struct json_object *
usage_of(struct json_object *json)
{
	struct json_object *usage = NULL;

	json_get_object(json, "", "usage", &usage, NULL);
	return usage;
}

void
spent_view_add(struct buf *out, struct json_object *json)
{
	const char *source = json_string_or(json, "cost_source", "");
	int64_t calls = json_int_or(usage_of(json), "tool_calls", 0);
	double dollars = 0;

	budget_add_tokens(out, json_int_or(json, "tokens", 0));
	buf_adds(out, ", ");
	if (json_get_double(json, "", "cost_usd", &dollars, NULL) == 0)
		budget_add_cost(out, (int64_t)(dollars * DOLLAR + 0.5));
	else
		buf_adds(out, "$?");
	if (strcmp(source, cost_source_words[COST_ESTIMATE]) == 0)
		buf_adds(out, " est.");
	if (calls > 0)
		buf_addf(out, ", %" PRId64 " tool call%s", calls,
		    calls == 1 ? "" : "s");
}

void
spent_view_add_models(
    struct buf *out, const char *prefix, struct json_object *json)
{
	static const char *const words[USAGE_KINDS] = {
		[USAGE_INPUT] = "input",
		[USAGE_OUTPUT] = "output",
		[USAGE_CACHE_READ] = "read from the cache",
		[USAGE_CACHE_WRITE_5M] = "written to it (5m)",
		[USAGE_CACHE_WRITE_1H] = "written to it (1h)",
	};
	struct json_object *models = NULL;
	struct json_object_iter it;

	if (json_get_object(usage_of(json), "", "models", &models, NULL) < 0)
		return;
	json_object_object_foreachC(models, it)
	{
		const char *before = ": ";

		buf_adds(out, prefix);
		text_add_visible(out, it.key, strlen(it.key), false);
		for (int k = 0; k < USAGE_KINDS; k++) {
			int64_t n = json_int_or(it.val, usage_kind_words[k], 0);

			if (n == 0)
				continue;
			buf_addf(out, "%s%" PRId64 " %s", before, n, words[k]);
			before = ", ";
		}
		buf_addc(out, '\n');
	}
}
