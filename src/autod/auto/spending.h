/* SPDX-License-Identifier: ISC */

/* What the workers use up, from their transcripts; pauses at the budgets, and
 * how to continue. */
#ifndef SPENDING_H
#define SPENDING_H

#include <stdbool.h>

struct agent;
struct auto_mode;
struct transcript_parser;

/* The method auto.resume. */
void spending_register(struct auto_mode *mode);
/* Of struct fleet_policy: its transcript has grown; mode is a struct
 * auto_mode. */
void spending_used(
    void *mode, struct agent *agent, const struct transcript_parser *parser);
/* Its turn is to be continued. True: it has been paused at its budget. */
bool spending_turn_ended(struct auto_mode *mode, struct agent *agent);
/* Budgets of time, and the end of a day. */
void spending_patrol(struct auto_mode *mode);

#endif
