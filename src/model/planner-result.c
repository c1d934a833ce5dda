/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-load.h"
#include "plan.h"
#include "planner-prompt.h"
#include "planner-result.h"
#include "schema.h"

#define MILLION  1000000
#define COST_MAX 1000000.0 /* dollars; more is nonsense */

#define TEXT(key)                                               \
	{                                                       \
		.name = (key), .type = SCHEMA_STRING, .min = 1, \
		.max = PLAN_NAME_MAX                            \
	}
#define WORDS(key)                                             \
	{                                                      \
		.name = (key), .type = SCHEMA_STRING,          \
		.flags = SCHEMA_OPTIONAL, .max = PLAN_TEXT_MAX \
	}
#define LIST(key, more)                                               \
	{                                                             \
		.name = (key), .type = SCHEMA_ARRAY, .flags = (more), \
		.of = &strings                                        \
	}

static const struct schema_field string_field = { .type = SCHEMA_STRING,
	.min = 1 };
static const struct schema strings = { .fields = &string_field };

static const struct schema_field subtask_fields[] = {
	TEXT("id"),
	TEXT("name"),
	WORDS("objective"),
	LIST("acceptance", 0),
	LIST("deps", SCHEMA_OPTIONAL),
	{ 0 },
};
static const struct schema subtask_shape = { .fields = subtask_fields };
static const struct schema_field subtask_field = { .type = SCHEMA_OBJECT,
	.of = &subtask_shape };
static const struct schema subtasks = { .fields = &subtask_field };

static const struct schema_field task_fields[] = {
	TEXT("id"),
	TEXT("name"),
	WORDS("outcome"),
	LIST("acceptance", 0),
	LIST("deps", SCHEMA_OPTIONAL),
	SCHEMA_MAY("subtasks", ARRAY, NULL, .of = &subtasks),
	{ 0 },
};
static const struct schema task_shape = { .fields = task_fields };
static const struct schema_field task_field = { .type = SCHEMA_OBJECT,
	.of = &task_shape };
static const struct schema tasks = { .fields = &task_field };

static const struct schema_field phase_fields[] = {
	TEXT("id"),
	TEXT("name"),
	WORDS("objective"),
	LIST("acceptance", 0),
	LIST("deps", SCHEMA_OPTIONAL),
	SCHEMA_IS("tasks", ARRAY, NULL, .of = &tasks),
	{ 0 },
};
static const struct schema phase_shape = { .fields = phase_fields };
static const struct schema_field phase_field = { .type = SCHEMA_OBJECT,
	.of = &phase_shape };
static const struct schema phases = { .fields = &phase_field };

static const struct schema_field goal_fields[] = {
	TEXT("title"),
	LIST("successCriteria", SCHEMA_OPTIONAL),
	LIST("constraints", SCHEMA_OPTIONAL),
	{ 0 },
};
static const struct schema goal_shape = { .fields = goal_fields };

static const struct schema_field plan_fields[] = {
	SCHEMA_IS("planVersion", INT, NULL, .min = 1, .max = 1),
	SCHEMA_MAY("goal", OBJECT, NULL, .of = &goal_shape),
	SCHEMA_IS("phases", ARRAY, NULL, .of = &phases, .min = 1),
	{ 0 },
};
static const struct schema plan_shape = { .fields = plan_fields };
static const struct schema_field plan_field = { .type = SCHEMA_OBJECT,
	.of = &plan_shape };

struct json_object *
planner_schema(void)
{
	return schema_print(&plan_field);
}

/* --- answers ----------------------------------------------------------- */

static void
read_bill(struct json_object *json, struct planner_bill *bill)
{
	struct json_object *models = NULL;
	struct json_object_iter i;
	double cost = 0;

	if (json_get_double(json, "", "total_cost_usd", &cost, NULL) == 0 &&
	    cost > 0 && cost < COST_MAX)
		bill->cost_millionths = (int64_t)(cost * MILLION);
	if (!json_object_object_get_ex(json, "modelUsage", &models) ||
	    !json_object_is_type(models, json_type_object))
		return;
	json_object_object_foreachC(models, i)
	{
		snprintf(bill->model, sizeof bill->model, "%s", i.key);
		return;
	}
}

int
planner_unwrap(const char *answer, size_t len, struct json_object **ret_json,
    struct planner_bill *ret_bill, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *inner = NULL;
	const char *text;
	int r = json_parse(answer, len, PLANNER_ANSWER_MAX, &json, err);

	*ret_bill = (struct planner_bill){ 0 };
	if (r < 0)
		return r;
	if (!json_object_is_type(json, json_type_object) ||
	    strcmp(json_string_or(json, "type", ""), "result") != 0) {
		*ret_json = take_ptr(&json);
		return 0;
	}
	read_bill(json, ret_bill);
	text = json_string_or(json, "result", "");
	if (json_bool_or(json, "is_error", false))
		return err_set(err, -EIO, "the planner failed: %.200s",
		    text[0] != '\0' ? text :
				      json_string_or(json, "subtype", ""));
	if (json_object_object_get_ex(json, "structured_output", &inner) &&
	    json_object_is_type(inner, json_type_object)) {
		*ret_json = json_object_get(inner);
		return 0;
	}
	return json_parse(
	    text, strlen(text), PLANNER_ANSWER_MAX, ret_json, err);
}

void
planner_judge(const char *answer, size_t len, const struct plan_source *source,
    int repairs, int max_repairs, struct planner_result *ret_result)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf previous = BUF_INIT, prompt = BUF_INIT;
	struct planner_bill bill;
	struct err err = { 0 };
	int r;

	*ret_result = (struct planner_result){ .verdict = PLANNER_GIVE_UP };
	r = planner_unwrap(answer, len, &json, &bill, &err);
	ret_result->cost_millionths = bill.cost_millionths;
	if (r == 0)
		r = plan_load(json, source, &ret_result->plan,
		    &ret_result->problems, &err);
	if (r == 0) {
		ret_result->verdict = PLANNER_ACCEPTED;
		strv_clear(&ret_result->problems);
		return;
	}
	if (strv_count(ret_result->problems) == 0)
		strv_add(&ret_result->problems, err.msg);
	if (repairs >= max_repairs || r == -EIO)
		return;
	if (json != NULL)
		json_print(json, false, &previous);
	else
		buf_add(&previous, answer, len);
	planner_prompt_repair(
	    strv_const(ret_result->problems), previous.data, &prompt);
	ret_result->prompt = buf_take(&prompt);
	ret_result->verdict = PLANNER_ASK_AGAIN;
}

void
planner_result_release(struct planner_result *result)
{
	if (result->plan != NULL)
		plan_free(result->plan);
	free(result->prompt);
	strv_clear(&result->problems);
	*result = (struct planner_result){ 0 };
}

bool
planner_is_due(const struct plan *plan)
{
	const struct plan_goal *goal = plan->goal;

	return goal->status == GOAL_ACTIVE &&
	    (goal->plan_wanted ||
		(plan->count == 0 && goal->plan_fault == NULL &&
		    goal->draft == NULL));
}
