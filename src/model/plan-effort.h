/* SPDX-License-Identifier: ISC */

/*
 * The estimated effort of a node, which is a word of its author, as a number of
 * turns or parts of long ones. Pure.
 *
 *   xs, trivial, tiny       3
 *   s, small, low           6
 *   m, medium, moderate    12
 *   l, large, high         24
 *   xl, huge               48
 *
 * A whole number is itself. Case does not matter.
 */
#ifndef PLAN_EFFORT_H
#define PLAN_EFFORT_H

#define PLAN_EFFORT_MAX 1000000

/* -1 = it does not say; effort may be NULL. */
int64_t plan_effort_iterations(const char *effort);

#endif
