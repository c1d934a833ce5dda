/* SPDX-License-Identifier: ISC */

/*
 * One event for people in the outbox: what happened, and how far each channel
 * is with it. It is a file of its own (.llmc/outbox/<id>.json), so that every
 * program of llmc can send it, whichever lives. Pure.
 */
#ifndef OUTBOX_RECORD_H
#define OUTBOX_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "escalation.h"

struct channel_list;
struct err;
struct json_object;
struct schema;

#define OUTBOX_TEXT_MAX      ((size_t)16 * 1024) /* bytes of the text */
#define OUTBOX_TITLE_MAX     200
#define OUTBOX_DETECTION_MAX ((size_t)32 * 1024) /* more is left out */
#define OUTBOX_FILE_MAX      ((size_t)256 * 1024)
#define OUTBOX_CHANNELS_MAX  32
#define OUTBOX_EARLIER_MAX   10
#define OUTBOX_TRIES_MAX     20 /* about a day */

/* The name of people.notify_command among the channels of a record; no channel
 * of the settings can have it. */
#define OUTBOX_COMMAND "people.notify_command"

enum outbox_state {
	OUTBOX_WAITING,
	OUTBOX_SENT,
	OUTBOX_FAILED, /* given up */
	OUTBOX_SKIPPED, /* it cannot be sent there, or need not be */
	OUTBOX_STATE_COUNT
};

extern const char *const outbox_state_words[OUTBOX_STATE_COUNT + 1];

struct outbox_delivery {
	char *channel;
	enum outbox_state state;
	int attempts; /* begun */
	int64_t next_ms; /* when to try again, wall clock */
	char *reason; /* why the last try failed; NULL = none did */
	char *ref; /* what was made of it there: "#12"; NULL = unknown */
};

/* Strings are owned, NULL = not given. */
struct outbox_record {
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
	struct json_object *detection;
	int count; /* of events with the same signature in it */
	char **earlier; /* the first lines of those before */
	int64_t acked_ms; /* a person has seen it; 0 = not yet */
	char *answer; /* that a person gave */
	struct outbox_delivery *deliveries;
	size_t delivery_count;
};

/* Make one: waits at every channel of the list that takes it, and for the
 * command if it is to be run, from not_before on. Keys and passwords are masked
 * in the texts. NULL = nobody gets it. The caller frees it. */
struct outbox_record *outbox_record_new(const struct escalation *what,
    const struct channel_list *channels, const char *id, const char *timestamp,
    const char *root, const char *program, int64_t not_before_ms);
void outbox_record_free(struct outbox_record *record);

/* The same happened again before any of it was sent: the newest text, the
 * number of them, and the first lines of those before. */
void outbox_record_again(
    struct outbox_record *record, const struct escalation *what);

extern const struct schema outbox_record_schema;

/* JSON, owned by the caller, and back: strict, as the file may come from
 * anybody. -EINVAL with the path of what is wrong. */
struct json_object *outbox_record_to_json(const struct outbox_record *record);
int outbox_record_from_json(struct json_object *json,
    struct outbox_record **ret_record, struct err *err);

struct outbox_delivery *
outbox_record_delivery(const struct outbox_record *record, const char *channel);

/* Is nothing left to send? */
bool outbox_record_is_done(const struct outbox_record *record);

/* How long to wait for the next try; 0 = it is due. A time that is further away
 * than any wait can be comes from a clock that was turned back. */
int64_t
outbox_delivery_wait_ms(const struct outbox_delivery *delivery, int64_t now_ms);

/* A try begins: if we die in it, the next one is later. */
void outbox_delivery_begin(struct outbox_delivery *delivery, int64_t now_ms);
/* It failed: again later, not before retry_after_ms (-1 = nothing was said),
 * or given up. */
void outbox_delivery_failed(struct outbox_delivery *delivery,
    const char *reason, int64_t retry_after_ms, int64_t now_ms);
void outbox_delivery_end(struct outbox_delivery *delivery,
    enum outbox_state state, const char *reason, const char *ref);

/* What waits is not sent any more. */
void outbox_record_end(
    struct outbox_record *record, enum outbox_state state, const char *reason);
/* A person has seen it: what has not been sent is not sent any more. */
void outbox_record_ack(struct outbox_record *record, int64_t now_ms);

#endif
