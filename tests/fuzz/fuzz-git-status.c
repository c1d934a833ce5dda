/* SPDX-License-Identifier: ISC */

/* Any bytes as the output of git status: each text that is found ends inside of
 * them, ids are ids, and the end comes. */

#include "fuzz.h"
#include "git-facts.h"
#include "git-private.h"

static void
require(int holds)
{
	if (!holds)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT;
	struct git_status_entry entry;
	struct git_records records;
	size_t count = 0;

	buf_add(&text, data, size);
	git_records_init(&records, text.data, text.len);
	while (git_status_next(&records, &entry)) {
		require(entry.text[0] == '\0' ||
		    (entry.text >= text.data &&
			entry.text + strlen(entry.text) <=
			    text.data + text.len));
		require(strlen(entry.head_id) < GIT_ID_SIZE);
		require(strlen(entry.index_id) < GIT_ID_SIZE);
		require(entry.kind == GIT_STATUS_CHANGED ||
		    (!entry.staged && !entry.unstaged && !entry.submodule));
		require(++count <= size);
	}
	buf_release(&text);
	return 0;
}
