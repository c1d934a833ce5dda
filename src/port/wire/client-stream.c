/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "buf.h"
#include "client-stream.h"
#include "client.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "rpc.h"

#define READ_SIZE 65536
#define CALL_ID   1 /* one request per connection */

struct client_stream {
	struct loop *loop;
	struct loop_watch *readable, *writable; /* NULL = nothing to wait for */
	const struct client_stream_fns *fns;
	void *arg;
	char *path;
	struct rpc_reader reader;
	struct buf out; /* the request */
	size_t sent; /* bytes of it */
	const struct rpc_message *error; /* while on_end is told of it */
	int fd;
	bool calling; /* a callback runs: freed when it returns */
	bool ended; /* on_end was called, or the stream is to be freed */
};

static void
stream_close(struct client_stream *stream)
{
	loop_watch_free(take_ptr(&stream->readable));
	loop_watch_free(take_ptr(&stream->writable));
	stream->fd = fd_close(stream->fd);
}

void
client_stream_free(struct client_stream *stream)
{
	if (stream == NULL)
		return;
	stream_close(stream);
	stream->ended = true;
	if (stream->calling) {
		stream->fns = NULL;
		return;
	}
	rpc_reader_release(&stream->reader);
	buf_release(&stream->out);
	free(stream->path);
	free(stream);
}

/* After the callbacks: was the stream freed by one of them? */
static void
stream_leave(struct client_stream *stream)
{
	stream->calling = false;
	if (stream->fns == NULL)
		client_stream_free(stream);
}

static void
stream_end(struct client_stream *stream, int status, struct json_object *result,
    const struct err *err)
{
	if (stream->ended)
		return;
	stream->ended = true;
	stream_close(stream);
	stream->fns->on_end(status, result, err, stream->arg);
}

static void
stream_fail(struct client_stream *stream, int status)
{
	struct err err = { 0, "" };

	if (status == -ECONNRESET || status == -EPIPE)
		status = err_set(&err, -ECONNRESET,
		    "%s: the daemon closed the connection", stream->path);
	else
		err_errno(&err, status, "%s", stream->path);
	stream_end(stream, status, NULL, &err);
}

/* Send as much of the request as the kernel takes. */
static void
stream_send(struct client_stream *stream)
{
	ssize_t n;

	while (stream->sent < stream->out.len) {
		n = send(stream->fd, stream->out.data + stream->sent,
		    stream->out.len - stream->sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0)
			stream->sent += (size_t)n;
		else if (errno == EAGAIN)
			return;
		/* What the daemon sent before it hung up can still be read:
		 * reading finds the end. */
		else if (errno != EINTR)
			break;
	}
	loop_watch_free(take_ptr(&stream->writable));
	buf_release(&stream->out);
	stream->sent = 0;
}

static void
stream_writable(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	stream_send(arg);
}

const char *
client_stream_error(const struct client_stream *stream, int *ret_code)
{
	if (ret_code != NULL)
		*ret_code = stream->error->code;
	return stream->error->message;
}

static void
stream_message(struct client_stream *stream, const struct rpc_message *m)
{
	bool ours = m->id != NULL && json_object_get_int64(m->id) == CALL_ID &&
	    json_object_is_type(m->id, json_type_int);
	struct err err = { 0, "" };

	if (m->kind == RPC_NOTIFICATION) {
		stream->fns->on_notification(m->method, m->params, stream->arg);
	} else if (m->kind == RPC_RESULT && ours) {
		stream_end(stream, 0, m->result, &err);
	} else if (m->kind == RPC_ERROR && (ours || m->id == NULL)) {
		err_set(&err, -EPROTO, "%s", m->message);
		stream->error = m;
		stream_end(stream, -EPROTO, NULL, &err);
		stream->error = NULL;
	}
}

static void
stream_lines(struct client_stream *stream)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct err why = { 0, "" }, err = { 0, "" };
	struct rpc_message m;
	int r;

	while (!stream->ended) {
		r = rpc_reader_next(&stream->reader, &line);
		if (r == 0)
			return;
		if (r < 0)
			err_set(&why, r, "the line is longer than 4 MiB");
		else
			r = rpc_decode(
			    line.data, line.len, &m, NULL, NULL, &why);
		if (r < 0) {
			err_set(
			    &err, -EBADMSG, "%s: %s", stream->path, why.msg);
			stream_end(stream, -EBADMSG, NULL, &err);
			return;
		}
		stream_message(stream, &m);
		rpc_message_release(&m);
	}
}

static void
stream_readable(int fd, unsigned what, void *arg)
{
	struct client_stream *stream = arg;
	char bytes[READ_SIZE];
	ssize_t n;

	(void)what;
	n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	stream->calling = true;
	if (n > 0) {
		rpc_reader_feed(&stream->reader, bytes, (size_t)n);
		stream_lines(stream);
	} else
		stream_fail(stream, n == 0 ? -ECONNRESET : -errno);
	stream_leave(stream);
}

/* Watch the connection; send the request, immediately if possible. */
static int
stream_begin(struct client_stream *stream, struct err *err)
{
	stream->readable = loop_watch_new(
	    stream->loop, stream->fd, LOOP_READ, stream_readable, stream);
	stream->writable = loop_watch_new(
	    stream->loop, stream->fd, LOOP_WRITE, stream_writable, stream);
	if (stream->readable == NULL || stream->writable == NULL)
		return err_errno(err, -errno, "%s", stream->path);
	stream_send(stream);
	return 0;
}

int
client_stream_new(struct loop *loop, const char *socket, const char *method,
    struct json_object *params, const struct client_stream_fns *fns, void *arg,
    struct client_stream **ret_stream, struct err *err)
{
	struct client_stream *stream = xcalloc(1, sizeof *stream);
	cleanup_json struct json_object *id = json_object_new_int(CALL_ID);
	int r = 0;

	stream->loop = loop;
	stream->fns = fns;
	stream->arg = arg;
	stream->path = xstrdup(socket);
	stream->fd = -1;
	rpc_reader_init(&stream->reader, 0);
	buf_init(&stream->out);
	rpc_encode_request(&stream->out, id, method, params);
	if (stream->out.len - 1 > RPC_LINE_MAX)
		r = err_set(err, -E2BIG,
		    "%s: the request is too long: %zu bytes", method,
		    stream->out.len);
	if (r == 0)
		r = stream->fd = client_dial(socket, 0, err);
	if (r >= 0)
		r = stream_begin(stream, err);
	if (r < 0) {
		client_stream_free(stream);
		return r;
	}
	*ret_stream = stream;
	return 0;
}
