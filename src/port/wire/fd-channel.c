/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd-channel.h"
#include "mem.h"

#define FD_MAX 65535

/* Room for one descriptor and, by its padding, another: both are looked at. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head; /* for its alignment */
};

int
fd_channel_pair(int ret_ends[2])
{
	return socketpair(AF_UNIX,
		   SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		   ret_ends) == -1 ?
	    -errno :
	    0;
}

static bool
is_channel(int fd)
{
	struct ucred peer = { 0 };
	int domain = 0, type = 0;
	socklen_t len = sizeof(int), size = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	    domain == AF_UNIX && type == SOCK_SEQPACKET &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    peer.uid == geteuid();
}

int
fd_channel_inherited(void)
{
	const char *value = getenv(FD_CHANNEL_VARIABLE);
	const char *fault = NULL;
	int fd = value != NULL ? (int)strtonum(value, 3, FD_MAX, &fault) : 0;

	unsetenv(FD_CHANNEL_VARIABLE);
	if (value == NULL || fault != NULL || !is_channel(fd) ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		return 0;
	return fd;
}

int
fd_channel_send(int channel, const char *text, int fd)
{
	union control control = { { 0 } };
	struct iovec part = { (void *)(uintptr_t)text, strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(head), &fd, sizeof fd);
	}
	return sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == -1 ?
	    -errno :
	    0;
}

/* How many came; the first is *ret_fd, the others are closed. */
static size_t
take_descriptors(struct msghdr *message, int *ret_fd)
{
	size_t count = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
	     head = CMSG_NXTHDR(message, head)) {
		size_t len = head->cmsg_len - CMSG_LEN(0);

		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < len / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
			if (count++ == 0)
				*ret_fd = fd;
			else
				fd_close(fd);
		}
	}
	return count;
}

static bool
is_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	return len > 0 && len < FD_CHANNEL_TEXT_SIZE;
}

int
fd_channel_receive(
    int channel, char ret_text[FD_CHANNEL_TEXT_SIZE], int *ret_fd)
{
	union control control;
	char text[FD_CHANNEL_TEXT_SIZE];
	struct iovec part = { text, sizeof text };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	cleanup_fd int fd = -1;
	size_t count;
	ssize_t n = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n == -1)
		return errno == EINTR ? -EAGAIN : -errno;
	count = take_descriptors(&message, &fd);
	if (n == 0 && count == 0)
		return 0;
	if (count > 1 || !is_text(text, (size_t)n) ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		return -EBADMSG;
	memcpy(ret_text, text, (size_t)n);
	ret_text[n] = '\0';
	*ret_fd = take_fd(&fd);
	return 1;
}
