/* SPDX-License-Identifier: ISC */

/* The record of a repair, for people. */
#ifndef REPORT_H
#define REPORT_H

struct err;
struct repair;

/* logs/remediation_<stamp>.txt; its path, owned by the caller, or NULL, and err
 * says why. */
char *report_write(const struct repair *repair, struct err *err);

#endif
