/* SPDX-License-Identifier: ISC */

/*
 * The end of a review: which commit is the person shown? It is remembered in
 * the worker's record (reviewed), so that accept and reject apply to it.
 */
#ifndef OP_REVIEW_H
#define OP_REVIEW_H

struct agent;
struct json_object;
struct server_call;

/* Add the worker's HEAD and the number of files with uncommitted changes to
 * the answer, which is taken over, and send it. No operation may be running on
 * the worker. */
void op_review(
    struct agent *agent, struct server_call *call, struct json_object *answer);

#endif
