/* SPDX-License-Identifier: ISC */

/* Writes each event to the log. */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

struct core;

void event_file_subscribe(struct core *core);
void event_log_subscribe(struct core *core);

#endif
