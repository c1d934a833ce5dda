/* SPDX-License-Identifier: ISC */

/* Is a working agent alive? It needs several kinds of evidence before anything
 * is done; silence alone only leads to a closer look. */
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

enum liveness_verdict {
	LIVENESS_FINE,
	LIVENESS_QUIET, /* silent for a while: look at the screen, report */
	LIVENESS_HUNG, /* no sign of life at all for the whole timeout */
	LIVENESS_DEAD, /* no process */
	LIVENESS_VERDICT_COUNT
};

/* HUNG needs every kind of evidence to be older than timeout_ms, or four times
 * that during a tool call. QUIET: hooks and transcript are older than a third
 * of timeout_ms. INT64_MAX is the age of something that never happened; a
 * negative age counts as 0. With a timeout of 0 or less only DEAD is
 * detected. */
enum liveness_verdict
liveness_judge(const struct liveness_evidence *evidence, int64_t timeout_ms);

const char *liveness_verdict_name(enum liveness_verdict verdict);

#endif
