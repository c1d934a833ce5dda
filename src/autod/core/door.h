/* SPDX-License-Identifier: ISC */

/*
 * A socket that the daemon listens at: the people's, or that of one worker. Who
 * is served there depends on the door (serve.h). If its file is removed or
 * replaced, it is bound again.
 */
#ifndef DOOR_H
#define DOOR_H

#include "server.h"

struct core;
struct door;
struct err;
struct identity_files;

/* worker: NULL = the people's; path is then core->socket. fn is called with
 * arg = the door. */
int door_new(struct core *core, const char *worker, server_fn *fn,
    struct door **ret_door, struct err *err);
/* The folder of a worker's socket stays, with its spool. */
void door_free(struct door *door);

struct core *door_core(const struct door *door);
/* NULL = the people's. */
const char *door_worker(const struct door *door);
/* What was read to know who calls. */
struct identity_files *door_files(const struct door *door);

#endif
