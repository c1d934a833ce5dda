/* SPDX-License-Identifier: ISC */

/* What only the fleet itself uses. */
#ifndef FLEET_PRIVATE_H
#define FLEET_PRIVATE_H

#include "session.h"
#include "worker-op.h"

struct agent;
struct buf;
struct err;
struct fleet;
struct git_facts;
struct git_snapshot;
struct hooks;
struct json_object;
struct transcript_totals;

/*
 * Launching a worker's session: wait for a slot, set up the worktree, check
 * for dialogs.
 */

/* Its session has ended: append why, if the kernel killed for memory. */
void worker_limits_ended(struct agent *agent, struct buf *out);
void worker_limits_release(struct worker_limits *limits);

/* A setup that is part of its operation: drop it; and one that has failed is
 * tried again. */
void agent_setup_free(struct agent *agent);
void agent_setup_retry(struct agent *agent);

/* Launch it, or do first what has to come first. No operation may be running on
 * the worker, and it must not have a session. */
void agent_launch(struct agent *agent);

/* What a person types to log its agent in. */
const char *agent_log_in(const struct agent *agent);

/* How long its session may take to start. */
int64_t agent_start_timeout(const struct agent *agent);

/* Does it confirm a prompt while it works? */
bool agent_queues(const struct agent *agent);

/* Have settings changed that its agent was started with? */
bool agent_launch_is_stale(const struct agent *agent);

/* The launch failed: try again soon, or put the worker into error. */
void agent_launch_failed(struct agent *agent, const struct err *err);

/* The events of a worker's session, and how they change the worker. */

extern const struct session_events agent_session_events; /* arg is an agent */

/* Append its task, and the state of its worktree as far as that is known. why:
 * the words for another conversation; NULL = it is the same. */
void agent_reminder(const struct agent *agent, const struct git_facts *facts,
    const struct git_snapshot *snapshot, const char *why, struct buf *out);

/* What its agent shows in a status line. */
void agent_status(struct agent *agent, struct json_object *data);

/* Its session is gone, but its process lives and cannot be reached: that is a
 * crash, too. The process is ended. */
void agent_session_gone(struct agent *agent);

/* The limit that it waits for is over, since a turn runs: a person has begun
 * it, or the agent. heard: the service has answered in it. */
void turn_failure_works(struct agent *agent, bool heard);

/* Its transcript says whether a request is tried again: since when the service
 * does not answer is known long before the turn fails of it. */
void turn_failure_retries(
    struct agent *agent, const struct transcript_totals *totals);

/* Its login is refused: in how many ms it tries again; -1 = it is not. One of
 * those with this login tries for all. */
int64_t turn_failure_login_ms(const struct agent *agent);
void turn_failure_try_login(struct agent *agent);

/* It is about to be prompted while it waits for a limit: a dialog that is open
 * since then would take the prompt. */
void agent_dismiss(struct agent *agent);

/* A status line may have said at which second a limit is over. */
void turn_failure_sharpen(struct fleet *fleet);

/*
 * What Claude Code reports through `llmc hook`: the method hook.event, and the
 * spools for events that arrived while no daemon was running. The answer is
 * sent after the state is saved, so that an acknowledged event is never lost.
 *
 * Each worker has its own spool (workspace.h): what lies there counts for that
 * worker only.
 */

/* Registers the method; watches the spools unless it is a single request. */
struct hooks *hooks_new(struct fleet *fleet);
void hooks_free(struct hooks *hooks);

/* A worker comes, or goes: its spool is watched, or no more. What waits in it
 * stays there. */
void hooks_add(struct hooks *hooks, const char *worker);
void hooks_remove(struct hooks *hooks, const char *worker);

/* Process the spools: a part of each now, and the rest in later passes of the
 * loop. Hooks of the same worker that arrive meanwhile wait for their turn. The
 * spool of one that is being cleared (agent.h) waits. */
void hooks_drain(struct hooks *hooks);

/* The same, and call fn when all have been processed: now, if they are small.
 */
void hooks_drain_then(struct hooks *hooks, void (*fn)(void *arg), void *arg);

/*
 * The safety net: compares what is known about the workers with what is there
 * (sessions, processes, git, spool), and repairs differences. Events do the
 * main work; this finds what they missed.
 */

/* all: check everything, not only what is due. */
void patrol_run(struct fleet *fleet, bool all);

/* Git looks at a worktree; its worker may be gone when it answers. */
struct look {
	LIST_ENTRY(look) entry;
	struct fleet *fleet;
	char *worker;
	struct server_call *call; /* that waits for it, NULL = none */
	struct loop_timer *timer; /* for no longer than this */
};

struct look *look_new(struct agent *agent);
/* With those of the fleet git goes: no answer may come after that. */
void look_free(struct look *look);

/*
 * worker.start: gives a task to a free worker of the pool, or to the one that
 * is named. If none is free but one is on its way (its worktree is being
 * prepared, or its session has not reported yet), the call waits for it, in
 * the order of the calls. It fails when that worker cannot be had any more,
 * when it takes too long, and when the daemon stops; a caller that has gone
 * gets nothing started.
 */

/* A worker may be ready by now. */
void calls_look(struct fleet *fleet);

/* It has reached a status, or (NULL) is gone. */
void calls_moved(struct fleet *fleet, const char *worker, const char *status);

/* The handlers of fleet_handle() go with the fleet. */
void fleet_methods_free(struct fleet *fleet);

/* Refuse the calls that wait. */
void calls_stop(struct fleet *fleet);

#endif
