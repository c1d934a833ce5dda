/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auto-run.h"
#include "auto.h"
#include "clock.h"
#include "core.h"
#include "counters.h"
#include "errtext.h"
#include "json.h"
#include "jsonl.h"
#include "life.h"
#include "log.h"
#include "mem.h"
#include "persist.h"
#include "task.h"
#include "workspace.h"

#define RUNS_SIZE    (1024 * 1024)
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

static void
note(const struct core *core, const char *what)
{
	cleanup_free char *file = workspace_path(core->workspace, "runs.jsonl");
	cleanup_json struct json_object *line = json_object_new_object();
	struct err err = { 0 };

	json_set_string(line, "run_id", core->state.run_id);
	json_set_string(line, "what", what);
	json_set_int(line, "at_ms", clock_wall_ms());
	json_set_string(line, "instance_id", core->instance);
	json_set_bool(line, "complete", life_is_complete(core));
	if (jsonl_append(file, line, RUNS_SIZE, 1, &err) < 0)
		log_info("runs.jsonl: %s", err.msg);
}

/* The state knows the run by now: a number is not given twice. */
static void
on_begun(void *arg)
{
	const struct auto_mode *mode = arg;

	note(mode->core, "begins");
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
	persist_then(core, mode, on_begun, mode);
}

void
auto_run_end(struct auto_mode *mode)
{
	if (mode->begun && mode->core->state.run_id != NULL)
		note(mode->core, "ends");
}

void
auto_run_stamp(const struct auto_mode *mode, struct task *task)
{
	xstrset(&task->run_id, mode->core->state.run_id);
}
