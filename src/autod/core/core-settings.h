/* SPDX-License-Identifier: ISC */

/*
 * The settings that are in effect, the file and the command line over it, and
 * the branch that work lands on.
 */
#ifndef CORE_SETTINGS_H
#define CORE_SETTINGS_H

struct core;
struct err;
struct reload;

struct reload *reload_new(struct core *core);
void reload_free(struct reload *reload);

/* The settings that the daemon begins with. */
int reload_first(struct core *core, struct err *err);

/* err NULL: they are in effect. */
typedef void reload_fn(const struct err *err, void *arg);

/* Read the settings again, if they may be used; else the old ones stay. fn is
 * called after that, from here or later. */
void reload_begin(struct core *core, reload_fn *fn, void *arg);

/* --- the landing branch ------------------------------------------------- */

/* Choose core->branch for the life of this daemon; the settings have been read.
 * A problem with the branch is reported, and is no error: workers can work
 * without it. */
void landing_branch_fix(struct core *core);

/* Is it gone? The words for it; the caller frees. NULL = it is there, or that
 * is not known. Does not wait for git. */
char *landing_branch_lost(const struct core *core);

#endif
