/* SPDX-License-Identifier: ISC */

/* How llmc down learns that the daemon has ended; the test acts as the
 * daemon. */
#include "e2e.h"
#include "client.h"
#include "server.h"
#include "workspace.h"

#define GUARD_MS 25000 /* before llmc gives up by itself */

struct world {
	struct loop *loop;
	struct loop_timer *guard, *release;
	struct server *server;
	struct child *daemon; /* its process, NULL = has exited */
	const char *root;
	char *socket;
	int lock;
	bool tells; /* it reports its pid */
	bool told; /* it was asked to stop */
	bool ended; /* llmc has exited */
	int64_t took_ms;
};

static void
on_guard(void *arg)
{
	(void)arg;
	ck_abort_msg("what the test waits for did not happen");
}

static void
on_release(void *arg)
{
	struct world *w = arg;

	w->lock = fd_close(w->lock);
}

static void
serve(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	struct json_object *info;
	struct world *w = arg;

	(void)params;
	if (strcmp(method, "daemon.stop") == 0) {
		w->told = true;
		server_reply(call, NULL);
		if (w->tells)
			child_cancel(w->daemon);
		else
			w->release = loop_after(w->loop, 300, on_release, w);
	} else if (w->tells) {
		info = json_object_new_object();
		json_set_int(info, "pid", child_pid(w->daemon));
		server_reply(call, info);
	} else
		server_fail(call, -32001, "the daemon is stopping", NULL);
}

static void
on_daemon_end(const struct child_result *result, void *arg)
{
	struct world *w = arg;

	(void)result;
	w->daemon = NULL;
}

static void
on_llmc_end(const struct child_result *result, void *arg)
{
	struct world *w = arg;

	ck_assert(child_succeeded(result));
	w->took_ms = result->duration_ms;
	w->ended = true;
	loop_stop(w->loop, 0);
}

static void
world_begin(struct world *w, const char *name, bool tells)
{
	struct child_spec sleeps = { .shell = "exec sleep 100" };
	struct workspace workspace = { 0 };

	memset(w, 0, sizeof *w);
	w->tells = tells;
	w->root = e2e_workspace(name);
	ck_assert_int_eq(workspace_find(w->root, &workspace, NULL), 0);
	w->socket = client_socket_path(&workspace);
	workspace_release(&workspace);
	w->lock = lock_try(e2e_path("%s/.llmc/state.lock", w->root), NULL);
	ck_assert_int_ge(w->lock, 0);
	w->loop = loop_new();
	w->guard = loop_after(w->loop, GUARD_MS, on_guard, NULL);
	ck_assert_int_eq(
	    server_new(w->loop, w->socket, serve, w, &w->server, NULL), 0);
	ck_assert_int_eq(
	    child_spawn(w->loop, &sleeps, on_daemon_end, w, &w->daemon, NULL),
	    0);
}

static void
world_down(struct world *w)
{
	const char *const argv[] = { e2e_llmc_path(), "down", NULL };
	struct child_spec spec = {
		.argv = argv, .cwd = w->root, .env = e2e_edits()
	};

	ck_assert_int_eq(
	    child_spawn(w->loop, &spec, on_llmc_end, w, NULL, NULL), 0);
	while (!w->ended)
		loop_run(w->loop);
	ck_assert(w->told);
}

static void
world_end(struct world *w)
{
	if (w->daemon != NULL)
		child_abandon(w->daemon);
	server_free(w->server);
	loop_timer_free(w->release);
	loop_timer_free(w->guard);
	loop_free(w->loop);
	fd_close(w->lock);
	free(w->socket);
}

TEST(the_end_of_the_process_is_enough)
{
	struct world w;

	world_begin(&w, "process", true);
	world_down(&w);
	/* Another process has the lock by now. */
	ck_assert_int_ge(w.lock, 0);
	world_end(&w);
}

TEST(one_that_does_not_tell_who_it_is_is_known_by_its_lock)
{
	struct world w;

	world_begin(&w, "lock", false);
	world_down(&w);
	ck_assert_int_eq(w.lock, -1);
	ck_assert_ptr_nonnull(w.daemon);
	ck_assert_int_ge(w.took_ms, 300);
	world_end(&w);
}
