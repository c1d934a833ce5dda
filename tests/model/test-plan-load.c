/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-file.h"

static const struct plan_source person = { .goal_id = "goal_1", .now_ms = NOW };
static const struct plan_source planner = { .goal_id = "goal_1",
	.now_ms = NOW,
	.planner = true,
	.limits = { 5, 7, 7, true, false, NULL } };

/* Single quotes stand for double ones. */
static struct json_object *
parse(const char *text)
{
	cleanup_free char *quoted = xstrdup(text);
	struct json_object *json = NULL;
	struct err err = { 0 };

	for (char *c = quoted; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	ck_assert_msg(
	    json_parse(quoted, strlen(quoted), 1 << 22, &json, &err) == 0,
	    "%s: %s", err.msg, quoted);
	return json;
}

static const char seed_plan[] =
    "{'planVersion':1,'goal':{'title':'Overseer','successCriteria':['it "
    "runs'],'constraints':['no new library']},'phases':[{'id':'P1','name':"
    "'Loop','objective':'o','acceptance':['a'],'tasks':[{'id':'T1.1','name':"
    "'Store','outcome':'saved','acceptance':['a1','a2'],'deps':[],'subtasks':"
    "[{'id':'S1.1.1','name':'Schemas','acceptance':['b']}]},{'id':'T1.2',"
    "'name':'Tick','acceptance':['c'],'deps':['T1.1'],'priority':'high',"
    "'riskLevel':'med'}]}]}";

TEST(the_plan_of_the_seed_is_loaded)
{
	cleanup_json struct json_object *json = parse(seed_plan);
	struct plan *plan = NULL;
	struct err err = { 0 };
	struct plan_node *task;

	ck_assert_msg(
	    plan_load(json, &planner, &plan, NULL, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, S1.1.1 todo, T1.2 todo");
	ck_assert_str_eq(plan->goal->title, "Overseer");
	ck_assert_str_eq(plan->goal->success_criteria[0], "it runs");
	ck_assert_str_eq(plan->goal->constraints[0], "no new library");
	ck_assert_ptr_eq(plan->goal->planner_output, json);
	task = plan_find(plan, "T1.1");
	ck_assert_str_eq(task->expected_outcome, "saved");
	ck_assert_str_eq(task->acceptance[1], "a2");
	ck_assert_str_eq(task->blocks[0], "T1.2");
	ck_assert_ptr_null(task->depends_on);
	ck_assert_int_eq(plan_find(plan, "T1.2")->priority, PRIORITY_HIGH);
	ck_assert_int_eq(plan_find(plan, "P1")->created_ms, NOW);
	plan_free(plan);
}

TEST(risks_and_what_to_do_about_stalled_work_are_kept)
{
	cleanup_json struct json_object *json = parse(
	    "{'goal':{'title':'t','recoveryPolicy':'reassign','risks':["
	    "{'risk':'r','impact':'i','mitigation':'m'},{'risk':'s'}]},"
	    "'phases':[{'id':'P1','name':'n','recoveryPolicy':'replan','tasks'"
	    ":[{'id':'T1.1','name':'n','acceptance':['a']},{'id':'T1.2','name'"
	    ":'n','acceptance':['a'],'recoveryPolicy':'escalate'}]},{'id':'P2'"
	    ",'name':'n'}]}");
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    plan_load(json, &person, &plan, NULL, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(plan->goal->risk_count, 2);
	ck_assert_str_eq(plan->goal->risks[0].mitigation, "m");
	ck_assert_str_eq(plan->goal->risks[1].risk, "s");
	ck_assert_int_eq(
	    plan_recovery(plan, plan_find(plan, "T1.1")), RECOVERY_REPLAN);
	ck_assert_int_eq(
	    plan_recovery(plan, plan_find(plan, "T1.2")), RECOVERY_ESCALATE);
	ck_assert_int_eq(
	    plan_recovery(plan, plan_find(plan, "P2")), RECOVERY_REASSIGN);
	plan_free(plan);
}

TEST(a_title_that_is_given_wins)
{
	cleanup_json struct json_object *json =
	    parse("{'phases':[{'id':'P1','name':'n'}]}");
	struct plan_source source = person;
	struct plan *plan = NULL;

	ck_assert_int_eq(plan_load(json, &source, &plan, NULL, NULL), -EINVAL);
	source.title = "mine";
	ck_assert_int_eq(plan_load(json, &source, &plan, NULL, NULL), 0);
	ck_assert_str_eq(plan->goal->title, "mine");
	ck_assert_ptr_null(plan->goal->planner_output);
	plan_free(plan);
}

#define PLAN(phases) \
	"{'planVersion':1,'goal':{'title':'t'},'phases':[" phases "]}"
#define TASKS(tasks) \
	PLAN("{'id':'P1','name':'n','acceptance':['a'],'tasks':[" tasks "]}")

static const struct {
	const char *text, *words;
} faults[] = {
	{ "[]", "expected an object, found an array" },
	{ "{'planVersion':2,'goal':{'title':'t'},'phases':[]}", "planVersion" },
	{ "{'goal':{'title':'t'},'phases':[]}", "planVersion" },
	{ "{'planVersion':1,'goal':{},'phases':[]}", "goal.title: missing" },
	{ "{'planVersion':1,'goal':{'title':'t'}}", "phases" },
	{ "{'planVersion':1,'goal':{'title':'t','risks':[{'impact':'i'}]},"
	  "'phases':[]}",
	    "goal.risks[0].risk: missing" },
	{ "{'planVersion':1,'goal':{'title':'t','recoveryPolicy':'pray'},"
	  "'phases':[]}",
	    "goal.recoveryPolicy" },
	{ "{'planVersion':1,'goal':{'title':'t','x':1},'phases':[]}",
	    "goal.x: unknown key" },
	{ "{'planVersion':1,'goal':{'title':'t'},'phase':[]}",
	    "phase: unknown key; did you mean \"phases\"?" },
	{ PLAN(""), "phases: the plan has no phase" },
	{ PLAN("1"), "phases[0]: expected an object" },
	{ PLAN("{'id':'P1'}"), "phases[0].name" },
	{ PLAN("{'id':'P 1','name':'n'}"), "phases[0].id: not an id" },
	{ PLAN("{'id':'P1','name':'n'}"),
	    "phases[0].acceptance: P1 has no acceptance criteria" },
	{ PLAN("{'id':'P1','name':' ','acceptance':['a']}"),
	    "phases[0].name: is empty" },
	{ PLAN("{'id':'P1','name':'n','acceptance':['a'],'subtasks':[]}"),
	    "phases[0].subtasks: unknown key" },
	{ PLAN(
	      "{'id':'P1','name':'n','acceptance':['a']},{'id':'P1','name':'n',"
	      "'acceptance':['a']}"),
	    "phases[1].id: P1: goal goal_1 has such a node already" },
	{ TASKS("{'id':'T1','name':'n'}"),
	    "phases[0].tasks[0].acceptance: T1 has no acceptance" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'subtasks':[{'id':"
		"'S1','name':'n'}]}"),
	    "phases[0].tasks[0].subtasks[0].acceptance" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['']}"),
	    "phases[0].tasks[0].acceptance: T1 has an empty" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'deps':['T9']}"),
	    "phases[0].tasks[0].deps[0]: T1 depends on T9, which is not in" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'deps':['T1']}"),
	    "nodes wait for each other: T1 -> T1" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'verification':{"
		"'artifacts':[{'path':'/x'}]}}"),
	    "phases[0].tasks[0].verification.artifacts[0].path: the path" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'verification':{"
		"'command':'x'}}"),
	    "phases[0].tasks[0].verification.command" },
	{ TASKS("{'id':'T1','name':'n','acceptance':['a'],'scopePaths':[1]}"),
	    "phases[0].tasks[0].scopePaths[0]: expected a string" },
	{ TASKS("{'id':'T1','name':'n','acceptance':[1]}"),
	    "phases[0].tasks[0].acceptance[0]: expected a string" },
};

TEST_ROWS(a_fault_is_refused_with_its_path, nitems(faults))
{
	cleanup_json struct json_object *json = parse(faults[_i].text);
	cleanup_strv char **problems = NULL;
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    plan_load(json, &planner, &plan, &problems, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, faults[_i].words) != NULL, "\"%s\": %s",
	    err.msg, faults[_i].words);
	ck_assert_uint_ge(strv_count(problems), 1);
	ck_assert_ptr_null(plan);
}

TEST(all_problems_are_told_for_the_repair)
{
	cleanup_json struct json_object *json = parse(
	    TASKS("{'id':'T1','name':'n'},{'id':'T2','name':'n'},{'id':'T3',"
		  "'name':'n','acceptance':['a'],'deps':['X']}"));
	cleanup_strv char **problems = NULL;
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    plan_load(json, &planner, &plan, &problems, &err), -EINVAL);
	ck_assert_uint_eq(strv_count(problems), 3);
	ck_assert_ptr_nonnull(strstr(err.msg, "(the first of 3 problems)"));
	ck_assert_ptr_nonnull(
	    strstr(problems[2], "phases[0].tasks[2].deps[0]"));
}

/* count children below one parent, of the kind */
static struct json_object *
wide(enum node_kind kind, int count)
{
	cleanup_buf struct buf list = BUF_INIT, text = BUF_INIT;

	for (int i = 0; i < count; i++)
		buf_addf(&list, "%s{'id':'X%d','name':'n','acceptance':['a']}",
		    i == 0 ? "" : ",", i);
	buf_adds(&text, "{'planVersion':1,'goal':{'title':'t'},'phases':[");
	if (kind != NODE_PHASE)
		buf_adds(&text,
		    "{'id':'P1','name':'n','acceptance':['a'],'tasks':[");
	if (kind == NODE_SUBTASK)
		buf_adds(&text,
		    "{'id':'T1','name':'n','acceptance':['a'],'subtasks':[");
	buf_adds(&text, list.data);
	buf_adds(&text, kind == NODE_SUBTASK ? "]}" : "");
	buf_adds(&text, kind != NODE_PHASE ? "]}" : "");
	buf_adds(&text, "]}");
	return parse(text.data);
}

TEST(the_caps_bind_the_planner_only)
{
	static const int most[] = { 5, 7, 7 };
	static const char *const paths[] = { "phases: has 6",
		"phases[0].tasks: has 8",
		"phases[0].tasks[0].subtasks: has 8" };

	for (int kind = 0; kind < NODE_KIND_COUNT; kind++) {
		cleanup_json struct json_object *fits =
						    wide((enum node_kind)kind,
							most[kind]),
						*over =
						    wide((enum node_kind)kind,
							most[kind] + 1);
		struct plan *plan = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(
		    plan_load(fits, &planner, &plan, NULL, &err), 0);
		plan_free(plan);
		ck_assert_int_eq(
		    plan_load(over, &planner, &plan, NULL, &err), -EINVAL);
		ck_assert_msg(
		    strstr(err.msg, paths[kind]) == err.msg, "%s", err.msg);
		ck_assert_int_eq(
		    plan_load(over, &person, &plan, NULL, &err), 0);
		plan_free(plan);
	}
}

TEST(a_file_is_json_or_markdown)
{
	const char *json = " \n{\"goal\":{\"title\":\"t\"},\"phases\":"
			   "[{\"id\":\"P1\",\"name\":\"n\"}]}";
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    plan_load_text(json, strlen(json), &person, &plan, &err), 0);
	plan_free(plan);
	plan = NULL;
	ck_assert_int_eq(
	    plan_load_text("# t\n## p\n", 9, &person, &plan, &err), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 todo");
	plan_free(plan);
	ck_assert_int_eq(
	    plan_load_text("{\"a\"", 4, &person, &plan, &err), -EINVAL);
	ck_assert_int_eq(plan_load_text("", 0, &person, &plan, &err), -EINVAL);
}
