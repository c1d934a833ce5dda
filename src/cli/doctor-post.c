/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "doctor-post.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"

enum {
	POST_MAIN,
	POST_OWN,
	POST_OTHER,
	POST_PATHS, /* those before have a path */
	POST_ABSTRACT = POST_PATHS,
	POST_TCP,
	POST_UDP,
	POST_ELSEWHERE,
	POST_GIVEN,
	POST_COUNT
};

static const char *const names[POST_COUNT] = {
	[POST_MAIN] = "main",
	[POST_OWN] = "own",
	[POST_OTHER] = "other",
	[POST_ABSTRACT] = "abstract",
	[POST_TCP] = "tcp",
	[POST_UDP] = "udp",
	[POST_ELSEWHERE] = "elsewhere",
	[POST_GIVEN] = "given",
};

struct doctor_post {
	int fds[POST_COUNT];
	int tcp, udp; /* ports */
};

/* A socket at an address, listening if its type can. */
static int
open_at(int type, const void *address, size_t len, int *ret_fd)
{
	const struct sockaddr *at = address;
	cleanup_fd int fd =
	    socket(at->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1 || bind(fd, at, (socklen_t)len) == -1 ||
	    (type == SOCK_STREAM && listen(fd, 8) == -1))
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int
open_port(int type, int *ret_fd, int *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof address;
	int r = open_at(type, &address, sizeof address, ret_fd);

	if (r == 0 &&
	    getsockname(*ret_fd, (struct sockaddr *)&address, &len) == -1)
		r = -errno;
	*ret_port = ntohs(address.sin_port);
	return r;
}

static int
open_abstract(const char *name, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strnlen(name, sizeof address.sun_path - 2);

	memcpy(address.sun_path + 1, name, len);
	return open_at(SOCK_STREAM, &address,
	    offsetof(struct sockaddr_un, sun_path) + 1 + len, ret_fd);
}

/* The folder is named by a descriptor, since its path may be too long. */
static int
open_path(const char *dir, const char *name, int *ret_fd)
{
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd == -1)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path,
	    "/proc/self/fd/%d/%s", fd, name);
	return open_at(SOCK_STREAM, &address, sizeof address, ret_fd);
}

/* By its own path, as other programs do it; too long is no socket. */
static int
open_plain(const char *dir, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (snprintf(address.sun_path, sizeof address.sun_path, "%s/sock",
		dir) >= (int)sizeof address.sun_path)
		return 0;
	return open_at(SOCK_STREAM, &address, sizeof address, ret_fd);
}

int
doctor_post_new(const char *abstract, const char *elsewhere, const char *given,
    struct doctor_post **ret_post, struct err *err)
{
	struct doctor_post *post = xcalloc(1, sizeof *post);
	int r;

	for (size_t i = 0; i < POST_COUNT; i++)
		post->fds[i] = -1;
	r = open_abstract(abstract, &post->fds[POST_ABSTRACT]);
	if (r == 0)
		r = open_port(SOCK_STREAM, &post->fds[POST_TCP], &post->tcp);
	if (r == 0)
		r = open_port(SOCK_DGRAM, &post->fds[POST_UDP], &post->udp);
	if (r == 0)
		r = open_plain(elsewhere, &post->fds[POST_ELSEWHERE]);
	if (r == 0)
		r = open_plain(given, &post->fds[POST_GIVEN]);
	if (r < 0) {
		doctor_post_free(post);
		return err_errno(err, r, "no socket can be made");
	}
	*ret_post = post;
	return 0;
}

void
doctor_post_free(struct doctor_post *post)
{
	if (post == NULL)
		return;
	for (size_t i = 0; i < POST_COUNT; i++)
		fd_close(post->fds[i]);
	free(post);
}

int
doctor_post_tcp(const struct doctor_post *post)
{
	return post->tcp;
}

int
doctor_post_udp(const struct doctor_post *post)
{
	return post->udp;
}

int
doctor_post_bind(struct doctor_post *post, const char *root, const char *worker,
    const char *other, struct err *err)
{
	cleanup_free char *main = file_join(root, ".llmc");
	cleanup_free char *own = xasprintf("%s/run/%s", main, worker);
	cleanup_free char *another = xasprintf("%s/run/%s", main, other);
	const char *const dirs[POST_PATHS] = {
		[POST_MAIN] = main, [POST_OWN] = own, [POST_OTHER] = another
	};

	for (size_t i = 0; i < POST_PATHS; i++) {
		int r;

		fd_close(post->fds[i]);
		post->fds[i] = -1;
		r = open_path(dirs[i], i == POST_MAIN ? "autod.sock" : "sock",
		    &post->fds[i]);
		if (r < 0)
			return err_errno(err, r, "%s: no socket", dirs[i]);
	}
	return 0;
}

static bool
says(int fd, const char *word)
{
	char text[256];
	ssize_t got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return strstr(text, word) != NULL;
}

/* Everything that has come to one socket: was the word among it? */
static bool
arrived(int fd, bool is_stream, const char *word)
{
	bool found = false;

	for (;;) {
		cleanup_fd int peer =
		    is_stream ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (is_stream && peer == -1)
			return found;
		if (says(is_stream ? peer : fd, word))
			found = true;
		else if (!is_stream)
			return found;
	}
}

void
doctor_post_collect(struct doctor_post *post, const char *word, const char *dir)
{
	for (size_t i = 0; i < POST_COUNT; i++) {
		cleanup_free char *file = file_join(dir, names[i]);

		if (arrived(post->fds[i], i != POST_UDP, word))
			file_append(file, "", 0, 0600, false, NULL);
	}
}
