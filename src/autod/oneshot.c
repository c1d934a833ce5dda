/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "api-work.h"
#include "core.h"
#include "loop.h"
#include "autod-private.h"
#include "persist.h"
#include "rpc.h"
#include "serve.h"

#define SETTLE_MS 5
/* Nothing takes longer than a job on the book, which has its own deadline; so
 * has our caller. */
#define DEADLINE_MS ((API_STORE_JOB_MS + API_STORE_WAIT_MS) / 2)

/* We act as server and client: the request goes through our own socket, so that
 * it is handled like any other call. */
struct oneshot {
	struct core *core;
	int fd;
	struct loop_watch *watch;
	struct loop_timer *settle, *deadline;
	struct buf answer;
	int status;
};

static bool
is_quiet(struct core *core)
{
	for (size_t i = 0; i < core->floor_count; i++)
		if (core->floors[i]->is_quiet != NULL &&
		    !core->floors[i]->is_quiet(core->floors[i]->self))
			return false;
	/* It does not wait for space on the disk either. */
	return persist_is_idle(core) || persist_ready(core, NULL) < 0;
}

/* The answer was printed, but what the call started must be finished and
 * saved. */
static void
oneshot_settle(void *arg)
{
	struct oneshot *o = arg;

	if (is_quiet(o->core))
		loop_stop(o->core->loop, o->status);
}

static void
oneshot_late(void *arg)
{
	struct oneshot *o = arg;

	fputs("autod: the request took too long\n", stderr);
	loop_stop(o->core->loop, 1);
}

static void
oneshot_read(int fd, unsigned what, void *arg)
{
	struct oneshot *o = arg;
	char bytes[65536];
	ssize_t n = read(fd, bytes, sizeof bytes);

	(void)what;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&o->answer, bytes, (size_t)n);
	if (n > 0 && memchr(bytes, '\n', (size_t)n) == NULL)
		return;
	loop_watch_free(take_ptr(&o->watch));
	o->status = n > 0 &&
		file_write_all(STDOUT_FILENO, o->answer.data, o->answer.len) ==
		    0 ?
	    0 :
	    1;
	o->settle = loop_every(o->core->loop, SETTLE_MS, oneshot_settle, o);
}

static int
oneshot_connect(struct oneshot *o, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(
	    address.sun_path, sizeof address.sun_path, "%s", o->core->socket);
	o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (o->fd == -1 ||
	    connect(o->fd, (struct sockaddr *)&address, sizeof address) == -1)
		return err_errno(err, -errno, "%s", o->core->socket);
	o->watch =
	    loop_watch_new(o->core->loop, o->fd, LOOP_READ, oneshot_read, o);
	return 0;
}

static int
read_request(struct buf *line)
{
	ssize_t n;

	do {
		buf_reserve(line, 65536);
		n = read(STDIN_FILENO, line->data + line->len, 65536);
		if (n > 0)
			buf_grew(line, (size_t)n);
	} while (n > 0 && line->len <= RPC_LINE_MAX);
	if (line->len == 0 || line->len > RPC_LINE_MAX)
		return -EINVAL;
	if (line->data[line->len - 1] != '\n')
		buf_addc(line, '\n');
	return 0;
}

int
oneshot_run(struct core *core)
{
	struct oneshot o = { .core = core, .fd = -1, .answer = BUF_INIT };
	cleanup_buf struct buf request = BUF_INIT;
	struct err err = { 0 };
	int status = 1;

	if (read_request(&request) < 0) {
		fputs("autod: no request on standard input\n", stderr);
		return 2;
	}
	if (serve_listen(core, &err) == 0 && oneshot_connect(&o, &err) == 0 &&
	    file_write_all(o.fd, request.data, request.len) == 0) {
		o.deadline =
		    loop_after(core->loop, DEADLINE_MS, oneshot_late, &o);
		status = loop_run(core->loop);
	} else {
		fprintf(stderr, "autod: %s\n", err.msg);
	}
	loop_watch_free(o.watch);
	loop_timer_free(o.settle);
	loop_timer_free(o.deadline);
	fd_close(o.fd);
	buf_release(&o.answer);
	return status;
}
