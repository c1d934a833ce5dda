/* SPDX-License-Identifier: ISC */

/* What replies and results change, and what is around them. */

#include "plan-goal.h"
#include "reconcile-scene.h"
#include "settings-world.h"

/* --- replies ---------------------------------------------------------- */

TEST(a_question_is_for_a_person_at_once)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->asked = true;
	scene.facts->question = "Which database?";
	scene.facts->activity_ms = scene.facts->reply_ms =
	    scene.world.now_ms - 10;
	scene.world.busy = true;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene.world.busy = false;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "question");
	ck_assert_str_eq(scene.node->blocked_reason, "Which database?");
	scene_tick(1000);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	/* Somebody answers: a turn begins. */
	scene.facts->in_turn = true;
	scene_tick(1000);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	ck_assert_int_eq(scene.node->status, NODE_IN_PROGRESS);
	ck_assert_ptr_null(scene.node->blocked_reason);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(what_waits_for_a_worker_or_its_landing_does_not_stall)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.facts->waiting = true;
	scene_tick(scene.world.config.idle_after_ms * 100);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	/* Its result counts nevertheless. */
	scene.facts->accepted = true;
	scene_tick(1);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DONE);
	scene_end();
}

/* An outcome is recorded at once, also if the tick is off or the goal
 * paused. */
TEST(one_assignment_ends_whatever_the_tick_does)
{
	struct reconcile_config config;
	const struct plan *plan;

	scene_begin(ASSIGNMENT_ACTIVE);
	plan = plan_set_plan(&scene.world.set, "goal_1");
	plan_goal_move(
	    plan->goal, GOAL_PAUSED, NULL, NULL, scene.world.now_ms, NULL);
	config = scene.world.config;
	config.enabled = false;
	scene.facts->failed = true;
	reconcile_result_release(&scene.result);
	reconcile_now(&scene.world.set, scene.node, scene.facts, &config,
	    scene.world.now_ms + 1, &scene.result);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_CANCELLED);
	ck_assert_int_eq(scene.node->status, NODE_BLOCKED);
	scene_decided(RECONCILE_ESCALATE);
	reconcile_result_release(&scene.result);
	reconcile_now(&scene.world.set, scene.node, scene.facts, &config,
	    scene.world.now_ms + 2, &scene.result);
	ck_assert_uint_eq(scene.result.event_count, 0);
	scene_end();
}

TEST(an_answered_question_is_not_asked_again)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->asked = true;
	scene.facts->reply_ms = scene.one->last_dispatch_ms;
	scene.one->last_activity_ms = scene.world.now_ms;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(what_a_person_blocked_stays_blocked)
{
	scene_begin(ASSIGNMENT_BLOCKED);
	scene.node->status = NODE_BLOCKED;
	scene.facts->activity_ms = scene.facts->turn_ms =
	    scene.world.now_ms - 1;
	scene_tick(0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_BLOCKED);
	scene.facts->in_turn = true;
	scene_tick(100000);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_BLOCKED);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(an_update_counts_once)
{
	cleanup_update struct update *update =
	    scene_update("{\"status\":\"in_progress\",\"summary\":\"half\","
			 "\"next\":\"the rest\",\"blockers\":[\"slow disk\"],"
			 "\"openQuestions\":[\"why?\"],\"decisions\":[\"x\"],"
			 "\"evidence\":{\"commits\":[\"abc\"]}}");
	const struct plan_crystal *crystal;

	scene_begin(ASSIGNMENT_STALLED);
	scene.one->retry_count = 1;
	scene.one->follow_up = true;
	scene.facts->update = update;
	scene.facts->message_id = "m1";
	scene.facts->reply_ms = scene.world.now_ms - 100;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	ck_assert_int_eq(scene.one->retry_count, 0);
	ck_assert(!scene.one->follow_up);
	/* Blockers of somebody who goes on are only recorded. */
	ck_assert_ptr_null(scene.one->blocked_reason);
	ck_assert_uint_eq(scene.result.crystal_count, 1);
	crystal = scene.result.crystals[0];
	ck_assert_ptr_eq(scene.node->crystal, crystal);
	ck_assert_str_eq(crystal->summary, "half");
	ck_assert_str_eq(crystal->known_blockers[0], "slow disk");
	ck_assert_str_eq(crystal->next_actions[0], "the rest");
	ck_assert_str_eq(crystal->open_questions[0], "why?");
	ck_assert_str_eq(crystal->decisions[0].decision, "x");
	ck_assert_str_eq(crystal->evidence.commits[0], "abc");
	ck_assert_str_eq(crystal->message_id, "m1");
	ck_assert(scene_told("work.update"));
	scene_tick(10);
	ck_assert_uint_eq(scene.result.crystal_count, 0);
	ck_assert_uint_eq(scene.result.event_count, 0);
	scene_end();
}

TEST(a_blocked_update_tells_a_person_once)
{
	cleanup_update struct update *update =
	    scene_update("{\"status\":\"blocked\",\"blockers\":[\"a\",\"b\"]}");

	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->update = update;
	scene.facts->reply_ms = scene.facts->activity_ms =
	    scene.world.now_ms - 1;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "blocked");
	ck_assert_str_eq(scene.one->blocked_reason, "a; b");
	ck_assert_int_eq(scene.node->status, NODE_BLOCKED);
	scene_tick(100000);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(a_reply_without_an_update_gets_one_follow_up)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.world.config.max_retries = 5;
	scene_tick(0);
	scene_decided(RECONCILE_NUDGE);
	plan_node_last_dispatch(scene.node)->result = DISPATCH_OK;
	scene.facts->activity_ms = scene.facts->reply_ms =
	    scene.world.now_ms + 1;
	scene.facts->update_fault = "overseerUpdate.status: no";
	scene_tick(10);
	scene_decided(RECONCILE_FOLLOW_UP);
	ck_assert_ptr_nonnull(strstr(
	    scene.result.decisions[0].text, "overseerUpdate.status: no"));
	plan_node_last_dispatch(scene.node)->result = DISPATCH_OK;
	scene.facts->activity_ms = scene.facts->reply_ms =
	    scene.world.now_ms + 1;
	scene_tick(10);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_tick(5000);
	scene_decided(RECONCILE_NUDGE);
	scene_end();
}

/* --- results ---------------------------------------------------------- */

TEST(an_accepted_result_closes_the_node_with_its_evidence)
{
	struct plan_evidence evidence = {
		.commits = (char *[]){ (char[]){ "abc" }, NULL },
	};

	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->accepted = true;
	scene.facts->evidence = &evidence;
	scene.facts->accepted_by = "landing";
	scene_tick(0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DONE);
	ck_assert_int_eq(scene.node->status, NODE_DONE);
	ck_assert_str_eq(scene.node->evidence.commits[0], "abc");
	ck_assert_uint_eq(scene.result.crystal_count, 1);
	ck_assert_int_eq(scene.result.crystals[0]->source, CRYSTAL_LANDING);
	ck_assert(!plan_node_is_assigned(scene.node));
	ck_assert(scene_told("work.done") && scene_told("assignment.done"));
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(the_last_node_completes_the_goal)
{
	struct plan *plan;

	scene_begin(ASSIGNMENT_ACTIVE);
	plan = plan_set_plan(&scene.world.set, "goal_1");
	reconcile_world_assign(
	    &scene.world, "A_2", "goal_1", "S1.1.2", ASSIGNMENT_ACTIVE);
	reconcile_world_facts(&scene.world, "A_1")->accepted = true;
	reconcile_world_facts(&scene.world, "A_2")->accepted = true;
	scene_tick(0);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert(scene_told("goal.completed"));
	/* Of two results, a task, a phase and the goal. */
	ck_assert_uint_eq(scene.result.crystal_count, 5);
	scene_tick(0);
	ck_assert_uint_eq(scene.result.event_count, 0);
	scene_end();
}

TEST(a_failed_task_is_not_made_again)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->failed = true;
	scene.facts->failed_why = "the check failed";
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_ESCALATE)->code, "failed");
	ck_assert_str_eq(scene.result.decisions[0].reason, "the check failed");
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_CANCELLED);
	ck_assert_int_eq(scene.node->status, NODE_BLOCKED);
	ck_assert(!plan_node_is_assigned(scene.node));
	scene_end();
}

TEST(a_failed_task_is_planned_anew_once)
{
	for (int dropped = 0; dropped < 2; dropped++) {
		scene_begin(ASSIGNMENT_ACTIVE);
		scene.node->recovery_policy = RECOVERY_REPLAN;
		scene.facts->failed = true;
		scene.facts->failed_why = "the check failed";
		scene.facts->dropped = dropped;
		scene_tick(0);
		scene_decided(dropped ? RECONCILE_ESCALATE : RECONCILE_REPLAN);
		ck_assert_int_eq(scene.node->replans, !dropped);
		ck_assert_int_eq(scene.one->status, ASSIGNMENT_CANCELLED);
		ck_assert_int_eq(scene.node->status,
		    dropped ? NODE_BLOCKED : NODE_IN_PROGRESS);
		if (!dropped)
			ck_assert_str_eq(
			    scene.node->replan_why, "the check failed");
		scene_end();
	}
}

TEST(each_way_to_recover_is_tried_once)
{
	static const struct {
		enum recovery_policy policy;
		int replans;
		bool reassigned;
		enum recovery_policy next;
	} rows[] = {
		{ RECOVERY_UNSET, 0, false, RECOVERY_ESCALATE },
		{ RECOVERY_RETRY, 0, false, RECOVERY_ESCALATE },
		{ RECOVERY_ESCALATE, 0, false, RECOVERY_ESCALATE },
		{ RECOVERY_REPLAN, 0, true, RECOVERY_REPLAN },
		{ RECOVERY_REPLAN, 1, false, RECOVERY_ESCALATE },
		{ RECOVERY_REASSIGN, 1, false, RECOVERY_REASSIGN },
		{ RECOVERY_REASSIGN, 0, true, RECOVERY_ESCALATE },
	};

	scene_begin(ASSIGNMENT_ACTIVE);
	for (size_t i = 0; i < nitems(rows); i++) {
		scene.node->recovery_policy = rows[i].policy;
		scene.node->replans = rows[i].replans;
		ck_assert_int_eq(plan_recovery_next(
				     plan_set_plan(&scene.world.set, "goal_1"),
				     scene.node, rows[i].reassigned),
		    rows[i].next);
	}
	scene_end();
}

/* As long as there are retries; then a person decides. */
TEST_ROWS(what_nobody_works_on_is_queued_again, 2)
{
	bool last = _i == 1;

	scene_begin(ASSIGNMENT_ACTIVE);
	scene.facts->lost = true;
	scene.node->attempts = scene.world.config.max_retries + last;
	scene_tick(0);
	ck_assert_str_eq(
	    scene_decided(last ? RECONCILE_ESCALATE : RECONCILE_RELEASE)->code,
	    "lost");
	ck_assert_int_eq(scene.node->status, last ? NODE_BLOCKED : NODE_QUEUED);
	scene_end();
}

/* --- around it -------------------------------------------------------- */

TEST(busy_records_and_decides_later)
{
	for (int i = 0; i < 2; i++) {
		scene_begin(ASSIGNMENT_DISPATCHED);
		scene.facts->busy = i == 0;
		scene.world.busy = i == 1;
		scene_tick(0);
		ck_assert_uint_eq(scene.result.decision_count, 0);
		ck_assert_int_eq(scene.one->status, ASSIGNMENT_STALLED);
		scene.facts->busy = scene.world.busy = false;
		scene_tick(0);
		scene_decided(RECONCILE_NUDGE);
		scene_end();
	}
}

TEST(a_paused_goal_decides_nothing)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	plan_set_plan(&scene.world.set, "goal_1")->goal->status = GOAL_PAUSED;
	scene.facts->activity_ms = scene.world.now_ms - 1;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_ACTIVE);
	scene_tick(100000);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	scene_end();
}

TEST(an_ended_goal_ends_its_assignments)
{
	scene_begin(ASSIGNMENT_ACTIVE);
	plan_set_plan(&scene.world.set, "goal_1")->goal->status =
	    GOAL_CANCELLED;
	scene_tick(0);
	ck_assert_str_eq(scene_decided(RECONCILE_CANCEL)->code, "goal-ended");
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_CANCELLED);
	scene_end();
	scene_begin(ASSIGNMENT_ACTIVE);
	scene.node->status = NODE_DONE;
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DONE);
	ck_assert_str_eq(scene.one->override.actor, "tick");
	scene_end();
}

TEST(another_agent_is_left_alone_until_its_goal_ends)
{
	scene_begin(ASSIGNMENT_DISPATCHED);
	scene.world.config.allow_cross_agent = false;
	xstrset(&scene.one->worker, "eve");
	xstrset(&scene.one->task, NULL);
	scene_tick(0);
	ck_assert_uint_eq(scene.result.decision_count, 0);
	ck_assert_int_eq(scene.one->status, ASSIGNMENT_DISPATCHED);
	plan_set_plan(&scene.world.set, "goal_1")->goal->status =
	    GOAL_CANCELLED;
	scene_tick(0);
	scene_decided(RECONCILE_CANCEL);
	scene_end();
}

TEST(one_tick_decides_a_bounded_number)
{
	size_t seen = 0;
	int ticks = 0;

	reconcile_world_init(&scene.world);
	reconcile_world_goal(&scene.world, "goal_1", 5, 10, 12);
	for (int p = 1; p <= 5; p++)
		for (int t = 1; t <= 10; t++)
			for (int s = 1; s <= 12; s++) {
				cleanup_free char *at =
				    xasprintf("S%d.%d.%d", p, t, s);
				cleanup_free char *id = xasprintf("A_%s", at);

				reconcile_world_assign(&scene.world, id,
				    "goal_1", at, ASSIGNMENT_QUEUED);
			}
	for (; seen < 600 && ticks < 10; ticks++) {
		scene_tick(0);
		ck_assert_uint_le(
		    scene.result.decision_count, RECONCILE_DECISIONS_MAX);
		seen += scene.result.decision_count;
	}
	ck_assert_uint_eq(seen, 600);
	ck_assert_int_eq(ticks, 3);
	scene_end();
}

TEST(the_configuration_comes_from_the_settings)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse("[plan]\nenabled = true\n");
	struct reconcile_config config;

	reconcile_config_read(p.settings, &config);
	ck_assert(config.enabled && config.allow_cross_agent);
	ck_assert_int_eq(config.tick_every_ms, 120000);
	ck_assert_int_eq(config.idle_after_ms, 900000);
	ck_assert_int_eq(config.max_retries, 2);
	ck_assert_int_eq(config.min_resend_ms, 300000);
	ck_assert_int_eq(config.backoff_base_ms, 120000);
	ck_assert_int_eq(config.backoff_max_ms, 1800000);
	ck_assert_str_eq(config.allow_agents[0], "main");
	ck_assert(reconcile_allows(&config, NULL, "auto-1"));
	ck_assert(reconcile_allows(&config, NULL, NULL));
	ck_assert(!reconcile_allows(&config, "eve", "eve"));
	config.allow_agents = (const char *const[]){ "eve", "auto-2", NULL };
	ck_assert(reconcile_allows(&config, "eve", "eve"));
	ck_assert(reconcile_allows(&config, NULL, "auto-2"));
	ck_assert(!reconcile_allows(&config, NULL, "auto-1"));
}
