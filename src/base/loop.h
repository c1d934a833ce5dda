/* SPDX-License-Identifier: ISC */

/*
 * The event loop: a thin layer on libevent.
 *
 * Nothing called from the loop may block. Every object made here belongs to the
 * caller, who frees it before the loop; an object may be freed from inside its
 * own callback. Callbacks of one pass run in this order: descriptors and
 * signals, due timers, deferred calls.
 *
 * In virtual time (clock.h) the loop never waits for a timer: when a pass finds
 * nothing to do, the clock jumps to the next one. A simulated week takes
 * seconds, and testing a one-hour deadline takes no time at all.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct loop;
struct loop_timer;
struct loop_signal;
struct loop_watch;
struct loop_listener;
struct loop_call;

typedef void loop_fn(void *arg);
typedef void loop_signal_fn(int signo, void *arg);
typedef void loop_watch_fn(int fd, unsigned what, void *arg);
typedef void loop_accept_fn(int fd, void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* Run until loop_stop(), or until nothing is left to wait for. Returns the
 * status given to loop_stop(), or 0. Nested runs are a fatal error. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop, int status);

/* For users of evhttp: the tests' stand-in for the API is one. */
struct event_base *loop_event_base(struct loop *loop);

/* Timers. A repeating timer is due again a full period after it ran, so a stall
 * is followed by one call, not by a burst. Periods below 1 ms count as 1 ms. */
struct loop_timer *
loop_after(struct loop *loop, int64_t ms, loop_fn *fn, void *arg);
struct loop_timer *
loop_every(struct loop *loop, int64_t ms, loop_fn *fn, void *arg);
void loop_timer_restart(struct loop_timer *timer, int64_t ms);
/* loop_after() for a timer that may be there and pending already: NULL, or the
 * only one of what it is for. */
void loop_timer_set(struct loop_timer **timer, struct loop *loop, int64_t ms,
    loop_fn *fn, void *arg);
bool loop_timer_pending(const struct loop_timer *timer);
int64_t loop_timer_remaining(const struct loop_timer *timer, int64_t mono_ms);
void loop_timer_free(struct loop_timer *timer);

/* A call after the events of this pass, once, however often it is requested. */
struct loop_call *loop_call_new(struct loop *loop, loop_fn *fn, void *arg);
void loop_call_request(struct loop_call *call);
void loop_call_free(struct loop_call *call);

struct loop_signal *
loop_signal_new(struct loop *loop, int signo, loop_signal_fn *fn, void *arg);
void loop_signal_free(struct loop_signal *signal);

/* Descriptors. The caller keeps the descriptor and must free the watch before
 * closing it. NULL, with errno set, if the kernel cannot watch it (a regular
 * file). */
#define LOOP_READ  1u
#define LOOP_WRITE 2u
struct loop_watch *loop_watch_new(
    struct loop *loop, int fd, unsigned what, loop_watch_fn *fn, void *arg);
void loop_watch_free(struct loop_watch *watch);

/* Accepts what connects to a socket that listens and does not block: some in a
 * pass, so that a burst leaves time for the rest. The socket stays the
 * caller's, as with a watch; a connection belongs to the callback. */
#define LOOP_REST_MS 1000 /* without accepting, when descriptors run out */
struct loop_listener *
loop_listener_new(struct loop *loop, int fd, loop_accept_fn *fn, void *arg);
/* Who has connected by now, not in the next pass. */
void loop_listener_accept(struct loop_listener *listener);
void loop_listener_free(struct loop_listener *listener);

/* How late the loop runs: the longest delay between a timer's due time and its
 * call, or time spent in one callback, since the last loop_lag_reset(). */
int64_t loop_lag_ms(const struct loop *loop);
void loop_lag_reset(struct loop *loop);

/* Number of passes so far; tests and benchmarks count wake-ups. */
uint64_t loop_passes(const struct loop *loop);

#endif
