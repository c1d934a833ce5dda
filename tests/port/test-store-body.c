/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-crystal.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "store-world.h"
#include "unit.h"

static void
begin(struct store_world *world)
{
	store_world_open(world, unit_path("store.db"));
	ck_assert_msg(world->err.code == 0, "%s", world->err.msg);
}

/* What is refused, and the words that say why. */
static const struct {
	enum store_kind kind;
	const char *goal, *id, *body, *words;
	int code;
} refused[] = {
	{ STORE_GOAL, NULL, "G", "{}", "goal G.status: missing", -ENOENT },
	{ STORE_GOAL, NULL, "G", "[]", "goal G: expected a JSON object",
	    -EINVAL },
	{ STORE_GOAL, NULL, "G", "{", "goal G: ", -EINVAL },
	{ STORE_GOAL, NULL, "", "{\"status\":\"active\"}", "goal: no id",
	    -EINVAL },
	{ STORE_GOAL, "H", "G", "{\"status\":\"active\"}",
	    "goal G: of another goal, H", -EINVAL },
	{ STORE_GOAL, NULL, "G", "{\"status\":\"active\",\"goalId\":\"H\"}",
	    "goal G.goalId: is H, not G", -EINVAL },
	{ STORE_GOAL, NULL, "G", "{\"status\":\"active\",\"nodes\":{}}",
	    "goal G.nodes: nodes are records of their own", -EINVAL },
	{ STORE_NODE, NULL, "T1", "{\"status\":\"todo\"}", "node T1: no id",
	    -EINVAL },
	{ STORE_NODE, "G", "T1", "{\"status\":7}", "node T1.status: expected",
	    -EINVAL },
	{ STORE_NODE, "G", "T1", "{\"status\":\"\"}",
	    "node T1.status: is empty", -EINVAL },
	{ STORE_ASSIGNMENT, "G", "A", "{\"status\":\"active\"}",
	    "assignment A.workNodeId: missing", -ENOENT },
	{ STORE_DISPATCH, "G", "D", "{\"assignmentId\":\"A\",\"ts\":\"now\"}",
	    "dispatch D.ts: expected", -EINVAL },
	{ STORE_NODE, "G", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
	    "{\"status\":\"todo\"}", "looks like a password", -EINVAL },
};

START_TEST(wrong_record_is_refused_with_words)
{
	struct store_world world;

	begin(&world);
	ck_assert_int_eq(
	    store_world_put(&world, refused[_i].kind, refused[_i].goal,
		refused[_i].id, refused[_i].body),
	    refused[_i].code);
	ck_assert_msg(strstr(world.err.msg, refused[_i].words) != NULL, "%s",
	    world.err.msg);
	store_world_close(&world);
}
END_TEST

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
	enum store_kind kind;
	const char *before, *words;
	size_t max;
} bounds[] = {
	{ STORE_ASSIGNMENT,
	    "{\"workNodeId\":\"T1\",\"status\":\"done\","
	    "\"lastInstructionText\":\"",
	    "lastInstructionText: ", STORE_INSTRUCTION_MAX },
	{ STORE_CRYSTAL, "{\"summary\":\"", "summary: ", STORE_SUMMARY_MAX },
};

START_TEST(text_over_its_bound_is_refused_by_name)
{
	cleanup_free char *most =
	    body_with(bounds[_i].before, bounds[_i].max, "\"}");
	cleanup_free char *more =
	    body_with(bounds[_i].before, bounds[_i].max + 1, "\"}");
	cleanup_free char *huge = body_with("{\"a\":\"", STORE_BODY_MAX, "\"}");
	struct store_world world;

	begin(&world);
	ck_assert_int_eq(
	    store_world_put(&world, bounds[_i].kind, "G", "X", most), 0);
	ck_assert_int_eq(
	    store_world_put(&world, bounds[_i].kind, "G", "X", more), -E2BIG);
	ck_assert_ptr_nonnull(strstr(world.err.msg, bounds[_i].words));
	ck_assert_int_eq(
	    store_world_put(&world, bounds[_i].kind, "G", "X", huge), -E2BIG);
	store_world_close(&world);
}
END_TEST

START_TEST(event_that_is_too_long_is_cut_and_kept)
{
	cleanup_free char *data = body_with("{\"a\":\"", 5000, "\"}");
	cleanup_free char *huge = body_with("{\"a\":\"", 500000, "\"}");
	cleanup_buf struct buf many = BUF_INIT;
	struct store_world world;

	buf_adds(&many, "{\"a\":[0");
	for (int i = 0; i < 9000; i++)
		buf_adds(&many, ",1");
	buf_adds(&many, "]}");
	begin(&world);
	store_world_event(
	    &world, (struct store_event){ .type = "a", .data = data });
	ck_assert_int_eq(world.err.code, 0);
	store_world_event(
	    &world, (struct store_event){ .type = "b", .data = huge });
	ck_assert_int_eq(world.err.code, 0);
	store_world_event(
	    &world, (struct store_event){ .type = "c", .data = many.data });
	ck_assert_int_eq(world.err.code, 0);
	store_world_events(&world, (struct store_filter){ .type = "a" });
	ck_assert_uint_eq(
	    world.text.len, STORE_DATA_STRING_MAX + strlen("a {\"a\":\"\"}\n"));
	ck_assert_ptr_nonnull(strstr(world.text.data, "xxx... (cut)\"}"));
	store_world_events(&world, (struct store_filter){ .type = "b" });
	ck_assert_str_eq(world.text.data, "b {\"omittedBytes\":500008}\n");
	store_world_events(&world, (struct store_filter){ .type = "c" });
	ck_assert_str_eq(world.text.data, "c {\"omittedBytes\":18009}\n");
	store_world_close(&world);
}
END_TEST

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

START_TEST(no_secret_reaches_the_file)
{
	struct store_change changes[] = {
		{ STORE_GOAL, NULL, "G",
		    "{\"status\":\"active\",\"title\":\"use " SECRET
		    " here\",\"x\":{\"password\":\"" SECRET2 " four\",\"" SECRET
		    "\":[\"" SECRET "\"]},"
		    "\"sessionKey\":\"agent:main\",\"tokens\":12}" },
		{ STORE_ASSIGNMENT, "G", "A_1",
		    "{\"workNodeId\":\"" SECRET "\",\"status\":\"active\","
		    "\"lastInstructionText\":\"export GH_TOKEN=" SECRET2
		    "\"}" },
	};
	struct store_event event = { .type = "a " SECRET,
		.worker = SECRET,
		.task = "password=" SECRET2,
		.key = SECRET,
		.data = "{\"api_key\":\"" SECRET2 "\"}" };
	struct store_world world;

	begin(&world);
	store_world_commit(&world, changes, 2, &event, 1);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	expect_no_secret(unit_path("store.db-wal"));
	store_world_load(&world);
	ck_assert_ptr_nonnull(strstr(world.text.data,
	    "\"title\":\"use [masked] here\",\"x\":{\"password\":"
	    "\"[masked]\",\"[masked]\":[\"[masked]\"]},"
	    "\"sessionKey\":\"agent:main\",\"tokens\":12}"));
	store_world_close(&world);
	expect_no_secret(unit_path("store.db"));
}
END_TEST

/* --- the records of model/ ---------------------------------------------- */

static void
expect_stored(struct store_world *world, enum store_kind kind, const char *id,
    struct json_object *body)
{
	cleanup_buf struct buf text = BUF_INIT, line = BUF_INIT;

	json_print(body, false, &text);
	json_object_put(body);
	ck_assert_msg(store_world_put(world, kind, "G", id, text.data) == 0,
	    "%s", world->err.msg);
	store_world_read(world, kind, "G", id);
	buf_addf(&line, "%s G/%s %s\n", store_kind_name(kind), id, text.data);
	ck_assert_str_eq(world->text.data, line.data);
}

START_TEST(records_of_the_model_are_stored_as_they_are)
{
	struct plan_goal *goal = plan_goal_new("G", "Title", 5);
	struct plan_node *node =
	    plan_node_new("G", NODE_PHASE, "P1", "Phase", 5);
	struct plan_crystal *crystal =
	    plan_crystal_new("C_1", "G", "P1", CRYSTAL_LANDING, 5);
	struct plan_assignment *assignment =
	    plan_assignment_new("A_1", "G", "P1", 5);
	struct store_world world;

	begin(&world);
	expect_stored(&world, STORE_GOAL, "G", plan_goal_to_json(goal));
	expect_stored(&world, STORE_NODE, "P1", plan_node_to_json(node));
	expect_stored(
	    &world, STORE_CRYSTAL, "C_1", plan_crystal_to_json(crystal));
	expect_stored(&world, STORE_ASSIGNMENT, "A_1",
	    plan_assignment_to_json(assignment));
	store_world_close(&world);
	plan_goal_free(goal);
	plan_node_free(node);
	plan_crystal_free(crystal);
	plan_assignment_free(assignment);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		event_that_is_too_long_is_cut_and_kept,
		no_secret_reaches_the_file,
		records_of_the_model_are_stored_as_they_are,
		NULL,
	};
	Suite *suite = suite_create("store-body");

	unit_case(suite, "store-body", tests);
	unit_rows(suite, wrong_record_is_refused_with_words, nitems(refused));
	unit_rows(
	    suite, text_over_its_bound_is_refused_by_name, nitems(bounds));
	return suite;
}
