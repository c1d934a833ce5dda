/* SPDX-License-Identifier: ISC */

/*
 * What the real Claude Code used and cost, counted by what the stub of its API
 * was asked: its log has the model of every request, and every answer claims
 * the same tokens. In millionths of a dollar.
 */
#ifndef ASKED_H
#define ASKED_H

#include "unit.h"

struct json_object;

/* From now on. */
void asked_begin(void);

struct asked {
	int64_t cost;
	int answers, models;
};

/* In conversations with these words (NULL = all). */
struct asked asked_for(const char *words);
/* By this model. */
struct asked asked_of(const char *model);

/* What llmc says: cost_usd of a record, the sum of all days, a task's. */
int64_t asked_cost(struct json_object *record);
int64_t asked_days(void);
struct json_object *asked_task(const char *id);

#endif
