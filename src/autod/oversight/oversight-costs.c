/* SPDX-License-Identifier: ISC */

#include <math.h>
#include <string.h>

#include "cost-estimate.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "oversight-costs.h"
#include "workspace.h"

#define MICROS 1e6

void
oversight_costs_add(struct oversight_costs *costs, int64_t cost)
{
	if (cost > 0)
		costs->dollars[costs->count++ % OVERSIGHT_COSTS] =
		    (double)cost / MICROS;
}

static bool
on_filed(struct json_object *record, void *arg)
{
	if (strcmp(json_string_or(record, "outcome", ""), "landed") == 0)
		oversight_costs_add(arg, json_int_or(record, "cost", 0));
	return true;
}

void
oversight_costs_load(
    struct oversight_costs *costs, const struct workspace *workspace)
{
	cleanup_free char *file = workspace_path(workspace, "tasks.jsonl");

	costs->count = 0;
	jsonl_last(file, (size_t)OVERSIGHT_COSTS * 2, on_filed, costs, NULL);
}

double
oversight_costs_estimate(const struct oversight_costs *costs)
{
	size_t count =
	    costs->count < OVERSIGHT_COSTS ? costs->count : OVERSIGHT_COSTS;

	return cost_estimate(NAN, costs->dollars, count);
}
