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

struct agent_cards;
struct err;
struct json_object;
struct schema;
struct task_launch;
struct tool_scope;

/* --- places ---------------------------------------------------------- */

/*
 * How deep agents may stand below each other. The overseer has depth 0. Pure.
 *
 *   child.depth           = parent.depth + 1
 *   child.max_depth       = parent.max_depth
 *   child.local_max_depth = the smaller one of its parent's and of what was
 *                           asked for
 *
 * A child whose local_max_depth is below its own depth is a leaf: it is made,
 * and may have no children.
 */

/* The place of an agent in the tree. */
struct hierarchy_place {
	int depth;
	int max_depth; /* of the whole tree */
	int local_max_depth; /* of what is below this agent */
};

enum hierarchy_verdict {
	HIERARCHY_ALLOW,
	HIERARCHY_MALFORMED, /* no place of a tree */
	HIERARCHY_GLOBAL_LIMIT,
	HIERARCHY_LOCAL_LIMIT,
};

/* May an agent at this place have children? */
enum hierarchy_verdict hierarchy_may_spawn(const struct hierarchy_place *place);
/* The code of a denial: "depth_limit_exceeded" (of the tree),
 * "local_limit_exceeded", "malformed"; NULL = allowed. */
const char *hierarchy_reason(enum hierarchy_verdict verdict);

/* The greatest depth of an agent below this place, or its own depth. */
int hierarchy_deepest(const struct hierarchy_place *place);

/* The place of its child. requested: the local limit that was asked for, 0 or
 * less = that of the parent. ret_clamped (may be NULL): more was asked for than
 * the parent has. */
struct hierarchy_place hierarchy_child(
    const struct hierarchy_place *parent, int requested, bool *ret_clamped);

/* The place of an agent that was not spawned: directly below the overseer. */
struct hierarchy_place hierarchy_root_worker(int max_depth);

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

/* An entry of a request; a bad one denies itself alone. */
extern const struct schema spawn_entry_schema;

/* requested: an array of entries. */
void spawn_decide(const struct spawn_facts *facts,
    struct json_object *requested, struct spawn_decision *ret_decision);
/* Their nodes cannot be made: those that were accepted are denied. */
void spawn_decision_fail(struct spawn_decision *decision, const char *message);
void spawn_decision_release(struct spawn_decision *decision);

/* If one was denied: a code and a sentence for the whole request ("some agents
 * were denied"), and what the caller can do. NULL = none was. */
const char *spawn_decision_reason(const struct spawn_decision *decision);
const char *spawn_decision_message(const struct spawn_decision *decision);
const char *spawn_decision_suggestion(const struct spawn_decision *decision);

/* --- the record ------------------------------------------------------ */

/* What is recorded of a request for agents: who was denied, and how each agent
 * is launched. Pure. */

/* [{role, reason, message}], owned by the caller. */
struct json_object *spawn_denied_agents(
    const struct spawn_decision *decision, struct json_object *requested);

/* The launch of one that was accepted, out of its entry of the request; what
 * restricts the caller restricts it too. The rest of the record (parent,
 * request) is the caller's to fill in. Owned by the caller. */
struct task_launch *spawn_launch(const struct spawn_facts *facts,
    const struct spawn_verdict *verdict, struct json_object *entry);

#endif
