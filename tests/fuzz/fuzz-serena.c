/* SPDX-License-Identifier: ISC */

/*
 * Any bytes as Serena's files. An edited file must contain the new entry, so
 * that a second edit changes nothing; every byte of the old text except an
 * empty list stays, in its order; a refused file is unchanged.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "mem.h"
#include "serena-list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(int holds)
{
	if (!holds)
		abort();
}

/* How many bytes at the beginning, and then at the end, are the same. */
static size_t
kept(const char *old, size_t len, const struct buf *new)
{
	size_t front = 0, back = 0;

	while (front < len && front < new->len &&old[front] == new->data[front])
		front++;
	while (back < len - front &&
	    back < new->len - front &&old[len - 1 - back] ==
		new->data[new->len - 1 - back])
		back++;
	return front + back;
}

static void
check_list(const char *text, size_t size, const char *path)
{
	cleanup_buf struct buf out = BUF_INIT, again = BUF_INIT;
	struct err err = { 0 };
	int r = serena_list_add(text, size, path, &out, &err);

	if (r <= 0) {
		require(out.len == 0);
		require(r == 0 || (r == -EINVAL && err.code == r));
		return;
	}
	require(serena_list_add(out.data, out.len, path, &again, NULL) == 0);
	/* Only "[]", with anything blank in it, may be removed. */
	require(kept(text, size, &out) == size ||
	    memchr(text, '[', size) != NULL ||
	    memchr(text, '~', size) != NULL ||
	    memmem(text, size, "ull", 3) != NULL ||
	    memmem(text, size, "ULL", 3) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "/w/new", "/a b", "/\"\n\t\\#",
		"relative", "/a//" };
	cleanup_buf struct buf text = BUF_INIT, out = BUF_INIT,
			       again = BUF_INIT;

	buf_add(&text, data, size);
	for (size_t i = 0; i < nitems(paths); i++)
		check_list(text.data, text.len, paths[i]);
	if (serena_name_set(text.data, text.len, "llmc-ann", &out) == 1)
		require(serena_name_set(
			    out.data, out.len, "llmc-ann", &again) == 0);
	return 0;
}
