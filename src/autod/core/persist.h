/* SPDX-License-Identifier: ISC */

/*
 * Persist, then act: whoever changes the state calls persist_changed() and
 * hands what is to be done about it to persist_then(). At the end of this pass
 * of the loop the state is handed to the store, and when the store has it,
 * those calls are made, in order. A store that fails is asked again; nothing is
 * acted on that is not written down.
 */
#ifndef PERSIST_H
#define PERSIST_H

#include <stdbool.h>

struct core;
struct err;
struct persist;
struct store;

typedef void persist_fn(void *arg);

/* Takes the store over. */
struct persist *persist_new(struct core *core, struct store *store);
/* Calls registered without an owner are made (answers), the others dropped. */
void persist_free(struct persist *persist);

void persist_changed(struct core *core);
/* Changed, but nobody waits for it: written with the next change. */
void persist_note(struct core *core);
void persist_then(struct core *core, void *owner, persist_fn *fn, void *arg);
/* Drop what was asked for with this owner. */
void persist_forget(struct core *core, const void *owner);

/* Is anything unwritten, or waiting to be called? */
bool persist_is_idle(const struct core *core);
/* Write now, for the end of a run; a commit under way is waited for by the
 * store. */
int persist_flush(struct core *core, struct err *err);

/* Has somebody else written the state? It is judged and written back. */
void persist_check_foreign(struct core *core);
/* Called when the state on the disk turns out to be somebody else's, before it
 * is written over: a policy of an upper floor. NULL: it is only told. */
void persist_on_foreign(struct core *core, void (*fn)(void *arg), void *arg);

#endif
