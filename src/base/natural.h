/* SPDX-License-Identifier: ISC */

/* The order in which people sort names: t2 comes before t10. */
#ifndef NATURAL_H
#define NATURAL_H

/* As strcmp(), but digits are compared as numbers; leading zeros decide only
 * between names that are equal otherwise. */
int natural_compare(const char *a, const char *b);

#endif
