/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "view-mark.h"

#define PRIME UINT64_C(1099511628211)

/* FNV-1a */
void
view_mark_bytes(uint64_t *mark, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		*mark = (*mark ^ at[i]) * PRIME;
}

void
view_mark_int(uint64_t *mark, int64_t number)
{
	view_mark_bytes(mark, &number, sizeof number);
}

void
view_mark_text(uint64_t *mark, const char *text, size_t max)
{
	size_t len = text != NULL ? strnlen(text, max) : 0;

	view_mark_int(mark, text != NULL ? (int64_t)len : -1);
	view_mark_bytes(mark, text != NULL ? text : "", len);
}

uint64_t
view_mark_end(uint64_t mark)
{
	return mark != 0 ? mark : 1;
}
