/* SPDX-License-Identifier: ISC */

/* A Stop that is being judged: shared by finish.c and verdict.c. */
#ifndef FINISH_H
#define FINISH_H

#include "daemon.h"

struct finish {
	struct agent *agent;
	struct server_call *call; /* NULL: nobody waits for the judgement */
	char *words; /* the agent's last ones, may be NULL */
};

/* Send the worker back with a reason; the turn goes on. When nobody waits for
 * the answer (the event comes from the spool), the turn is over: the reason
 * begins another one. Frees the finish. */
void finish_send_back(struct finish *finish, const char *reason);
void finish_end(struct finish *finish);

/* The work is there, in commits. */
void finish_with(struct agent *agent, const char *head);

#endif
