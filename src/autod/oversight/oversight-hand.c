/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "hand-task.h"
#include "iteration.h"
#include "mem.h"
#include "oversight-floor.h"
#include "oversight-hand.h"
#include "text.h"
#include "watched.h"

/* Is this what the last iteration was for? */
static bool
is_for(const struct watched *w, const char *prompt)
{
	size_t len = text_cut(prompt, strlen(prompt), ITERATION_TEXT_MAX);

	return w->objective == NULL ||
	    (strlen(w->objective) == len &&
		memcmp(w->objective, prompt, len) == 0);
}

struct watched *
oversight_hand_watched(struct oversight_floor *floor, const struct agent *agent)
{
	const struct worker *worker = agent->worker;
	cleanup_free char *task = NULL;
	struct watched *w;

	if (floor->config.mode == OVERSIGHT_OFF || worker->task != NULL ||
	    worker->prompt == NULL)
		return NULL;
	task = hand_task_name(worker->name);
	w = oversight_floor_find(floor, task);
	if (!is_for(w, worker->prompt))
		watched_restart(w, &floor->config.thresholds);
	return w;
}

bool
oversight_hand_is_held(const struct oversight_floor *floor, const char *task)
{
	const char *name = hand_task_worker(task);
	const struct agent *agent =
	    name != NULL ? fleet_find(floor->fleet, name) : NULL;

	return agent != NULL && agent->worker->task == NULL &&
	    agent->worker->prompt != NULL;
}
