/* SPDX-License-Identifier: ISC */

/*
 * state.json on the disk. Written only by the owner (who holds state.lock),
 * read by anybody at any time. It is replaced atomically; the last good one is
 * kept as state.json.bak and used when the other cannot be read.
 */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "id.h"

struct err;
struct state;
struct workspace;

/* If there is no file, the state is empty and has the id of the root, or a new
 * one. If the file is broken or gone and the backup is good, the backup is used
 * and *ret_recovered says why (owned by the caller, else NULL). If both are
 * broken: -EINVAL. Any other negative errno: the file cannot be read now, which
 * is no reason to use an older one. Changes nothing on the disk. */
int state_file_load(const struct workspace *workspace, int64_t now_ms,
    struct state *ret_state, char **ret_recovered, struct err *err);

/* Is the state gone, with its backup, from a root where there was one: it has
 * an id, or worktrees in that folder (absolute)? Words that say what to do. */
bool state_file_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

/* The old file becomes the backup; there is a state.json at every moment. An
 * old file that is broken (edited by hand, for example) is kept as
 * state.json.broken instead. */
int state_file_save(
    const struct workspace *workspace, struct state *state, struct err *err);

/* Remove what a killed owner left of a state that it was writing. */
void state_file_tidy(const struct workspace *workspace);

/* Read .llmc/root_id: the id of the first state of this root, written by the
 * first save. -ENOENT if there is no such file, or no id in it. */
int state_file_root_id(const struct workspace *workspace,
    char ret_id[ID_UUID_SIZE], struct err *err);

/* Has another program written the file since this state was loaded or saved? 1,
 * 0, negative errno. Also 1 for a state that was loaded from the backup and has
 * not been saved since. */
int state_file_foreign(
    const struct workspace *workspace, const struct state *state);

#endif
