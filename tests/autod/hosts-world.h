/* SPDX-License-Identifier: ISC */

/* A host of a fleet with an origin: the whole daemon is the host a, and b is
 * one that only says what a host says. */
#ifndef HOSTS_WORLD_H
#define HOSTS_WORLD_H

#include "auto-world.h"
#include "hosts-floor.h"
#include "shared.h"

extern struct hosts_world {
	struct hosts_floor *floor; /* of a */
	struct shared *other; /* b */
	char *database;
} hosts_world;

#define SAYS(...) hosts_world_says(&SHARED_CALL(__VA_ARGS__), 1)
#define B_BOOT    "boot-of-b"

/* more: as of auto_world_begin(). */
void hosts_world_begin(const char *more);
void hosts_world_live(void);
void hosts_world_run(void); /* both, with the default settings */
/* The daemon is killed, and the next one is there. */
void hosts_world_reopen(void);

/* What b says, and the rows of the first call, "cell,cell;"; valid until the
 * next one. */
const char *hosts_world_says(const struct shared_call *calls, size_t count);
/* What the book says of a task: "state host fence". */
const char *hosts_world_row(const char *task);
void hosts_world_wait_row(const char *task, const char *want);
/* The host looks at once, not only when its time has come. */
void hosts_world_polls(void);
void hosts_world_sql(const char *text);
/* b pushes a commit to the branch, with the trailer of this task: its id, valid
 * until the next one. */
const char *hosts_world_push(const char *task);
/* What b reads of its letter, until that is part of it. */
void hosts_world_wait_letter(const char *id, const char *want);
/* auto-1 commits a change, and its turn ends. */
void hosts_world_work_ends(struct agent *agent, const char *file);

#endif
