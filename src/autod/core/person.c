/* SPDX-License-Identifier: ISC */

#include "core.h"
#include "json.h"
#include "notify.h"
#include "person.h"
#include "settings.h"
#include "workspace.h"

#define DEADLINE_MS (60 * 1000)

void
person_tell(const struct core *core, const char *what, const char *why)
{
	cleanup_json struct json_object *message = json_object_new_object();

	json_set_string(message, "root", core->workspace->root);
	json_set_string(message, "what", what);
	json_set_string(message, "why", why);
	notify_person(core->loop,
	    settings_string(core->settings, "overseer.notify_command"), message,
	    DEADLINE_MS);
}
