/* SPDX-License-Identifier: ISC */

/* Private to remedy-mask.c: secrets that are known by their form. */
#ifndef REMEDY_SHAPE_H
#define REMEDY_SHAPE_H

#include <stddef.h>

#include "span.h"

/* A single word below this length has none of these forms. */
#define REMEDY_SHAPE_LEAST 15

/* Is there a secret at offset i of the text? Returns its length, 0 = none;
 * *ret_keep bytes at i come before it and are kept. */
size_t remedy_shape(struct span text, size_t i, size_t *ret_keep);

#endif
