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

#endif
