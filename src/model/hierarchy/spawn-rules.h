/* SPDX-License-Identifier: ISC */

/*
 * An agent asks for other agents: who of them is accepted, at which place and
 * under which name, and why the others are denied. Pure.
 *
 * The place of the caller and all counts come from the daemon's own records,
 * never from the request.
 */
#ifndef SPAWN_RULES_H
#define SPAWN_RULES_H

#include "hierarchy.h"

struct agent_cards;
struct err;
struct json_object;
struct tool_scope;

/* What a request is judged by; everything is borrowed. */
struct spawn_facts {
	struct hierarchy_place place; /* of the caller */
	const struct tool_scope *tools; /* that it has; NULL = all */
	char *const *scope_paths; /* that it may change; NULL = all */
	/* [team] */
	size_t max_concurrent, max_children;
	char *const *roles; /* that are allowed; empty = all */
	/* Agents that were spawned and have not ended. */
	size_t children; /* of the caller */
	size_t at_work; /* all but the caller and those that wait for others */
	char *const *actors; /* names that are in use */
	const struct agent_cards *cards; /* NULL = none */
};

/* What becomes of one entry of the request. */
struct spawn_verdict {
	const char *reason; /* the code of a denial; NULL = accepted */
	char *message; /* its sentence */
	struct hierarchy_place place; /* if accepted; the same for the others */
	bool clamped; /* it asked for more depth than its parent has */
	char *actor; /* "actor:team:backend:coder-1" */
};

struct spawn_decision {
	struct spawn_verdict *agents; /* in the order of the request */
	size_t count, accepted;
};

/* requested: an array of entries as in the shape of team.agent_spawn. */
void spawn_decide(const struct spawn_facts *facts,
    struct json_object *requested, struct spawn_decision *ret_decision);
/* Their nodes cannot be made: those that were accepted are denied. */
void spawn_decision_fail(struct spawn_decision *decision, const char *message);
void spawn_decision_release(struct spawn_decision *decision);

/* If anyone was denied: a code and a sentence for the whole request ("some
 * agents were denied"), and what the caller can do. NULL = nobody was. */
const char *spawn_decision_reason(const struct spawn_decision *decision);
const char *spawn_decision_message(const struct spawn_decision *decision);
const char *spawn_decision_suggestion(const struct spawn_decision *decision);

/* The tools of an entry of the request: those of its card, cut down. -EINVAL:
 * it asks for more. */
int spawn_scope(const struct spawn_facts *facts, struct json_object *entry,
    struct tool_scope *ret_scope, struct err *err);

#endif
