/* SPDX-License-Identifier: ISC */

/*
 * Pushes the landing branch to origin after a landing (repo.push). Nothing
 * waits for it: the remote may be slow or away for days. What is to be pushed
 * is in the state, so the next daemon tries again.
 */
#ifndef PUSH_H
#define PUSH_H

struct core;
struct push;

struct push *push_new(struct core *core);
void push_free(struct push *push);

/* Continue with what an earlier daemon left. */
void push_begin(struct push *push);
/* The branch has moved to this commit; the caller saves the state. */
void push_landed(struct push *push, const char *commit);
/* Do not wait any longer for the next try. False: none waits. */
bool push_retry(struct push *push);
/* A push that runs has a moment to end. */
void push_stop(struct push *push);
bool push_is_quiet(const struct push *push);

#endif
