/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "api.h"
#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "outbox-record.h"
#include "outbox.h"
#include "people-commands.h"
#include "serve.h"
#include "server.h"
#include "strv.h"
#include "workspace.h"

static void
add_some(const char *dir, bool done, struct json_object *list)
{
	cleanup_strv char **ids = outbox_list(dir, done);

	for (size_t i = 0; ids[i] != NULL; i++) {
		struct outbox_record *record = NULL;

		if (outbox_load(dir, ids[i], &record, NULL) < 0)
			continue;
		json_object_array_add(list, outbox_record_to_json(record));
		outbox_record_free(record);
	}
}

static void
on_list(void *arg, struct server_call *call, struct json_object *params)
{
	const struct core *core = arg;
	cleanup_free char *dir = workspace_path(core->workspace, "outbox");
	struct json_object *list = json_object_new_array();

	(void)params;
	add_some(dir, true, list);
	add_some(dir, false, list);
	server_reply(call, list);
}

static void
on_ack(void *arg, struct server_call *call, struct json_object *params)
{
	const struct core *core = arg;
	cleanup_free char *dir = workspace_path(core->workspace, "outbox");
	struct outbox_entry *entry = NULL;
	struct err err = { 0 };
	int r =
	    outbox_claim(dir, json_string_or(params, "id", ""), &entry, &err);

	if (r == 0) {
		outbox_record_ack(entry->record, clock_wall_ms());
		r = outbox_save(entry, &err);
	}
	if (r == 0)
		server_reply(call, outbox_record_to_json(entry->record));
	else
		serve_refuse(
		    call, r == -EAGAIN ? API_BUSY : API_FAILED, "%s", err.msg);
	outbox_release(entry);
}

void
people_commands_register(struct core *core)
{
	serve_handle(core, "people.list", on_list, core);
	serve_handle(core, "people.ack", on_ack, core);
}
