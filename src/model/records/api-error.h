/* SPDX-License-Identifier: ISC */

/* What a method of the daemon, or a rule of the model, refuses with; and the
 * one caller that has a name of its own. */
#ifndef API_ERROR_H
#define API_ERROR_H

/* Errors beyond those defined by JSON-RPC (rpc.h). */
enum api_error {
	API_FAILED = -32000, /* the message says why */
	API_BUSY = -32001, /* try again in a moment */
	API_UNKNOWN = -32002, /* no such worker, task or commit */
	API_STATUS = -32003, /* not possible in the worker's status */
	API_CHANGED = -32004, /* the work is not what the caller has seen */
	API_REFUSED = -32005, /* not for this caller; any method may answer so
			       */
	/* Goals and plans: what the rules of model/plan-* refuse. They return
	 * these codes, which are no errno, as they are. */
	API_E_TRANSITION = -32020, /* that status does not follow this one */
	API_E_EVIDENCE = -32021, /* done needs evidence or an override */
	API_E_REASON = -32022, /* blocked, or an override, needs a reason */
	API_E_UNKNOWN = -32023, /* no such goal, node or assignment */
	API_E_EXISTS = -32024, /* the id is in use */
	API_E_STARTED = -32025, /* the node has started */
	API_E_CYCLE = -32026, /* nodes would wait for each other */
	API_E_LEVEL = -32027, /* phases hold tasks, tasks hold subtasks */
	API_E_LIMIT = -32028, /* too many, or too long */
	API_E_CLOSED = -32029, /* the goal or the node has ended */
	API_E_ASSIGNED = -32030, /* a worker has the node already */
	API_E_CHILDREN = -32031, /* its status follows from its children */
	/* Delegation. */
	API_E_UNAUTHORIZED = -32040, /* not for this actor */
	API_E_INVALID_PLAN = -32041, /* no plan, or it breaks the rules */
	API_E_CONFLICT = -32042, /* the plan has another version by now */
	API_E_NOT_FOUND = -32043, /* no such actor, mail, request or plan */
	API_E_RATE = -32044, /* too often, or too many that wait */
};

/* The overseer's repair session; no worker can have this name. */
#define CALLER_REPAIR "overseer"

#endif
