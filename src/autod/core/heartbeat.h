/* SPDX-License-Identifier: ISC */

/* The heartbeat, beaten by the loop itself: a stuck loop is a stale heart. */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

struct core;
struct heartbeat;

struct heartbeat *heartbeat_new(struct core *core); /* beats at once */
/* Stops; the file goes too. */
void heartbeat_free(struct heartbeat *heartbeat);

#endif
