/* SPDX-License-Identifier: ISC */

/*
 * Questions of agents to those that they work for: what a question is, how many
 * an agent may have, and how it ends. Pure; strings are owned, NULL = not set;
 * times are wall clock milliseconds, 0 = never.
 *
 *   pending    stored, not delivered
 *   notified   delivered to the one who is asked
 *   resolved   answered
 *   timeout    not answered in time
 *   cancelled  the one who asked is gone
 *   orphaned   the one who was asked is gone
 */
#ifndef REQUEST_H
#define REQUEST_H

struct err;
struct json_object;

enum request_state {
	REQUEST_PENDING,
	REQUEST_NOTIFIED,
	REQUEST_RESOLVED, /* this one and those below have ended */
	REQUEST_TIMEOUT,
	REQUEST_CANCELLED,
	REQUEST_ORPHANED,
	REQUEST_STATE_COUNT
};

extern const char *const request_state_words[REQUEST_STATE_COUNT + 1];

#define REQUEST_CHILD_MAX      3 /* open ones of an agent */
#define REQUEST_PARENT_MAX     20 /* open ones that an agent is asked */
#define REQUEST_RATE_MAX       5 /* new ones of an agent ... */
#define REQUEST_RATE_MS        (60 * 1000) /* ... in this time */
#define REQUEST_TIMEOUT_MS     (300 * 1000) /* the default */
#define REQUEST_TIMEOUT_MIN_MS (10 * 1000)
#define REQUEST_TIMEOUT_MAX_MS (3600 * 1000)
#define REQUEST_KEEP_MS        (24 * 3600 * 1000LL) /* after it ended */

struct request {
	char *id; /* R_... */
	char *child, *parent; /* actors: who asks, who is asked */
	char *worker, *task, *run; /* of the child; NULL = it has none */
	int64_t session; /* of the worker that asked; 0 = unknown */
	char *parent_task; /* NULL = a person is asked */
	char *goal;
	char *message;
	char **options;
	enum request_state state;
	int64_t created_ms, deadline_ms, ended_ms;
	char *response;
	char *responder; /* actor */
	char *respond_call; /* the call that answered it */
	bool awaited; /* by a call to this daemon; not stored */
};

struct request *request_new(void);
void request_free(struct request *request);

/* The record in the book; its status is "open" until it has ended. */
struct json_object *request_to_json(const struct request *request);
/* -EINVAL with the path of what is wrong; also for another version. */
int request_from_json(struct json_object *json, const char *at,
    struct request **ret_request, struct err *err);

/* What the tool that asked it says; owned by the caller. */
struct json_object *request_to_answer(const struct request *request);

bool request_is_open(const struct request *request);
/* Can its end still be asked for? */
bool request_is_kept(const struct request *request, int64_t now_ms);

/* What the events of questions, in messages to people, begin with. */
#define REQUEST_EVENT "request/"

/* The words of a person as an answer: an option, if they are its number or its
 * words; NULL = there is no option with this number. */
const char *request_choice(
    const struct request *request, const char *words, struct err *err);

/* How long to wait for an answer; 0 = the default. The maximum for a person,
 * who may be away. */
int64_t request_timeout(int64_t wanted_ms, bool person);

/* Answer it. -EALREADY: it was answered; -ETIMEDOUT: too late (it is timed out
 * then); -ESTALE: it has ended otherwise. */
int request_resolve(struct request *request, const char *response,
    const char *responder, const char *call, int64_t now_ms, struct err *err);
/* End an open one otherwise. */
void
request_end(struct request *request, enum request_state state, int64_t now_ms);

/* --- all that are open ------------------------------------------------- */

struct request_registry {
	struct request **list; /* in the order of their making */
	size_t count;
};

void request_registry_release(struct request_registry *registry);
/* Takes it. */
void request_registry_add(
    struct request_registry *registry, struct request *request);
/* Forget this one. */
void request_registry_remove(struct request_registry *registry, const char *id);
/* NULL = it is not known. */
struct request *
request_registry_find(const struct request_registry *registry, const char *id);

/* An open one of the same agent in the same words, to the same one; NULL =
 * none. */
struct request *request_registry_alike(
    const struct request_registry *registry, const struct request *request);

/* May this agent, which asked so many within REQUEST_RATE_MS, ask that one?
 * -EDQUOT with words: too many are open, or too many were asked. */
int request_registry_admits(const struct request_registry *registry,
    const char *child, const char *parent, int recent, struct err *err);

/* How many of its own questions are open. */
size_t request_registry_pending(
    const struct request_registry *registry, const char *child);
/* The oldest of them; NULL = none. */
const struct request *request_registry_first(
    const struct request_registry *registry, const char *child);
/* When the next open one ends, 0 = never. */
int64_t request_registry_next(const struct request_registry *registry);

#endif
