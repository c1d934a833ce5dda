/* SPDX-License-Identifier: ISC */

/*
 * Ask the daemon and stay on the line: one request, any number of
 * notifications, one end. Driven by the loop; nothing here waits.
 */
#ifndef CLIENT_STREAM_H
#define CLIENT_STREAM_H

struct client_stream;
struct err;
struct json_object;
struct loop;

/* Both are called from the loop and may free the stream. */
struct client_stream_fns {
	/* params may be NULL, and lives until this returns. */
	void (*on_notification)(
	    const char *method, struct json_object *params, void *arg);
	/* Called once, as the last. 0: the request was answered with result,
	 * which may be NULL and lives until this returns. -EPROTO: with an
	 * error, whose message is in err. -ECONNRESET: the daemon hung up.
	 * -EBADMSG: what it sent is no message, or longer than a line may be.
	 * Other negative errno: the connection failed. */
	void (*on_end)(int status, struct json_object *result,
	    const struct err *err, void *arg);
};

/* Connect and ask. params stays the caller's, may be NULL. Fails as
 * client_dial() does, with -ETIMEDOUT when the daemon has too many callers
 * right now, and with -E2BIG for a request that is too long. The stream is the
 * caller's, who frees it before the loop. */
int client_stream_new(struct loop *loop, const char *socket, const char *method,
    struct json_object *params, const struct client_stream_fns *fns, void *arg,
    struct client_stream **ret_stream, struct err *err);

/* Hangs up. */
void client_stream_free(struct client_stream *stream);

#endif
