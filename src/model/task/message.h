/* SPDX-License-Identifier: ISC */

/*
 * A message to people: what happened, and how far each channel is with it. The
 * daemon has it in the book, the overseer in its spool. Pure.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "channel.h"
#include "notice.h"

struct ask;
struct buf;
struct err;
struct json_object;
struct schema;

#define MESSAGE_TEXT_MAX   ((size_t)16 * 1024) /* bytes of the text */
#define MESSAGE_FILE_MAX   ((size_t)256 * 1024)
#define DELIVERY_TRIES_MAX 20 /* about a day */

enum delivery_state {
	DELIVERY_WAITING,
	DELIVERY_SENT,
	DELIVERY_FAILED, /* given up */
	DELIVERY_SKIPPED, /* it cannot be sent there, or need not be */
	DELIVERY_STATE_COUNT
};

extern const char *const delivery_state_words[DELIVERY_STATE_COUNT + 1];

struct delivery {
	char *channel;
	enum delivery_state state;
	int attempts; /* begun */
	int64_t next_ms; /* when to try again, wall clock */
	char *reason; /* why the last try failed; NULL = none did */
	char *ref; /* what was made of it there: "#12"; NULL = unknown */
};

/* Strings are owned, NULL = not given. */
struct message {
	char *id; /* ULID; the same whenever it is sent again */
	char *timestamp; /* when it happened, for people */
	char *event; /* it is the only record of; NULL = of none */
	char *program, *root;
	enum escalation_level level;
	char *class, *title, *text, *signature;
	char *worker, *task, *goal, *node;
	char *task_title;
	int64_t iteration;
	char *intervention;
	char **options;
	char *link; /* to the page */
	struct json_object *detection;
	int count; /* of events with the same signature in it */
	char **earlier; /* the first lines of those before */
	struct delivery *deliveries;
	size_t delivery_count;
	bool done; /* as message_is_done() said when it was saved */
	int64_t at_ms; /* when it was made */
};

/* Make one: waits at every channel of the list that takes it, from not_before
 * on. Keys and passwords are masked
 * in the texts. NULL = no channel takes it. The caller frees it. */
struct message *message_new(const struct escalation *what,
    const struct channel_list *channels, const char *id, const char *timestamp,
    const char *root, const char *program, int64_t not_before_ms);
void message_free(struct message *record);

/* The same happened again before any of it was sent: the newest text, the
 * number of them, and the first lines of those before. */
void message_add(struct message *record, const struct escalation *what);

extern const struct schema message_schema;

/* JSON, owned by the caller, and back: strict, as the file may come from
 * anybody. -EINVAL with the path of what is wrong. */
struct json_object *message_to_json(const struct message *record);
int message_from_json(
    struct json_object *json, struct message **ret_record, struct err *err);
struct delivery *
message_delivery(const struct message *record, const char *channel);

/* Is nothing left to send? */
bool message_is_done(const struct message *record);

/* The first channel that has taken it; NULL = none has. */
const char *message_sent_by(const struct message *record);

/* Take what has ended from another copy of it. False: nothing is new. */
bool message_learn(struct message *record, const struct message *other);

/* How long to wait for the next try; 0 = it is due. A time that is further away
 * than any wait can be comes from a clock that was turned back. */
int64_t delivery_wait_ms(const struct delivery *delivery, int64_t now_ms);

/* A try begins: if we die in it, the next one is later. */
void delivery_begin(struct delivery *delivery, int64_t now_ms);

/* It failed: again later, not before retry_after_ms (-1 = nothing was said),
 * or given up. */
void delivery_failed(struct delivery *delivery, const char *reason,
    int64_t retry_after_ms, int64_t now_ms);
void delivery_end(struct delivery *delivery, enum delivery_state state,
    const char *reason, const char *ref);

/* An ask that follows from the state is made so much later than its message. */
#define MESSAGE_EARLY_MS (5 * 1000)

/* Does it tell of what the ask is about? */
bool message_tells(const struct message *record, const struct ask *ask);

/* That no channel has taken what open asks told: it begins as { 0 }. */
struct message_untold {
	int64_t since_ms; /* 0 = there is nothing like that */
	char *channel; /* one that fails; owned, as is */
	char *why; /* "chat: exited with 3", of each that fails */
};

/* Take a message into account; they come the newest first. The channels are
 * those of the settings. One that is under way, with its first tries, is not
 * untold. False: one got through, and older ones do not matter. */
bool message_untold_add(struct message_untold *untold,
    const struct message *record, struct ask *const *asks, size_t ask_count,
    const struct channel_list *channels, int64_t now_ms);
void message_untold_release(struct message_untold *untold);

/* What waits is not sent any more. */
void message_end(
    struct message *record, enum delivery_state state, const char *reason);

#define MESSAGE_LABELS 3

/* JSON for a webhook in the format; with CHANNEL_JSON, what a command gets. */
void message_webhook(
    const struct message *record, enum channel_format format, struct buf *out);

/* The same for ntfy, whose topic is a part of the body. */
void
message_ntfy(const struct message *record, const char *topic, struct buf *out);

/* An issue: one line; its text with the evidence, ended by the marker; what
 * is said in an issue that exists. */
void message_issue_title(const struct message *record, struct buf *out);
void message_issue_body(const struct message *record, struct buf *out);
void message_comment(const struct message *record, struct buf *out);

/* The labels of an issue: "llmc", its level, "automated". */
const char *message_label(const struct message *record, int i);

/* Is this the text of the issue for failures with this signature? Only the
 * last line counts: that is ours. */
bool message_has_marker(const char *body, const char *signature);

/* Does the text end with the marks of this very event? */
bool message_has_event(const char *body, const struct message *record);

/* A notice on a desktop: a line, and a text whose markup is escaped. */
void message_desktop(
    const struct message *record, struct buf *title, struct buf *text);
const char *message_urgency(const struct message *record);

#endif
