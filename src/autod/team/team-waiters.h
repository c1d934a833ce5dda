/* SPDX-License-Identifier: ISC */

/* Calls of request_orchestrator that are answered when their question has
 * ended. A caller that hangs up waits no more; its question stays, since the
 * same call may be made again. */
#ifndef TEAM_WAITERS_H
#define TEAM_WAITERS_H

#include <stdbool.h>

struct core;
struct err;
struct request;
struct server_call;
struct team_waiters;

struct team_waiters *team_waiters_new(struct core *core);
/* Nobody waits any more. */
void team_waiters_free(struct team_waiters *waiters);

void team_waiters_add(struct team_waiters *waiters, struct server_call *call,
    const struct request *request);
/* Does anybody wait for this question? */
bool team_waiters_has(const struct team_waiters *waiters, const char *id);

/* Answer those who wait for the question: with how it ended, or with err. */
void team_waiters_answer(struct team_waiters *waiters, const char *id,
    const struct request *request, const struct err *err);
/* The daemon stops: refuse all; they call the next one. */
void team_waiters_refuse(struct team_waiters *waiters);

#endif
