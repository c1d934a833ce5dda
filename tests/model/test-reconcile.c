/* SPDX-License-Identifier: ISC */

/* Who is alive, what is sent, and how the ladder is climbed. */

#include "reconcile-scene.h"
#include "plan-edit.h"

/* --- dispatches ------------------------------------------------------- */

TEST(a_queued_assignment_is_dispatched_once)
{
	const struct reconcile_decision *d;

	scene_begin(ASSIGNMENT_QUEUED);
	plan_node_instruct(scene.node, "Do it.");
	scene_tick(0);
	d = scene_decided(RECONCILE_ASSIGN);
	ck_assert_int_eq(d->mode, DISPATCH_SEND);
	ck_assert_str_eq(d->dispatch_id, "D_1-1");
	ck_assert_str_eq(d->text, "Do it.");
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	ck_assert_int_eq(scene.node->status, NODE_IN_PROGRESS);
	ck_assert_uint_eq(scene.one->dispatch_count, 1);
	ck_assert_int_eq(scene.one->dispatches[0].result, DISPATCH_PENDING);
	ck_assert_int_eq(
	    scene.one->expected_update_ms, scene.world.now_ms + 1000);
	ck_assert(scene_told("assignment.dispatched") &&
	    scene_told("work.in_progress"));
	ck_assert_uint_eq(scene.result.worked_count, 1);
	ck_assert_uint_eq(scene.result.plan_count, 1);
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_uint_eq(scene.result.event_count, 0);
	ck_assert_uint_eq(scene.result.worked_count, 0);
	scene_end();
}

TEST(without_a_session_a_fresh_worker_gets_it)
{
	scene_begin(ASSIGNMENT_QUEUED);
	xstrset(&scene.one->worker, NULL);
	scene_tick(0);
	ck_assert_int_eq(scene_decided(RECONCILE_ASSIGN)->mode, DISPATCH_SPAWN);
	scene_end();
}

TEST(a_resend_keeps_the_id_when_the_delivery_is_uncertain)
{
	scene_begin(ASSIGNMENT_QUEUED);
	scene.world.config.max_retries = 5;
	plan_node_instruct(scene.node, "Do it.");
	scene_tick(0);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_TIMEOUT;
	scene_tick(5000);
	ck_assert_str_eq(scene_decided(RECONCILE_RESEND)->dispatch_id, "D_1-1");
	ck_assert_str_eq(scene.result.decisions[0].text, "Do it.");
	ck_assert_uint_eq(scene.one->dispatch_count, 1);
	ck_assert_int_eq(scene.one->dispatches[0].result, DISPATCH_PENDING);
	/* Once; then it is asked, under a new id. */
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ERROR;
	scene_tick(5000);
	ck_assert_str_eq(scene_decided(RECONCILE_NUDGE)->dispatch_id, "D_1-2");
	/* A nudge that failed is the same nudge again. */
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ERROR;
	scene_tick(10000);
	ck_assert_str_eq(scene_decided(RECONCILE_RESEND)->dispatch_id, "D_1-2");
	ck_assert_ptr_nonnull(
	    strstr(scene.result.decisions[0].text, "Status:"));
	scene_end();
}

TEST(a_rerun_gets_a_new_id)
{
	scene_begin(ASSIGNMENT_QUEUED);
	plan_node_instruct(scene.node, "Do it.");
	scene.one->recovery_policy = RECOVERY_RESEND_LAST;
	scene_tick(0);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	scene_tick(5000);
	ck_assert_str_eq(scene_decided(RECONCILE_RESEND)->dispatch_id, "D_1-2");
	ck_assert_str_eq(scene.result.decisions[0].text, "Do it.");
	scene_end();
}

/* A crash between storing and sending loses no words. */
TEST(a_stored_dispatch_can_still_be_sent)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct reconcile_world copy;
	const struct plan_node *node;

	scene_begin(ASSIGNMENT_QUEUED);
	plan_node_instruct(scene.node, "Do it.");
	for (int i = 0; i < 3; i++) {
		scene_tick(i == 0 ? 0 : 20000);
		ck_assert_uint_eq(scene.result.decision_count, 1);
		reconcile_world_reload(&scene.world, &copy);
		node = reconcile_world_find(&copy.set, "A_1");
		ck_assert_int_eq(
		    plan_node_last_dispatch(node)->result, DISPATCH_PENDING);
		ck_assert_str_eq(plan_node_last_dispatch(node)->id,
		    scene.result.decisions[0].dispatch_id);
		buf_clear(&text);
		reconcile_dispatch_text(
		    &copy.set, node, plan_node_last_dispatch(node), &text);
		ck_assert_str_eq(text.data, scene.result.decisions[0].text);
		reconcile_world_release(&copy);
		plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	}
	/* The work, a nudge and an escalation. */
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_BLOCKED);
	scene_end();
}

TEST(nothing_is_sent_inside_the_interval)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.world.config.min_resend_ms = 60000;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_STALLED);
	scene_tick(49999);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_tick(1);
	scene_decided(RECONCILE_NUDGE);
	scene_end();
}

/* --- liveness --------------------------------------------------------- */

TEST(a_worker_inside_a_turn_is_left_to_auto_mode)
{
	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 7;
	scene.one->backoff_until_ms = scene.world.now_ms + 5;
	scene.one->expected_update_ms = scene.world.now_ms - 5;
	scene.facts->in_turn = true;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	ck_assert_int_eq(scene.one->retry_count, 0);
	ck_assert_int_eq(scene.one->backoff_until_ms, 0);
	ck_assert_int_eq(
	    scene.one->expected_update_ms, scene.world.now_ms + 1000);
	/* However long it takes. */
	scene_tick(1000000);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	scene_end();
}

TEST(activity_since_the_last_message_is_progress)
{
	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 1;
	scene.facts->activity_ms = scene.world.now_ms - 500;
	scene_tick(0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	ck_assert_int_eq(scene.one->retry_count, 0);
	ck_assert_int_eq(
	    scene.one->expected_update_ms, scene.world.now_ms + 500);
	scene_tick(499);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_uint_eq(scene.result.worked_count, 0);
	scene_tick(1);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_STALLED);
	scene_decided(RECONCILE_NUDGE);
	scene_end();
}

TEST(an_answer_in_words_is_life_and_no_progress)
{
	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 1;
	scene.one->backoff_until_ms = scene.world.now_ms + 100;
	scene.facts->activity_ms = scene.world.now_ms - 500;
	scene.facts->talk = true;
	scene_tick(0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	ck_assert_int_eq(
	    scene.one->expected_update_ms, scene.world.now_ms + 500);
	ck_assert_int_eq(scene.one->retry_count, 1);
	ck_assert_int_gt(scene.one->backoff_until_ms, 0);
	scene_end();
}

TEST(activity_before_the_last_message_is_none)
{
	scene_begin(ASSIGNMENT_STALLED);
	scene.facts->activity_ms = scene.one->last_dispatch_ms;
	scene_tick(0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_STALLED);
	scene_decided(RECONCILE_NUDGE);
	scene_end();
}

TEST(a_due_update_is_late_before_the_idle_time)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.world.config.idle_after_ms = 1000000;
	scene.one->expected_update_ms = scene.world.now_ms + 1;
	ck_assert(!reconcile_is_stale(
	    scene.one, &scene.world.config, scene.world.now_ms));
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert(reconcile_is_stale(
	    scene.one, &scene.world.config, scene.world.now_ms + 1));
	scene_tick(1);
	ck_assert_str_eq(scene_decided(RECONCILE_NUDGE)->code, "overdue");
	scene_end();
}

TEST(an_assignment_may_have_its_own_idle_time)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.one->idle_after_ms = 20000;
	scene_tick(9999);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	scene_tick(1);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_STALLED);
	scene_end();
}

/* --- the ladder ------------------------------------------------------- */

TEST(nudges_then_a_person)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.world.config.max_retries = 2;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_NUDGE)->code, "idle");
	ck_assert_int_eq(scene.one->retry_count, 1);
	ck_assert_int_eq(
	    scene.one->backoff_until_ms, scene.world.now_ms + 2000);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_OK;
	scene_tick(1999);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_tick(1);
	scene_decided(RECONCILE_NUDGE);
	ck_assert_int_eq(
	    scene.one->backoff_until_ms, scene.world.now_ms + 4000);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_OK;
	scene_tick(4000);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "retries");
	ck_assert_int_eq(scene.result.decisions[0].mode, DISPATCH_ESCALATE);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_BLOCKED);
	ck_assert_int_eq(scene.node->status, NODE_BLOCKED);
	ck_assert(scene.one->escalated);
	ck_assert(
	    scene_told("assignment.escalated") && scene_told("work.blocked"));
	scene_tick(10000000);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

static void
ask_and_unblock(const char *answer)
{
	struct plan_changes changes = { 0 };
	struct plan_edit edit = { .plan = scene.world.set.plans[0],
		.actor = "person",
		.why = answer,
		.changes = &changes };

	scene.facts->asked = true;
	scene.facts->reply_ms = scene.world.now_ms;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "question");
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	edit.now_ms = scene.world.now_ms;
	ck_assert_int_eq(plan_edit_unblock(&edit, "S1.1.1", NULL), 0);
	plan_changes_release(&changes);
}

TEST(who_asked_goes_on_with_the_answer_when_a_person_unblocks_it)
{
	cleanup_buf struct buf text = BUF_INIT;

	scene_begin(ASSIGNMENT_ACTIVE);
	plan_node_instruct(scene.node, "Indent it.");
	ask_and_unblock("Tabs.");
	scene.world.busy = true;
	scene_tick(1);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene.world.busy = false;
	scene_tick(1);
	ck_assert_str_eq(scene_decided(RECONCILE_ASSIGN)->code, "unblocked");
	ck_assert_int_eq(scene.result.decisions[0].mode, DISPATCH_SEND);
	ck_assert_str_eq(scene.result.decisions[0].text,
	    "What blocked this work is settled: Tabs.\n\nGo on with it. The "
	    "instruction, once more:\n\nIndent it.");
	/* The next daemon says the same. */
	reconcile_dispatch_text(&scene.world.set, scene.node,
	    plan_node_last_dispatch(scene.node), &text);
	ck_assert_str_eq(text.data, scene.result.decisions[0].text);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	ck_assert_ptr_null(scene.one->blocked_reason);
	ck_assert(!scene.one->escalated);
	ck_assert_int_eq(scene.node->status, NODE_IN_PROGRESS);
	scene_tick(1);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(what_is_unblocked_goes_to_another_if_nobody_has_it)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	ask_and_unblock(NULL);
	scene.facts->lost = true;
	scene_tick(1);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_CANCELLED);
	ck_assert_int_eq(scene.node->status, NODE_QUEUED);
	scene_end();
}

TEST(the_policy_is_one_step_after_another)
{
	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 1;
	scene.one->recovery_policy = RECOVERY_REPLAN;
	xstrset(&scene.one->worker, "auto-1");
	scene_tick(0);
	ck_assert_ptr_null(scene_decided(RECONCILE_REPLAN)->dispatch_id);
	ck_assert(scene_told("assignment.replan"));
	scene_tick(1);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_tick(10000);
	ck_assert_uint_eq(scene.result.decision_count, 2);
	ck_assert_int_eq(scene.result.decisions[0].kind, RECONCILE_CANCEL);
	ck_assert_str_eq(scene.result.decisions[0].worker, "auto-1");
	ck_assert_int_eq(scene.result.decisions[1].kind, RECONCILE_REASSIGN);
	ck_assert_int_eq(scene.result.decisions[1].mode, DISPATCH_SPAWN);
	ck_assert_str_eq(scene.result.decisions[1].assignment_id, "A_1-r2");
	ck_assert_str_eq(scene.result.decisions[1].dispatch_id, "D_1-r2-1");
	ck_assert(scene_told("assignment.cancelled"));
	ck_assert_str_eq(scene.one->id, "A_1-r2");
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	ck_assert_ptr_null(scene.one->worker);
	ck_assert_uint_eq(scene.result.worked_count, 1);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	scene_tick(2000);
	scene_decided(RECONCILE_NUDGE);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	scene_tick(10000);
	scene_decided(RECONCILE_ESCALATE);
	scene_end();
}

TEST(a_new_plan_has_the_back_off_or_the_idle_time_whichever_is_longer)
{
	static const int64_t idle_and_wait[][2] = { { 1000, 4000 },
		{ 8000, 8000 } };

	for (size_t i = 0; i < nitems(idle_and_wait); i++) {
		scene_begin(ASSIGNMENT_STALLED);
		scene.world.config.idle_after_ms = idle_and_wait[i][0];
		scene.one->retry_count = 1;
		scene.one->recovery_policy = RECOVERY_REPLAN;
		xstrset(&scene.one->worker, NULL);
		scene_tick(0);
		scene_decided(RECONCILE_REPLAN);
		scene_tick(idle_and_wait[i][1] - 1);
		ck_assert_uint_eq(scene.result.decision_count, 0);
		scene_tick(1);
		scene_decided(RECONCILE_REASSIGN);
		scene_end();
	}
}

/* A person says it in the plan, and it decides. */
TEST(the_policy_of_a_node_or_what_is_above_it_decides)
{
	struct plan *plan;

	for (int i = 0; i < 3; i++) {
		scene_begin(ASSIGNMENT_STALLED);
		plan = plan_set_plan(&scene.world.set, "goal_1");
		scene.one->retry_count = 1;
		if (i == 0)
			scene.node->recovery_policy = RECOVERY_REPLAN;
		else if (i == 1)
			scene.node->parent->recovery_policy = RECOVERY_REPLAN;
		else
			plan->goal->recovery_policy = RECOVERY_REPLAN;
		scene_tick(0);
		scene_decided(RECONCILE_REPLAN);
		xstrset(&scene.one->worker, NULL); /* nobody to salvage from */
		scene_tick(10000);
		scene_decided(RECONCILE_REASSIGN);
		/* Another worker is tried once. */
		plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
		scene_tick(2000);
		scene_decided(RECONCILE_NUDGE);
		plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
		scene_tick(10000);
		scene_decided(RECONCILE_ESCALATE);
		scene_end();
	}
	/* That of the assignment wins. */
	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 1;
	scene.node->recovery_policy = RECOVERY_REPLAN;
	scene.one->recovery_policy = RECOVERY_ESCALATE;
	scene_tick(0);
	scene_decided(RECONCILE_ESCALATE);
	scene_end();
	/* The instruction again, and not a question. */
	scene_begin(ASSIGNMENT_QUEUED);
	plan_node_instruct(scene.node, "Do it.");
	scene.node->recovery_policy = RECOVERY_RESEND_LAST;
	scene_tick(0);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_ACCEPTED;
	scene_tick(5000);
	scene_decided(RECONCILE_RESEND);
	scene_end();
}

TEST(the_messages_of_a_stalled_session_shorten_the_ladder)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.facts->sample = STALL_WAITING;
	scene.facts->sample_why = "its last message asks a question";
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "waiting");
	ck_assert_str_eq(
	    scene.one->blocked_reason, "its last message asks a question");
	scene_end();
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.one->recovery_policy = RECOVERY_REASSIGN;
	xstrset(&scene.one->worker, NULL);
	scene.facts->sample = STALL_FAILED;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_REASSIGN)->code, "failed");
	scene_end();
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.facts->sample = STALL_SLOW;
	scene_tick(0);
	scene_decided(RECONCILE_NUDGE);
	scene_end();
}

TEST(replies_without_an_update_do_not_go_on_for_ever)
{
	int messages = 0;

	scene_begin(ASSIGNMENT_DISPATCHED);
	while (scene.one->status != ASSIGNMENT_BLOCKED && messages < 100) {
		/* It answers each message with nothing. */
		scene_tick(5000);
		if (scene.result.decision_count == 0)
			continue;
		messages++;
		plan_node_last_dispatch(scene.node)->result = DISPATCH_OK;
		scene.facts->activity_ms = scene.facts->reply_ms =
		    scene.world.now_ms + 1;
	}
	ck_assert_int_le(
	    messages, reconcile_messages_max(&scene.world.config) + 1);
	ck_assert_str_eq(scene.result.decisions[0].code, "messages");
	scene_end();
}
