/* SPDX-License-Identifier: ISC */

/* Questions of agents to those that they work for, and to the overseer. */
#ifndef TEAM_REQUEST_H
#define TEAM_REQUEST_H

struct team_floor;

/* Registers its methods. */
void team_request_register(struct team_floor *floor);

#endif
