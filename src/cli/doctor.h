/* SPDX-License-Identifier: ISC */

/* What the files of llmc doctor share: the report, and the facts behind it. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "state.h"

struct cli;
struct json_object;
struct settings;

enum verdict {
	VERDICT_OK,
	VERDICT_WARN,
	VERDICT_FAIL,
	VERDICT_COUNT
};

struct doctor {
	struct cli *cli;
	bool have_git; /* it answers, about a repository with a commit */
	bool have_state; /* state.json could be read */
	struct state state;
	struct settings *settings; /* NULL = none to be had */
	struct json_object *checks;
	struct json_object *repairs; /* in words */
	int counts[VERDICT_COUNT];
};

/* One line of the report. fix: what to do, NULL when nothing is wrong. */
void doctor_note(struct doctor *doctor, enum verdict verdict, const char *name,
    const char *detail, const char *fix);

/* doctor-fleet.c: daemon, workers, sessions, Claude Code's own file. */
void doctor_check_fleet(struct doctor *doctor);

/* doctor-auto.c: where the tasks of auto mode come from. */
void doctor_check_auto(struct doctor *doctor);

/* doctor-overseer.c: whether one could start, or is well. */
void doctor_check_overseer(struct doctor *doctor);

/* A worktree of this repository that could be a worker's, by git. */
struct doctor_worktree {
	char *name; /* of the worker */
	char *path;
	char *branch; /* "" = detached */
};
struct doctor_worktrees {
	struct doctor_worktree *list;
	size_t count;
};

/* Those below repo.worktree_dir with a name and a branch as workers have them.
 * Exit status; the failure is reported. */
int doctor_worktrees_load(struct cli *cli, const struct settings *settings,
    struct doctor_worktrees *ret_worktrees);
void doctor_worktrees_release(struct doctor_worktrees *worktrees);

/* doctor-repair.c: exit status; what was done is in doctor->repairs. */
int doctor_repair(struct doctor *doctor, bool yes);
int doctor_rebuild(struct doctor *doctor, bool yes);

#endif
