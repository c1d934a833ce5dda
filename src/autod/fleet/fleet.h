/* SPDX-License-Identifier: ISC */

/*
 * The fleet: every worker with its session and its worktree. It works by
 * itself for workers that people drive; auto mode registers a policy.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core.h"
#include "session.h"
#include "turn.h"

struct agent;
struct fleet;
struct fleet_method;
struct hooks;
struct waiters;

/* Questions that the fleet asks; every member may be NULL, which is the answer
 * "no", or nothing to do. */
struct fleet_policy {
	/* Does nobody sit beside this worker? */
	bool (*drives)(void *arg, const struct agent *agent);
	/* Its turn has ended with these words (NULL = none). Fill in what the
	 * task says of it; false: the worker has no task, a person judges. */
	bool (*turn_facts)(void *arg, struct agent *agent,
	    const char *last_words, struct turn_facts *facts);
	/* It is to be sent back. True: not now, it has been paused instead. */
	bool (*turn_held)(void *arg, struct agent *agent);
	/* What was judged, of a worker with a task: NUDGE and BACK before it is
	 * sent back, the others (NO_CHANGES, CHECK, FAIL) to be acted on. head:
	 * its HEAD; reason: for BACK, NUDGE, FAIL. */
	void (*turn_judged)(void *arg, struct agent *agent,
	    enum turn_action action, const char *head, const char *reason);
	/* Its turn ended with an error that is no limit and no outage; true:
	 * taken care of. */
	bool (*turn_error)(void *arg, struct agent *agent, const char *text);
	/* It is in a turn: how long it has been silent. True: taken care of. */
	bool (*silence)(
	    void *arg, struct agent *agent, const struct session_life *life);
	/* A limit or an outage: it waits until then. */
	void (*limited)(void *arg, struct agent *agent, bool outage,
	    const char *text, int64_t until_ms);
	/* A tool or a turn of it ended. */
	void (*progressed)(void *arg, struct agent *agent);
	/* Its transcript has grown. */
	void (*used)(void *arg, struct agent *agent,
	    const struct transcript_parser *parser);
};

struct fleet {
	struct core *core;
	struct agent **agents; /* one for each worker of the state */
	size_t count;
	const struct fleet_policy *policy; /* never NULL */
	void *policy_arg;
	struct session_host host;
	struct waiters *waiters;
	struct hooks *hooks;
	struct fleet_method *methods;
	struct core_floor floor;
};

/* Registers itself as a floor of the core, and its methods. */
struct fleet *fleet_new(struct core *core);
void fleet_free(struct fleet *fleet);
void fleet_set_policy(
    struct fleet *fleet, const struct fleet_policy *policy, void *arg);

struct agent *fleet_find(const struct fleet *fleet, const char *name);
/* Does the policy drive it? */
bool fleet_drives(const struct agent *agent);

/* A method on one worker: fn is called when it exists and nobody has it. */
typedef void fleet_worker_fn(void *arg, struct agent *agent,
    struct server_call *call, struct json_object *params);
void fleet_handle(
    struct fleet *fleet, const char *method, fleet_worker_fn *fn, void *arg);
/* Say that there is none of that name, and which there are. */
void fleet_refuse_unknown(
    const struct fleet *fleet, struct server_call *call, const char *name);

#endif
