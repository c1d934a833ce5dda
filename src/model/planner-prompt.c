/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "plan-check.h"
#include "plan-load.h"
#include "plan-replan.h"
#include "plan.h"
#include "planner-prompt.h"
#include "strmap.h"

#define SHAPE_WORDS                                                          \
	"{\"planVersion\": 1,\n"                                             \
	" \"goal\": {\"title\": \"...\", \"successCriteria\": [\"...\"], "   \
	"\"constraints\": [\"...\"]},\n"                                     \
	" \"phases\": [{\"id\": \"P1\", \"name\": \"...\", \"objective\": "  \
	"\"...\", \"acceptance\": [\"...\"], \"deps\": [],\n"                \
	"  \"tasks\": [{\"id\": \"T1.1\", \"name\": \"...\", \"outcome\": "  \
	"\"...\", \"acceptance\": [\"...\"], \"deps\": [],\n"                \
	"   \"subtasks\": [{\"id\": \"S1.1.1\", \"name\": \"...\", "         \
	"\"acceptance\": [\"...\"], \"deps\": []}]}]}]}\n"                   \
	"Every node may also have \"objective\", \"outcome\", "              \
	"\"definitionOfDone\", \"priority\" (urgent, high, normal, low), "   \
	"\"estimatedEffort\" (small, medium, large, or a number of turns), " \
	"\"scopePaths\" (files that it may change), \"requiredTools\" "      \
	"(of Claude Code, such as WebFetch), \"result\": \"report\" (it "    \
	"changes nothing, such as a review) and \"recoveryPolicy\" (retry, " \
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
add_value(const char *value, size_t max, struct buf *out)
{
	size_t len = strlen(value);
	size_t part = text_cut(value, len, max);

	text_add_utf8(out, value, part);
	if (part < len)
		buf_adds(out, "\n[cut here]");
}

static void
fill(
    enum planner_template template, const struct place *places, struct buf *out)
{
	const char *text = templates[template].text, *open, *close;
	const struct place *place;

	while ((open = strchr(text, '{')) != NULL) {
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
		add_value(place->value,
		    strcmp(place->name, "plan") == 0 ? PLANNER_PLAN_MAX :
						       PLANNER_VALUE_MAX,
		    out);
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
