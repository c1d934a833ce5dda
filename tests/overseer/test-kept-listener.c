/* SPDX-License-Identifier: ISC */

/* The overseer and the socket of the page: the test is the daemon. */

#include "unit.h"

#include <sys/socket.h>

#include "client.h"
#include "http-request.h"
#include "http-server.h"
#include "overseer-private.h"

static struct kept_listener kept;
static int ends[2];

static void
begin(void)
{
	kept = (struct kept_listener)KEPT_LISTENER_INIT;
	ck_assert_int_eq(fd_channel_pair(ends), 0);
}

static void
end(void)
{
	close(ends[0]);
	close(ends[1]);
	kept_listener_release(&kept);
}

/* Takes the descriptor. */
static void
say(const char *text, int fd)
{
	ck_assert_int_eq(fd_channel_send(ends[1], text, fd), 0);
	fd_close(fd);
	kept_listener_drain(&kept, ends[0]);
}

/* A new listener is handed over; its port. */
static unsigned
hand_over(const char *text)
{
	unsigned port = 0;
	int fd = http_listen(NULL, 0, NULL);

	ck_assert_int_eq(http_listens(fd, NULL, &port, NULL), 0);
	say(text, fd);
	return port;
}

/* Somebody else cannot have the port. */
static bool
is_held(unsigned port)
{
	cleanup_fd int fd = http_listen(NULL, port, NULL);

	return fd < 0;
}

TEST(a_listener_goes_from_one_daemon_to_the_next_with_its_text)
{
	char text[FD_CHANNEL_TEXT_SIZE];
	unsigned port, found = 0;
	int fd = -1;

	begin();
	port = hand_over(WEB_KEEP "secret");
	/* The daemon is gone. */
	ck_assert_int_eq(kept_listener_read(&kept, ends[0]), 0);
	close(ends[1]);
	ck_assert_int_lt(kept_listener_read(&kept, ends[0]), 0);
	ck_assert(is_held(port));
	close(ends[0]);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(fd_channel_pair(ends), 0);
		kept_listener_give(&kept, ends[0]);
		ck_assert_int_eq(fd_channel_receive(ends[1], text, &fd), 1);
		ck_assert_str_eq(text, WEB_KEEP "secret");
		ck_assert_int_eq(http_listens(fd, NULL, &found, NULL), 0);
		ck_assert_uint_eq(found, port);
		close(fd);
		close(ends[0]);
		close(ends[1]);
	}
	kept_listener_release(&kept);
	ck_assert(!is_held(port));
}

TEST(a_daemon_gets_nothing_when_nothing_is_kept)
{
	char text[FD_CHANNEL_TEXT_SIZE];
	int fd = -1;

	begin();
	kept_listener_give(&kept, ends[0]);
	ck_assert_int_eq(fd_channel_receive(ends[1], text, &fd), -EAGAIN);
	end();
}

TEST(one_is_kept_and_the_one_before_is_closed)
{
	unsigned first, second;

	begin();
	first = hand_over(WEB_KEEP "a");
	second = hand_over(WEB_KEEP "b");
	ck_assert(!is_held(first));
	ck_assert(is_held(second));
	say(WEB_DROP, -1);
	ck_assert(!is_held(second));
	ck_assert_int_eq(kept.fd, -1);
	say(WEB_DROP, -1);
	end();
}

TEST(what_is_not_understood_changes_nothing)
{
	static const char nonsense[4000];
	unsigned port, other;

	begin();
	port = hand_over(WEB_KEEP "a");
	say("hello", -1);
	say(WEB_KEEP "b", -1);
	other = hand_over("web");
	ck_assert(!is_held(other));
	other = hand_over(WEB_DROP);
	ck_assert(!is_held(other));
	/* Descriptors of other things. */
	say(WEB_KEEP "b", dup(0));
	say(WEB_KEEP "b", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	say(WEB_KEEP "b", dup(ends[0]));
	ck_assert_int_eq(send(ends[1], nonsense, sizeof nonsense, 0),
	    (ssize_t)sizeof nonsense);
	kept_listener_drain(&kept, ends[0]);
	ck_assert(is_held(port));
	ck_assert_str_eq(kept.text, WEB_KEEP "a");
	ck_assert_int_eq(kept.ignored, 8);
	end();
}

TEST(a_daemon_that_does_not_stop_is_not_listened_to)
{
	unsigned port;
	int r = 1, count = 0;

	begin();
	port = hand_over(WEB_KEEP "a");
	for (; r >= 0 && count < 2 * KEPT_LISTENER_MESSAGES; count++) {
		ck_assert_int_eq(fd_channel_send(ends[1], "x", -1), 0);
		r = kept_listener_read(&kept, ends[0]);
	}
	ck_assert_int_eq(count, KEPT_LISTENER_MESSAGES);
	ck_assert(!is_held(port));
	/* The next one is. */
	kept_listener_give(&kept, ends[0]);
	port = hand_over(WEB_KEEP "b");
	ck_assert(is_held(port));
	end();
}

/* One that is started and has no room for it: it makes another one. */
TEST(a_listener_that_cannot_be_handed_on_is_closed)
{
	unsigned port;

	begin();
	port = hand_over(WEB_KEEP "a");
	close(ends[1]);
	kept_listener_give(&kept, ends[0]);
	ck_assert_int_eq(kept.fd, -1);
	ck_assert(!is_held(port));
	ends[1] = -1;
	end();
}
