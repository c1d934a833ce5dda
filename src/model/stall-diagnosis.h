/* SPDX-License-Identifier: ISC */

/*
 * The planner's optional advice on a stalled assignment: a short list of
 * actions, strictly checked. It is advice: limits, waits and policies of the
 * tick hold for it too.
 */
#ifndef STALL_DIAGNOSIS_H
#define STALL_DIAGNOSIS_H

#include <stddef.h>

struct err;
struct json_object;

#define STALL_ADVICE_MAX      5 /* actions */
#define STALL_ADVICE_TEXT_MAX 4096 /* bytes */
#define STALL_ADVICE_OPTIONS  8
#define STALL_ADVICE_SIZE_MAX 65536 /* of the whole answer */

enum stall_advice {
	STALL_ADVICE_NUDGE, /* with a message */
	STALL_ADVICE_RESEND,
	STALL_ADVICE_REPLAN,
	STALL_ADVICE_REASSIGN,
	STALL_ADVICE_ESCALATE, /* with a question, and perhaps options */
	STALL_ADVICE_COUNT
};

struct stall_action_item {
	enum stall_advice type;
	char *text; /* the message or question; NULL = none */
	char **options; /* of a question */
};

struct stall_diagnosis {
	struct stall_action_item actions[STALL_ADVICE_MAX];
	size_t count;
};

const char *stall_advice_name(enum stall_advice advice); /* "nudge" */

/* Read the planner's answer: JSON and nothing else. -EINVAL or -E2BIG with a
 * message that names the path; *ret is released by the caller. */
int stall_diagnosis_parse(
    const char *text, size_t len, struct stall_diagnosis *ret, struct err *err);
int stall_diagnosis_from_json(
    struct json_object *json, struct stall_diagnosis *ret, struct err *err);

/* JSON Schema of the answer; owned by the caller. */
struct json_object *stall_diagnosis_schema(void);

void stall_diagnosis_copy(
    const struct stall_diagnosis *diagnosis, struct stall_diagnosis *copy);
void stall_diagnosis_release(struct stall_diagnosis *diagnosis);

#endif
