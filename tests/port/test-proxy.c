/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>

#include "proxy-world.h"
#include "proxy.h"

#define LARGE 1000000

static struct world_proxy proxy;
static unsigned port; /* of the server */
static pid_t server;
static char rule[64];

/* A proxy that allows the server, by its address or by its name. */
static void
begin(const char *host, int echo, int connections)
{
	static const char *rules[] = { rule, "*.below.test:9", NULL };

	net_fake_names();
	server = net_serve(net_listen(&port), echo);
	snprintf(rule, sizeof rule, "%s:%u", host, port);
	world_proxy_begin(rules, connections, &proxy);
}

static void
end(void)
{
	net_end(proxy.pid);
	net_end(server);
}

static int
ask(const char *host, unsigned at)
{
	cleanup_free char *head = xasprintf(
	    "CONNECT %s:%u HTTP/1.1\r\nHost: %s\r\n\r\n", host, at, host);
	int fd = net_connect(proxy.port);

	net_say(fd, head);
	return fd;
}

static void
expect(int fd, const char *status)
{
	cleanup_free char *head = net_head(fd);

	ck_assert_msg(strncmp(head, status, strlen(status)) == 0,
	    "expected %s, got %s", status, head);
}

TEST(a_tunnel_carries_bytes_both_ways_until_both_ends_are_closed)
{
	cleanup_free char *large = xcalloc(1, LARGE + 1);
	cleanup_free char *back = NULL;
	cleanup_fd int fd = -1;

	memset(large, 'x', LARGE);
	large[LARGE / 2] = 'y';
	begin("127.0.0.1", 1, 0);
	fd = ask("127.0.0.1", port);
	expect(fd, "HTTP/1.1 200 ");
	net_say(fd, large);
	/* The server answers when it has seen the end. */
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	back = net_drain(fd);
	ck_assert(strcmp(back, large) == 0);
	end();
}

TEST(what_follows_the_head_at_once_is_not_lost)
{
	cleanup_free char *head = NULL, *back = NULL;
	cleanup_fd int fd = -1;

	begin("127.0.0.1", 1, 0);
	head = xasprintf("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\nearly", port);
	fd = net_connect(proxy.port);
	net_say(fd, head);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	expect(fd, "HTTP/1.1 200 ");
	back = net_drain(fd);
	ck_assert_str_eq(back, "early");
	end();
}

TEST(a_name_is_looked_up_and_reached)
{
	cleanup_fd int fd = -1;

	begin("a.test", 1, 0);
	fd = ask("A.test.", port);
	expect(fd, "HTTP/1.1 200 ");
	end();
}

TEST(a_plain_request_reaches_its_server)
{
	cleanup_free char *head = NULL, *back = NULL;
	cleanup_fd int fd = -1;

	begin("a.test", 0, 0);
	head = xasprintf("GET http://a.test:%u/x HTTP/1.1\r\n"
			 "Proxy-Connection: keep-alive\r\n\r\n",
	    port);
	fd = net_connect(proxy.port);
	net_say(fd, head);
	back = net_drain(fd);
	ck_assert_msg(strstr(back, "GET /x HTTP/1.1\r\nHost: a.test:") == back,
	    "%s", back);
	ck_assert(strstr(back, "Proxy-") == NULL);
	end();
}

TEST(a_host_that_no_rule_allows_is_refused_with_words_and_told)
{
	cleanup_free char *back = NULL;
	char told[64] = "";
	cleanup_fd int fd = -1;

	begin("a.test", 1, 0);
	fd = ask("b.test", 443);
	back = net_drain(fd);
	ck_assert(strncmp(back, "HTTP/1.1 403 ", 13) == 0);
	ck_assert(strstr(back, "b.test:443 is not in sandbox_hosts") != NULL);
	ck_assert_int_eq(read(proxy.refused, told, sizeof told - 1), 11);
	ck_assert_str_eq(told, "b.test:443\n");
	end();
}

TEST(the_loopback_of_the_host_is_refused_unless_it_is_named)
{
	cleanup_fd int a = -1, b = -1, c = -1;
	cleanup_free char *back = NULL;
	char told[64] = "";

	begin("a.test", 1, 0);
	a = ask("127.0.0.1", port);
	expect(a, "HTTP/1.1 403 ");
	b = ask("localhost", port);
	expect(b, "HTTP/1.1 403 ");
	/* Its domain's owner says that it is here. */
	c = ask("x.below.test", 9);
	back = net_drain(c);
	ck_assert(strncmp(back, "HTTP/1.1 403 ", 13) == 0);
	ck_assert_msg(
	    strstr(back,
		"x.below.test:9 is at 127.0.0.1, a loopback address: ") != NULL,
	    "%s", back);
	ck_assert_int_gt(read(proxy.refused, told, sizeof told - 1), 0);
	ck_assert(strstr(told, "x.below.test:9\n") != NULL);
	end();
}

TEST(servers_that_cannot_be_reached_are_said_to_be)
{
	static const char *const rules[] = { "none.example", "127.0.0.1:1",
		NULL };
	cleanup_free char *back = NULL;
	cleanup_fd int a = -1, b = -1;

	net_fake_names();
	world_proxy_begin(rules, 0, &proxy);
	a = ask("none.example", 443);
	back = net_drain(a);
	ck_assert(strstr(back, "none.example has no address") != NULL);
	b = ask("127.0.0.1", 1);
	expect(b, "HTTP/1.1 502 ");
	net_end(proxy.pid);
}

TEST(what_is_no_request_is_answered_and_ended)
{
	cleanup_free char *back = NULL;
	cleanup_fd int fd = -1;

	begin("a.test", 1, 0);
	fd = net_connect(proxy.port);
	net_say(fd, "GET / HTTP/1.1\r\n\r\n");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	back = net_drain(fd);
	ck_assert(strncmp(back, "HTTP/1.1 400 ", 13) == 0);
	end();
}

TEST(the_connection_idle_longest_makes_room_for_a_new_one)
{
	cleanup_fd int a = -1, b = -1, c = -1;
	cleanup_free char *none = NULL, *back = NULL;

	begin("127.0.0.1", 1, 2);
	a = ask("127.0.0.1", port);
	expect(a, "HTTP/1.1 200 ");
	b = net_connect(proxy.port);
	c = ask("127.0.0.1", port);
	/* The first one: its peer hears the end of it. */
	none = net_drain(a);
	ck_assert_str_eq(none, "");
	expect(c, "HTTP/1.1 200 ");
	net_say(c, "still");
	ck_assert_int_eq(shutdown(c, SHUT_WR), 0);
	back = net_drain(c);
	ck_assert_str_eq(back, "still");
	end();
}

TEST(a_socket_that_does_not_listen_is_no_door)
{
	struct loop *loop = loop_new();
	struct proxy_options options = { 0 };
	struct err err = { 0, "" };
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_ptr_null(proxy_new(loop, ends[0], &options, &err));
	ck_assert(err.msg[0] != '\0');
	ck_assert_ptr_null(
	    proxy_new(loop, open("/dev/null", O_RDONLY), &options, &err));
	close(ends[1]);
	loop_free(loop);
}

TEST(addresses_are_read_from_what_getent_prints)
{
	cleanup_strv char **list =
	    resolve_parse("2001:db8::1     STREAM a.example\n"
			  "2001:db8::1     DGRAM\n"
			  "192.0.2.1       STREAM\n192.0.2.1 STREAM\n"
			  "nonsense STREAM\n\nlast");

	ck_assert_uint_eq(strv_count(list), 2);
	ck_assert_str_eq(list[0], "2001:db8::1");
	ck_assert_str_eq(list[1], "192.0.2.1");
	ck_assert_ptr_null(resolve_parse(""));
}
