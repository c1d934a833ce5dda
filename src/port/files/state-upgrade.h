/* SPDX-License-Identifier: ISC */

/*
 * The state of the version before: state.json, and state.json.bak as its last
 * good copy. It is read once, into a book that has no state, and moved to
 * .llmc/before-VERSION when the book has it.
 */
#ifndef STATE_UPGRADE_H
#define STATE_UPGRADE_H

struct err;
struct state;
struct workspace;

bool state_upgrade_has_files(const struct workspace *workspace);

/* -ENOENT: there is none. If only the backup is good, it is used and
 * *ret_recovered says why (owned by the caller, else NULL). -EINVAL: both are
 * broken. */
int state_upgrade_read(const struct workspace *workspace, int64_t now_ms,
    struct state *ret_state, char **ret_recovered, struct err *err);

/* Is the book gone from a root where there was one, without such files? See
 * root_id_is_lost(). */
bool state_upgrade_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err);

/* Where a file, or folder, of the version before is kept: a path in
 * DIR/before-VERSION, which is made, or in before-VERSION.2 and so on, if an
 * earlier upgrade has left one of that name. The caller frees it; NULL with
 * err. */
char *state_upgrade_place(const char *dir, const char *name, struct err *err);

/* The book has it: out of the way, if they are still there. */
void state_upgrade_move(const struct workspace *workspace);

#endif
