/* SPDX-License-Identifier: ISC */

/*
 * The state, for commands that only show something, or that choose a worker
 * before they ask the daemon: as the daemon has it or, without one, as it was
 * saved last.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include "state.h"

struct buf;
struct cli;
struct err;
struct json_object;
struct worker;

/* A state that the caller releases; an empty one, if there is none yet. */
int roster_read(struct cli *cli, struct state *ret_state, struct err *err);
/* The same: CLI_OK, or the failure is reported. */
int roster_load(struct cli *cli, struct state *ret_state);

/* Does the process that wrote this registration, and whose lock is held, live?
 * Below a keeper the processes of others may not be visible: then the lock is
 * all that can be asked. */
bool roster_is_alive(struct json_object *registration);

/* The daemon's registration, owned by the caller, if the process that wrote it
 * lives and holds the lock; else NULL. */
struct json_object *roster_daemon(struct cli *cli);

/* The worker of that name, or the failure is reported (with the existing
 * names). */
int roster_find(struct cli *cli, const struct state *state, const char *name,
    const struct worker **ret_worker);

/* The worker that was reviewed last, with the commit that was shown (reviewed):
 * what accept and reject mean without a name. Or the failure. */
int roster_reviewed(struct cli *cli, const struct state *state,
    const struct worker **ret_worker);

/* The beginning of a worker's task on one line, for people; appended. Nothing
 * if it has none. */
void roster_excerpt(const struct worker *worker, struct buf *out);

/* The part of a salvage ref that people type: "worker/time". */
#define ROSTER_SALVAGE "refs/llmc/salvage/"
const char *roster_salvage(const char *ref);

/* A colour for a status, as cli_coloured() takes it. */
const char *roster_colour(const struct worker *worker);

#endif
