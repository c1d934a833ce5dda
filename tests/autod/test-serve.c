/* SPDX-License-Identifier: ISC */

/* The RPC server: which calls reach a handler, and when the answer is sent. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor-world.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "rpc.h"
#include "run-dir.h"
#include "serve.h"
#include "server.h"
#include "unit.h"

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
begin(struct floor_world *world, struct handler *h)
{
	static const char *const methods[] = { "auto.resume", "task.add",
		"worker.accept" };

	floor_world_begin(world, NULL);
	*h = (struct handler){ .core = world->core };
	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(world->core, methods[i], on_call, h);
	floor_world_live(world);
	floor_world_settle(world);
}

/* The call is refused with that code and a message that contains this text. */
static void
assert_refused(struct floor_world *world, const char *method,
    const char *params, int code, const char *words)
{
	struct floor_call *call = floor_world_ask(world, method, params);
	const char *message = floor_world_answer(world, call);

	ck_assert_msg(message != NULL, "%s was carried out", method);
	ck_assert_msg(
	    strstr(message, words) != NULL, "%s: %s", method, message);
	ck_assert_int_eq(floor_call_code(call), code);
}

static void
assert_served(struct floor_world *world, const char *method, const char *params)
{
	const char *message =
	    floor_world_answer(world, floor_world_ask(world, method, params));

	ck_assert_msg(message == NULL, "%s: %s", method, message);
}

/* --- calls ------------------------------------------------------------ */

START_TEST(unknown_methods)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	assert_refused(&world, "worker.fly", "{}", RPC_METHOD_NOT_FOUND,
	    "worker.fly: no such method");
	assert_refused(&world, "", "{}", RPC_METHOD_NOT_FOUND, "no such");
	floor_world_end(&world);
}
END_TEST

/* Every row of the table needs a handler. */
START_TEST(a_row_that_nobody_carries_out)
{
	struct floor_world world;
	struct handler h = { 0 };
	const char *missing;

	floor_world_begin(&world, NULL);
	ck_assert_int_eq(serve_listen(world.core, NULL), 0);
	h.core = world.core;
	/* The landing floor, auto mode, goals and oversight are not here. */
	missing = serve_missing(world.core);
	ck_assert_ptr_nonnull(missing);
	assert_refused(
	    &world, missing, "{}", RPC_METHOD_NOT_FOUND, "no such method");
	for (; missing != NULL; missing = serve_missing(world.core)) {
		ck_assert_ptr_nonnull(api_find(missing));
		serve_handle(world.core, missing, on_call, &h);
	}
	assert_served(&world, "auto.resume", "{}");
	ck_assert_int_eq(h.calls, 1);
	floor_world_end(&world);
}
END_TEST

START_TEST(registered_twice)
{
	struct floor_world world;

	floor_world_begin(&world, NULL);
	serve_handle(world.core, "daemon.info", on_call, NULL);
}
END_TEST

START_TEST(registered_without_a_row)
{
	struct floor_world world;

	floor_world_begin(&world, NULL);
	serve_handle(world.core, "worker.fly", on_call, NULL);
}
END_TEST

START_TEST(parameters_are_checked_by_name)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	assert_refused(
	    &world, "task.add", "{}", RPC_INVALID_PARAMS, "params.text");
	assert_refused(&world, "task.add", "{\"text\":7}", RPC_INVALID_PARAMS,
	    "params.text");
	assert_refused(&world, "task.add", "{\"text\":\"x\",\"texts\":\"y\"}",
	    RPC_INVALID_PARAMS, "params.texts");
	assert_refused(
	    &world, "task.add", "[\"x\"]", RPC_INVALID_PARAMS, "params");
	ck_assert_int_eq(h.calls, 0);
	assert_served(&world, "task.add", "{\"text\":\"x\"}");
	assert_served(&world, "auto.resume", "{\"worker\":\"adam\"}");
	ck_assert_int_eq(h.calls, 2);
	ck_assert_uint_eq(h.params, 1);
	/* No params are the same as an empty object. */
	assert_served(&world, "auto.resume", NULL);
	ck_assert_uint_eq(h.params, 0);
	floor_world_end(&world);
}
END_TEST

START_TEST(without_a_daemon)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	world.options.oneshot = true;
	assert_refused(&world, "auto.resume", "{}", API_FAILED,
	    "no daemon is running; start it with: llmc up --detach");
	assert_refused(
	    &world, "events.follow", "{}", API_FAILED, "no daemon is running");
	assert_refused(
	    &world, "task.add", "{}", RPC_INVALID_PARAMS, "params.text");
	ck_assert_int_eq(h.calls, 0);
	assert_served(&world, "task.add", "{\"text\":\"x\"}");
	ck_assert_int_eq(h.calls, 1);
	floor_world_end(&world);
}
END_TEST

START_TEST(while_it_stops)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	world.core->stopping = true;
	assert_refused(
	    &world, "auto.resume", "{}", API_BUSY, "the daemon is stopping");
	assert_refused(
	    &world, "auto.resume", "{\"x\":1}", RPC_INVALID_PARAMS, "params.x");
	assert_refused(&world, "worker.accept", "{\"worker\":\"adam\"}",
	    API_BUSY, "is stopping");
	ck_assert_int_eq(h.calls, 0);
	/* Hooks are served, but not to a person. */
	assert_refused(&world, "hook.event",
	    "{\"event\":\"Stop\",\"worker\":\"adam\",\"generation\":1,"
	    "\"id\":\"1\",\"data\":{}}",
	    API_REFUSED, "only the hooks of a worker's session");
	floor_world_end(&world);
}
END_TEST

/* --- the answer ------------------------------------------------------- */

static bool
store_waits(void *arg)
{
	return floor_world_store_waits(arg);
}

/* What an answer says is already saved in the state. */
START_TEST(answers_wait_for_the_write)
{
	struct floor_world world;
	struct handler h;
	struct floor_call *call;

	begin(&world, &h);
	h.how = _i == 0 ? REPLY : FAIL;
	world.store_held = true;
	call = floor_world_ask(&world, "auto.resume", "{}");
	floor_world_wait(&world, store_waits, &world);
	/* Calls that change nothing are served in the meantime, and so are
	 * refusals. */
	assert_served(&world, "daemon.info", "{}");
	assert_refused(&world, "worker.nuke", "{\"worker\":\"adam\"}",
	    API_UNKNOWN,
	    "there is no worker adam, and there are no others; add one");
	ck_assert(!floor_call_is_answered(call));
	floor_world_store_answer(&world);
	ck_assert((floor_world_answer(&world, call) == NULL) == (_i == 0));
	ck_assert_ptr_nonnull(
	    strstr(floor_world_saved(&world), "\"receipts\": 1"));
	ck_assert_int_eq(floor_call_code(call), _i == 0 ? 0 : API_STATUS);
	ck_assert_int_eq(h.calls, 1);
	floor_world_end(&world);
}
END_TEST

START_TEST(a_refusal_waits_for_nothing)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	h.how = REFUSE;
	world.store_held = true;
	assert_refused(&world, "auto.resume", "{}", API_FAILED,
	    "refused for the 1th time");
	floor_world_end(&world);
}
END_TEST

/* A client that has gone, and no client at all. */
START_TEST(nobody_listens)
{
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	world.store_held = true;
	fd_close(floor_world_send(&world, "auto.resume", "{}"));
	floor_world_wait(&world, store_waits, &world);
	serve_reply(world.core, NULL, json_object_new_int(1));
	serve_fail(world.core, NULL, API_FAILED, "nobody asked");
	floor_world_store_answer(&world);
	floor_world_settle(&world);
	assert_served(&world, "auto.resume", "{}");
	ck_assert_int_eq(h.calls, 2);
	floor_world_end(&world);
}
END_TEST

/* The daemon ends before the write is done: waiting callers are answered. */
START_TEST(the_end_before_the_write)
{
	struct floor_world world;
	struct handler h;
	struct floor_call *call;

	begin(&world, &h);
	world.store_held = true;
	call = floor_world_ask(&world, "auto.resume", "{}");
	floor_world_wait(&world, store_waits, &world);
	floor_world_close(&world);
	ck_assert_ptr_null(floor_world_answer(&world, call));
	ck_assert_int_eq(json_object_get_int(floor_call_result(call)), 1);
	floor_world_end(&world);
}
END_TEST

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
dropped_at(struct floor_world *world, const char *path)
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
	floor_world_answer(
	    world, floor_world_ask_at(world, path, "daemon.info", "{}"));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	for (int i = 0; i < 2; i++) {
		fd_close(ready[i]);
		fd_close(go[i]);
	}
	return WEXITSTATUS(status);
}

START_TEST(a_worker_has_few_connections)
{
	cleanup_free char *door = NULL;
	struct floor_world world;
	struct handler h;

	begin(&world, &h);
	floor_world_add(&world, "adam", WORKER_WORKING);
	ck_assert_int_eq(serve_open_door(world.core, "adam", NULL), 0);
	door = run_dir_socket(&world.workspace, "adam");
	ck_assert_int_eq(dropped_at(&world, door), 1);
	ck_assert_int_eq(dropped_at(&world, world.core->socket), 0);
	floor_world_end(&world);
}
END_TEST

/* What a tool was told about its caller. */
static void
on_tool(void *arg, struct server_call *call, struct json_object *params)
{
	struct buf *told = arg;

	buf_addf(told, "%s:%s ", json_string_or(params, "worker", "-"),
	    json_string_or(params, "call", "-"));
	server_reply(call, json_object_new_object());
}

START_TEST(a_tool_acts_for_the_socket_whatever_the_call_says)
{
	static const char *const said[] = { "{}", "{\"worker\":\"eve\"}",
		"{\"worker\":\"eve\",\"call\":\"1/toolu_x\"}",
		"{\"call\":\"eve/1/toolu_x\"}" };
	cleanup_free char *door = NULL;
	cleanup_buf struct buf told = BUF_INIT;
	struct floor_world world;

	floor_world_begin(&world, NULL);
	serve_handle(world.core, "team.mail_inbox", on_tool, &told);
	floor_world_live(&world);
	floor_world_settle(&world);
	floor_world_add(&world, "adam", WORKER_WORKING);
	ck_assert_int_eq(serve_open_door(world.core, "adam", NULL), 0);
	door = run_dir_socket(&world.workspace, "adam");
	for (size_t i = 0; i < nitems(said); i++)
		ck_assert_ptr_null(floor_world_answer(&world,
		    floor_world_ask_at(
			&world, door, "team.mail_inbox", said[i])));
	ck_assert_str_eq(told.data,
	    "adam:- adam:- adam:adam/1/toolu_x adam:adam/eve/1/toolu_x ");
	/* At the people's there is nobody to act for. */
	ck_assert_ptr_nonnull(floor_world_answer(&world,
	    floor_world_ask(
		&world, "team.mail_inbox", "{\"worker\":\"adam\"}")));
	floor_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("serve");
	TCase *late = tcase_create("late"), *fatal = tcase_create("fatal");
	const char *fork_mode = getenv("CK_FORK");

	unit_case(suite, "checks",
	    (const TTest *const[]){ unknown_methods,
		a_row_that_nobody_carries_out, parameters_are_checked_by_name,
		without_a_daemon, while_it_stops, NULL });
	tcase_add_loop_test(late, answers_wait_for_the_write, 0, 2);
	suite_add_tcase(suite, late);
	unit_case(suite, "answers",
	    (const TTest *const[]){ a_refusal_waits_for_nothing, nobody_listens,
		the_end_before_the_write, NULL });
	unit_case(suite, "doors",
	    (const TTest *const[]){ a_worker_has_few_connections,
		a_tool_acts_for_the_socket_whatever_the_call_says, NULL });
	/* Not if the test would end the whole program. */
	if (fork_mode == NULL || strcmp(fork_mode, "no") != 0) {
		tcase_add_exit_test(fatal, registered_twice, 70);
		tcase_add_exit_test(fatal, registered_without_a_row, 70);
	}
	suite_add_tcase(suite, fatal);
	return suite;
}
