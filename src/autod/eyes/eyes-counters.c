/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "core.h"
#include "counters.h"
#include "emit.h"
#include "eyes-counters.h"
#include "eyes-floor.h"
#include "persist.h"
#include "task.h"
#include "work-span.h"

static void
count_task(struct state *state, const struct event *event)
{
	const struct task *task =
	    event->task != NULL ? state_task(state, event->task) : NULL;
	int64_t took = task != NULL ? event->at_ms - task->created_ms : 0;

	if (event->outcome == NULL)
		return;
	counters_task(&state->counters, event->outcome, took > 0 ? took : 0);
	if (strcmp(event->outcome, task_outcome_name(OUTCOME_FAILED)) == 0 ||
	    strcmp(event->outcome, task_outcome_name(OUTCOME_DEAD_LETTER)) == 0)
		counters_attempt_failed(&state->counters, event->reason);
}

static void
on_event(const struct event *event, void *arg)
{
	struct eyes_floor *eyes = arg;
	struct state *state = &eyes->core->state;
	const struct event_row *row = event_row(event->kind);

	if (row->name == NULL)
		return;
	counters_event(&state->counters, row->name);
	if (event->kind == EVENT_TASK_FINISHED)
		count_task(state, event);
	else if (event->kind == EVENT_TASK_RETRY)
		counters_attempt_failed(&state->counters, event->reason);
	persist_note(eyes->core);
}

void
eyes_counters_register(struct eyes_floor *eyes)
{
	emit_subscribe(eyes->core, on_event, eyes);
}

void
eyes_counters_end(struct eyes_floor *eyes)
{
	emit_unsubscribe(eyes->core, on_event, eyes);
}

void
eyes_counters_span(struct eyes_floor *eyes, const struct work_span *span)
{
	counters_work(&eyes->core->state.counters, work_use_words[span->use],
	    span->to_ms - span->from_ms);
	persist_note(eyes->core);
}
