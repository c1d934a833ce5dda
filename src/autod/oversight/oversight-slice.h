/* SPDX-License-Identifier: ISC */

/*
 * Iterations inside a long turn: one ends after oversight.slice, or after
 * oversight.slice_tools. A warning and another approach are the answer to the
 * hook of the next tool, which is made to wait for it (run-dir.h); ladder.h
 * says when the turn is interrupted instead.
 */
#ifndef OVERSIGHT_SLICE_H
#define OVERSIGHT_SLICE_H

#include <stdbool.h>

struct agent;
struct oversight_floor;
struct server_call;

/* A part of struct auto_watch: one of its tools ended. */
void oversight_slice_progressed(void *floor, struct agent *agent);
/* Likewise, and its hook waits: true if it is answered. */
bool oversight_slice_tool_ended(void *floor, struct agent *agent,
    struct server_call *call, const char *event);
/* No tool waits for what the last daemon had to say. */
void oversight_slice_begin(const struct oversight_floor *floor);
/* Look at turns in which no tool has ended for long. */
void oversight_slice_patrol(struct oversight_floor *floor);
/* Forget those that are being looked at: git is freed next. */
void oversight_slice_drop(struct oversight_floor *floor);

#endif
