/* SPDX-License-Identifier: ISC */

/* llmc doctor: the daemon, the workers, their sessions, and Claude Code's own
 * file. */
#ifndef DOCTOR_FLEET_H
#define DOCTOR_FLEET_H

#include <stddef.h>

struct cli;
struct doctor;
struct settings;

void doctor_fleet_check(struct doctor *doctor);

/* A worktree of this repository that could belong to a worker, as git lists it.
 */
struct doctor_fleet_worktree {
	char *name; /* of the worker */
	char *path;
	char *branch; /* "" = detached */
};
struct doctor_fleet_worktrees {
	struct doctor_fleet_worktree *list;
	size_t count;
};

/* Those below repo.worktree_dir with a name and a branch like a worker's. Exit
 * status; the failure is reported. */
int
doctor_fleet_worktrees_load(struct cli *cli, const struct settings *settings,
    struct doctor_fleet_worktrees *ret_worktrees);
void doctor_fleet_worktrees_release(struct doctor_fleet_worktrees *worktrees);

#endif
