/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "errtext.h"
#include "mem.h"
#include "store-db.h"
#include "store-queue.h"
#include "store-read.h"
#include "store-thread.h"
#include "store-write.h"

/* Commits in one transaction: its answers come together, when all is done. */
#define BATCH_MAX 1024

struct owner {
	struct store_queue *queue;
	struct store_db *db; /* NULL: err says why */
	struct err err;
};

static void
add_answer(struct store_answers *answers, struct store_request *request)
{
	struct store_answer *made = store_answer_new(request);

	made->last = true;
	made->err = request->err;
	made->weight = request->pool.total + 1;
	TAILQ_INSERT_TAIL(answers, made, entry);
}

static void
answer(struct owner *owner, struct store_request *request)
{
	struct store_answers answers = TAILQ_HEAD_INITIALIZER(answers);

	add_answer(&answers, request);
	store_queue_answer(owner->queue, &answers);
}

static void
pass_on(struct store_answer *part, void *arg)
{
	struct store_answers answers = TAILQ_HEAD_INITIALIZER(answers);

	TAILQ_INSERT_TAIL(&answers, part, entry);
	store_queue_answer(arg, &answers);
}

static void
close_file(struct owner *owner)
{
	if (owner->db == NULL)
		return;
	store_db_close(owner->db);
	owner->db = NULL;
	err_set(&owner->err, -ESHUTDOWN, "the store is closed");
}

static void
do_one(struct owner *owner, struct store_request *request)
{
	switch (request->op) {
	case STORE_OP_CLOSE:
		close_file(owner);
		break;
	case STORE_OP_OPENED:
		request->err = owner->err;
		break;
	case STORE_OP_COMMIT:
		if (owner->db == NULL)
			request->err = owner->err;
		else
			store_write(owner->db, &request, 1);
		break;
	case STORE_OP_LOAD:
	case STORE_OP_READ:
	case STORE_OP_EVENTS:
		if (owner->db != NULL) {
			store_read_run(
			    owner->db, request, pass_on, owner->queue);
			return;
		}
		request->err = owner->err;
		break;
	}
	answer(owner, request);
}

/* The commits at the head of the list, in one transaction. */
static void
do_commits(struct owner *owner, struct store_requests *list)
{
	struct store_answers answers = TAILQ_HEAD_INITIALIZER(answers);
	struct store_request *batch[BATCH_MAX], *request;
	size_t count = 0;

	while (count < BATCH_MAX && (request = TAILQ_FIRST(list)) != NULL &&
	    request->op == STORE_OP_COMMIT) {
		TAILQ_REMOVE(list, request, entry);
		batch[count++] = request;
	}
	store_write(owner->db, batch, count);
	for (size_t i = 0; i < count; i++)
		add_answer(&answers, batch[i]);
	store_queue_answer(owner->queue, &answers);
}

static void *
run(void *arg)
{
	const struct store_thread *thread = arg;
	struct owner owner = { .queue = thread->queue };
	struct store_requests list = TAILQ_HEAD_INITIALIZER(list);
	struct store_request *request;

	store_db_open(thread->path, &owner.db, &owner.err);
	while (store_queue_take(thread->queue, &list)) {
		while ((request = TAILQ_FIRST(&list)) != NULL) {
			if (request->op == STORE_OP_COMMIT &&
			    owner.db != NULL) {
				do_commits(&owner, &list);
				continue;
			}
			TAILQ_REMOVE(&list, request, entry);
			do_one(&owner, request);
		}
	}
	close_file(&owner);
	return NULL;
}

int
store_thread_begin(struct store_thread *thread)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread->id, NULL, run, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

void
store_thread_join(struct store_thread *thread)
{
	pthread_join(thread->id, NULL);
}
