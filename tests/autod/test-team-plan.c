/* SPDX-License-Identifier: ISC */

/* Plans are for people: agents may neither draft nor apply them. */
#include <check.h>

#include "agent.h"
#include "api.h"
#include "mem.h"
#include "run-dir.h"
#include "team-world.h"
#include "unit.h"

TEST(agents_may_not_draft_or_apply_plans)
{
	static const char *const methods[] = { "overseer.plan.draft",
		"overseer.plan.apply" };
	struct team_world w;
	struct agent *agent;
	struct floor_call *call;
	cleanup_free char *socket = NULL;

	team_world_begin(&w, "[plan]\nenabled = true\n");
	auto_world_task(&w.world, "a.md", "Add the numbers\n");
	auto_world_live(&w.world);
	agent = auto_world_turn(&w.world, 1);
	socket = run_dir_socket(&w.world.floor.workspace, agent->worker->name);
	for (size_t i = 0; i < nitems(methods); i++) {
		call = floor_world_ask_at(
		    &w.world.floor, socket, methods[i], "{\"goal\":\"none\"}");
		ck_assert_ptr_nonnull(floor_world_answer(&w.world.floor, call));
		ck_assert_int_eq(floor_call_code(call), API_E_UNAUTHORIZED);
	}
	team_world_end(&w);
}
