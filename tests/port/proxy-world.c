/* SPDX-License-Identifier: ISC */

#include "proxy-world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "proxy-request.h"
#include "proxy.h"

#define READ_S 60 /* a read that takes longer fails the test */

int
net_listen(unsigned *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

int
net_connect(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval tv = { .tv_sec = READ_S };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

char *
net_drain(int fd)
{
	struct buf text = BUF_INIT;
	char bytes[65536];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		buf_add(&text, bytes, (size_t)n);
	ck_assert_msg(n == 0, "the stream did not end");
	return buf_take(&text);
}

void
net_say(int fd, const char *text)
{
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
}

char *
net_head(int fd)
{
	struct buf text = BUF_INIT;
	char byte;

	while (strstr(text.data, "\r\n\r\n") == NULL && read(fd, &byte, 1) == 1)
		buf_addc(&text, byte);
	return buf_take(&text);
}

static void
answer(int fd, int echo)
{
	cleanup_free char *text = echo ? net_drain(fd) : net_head(fd);

	file_write_all(fd, text, strlen(text));
	close(fd);
}

pid_t
net_serve(int listener, int echo)
{
	pid_t pid = fork();
	int fd;

	ck_assert_int_ge(pid, 0);
	if (pid > 0) {
		close(listener);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		answer(fd, echo);
	_exit(1);
}

void
net_fake_names(void)
{
	static const char script[] =
	    "#!/bin/sh\ncase $2 in *.test) echo \"127.0.0.1  STREAM $2\" ;;\n"
	    "*) exit 2 ;; esac\n";
	cleanup_free char *path =
	    xasprintf("%s:%s", unit_scratch(), getenv("PATH"));

	ck_assert_int_eq(file_replace(unit_path("getent"), script,
			     sizeof script - 1, 0755, NULL),
	    0);
	setenv("PATH", path, 1);
}

static const char *const *proxy_rules;
static int refused_fd;

static const char *const *
give_rules(void *arg)
{
	(void)arg;
	return proxy_rules;
}

static void
write_refused(const struct proxy_target *target, void *arg)
{
	(void)arg;
	dprintf(refused_fd, "%s:%u\n", target->host, target->port);
}

void
world_proxy_begin(
    const char *const *rules, int connections, struct world_proxy *ret)
{
	struct proxy_options options = { .connections = connections,
		.rules = give_rules,
		.refused = write_refused };
	struct err err = { 0, "" };
	int listener = net_listen(&ret->port), ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ret->refused = ends[0];
	proxy_rules = rules;
	refused_fd = ends[1];
	ret->pid = fork();
	ck_assert_int_ge(ret->pid, 0);
	if (ret->pid == 0) {
		struct loop *loop = loop_new();

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (proxy_new(loop, listener, &options, &err) == NULL)
			_exit(1);
		_exit(loop_run(loop));
	}
	close(listener);
	close(ends[1]);
}

void
net_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
