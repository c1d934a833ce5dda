/* SPDX-License-Identifier: ISC */

/* Runs of auto mode: one begins when a person starts it, and goes on when the
 * overseer starts another daemon. The book has a row for each daemon of it; one
 * that was killed has no end. */
#ifndef AUTO_RUN_H
#define AUTO_RUN_H

struct auto_mode;
struct task;

/* The daemon begins, or has ended, its part of a run. */
void auto_run_begin(struct auto_mode *mode);
void auto_run_end(struct auto_mode *mode);

/* The run works on the task. */
void auto_run_stamp(const struct auto_mode *mode, struct task *task);

#endif
