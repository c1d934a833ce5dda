/* SPDX-License-Identifier: ISC */

/* The names of the steps, and the table of which may follow which. */

#include "mem.h"
#include "task-step.h"

const char *const task_step_words[] = {
	[TASK_OFFERED] = "offered",
	[TASK_WAITING] = "waiting",
	[TASK_ASSIGNED] = "assigned",
	[TASK_QUEUED] = "queued",
	[TASK_LANDED] = "landed",
	[TASK_PARKED] = "parked",
	[TASK_SETTLING] = "settling",
	[TASK_STEP_COUNT] = NULL,
};

/* [from][to]. Everything else is refused; nothing follows settling. */
static const bool task_moves[TASK_STEP_COUNT][TASK_STEP_COUNT] = {
	[TASK_OFFERED] = {
		[TASK_WAITING] = true, /* taken from its source */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
	[TASK_WAITING] = {
		[TASK_ASSIGNED] = true,
		[TASK_PARKED] = true, /* no worker may have it */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
	[TASK_ASSIGNED] = {
		[TASK_WAITING] = true, /* failed, or given back */
		[TASK_QUEUED] = true, /* its worker is needed for another */
		[TASK_PARKED] = true, /* its budget is used up */
		[TASK_LANDED] = true,
		[TASK_SETTLING] = true, /* nothing to land, or no more tries */
	},
	[TASK_QUEUED] = {
		[TASK_WAITING] = true, /* it did not land */
		[TASK_LANDED] = true,
		[TASK_SETTLING] = true, /* dropped, or no more tries */
	},
	[TASK_LANDED] = {
		[TASK_WAITING] = true, /* reverted, and tried again */
		[TASK_SETTLING] = true,
	},
	[TASK_PARKED] = {
		[TASK_WAITING] = true, /* a person lets it continue */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
};

/* A new step needs a name, a row, and a check of every other row. */
_Static_assert(TASK_STEP_COUNT == 7, "task_moves knows 7 steps");
_Static_assert(
    nitems(task_step_words) == TASK_STEP_COUNT + 1, "a word for every step");

const char *
task_step_name(enum task_step step)
{
	return task_step_words[step];
}

bool
task_step_may(enum task_step from, enum task_step to)
{
	return (unsigned)from < TASK_STEP_COUNT &&
	    (unsigned)to < TASK_STEP_COUNT && task_moves[from][to];
}
