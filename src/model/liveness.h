/* SPDX-License-Identifier: ISC */

/* Is a working agent alive? Several kinds of evidence before anything is done;
 * silence alone only asks. */
#ifndef LIVENESS_H
#define LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

struct liveness_evidence {
	int64_t hook_ms; /* age of the last hook */
	int64_t transcript_ms; /* age of the last growth of the transcript */
	int64_t cpu_ms; /* age of the last CPU use of the process tree
			 * worth the name */
	bool tool_open; /* a tool call runs */
	bool process; /* the agent's process exists */
};

enum liveness_verdict {
	LIVENESS_FINE,
	LIVENESS_QUIET, /* nothing for a while: look at the screen, tell */
	LIVENESS_HUNG, /* no evidence of life at all for the whole timeout */
	LIVENESS_DEAD, /* no process */
	LIVENESS_VERDICT_COUNT
};

/* HUNG needs every kind of evidence older than timeout_ms; with an open tool
 * call four times that. QUIET: hooks and transcript older than a third of
 * timeout_ms. INT64_MAX is the age of what never was; a negative age counts as
 * none. A timeout of 0 or less only tells the dead. */
enum liveness_verdict
liveness_judge(const struct liveness_evidence *evidence, int64_t timeout_ms);

const char *liveness_verdict_name(enum liveness_verdict verdict);

#endif
