/* SPDX-License-Identifier: ISC */

/* A person's answer to a message: it reaches whoever waits for it, who goes on:
 * an agent that has asked by its tool, a task that oversight has parked, a
 * session that has asked, or the node of a plan. */
#ifndef ESCALATION_ANSWER_H
#define ESCALATION_ANSWER_H

#include <stdbool.h>

struct cli;
struct err;
struct json_object;
struct outbox_record;

/* words: the answer, or an option of the record, by its number or its words.
 * What was done is added to the output and noted in the record. False with
 * words: nothing was, nobody waits any more, or there is no daemon. */
bool escalation_answer(struct cli *cli, struct outbox_record *record,
    const char *words, struct err *err);

/* The same for the question of an agent, by its own id (R_...), whether or not
 * there was a message. *ret_result, owned by the caller: api_request. */
bool escalation_answer_question(struct cli *cli, const char *id,
    const char *words, struct json_object **ret_result, struct err *err);

#endif
