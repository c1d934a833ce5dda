/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "serve.h"
#include "team-floor.h"
#include "team-request.h"

static void
absent(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "not built yet");
}

void
team_request_register(struct team_floor *floor)
{
	static const char *const methods[] = {
		"team.request_orchestrator",
		"team.respond_orchestrator_request",
		"team.plan_review_needed",
	};

	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(floor->core, methods[i], absent, floor);
}
