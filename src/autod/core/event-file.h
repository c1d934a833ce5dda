/* SPDX-License-Identifier: ISC */

/* The subscriber that keeps events in logs/auto.log, a record a line, for
 * people and `llmc events`. */
#ifndef EVENT_FILE_H
#define EVENT_FILE_H

struct core;

void event_file_subscribe(struct core *core);

#endif
