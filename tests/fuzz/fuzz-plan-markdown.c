/* SPDX-License-Identifier: ISC */

/*
 * Plans in Markdown, on any input: an accepted plan has no cycle, is
 * consistent, and its record is read back the same; a refused one has a
 * message.
 */

#include "fuzz.h"
#include "plan-file.h"
#include "plan-markdown.h"
#include "plan-progress.h"
#include "plan.h"

static void
check_plan(const struct plan *plan)
{
	cleanup_json struct json_object *json = plan_to_json(plan);
	cleanup_json struct json_object *second = NULL;
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
	struct plan *again = NULL;
	size_t seen = 0;

	check(plan_deps_check(plan, NULL, NULL) == 0);
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n), seen++)
		check(plan_find(plan, n->id) == n);
	check(seen == plan->count && seen > 0);
	check(plan_from_json(json, "", &again, NULL) == 0);
	second = plan_to_json(again);
	json_print(json, false, &a);
	json_print(second, false, &b);
	check(strcmp(a.data, b.data) == 0);
	plan_free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_source source = {
		.goal_id = "goal_1", .title = "t", .now_ms = 1
	};
	struct plan *plan = NULL;
	struct err err = { 0 };
	int r;

	r = plan_markdown((const char *)data, size, &source, &plan, &err);
	check((r == 0) == (plan != NULL));
	check(r == 0 || err.msg[0] != '\0');
	if (plan != NULL)
		check_plan(plan);
	plan_free(plan);
	return 0;
}
