/* SPDX-License-Identifier: ISC */

/* The RPC methods, by the files that carry them out. Each answers its call
 * exactly once. */
#ifndef METHODS_H
#define METHODS_H

#include "daemon.h"

#define METHOD_FAILED  (-32000) /* the words say why */
#define METHOD_BUSY    (-32001) /* try again in a moment */
#define METHOD_UNKNOWN (-32002) /* no such worker */
#define METHOD_STATUS  (-32003) /* not in this status */

/* Say that there is none of that name, and which there are. */
void methods_unknown_worker(
    const struct daemon *daemon, struct server_call *call, const char *name);

/* fleet.c */
void fleet_add(struct daemon *daemon, struct server_call *call,
    struct json_object *params);
/* A worker of this name, which is free and good; call may be NULL. */
void
fleet_make(struct daemon *daemon, const char *name, struct server_call *call);
/* Forget the task, the conversation and the trouble. */
void fleet_forget(struct agent *agent);
void fleet_nuke(
    struct agent *agent, struct server_call *call, struct json_object *params);
void fleet_reset(
    struct agent *agent, struct server_call *call, struct json_object *params);

/* tasks.c */
void tasks_start(struct daemon *daemon, struct server_call *call,
    struct json_object *params);
void tasks_message(
    struct agent *agent, struct server_call *call, struct json_object *params);
void tasks_reject(
    struct agent *agent, struct server_call *call, struct json_object *params);
void tasks_accept(
    struct agent *agent, struct server_call *call, struct json_object *params);
void tasks_rebase(
    struct agent *agent, struct server_call *call, struct json_object *params);
void tasks_review(
    struct agent *agent, struct server_call *call, struct json_object *params);
/* A start that was cut off between its reservation and its prompt. */
void tasks_start_again(struct agent *agent);

/* pick.c */
void pick_begin(
    struct agent *agent, struct server_call *call, struct json_object *params);

#endif
