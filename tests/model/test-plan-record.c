/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-goal.h"
#include "plan-node.h"

/* --- plan record ------------------------------------------------------- */

/* The records of goals, nodes, assignments with their dispatches, and
 * crystallizations: any record that is written is read back the same, and
 * nothing else is read. */

#define ROUNDS 300

static unsigned seed;

static unsigned
any(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

/* Short, with every kind of character, or as long as it may be. */
static struct json_object *
any_text(size_t max)
{
	static const char *const words[] = { "a", "two words", "line\nline",
		"\"quoted\" \\ /", "\xc3\xa4\xe2\x82\xac", "\x01\x1f\x7f" };
	cleanup_free char *text = NULL;

	if (any(4) > 0)
		return json_object_new_string(words[any(nitems(words))]);
	text = xcalloc(max + 1, 1);
	memset(text, 'x', max);
	return json_object_new_string(text);
}

static struct json_object *any_json(const struct schema *schema);

/* NULL: it is not for this test. */
static struct json_object *
any_value(const struct schema_field *f)
{
	static const int64_t times[] = { 1, NOW, INT64_MAX };
	struct json_object *list = NULL;
	unsigned words = 0;

	switch (f->type) {
	case SCHEMA_STRING:
		return any_text(f->size);
	case SCHEMA_INT:
		return json_object_new_int64(times[any(nitems(times))]);
	case SCHEMA_INT32:
		return json_object_new_int64(1 + any(9));
	case SCHEMA_BOOL:
		return json_object_new_boolean(true);
	case SCHEMA_WORD:
		while (f->words[words] != NULL)
			words++;
		return json_object_new_string(f->words[any(words)]);
	case SCHEMA_STRUCT:
		return any_json(f->of);
	case SCHEMA_OBJECT:
		if (f->of != NULL)
			return NULL;
		list = json_object_new_object();
		json_set_int(list, "n", any(9));
		json_set(list, "nothing", NULL);
		return list;
	case SCHEMA_LIST:
	case SCHEMA_ROWS:
		list = json_object_new_array();
		for (unsigned n = 1 + any(3); n > 0; n--)
			json_object_array_add(list,
			    f->type == SCHEMA_LIST ? any_text(f->size) :
						     any_json(f->of));
		return list;
	default:
		return NULL;
	}
}

/* Some of the members, with values that are written; NULL = none. */
static struct json_object *
any_json(const struct schema *schema)
{
	struct json_object *json = json_object_new_object(), *value;

	for (size_t i = 0; i < schema->count; i++) {
		const struct schema_field *f = &schema->fields[i];

		if (f->is_member &&
		    (f->type == SCHEMA_WORD ||
			(f->flags & SCHEMA_OMIT_UNSET) == 0 || any(2) > 0) &&
		    (value = any_value(f)) != NULL)
			json_set(json, f->name, value);
	}
	if (json_object_object_length(json) == 0)
		json_object_put(take_ptr(&json));
	return json;
}

/* --- the same for each kind of record --------------------------------- */

static void *
read_node(struct json_object *json, const char *at, struct err *err)
{
	struct plan_node *node = NULL;

	return plan_node_from_json(json, at, &node, err) == 0 ? node : NULL;
}

static struct json_object *
node_json(const void *r)
{
	return plan_node_to_json(r);
}

static void *
copy_node(const void *r)
{
	return plan_node_copy(r);
}

/* The work on a node is a record of its own in the store. */
static void *
read_work(struct json_object *json, const char *at, struct err *err)
{
	struct plan_node *node =
	    plan_node_new(json_string_or(json, "goalId", ""), NODE_TASK,
		json_string_or(json, "workNodeId", ""), "n", 1);

	if (plan_work_read(json, at, node, err) == 0)
		return node;
	plan_node_free(node);
	return NULL;
}

/* Without what is made of worker and task. */
static struct json_object *
work_json(const void *r)
{
	struct json_object *json = plan_work_json(r);

	json_object_object_del(json, "agentId");
	json_object_object_del(json, "sessionKey");
	return json;
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

/* Without functions it is as its schema says. */
static const struct kind {
	const char *name, *ids; /* which cannot be anything */
	const struct schema *schema;
	void *(*read)(
	    struct json_object *json, const char *at, struct err *err);
	struct json_object *(*json)(const void *record);
	void *(*copy)(const void *record);
} kinds[] = {
	{ "goal", "{\"goalId\":\"goal_1\"}", &plan_goal_schema, NULL, NULL,
	    NULL },
	{ "node", "{\"subtaskId\":\"X1.2-3_4\",\"parentId\":\"P1\"}",
	    &plan_node_schema, read_node, node_json, copy_node },
	{ "work",
	    "{\"assignmentId\":\"A_1\",\"goalId\":\"goal_1\",\"workNodeId\":"
	    "\"S1\"}",
	    &plan_work_schema, read_work, work_json, copy_work },
	{ "crystal", "{\"crystallizationId\":\"C_1\"}", &plan_crystal_schema,
	    NULL, NULL, NULL },
};

static struct json_object *
any_record(const struct kind *kind)
{
	struct json_object *json = any_json(kind->schema);
	cleanup_json struct json_object *ids = NULL;

	ck_assert_int_eq(
	    json_parse(kind->ids, strlen(kind->ids), 4096, &ids, NULL), 0);
	if (ids != NULL) {
		json_object_object_foreach(ids, key, value)
		{
			json_set(json, key, json_object_get(value));
		}
	}
	return json;
}

static void *
read_json(const struct kind *kind, struct json_object *json, const char *at,
    struct err *err)
{
	return kind->read != NULL ? kind->read(json, at, err) :
				    schema_make(kind->schema, json, at, err);
}

static struct json_object *
json_of(const struct kind *kind, const void *record)
{
	return kind->json != NULL ? kind->json(record) :
				    schema_json(kind->schema, record);
}

static void
free_record(const struct kind *kind, void *record)
{
	if (kind->read != NULL)
		plan_node_free(record);
	else
		schema_free(kind->schema, record);
}

static char *
text_of(const struct kind *kind, const void *record)
{
	cleanup_json struct json_object *json = json_of(kind, record);
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
	void *record;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 22, &json, &err), 0);
	record = read_json(kind, json, "", &err);
	ck_assert_msg(record != NULL, "%s: %s\n%s", kind->name, err.msg, text);
	return record;
}

/* A member of one that the other does not have so; NULL = none. */
static const char *
difference(struct json_object *a, struct json_object *b)
{
	json_object_object_foreach(a, key, value)
	{
		if (!json_object_equal(value, json_member(b, key)))
			return key;
	}
	return NULL;
}

TEST_ROWS(a_record_that_is_read_is_written_the_same, nitems(kinds))
{
	const struct kind *kind = &kinds[_i];

	for (seed = 1; seed < ROUNDS * 7919u; seed += 7919) {
		unsigned start = seed;
		cleanup_json struct json_object *json = any_record(kind);
		cleanup_json struct json_object *again = NULL;
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_free char *first = NULL, *second = NULL;
		void *record, *copy;

		json_print(json, true, &text);
		record = read_back(kind, text.data);
		again = json_of(kind, record);
		first = text_of(kind, record);
		ck_assert_pstr_eq(difference(json, again), NULL);
		ck_assert_pstr_eq(difference(again, json), NULL);
		copy = kind->copy != NULL ? kind->copy(record) :
					    schema_clone(kind->schema, record);
		second = text_of(kind, copy);
		ck_assert_str_eq(first, second);
		free_record(kind, record);
		free_record(kind, copy);
		seed = start;
	}
}

TEST_ROWS(an_unknown_key_is_refused_with_its_path, nitems(kinds))
{
	const struct kind *kind = &kinds[_i];
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	seed = 4;
	json = any_record(kind);
	json_set_int(json, "creatdAt", 1);
	ck_assert_ptr_null(read_json(kind, json, "here", &err));
	ck_assert_str_eq(
	    err.msg, "here.creatdAt: unknown key; did you mean \"createdAt\"?");
}

/* --- refusals ---------------------------------------------------------- */

static void
refused(unsigned kind, const char *text, const char *words)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 22, &json, NULL), 0);
	ck_assert_ptr_null(read_json(&kinds[kind], json, "x", &err));
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

/* --- plan effort ------------------------------------------------------- */

TEST(a_word_says_how_many_iterations_are_expected)
{
	ck_assert_int_eq(plan_effort_iterations("XS"), 3);
	ck_assert_int_eq(plan_effort_iterations("small"), 6);
	ck_assert_int_eq(plan_effort_iterations("Medium"), 12);
	ck_assert_int_eq(plan_effort_iterations("l"), 24);
	ck_assert_int_eq(plan_effort_iterations("huge"), 48);
	ck_assert_int_eq(plan_effort_iterations("15"), 15);
}

TEST(other_words_say_nothing)
{
	static const char *const words[] = { NULL, "", "0", "-1", "2 days",
		"small or large", "99999999", "1.5", NULL };

	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(plan_effort_iterations(words[i]), -1);
}
