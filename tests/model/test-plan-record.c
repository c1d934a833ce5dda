/* SPDX-License-Identifier: ISC */

/* The records of goals, nodes, assignments with their dispatches, and
 * crystallizations: any record that is written is read back the same, and
 * nothing else is read. */

#include "plan-world.h"
#include "plan-node.h"
#include "plan-crystal.h"

#define ROUNDS 300

static unsigned seed;

static unsigned
any(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

/* NULL, short, with every kind of character, or as long as it may be. */
static char *
any_text(size_t max)
{
	static const char *const words[] = { "a", "two words", "line\nline",
		"\"quoted\" \\ /", "\xc3\xa4\xe2\x82\xac", "\x01\x1f\x7f", "" };
	char *text;

	switch (any(4)) {
	case 0:
		return NULL;
	case 1:
		text = xcalloc(max + 1, 1);
		memset(text, 'x', max);
		return text;
	default:
		return xstrdup(words[any(nitems(words))]);
	}
}

static char **
any_list(void)
{
	char **list = NULL;

	for (unsigned n = any(4); n > 0; n--) {
		char *text = any_text(PLAN_LINE_MAX);

		if (text != NULL)
			strv_take(&list, text);
	}
	return list;
}

static int64_t
any_time(void)
{
	static const int64_t times[] = { 0, 1, NOW, INT64_MAX };

	return times[any(nitems(times))];
}

static struct json_object *
any_object(void)
{
	struct json_object *object;

	if (any(2) == 0)
		return NULL;
	object = json_object_new_object();
	json_set_string(object, "channel", "x");
	json_set_int(object, "n", any(9));
	json_set(object, "nothing", NULL);
	return object;
}

static void
any_override(struct plan_override *override)
{
	if (any(2) == 0)
		plan_override_set(override, "person", "why", any_time(), NULL);
}

static void
any_evidence(struct plan_evidence *evidence)
{
	evidence->files_touched = any_list();
	evidence->commands_run = any_list();
	evidence->tests_run = any_list();
	evidence->commits = any_list();
	evidence->prs = any_list();
	evidence->issues = any_list();
	evidence->external_refs = any_list();
}

static struct plan_node *
any_node(void)
{
	struct plan_node *n =
	    plan_node_new("goal_1", (enum node_kind)any(NODE_KIND_COUNT),
		"X1.2-3_4", "name", any_time());

	if (n->kind != NODE_PHASE)
		n->parent_id = xstrdup("P1");
	n->order = (int)any(3);
	n->replaced_by = any(2) ? NULL : any_list();
	strv_clear(&n->replaced_by);
	n->objective = any_text(PLAN_TEXT_MAX);
	n->expected_outcome = any_text(PLAN_TEXT_MAX);
	n->acceptance = any_list();
	n->definition_of_done = any_text(PLAN_TEXT_MAX);
	strv_add(&n->depends_on, "P7");
	strv_add(&n->blocks, "P8");
	n->suggested_agent_id = any_text(PLAN_NAME_MAX);
	n->required_tools = any_list();
	n->estimated_effort = any_text(PLAN_NAME_MAX);
	n->priority = (enum priority)any(PRIORITY_COUNT + 1);
	n->result = (enum node_result)any(NODE_RESULT_UNSET + 1);
	n->status = (enum node_status)any(NODE_STATUS_COUNT);
	n->blocked_reason = any_text(PLAN_TEXT_MAX);
	any_override(&n->override);
	any_evidence(&n->evidence);
	n->attempts = (int)any(3);
	n->updated_ms = any_time();
	n->started_ms = any_time();
	n->ended_ms = any_time();
	return n;
}

static struct plan_goal *
any_goal(void)
{
	struct plan_goal *g = plan_goal_new("goal_1", "title", any_time());

	g->updated_ms = any_time();
	g->ended_ms = any_time();
	g->status = (enum goal_status)any(GOAL_STATUS_COUNT);
	any_override(&g->override);
	g->priority = (enum priority)any(PRIORITY_COUNT);
	g->tags = any_list();
	g->implicit = any(2);
	g->problem_statement = any_text(PLAN_TEXT_MAX);
	g->success_criteria = any_list();
	g->non_goals = any_list();
	g->source_session_key = any_text(PLAN_NAME_MAX);
	g->owner = any_text(PLAN_NAME_MAX);
	g->constraints = any_list();
	g->assumptions = any_list();
	for (unsigned n = any(3); n > 0; n--)
		plan_goal_add_risk(g, "risk", any(2) ? "impact" : NULL, "m");
	g->model_ref = any_text(PLAN_NAME_MAX);
	g->template_id = any_text(PLAN_NAME_MAX);
	g->template_hash = any_text(PLAN_NAME_MAX);
	g->planner_inputs = any_object();
	g->planner_output = any_object();
	g->validation_errors = any_list();
	g->plan_wanted = any(2);
	g->plan_drafts = any(2);
	g->draft = any_object();
	g->plan_attempts = any(3);
	g->plan_fault = any_text(PLAN_LINE_MAX);
	for (unsigned n = any(3); n > 0; n--)
		plan_goal_revise(
		    g, "person", "what", any(2) ? "why" : NULL, any_time())
		    ->nodes = any_list();
	return g;
}

static struct plan_node *
any_work(void)
{
	struct plan_node *node =
	    plan_node_new("goal_1", NODE_TASK, "S1", "n", any_time());
	struct plan_work *work = &node->work;

	plan_node_assign(node, "A_1", any_time());
	work->worker = any_text(PLAN_NAME_MAX);
	work->task = any_text(PLAN_NAME_MAX);
	work->status = (enum assignment_status)any(ASSIGNMENT_STATUS_COUNT);
	work->blocked_reason = any_text(PLAN_TEXT_MAX);
	any_override(&work->override);
	work->instruction = any_text(PLAN_INSTRUCTION_MAX);
	work->run_id = any_text(PLAN_NAME_MAX);
	for (unsigned n = any(4); n > 0; n--) {
		struct plan_dispatch *d = plan_node_dispatch(node, "D_1",
		    (enum dispatch_mode)any(DISPATCH_MODE_COUNT),
		    any(2) ? "nudge" : NULL, any_time());

		d->result = (enum dispatch_result)any(DISPATCH_PENDING + 1);
		d->notes = any_text(PLAN_LINE_MAX);
	}
	work->updated_ms = any_time();
	work->last_dispatch_ms = any_time();
	work->last_activity_ms = any_time();
	work->expected_update_ms = any_time();
	work->idle_after_ms = any_time();
	work->retry_count = (int)any(3);
	work->backoff_until_ms = any_time();
	work->recovery_policy = (enum recovery_policy)any(RECOVERY_UNSET + 1);
	work->follow_up = any(2);
	work->escalated = any(2);
	return node;
}

static struct plan_crystal *
any_crystal(void)
{
	struct plan_crystal *c =
	    plan_crystal_new("C_1", "goal_1", any(2) ? "S1" : NULL,
		(enum crystal_source)any(CRYSTAL_SOURCE_COUNT), any_time());

	c->assignment_id = any(2) ? NULL : xstrdup("A_1");
	c->summary = any_text(PLAN_SUMMARY_MAX);
	c->current_state = any_text(PLAN_TEXT_MAX);
	for (unsigned n = any(3); n > 0; n--)
		plan_crystal_decide(c, "decision", any(2) ? "because" : NULL);
	c->next_actions = any_list();
	c->open_questions = any_list();
	c->known_blockers = any_list();
	any_evidence(&c->evidence);
	c->session_key = any_text(PLAN_NAME_MAX);
	c->session_id = any_text(PLAN_NAME_MAX);
	c->message_id = any_text(PLAN_NAME_MAX);
	c->run_id = any_text(PLAN_NAME_MAX);
	return c;
}

/* --- the same for each kind of record --------------------------------- */

/* Make or read a record, or copy one, and write it. */
struct kind {
	const char *name;
	void *(*make)(void);
	void *(*copy)(const void *record);
	struct json_object *(*to_json)(const void *record);
	int (*from_json)(
	    struct json_object *json, const char *at, void **ret, struct err *);
	void (*free)(void *record);
};

/* What a record has from its schema alone. */
#define COPY(name)                                             \
	static void *plan_##name##_copy(const void *r)         \
	{                                                      \
		return schema_clone(&plan_##name##_schema, r); \
	}
#define JSON(name)                                                        \
	static struct json_object *plan_##name##_to_json(const void *r)   \
	{                                                                 \
		return schema_json(&plan_##name##_schema, r);             \
	}                                                                 \
	static int plan_##name##_from_json(struct json_object *json,      \
	    const char *at, struct plan_##name **ret, struct err *err)    \
	{                                                                 \
		*ret = schema_make(&plan_##name##_schema, json, at, err); \
		return *ret == NULL ? -EINVAL : 0;                        \
	}

#define KIND(name)                                                            \
	static void *make_##name(void)                                        \
	{                                                                     \
		return any_##name();                                          \
	}                                                                     \
	static void *copy_##name(const void *r)                               \
	{                                                                     \
		return plan_##name##_copy(r);                                 \
	}                                                                     \
	static struct json_object *to_json_##name(const void *r)              \
	{                                                                     \
		return plan_##name##_to_json(r);                              \
	}                                                                     \
	static int from_json_##name(struct json_object *json, const char *at, \
	    void **ret, struct err *err)                                      \
	{                                                                     \
		struct plan_##name *record = NULL;                            \
		int r = plan_##name##_from_json(json, at, &record, err);      \
		if (r == 0)                                                   \
			*ret = record;                                        \
		return r;                                                     \
	}                                                                     \
	static void free_##name(void *r)                                      \
	{                                                                     \
		plan_##name##_free(r);                                        \
	}

/* clang-format off */
COPY(goal)
COPY(crystal)
JSON(goal)
JSON(crystal)
KIND(goal)
KIND(node)
KIND(crystal)
/* clang-format on */

/* The work on a node is a record of its own in the store. */
static void *
make_work(void)
{
	return any_work();
}

static void *
copy_work(const void *r)
{
	const struct plan_node *node = r;
	struct plan_node *copy = plan_node_copy(node);

	ck_assert_ptr_null(copy->work.id);
	schema_copy(&plan_work_schema, &node->work, &copy->work);
	return copy;
}

static struct json_object *
to_json_work(const void *r)
{
	return plan_work_json(r);
}

static int
from_json_work(
    struct json_object *json, const char *at, void **ret, struct err *err)
{
	struct plan_node *node =
	    plan_node_new(json_string_or(json, "goalId", ""), NODE_TASK,
		json_string_or(json, "workNodeId", ""), "n", 1);
	int r = plan_work_read(json, at, node, err);

	if (r == 0)
		*ret = node;
	else
		plan_node_free(node);
	return r;
}

static void
free_work(void *r)
{
	plan_node_free(r);
}

#define ROW(name)                                                \
	{                                                        \
#name, make_##name, copy_##name, to_json_##name, \
		    from_json_##name, free_##name                \
	}

static const struct kind kinds[] = { ROW(goal), ROW(node), ROW(work),
	ROW(crystal) };

static char *
text_of(const struct kind *kind, const void *record)
{
	cleanup_json struct json_object *json = kind->to_json(record);
	struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return buf_take(&text);
}

/* From text, as the store has it. */
static void *
read_back(const struct kind *kind, const char *text)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };
	void *record = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 22, &json, &err), 0);
	ck_assert_msg(kind->from_json(json, "", &record, &err) == 0,
	    "%s: %s\n%s", kind->name, err.msg, text);
	return record;
}

TEST_ROWS(a_record_that_is_written_is_read_back_the_same, nitems(kinds))
{
	const struct kind *kind = &kinds[_i];

	for (seed = 1; seed < ROUNDS * 7919u; seed += 7919) {
		unsigned start = seed;
		void *record = kind->make(), *again, *copy;
		cleanup_free char *first = text_of(kind, record);
		cleanup_free char *second = NULL, *third = NULL;

		again = read_back(kind, first);
		second = text_of(kind, again);
		ck_assert_str_eq(first, second);
		copy = kind->copy(again);
		third = text_of(kind, copy);
		ck_assert_str_eq(first, third);
		kind->free(record);
		kind->free(again);
		kind->free(copy);
		seed = start;
	}
}

TEST_ROWS(an_unknown_key_is_refused_with_its_path, nitems(kinds))
{
	const struct kind *kind = &kinds[_i];
	struct err err = { 0 };
	void *record, *read = NULL;
	struct json_object *json;

	seed = 4;
	record = kind->make();
	json = kind->to_json(record);
	json_set_int(json, "creatdAt", 1);
	ck_assert_int_eq(kind->from_json(json, "here", &read, &err), -EINVAL);
	ck_assert_str_eq(
	    err.msg, "here.creatdAt: unknown key; did you mean \"createdAt\"?");
	json_object_put(json);
	kind->free(record);
}

/* --- refusals ---------------------------------------------------------- */

static void
refused(unsigned kind, const char *text, const char *words)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };
	void *record = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 22, &json, NULL), 0);
	ck_assert_int_eq(
	    kinds[kind].from_json(json, "x", &record, &err), -EINVAL);
	ck_assert_msg(
	    strstr(err.msg, words) != NULL, "\"%s\": %s", err.msg, words);
}

#define GOAL "{\"goalId\":\"goal_1\",\"title\":\"t\",\"status\":\"active\""
#define NODE                                                                     \
	"{\"goalId\":\"goal_1\",\"name\":\"n\",\"status\":\"todo\",\"phaseId\":" \
	"\"P1\""
#define ASSIGNMENT                                                          \
	"{\"assignmentId\":\"A_1\",\"goalId\":\"g\",\"workNodeId\":\"P1\"," \
	"\"status\":\"queued\""
#define CRYSTAL "{\"crystallizationId\":\"C_1\",\"goalId\":\"g\""

TEST(a_wrong_value_is_refused_with_its_path)
{
	static const struct {
		unsigned kind;
		const char *text, *words;
	} rows[] = {
		{ 0, "[]", "x: expected an object" },
		{ 0, "{\"title\":\"t\",\"status\":\"active\"}", "x.goalId" },
		{ 0, GOAL ",\"priority\":\"urgnt\"}",
		    "x.priority: \"urgnt\" is not a valid value; did you mean" },
		{ 0, GOAL ",\"tags\":[\"a\",2]}", "x.tags[1]: expected a" },
		{ 0, GOAL ",\"origin\":{\"a\":1}}", "x.origin.a: unknown key" },
		{ 0, GOAL ",\"origin\":3}", "x.origin: expected an object" },
		{ 0, GOAL ",\"risks\":[{\"impact\":\"i\"}]}",
		    "x.risks[0].risk" },
		{ 0, GOAL ",\"planRevisionHistory\":[1]}",
		    "x.planRevisionHistory[0]: expected an object" },
		{ 0, GOAL ",\"createdAt\":-1}", "x.createdAt" },
		{ 1, "{\"goalId\":\"g\",\"name\":\"n\",\"status\":\"todo\"}",
		    "x.phaseId: missing" },
		{ 1, NODE ",\"taskId\":\"T1\"}",
		    "x.taskId: a node has one of" },
		{ 1, NODE ",\"parentId\":\"P2\"}",
		    "x.parentId: a phase has no parent" },
		{ 1,
		    "{\"goalId\":\"g\",\"name\":\"n\",\"status\":\"todo\","
		    "\"taskId\":\"T1\"}",
		    "x.parentId: missing" },
		{ 1,
		    "{\"goalId\":\"g\",\"name\":\"n\",\"status\":\"todo\","
		    "\"phaseId\":\"a b\"}",
		    "x.phaseId: not an id" },
		{ 1, NODE ",\"evidence\":{\"commit\":[]}}",
		    "x.evidence.commit: unknown key; did you mean" },
		{ 1, NODE ",\"override\":{\"actor\":\"a\"}}",
		    "x.override.reason" },
		{ 1, NODE ",\"acceptanceCriteria\":\"a\"}",
		    "x.acceptanceCriteria: expected an array" },
		{ 2, ASSIGNMENT ",\"retryCount\":99999999999}",
		    "x.retryCount" },
		{ 2,
		    ASSIGNMENT
		    ",\"dispatchHistory\":[{\"mode\":\"escalate\"}]}",
		    "x.dispatchHistory[0].dispatchId" },
		{ 2,
		    ASSIGNMENT
		    ",\"dispatchHistory\":[{\"dispatchId\":\"D\",\"mode\":\"x\"}]"
		    "}",
		    "x.dispatchHistory[0].mode" },
		{ 3, CRYSTAL ",\"decisions\":[{}]}",
		    "x.decisions[0].decision" },
		{ 3, CRYSTAL ",\"transcript\":{\"sessionKey\":1}}",
		    "x.transcript.sessionKey" },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		refused(rows[i].kind, rows[i].text, rows[i].words);
}

/* The second column is what the rows of earlier versions have more. */
TEST(what_earlier_versions_kept_is_read_and_dropped)
{
	static const struct {
		unsigned kind;
		const char *head, *more;
	} rows[] = {
		{ 0, GOAL,
		    ",\"repoContextSnapshot\":\"C\",\"stakeholders\":[\"a\"]" },
		{ 0, GOAL,
		    ",\"origin\":{\"originDeliveryContext\":{\"to\":\"a\"}}" },
		{ 1, NODE,
		    ",\"riskLevel\":\"high\",\"spawnedFrom\":\"S1\","
		    "\"suggestedAgentType\":\"coder\"" },
		{ 1, NODE,
		    ",\"spawn\":{\"actor\":\"a\",\"parent\":\"t1\","
		    "\"verification\":\"pending\",\"root_actor\":\"r\","
		    "\"request\":\"r\",\"retried_ms\":7}" },
		{ 2, ASSIGNMENT,
		    ",\"deliveryContext\":{},\"instructionHash\":\"a1\","
		    "\"spawnedByKey\":\"worker:a\",\"lastRetryAt\":7" },
		{ 2, ASSIGNMENT,
		    ",\"dispatchHistory\":[{\"dispatchId\":\"D\",\"mode\":"
		    "\"escalate\",\"instructionHash\":\"a1\","
		    "\"target\":{\"deliveryContext\":{}}}]" },
	};
	static const char *const gone[] = { "ontext", "stakeholders", "risk",
		"spawned", "Type", "Hash", "Retry", "pending", "root_",
		"request", "retried" };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *old =
		    xasprintf("%s%s}", rows[i].head, rows[i].more);
		const struct kind *kind = &kinds[rows[i].kind];
		void *record = read_back(kind, old);
		cleanup_free char *now = text_of(kind, record);

		for (size_t n = 0; n < nitems(gone); n++)
			ck_assert_ptr_null(strstr(now, gone[n]));
		kind->free(record);
	}
}

static void
refused_long(unsigned kind, const char *head, const char *key, size_t size)
{
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;

	buf_addf(&text, "%s,\"%s\":\"", head, key);
	for (size_t i = 0; i <= size; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\"}");
	buf_addf(&words, "x.%s: longer than %zu bytes", key, size);
	refused(kind, text.data, words.data);
}

TEST(a_text_over_its_bound_is_refused)
{
	refused_long(2, ASSIGNMENT, "lastInstructionText", 16384);
	refused_long(3, CRYSTAL, "summary", 8192);
	refused_long(0, GOAL, "problemStatement", 8192);
	refused_long(1, NODE, "objective", 8192);
}

TEST(a_list_over_its_bound_is_refused)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, NODE ",\"acceptanceCriteria\":[\"a\"");
	for (int i = 0; i < PLAN_LIST_MAX; i++)
		buf_adds(&text, ",\"a\"");
	buf_adds(&text, "]}");
	refused(1, text.data, "x.acceptanceCriteria: has 201 entries");
}

TEST(keys_are_those_of_the_seed)
{
	struct plan_node *node =
	    plan_node_new("goal_1", NODE_SUBTASK, "S1.1.1", "n", NOW);
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	xstrset(&node->parent_id, "T1.1");
	strv_add(&node->acceptance, "it works");
	strv_add(&node->depends_on, "P1");
	json = plan_node_to_json(node);
	json_print(json, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"subtaskId\":\"S1.1.1\",\"goalId\":\"goal_1\",\"parentId\":"
	    "\"T1.1\",\"name\":\"n\",\"acceptanceCriteria\":[\"it works\"],"
	    "\"dependsOn\":[\"P1\"],\"status\":\"todo\",\"createdAt\":1000000,"
	    "\"updatedAt\":1000000}");
	plan_node_free(node);
}
