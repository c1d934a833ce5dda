/* SPDX-License-Identifier: ISC */

/* Writes events to logs/auto.log, one record per line, for people and `llmc
 * events`. */
#ifndef EVENT_FILE_H
#define EVENT_FILE_H

struct core;

void event_file_subscribe(struct core *core);

#endif
