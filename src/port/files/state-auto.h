/* SPDX-License-Identifier: ISC */

/* What auto mode keeps in the state: its members in the document, and the list
 * of its workers. */
#ifndef STATE_AUTO_H
#define STATE_AUTO_H

struct err;
struct json_object;
struct state;

/* Replace the list of auto workers: auto-1 .. auto-<count>. */
void state_auto_set_workers(struct state *state, int count);
/* Remove a name from that list, because its worker is removed on purpose. */
void state_auto_unlist_worker(struct state *state, const char *name);

/* The members of auto mode in state.json; state.c calls these. */
void state_auto_to_json(const struct state *state, struct json_object *json);
int state_auto_from_json(
    struct json_object *json, struct state *state, struct err *err);
void state_auto_release(struct state *state);

#endif
