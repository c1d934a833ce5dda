/* SPDX-License-Identifier: ISC */

/*
 * Where the state is kept: begin, put, commit, and an answer that may come
 * later. The file (store-file.h) answers at once; a database need not.
 */
#ifndef STORE_H
#define STORE_H

struct err;
struct state;
struct store;

typedef void store_done_fn(const struct err *err, void *arg);

struct store_kind {
	/* One at a time. Negative errno: nothing was begun. */
	int (*begin)(struct store *store, struct err *err);
	/* Keep a picture of the state as it is now. */
	int (*put)(struct store *store, struct state *state, struct err *err);
	/* Make it last; fn once, from inside or from the loop. What was put is
	 * there afterwards as a whole, or not at all. */
	void (*commit)(struct store *store, store_done_fn *fn, void *arg);
	/* Put and commit without the loop: for the end of a run. */
	int (*flush)(struct store *store, struct state *state, struct err *err);
	/* Has somebody else written it since? 1, 0, negative errno. */
	int (*is_foreign)(struct store *store, const struct state *state);
	void (*free)(struct store *store);
};

/* First member of what a kind allocates. */
struct store {
	const struct store_kind *kind;
};

#endif
