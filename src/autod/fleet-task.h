/* SPDX-License-Identifier: ISC */

/*
 * autod --fleet VERB: what people do with the shared book of a fleet
 * (port/shared), in a process of its own that may wait: for llmc fleet, whether
 * or not a daemon runs here.
 */
#ifndef FLEET_TASK_H
#define FLEET_TASK_H

struct workspace;

struct fleet_task {
	const char *verb; /* init, migrate, join, check, hosts, drain, leave */
	const char *owner; /* address with the rights of the owner; NULL =
			    * fleet.database */
	const char *host; /* drain: which; NULL = this one */
	bool undo; /* drain: take tasks again */
};

/* What was done or found as a line of JSON on standard output, or what is wrong
 * on standard error. Returns the exit status. */
int fleet_task_run(
    const struct workspace *workspace, const struct fleet_task *task);

#endif
