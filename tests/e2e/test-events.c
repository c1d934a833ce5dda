/* SPDX-License-Identifier: ISC */

/*
 * llmc log --follow, with the test acting as the daemon: what comes from the
 * daemon, what from the file, and that no event is lost or shown twice in
 * between.
 */
#include "e2e.h"
#include "client.h"
#include "jsonl.h"
#include "rpc.h"
#include "server.h"
#include "watch.h"
#include "workspace.h"

#define GUARD_MS 40000

static struct world {
	struct loop *loop;
	struct loop_timer *guard;
	struct server *server;
	struct server_call *follower; /* NULL = no subscriber */
	struct child *child;
	struct tail *tail; /* of its output */
	const char *root, *file, *out;
	char *socket;
	struct buf seen; /* the numbers of the events */
	int count; /* of them */
	int wanted; /* stop the loop after this many */
	int subscribed; /* how often */
	int written; /* number of the last event */
	int64_t rotate; /* when the file has this many bytes, 0 = never */
	size_t padding; /* bytes to make events longer */
	void (*on_call)(struct server_call *call);
} w;

static void
on_guard(void *arg)
{
	(void)arg;
	ck_abort_msg("what the test waits for did not happen; seen: %s",
	    e2e_shown(w.seen.data));
}

/* An event, to the file, to the follower, or both. */
#define TO_FILE   1u
#define TO_STREAM 2u
static int
happen(unsigned where)
{
	cleanup_json struct json_object *record = json_object_new_object();
	struct json_object *event = json_object_new_object();
	cleanup_free char *padding = xmalloc(w.padding + 1);
	int r = 0;

	memset(padding, 'x', w.padding);
	padding[w.padding] = '\0';
	json_set_string(record, "timestamp", "2026-01-31T08:15:30.123Z");
	json_set_string(record, "level", "INFO");
	json_set(record, "event", event);
	json_set_string(event, "type", "quarantine");
	json_set_int(event, "n", ++w.written);
	json_set_string(event, "reason", padding);
	if (where & TO_FILE)
		ck_assert_int_eq(
		    jsonl_append(w.file, record, w.rotate, 9, NULL), 0);
	if (where & TO_STREAM)
		r = server_notify(w.follower, "event", json_object_get(record));
	return r;
}

static void
tell_offset(struct server_call *call, int64_t offset)
{
	struct json_object *params = json_object_new_object();

	json_set_int(params, "offset", offset);
	ck_assert_int_eq(server_notify(call, "following", params), 0);
}

static int64_t
file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

static void
on_gone(void *arg)
{
	(void)arg;
	server_reply(take_ptr(&w.follower), NULL);
}

static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	(void)arg;
	ck_assert_str_eq(method, "events.follow");
	ck_assert(json_object_is_type(params, json_type_object));
	w.subscribed++;
	if (w.on_call != NULL) {
		w.on_call(call);
	} else {
		w.follower = call;
		server_on_gone(call, on_gone, &w);
		tell_offset(call, file_size(w.file));
	}
	loop_stop(w.loop, 0);
}

static void
daemon_begin(void)
{
	ck_assert_int_eq(
	    server_new(w.loop, w.socket, serve, &w, &w.server, NULL), 0);
}

static void
daemon_end(void)
{
	server_free(take_ptr(&w.server));
	if (w.follower != NULL)
		server_reply(take_ptr(&w.follower), NULL);
}

static void
world_begin(const char *name)
{
	struct workspace workspace = { 0 };

	memset(&w, 0, sizeof w);
	buf_init(&w.seen);
	w.root = e2e_workspace(name);
	e2e_sh(w.root, "mkdir -p .llmc/logs");
	w.file = e2e_path("%s/.llmc/logs/auto.log", w.root);
	w.out = e2e_path("%s/out", w.root);
	ck_assert_int_eq(workspace_find(w.root, &workspace, NULL), 0);
	w.socket = client_socket_path(&workspace);
	workspace_release(&workspace);
	w.loop = loop_new();
	w.guard = loop_after(w.loop, GUARD_MS, on_guard, &w);
}

static void
on_line(const char *line, size_t len, bool cut, void *arg)
{
	cleanup_json struct json_object *record = NULL;
	struct json_object *event = NULL;

	(void)arg;
	ck_assert(!cut);
	ck_assert_int_eq(json_parse(line, len, len, &record, NULL), 0);
	ck_assert_int_eq(json_get_object(record, "", "event", &event, NULL), 0);
	buf_addf(&w.seen, "%lld ", (long long)json_int_or(event, "n", -1));
	if (++w.count == w.wanted)
		loop_stop(w.loop, 0);
}

static void
on_end(const struct child_result *result, void *arg)
{
	cleanup_buf struct buf words = BUF_INIT;

	(void)arg;
	child_output_text(&result->err, &words);
	ck_assert_msg(words.len == 0, "%s", e2e_shown(words.data));
	w.child = NULL;
	loop_stop(w.loop, 0);
}

/* Start llmc; its output is the standard input of the script. */
static void
follow(const char *lines, const char *script)
{
	struct child_spec spec = {
		.cwd = w.root, .env = e2e_edits(), .deadline_ms = GUARD_MS
	};

	spec.shell = e2e_path("'%s' log --follow --json --lines %s %s",
	    e2e_llmc_path(), lines, script != NULL ? script : ">out");
	e2e_write(w.out, "");
	ck_assert_int_eq(
	    tail_new(w.loop, w.out, true, on_line, &w, &w.tail, NULL), 0);
	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, on_end, &w, &w.child, NULL), 0);
}

/* Wait until this many events have been printed. */
static void
wait_for(int count)
{
	w.wanted = count;
	while (w.count < count)
		loop_run(w.loop);
}

static void
wait_subscribed(int times)
{
	while (w.subscribed < times)
		loop_run(w.loop);
}

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

static void
pass(int64_t ms)
{
	struct loop_timer *timer = loop_after(w.loop, ms, stop, w.loop);

	loop_run(w.loop);
	loop_timer_free(timer);
}

/* End it; exactly 1 to `last`, or those from `first` on, were printed. */
static void
world_end(int first, int last)
{
	cleanup_buf struct buf want = BUF_INIT;

	for (int n = first; n <= last; n++)
		buf_addf(&want, "%d ", n);
	wait_for(last - first + 1);
	pass(50); /* in case there is one too many */
	ck_assert_str_eq(w.seen.data, want.data);
	child_cancel(w.child);
	while (w.child != NULL)
		loop_run(w.loop);
	daemon_end();
	tail_free(w.tail);
	loop_timer_free(w.guard);
	loop_free(w.loop);
	buf_release(&w.seen);
	free(w.socket);
}

TEST(a_daemon_is_asked_where_one_runs)
{
	world_begin("asked");
	for (int i = 0; i < 4; i++)
		happen(TO_FILE);
	daemon_begin();
	follow("2", NULL);
	wait_for(2);
	/* The file does not have them. */
	happen(TO_STREAM);
	happen(TO_STREAM);
	wait_for(4);
	ck_assert_int_eq(w.subscribed, 1);
	world_end(3, 6);
}

/* Events happen while it subscribes. */
static void
happen_at_once(struct server_call *call)
{
	int64_t size;

	w.follower = call;
	server_on_gone(call, on_gone, &w);
	happen(TO_FILE);
	size = file_size(w.file);
	tell_offset(call, size);
	happen(TO_FILE | TO_STREAM);
	happen(TO_FILE | TO_STREAM);
}

TEST(nothing_falls_between_file_and_daemon)
{
	world_begin("between");
	happen(TO_FILE);
	w.on_call = happen_at_once;
	daemon_begin();
	follow("10", NULL);
	wait_for(4);
	happen(TO_FILE | TO_STREAM);
	world_end(1, 5);
}

TEST(a_daemon_that_has_written_nothing_yet_is_followed)
{
	world_begin("nothing-yet");
	daemon_begin();
	follow("10", NULL);
	wait_subscribed(1);
	happen(TO_FILE | TO_STREAM);
	wait_for(1);
	w.rotate = 1; /* every further event has its own file */
	for (int i = 0; i < 3; i++)
		happen(TO_FILE | TO_STREAM);
	wait_for(4);
	happen(TO_FILE);
	daemon_end();
	world_end(1, 5);
}

TEST(daemons_come_and_go)
{
	world_begin("come-and-go");
	happen(TO_FILE);
	follow("10", NULL);
	wait_for(1);
	happen(TO_FILE);
	wait_for(2);
	daemon_begin();
	wait_subscribed(1);
	happen(TO_FILE | TO_STREAM);
	happen(TO_FILE | TO_STREAM);
	wait_for(4);
	/* Events that it could not send are in the file. */
	happen(TO_FILE);
	happen(TO_FILE);
	daemon_end();
	wait_for(6);
	happen(TO_FILE);
	wait_for(7);
	happen(TO_FILE);
	w.on_call = happen_at_once;
	daemon_begin();
	wait_for(11);
	ck_assert_int_eq(w.subscribed, 2);
	world_end(1, 11);
}

TEST(rotations_are_no_seam)
{
	world_begin("rotations");
	w.rotate = 500;
	for (int i = 0; i < 5; i++)
		happen(TO_FILE);
	daemon_begin();
	follow("10", NULL);
	wait_for(5);
	for (int i = 0; i < 20; i++)
		happen(TO_FILE | TO_STREAM);
	wait_for(25);
	for (int i = 0; i < 7; i++)
		happen(TO_FILE);
	daemon_end();
	wait_for(32);
	for (int i = 0; i < 7; i++)
		happen(TO_FILE);
	wait_for(39);
	daemon_begin();
	wait_subscribed(2);
	happen(TO_FILE | TO_STREAM);
	world_end(1, 40);
}

TEST(an_event_that_could_not_be_written_is_no_trouble)
{
	world_begin("unwritten");
	happen(TO_FILE);
	daemon_begin();
	follow("10", NULL);
	wait_for(1);
	happen(TO_FILE | TO_STREAM);
	happen(TO_STREAM);
	happen(TO_FILE | TO_STREAM);
	happen(TO_FILE);
	daemon_end();
	world_end(1, 5);
}

/* Send events until the follower has been dropped. */
static void
flood(void)
{
	int r = 0;

	w.padding = 10000;
	for (int i = 0; i < 500 && r == 0; i++)
		r = happen(TO_FILE | TO_STREAM);
	ck_assert_int_lt(r, 0);
	while (w.follower != NULL)
		pass(10);
	w.padding = 0;
}

TEST(one_who_was_too_slow_reads_on_in_the_file)
{
	world_begin("too-slow");
	happen(TO_FILE);
	daemon_begin();
	e2e_sh(w.root, "mkfifo go");
	follow("10",
	    "| { read -r first; echo \"$first\"; read -r go <go; cat; } >out");
	wait_for(1);
	flood();
	happen(TO_FILE);
	e2e_sh(w.root, "echo go >go");
	wait_for(w.written);
	/* And subscribes again. */
	wait_subscribed(2);
	happen(TO_STREAM);
	world_end(1, w.written);
}

static void
refuse(struct server_call *call)
{
	(void)&w;
	server_fail(call, RPC_METHOD_NOT_FOUND, "no such method", NULL);
}

/* Also a daemon that sends notifications nobody understands. */
static void
say_nothing(struct server_call *call)
{
	w.follower = call;
	server_on_gone(call, on_gone, &w);
	ck_assert_int_eq(server_notify(call, "hello", NULL), 0);
	ck_assert_int_eq(server_notify(call, "event", NULL), 0);
}

static void
tell_rubbish(struct server_call *call)
{
	w.follower = call;
	server_on_gone(call, on_gone, &w);
	tell_offset(call, 1000000);
}

TEST_ROWS(a_daemon_that_cannot_do_it_is_no_trouble, 3)
{
	static void (*const manners[])(
	    struct server_call *) = { refuse, say_nothing, tell_rubbish };

	world_begin(e2e_path("manner-%d", _i));
	happen(TO_FILE);
	w.on_call = manners[_i];
	daemon_begin();
	follow("10", NULL);
	wait_for(1);
	happen(TO_FILE);
	world_end(1, 2);
}
