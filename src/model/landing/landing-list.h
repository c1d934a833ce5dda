/* SPDX-License-Identifier: ISC */

/* The landing queue as the answer of landing.list (api-work.c). */
#ifndef LANDING_LIST_H
#define LANDING_LIST_H

#include "landing-plan.h"

struct json_object;
struct landing_item;
struct landing_record;
struct schema;

struct landing_list {
	const struct landing_record *record;
	/* In these facts, a base that is not known has empty names. */
	const struct landing_facts *facts;
	struct landing_item *const *items; /* of the facts' entries */
	/* Of the entries: why each of them cannot be built; NULL = it can. */
	const char *const *troubles;
	const int *slots; /* of the facts' runs: numbers of their slots */
	const char *branch;
	const char *check; /* the check command, "" = none */
	const char *hold; /* why the branch cannot be moved, NULL = unknown */
	bool pushes; /* repo.upstream is not off */
	bool resting; /* no daemon is running */
	int64_t now_ms; /* wall clock */
};

extern const struct schema landing_list_schema;

/* Owned by the caller. */
struct json_object *landing_list_json(const struct landing_list *list);

/* The same from the record alone, while no daemon runs. key: of the check
 * command in the record's book, NULL = none is set. */
struct json_object *landing_list_resting(struct landing_list list,
    const char *base_commit, const char *base_tree, const char *key);

/* The landing queue for people: where each entry is, and why it waits. */

enum landing_state {
	LANDING_IS_QUEUED, /* others are before it */
	LANDING_IS_BUILT, /* in the chain; no check covers it yet */
	LANDING_IS_COVERED, /* a check that is running covers it */
	LANDING_IS_GREEN, /* passed; lands next */
	LANDING_IS_LANDING, /* the branch is being moved */
	LANDING_IS_DEFERRED, /* conflicts with an entry before it */
	LANDING_IS_SUSPECT, /* failed, and is checked again before it is sent
			     * back */
	LANDING_IS_HELD, /* waits for a person, or for the checkout */
	LANDING_IS_RED, /* the branch itself fails its check */
	LANDING_STATE_COUNT
};

const char *landing_state_name(enum landing_state state); /* "queued" */

/* A worker whose work waits longer than this in the queue can do something
 * else. */
#define LANDING_HOLD_MS (5 * 60 * 1000)

struct landing_view {
	enum landing_state state;
	size_t position; /* in the order of the queue, from 1 */
	const char *tree; /* of the running check that covers it, or NULL */
	int64_t expected_ms; /* until it lands if all goes well; -1 = unknown */
};

/* views has room for each entry of the facts, in their order. The plan was made
 * from the same facts. */
void landing_view_make(const struct landing_facts *facts,
    const struct landing_plan *plan, int64_t now_ms,
    struct landing_view *ret_views);

/* Will it take too long to keep its worker? It does while the branch is red:
 * a person must fix it. What waits for a person or for another entry is not
 * known to. */
bool landing_view_is_long(const struct landing_view *view);

#endif
