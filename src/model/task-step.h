/* SPDX-License-Identifier: ISC */

/* The steps of a task, with their names, and the table of which may follow
 * which. */
#ifndef TASK_STEP_H
#define TASK_STEP_H

#include <stdbool.h>

enum task_step {
	TASK_OFFERED, /* recorded, not yet taken from its source */
	TASK_WAITING, /* taken; no worker has it */
	TASK_ASSIGNED, /* a worker has it */
	TASK_QUEUED, /* its work waits in the landing queue; no worker has it */
	TASK_LANDED, /* on the default branch; post_accept_command is due */
	TASK_PARKED, /* over its budget: waits for a person; no worker has it */
	TASK_SETTLING, /* has its outcome; its source must be updated */
	TASK_STEP_COUNT
};

const char *task_step_name(enum task_step step); /* "waiting" */

/* For reading records (word.h), NULL terminated. */
extern const char *const task_step_words[TASK_STEP_COUNT + 1];

/* May a task go from one step to the other? False for invalid steps. The table
 * behind task_move(), public for the test that prints it. */
bool task_step_may(enum task_step from, enum task_step to);

#endif
