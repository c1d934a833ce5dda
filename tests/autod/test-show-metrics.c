/* SPDX-License-Identifier: ISC */

/* /metrics of the page: nothing that is not saved. */
#include "team-world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "show.h"
#include "http-request.h"
#include "http-server.h"

static struct show_floor *show;

static bool
is_open(void *arg)
{
	(void)arg;
	return show_web_port(show->web) > 0;
}

static void
begin(void)
{
	team_world_begin("[web]\nenabled = true\n");
	show = show_floor_new(team_world.team, NULL, NULL);
	auto_world_live();
	floor_world_wait(is_open, NULL);
	floor_world_settle();
}

static void
end(void)
{
	show_floor_free(take_ptr(&show));
	team_world_end();
}

/* Ask for them; returns the connection. */
static int
ask(void)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)show_web_port(show->web)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char token[WEB_TOKEN_CHARS + 1];
	cleanup_free char *request = NULL;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(
	    web_files_token(&floor_world.workspace, token, NULL), 0);
	request = xasprintf("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
			    "Authorization: Bearer %s\r\n\r\n",
	    show_web_port(show->web), token);
	ck_assert_int_eq(
	    connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(send(fd, request, strlen(request), MSG_NOSIGNAL),
	    (ssize_t)strlen(request));
	return fd;
}

static bool
has_answer(void *arg)
{
	char byte;

	return recv(*(int *)arg, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

static bool
is_waiting(void *arg)
{
	(void)arg;
	return floor_world_store_waits();
}

TEST(what_is_not_saved_is_not_told)
{
	int fd;

	begin();
	floor_world.store_held = true;
	emit(floor_world.core,
	    &(struct event){ .kind = EVENT_FLEET_RESUMED, .worker = "eve" });
	persist_changed(floor_world.core);
	fd = ask();
	floor_world_wait(is_waiting, NULL);
	ck_assert(!has_answer(&fd));
	floor_world_store_answer();
	floor_world_wait(has_answer, &fd);
	close(fd);
	end();
}

TEST(they_are_told_after_a_while_if_nothing_can_be_saved)
{
	int64_t begun = clock_mono_ms();
	int fd, gone;

	begin();
	floor_world.store_fails = true;
	persist_changed(floor_world.core);
	fd = ask();
	gone = ask(); /* who asks may go away */
	close(gone);
	floor_world_wait(has_answer, &fd);
	ck_assert_int_ge(clock_mono_ms() - begun, 1000);
	close(fd);
	fd = ask(); /* and the daemon may end */
	persist_changed(floor_world.core);
	floor_world.store_fails = false;
	end();
	close(fd);
}
