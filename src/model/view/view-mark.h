/* SPDX-License-Identifier: ISC */

/* A number that changes with whatever it was made of, so that a row of the view
 * can be kept as long as what it shows is the same. Pure. */
#ifndef VIEW_MARK_H
#define VIEW_MARK_H

#include <stddef.h>
#include <stdint.h>

#define VIEW_MARK_INIT UINT64_C(14695981039346656037)

void view_mark_bytes(uint64_t *mark, const void *bytes, size_t len);
void view_mark_int(uint64_t *mark, int64_t number);
/* The first max bytes of it; NULL is not the same as an empty one. */
void view_mark_text(uint64_t *mark, const char *text, size_t max);

/* The number; never 0. */
uint64_t view_mark_end(uint64_t mark);

#endif
