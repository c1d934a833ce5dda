/* SPDX-License-Identifier: ISC */

/* Any reply of an agent: an update within its bounds, or a reason. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool holds)
{
	if (!holds)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exactly this long, so that reading past the end is detected. */
	cleanup_free char *bytes = xmalloc(size > 0 ? size : 1);
	cleanup_update struct update *update = NULL, *again = NULL;
	cleanup_json struct json_object *json = NULL, *copy = NULL;
	struct err err = { 0 };

	if (size > 0)
		memcpy(bytes, data, size);
	if (update_find(bytes, size, &update, &err) < 0) {
		check(update == NULL && err.msg[0] != '\0');
		return 0;
	}
	check(update->summary == NULL ||
	    strlen(update->summary) <= UPDATE_SUMMARY_MAX);
	json = update_to_json(update);
	check(update_from_json(json, "x", &again, NULL) == 0);
	copy = update_to_json(again);
	check(json_object_equal(json, copy));
	update_merge(again, update);
	check(update_bind(again, again->goal_id, again->node_id, NULL) == 0);
	return 0;
}
