/* SPDX-License-Identifier: ISC */

/* The keeper that was built, running a shell script in each of its modes, with
 * or without a terminal. What it started is found by its mark. */
#ifndef KEEPER_WORLD_H
#define KEEPER_WORLD_H

#include "unit.h"

struct json_object;

extern struct keeper_world {
	const char *mode;
	bool terminal;
	char mark[64];
	char *record;
	pid_t keeper;
	int in, out; /* of the program; the same descriptor for a terminal */
	struct buf text; /* what it has printed */
} w;

extern const char *const keeper_world_modes[];
#define KEEPER_WORLD_MODES 5

/* Start `sh -c script`; "box" puts bwrap around it. Skips the test if the
 * machine cannot do this mode. */
void keeper_world_begin(const char *mode, bool terminal, const char *script);
/* The same with this mark and record. */
void keeper_world_begin_as(const char *mode, bool terminal, const char *script,
    const char *mark, const char *record);
void keeper_world_end(void);

/* Wait until it has printed this. */
void keeper_world_expect(const char *text);
void keeper_world_type(const char *text);

/* Wait for the keeper; its exit status, 128 + n for a signal. */
int keeper_world_status(void);

/* Processes that are alive and have the mark; wait for so many at least, or for
 * none. */
int keeper_world_marked(void);
void keeper_world_until_marked(int count);
void keeper_world_until_gone(void);

/* From the record: the inner process; its only child is the program. */
pid_t keeper_world_inner(void);
pid_t keeper_world_program(void);
/* Its control group; the caller frees it. NULL: none. */
char *keeper_world_group(void);

#endif
