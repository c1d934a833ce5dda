/* SPDX-License-Identifier: ISC */

/*
 * Finished work is checked against the contract of its task (verification.h)
 * before it goes on to its check and to the landing queue. The checks run as
 * `llmc verify`, within the time of the contract; their state is saved before
 * they begin, and a daemon that finds them unfinished has them run again,
 * because the end of that turn is judged again.
 */
#ifndef TEAM_VERIFY_H
#define TEAM_VERIFY_H

#include <stdbool.h>

struct agent;

/* auto_team.verify; arg is the struct team_floor. */
bool team_verify(void *arg, struct agent *agent, const char *head);

#endif
