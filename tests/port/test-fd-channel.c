/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>

#include "base.h"
#include "client.h"
#include "unit.h"

static int ends[2];
static char text[FD_CHANNEL_TEXT_SIZE];
static int got;

static void
begin(void)
{
	ck_assert_int_eq(fd_channel_pair(ends), 0);
	got = -1;
}

static void
end(void)
{
	close(ends[0]);
	close(ends[1]);
}

static int
receive(void)
{
	return fd_channel_receive(ends[0], text, &got);
}

/* What the kernel sends for us, with so many descriptors. */
static void
send_raw(const char *bytes, size_t len, int fd, size_t count)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr head;
	} control = { { 0 } };
	struct iovec part = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(count * sizeof fd) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(count * sizeof fd);
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(head) + i * sizeof fd, &fd, sizeof fd);
	ck_assert_int_eq(sendmsg(ends[1], &message, 0), (ssize_t)len);
}

/* The number of the next descriptor that is opened: none has leaked while that
 * stays the same. */
static int
next_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

TEST(a_message_comes_whole_with_its_descriptor)
{
	int pipes[2];
	char byte;

	begin();
	ck_assert_int_eq(receive(), -EAGAIN);
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(fd_channel_send(ends[1], "keep this", pipes[0]), 0);
	ck_assert_int_eq(fd_channel_send(ends[1], "and now none", -1), 0);
	close(pipes[0]);
	ck_assert_int_eq(receive(), 1);
	ck_assert_str_eq(text, "keep this");
	/* What we start does not get it. */
	ck_assert_int_eq(fcntl(got, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(pipes[1], "x", 1), 1);
	ck_assert_int_eq(read(got, &byte, 1), 1);
	close(got);
	close(pipes[1]);
	ck_assert_int_eq(receive(), 1);
	ck_assert_str_eq(text, "and now none");
	ck_assert_int_eq(got, -1);
	ck_assert_int_eq(receive(), -EAGAIN);
	end();
}

TEST(what_was_sent_before_the_end_comes_before_it)
{
	begin();
	ck_assert_int_eq(fd_channel_send(ends[1], "last", -1), 0);
	close(ends[1]);
	ck_assert_int_eq(receive(), 1);
	ck_assert_int_eq(receive(), 0);
	ck_assert_int_eq(receive(), 0);
	/* No signal ends us. */
	ck_assert_int_eq(fd_channel_send(ends[0], "x", -1), -EPIPE);
	close(ends[0]);
}

TEST(who_does_not_read_is_not_waited_for)
{
	int r = 0;

	begin();
	for (int i = 0; i < 100000 && r == 0; i++)
		r = fd_channel_send(ends[1], "again", -1);
	ck_assert_int_eq(r, -EAGAIN);
	end();
}

TEST(what_is_no_message_is_thrown_away_with_its_descriptors)
{
	static const struct {
		size_t len, count;
		const char *bytes;
	} rows[] = {
		{ 3, 2, "two" },
		{ 5, 3, "three" },
		{ 5, 8, "eight" },
		{ 3, 1, "a\0b" },
		{ 3, 1, "a\nb" },
		{ 3, 1,
		    "a\xff"
		    "b" },
		{ FD_CHANNEL_TEXT_SIZE, 1, NULL },
		{ 4000, 1, NULL },
	};
	cleanup_free char *large = xcalloc(1, 4000);
	int next;

	memset(large, 'a', 4000);
	begin();
	next = next_descriptor();
	for (size_t i = 0; i < nitems(rows); i++) {
		send_raw(rows[i].bytes != NULL ? rows[i].bytes : large,
		    rows[i].len, 0, rows[i].count);
		ck_assert_msg(receive() == -EBADMSG, "row %zu", i);
		ck_assert_int_eq(got, -1);
		ck_assert_int_eq(next_descriptor(), next);
	}
	/* The next one is read as ever. */
	send_raw(large, FD_CHANNEL_TEXT_SIZE - 1, 0, 1);
	ck_assert_int_eq(receive(), 1);
	ck_assert_uint_eq(strlen(text), FD_CHANNEL_TEXT_SIZE - 1);
	close(got);
	end();
}

static int
inherit(const char *value)
{
	int fd;

	setenv(FD_CHANNEL_VARIABLE, value, 1);
	fd = fd_channel_inherited();
	ck_assert_ptr_null(getenv(FD_CHANNEL_VARIABLE));
	return fd;
}

TEST(a_channel_is_inherited_once_and_not_handed_on)
{
	cleanup_free char *number = NULL;

	begin();
	number = xasprintf("%d", ends[1]);
	ck_assert_int_eq(fcntl(ends[1], F_SETFD, 0), 0);
	ck_assert_int_eq(inherit(number), ends[1]);
	ck_assert_int_eq(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fd_channel_inherited(), 0);
	end();
}

TEST(what_is_no_channel_is_not_inherited)
{
	static const char *const values[] = { "", "x", "-1", "0", "2", "9x",
		"60000", "99999999999999999999" };
	cleanup_free char *file = NULL, *stream = NULL;
	int streams[2];
	cleanup_fd int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < nitems(values); i++)
		ck_assert_msg(inherit(values[i]) == 0, "%s", values[i]);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, streams), 0);
	file = xasprintf("%d", fd);
	stream = xasprintf("%d", streams[0]);
	ck_assert_int_eq(inherit(file), 0);
	ck_assert_int_eq(inherit(stream), 0);
	close(streams[0]);
	close(streams[1]);
}
