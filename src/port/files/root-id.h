/* SPDX-License-Identifier: ISC */

/* .llmc/root_id: the id of the first state of this root, and a sign that there
 * was one. */
#ifndef ROOT_ID_H
#define ROOT_ID_H

#include <stdbool.h>

#include "id.h"

struct err;
struct workspace;

/* -ENOENT if there is no such file, or no id in it; ret_id is as it was then.
 */
int root_id_read(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err);

/* Write it, if there is none. */
int root_id_keep(
    const struct workspace *workspace, const char *id, struct err *err);

/* There is no state: was there one? This root has an id, or worktrees in that
 * folder (absolute). Words that say what to do. */
bool root_id_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

#endif
