/* SPDX-License-Identifier: ISC */

/*
 * Moves the branch as the journal in the state says (landing-record.h: from,
 * to), and waits where the user's checkout or another git is in the way: once
 * for all items, not for each of them.
 */
#ifndef QUEUE_MOVE_H
#define QUEUE_MOVE_H

#include <stdbool.h>

struct queue;
struct queue_move;

struct queue_move *queue_move_new(struct queue *queue);
void queue_move_free(struct queue_move *move);

/* The journal is in the state, and will be saved before anything is done. Also
 * after a restart: the branch may have moved already. */
void queue_move_begin(struct queue_move *move);
bool queue_move_busy(const struct queue_move *move);
/* Must the next one wait? */
bool queue_move_waits(const struct queue_move *move);
/* Why it waits; NULL = it does not. */
const char *queue_move_reason(const struct queue_move *move);
/* Do not wait any longer: something that was in the way may be gone. */
void queue_move_retry(struct queue_move *move);
void queue_move_stop(struct queue_move *move);

#endif
