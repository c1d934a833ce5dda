/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>
#include <sys/un.h>

#include "people.h"
#include "unit.h"

/* A service manager's socket. */
static int
listen_at(const char *name)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	ck_assert_int_ge(fd, 0);
	ck_assert_uint_lt(len, sizeof address.sun_path);
	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
	    0);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

/* What was received; "" for nothing. */
static const char *
heard(int fd, char text[256])
{
	ssize_t n = recv(fd, text, 255, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static int
count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		cleanup_free char *path = xasprintf("/proc/self/fd/%d", fd);

		count += file_exists(path);
	}
	return count;
}

TEST(the_service_manager_hears_every_state)
{
	cleanup_free char *abstract =
	    xasprintf("@llmc-test-notify-%d", (int)getpid());
	const char *const names[] = { unit_path("notify.sock"), abstract };
	char text[256];

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_fd int fd = listen_at(names[i]);
		int before = count_fds();

		notify_service("READY=1\nSTATUS=daemon runs");
		notify_service("WATCHDOG=1");
		notify_service("STOPPING=1");
		ck_assert_str_eq(
		    heard(fd, text), "READY=1\nSTATUS=daemon runs");
		ck_assert_str_eq(heard(fd, text), "WATCHDOG=1");
		ck_assert_str_eq(heard(fd, text), "STOPPING=1");
		ck_assert_str_eq(heard(fd, text), "");
		ck_assert_int_eq(count_fds(), before);
	}
	unsetenv("NOTIFY_SOCKET");
}

TEST(a_manager_that_does_not_listen_holds_nobody_up)
{
	cleanup_fd int fd = listen_at(unit_path("deaf.sock"));
	char text[256];

	/* Far more than fits into the socket; a blocking send would hang. */
	for (int i = 0; i < 10000; i++)
		notify_service("WATCHDOG=1");
	ck_assert_str_eq(heard(fd, text), "WATCHDOG=1");
	fd = fd_close(fd);
	notify_service("WATCHDOG=1"); /* refused */
	unlink(unit_path("deaf.sock"));
	notify_service("WATCHDOG=1"); /* gone */
	unsetenv("NOTIFY_SOCKET");
}

TEST(an_address_that_is_none_is_ignored)
{
	cleanup_free char *longest = xmalloc(200);
	const char *const names[] = { "", "/", "@", "relative.sock",
		"vsock:2:1", longest };

	memset(longest, 'x', 199);
	longest[0] = '/';
	longest[199] = '\0';
	for (size_t i = 0; i < nitems(names); i++) {
		int before = count_fds();

		ck_assert_int_eq(setenv("NOTIFY_SOCKET", names[i], 1), 0);
		notify_service("READY=1");
		ck_assert_int_eq(count_fds(), before);
	}
	unsetenv("NOTIFY_SOCKET");
	notify_service("READY=1");
}

TEST(the_watchdog_wants_half_of_its_time)
{
	cleanup_free char *own = xasprintf("%d", (int)getpid());
	cleanup_free char *other = xasprintf("%d", (int)getppid());
	const struct {
		const char *usec, *pid;
		int64_t want;
	} rows[] = {
		{ NULL, NULL, 0 },
		{ NULL, own, 0 },
		{ "30000000", NULL, 15000 },
		{ "30000000", own, 15000 },
		{ "30000000", other, 0 },
		{ "30000000", "", 0 },
		{ "30000000", "me", 0 },
		{ "1", own, 1 },
		{ "2000", own, 1 },
		{ "4000", own, 2 },
		{ "0", own, 0 },
		{ "-5", own, 0 },
		{ "", own, 0 },
		{ "30s", own, 0 },
		{ "99999999999999999999", own, 0 },
		{ "9223372036854775807", own, INT64_MAX / 2000 },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		unsetenv("WATCHDOG_USEC");
		unsetenv("WATCHDOG_PID");
		if (rows[i].usec != NULL)
			setenv("WATCHDOG_USEC", rows[i].usec, 1);
		if (rows[i].pid != NULL)
			setenv("WATCHDOG_PID", rows[i].pid, 1);
		ck_assert_msg(notify_watchdog_ms() == rows[i].want,
		    "row %zu: %lld", i, (long long)notify_watchdog_ms());
	}
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}
