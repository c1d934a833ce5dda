/* SPDX-License-Identifier: ISC */

/* The store's log of events: everything that the daemon tells and that has a
 * name is stored, in the transaction of the changes it was told with. */
#ifndef PLAN_LOG_H
#define PLAN_LOG_H

struct core;
struct event;
struct plan_log;
struct plan_persist;

struct plan_log *plan_log_new(struct core *core, struct plan_persist *persist);
/* Call before the persist is freed. */
void plan_log_free(struct plan_log *log);

/* Store it, and tell nobody. */
void plan_log_add(struct plan_log *log, const struct event *event);

#endif
