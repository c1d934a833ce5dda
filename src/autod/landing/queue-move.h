/* SPDX-License-Identifier: ISC */

/*
 * Moves the branch as the journal in the state says (landing-record.h: from,
 * to), and waits where the user's checkout or another git is in the way: once
 * for all items, not for each of them.
 */
#ifndef QUEUE_MOVE_H
#define QUEUE_MOVE_H

struct checkout_watch;
struct loop;
struct queue;
struct queue_move;

#define CHECKOUT_WATCH_SETTLE_MS 200 /* without another change */
#define CHECKOUT_WATCH_SPACE_MS  1000 /* between the starts of two looks */
#define CHECKOUT_WATCH_LOOK_MS   (60 * 1000) /* without a change */

/* Look now. */
typedef void checkout_watch_fn(void *arg);

struct checkout_watch *
checkout_watch_new(struct loop *loop, checkout_watch_fn *fn, void *arg);
void checkout_watch_free(struct checkout_watch *watch);

/* The last look has found the checkout in the way. These files (whole paths,
 * NULL terminated, there or not) tell when it may be clean. What has changed
 * since that look began is not missed. */
void
checkout_watch_wait(struct checkout_watch *watch, const char *const *places);

/* Is it waiting for the next look? */
bool checkout_watch_waits(const struct checkout_watch *watch);

/* A look begins now for another reason: do not wait, but watch on. */
void checkout_watch_looks(struct checkout_watch *watch);

/* Nothing is in the way any more, or nobody waits. */
void checkout_watch_end(struct checkout_watch *watch);
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
