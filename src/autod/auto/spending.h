/* SPDX-License-Identifier: ISC */

/* Pausing at the budgets, and continuing. */
#ifndef SPENDING_H
#define SPENDING_H

#include <stdbool.h>

struct agent;
struct auto_mode;

/* The method auto.resume. */
void spending_register(struct auto_mode *mode);
/* Something was used: pause at the budgets that it reached. agent: who used it,
 * NULL = a conversation that is over. */
void spending_check(struct auto_mode *mode, struct agent *agent);
/* Its turn is about to be continued. True: it was paused at its budget
 * instead. */
bool spending_turn_ended(struct auto_mode *mode, struct agent *agent);
/* Check the time budgets and the end of the day. */
void spending_patrol(struct auto_mode *mode);

#endif
