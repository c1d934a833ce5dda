/* SPDX-License-Identifier: ISC */

/* A folder of tasks, for the tests of that source. */
#ifndef FOLDER_WORLD_H
#define FOLDER_WORLD_H

#include "source-world.h"

struct source_world *folder_world_open(const char *name);

/* A path in it, owned by the caller; write a file there, with an old date. */
char *folder_world_path(struct source_world *world, const char *name);
void folder_world_put(
    struct source_world *world, const char *name, const char *text);

/* "todo: a b; done: c", without the empty ones. */
void folder_world_expect(struct source_world *world, const char *wanted);
void folder_world_expect_text(
    struct source_world *world, const char *name, const char *wanted);

#endif
