/* SPDX-License-Identifier: ISC */

/*
 * A scratch repository to get out of: a worker's worktree, a sibling's, a home
 * with a secret, sockets that somebody listens at, a process and a tmux server
 * outside. Every attempt begins with all of it as new.
 *
 * Its bwrap is a copy that the user may write, and LLMC_BWRAP names it.
 *
 * It ends with escape_scene_end(), or soon after this process is gone. HOME of
 * this process is set to the scratch home until then.
 */
#ifndef ESCAPE_SCENE_H
#define ESCAPE_SCENE_H

#include "base.h"

struct escape_scene;
struct err;
struct escape;

/* lines: for the scratch config.toml; tmux: the socket of the real server, NULL
 * = there is none. Ended by the caller, on success only. */
int escape_scene_begin(const char *mode, const char *lines, const char *tmux,
    struct escape_scene **ret_scene, struct err *err);
void escape_scene_end(struct escape_scene *scene);
const char *escape_scene_root(const struct escape_scene *scene);
const char *escape_scene_worktree(const struct escape_scene *scene);
const char *escape_scene_worker(void);

/* What is there now is what every attempt begins with. */
int escape_scene_keep(struct escape_scene *scene, struct err *err);

/* Run a row with these words before its own (NULL = as the control). Has it
 * escaped? Negative errno if the scene cannot be made as new. */
int escape_scene_try(struct escape_scene *scene, const struct escape *escape,
    char *const *prefix, bool *ret_escaped, struct err *err);

#endif
