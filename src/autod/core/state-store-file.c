/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "errtext.h"
#include "mem.h"
#include "state-file.h"
#include "state.h"
#include "state-store-file.h"

struct state_store_file {
	struct state_store store;
	const struct workspace *workspace;
	struct state *state; /* set by put, written by commit */
};

static int
begin(struct state_store *store, struct err *err)
{
	(void)err;
	((struct state_store_file *)store)->state = NULL;
	return 0;
}

/* commit serializes it before anything can change the state. */
static int
put(struct state_store *store, struct state *state, struct err *err)
{
	(void)err;
	((struct state_store_file *)store)->state = state;
	return 0;
}

static int
flush(struct state_store *store, struct state *state, struct err *err)
{
	return state_file_save(
	    ((struct state_store_file *)store)->workspace, state, err);
}

static void
commit(struct state_store *store, state_store_done_fn *fn, void *arg)
{
	struct state_store_file *file = (struct state_store_file *)store;
	struct err err = { 0 };
	int r = flush(store, file->state, &err);

	fn(r < 0 ? &err : NULL, arg);
}

static int
is_foreign(struct state_store *store, const struct state *state)
{
	return state_file_foreign(
	    ((struct state_store_file *)store)->workspace, state);
}

static void
state_store_file_free(struct state_store *store)
{
	free(store);
}

static const struct state_store_kind kind = {
	.begin = begin,
	.put = put,
	.commit = commit,
	.flush = flush,
	.is_foreign = is_foreign,
	.free = state_store_file_free,
};

struct state_store *
state_store_file_new(const struct workspace *workspace)
{
	struct state_store_file *file = xcalloc(1, sizeof *file);

	file->store.kind = &kind;
	file->workspace = workspace;
	return &file->store;
}
