/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "inside.h"

#define BACKLOG 128

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int
inside_send(int channel, int fd)
{
	union control control = { .bytes = { 0 } };
	char byte = 'L';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(head), &fd, sizeof fd);
	return sendmsg(channel, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int
inside_receive(int channel)
{
	union control control = { .bytes = { 0 } };
	char byte = '\0';
	struct iovec part = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	const struct cmsghdr *head;
	ssize_t n;
	int fd;

	do
		n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -errno;
	if (n == 0)
		return -ECONNRESET;
	head = CMSG_FIRSTHDR(&message);
	if (head == NULL || head->cmsg_level != SOL_SOCKET ||
	    head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof fd))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(head), sizeof fd);
	return fd;
}

static int
listen_inside(unsigned port, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd == -1)
		return err_errno(err, -errno, "the sandbox has no network");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) == -1 ||
	    listen(fd, BACKLOG) == -1)
		return err_errno(
		    err, -errno, "the sandbox: 127.0.0.1:%u", port);
	return take_fd(&fd);
}

static int
hand_over(int channel, int fd, struct err *err)
{
	struct pollfd p = { .fd = channel, .events = POLLIN };
	char byte;
	int r = inside_send(channel, fd);

	if (r < 0)
		return err_errno(err, r, "the sandbox's proxy is not there");
	do
		r = poll(&p, 1, INSIDE_WAIT_MS);
	while (r == -1 && errno == EINTR);
	if (r == 0)
		return err_set(
		    err, -ETIMEDOUT, "the sandbox's proxy does not answer");
	if (recv(channel, &byte, 1, 0) != 1)
		return err_set(
		    err, -ECONNRESET, "the sandbox's proxy has ended");
	return 0;
}

/* A server inside the box is reached without the proxy; the API is not, even
 * where it is a gateway on the loopback of the host. */
static void
set_exceptions(void)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "::1" };
	const char *url = getenv("ANTHROPIC_BASE_URL");
	cleanup_buf struct buf list = BUF_INIT;

	for (size_t i = 0; i < nitems(local); i++) {
		if (url != NULL && strstr(url, local[i]) != NULL)
			continue;
		buf_addf(&list, "%s%s", list.len > 0 ? "," : "", local[i]);
	}
	setenv("NO_PROXY", list.data, 1);
	setenv("no_proxy", list.data, 1);
}

static void
set_variables(unsigned port)
{
	static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY",
		"ALL_PROXY", "http_proxy", "https_proxy", "all_proxy" };
	cleanup_free char *url = xasprintf("http://127.0.0.1:%u", port);

	for (size_t i = 0; i < nitems(names); i++)
		setenv(names[i], url, 1);
	set_exceptions();
}

int
inside_exec(int channel, unsigned port, char *const *argv, struct err *err)
{
	cleanup_fd int fd = -1;
	int r;

	if (port == 0)
		port = INSIDE_PORT;
	fd = listen_inside(port, err);
	if (fd < 0)
		return fd;
	r = hand_over(channel, fd, err);
	if (r < 0)
		return r;
	fd_close(channel);
	set_variables(port);
	execvp(argv[0], argv);
	return err_errno(
	    err, -errno, "cannot start %s in the sandbox", argv[0]);
}
