/* SPDX-License-Identifier: ISC */

#include "server-world.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "client.h"
#include "rpc.h"
#include "server.h"

/* What a client has received, and how it behaves. */
struct listener {
	struct world *w;
	struct client_stream *stream;
	struct buf heard; /* "note:1 ", and at the end "=2" or "!-71" */
	struct err err;
	int ends;
	bool leaves; /* frees the stream at the first notification */
};

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	struct listener *l = arg;

	ck_assert_int_eq(l->ends, 0);
	buf_addf(&l->heard, "%s:%lld ", method,
	    (long long)json_int_or(params, "n", -1));
	if (l->leaves)
		client_stream_free(take_ptr(&l->stream));
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct listener *l = arg;

	l->ends++;
	l->err = *err;
	if (status == 0)
		buf_addf(&l->heard, "=%s", json_object_get_string(result));
	else
		buf_addf(&l->heard, "!%d", status);
	if (l->leaves)
		client_stream_free(take_ptr(&l->stream));
}

static const struct client_stream_fns fns = { on_notification, on_end };

static void
listener_begin(struct listener *l, const char *method)
{
	memset(l, 0, sizeof *l);
	buf_init(&l->heard);
	l->w = &w;
	ck_assert_int_eq(client_stream_new(w.loop, w.path, method, NULL, &fns,
			     l, &l->stream, NULL),
	    0);
}

static void
listener_end(struct listener *l)
{
	client_stream_free(l->stream);
	buf_release(&l->heard);
}

static void
notify(int n)
{
	struct json_object *params = json_object_new_object();

	json_set_int(params, "n", n);
	ck_assert_int_eq(server_notify(w.parked[0], "note", params), 0);
}

TEST(notifications_come_until_the_answer)
{
	ended_by(listener_end) struct listener l;

	world_begin("answered");
	listener_begin(&l, "park");
	pass(1);
	ck_assert_str_eq(w.trace.data, "park ");
	notify(1);
	pass(10 * SERVER_IDLE_MS);
	notify(2);
	ck_assert_int_eq(server_notify(w.parked[0], "bare", NULL), 0);
	server_reply(w.parked[--w.count], json_object_new_int(7));
	pass(1);
	ck_assert_str_eq(l.heard.data, "note:1 note:2 bare:-1 =7");
	ck_assert_int_eq(l.ends, 1);
}

TEST(an_error_ends_it)
{
	ended_by(listener_end) struct listener l;

	world_begin("error");
	listener_begin(&l, "dance");
	pass(1);
	ck_assert_int_eq(l.ends, 1);
	ck_assert_int_eq(l.err.code, -EPROTO);
	ck_assert_str_eq(l.err.msg, "what?");
}

TEST(a_hang_up_ends_it_after_what_was_said)
{
	ended_by(listener_end) struct listener l;

	world_begin("hang-up");
	listener_begin(&l, "park");
	pass(1);
	notify(1);
	server_free(take_ptr(&w.server));
	pass(1);
	ck_assert_int_eq(l.err.code, -ECONNRESET);
	ck_assert_ptr_nonnull(strstr(l.err.msg, w.path));
	ck_assert_int_eq(strncmp(l.heard.data, "note:1 !", 8), 0);
}

TEST(it_may_be_freed_by_its_callbacks)
{
	struct listener l, m;

	world_begin("leaves");
	listener_begin(&l, "park");
	l.leaves = true;
	pass(1);
	notify(1);
	notify(2);
	pass(1);
	ck_assert_str_eq(l.heard.data, "note:1 ");
	ck_assert_ptr_null(l.stream);
	ck_assert(server_call_gone(w.parked[0]));
	listener_begin(&m, "echo");
	m.leaves = true;
	pass(1);
	ck_assert_str_eq(m.heard.data, "=(null)");
	ck_assert_ptr_null(m.stream);
	listener_end(&l);
	listener_end(&m);
}

TEST(nobody_there_is_told_at_once)
{
	struct client_stream *stream = NULL;
	struct err err = { 0, "" };

	world_begin("nobody");
	ck_assert_int_eq(client_stream_new(w.loop, unit_path("no-such"), "park",
			     NULL, &fns, NULL, &stream, &err),
	    -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc up"));
	ck_assert_ptr_null(stream);
}

TEST(a_request_may_be_long_but_not_longer_than_a_line)
{
	cleanup_json struct json_object *params = json_object_new_array();
	struct client_stream *stream = NULL;
	ended_by(listener_end) struct listener l = { 0 };

	world_begin("long-request");
	buf_init(&l.heard);
	json_object_array_add(params, long_text(3000000));
	ck_assert_int_eq(client_stream_new(w.loop, w.path, "echo", params, &fns,
			     &l, &l.stream, NULL),
	    0);
	pass(1);
	ck_assert_int_eq(l.ends, 1);
	ck_assert_uint_gt(l.heard.len, 3000000);
	json_object_array_add(params, long_text(3000000));
	ck_assert_int_eq(client_stream_new(w.loop, w.path, "echo", params, &fns,
			     &l, &stream, NULL),
	    -E2BIG);
}

/* A peer that sends arbitrary text. */
static void
hear_from(const char *name, const struct buf *words, struct listener *ret)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int peer, listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	world_begin("unused");
	w.path = unit_path(name);
	strlcpy(a.sun_path, w.path, sizeof a.sun_path);
	ck_assert_int_eq(bind(listening, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(listening, 1), 0);
	listener_begin(ret, "park");
	peer = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ck_assert_int_ge(peer, 0);
	say_long(peer, words);
	pass(1);
	client_stream_free(take_ptr(&ret->stream));
	fd_close(peer);
	fd_close(listening);
	world_end();
}

TEST(rubbish_ends_it)
{
	static const char *const rows[] = { "hello\n", "{}\n", "[]\n",
		"{\"jsonrpc\":\"2.0\"}\n" };
	struct listener l;

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *name = xasprintf("rubbish-%zu", i);
		cleanup_buf struct buf words = BUF_INIT;

		buf_adds(&words, rows[i]);
		hear_from(name, &words, &l);
		ck_assert_int_eq(l.ends, 1);
		ck_assert_int_eq(l.err.code, -EBADMSG);
		listener_end(&l);
	}
}

TEST(a_line_without_end_is_not_kept)
{
	cleanup_buf struct buf words = BUF_INIT;
	ended_by(listener_end) struct listener l;

	while (words.len <= RPC_LINE_MAX)
		buf_adds(&words, "aaaaaaaaaaaaaaaa");
	hear_from("endless", &words, &l);
	ck_assert_int_eq(l.ends, 1);
	ck_assert_int_eq(l.err.code, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(l.err.msg, "longer"));
}

TEST(answers_to_others_are_passed_over)
{
	cleanup_buf struct buf words = BUF_INIT;
	ended_by(listener_end) struct listener l;

	buf_adds(&words,
	    RESULT("2", "3") RESULT("\"1\"", "3") REQUEST("1", "please")
		NOTICE("note") RESULT("1", "4"));
	hear_from("others", &words, &l);
	ck_assert_str_eq(l.heard.data, "note:-1 =4");
}
