/* SPDX-License-Identifier: ISC */

/* What was spent on a task is known only after it has ended: its record is
 * written again. */
#ifndef REFILE_H
#define REFILE_H

struct auto_mode;

/* For all accounts whose task's record lacks something. */
void refile_due(struct auto_mode *mode);

#endif
