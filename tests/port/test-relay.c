/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "json.h"
#include "mem.h"
#include "relay.h"
#include "server-world.h"
#include "server.h"
#include "unit.h"

#define LONG_MS 600000

/* A daemon that may be away, and those who ask it. */
struct scene {
	struct world w;
	struct relay *relay;
	struct json_object *params;
	struct buf heard; /* of all calls: "=RESULT " or "!CODE:MESSAGE " */
	int busy; /* that many calls are told to try again */
	int gone; /* clients that have left */
};

static void
on_gone(void *arg)
{
	struct scene *s = arg;

	s->gone++;
}

/* park is kept; fail has a long message; others are answered. */
static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	struct scene *s = arg;

	buf_addf(
	    &s->w.trace, "%s:%s ", method, json_string_or(params, "call", "?"));
	if (s->busy > 0) {
		s->busy--;
		server_fail(call, API_BUSY, "the daemon is stopping", NULL);
	} else if (strcmp(method, "park") == 0) {
		server_on_gone(call, on_gone, s);
		s->w.parked[s->w.count++] = call;
	} else if (strcmp(method, "fail") == 0) {
		cleanup_json struct json_object *words = long_text(1000);

		server_fail(
		    call, API_E_RATE, json_object_get_string(words), NULL);
	} else {
		server_reply(call, json_object_new_string("yes"));
	}
}

static void
come(struct scene *s)
{
	ck_assert_int_eq(
	    server_new(s->w.loop, s->w.path, serve, s, &s->w.server, NULL), 0);
}

/* As if killed: nothing is answered. */
static void
leave(struct scene *s)
{
	server_free(take_ptr(&s->w.server));
	for (int i = 0; i < s->w.count; i++)
		server_reply(s->w.parked[i], NULL);
	s->w.count = 0;
}

static void
scene_begin(struct scene *s, const char *name)
{
	memset(s, 0, sizeof *s);
	world_begin(&s->w, name);
	leave(s);
	buf_init(&s->heard);
	s->relay = relay_new(s->w.loop, s->w.path);
	s->params = json_object_new_object();
	json_set_string(s->params, "call", "c1");
}

static void
scene_end(struct scene *s)
{
	relay_free(s->relay);
	json_object_put(s->params);
	buf_release(&s->heard);
	world_end(&s->w);
}

static void
on_answer(struct json_object *result, int code, const char *message, void *arg)
{
	struct scene *s = arg;

	if (message != NULL)
		buf_addf(&s->heard, "!%d:%s ", code, message);
	else
		buf_addf(&s->heard, "=%s ", json_object_get_string(result));
}

static struct relay_call *
ask(struct scene *s, const char *method)
{
	return relay_send(s->relay, method, s->params, LONG_MS, on_answer, s);
}

TEST(a_call_is_answered)
{
	struct scene s;

	scene_begin(&s, "answered");
	come(&s);
	ask(&s, "echo");
	ck_assert_str_eq(s.heard.data, "");
	pass(&s.w, 1);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_str_eq(s.w.trace.data, "echo:c1 ");
	scene_end(&s);
}

TEST(an_error_keeps_its_code_and_all_its_words)
{
	struct scene s;

	scene_begin(&s, "error");
	come(&s);
	ask(&s, "fail");
	pass(&s.w, 1);
	ck_assert_uint_eq(s.heard.len, strlen("!-32044: ") + 1000);
	scene_end(&s);
}

TEST(a_call_waits_for_a_daemon)
{
	struct scene s;

	scene_begin(&s, "waits");
	ask(&s, "echo");
	pass(&s.w, LONG_MS / 2);
	ck_assert_str_eq(s.heard.data, "");
	come(&s);
	/* Its socket tells; nobody waits for the next try. */
	pass(&s.w, 1);
	ck_assert_str_eq(s.heard.data, "=yes ");
	pass(&s.w, LONG_MS);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_str_eq(s.w.trace.data, "echo:c1 ");
	scene_end(&s);
}

TEST(a_call_that_loses_its_daemon_is_sent_again)
{
	struct scene s;

	scene_begin(&s, "again");
	come(&s);
	ask(&s, "park");
	pass(&s.w, 1);
	leave(&s);
	pass(&s.w, 60000);
	come(&s);
	pass(&s.w, 1);
	ck_assert_str_eq(s.heard.data, "");
	ck_assert_str_eq(s.w.trace.data, "park:c1 park:c1 ");
	server_reply(s.w.parked[--s.w.count], json_object_new_int(7));
	pass(&s.w, LONG_MS);
	ck_assert_str_eq(s.heard.data, "=7 ");
	scene_end(&s);
}

TEST(a_daemon_that_stops_is_asked_later)
{
	struct scene s;

	scene_begin(&s, "busy");
	come(&s);
	s.busy = 3;
	ask(&s, "echo");
	pass(&s.w, 60000);
	ck_assert_str_eq(s.heard.data, "=yes ");
	ck_assert_int_eq(world_calls(&s.w, "echo:c1"), 4);
	scene_end(&s);
}

TEST(a_call_that_nobody_answers_ends_in_words)
{
	struct scene s;

	scene_begin(&s, "deadline");
	ask(&s, "echo");
	pass(&s.w, LONG_MS - 1000);
	ck_assert_str_eq(s.heard.data, "");
	pass(&s.w, 2000);
	ck_assert_ptr_nonnull(strstr(s.heard.data, "has not answered in time"));
	come(&s);
	pass(&s.w, LONG_MS);
	ck_assert_str_eq(s.w.trace.data, "");
	/* The same with one that listens and says nothing. */
	buf_clear(&s.heard);
	ask(&s, "park");
	pass(&s.w, LONG_MS + 1000);
	ck_assert_ptr_nonnull(strstr(s.heard.data, "has not answered in time"));
	ck_assert_int_eq(s.gone, 1);
	scene_end(&s);
}

TEST(a_call_that_is_not_wanted_is_dropped)
{
	struct scene s;
	struct relay_call *call;

	scene_begin(&s, "cancel");
	come(&s);
	call = ask(&s, "park");
	pass(&s.w, 1);
	relay_cancel(call);
	pass(&s.w, 1);
	ck_assert_int_eq(s.gone, 1);
	ck_assert_str_eq(s.heard.data, "");
	/* Before it was sent, too. */
	leave(&s);
	call = ask(&s, "echo");
	pass(&s.w, 1);
	relay_cancel(call);
	come(&s);
	pass(&s.w, 60000);
	ck_assert_str_eq(s.heard.data, "");
	scene_end(&s);
}

/* A question that waits for an hour is in nobody's way. */
TEST(others_go_on_while_one_waits)
{
	struct scene s;

	scene_begin(&s, "others");
	come(&s);
	ask(&s, "park");
	for (int i = 0; i < 10 * RELAY_FLIGHTS_MAX; i++)
		ask(&s, "echo");
	pass(&s.w, 1000);
	ck_assert_int_eq(world_calls(&s.w, "echo:c1"), 10 * RELAY_FLIGHTS_MAX);
	ck_assert_uint_eq(
	    s.heard.len, (size_t)(10 * RELAY_FLIGHTS_MAX) * strlen("=yes "));
	scene_end(&s);
}

TEST(no_more_are_under_way_than_the_socket_takes)
{
	struct scene s;

	scene_begin(&s, "many");
	come(&s);
	server_limit(s.w.server, SERVER_SESSION_MAX);
	for (int i = 0; i < 2 * RELAY_FLIGHTS_MAX; i++)
		ask(&s, "park");
	pass(&s.w, 1000);
	ck_assert_int_eq(s.w.count, RELAY_FLIGHTS_MAX);
	for (int i = 0; i < RELAY_FLIGHTS_MAX; i++)
		server_reply(s.w.parked[i], NULL);
	pass(&s.w, 1000);
	ck_assert_int_eq(s.w.count, 2 * RELAY_FLIGHTS_MAX);
	for (int i = 0; i < RELAY_FLIGHTS_MAX; i++)
		s.w.parked[i] = s.w.parked[RELAY_FLIGHTS_MAX + i];
	s.w.count = RELAY_FLIGHTS_MAX;
	leave(&s);
	scene_end(&s);
}
