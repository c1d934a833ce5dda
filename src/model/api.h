/* SPDX-License-Identifier: ISC */

/*
 * The daemon's JSON-RPC methods, one row each: what they want, what they
 * answer, which errors they have of their own, and who may call them when. The
 * server checks calls against this table; the command line, `llmc schema` and
 * the completion read it.
 */
#ifndef API_H
#define API_H

#include <stddef.h>

struct shape;
struct shape_field;

/* Errors beyond those of JSON-RPC itself (rpc.h). */
enum api_error {
	API_FAILED = -32000, /* the message says why */
	API_BUSY = -32001, /* try again in a moment */
	API_UNKNOWN = -32002, /* no such worker, no such task */
	API_STATUS = -32003, /* not in this status */
};
const char *api_error_name(int code); /* "busy"; NULL = not one of these */

#define API_ONESHOT  1u /* works while no daemon runs (autod --oneshot) */
#define API_AGENT    2u /* an agent may call it from inside its session */
#define API_STOPPING 4u /* is served while the daemon stops */
#define API_STREAM   8u /* stays open and tells things until hung up */
#define API_EARLY    16u /* is served before the daemon has begun */

struct api_method {
	const char *name; /* "worker.start" */
	const char *help; /* one line */
	unsigned flags;
	const struct shape *params;
	const struct shape_field *result;
	const enum api_error *errors; /* its own; ends with 0 */
};

extern const struct api_method api_methods[]; /* ends with a NULL name */
const struct api_method *api_find(const char *name); /* NULL = none */

/* The same as a word of the command line's --json: "no_such_task" where it is
 * a task that the method does not know, "bad_value" for parameters that are
 * wrong. "failed" for everything else. */
const char *api_error_word(const struct api_method *method, int code);

/* What events.follow tells, a record of logs/auto.log. */
extern const struct shape_field api_event_record;

#endif
