/* SPDX-License-Identifier: ISC */

/* A person's answer to a message: it reaches whoever waits for it, who goes on:
 * a worker that oversight has paused, a session that has asked, or the node of
 * a plan. */
#ifndef ESCALATION_ANSWER_H
#define ESCALATION_ANSWER_H

#include <stdbool.h>

struct cli;
struct err;
struct outbox_record;

/* words: the answer, or an option of the record, by its number or its words.
 * What was done is added to the output and noted in the record. False with
 * words: nothing was, nobody waits any more, or there is no daemon. */
bool escalation_answer(struct cli *cli, struct outbox_record *record,
    const char *words, struct err *err);

#endif
