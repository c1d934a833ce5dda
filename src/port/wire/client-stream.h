/* SPDX-License-Identifier: ISC */

/*
 * Send a request to the daemon and keep the connection: one request, any number
 * of notifications, one end. Driven by the loop; nothing here blocks.
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
	 * which may be NULL and is valid until this returns. -EPROTO: it was
	 * answered with an error, whose message is in err. -ECONNRESET: the
	 * daemon hung up. -EBADMSG: what it sent is not a message, or is longer
	 * than a line may be. Other negative errno: the connection failed. */
	void (*on_end)(int status, struct json_object *result,
	    const struct err *err, void *arg);
};

/* Connect and send the request. params stays the caller's, may be NULL. Fails
 * as client_dial() does, with -ETIMEDOUT if the daemon has too many callers
 * right now, and with -E2BIG for a request that is too long. The caller owns
 * the stream and frees it before the loop. */
int client_stream_new(struct loop *loop, const char *socket, const char *method,
    struct json_object *params, const struct client_stream_fns *fns, void *arg,
    struct client_stream **ret_stream, struct err *err);

/* Inside on_end with -EPROTO: the whole message of the error, which err may
 * have cut, and its code; ret_code may be NULL. */
const char *
client_stream_error(const struct client_stream *stream, int *ret_code);

/* Hangs up. */
void client_stream_free(struct client_stream *stream);

#endif
