/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "client.h"
#include "rpc.h"
#include "server.h"
#include "workspace.h"

#define LONG_MS  20000
#define SHORT_MS 50

/* A listener that nobody serves. */
static int
listen_at(const char *path, int backlog)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	strlcpy(a.sun_path, path, sizeof a.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	return fd;
}

/* Read one request. */
static void
read_request(int fd, struct buf *text)
{
	char byte;

	while (read(fd, &byte, 1) == 1 && byte != '\n')
		buf_addc(text, byte);
}

/* A process that accepts one call and sends a given answer. */
static pid_t
answer_with(int listener, const char *bytes, size_t len)
{
	pid_t pid = fork();
	struct buf text = BUF_INIT;
	int fd;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	alarm(60); /* in case nobody calls */
	fd = accept(listener, NULL, NULL);
	read_request(fd, &text);
	file_write_all(fd, bytes, len);
	_exit(0);
}

static void
reap(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static int
call(const char *path, int64_t ms, struct json_object **ret, struct err *err)
{
	return client_call(path, "ping", NULL, ms, true, ret, NULL, err);
}

/* One call to a peer that answers like this. */
static int
ask(const char *name, const char *answer, struct json_object **ret_result,
    int *ret_code, struct err *err)
{
	const char *path = unit_path(name);
	int r, listener = listen_at(path, 5);
	pid_t pid = answer_with(listener, answer, strlen(answer));

	r = client_call(
	    path, "ping", NULL, LONG_MS, true, ret_result, ret_code, err);
	reap(pid);
	fd_close(listener);
	ck_assert_int_eq(unlink(path), 0);
	return r;
}

static void
serve(struct server_call *c, const char *method, struct json_object *params,
    void *arg)
{
	(void)arg;
	if (strcmp(method, "echo") == 0)
		server_reply(c, json_object_get(params));
	else
		server_fail(c, RPC_METHOD_NOT_FOUND, "no such method", NULL);
}

static void
stop_reading(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	loop_stop(arg, 0);
}

struct host {
	pid_t pid;
	int leash; /* closed: the process ends */
	const char *path;
};

/* The real server in its own process. */
static void
host_begin(struct host *host, const char *name)
{
	int leash[2], ready[2];
	struct loop *loop;
	struct server *server;
	char byte;

	host->path = unit_path(name);
	ck_assert_int_eq(pipe(leash), 0);
	ck_assert_int_eq(pipe(ready), 0);
	host->pid = fork();
	ck_assert_int_ge(host->pid, 0);
	if (host->pid == 0) {
		fd_close(leash[1]);
		loop = loop_new();
		if (server_new(loop, host->path, serve, NULL, &server, NULL) <
		    0)
			_exit(1);
		loop_watch_new(loop, leash[0], LOOP_READ, stop_reading, loop);
		fd_close(ready[1]);
		loop_run(loop);
		server_free(server);
		_exit(0);
	}
	fd_close(leash[0]);
	fd_close(ready[1]);
	host->leash = leash[1];
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	fd_close(ready[0]);
}

static void
host_end(struct host *host)
{
	fd_close(host->leash);
	reap(host->pid);
	ck_assert(!file_exists(host->path));
}

TEST(asks_the_server)
{
	cleanup_json struct json_object *params = NULL, *result = NULL,
					*none = NULL;
	struct err err = { 0, "" };
	struct host host;
	int code = 0;

	ck_assert_int_eq(
	    json_parse("{\"a\":[1,2]}", 11, 100, &params, NULL), 0);
	host_begin(&host, "server");
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(client_call(host.path, "echo", params, LONG_MS,
				     true, &result, &code, &err),
		    0);
		ck_assert(json_object_equal(result, params));
		json_object_put(take_ptr(&result));
	}
	ck_assert_int_eq(client_call(host.path, "echo", NULL, LONG_MS, true,
			     &none, NULL, NULL),
	    0);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(client_call(host.path, "dance", NULL, LONG_MS, true,
			     &none, &code, &err),
	    -EPROTO);
	ck_assert_int_eq(code, RPC_METHOD_NOT_FOUND);
	ck_assert_int_eq(err.code, -EPROTO);
	ck_assert_str_eq(err.msg, "no such method");
	host_end(&host);
}

TEST(large_messages_pass)
{
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_json struct json_object *result = NULL;
	cleanup_free char *text = xmalloc(3000001);
	struct host host;

	memset(text, 'a', 3000000);
	text[3000000] = '\0';
	json_set_string(params, "text", text);
	host_begin(&host, "large");
	ck_assert_int_eq(client_call(host.path, "echo", params, LONG_MS, true,
			     &result, NULL, NULL),
	    0);
	ck_assert(json_object_equal(result, params));
	host_end(&host);
}

TEST(a_request_too_long_is_not_sent)
{
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_free char *text = xmalloc(RPC_LINE_MAX + 1);
	struct err err;

	memset(text, 'a', RPC_LINE_MAX);
	text[RPC_LINE_MAX] = '\0';
	json_set_string(params, "text", text);
	ck_assert_int_eq(client_call(unit_path("none"), "echo", params, LONG_MS,
			     true, NULL, NULL, &err),
	    -E2BIG);
}

TEST(nobody_listens)
{
	const char *path = unit_path("nobody");
	struct err err = { 0, "" };

	ck_assert_int_eq(call(path, LONG_MS, NULL, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc up"));
	ck_assert_int_eq(err.code, -ENOENT);
	fd_close(listen_at(path, 5));
	ck_assert_int_eq(call(path, LONG_MS, NULL, &err), -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc up"));
}

TEST(an_impossible_path_is_refused)
{
	char path[200];

	memset(path, 'a', sizeof path);
	path[sizeof path - 1] = '\0';
	ck_assert_int_eq(call(path, LONG_MS, NULL, NULL), -ENAMETOOLONG);
}

TEST(silence_ends_at_the_deadline)
{
	struct json_object *result = NULL;
	const char *path = unit_path("silent");
	int listener = listen_at(path, 5);
	int64_t began = clock_mono_ms();

	ck_assert_int_eq(call(path, SHORT_MS, &result, NULL), -ETIMEDOUT);
	ck_assert_int_ge(clock_mono_ms() - began, SHORT_MS);
	ck_assert_int_lt(clock_mono_ms() - began, LONG_MS);
	ck_assert_int_eq(call(path, 0, &result, NULL), -ETIMEDOUT);
	ck_assert_int_eq(call(path, -1000, &result, NULL), -ETIMEDOUT);
	ck_assert_ptr_null(result);
	fd_close(listener);
}

TEST(a_crowd_at_the_door_ends_at_the_deadline)
{
	const char *path = unit_path("crowd");
	int listener = listen_at(path, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t began;

	strlcpy(a.sun_path, path, sizeof a.sun_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	began = clock_mono_ms();
	ck_assert_int_eq(call(path, SHORT_MS, NULL, NULL), -ETIMEDOUT);
	ck_assert_int_ge(clock_mono_ms() - began, SHORT_MS - 5);
	ck_assert_int_lt(clock_mono_ms() - began, LONG_MS);
	fd_close(fd);
	fd_close(listener);
}

TEST(a_peer_that_does_not_read_ends_at_the_deadline)
{
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_free char *text = xmalloc(3000001);
	const char *path = unit_path("deaf");
	int listener = listen_at(path, 5);

	memset(text, 'a', 3000000);
	text[3000000] = '\0';
	json_set_string(params, "text", text);
	ck_assert_int_eq(client_call(path, "echo", params, SHORT_MS, false,
			     NULL, NULL, NULL),
	    -ETIMEDOUT);
	fd_close(listener);
}

TEST(a_notification_waits_for_nothing)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *path = unit_path("notification");
	int fd, listener = listen_at(path, 5);

	ck_assert_int_eq(
	    client_call(path, "ping", NULL, LONG_MS, false, NULL, NULL, NULL),
	    0);
	fd = accept(listener, NULL, NULL);
	read_request(fd, &text);
	ck_assert_str_eq(
	    text.data, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}");
	fd_close(fd);
	fd_close(listener);
}

TEST(a_peer_that_hangs_up_is_named)
{
	struct json_object *result = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(ask("hangup", "", &result, NULL, &err), -ECONNRESET);
	ck_assert_ptr_nonnull(strstr(err.msg, "closed the connection"));
	ck_assert_int_eq(ask("part", "{\"jsonrpc\":\"2.0\",\"id\":1,\"res",
			     &result, NULL, &err),
	    -ECONNRESET);
	ck_assert_ptr_null(result);
}

TEST(only_its_own_answer_counts)
{
	cleanup_json struct json_object *result = NULL;
	int code = 0;

	ck_assert_int_eq(
	    ask("own",
		"{\"jsonrpc\":\"2.0\",\"method\":\"news\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"other\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":\"text\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":"
		"{\"code\":1,\"message\":\"other\"}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"mine\"}\n",
		&result, &code, NULL),
	    0);
	ck_assert_str_eq(json_object_get_string(result), "mine");
	ck_assert_int_eq(code, 0);
}

TEST(an_error_without_id_is_an_answer)
{
	struct err err = { 0, "" };
	int code = 0;

	ck_assert_int_eq(ask("no-id",
			     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
			     "{\"code\":-32700,\"message\":\"eh?\"}}\n",
			     NULL, &code, &err),
	    -EPROTO);
	ck_assert_int_eq(code, -32700);
	ck_assert_str_eq(err.msg, "eh?");
}

TEST(nonsense_is_no_answer)
{
	static const char *const rows[] = { "hello\n", "[]\n", "{}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1}\n" };
	struct json_object *result = NULL;
	struct err err = { 0, "" };
	int code = 5;

	for (size_t i = 0; i < nitems(rows); i++) {
		ck_assert_int_eq(
		    ask("nonsense", rows[i], &result, &code, &err), -EBADMSG);
		ck_assert_int_eq(err.code, -EBADMSG);
	}
	ck_assert_ptr_null(result);
	ck_assert_int_eq(code, 5);
}

TEST(an_endless_answer_is_refused)
{
	cleanup_free char *text = xmalloc(RPC_LINE_MAX + 2);
	const char *path = unit_path("endless");
	int listener = listen_at(path, 5);
	pid_t pid;

	memset(text, 'a', RPC_LINE_MAX + 1);
	text[RPC_LINE_MAX + 1] = '\0';
	pid = answer_with(listener, text, RPC_LINE_MAX + 1);
	ck_assert_int_eq(call(path, LONG_MS, NULL, NULL), -EBADMSG);
	reap(pid);
	fd_close(listener);
}

TEST(another_users_socket_is_refused)
{
	const char *path = unit_path("stranger");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct err err = { 0, "" };
	int listener;

	if (geteuid() != 0)
		unit_skip("only root can be somebody else");
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strlcpy(a.sun_path, path, sizeof a.sun_path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(listen(listener, 5), 0);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(call(path, LONG_MS, NULL, &err), -EACCES);
	ck_assert_ptr_nonnull(strstr(err.msg, "65534"));
	fd_close(listener);
}

TEST(the_socket_is_beside_the_state)
{
	char root[] = "/r", dir[] = "/r/.llmc";
	struct workspace ws = { .root = root, .dir = dir };
	cleanup_free char *path = client_socket_path(&ws);

	ck_assert_str_eq(path, "/r/.llmc/autod.sock");
}

static char *
path_of_long_root(const char *runtime, char last)
{
	char root[120];
	struct workspace ws = { .root = root, .dir = root };

	memset(root, 'r', sizeof root - 1);
	root[0] = '/';
	root[sizeof root - 2] = last;
	root[sizeof root - 1] = '\0';
	if (runtime == NULL)
		unsetenv("XDG_RUNTIME_DIR");
	else
		setenv("XDG_RUNTIME_DIR", runtime, 1);
	return client_socket_path(&ws);
}

TEST(a_long_root_has_its_socket_elsewhere)
{
	const char *old = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *kept = old != NULL ? xstrdup(old) : NULL;
	cleanup_free char *a = path_of_long_root(unit_scratch(), 'a');
	cleanup_free char *again = path_of_long_root(unit_scratch(), 'a');
	cleanup_free char *b = path_of_long_root(unit_scratch(), 'b');
	cleanup_free char *none = path_of_long_root(NULL, 'a');
	cleanup_free char *relative = path_of_long_root("here", 'a');
	cleanup_free char *gone = path_of_long_root("/no/such/dir", 'a');

	ck_assert_ptr_nonnull(strstr(a, unit_scratch()));
	ck_assert_str_eq(a, again);
	ck_assert_str_ne(a, b);
	ck_assert_int_lt(strlen(a), 108);
	ck_assert(strncmp(none, "/tmp/llmc-", 10) == 0);
	ck_assert_str_eq(none, relative);
	ck_assert_str_eq(none, gone);
	if (kept != NULL)
		setenv("XDG_RUNTIME_DIR", kept, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
}
