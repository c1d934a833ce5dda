/* SPDX-License-Identifier: ISC */

/* Shared by the units of this folder only. */
#ifndef SHARED_PRIVATE_H
#define SHARED_PRIVATE_H

#include <sys/queue.h>

#include "shared.h"

struct loop_timer;
struct loop_call;

#define SHARED_RETRY_FIRST_MS 500
#define SHARED_RETRY_MAX_MS   (30 * 1000)
#define SHARED_BARRED_MS      (60 * 1000) /* between two tries */
#define SHARED_HINT_MS        200 /* between two hints with the same word */

/* One ask, from shared_ask() to its answer. */
struct shared_wait {
	TAILQ_ENTRY(shared_wait) entry;
	shared_fn *fn; /* NULL: nobody wants to know any more */
	void *arg;
	int64_t until_ms; /* monotonic */
	size_t bytes;
	bool is_sent;
	int verdict;
	struct err err;
	size_t count, at; /* calls; the one whose rows come next */
	struct shared_rows *rows; /* of each call */
	struct {
		enum shared_statement id;
		size_t count;
		struct book_value *values; /* with texts of its own */
	} * calls;
};
TAILQ_HEAD(shared_waits, shared_wait);

/* What the connection asks of PostgreSQL; `base` is the first member of its
 * struct. */
struct shared_engine_ops {
	void (*begin)(struct shared *shared); /* connect */
	void (*send)(struct shared *shared); /* there are new waits */
	void (*drop)(struct shared *shared); /* close what is open */
	void (*end)(struct shared *shared); /* after that: free what else it has
					     */
	/* A hint for others: word, and a host or NULL. */
	void (*hint)(struct shared *shared, const char *word, const char *host);
};

struct shared {
	const struct shared_engine_ops *ops;
	struct loop *loop;
	char *database, *passfile, *host, *repository;
	void (*state_fn)(enum shared_state state, const char *words, void *arg);
	void (*notified_fn)(const char *word, void *arg);
	void *arg;
	enum shared_state state;
	char words[512];
	char identity[128];
	struct shared_waits waits; /* in the order in which they were asked */
	struct shared_waits done; /* answered; told after this pass */
	size_t wait_count, wait_bytes;
	struct loop_timer *deadline; /* of the waits */
	struct loop_timer *retry; /* the next connection */
	struct loop_call *tell; /* answers, and a changed state */
	bool state_changed;
	int tries; /* since it was up */
	struct loop_timer *hint_pause; /* hints wait until it is over */
	char **hints; /* "word" or "word host" */
};

/* -EINVAL with words for an address that is none. */
int shared_postgres_new(
    const struct shared_options *options, struct shared **ret, struct err *err);
int shared_postgres_owner(const struct shared_owner_task *task,
    struct json_object *report, struct err *err);

/* For the engines. */
void shared_init(struct shared *shared, const struct shared_engine_ops *ops,
    const struct shared_options *options);
/* words may be NULL. */
void shared_set_state(
    struct shared *shared, enum shared_state state, const char *words);
/* It went away: what was sent has an unknown outcome, and begin() is called
 * again after a while. */
void shared_went(struct shared *shared, const char *words);
/* The same, but we are refused. */
void shared_bar(struct shared *shared, const char *words);
/* The wait is answered; it is no longer in the list. */
void shared_answer_wait(struct shared *shared, struct shared_wait *wait,
    int verdict, const char *words);
/* What the rows of `meta` say about us: 0, or -EPROTO with words for a person.
 */
int shared_check_meta(
    const struct shared_rows *meta, const char *repository, struct err *err);
void shared_rows_release(struct shared_rows *rows);
/* Somewhere from half of it to one and a half: hosts that wait for the same
 * thing do not all come at once. */
int64_t shared_jitter(int64_t ms);
/* Tell our user about a hint that has come; host NULL = for all. */
void shared_hinted(struct shared *shared, const char *word, const char *host);

#endif
