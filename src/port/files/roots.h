/* SPDX-License-Identifier: ISC */

/*
 * The roots of this user, so that llmc can list them: a file for each, which
 * its daemon writes when it begins, in $XDG_STATE_HOME/llmc/roots, or in
 * ~/.local/state/llmc/roots. It only helps to find them: nothing follows from
 * a file that is there or not.
 */
#ifndef ROOTS_H
#define ROOTS_H

struct err;

#define ROOTS_MAX 256 /* that are listed */

int roots_note(const char *root, struct err *err);

/* Their paths, sorted, as in strv.h; the caller frees them. Files of roots that
 * do not exist any more are removed. */
char **roots_list(void);

#endif
