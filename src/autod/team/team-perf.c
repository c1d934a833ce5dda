/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "perf-files.h"
#include "perf-stats.h"
#include "persist.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-perf.h"

struct team_perf {
	struct core *core;
	bool begun; /* what there was at the start is written */
	int64_t tidied_day;
};

static char **
ids_of(struct json_object *ended)
{
	char **ids = NULL;

	json_object_object_foreach(ended, id, record)
	{
		(void)record;
		strv_add(&ids, id);
	}
	return ids;
}

/* False: a record is not in its file yet. */
static bool
write_records(struct team_perf *perf, struct task_run *run)
{
	cleanup_strv char **ids = ids_of(run->ended);
	struct err err = { 0 };

	for (size_t i = 0; i < strv_count(ids); i++) {
		struct json_object *record =
		    json_object_object_get(run->ended, ids[i]);

		if (perf_files_add(perf->core->workspace, record, !perf->begun,
			&err) < 0) {
			log_debug("%s is not recorded: %s", ids[i], err.msg);
			return false;
		}
		json_object_object_del(run->ended, ids[i]);
	}
	json_object_put(take_ptr(&run->ended));
	persist_changed(perf->core);
	return true;
}

static bool
is_due(const struct team_perf *perf)
{
	const struct state *state = &perf->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->run != NULL &&
		    state->tasks[i]->run->ended != NULL)
			return true;
	return false;
}

/* Those that are saved in the state. */
static void
write_all(void *arg)
{
	struct team_perf *perf = arg;
	const struct state *state = &perf->core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		struct task_run *run = state->tasks[i]->run;

		if (run != NULL && run->ended != NULL)
			write_records(perf, run);
	}
	perf->begun = !is_due(perf);
}

void
team_perf_files(struct team_perf *perf, struct task *task)
{
	struct task_run *run = task->run;

	if (run != NULL && run->ended != NULL && !write_records(perf, run))
		json_object_put(take_ptr(&run->ended));
}

static void
on_event(const struct event *event, void *arg)
{
	struct team_perf *perf = arg;

	if (event->kind == EVENT_TASK_RETRY ||
	    event->kind == EVENT_TASK_FINISHED)
		persist_then(perf->core, perf, write_all, perf);
}

void
team_perf_begin(struct team_perf *perf)
{
	if (is_due(perf))
		persist_then(perf->core, perf, write_all, perf);
	else
		perf->begun = true;
}

void
team_perf_patrol(struct team_perf *perf)
{
	int64_t now = clock_wall_ms();

	if (is_due(perf))
		persist_then(perf->core, perf, write_all, perf);
	if (now / PERF_DAY_MS == perf->tidied_day)
		return;
	perf->tidied_day = now / PERF_DAY_MS;
	perf_files_tidy(perf->core->workspace, now);
}

struct team_perf *
team_perf_new(struct team_floor *floor)
{
	struct team_perf *perf = xcalloc(1, sizeof *perf);

	perf->core = floor->core;
	emit_subscribe(perf->core, on_event, perf);
	return perf;
}

void
team_perf_free(struct team_perf *perf)
{
	if (perf == NULL)
		return;
	persist_forget(perf->core, perf);
	emit_unsubscribe(perf->core, on_event, perf);
	free(perf);
}
