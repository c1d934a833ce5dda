/* SPDX-License-Identifier: ISC */

/*
 * One question to the planner, asked again with what was wrong until the answer
 * is valid, or for PLANNER_REPAIRS times. Each time is a run of its own without
 * a memory: the first prompt goes along. What it cost is booked on the day.
 */
#ifndef PLANNER_TALK_H
#define PLANNER_TALK_H

#define PLANNER_REPAIRS 2

struct auto_mode;
struct err;
struct json_object;
struct planner_result;
struct planner_talk;

struct planner_outcome {
	const struct err *err; /* NULL: the answer was valid */
	bool invalid; /* it answered, but never correctly */
	char *const *problems; /* of all answers, with their paths */
	const char *answer; /* the last one; NULL = none */
	const char *model; /* "" = unknown */
	int repairs;
	int64_t cost_millionths; /* of all answers */
};

struct planner_question {
	struct auto_mode *mode;
	const char *prompt;
	struct json_object *schema; /* of the answer; kept */
	/* Judge an answer, as planner_judge(). */
	void (*check)(void *arg, const char *answer, size_t len, int repairs,
	    struct planner_result *ret_result);
	/* Called once, later; the talk is gone then. */
	void (*done)(void *arg, const struct planner_outcome *outcome);
	void *arg;
};

struct planner_talk *planner_talk_start(const struct planner_question *q);

/* End it; done is not called. */
void planner_talk_free(struct planner_talk *talk);

#endif
