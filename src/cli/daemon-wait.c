/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "daemon-wait.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "watch.h"

/* The lock has no event. It is polled for a daemon whose process cannot be
 * watched: on old kernels, or if it runs in another pid namespace. */
#define LOCK_LOOK_MS 250

struct daemon_wait {
	struct loop *loop;
	const char *path; /* of the socket, or of the lock */
	struct json_object *info;
	int64_t until_ms;
	bool over; /* what we wait for has happened */
};

static void
wait_over(struct daemon_wait *wait)
{
	wait->over = true;
	loop_stop(wait->loop, 0);
}

/* The socket has changed. Wait for a daemon that listens but is still busy; one
 * that does not listen yet changes the socket once more. */
static void
on_socket(void *arg)
{
	struct daemon_wait *wait = arg;

	if (!wait->over &&
	    client_call(wait->path, "daemon.info", NULL,
		wait->until_ms - clock_mono_ms(), true, &wait->info, NULL,
		NULL) == 0)
		wait_over(wait);
}

static void
on_broken(int fd, unsigned what, void *arg)
{
	struct daemon_wait *wait = arg;

	(void)fd;
	(void)what;
	loop_stop(wait->loop, 0);
}

static void
on_late(void *arg)
{
	struct daemon_wait *wait = arg;

	loop_stop(wait->loop, 0);
}

bool
daemon_wait_up(
    struct cli *cli, int fd, int64_t ms, struct json_object **ret_info)
{
	cleanup_free char *socket = client_socket_path(&cli->workspace);
	struct daemon_wait wait = { .loop = loop_new(),
		.path = socket,
		.until_ms = clock_mono_ms() + ms };
	struct loop_timer *deadline = loop_after(wait.loop, ms, on_late, &wait);
	struct loop_call *first = loop_call_new(wait.loop, on_socket, &wait);
	/* Nothing is ever read from this end: only its closing is reported. */
	struct loop_watch *broken =
	    loop_watch_new(wait.loop, fd, LOOP_READ, on_broken, &wait);
	struct watch *watch = NULL;

	watch_new(wait.loop, socket, on_socket, &wait, &watch, NULL);
	loop_call_request(first); /* it may be there already */
	loop_run(wait.loop);
	watch_free(watch);
	loop_watch_free(broken);
	loop_call_free(first);
	loop_timer_free(deadline);
	loop_free(wait.loop);
	if (wait.over)
		*ret_info = wait.info;
	return wait.over;
}

static void
on_lock_look(void *arg)
{
	struct daemon_wait *wait = arg;

	if (lock_is_held(wait->path) != 1)
		wait_over(wait);
}

static void
on_ended(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	wait_over(arg);
}

bool
daemon_wait_gone(struct cli *cli, const struct procref *daemon, int64_t ms)
{
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	struct daemon_wait wait = { .loop = loop_new(), .path = lock };
	struct loop_timer *deadline = loop_after(wait.loop, ms, on_late, &wait);
	struct loop_timer *look =
	    loop_every(wait.loop, LOCK_LOOK_MS, on_lock_look, &wait);
	struct loop_watch *ended = NULL;

	if (daemon->pid != 0 && daemon->pidfd >= 0)
		ended = loop_watch_new(
		    wait.loop, daemon->pidfd, LOOP_READ, on_ended, &wait);
	loop_run(wait.loop);
	loop_watch_free(ended);
	loop_timer_free(look);
	loop_timer_free(deadline);
	loop_free(wait.loop);
	return wait.over;
}
