/* SPDX-License-Identifier: ISC */

/* Iterations inside a long turn: one ends after oversight.slice, or after
 * oversight.slice_tools. A warning waits for the end of the turn; for
 * another approach, a pause and an abort the turn is interrupted. */
#ifndef OVERSIGHT_SLICE_H
#define OVERSIGHT_SLICE_H

struct agent;
struct oversight_floor;

/* A part of struct auto_watch: one of its tools ended. */
void oversight_slice_progressed(void *floor, struct agent *agent);
/* Look at turns in which no tool has ended for long. */
void oversight_slice_patrol(struct oversight_floor *floor);
/* Forget those that are being looked at: git is freed next. */
void oversight_slice_drop(struct oversight_floor *floor);

#endif
