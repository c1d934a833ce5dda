/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-file.h"
#include "plan-markdown.h"
#include "plan-progress.h"

/* --- plan load --------------------------------------------------------- */

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
    "'name':'Tick','acceptance':['c'],'deps':['T1.1'],'priority':'high'}]}]}";

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

/* --- plan print -------------------------------------------------------- */

#define ROUNDS 500

static unsigned seed;

static unsigned
any(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

/* Lines that mean something in Markdown, or to plan-markdown. */
static const char *const lines[] = { "plain", "two words", "# title", "## P9",
	"###", "#### deep", "#hash", "- item", "* item", "+ item", "-", "---",
	"- - -", "***", "___", "\\", "\\- escaped", "\\\\ twice", "```", "~~~~",
	"``` sh", "<!-- comment -->", "<!-- begins", "ends -->",
	"Acceptance: no", "acceptance criteria:", "**Depends:** x",
	"Subtasks:", "Priority: none", "Recovery: nudge", "_Outcome_: x",
	"Scope paths: x", "Verification: by hand", "verification: {",
	"Constraints:", "T1.1: name", "P1 name", "name {#x}", "{#x}",
	"[ ] done", "> quote", "    indented", "\ttab", "  - nested", "  ```",
	"\xc3\xa4\xe2\x82\xac", "a: b", "1. one", "| a | b |", "*bold*", "x \\",
	"", "", "" };

static char *
any_line(void)
{
	const char *line = lines[any(nitems(lines) - 3)];

	return xstrdup(line + strspn(line, " \t"));
}

/* Without blanks at both ends. */
static char *
any_text(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t blanks;

	for (unsigned n = any(7); n > 0; n--)
		buf_addf(&text, "%s\n", lines[any(nitems(lines))]);
	while (text.len > 0 && strchr(" \t\n", text.data[text.len - 1]) != NULL)
		buf_truncate(&text, text.len - 1);
	blanks = strspn(text.data, " \t\n");
	return blanks == text.len ? NULL : xstrdup(text.data + blanks);
}

static char **
any_list(unsigned least)
{
	char **list = NULL;

	for (unsigned n = least + any(4); n > 0; n--)
		strv_take(&list, any_line());
	return list;
}

static char *
any_id(enum node_kind kind, unsigned number)
{
	static const char *const forms[] = { "P", "T1.", "S1.1.", "API",
		"task-", "", "lower", "A_", "x." };

	return xasprintf("%s%u",
	    forms[any(3) > 0 ? (unsigned)kind : any(nitems(forms))], number);
}

static struct json_object *
any_contract(void)
{
	struct json_object *contract = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *artifact = json_object_new_object();
	cleanup_free char *path = xasprintf("a -->/%u \\\" ", any(100));

	json_set_string(artifact, "path", path);
	json_object_array_add(list, artifact);
	json_set(contract, "artifacts", list);
	if (any(2) == 0)
		json_set_string(contract, "onFailure", "retry_once");
	return contract;
}

static struct plan_node *
add_node(struct plan *plan, struct plan_node *parent)
{
	enum node_kind kind = parent == NULL ? NODE_PHASE : parent->kind + 1;
	cleanup_free char *id = any_id(kind, (unsigned)plan->count + 1);
	cleanup_free char *name = any_line();
	struct plan_node *n = plan_node_new("goal_1", kind, id, name, NOW);

	xstrset(&n->parent_id, parent == NULL ? NULL : parent->id);
	n->order =
	    (int)(parent == NULL ? plan->phase_count : parent->child_count);
	n->objective = any_text();
	n->acceptance = any_list(kind == NODE_TASK ? 1 : 0);
	if (any(3) == 0)
		n->expected_outcome = any_line();
	if (any(3) == 0)
		n->scope_paths = any_list(1);
	if (any(3) == 0)
		n->required_tools = any_list(1);
	n->result = (enum node_result)any(NODE_RESULT_UNSET + 1);
	if (any(3) == 0)
		n->verification = any_contract();
	n->priority = (enum priority)any(PRIORITY_COUNT + 1);
	n->recovery_policy = (enum recovery_policy)any(RECOVERY_UNSET + 1);
	ck_assert_int_eq(plan_attach(plan, n, NULL), 0);
	for (unsigned i = any(3); i > 0 && plan->count > 1; i--) {
		const char *on = plan->nodes[any((unsigned)plan->count)]->id;

		if (plan_has(n->depends_on, on))
			continue;
		strv_add(&n->depends_on, on);
		if (plan_deps_check(plan, NULL, NULL) < 0)
			strv_remove(n->depends_on, on);
	}
	if (strv_count(n->depends_on) == 0)
		strv_clear(&n->depends_on);
	return n;
}

static struct plan *
any_plan(void)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "x", NOW));
	struct plan_goal *goal = plan->goal;

	free(goal->title);
	goal->title = any_line();
	goal->problem_statement = any_text();
	goal->success_criteria = any_list(0);
	goal->constraints = any_list(0);
	goal->priority = (enum priority)any(PRIORITY_COUNT);
	goal->recovery_policy = (enum recovery_policy)any(RECOVERY_UNSET + 1);
	for (unsigned p = 1 + any(3); p > 0; p--) {
		struct plan_node *phase = add_node(plan, NULL);

		for (unsigned t = any(3); t > 0; t--) {
			struct plan_node *task = add_node(plan, phase);

			for (unsigned s = any(4); s > 0; s--)
				add_node(plan, task);
		}
	}
	plan_link_blocks(plan);
	return plan;
}

static struct plan *
read_again(const struct plan *plan, bool notes)
{
	const struct plan_source source = { .goal_id = "goal_1",
		.now_ms = NOW };
	cleanup_buf struct buf text = BUF_INIT;
	struct plan *again = NULL;
	struct err err = { 0 };

	plan_print(plan, notes, &text);
	if (plan_markdown(text.data, text.len, &source, &again, &err) < 0) {
		fputs(text.data, stderr);
		ck_abort_msg("%s", err.msg);
	}
	return again;
}

TEST(what_is_printed_is_read_as_the_same_plan)
{
	for (seed = 1; seed < ROUNDS * 7919; seed += 7919) {
		unsigned begin = seed;
		struct plan *plan = any_plan();
		struct plan *again = read_again(plan, any(2) == 0);
		cleanup_free char *was = xstrdup(plan_world_json(plan));

		if (strcmp(plan_world_json(again), was) != 0) {
			cleanup_buf struct buf text = BUF_INIT;

			plan_print(plan, true, &text);
			fprintf(stderr, "%s\n%s\n%s\n", was,
			    plan_world_json(again), text.data);
			ck_abort_msg("seed %u", begin);
		}
		plan_free(plan);
		plan_free(again);
		seed = begin;
	}
}

TEST(a_person_sees_headings_with_ids_and_what_stays)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2 S1.1.1", "T1.2 T1.1");
	cleanup_buf struct buf text = BUF_INIT;

	xstrset(&plan_find(plan, "T1.2")->objective, "Do it.");
	plan_find(plan, "T1.2")->priority = PRIORITY_HIGH;
	plan_find(plan, "T1.2")->recovery_policy = RECOVERY_REPLAN;
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	plan_print(plan, true, &text);
	ck_assert_str_eq(strstr(text.data, "-->\n") + 4,
	    "# title\n"
	    "\n## P1: name of P1\n"
	    "<!-- in_progress: it stays as it is -->\n"
	    "\nAcceptance:\n- it works\n"
	    "\n### T1.1: name of T1.1\n"
	    "<!-- in_progress: it stays as it is -->\n"
	    "\nAcceptance:\n- it works\n"
	    "\nSubtasks:\n"
	    "- S1.1.1: name of S1.1.1\n"
	    "  <!-- done: it stays as it is -->\n"
	    "\n  Acceptance:\n  - it works\n"
	    "- S1.1.2: name of S1.1.2\n"
	    "\n  Acceptance:\n  - it works\n"
	    "\n  Depends: S1.1.1\n"
	    "\n### T1.2: name of T1.2\n"
	    "\nDo it.\n"
	    "\nAcceptance:\n- it works\n"
	    "\nDepends: T1.1\nPriority: high\nRecovery: replan\n");
	plan_free(plan);
}
