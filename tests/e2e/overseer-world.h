/* SPDX-License-Identifier: ISC */

/* A fake overseer: just a lock and a file. */
#ifndef OVERSEER_WORLD_H
#define OVERSEER_WORLD_H

#include "unit.h"

/* Its lock, held until it is closed. */
int overseer_world_lock(const char *root);

/* Write overseer.json, for this process or for one that is gone; `more` has
 * further members, starting with a comma. */
void overseer_world_write(
    const char *root, const char *state, bool alive, const char *more);

#endif
