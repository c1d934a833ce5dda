/* SPDX-License-Identifier: ISC */

/* Mail between agents, the daemon and people. */
#ifndef TEAM_MAIL_H
#define TEAM_MAIL_H

struct team_floor;

/* Registers its methods. */
void team_mail_register(struct team_floor *floor);

#endif
