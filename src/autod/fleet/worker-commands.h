/* SPDX-License-Identifier: ISC */

/* What a person does with a worker: add, remove or reset it, give it a task,
 * talk to it, reject its work. Landing it is the floor above. */
#ifndef WORKER_COMMANDS_H
#define WORKER_COMMANDS_H

#include <stdbool.h>

struct agent;
struct fleet;
struct server_call;
struct worker;

/* Registers the methods. */
void worker_commands_register(struct fleet *fleet);

/* Refuse a call that the worker's status does not allow; wanted: what would. */
void worker_commands_wrong_status(
    struct server_call *call, const struct worker *worker, const char *wanted);
/* Two prompts at once would become one in the box. True: refused. */
bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call);

#endif
