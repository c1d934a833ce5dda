/* SPDX-License-Identifier: ISC */

/*
 * When to look again at a checkout that blocks a landing: soon after one of the
 * files changes that matter, and once in a while in any case.
 */
#ifndef CHECKOUT_WATCH_H
#define CHECKOUT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct checkout_watch;
struct loop;

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

#endif
