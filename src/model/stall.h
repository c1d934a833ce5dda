/* SPDX-License-Identifier: ISC */

/* A worker with a task shows no sign of life: what to try next. */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>
#include <stdint.h>

enum stall_action {
	STALL_WAIT,
	STALL_INTERRUPT, /* press Escape, and tell it to continue */
	STALL_RESTART, /* a new session that resumes the conversation */
	STALL_FAIL, /* the attempt failed */
	STALL_ACTION_COUNT
};

const char *stall_action_name(enum stall_action action);

struct stall_facts {
	int64_t hook_ms; /* age of the last hook */
	int64_t transcript_ms; /* age of the transcript's last growth */
	int64_t step_ms; /* since the last attempt; INT64_MAX = none */
	bool tool_open; /* a tool is running: four times the timeout */
	int stage; /* number of attempts since the last sign of life */
};

/* CPU time does not count: an endless loop uses plenty. A negative age counts
 * as 0; with a timeout of 0 or less it never stalls. Each stage gets the whole
 * timeout again. */
enum stall_action
stall_judge(const struct stall_facts *facts, int64_t timeout_ms);

#endif
