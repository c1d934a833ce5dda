/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mem.h"
#include "store-queue.h"

/* Answers that may wait for the loop. */
#define WEIGHT_MAX ((size_t)4 * 1024 * 1024)

struct store_request *
store_request_new(enum store_op op, void *arg)
{
	struct store_request *request = xcalloc(1, sizeof *request);

	request->op = op;
	request->arg = arg;
	return request;
}

void
store_request_free(struct store_request *request)
{
	if (request == NULL)
		return;
	store_pool_release(&request->pool);
	free(request);
}

struct store_answer *
store_answer_new(struct store_request *request)
{
	struct store_answer *answer = xcalloc(1, sizeof *answer);

	answer->request = request;
	return answer;
}

void
store_answer_free(struct store_answer *answer)
{
	if (answer->last)
		store_request_free(answer->request);
	store_pool_release(&answer->pool);
	free(answer);
}

int
store_queue_init(struct store_queue *queue)
{
	queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->fd == -1)
		return -errno;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->wanted, NULL);
	pthread_cond_init(&queue->drained, NULL);
	TAILQ_INIT(&queue->requests);
	TAILQ_INIT(&queue->answers);
	queue->weight = 0;
	queue->ending = false;
	return 0;
}

void
store_queue_release(struct store_queue *queue)
{
	struct store_request *request;
	struct store_answer *answer;

	while ((request = TAILQ_FIRST(&queue->requests)) != NULL) {
		TAILQ_REMOVE(&queue->requests, request, entry);
		store_request_free(request);
	}
	while ((answer = TAILQ_FIRST(&queue->answers)) != NULL) {
		TAILQ_REMOVE(&queue->answers, answer, entry);
		store_answer_free(answer);
	}
	pthread_cond_destroy(&queue->drained);
	pthread_cond_destroy(&queue->wanted);
	pthread_mutex_destroy(&queue->lock);
	queue->fd = fd_close(queue->fd);
}

void
store_queue_ask(struct store_queue *queue, struct store_requests *requests)
{
	pthread_mutex_lock(&queue->lock);
	TAILQ_CONCAT(&queue->requests, requests, entry);
	pthread_cond_signal(&queue->wanted);
	pthread_mutex_unlock(&queue->lock);
}

/* The counter of an eventfd cannot overflow here. */
static void
signal_answers(struct store_queue *queue)
{
	uint64_t one = 1;
	ssize_t n = write(queue->fd, &one, sizeof one);

	(void)n;
}

void
store_queue_hear(
    struct store_queue *queue, size_t weight, struct store_answers *ret)
{
	struct store_answer *answer;
	uint64_t count;
	ssize_t n = read(queue->fd, &count, sizeof count);
	size_t taken = 0;

	(void)n;
	pthread_mutex_lock(&queue->lock);
	while (
	    taken < weight && (answer = TAILQ_FIRST(&queue->answers)) != NULL) {
		TAILQ_REMOVE(&queue->answers, answer, entry);
		TAILQ_INSERT_TAIL(ret, answer, entry);
		taken += answer->weight;
	}
	queue->weight -= taken;
	if (!TAILQ_EMPTY(&queue->answers))
		signal_answers(queue);
	pthread_cond_signal(&queue->drained);
	pthread_mutex_unlock(&queue->lock);
}

void
store_queue_end(struct store_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ending = true;
	pthread_cond_signal(&queue->wanted);
	pthread_cond_signal(&queue->drained);
	pthread_mutex_unlock(&queue->lock);
}

bool
store_queue_take(struct store_queue *queue, struct store_requests *ret)
{
	bool some;

	pthread_mutex_lock(&queue->lock);
	while (TAILQ_EMPTY(&queue->requests) && !queue->ending)
		pthread_cond_wait(&queue->wanted, &queue->lock);
	TAILQ_CONCAT(ret, &queue->requests, entry);
	some = !TAILQ_EMPTY(ret);
	pthread_mutex_unlock(&queue->lock);
	return some;
}

/* Together: a loop that is woken by each takes few at a time, and the next
 * transaction is as small. */
void
store_queue_answer(struct store_queue *queue, struct store_answers *answers)
{
	const struct store_answer *answer;
	size_t weight = 0;

	TAILQ_FOREACH (answer, answers, entry)
		weight += answer->weight;
	pthread_mutex_lock(&queue->lock);
	while (queue->weight > WEIGHT_MAX && !queue->ending)
		pthread_cond_wait(&queue->drained, &queue->lock);
	TAILQ_CONCAT(&queue->answers, answers, entry);
	queue->weight += weight;
	signal_answers(queue);
	pthread_mutex_unlock(&queue->lock);
}
