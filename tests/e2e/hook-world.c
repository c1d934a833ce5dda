/* SPDX-License-Identifier: ISC */

#include "e2e.h"
#include "hook-world.h"
#include "id.h"
#include "server.h"
#include "spool.h"

struct world w;

#define GUARD_MS 40000

static void
on_guard(void *arg)
{
	(void)arg;
	ck_abort_msg("what the test waits for did not happen");
}

static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	struct json_object *answer = NULL;

	(void)arg;
	buf_addf(&w.heard, "%s ", method);
	json_print(params, false, &w.heard);
	buf_addc(&w.heard, '\n');
	w.calls++;
	if (w.manner == SAY_NOTHING) {
		w.waiting = call;
	} else if (w.manner == REFUSE) {
		server_fail(call, -32602, "no", NULL);
	} else if (w.manner == HANG_UP) {
		server_free(take_ptr(&w.server));
		server_reply(call, NULL);
	} else {
		if (w.answer != NULL)
			answer = json_tokener_parse(w.answer);
		server_reply(call, answer);
	}
	if (w.ended && w.calls >= w.expected)
		loop_stop(w.loop, 0);
}

static void
on_end(const struct child_result *result, void *arg)
{
	(void)arg;
	w.ended = true;
	w.status = result->exited ? result->status : 128 + result->signal;
	w.took_ms = result->duration_ms;
	child_output_text(&result->out, &w.out);
	child_output_text(&result->err, &w.err);
	if (w.calls >= w.expected)
		loop_stop(w.loop, 0);
}

void
world_begin(const char *name)
{
	const char *dir = e2e_dir(name);

	memset(&w, 0, sizeof w);
	buf_init(&w.heard);
	buf_init(&w.out);
	buf_init(&w.err);
	w.loop = loop_new();
	w.guard = loop_after(w.loop, GUARD_MS, on_guard, NULL);
	w.socket = e2e_path("%s/a \"daemon\".sock", dir);
	w.spool = e2e_path("%s/the spool", dir);
	unit_at_end(world_end);
}

void
world_listen(enum manner manner, const char *answer)
{
	w.manner = manner;
	w.answer = answer;
	ck_assert_int_eq(
	    server_new(w.loop, w.socket, serve, &w, &w.server, NULL), 0);
}

void
world_end(void)
{
	if (w.loop == NULL)
		return;
	server_free(w.server);
	if (w.waiting != NULL)
		server_reply(w.waiting, NULL);
	loop_timer_free(w.guard);
	loop_free(take_ptr(&w.loop));
	buf_release(&w.heard);
	buf_release(&w.out);
	buf_release(&w.err);
}

static void
world_spawn(struct child_spec *spec)
{
	cleanup_free char *socket = xasprintf("SOCKET=%s", w.socket);
	cleanup_free char *spool = xasprintf("SPOOL=%s", w.spool);
	const char *const env[] = { socket, spool, NULL };

	w.ended = false;
	w.calls = 0;
	buf_clear(&w.out);
	buf_clear(&w.err);
	buf_clear(&w.heard);
	spec->cwd = "/";
	spec->env = env;
	ck_assert_int_eq(child_spawn(w.loop, spec, on_end, &w, NULL, NULL), 0);
	loop_run(w.loop);
	ck_assert_msg(
	    w.status == 0, "status %d: %s", w.status, e2e_shown(w.err.data));
	ck_assert_msg(w.err.len == 0, "%s", e2e_shown(w.err.data));
}

void
fire_bytes(const char *event, const void *input, size_t len)
{
	const char *const argv[] = { e2e_llmc_path(), "hook", event, "--worker",
		"ann", "--generation", "7", "--socket", w.socket, "--spool",
		w.spool, w.policy != NULL ? "--policy" : NULL, w.policy, NULL };

	world_spawn(&(struct child_spec){
	    .argv = argv, .input = input, .input_len = len });
}

void
fire(const char *event, const char *input)
{
	fire_bytes(event, input, strlen(input));
}

void
fire_shell(const char *script)
{
	e2e_llmc_path();
	world_spawn(&(struct child_spec){ .shell = script });
}

void
expect_printed(const char *want)
{
	ck_assert_str_eq(w.out.data, want);
}

static int
take_event(const char *id, struct json_object *event, void *arg)
{
	struct json_object **events = arg;

	(void)id;
	json_object_array_add(*events, json_object_get(event));
	return 0;
}

struct json_object *
drain(void)
{
	struct json_object *events = json_object_new_array();
	struct spool_rest rest = { 0 };

	ck_assert_int_ge(
	    spool_drain(w.spool, &rest, 0, NULL, take_event, &events, NULL), 0);
	spool_rest_release(&rest);
	return events;
}

void
expect_spooled(size_t count)
{
	cleanup_json struct json_object *events = drain();

	ck_assert_uint_eq(json_object_array_length(events), count);
}

void
expect_data(const char *event, const char *data)
{
	cleanup_json struct json_object *events = drain();
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *first;

	ck_assert_uint_eq(json_object_array_length(events), 1);
	first = json_object_array_get_idx(events, 0);
	ck_assert_int_eq(json_object_object_length(first), 5);
	ck_assert_str_eq(json_string_or(first, "event", ""), event);
	ck_assert_str_eq(json_string_or(first, "worker", ""), "ann");
	ck_assert_int_eq(json_int_or(first, "generation", 0), 7);
	ck_assert(id_ulid_valid(json_string_or(first, "id", "")));
	json_print(json_object_object_get(first, "data"), false, &text);
	ck_assert_str_eq(text.data, data);
}
