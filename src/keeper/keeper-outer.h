/* SPDX-License-Identifier: ISC */

/* The keeper itself: starts the inner process and stays until all is gone. */
#ifndef KEEPER_OUTER_H
#define KEEPER_OUTER_H

struct keeper;

/* The exit status: that of the program (128 + n: ended by signal n), or
 * KEEPER_FAILED. */
int keeper_outer_run(struct keeper *keeper);

#endif
