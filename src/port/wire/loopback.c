/* SPDX-License-Identifier: ISC */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "errtext.h"
#include "loopback.h"
#include "mem.h"

#define BACKLOG 64

int
loopback_listen(unsigned port, struct err *err)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cleanup_fd int fd = -1;
	int on = 1;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_errno(err, -errno, "cannot make a socket");
	/* Else a port with connections of an earlier listener is not free. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) == -1 ||
	    listen(fd, BACKLOG) == -1)
		return err_errno(
		    err, -errno, "cannot listen on 127.0.0.1:%u", port);
	return take_fd(&fd);
}

int
loopback_check(int fd, unsigned *ret_port, struct err *err)
{
	struct sockaddr_in address = { 0 };
	int listens = 0, type = 0;
	socklen_t len = sizeof(int), size = sizeof address;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == -1 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == -1 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) == -1)
		return err_errno(err, -errno, "the socket of the page");
	if (!listens || type != SOCK_STREAM || address.sin_family != AF_INET ||
	    address.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
		return err_set(err, -EINVAL,
		    "the socket of the page does not listen on 127.0.0.1");
	if (ret_port != NULL)
		*ret_port = ntohs(address.sin_port);
	return 0;
}
