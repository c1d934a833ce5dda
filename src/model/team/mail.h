/* SPDX-License-Identifier: ISC */

/*
 * Mail between agents, the daemon and people: what a piece of mail is, in which
 * order mail is given to a session, when it is given again, and the text that
 * the session gets. Pure; all strings are owned, NULL = not set; times are wall
 * clock milliseconds, 0 = never.
 *
 * Mail is open until it needs nothing more: it was given to its recipient, and
 * confirmed if it asks for that. Then it is done. Mail whose recipient is gone
 * is closed.
 */
#ifndef MAIL_H
#define MAIL_H

struct buf;
struct err;
struct json_object;
struct schema;

#define MAIL_RATE_MAX 20 /* pieces of a sender ... */
#define MAIL_RATE_MS  (60 * 1000) /* ... in this time */

/* All zero at first. */
struct mail_rate {
	struct mail_sent *list;
	size_t count, room;
};

void mail_rate_release(struct mail_rate *rate);

/* Mail of this sender was made then. What is too old at now_ms, or newer than
 * it, is forgotten. */
void mail_rate_add(
    struct mail_rate *rate, const char *from, int64_t ms, int64_t now_ms);
size_t
mail_rate_count(const struct mail_rate *rate, const char *from, int64_t now_ms);

enum mail_kind {
	MAIL_INFO, /* the default */
	MAIL_INSTRUCTION,
	MAIL_ALERT,
	MAIL_KIND_COUNT
};

extern const char *const mail_kind_words[MAIL_KIND_COUNT + 1];

enum mail_state {
	MAIL_OPEN,
	MAIL_DONE,
	MAIL_CLOSED,
	MAIL_STATE_COUNT
};

extern const char *const mail_state_words[MAIL_STATE_COUNT + 1];

/* Bounds in bytes. */
#define MAIL_SUBJECT_MAX 1024
#define MAIL_BODY_MAX    65536

/* Open mail of one recipient, and that of one sender in it; more cannot be
 * sent. */
#define MAIL_UNREAD_MAX 1000
#define MAIL_SENDER_MAX 100

/* Mail that asks to be confirmed is given again. */
struct mail_pace {
	int64_t again_ms; /* at least so long after the last time */
	int again_max; /* so often */
};

extern const struct mail_pace mail_pace; /* five times, five minutes apart */

/* Of mail about a plan. Everything may be missing. */
struct mail_meta {
	char *epic_id, *plan_id;
	int version; /* 0 = none */
	char *source; /* overseer, agent, human */
	char *reason; /* initial_create, replan, guard_violation */
	char *trace_id, *workspace_id, *priority;
};

struct mail {
	char *id; /* M_... */
	char *from, *to; /* actor ids */
	char *from_worker, *to_worker; /* their workers then; NULL = none */
	/* Of the fleet; NULL = this one. */
	char *from_host, *to_host;
	int hops; /* how often it was sent to another one */
	char *subject;
	char *body; /* text, or the JSON text of data */
	struct json_object *data; /* a body that is an object; NULL = a text */
	enum mail_kind kind;
	bool ack_required;
	char *reply_to; /* id */
	char *goal; /* id */
	struct mail_meta meta;
	enum mail_state state;
	int64_t created_ms;
	int64_t delivered_ms; /* the last time */
	int delivered; /* how often */
	int64_t read_ms, acked_ms, closed_ms;
	/* A person was notified that it is not confirmed, or learns of it in
	 * another way. */
	bool alerted;
	char *read_call; /* id of the tool call that has shown it */
};

extern const struct schema mail_schema;

struct mail *mail_new(void);
void mail_free(struct mail *mail);
struct mail *mail_copy(const struct mail *mail);

/* From an object with these members (plan-goal.h); what is no such member, or
 * of another type, is left out. */
void mail_set_meta(struct mail *mail, struct json_object *meta);

/* A body that is an object, which is shared. */
void mail_set_data(struct mail *mail, struct json_object *data);

/* The record in the book. */
struct json_object *mail_to_json(const struct mail *mail);

/* -EINVAL with the path of what is wrong. */
int mail_from_json(struct json_object *json, const char *at,
    struct mail **ret_mail, struct err *err);

/* -EINVAL or -E2BIG with words: what can be sent. */
int mail_check(const struct mail *mail, struct err *err);

/* The id of the mail that this sender sends under this key: the same, always.
 * The caller frees it. */
char *mail_id(const char *from, const char *key);

/* Another host has it now, and gives it to its recipient. */
void mail_given_away(struct mail *mail, int64_t now_ms);

/* Is it to be given to its recipient now? What was not given yet is; what asks
 * to be confirmed is, at the end of a turn, again and again for a while. */
bool mail_is_new(const struct mail *mail);
bool mail_is_due(
    const struct mail *mail, const struct mail_pace *pace, int64_t now_ms);

/* It was given often enough, and is still not confirmed: tell a person. */
bool mail_is_ignored(
    const struct mail *mail, const struct mail_pace *pace, int64_t now_ms);

/* Is it news of the overseer about a plan? It does not wake a waiting agent. */
bool mail_is_of_plan(const struct mail *mail);

/* What is given first: below 0 if it is a. Mail of the overseer about plans,
 * alerts, instructions, infos; the older first. */
int mail_compare(const struct mail *a, const struct mail *b);

/* It was given to its recipient, was read, was confirmed; its state follows. */
void mail_delivered(struct mail *mail, int64_t now_ms);
void mail_read(struct mail *mail, int64_t now_ms);
void mail_acked(struct mail *mail, int64_t now_ms);
void mail_close(struct mail *mail, int64_t now_ms);

/* Bounds in bytes: one text for a session, and the body of one piece in it,
 * about. */
#define MAIL_TEXT_MAX 16384
#define MAIL_PART_MAX 8192

/* Append the text, in the order of the list, with ids and how to answer.
 * Returns how many of them are in it: at least one. A body that is too long is
 * cut, with words on how to read the rest. What a sender wrote cannot look like
 * the words around it. */
size_t mail_text(struct mail *const *mails, size_t count, struct buf *out);

/* Is the mail with this id in the text? And the ids of all that are, owned by
 * the caller, NULL = none. */
bool mail_text_has(const char *text, const char *id);
char **mail_text_ids(const char *text);

/* --- questions ---------------------------------------------------------- */

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
