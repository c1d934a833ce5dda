/* SPDX-License-Identifier: ISC */

/*
 * Calls to the daemon that outlive it. A call that finds no daemon, or loses
 * it, or gets API_BUSY, waits and is sent again, until it is answered or its
 * time is over. The caller gives it an id of its own, by which the daemon knows
 * it when it comes a second time.
 *
 * A call has a connection of its own: one that is dropped is seen by the daemon
 * as a client that has gone. Driven by the loop; nothing here blocks.
 */
#ifndef RELAY_H
#define RELAY_H

struct json_object;
struct loop;
struct relay;
struct relay_call;

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
