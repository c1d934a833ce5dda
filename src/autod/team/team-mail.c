/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "serve.h"
#include "team-floor.h"
#include "team-mail.h"

static void
absent(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "not built yet");
}

void
team_mail_register(struct team_floor *floor)
{
	static const char *const methods[] = {
		"team.mail_send",
		"team.mail_inbox",
		"team.mail_ack",
		"mail.send",
		"mail.inbox",
		"mail.show",
		"mail.ack",
	};

	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(floor->core, methods[i], absent, floor);
}
