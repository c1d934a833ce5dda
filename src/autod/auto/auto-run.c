/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auto-run.h"
#include "auto.h"
#include "book-history.h"
#include "clock.h"
#include "core.h"
#include "counters.h"
#include "json.h"
#include "life.h"
#include "mem.h"
#include "persist.h"
#include "task.h"
#include "workspace.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)

/* Of the overseer that started this daemon, else of the daemon itself. */
static char *
run_key(const struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "overseer.json");
	cleanup_json struct json_object *overseer = NULL;
	const char *key = NULL;

	if (life_is_overseen(core) &&
	    json_load(file, DOCUMENT_MAX, &overseer, NULL) == 0 &&
	    json_object_is_type(overseer, json_type_object))
		key = json_string_or(overseer, "instance_id", NULL);
	return xstrdup(key != NULL ? key : core->instance);
}

void
auto_run_begin(struct auto_mode *mode)
{
	struct core *core = mode->core;
	struct state *state = &core->state;
	cleanup_free char *key = run_key(core);

	if (state->run_id == NULL || state->run_key == NULL ||
	    strcmp(state->run_key, key) != 0) {
		state->run_ids++;
		xstrset(&state->run_key, key);
		free(state->run_id);
		state->run_id = xasprintf("r%" PRIu64, state->run_ids);
		state->run_ms = clock_wall_ms();
		counters_run_begins(&state->counters);
		persist_changed(core);
	}
	book_begin_run(
	    core->book, state->run_id, core->instance, clock_wall_ms());
}

void
auto_run_end(struct auto_mode *mode)
{
	const struct core *core = mode->core;

	if (mode->begun && core->state.run_id != NULL)
		book_end_run(core->book, core->state.run_id, core->instance,
		    clock_wall_ms(), life_is_complete(core));
}

void
auto_run_stamp(const struct auto_mode *mode, struct task *task)
{
	xstrset(&task->run_id, mode->core->state.run_id);
}
