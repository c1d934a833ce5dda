/* SPDX-License-Identifier: ISC */

/* Reports of agents about their own work. */
#ifndef TEAM_REPORT_H
#define TEAM_REPORT_H

struct team_floor;

/* Registers its methods. */
void team_report_register(struct team_floor *floor);

#endif
