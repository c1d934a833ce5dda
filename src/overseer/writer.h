/* SPDX-License-Identifier: ISC */

/*
 * Everything that the overseer writes to the disk while it supervises: its log,
 * overseer.json, the history, evidence, and output that goes to a file. A
 * forked process writes it, a copy of the overseer at that moment, one at a
 * time: a disk that hangs holds up that process and never the overseer.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct overseer;
struct writer;

/* From here on log and console are held. */
int writer_open(struct overseer *o, struct err *err);
void writer_close(struct overseer *o);

/* Write what waits, now or when the process before has ended. */
void writer_begin(struct overseer *o);
/* The same, and wait until it is on the disk, WRITER_WAIT_MS at most. */
#define WRITER_WAIT_MS 1000
void writer_finish(struct overseer *o);
/* Does the disk not take it? */
bool writer_is_stuck(const struct overseer *o);

#endif
