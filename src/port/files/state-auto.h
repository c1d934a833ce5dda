/* SPDX-License-Identifier: ISC */

/* What auto mode keeps in the state: its members in the document, the list of
 * its workers, and the accounts of conversations. */
#ifndef STATE_AUTO_H
#define STATE_AUTO_H

#include <stdint.h>

struct account;
struct err;
struct json_object;
struct state;

/* Replace the list of auto workers: auto-1 .. auto-<count>. */
void state_auto_set_workers(struct state *state, int count);
/* Remove a name from that list, because its worker is removed on purpose. */
void state_auto_unlist_worker(struct state *state, const char *name);

/* The account of a conversation, NULL = none; add one (takes ownership), remove
 * and free one. */
struct account *state_auto_account(
    const struct state *state, const char *transcript, int64_t from_ms);
void state_auto_add_account(struct state *state, struct account *account);
void state_auto_remove_account(struct state *state, struct account *account);

/* The members of auto mode in the document, and those that are rows of their
 * own in the book; state.c calls these. */
void
state_auto_members_to_json(const struct state *state, struct json_object *json);
void
state_auto_rows_to_json(const struct state *state, struct json_object *json);
int state_auto_from_json(
    struct json_object *json, struct state *state, struct err *err);
void state_auto_release(struct state *state);

#endif
