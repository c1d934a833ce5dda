/* SPDX-License-Identifier: ISC */

/* What was spent on a task is known only after it was filed: its record is
 * written again, and the newest one counts. */
#ifndef REFILE_H
#define REFILE_H

struct auto_mode;

/* For all accounts whose task's record lacks something; when the state is
 * saved. */
void refile_later(struct auto_mode *mode);

#endif
