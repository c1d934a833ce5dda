/* SPDX-License-Identifier: ISC */

/* The files that a landed commit changed: evidence for its node. */
#ifndef PLAN_FILES_H
#define PLAN_FILES_H

struct plan_files;
struct plan_floor;

struct plan_files *plan_files_new(struct plan_floor *floor);
void plan_files_free(struct plan_files *files);

/* NULL terminated, at most PLAN_LIST_MAX; NULL while git is asked: then auto
 * mode asks again (auto_plan_changed()). Valid until plan_files_forget(). */
char *const *plan_files_of(struct plan_files *files, const char *commit);
void plan_files_forget(struct plan_files *files, const char *commit);

#endif
