/* SPDX-License-Identifier: ISC */

/*
 * Persist, then act: code that changes the state calls persist_changed() and
 * passes what should happen next to persist_then(). At the end of this pass of
 * the loop the state is handed to the store, and once it is saved, those
 * functions are called, in order. A commit that fails is tried again; nothing
 * is done that is not saved.
 */
#ifndef PERSIST_H
#define PERSIST_H

#include <stdbool.h>

struct core;
struct err;
struct persist;
struct state_store;

typedef void persist_fn(void *arg);

/* Takes ownership of the store. */
struct persist *persist_new(struct core *core, struct state_store *store);
/* Effects without an owner (answers) are run, the others dropped. */
void persist_free(struct persist *persist);

void persist_changed(struct core *core);
/* Changed, but not urgent: saved with the next change. */
void persist_note(struct core *core);
void persist_then(struct core *core, void *owner, persist_fn *fn, void *arg);
/* Drop the effects of this owner. */
void persist_forget(struct core *core, const void *owner);

/* Is everything saved, and no effect waiting? */
bool persist_is_idle(const struct core *core);
/* Save now, at the end of a run; the store waits for a commit in progress. */
int persist_flush(struct core *core, struct err *err);

/* fn is called whenever there is a change that is to be saved: for the floor
 * that shows it. NULL: nobody. */
void persist_on_changed(struct core *core, void (*fn)(void *arg), void *arg);

/* Has another program written the state? Then check it and write ours back. */
void persist_check_foreign(struct core *core);
/* fn is called when another program has written the state, before it is
 * overwritten: a policy of an upper floor. NULL: only emit an event. */
void persist_on_foreign(struct core *core, void (*fn)(void *arg), void *arg);

#endif
