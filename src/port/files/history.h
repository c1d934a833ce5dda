/* SPDX-License-Identifier: ISC */

/* failures.jsonl: the overseer's memory. Appended and synced; an incomplete
 * last line and lines that are not events are ignored. Written by one process
 * at a time, the one that holds the overseer's lock. Read by anybody. */
#ifndef HISTORY_H
#define HISTORY_H

#include "remedy.h"

struct err;
struct workspace;

struct history {
	struct spiral_event *events; /* oldest first */
	size_t count; /* at most HISTORY_MAX */
	size_t unsaved; /* the last ones, which are not in the file yet */
};

/* The last HISTORY_MAX events. No file is an empty history. Changes nothing on
 * the disk. */
#define HISTORY_MAX 500
int history_load(const struct workspace *workspace, struct history *ret_history,
    struct err *err);
void history_release(struct history *history);

/* Append to the history; takes ownership of the strings and empties *event. The
 * next history_save() writes it to the file. */
void history_note(struct history *history, struct spiral_event *event);

/* Write new events to the file. On failure they stay in the history, so that
 * the next decisions count them, and the next call writes them first. A file of
 * more than four times HISTORY_MAX lines is replaced by one with the last
 * HISTORY_MAX. */
int history_save(const struct workspace *workspace, struct history *history,
    struct err *err);

/* Both. */
int history_add(const struct workspace *workspace, struct history *history,
    struct spiral_event *event, struct err *err);

/* The first manual intervention file, by name; owned by the caller, NULL =
 * there is none. */
char *history_manual_file(const struct workspace *workspace);

#endif
