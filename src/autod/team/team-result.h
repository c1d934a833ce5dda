/* SPDX-License-Identifier: ISC */

/* How an agent ended, or that it rests, is told to whoever asked for it: by
 * mail, or without a store by its next prompt. */
#ifndef TEAM_RESULT_H
#define TEAM_RESULT_H

struct err;
struct task;
struct team_floor;
struct team_results;

struct team_results *team_results_new(struct team_floor *floor);
void team_results_free(struct team_results *results);
/* The records of the store are about to be forgotten. */
void team_results_closed(struct team_results *results);

/* The task, which was asked for, has its outcome. 0 = its parent was told, or
 * nobody is to be; -EINPROGRESS: it is being told. For an open store. */
int team_results_tell(
    struct team_results *results, const struct task *task, struct err *err);
/* The same without a store. */
void team_result_tell_without_mail(struct team_floor *floor, struct task *task);

/* The task, which was asked for, does not go on by itself: its parent is told,
 * once in an attempt. */
void team_result_rests(
    struct team_floor *floor, const struct task *task, const char *why);

#endif
