/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "errtext.h"
#include "mem.h"
#include "state-file.h"
#include "state.h"
#include "store-file.h"

struct store_file {
	struct store store;
	const struct workspace *workspace;
	struct state *state; /* set by put, written by commit */
};

static int
begin(struct store *store, struct err *err)
{
	(void)err;
	((struct store_file *)store)->state = NULL;
	return 0;
}

/* commit serializes it before anything can change the state. */
static int
put(struct store *store, struct state *state, struct err *err)
{
	(void)err;
	((struct store_file *)store)->state = state;
	return 0;
}

static int
flush(struct store *store, struct state *state, struct err *err)
{
	return state_file_save(
	    ((struct store_file *)store)->workspace, state, err);
}

static void
commit(struct store *store, store_done_fn *fn, void *arg)
{
	struct store_file *file = (struct store_file *)store;
	struct err err = { 0 };
	int r = flush(store, file->state, &err);

	fn(r < 0 ? &err : NULL, arg);
}

static int
is_foreign(struct store *store, const struct state *state)
{
	return state_file_foreign(
	    ((struct store_file *)store)->workspace, state);
}

static void
store_file_free(struct store *store)
{
	free(store);
}

static const struct store_kind kind = {
	.begin = begin,
	.put = put,
	.commit = commit,
	.flush = flush,
	.is_foreign = is_foreign,
	.free = store_file_free,
};

struct store *
store_file_new(const struct workspace *workspace)
{
	struct store_file *file = xcalloc(1, sizeof *file);

	file->store.kind = &kind;
	file->workspace = workspace;
	return &file->store;
}
