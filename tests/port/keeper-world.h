/* SPDX-License-Identifier: ISC */

/* The keeper that was built, running a shell script in each of its modes, with
 * or without a terminal. What it started is found by its mark. */
#ifndef KEEPER_WORLD_H
#define KEEPER_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "buf.h"

struct json_object;

struct keeper_world {
	const char *mode;
	bool terminal;
	char mark[64];
	char *record;
	pid_t keeper;
	int in, out; /* of the program; the same descriptor for a terminal */
	struct buf text; /* what it has printed */
};

extern const char *const keeper_world_modes[];
#define KEEPER_WORLD_MODES 5

/* Start `sh -c script`; "box" puts bwrap around it. Skips the test if the
 * machine cannot do this mode. */
void keeper_world_begin(struct keeper_world *w, const char *mode, bool terminal,
    const char *script);
/* The same with this mark and record. */
void keeper_world_begin_as(struct keeper_world *w, const char *mode,
    bool terminal, const char *script, const char *mark, const char *record);
void keeper_world_end(struct keeper_world *w);
#define cleanup_keeper_world __attribute__((cleanup(keeper_world_end)))

/* Wait until it has printed this. */
void keeper_world_expect(struct keeper_world *w, const char *text);
void keeper_world_type(struct keeper_world *w, const char *text);

/* Wait for the keeper; its exit status, 128 + n for a signal. */
int keeper_world_status(struct keeper_world *w);

/* Processes that are alive and have the mark; wait for so many at least, or for
 * none. */
int keeper_world_marked(const struct keeper_world *w);
void keeper_world_until_marked(const struct keeper_world *w, int count);
void keeper_world_until_gone(const struct keeper_world *w);

/* From the record: the inner process; its only child is the program. */
pid_t keeper_world_inner(const struct keeper_world *w);
pid_t keeper_world_program(const struct keeper_world *w);
/* Its control group; the caller frees it. NULL: none. */
char *keeper_world_group(const struct keeper_world *w);

#endif
