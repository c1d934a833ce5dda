/* SPDX-License-Identifier: ISC */

/* failures.jsonl: the overseer's memory. Appended and synced; a torn last line
 * and lines that are no events are left out. Written by one process at a time:
 * who holds the overseer's lock. Read by anybody. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

#include "spiral.h"

struct err;
struct workspace;

struct history {
	struct spiral_event *events; /* oldest first */
	size_t count; /* at most HISTORY_MAX */
	size_t unsaved; /* of those, the last ones that the file has not */
};

/* The last HISTORY_MAX events. No file is an empty history. Changes nothing on
 * the disk. */
#define HISTORY_MAX 500
int history_load(const struct workspace *workspace, struct history *ret_history,
    struct err *err);
void history_release(struct history *history);

/* Append to the history, taking the strings over: *event is empty then. The
 * file gets it with the next history_save(). */
void history_note(struct history *history, struct spiral_event *event);

/* Bring the file up to date. On failure the history has all the same, so that
 * what is decided next counts it, and the next call writes it first. A file of
 * more than four times HISTORY_MAX lines is replaced by one of the last
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
