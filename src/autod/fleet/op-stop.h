/* SPDX-License-Identifier: ISC */

/* A person stops a worker: its session ends, its task and its work stay, and it
 * is on hold until llmc resume. */
#ifndef OP_STOP_H
#define OP_STOP_H

struct agent;
struct server_call;

void op_stop(struct agent *agent, struct server_call *call);

#endif
