/* SPDX-License-Identifier: ISC */

/*
 * A pair of sockets between the overseer and the daemon that it starts: short
 * messages, each with at most one descriptor. Nothing here waits.
 */
#ifndef FD_CHANNEL_H
#define FD_CHANNEL_H

/* Names the descriptor of the daemon's end. */
#define FD_CHANNEL_VARIABLE "LLMC_OVERSEER_FD"

/* Of a text, with its NUL: printable ASCII, and not empty. */
#define FD_CHANNEL_TEXT_SIZE 128

int fd_channel_pair(int ret_ends[2]);

/* The end that the variable names, which is removed from the environment; the
 * programs that we start do not get it. 0 = there is none. Call it before
 * anything is opened. */
int fd_channel_inherited(void);

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
