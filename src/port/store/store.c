/* SPDX-License-Identifier: ISC */

/* The loop's side: requests are collected and handed over at the end of a
 * pass, answers are given out a few at a time. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "store-queue.h"
#include "store-thread.h"
#include "store.h"

/* Bytes of answers in one pass of the loop: some milliseconds. */
#define PASS_WEIGHT ((size_t)128 * 1024)

struct store_watch {
	TAILQ_ENTRY(store_watch) entry;
	struct store *store;
	store_watch_fn *fn; /* NULL: freed while the list is walked */
	void *arg;
};
TAILQ_HEAD(store_watches, store_watch);

struct store {
	struct store_queue queue;
	struct store_thread thread;
	struct loop_watch *watch;
	struct loop_call *hand_over;
	struct store_requests asked; /* in this pass */
	struct store_answers ready; /* being given out */
	struct store_watches watches;
	size_t waiting; /* requests without their last answer */
	bool telling; /* the watches are walked */
	bool giving; /* answers are given out */
	bool gone; /* freed by one of their callbacks */
};

/* In virtual time the clock would jump ahead of the thread, so the loop waits
 * for it. */
static void
wait_for_thread(struct store *store)
{
	struct pollfd fd = { .fd = store->queue.fd, .events = POLLIN };

	while (poll(&fd, 1, -1) == -1 && errno == EINTR)
		;
	loop_call_request(store->hand_over);
}

static void
on_pass_end(void *arg)
{
	struct store *store = arg;

	if (!TAILQ_EMPTY(&store->asked))
		store_queue_ask(&store->queue, &store->asked);
	if (store->waiting > 0 && clock_is_virtual())
		wait_for_thread(store);
}

static void
ask(struct store *store, struct store_request *request)
{
	TAILQ_INSERT_TAIL(&store->asked, request, entry);
	store->waiting++;
	loop_call_request(store->hand_over);
}

/* --- answers ------------------------------------------------------------ */

static void
sweep_watches(struct store *store)
{
	struct store_watch *watch, *next;

	TAILQ_FOREACH_SAFE(watch, &store->watches, entry, next)
	{
		if (watch->fn != NULL)
			continue;
		TAILQ_REMOVE(&store->watches, watch, entry);
		free(watch);
	}
}

static void
tell_watches(struct store *store, const struct store_request *request)
{
	struct store_watch *watch;

	store->telling = true;
	for (size_t i = 0; i < request->event_count; i++) {
		if (request->events[i].seq == 0)
			continue;
		TAILQ_FOREACH (watch, &store->watches, entry) {
			if (watch->fn != NULL)
				watch->fn(&request->events[i], watch->arg);
			if (store->gone)
				return;
		}
	}
	store->telling = false;
	sweep_watches(store);
}

static void
deliver(struct store *store, struct store_answer *answer)
{
	struct store_request *request = answer->request;
	const struct err *err = answer->err.code != 0 ? &answer->err : NULL;
	struct store_part part = {
		.records = answer->records,
		.record_count = answer->record_count,
		.events = answer->events,
		.event_count = answer->event_count,
		.last = answer->last,
		.err = err,
	};

	if (answer->last)
		store->waiting--;
	if (request->part != NULL)
		request->part(&part, request->arg);
	else if (request->done != NULL)
		request->done(err, request->arg);
	if (!store->gone && err == NULL && request->op == STORE_OP_COMMIT)
		tell_watches(store, request);
}

static void
on_answers(int fd, unsigned what, void *arg)
{
	struct store *store = arg;
	struct store_answer *answer;

	(void)fd;
	(void)what;
	store_queue_hear(&store->queue, PASS_WEIGHT, &store->ready);
	store->giving = true;
	while ((answer = TAILQ_FIRST(&store->ready)) != NULL) {
		TAILQ_REMOVE(&store->ready, answer, entry);
		deliver(store, answer);
		store_answer_free(answer);
	}
	store->giving = false;
	if (store->gone)
		free(store);
}

/* --- requests ----------------------------------------------------------- */

static struct store_change *
copy_changes(
    struct store_pool *pool, const struct store_change *changes, size_t count)
{
	struct store_change *copy = store_pool_alloc(pool, count, sizeof *copy);

	for (size_t i = 0; i < count; i++) {
		copy[i].kind = changes[i].kind;
		copy[i].goal_id = store_pool_string(pool, changes[i].goal_id);
		copy[i].id = store_pool_string(pool, changes[i].id);
		copy[i].body = store_pool_string(pool, changes[i].body);
	}
	return copy;
}

static struct store_event *
copy_events(
    struct store_pool *pool, const struct store_event *events, size_t count)
{
	struct store_event *copy = store_pool_alloc(pool, count, sizeof *copy);

	for (size_t i = 0; i < count; i++) {
		const struct store_event *event = &events[i];

		copy[i].ts_ms = event->ts_ms;
		copy[i].type = store_pool_string(pool, event->type);
		copy[i].goal_id = store_pool_string(pool, event->goal_id);
		copy[i].assignment_id =
		    store_pool_string(pool, event->assignment_id);
		copy[i].node_id = store_pool_string(pool, event->node_id);
		copy[i].worker = store_pool_string(pool, event->worker);
		copy[i].task = store_pool_string(pool, event->task);
		copy[i].data = store_pool_string(pool, event->data);
		copy[i].key = store_pool_string(pool, event->key);
	}
	return copy;
}

void
store_commit(struct store *store, const struct store_change *changes,
    size_t change_count, const struct store_event *events, size_t event_count,
    store_done_fn *done, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_COMMIT, arg);

	request->done = done;
	request->changes = copy_changes(&request->pool, changes, change_count);
	request->change_count = change_count;
	request->events = copy_events(&request->pool, events, event_count);
	request->event_count = event_count;
	ask(store, request);
}

void
store_load(struct store *store, store_part_fn *fn, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_LOAD, arg);

	request->part = fn;
	ask(store, request);
}

void
store_read(struct store *store, enum store_kind kind, const char *goal_id,
    const char *id, store_part_fn *fn, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_READ, arg);

	request->part = fn;
	request->kind = kind;
	request->goal_id = store_pool_string(&request->pool, goal_id);
	request->id = store_pool_string(&request->pool, id);
	ask(store, request);
}

void
store_find(struct store *store, enum store_kind kind, const char *text,
    store_part_fn *fn, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_READ, arg);
	cleanup_free char *pattern = xasprintf("%%%s%%", text);

	request->part = fn;
	request->kind = kind;
	request->like = store_pool_string(&request->pool, pattern);
	ask(store, request);
}

void
store_read_newest(struct store *store, enum store_kind kind, const char *actor,
    size_t limit, store_part_fn *fn, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_READ, arg);

	request->part = fn;
	request->kind = kind;
	request->actor = store_pool_string(&request->pool, actor);
	request->limit =
	    limit == 0 || limit > STORE_QUERY_MAX ? STORE_QUERY_MAX : limit;
	ask(store, request);
}

void
store_query_events(struct store *store, const struct store_filter *filter,
    store_part_fn *fn, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_EVENTS, arg);
	struct store_filter *copy = &request->filter;
	struct store_pool *pool = &request->pool;

	request->part = fn;
	*copy = *filter;
	copy->goal_id = store_pool_string(pool, filter->goal_id);
	copy->assignment_id = store_pool_string(pool, filter->assignment_id);
	copy->node_id = store_pool_string(pool, filter->node_id);
	copy->worker = store_pool_string(pool, filter->worker);
	copy->task = store_pool_string(pool, filter->task);
	copy->type = store_pool_string(pool, filter->type);
	if (copy->limit == 0 || copy->limit > STORE_QUERY_MAX)
		copy->limit = STORE_QUERY_MAX;
	ask(store, request);
}

struct store_watch *
store_watch_new(struct store *store, store_watch_fn *fn, void *arg)
{
	struct store_watch *watch = xcalloc(1, sizeof *watch);

	watch->store = store;
	watch->fn = fn;
	watch->arg = arg;
	TAILQ_INSERT_TAIL(&store->watches, watch, entry);
	return watch;
}

void
store_watch_free(struct store_watch *watch)
{
	if (watch == NULL)
		return;
	watch->fn = NULL;
	if (!watch->store->telling)
		sweep_watches(watch->store);
}

/* --- begin and end ------------------------------------------------------ */

struct store *
store_new(struct loop *loop, const char *path, store_done_fn *opened, void *arg)
{
	struct store *store = xcalloc(1, sizeof *store);
	struct store_request *request = store_request_new(STORE_OP_OPENED, arg);
	int r = store_queue_init(&store->queue);

	/* Without an eventfd or a thread the daemon cannot work at all. */
	if (r < 0)
		fatalx("no eventfd for the store: %s", strerror(-r));
	TAILQ_INIT(&store->asked);
	TAILQ_INIT(&store->ready);
	TAILQ_INIT(&store->watches);
	store->hand_over = loop_call_new(loop, on_pass_end, store);
	store->watch =
	    loop_watch_new(loop, store->queue.fd, LOOP_READ, on_answers, store);
	store->thread.queue = &store->queue;
	store->thread.path = xstrdup(path);
	r = store_thread_begin(&store->thread);
	if (r < 0)
		fatalx("no thread for the store: %s", strerror(-r));
	request->done = opened;
	ask(store, request);
	return store;
}

void
store_close(struct store *store, store_done_fn *done, void *arg)
{
	struct store_request *request = store_request_new(STORE_OP_CLOSE, arg);

	request->done = done;
	ask(store, request);
}

void
store_free(struct store *store)
{
	struct store_answer *answer;
	struct store_watch *watch;

	if (store == NULL)
		return;
	store_queue_ask(&store->queue, &store->asked);
	store_queue_end(&store->queue);
	store_thread_join(&store->thread);
	loop_watch_free(store->watch);
	loop_call_free(store->hand_over);
	while ((answer = TAILQ_FIRST(&store->ready)) != NULL) {
		TAILQ_REMOVE(&store->ready, answer, entry);
		store_answer_free(answer);
	}
	while ((watch = TAILQ_FIRST(&store->watches)) != NULL) {
		TAILQ_REMOVE(&store->watches, watch, entry);
		free(watch);
	}
	store_queue_release(&store->queue);
	free(store->thread.path);
	store->gone = true;
	if (!store->giving)
		free(store);
}
