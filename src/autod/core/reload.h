/* SPDX-License-Identifier: ISC */

/* The settings of the daemon: the file, and the command line over it. */
#ifndef RELOAD_H
#define RELOAD_H

struct core;
struct err;
struct reload;

struct reload *reload_new(struct core *core);
/* Who still waits is told -ECANCELED. */
void reload_free(struct reload *reload);

/* At the start, when they have been checked (root-mark.h). */
int reload_first(struct core *core, struct err *err);

/* err NULL: they are in effect. */
typedef void reload_fn(const struct err *err, void *arg);

/* Read them again, if they may be used; else the old ones stay. fn is called
 * after that, from here or later. */
void reload_begin(struct core *core, reload_fn *fn, void *arg);

#endif
