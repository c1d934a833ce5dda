/* SPDX-License-Identifier: ISC */

/* What the workers use, from their transcripts; pausing at the budgets, and
 * continuing. */
#ifndef SPENDING_H
#define SPENDING_H

#include <stdbool.h>

struct agent;
struct auto_mode;
struct transcript_parser;

/* The method auto.resume. */
void spending_register(struct auto_mode *mode);
/* Part of struct fleet_policy: its transcript has grown; mode is a struct
 * auto_mode. */
void spending_used(
    void *mode, struct agent *agent, const struct transcript_parser *parser);
/* Its turn is about to be continued. True: it was paused at its budget
 * instead. */
bool spending_turn_ended(struct auto_mode *mode, struct agent *agent);
/* Check the time budgets and the end of the day. */
void spending_patrol(struct auto_mode *mode);

#endif
