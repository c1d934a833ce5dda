/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "json.h"
#include "mem.h"
#include "view-doc.h"
#include "view-needs.h"

/* The first letter of a key orders the kinds. */
static void
add_need(struct json_object *needs, char rank, const char *what,
    const char *who, const char *words, const char *command)
{
	struct json_object *row = json_object_new_object();
	cleanup_free char *key = xasprintf("%c-%s", rank, who);

	json_set_string(row, "what", what);
	json_set_string(row, "who", who);
	json_set_string(row, "words", words);
	json_set_string(row, "command", command);
	json_set(needs, key, row);
}

static void
add_workers(struct json_object *view, struct json_object *needs)
{
	json_object_object_foreach(view_of(view, "workers"), name, row)
	{
		const char *status = json_string_or(row, "status", "");
		const char *words = json_string_or(row, "remark", NULL);

		if (strcmp(status, "error") == 0)
			add_need(needs, 'b', "error", name, words, NULL);
	}
}

void
view_needs(struct json_object *view)
{
	struct json_object *needs = json_object_new_object();

	add_workers(view, needs);
	json_set(view, "needs", needs);
}
