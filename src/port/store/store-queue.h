/* SPDX-License-Identifier: ISC */

/*
 * Between the loop and the thread of a store: requests one way, answers the
 * other. The only thing that both touch; what is inside a request or an answer
 * belongs to whoever took it out.
 */
#ifndef STORE_QUEUE_H
#define STORE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "errtext.h"
#include "store-pool.h"
#include "store.h"

enum store_op {
	STORE_OP_OPENED, /* what became of opening the file */
	STORE_OP_COMMIT,
	STORE_OP_LOAD,
	STORE_OP_READ,
	STORE_OP_EVENTS,
	STORE_OP_CLOSE
};

struct store_request {
	TAILQ_ENTRY(store_request) entry;
	enum store_op op;
	struct store_pool pool; /* all strings and lists below */
	struct store_change *changes;
	size_t change_count;
	struct store_event *events; /* seq 0 = it was there already */
	size_t event_count;
	enum store_kind kind;
	const char *goal_id, *id;
	const char *like; /* instead of both */
	const char *actor;
	size_t limit; /* the newest of the actor, instead of all these */
	struct store_filter filter;
	struct err err; /* of a commit */
	/* The loop's. */
	store_done_fn *done;
	store_part_fn *part;
	void *arg;
};
TAILQ_HEAD(store_requests, store_request);

struct store_answer {
	TAILQ_ENTRY(store_answer) entry;
	struct store_request *request; /* freed after the last part */
	struct store_pool pool;
	struct store_change *records;
	size_t record_count;
	struct store_event *events;
	size_t event_count;
	size_t weight; /* bytes, about */
	bool last;
	struct err err;
};
TAILQ_HEAD(store_answers, store_answer);

struct store_request *store_request_new(enum store_op op, void *arg);
void store_request_free(struct store_request *request);
struct store_answer *store_answer_new(struct store_request *request);
void store_answer_free(struct store_answer *answer);

struct store_queue {
	pthread_mutex_t lock;
	pthread_cond_t wanted; /* a request came, or the end */
	pthread_cond_t drained; /* answers were taken, or the end */
	struct store_requests requests;
	struct store_answers answers;
	size_t weight; /* of the answers */
	bool ending; /* nobody takes answers any more */
	int fd; /* an eventfd: answers wait */
};

int store_queue_init(struct store_queue *queue);
void store_queue_release(struct store_queue *queue);

/* The loop: hand over all of the list; take answers up to a weight, at least
 * one. */
void
store_queue_ask(struct store_queue *queue, struct store_requests *requests);
void store_queue_hear(
    struct store_queue *queue, size_t weight, struct store_answers *ret);
/* No answer is taken any more; the thread ends when it has no request left. */
void store_queue_end(struct store_queue *queue);

/* The thread: wait for requests and take them all; false = the end. Give all
 * answers of the list, waiting while too many lie there. */
bool store_queue_take(struct store_queue *queue, struct store_requests *ret);
void
store_queue_answer(struct store_queue *queue, struct store_answers *answers);

#endif
