/* SPDX-License-Identifier: ISC */

/*
 * Persist, then act: code that changes the state calls persist_changed() and
 * passes what should happen next to persist_then(). At the end of this pass of
 * the loop the rows of the state that differ are put into the book, with
 * whatever else was written to it in this pass, and once that is committed,
 * those functions are called, in order. A commit that fails is tried again;
 * nothing is done that is not saved. A write to the book needs no call of
 * persist_changed().
 */
#ifndef PERSIST_H
#define PERSIST_H

struct core;
struct err;
struct persist;

typedef void persist_fn(void *arg);

/* Before core->book is open; persist_begin() once it is, with what it has. */
struct persist *persist_new(struct core *core);
void persist_begin(struct core *core);
/* The file of panes has gone: write it anew. */
void persist_panes_again(struct core *core);
/* Effects without an owner (answers) are run, the others dropped. */
void persist_answer(struct core *core);
/* The same, at the end. */
void persist_free(struct persist *persist);

void persist_changed(struct core *core);
/* Changed, but not urgent: saved with the next change. */
void persist_note(struct core *core);
void persist_then(struct core *core, void *owner, persist_fn *fn, void *arg);
/* Drop the effects of this owner. */
void persist_forget(struct core *core, const void *owner);

/* The function of persist_before() has something to write: in this pass. */
void persist_request(struct core *core);
/* fn is called before each commit, to write what was collected until then.
 * NULL: none. */
void persist_before(struct core *core, void (*fn)(void *arg), void *arg);
/* Can what is changed now be saved? -EAGAIN with the reason while the book
 * cannot be written; it is then tried again at once. */
int persist_ready(struct core *core, struct err *err);
/* May one more event be written, which nothing depends on? While the book
 * cannot be written, only so many are kept; the others are counted, and
 * reported in the end. */
bool persist_keeps(struct core *core);

/* Is everything saved, and no effect waiting? */
bool persist_is_idle(const struct core *core);
/* Save now, at the end of a run. */
int persist_flush(struct core *core, struct err *err);

/* fn is called whenever there is a change that is to be saved: for the floor
 * that shows it. NULL: none. */
void persist_on_changed(struct core *core, void (*fn)(void *arg), void *arg);

/* For tests, which end a pass where a daemon may be killed: fn is called before
 * each commit (after: false) and when it is on the disk, before the effects. A
 * negative errno ends the pass there: -EINPROGRESS as it is, until there is
 * another change; others as a commit that failed. NULL: none. */
typedef int persist_gate_fn(bool after, struct err *err, void *arg);
void persist_set_gate(struct core *core, persist_gate_fn *fn, void *arg);

/* Was the book removed or replaced? Then the daemon ends with a
 * failure, and puts it back. */
void persist_check_book(struct core *core);

#endif
