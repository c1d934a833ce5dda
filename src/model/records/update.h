/* SPDX-License-Identifier: ISC */

/*
 * The structured update in an agent's reply: the last fenced block marked json
 * that has the key "overseerUpdate". Nothing is guessed from other text.
 *
 * Every member is optional, unknown ones are refused, strings and lists are
 * bounded. What it says is the agent's word: it never closes a node by itself
 * (reconcile.h).
 */
#ifndef UPDATE_H
#define UPDATE_H

#include "plan-text.h"

struct err;
struct json_object;

#define UPDATE_KEY         "overseerUpdate"
#define UPDATE_BLOCK_MAX   65536 /* bytes of the block */
#define UPDATE_SUMMARY_MAX 8192
#define UPDATE_TEXT_MAX    4096 /* of any other string */
#define UPDATE_ITEMS_MAX   200

enum update_status {
	UPDATE_IN_PROGRESS,
	UPDATE_BLOCKED,
	UPDATE_DONE,
	UPDATE_NONE, /* it does not say */
	UPDATE_STATUS_COUNT
};

struct update_decision {
	char *decision;
	char *rationale; /* NULL = not given */
};

struct update {
	char *goal_id, *node_id; /* NULL = not given */
	enum update_status status;
	char *summary, *next; /* NULL = not given */
	char **blockers;
	struct plan_evidence evidence;
	struct update_decision *decisions;
	size_t decision_count;
	char **open_questions;
};

/* "in_progress"; "" for UPDATE_NONE. */
const char *update_status_name(enum update_status status);

/* The update of one reply. *ret_update is owned by the caller. -ENOENT if no
 * block has the key; -EINVAL or -E2BIG if the last one that has it is wrong,
 * with a message that names the path. */
int update_find(
    const char *text, size_t len, struct update **ret_update, struct err *err);

/* From the value of the key, at path `at`. */
int update_from_json(struct json_object *json, const char *at,
    struct update **ret_update, struct err *err);
/* Only the members that it has; owned by the caller. */
struct json_object *update_to_json(const struct update *update);

/* Set the ids that the update does not give to those of its assignment. -EINVAL
 * if it gives others: the update belongs to something else. */
int update_bind(struct update *update, const char *goal_id, const char *node_id,
    struct err *err);

void update_free(struct update *update);
void update_cleanup(struct update **update);
#define cleanup_update __attribute__((cleanup(update_cleanup)))

#endif
