/* SPDX-License-Identifier: ISC */

/*
 * An agent in a turn shows no sign of life: when that is too long, and what to
 * try next. Ages are in milliseconds; INT64_MAX = never happened, a negative
 * age counts as 0.
 *
 * Two programs judge silence. The daemon tries to revive a worker in steps; the
 * overseer restarts the whole daemon when nothing moved for
 * overseer.stall_timeout. Each step counts as a move, and silence_limits()
 * keeps the wait for each step below the overseer's timeout, so that the daemon
 * always acts first.
 */
#ifndef SILENCE_H
#define SILENCE_H

#include "ladder.h"
#include "plan-status.h"
#include "limit.h"

/* How long an agent may be silent; 0 or less = for ever. */
struct silence_limits {
	int64_t turn_ms;
	int64_t tool_ms; /* while a tool is running: four times that */
};

/* The limits for a timeout, none longer than silence_longest_ms(). overseer_ms:
 * overseer.stall_timeout; 0 = the overseer does not judge this agent. */
struct silence_limits silence_limits(int64_t timeout_ms, int64_t overseer_ms);

/* The longest wait for a step that surely ends before the overseer's timeout:
 * three quarters of it. */
int64_t silence_longest_ms(int64_t overseer_ms);

/* How often, at least, the daemon must look at its workers and tell the
 * overseer: the two may take half of the quarter that remains. */
int64_t silence_look_ms(int64_t overseer_ms);

/* Has it been silent for too long? Silence as long as the limit is not. */
bool silence_is_long(
    int64_t quiet_ms, bool tool_open, const struct silence_limits *limits);

struct silence_facts {
	int64_t quiet_ms; /* age of the last hook or growth of the transcript.
			   * CPU time does not count: an endless loop uses
			   * plenty */
	int64_t step_ms; /* since the last step; INT64_MAX = none */
	bool tool_open; /* a tool is running */
	int stage; /* number of steps since a turn ended */
};

/* The next step, or NONE; each one gets the whole time again: REDIRECT presses
 * Escape and tells it to continue, RESTART resumes the conversation in a new
 * session, RETRY fails the attempt. */
enum progress_step silence_next(
    const struct silence_facts *facts, const struct silence_limits *limits);

/* The same for delegated work whose worker a person drives, so that no session
 * is interrupted or restarted: WARN asks it for its status, RETRY has others
 * try it, PAUSE asks a person. vain: it was asked as often as may be. */
enum progress_step silence_by_hand(
    enum stall_class sample, bool vain, enum recovery_policy policy);

#endif
