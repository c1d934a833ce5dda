/* SPDX-License-Identifier: ISC */

/* The plans in memory are those of the book. What it cannot take now is written
 * later, and what it refuses is undone. */
#include "plan-world.h"

#include <sys/resource.h>

#include "plan-floor.h"

#define SMALL_FILE ((rlim_t)16 * 1024)
#define TIMES      20 /* as fast as the machine's clock */

static char *
plan_text(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json = plan_to_json(plan_world_plan("goal_a"));

	json_print(json, true, &text);
	json_object_put(json);
	return xstrdup(text.data);
}

static void
begin(void)
{
	plan_world_begin(NULL, NULL);
	plan_world_goal("goal_a", 3);
}

static void
count_call(void *arg)
{
	++*(int *)arg;
}

static bool
was_called(void *arg)
{
	return *(int *)arg > 0;
}

static void
limit_files(rlim_t size)
{
	const struct rlimit limit = { size, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* More than the limit, so that the log of the database cannot grow to it. */
static void
tell_much(void)
{
	cleanup_buf struct buf data = BUF_INIT;

	buf_adds(&data, "{\"text\":\"");
	for (int i = 0; i < 1500; i++)
		buf_addc(&data, 'x');
	buf_adds(&data, "\"}");
	for (int i = 0; i < 40; i++)
		book_add_event(auto_world.core->book,
		    &(struct book_event){ .type = "test",
			.goal_id = "goal_a",
			.data = data.data },
		    NULL);
}

static int
times_told(const char *event)
{
	const char *at = auto_world.told.data;
	int count = 0;

	for (; (at = strstr(at, event)) != NULL; at += strlen(event))
		count++;
	return count;
}

static bool
is_unwritten(void *arg)
{
	(void)arg;
	return times_told("store.unwritten;") > 0;
}

static bool
is_written(void *arg)
{
	(void)arg;
	return times_told("store.written;") > 0;
}

/* A disk without space, and something that has to be stored. */
static void
fill_disk(void)
{
	signal(SIGXFSZ, SIG_IGN);
	limit_files(SMALL_FILE);
	tell_much();
	floor_world_wait(is_unwritten, &plan_world);
}

static bool
are_three(void *arg)
{
	(void)arg;
	return times_told(" unwritten;") >= 3;
}

void
unit_begin(void)
{
	unit_hurry(TIMES);
}

TEST(what_the_disk_does_not_take_is_written_later)
{
	int calls = 0;

	begin();
	fill_disk();
	persist_then(auto_world.core, &calls, count_call, &calls);
	/* Tried again, and told once. */
	floor_world_wait(are_three, &plan_world);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(times_told("store.unwritten;"), 1);
	limit_files(RLIM_INFINITY);
	floor_world_wait(was_called, &calls);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(plan_world_events("test"), 40);
	ck_assert_int_eq(plan_world_events("store.written"), 1);
	ck_assert_int_eq(times_told("store.unwritten;"), 1);
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
}

struct ending {
	int count;
	int64_t lost;
};

static void
on_event(const struct event *event, void *arg)
{
	struct ending *ending = arg;

	if (event->kind != EVENT_STORE_WRITTEN)
		return;
	ending->count++;
	ending->lost += event->count;
}

TEST(events_that_cannot_be_kept_are_counted_and_changes_are_kept)
{
	struct ending ending = { 0 };
	struct plan_node *node;

	begin();
	emit_subscribe(auto_world.core, on_event, &ending);
	fill_disk();
	for (int i = 0; i < 10500; i++)
		emit(auto_world.core,
		    &(struct event){ .kind = EVENT_TICK, .reason = "test" });
	emit(auto_world.core,
	    &(struct event){ .kind = EVENT_STALLED, .goal = "goal_a" });
	node = plan_world_node("goal_a", "T1.1");
	xstrset(&node->objective, "kept");
	plan_book_record(plan_world.floor, BOOK_NODE, "goal_a", "T1.1");
	limit_files(RLIM_INFINITY);
	floor_world_wait(is_written, &plan_world);
	plan_world_settle();
	ck_assert_int_eq(ending.count, 1);
	ck_assert_int_ge(ending.lost, 500);
	ck_assert_int_lt(ending.lost, 600);
	ck_assert_int_eq(plan_world_events("overseer.stalled"), 1);
	emit_unsubscribe(auto_world.core, on_event, &ending);
	plan_world_reopen();
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "kept");
}

static const char *
ask(const char *method, const char *params)
{
	return floor_world_answer(floor_world_ask(method, params));
}

/* For calls; and nobody takes the nodes. */
static void
begin_live(void)
{
	plan_world_begin("allow_agents = [\"eve\"]\n", NULL);
	plan_world_goal("goal_a", 3);
	plan_world_live();
}

#define PAUSE "{\"goal\":\"goal_a\"}"

TEST(while_the_store_cannot_be_written_no_plan_is_changed)
{
	const char *error;

	begin_live();
	fill_disk();
	error = ask("overseer.goal.pause", PAUSE);
	ck_assert_msg(error != NULL && strstr(error, "cannot be written") &&
		strstr(error, "space"),
	    "%s", error);
	error = ask("overseer.work.update",
	    "{\"goal\":\"goal_a\",\"node\":\"T1.1\",\"priority\":\"high\"}");
	ck_assert_msg(
	    error != NULL && strstr(error, "cannot be written"), "%s", error);
	ck_assert_ptr_nonnull(ask("overseer.tick", "{}"));
	ck_assert_ptr_null(ask("overseer.goal.show", PAUSE));
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->status, GOAL_ACTIVE);
	limit_files(RLIM_INFINITY);
	/* A person who tries it need not wait for the next time. */
	ck_assert_ptr_nonnull(ask("overseer.goal.pause", PAUSE));
	floor_world_wait(is_written, &plan_world);
	ck_assert_ptr_null(ask("overseer.goal.pause", PAUSE));
}

TEST(who_finds_out_that_it_cannot_be_written_is_told_at_once)
{
	const char *error;
	bool refused;

	begin_live();
	signal(SIGXFSZ, SIG_IGN);
	limit_files(SMALL_FILE);
	tell_much();
	error = ask("overseer.goal.pause", PAUSE);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, "space") != NULL, "%s", error);
	/* On a slow machine the store knows it before the change is made. */
	refused = strstr(error, "no plan is changed now") != NULL;
	ck_assert_msg(refused || strstr(error, "the change is kept") != NULL,
	    "%s", error);
	limit_files(RLIM_INFINITY);
	floor_world_wait(is_written, &plan_world);
	plan_world_settle();
	plan_world_reopen();
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->status,
	    refused ? GOAL_ACTIVE : GOAL_PAUSED);
}

/* --- what the store refuses -------------------------------------------- */

/* Over the bound of a record. */
static void
spoil(const char *goal, const char *id)
{
	struct plan_node *node = plan_world_node(goal, id);

	free(node->objective);
	node->objective = xcalloc(1, BOOK_BODY_MAX + 1);
	memset(node->objective, 'x', BOOK_BODY_MAX);
	plan_book_record(plan_world.floor, BOOK_NODE, goal, id);
}

TEST(what_the_book_refuses_is_undone_and_the_rest_is_kept)
{
	cleanup_free char *before = NULL, *after = NULL;
	struct plan_node *node;
	int calls = 0;

	begin();
	plan_world_goal("goal_b", 1);
	before = plan_text();
	/* Nothing of this goal is kept. */
	node = plan_world_node("goal_a", "T1.1");
	xstrset(&node->objective, "lost");
	plan_book_record(plan_world.floor, BOOK_NODE, "goal_a", "T1.1");
	spoil("goal_a", "T1.2");
	node = plan_world_node("goal_b", "T1.1");
	xstrset(&node->objective, "good");
	plan_book_record(plan_world.floor, BOOK_NODE, "goal_b", "T1.1");
	persist_then(auto_world.core, &plan_world, count_call, &calls);
	floor_world_wait(was_called, &calls);
	plan_world_settle();
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(times_told("store.refused;"), 1);
	/* As before, but paused; and so it is in the book. */
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->status, GOAL_PAUSED);
	plan_world_plan("goal_a")->goal->status = GOAL_ACTIVE;
	after = plan_text();
	ck_assert_uint_eq(strlen(before), strlen(after));
	plan_world_reopen();
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->status, GOAL_PAUSED);
	ck_assert_ptr_null(plan_world_node("goal_a", "T1.1")->objective);
	ck_assert_ptr_null(plan_world_node("goal_a", "T1.2")->objective);
	ck_assert_str_eq(plan_world_node("goal_b", "T1.1")->objective, "good");
}

/* The pass in which a person pauses it. */
static void
on_paused(const struct event *event, void *arg)
{
	(void)arg;
	if (event->kind == EVENT_GOAL_PAUSED &&
	    strcmp(event->goal, "goal_a") == 0 &&
	    strcmp(event->actor, "person") == 0)
		spoil("goal_a", "T1.2");
}

TEST(a_refused_change_is_the_error_of_its_caller)
{
	struct floor_call *call;
	const char *error;

	begin_live();
	plan_world_goal("goal_b", 1);
	emit_subscribe(auto_world.core, on_paused, &plan_world);
	call = floor_world_ask("overseer.goal.pause", PAUSE);
	ck_assert_ptr_null(ask("overseer.goal.pause", "{\"goal\":\"goal_b\"}"));
	error = floor_world_answer(call);
	emit_unsubscribe(auto_world.core, on_paused, &plan_world);
	ck_assert_msg(error != NULL &&
		strstr(error, "nothing was changed") != NULL &&
		strstr(error, "node T1.2") != NULL,
	    "%s", error);
	plan_world_settle();
	ck_assert_ptr_null(ask("overseer.goal.resume", PAUSE));
}

TEST(a_goal_that_was_never_stored_is_gone)
{
	struct plan *plan;

	begin();
	plan = plan_new(plan_goal_new("goal_new", "New", 1));
	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(plan_world.floor), plan, NULL), 0);
	free(plan->goal->problem_statement);
	plan->goal->problem_statement = xcalloc(1, BOOK_GOAL_MAX + 1);
	memset(plan->goal->problem_statement, 'x', BOOK_GOAL_MAX);
	plan_book_record(plan_world.floor, BOOK_GOAL, "goal_new", "goal_new");
	plan_world_settle();
	ck_assert_ptr_null(plan_world_plan("goal_new"));
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
}

/* --- reading ------------------------------------------------------------ */

TEST(what_was_stored_is_read_again)
{
	cleanup_free char *before = NULL, *after = NULL;

	begin();
	before = plan_text();
	plan_world_reopen();
	after = plan_text();
	ck_assert_str_eq(before, after);
}

/* The book checks what it needs itself; a parent that is missing is found when
 * the plan is built. */
TEST(a_record_that_fits_no_plan_turns_goals_off)
{
	begin();
	ck_assert_int_eq(
	    book_put_body(auto_world.core->book, BOOK_NODE, "goal_a", "T9.9",
		"{\"id\":\"T9.9\",\"goalId\":\"goal_a\","
		"\"kind\":\"task\",\"parentId\":\"P9\","
		"\"order\":1,\"name\":\"Lost\","
		"\"status\":\"todo\",\"createdAt\":1,"
		"\"updatedAt\":1}",
		NULL),
	    0);
	plan_world_settle();
	plan_world_reopen();
	ck_assert_int_eq(plan_world.floor->state, PLAN_SAFE);
	ck_assert_msg(strstr(plan_world.floor->why, "T9.9") != NULL &&
		strstr(plan_world.floor->why, "sqlite3 .llmc/llmc.db") != NULL,
	    "%s", plan_world.floor->why);
}

/* A record that changes twice is stored as it is in the end. */
TEST(the_last_state_of_a_record_is_stored)
{
	struct plan_node *node;

	begin();
	node = plan_world_node("goal_a", "T1.1");
	for (int i = 0; i < 2; i++) {
		xstrset(&node->objective, i == 0 ? "first" : "last");
		plan_book_record(plan_world.floor, BOOK_NODE, "goal_a", "T1.1");
	}
	plan_world_settle();
	plan_world_reopen();
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "last");
}
