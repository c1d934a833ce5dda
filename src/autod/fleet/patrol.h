/* SPDX-License-Identifier: ISC */

/*
 * The safety net: compares what is known about the workers with what is there
 * (sessions, processes, git, spool), and repairs differences. Events do the
 * main work; this finds what they missed.
 */
#ifndef PATROL_H
#define PATROL_H

struct fleet;
struct patrol;

struct patrol *patrol_new(struct fleet *fleet);
/* Together with git: no answer of git may come after this. */
void patrol_free(struct patrol *patrol);

/* all: check everything, not only what is due. */
void patrol_run(struct patrol *patrol, bool all);

#endif
