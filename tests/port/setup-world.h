/* SPDX-License-Identifier: ISC */

/* A worktree to set up, for the tests of setup.h. */
#ifndef SETUP_WORLD_H
#define SETUP_WORLD_H

#include "base.h"
#include "repo.h"
#include "setup.h"

#define SETUP_FILES_MAX 8

struct setup_world {
	struct repo *repo;
	struct setup_spec spec; /* nothing to do yet */
	const char *files[SETUP_FILES_MAX]; /* its copy_files */
	char *stamp;
	struct setup *setup; /* while it runs */
	bool done;
	struct err err; /* code 0 = ready */
};

/* A repository with the worktree of repo.h. The caller frees it. */
struct setup_world *setup_world_new(void);
void setup_world_cleanup(struct setup_world **w);
#define cleanup_world __attribute__((cleanup(setup_world_cleanup)))

/* Run it to its end; returns the code of the result. */
void setup_world_done(const struct err *err, void *arg);
int setup_world_run(struct setup_world *w);
void setup_world_guard(void *arg);

/* It is ready and not due again; it fails with those words and stays due. */
void setup_world_ready(struct setup_world *w);
void setup_world_fails(struct setup_world *w, int code, const char *words);

#endif
