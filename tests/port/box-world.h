/* SPDX-License-Identifier: ISC */

/* A repository with two workers, and the box of one of them with the real
 * bubblewrap. */
#ifndef BOX_WORLD_H
#define BOX_WORLD_H

#include "unit.h"
#include "box.h"
#include "workspace.h"

struct repo;
struct settings;

#define WORKTREE "[defaults]\nsandbox = \"worktree\"\n"

extern struct box_world {
	struct repo *repo;
	struct workspace workspace;
	struct settings *settings;
	struct box_spec spec;
	struct buf out; /* of the last script */
	void (*prepared)(void); /* before it runs; NULL = nothing */
} w;

/* The worktree of ann, secrets around it, and bob's beside it. */
void box_world_begin(const char *config);
void box_world_begin_lfs(const char *config);
void box_world_end(void);
void box_world_settings(const char *text);

/* Run a script inside; its status. */
int box_world_run(const char *script);
/* Skip the test where there can be no box. */
void box_world_need(void);

#define works(script)                                                         \
	do {                                                                  \
		const char *script_ = (script);                               \
		ck_assert_msg(box_world_run(script_) == 0, "%s: %s", script_, \
		    w.out.data);                                              \
	} while (0)
#define fails(script)                                                         \
	do {                                                                  \
		const char *script_ = (script);                               \
		ck_assert_msg(box_world_run(script_) != 0, "%s: %s", script_, \
		    w.out.data);                                              \
	} while (0)

#endif
