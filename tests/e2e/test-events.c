/* SPDX-License-Identifier: ISC */

/*
 * llmc events --follow, with the test acting as the daemon: what comes from the
 * daemon, what from the file, and that no event is lost or shown twice in
 * between.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "client.h"
#include "e2e.h"
#include "json.h"
#include "jsonl.h"
#include "loop.h"
#include "mem.h"
#include "rpc.h"
#include "server.h"
#include "tail.h"
#include "workspace.h"

#define GUARD_MS 40000

struct world {
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
	void (*on_call)(struct world *w, struct server_call *call);
};

static void
on_guard(void *arg)
{
	struct world *w = arg;

	ck_abort_msg("what the test waits for did not happen; seen: %s",
	    e2e_shown(w->seen.data));
}

/* An event, to the file, to the follower, or both. */
#define TO_FILE   1u
#define TO_STREAM 2u
static int
happen(struct world *w, unsigned where)
{
	cleanup_json struct json_object *record = json_object_new_object();
	struct json_object *event = json_object_new_object();
	cleanup_free char *padding = xmalloc(w->padding + 1);
	int r = 0;

	memset(padding, 'x', w->padding);
	padding[w->padding] = '\0';
	json_set_string(record, "timestamp", "2026-01-31T08:15:30.123Z");
	json_set_string(record, "level", "INFO");
	json_set(record, "event", event);
	json_set_string(event, "type", "quarantine");
	json_set_int(event, "n", ++w->written);
	json_set_string(event, "reason", padding);
	if (where & TO_FILE)
		ck_assert_int_eq(
		    jsonl_append(w->file, record, w->rotate, 9, NULL), 0);
	if (where & TO_STREAM)
		r = server_notify(
		    w->follower, "event", json_object_get(record));
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
	struct world *w = arg;

	server_reply(take_ptr(&w->follower), NULL);
}

static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	struct world *w = arg;

	ck_assert_str_eq(method, "events.follow");
	ck_assert(json_object_is_type(params, json_type_object));
	w->subscribed++;
	if (w->on_call != NULL) {
		w->on_call(w, call);
	} else {
		w->follower = call;
		server_on_gone(call, on_gone, w);
		tell_offset(call, file_size(w->file));
	}
	loop_stop(w->loop, 0);
}

static void
daemon_begin(struct world *w)
{
	ck_assert_int_eq(
	    server_new(w->loop, w->socket, serve, w, &w->server, NULL), 0);
}

static void
daemon_end(struct world *w)
{
	server_free(take_ptr(&w->server));
	if (w->follower != NULL)
		server_reply(take_ptr(&w->follower), NULL);
}

static void
world_begin(struct world *w, const char *name)
{
	struct workspace workspace = { 0 };

	memset(w, 0, sizeof *w);
	buf_init(&w->seen);
	w->root = e2e_workspace(name);
	e2e_sh(w->root, "mkdir -p .llmc/logs");
	w->file = e2e_path("%s/.llmc/logs/auto.log", w->root);
	w->out = e2e_path("%s/out", w->root);
	ck_assert_int_eq(workspace_find(w->root, &workspace, NULL), 0);
	w->socket = client_socket_path(&workspace);
	workspace_release(&workspace);
	w->loop = loop_new();
	w->guard = loop_after(w->loop, GUARD_MS, on_guard, w);
}

static void
on_line(const char *line, size_t len, bool cut, void *arg)
{
	cleanup_json struct json_object *record = NULL;
	struct json_object *event = NULL;
	struct world *w = arg;

	ck_assert(!cut);
	ck_assert_int_eq(json_parse(line, len, len, &record, NULL), 0);
	ck_assert_int_eq(json_get_object(record, "", "event", &event, NULL), 0);
	buf_addf(&w->seen, "%lld ", (long long)json_int_or(event, "n", -1));
	if (++w->count == w->wanted)
		loop_stop(w->loop, 0);
}

static void
on_end(const struct child_result *result, void *arg)
{
	cleanup_buf struct buf words = BUF_INIT;
	struct world *w = arg;

	child_output_text(&result->err, &words);
	ck_assert_msg(words.len == 0, "%s", e2e_shown(words.data));
	w->child = NULL;
	loop_stop(w->loop, 0);
}

/* Start llmc; its output is the standard input of the script. */
static void
follow(struct world *w, const char *lines, const char *script)
{
	struct child_spec spec = {
		.cwd = w->root, .env = e2e_edits(), .deadline_ms = GUARD_MS
	};

	spec.shell = e2e_path("'%s' events --follow --json --lines %s %s",
	    e2e_llmc_path(), lines, script != NULL ? script : ">out");
	e2e_write(w->out, "");
	ck_assert_int_eq(
	    tail_new(w->loop, w->out, true, on_line, w, &w->tail, NULL), 0);
	ck_assert_int_eq(
	    child_spawn(w->loop, &spec, on_end, w, &w->child, NULL), 0);
}

/* Wait until this many events have been printed. */
static void
wait_for(struct world *w, int count)
{
	w->wanted = count;
	while (w->count < count)
		loop_run(w->loop);
}

static void
wait_subscribed(struct world *w, int times)
{
	while (w->subscribed < times)
		loop_run(w->loop);
}

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

static void
pass(struct world *w, int64_t ms)
{
	struct loop_timer *timer = loop_after(w->loop, ms, stop, w->loop);

	loop_run(w->loop);
	loop_timer_free(timer);
}

/* End it; exactly 1 to `last`, or those from `first` on, were printed. */
static void
world_end(struct world *w, int first, int last)
{
	cleanup_buf struct buf want = BUF_INIT;

	for (int n = first; n <= last; n++)
		buf_addf(&want, "%d ", n);
	wait_for(w, last - first + 1);
	pass(w, 50); /* in case there is one too many */
	ck_assert_str_eq(w->seen.data, want.data);
	child_cancel(w->child);
	while (w->child != NULL)
		loop_run(w->loop);
	daemon_end(w);
	tail_free(w->tail);
	loop_timer_free(w->guard);
	loop_free(w->loop);
	buf_release(&w->seen);
	free(w->socket);
}

TEST(a_daemon_is_asked_where_one_runs)
{
	struct world w;

	world_begin(&w, "asked");
	for (int i = 0; i < 4; i++)
		happen(&w, TO_FILE);
	daemon_begin(&w);
	follow(&w, "2", NULL);
	wait_for(&w, 2);
	/* The file does not have them. */
	happen(&w, TO_STREAM);
	happen(&w, TO_STREAM);
	wait_for(&w, 4);
	ck_assert_int_eq(w.subscribed, 1);
	world_end(&w, 3, 6);
}

/* Events happen while it subscribes. */
static void
happen_at_once(struct world *w, struct server_call *call)
{
	int64_t size;

	w->follower = call;
	server_on_gone(call, on_gone, w);
	happen(w, TO_FILE);
	size = file_size(w->file);
	tell_offset(call, size);
	happen(w, TO_FILE | TO_STREAM);
	happen(w, TO_FILE | TO_STREAM);
}

TEST(nothing_falls_between_file_and_daemon)
{
	struct world w;

	world_begin(&w, "between");
	happen(&w, TO_FILE);
	w.on_call = happen_at_once;
	daemon_begin(&w);
	follow(&w, "10", NULL);
	wait_for(&w, 4);
	happen(&w, TO_FILE | TO_STREAM);
	world_end(&w, 1, 5);
}

TEST(a_daemon_that_has_written_nothing_yet_is_followed)
{
	struct world w;

	world_begin(&w, "nothing-yet");
	daemon_begin(&w);
	follow(&w, "10", NULL);
	wait_subscribed(&w, 1);
	happen(&w, TO_FILE | TO_STREAM);
	wait_for(&w, 1);
	w.rotate = 1; /* every further event has its own file */
	for (int i = 0; i < 3; i++)
		happen(&w, TO_FILE | TO_STREAM);
	wait_for(&w, 4);
	happen(&w, TO_FILE);
	daemon_end(&w);
	world_end(&w, 1, 5);
}

TEST(daemons_come_and_go)
{
	struct world w;

	world_begin(&w, "come-and-go");
	happen(&w, TO_FILE);
	follow(&w, "10", NULL);
	wait_for(&w, 1);
	happen(&w, TO_FILE);
	wait_for(&w, 2);
	daemon_begin(&w);
	wait_subscribed(&w, 1);
	happen(&w, TO_FILE | TO_STREAM);
	happen(&w, TO_FILE | TO_STREAM);
	wait_for(&w, 4);
	/* Events that it could not send are in the file. */
	happen(&w, TO_FILE);
	happen(&w, TO_FILE);
	daemon_end(&w);
	wait_for(&w, 6);
	happen(&w, TO_FILE);
	wait_for(&w, 7);
	happen(&w, TO_FILE);
	w.on_call = happen_at_once;
	daemon_begin(&w);
	wait_for(&w, 11);
	ck_assert_int_eq(w.subscribed, 2);
	world_end(&w, 1, 11);
}

TEST(rotations_are_no_seam)
{
	struct world w;

	world_begin(&w, "rotations");
	w.rotate = 500;
	for (int i = 0; i < 5; i++)
		happen(&w, TO_FILE);
	daemon_begin(&w);
	follow(&w, "10", NULL);
	wait_for(&w, 5);
	for (int i = 0; i < 20; i++)
		happen(&w, TO_FILE | TO_STREAM);
	wait_for(&w, 25);
	for (int i = 0; i < 7; i++)
		happen(&w, TO_FILE);
	daemon_end(&w);
	wait_for(&w, 32);
	for (int i = 0; i < 7; i++)
		happen(&w, TO_FILE);
	wait_for(&w, 39);
	daemon_begin(&w);
	wait_subscribed(&w, 2);
	happen(&w, TO_FILE | TO_STREAM);
	world_end(&w, 1, 40);
}

TEST(an_event_that_could_not_be_written_is_no_trouble)
{
	struct world w;

	world_begin(&w, "unwritten");
	happen(&w, TO_FILE);
	daemon_begin(&w);
	follow(&w, "10", NULL);
	wait_for(&w, 1);
	happen(&w, TO_FILE | TO_STREAM);
	happen(&w, TO_STREAM);
	happen(&w, TO_FILE | TO_STREAM);
	happen(&w, TO_FILE);
	daemon_end(&w);
	world_end(&w, 1, 5);
}

/* Send events until the follower has been dropped. */
static void
flood(struct world *w)
{
	int r = 0;

	w->padding = 10000;
	for (int i = 0; i < 500 && r == 0; i++)
		r = happen(w, TO_FILE | TO_STREAM);
	ck_assert_int_lt(r, 0);
	while (w->follower != NULL)
		pass(w, 10);
	w->padding = 0;
}

TEST(one_who_was_too_slow_reads_on_in_the_file)
{
	struct world w;

	world_begin(&w, "too-slow");
	happen(&w, TO_FILE);
	daemon_begin(&w);
	e2e_sh(w.root, "mkfifo go");
	follow(&w, "10",
	    "| { read -r first; echo \"$first\"; read -r go <go; cat; } >out");
	wait_for(&w, 1);
	flood(&w);
	happen(&w, TO_FILE);
	e2e_sh(w.root, "echo go >go");
	wait_for(&w, w.written);
	/* And subscribes again. */
	wait_subscribed(&w, 2);
	happen(&w, TO_STREAM);
	world_end(&w, 1, w.written);
}

static void
refuse(struct world *w, struct server_call *call)
{
	(void)w;
	server_fail(call, RPC_METHOD_NOT_FOUND, "no such method", NULL);
}

/* Also a daemon that sends notifications nobody understands. */
static void
say_nothing(struct world *w, struct server_call *call)
{
	w->follower = call;
	server_on_gone(call, on_gone, w);
	ck_assert_int_eq(server_notify(call, "hello", NULL), 0);
	ck_assert_int_eq(server_notify(call, "event", NULL), 0);
}

static void
tell_rubbish(struct world *w, struct server_call *call)
{
	w->follower = call;
	server_on_gone(call, on_gone, w);
	tell_offset(call, 1000000);
}

TEST_ROWS(a_daemon_that_cannot_do_it_is_no_trouble, 3)
{
	static void (*const manners[])(struct world *,
	    struct server_call *) = { refuse, say_nothing, tell_rubbish };
	struct world w;

	world_begin(&w, e2e_path("manner-%d", _i));
	happen(&w, TO_FILE);
	w.on_call = manners[_i];
	daemon_begin(&w);
	follow(&w, "10", NULL);
	wait_for(&w, 1);
	happen(&w, TO_FILE);
	world_end(&w, 1, 2);
}
