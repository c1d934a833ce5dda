/* SPDX-License-Identifier: ISC */

/*
 * The open asks: what needs a person, in the state and in the book. Most follow
 * from the state (a task is parked, the checkout is dirty): they are compared
 * with it before each commit, so whoever changes the state opens and ends none.
 * Others are opened by what has happened (a task has failed, a message that
 * nothing in the state stands for), and a person ends them.
 */
#ifndef ASKS_H
#define ASKS_H

#include "ask-record.h"

struct core;

/* Keys of asks that others look for: no task is given out, because a person or
 * a budget wants that, or because several have failed alike. */
#define ASKS_PAUSED "paused"
#define ASKS_ALIKE  "alike"

/* Open one that stays, or say the one of its key again; its level decides
 * whether a message that wants nothing (ASK_TOLD) is open at all, or only kept
 * for the record. */
void asks_open(struct core *core, const struct ask_draft *draft);

/* What was asked by one is asked by another now, under the same id: it stays
 * open until the state has that. */
void asks_move(struct core *core, const char *key, const char *to);

/* It needs nobody any more; nothing if there is none. */
void asks_resolve(struct core *core, const char *key);

/* Compare those that follow from the state with it. */
void asks_look(struct core *core);

/* ask.end, ask.seen, and reminders. */
void asks_register(struct core *core);
void asks_remind(struct core *core);

#endif
