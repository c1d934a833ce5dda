/* SPDX-License-Identifier: ISC */

/* Any reply of an agent: what it says is one of the things that can be said,
 * and an update in it is within its bounds, or there is a reason. */

#include "fuzz.h"
#include "turn.h"
#include "hook-event.h"

/* A blocked one says what it is blocked by; the same words say the same. */
static void
check_said(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_said struct said said = { 0 }, again = { 0 };

	said_read(&(struct said_sources){ .text = text }, &said);
	check(said.what < SAID_COUNT);
	check(said.what != SAID_BLOCKED || said.words != NULL);
	check(said.fault.code == 0 || said.update == NULL);
	said_read(&(struct said_sources){ .text = text, .report = said.report },
	    &again);
	check(again.update != NULL || said.report != NULL ||
	    again.what == said.what);
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
	check_said(data, size);
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
	check(update_bind(again, again->goal_id, again->node_id, NULL) == 0);
	return 0;
}
