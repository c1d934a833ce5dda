/* SPDX-License-Identifier: ISC */

/*
 * The listener of the page and its token, through the deaths of daemons and
 * overseers; somebody else who wants the port; who has its descriptor. The
 * rules of single requests: test-web.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base.h"
#include "client.h"
#include "overrun.h"

#define ANSWER_S 60

static int port;
static const char *token;

/* Where it is, as llmc web says. */
static void
find_page(void)
{
	struct json_object *page =
	    e2e_json(e2e_llmc(fleet_root(), "web", "--json", NULL), 0);
	const char *url = json_string_or(page, "url", "");

	port = (int)json_int_or(page, "port", 0);
	token = e2e_path("%s", strrchr(url, '=') + 1);
	json_object_put(page);
	ck_assert_int_gt(port, 0);
	ck_assert_uint_eq(strlen(token), 64);
}

/* The status of an answer; 0 = none came. */
static int
status_of(int at, const char *with)
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path("curl -s --noproxy '*' --max-time 30 -o /dev/null "
		     "-w '%%{http_code}' -H 'Authorization: Bearer %s' "
		     "'http://127.0.0.1:%d/metrics'",
		with, at));

	return (int)strtol(run->out, NULL, 10);
}

/* What somebody else does. -1 = the port is taken. */
static int
try_listen(int at)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)at),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const struct sockaddr *)&a, sizeof a) == 0 &&
	    listen(fd, 8) == 0)
		return fd;
	ck_assert_int_eq(errno, EADDRINUSE);
	close(fd);
	return -1;
}

/* A port that is free now. */
static int
free_port(void)
{
	struct sockaddr_in a;
	socklen_t len = sizeof a;
	cleanup_fd int fd = try_listen(0);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	return ntohs(a.sin_port);
}

/* The port gets free; it may take the overseer a moment. */
static void
wait_free(int at)
{
	auto_wait_shell(e2e_path(
	    "! grep -q ' 0100007F:%04X 00000000:0000 0A ' /proc/net/tcp", at));
}

/* Connect, and ask, without waiting for the answer. */
static int
ask(const char *path)
{
	const struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval deadline = { ANSWER_S, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline),
	    0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_gt(dprintf(fd,
			     "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
			     "Authorization: Bearer %s\r\n\r\n",
			     path, port, token),
	    0);
	return fd;
}

static void
expect_answer(int fd, const char *first)
{
	char bytes[64] = "";

	ck_assert_int_gt(read(fd, bytes, sizeof bytes - 1), 0);
	ck_assert_msg(
	    strncmp(bytes, first, strlen(first)) == 0, "got %s", bytes);
	close(fd);
}

/* Daemons of the overseer wait at the gate before they begin. */
static void
hold_starts(void)
{
	e2e_script(e2e_path("%s/start.sh", unit_scratch()),
	    e2e_path("#!/bin/sh\nif [ -e '%s/hold' ]; then\n%s\nfi\n"
		     "exec llmc up --auto \"$@\"\n",
		unit_scratch(), auto_gate("gap")));
	auto_set("overseer.daemon_command",
	    e2e_path("'%s/start.sh'", unit_scratch()));
}

/* Supervised, with the page; returns the pid of the daemon. */
static int
begin_supervised(void)
{
	int daemon;

	auto_set("web.enabled", "true");
	auto_set("overseer.remediate", "false");
	over_start();
	daemon = over_daemon(0);
	find_page();
	return daemon;
}

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

TEST(under_the_overseer_the_listener_survives_and_who_connects_waits)
{
	const char *old;
	int daemon, at, waits, i;

	hold_starts();
	daemon = begin_supervised();
	at = port;
	old = token;
	e2e_write(e2e_path("%s/hold", unit_scratch()), "");
	fleet_kill(daemon);
	auto_wait_gate("gap");
	/* Nobody is there; nobody else can be. */
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(try_listen(at), -1);
	waits = ask("/metrics");
	auto_open_gate("gap");
	expect_answer(waits, "HTTP/1.1 200 ");
	daemon = over_daemon(daemon);
	find_page();
	ck_assert_int_eq(port, at);
	ck_assert_str_eq(token, old);
	/* And again, from one that had inherited it. */
	ck_assert_int_eq(unlink(e2e_path("%s/hold", unit_scratch())), 0);
	fleet_kill(daemon);
	expect_answer(ask("/metrics"), "HTTP/1.1 200 ");
	over_daemon(daemon);
	ck_assert_int_eq(status_of(at, old), 200);
	over_stop();
	wait_free(at);
}

TEST(a_page_that_is_turned_off_or_moved_is_not_kept)
{
	const char *old;
	int first, second, daemon;

	daemon = begin_supervised();
	first = port;
	old = token;
	second = free_port();
	/* The next program can still say so. */
	fleet_do("restart", NULL);
	auto_set("web.port", e2e_path("%d", second));
	wait_free(first); /* the daemon has read that */
	find_page();
	ck_assert_int_eq(port, second);
	/* The new listener has a token of its own. */
	ck_assert_str_ne(token, old);
	ck_assert_int_eq(status_of(port, old), 401);
	fleet_kill(daemon);
	daemon = over_daemon(daemon);
	ck_assert_int_eq(status_of(port, token), 200);
	auto_set("web.enabled", "false");
	wait_free(second);
	/* While no daemon runs, too. */
	auto_set("web.enabled", "true");
	find_page();
	ck_assert_int_eq(port, second);
	ck_assert_int_eq(kill(over_pid(), SIGSTOP), 0);
	fleet_kill(daemon);
	auto_set("web.enabled", "false");
	ck_assert_int_eq(kill(over_pid(), SIGCONT), 0);
	over_daemon(daemon);
	wait_free(second);
	over_stop();
}

/* 127.0.0.2 stands for what others can reach. */
TEST(a_page_that_others_can_reach_is_not_kept)
{
	const char *file = e2e_path("%s/.llmc/web.token", fleet_root()), *old;
	int daemon = begin_supervised(), at = port;

	auto_set("web.origin", "https://llmc.example");
	auto_set("web.listen", "127.0.0.2");
	wait_free(at);
	find_page();
	old = e2e_read(file);
	fleet_kill(daemon);
	over_daemon(daemon);
	find_page();
	ck_assert_str_ne(e2e_read(file), old);
	over_stop();
}

/* The processes that have a descriptor of what "lsof" would show so. */
static const char *
holders(const char *socket)
{
	return e2e_sh(NULL,
	    e2e_path("for p in /proc/[0-9]*; do\n"
		     "find $p/fd -lname '%s' 2>/dev/null | grep -q . &&\n"
		     "cat $p/comm\ndone | sort | tr '\\n' ' '",
		socket))
	    ->out;
}

static const char *
listener(void)
{
	const char *inode = e2e_sh(NULL,
	    e2e_path("awk '$4 == \"0A\" && $2 == \"0100007F:%04X\" "
		     "{ print $10 }' /proc/net/tcp",
		port))
				->out;

	return e2e_path("socket:\\[%.*s\\]", (int)strcspn(inode, "\n"), inode);
}

static void
expect_holders(int daemon)
{
	const char *channel = e2e_sh(NULL,
	    e2e_path("readlink /proc/%d/fd/9 | sed 's/[][]/\\\\&/g'", daemon))
				  ->out;

	ck_assert_str_eq(holders(listener()), "autod overseer ");
	e2e_has(channel, "socket:");
	ck_assert_str_eq(
	    holders(e2e_path("%.*s", (int)strcspn(channel, "\n"), channel)),
	    "autod ");
}

/* While an agent, its tools, tmux and a check run. */
TEST(no_program_that_is_started_gets_the_listener)
{
	const char *seen = e2e_path("%s/seen", unit_scratch());
	int daemon;

	auto_task("a.md",
	    "Paint\nfake: run env >'%s'; %s\nfake: commit a.txt a\n", seen,
	    auto_gate("work"));
	auto_set("auto.check_command", auto_gate("check"));
	daemon = begin_supervised();
	for (int i = 0; i < 2; i++) {
		auto_wait_gate("work");
		expect_holders(daemon);
		e2e_lacks(e2e_read(seen), FD_CHANNEL_VARIABLE);
		if (i > 0)
			break;
		/* The next one inherits it. */
		fleet_kill(daemon);
		daemon = over_daemon(daemon);
	}
	auto_open_gate("work");
	auto_wait_gate("check");
	expect_holders(daemon);
	auto_open_gate("check");
	auto_wait_landed(1);
	over_stop();
}

TEST(when_the_overseer_is_killed_the_page_goes_on)
{
	const char *old;
	int daemon, at;

	daemon = begin_supervised();
	at = port;
	old = token;
	over_kill9();
	ck_assert_int_eq(status_of(at, old), 200);
	/* Another one takes the daemon over, but has not its listener. */
	over_start();
	ck_assert_int_eq(over_daemon(0), daemon);
	ck_assert_int_eq(status_of(at, old), 200);
	fleet_kill(daemon);
	daemon = over_daemon(daemon);
	find_page();
	ck_assert_str_ne(token, old);
	ck_assert_int_ne(status_of(at, old), 200);
	/* From here on it is kept again. */
	at = port;
	old = token;
	fleet_kill(daemon);
	over_daemon(daemon);
	ck_assert_int_eq(status_of(at, old), 200);
	over_stop();
}

static void
begin_alone(const char *at)
{
	auto_set("web.enabled", "true");
	auto_set("web.port", at);
	fleet_up();
	find_page();
}

TEST(without_an_overseer_a_restart_has_a_new_address)
{
	const char *old;
	int at;

	begin_alone("0");
	at = port;
	old = token;
	fleet_kill(fleet_daemon_pid());
	fleet_up();
	find_page();
	/* What somebody else left in the browser, at the old one, cannot read
	 * the new one. */
	ck_assert_int_ne(port, at);
	ck_assert_str_ne(token, old);
	ck_assert_int_eq(status_of(port, old), 401);
	ck_assert_int_eq(status_of(port, token), 200);
}

TEST(who_takes_the_port_meanwhile_gets_nothing_useful)
{
	cleanup_fd int thief = -1, visit = -1;
	char bytes[1024] = "";
	const char *old;
	int at = free_port();

	begin_alone(e2e_path("%d", at));
	old = token;
	fleet_kill(fleet_daemon_pid());
	thief = try_listen(at);
	ck_assert_int_ge(thief, 0);
	/* A page that is still open sends him its token. */
	close(ask("/view"));
	visit = accept(thief, NULL, NULL);
	ck_assert_int_gt(read(visit, bytes, sizeof bytes - 1), 0);
	e2e_has(bytes, old);
	/* The daemon goes on without the page, and says so, once. */
	fleet_up();
	fleet_fails("(web.port)", "web", NULL);
	fleet_fails(e2e_path("port %d ", at), "web", NULL);
	fleet_fails("llmc config set web.port 0", "web", NULL);
	fleet_add("adam");
	ck_assert_int_eq(auto_logged("autod.log", "(web.port)"), 1);
	/* When he is gone, what he has is worth nothing. */
	thief = fd_close(thief);
	visit = fd_close(visit);
	find_page();
	ck_assert_int_eq(port, at);
	ck_assert_int_eq(status_of(at, old), 401);
	ck_assert_int_eq(status_of(at, token), 200);
}
