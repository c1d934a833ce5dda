/* SPDX-License-Identifier: ISC */

/* An overseer that is none: a lock and a file. */
#ifndef OVERSEER_WORLD_H
#define OVERSEER_WORLD_H

#include <stdbool.h>

#include "unit.h"

/* Its lock, held until it is closed. */
int overseer_world_lock(const char *root);

/* overseer.json, of this process or of one that is gone; `more` has further
 * members, with a comma first. */
void overseer_world_write(
    const char *root, const char *state, bool alive, const char *more);

/* Tests in the world of shown.h, a case each; the list ends with NULL. */
void overseer_world_add(Suite *suite, const TTest *const *tests);

#endif
