/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "persist.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-perf.h"

struct team_perf {
	struct core *core;
};

static void
write_records(struct book *book, struct json_object *ended)
{
	struct err err = { 0 };

	json_object_object_foreach(ended, id, record)
	{
		if (book_file_attempt(book, record, &err) < 0)
			log_debug("%s is not recorded: %s", id, err.msg);
	}
}

/* Into the book, with the task that does not have them any more. */
void
team_perf_files(struct team_perf *perf, struct task *task)
{
	struct task_run *run = task->run;

	if (run == NULL || run->ended == NULL)
		return;
	write_records(perf->core->book, run->ended);
	json_object_put(take_ptr(&run->ended));
	persist_changed(perf->core);
}

void
team_perf_write(struct team_perf *perf)
{
	const struct state *state = &perf->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		team_perf_files(perf, state->tasks[i]);
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_TASK_RETRY ||
	    event->kind == EVENT_TASK_FINISHED)
		team_perf_write(arg);
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
	emit_unsubscribe(perf->core, on_event, perf);
	free(perf);
}
