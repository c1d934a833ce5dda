/* SPDX-License-Identifier: ISC */

/*
 * A worker at run time: its record in the state, its session, and the one
 * operation that has it at the moment.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet.h"
#include "worker.h"

struct buf;
struct loop_timer;
struct salvage;
struct worker_op;

struct agent {
	struct fleet *fleet;
	struct core *core; /* fleet->core */
	struct worker *worker; /* the state's */
	struct session *session;
	struct worker_op *op; /* what is being done to it; NULL = nothing */
	struct salvage *salvage; /* part of that operation */
	struct loop_timer *timer;
	bool stirred; /* something happened since its worktree was looked at */
	int sent_back; /* times at the end of this turn */
	int missing; /* patrols in a row that found no session */
	int start_failures; /* sessions in a row that did not begin */
	bool resuming; /* its last launch continues a conversation */
	int64_t retry_ms; /* monotonic: not launched again before */
	int64_t stall_ms; /* monotonic: last thing tried against silence, 0 =
			   * none; auto mode's */
};

/* Added to the fleet; the worker is in the state already. */
struct agent *agent_new(struct fleet *fleet, struct worker *worker);
/* Drops its operation; the session goes on. The worker stays in the state. */
void agent_free(struct agent *agent);

/* Change status through the table, write, tell (EVENT_WORKER_MOVED). A
 * forbidden change is an error of ours: logged, and the worker stays as it
 * was. */
int agent_move(struct agent *agent, enum worker_status to, const char *reason);

/* Give the session a prompt: parked, written, then on its way. after: the
 * status once it is submitted. */
void agent_prompt(struct agent *agent, const char *text, bool clear,
    enum worker_status after);
void agent_interrupt(struct agent *agent); /* Escape */
/* End the session; the next one begins when the worker wants one. */
void agent_end_session(struct agent *agent);
/* The same in a turn that hangs: the next one is told to go on. */
void agent_restart(struct agent *agent);
/* Save the screen under logs/screens, end the session, wait for a person. Not
 * while something else is being done to it. */
void agent_park(struct agent *agent, const char *reason);

/* Forget the task, the conversation and the trouble. */
void agent_forget(struct agent *agent);
/* Its work is in commits, head the last of them: needs_review; looked over by
 * itself if that is wanted, else EVENT_WORK_FINISHED. */
void agent_finish(struct agent *agent, const char *head);
/* What the worker is told at the beginning of its task; appended. */
void agent_task_text(const struct agent *agent, struct buf *out);

/* Its session has ended, or did not begin, while it was to go on with a
 * conversation. Not for the first time? Then the next one is new. */
void agent_resume_failed(struct agent *agent);

/* Does something have it: an operation, or the end of its session? */
bool agent_is_taken(const struct agent *agent);
/* A ready session, idle, and nothing has it: a task may be given to it. */
bool agent_is_free(const struct agent *agent);
/* Nothing goes on with it, as far as that is known. */
bool agent_is_at_rest(const struct agent *agent);

/* Look at what is known and do the next thing, in ms at the latest. */
void agent_tick_later(struct agent *agent, int64_t ms);

/* This worker's effective values of [defaults] keys. */
int64_t agent_duration(const struct agent *agent, const char *key);
bool agent_flag(const struct agent *agent, const char *key);
const char *agent_string(const struct agent *agent, const char *key);

#endif
