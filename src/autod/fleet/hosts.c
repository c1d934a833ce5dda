/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "agent.h"
#include "box.h"
#include "emit.h"
#include "hosts.h"
#include "json.h"
#include "mem.h"
#include "serve.h"

struct hosts {
	struct fleet *fleet;
};

static void
on_event(const struct event *event, void *arg)
{
	const struct hosts *hosts = arg;
	const struct fleet *fleet = hosts->fleet;

	if (event->kind != EVENT_SETTINGS_READ)
		return;
	for (size_t i = 0; i < fleet->count; i++)
		box_refresh(fleet->core->workspace, fleet->core->settings,
		    fleet->agents[i]->worker->name);
}

/* The worker is the one whose socket it came in at. */
static void
on_refused(void *arg, struct server_call *call, struct json_object *params)
{
	const struct hosts *hosts = arg;
	cleanup_free char *text =
	    xasprintf("%s:%d", json_string_or(params, "host", ""),
		(int)json_int_or(params, "port", 0));

	emit(hosts->fleet->core,
	    &(struct event){ .kind = EVENT_HOST_REFUSED,
		.worker = json_string_or(params, "worker", ""),
		.text = text });
	serve_reply(hosts->fleet->core, call, NULL);
}

struct hosts *
hosts_new(struct fleet *fleet)
{
	struct hosts *hosts = xcalloc(1, sizeof *hosts);

	hosts->fleet = fleet;
	emit_subscribe(fleet->core, on_event, hosts);
	serve_handle(fleet->core, "sandbox.refused", on_refused, hosts);
	return hosts;
}

void
hosts_free(struct hosts *hosts)
{
	emit_unsubscribe(hosts->fleet->core, on_event, hosts);
	free(hosts);
}
