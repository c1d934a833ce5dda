/* SPDX-License-Identifier: ISC */

/* How a question begins: agents learn whom they can ask; it is made of a call
 * of the tool; and it is delivered: to an agent by mail, to a person also
 * through channels. */
#ifndef TEAM_QUESTION_H
#define TEAM_QUESTION_H

struct agent;
struct buf;
struct err;
struct json_object;
struct request;
struct task;
struct mail;
struct team_floor;

/* Append to the prompt of a task for whom it is, and how to ask that one; if
 * another agent asked for it, and its agent has the tool for it. */
void team_question_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

/* Who answers the questions of the agent of this task (NULL = of none), in
 * words; NULL: it cannot ask. */
const char *
team_question_answers(struct team_floor *floor, const struct task *task);

/* The id of the question of a call, the same for the same call; and the
 * question with this id. The caller frees both. */
char *team_question_id(const struct agent *agent, struct json_object *params);
struct request *
team_question_make(struct team_floor *floor, const struct agent *agent,
    const struct task *task, const char *id, struct json_object *params);

/* If it is for a person, open its ask, unless it is. */
void team_question_ask(struct team_floor *floor, const struct request *request);

/* Deliver it to the one who is asked; it is notified then. Less than 0 as
 * team_mail_post() says: it was not delivered. */
int team_question_tell(
    struct team_floor *floor, struct request *request, struct err *err);

/* Its agent is on another host: the answer of this actor goes there as mail. As
 * team_mail_post(). */
int team_question_forward(struct team_floor *floor, const struct mail *asked,
    const char *actor, const char *response, struct err *err);
/* Is it the answer to a question, from the one who was asked? And could the
 * question not be delivered to that one, who is on another host? */
bool
team_question_is_answer(const struct mail *mail, const struct request *request);
bool
team_question_is_lost(struct team_floor *floor, const struct request *request);

/* If it has ended, its mail needs nothing more. */
void
team_question_settle(struct team_floor *floor, const struct request *request);

/* What its agent waits for, in a line; words: with what it asks. The caller
 * frees it. */
char *team_question_reason(const struct request *request, bool words);

/* It was answered, and no call waits for that: the one who asked gets mail. As
 * team_mail_post(). And: the answer came by a call after all. */
int team_question_answer_mail(
    struct team_floor *floor, const struct request *request);
void team_question_answer_read(
    struct team_floor *floor, const struct request *request);

#endif
