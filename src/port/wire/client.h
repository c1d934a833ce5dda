/* SPDX-License-Identifier: ISC */

/* Ask the daemon: one request, one reply. Blocking, for programs without a
 * loop (the command line, the hook), bounded by a deadline; or in the loop, as
 * calls that outlive the daemon (relay). */
#ifndef CLIENT_H
#define CLIENT_H

struct client_stream;
struct err;
struct json_object;
struct loop;
struct relay;
struct relay_call;
struct workspace;

/* The daemon's socket: <root>/.llmc/autod.sock, or, where that is too long for
 * a socket, one in $XDG_RUNTIME_DIR or /tmp, named after the user and a hash of
 * the root. The caller frees. */
char *client_socket_path(const struct workspace *workspace);

/* Connect to a socket whose listener runs as our user: a descriptor
 * (close-on-exec). Waits up to ms for a listener that has too many callers; 0 =
 * not at all, and the descriptor does not block. -ENOENT or -ECONNREFUSED: no
 * listener. -EACCES: another user listens. -ETIMEDOUT. */
int client_dial(const char *socket, int64_t ms, struct err *err);

/* -ENOENT or -ECONNREFUSED: no listener. -EACCES: another user listens.
 * -ETIMEDOUT. -ECONNRESET: gone before it answered. -E2BIG: the request is too
 * long. -EBADMSG: the answer is not valid. -EPROTO with the server's message in
 * err when it answered with an error; *ret_code (may be NULL) is its code, and
 * the result is the data of the error.
 *
 * deadline_ms is counted from now and bounds the whole call. The result is
 * owned by the caller, may be NULL. params stays the caller's. wait false sends
 * a notification and returns; *ret_result (may be NULL) is then left alone. */
int client_call(const char *socket, const char *method,
    struct json_object *params, int64_t deadline_ms, bool wait,
    struct json_object **ret_result, int *ret_code, struct err *err);

/* Both are called from the loop and may free the stream. */
struct client_stream_fns {
	/* params may be NULL, and lives until this returns. NULL = they are
	 * ignored. */
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

/*
 * Calls to the daemon that outlive it. A call that finds no daemon, or loses
 * it, or gets API_BUSY, waits and is sent again, until it is answered or its
 * time is over. The caller gives it an id of its own, by which the daemon knows
 * it when it comes a second time.
 *
 * A call has a connection of its own: one that is dropped is seen by the daemon
 * as a client that has gone. Driven by the loop; nothing here blocks.
 */

/* At most so many are with the daemon at once; the others wait for them. Fewer
 * than SERVER_SESSION_MAX: hooks call there too. */
#define RELAY_FLIGHTS_MAX 20

/* message NULL: the result, which may be NULL. Else the code of the error
 * (api.h) and what to say. All are valid until this returns. The call has
 * ended: its pointer is void. */
typedef void
relay_fn(struct json_object *result, int code, const char *message, void *arg);

/* The caller frees it before the loop, and with it all calls, untold. */
struct relay *relay_new(struct loop *loop, const char *socket);
void relay_free(struct relay *relay);

/* fn is called once, from the loop, never from here. params stays the caller's,
 * and must not be changed. */
struct relay_call *relay_send(struct relay *relay, const char *method,
    struct json_object *params, int64_t wait_ms, relay_fn *fn, void *arg);
/* Forget it: fn is not called. */
void relay_cancel(struct relay_call *call);

/*
 * A pair of sockets between the overseer and the daemon that it starts: short
 * messages, each with at most one descriptor. Nothing here waits.
 */

/* Names the descriptor of the daemon's end. */
#define FD_CHANNEL_VARIABLE "LLMC_OVERSEER_FD"

/* Of a text, with its NUL: printable ASCII, and not empty. */
#define FD_CHANNEL_TEXT_SIZE 128

int fd_channel_pair(int ret_ends[2]);

/* The end that the variable names, which is removed from the environment; the
 * programs that we start do not get it. 0 = there is none. Call it before
 * anything is opened. */
int fd_channel_inherited(void);
/* The next program in this process gets it too; 0 = there is none. */
void fd_channel_hand_on(int channel);

/* fd -1 = none. -EAGAIN: the other end has not read earlier ones. */
int fd_channel_send(int channel, const char *text, int fd);

/*
 * 1: there was a message. *ret_fd is the caller's, close-on-exec; -1 = none.
 * 0: the other end is closed. -EAGAIN: nothing has come. -EBADMSG: a message
 * that is none of these was thrown away, with its descriptors. Other errors
 * mean that nothing will come.
 */
int fd_channel_receive(
    int channel, char ret_text[FD_CHANNEL_TEXT_SIZE], int *ret_fd);

#endif
