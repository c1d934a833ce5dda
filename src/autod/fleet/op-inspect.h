/* SPDX-License-Identifier: ISC */

/*
 * Before something is done with the work of a worker: is it still what the
 * caller has seen? Reads HEAD, the branch and uncommitted changes; nothing is
 * changed.
 */
#ifndef OP_INSPECT_H
#define OP_INSPECT_H

#include "fleet.h"

#define OP_INSPECT_BRANCH 1u /* its own branch must be checked out */
#define OP_INSPECT_CLEAN  2u /* there must be no uncommitted changes */

/* If params has a "commit", compare the work with it; on a difference the call
 * fails with API_CHANGED and a sentence that says what it is. Else call fn,
 * with the whole id as "commit"; it must check the worker's status again.
 * Without a "commit" fn is called at once. No operation may be running on the
 * worker, and none is when fn is called. */
void op_inspect(struct agent *agent, struct server_call *call,
    struct json_object *params, unsigned flags, fleet_worker_fn *fn, void *arg);

#endif
