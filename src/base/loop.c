/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "loop.h"

#define HEAP_NONE ((size_t)-1)

#define ACCEPTS_A_PASS 16

struct loop_timer {
	struct loop *loop;
	loop_fn *fn;
	void *arg;
	int64_t due_ms;
	int64_t period_ms; /* 0 = one shot */
	uint64_t order; /* timers due at the same time run in this order */
	size_t index; /* in the heap, HEAP_NONE = not pending */
};

struct loop_call {
	TAILQ_ENTRY(loop_call) entry;
	struct loop *loop;
	loop_fn *fn;
	void *arg;
	bool requested;
};

struct loop_signal {
	struct loop *loop;
	struct event *event;
	loop_signal_fn *fn;
	void *arg;
};

struct loop_watch {
	struct loop *loop;
	struct event *event;
	loop_watch_fn *fn;
	void *arg;
};

TAILQ_HEAD(loop_calls, loop_call);

struct loop {
	struct event_base *base;
	struct event *tick; /* the libevent timer for the earliest of ours */
	struct loop_timer **heap;
	size_t count, cap;
	uint64_t orders;
	struct loop_timer *firing; /* reset to NULL when it frees itself */
	struct loop_calls calls;
	bool running, stopped, active;
	int status;
	int64_t lag_ms;
	uint64_t passes;
};

static bool
timer_before(const struct loop_timer *a, const struct loop_timer *b)
{
	if (a->due_ms != b->due_ms)
		return a->due_ms < b->due_ms;
	return a->order < b->order;
}

static void
heap_put(struct loop *loop, size_t i, struct loop_timer *timer)
{
	loop->heap[i] = timer;
	timer->index = i;
}

/* Move the timer at i up or down until the heap is in order. */
static void
heap_settle(struct loop *loop, size_t i)
{
	struct loop_timer *timer = loop->heap[i];
	size_t child;

	while (i > 0 && timer_before(timer, loop->heap[(i - 1) / 2])) {
		heap_put(loop, i, loop->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	while ((child = 2 * i + 1) < loop->count) {
		if (child + 1 < loop->count &&
		    timer_before(loop->heap[child + 1], loop->heap[child]))
			child++;
		if (!timer_before(loop->heap[child], timer))
			break;
		heap_put(loop, i, loop->heap[child]);
		i = child;
	}
	heap_put(loop, i, timer);
}

static void
heap_remove(struct loop *loop, struct loop_timer *timer)
{
	size_t i = timer->index;

	if (i == HEAP_NONE)
		return;
	timer->index = HEAP_NONE;
	loop->count--;
	if (i == loop->count)
		return;
	heap_put(loop, i, loop->heap[loop->count]);
	heap_settle(loop, i);
}

static void
loop_note_lag(struct loop *loop, int64_t ms)
{
	if (ms > loop->lag_ms)
		loop->lag_ms = ms;
}

/* The libevent timer only ends the wait; the heap says which are due. */
static void
loop_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

struct loop *
loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof *loop);
	struct event_config *config = event_config_new();

	if (config == NULL)
		fatalx("out of memory: the event loop");
	event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
	loop->base = event_base_new_with_config(config);
	event_config_free(config);
	if (loop->base == NULL)
		fatal("cannot create the event loop");
	loop->tick = event_new(loop->base, -1, 0, loop_tick, NULL);
	if (loop->tick == NULL)
		fatalx("out of memory: the event loop");
	TAILQ_INIT(&loop->calls);
	/* A reader that went away gives EPIPE instead of killing us. */
	signal(SIGPIPE, SIG_IGN);
	return loop;
}

void
loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	event_free(loop->tick);
	event_base_free(loop->base);
	free(loop->heap);
	free(loop);
}

struct event_base *
loop_event_base(struct loop *loop)
{
	return loop->base;
}

/* Run only the calls requested before the mark: one that requests itself again
 * runs in the next pass, after the descriptors. */
static void
loop_run_calls(struct loop *loop)
{
	struct loop_call mark = { .loop = loop }, *call;

	TAILQ_INSERT_TAIL(&loop->calls, &mark, entry);
	while (!loop->stopped && (call = TAILQ_FIRST(&loop->calls)) != &mark) {
		TAILQ_REMOVE(&loop->calls, call, entry);
		call->requested = false;
		loop->active = true;
		call->fn(call->arg);
	}
	TAILQ_REMOVE(&loop->calls, &mark, entry);
}

static void
loop_arm(struct loop *loop)
{
	struct timeval tv = { 0, 0 };
	int64_t wait;

	if (loop->count == 0) {
		event_del(loop->tick);
		return;
	}
	wait = clock_kernel_us(loop->heap[0]->due_ms * 1000 - clock_mono_us());
	if (wait > 0 && !clock_is_virtual()) {
		tv.tv_sec = wait / 1000000;
		tv.tv_usec = wait % 1000000;
	}
	event_add(loop->tick, &tv);
}

int
loop_run(struct loop *loop)
{
	int flags, left;

	if (loop->running)
		fatalx("the event loop is already running");
	loop->running = true;
	loop->stopped = false;
	loop->status = 0;
	while (!loop->stopped) {
		int64_t now;
		struct loop_timer *timer;

		loop_arm(loop);
		/* Once also if it does not wait: else a descriptor that stays
		 * ready would keep the calls waiting. */
		flags = EVLOOP_ONCE;
		if (!TAILQ_EMPTY(&loop->calls))
			flags |= EVLOOP_NONBLOCK;
		left = event_base_loop(loop->base, flags);
		loop->passes++;
		if (loop->stopped)
			break;
		now = clock_mono_ms();
		while (!loop->stopped && loop->count > 0 &&
		    loop->heap[0]->due_ms <= now) {
			timer = loop->heap[0];
			heap_remove(loop, timer);
			loop_note_lag(loop, now - timer->due_ms);
			loop->active = true;
			loop->firing = timer;
			timer->fn(timer->arg);
			if (loop->firing == timer && timer->period_ms > 0 &&
			    timer->index == HEAP_NONE)
				loop_timer_restart(timer, timer->period_ms);
			loop->firing = NULL;
			loop_note_lag(loop, clock_mono_ms() - now);
		}
		loop_run_calls(loop);
		if (left == 1 && loop->count == 0 &&
		    TAILQ_EMPTY(&loop->calls) && !loop->active)
			break;
		if (clock_is_virtual() && !loop->active && loop->count > 0 &&
		    loop->heap[0]->due_ms > clock_mono_ms())
			clock_virtual_advance(
			    loop->heap[0]->due_ms - clock_mono_ms());
		loop->active = false;
	}
	loop->running = false;
	return loop->status;
}

void
loop_stop(struct loop *loop, int status)
{
	loop->stopped = true;
	loop->status = status;
	event_base_loopbreak(loop->base);
}

static struct loop_timer *
timer_new(struct loop *loop, int64_t ms, int64_t period, loop_fn *fn, void *arg)
{
	struct loop_timer *timer = xcalloc(1, sizeof *timer);

	timer->loop = loop;
	timer->fn = fn;
	timer->arg = arg;
	timer->period_ms = period;
	timer->index = HEAP_NONE;
	loop_timer_restart(timer, ms);
	return timer;
}

struct loop_timer *
loop_after(struct loop *loop, int64_t ms, loop_fn *fn, void *arg)
{
	return timer_new(loop, ms, 0, fn, arg);
}

struct loop_timer *
loop_every(struct loop *loop, int64_t ms, loop_fn *fn, void *arg)
{
	if (ms < 1)
		ms = 1;
	return timer_new(loop, ms, ms, fn, arg);
}

void
loop_timer_restart(struct loop_timer *timer, int64_t ms)
{
	heap_remove(timer->loop, timer);
	timer->due_ms = clock_mono_ms() + (ms < 1 ? 1 : ms);
	if (timer->loop->count == timer->loop->cap) {
		timer->loop->cap =
		    timer->loop->cap == 0 ? 16 : timer->loop->cap * 2;
		timer->loop->heap = xreallocarray(timer->loop->heap,
		    timer->loop->cap, sizeof(struct loop_timer *));
	}
	timer->order = timer->loop->orders++;
	heap_put(timer->loop, timer->loop->count++, timer);
	heap_settle(timer->loop, timer->index);
}

void
loop_timer_set(struct loop_timer **timer, struct loop *loop, int64_t ms,
    loop_fn *fn, void *arg)
{
	if (*timer == NULL) {
		*timer = loop_after(loop, ms, fn, arg);
		return;
	}
	(*timer)->fn = fn;
	(*timer)->arg = arg;
	(*timer)->period_ms = 0;
	loop_timer_restart(*timer, ms);
}

bool
loop_timer_pending(const struct loop_timer *timer)
{
	return timer != NULL && timer->index != HEAP_NONE;
}

int64_t
loop_timer_remaining(const struct loop_timer *timer, int64_t mono_ms)
{
	if (!loop_timer_pending(timer) || timer->due_ms < mono_ms)
		return 0;
	return timer->due_ms - mono_ms;
}

void
loop_timer_free(struct loop_timer *timer)
{
	if (timer == NULL)
		return;
	heap_remove(timer->loop, timer);
	if (timer->loop->firing == timer)
		timer->loop->firing = NULL;
	free(timer);
}

struct loop_call *
loop_call_new(struct loop *loop, loop_fn *fn, void *arg)
{
	struct loop_call *call = xcalloc(1, sizeof *call);

	call->loop = loop;
	call->fn = fn;
	call->arg = arg;
	return call;
}

void
loop_call_request(struct loop_call *call)
{
	if (call->requested)
		return;
	call->requested = true;
	TAILQ_INSERT_TAIL(&call->loop->calls, call, entry);
}

void
loop_call_free(struct loop_call *call)
{
	if (call == NULL)
		return;
	if (call->requested)
		TAILQ_REMOVE(&call->loop->calls, call, entry);
	free(call);
}

static void
loop_signal_event(evutil_socket_t signo, short what, void *arg)
{
	struct loop_signal *sig = arg;

	(void)what;
	sig->loop->active = true;
	sig->fn(signo, sig->arg);
}

struct loop_signal *
loop_signal_new(struct loop *loop, int signo, loop_signal_fn *fn, void *arg)
{
	struct loop_signal *sig = xcalloc(1, sizeof *sig);
	sigset_t set;

	sig->loop = loop;
	sig->fn = fn;
	sig->arg = arg;
	sig->event = evsignal_new(loop->base, signo, loop_signal_event, sig);
	if (sig->event == NULL || event_add(sig->event, NULL) == -1)
		fatal("cannot handle signal %d", signo);
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return sig;
}

void
loop_signal_free(struct loop_signal *sig)
{
	if (sig == NULL)
		return;
	event_free(sig->event);
	free(sig);
}

static void
loop_watch_event(evutil_socket_t fd, short what, void *arg)
{
	struct loop_watch *watch = arg;
	struct loop *loop = watch->loop;
	int64_t began = clock_mono_ms();
	unsigned flags = 0;

	if (what & EV_READ)
		flags |= LOOP_READ;
	if (what & EV_WRITE)
		flags |= LOOP_WRITE;
	loop->active = true;
	watch->fn(fd, flags, watch->arg); /* may free the watch */
	loop_note_lag(loop, clock_mono_ms() - began);
}

struct loop_watch *
loop_watch_new(
    struct loop *loop, int fd, unsigned what, loop_watch_fn *fn, void *arg)
{
	struct loop_watch *watch = xcalloc(1, sizeof *watch);
	short events = EV_PERSIST;

	if (what & LOOP_READ)
		events |= EV_READ;
	if (what & LOOP_WRITE)
		events |= EV_WRITE;
	watch->loop = loop;
	watch->fn = fn;
	watch->arg = arg;
	watch->event =
	    event_new(loop->base, fd, events, loop_watch_event, watch);
	if (watch->event == NULL || event_add(watch->event, NULL) == -1) {
		loop_watch_free(watch);
		return NULL;
	}
	return watch;
}

void
loop_watch_free(struct loop_watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->event != NULL)
		event_free(watch->event);
	free(watch);
}

struct loop_listener {
	struct loop *loop;
	struct loop_watch *watch; /* NULL while it rests */
	struct loop_timer *rest;
	loop_accept_fn *fn;
	void *arg;
	int fd;
};

static void listener_on_readable(int fd, unsigned what, void *arg);
static void listener_watch(void *arg);

/* Out of descriptors or memory: what waits keeps the socket readable, and the
 * loop would spin. */
static void
listener_rest(struct loop_listener *listener)
{
	loop_watch_free(take_ptr(&listener->watch));
	loop_timer_set(&listener->rest, listener->loop, LOOP_REST_MS,
	    listener_watch, listener);
}

static void
listener_watch(void *arg)
{
	struct loop_listener *listener = arg;

	listener->watch = loop_watch_new(listener->loop, listener->fd,
	    LOOP_READ, listener_on_readable, listener);
	if (listener->watch == NULL)
		listener_rest(listener);
}

void
loop_listener_accept(struct loop_listener *listener)
{
	for (int i = 0; i < ACCEPTS_A_PASS; i++) {
		int fd = accept4(
		    listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			listener->fn(fd, listener->arg);
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR && errno != ECONNABORTED) {
			listener_rest(listener);
			return;
		}
	}
}

static void
listener_on_readable(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	loop_listener_accept(arg);
}

struct loop_listener *
loop_listener_new(struct loop *loop, int fd, loop_accept_fn *fn, void *arg)
{
	struct loop_listener *listener = xcalloc(1, sizeof *listener);

	listener->loop = loop;
	listener->fd = fd;
	listener->fn = fn;
	listener->arg = arg;
	listener_watch(listener);
	return listener;
}

void
loop_listener_free(struct loop_listener *listener)
{
	if (listener == NULL)
		return;
	loop_watch_free(listener->watch);
	loop_timer_free(listener->rest);
	free(listener);
}

int64_t
loop_lag_ms(const struct loop *loop)
{
	return loop->lag_ms;
}

void
loop_lag_reset(struct loop *loop)
{
	loop->lag_ms = 0;
}

uint64_t
loop_passes(const struct loop *loop)
{
	return loop->passes;
}
