/* SPDX-License-Identifier: ISC */

/* Who may apply plans: not agents, unless they have the role for it. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "auto.h"
#include "mem.h"
#include "run-dir.h"
#include "task-run.h"
#include "task.h"
#include "team-world.h"
#include "unit.h"

#define ON "[plan]\nenabled = true\n"
#define CI "[team]\nci_may_apply = true\n"

static const struct {
	const char *settings, *role, *params;
	int code;
} cases[] = {
	{ ON, NULL, "{\"goal\":\"none\"}", API_E_UNAUTHORIZED },
	{ ON, "ci", "{\"goal\":\"none\"}", API_E_UNAUTHORIZED },
	{ ON CI, "coder", "{\"goal\":\"none\"}", API_E_UNAUTHORIZED },
	{ ON CI, NULL, "{\"goal\":\"none\",\"worker\":null}",
	    API_E_UNAUTHORIZED },
	/* It gets as far as a person would. */
	{ ON CI, "ci", "{\"goal\":\"none\"}", API_E_NOT_FOUND },
};

START_TEST(only_the_role_ci_may_apply_plans_and_only_by_the_setting)
{
	struct team_world w;
	struct agent *agent;
	struct floor_call *call;
	cleanup_free char *socket = NULL;

	team_world_begin(&w, cases[_i].settings);
	auto_world_task(&w.world, "a.md", "Add the numbers\n");
	auto_world_live(&w.world);
	agent = auto_world_turn(&w.world, 1);
	if (cases[_i].role != NULL)
		xstrset(&task_run_of(auto_task(agent))->role, cases[_i].role);
	socket = run_dir_socket(&w.world.floor.workspace, agent->worker->name);
	call = floor_world_ask_at(
	    &w.world.floor, socket, "overseer.plan.apply", cases[_i].params);
	ck_assert_ptr_nonnull(floor_world_answer(&w.world.floor, call));
	ck_assert_int_eq(floor_call_code(call), cases[_i].code);
	call = floor_world_ask_at(
	    &w.world.floor, socket, "overseer.plan.draft", cases[_i].params);
	ck_assert_ptr_nonnull(floor_world_answer(&w.world.floor, call));
	ck_assert_int_eq(floor_call_code(call), API_E_UNAUTHORIZED);
	team_world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("team-plan");

	unit_rows(suite,
	    only_the_role_ci_may_apply_plans_and_only_by_the_setting,
	    nitems(cases));
	return suite;
}
