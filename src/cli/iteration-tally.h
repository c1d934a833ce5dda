/* SPDX-License-Identifier: ISC */

/* What the recorded iterations of all tasks add up to. Only reads. */
#ifndef ITERATION_TALLY_H
#define ITERATION_TALLY_H

struct json_object;
struct oversight_tally;
struct workspace;

/* The iterations of a task, as an array that the caller owns. */
struct json_object *
iteration_tally_history(const struct workspace *workspace, const char *task);

void iteration_tally(
    const struct workspace *workspace, struct oversight_tally *ret_tally);

#endif
