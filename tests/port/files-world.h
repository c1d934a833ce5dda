/* SPDX-License-Identifier: ISC */

/* A list of Claude Code's task files, for the tests of that source. */
#ifndef FILES_WORLD_H
#define FILES_WORLD_H

#include "source-world.h"

/* A world whose folder exists; the same folder as another daemon sees it. */
struct source_world *files_world_open(const char *name);
struct source_world *files_world_open_other(struct source_world *world);

/* Write the file of that id, with an old date: any text, or a task with more
 * members. */
void files_world_put_text(
    struct source_world *world, const char *id, const char *text);
void files_world_put(struct source_world *world, const char *id,
    const char *status, const char *more);

/* Read it; the caller puts it. */
struct json_object *
files_world_load(struct source_world *world, const char *id);
void files_world_expect(struct source_world *world, const char *id,
    const char *status, const char *owner);

#endif
