/* SPDX-License-Identifier: ISC */

#include "reconcile-scene.h"

#define ID "A_1"

struct reconcile_scene scene;

void
scene_begin(enum assignment_status status)
{
	reconcile_world_init(&scene.world);
	reconcile_world_goal(&scene.world, "goal_1", 1, 1, 2);
	scene.node = reconcile_world_assign(
	    &scene.world, ID, "goal_1", "S1.1.1", status);
	scene.facts = reconcile_world_facts(&scene.world, ID);
	scene.one = &scene.node->work;
	if (status != ASSIGNMENT_QUEUED)
		scene.one->last_dispatch_ms = scene.world.now_ms - 10000;
}

void
scene_end(void)
{
	reconcile_result_release(&scene.result);
	reconcile_world_release(&scene.world);
}

void
scene_tick(int64_t later_ms)
{
	reconcile_result_release(&scene.result);
	scene.world.now_ms += later_ms;
	reconcile_world_tick(&scene.world, &scene.result);
}

const struct reconcile_decision *
scene_decided(enum reconcile_kind kind)
{
	ck_assert_uint_eq(scene.result.decision_count, 1);
	ck_assert_str_eq(reconcile_kind_words[scene.result.decisions[0].kind],
	    reconcile_kind_words[kind]);
	return &scene.result.decisions[0];
}

bool
scene_told(const char *type)
{
	for (size_t i = 0; i < scene.result.event_count; i++)
		if (strcmp(scene.result.events[i].type, type) == 0)
			return true;
	return false;
}

struct update *
scene_update(const char *json)
{
	cleanup_json struct json_object *parsed = NULL;
	struct update *update = NULL;

	ck_assert_int_eq(
	    json_parse(json, strlen(json), 4096, &parsed, NULL), 0);
	ck_assert_int_eq(update_from_json(parsed, "", &update, NULL), 0);
	return update;
}
