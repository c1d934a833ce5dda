/* SPDX-License-Identifier: ISC */

/* The heartbeat, written from the loop: if the loop is stuck, it gets stale. */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

struct core;
struct heartbeat;

struct heartbeat *heartbeat_new(struct core *core); /* beats immediately */
/* Stop, and remove the file. */
void heartbeat_free(struct heartbeat *heartbeat);

#endif
