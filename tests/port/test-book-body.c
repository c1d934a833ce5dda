/* SPDX-License-Identifier: ISC */

#include "book-world.h"
#include "plan-goal.h"
#include "plan-node.h"

static void
begin(struct book_world *world)
{
	book_world_open(world, unit_path("llmc.db"));
	ck_assert_msg(world->err.code == 0, "%s", world->err.msg);
}

/* What is refused, and the words that say why. */
static const struct {
	enum book_kind kind;
	const char *goal, *id, *body, *words;
	int code;
} refused[] = {
	{ BOOK_GOAL, NULL, "G", "{}", "goal G.status: missing", -ENOENT },
	{ BOOK_GOAL, NULL, "G", "[]", "goal G: expected a JSON object",
	    -EINVAL },
	{ BOOK_GOAL, NULL, "G", "{", "goal G: ", -EINVAL },
	{ BOOK_GOAL, NULL, "", "{\"status\":\"active\"}", "goal: no id",
	    -EINVAL },
	{ BOOK_GOAL, "H", "G", "{\"status\":\"active\"}",
	    "goal G: of another goal, H", -EINVAL },
	{ BOOK_GOAL, NULL, "G", "{\"status\":\"active\",\"goalId\":\"H\"}",
	    "goal G.goalId: is H, not G", -EINVAL },
	{ BOOK_GOAL, NULL, "G", "{\"status\":\"active\",\"nodes\":{}}",
	    "goal G.nodes: nodes are records of their own", -EINVAL },
	{ BOOK_NODE, NULL, "T1", "{\"status\":\"todo\"}", "node T1: no id",
	    -EINVAL },
	{ BOOK_NODE, "G", "T1", "{\"status\":7}", "node T1.status: expected",
	    -EINVAL },
	{ BOOK_NODE, "G", "T1", "{\"status\":\"\"}", "node T1.status: is empty",
	    -EINVAL },
	{ BOOK_ASSIGNMENT, "G", "A", "{\"status\":\"active\"}",
	    "assignment A.workNodeId: missing", -ENOENT },
	{ BOOK_MAIL, "G", "M", "{\"status\":\"open\",\"ts\":\"now\"}",
	    "mail M.ts: expected", -EINVAL },
	{ BOOK_NODE, "G", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
	    "{\"status\":\"todo\"}", "looks like a password", -EINVAL },
};

TEST_ROWS(wrong_record_is_refused_with_words, nitems(refused))
{
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	ck_assert_int_eq(
	    book_world_put(&world, refused[_i].kind, refused[_i].goal,
		refused[_i].id, refused[_i].body),
	    refused[_i].code);
	ck_assert_msg(strstr(world.err.msg, refused[_i].words) != NULL, "%s",
	    world.err.msg);
}

/* --- bounds and secrets ------------------------------------------------- */

static char *
body_with(const char *before, size_t len, const char *after)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, before);
	for (size_t i = 0; i < len; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, after);
	return buf_take(&text);
}

static const struct {
	enum book_kind kind;
	const char *before, *words;
	size_t max;
} bounds[] = {
	{ BOOK_ASSIGNMENT,
	    "{\"workNodeId\":\"T1\",\"status\":\"done\","
	    "\"lastInstructionText\":\"",
	    "lastInstructionText: ", BOOK_INSTRUCTION_MAX },
	{ BOOK_CRYSTAL, "{\"summary\":\"", "summary: ", BOOK_SUMMARY_MAX },
};

TEST_ROWS(text_over_its_bound_is_refused_by_name, nitems(bounds))
{
	cleanup_free char *most =
	    body_with(bounds[_i].before, bounds[_i].max, "\"}");
	cleanup_free char *more =
	    body_with(bounds[_i].before, bounds[_i].max + 1, "\"}");
	cleanup_free char *huge = body_with("{\"a\":\"", BOOK_BODY_MAX, "\"}");
	ended_by(book_world_close) struct book_world world;

	begin(&world);
	book_world_put(&world, BOOK_NODE, "G", "T1", "{\"status\":\"todo\"}");
	ck_assert_int_eq(
	    book_world_put(&world, bounds[_i].kind, "G", "X", most), 0);
	ck_assert_int_eq(
	    book_world_put(&world, bounds[_i].kind, "G", "X", more), -E2BIG);
	ck_assert_ptr_nonnull(strstr(world.err.msg, bounds[_i].words));
	ck_assert_int_eq(
	    book_world_put(&world, bounds[_i].kind, "G", "X", huge), -E2BIG);
}

TEST(event_that_is_too_long_is_cut_and_kept)
{
	cleanup_free char *data = body_with("{\"a\":\"", 5000, "\"}");
	cleanup_free char *huge = body_with("{\"a\":\"", 500000, "\"}");
	cleanup_buf struct buf many = BUF_INIT;
	ended_by(book_world_close) struct book_world world;

	buf_adds(&many, "{\"a\":[0");
	for (int i = 0; i < 9000; i++)
		buf_adds(&many, ",1");
	buf_adds(&many, "]}");
	begin(&world);
	book_world_event(
	    &world, (struct book_event){ .type = "a", .data = data });
	ck_assert_int_eq(world.err.code, 0);
	book_world_event(
	    &world, (struct book_event){ .type = "b", .data = huge });
	ck_assert_int_eq(world.err.code, 0);
	book_world_event(
	    &world, (struct book_event){ .type = "c", .data = many.data });
	ck_assert_int_eq(world.err.code, 0);
	book_world_events(&world, (struct book_filter){ .type = "a" });
	ck_assert_uint_eq(
	    world.text.len, BOOK_DATA_STRING_MAX + strlen("a {\"a\":\"\"}\n"));
	ck_assert_ptr_nonnull(strstr(world.text.data, "xxx... (cut)\"}"));
	book_world_events(&world, (struct book_filter){ .type = "b" });
	ck_assert_str_eq(world.text.data, "b {\"omittedBytes\":500008}\n");
	book_world_events(&world, (struct book_filter){ .type = "c" });
	ck_assert_str_eq(world.text.data, "c {\"omittedBytes\":18009}\n");
}

#define SECRET  "ghp_0123456789abcdefghijABCDEFGHIJ012345"
#define SECRET2 "hunter-two-and-three"

static void
expect_no_secret(const char *path)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	if (!file_exists(path))
		return;
	ck_assert_int_eq(file_read(path, 1 << 26, &bytes, NULL), 0);
	ck_assert_ptr_null(
	    memmem(bytes.data, bytes.len, SECRET, strlen(SECRET)));
	ck_assert_ptr_null(
	    memmem(bytes.data, bytes.len, SECRET2, strlen(SECRET2)));
}

TEST(no_secret_reaches_the_file)
{
	struct book_record changes[] = {
		{ BOOK_GOAL, NULL, "G",
		    "{\"status\":\"active\",\"title\":\"use " SECRET
		    " here\",\"x\":{\"password\":\"" SECRET2 " four\",\"" SECRET
		    "\":[\"" SECRET "\"]},"
		    "\"sessionKey\":\"agent:main\",\"tokens\":12}" },
		{ BOOK_NODE, "G", "T1", "{\"status\":\"todo\"}" },
		{ BOOK_ASSIGNMENT, "G", "A_1",
		    "{\"workNodeId\":\"T1\",\"status\":\"" SECRET "\","
		    "\"lastInstructionText\":\"export GH_TOKEN=" SECRET2
		    "\"}" },
	};
	struct book_event event = { .type = "a " SECRET,
		.worker = SECRET,
		.task = "password=" SECRET2,
		.key = SECRET,
		.data = "{\"api_key\":\"" SECRET2 "\"}" };
	struct book_world world;

	begin(&world);
	book_world_commit(&world, changes, 3, &event, 1);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	expect_no_secret(unit_path("llmc.db-wal"));
	book_world_load(&world);
	ck_assert_ptr_nonnull(strstr(world.text.data,
	    "\"title\":\"use [masked] here\",\"x\":{\"password\":"
	    "\"[masked]\",\"[masked]\":[\"[masked]\"]},"
	    "\"sessionKey\":\"agent:main\",\"tokens\":12}"));
	book_world_close(&world);
	expect_no_secret(unit_path("llmc.db"));
}

/* --- the records of model/ ---------------------------------------------- */

static void
expect_stored(struct book_world *world, enum book_kind kind, const char *id,
    struct json_object *body)
{
	cleanup_buf struct buf text = BUF_INIT, line = BUF_INIT;

	json_print(body, false, &text);
	json_object_put(body);
	ck_assert_msg(book_world_put(world, kind, "G", id, text.data) == 0,
	    "%s", world->err.msg);
	book_world_read(world, kind, "G", id);
	buf_addf(&line, "%s G/%s %s\n", book_kind_name(kind), id, text.data);
	ck_assert_str_eq(world->text.data, line.data);
}

TEST(records_of_the_model_are_stored_as_they_are)
{
	struct plan_goal *goal = plan_goal_new("G", "Title", 5);
	struct plan_node *node =
	    plan_node_new("G", NODE_PHASE, "P1", "Phase", 5);
	struct plan_crystal *crystal =
	    plan_crystal_new("C_1", "G", "P1", CRYSTAL_LANDING, 5);
	struct book_world world;

	begin(&world);
	plan_node_assign(node, "A_1", 5);
	expect_stored(
	    &world, BOOK_GOAL, "G", schema_json(&plan_goal_schema, goal));
	expect_stored(&world, BOOK_NODE, "P1", plan_node_to_json(node));
	expect_stored(&world, BOOK_CRYSTAL, "C_1",
	    schema_json(&plan_crystal_schema, crystal));
	expect_stored(&world, BOOK_ASSIGNMENT, "A_1", plan_work_json(node));
	book_world_close(&world);
	plan_goal_free(goal);
	plan_node_free(node);
	plan_crystal_free(crystal);
}
