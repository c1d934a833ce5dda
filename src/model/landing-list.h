/* SPDX-License-Identifier: ISC */

/* The landing queue as the answer of landing.list (api-landing.c). */
#ifndef LANDING_LIST_H
#define LANDING_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct landing_facts;
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
	bool pushes; /* repo.push is set */
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

#endif
