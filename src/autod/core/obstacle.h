/* SPDX-License-Identifier: ISC */

/*
 * What would stop the daemon without a word: something else in the place of a
 * file or folder of its own, which is put aside and kept, and too few files
 * that it may open. A person is told of each.
 */
#ifndef OBSTACLE_H
#define OBSTACLE_H

#include <stdbool.h>
#include <stddef.h>

struct core;

/* Put aside what is in the place of something of ours, and tell of it. True:
 * something was. */
bool obstacle_clear(struct core *core);

/* May the daemon open as many files as it needs? It allows itself more where it
 * can, and otherwise asks a person to, as long as that is so. */
void obstacle_look_files(struct core *core);

/* So many, with this number of workers. */
size_t obstacle_files_needed(size_t workers);

#endif
