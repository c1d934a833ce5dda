/* SPDX-License-Identifier: ISC */

/*
 * One event through one channel: a notice on the desktop, a webhook, an issue
 * or a comment, a command. It ends exactly once, by its result, within a few
 * minutes.
 */
#ifndef DELIVER_H
#define DELIVER_H

#include "message.h"

struct buf;
struct channel;
struct delivery_try;
struct err;
struct loop;

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
/* Give it up; done is not called. What has begun may still arrive. */
void deliver_cancel(struct delivery_try *try);

/* Append the token of the channel; nothing if it has none. -EINVAL, -ENOENT,
 * -EPERM (others can read its file) ... with words that do not contain it.
 * root: where relative paths begin. */
int deliver_token(const struct channel *channel, const char *root,
    struct buf *out, struct err *err);
/* The path of its token file, for the caller to free; NULL = it has none. */
char *deliver_token_path(const struct channel *channel, const char *root);

#endif
