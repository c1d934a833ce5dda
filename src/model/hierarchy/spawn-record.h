/* SPDX-License-Identifier: ISC */

/* What is recorded of a request for agents: who was denied, and how each agent
 * is launched. Pure. */
#ifndef SPAWN_RECORD_H
#define SPAWN_RECORD_H

struct json_object;
struct spawn_decision;
struct spawn_facts;
struct spawn_verdict;
struct task_run;

/* [{role, reason, message}], owned by the caller. */
struct json_object *spawn_denied_agents(
    const struct spawn_decision *decision, struct json_object *requested);

/* The launch of one that was accepted, out of its entry of the request; what
 * restricts the caller restricts it too. The rest of the record (parent,
 * request) is the caller's to fill in. Owned by the caller. */
struct task_run *spawn_run(const struct spawn_facts *facts,
    const struct spawn_verdict *verdict, struct json_object *entry);

#endif
