/* SPDX-License-Identifier: ISC */

#include "reconcile-scene.h"
#include "plan-goal.h"
#include "plan-node.h"
#include "plan.h"
#include "why.h"

#define NOW 1000000

static const struct {
	const char *type, *data, *words;
} cases[] = {
	{ "assignment.dispatched",
	    "{\"action\":\"nudge\",\"dispatchId\":\"D_1\",\"reason\":\"idle\"}",
	    "its status was asked for, auto-1 (D_1): idle" },
	{ "assignment.dispatched", "{\"action\":\"new one\"}",
	    "a message was sent, auto-1" },
	{ "oversight", "{\"action\":\"restart\",\"reason\":\"Stuck: x\"}",
	    "a fresh session goes on with it: Stuck: x" },
	{ "oversight", "{\"action\":\"pause\",\"reason\":\"Stuck: x\"}",
	    "it waits for a person: Stuck: x" },
	{ "stall", "{\"action\":\"redirect\"}",
	    "its worker shows no sign of life, and it was interrupted and "
	    "told to continue" },
	{ "assignment.stalled", "{\"reason\":\"silence\"}",
	    "stalled: silence" },
	{ "assignment.escalated", "{}", "a person is needed" },
	{ "assignment.cancelled", NULL, "ended without a result" },
	{ "work.update", "{\"status\":\"done\",\"summary\":\"fixed\"}",
	    "it reported done: fixed" },
	{ "work.in_progress", NULL, "S1 is in progress" },
	{ "work.blocked", "{\"reason\":\"no\\u001bkey\"}",
	    "S1 is blocked: no\\x1bkey" },
	{ "goal.completed", NULL, "the goal is completed" },
	{ "accept_success", "{\"commit_sha\":\"0123456789\"}",
	    "it landed as 0123456" },
	{ "landing_queued", NULL, "it waits to land" },
	{ "dispatch.ended", "{\"result\":\"accepted\"}", "it was received" },
	{ "dispatch.ended", "{\"action\":\"escalate\",\"result\":\"accepted\"}",
	    "it is in llmc asks" },
	{ "dispatch.ended", "{\"result\":\"error\",\"reason\":\"gone\"}",
	    "it could not be sent: gone" },
	{ "task_finished", "{\"outcome\":\"failed\",\"reason\":\"no\"}",
	    "the task has ended, failed: no" },
	{ "worker_state_transition",
	    "{\"from_state\":\"working\",\"to_state\":\"paused\",\"reason\":\"by "
	    "a person\"}",
	    "its worker changed from working to paused: by a person" },
	{ "worker.turn_ended", "{\"text\":\"ok\"}", "worker turn ended: ok" },
};

TEST_ROWS(every_event_is_a_sentence, nitems(cases))
{
	cleanup_json struct json_object *data =
	    cases[_i].data != NULL ? json_tokener_parse(cases[_i].data) : NULL;
	struct why_event event = { .type = cases[_i].type,
		.node_id = "S1",
		.worker = "auto-1",
		.data = data };
	cleanup_buf struct buf text = BUF_INIT;

	why_sentence(&event, &text);
	ck_assert_str_eq(text.data, cases[_i].words);
}

TEST(the_chain_has_times_and_joins_what_repeats)
{
	const struct why_event events[] = {
		{ .ts_ms = NOW - 120000, .type = "assignment.stalled" },
		{ .ts_ms = NOW - 6041, .type = "assignment.stalled" },
		{ .ts_ms = NOW, .type = "goal.completed" },
	};
	cleanup_buf struct buf text = BUF_INIT;

	why_chain(events, nitems(events), NOW, &text);
	ck_assert_str_eq(text.data,
	    "2m ago: stalled (2 times, last 6s ago)\n"
	    "now: the goal is completed\n");
	buf_clear(&text);
	why_chain(events, 0, NOW, &text);
	ck_assert_str_eq(text.data, "");
}

TEST(a_task_that_landed_is_done_and_says_as_what)
{
	cleanup_json struct json_object *data =
	    json_tokener_parse("{\"commit_sha\":\"0123456789\"}");
	cleanup_json struct json_object *failed =
	    json_tokener_parse("{\"outcome\":\"failed\"}");
	const struct why_event events[] = {
		{ .type = "task_assigned", .task = "t1" },
		{ .type = "accept_success", .task = "t1", .data = data },
		{ .type = "task_assigned", .task = "t2" },
		{ .type = "task_finished", .task = "t3", .data = failed },
	};
	const struct {
		const char *task, *status, *now;
	} rows[] = {
		{ "t1", "done", "done: landed as 0123456" },
		{ "t1", NULL, "done: landed as 0123456" },
		{ "t1", "cancelled", "cancelled" },
		{ "t2", "dispatched", "dispatched" },
		{ NULL, "done", "done" },
		{ "t2", NULL, NULL },
		{ "t3", "cancelled", "failed" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *now = why_now(
		    rows[i].task, rows[i].status, events, nitems(events));

		ck_assert_pstr_eq(now, rows[i].now);
	}
}

TEST(a_node_says_what_it_is_now)
{
	static const char reason[] = "no key";
	static const char commit[] = "0123456789";
	struct plan *plan = plan_new(plan_goal_new("goal_1", "title", NOW));
	struct plan_node *node =
	    plan_node_new("goal_1", NODE_TASK, "T1", "name", NOW);
	cleanup_free char *begun = NULL, *blocked = NULL, *done = NULL;

	node->status = NODE_IN_PROGRESS;
	begun = why_node_now(plan, node, true);
	ck_assert_str_eq(begun, "in progress");
	node->status = NODE_BLOCKED;
	xstrset(&node->blocked_reason, reason);
	blocked = why_node_now(plan, node, true);
	ck_assert_str_eq(blocked, "blocked: no key");
	node->status = NODE_DONE;
	strv_add(&node->evidence.commits, commit);
	done = why_node_now(plan, node, true);
	ck_assert_str_eq(done, "done: landed as 0123456");
	plan_node_free(node);
	plan_free(plan);
}

TEST(a_quiet_assignment_has_short_answers)
{
	struct plan_node *node =
	    plan_node_new("goal_1", NODE_TASK, "S1", "n", NOW);
	struct why_answers answers;

	plan_node_assign(node, "A_1", NOW);
	why_answer(node, NULL, NULL, 0, NOW, &answers);
	ck_assert_str_eq(answers.stalled, "no, it is queued");
	ck_assert_str_eq(answers.dispatch, "nothing was sent yet");
	ck_assert_str_eq(answers.backoff, "none; 0 messages without progress");
	ck_assert_str_eq(answers.progress, "nothing yet");
	why_answers_release(&answers);
	/* Its node may be blocked, and wait for a person. */
	ck_assert_int_eq(
	    plan_node_move_work(node,
		&(struct plan_work_move){ .to = ASSIGNMENT_CANCELLED }, NOW),
	    0);
	why_answer(node, NULL, NULL, 0, NOW, &answers);
	ck_assert_str_eq(answers.stalled, "no, nobody works on it");
	why_answers_release(&answers);
	plan_node_free(node);
}

/* The events of the last tick, as the store gives them. */
static struct why_event *
events_of_tick(size_t *ret_count)
{
	struct why_event *events =
	    xcalloc(scene.result.event_count, sizeof *events);

	for (size_t i = 0; i < scene.result.event_count; i++) {
		const struct reconcile_event *e = &scene.result.events[i];

		events[i] = (struct why_event){ .ts_ms = scene.world.now_ms,
			.type = e->type,
			.assignment_id = e->assignment_id,
			.node_id = e->node_id,
			.worker = e->worker,
			.data = e->data };
	}
	*ret_count = scene.result.event_count;
	return events;
}

TEST(the_four_questions_are_answered_after_a_tick)
{
	cleanup_free struct why_event *events = NULL;
	cleanup_buf struct buf chain = BUF_INIT;
	struct why_answers answers;
	struct plan_crystal *crystal = plan_crystal_new(
	    "C_1", "goal_1", "S1.1.1", CRYSTAL_UPDATE, WORLD_NOW - 60000);
	int64_t now;
	size_t count;

	plan_crystal_summarize(crystal, "half of it");
	strv_add(&crystal->evidence.commits, "abc");
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.one->last_activity_ms = WORLD_NOW - 5000;
	scene_tick(0);
	now = scene.world.now_ms + 1000;
	events = events_of_tick(&count);
	why_answer(scene.node, crystal, events, count, now, &answers);
	ck_assert_str_eq(answers.stalled,
	    "yes, it is stalled since 1s ago: no sign of life for 5s");
	ck_assert_str_eq(answers.dispatch,
	    "1s ago: its status was asked for (D_1-1); it is being sent");
	ck_assert_str_eq(answers.backoff,
	    "no more messages for 1s; 1 message without progress");
	ck_assert_str_eq(answers.progress,
	    "activity 6s ago; report 1m1s ago: half of it, 1 commit");
	why_chain(events, count, now, &chain);
	ck_assert_str_eq(chain.data,
	    "1s ago: stalled: no sign of life for 5s\n"
	    "1s ago: its status was asked for, auto-1 (D_1-1): no sign of "
	    "life for 5s\n");
	why_answers_release(&answers);
	plan_crystal_free(crystal);
	scene_end();
}

TEST(what_waits_for_a_person_says_so)
{
	struct why_answers answers;

	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->asked = true;
	scene.facts->question = "Which one?";
	scene.facts->reply_ms = WORLD_NOW - 1;
	scene_tick(0);
	/* No channel may have taken it: nobody knows that it was seen. */
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	why_answer(scene.node, NULL, NULL, 0, scene.world.now_ms, &answers);
	ck_assert_str_eq(answers.stalled,
	    "yes, it is blocked: Which one?; a person is needed");
	ck_assert_str_eq(answers.dispatch,
	    "now: a person is needed (D_1-1); see: llmc status");
	why_answers_release(&answers);
	scene_end();
}
