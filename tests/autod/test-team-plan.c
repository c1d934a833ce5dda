/* SPDX-License-Identifier: ISC */

/* Plans are for people: agents may neither draft nor apply them. */
#include "team-world.h"

TEST(agents_may_not_draft_or_apply_plans)
{
	static const char *const methods[] = { "overseer.plan.draft",
		"overseer.plan.apply" };
	struct agent *agent;
	struct floor_call *call;
	cleanup_free char *socket = NULL;

	team_world_begin("[plan]\nenabled = true\n");
	auto_world_task("a.md", "Add the numbers\n");
	auto_world_live();
	agent = auto_world_turn(1);
	socket = run_dir_socket(&floor_world.workspace, agent->worker->name);
	for (size_t i = 0; i < nitems(methods); i++) {
		call = floor_world_ask_at(
		    socket, methods[i], "{\"goal\":\"none\"}");
		ck_assert_ptr_nonnull(floor_world_answer(call));
		ck_assert_int_eq(floor_call_code(call), API_E_UNAUTHORIZED);
	}
}
