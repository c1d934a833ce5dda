/* SPDX-License-Identifier: ISC */

/* The operation that lands the work of one worker, when its turn has come. What
 * it does and in which order is told in landing.h, whose source owns it. */
#ifndef OP_LAND_H
#define OP_LAND_H

#include <stdbool.h>

#include "git-work.h"
#include "landing.h"
#include "worker-op.h"

/* Filled in before op_land(), the rest is zero. */
struct op_land {
	struct worker_op op; /* first; agent and call are set */
	char
	    *task; /* of the worker when it was asked for, NULL = none; owned */
	bool rebase_only; /* stop when it is up to date */
	bool again; /* after a restart: a rebase may stand there half done */
	bool left_over; /* if it is cancelled now, the journal stays for the
			 * next daemon */
	enum landing_result failure; /* what it is called if it fails */
	/* The worker is free and has been moved. answer is NULL with an error
	 * and taken over. Frees it. */
	void (*ended)(struct op_land *land, const struct err *err,
	    struct json_object *answer);

	/* Its own. */
	int rounds;
	char onto[GIT_ID_SIZE];
	bool incorporated; /* nothing was left to land */
	char *conflict; /* what the worker is told about it, NULL = none */
};

void op_land(struct op_land *land);
/* Frees what it holds, not itself. */
void op_land_release(struct op_land *land);

#endif
