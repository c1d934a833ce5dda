/* SPDX-License-Identifier: ISC */

/* The methods for tasks: task.add, task.priority, task.retry and
 * task.drop. */
#ifndef TASK_COMMANDS_H
#define TASK_COMMANDS_H

struct auto_mode;

void task_commands_register(struct auto_mode *mode);

#endif
