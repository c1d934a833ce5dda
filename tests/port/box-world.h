/* SPDX-License-Identifier: ISC */

/* A repository with two workers, and the box of one of them with the real
 * bubblewrap. */
#ifndef BOX_WORLD_H
#define BOX_WORLD_H

#include "box.h"
#include "buf.h"
#include "workspace.h"

struct repo;
struct settings;

#define WORKTREE "[defaults]\nsandbox = \"worktree\"\n"

struct box_world {
	struct repo *repo;
	struct workspace workspace;
	struct settings *settings;
	struct box_spec spec;
	struct buf out; /* of the last script */
};

/* The worktree of ann, secrets around it, and bob's beside it. */
void box_world_begin(struct box_world *w, const char *config);
void box_world_begin_lfs(struct box_world *w, const char *config);
void box_world_end(struct box_world *w);
void box_world_settings(struct box_world *w, const char *text);

/* Run a script inside; its status. */
int box_world_run(struct box_world *w, const char *script);
/* Skip the test where there can be no box. */
void box_world_need(void);

#define works(w, script)                                                   \
	do {                                                               \
		const char *script_ = (script);                            \
		ck_assert_msg(box_world_run(&(w), script_) == 0, "%s: %s", \
		    script_, (w).out.data);                                \
	} while (0)
#define fails(w, script)                                                   \
	do {                                                               \
		const char *script_ = (script);                            \
		ck_assert_msg(box_world_run(&(w), script_) != 0, "%s: %s", \
		    script_, (w).out.data);                                \
	} while (0)

#endif
