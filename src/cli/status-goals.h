/* SPDX-License-Identifier: ISC */

/* llmc status: the goals, as the daemon has saved them. */
#ifndef STATUS_GOALS_H
#define STATUS_GOALS_H

struct status;

void status_goals_show(struct status *status);

#endif
