/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "serve.h"
#include "team-floor.h"
#include "team-reserve.h"

static void
absent(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "not built yet");
}

void
team_reserve_register(struct team_floor *floor)
{
	static const char *const methods[] = {
		"team.mail_reserve",
		"team.mail_release",
		"team.mail_list_reservations",
	};

	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(floor->core, methods[i], absent, floor);
}
