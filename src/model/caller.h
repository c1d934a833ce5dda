/* SPDX-License-Identifier: ISC */

/*
 * Who calls, and whether that is enough. What the kernel says counts: at which
 * socket it was, and whether the calling process descends from the pane of a
 * session. What a caller says of itself (LLMC_AGENT) does not.
 *
 * Without a sandbox an agent runs as the same user and can leave its process
 * tree: then this tells who did what, and stops what happens by mistake or on a
 * hint. A sandbox closes the other ways.
 */
#ifndef CALLER_H
#define CALLER_H

struct api_method;
struct err;

/* The overseer's repair session; no worker can have this name. */
#define CALLER_REPAIR "overseer"

struct caller {
	const char *door; /* the worker whose socket it is; NULL = the
			   * people's */
	/* The session whose pane it descends from; NULL = none. */
	const char *session;
	bool unknown; /* that cannot be said: it has ended, or it is outside */
	bool outside; /* outside of our pid namespace */
};

/* API_PERSON, API_REPAIR, API_WORKER or API_READER. */
unsigned caller_rank(const struct caller *caller);

/* May nobody be refused? Then it does not matter who calls. */
bool caller_is_anybody(const struct api_method *method);

/* May it call the method? worker: whom the call is about, NULL = nobody; life:
 * it is only a sign of life (hook-event.h), which comes from a process that has
 * often ended. -EPERM: no, and err says why. */
int caller_check(const struct caller *caller, const struct api_method *method,
    const char *worker, bool life, struct err *err);

#endif
