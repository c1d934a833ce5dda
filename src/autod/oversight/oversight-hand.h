/* SPDX-License-Identifier: ISC */

/*
 * Tasks that people give to workers by hand. They have no id: the iterations
 * of a worker's latest one are kept under a name made of the worker's, and the
 * next one begins anew. What is found in them is only logged.
 */
#ifndef OVERSIGHT_HAND_H
#define OVERSIGHT_HAND_H

#include <stdbool.h>

struct agent;
struct oversight_floor;
struct watched;

/* NULL: it has no such task. */
struct watched *oversight_hand_watched(
    struct oversight_floor *floor, const struct agent *agent);

/* Does a worker have it? task: of struct watched. */
bool
oversight_hand_is_held(const struct oversight_floor *floor, const char *task);

#endif
