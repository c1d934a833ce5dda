/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "plan-file.h"
#include "plan-goal.h"
#include "plan-prompt.h"
#include "plan-progress.h"
#include "plan.h"
#include "prompt.h"
#include "schema.h"

/* --- the prompt for a node ----------------------------------------------- */

/* How useful a part is; the last ones go first. */
enum rank {
	RANK_LAST, /* stays, and comes last */
	RANK_MUST, /* stays */
	RANK_OWN, /* what is known about the node itself */
	RANK_CONSTRAINTS,
	RANK_PARENT,
	RANK_NEAR, /* of what it depends on itself */
	RANK_PROBLEM,
	RANK_FAR, /* of what the nodes above depend on */
	RANK_SUCCESS,
	RANK_BACKGROUND,
	RANK_COUNT
};

#define CUT_MARK      "\n[cut]\n"
#define CUT_OBJECTIVE 3000 /* bytes that stay of what must stay */
#define CUT_CRITERIA  8000
#define PARTS_MAX     64
#define REPORT_MAX    3000 /* bytes of one crystallization */

struct part {
	enum rank rank;
	char *text; /* NULL = left out */
};

struct prompt {
	struct part parts[PARTS_MAX];
	size_t count;
};

/* Take what was written to the buf as one part. */
static void
take(struct prompt *p, enum rank rank, struct buf *text)
{
	if (text->len > 0 && p->count < PARTS_MAX)
		p->parts[p->count++] = (struct part){ rank, buf_take(text) };
	buf_clear(text);
}

static void
add_text(struct buf *out, const char *title, const char *text)
{
	if (text != NULL && *text != '\0')
		buf_addf(out, "%s%s\n", title, text);
}

static void
add_items(struct buf *out, const char *title, char *const *list)
{
	if (strv_count(list) == 0)
		return;
	buf_addf(out, "%s\n", title);
	for (; *list != NULL; list++)
		buf_addf(out, "- %s\n", *list);
}

static void
cut(struct buf *text, size_t max)
{
	if (text->len <= max)
		return;
	buf_truncate(text, text_cut(text->data, text->len, max));
	buf_adds(text, CUT_MARK);
}

/* --- the parts --------------------------------------------------------- */

static void
add_criteria(struct prompt *p, const struct plan_node *node, bool whole)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *const *list = node->acceptance;

	/* A subtask may have those of its task. */
	if (strv_count(list) == 0 && node->parent != NULL)
		list = node->parent->acceptance;
	add_items(
	    &text, "\nAcceptance criteria, all of which must be met:", list);
	if (!whole)
		cut(&text, CUT_CRITERIA);
	take(p, RANK_MUST, &text);
}

static void
add_report(struct prompt *p, enum rank rank, const char *title,
    const struct plan_node *node)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct plan_crystal *c = node->crystal;

	if (c == NULL)
		return;
	buf_addf(&text, "\n%s %s (%s):\n", title, node->id, node->name);
	add_text(&text, "", c->summary);
	add_text(&text, "Now: ", c->current_state);
	for (size_t i = 0; i < c->decision_count; i++) {
		buf_addf(&text, "Decided: %s", c->decisions[i].decision);
		if (c->decisions[i].rationale != NULL)
			buf_addf(&text, " (%s)", c->decisions[i].rationale);
		buf_addc(&text, '\n');
	}
	add_items(&text, "Next:", c->next_actions);
	add_items(&text, "Open questions:", c->open_questions);
	add_items(&text, "Commits:", c->evidence.commits);
	add_items(&text, "Files:", c->evidence.files_touched);
	cut(&text, REPORT_MAX);
	take(p, rank, &text);
}

static void
add_context(
    struct prompt *p, const struct plan *plan, const struct plan_node *node)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct plan_goal *goal = plan->goal;

	add_items(&text, "\nConstraints:", goal->constraints);
	take(p, RANK_CONSTRAINTS, &text);
	for (const struct plan_node *up = node->parent; up != NULL;
	     up = up->parent) {
		buf_addf(&text, "\nIt is a part of %s %s: %s\n",
		    node_kind_name(up->kind), up->id, up->name);
		add_text(&text, "", up->objective);
		if (up == node->parent && strv_count(node->acceptance) > 0)
			add_items(
			    &text, "which is accepted by:", up->acceptance);
		take(p, RANK_PARENT, &text);
	}
	add_text(&text, "\nThe goal: ", goal->problem_statement);
	take(p, RANK_PROBLEM, &text);
	add_items(&text, "\nThe goal is reached when:", goal->success_criteria);
	add_items(&text, "\nNot a part of the goal:", goal->non_goals);
	take(p, RANK_SUCCESS, &text);
	add_items(&text, "\nAssumptions:", goal->assumptions);
	take(p, RANK_BACKGROUND, &text);
}

static void
add_contract(
    struct prompt *p, const struct plan *plan, const struct plan_node *node)
{
	const struct nudge_facts facts = { plan->goal->id, plan->goal->title,
		node->id, node->name };
	cleanup_buf struct buf text = BUF_INIT;

	/* One that another agent spawned reports with a tool. */
	if (node->spawn != NULL)
		return;
	buf_addc(&text, '\n');
	nudge_text_contract(&facts, &text);
	take(p, RANK_LAST, &text);
}

/* --- the whole --------------------------------------------------------- */

static void
build(struct prompt *p, const struct plan *plan, const struct plan_node *node,
    bool whole)
{
	enum rank rank = RANK_NEAR;
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s\n", node->name);
	add_text(&text, "\n", node->objective);
	add_text(&text, "\nExpected outcome: ", node->expected_outcome);
	add_text(&text, "\nIt is done when: ", node->definition_of_done);
	if (!whole)
		cut(&text, CUT_OBJECTIVE);
	buf_addf(&text, "\nThis is %s %s of the goal \"%s\".\n",
	    node_kind_name(node->kind), node->id, plan->goal->title);
	take(p, RANK_MUST, &text);
	add_criteria(p, node, whole);
	add_context(p, plan, node);
	/* The last part must have room. */
	add_contract(p, plan, node);
	/* What it depends on, and what those above it depend on. */
	add_report(p, RANK_OWN, "What was reported before about", node);
	for (; node != NULL; node = node->parent, rank = RANK_FAR)
		for (char **d = node->depends_on; d != NULL && *d != NULL;
		     d++) {
			const struct plan_node *on = plan_find(plan, *d);

			if (on != NULL)
				add_report(
				    p, rank, "What was reported about", on);
		}
}

static size_t
size_of(const struct prompt *p)
{
	size_t size = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->parts[i].text != NULL)
			size += strlen(p->parts[i].text);
	return size;
}

/* Leave out the least useful part that is left; of equals, the last one. */
static bool
leave_out(struct prompt *p)
{
	size_t worst = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->parts[i].text != NULL &&
		    p->parts[i].rank >= p->parts[worst].rank)
			worst = i;
	if (p->parts[worst].rank <= RANK_MUST)
		return false;
	free(p->parts[worst].text);
	p->parts[worst] = (struct part){ RANK_MUST, NULL };
	return true;
}

static bool
fit(struct prompt *p)
{
	while (size_of(p) > PLAN_INSTRUCTION_MAX)
		if (!leave_out(p))
			return false;
	return true;
}

static void
release(struct prompt *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->parts[i].text);
	p->count = 0;
}

void
plan_prompt(
    const struct plan *plan, const struct plan_node *node, struct buf *out)
{
	struct prompt p = { .count = 0 };
	const char *contract = NULL;

	build(&p, plan, node, true);
	if (!fit(&p)) {
		release(&p);
		build(&p, plan, node, false);
		fit(&p);
	}
	for (size_t i = 0; i < p.count; i++)
		if (p.parts[i].rank == RANK_LAST)
			contract = p.parts[i].text;
		else if (p.parts[i].text != NULL)
			buf_adds(out, p.parts[i].text);
	if (contract != NULL)
		buf_adds(out, contract);
	release(&p);
}

/* --- prompts --------------------------------------------------------- */

#define SHAPE_WORDS                                                                     \
	"{\"planVersion\": 1,\n"                                                        \
	" \"goal\": {\"title\": \"...\", \"successCriteria\": [\"...\"], "              \
	"\"constraints\": [\"...\"]},\n"                                                \
	" \"phases\": [{\"id\": \"P1\", \"name\": \"...\", \"objective\": "             \
	"\"...\", \"acceptance\": [\"...\"], \"deps\": [],\n"                           \
	"  \"tasks\": [{\"id\": \"T1.1\", \"name\": \"...\", \"outcome\": "             \
	"\"...\", \"acceptance\": [\"...\"], \"deps\": [],\n"                           \
	"   \"subtasks\": [{\"id\": \"S1.1.1\", \"name\": \"...\", "                    \
	"\"acceptance\": [\"...\"], \"deps\": []}]}]}]}\n"                              \
	"Every node may also have \"objective\", \"outcome\", "                         \
	"\"definitionOfDone\", \"priority\" (urgent, high, normal, low), "              \
	"\"estimatedEffort\" (small, medium, large, or a number of turns, in quotes), " \
	"\"scopePaths\" (files that it may change), \"requiredTools\" "                 \
	"(of Claude Code, such as WebFetch), \"result\": \"report\" (it "               \
	"changes nothing, such as a review) and \"recoveryPolicy\" (retry, "            \
	"replan, reassign, escalate).\n"

#define RULES_WORDS                                                            \
	"Rules:\n"                                                             \
	"- Answer with one JSON object of the form below, and nothing else.\n" \
	"- At most {maxPhases} phases, {maxTasks} tasks in a phase and "       \
	"{maxSubtasks} subtasks in a task.\n"                                  \
	"- Every id is there once. Phases are P1, P2; tasks T1.1; subtasks "   \
	"S1.1.1.\n"                                                            \
	"- Every node has acceptance criteria that a program or a reader can " \
	"verify without asking anybody.\n"                                     \
	"- deps lists the ids that must be done first; no circles. Nodes "     \
	"that do not depend on each other are worked on at the same time, "    \
	"in separate copies of the repository: they must not change the "      \
	"same lines.\n"                                                        \
	"- A subtask, or a task without subtasks, is what one programmer "     \
	"does in one sitting and hands in as one commit.\n"

static const struct template
{
	const char *id, *text;
}
templates[] = {
	[PLANNER_PLAN] = { "plan.v1",
	    ("You plan work on a software repository. Divide the goal below "
	     "into phases, the phases into tasks and, where a task is too "
	     "large for one commit, the task into subtasks.\n\n" RULES_WORDS
	     "\nForm:\n" SHAPE_WORDS "\nGoal: {title}\n"
	     "\nWhat it solves:\n{problem}\n"
	     "\nIt is reached when:\n{criteria}\n"
	     "\nNot part of it:\n{nonGoals}\n"
	     "\nConstraints:\n{constraints}\n"
	     "\nThe repository:\n{repository}\n") },
	[PLANNER_REPAIR] = { "repair.v1",
	    ("Your last answer cannot be used. Correct these faults, change "
	     "nothing else, and answer with the whole JSON object and nothing "
	     "else.\n\nFaults, each after its path:\n{problems}\n"
	     "\nYour last answer:\n{previous}\n") },
	[PLANNER_REPLAN] = { "replan.v2",
	    ("A plan for work on a software repository needs a change: {node} "
	     "could not be done. Answer with the whole plan in which that node "
	     "is divided into smaller nodes, or is described so that it can be "
	     "done.\n\nWhat is known:\n{reason}\n\n" RULES_WORDS
	     "- Keep that node, with its id. New nodes get new ids.\n"
	     "- Nodes without JSON below have begun: keep their id, their "
	     "place and their name; nothing of them can be changed.\n"
	     "- The others are shown with everything that your answer "
	     "replaces: repeat what shall stay.\n"
	     "\nForm:\n" SHAPE_WORDS "\nGoal: {title}\n"
	     "\nThe plan now:\n{plan}\n") },
};

_Static_assert(sizeof templates / sizeof templates[0] == PLANNER_TEMPLATE_COUNT,
    "every template has a text");

const char *planner_template_id(enum planner_template template)
{
	return templates[template].id;
}

void
planner_template_hash(
    enum planner_template template, char out[PLANNER_HASH_SIZE])
{
	id_hash(templates[template].text, out, PLANNER_HASH_SIZE - 1);
}

/* A value for a place of a template: "{name}". */
struct place {
	const char *name, *value;
};

static const struct place *
find_place(const char *name, size_t len, const struct place *places)
{
	for (; places->name != NULL; places++)
		if (strlen(places->name) == len &&
		    memcmp(places->name, name, len) == 0)
			return places;
	return NULL;
}

static void
fill(
    enum planner_template template, const struct place *places, struct buf *out)
{
	const char *text = templates[template].text, *open, *close;
	const struct place *place;

	while ((open = strchr(text, '{')) != NULL) {
		size_t len;
		size_t part;
		const char *value;
		size_t max;

		close = strchr(open, '}');
		place = close != NULL ?
		    find_place(open + 1, (size_t)(close - open - 1), places) :
		    NULL;
		if (place == NULL) { /* JSON */
			buf_add(out, text, (size_t)(open + 1 - text));
			text = open + 1;
			continue;
		}
		buf_add(out, text, (size_t)(open - text));
		max = strcmp(place->name, "plan") == 0 ? PLANNER_PLAN_MAX :
							 PLANNER_VALUE_MAX;
		value = place->value;
		len = strlen(value);
		part = text_cut(value, len, max);
		text_add_utf8(out, value, part);
		if (part < len)
			buf_adds(out, "\n[cut here]");
		text = close + 1;
	}
	buf_adds(out, text);
}

static void
add_list(char *const *list, struct buf *out)
{
	size_t count = strv_count(list);

	for (size_t i = 0; i < count; i++)
		buf_addf(out, "%s- %s", i == 0 ? "" : "\n", list[i]);
	if (count == 0)
		buf_adds(out, "(nothing was said)");
}

static const char *
or_nothing(const char *s)
{
	return s != NULL && s[0] != '\0' ? s : "(nothing was said)";
}

/* The numbers of the limits, as text. */
struct numbers {
	char phases[16], tasks[16], subtasks[16];
};

static struct numbers
numbers_of(const struct plan_limits *limits)
{
	struct numbers n;

	snprintf(n.phases, sizeof n.phases, "%d", limits->max_phases);
	snprintf(n.tasks, sizeof n.tasks, "%d", limits->max_tasks);
	snprintf(n.subtasks, sizeof n.subtasks, "%d", limits->max_subtasks);
	return n;
}

void
planner_prompt_plan(const struct plan_goal *goal,
    const struct plan_limits *limits, const char *survey, struct buf *out)
{
	cleanup_buf struct buf criteria = BUF_INIT, non_goals = BUF_INIT;
	cleanup_buf struct buf constraints = BUF_INIT;
	struct numbers n = numbers_of(limits);

	add_list(goal->success_criteria, &criteria);
	add_list(goal->non_goals, &non_goals);
	add_list(goal->constraints, &constraints);
	fill(PLANNER_PLAN,
	    (const struct place[]){ { "maxPhases", n.phases },
		{ "maxTasks", n.tasks }, { "maxSubtasks", n.subtasks },
		{ "title", or_nothing(goal->title) },
		{ "problem", or_nothing(goal->problem_statement) },
		{ "criteria", criteria.data }, { "nonGoals", non_goals.data },
		{ "constraints", constraints.data },
		{ "repository", or_nothing(survey) }, { NULL, NULL } },
	    out);
}

void
planner_prompt_repair(
    const char *const *problems, const char *previous, struct buf *out)
{
	cleanup_buf struct buf list = BUF_INIT;

	for (size_t i = 0; problems != NULL && problems[i] != NULL; i++)
		buf_addf(&list, "%s- %s", i == 0 ? "" : "\n", problems[i]);
	fill(PLANNER_REPAIR,
	    (const struct place[]){ { "problems", list.data },
		{ "previous", or_nothing(previous) }, { NULL, NULL } },
	    out);
}

/* What the answer may replace is there as it would be in one. */
static void
add_plan(const struct plan *plan, const struct plan_node *anew, struct buf *out)
{
	struct strmap kept = { 0 };

	plan_replan_kept(plan, &kept);
	for (const struct plan_node *node = plan_next(plan, NULL); node != NULL;
	     node = plan_next(plan, node)) {
		buf_addf(out, "%*s%s (%s): %s\n", 2 * (int)node->kind, "",
		    node->id, node_status_name(node->status), node->name);
		if (node == anew || strmap_get(&kept, node->id) == NULL) {
			cleanup_json struct json_object *words =
			    plan_load_words(node);

			buf_addf(out, "%*s", 2 * (int)node->kind + 2, "");
			json_print(words, false, out);
			buf_addc(out, '\n');
		}
		if (out->len > PLANNER_PLAN_MAX)
			break;
	}
	strmap_release(&kept);
}

void
planner_prompt_replan(const struct plan *plan, const struct plan_node *node,
    const char *reason, const struct plan_limits *limits, struct buf *out)
{
	cleanup_buf struct buf tree = BUF_INIT;
	cleanup_free char *words = node != NULL ?
	    xasprintf("%s (%s)", node->id, node->name) :
	    xstrdup("(not known)");
	struct numbers n = numbers_of(limits);

	add_plan(plan, node, &tree);
	fill(PLANNER_REPLAN,
	    (const struct place[]){ { "maxPhases", n.phases },
		{ "maxTasks", n.tasks }, { "maxSubtasks", n.subtasks },
		{ "title", or_nothing(plan->goal->title) }, { "node", words },
		{ "reason", or_nothing(reason) }, { "plan", tree.data },
		{ NULL, NULL } },
	    out);
}

/* --- results --------------------------------------------------------- */

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

#define ONE_OF(key, words)                                    \
	{                                                     \
		.name = (key), .type = SCHEMA_STRING,         \
		.flags = SCHEMA_OPTIONAL, .choices = (words), \
	}

/* What SHAPE_WORDS says that every node may have. */
#define NODE_MEMBERS                                                      \
	TEXT("id"), TEXT("name"), LIST("acceptance", 0),                  \
	    LIST("deps", SCHEMA_OPTIONAL), WORDS("objective"),            \
	    WORDS("outcome"), WORDS("definitionOfDone"),                  \
	    ONE_OF("priority", priority_words), WORDS("estimatedEffort"), \
	    LIST("scopePaths", SCHEMA_OPTIONAL),                          \
	    LIST("requiredTools", SCHEMA_OPTIONAL),                       \
	    ONE_OF("result", node_result_words),                          \
	    ONE_OF("recoveryPolicy", recovery_policy_words)

static const struct schema_field subtask_fields[] = {
	NODE_MEMBERS,
	{ 0 },
};
static const struct schema subtask_shape = { .fields = subtask_fields };
static const struct schema_field subtask_field = { .type = SCHEMA_OBJECT,
	.of = &subtask_shape };
static const struct schema subtasks = { .fields = &subtask_field };

static const struct schema_field task_fields[] = {
	NODE_MEMBERS,
	SCHEMA_MAY("subtasks", ARRAY, NULL, .of = &subtasks),
	{ 0 },
};
static const struct schema task_shape = { .fields = task_fields };
static const struct schema_field task_field = { .type = SCHEMA_OBJECT,
	.of = &task_shape };
static const struct schema tasks = { .fields = &task_field };

static const struct schema_field phase_fields[] = {
	NODE_MEMBERS,
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
planner_reject(struct planner_result *result, int repairs, int max_repairs,
    const char *previous)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	result->verdict = PLANNER_GIVE_UP;
	if (repairs >= max_repairs)
		return;
	planner_prompt_repair(strv_const(result->problems), previous, &prompt);
	result->prompt = buf_take(&prompt);
	result->verdict = PLANNER_ASK_AGAIN;
}

void
planner_judge(const char *answer, size_t len, const struct plan_source *source,
    int repairs, int max_repairs, struct planner_result *ret_result)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf previous = BUF_INIT;
	struct planner_bill bill;
	struct err err = { 0 };
	int r;

	*ret_result = (struct planner_result){ 0 };
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
	if (json != NULL)
		json_print(json, false, &previous);
	else
		buf_add(&previous, answer, len);
	planner_reject(ret_result, r == -EIO ? max_repairs : repairs,
	    max_repairs, previous.data);
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
