/* SPDX-License-Identifier: ISC */

/* The commands for a worker: add, remove, reset or stop it, send it a message,
 * reject its work. start-queue.h gives it a task; landing is the floor above.
 */
#ifndef WORKER_COMMANDS_H
#define WORKER_COMMANDS_H

struct agent;
struct buf;
struct fleet;
struct json_object;
struct server_call;
struct worker;

/* Registers the methods. */
void worker_commands_register(struct fleet *fleet);

/* The cleaned text of a request, appended; false (and the call is refused) if
 * nothing is left. */
bool worker_commands_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out);

/* Refuse a call that is not possible in the worker's status; wanted: the
 * statuses where it is. */
void worker_commands_wrong_status(
    struct server_call *call, const struct worker *worker, const char *wanted);

/* Two prompts at once would be merged in the input box. True: refused. */
bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call);

#endif
