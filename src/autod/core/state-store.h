/* SPDX-License-Identifier: ISC */

/*
 * Where the state is saved: begin, put, commit, and an answer that may come
 * later. The file (state-store-file.h) answers immediately; a database need
 * not.
 */
#ifndef STATE_STORE_H
#define STATE_STORE_H

struct err;
struct state;
struct state_store;

typedef void state_store_done_fn(const struct err *err, void *arg);

struct state_store_kind {
	/* Only one at a time. On negative errno nothing was begun. */
	int (*begin)(struct state_store *store, struct err *err);
	/* Take a snapshot of the state. */
	int (*put)(
	    struct state_store *store, struct state *state, struct err *err);
	/* Save it; fn is called once, from inside or from the loop. Afterwards
	 * the snapshot is saved completely or not at all. */
	void (*commit)(
	    struct state_store *store, state_store_done_fn *fn, void *arg);
	/* put and commit without the loop, for the end of a run. */
	int (*flush)(
	    struct state_store *store, struct state *state, struct err *err);
	/* Has another program written it since? 1, 0, negative errno. */
	int (*is_foreign)(struct state_store *store, const struct state *state);
	void (*free)(struct state_store *store);
};

/* The first member of every kind of store. */
struct state_store {
	const struct state_store_kind *kind;
};

#endif
