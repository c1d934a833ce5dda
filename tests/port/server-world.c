/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>
#include <sys/un.h>

#include "rpc.h"
#include "server-world.h"
#include "server.h"

struct world w;

static void
guard_fired(void *arg)
{
	(void)arg;
	ck_abort_msg("what the test waits for did not happen");
}

struct json_object *
long_text(int64_t len)
{
	cleanup_free char *text = xmalloc((size_t)len + 1);

	memset(text, 'x', (size_t)len);
	text[len] = '\0';
	return json_object_new_string(text);
}

static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	(void)arg;
	buf_addf(&w.trace, "%s ", method);
	if (strcmp(method, "park") == 0)
		w.parked[w.count++] = call;
	else if (strcmp(method, "echo") == 0)
		server_reply(call, json_object_get(params));
	else if (strcmp(method, "long") == 0)
		server_reply(call, long_text(json_int_or(params, "n", 0)));
	else if (strcmp(method, "quit") == 0) {
		server_free(take_ptr(&w.server));
		server_reply(call, NULL);
	} else
		server_fail(call, RPC_METHOD_NOT_FOUND, "what?",
		    json_object_new_string(method));
}

void
world_begin(const char *name)
{
	memset(&w, 0, sizeof w);
	unit_at_end(world_end);
	buf_init(&w.trace);
	clock_virtual_begin(1000000, 1000000);
	w.loop = loop_new();
	w.guard = loop_after(w.loop, 3600 * 1000, guard_fired, NULL);
	w.path = unit_path(name);
	ck_assert_int_eq(
	    server_new(w.loop, w.path, serve, &w, &w.server, NULL), 0);
}

void
world_end(void)
{
	if (w.loop == NULL)
		return;
	server_free(w.server);
	for (int i = 0; i < w.count; i++)
		server_reply(w.parked[i], NULL);
	loop_timer_free(w.guard);
	loop_free(take_ptr(&w.loop));
	buf_release(&w.trace);
	clock_virtual_end();
}

int
dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	strlcpy(a.sun_path, path, sizeof a.sun_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

void
say(int fd, const char *text)
{
	ck_assert_int_eq(
	    send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

struct ear {
	struct world *w;
	struct buf *text;
	int lines;
};

static void
ear_readable(int fd, unsigned what, void *arg)
{
	struct ear *ear = arg;
	char bytes[65536];
	ssize_t n = recv(fd, bytes, sizeof bytes, 0);

	(void)what;
	if (n == -1 && errno == EAGAIN)
		return;
	for (ssize_t i = 0; i < n; i++)
		ear->lines -= bytes[i] == '\n';
	if (n > 0)
		buf_add(ear->text, bytes, (size_t)n);
	if (n <= 0)
		buf_adds(ear->text, "EOF");
	if (n <= 0 || ear->lines <= 0)
		loop_stop(ear->w->loop, 0);
}

char *
hear(int fd, int lines)
{
	struct buf text = BUF_INIT;
	struct ear ear = { .w = &w, .text = &text, .lines = lines };
	struct loop_watch *watch =
	    loop_watch_new(w.loop, fd, LOOP_READ, ear_readable, &ear);

	ck_assert_ptr_nonnull(watch);
	loop_run(w.loop);
	loop_watch_free(watch);
	return buf_take(&text);
}

void
expect(int fd, const char *want)
{
	cleanup_free char *text = NULL;
	int lines = 0;

	for (const char *s = want; *s != '\0'; s++)
		lines += *s == '\n';
	if (strstr(want, "EOF") != NULL)
		lines++;
	text = hear(fd, lines);
	ck_assert_str_eq(text, want);
}

static void
stop(void *arg)
{
	(void)arg;
	loop_stop(w.loop, 0);
}

void
pass(int64_t ms)
{
	struct loop_timer *timer = loop_after(w.loop, ms, stop, &w);

	loop_run(w.loop);
	loop_timer_free(timer);
}

struct mouth {
	struct world *w;
	const char *at;
	size_t left;
};

static void
mouth_writable(int fd, unsigned what, void *arg)
{
	struct mouth *mouth = arg;
	ssize_t n = send(fd, mouth->at, mouth->left, MSG_NOSIGNAL);

	(void)what;
	ck_assert(n > 0 || errno == EAGAIN);
	if (n > 0) {
		mouth->at += n;
		mouth->left -= (size_t)n;
	}
	if (mouth->left == 0)
		loop_stop(mouth->w->loop, 0);
}

void
say_long(int fd, const struct buf *text)
{
	struct mouth mouth = { .w = &w, .at = text->data, .left = text->len };
	struct loop_watch *watch =
	    loop_watch_new(w.loop, fd, LOOP_WRITE, mouth_writable, &mouth);

	loop_run(w.loop);
	loop_watch_free(watch);
}

int
world_try(const char *path, struct err *err)
{
	struct server *server = NULL;
	int r = server_new(w.loop, path, serve, &w, &server, err);

	ck_assert(r < 0 || server != NULL);
	server_free(server);
	return r;
}

int
world_calls(const char *method)
{
	int count = 0;

	for (const char *s = w.trace.data; (s = strstr(s, method)) != NULL; s++)
		count++;
	return count;
}
