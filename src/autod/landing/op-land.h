/* SPDX-License-Identifier: ISC */

/* The operation that lands the work of one worker. landing.h describes what it
 * does and in which order; landing.c owns it. */
#ifndef OP_LAND_H
#define OP_LAND_H

#include <stdbool.h>

#include "git-work.h"
#include "landing.h"
#include "worker-op.h"

/* Set before op_land() is called; the rest is zero. */
struct op_land {
	struct worker_op op; /* first; agent and call are set */
	char *task; /* of the worker at the time of the request, NULL = none;
		     * owned */
	bool rebase_only; /* only bring it up to date */
	bool again; /* after a restart: there may be an unfinished rebase */
	bool left_over; /* if it is cancelled now, keep the journal for the next
			 * daemon */
	enum landing_result failure; /* the result to report if it fails */
	/* Called when the worker is free and has its new status. answer is NULL
	 * on error; takes ownership of it. Frees the operation. */
	void (*ended)(struct op_land *land, const struct err *err,
	    struct json_object *answer);

	/* Private. */
	int rounds;
	char onto[GIT_ID_SIZE];
	bool incorporated; /* there was nothing to land */
	char *conflict; /* the prompt for the worker about it, NULL = none */
};

void op_land(struct op_land *land);
/* Frees its contents, not the struct. */
void op_land_release(struct op_land *land);

#endif
