/* SPDX-License-Identifier: ISC */

/* Any state is either refused with a message, or unchanged after it was
 * written and read back. */

#include "fuzz.h"
#include "state.h"
#include "worker.h"

#define NOW INT64_C(1700000000000)

static void
print(const struct state *state, struct buf *out)
{
	cleanup_json struct json_object *json = state_to_json(state);

	json_print(json, true, out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf first = BUF_INIT, second = BUF_INIT;
	struct err err = { 0, "" };
	struct state state, again;

	if (state_parse((const char *)data, size, NOW, &state, &err) < 0) {
		if ((err.code != -EINVAL && err.code != -E2BIG) ||
		    err.msg[0] == '\0')
			abort();
		return 0;
	}
	for (size_t i = 0; i < state.count; i++) {
		if (state_find(&state, state.workers[i]->name) !=
		    state.workers[i])
			abort();
	}
	for (size_t i = 0; i < state.task_count; i++) {
		if (state_task(&state, state.tasks[i]->id) != state.tasks[i])
			abort();
	}
	if (state_check(&state, state.root_id, NULL, &err) == -ESTALE)
		abort();
	print(&state, &first);
	if (state_parse(first.data, first.len, NOW, &again, NULL) < 0)
		abort();
	print(&again, &second);
	if (strcmp(first.data, second.data) != 0)
		abort();
	state_release(&state);
	state_release(&again);
	return 0;
}
