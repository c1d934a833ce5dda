/* SPDX-License-Identifier: ISC */

/* Is a working agent alive? It needs several kinds of evidence before anything
 * is done; silence alone proves nothing. */
#ifndef LIVENESS_H
#define LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

struct liveness_evidence {
	int64_t hook_ms; /* age of the last hook */
	int64_t transcript_ms; /* age of the last growth of the transcript */
	int64_t cpu_ms; /* age of the last significant CPU use of the process
			 * tree */
	bool tool_open; /* a tool call is running */
	bool process; /* the agent's process exists */
};

/* Does it hang? Every kind of evidence is older than timeout_ms, or four times
 * that during a tool call. INT64_MAX is the age of something that never
 * happened; a negative age counts as 0. An agent without a process does not
 * hang, it has ended; with a timeout of 0 or less none ever hangs. */
bool
liveness_is_hung(const struct liveness_evidence *evidence, int64_t timeout_ms);

#endif
