/* SPDX-License-Identifier: ISC */

/*
 * Shared by the tests of errands: one errand in its own loop, and fifos through
 * which its command reports its progress.
 */
#ifndef ERRAND_WORLD_H
#define ERRAND_WORLD_H

#include "unit.h"
#include "errand.h"

#define GUARD_MS 30000

/* One errand and its result. */
struct run {
	struct loop *loop;
	struct errand *errand;
	int calls;
	struct errand_result result; /* out and err are copies */
};

/* start and adopt initialise; run_done is the errand_fn of both. */
void run_init(struct run *run);
void run_release(struct run *run);
void run_done(const struct errand_result *result, void *arg);
void run_start(struct run *run, const struct errand_spec *spec);
void run_adopt(struct run *run, const struct errand_spec *spec);

/* Wait until it has ended. */
void run_wait(struct run *run);

const char *fresh_dir(void);

/* An errand "e" with a deadline of GUARD_MS. */
struct errand_spec spec_for(const char *dir, const char *command);

/* Files of the errand "e"; the caller frees char * results. */
char *file_of(const char *dir, const char *suffix);
bool has_file(const char *dir, const char *suffix);
void remove_file(const char *dir, const char *suffix);
char *text_of(const char *path);

/* A fifo whose other end the command holds: read a line from it, write one. */
const char *fresh_fifo(void);
char *fifo_hear(const char *path);
void fifo_say(const char *path);

bool gone_within(pid_t pid, int ms);

#endif
