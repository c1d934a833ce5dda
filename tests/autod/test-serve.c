/* SPDX-License-Identifier: ISC */

/* The RPC server: which calls reach a handler, and when the answer is sent. */
#include <sys/socket.h>
#include <sys/un.h>

#include "floor-world.h"
#include "rpc.h"
#include "server.h"

/* What a handler of the test was called with, and how it answers. */
struct handler {
	struct core *core;
	int calls;
	size_t params; /* number of members in the last call */
	enum {
		REPLY,
		FAIL,
		REFUSE
	} how;
};

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	struct handler *h = arg;

	h->calls++;
	h->params = (size_t)json_object_object_length(params);
	h->core->state.receipts++;
	persist_changed(h->core);
	if (h->how == REPLY)
		serve_reply(h->core, call, json_object_new_int(h->calls));
	else if (h->how == FAIL)
		serve_fail(h->core, call, API_STATUS, "not in this status");
	else
		serve_refuse(call, API_FAILED, "refused for the %dth time", 1);
}

/* A world that listens, with handlers of the test for auto.resume (params may
 * be missing), task.add (API_ONESHOT) and worker.accept. */
static void
begin(struct handler *h)
{
	static const char *const methods[] = { "auto.resume", "task.add",
		"worker.accept" };

	floor_world_begin(NULL);
	*h = (struct handler){ .core = floor_world.core };
	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(floor_world.core, methods[i], on_call, h);
	floor_world_live();
	floor_world_settle();
}

/* The call is refused with that code and a message that contains this text. */
static void
assert_refused(
    const char *method, const char *params, int code, const char *words)
{
	struct floor_call *call = floor_world_ask(method, params);
	const char *message = floor_world_answer(call);

	ck_assert_msg(message != NULL, "%s was carried out", method);
	ck_assert_msg(
	    strstr(message, words) != NULL, "%s: %s", method, message);
	ck_assert_int_eq(floor_call_code(call), code);
}

static void
assert_served(const char *method, const char *params)
{
	const char *message =
	    floor_world_answer(floor_world_ask(method, params));

	ck_assert_msg(message == NULL, "%s: %s", method, message);
}

/* --- calls ------------------------------------------------------------ */

TEST(unknown_methods)
{
	struct handler h;

	begin(&h);
	assert_refused("worker.fly", "{}", RPC_METHOD_NOT_FOUND,
	    "worker.fly: no such method");
	assert_refused("", "{}", RPC_METHOD_NOT_FOUND, "no such");
}

/* Every row of the table needs a handler. */
TEST(a_row_that_nobody_carries_out)
{
	struct handler h = { 0 };
	const char *missing;

	floor_world_begin(NULL);
	ck_assert_int_eq(serve_listen(floor_world.core, NULL), 0);
	h.core = floor_world.core;
	/* The landing floor, auto mode, goals and oversight are not here. */
	missing = serve_missing(floor_world.core);
	ck_assert_ptr_nonnull(missing);
	assert_refused(missing, "{}", RPC_METHOD_NOT_FOUND, "no such method");
	for (; missing != NULL; missing = serve_missing(floor_world.core)) {
		ck_assert_ptr_nonnull(api_find(missing));
		serve_handle(floor_world.core, missing, on_call, &h);
	}
	assert_served("auto.resume", "{}");
	ck_assert_int_eq(h.calls, 1);
}

TEST_EXIT(70, registered_twice)
{
	floor_world_begin(NULL);
	serve_handle(floor_world.core, "daemon.info", on_call, NULL);
}

TEST_EXIT(70, registered_without_a_row)
{
	floor_world_begin(NULL);
	serve_handle(floor_world.core, "worker.fly", on_call, NULL);
}

TEST(parameters_are_checked_by_name)
{
	struct handler h;

	begin(&h);
	assert_refused("task.add", "{}", RPC_INVALID_PARAMS, "params.text");
	assert_refused(
	    "task.add", "{\"text\":7}", RPC_INVALID_PARAMS, "params.text");
	assert_refused("task.add", "{\"text\":\"x\",\"texts\":\"y\"}",
	    RPC_INVALID_PARAMS, "params.texts");
	assert_refused("task.add", "[\"x\"]", RPC_INVALID_PARAMS, "params");
	ck_assert_int_eq(h.calls, 0);
	assert_served("task.add", "{\"text\":\"x\"}");
	assert_served("auto.resume", "{\"worker\":\"adam\"}");
	ck_assert_int_eq(h.calls, 2);
	ck_assert_uint_eq(h.params, 1);
	/* No params are the same as an empty object. */
	assert_served("auto.resume", NULL);
	ck_assert_uint_eq(h.params, 0);
}

TEST(without_a_daemon)
{
	struct handler h;

	begin(&h);
	floor_world.options.oneshot = true;
	assert_refused("auto.resume", "{}", API_FAILED,
	    "no daemon is running; start it with: llmc up --detach");
	assert_refused(
	    "events.follow", "{}", API_FAILED, "no daemon is running");
	assert_refused("task.add", "{}", RPC_INVALID_PARAMS, "params.text");
	ck_assert_int_eq(h.calls, 0);
	assert_served("task.add", "{\"text\":\"x\"}");
	ck_assert_int_eq(h.calls, 1);
}

TEST(while_it_stops)
{
	struct handler h;

	begin(&h);
	floor_world.core->stopping = true;
	assert_refused("auto.resume", "{}", API_BUSY, "the daemon is stopping");
	assert_refused(
	    "auto.resume", "{\"x\":1}", RPC_INVALID_PARAMS, "params.x");
	assert_refused(
	    "worker.accept", "{\"worker\":\"adam\"}", API_BUSY, "is stopping");
	ck_assert_int_eq(h.calls, 0);
	/* Hooks are served, but not to a person. */
	assert_refused("hook.event",
	    "{\"event\":\"Stop\",\"worker\":\"adam\",\"generation\":1,"
	    "\"id\":\"1\",\"data\":{}}",
	    API_REFUSED, "only the hooks of a worker's session");
}

/* --- the answer ------------------------------------------------------- */

/* What an answer says is already saved in the state. */
TEST_ROWS(answers_wait_for_the_write, 2)
{
	struct handler h;
	struct floor_call *call;

	begin(&h);
	h.how = _i == 0 ? REPLY : FAIL;
	floor_world.store_held = true;
	call = floor_world_ask("auto.resume", "{}");
	floor_world_until(floor_world_store_waits());
	/* Calls that change nothing are served in the meantime, and so are
	 * refusals. */
	assert_served("daemon.info", "{}");
	assert_refused("worker.nuke", "{\"worker\":\"adam\"}", API_UNKNOWN,
	    "there is no worker adam, and there are no others; add one");
	ck_assert(!floor_call_is_answered(call));
	floor_world_store_answer();
	ck_assert((floor_world_answer(call) == NULL) == (_i == 0));
	ck_assert_ptr_nonnull(strstr(floor_world_saved(), "\"receipts\": 1"));
	ck_assert_int_eq(floor_call_code(call), _i == 0 ? 0 : API_STATUS);
	ck_assert_int_eq(h.calls, 1);
}

TEST(a_refusal_waits_for_nothing)
{
	struct handler h;

	begin(&h);
	h.how = REFUSE;
	floor_world.store_held = true;
	assert_refused(
	    "auto.resume", "{}", API_FAILED, "refused for the 1th time");
}

/* A client that has gone, and no client at all. */
TEST(nobody_listens)
{
	struct handler h;

	begin(&h);
	floor_world.store_held = true;
	fd_close(floor_world_send("auto.resume", "{}"));
	floor_world_until(floor_world_store_waits());
	serve_reply(floor_world.core, NULL, json_object_new_int(1));
	serve_fail(floor_world.core, NULL, API_FAILED, "nobody asked");
	floor_world_store_answer();
	floor_world_settle();
	assert_served("auto.resume", "{}");
	ck_assert_int_eq(h.calls, 2);
}

/* The daemon ends before the write is done: waiting callers are answered. */
TEST(the_end_before_the_write)
{
	struct handler h;
	struct floor_call *call;

	begin(&h);
	floor_world.store_held = true;
	call = floor_world_ask("auto.resume", "{}");
	floor_world_until(floor_world_store_waits());
	floor_world_close();
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_int_eq(json_object_get_int(floor_call_result(call)), 1);
}

/* --- doors ------------------------------------------------------------ */

#define NEIGHBOUR 32 /* connections; as many as one process may have */

static int
dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strlcpy(a.sun_path, path, sizeof a.sun_path);
	return connect(fd, (struct sockaddr *)&a, sizeof a) == 0 ? fd : -1;
}

/* Another process: it connects, and at a word exits with the number of its
 * connections that were dropped. */
static void
be_neighbour(const char *path, int ready, int go)
{
	struct pollfd fds[NEIGHBOUR];
	char c;

	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = (struct pollfd){ .fd = dial(path), .events = POLLIN };
		if (fds[i].fd == -1)
			_exit(100);
	}
	if (write(ready, "", 1) != 1 || read(go, &c, 1) != 1)
		_exit(101);
	_exit(poll(fds, nitems(fds), 0));
}

/* How many connections of a process are dropped for one more. */
static int
dropped_at(const char *path)
{
	int ready[2], go[2], status;
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_neighbour(path, ready[1], go[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	floor_world_answer(floor_world_ask_at(path, "daemon.info", "{}"));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	for (int i = 0; i < 2; i++) {
		fd_close(ready[i]);
		fd_close(go[i]);
	}
	return WEXITSTATUS(status);
}

TEST(a_worker_has_few_connections)
{
	cleanup_free char *door = NULL;
	struct handler h;

	begin(&h);
	floor_world_add("adam", WORKER_WORKING);
	ck_assert_int_eq(serve_open_socket(floor_world.core, "adam", NULL), 0);
	door = run_dir_socket(&floor_world.workspace, "adam");
	ck_assert_int_eq(dropped_at(door), 1);
	ck_assert_int_eq(dropped_at(floor_world.core->socket), 0);
}

/* What a tool was told about its caller. */
static void
on_tool(void *arg, struct server_call *call, struct json_object *params)
{
	struct buf *told = arg;

	buf_addf(told, "%s:%s ", json_string_or(params, "worker", "-"),
	    json_string_or(params, "call", "-"));
	server_reply(call, json_object_new_object());
}

TEST(a_tool_acts_for_the_socket_whatever_the_call_says)
{
	static const char *const said[] = { "{}", "{\"worker\":\"eve\"}",
		"{\"worker\":\"eve\",\"call\":\"1/toolu_x\"}",
		"{\"call\":\"eve/1/toolu_x\"}" };
	cleanup_free char *door = NULL;
	cleanup_buf struct buf told = BUF_INIT;

	floor_world_begin(NULL);
	serve_handle(floor_world.core, "team.mail_inbox", on_tool, &told);
	floor_world_live();
	floor_world_settle();
	floor_world_add("adam", WORKER_WORKING);
	ck_assert_int_eq(serve_open_socket(floor_world.core, "adam", NULL), 0);
	door = run_dir_socket(&floor_world.workspace, "adam");
	for (size_t i = 0; i < nitems(said); i++)
		ck_assert_ptr_null(floor_world_answer(
		    floor_world_ask_at(door, "team.mail_inbox", said[i])));
	ck_assert_str_eq(told.data,
	    "adam:- adam:- adam:adam/1/toolu_x adam:adam/eve/1/toolu_x ");
	/* At the people's there is nobody to act for. */
	ck_assert_ptr_nonnull(floor_world_answer(
	    floor_world_ask("team.mail_inbox", "{\"worker\":\"adam\"}")));
}
