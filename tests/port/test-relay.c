/* SPDX-License-Identifier: ISC */

#include "api.h"
#include "client.h"
#include "server-world.h"
#include "server.h"

#define LONG_MS 600000

/* A daemon that may be away, and those who ask it. */
static struct scene {
	struct relay *relay;
	struct json_object *params;
	struct buf heard; /* of all calls: "=RESULT " or "!CODE:MESSAGE " */
	int busy; /* that many calls are told to try again */
	int gone; /* clients that have left */
} s;

static void
on_gone(void *arg)
{
	(void)arg;
	s.gone++;
}

/* park is kept; fail has a long message; others are answered. */
static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	(void)arg;
	buf_addf(
	    &w.trace, "%s:%s ", method, json_string_or(params, "call", "?"));
	if (s.busy > 0) {
		s.busy--;
		server_fail(call, API_BUSY, "the daemon is stopping", NULL);
	} else if (strcmp(method, "park") == 0) {
		server_on_gone(call, on_gone, &s);
		w.parked[w.count++] = call;
	} else if (strcmp(method, "fail") == 0) {
		cleanup_json struct json_object *words = long_text(1000);

		server_fail(
		    call, API_E_RATE, json_object_get_string(words), NULL);
	} else {
		server_reply(call, json_object_new_string("yes"));
	}
}

static void
come(void)
{
	ck_assert_int_eq(
	    server_new(w.loop, w.path, serve, &s, &w.server, NULL), 0);
}

/* As if killed: nothing is answered. */
static void
leave(void)
{
	server_free(take_ptr(&w.server));
	for (int i = 0; i < w.count; i++)
		server_reply(w.parked[i], NULL);
	w.count = 0;
}

static void
scene_end(void)
{
	relay_free(s.relay);
	json_object_put(s.params);
	buf_release(&s.heard);
}

static void
scene_begin(const char *name)
{
	memset(&s, 0, sizeof s);
	world_begin(name);
	leave();
	buf_init(&s.heard);
	s.relay = relay_new(w.loop, w.path);
	s.params = json_object_new_object();
	json_set_string(s.params, "call", "c1");
	unit_at_end(scene_end);
}

static void
on_answer(struct json_object *result, int code, const char *message, void *arg)
{
	(void)arg;
	if (message != NULL)
		buf_addf(&s.heard, "!%d:%s ", code, message);
	else
		buf_addf(&s.heard, "=%s ", json_object_get_string(result));
}

static struct relay_call *
ask(const char *method)
{
	return relay_send(s.relay, method, s.params, LONG_MS, on_answer, &s);
}

TEST(a_call_is_answered)
{
	scene_begin("answered");
	come();
	ask("echo");
	ck_assert_str_eq(s.heard.data, "");
	pass(1);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_str_eq(w.trace.data, "echo:c1 ");
}

TEST(an_error_keeps_its_code_and_all_its_words)
{
	scene_begin("error");
	come();
	ask("fail");
	pass(1);
	ck_assert_uint_eq(s.heard.len, strlen("!-32044: ") + 1000);
}

TEST(a_call_waits_for_a_daemon)
{
	scene_begin("waits");
	ask("echo");
	pass(LONG_MS / 2);
	ck_assert_str_eq(s.heard.data, "");
	come();
	/* Its socket tells; nobody waits for the next try. */
	pass(1);
	ck_assert_str_eq(s.heard.data, "=yes ");
	pass(LONG_MS);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_str_eq(w.trace.data, "echo:c1 ");
}

TEST(a_call_that_loses_its_daemon_is_sent_again)
{
	scene_begin("again");
	come();
	ask("park");
	pass(1);
	leave();
	pass(60000);
	come();
	pass(1);
	ck_assert_str_eq(s.heard.data, "");
	ck_assert_str_eq(w.trace.data, "park:c1 park:c1 ");
	server_reply(w.parked[--w.count], json_object_new_int(7));
	pass(LONG_MS);
	ck_assert_str_eq(s.heard.data, "=7 ");
}

TEST(a_daemon_that_stops_is_asked_later)
{
	scene_begin("busy");
	come();
	s.busy = 3;
	ask("echo");
	pass(60000);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_int_eq(world_calls("echo:c1"), 4);
}

TEST(a_call_that_nobody_answers_ends_in_words)
{
	scene_begin("deadline");
	ask("echo");
	pass(LONG_MS - 1000);
	ck_assert_str_eq(s.heard.data, "");
	pass(2000);
	ck_assert_ptr_nonnull(strstr(s.heard.data, "has not answered in time"));
	come();
	pass(LONG_MS);
	ck_assert_str_eq(w.trace.data, "");
	/* The same with one that listens and says nothing. */
	buf_clear(&s.heard);
	ask("park");
	pass(LONG_MS + 1000);
	ck_assert_ptr_nonnull(strstr(s.heard.data, "has not answered in time"));
	ck_assert_int_eq(s.gone, 1);
}

TEST(a_call_that_is_not_wanted_is_dropped)
{
	struct relay_call *call;

	scene_begin("cancel");
	come();
	call = ask("park");
	pass(1);
	relay_cancel(call);
	pass(1);
	ck_assert_int_eq(s.gone, 1);
	ck_assert_str_eq(s.heard.data, "");
	/* Before it was sent, too. */
	leave();
	call = ask("echo");
	pass(1);
	relay_cancel(call);
	come();
	pass(60000);
	ck_assert_str_eq(s.heard.data, "");
}

/* A question that waits for an hour is in nobody's way. */
TEST(others_go_on_while_one_waits)
{
	scene_begin("others");
	come();
	ask("park");
	for (int i = 0; i < 10 * RELAY_FLIGHTS_MAX; i++)
		ask("echo");
	pass(1000);
	ck_assert_int_eq(world_calls("echo:c1"), 10 * RELAY_FLIGHTS_MAX);
	ck_assert_uint_eq(
	    s.heard.len, (size_t)(10 * RELAY_FLIGHTS_MAX) * strlen("=yes "));
}

TEST(no_more_are_under_way_than_the_socket_takes)
{
	scene_begin("many");
	come();
	server_limit(w.server, SERVER_SESSION_MAX);
	for (int i = 0; i < 2 * RELAY_FLIGHTS_MAX; i++)
		ask("park");
	pass(1000);
	ck_assert_int_eq(w.count, RELAY_FLIGHTS_MAX);
	for (int i = 0; i < RELAY_FLIGHTS_MAX; i++)
		server_reply(w.parked[i], NULL);
	pass(1000);
	ck_assert_int_eq(w.count, 2 * RELAY_FLIGHTS_MAX);
	for (int i = 0; i < RELAY_FLIGHTS_MAX; i++)
		w.parked[i] = w.parked[RELAY_FLIGHTS_MAX + i];
	w.count = RELAY_FLIGHTS_MAX;
	leave();
}
