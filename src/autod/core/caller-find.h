/* SPDX-License-Identifier: ISC */

/* Who makes a call at one of our sockets: the kernel tells which process, its
 * parents tell whose it is. */
#ifndef CALLER_FIND_H
#define CALLER_FIND_H

struct api_method;
struct door;
struct err;
struct json_object;
struct server_call;

/* May the caller do that? -EPERM: no, and err says why. ret_worker: the worker
 * whose own session it is; NULL if it is none, or if it does not matter. The
 * caller frees it. */
int caller_find_check(const struct door *door, struct server_call *call,
    const struct api_method *method, struct json_object *params,
    char **ret_worker, struct err *err);

#endif
