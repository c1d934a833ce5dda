/* SPDX-License-Identifier: ISC */

/*
 * The open asks, in the state and in the book. Most follow from the state (a
 * task is parked, the checkout is dirty): they are compared with it before each
 * commit (ask_follow()), so code that changes the state opens and ends none.
 * Others are opened by what has happened, and a person ends them; what an agent
 * asks ends with its request.
 */
#ifndef ASKS_H
#define ASKS_H

#include "ask.h"

struct core;

/* Open one that stays, or say the one of its key again; its level decides
 * whether a message that wants nothing (ASK_TOLD) is open at all, or only kept
 * for the record. */
void asks_open(struct core *core, const struct ask_draft *draft);

/* What was asked by one is asked by another now, under the same id; by one that
 * is open already, in addition. */
void asks_move(struct core *core, const char *key, const char *to);

/* It is settled; nothing if there is none. */
void asks_resolve(struct core *core, const char *key);

/* A person has answered it, or with NULL dismissed it: how it has ended. It may
 * have ended already. */
enum ask_end asks_answer(
    struct core *core, const char *id, const char *answer, const char *user);

/* What can be chosen where this asks: the options of its ask, also of one that
 * opens with the next commit; NULL = nothing. */
const char *const *asks_options(const struct core *core, const char *event,
    const char *task, const char *worker);

/* Compare those that follow from the state with it. */
void asks_look(struct core *core);

/* Say those again that have been open for long. */
void asks_remind(struct core *core);

#endif
