/* SPDX-License-Identifier: ISC */

/*
 * A crystallization: what is known after some progress, so that another agent
 * can go on from there. Written at each accepted update, at landing and at
 * rollup. Pure. Everything is owned, NULL = not set.
 */
#ifndef PLAN_CRYSTAL_H
#define PLAN_CRYSTAL_H

#include "plan-text.h"

struct err;
struct json_object;

#define PLAN_SUMMARY_MAX   PLAN_TEXT_MAX
#define PLAN_DECISIONS_MAX 32

enum crystal_source {
	CRYSTAL_UPDATE, /* a structured update of an agent */
	CRYSTAL_LANDING,
	CRYSTAL_ROLLUP,
	CRYSTAL_PERSON,
	CRYSTAL_SOURCE_COUNT
};

extern const char *const crystal_source_words[CRYSTAL_SOURCE_COUNT + 1];

struct plan_choice {
	char *decision;
	char *rationale;
};

struct plan_crystal {
	char *id; /* "C_..." */
	char *goal_id;
	char *node_id; /* NULL = about the goal */
	char *assignment_id;
	int64_t created_ms;
	enum crystal_source source;
	char *summary; /* at most PLAN_SUMMARY_MAX */
	char *current_state;
	struct plan_choice *decisions;
	size_t decision_count;
	char **next_actions; /* ordered */
	char **open_questions;
	char **known_blockers;
	struct plan_evidence evidence;

	/* Where in which transcript */
	char *session_key;
	char *session_id;
	char *message_id;
	char *run_id;
};

extern const struct schema plan_crystal_schema;

struct plan_crystal *plan_crystal_new(const char *id, const char *goal_id,
    const char *node_id, enum crystal_source source, int64_t now_ms);
void plan_crystal_free(struct plan_crystal *crystal);

/* Set it, cut to its bound between characters. */
void plan_crystal_summarize(struct plan_crystal *crystal, const char *summary);

/* rationale may be NULL. What is over the bounds is dropped. */
void plan_crystal_decide(
    struct plan_crystal *crystal, const char *decision, const char *rationale);

#endif
