/* SPDX-License-Identifier: ISC */

/*
 * The open records of delegation in memory: mail, questions and reservations,
 * as the store has them. They are read with the plans, and every change is
 * stored by plan_persist, in one transaction with all other changes of the
 * same pass of the loop. Records that have ended are in the store only.
 *
 * A record is a JSON object with these members of its own:
 *
 *   id      as in the calls below
 *   goalId  the goal it belongs to, TEAM_NO_GOAL for none; added if missing
 *   status  "open": it is kept in memory; anything else: it has ended
 *   actor   whose it is, an actor id: the recipient of mail, the agent that
 *           is asked, the holder of a reservation; may be missing
 *   ts      when it was made, wall clock milliseconds
 */
#ifndef TEAM_BOOK_H
#define TEAM_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan-persist.h"
#include "store.h"

struct err;
struct json_object;
struct plan_floor;
struct team_book;

#define TEAM_NO_GOAL "none"
#define TEAM_OPEN    "open"

struct team_record {
	enum store_kind kind;
	const char *id, *goal_id;
	const char *actor; /* NULL = nobody's */
	struct json_object *body; /* never NULL */
	bool stored; /* the store has it as it is */
	/* For the owner of the kind: what it made of the body. free_data is
	 * called when the record is changed or ends. */
	void *data;
	void (*free_data)(void *data);
};

/* Each may be NULL. */
struct team_book_callbacks {
	void (*opened)(void *arg); /* the records are there */
	void (*closed)(void *arg); /* they are about to be forgotten */
	void *arg;
};

struct team_book *team_book_new(
    struct plan_floor *plan, const struct team_book_callbacks *callbacks);
void team_book_free(struct team_book *book);
void *team_book_owner(const struct team_book *book); /* callbacks->arg */

/* Are the records there? */
bool team_book_is_open(const struct team_book *book);
/* May records be changed now? 0, or API_FAILED's words: goals are off, or the
 * store cannot be used or written. */
int team_book_ready(const struct team_book *book, struct err *err);

/* Add or replace a record (the body is taken, and masked as the store does it);
 * if its status is not "open", it leaves memory. A change that the store
 * refuses is taken back. Call team_book_ready() before. */
void team_book_put(struct team_book *book, enum store_kind kind,
    const char *goal_id, const char *id, struct json_object *body);
/* The open record, NULL = none; valid until it is changed. */
struct team_record *team_book_get(
    const struct team_book *book, enum store_kind kind, const char *id);
/* Was there ever such a record, open or ended? The newest TEAM_KNOWN_MAX of
 * each kind are known. */
bool team_book_knows(
    const struct team_book *book, enum store_kind kind, const char *id);
/* All open records of a kind in the order of their making, or those of an
 * actor: pass NULL first, then the last one; NULL = no more. The last one may
 * be changed meanwhile if the next was asked for before. */
struct team_record *team_book_next(const struct team_book *book,
    enum store_kind kind, const char *actor, const struct team_record *last);
/* How many are open; actor NULL = of all. */
size_t team_book_count(
    const struct team_book *book, enum store_kind kind, const char *actor);

/* Call fn when all that was put before is stored, or with err when it was
 * refused; goal_id: of the record that it follows. */
void team_book_then(struct team_book *book, void *owner, const char *goal_id,
    plan_persist_fn *fn, void *arg);
/* Drop what was passed to team_book_then() for this owner. */
void team_book_forget(struct team_book *book, const void *owner);

/* Records in the store, open and ended, the newest first: of an actor (NULL =
 * of all), or the one with this id. Only for a book that is ready. */
void
team_book_read(struct team_book *book, enum store_kind kind, const char *actor,
    const char *id, size_t limit, store_part_fn *fn, void *arg);

#define TEAM_KNOWN_MAX STORE_KNOWN_MAX

#endif
