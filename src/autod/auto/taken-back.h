/* SPDX-License-Identifier: ISC */

/* Landed tasks whose commit was taken back. */
#ifndef TAKEN_BACK_H
#define TAKEN_BACK_H

struct auto_mode;
struct event;

/* EVENT_REVERTED: the history of the commit's task says so. If something had
 * failed, the task is done again by a worker that is told what, as long as it
 * has attempts left; else it ends as failed. A task of the floor above is done
 * again also if a person took it back. */
void taken_back(struct auto_mode *mode, const struct event *event);

#endif
