/* SPDX-License-Identifier: ISC */

/*
 * Takes messages to people through the channels: at least once, each channel by
 * itself and one message at a time, again after a failure, not too many in a
 * minute (channel_rest_ms). Waiting messages are in memory; the owner stores
 * them with their progress, and gives them to the next courier.
 *
 * The first event of a failure is sent at once; those that follow it within
 * COURIER_PAUSE_MS become one message at its end.
 */
#ifndef COURIER_H
#define COURIER_H

#include "id.h"
#include "message.h"

struct buf;
struct channel;
struct channel_list;
struct courier;
struct delivery_try;
struct err;
struct escalation;
struct loop;

#define COURIER_PAUSE_MS    (60 * 1000)
#define COURIER_WAITING_MAX 500 /* messages; then the oldest is given up */

/* Where messages are kept. */
struct courier_store {
	/* As it is now; message->done: it need not be given to the next one. */
	void (*save)(const struct message *message, void *arg);
	/* Call fn, later or at once, when all that was saved is on the disk. */
	void (*then)(
	    void *owner, void (*fn)(void *arg), void *fn_arg, void *arg);
	/* Do not call what this owner waits for. */
	void (*forget)(const void *owner, void *arg);
	/* Is there a message of the event? */
	bool (*knows)(const char *event, void *arg);
	void *arg;
};

/* The strings and the store are copied. */
struct courier *courier_new(struct loop *loop, const char *root,
    const char *program, const struct courier_store *store);
void courier_free(struct courier *courier);

/* The channels from now on; copied. Without any, nothing is done. */
void
courier_channels(struct courier *courier, const struct channel_list *channels);

/* One that was saved before, and is to be sent; takes it. */
void courier_take(struct courier *courier, struct message *message);
/* Another process sends that one, if we do not just now. */
void courier_leave(struct courier *courier, const char *id);

/* Nothing if no channel takes it. An event is sent once, across processes and
 * crashes. */
void courier_put(struct courier *courier, const struct escalation *what);

/* The program ends: what waits for the end of a pause is sent now. */
void courier_hurry(struct courier *courier);
/* Is something being sent? */
bool courier_is_busy(const struct courier *courier);
/* Called whenever the last of it has ended. */
void
courier_on_idle(struct courier *courier, void (*idle)(void *arg), void *arg);

/*
 * One event through one channel: a notice on the desktop, a webhook, an issue
 * or a comment, a command. It ends exactly once, by its result, within a few
 * minutes.
 */

#define DELIVER_COMMAND_MS (30 * 1000) /* of notify-send, and of a command */

/* Is there a desktop session with a bus, where notices can be shown? */
bool deliver_has_desktop(void);

struct deliver_result {
	enum delivery_state state; /* WAITING: it failed, and is tried again */
	const char *reason; /* why, if it was not sent */
	const char *ref; /* what was made of it there; NULL = nothing */
	int64_t retry_after_ms; /* -1 = nothing was said */
};

/* Valid until the callback returns; the try is freed after it. */
typedef void deliver_fn(const struct deliver_result *result, void *arg);

/* channel and record must live as long as the try. done is called later, from
 * the loop. dir: for files of its own; root: of the repository. */
struct delivery_try *deliver_start(struct loop *loop, const char *dir,
    const char *root, const struct channel *channel,
    const struct message *record, deliver_fn *done, void *arg);

/* Append the token of the channel; nothing if it has none. -EINVAL, -ENOENT,
 * -EPERM (others can read its file) ... with words that do not contain it.
 * root: where relative paths begin. */
int deliver_token(const struct channel *channel, const char *root,
    struct buf *out, struct err *err);
/* The path of its token file, for the caller to free; NULL = it has none. */
char *deliver_token_path(const struct channel *channel, const char *root);

#endif
