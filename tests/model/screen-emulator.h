/* SPDX-License-Identifier: ISC */

/* A terminal that knows the bytes of grid_draw() and nothing else: what it then
 * shows, as a grid. */
#ifndef SCREEN_EMULATOR_H
#define SCREEN_EMULATOR_H

#include "unit.h"
#include "top.h"

struct grid;

/* Change the grid as the bytes say. The test fails at anything that a terminal
 * might not understand, or that is outside of the screen. */
void screen_emulate(struct grid *screen, enum grid_colours colours,
    const char *bytes, size_t len);

/* Do both show the same? */
bool screen_same(const struct grid *a, const struct grid *b);

#endif
