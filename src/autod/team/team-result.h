/* SPDX-License-Identifier: ISC */

/* How an agent ended, or that it rests, is told to whoever asked for it: by
 * mail, or without a book by its next prompt. */
#ifndef TEAM_RESULT_H
#define TEAM_RESULT_H

struct task;
struct team_floor;

/* The task, which was asked for, has its outcome. For an open book. */
void team_result_tell(struct team_floor *floor, struct task *task);
/* The same without one. */
void team_result_tell_without_mail(struct team_floor *floor, struct task *task);

/* The task, which was asked for, does not go on by itself: its parent is told,
 * once in an attempt. */
void team_result_rests(
    struct team_floor *floor, const struct task *task, const char *why);

#endif
