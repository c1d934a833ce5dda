/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "core.h"
#include "door.h"
#include "emit.h"
#include "errtext.h"
#include "identity.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "root-guard.h"
#include "run-dir.h"
#include "watch.h"

#define AGAIN_MS 1000

struct door {
	struct core *core;
	char *worker; /* NULL = the people's */
	char *path;
	struct server *server;
	struct identity_files *files;
	struct watch *watch; /* of its file */
	struct loop_timer *again;
};

static int
make_place(const struct door *door, struct err *err)
{
	return door->worker == NULL ?
	    0 :
	    run_dir_make(door->core->workspace, door->worker, err);
}

static void
on_listen_due(void *arg)
{
	struct door *door = arg;
	struct core *core = door->core;
	struct err err = { 0 };
	int r;

	loop_timer_free(take_ptr(&door->again));
	if (!root_guard_holds(core))
		return;
	r = make_place(door, &err);
	if (r == 0)
		r = server_listen_again(door->server, &err);
	if (r != 0)
		emit(core,
		    &(struct event){ .kind = EVENT_SOCKET_GONE,
			.worker = door->worker,
			.path = door->path,
			.reason = r < 0 ? err.msg : "it listens again" });
}

/* Wait a moment: if all of .llmc is being removed, a new file would be in the
 * way of whoever does that. */
static void
on_changed(void *arg)
{
	struct door *door = arg;

	if (door->again == NULL)
		door->again =
		    loop_after(door->core->loop, AGAIN_MS, on_listen_due, door);
}

int
door_new(struct core *core, const char *worker, server_fn *fn,
    struct door **ret_door, struct err *err)
{
	struct door *door = xcalloc(1, sizeof *door);
	int r;

	door->core = core;
	door->files = xcalloc(1, sizeof *door->files);
	door->worker = worker != NULL ? xstrdup(worker) : NULL;
	door->path = worker != NULL ? run_dir_socket(core->workspace, worker) :
				      xstrdup(core->socket);
	r = make_place(door, err);
	if (r == 0)
		r = server_new(
		    core->loop, door->path, fn, door, &door->server, err);
	if (r < 0) {
		door_free(door);
		return r;
	}
	if (worker != NULL)
		server_limit(door->server, SERVER_SESSION_MAX);
	if (watch_new(core->loop, door->path, on_changed, door, &door->watch,
		NULL) < 0)
		log_debug("%s is not watched", door->path);
	*ret_door = door;
	return 0;
}

void
door_free(struct door *door)
{
	if (door == NULL)
		return;
	watch_free(door->watch);
	loop_timer_free(door->again);
	server_free(door->server);
	identity_files_release(door->files);
	free(door->files);
	free(door->worker);
	free(door->path);
	free(door);
}

struct core *
door_core(const struct door *door)
{
	return door->core;
}

const char *
door_worker(const struct door *door)
{
	return door->worker;
}

struct identity_files *
door_files(const struct door *door)
{
	return door->files;
}
