/* SPDX-License-Identifier: ISC */

/*
 * The place of a worker: a number, a range of ports and a temporary folder
 * that no other worker has at the same time, so that several can run the same
 * program, database or test at once. Pure.
 *
 * Numbers of workers begin at 1. Those of check slots, and of what else works
 * in a tree of llmc's own, are PLACE_SLOTS and above; no worker gets one of
 * them.
 */
#ifndef PLACE_H
#define PLACE_H

struct buf;
struct settings;

#define PLACE_PORTS     20 /* of each */
#define PLACE_INDEX_MAX 999
/* Slot 0 is the overseer's check; the last two of these numbers are its session
 * and the tree in which auto.post_accept_command runs. */
#define PLACE_SLOTS        200
#define PLACE_OVERSEER     298
#define PLACE_POST_ACCEPT  299
#define PLACE_PORT_HIGHEST (65535 - PLACE_PORTS * (PLACE_INDEX_MAX + 1))

struct place {
	const char *worker; /* a name, or that of a slot: "check-1" */
	int index;
	const char *tmpdir; /* absolute */
};

/* Is it one of llmc's own trees? */
bool place_is_slot(int index);

/* The lowest number of a worker that is not in the list; PLACE_INDEX_MAX if
 * all are taken. */
int place_lowest(const int *taken, size_t count);

/* The first of its ports. */
int place_port(const struct settings *settings, int index);

/* Append the variables of a place, as edits of child.h: LLMC_WORKER,
 * LLMC_INDEX, LLMC_PORT, LLMC_TMPDIR, and those to which the worker's `env`
 * gives a value. */
void place_env(
    const struct place *place, const struct settings *settings, char ***env);

#endif
